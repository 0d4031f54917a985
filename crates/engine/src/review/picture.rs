//! The link graph as a picture: few enough pages to read, laid out the same way each time.
//!
//! Clusters are found by label propagation over body links: a page belongs where most of its neighbours do. Within
//! the picture pages of a cluster attract each other along their links and all repel each other (Fruchterman and
//! Reingold 1991), from a starting place that depends on the order of the pages alone.

use super::effect::accepted;
use super::site::Site;
use super::{Review, Snapshot};
use crate::error::EngineError;
use linkwright_core::site_index::PageId;
use linkwright_store::State;
use std::collections::{BTreeMap, BTreeSet};

/// Pages in the picture at most.
const PAGES: usize = 90;
/// Orphans among them at most.
const ORPHANS: usize = 18;
/// Ends of accepted links among them at most.
const ENDS: usize = 40;
/// Ends of bridges between the largest clusters among them at most.
const BRIDGE_ENDS: usize = 16;
/// Clusters that are told apart.
const CLUSTERS: usize = 8;
/// Sweeps of label propagation; it settles in far fewer.
const SWEEPS: usize = 20;
/// Steps of the layout.
const STEPS: usize = 160;
/// Width of the picture.
const WIDTH: f64 = 1000.0;
/// Height of the picture.
const HEIGHT: f64 = 640.0;

/// What a link of the picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// A body link.
    Body,
    /// A body link that alone joins two clusters.
    Bridge,
    /// A link that is accepted or written.
    Accepted,
}

/// Where a title is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On the left of the dot.
    Left,
    /// On the right.
    Right,
}

/// A page of the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Place.
    pub x: f64,
    /// Place.
    pub y: f64,
    /// Grows with PageRank.
    pub radius: f64,
    /// Number of its cluster among those that are told apart.
    pub cluster: Option<usize>,
    /// No other page's text leads to it.
    pub orphan: bool,
    /// Where its title is written, if it is.
    pub label: Option<Side>,
    /// Body inlinks on the whole site.
    pub inlinks: usize,
    /// Body outlinks on the whole site.
    pub outlinks: usize,
}

/// A link of the picture, between numbers of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its page.
    pub from: usize,
    /// Its target.
    pub to: usize,
    /// What it is.
    pub kind: EdgeKind,
}

/// Pages that link each other more than others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Title of its page with the most authority.
    pub name: String,
    /// Pages of it on the whole site.
    pub pages: usize,
    /// Pages of it in the picture.
    pub shown: usize,
}

/// The picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Pages.
    pub nodes: Vec<Node>,
    /// Links.
    pub edges: Vec<Edge>,
    /// Clusters, the largest first.
    pub clusters: Vec<Cluster>,
    /// Pages of the site that readers should find.
    pub pages: usize,
    /// Orphans of the site; `None` when the crawl was incomplete.
    pub orphans: Option<usize>,
    /// Body links of the site that alone join two clusters: URL and title of both ends.
    pub bridges: Vec<[(String, String); 2]>,
}

impl Review {
    /// The link graph as a picture; `None` while the site is still being read.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn graph(&self) -> Result<Option<Picture>, EngineError> {
        let snapshot = self.snapshot().await?;
        let Some(site) = self.site() else { return Ok(None) };
        let drawn = tokio::task::spawn_blocking(move || draw(&site, &snapshot));
        drawn.await.map(Some).map_err(|error| EngineError::new(format!("the graph could not be drawn: {error}"), ""))
    }
}

