//! From an address to whether it belongs to the site, and is worth asking for.

use super::settings::CrawlSettings;
use crate::sniff;
use linkwright_core::url::{PageUrl, UrlKey};
use std::collections::BTreeSet;

/// How often one path segment may come again in a path; more is a loop of relative links.
const MAX_REPEATS: usize = 3;

/// Hosts and paths of a site.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    hosts: BTreeSet<String>,
    paths: Vec<String>,
    max_url_bytes: usize,
    start: UrlKey,
}

/// Why an address is not asked for although it was heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another host, or outside the path scope.
    Outside,
    /// A file by its extension.
    Media(&'static str),
    /// Too long, or the same segment again and again.
    Trap,
}

impl Scope {
    pub(crate) fn new(start: &PageUrl, settings: &CrawlSettings) -> Self {
        let mut scope = Self {
            hosts: settings.hosts.iter().map(|host| bare(&host.to_lowercase()).to_owned()).collect(),
            paths: settings.path_scope.iter().filter(|p| !p.is_empty() && *p != "/").cloned().collect(),
            max_url_bytes: settings.max_url_bytes,
            start: start.key(),
        };
        scope.add_host(&start.host());
        scope
    }

    /// Key of the start URL.
    pub(crate) fn start_key(&self) -> UrlKey {
        self.start.clone()
    }

    /// Takes one more host into the site.
    pub(crate) fn add_host(&mut self, host: &str) {
        self.hosts.insert(bare(host).to_owned());
    }

    /// Whether the host belongs to the site.
    pub(crate) fn has_host(&self, url: &PageUrl) -> bool {
        self.hosts.contains(bare(&url.host()))
    }

    /// Whether the address belongs to the site.
    pub(crate) fn contains(&self, url: &PageUrl) -> bool {
        self.has_host(url) && (self.paths.is_empty() || self.paths.iter().any(|prefix| url.path().starts_with(prefix.as_str())))
    }

    /// Whether the address is to be asked for.
    pub(crate) fn check(&self, url: &PageUrl) -> Result<(), Refusal> {
        if !self.contains(url) {
            return Err(Refusal::Outside);
        }
        let path = url.path();
        if let Some(extension) = sniff::media_extension(&path) {
            return Err(Refusal::Media(extension));
        }
        if url.as_str().len() > self.max_url_bytes || repeats(&path) {
            return Err(Refusal::Trap);
        }
        Ok(())
    }
}

/// The host without `www.`; the same rule by which keys are made.
fn bare(host: &str) -> &str {
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

fn repeats(path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    segments.len() > MAX_REPEATS * 2 && segments.iter().any(|s| segments.iter().filter(|t| *t == s).count() > MAX_REPEATS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(settings: &CrawlSettings, url: &str) -> Result<(), Refusal> {
        let start = PageUrl::parse("https://www.example.org/docs/").unwrap();
        Scope::new(&start, settings).check(&PageUrl::parse(url).unwrap())
    }

    #[test]
    fn the_site_is_its_host_with_and_without_www() {
        let settings = CrawlSettings { hosts: vec!["Blog.Example.org".to_owned()], ..CrawlSettings::default() };
        for url in ["https://example.org/", "http://www.example.org/x", "https://blog.example.org/"] {
            assert_eq!(check(&settings, url), Ok(()), "{url}");
        }
        for url in ["https://shop.example.org/", "https://example.org.evil.com/", "https://example.org:8443/"] {
            assert_eq!(check(&settings, url), Err(Refusal::Outside), "{url}");
        }
    }

    #[test]
    fn paths_can_be_limited() {
        let settings = CrawlSettings { path_scope: vec!["/docs/".to_owned(), "/blog".to_owned()], ..CrawlSettings::default() };
        assert_eq!(check(&settings, "https://example.org/docs/a"), Ok(()));
        assert_eq!(check(&settings, "https://example.org/blog"), Ok(()));
        assert_eq!(check(&settings, "https://example.org/about"), Err(Refusal::Outside));
    }

    #[test]
    fn media_and_traps_are_not_asked_for() {
        let settings = CrawlSettings::default();
        assert_eq!(check(&settings, "https://example.org/a.pdf?x"), Err(Refusal::Media("pdf")));
        assert_eq!(check(&settings, "https://example.org/a/b/a/b/a/b/a/b/"), Err(Refusal::Trap));
        assert_eq!(check(&settings, &format!("https://example.org/{}", "x".repeat(3_000))), Err(Refusal::Trap));
        assert_eq!(check(&settings, "https://example.org/2024/01/2024/"), Ok(()));
    }
}
