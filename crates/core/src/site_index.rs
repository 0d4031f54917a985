//! All pages of a site under one identity each: the table that turns URLs into page numbers.
//!
//! Pages are sorted by URL, so numbers do not depend on the order in which pages came. Redirects,
//! canonical links and duplicate addresses all lead to the number of the page that stands for them.

use crate::page::{FetchOutcome, FetchedPage, Page};
use crate::url::{PageUrl, UrlKey};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// Number of a page in its [`SiteIndex`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(pub u32);

impl PageId {
    /// As an index into tables of pages.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The pages of a site and the addresses under which they are known.
#[derive(Debug, Default)]
pub struct SiteIndex {
    /// Parsed pages, sorted by URL.
    pub pages: Vec<Page>,
    /// For each page, the page that stands for it: itself, or the target of its canonical link.
    pub canonical: Vec<PageId>,
    by_key: HashMap<UrlKey, PageId>,
    redirected: HashMap<UrlKey, PageId>,
}

impl SiteIndex {
    /// Builds the table. `redirects` maps addresses that redirect to the address they end at.
    #[must_use]
    pub fn new(mut pages: Vec<Page>, redirects: &BTreeMap<UrlKey, UrlKey>) -> Self {
        pages.sort_by(|a, b| a.url.cmp(&b.url));
        let mut by_key = HashMap::with_capacity(pages.len());
        for (number, page) in (0u32..).zip(&pages) {
            by_key.entry(page.url.key()).or_insert(PageId(number));
        }
        let canonical = (0u32..).zip(&pages).map(|(number, page)| canonical_of(PageId(number), page, &pages, &by_key)).collect();
        let redirected = redirects.iter().filter_map(|(from, to)| Some((from.clone(), *by_key.get(to)?))).collect();
        Self { pages, canonical, by_key, redirected }
    }

    /// The same addresses with changed pages; `change` must leave URLs and canonical links as they are.
    #[must_use]
    pub fn with_pages(&self, change: impl Fn(PageId, &Page) -> Page + Sync) -> Self {
        let ids: Vec<PageId> = self.ids().collect();
        let pages = ids.into_par_iter().map(|id| change(id, self.page(id))).collect();
        Self { pages, canonical: self.canonical.clone(), by_key: self.by_key.clone(), redirected: self.redirected.clone() }
    }

    /// The page that stands for an address, through redirects and canonical links.
    #[must_use]
    pub fn find(&self, url: &PageUrl) -> Option<PageId> {
        let id = self.find_exact(url)?;
        Some(self.canonical[id.index()])
    }

    /// The page stored under an address or behind its redirect, canonical links not followed.
    #[must_use]
    pub fn find_exact(&self, url: &PageUrl) -> Option<PageId> {
        let key = url.key();
        self.by_key.get(&key).or_else(|| self.redirected.get(&key)).copied()
    }

    /// The page.
    #[must_use]
    pub fn page(&self, id: PageId) -> &Page {
        &self.pages[id.index()]
    }

    /// Numbers of all pages, in order.
    pub fn ids(&self) -> impl Iterator<Item = PageId> + use<> {
        (0..u32::try_from(self.pages.len()).unwrap_or(u32::MAX)).map(PageId)
    }
}

/// Follows canonical links to their end; a loop or a canonical outside the site leaves the page itself.
fn canonical_of(id: PageId, page: &Page, pages: &[Page], by_key: &HashMap<UrlKey, PageId>) -> PageId {
    const MAX_HOPS: usize = 5;
    let first = by_key.get(&page.url.key()).copied().unwrap_or(id);
    let mut at = first;
    for _ in 0..MAX_HOPS {
        let next = pages[at.index()].canonical.as_ref().and_then(|url| by_key.get(&url.key())).copied().unwrap_or(at);
        if next == at {
            return at;
        }
        at = next;
    }
    first
}

/// Every address that redirects, with the address it ends at, from what the reader of the site saw.
#[must_use]
pub fn redirects(fetched: &[FetchedPage]) -> BTreeMap<UrlKey, UrlKey> {
    let mut map = BTreeMap::new();
    for page in fetched {
        let end = match page.outcome {
            FetchOutcome::Fetched | FetchOutcome::Unchanged => page.url.key(),
            FetchOutcome::Redirected => match page.leads_to() {
                Some(end) => end.key(),
                None => continue,
            },
            _ => continue,
        };
        let hops = page.redirects.iter().filter_map(|hop| PageUrl::parse(&hop.url));
        for from in hops.chain([page.url.clone()]).map(|url| url.key()).filter(|from| *from != end) {
            map.insert(from, end.clone());
        }
    }
    map
}
