//! Fetched pages to an understood site: parsed pages under one identity each, what repeats across them
//! found, links counted, words read, and every page checked for what it may be.

use linkwright_core::content::ContentSettings;
use linkwright_core::corpus::Corpus;
use linkwright_core::decode;
use linkwright_core::edit;
use linkwright_core::graph::{self, LinkGraph};
use linkwright_core::guardrail::Guardrail;
use linkwright_core::guardrail::pages::{Eligibility, PageRules, other_language};
use linkwright_core::page::front_matter::FrontMatter;
use linkwright_core::page::{FetchedPage, LinkKind, Page, SourceFormat, html, markdown};
use linkwright_core::plan::Plan;
use linkwright_core::settings::{HrefStyle, Settings};
use linkwright_core::site_index::{PageId, SiteIndex, redirects};
use linkwright_core::template;
use linkwright_core::text::primary;
use linkwright_core::url::PageUrl;
use linkwright_site::markdown_site;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A language counts as one that the site leads another into when at least this share of the links of the
/// other goes there.
const CROSSING_SHARE: f64 = 0.1;

/// A site, understood.
pub(crate) struct Analysis {
    /// Pages with a body.
    pub(crate) site: SiteIndex,
    /// What was fetched for each page of `site`, body left out.
    pub(crate) fetched: Vec<FetchedPage>,
    /// What was fetched and gave no page, by URL.
    pub(crate) failed: Vec<FetchedPage>,
    /// Links.
    pub(crate) graph: LinkGraph,
    /// Words.
    pub(crate) corpus: Corpus,
    /// What each page may be.
    pub(crate) eligibility: Vec<Eligibility>,
    /// `(from, to)` primary language tags that the site's own body links cross.
    pub(crate) crossings: BTreeSet<(String, String)>,
    rules: PageRules,
    hashes: Vec<String>,
}

impl Analysis {
    /// Understands what was fetched. `today` is `YYYY-MM-DD`.
    #[must_use]
    pub(crate) fn new(fetched: Vec<FetchedPage>, base_url: &str, settings: &Settings, today: &str) -> Self {
        let redirects = redirects(&fetched);
        let (with_body, mut failed): (Vec<FetchedPage>, Vec<FetchedPage>) = fetched.into_iter().partition(has_body);
        failed.sort_by(|a, b| a.url.cmp(&b.url));
        let paths: BTreeMap<String, PageUrl> = with_body.iter().filter_map(|f| Some((f.path.clone()?, f.url.clone()))).collect();
        let mut pages: Vec<Page> = with_body.par_iter().map(|f| parse(f, settings, &paths)).collect();
        adopt_public_host(&mut pages);
        template::find(&mut pages);
        let hash = |f: &FetchedPage| blake3::hash(&f.body).to_hex().to_string();
        let mut hashed: HashMap<PageUrl, String> = with_body.iter().map(|f| (f.url.clone(), hash(f))).collect();
        let mut by_url: HashMap<PageUrl, FetchedPage> =
            with_body.into_iter().map(|f| (f.url.clone(), FetchedPage { body: Vec::new(), ..f })).collect();
        let site = SiteIndex::new(pages, &redirects);
        let fetched = site.pages.iter().filter_map(|p| by_url.remove(&p.url)).collect();
        let hashes = site.pages.iter().map(|p| hashed.remove(&p.url).unwrap_or_default()).collect();
        let home = home_of(&site, base_url);
        let graph = graph::build(&site, home);
        let corpus = Corpus::new(&site);
        let rules = PageRules::new(settings, today, home);
        let eligibility = site.ids().map(|id| rules.check(&site, id)).collect();
        let crossings = crossings(&site);
        Self { site, fetched, failed, graph, corpus, eligibility, crossings, rules, hashes }
    }

