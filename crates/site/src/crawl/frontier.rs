//! From the links of read pages to the addresses that are asked for next.
//!
//! A site is walked level by level, each level in the order of its keys: so the set of pages that
//! a limit lets through does not depend on which answer came first.

use linkwright_core::page::{Discovery, FetchOutcome, FetchedPage};
use linkwright_core::url::{PageUrl, UrlKey};
use std::collections::{BTreeMap, BTreeSet};

/// An address to ask for.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) key: UrlKey,
    pub(crate) url: PageUrl,
}

impl Candidate {
    pub(crate) fn of(url: &PageUrl) -> Self {
        Self { key: url.key(), url: url.clone() }
    }
}

/// What is known of the addresses of a site.
#[derive(Default)]
pub(crate) struct Frontier {
    /// Keys that were taken into a level.
    taken: BTreeSet<UrlKey>,
    /// Keys with their spellings, each with the number of links that use it.
    next: BTreeMap<UrlKey, BTreeMap<PageUrl, usize>>,
    /// Keys that a sitemap lists, with `lastmod`.
    listed: BTreeMap<UrlKey, Option<String>>,
    /// Keys that another page links to.
    linked: BTreeSet<UrlKey>,
    /// Where redirecting keys end.
    redirects: BTreeMap<UrlKey, UrlKey>,
    /// Keys with a page, whatever its outcome.
    seen: BTreeSet<UrlKey>,
}

impl Frontier {
    /// An address to begin with.
    pub(crate) fn start(&mut self, url: &PageUrl) {
        self.heard(url);
    }

    /// An address of a sitemap.
    pub(crate) fn listed(&mut self, url: &PageUrl, lastmod: Option<String>) {
        let known = self.listed.entry(url.key()).or_default();
        *known = known.take().or(lastmod);
        self.heard(url);
    }

    /// A link from one page to another.
    pub(crate) fn linked(&mut self, from: &UrlKey, to: &PageUrl) {
        let key = to.key();
        if key != *from {
            self.linked.insert(key);
        }
        self.heard(to);
    }

    /// A page that needs no asking any more, because a redirect led to it.
    pub(crate) fn take(&mut self, key: &UrlKey) {
        self.taken.insert(key.clone());
        self.next.remove(key);
    }

    fn heard(&mut self, url: &PageUrl) {
        let key = url.key();
        if !self.taken.contains(&key) {
            *self.next.entry(key).or_default().entry(url.clone()).or_default() += 1;
        }
    }

    /// Notes what came of an address.
    pub(crate) fn note(&mut self, page: &FetchedPage) {
        let key = page.url.key();
        if let Some(end) = page.leads_to() {
            self.redirects.insert(key.clone(), end.key());
        }
        self.seen.insert(key);
    }

    /// How many addresses wait for the next level.
    pub(crate) fn waiting(&self) -> usize {
        self.next.len()
    }

    /// The addresses of the next level in the order of their keys. Of several spellings the one
    /// that most links use is asked for.
    pub(crate) fn next_level(&mut self) -> Vec<Candidate> {
        let level: Vec<Candidate> = std::mem::take(&mut self.next)
            .into_iter()
            .filter_map(|(key, spellings)| {
                let (url, _) = spellings.into_iter().max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)))?;
                Some(Candidate { key, url })
            })
            .collect();
        self.taken.extend(level.iter().map(|c| c.key.clone()));
        level
    }

    /// Whether a sitemap lists the key.
    pub(crate) fn is_listed(&self, key: &UrlKey) -> bool {
        self.listed.contains_key(key)
    }

    /// Fills in what is known of a page's discovery by now.
    pub(crate) fn describe(&self, page: &mut FetchedPage) {
        let key = page.url.key();
        page.discovery = Discovery { sitemap: self.listed.contains_key(&key), links: self.linked.contains(&key) };
        page.sitemap_lastmod = self.listed.get(&key).cloned().flatten();
    }

    /// Where each address with a page was heard of. A link to an address that redirects is a link to
    /// the page where it ends.
    pub(crate) fn discovery(&self) -> BTreeMap<UrlKey, Discovery> {
        let ends = self.linked.iter().filter_map(|key| self.redirects.get(key));
        let linked: BTreeSet<&UrlKey> = self.linked.iter().chain(ends).collect();
        let entries = self.seen.iter().map(|key| {
            let discovery = Discovery { sitemap: self.listed.contains_key(key), links: linked.contains(key) };
            (key.clone(), discovery)
        });
        entries.collect()
    }
}

/// Outcomes that need no second request when a crawl is continued.
pub(crate) fn is_settled(outcome: FetchOutcome) -> bool {
    use FetchOutcome::{ClientError, Fetched, NotHtml, OutOfScope, RedirectLoop, Redirected, TooLarge, Unchanged};
    matches!(outcome, Fetched | Unchanged | Redirected | RedirectLoop | OutOfScope | ClientError | NotHtml | TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    #[test]
    fn a_level_is_ordered_and_each_key_comes_once_in_its_usual_spelling() {
        let mut frontier = Frontier::default();
        let home = url("https://e.org/").key();
        for link in ["https://e.org/b", "https://e.org/a/", "http://www.e.org/a", "https://e.org/a/"] {
            frontier.linked(&home, &url(link));
        }
        let level: Vec<String> = frontier.next_level().iter().map(|c| c.url.to_string()).collect();
        assert_eq!(level, ["https://e.org/a/", "https://e.org/b"]);
        frontier.linked(&home, &url("https://e.org/b/"));
        assert!(frontier.next_level().is_empty());
    }
}
