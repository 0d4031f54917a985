//! From a start URL or a sitemap URL to the pages of a site, over HTTP.
//!
//! robots.txt first, then the start URL (its bytes say whether it is a page or a sitemap), the
//! sitemaps, and then the site level by level. Every address ends as one `FetchedPage` with an
//! outcome; pages are sent as soon as they are there. The set of pages does not depend on the order
//! of answers.

mod address;
mod client;
mod frontier;
mod polite;
mod report;
mod robots;
mod scope;
mod settings;
mod sitemap;
mod visit;

pub use report::{CrawlReport, Incomplete, SitemapReport};
pub use robots::RobotsOutcome;
pub use settings::CrawlSettings;
pub use sitemap::SitemapProblem;

pub(crate) use sitemap::parse as parse_sitemap;

use crate::archive::Archive;
use crate::read::{ReadError, ReadProgress, Reading};
use address::AddressPolicy;
use client::{Answer, Ask, Failure, Fetcher};
use frontier::{Candidate, Frontier};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use linkwright_core::page::{FetchOutcome, FetchedPage, Redirect};
use linkwright_core::url::{PageUrl, UrlKey};
use scope::{Refusal, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;
use visit::{Visit, Visitor, record, redirected};

/// Redirects followed to reach a start URL or a sitemap.
const MAX_SEED_REDIRECTS: usize = 5;

/// The record of an address that a site's own sources redirect to a page.
pub(crate) fn redirect(from: PageUrl, to: &PageUrl) -> FetchedPage {
    let hops = vec![Redirect { url: from.to_string(), status: 301 }];
    redirected(from, hops, to)
}

/// Why a crawl ended before its frontier was empty.
enum End {
    Cancelled,
    TimeLimit,
    HostStopped(String),
}

/// Crawls the site of `start`.
///
/// # Errors
/// When there is not one page to be had: no answer, robots.txt forbids, no page behind the start URL.
pub(crate) async fn crawl<A: Archive>(
    start: &PageUrl,
    settings: &CrawlSettings,
    archive: &A,
    reading: &Reading<'_>,
) -> Result<CrawlReport, ReadError> {
    let deadline = settings.max_time_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
    let policy = AddressPolicy::for_start(&start.to_url()).await;
    let fetcher = Fetcher::new(settings, policy).map_err(|reason| ReadError::Client { reason })?;
    let visitor = Visitor::new(settings, archive, fetcher, Scope::new(start, settings));
    let mut crawl = Crawl {
        visitor,
        reading,
        start,
        frontier: Frontier::default(),
        report: CrawlReport::default(),
        tally: Tally::default(),
        deadline,
        policy,
    };
    crawl.prepare().await?;
    let end = crawl.walk().await;
    crawl.finish(end)
}

/// A crawl under way.
struct Crawl<'a, A> {
    visitor: Visitor<'a, A>,
    reading: &'a Reading<'a>,
    start: &'a PageUrl,
    frontier: Frontier,
    report: CrawlReport,
    tally: Tally,
    deadline: Option<Instant>,
    policy: AddressPolicy,
}

/// What is counted while a crawl runs.
#[derive(Default)]
struct Tally {
    asked: usize,
    /// HTML pages that count for `--limit`.
    usable: usize,
    failures_in_a_row: usize,
    limit_reached: bool,
    page_limit_reached: bool,
    left_out: usize,
    /// Query variants per path.
    variants: BTreeMap<String, usize>,
    start: Option<(FetchOutcome, u16, Option<String>)>,
}

