//! A crawl against a site on loopback: what is asked for, what comes of it, what is said at the end.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use linkwright_core::page::{Discovery, FetchOutcome, FetchedPage};
use linkwright_core::url::{PageUrl, UrlKey};
use linkwright_site::crawl::SitemapProblem;
use linkwright_site::{
    Archive, Archived, CrawlSettings, Incomplete, NoArchive, ReadError, ReadReport, ReadSettings, RobotsOutcome, Seed, read,
};
use linkwright_testkit::{Answer, FixtureSite, RunningSite};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Settings with which nothing waits longer than a test may.
fn quick() -> ReadSettings {
    let crawl = CrawlSettings { interval_ms: 0, backoff_ms: 1, max_backoff_ms: 20, timeout_ms: 2_000, ..CrawlSettings::default() };
    ReadSettings { crawl, ..ReadSettings::default() }
}

/// Pages by URL below the site's origin, and the report.
type Crawled = (BTreeMap<String, FetchedPage>, ReadReport);

async fn try_crawl(site: &RunningSite, path: &str, settings: &ReadSettings, archive: &impl Archive) -> Result<Crawled, ReadError> {
    let seed = Seed::parse(&site.url(path), None)?;
    let (sender, mut receiver) = mpsc::channel(4);
    let (_keep, stop) = watch::channel(false);
    let taking = tokio::spawn(async move {
        let mut pages = Vec::new();
        while let Some(page) = receiver.recv().await {
            pages.push(page);
        }
        pages
    });
    let report = read(&seed, settings, archive, sender, &|_| (), stop).await;
    let origin = site.url("");
    let pages: Vec<FetchedPage> = taking.await.unwrap();
    let count = pages.len();
    let pages: BTreeMap<String, FetchedPage> = pages.into_iter().map(|p| (p.url.as_str().replace(&origin, ""), p)).collect();
    assert_eq!(count, pages.len(), "an address was sent twice");
    Ok((pages, report?))
}

async fn crawl(site: &RunningSite, path: &str, settings: &ReadSettings) -> Crawled {
    try_crawl(site, path, settings, &NoArchive).await.unwrap()
}

fn outcomes(pages: &BTreeMap<String, FetchedPage>) -> Vec<(&str, FetchOutcome)> {
    pages.iter().map(|(url, page)| (url.as_str(), page.outcome)).collect()
}

fn discovery(report: &ReadReport, url: &str) -> Discovery {
    report.discovery()[&PageUrl::parse(url).unwrap().key()]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive in memory.
#[derive(Default)]
struct Kept(BTreeMap<UrlKey, Archived>);

impl Kept {
    fn of(pages: &BTreeMap<String, FetchedPage>, fresh: bool) -> Self {
        Self(pages.values().map(|page| (page.url.key(), Archived { page: page.clone(), fresh })).collect())
    }
}

impl Archive for Kept {
    async fn find(&self, key: &UrlKey) -> Option<Archived> {
        self.0.get(key).cloned()
    }
}

#[tokio::test]
async fn links_are_followed_within_the_site_and_everything_is_counted() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/a", "b/", "https://other.example/x", "mailto:x@y.z", "/doc.pdf", "/photo"]))
        .at("/a", Answer::page("A", &["/", "/missing", "/broken"]))
        .at("/b/", Answer::html("<base href='/deep/'><a href=c>c</a>"))
        .at("/deep/c", Answer::page("C", &[]))
        .at("/photo", Answer::bytes("image/png", b"\x89PNG".to_vec()))
        .at("/broken", Answer::status(500))
        .start();
    let (pages, report) = crawl(&site, "/", &quick()).await;
    use FetchOutcome::{ClientError, Fetched, NotHtml, ServerError};
    let expected = [
        ("/", Fetched),
        ("/a", Fetched),
        ("/b/", Fetched),
        ("/broken", ServerError),
        ("/deep/c", Fetched),
        ("/doc.pdf", NotHtml),
        ("/missing", ClientError),
        ("/photo", NotHtml),
    ];
    assert_eq!(outcomes(&pages), expected);
    assert_eq!(report.crawl.outcomes.values().sum::<usize>(), 8);
    assert_eq!(report.incomplete(), [Incomplete::Failures(1)]);
    assert_eq!(report.crawl.robots, RobotsOutcome::Absent);
    assert_eq!((site.hits("/"), site.hits("/doc.pdf"), site.hits("/broken")), (1, 0, 1));
    assert!(site.seen().iter().all(|s| s.method == "GET" && s.headers["user-agent"].starts_with("linkwright/")));
    assert!(pages["/a"].body.starts_with(b"<!doctype html>"));
    assert_eq!(pages["/a"].headers.content_type.as_deref(), Some("text/html; charset=utf-8"));
}

