//! Sites that are read over HTTP, from a server on loopback.

use crate::sandbox::{Outcome, Sandbox};
use linkwright_testkit::{Answer, FixtureSite, RunningSite};
use serde_json::Value;

/// Plans a site into `project`, where short pages count as pages.
fn plan(sandbox: &Sandbox, site: &RunningSite) -> Outcome {
    let short = ["--set", "pages.min_words_source=10", "--set", "pages.min_words_target=10"];
    sandbox.run(&[&["plan", &site.url("/"), "--project", "project", "--format", "json"][..], &short].concat())
}

/// A page of one language with a title, a paragraph, and links to all pages of its site.
fn page(language: &str, title: &str, paragraph: &str, paths: &[&str]) -> String {
    let menu: String = paths.iter().map(|path| format!("<li><a href=\"{path}\">{path}</a></li>")).collect();
    format!(
        "<!doctype html><html lang={language}><title>{title}</title><nav><ul>{menu}</ul></nav>\
         <main><h1>{title}</h1><p>{paragraph}</p></main></html>"
    )
}

/// A server that knows whether the asker has the page already.
fn with_etag(body: String) -> impl Fn(usize, &linkwright_testkit::Seen) -> Answer {
    move |_, seen| {
        let etag = "\"one\"";
        let known = seen.headers.get("if-none-match").is_some_and(|value| value == etag);
        let answer = if known { Answer::status(304) } else { Answer::html(&body) };
        answer.header("etag", etag)
    }
}

const ENGLISH: [(&str, &str, &str); 4] = [
    (
        "/",
        "Garden notes",
        "Notes from a small garden by the sea, with what grew well, what did not, and how the soil was made better over ten years.",
    ),
    (
        "/compost/",
        "Making compost",
        "Kitchen scraps and dry leaves turn into dark compost within a year when the heap is kept moist and is turned every month.",
    ),
    (
        "/tomatoes/",
        "Growing tomatoes",
        "Tomato seedlings want warmth, light and deep pots; feed them with compost once the first flowers open and water at the root.",
    ),
    (
        "/slugs/",
        "Keeping slugs away",
        "Slugs come at night when the ground is wet, so water in the morning, lay boards as traps and lift them before breakfast.",
    ),
];

fn english() -> RunningSite {
    let paths = ENGLISH.map(|(path, _, _)| path);
    let site = FixtureSite::new();
    ENGLISH.iter().fold(site, |site, (path, title, text)| site.choose(path, with_etag(page("en", title, text, &paths)))).start()
}

#[test]
fn a_second_run_asks_what_changed_and_embeds_nothing() {
    let (sandbox, site) = (Sandbox::empty(), english());
    let first = plan(&sandbox, &site).expect_code(0).json();
    assert_eq!(first["counts"]["pages_read"], ENGLISH.len());
    assert_eq!(first["work"]["embedded"], ENGLISH.len(), "{first}");
    assert_eq!(first["run"]["complete"], true, "{first}");
    let files = ["project/plan.csv", "project/gaps.csv"].map(|file| sandbox.read(file));

    site.forget();
    let second = plan(&sandbox, &site).expect_code(0).json();
    assert_eq!(second["work"]["embedded"], 0, "{second}");
    assert_eq!(second["work"]["reused"], ENGLISH.len(), "{second}");
    assert_eq!(second["counts"]["pages_read"], ENGLISH.len(), "a page that did not change is still there");
    for (path, _, _) in ENGLISH {
        let asked: Vec<_> = site.seen().into_iter().filter(|seen| seen.target == path).collect();
        assert_eq!(asked.len(), 1, "{path} is asked for once");
        assert_eq!(asked[0].headers.get("if-none-match").map(String::as_str), Some("\"one\""), "{path}");
    }
    assert_eq!(["project/plan.csv", "project/gaps.csv"].map(|file| sandbox.read(file)), files);
}

