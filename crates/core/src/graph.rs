//! Pages to link graph: inlinks, outlinks, crawl depth and authority, over body links and over all links.
//!
//! Both graphs have the same pages. Links count once per pair, never to the page itself, and lead
//! to the page that stands for an address (redirects and canonical links followed).

use crate::page::{Link, LinkKind, LinkPosition, Page};
use crate::site_index::{PageId, SiteIndex};
use crate::span::Span;
use std::collections::VecDeque;

/// Share of authority that flows along links; the rest is spread evenly (Brin and Page 1998).
const DAMPING: f64 = 0.85;
/// Iterations of the power method; the error shrinks by `DAMPING` each time, 0.85^60 < 1e-4.
const ITERATIONS: usize = 60;
/// Least bytes of a block that are no link for its links to stand among words: some three words.
const AMONG_BYTES: usize = 20;

/// Sorted, distinct neighbours of every page in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// Pages that each page links to.
    pub out: Vec<Vec<PageId>>,
    /// Pages that link to each page.
    pub into: Vec<Vec<PageId>>,
}

impl Neighbours {
    /// Builds both directions from the outgoing one.
    #[must_use]
    pub fn new(mut out: Vec<Vec<PageId>>) -> Self {
        let mut into = vec![Vec::new(); out.len()];
        for (source, targets) in (0u32..).zip(&mut out) {
            targets.sort_unstable();
            targets.dedup();
            targets.retain(|t| t.0 != source);
            for target in targets {
                into[target.index()].push(PageId(source));
            }
        }
        Self { out, into }
    }

    /// Whether `source` links to `target`.
    #[must_use]
    pub fn links(&self, source: PageId, target: PageId) -> bool {
        self.out[source.index()].binary_search(&target).is_ok()
    }
}

/// The link graph of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkGraph {
    /// Body links.
    pub body: Neighbours,
    /// Body and template links.
    pub all: Neighbours,
    /// Links that stand in the main content or among words anywhere but in menus, header and footer, those that repeat
    /// on many pages included: what a reader of the text can follow already.
    pub content: Neighbours,
    /// Clicks from the start page over all links; `None` when it cannot be reached.
    pub depth: Vec<Option<u32>>,
    /// PageRank over body links, scaled so that the mean is 1.
    pub authority: Vec<f64>,
}

/// Builds the graph. `start` is the home page, where there is one.
#[must_use]
pub fn build(site: &SiteIndex, start: Option<PageId>) -> LinkGraph {
    let mut body = vec![Vec::new(); site.pages.len()];
    let (mut all, mut content) = (body.clone(), body.clone());
    for id in site.ids() {
        let source = site.canonical[id.index()];
        let page = site.page(id);
        let linked = page.linked_bytes();
        for link in &page.links {
            let Some(target) = site.find(&link.target) else { continue };
            all[source.index()].push(target);
            if link.kind == LinkKind::Body {
                body[source.index()].push(target);
            }
            if is_read(page, &linked, link) {
                content[source.index()].push(target);
            }
        }
    }
    let (body, all, content) = (Neighbours::new(body), Neighbours::new(all), Neighbours::new(content));
    let depth = start.map_or_else(|| vec![None; site.pages.len()], |start| depths(&all, start));
    let authority = authority(&body);
    LinkGraph { body, all, content, depth, authority }
}

/// Whether who reads the text of a page reads the link. A sentence may stand outside what counts as the page's own
/// content, as a line of advice that every page has; a card or a list of related pages is no sentence.
fn is_read(page: &Page, linked: &[usize], link: &Link) -> bool {
    let among_words = |(block, _): (usize, Span)| page.blocks.get(block).is_some_and(|b| b.text.len() >= linked[block] + AMONG_BYTES);
    match (link.kind, link.position) {
        (LinkKind::Body, _) | (_, LinkPosition::Content) => true,
        (_, LinkPosition::Aside) => link.place.is_some_and(among_words),
        (_, LinkPosition::Navigation | LinkPosition::Header | LinkPosition::Footer) => false,
    }
}