#[tokio::test]
async fn what_sitemap_and_links_found_is_told_apart() {
    let site = FixtureSite::new()
        .at("/robots.txt", Answer::text("User-agent: *\nSitemap: {origin}/maps/index.xml\n"))
        .at(
            "/maps/index.xml",
            Answer::sitemap_index(&[
                "{origin}/maps/1.xml.gz",
                "{origin}/maps/plain.xml.gz",
                "{origin}/maps/gone.xml",
                "{origin}/maps/page.xml",
                "{origin}/maps/index.xml",
            ]),
        )
        .choose("/maps/1.xml.gz", |_, seen| {
            let host = &seen.headers["host"];
            let xml = format!("<urlset><url><loc>http://{host}/orphan</loc><lastmod>2024-01-02</lastmod></url></urlset>");
            Answer::bytes("application/octet-stream", gzip(xml.as_bytes()))
        })
        .at("/maps/plain.xml.gz", Answer::sitemap(&["{origin}/both", "https://other.example/"]))
        .at("/maps/gone.xml", Answer::status(404))
        .at("/maps/page.xml", Answer::page("Not a sitemap", &[]))
        .at("/", Answer::page("Home", &["/both", "/linked"]))
        .at("/both", Answer::page("Both", &[]))
        .at("/linked", Answer::page("Linked", &[]))
        .at("/orphan", Answer::page("Orphan", &[]))
        .start();
    let (pages, report) = crawl(&site, "/", &quick()).await;
    assert_eq!(pages.len(), 4);
    assert_eq!(discovery(&report, &site.url("/orphan")), Discovery { sitemap: true, links: false });
    assert_eq!(discovery(&report, &site.url("/both")), Discovery { sitemap: true, links: true });
    assert_eq!(discovery(&report, &site.url("/linked")), Discovery { sitemap: false, links: true });
    assert_eq!(pages["/orphan"].sitemap_lastmod.as_deref(), Some("2024-01-02"));
    let problems: Vec<Option<SitemapProblem>> = report.crawl.sitemaps.iter().map(|s| s.problem.clone()).collect();
    let expected = [None, None, Some(SitemapProblem::Foreign(1)), Some(SitemapProblem::Status(404)), Some(SitemapProblem::Html)];
    assert_eq!(problems, expected);
    assert_eq!(report.incomplete(), [Incomplete::Sitemaps(2)]);
}

#[tokio::test]
async fn a_sitemap_is_a_start_too() {
    let site = FixtureSite::new()
        .at("/list", Answer::sitemap(&["{origin}/a"]))
        .at("/a", Answer::page("A", &["/b"]))
        .at("/b", Answer::page("B", &[]))
        .start();
    let (pages, report) = crawl(&site, "/list", &quick()).await;
    assert_eq!(pages.keys().collect::<Vec<_>>(), ["/a", "/b"]);
    assert!(report.is_complete());
    let mut settings = quick();
    settings.crawl.follow_links = false;
    let (pages, report) = crawl(&site, "/list", &settings).await;
    assert_eq!(pages.keys().collect::<Vec<_>>(), ["/a"]);
    assert_eq!(report.incomplete(), [Incomplete::LinksNotFollowed]);
}

