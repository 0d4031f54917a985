//! From one address to what came of it: robots.txt, archive, redirects by hand, and the judgement.

use super::client::{Answer, Ask, Failure, Fetcher};
use super::frontier::{Candidate, is_settled};
use super::robots::{self, Rules};
use super::scope::Scope;
use super::settings::CrawlSettings;
use crate::archive::{Archive, Archived};
use crate::sniff::{self, Kind};
use linkwright_core::decode::decode;
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, Redirect, SourceFormat, hrefs};
use linkwright_core::url::{PageUrl, UrlKey};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use url::{Position, Url};

/// What all visits of a crawl share.
pub(crate) struct Visitor<'a, A> {
    pub(crate) settings: &'a CrawlSettings,
    pub(crate) archive: &'a A,
    pub(crate) fetcher: Fetcher,
    pub(crate) scope: Scope,
    rules: tokio::sync::Mutex<BTreeMap<String, Arc<Rules>>>,
    /// The answer of the start URL, which was asked for to learn what it is.
    primed: Mutex<Option<(Url, Answer)>>,
    /// Addresses that are done.
    done: Mutex<BTreeMap<UrlKey, Done>>,
}

/// How an address that is done ended.
#[derive(Clone)]
enum Done {
    /// In an answer of its own.
    Answered,
    /// In a redirect to another.
    Redirected { end: PageUrl, hops: Vec<Redirect> },
    /// In a chain that was not followed to an end. Who meets it on the way finds out for himself, so
    /// that what is said of a loop does not depend on which of its addresses came first.
    Stopped,
}

impl Done {
    fn of(page: &FetchedPage) -> Self {
        match (page.leads_to(), page.outcome) {
            (Some(end), _) => Self::Redirected { end, hops: page.redirects.clone() },
            (None, FetchOutcome::RedirectLoop | FetchOutcome::OutOfScope | FetchOutcome::PrivateAddress) => Self::Stopped,
            (None, _) => Self::Answered,
        }
    }
}

/// What came of a visit.
pub(crate) struct Visit {
    /// What was asked for, and the page that a redirect led to, if nobody had read it before.
    pub(crate) pages: Vec<FetchedPage>,
    /// Where the page leads.
    pub(crate) links: Vec<PageUrl>,
    /// Key of the page that has the links.
    pub(crate) from: UrlKey,
    /// The page was taken from the crawl that is being continued.
    pub(crate) resumed: bool,
}

/// Where a chain of redirects ends.
enum Chain {
    /// In an answer that is no redirect.
    End(Box<Reached>),
    /// At an address that somebody else has asked for.
    Known(PageUrl),
}

/// The answer at the end of a chain, and the copy from an earlier run that it was asked against.
struct Reached {
    url: PageUrl,
    answer: Answer,
    archived: Option<FetchedPage>,
}

/// What stopped a chain.
struct Stop {
    outcome: FetchOutcome,
    status: u16,
    detail: String,
}

impl<'a, A: Archive> Visitor<'a, A> {
    pub(crate) fn new(settings: &'a CrawlSettings, archive: &'a A, fetcher: Fetcher, scope: Scope) -> Self {
        Self { settings, archive, fetcher, scope, rules: tokio::sync::Mutex::default(), primed: Mutex::default(), done: Mutex::default() }
    }

    /// The rules of the host of a URL; fetched when first needed.
    pub(crate) async fn rules(&self, url: &Url) -> Arc<Rules> {
        let mut all = self.rules.lock().await;
        let origin = url[..Position::AfterPort].to_owned();
        if let Some(rules) = all.get(&origin) {
            return Arc::clone(rules);
        }
        let rules = Arc::new(robots::fetch(&self.fetcher, url).await);
        if let Some(delay) = rules.robots.crawl_delay() {
            let delay = delay.min(Duration::from_millis(self.settings.max_crawl_delay_ms));
            self.fetcher.polite.slow_down(&url[Position::BeforeHost..Position::AfterPort], delay);
        }
        all.insert(origin, Arc::clone(&rules));
        rules
    }

    /// Keeps an answer for the visit that would ask for the same.
    pub(crate) fn prime(&self, url: Url, answer: Answer) {
        *self.primed.lock().unwrap_or_else(PoisonError::into_inner) = Some((url, answer));
    }

    fn primed(&self, url: &Url) -> Option<Answer> {
        let mut primed = self.primed.lock().unwrap_or_else(PoisonError::into_inner);
        primed.take_if(|(at, _)| at == url).map(|(_, answer)| answer)
    }