/// Clicks from `start` to every page.
#[must_use]
pub fn depths(graph: &Neighbours, start: PageId) -> Vec<Option<u32>> {
    let mut depth = vec![None; graph.out.len()];
    depth[start.index()] = Some(0);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((page, clicks)) = queue.pop_front() {
        for &next in &graph.out[page.index()] {
            if depth[next.index()].is_none() {
                depth[next.index()] = Some(clicks + 1);
                queue.push_back((next, clicks + 1));
            }
        }
    }
    depth
}

/// PageRank by the power method, mean 1. Pages without outlinks spread theirs evenly.
#[must_use]
pub fn authority(graph: &Neighbours) -> Vec<f64> {
    let count = graph.out.len();
    let mut rank = vec![1.0; count];
    for _ in 0..ITERATIONS {
        let idle: f64 = rank.iter().zip(&graph.out).filter(|(_, out)| out.is_empty()).map(|(r, _)| r).sum();
        #[expect(clippy::cast_precision_loss, reason = "page counts are far below 2^52")]
        let base = (1.0 - DAMPING) + DAMPING * idle / count.max(1) as f64;
        #[expect(clippy::cast_precision_loss, reason = "page counts are far below 2^52")]
        let share: Vec<f64> = rank.iter().zip(&graph.out).map(|(r, out)| DAMPING * r / out.len().max(1) as f64).collect();
        rank = graph.into.iter().map(|into| base + into.iter().map(|p| share[p.index()]).sum::<f64>()).collect();
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ContentSettings;
    use crate::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, SourceFormat, html};
    use crate::url::PageUrl;
    use std::collections::BTreeMap;

    fn page(path: &str, aside: &str) -> Page {
        let prose = "A page with running text of its own, long enough that nobody takes it for a list of links. ".repeat(4);
        let body = format!("<title>{path}</title><main><h1>{path}</h1><p>{prose}</p></main><aside>{aside}</aside>");
        html::parse(
            &FetchedPage {
                url: PageUrl::parse(&format!("https://example.org/{path}")).unwrap(),
                outcome: FetchOutcome::Fetched,
                status: 200,
                redirects: Vec::new(),
                headers: FetchHeaders::default(),
                body: body.into_bytes(),
                format: SourceFormat::Html,
                path: None,
                discovery: Discovery::default(),
                sitemap_lastmod: None,
                detail: None,
            },
            &ContentSettings::default(),
        )
    }

    #[test]
    fn a_sentence_outside_the_content_links_and_a_card_does_not() {
        let aside =
            "<p>See also the <a href=\"/sentence\">lists of objects</a> of this program.</p><ul><li><a href=\"/card\">Card</a></li></ul>";
        let pages = vec![page("card", ""), page("sentence", ""), page("source", aside)];
        let site = SiteIndex::new(pages, &BTreeMap::new());
        let at = |path: &str| site.find(&PageUrl::parse(&format!("https://example.org/{path}")).unwrap()).unwrap();
        let graph = build(&site, None);
        let source = at("source");
        assert!(graph.content.links(source, at("sentence")) && !graph.content.links(source, at("card")));
        assert!(graph.all.links(source, at("card")) && graph.body.out[source.index()].is_empty());
    }

    fn ids(numbers: &[u32]) -> Vec<PageId> {
        numbers.iter().copied().map(PageId).collect()
    }

    #[test]
    fn links_count_once_and_never_to_the_page_itself() {
        let graph = Neighbours::new(vec![ids(&[1, 1, 0]), ids(&[]), ids(&[1])]);
        assert_eq!(graph.out[0], ids(&[1]));
        assert_eq!(graph.into[1], ids(&[0, 2]));
        assert!(graph.links(PageId(2), PageId(1)) && !graph.links(PageId(1), PageId(2)));
    }

    #[test]
    fn depth_counts_clicks_and_leaves_the_unreachable_open() {
        let graph = Neighbours::new(vec![ids(&[1]), ids(&[2]), ids(&[0]), ids(&[0])]);
        assert_eq!(depths(&graph, PageId(0)), [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn authority_has_mean_one_and_follows_links() {
        let graph = Neighbours::new(vec![ids(&[2]), ids(&[2]), ids(&[]), ids(&[])]);
        let rank = authority(&graph);
        let mean = rank.iter().sum::<f64>() / 4.0;
        assert!((mean - 1.0).abs() < 1e-9, "{rank:?}");
        assert!(rank[2] > 2.0 * rank[3]);
    }
}