#[tokio::test]
async fn a_local_copy_is_read_by_the_sitemap_of_the_public_site() {
    let site = FixtureSite::new()
        .at("/robots.txt", Answer::text("User-agent: *\nSitemap: https://public.example/maps/index.xml\n"))
        .at("/maps/index.xml", Answer::sitemap_index(&["https://public.example/maps/1.xml"]))
        .at("/maps/1.xml", Answer::sitemap(&["https://public.example/", "https://public.example/orphan?x=1"]))
        .at("/", Answer::page("Home", &[]))
        .at("/orphan?x=1", Answer::page("Orphan", &[]))
        .start();
    let (pages, report) = crawl(&site, "/", &quick()).await;
    assert_eq!(outcomes(&pages), [("/", FetchOutcome::Fetched), ("/orphan?x=1", FetchOutcome::Fetched)]);
    assert_eq!(report.crawl.sitemaps[1].problem, Some(SitemapProblem::Moved("public.example".to_owned())));
    assert!(report.is_complete() && discovery(&report, &site.url("/orphan?x=1")).sitemap);
}

#[tokio::test]
async fn a_limit_that_is_not_exceeded_leaves_the_crawl_complete() {
    let site = FixtureSite::new().at("/", Answer::page("Home", &["/a"])).at("/a", Answer::page("A", &["/"])).start();
    let mut settings = ReadSettings { limit: Some(2), ..quick() };
    settings.crawl.max_pages = 2;
    let (pages, report) = crawl(&site, "/", &settings).await;
    assert_eq!((pages.len(), report.incomplete()), (2, &[][..]));
}

#[tokio::test]
async fn redirects_are_kept_and_loops_and_ways_out_are_told() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/old", "/older", "/loop1", "/out", "/slash", "/inward"]))
        .at("/older", Answer::redirect(302, "/old"))
        .at("/old", Answer::redirect(301, "{origin}/new"))
        .at("/new", Answer::page("New", &["/from-new"]))
        .at("/from-new", Answer::page("From new", &[]))
        .at("/loop1", Answer::redirect(301, "/loop2"))
        .at("/loop2", Answer::redirect(301, "/loop1"))
        .at("/out", Answer::redirect(301, "https://other.example/"))
        .at("/slash", Answer::redirect(301, "/slash/"))
        .at("/slash/", Answer::page("Slash", &[]))
        .at("/inward", Answer::redirect(307, "javascript:alert(1)"))
        .start();
    let (pages, report) = crawl(&site, "/", &quick()).await;
    use FetchOutcome::{Fetched, OutOfScope, RedirectLoop, Redirected};
    let expected = [
        ("/", Fetched),
        ("/from-new", Fetched),
        ("/inward", OutOfScope),
        ("/loop1", RedirectLoop),
        ("/new", Fetched),
        ("/old", Redirected),
        ("/older", Redirected),
        ("/out", OutOfScope),
        ("/slash/", Fetched),
    ];
    assert_eq!(outcomes(&pages), expected);
    for (asked, statuses) in [("/old", &[301][..]), ("/older", &[302, 301][..])] {
        let page = &pages[asked];
        assert_eq!(page.leads_to().unwrap().as_str(), site.url("/new"));
        assert_eq!(page.redirects.iter().map(|r| r.status).collect::<Vec<_>>(), statuses);
    }
    assert_eq!(pages["/slash/"].redirects[0].url, site.url("/slash"));
    assert!(pages["/out"].detail.as_ref().unwrap().contains("https://other.example/"));
    assert!(discovery(&report, &site.url("/new")).links, "a link to what redirects is a link to its end");
}

#[tokio::test]
async fn robots_txt_is_obeyed() {
    let site = FixtureSite::new()
        .at("/robots.txt", Answer::text("User-agent: linkwright\nDisallow: /private\nUser-agent: *\nDisallow: /\n"))
        .at("/", Answer::page("Home", &["/private/x", "/open", "/way-in"]))
        .at("/open", Answer::page("Open", &[]))
        .at("/way-in", Answer::redirect(301, "/private/y"))
        .start();
    let (pages, report) = crawl(&site, "/", &quick()).await;
    assert_eq!(pages["/private/x"].outcome, FetchOutcome::RobotsDisallowed);
    assert_eq!(pages["/way-in"].outcome, FetchOutcome::RobotsDisallowed);
    assert_eq!((site.hits("/private/x"), site.hits("/private/y")), (0, 0));
    assert_eq!(report.crawl.robots, RobotsOutcome::Obeyed);
    let error = try_crawl(&site, "/private/", &quick(), &NoArchive).await.unwrap_err();
    assert!(matches!(error, ReadError::RobotsForbids { .. }));
}