    /// The site as it was when it was planned.
    #[must_use]
    pub(crate) fn of_plan(pages: Vec<FetchedPage>, plan: &Plan, settings: &Settings) -> Self {
        Self::new(pages, &plan.run.base_url, settings, plan.run.started_at.get(..10).unwrap_or_default())
    }

    /// The same site with changed pages: links and words are read anew, what each page may be stays as it was found.
    #[must_use]
    pub(crate) fn with_pages(&self, change: impl Fn(PageId, &Page) -> Page + Sync) -> Self {
        let site = self.site.with_pages(change);
        let home = site.ids().find(|id| self.graph.depth[id.index()] == Some(0));
        Self {
            graph: graph::build(&site, home),
            corpus: Corpus::new(&site),
            crossings: crossings(&site),
            site,
            fetched: Vec::new(),
            failed: Vec::new(),
            eligibility: self.eligibility.clone(),
            rules: self.rules.clone(),
            hashes: self.hashes.clone(),
        }
    }

    /// Whether the page can be ranked as a source: its text is real and public. Thresholds of length and age
    /// do not count here; they keep it from the plan.
    #[must_use]
    pub(crate) fn rankable_source(&self, id: PageId) -> bool {
        self.eligibility[id.index()].not_source.iter().all(|g| match g {
            Guardrail::ThinSource | Guardrail::OldNews => true,
            Guardrail::Archive => !self.rules.is_archive_address(self.site.page(id)),
            _ => false,
        })
    }

    /// Whether the page can be ranked as a target. A list of pages can when the running text of several pages
    /// leads to it; the plan leaves it out all the same.
    #[must_use]
    pub(crate) fn rankable_target(&self, id: PageId) -> bool {
        const LEADING_THERE: usize = 3;
        self.eligibility[id.index()].not_target.iter().all(|g| match g {
            Guardrail::ThinTarget | Guardrail::OldNews => true,
            Guardrail::Archive => self.graph.body.into[id.index()].len() >= LEADING_THERE,
            _ => false,
        })
    }

    /// Whether the languages of two pages allow a link: the same, unknown, or crossed by the site's own links.
    #[must_use]
    pub(crate) fn languages_meet(&self, source: PageId, target: PageId) -> bool {
        let (from, to) = (self.site.page(source), self.site.page(target));
        !other_language(from, to) || self.crossings.contains(&(primary(&from.language).to_owned(), primary(&to.language).to_owned()))
    }

    /// The first rule that keeps two pages apart.
    #[must_use]
    pub(crate) fn pair_rule(&self, source: PageId, target: PageId) -> Option<Guardrail> {
        self.rules.pair(&self.site, source, target)
    }

    /// The `href` that a link from `source` to `target`, or to a section of it, would have.
    #[must_use]
    pub(crate) fn href(&self, source: PageId, target: PageId, section: Option<&str>, settings: &Settings) -> String {
        let path_of = |url: &PageUrl| self.site.find_exact(url).and_then(|id| self.site.page(id).path.clone());
        href(self.site.page(source), &self.site.page(target).url, section, settings, &path_of)
    }

    /// Hash of the page's body as it was read, hexadecimal.
    #[must_use]
    pub(crate) fn body_hash(&self, id: PageId) -> String {
        self.hashes[id.index()].clone()
    }

    /// Whether the page should be found but no other page's text leads to it.
    #[must_use]
    pub(crate) fn is_orphan(&self, id: PageId) -> bool {
        self.should_be_found(id) && self.graph.body.into[id.index()].is_empty()
    }

    /// Whether the page is one of those that readers should find by links.
    #[must_use]
    pub(crate) fn should_be_found(&self, id: PageId) -> bool {
        let public = |g: &Guardrail| matches!(g, Guardrail::ThinTarget | Guardrail::OldNews | Guardrail::ExcludedTarget);
        self.eligibility[id.index()].not_target.iter().all(public)
    }
}

