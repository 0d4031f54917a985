//! Pages and links to the habits of a site: the passages that lead to each page, which folders link which,
//! and what the menus hold.
//!
//! As with every signal, each figure can be had as if the links of one source did not exist.

use crate::corpus::{Corpus, is_prose};
use crate::graph::LinkGraph;
use crate::guardrail::pages::{other_language, path_in_any_language};
use crate::page::LinkKind;
use crate::signals::SiteVectors;
use crate::site_index::{PageId, SiteIndex};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Passages kept per target; more of them say the same again.
const CONTEXTS: usize = 12;
/// More pages than this under one path are no versions of each other.
const MOST_LANGUAGES: usize = 60;
/// Path segments that make a folder.
const FOLDER_DEPTH: usize = 2;

/// How a site links.
#[derive(Debug, Default)]
pub struct Habits {
    /// Per target, the sources and passages (numbers within the source) of body links to it.
    contexts: Vec<Vec<(PageId, usize)>>,
    /// Per page, the segments of its path.
    paths: Vec<Vec<String>>,
    /// Per page, its folder.
    folders: Vec<u32>,
    pages_in: Vec<u32>,
    links_between: HashMap<(u32, u32), u32>,
    links_from: Vec<u32>,
    /// Per page, the pages that its template links lead to, sorted.
    menus: Vec<Vec<PageId>>,
    /// Per page, how many menus hold it.
    in_menus: Vec<u32>,
    /// Per page, its versions in other languages.
    translations: Vec<Vec<PageId>>,
}

impl Habits {
    /// Reads the habits of all pages. `counts_as_link` says whether the body links of a page are taken for a habit.
    pub fn new(site: &SiteIndex, corpus: &Corpus, graph: &LinkGraph, counts_as_link: impl Fn(PageId) -> bool) -> Self {
        let mut habits = Self { contexts: vec![Vec::new(); site.pages.len()], ..Self::default() };
        habits.number_folders(site);
        for source in site.ids() {
            habits.menus.push(menu(site, source));
            if counts_as_link(source) {
                habits.add_contexts(site, corpus, source);
                habits.add_folder_links(graph, source);
            }
        }
        habits.in_menus = vec![0; site.pages.len()];
        for target in habits.menus.iter().flatten() {
            habits.in_menus[target.index()] += 1;
        }
        habits.contexts.iter_mut().for_each(thin);
        habits.translations = translations(site);
        habits
    }

    /// Vectors of the passages of other pages than `source` that link to `target`.
    pub fn contexts<'v>(&self, vectors: &'v SiteVectors, source: PageId, target: PageId) -> impl Iterator<Item = &'v [f32]> {
        let others = self.contexts[target.index()].iter().filter(move |(page, _)| *page != source);
        others.filter_map(|(page, passage)| vectors.passage(*page, *passage))
    }

    /// How much more often the source's folder links into the target's than chance would have it, as a
    /// logarithm; the links of the source itself not counted.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "link counts are far below 2^24 where it matters")]
    pub fn folder_lift(&self, graph: &LinkGraph, source: PageId, target: PageId) -> f32 {
        let (from, to) = (self.folders[source.index()], self.folders[target.index()]);
        let own = &graph.body.out[source.index()];
        let own_between = own.iter().filter(|t| self.folders[t.index()] == to).count();
        let between = self.links_between.get(&(from, to)).copied().unwrap_or(0) as f32 - own_between as f32;
        let out = self.links_from[from as usize] as f32 - own.len() as f32;
        let expected = out.max(0.0) * self.pages_in[to as usize] as f32 / self.folders.len() as f32;
        ((between.max(0.0) + 1.0) / (expected + 1.0)).ln()
    }

    /// Share of their paths that two pages have in common, from the start.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "paths are short")]
    pub fn shared_path(&self, a: PageId, b: PageId) -> f32 {
        let (a, b) = (&self.paths[a.index()], &self.paths[b.index()]);
        let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        shared as f32 / (a.len().max(b.len()).max(2) - 1) as f32
    }

    /// Targets that the source's versions in other languages link to, themselves or in another version, with
    /// the share of the versions that do.
    #[expect(clippy::cast_precision_loss, reason = "a page has few versions")]
    pub fn translation_links(&self, graph: &LinkGraph, source: PageId, allowed: impl Fn(PageId) -> bool) -> BTreeMap<PageId, f32> {
        let versions = &self.translations[source.index()];
        let mut shares: BTreeMap<PageId, f32> = BTreeMap::new();
        for version in versions {
            let linked: BTreeSet<PageId> = graph.body.out[version.index()]
                .iter()
                .flat_map(|target| std::iter::once(target).chain(&self.translations[target.index()]))
                .copied()
                .collect();
            for target in linked.into_iter().filter(|t| *t != source && allowed(*t)) {
                *shares.entry(target).or_default() += 1.0 / versions.len() as f32;
            }
        }
        shares
    }

    /// Whether a menu or widget of the source holds the target.
    #[must_use]
    pub fn in_menu_of(&self, source: PageId, target: PageId) -> bool {
        self.menus[source.index()].binary_search(&target).is_ok()
    }

    /// Share of the pages whose menus hold the target.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "page counts are far below 2^24 where it matters")]
    pub fn menu_share(&self, target: PageId) -> f32 {
        self.in_menus[target.index()] as f32 / self.in_menus.len() as f32
    }

    fn number_folders(&mut self, site: &SiteIndex) {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        for id in site.ids() {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let path = segments(&site.page(id).url.path());
            let folder = *numbers.entry(folder(&path)).or_insert(next);
            self.paths.push(path);
            self.folders.push(folder);
            self.pages_in.resize(numbers.len(), 0);
            self.pages_in[folder as usize] += 1;
        }
        self.links_from = vec![0; numbers.len()];
    }

    fn add_contexts(&mut self, site: &SiteIndex, corpus: &Corpus, source: PageId) {
        let text = corpus.page(source);
        for link in site.page(source).links.iter().filter(|l| l.kind == LinkKind::Body) {
            let Some(target) = site.find(&link.target).filter(|t| *t != source) else { continue };
            let Some((index, span)) = link.place else { continue };
            let Ok(block) = text.blocks.binary_search_by_key(&index, |b| b.index) else { continue };
            let sentence = text.blocks[block].sentences.iter().position(|s| s.span.overlaps(span));
            let Some(sentence) = sentence.filter(|_| is_prose(text.blocks[block].kind)) else { continue };
            self.contexts[target.index()].push((source, text.passage_number(block, sentence)));
        }
    }

    fn add_folder_links(&mut self, graph: &LinkGraph, source: PageId) {
        let from = self.folders[source.index()];
        for target in &graph.body.out[source.index()] {
            *self.links_between.entry((from, self.folders[target.index()])).or_default() += 1;
            self.links_from[from as usize] += 1;
        }
    }
}

