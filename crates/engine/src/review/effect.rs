//! What the accepted links change: orphans, crawl depth and PageRank before and after.

use super::site::Site;
use super::{Review, Snapshot};
use crate::error::EngineError;
use linkwright_core::graph::{self, Neighbours};
use linkwright_core::site_index::PageId;

/// Pages of each list of changes.
const LISTED: usize = 25;

/// Figures of a link graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Pages that should be found and have no body inlink; `None` when the crawl was incomplete.
    pub orphans: Option<usize>,
    /// Pages by clicks from the home page, nearest first.
    pub depths: Vec<(u32, usize)>,
    /// Pages that no links lead to from the home page.
    pub unreachable: usize,
    /// Mean clicks of those that can be reached.
    pub mean_depth: Option<f64>,
    /// Links between pages, body links only.
    pub body_links: usize,
}

/// A page whose value changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Before; `None` for a depth that does not exist.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
}

/// The effect of the accepted set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effect {
    /// Links that are accepted or written and that the last reading did not see.
    pub links: usize,
    /// As it was read.
    pub before: Figures,
    /// With the links.
    pub after: Figures,
    /// Orphans that get a link, with their new body inlinks.
    pub adopted: Vec<Change>,
    /// Pages that come nearer to the home page, most clicks saved first.
    pub nearer: Vec<Change>,
    /// Pages whose PageRank grows most.
    pub stronger: Vec<Change>,
    /// Pages whose PageRank shrinks most.
    pub weaker: Vec<Change>,
}

impl Review {
    /// The effect of the accepted set; `None` while the site is still being read.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn effect(&self) -> Result<Option<Effect>, EngineError> {
        let snapshot = self.snapshot().await?;
        let Some(site) = self.site() else { return Ok(None) };
        let computed = tokio::task::spawn_blocking(move || of(&site, &accepted(&site, &snapshot)));
        computed.await.map(Some).map_err(|error| EngineError::new(format!("the effect could not be computed: {error}"), ""))
    }
}

/// Pairs of pages that accepted or written links connect.
pub(super) fn accepted(site: &Site, snapshot: &Snapshot) -> Vec<(PageId, PageId)> {
    let counted = snapshot.items.iter().filter(|item| item.state.is_link());
    let pair = |item: &std::sync::Arc<linkwright_store::StoredOpportunity>| {
        let (from, to) = (site.id(&item.opportunity.source_url)?, site.id(&item.opportunity.target_url)?);
        (from != to).then_some((from, to))
    };
    let mut pairs: Vec<(PageId, PageId)> = counted.filter_map(pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn of(site: &Site, links: &[(PageId, PageId)]) -> Effect {
    let with = |graph: &Neighbours| {
        let mut out = graph.out.clone();
        links.iter().for_each(|(from, to)| out[from.index()].push(*to));
        Neighbours::new(out)
    };
    let (body, all) = (with(&site.graph.body), with(&site.graph.all));
    let depth = site.home.map_or_else(|| vec![None; site.urls.len()], |home| graph::depths(&all, home));
    let authority = graph::authority(&body);
    let new_links = links.iter().filter(|(from, to)| !site.graph.body.links(*from, *to)).count();
    let ids: Vec<PageId> = (0u32..).map(PageId).take(site.urls.len()).filter(|id| site.public[id.index()]).collect();
    let change = |id: &PageId, before: Option<f64>, after: Option<f64>| Change {
        url: site.urls[id.index()].clone(),
        title: site.titles[id.index()].clone(),
        before,
        after,
    };
    let inlinks = |graph: &Neighbours, id: &PageId| graph.into[id.index()].len();
    let adopted = ids.iter().filter(|id| site.complete && inlinks(&site.graph.body, id) == 0 && inlinks(&body, id) > 0);
    let adopted = adopted.map(|id| change(id, Some(0.0), Some(count(inlinks(&body, id))))).collect();
    let clicks = |depth: Option<u32>| depth.map(f64::from);
    let mut nearer: Vec<Change> = ids
        .iter()
        .filter(|id| site.graph.depth[id.index()] != depth[id.index()])
        .map(|id| change(id, clicks(site.graph.depth[id.index()]), clicks(depth[id.index()])))
        .collect();
    nearer.sort_by(|a, b| saved(b).total_cmp(&saved(a)).then_with(|| a.url.cmp(&b.url)));
    nearer.truncate(LISTED);
    let mut moved: Vec<Change> =
        ids.iter().map(|id| change(id, Some(site.graph.authority[id.index()]), Some(authority[id.index()]))).collect();
    moved.sort_by(|a, b| gain(b).total_cmp(&gain(a)).then_with(|| a.url.cmp(&b.url)));
    let weaker = moved.iter().rev().filter(|page| gain(page) < -0.005).take(LISTED).cloned().collect();
    let stronger = moved.into_iter().filter(|page| gain(page) > 0.005).take(LISTED).collect();
    Effect {
        links: new_links,
        before: figures(site, &site.graph.body, &site.graph.depth),
        after: figures(site, &body, &depth),
        adopted,
        nearer,
        stronger,
        weaker,
    }
}

/// A page that could not be reached before saves more than any other.
fn saved(change: &Change) -> f64 {
    change.before.unwrap_or(f64::from(u16::MAX)) - change.after.unwrap_or(f64::from(u16::MAX))
}

fn gain(change: &Change) -> f64 {
    change.after.unwrap_or_default() - change.before.unwrap_or_default()
}

fn figures(site: &Site, body: &Neighbours, depth: &[Option<u32>]) -> Figures {
    let ids = (0..site.urls.len()).filter(|index| site.public[*index]);
    let mut figures = Figures { body_links: body.out.iter().map(Vec::len).sum(), ..Figures::default() };
    let (mut orphans, mut clicks, mut reached) = (0, 0u64, 0usize);
    let mut depths = std::collections::BTreeMap::new();
    for index in ids {
        orphans += usize::from(body.into[index].is_empty());
        match depth[index] {
            Some(at) => {
                *depths.entry(at).or_insert(0) += 1;
                clicks += u64::from(at);
                reached += 1;
            }
            None => figures.unreachable += 1,
        }
    }
    figures.orphans = site.complete.then_some(orphans);
    figures.depths = depths.into_iter().collect();
    #[expect(clippy::cast_precision_loss, reason = "sums of clicks are far below 2^52")]
    let mean = (reached > 0).then(|| clicks as f64 / count(reached));
    figures.mean_depth = mean;
    figures
}

#[expect(clippy::cast_precision_loss, reason = "page counts are far below 2^52")]
fn count(number: usize) -> f64 {
    number as f64
}