/// The `href` that a link from a page to a target would have by the settings.
#[must_use]
pub(crate) fn href(
    page: &Page,
    target: &PageUrl,
    section: Option<&str>,
    settings: &Settings,
    path_of: &dyn Fn(&PageUrl) -> Option<String>,
) -> String {
    match settings.links.style {
        HrefStyle::Auto => edit::href_for(page, target, section, path_of),
        HrefStyle::Absolute => edit::href_in(edit::HrefStyle::Absolute, page, target, section, path_of),
        HrefStyle::Root => edit::href_in(edit::HrefStyle::RootRelative, page, target, section, path_of),
        HrefStyle::Relative => edit::href_in(edit::HrefStyle::PathRelative, page, target, section, path_of),
    }
}

/// Whether there is a page behind what was fetched.
fn has_body(fetched: &FetchedPage) -> bool {
    fetched.outcome.was_read()
}

/// One page, understood by itself.
#[must_use]
pub(crate) fn parse(fetched: &FetchedPage, settings: &Settings, paths: &BTreeMap<String, PageUrl>) -> Page {
    if fetched.format == SourceFormat::Html {
        let content = ContentSettings {
            content: settings.site.content_selector.iter().cloned().collect(),
            exclude: settings.site.exclude_selectors.iter().chain(&settings.placement.never_in).cloned().collect(),
        };
        return html::parse(fetched, &content);
    }
    let text = decode::decode(&fetched.body, fetched.headers.content_type.as_deref());
    let front = FrontMatter::parse(&text.text);
    markdown::parse(fetched, &front, text, &|href| markdown_site::resolve(paths, fetched.path.as_deref()?, href))
}

/// A copy of a site, on a preview host or on this machine, names the public host in canonical links. Where most
/// pages that name one name the same path on one other host, that host is the copy's own.
fn adopt_public_host(pages: &mut [Page]) {
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    let mut named = 0;
    for page in pages.iter() {
        let Some(canonical) = &page.canonical else { continue };
        named += 1;
        if canonical.host() != page.url.host() && canonical.path() == page.url.path() {
            *hosts.entry(canonical.host()).or_default() += 1;
        }
    }
    let Some((public, count)) = hosts.into_iter().max_by_key(|(_, count)| *count) else { return };
    if 2 * count <= named {
        return;
    }
    let own = pages[0].url.to_url();
    for page in pages {
        let to_own = |url: &PageUrl| if url.host() == public { url.at_origin_of(&own) } else { url.clone() };
        page.canonical = page.canonical.as_ref().map(to_own);
        page.hreflang.iter_mut().for_each(|(_, url)| *url = to_own(url));
        page.links.iter_mut().for_each(|link| link.target = to_own(&link.target));
    }
}

/// The page at the base address, or the one with the shortest path.
fn home_of(site: &SiteIndex, base_url: &str) -> Option<PageId> {
    let at_base = PageUrl::parse(base_url).and_then(|url| site.find(&url));
    let root = PageUrl::parse(base_url).and_then(|url| url.join("/")).and_then(|(url, _)| site.find(&url));
    at_base.or(root)
}

/// Language pairs that a good share of the site's own body links cross.
fn crossings(site: &SiteIndex) -> BTreeSet<(String, String)> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut totals: BTreeMap<String, usize> = BTreeMap::new();
    for id in site.ids() {
        let from = primary(&site.page(id).language).to_owned();
        for link in site.page(id).links.iter().filter(|l| l.kind == LinkKind::Body) {
            let Some(target) = site.find(&link.target).filter(|t| *t != id) else { continue };
            *totals.entry(from.clone()).or_default() += 1;
            *counts.entry((from.clone(), primary(&site.page(target).language).to_owned())).or_default() += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "link counts are far below 2^52")]
    let often = |(pair, count): &(&(String, String), &usize)| **count as f64 >= CROSSING_SHARE * totals[&pair.0] as f64;
    counts.iter().filter(|(pair, _)| pair.0 != pair.1).filter(often).map(|(pair, _)| pair.clone()).collect()
}