/// Pages that are one page in several languages, by hreflang or by an address that differs in its language alone.
fn translations(site: &SiteIndex) -> Vec<Vec<PageId>> {
    let mut by_path: BTreeMap<(String, String), Vec<PageId>> = BTreeMap::new();
    for id in site.ids() {
        let page = site.page(id);
        by_path.entry((page.url.host().to_owned(), path_in_any_language(page))).or_default().push(id);
    }
    let mut versions = vec![BTreeSet::new(); site.pages.len()];
    let mut meet = |a: PageId, b: PageId| {
        if other_language(site.page(a), site.page(b)) {
            versions[a.index()].insert(b);
            versions[b.index()].insert(a);
        }
    };
    for group in by_path.values().filter(|g| g.len() <= MOST_LANGUAGES) {
        for (i, a) in group.iter().enumerate() {
            group[i + 1..].iter().for_each(|b| meet(*a, *b));
        }
    }
    for id in site.ids() {
        site.page(id).hreflang.iter().filter_map(|(_, url)| site.find(url)).for_each(|other| meet(id, other));
    }
    versions.into_iter().map(|v| v.into_iter().collect()).collect()
}

fn menu(site: &SiteIndex, source: PageId) -> Vec<PageId> {
    let links = site.page(source).links.iter().filter(|l| l.kind == LinkKind::Template);
    let mut targets: Vec<PageId> = links.filter_map(|l| site.find(&l.target)).filter(|t| *t != source).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// Keeps passages spread evenly over the sources.
fn thin(contexts: &mut Vec<(PageId, usize)>) {
    if contexts.len() > CONTEXTS {
        *contexts = (0..CONTEXTS).map(|i| contexts[i * contexts.len() / CONTEXTS]).collect();
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect()
}

/// The first segments of a path without the page's own.
fn folder(path: &[String]) -> String {
    path[..path.len().saturating_sub(1).min(FOLDER_DEPTH)].join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_the_path_above_the_page() {
        let folder = |path: &str| folder(&segments(path));
        assert_eq!(folder("/docs/go/api/client/"), "docs/go");
        assert_eq!(folder("/2014/05/post.html"), "2014/05");
        assert_eq!(folder("/about/"), "");
        assert_eq!(folder("/"), "");
    }

    #[test]
    fn many_passages_are_thinned_evenly() {
        let mut contexts: Vec<(PageId, usize)> = (0..40).map(|i| (PageId(i), 0)).collect();
        thin(&mut contexts);
        assert_eq!(contexts.len(), CONTEXTS);
        assert_eq!((contexts[0].0, contexts[CONTEXTS - 1].0), (PageId(0), PageId(36)));
    }
}
