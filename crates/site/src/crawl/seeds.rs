//! From a start URL to the addresses a crawl begins with: robots.txt, the start page, the sitemaps.

use super::Crawl;
use super::address::AddressPolicy;
use super::client::{Answer, Ask, Failure};
use super::report::SitemapReport;
use super::robots::RobotsOutcome;
use super::sitemap::{self, SitemapProblem};
use crate::archive::Archive;
use crate::read::ReadError;
use linkwright_core::page::FetchOutcome;
use linkwright_core::url::PageUrl;
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// Redirects followed to reach a start URL or a sitemap.
const MAX_SEED_REDIRECTS: usize = 5;

impl<A: Archive> Crawl<'_, A> {
    /// robots.txt, the start URL and the sitemaps.
    pub(super) async fn prepare(&mut self) -> Result<(), ReadError> {
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
        let listed = sitemap::parse(&answer.body, self.visitor.settings.max_sitemap_bytes);
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
        let mut sitemap = sitemap::parse(&answer.body, self.visitor.settings.max_sitemap_bytes);
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