#[tokio::test]
async fn a_failing_robots_txt_forbids_all() {
    let site = FixtureSite::new().at("/robots.txt", Answer::status(500)).at("/", Answer::page("Home", &[])).start();
    let error = try_crawl(&site, "/", &quick(), &NoArchive).await.unwrap_err();
    assert!(matches!(error, ReadError::RobotsUnavailable { .. }), "{error}");
    assert_eq!(site.hits("/"), 0);
}

#[tokio::test]
async fn nofollow_is_obeyed_unless_told_otherwise() {
    let site = FixtureSite::new()
        .at("/", Answer::html("<a rel=nofollow href=/a>a</a><a href=/b>b</a>"))
        .at("/a", Answer::page("A", &[]))
        .at("/b", Answer::html("<meta name=robots content=nofollow><a href=/c>c</a>"))
        .at("/c", Answer::page("C", &["/d"]).header("x-robots-tag", "nofollow"))
        .at("/d", Answer::page("D", &[]))
        .start();
    let (pages, _) = crawl(&site, "/", &quick()).await;
    assert_eq!(pages.keys().collect::<Vec<_>>(), ["/", "/b"]);
    let mut settings = quick();
    settings.crawl.respect_nofollow = false;
    let (pages, _) = crawl(&site, "/", &settings).await;
    assert_eq!(pages.len(), 5);
}

#[tokio::test]
async fn a_host_in_trouble_is_asked_again_after_a_pause() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/busy", "/down"]))
        .in_turn("/busy", vec![Answer::status(429).header("retry-after", "3600"), Answer::status(503), Answer::page("Ready", &[])])
        .at("/down", Answer::status(503).header("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"))
        .start();
    let begin = Instant::now();
    let (pages, report) = crawl(&site, "/", &quick()).await;
    assert_eq!((pages["/busy"].outcome, site.hits("/busy")), (FetchOutcome::Fetched, 3));
    assert_eq!((pages["/down"].outcome, site.hits("/down")), (FetchOutcome::ServerError, 4));
    assert!(begin.elapsed() < Duration::from_secs(5), "an hour of Retry-After is cut to the longest pause");
    assert_eq!(report.incomplete(), [Incomplete::Failures(1)]);
}

#[tokio::test]
async fn a_host_that_stops_answering_ends_the_crawl() {
    let links: Vec<String> = (0..40).map(|i| format!("/p{i}")).collect();
    let targets: Vec<&str> = links.iter().map(String::as_str).collect();
    let mut site = FixtureSite::new().at("/", Answer::page("Home", &targets));
    for link in &targets {
        site = site.at(link, Answer::status(503));
    }
    let site = site.start();
    let mut settings = quick();
    settings.crawl.retries = 0;
    settings.crawl.max_backoff_ms = 1;
    let (_, report) = crawl(&site, "/", &settings).await;
    assert!(report.incomplete().iter().any(|r| matches!(r, Incomplete::HostStopped(_))), "{:?}", report.incomplete());
    assert_eq!(report.crawl.unfetched + report.crawl.outcomes.values().sum::<usize>(), 41);
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_not_waited_for() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/slow"]))
        .at("/slow", Answer::page("Slow", &[]).after(Duration::from_secs(30)))
        .start();
    let mut settings = quick();
    settings.crawl.timeout_ms = 40;
    settings.crawl.retries = 1;
    let (pages, _) = crawl(&site, "/", &settings).await;
    assert_eq!((pages["/slow"].outcome, site.hits("/slow")), (FetchOutcome::TimedOut, 2));
}