#[test]
fn a_page_that_is_gone_is_no_reason_to_stop() {
    let paths = ["/", "/compost/", "/gone/"];
    let pages = &ENGLISH[..2];
    let site =
        pages.iter().fold(FixtureSite::new(), |site, (path, title, text)| site.at(path, Answer::html(&page("en", title, text, &paths))));
    let outcome = plan(&Sandbox::empty(), &site.start()).expect_code(1).json();
    assert_eq!((&outcome["counts"]["pages_read"], &outcome["counts"]["pages_failed"]), (&Value::from(2), &Value::from(1)), "{outcome}");
}

#[test]
fn a_declared_sitemap_that_is_a_web_page_is_told() {
    let site = FixtureSite::new().at("/robots.txt", Answer::text("Sitemap: {origin}/map.xml\n")).at("/map.xml", Answer::page("Oops", &[]));
    let paths = ["/", "/compost/"];
    let pages = &ENGLISH[..2];
    let site = pages.iter().fold(site, |site, (path, title, text)| site.at(path, Answer::html(&page("en", title, text, &paths))));
    let outcome = plan(&Sandbox::empty(), &site.start()).expect_code(0).json();
    let message = notice(&outcome, "sitemap_problem");
    assert!(message.contains("/map.xml"), "{message}");
}

const POLISH: [(&str, &str, &str); 4] = [
    (
        "/",
        "Zapiski z ogrodu",
        "Zapiski z małego ogrodu nad morzem: co rosło dobrze, co się nie udało i jak przez dziesięć lat poprawialiśmy ziemię na grządkach.",
    ),
    (
        "/kompost/",
        "Jak zrobić kompost",
        "Resztki z kuchni i suche liście zamieniają się w ciemny kompost w ciągu roku, jeśli pryzma jest wilgotna i przerzucana co miesiąc.",
    ),
    (
        "/pomidory/",
        "Uprawa pomidorów",
        "Sadzonki pomidorów potrzebują ciepła, światła i głębokich doniczek; gdy pojawią się pierwsze kwiaty, trzeba dodać kompost i podlewać.",
    ),
    (
        "/slimaki/",
        "Ślimaki w ogrodzie",
        "Ślimaki przychodzą nocą, kiedy ziemia jest mokra, dlatego lepiej podlewać rano i rozkładać deski, pod którymi się chowają.",
    ),
];

/// The message of the one notice with a code.
fn notice(outcome: &Value, code: &str) -> String {
    let notices: Vec<&Value> = outcome["notices"].as_array().unwrap().iter().filter(|notice| notice["code"] == code).collect();
    assert_eq!(notices.len(), 1, "{code} in {outcome}");
    notices[0]["message"].as_str().unwrap().to_owned()
}

fn polish(language: &str) -> FixtureSite {
    let paths = POLISH.map(|(path, _, _)| path);
    POLISH.iter().fold(FixtureSite::new(), |site, (path, title, text)| site.at(path, Answer::html(&page(language, title, text, &paths))))
}

#[test]
fn pages_in_a_language_that_the_model_does_not_know_are_planned_and_told() {
    let outcome = plan(&Sandbox::empty(), &polish("pl-PL").start()).expect_code(0).json();
    assert_eq!(outcome["counts"]["pages_read"], POLISH.len());
    assert_eq!(outcome["work"]["embedded"], 0, "a vector of a model that cannot read the page says nothing");
    let message = notice(&outcome, "unknown_language");
    assert!(message.contains("4 pages") && message.contains(" pl-pl,"), "{message}");
}

#[test]
fn pages_that_do_not_declare_their_unknown_language_are_told_too() {
    let (sandbox, site) = (Sandbox::empty(), polish("\"\"").start());
    let outcome = plan(&sandbox, &site).expect_code(0).json();
    assert_eq!(outcome["work"]["embedded"], 0, "{outcome}");
    let report = sandbox.run(&["report", "--project", "project"]).expect_code(0);
    assert!(report.stdout.contains("which the model"), "people are told as well: {}", report.stdout);
}