impl<A: Archive> Crawl<'_, A> {
    /// robots.txt, the start URL and the sitemaps.
    async fn prepare(&mut self) -> Result<(), ReadError> {
        let start = self.start.to_url();
        let rules = self.visitor.rules(&start).await;
        self.report.robots = rules.outcome.clone();
        if let Some(failure) = &rules.failure {
            return Err(self.no_answer(failure));
        }
        if !rules.allows(&start) {
            return Err(match &rules.outcome {
                RobotsOutcome::Unavailable(reason) => ReadError::RobotsUnavailable { url: self.start.to_string(), reason: reason.clone() },
                _ => ReadError::RobotsForbids { url: self.start.to_string() },
            });
        }
        if let Some((url, answer)) = self.seed_sitemap().await? {
            return self.start_from_sitemap(url, &answer).await;
        }
        self.frontier.start(self.start);
        let declared: Vec<String> = rules.robots.sitemaps().iter().map(|url| self.at_copy(url)).collect();
        self.read_sitemaps(declared, BTreeMap::new()).await;
        let found_any = self.report.sitemaps.iter().any(|s| s.pages > 0);
        if let (false, Ok(usual)) = (found_any, start.join("/sitemap.xml"))
            && !self.report.sitemaps.iter().any(|s| s.url == usual.as_str())
        {
            self.try_usual_sitemap(usual.to_string()).await;
        }
        Ok(())
    }

    /// Where a sitemap lies. A site on a private address is a copy or a preview: what it says of its
    /// public host is looked for in the copy.
    fn at_copy(&self, url: &Url) -> String {
        let page = PageUrl::parse(url.as_str());
        let foreign = page.is_some_and(|page| !self.visitor.scope.has_host(&page));
        if self.policy == AddressPolicy::PublicOnly || !foreign {
            return url.to_string();
        }
        moved(url, self.start).to_string()
    }

    fn no_answer(&self, failure: &Failure) -> ReadError {
        ReadError::HostDoesNotAnswer { host: self.start.host(), reason: failure.to_string() }
    }

    /// The answer of the start URL, if it is a sitemap. A page is kept for the walk, which would ask
    /// for it again.
    async fn seed_sitemap(&mut self) -> Result<Option<(Url, Answer)>, ReadError> {
        if self.visitor.archive.find(&self.start.key()).await.is_some_and(|a| a.page.outcome != FetchOutcome::NotHtml) {
            return Ok(None);
        }
        let max = self.visitor.settings.max_sitemap_bytes;
        let (url, answer) = match self.get_following(self.start.to_url(), false).await {
            Ok(found) => found,
            Err(failure) => return Err(self.no_answer(&failure)),
        };
        if (200..300).contains(&answer.status) {
            if sitemap::looks_like_sitemap(answer.headers.content_type.as_deref(), &answer.body, max) {
                return Ok(Some((url, answer)));
            }
            if is_named_like_sitemap(self.start) {
                return Err(ReadError::SitemapIsHtml { url: self.start.to_string() });
            }
        }
        if answer.body.len() <= self.visitor.settings.max_body_bytes && !(300..400).contains(&answer.status) {
            self.visitor.prime(url, answer);
        }
        Ok(None)
    }

    async fn start_from_sitemap(&mut self, url: Url, answer: &Answer) -> Result<(), ReadError> {
        if self.policy == AddressPolicy::PublicOnly {
            self.adopt_listed_host(answer);
        }
        let known = BTreeMap::from([(url.to_string(), answer.clone())]);
        self.read_sitemaps(vec![url.to_string()], known).await;
        if self.frontier.waiting() == 0 {
            let problem = self.report.sitemaps.iter().find_map(|s| s.problem.as_ref()).map(ToString::to_string);
            return Err(ReadError::EmptySitemap {
                url: self.start.to_string(),
                reason: problem.unwrap_or_else(|| "lists no page".to_owned()),
            });
        }
        Ok(())
    }

    /// A sitemap may lie on another host than the site. Where it lists one other host alone, that is
    /// the site.
    fn adopt_listed_host(&mut self, answer: &Answer) {
        let listed = parse_sitemap(&answer.body, self.visitor.settings.max_sitemap_bytes);
        let urls: Vec<PageUrl> = listed.pages.iter().filter_map(|e| PageUrl::parse(&e.location)).collect();
        let hosts: BTreeSet<String> = urls.iter().map(PageUrl::host).collect();
        if let (true, Some(host)) = (hosts.len() == 1, hosts.first()) {
            self.visitor.scope.add_host(host);
        }
    }

    /// Asks for a seed, following redirects as long as they stay where the crawl may go.
    async fn get_following(&self, mut url: Url, once: bool) -> Result<(Url, Answer), Failure> {
        let ask = Ask { max_bytes: self.visitor.settings.max_sitemap_bytes, any_type: true, once, ..Ask::default() };
        let mut answer = self.visitor.fetcher.get(&url, &ask).await?;
        for _ in 0..MAX_SEED_REDIRECTS {
            let next = answer.location.as_deref().filter(|_| (300..400).contains(&answer.status)).and_then(|l| url.join(l).ok());
            let Some(next) = next.filter(|next| PageUrl::parse(next.as_str()).is_some_and(|p| self.visitor.scope.has_host(&p))) else {
                break;
            };
            url = next;
            answer = self.visitor.fetcher.get(&url, &ask).await?;
        }
        Ok((url, answer))
    }

    /// Reads sitemaps and, level by level, those that they list.
    async fn read_sitemaps(&mut self, roots: Vec<String>, mut known: BTreeMap<String, Answer>) {
        let mut seen = BTreeSet::new();
        let mut level = roots;
        for depth in 0.. {
            let mut children = Vec::new();
            for url in level {
                if !seen.insert(url.clone()) {
                    continue;
                }
                if seen.len() > self.visitor.settings.max_sitemaps || depth > self.visitor.settings.max_sitemap_depth || self.is_over() {
                    self.report.sitemaps.push(SitemapReport { url, pages: 0, problem: Some(SitemapProblem::LimitReached) });
                    continue;
                }
                children.extend(self.read_sitemap(&url, known.remove(&url)).await);
            }
            if children.is_empty() {
                return;
            }
            level = children;
        }
    }

    /// Reads one sitemap, reports on it, and gives its children.
    async fn read_sitemap(&mut self, url: &str, known: Option<Answer>) -> Vec<String> {
        let answer = match (known, PageUrl::parse(url)) {
            (Some(answer), _) => Ok(answer),
            (None, Some(page)) => self.get_following(page.to_url(), !self.visitor.scope.has_host(&page)).await.map(|(_, answer)| answer),
            (None, None) => Err(Failure::Unreachable("not a web address".to_owned())),
        };
        let (pages, children, problem) = match answer {
            Err(failure) => (0, Vec::new(), Some(SitemapProblem::Unreachable(failure.to_string()))),
            Ok(answer) if answer.status != 200 => (0, Vec::new(), Some(SitemapProblem::Status(answer.status))),
            Ok(answer) => self.take_sitemap(&answer),
        };
        self.report.sitemaps.push(SitemapReport { url: url.to_owned(), pages, problem });
        children
    }

    fn take_sitemap(&mut self, answer: &Answer) -> (usize, Vec<String>, Option<SitemapProblem>) {
        let mut sitemap = parse_sitemap(&answer.body, self.visitor.settings.max_sitemap_bytes);
        if answer.too_large && matches!(sitemap.problem, None | Some(SitemapProblem::Damaged(_))) {
            sitemap.problem = Some(SitemapProblem::TooLarge);
        }
        let public_host = self.public_host(&sitemap.pages);
        let (mut pages, mut foreign) = (0, 0);
        for entry in sitemap.pages {
            let url = PageUrl::parse(&entry.location);
            let url = if public_host.is_some() { url.map(|url| moved(&url.to_url(), self.start)) } else { url };
            match url.filter(|url| self.visitor.scope.contains(url)) {
                Some(url) => {
                    pages += 1;
                    self.frontier.listed(&url, entry.lastmod);
                }
                None => foreign += 1,
            }
        }
        let children = sitemap.children.iter().map(|child| Url::parse(child).map_or_else(|_| child.clone(), |url| self.at_copy(&url)));
        let children = children.collect();
        let problem =
            sitemap.problem.or(public_host.map(SitemapProblem::Moved)).or((foreign > 0).then_some(SitemapProblem::Foreign(foreign)));
        (pages, children, problem)
    }

    /// The one other host that a sitemap of a private copy lists pages of.
    fn public_host(&self, entries: &[sitemap::Entry]) -> Option<String> {
        let urls = entries.iter().filter_map(|e| PageUrl::parse(&e.location));
        let hosts: BTreeSet<String> = urls.map(|url| if self.visitor.scope.has_host(&url) { String::new() } else { url.host() }).collect();
        let only = (hosts.len() == 1).then(|| hosts.into_iter().next()).flatten();
        only.filter(|host| !host.is_empty() && self.policy == AddressPolicy::Any)
    }

    /// A sitemap that nobody announced: that it is missing is no problem.
    async fn try_usual_sitemap(&mut self, url: String) {
        let before = self.report.sitemaps.len();
        self.read_sitemaps(vec![url], BTreeMap::new()).await;
        if self.report.sitemaps.len() == before + 1 && self.report.sitemaps[before].pages == 0 {
            self.report.sitemaps.truncate(before);
        }
    }

    fn is_over(&self) -> bool {
        self.reading.is_cancelled() || self.deadline.is_some_and(|at| Instant::now() >= at)
    }

    /// Walks the site level by level. `None` when nothing is left to ask for.
    async fn walk(&mut self) -> Option<End> {
        let mut depth = 0;
        loop {
            let level = self.frontier.next_level();
            if level.is_empty() || self.tally.page_limit_reached {
                self.report.unfetched += level.len();
                return None;
            }
            if depth > self.visitor.settings.max_depth {
                self.report.unfetched += level.len();
                self.add_reason(Incomplete::DepthLimit(self.visitor.settings.max_depth));
                return None;
            }
            if let Some(end) = self.walk_level(level).await {
                return Some(end);
            }
            depth += 1;
        }
    }

    async fn walk_level(&mut self, level: Vec<Candidate>) -> Option<End> {
        let mut wanted = Vec::with_capacity(level.len());
        for candidate in level {
            match self.refusal(&candidate) {
                None => wanted.push(candidate),
                Some(page) => {
                    if !self.deliver(page).await {
                        return Some(End::Cancelled);
                    }
                }
            }
        }
        self.ask_all(wanted).await
    }

    /// The page that stands for an address which is not asked for.
    fn refusal(&mut self, candidate: &Candidate) -> Option<FetchedPage> {
        let left_out =
            |detail: &str| FetchedPage { detail: Some(detail.to_owned()), ..record(candidate.url.clone(), FetchOutcome::LeftOut) };
        match self.visitor.scope.check(&candidate.url) {
            Ok(()) => {}
            Err(Refusal::Media(extension)) => {
                let detail = Some(format!("a `.{extension}` file by its name; not asked for"));
                return Some(FetchedPage { detail, ..record(candidate.url.clone(), FetchOutcome::NotHtml) });
            }
            Err(Refusal::Outside) => return Some(record(candidate.url.clone(), FetchOutcome::OutOfScope)),
            Err(Refusal::Trap) => return Some(left_out("the address is too long, or repeats itself")),
        }
        // The start page is read for its links even where it is not selected.
        if !self.reading.selection.includes(&candidate.url, None) && candidate.key != self.start.key() {
            self.tally.left_out += 1;
            return Some(left_out("not selected"));
        }
        if !self.frontier.is_listed(&candidate.key) && self.is_one_variant_too_many(&candidate.key) {
            return Some(left_out("more query variants of this path than `queries_per_path`"));
        }
        None
    }

    fn is_one_variant_too_many(&mut self, key: &UrlKey) -> bool {
        let Some((path, _)) = key.as_str().split_once('?') else { return false };
        let count = self.tally.variants.entry(path.to_owned()).or_default();
        *count += 1;
        *count > self.visitor.settings.queries_per_path
    }

    /// Asks for addresses, so many at one time, in their order.
    async fn ask_all(&mut self, wanted: Vec<Candidate>) -> Option<End> {
        let total = wanted.len();
        let mut waiting = wanted.into_iter().peekable();
        let visitor = &self.visitor;
        let mut running = FuturesUnordered::new();
        // The visits borrow the visitor; what they bring is taken by the rest of the crawl.
        let mut taker = Taker {
            reading: self.reading,
            start: self.start,
            frontier: &mut self.frontier,
            report: &mut self.report,
            tally: &mut self.tally,
        };
        let mut answered = 0;
        let end = loop {
            while running.len() < visitor.settings.concurrency.max(1)
                && waiting.peek().is_some()
                && taker.may_ask(running.len(), visitor.settings.max_pages)
            {
                let Some(candidate) = waiting.next() else { break };
                taker.tally.asked += 1;
                running.push(visitor.visit(candidate));
            }
            if running.is_empty() {
                break None;
            }
            let visit = tokio::select! {
                visit = running.next() => visit,
                () = self.reading.cancelled() => break Some(End::Cancelled),
                () = until(self.deadline) => break Some(End::TimeLimit),
            };
            let Some(visit) = visit else { break None };
            answered += 1;
            taker.watch(&visit);
            if !taker.take(visit).await {
                break Some(End::Cancelled);
            }
            taker.progress(total - answered);
            if taker.tally.failures_in_a_row >= visitor.settings.max_failures_in_a_row.max(1) {
                break Some(End::HostStopped(self.start.host()));
            }
        };
        let in_flight = running.len();
        drop(running);
        let rest: Vec<Candidate> = waiting.collect();
        if self.tally.limit_reached {
            self.leave_out(rest).await;
        } else {
            self.report.unfetched += rest.len() + in_flight;
        }
        end
    }

    async fn leave_out(&mut self, rest: Vec<Candidate>) {
        for candidate in rest {
            self.tally.left_out += 1;
            let detail = Some("beyond the limit of pages".to_owned());
            self.deliver(FetchedPage { detail, ..record(candidate.url, FetchOutcome::LeftOut) }).await;
        }
    }

    async fn deliver(&mut self, page: FetchedPage) -> bool {
        let mut taker = Taker {
            reading: self.reading,
            start: self.start,
            frontier: &mut self.frontier,
            report: &mut self.report,
            tally: &mut self.tally,
        };
        taker.deliver(page).await
    }

    fn add_reason(&mut self, reason: Incomplete) {
        self.report.incomplete.push(reason);
    }

    /// The report, or the reason why there is not one page.
    fn finish(mut self, end: Option<End>) -> Result<CrawlReport, ReadError> {
        self.report.unfetched += self.frontier.waiting();
        self.report.discovery = self.frontier.discovery();
        let cancelled = matches!(end, Some(End::Cancelled));
        self.add_reasons(end);
        let read = [FetchOutcome::Fetched, FetchOutcome::Unchanged].iter().any(|o| self.report.outcomes.contains_key(o));
        if !read && !cancelled && self.tally.left_out == 0 {
            return Err(self.nothing());
        }
        Ok(self.report)
    }

    fn add_reasons(&mut self, end: Option<End>) {
        match end {
            Some(End::Cancelled) => self.add_reason(Incomplete::Cancelled),
            Some(End::TimeLimit) => self.add_reason(Incomplete::TimeLimit),
            Some(End::HostStopped(host)) => self.add_reason(Incomplete::HostStopped(host)),
            None => {}
        }
        if self.tally.page_limit_reached {
            self.add_reason(Incomplete::PageLimit(self.visitor.settings.max_pages));
        }
        if let (true, Some(limit)) = (self.tally.limit_reached, self.reading.limit) {
            self.add_reason(Incomplete::Limit(limit));
        }
        if self.reading.selection.is_partial() {
            self.add_reason(Incomplete::Selection);
        }
        if !self.visitor.settings.follow_links {
            self.add_reason(Incomplete::LinksNotFollowed);
        }
        use FetchOutcome::{ServerError, TimedOut, TooLarge, Unreachable};
        let failures = [ServerError, TimedOut, TooLarge, Unreachable].iter().filter_map(|o| self.report.outcomes.get(o)).sum();
        if failures > 0 {
            self.add_reason(Incomplete::Failures(failures));
        }
        let bad = self
            .report
            .sitemaps
            .iter()
            .filter(|s| !matches!(s.problem, None | Some(SitemapProblem::Foreign(_) | SitemapProblem::Moved(_) | SitemapProblem::Empty)))
            .count();
        if bad > 0 {
            self.add_reason(Incomplete::Sitemaps(bad));
        }
        self.report.incomplete.sort();
    }

    /// The error that says why there is no page.
    fn nothing(&self) -> ReadError {
        let url = self.start.to_string();
        match self.tally.start.clone() {
            Some((FetchOutcome::OutOfScope, _, detail)) => ReadError::StartLeadsElsewhere { url, detail: detail.unwrap_or_default() },
            Some((FetchOutcome::NotHtml, _, _)) => ReadError::StartIsNoPage { url },
            Some((FetchOutcome::TimedOut | FetchOutcome::Unreachable, _, detail)) => {
                ReadError::HostDoesNotAnswer { host: self.start.host(), reason: detail.unwrap_or_default() }
            }
            Some((_, _, detail)) => ReadError::StartFailed { url, reason: detail.unwrap_or_else(|| "no page".to_owned()) },
            None => ReadError::StartFailed { url, reason: "none of the listed pages could be read".to_owned() },
        }
    }
}