    /// Visits an address.
    pub(crate) async fn visit(&self, candidate: Candidate) -> Visit {
        // A redirect may have led here while the address waited for its turn.
        if self.known_end(&candidate.key).is_some() {
            return self.finish(Vec::new());
        }
        let archived = self.archive.find(&candidate.key).await;
        if let Some(Archived { page, fresh: true }) = &archived
            && is_settled(page.outcome)
        {
            return self.resume(page.clone());
        }
        let mut hops = Vec::new();
        match self.follow(&candidate, archived.map(|a| a.page), &mut hops).await {
            Err(Stop { outcome, status, detail }) => {
                let page = FetchedPage { redirects: hops, status, detail: Some(detail), ..record(candidate.url, outcome) };
                self.finish(vec![page])
            }
            Ok(Chain::Known(url)) => self.finish(vec![redirected(candidate.url, hops, &url)]),
            Ok(Chain::End(reached)) if reached.url.key() == candidate.key => {
                let page = FetchedPage { redirects: hops, ..judge(*reached) };
                self.finish(vec![page])
            }
            Ok(Chain::End(reached)) => {
                let redirect = redirected(candidate.url, hops, &reached.url);
                self.finish(vec![redirect, judge(*reached)])
            }
        }
    }

    fn resume(&self, page: FetchedPage) -> Visit {
        let mut visit = self.finish(vec![page]);
        visit.links.extend(visit.pages[0].leads_to());
        visit.resumed = true;
        visit
    }

    /// Marks pages as done; a page that somebody else has done meanwhile is left out.
    fn finish(&self, mut pages: Vec<FetchedPage>) -> Visit {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|page| !done.contains_key(&page.url.key()));
        for page in &pages {
            done.insert(page.url.key(), Done::of(page));
        }
        drop(done);
        let last = pages.last();
        let links = last.map(|page| self.links(page)).unwrap_or_default();
        let from = last.map(|page| page.url.key());
        Visit { from: from.unwrap_or_else(|| self.scope.start_key()), pages, links, resumed: false }
    }

    /// Follows redirects from an address to their end.
    async fn follow(&self, candidate: &Candidate, mut archived: Option<FetchedPage>, hops: &mut Vec<Redirect>) -> Result<Chain, Stop> {
        let mut at = candidate.url.clone();
        let mut known_key = candidate.key.clone();
        loop {
            let url = at.to_url();
            let rules = self.rules(&url).await;
            if !rules.allows(&url) {
                return Err(stop(FetchOutcome::RobotsDisallowed, 0, format!("robots.txt forbids `{at}`")));
            }
            let answer = match self.primed(&url) {
                Some(answer) => answer,
                None => match self.fetcher.get(&url, &self.ask(archived.as_ref())).await {
                    Ok(answer) => answer,
                    Err(failure) => return Err(failed(&failure)),
                },
            };
            let Some(location) = redirect_location(&answer) else {
                return Ok(Chain::End(Box::new(Reached { url: at, answer, archived })));
            };
            hops.push(Redirect { url: at.to_string(), status: answer.status });
            let next = self.hop(&at, location, answer.status, hops)?;
            let key = next.key();
            if key != known_key {
                match self.known_end(&key) {
                    Some(Done::Answered) => return Ok(Chain::Known(next)),
                    Some(Done::Redirected { end, hops: rest }) => {
                        hops.extend(rest);
                        return Ok(Chain::Known(end));
                    }
                    Some(Done::Stopped) | None => {}
                }
                archived = self.archive.find(&key).await.map(|a| a.page);
                known_key = key;
            }
            at = next;
        }
    }

    /// The next address of a chain, if it may be asked for.
    fn hop(&self, at: &PageUrl, location: &str, status: u16, hops: &[Redirect]) -> Result<PageUrl, Stop> {
        let Some((next, _)) = at.join(location) else {
            return Err(stop(FetchOutcome::OutOfScope, status, format!("redirects to `{location}`, which is no web address")));
        };
        if hops.iter().any(|hop| hop.url == next.as_str()) {
            return Err(stop(FetchOutcome::RedirectLoop, status, format!("redirects come back to `{next}`")));
        }
        if hops.len() > self.settings.max_redirects {
            return Err(stop(FetchOutcome::RedirectLoop, status, format!("more than {} redirects", self.settings.max_redirects)));
        }
        if let Err(private) = self.fetcher.check(&next.to_url()) {
            return Err(stop(FetchOutcome::PrivateAddress, status, format!("redirects to `{next}`: {private}")));
        }
        if !self.scope.contains(&next) {
            return Err(stop(FetchOutcome::OutOfScope, status, format!("redirects to `{next}`, outside the site")));
        }
        Ok(next)
    }

    fn known_end(&self, key: &UrlKey) -> Option<Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn ask(&self, archived: Option<&FetchedPage>) -> Ask {
        let usable = archived.filter(|page| page.outcome.was_read() && !page.body.is_empty());
        Ask { known: usable.map(|page| page.headers.clone()), max_bytes: self.settings.max_body_bytes, ..Ask::default() }
    }

    /// Addresses that a page leads to.
    fn links(&self, page: &FetchedPage) -> Vec<PageUrl> {
        if !self.settings.follow_links || !page.outcome.was_read() {
            return Vec::new();
        }
        let source = decode(&page.body, page.headers.content_type.as_deref());
        let found = hrefs::find(&source.text, &page.url);
        let obeys = self.settings.respect_nofollow;
        let nofollow_header = page.headers.x_robots_tag.as_deref().is_some_and(|tag| tag.to_ascii_lowercase().contains("nofollow"));
        let followed = if obeys && (found.nofollow || nofollow_header) { Vec::new() } else { found.links };
        let links = followed.into_iter().filter(|link| !(obeys && link.nofollow)).map(|link| link.url);
        // The rest of the web is not counted among the pages that were not read.
        links.chain(found.canonical).chain(found.refresh).filter(|url| self.scope.has_host(url)).collect()
    }
}