fn draw(site: &Site, snapshot: &Snapshot) -> Picture {
    let links = accepted(site, snapshot);
    let labels = labels(site);
    let (clusters, number_of) = clusters(site, &labels);
    let bridges = bridges(site, &labels);
    let shown = chosen(site, &links, snapshot, &|id| number_of.get(&labels[id.index()]).copied(), &bridges);
    let index: BTreeMap<PageId, usize> = shown.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let edges = edges(site, &index, &bridges, &links);
    let cluster_of = |id: &PageId| number_of.get(&labels[id.index()]).copied();
    let places = layout(&shown, &edges, &cluster_of);
    let mut by_authority: Vec<usize> = (0..shown.len()).collect();
    let authority = |i: &usize| site.graph.authority[shown[*i].index()];
    by_authority.sort_by(|a, b| authority(b).total_cmp(&authority(a)).then(a.cmp(b)));
    let labelled = apart(&by_authority, &places);
    let node = |(i, id): (usize, &PageId)| Node {
        url: site.urls[id.index()].clone(),
        title: site.titles[id.index()].clone(),
        x: places[i].0,
        y: places[i].1,
        radius: (3.5 + 2.2 * site.graph.authority[id.index()].max(0.0).sqrt()).min(15.0),
        cluster: cluster_of(id),
        orphan: site.complete && site.public[id.index()] && site.graph.body.into[id.index()].is_empty(),
        label: labelled.get(&i).copied(),
        inlinks: site.graph.body.into[id.index()].len(),
        outlinks: site.graph.body.out[id.index()].len(),
    };
    let nodes: Vec<Node> = shown.iter().enumerate().map(node).collect();
    let mut clusters = clusters;
    for (number, cluster) in clusters.iter_mut().enumerate() {
        cluster.shown = nodes.iter().filter(|node| node.cluster == Some(number)).count();
    }
    let orphan = |index: &usize| site.public[*index] && site.graph.body.into[*index].is_empty();
    let page = |id: PageId| (site.urls[id.index()].clone(), site.titles[id.index()].clone());
    Picture {
        width: WIDTH,
        height: HEIGHT,
        edges,
        clusters,
        pages: site.public.iter().filter(|public| **public).count(),
        orphans: site.complete.then(|| (0..site.urls.len()).filter(orphan).count()),
        bridges: bridges.iter().map(|(from, to)| [page(*from), page(*to)]).collect(),
        nodes,
    }
}