#[tokio::test]
async fn a_second_run_asks_conditionally_and_keeps_what_is_unchanged() {
    let answer = |seen: &linkwright_testkit::Seen, etag: &str, page: Answer| match seen.headers.get("if-none-match") {
        Some(known) if known == etag => Answer::status(304),
        _ => page.header("etag", etag),
    };
    let site = FixtureSite::new()
        .choose("/", move |_, seen| answer(seen, "\"1\"", Answer::page("Home", &["/a", "/b"])))
        .choose("/a", move |count, seen| answer(seen, if count == 0 { "\"1\"" } else { "\"2\"" }, Answer::page("A", &[])))
        .at("/b", Answer::page("B", &[]))
        .start();
    let (first, _) = crawl(&site, "/", &quick()).await;
    let (second, report) = try_crawl(&site, "/", &quick(), &Kept::of(&first, false)).await.unwrap();
    assert_eq!(outcomes(&second), [("/", FetchOutcome::Unchanged), ("/a", FetchOutcome::Fetched), ("/b", FetchOutcome::Fetched)]);
    assert_eq!(second["/"].body, first["/"].body);
    assert_eq!(second["/"].headers.content_type, first["/"].headers.content_type);
    assert!(report.is_complete());
}

#[tokio::test]
async fn a_continued_crawl_asks_only_for_what_is_missing() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/a", "/old"]))
        .at("/a", Answer::page("A", &["/b"]))
        .at("/b", Answer::page("B", &[]))
        .at("/old", Answer::redirect(301, "/new"))
        .at("/new", Answer::page("New", &[]))
        .start();
    let (mut whole, full) = crawl(&site, "/", &quick()).await;
    for gone in ["/b", "/new"] {
        whole.remove(gone);
    }
    site.forget();
    let (rest, report) = try_crawl(&site, "/", &quick(), &Kept::of(&whole, true)).await.unwrap();
    assert_eq!(rest.keys().collect::<Vec<_>>(), ["/b", "/new"]);
    assert_eq!((site.hits("/"), site.hits("/a"), site.hits("/old"), site.hits("/b"), site.hits("/new")), (0, 0, 0, 1, 1));
    assert_eq!(report.crawl.resumed, 3);
    assert_eq!(report.crawl.outcomes, full.crawl.outcomes);
    assert_eq!(report.crawl.discovery, full.crawl.discovery);
}

#[tokio::test]
async fn bodies_are_bounded_also_when_they_unpack() {
    let bomb = gzip(&[b"<!doctype html>".to_vec(), vec![b' '; 8 << 20]].concat());
    assert!(bomb.len() < 100_000);
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/bomb", "/fits"]))
        .at("/bomb", Answer::bytes("text/html", bomb).header("content-encoding", "gzip"))
        .at("/fits", Answer::bytes("text/html; charset=iso-8859-1", b"<title>caf\xe9</title>".to_vec()))
        .start();
    let mut settings = quick();
    settings.crawl.max_body_bytes = 1 << 20;
    let (pages, _) = crawl(&site, "/", &settings).await;
    assert_eq!((pages["/bomb"].outcome, pages["/bomb"].body.len()), (FetchOutcome::TooLarge, 0));
    assert_eq!(pages["/fits"].body, b"<title>caf\xe9</title>");
    assert_eq!(pages["/fits"].headers.content_type.as_deref(), Some("text/html; charset=iso-8859-1"));
}

#[tokio::test]
async fn files_that_call_themselves_pages_are_recognised() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/a", "/b", "/c"]))
        .at("/a", Answer::bytes("text/html", b"%PDF-1.4 x".to_vec()))
        .at("/b", Answer::bytes("application/json", "{}"))
        .at("/c", Answer::bytes("application/xhtml+xml", "<?xml version='1.0'?><html/>"))
        .start();
    let (pages, _) = crawl(&site, "/", &quick()).await;
    use FetchOutcome::{Fetched, NotHtml};
    assert_eq!(outcomes(&pages), [("/", Fetched), ("/a", NotHtml), ("/b", NotHtml), ("/c", Fetched)]);
}

#[tokio::test]
async fn no_more_requests_than_allowed_are_in_flight_and_starts_keep_their_distance() {
    let links: Vec<String> = (0..12).map(|i| format!("/p{i}")).collect();
    let targets: Vec<&str> = links.iter().map(String::as_str).collect();
    let build = || {
        let mut site = FixtureSite::new().at("/", Answer::page("Home", &targets));
        for link in &targets {
            site = site.at(link, Answer::page("P", &[]).after(Duration::from_millis(20)));
        }
        site.start()
    };
    let site = build();
    let mut settings = quick();
    settings.crawl.concurrency = 3;
    crawl(&site, "/", &settings).await;
    assert_eq!(site.most_in_flight(), 3);
    let site = build();
    settings.crawl.interval_ms = 10;
    let begin = Instant::now();
    crawl(&site, "/", &settings).await;
    assert!(begin.elapsed() >= Duration::from_millis(13 * 10));
}