fn stop(outcome: FetchOutcome, status: u16, detail: String) -> Stop {
    Stop { outcome, status, detail }
}

fn failed(failure: &Failure) -> Stop {
    let outcome = match failure {
        Failure::TimedOut => FetchOutcome::TimedOut,
        Failure::PrivateAddress(_) => FetchOutcome::PrivateAddress,
        Failure::UnknownHost(_) | Failure::Unreachable(_) => FetchOutcome::Unreachable,
    };
    stop(outcome, 0, failure.to_string())
}

fn redirect_location(answer: &Answer) -> Option<&str> {
    matches!(answer.status, 301 | 302 | 303 | 307 | 308).then_some(answer.location.as_deref()).flatten()
}

/// A page without body.
pub(crate) fn record(url: PageUrl, outcome: FetchOutcome) -> FetchedPage {
    FetchedPage {
        url,
        outcome,
        status: 0,
        redirects: Vec::new(),
        headers: FetchHeaders::default(),
        body: Vec::new(),
        format: SourceFormat::Html,
        path: None,
        discovery: Discovery::default(),
        sitemap_lastmod: None,
        detail: None,
    }
}

/// The record of an address that leads to another page.
pub(crate) fn redirected(url: PageUrl, hops: Vec<Redirect>, end: &PageUrl) -> FetchedPage {
    let status = hops.first().map_or(0, |hop| hop.status);
    let headers = FetchHeaders { location: Some(end.to_string()), ..FetchHeaders::default() };
    FetchedPage { status, headers, redirects: hops, ..record(url, FetchOutcome::Redirected) }
}

/// From an answer to the page with its outcome.
fn judge(reached: Reached) -> FetchedPage {
    let Reached { url, answer, archived } = reached;
    let content_type = answer.headers.content_type.clone();
    let (outcome, detail) = match answer.status {
        304 if archived.is_some() => (FetchOutcome::Unchanged, None),
        200..300 if answer.skipped => (FetchOutcome::NotHtml, Some(not_html(content_type.as_deref()))),
        200..300 if answer.too_large => (FetchOutcome::TooLarge, Some("larger than `max_body_bytes`".to_owned())),
        200..300 if sniff::kind(content_type.as_deref(), &answer.body) == Kind::Html => (FetchOutcome::Fetched, None),
        200..300 => (FetchOutcome::NotHtml, Some(not_html(content_type.as_deref()))),
        500.. => (FetchOutcome::ServerError, Some(format!("status {}", answer.status))),
        status => (FetchOutcome::ClientError, Some(format!("status {status}"))),
    };
    let page = FetchedPage { status: answer.status, headers: answer.headers, detail, ..record(url, outcome) };
    match (outcome, archived) {
        (FetchOutcome::Fetched, _) => FetchedPage { body: answer.body, ..page },
        (FetchOutcome::Unchanged, Some(kept)) => {
            let headers = renewed(kept.headers, page.headers.clone());
            FetchedPage { status: kept.status, headers, body: kept.body, ..page }
        }
        _ => page,
    }
}

/// A 304 repeats only some headers: what it does not say stays as it was.
fn renewed(kept: FetchHeaders, new: FetchHeaders) -> FetchHeaders {
    FetchHeaders {
        content_type: new.content_type.or(kept.content_type),
        content_language: new.content_language.or(kept.content_language),
        x_robots_tag: new.x_robots_tag.or(kept.x_robots_tag),
        link: new.link.or(kept.link),
        etag: new.etag.or(kept.etag),
        last_modified: new.last_modified.or(kept.last_modified),
        location: None,
    }
}

fn not_html(content_type: Option<&str>) -> String {
    content_type.map_or_else(|| "its bytes are no HTML document".to_owned(), |t| format!("content type `{t}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::NoArchive;
    use crate::crawl::address::AddressPolicy;

    #[test]
    fn a_redirect_of_a_public_site_never_leads_inward() {
        let settings = CrawlSettings { hosts: vec!["127.0.0.1".to_owned(), "localhost".to_owned()], ..CrawlSettings::default() };
        let start = PageUrl::parse("https://example.org/").unwrap();
        let fetcher = Fetcher::new(&settings, AddressPolicy::PublicOnly).unwrap();
        let visitor = Visitor::new(&settings, &NoArchive, fetcher, Scope::new(&start, &settings));
        for location in ["http://127.0.0.1/admin", "//localhost/", "http://[::1]/", "http://169.254.169.254/latest/", "http://0x7f000001/"]
        {
            let Err(stop) = visitor.hop(&start, location, 302, &[]) else { panic!("{location} was followed") };
            assert_eq!((stop.outcome, stop.status), (FetchOutcome::PrivateAddress, 302), "{location}");
        }
        assert!(visitor.hop(&start, "/next", 302, &[]).is_ok());
    }
}