/// The part of a crawl that takes what visits bring.
struct Taker<'a> {
    reading: &'a Reading<'a>,
    start: &'a PageUrl,
    frontier: &'a mut Frontier,
    report: &'a mut CrawlReport,
    tally: &'a mut Tally,
}

impl Taker<'_> {
    /// Whether one more address may be asked for while so many are on their way.
    fn may_ask(&mut self, running: usize, max_pages: usize) -> bool {
        if let Some(limit) = self.reading.limit
            && self.tally.usable + running >= limit
        {
            self.tally.limit_reached = self.tally.usable >= limit;
            return false;
        }
        self.tally.page_limit_reached = self.tally.asked >= max_pages;
        !self.tally.page_limit_reached
    }

    /// Counts how often in a row the site gave no usable answer.
    fn watch(&mut self, visit: &Visit) {
        let Some(page) = visit.pages.last() else { return };
        let silent = matches!(page.outcome, FetchOutcome::TimedOut | FetchOutcome::Unreachable) || matches!(page.status, 429 | 503);
        self.tally.failures_in_a_row = if silent { self.tally.failures_in_a_row + 1 } else { 0 };
    }

    /// Takes links and pages of a visit. `false` when nobody wants more pages.
    async fn take(&mut self, visit: Visit) -> bool {
        for link in &visit.links {
            self.frontier.linked(&visit.from, link);
        }
        for page in visit.pages {
            self.frontier.take(&page.url.key());
            if page.url.key() == self.start.key() {
                self.tally.start = Some((page.outcome, page.status, page.detail.clone()));
            }
            if visit.resumed {
                self.frontier.note(&page);
                self.count(&page);
                self.report.resumed += 1;
                continue;
            }
            let unselected = !self.reading.selection.includes(&page.url, None);
            let page = if unselected {
                FetchedPage { detail: Some("not selected".to_owned()), ..record(page.url, FetchOutcome::LeftOut) }
            } else {
                page
            };
            self.tally.left_out += usize::from(unselected);
            if !self.deliver(page).await {
                return false;
            }
        }
        true
    }

    fn count(&mut self, page: &FetchedPage) {
        *self.report.outcomes.entry(page.outcome).or_default() += 1;
        self.tally.usable += usize::from(matches!(page.outcome, FetchOutcome::Fetched | FetchOutcome::Unchanged));
    }

    async fn deliver(&mut self, mut page: FetchedPage) -> bool {
        self.frontier.note(&page);
        self.frontier.describe(&mut page);
        self.count(&page);
        self.reading.send(page).await
    }

    fn progress(&self, left_in_level: usize) {
        let done = self.report.outcomes.values().sum();
        self.reading.progress(&ReadProgress { done, known: done + left_in_level + self.frontier.waiting() });
    }
}

/// The same address at the host of the start URL.
fn moved(url: &Url, start: &PageUrl) -> PageUrl {
    let mut to = start.to_url();
    to.set_path(url.path());
    to.set_query(url.query());
    PageUrl::parse(to.as_str()).unwrap_or_else(|| start.clone())
}

/// Whether the path of a URL says that a sitemap is meant.
fn is_named_like_sitemap(url: &PageUrl) -> bool {
    let path = url.path().to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    name.ends_with(".xml") || name.ends_with(".xml.gz") || (name.contains("sitemap") && name.ends_with(".gz"))
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