#[tokio::test]
async fn limits_and_selections_leave_out_and_say_so() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/blog/a", "/blog/b", "/blog/none", "/shop/c", "/blog/d"]))
        .at("/blog/a", Answer::page("A", &[]))
        .at("/blog/b", Answer::page("B", &[]))
        .at("/blog/d", Answer::page("D", &[]))
        .at("/shop/c", Answer::page("C", &[]))
        .start();
    let pilot = ReadSettings { limit: Some(3), ..quick() };
    let (pages, report) = crawl(&site, "/", &pilot).await;
    use FetchOutcome::{ClientError, Fetched, LeftOut};
    assert_eq!(
        outcomes(&pages),
        [("/", Fetched), ("/blog/a", Fetched), ("/blog/b", Fetched), ("/blog/d", LeftOut), ("/blog/none", LeftOut), ("/shop/c", LeftOut)]
    );
    assert_eq!(report.incomplete(), [Incomplete::Limit(3)]);
    let section = ReadSettings { only: vec!["/blog/*".to_owned()], exclude: vec!["/blog/b".to_owned()], ..quick() };
    let (pages, report) = crawl(&site, "/", &section).await;
    assert_eq!(
        outcomes(&pages),
        [
            ("/", LeftOut),
            ("/blog/a", Fetched),
            ("/blog/b", LeftOut),
            ("/blog/d", Fetched),
            ("/blog/none", ClientError),
            ("/shop/c", LeftOut)
        ]
    );
    assert_eq!(report.incomplete(), [Incomplete::Selection]);
    let mut few = quick();
    few.crawl.max_pages = 2;
    let (pages, report) = crawl(&site, "/", &few).await;
    assert_eq!(pages.keys().collect::<Vec<_>>(), ["/", "/blog/a"]);
    assert_eq!((report.crawl.unfetched, report.incomplete()), (4, &[Incomplete::PageLimit(2)][..]));
    let mut shallow = quick();
    shallow.crawl.max_depth = 0;
    let (_, report) = crawl(&site, "/", &shallow).await;
    assert_eq!((report.crawl.unfetched, report.incomplete()), (5, &[Incomplete::DepthLimit(0)][..]));
}

#[tokio::test]
async fn a_calendar_does_not_go_on_for_ever() {
    let mut site = FixtureSite::new().at("/", Answer::page("Home", &["/cal?m=0"]));
    for month in 0..60 {
        site = site.at(&format!("/cal?m={month}"), Answer::page("Month", &[&format!("/cal?m={}", month + 1)]));
    }
    let site = site.start();
    let mut settings = quick();
    settings.crawl.queries_per_path = 5;
    let (pages, _) = crawl(&site, "/", &settings).await;
    assert_eq!(pages.values().filter(|p| p.outcome == FetchOutcome::Fetched).count(), 6);
    assert_eq!(pages["/cal?m=5"].outcome, FetchOutcome::LeftOut);
}

#[tokio::test]
async fn what_cannot_be_read_at_all_is_one_sentence() {
    let site = FixtureSite::new()
        .at("/sitemap.xml", Answer::page("Oops", &[]))
        .at("/empty.xml", Answer::sitemap(&[]))
        .at("/moved", Answer::redirect(301, "https://other.example/"))
        .at("/data", Answer::bytes("application/pdf", "%PDF-1"))
        .start();
    let error = |path: &'static str| {
        let site = &site;
        async move { try_crawl(site, path, &quick(), &NoArchive).await.unwrap_err() }
    };
    assert!(matches!(error("/sitemap.xml").await, ReadError::SitemapIsHtml { .. }));
    assert!(matches!(error("/empty.xml").await, ReadError::EmptySitemap { .. }));
    assert!(matches!(error("/moved").await, ReadError::StartLeadsElsewhere { .. }));
    assert!(matches!(error("/data").await, ReadError::StartIsNoPage { .. }));
    let missing = error("/none").await;
    assert!(missing.to_string().ends_with("status 404") && missing.hint().is_some(), "{missing}");
    let port = site.port();
    drop(site);
    let seed = Seed::parse(&format!("http://127.0.0.1:{port}/"), None).unwrap();
    let (sender, _receiver) = mpsc::channel(1);
    let (_keep, stop) = watch::channel(false);
    let error = read(&seed, &quick(), &NoArchive, sender, &|_| (), stop).await.unwrap_err();
    assert!(matches!(error, ReadError::HostDoesNotAnswer { .. }), "{error}");
}

