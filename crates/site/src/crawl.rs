//! From a start URL or a sitemap URL to the pages of a site, over HTTP.
//!
//! robots.txt first, then the start URL (its bytes say whether it is a page or a sitemap), the
//! sitemaps, and then the site level by level. Every address ends as one `FetchedPage` with an
//! outcome; pages are sent as soon as they are there. The set of pages does not depend on the order
//! of answers.

mod address;
mod client;
mod frontier;
mod look;
mod polite;
mod report;
mod robots;
mod scope;
mod seeds;
mod settings;
mod sitemap;
mod take;
mod visit;

pub use report::{CrawlReport, Incomplete, SitemapReport};
pub use robots::RobotsOutcome;
pub use settings::CrawlSettings;
pub use sitemap::SitemapProblem;

pub(crate) use client::{causes, http_client, text_of};
pub use look::look;
pub(crate) use polite::retry_after;
pub(crate) use sitemap::parse as parse_sitemap;

use crate::archive::Archive;
use crate::read::{ReadError, Reading};
use address::AddressPolicy;
use client::Fetcher;
use frontier::{Candidate, Frontier};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use linkwright_core::page::{FetchOutcome, FetchedPage, Redirect};
use linkwright_core::url::{PageUrl, UrlKey};
use scope::{Refusal, Scope};
use std::collections::BTreeMap;
use std::time::Duration;
use take::Taker;
use tokio::time::Instant;
use visit::{Visitor, record, redirected};

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

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