/// A label per page: where most of its neighbours belong, the smaller label of equals.
fn labels(site: &Site) -> Vec<u32> {
    let body = &site.graph.body;
    let count = body.out.len();
    let mut labels: Vec<u32> = (0u32..).take(count).collect();
    for _ in 0..SWEEPS {
        let mut changed = false;
        for page in 0..count {
            let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
            for other in body.out[page].iter().chain(&body.into[page]) {
                *votes.entry(labels[other.index()]).or_default() += 1;
            }
            let Some(most) = votes.values().max() else { continue };
            let stays = votes.get(&labels[page]) == Some(most);
            if let Some((label, _)) = votes.iter().find(|(_, count)| *count == most).filter(|_| !stays) {
                labels[page] = *label;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    labels
}

/// The largest clusters, and the number of each by its label.
fn clusters(site: &Site, labels: &[u32]) -> (Vec<Cluster>, BTreeMap<u32, usize>) {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    labels.iter().enumerate().for_each(|(page, label)| members.entry(*label).or_default().push(page));
    let mut groups: Vec<(u32, Vec<usize>)> = members.into_iter().filter(|(_, pages)| pages.len() > 1).collect();
    groups.sort_by_key(|(label, pages)| (std::cmp::Reverse(pages.len()), *label));
    groups.truncate(CLUSTERS);
    let authority = |page: &usize| site.graph.authority[*page];
    let name = |pages: &[usize]| {
        let best = pages.iter().max_by(|a, b| authority(a).total_cmp(&authority(b)).then(b.cmp(a)));
        best.map(|page| site.titles[*page].clone()).unwrap_or_default()
    };
    let clusters = groups.iter().map(|(_, pages)| Cluster { name: name(pages), pages: pages.len(), shown: 0 }).collect();
    (clusters, groups.iter().enumerate().map(|(number, (label, _))| (*label, number)).collect())
}

/// Body links that alone join two clusters of at least three pages.
fn bridges(site: &Site, labels: &[u32]) -> Vec<(PageId, PageId)> {
    const LEAST: usize = 3;
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    labels.iter().for_each(|label| *sizes.entry(*label).or_default() += 1);
    let mut joined: BTreeMap<(u32, u32), Vec<(PageId, PageId)>> = BTreeMap::new();
    for (from, targets) in (0u32..).map(PageId).zip(&site.graph.body.out) {
        for to in targets {
            let (a, b) = (labels[from.index()], labels[to.index()]);
            if a != b && sizes[&a] >= LEAST && sizes[&b] >= LEAST {
                joined.entry((a.min(b), a.max(b))).or_default().push((from, *to));
            }
        }
    }
    joined.into_values().filter(|links| links.len() == 1).flatten().collect()
}

/// The pages of the picture: ends of accepted links, orphans, ends of bridges, then from each cluster in turn the pages
/// with the most authority.
fn chosen(
    site: &Site,
    links: &[(PageId, PageId)],
    snapshot: &Snapshot,
    cluster_of: &dyn Fn(PageId) -> Option<usize>,
    bridges: &[(PageId, PageId)],
) -> Vec<PageId> {
    let mut chosen: BTreeSet<PageId> = BTreeSet::new();
    let add = |pairs: &[(PageId, PageId)], most: usize, chosen: &mut BTreeSet<PageId>| {
        let before = chosen.len();
        for (from, to) in pairs {
            if chosen.len() + 2 > before + most {
                break;
            }
            chosen.extend([*from, *to]);
        }
    };
    add(links, ENDS, &mut chosen);
    let waiting = snapshot.items.iter().filter(|item| item.state == State::Found);
    let wanted: BTreeSet<PageId> = waiting.filter_map(|item| site.id(&item.opportunity.target_url)).collect();
    let ids: Vec<PageId> = (0u32..).map(PageId).take(site.urls.len()).filter(|id| site.public[id.index()]).collect();
    let (mut orphans, mut rest): (Vec<PageId>, Vec<PageId>) = ids.into_iter().partition(|id| site.graph.body.into[id.index()].is_empty());
    // Those that a proposed link would save are the ones to see.
    orphans.sort_by_key(|id| (!wanted.contains(id), *id));
    chosen.extend(orphans.into_iter().take(ORPHANS));
    let large: Vec<(PageId, PageId)> =
        bridges.iter().copied().filter(|(from, to)| cluster_of(*from).is_some() && cluster_of(*to).is_some()).collect();
    add(&large, BRIDGE_ENDS, &mut chosen);
    rest.retain(|id| !chosen.contains(id));
    rest.sort_by(|a, b| site.graph.authority[b.index()].total_cmp(&site.graph.authority[a.index()]).then(a.cmp(b)));
    let mut turns: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    let mut in_turn: Vec<(usize, usize, PageId)> = Vec::with_capacity(rest.len());
    for id in rest {
        let cluster = cluster_of(id);
        let turn = turns.entry(cluster).or_default();
        in_turn.push((*turn, cluster.unwrap_or(CLUSTERS), id));
        *turn += 1;
    }
    in_turn.sort_unstable();
    let room = PAGES.saturating_sub(chosen.len());
    chosen.extend(in_turn.into_iter().take(room).map(|(.., id)| id));
    chosen.into_iter().collect()
}

fn edges(site: &Site, index: &BTreeMap<PageId, usize>, bridges: &[(PageId, PageId)], links: &[(PageId, PageId)]) -> Vec<Edge> {
    let mut kinds: BTreeMap<(usize, usize), EdgeKind> = BTreeMap::new();
    let mut add = |from: &PageId, to: &PageId, kind: EdgeKind| {
        if let (Some(a), Some(b)) = (index.get(from), index.get(to)) {
            let known = kinds.entry((*a, *b)).or_insert(kind);
            *known = (*known).max(kind);
        }
    };
    for from in index.keys() {
        site.graph.body.out[from.index()].iter().for_each(|to| add(from, to, EdgeKind::Body));
    }
    bridges.iter().for_each(|(from, to)| add(from, to, EdgeKind::Bridge));
    links.iter().for_each(|(from, to)| add(from, to, EdgeKind::Accepted));
    let mut edges: Vec<Edge> = kinds.into_iter().map(|((from, to), kind)| Edge { from, to, kind }).collect();
    edges.sort_by_key(|edge| edge.kind);
    edges
}

/// Places that fill the picture.
fn layout(shown: &[PageId], edges: &[Edge], cluster_of: &dyn Fn(&PageId) -> Option<usize>) -> Vec<(f64, f64)> {
    let count = shown.len();
    #[expect(clippy::cast_precision_loss, reason = "a picture has few pages")]
    let float = |number: usize| number as f64;
    // The golden angle spreads points evenly; clusters begin on a circle around the middle.
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let start = |(i, id): (usize, &PageId)| {
        let around = std::f64::consts::TAU * float(cluster_of(id).unwrap_or(CLUSTERS)) / float(CLUSTERS + 1);
        let (angle, distance) = (golden * float(i), 0.02 * float(i).sqrt());
        (0.5 + 0.3 * around.cos() + distance * angle.cos(), 0.5 + 0.3 * around.sin() + distance * angle.sin())
    };
    let mut places: Vec<(f64, f64)> = shown.iter().enumerate().map(start).collect();
    let ideal = 0.9 / float(count.max(1)).sqrt();
    for step in 0..STEPS {
        let mut moves = vec![(0.0, 0.0); count];
        for i in 0..count {
            for j in 0..i {
                let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
                let square = (dx * dx + dy * dy).max(1e-6);
                let force = ideal * ideal / square;
                moves[i] = (moves[i].0 + dx * force, moves[i].1 + dy * force);
                moves[j] = (moves[j].0 - dx * force, moves[j].1 - dy * force);
            }
            // A weak pull to the middle keeps pages without links in the picture.
            moves[i] = (moves[i].0 + (0.5 - places[i].0) * 0.25, moves[i].1 + (0.5 - places[i].1) * 0.25);
        }
        for edge in edges {
            let (a, b) = (places[edge.from], places[edge.to]);
            let (dx, dy) = (a.0 - b.0, a.1 - b.1);
            let same = cluster_of(&shown[edge.from]) == cluster_of(&shown[edge.to]);
            let force = (dx * dx + dy * dy).sqrt() / ideal * if same { 0.5 } else { 0.12 };
            moves[edge.from] = (moves[edge.from].0 - dx * force, moves[edge.from].1 - dy * force);
            moves[edge.to] = (moves[edge.to].0 + dx * force, moves[edge.to].1 + dy * force);
        }
        let heat = 0.06 * (1.0 - float(step) / float(STEPS)) + 0.001;
        for (place, (dx, dy)) in places.iter_mut().zip(moves) {
            let length = (dx * dx + dy * dy).sqrt().max(1e-9);
            let by = length.min(heat) / length;
            *place = (place.0 + dx * by, place.1 + dy * by);
        }
    }
    fill(places)
}

/// Stretches places so that they fill the picture with a margin.
fn fill(mut places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    const MARGIN: f64 = 40.0;
    let range = |values: Vec<f64>| (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max));
    let (left, right) = range(places.iter().map(|place| place.0).collect());
    let (top, bottom) = range(places.iter().map(|place| place.1).collect());
    let (wide, high) = ((right - left).max(1e-9), (bottom - top).max(1e-9));
    for place in &mut places {
        place.0 = MARGIN + (place.0 - left) / wide * (WIDTH - 2.0 * MARGIN);
        place.1 = MARGIN + (place.1 - top) / high * (HEIGHT - 2.0 * MARGIN);
    }
    places
}

/// Nodes whose labels cover neither each other nor a dot, the most important first.
fn apart(by_authority: &[usize], places: &[(f64, f64)]) -> BTreeMap<usize, Side> {
    const LABELS: usize = 26;
    // What a label of 26 letters takes, with some air.
    const LONG: f64 = 200.0;
    const HIGH: f64 = 15.0;
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut labelled = BTreeMap::new();
    for &i in by_authority {
        let (x, y) = places[i];
        for side in [Side::Right, Side::Left] {
            let left = if side == Side::Right { x + 4.0 } else { x - LONG - 4.0 };
            let inside = left >= 0.0 && left + LONG <= WIDTH;
            let free = taken.iter().all(|(other_left, other_y)| (left - other_left).abs() > LONG || (y - other_y).abs() > HIGH);
            let dot = |(number, (dot_x, dot_y)): (usize, &(f64, f64))| {
                number == i || *dot_x < left || *dot_x > left + LONG || (dot_y - y).abs() > HIGH / 2.0
            };
            if labelled.len() < LABELS && inside && free && places.iter().enumerate().all(dot) {
                taken.push((left, y));
                labelled.insert(i, side);
                break;
            }
        }
    }
    labelled
}
