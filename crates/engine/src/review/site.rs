//! What the review keeps of the whole site: its links and graphs. The pages' texts are not kept.

use crate::analysis::Analysis;
use linkwright_core::graph::LinkGraph;
use linkwright_core::page::{LinkKind, Page};
use linkwright_core::plan::Plan;
use linkwright_core::site_index::PageId;
use std::collections::HashMap;

/// A link of one page to another of the same site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteLink {
    /// The other page: the target of an outlink, the source of an inlink.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Visible words.
    pub anchor: String,
    /// Body or template.
    pub kind: LinkKind,
}

struct OutLink {
    to: PageId,
    anchor: String,
    kind: LinkKind,
}

/// The links of a site.
pub(super) struct Site {
    pub(super) urls: Vec<String>,
    pub(super) titles: Vec<String>,
    pub(super) graph: LinkGraph,
    pub(super) home: Option<PageId>,
    /// Whether the page should be found by links: it counts as an orphan without any.
    pub(super) public: Vec<bool>,
    /// Whether the crawl saw everything, so that orphans and depth are known.
    pub(super) complete: bool,
    by_url: HashMap<String, PageId>,
    links: Vec<Vec<OutLink>>,
    main: Vec<Vec<bool>>,
}

impl Site {
    pub(super) fn new(analysis: &Analysis, plan: &Plan) -> Self {
        let site = &analysis.site;
        let urls: Vec<String> = site.ids().map(|id| site.page(id).url.to_string()).collect();
        let known = plan.pages.iter().filter_map(|page| {
            let url = linkwright_core::url::PageUrl::parse(&page.url)?;
            Some((page.url.clone(), site.find(&url)?))
        });
        let by_url = known.collect();
        let links = site.ids().map(|id| out_links(analysis, id)).collect();
        let complete = plan.run.complete;
        let public = site.ids().map(|id| site.canonical[id.index()] == id && analysis.should_be_found(id));
        Self {
            public: public.collect(),
            titles: site.ids().map(|id| site.page(id).short_title.clone()).collect(),
            home: site.ids().find(|id| analysis.graph.depth[id.index()] == Some(0)),
            graph: analysis.graph.clone(),
            main: site.ids().map(|id| site.page(id).blocks.iter().map(|block| block.main).collect()).collect(),
            complete,
            urls,
            by_url,
            links,
        }
    }

    pub(super) fn id(&self, url: &str) -> Option<PageId> {
        self.by_url.get(url).copied()
    }

    /// Links of the page to others, in the order of the page, body links first.
    pub(super) fn links_of(&self, url: &str) -> Vec<SiteLink> {
        let Some(id) = self.id(url) else { return Vec::new() };
        let mut links: Vec<SiteLink> = self.links[id.index()].iter().map(|link| self.link(link.to, link)).collect();
        links.sort_by_key(|link| link.kind);
        links
    }

    /// Links of others to the page, by URL, body links first.
    pub(super) fn links_to(&self, url: &str) -> Vec<SiteLink> {
        let Some(id) = self.id(url) else { return Vec::new() };
        let sources = self.graph.all.into[id.index()].iter();
        let found = sources.flat_map(|source| {
            let links = self.links[source.index()].iter().filter(|link| link.to == id);
            links.map(|link| self.link(*source, link))
        });
        let mut links: Vec<SiteLink> = found.collect();
        links.sort_by_key(|link| link.kind);
        links
    }

    fn link(&self, other: PageId, link: &OutLink) -> SiteLink {
        let (url, title) = (self.urls[other.index()].clone(), self.titles[other.index()].clone());
        SiteLink { url, title, anchor: link.anchor.clone(), kind: link.kind }
    }

    /// Tells the main content of a page that was parsed by itself from what repeats across the site.
    pub(super) fn mark_main(&self, page: &mut Page) {
        let Some(id) = self.id(page.url.as_str()) else { return };
        if page.url.as_str() == self.urls[id.index()] && self.main[id.index()].len() == page.blocks.len() {
            page.blocks.iter_mut().zip(&self.main[id.index()]).for_each(|(block, main)| block.main = *main);
            page.short_title.clone_from(&self.titles[id.index()]);
        }
    }
}

fn out_links(analysis: &Analysis, id: PageId) -> Vec<OutLink> {
    let own = analysis.site.canonical[id.index()];
    let links = analysis.site.page(id).links.iter().filter_map(|link| {
        let to = analysis.site.find(&link.target).filter(|to| *to != own)?;
        Some(OutLink { to, anchor: link.anchor.clone(), kind: link.kind })
    });
    links.collect()
}