#[tokio::test]
async fn a_crawl_can_be_stopped_and_has_a_time_limit() {
    let site = FixtureSite::new()
        .at("/", Answer::page("Home", &["/slow", "/slower"]))
        .at("/slow", Answer::page("Slow", &[]).after(Duration::from_secs(20)))
        .at("/slower", Answer::page("Slower", &[]).after(Duration::from_secs(20)))
        .start();
    let mut settings = quick();
    settings.crawl.timeout_ms = 60_000;
    settings.crawl.max_time_ms = Some(150);
    let (pages, report) = crawl(&site, "/", &settings).await;
    assert_eq!((pages.len(), report.crawl.unfetched, report.incomplete()), (1, 2, &[Incomplete::TimeLimit][..]));
    settings.crawl.max_time_ms = None;
    let (sender, mut receiver) = mpsc::channel(8);
    let (stopper, stop) = watch::channel(false);
    let seed = Seed::parse(&site.url("/"), None).unwrap();
    let progress = move |_: &linkwright_site::ReadProgress| {
        let _ = stopper.send(true);
    };
    let report = read(&seed, &settings, &NoArchive, sender, &progress, stop).await.unwrap();
    assert_eq!(report.incomplete(), [Incomplete::Cancelled]);
    assert!(receiver.recv().await.is_some());
}

#[tokio::test]
async fn the_set_of_pages_does_not_depend_on_the_order_of_answers() {
    let links: Vec<String> = (0..20).map(|i| format!("/p{i}")).collect();
    let build = |slowness: u64| {
        let all: Vec<&str> = links.iter().map(String::as_str).chain(["/r1", "/r2", "/l1", "/l2"]).collect();
        let mut site = FixtureSite::new()
            .at("/", Answer::page("Home", &all))
            .at("/r1", Answer::redirect(301, "/r2"))
            .at("/r2", Answer::redirect(301, "/p3"))
            .at("/l1", Answer::redirect(301, "/l2").after(Duration::from_millis(slowness)))
            .at("/l2", Answer::redirect(301, "/l1"));
        for (i, link) in (0_u64..).zip(&links) {
            let next = format!("/deep{i}");
            site = site
                .at(link, Answer::page("P", &[&next, "/p0"]).after(Duration::from_millis(i * slowness % 7)))
                .at(&next, Answer::page("D", &[]));
        }
        site.start()
    };
    let mut seen = Vec::new();
    for (concurrency, slowness) in [(1, 0), (8, 3), (5, 5)] {
        let site = build(slowness);
        let mut settings = ReadSettings { limit: Some(30), ..quick() };
        settings.crawl.concurrency = concurrency;
        let (pages, report) = crawl(&site, "/", &settings).await;
        let pages: Vec<(String, FetchOutcome, usize)> = pages.into_iter().map(|(url, p)| (url, p.outcome, p.redirects.len())).collect();
        seen.push((pages, report.crawl.outcomes));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    let loops = seen[0].0.iter().filter(|(_, outcome, _)| *outcome == FetchOutcome::RedirectLoop).count();
    assert_eq!(loops, 2);
}

#[tokio::test]
async fn https_that_is_none_is_a_host_that_does_not_answer() {
    let site = FixtureSite::new().at("/", Answer::page("Home", &[])).start();
    let seed = Seed::parse(&site.url("/").replace("http:", "https:"), None).unwrap();
    let (sender, _receiver) = mpsc::channel(1);
    let (_keep, stop) = watch::channel(false);
    let error = read(&seed, &quick(), &NoArchive, sender, &|_| (), stop).await.unwrap_err();
    assert!(matches!(error, ReadError::HostDoesNotAnswer { .. }), "{error}");
}
