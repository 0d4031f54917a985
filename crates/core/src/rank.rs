//! Candidates to an order: what the site's own links say about which pairs people link.
//!
//! Every source is ranked by a model that was not shown its links: the sources are dealt into folds,
//! and each fold is scored by trees grown on the others. The trees start from the margins of a shipped
//! model that was grown on other sites, so a site with few links keeps what is known in general and a
//! site with many corrects it. Margins become probabilities by a logistic fit on the folds' own answers
//! (Platt 1999); where there are too few links for that, the score is called a similarity.

use crate::boosting::{Forest, Growth, Rows, grow, sigmoid};
use crate::signals::{COUNT, Candidate, Signal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Signals that mean something only beside those of the source's other candidates: they enter three
/// times, as they are, as a share of the source's largest, and by their rank.
const COMPARED: &[Signal] = &[
    Signal::PageCosine,
    Signal::PassageTitle,
    Signal::PassagePage,
    Signal::WordCosine,
    Signal::TitleInSource,
    Signal::TitleInTarget,
    Signal::TitleShare,
    Signal::TitleSentence,
    Signal::TitlePhrase,
    Signal::HeadingPhrase,
    Signal::AnchorProbability,
    Signal::AnchorUses,
    Signal::AnchorShare,
    Signal::AnchorSum,
    Signal::FormProbability,
    Signal::Mentions,
    Signal::PhraseWeight,
    Signal::PhrasePlace,
    Signal::TitleCosine,
    Signal::TitleWords,
    Signal::RareWord,
    Signal::RareWords,
    Signal::LinkingPassage,
    Signal::LinkingPage,
    Signal::Votes,
    Signal::WideVotes,
    Signal::TranslationLinks,
    Signal::CommonNeighbours,
    Signal::CoCitation,
    Signal::Coupling,
    Signal::Inlinks,
    Signal::Section,
    Signal::FolderLift,
];

/// Numbers in a row of features.
pub const WIDTH: usize = COUNT + 2 * COMPARED.len() + 2;

/// Folds by source.
const FOLDS: usize = 5;
/// A site with fewer own links than this is ranked by the shipped model alone.
pub const FEW_LINKS: usize = 60;
/// With this many own links the shipped model has half its weight; with none, all of it; with many, hardly any.
const MANY_LINKS: f64 = 400.0;
/// Unlinked candidates of a source that are learned from: those that look most like links, and some of the rest.
const HARD: usize = 20;
const EASY: usize = 6;
/// Of the unlinked candidates that look most like links, as many as this share of the links are taken for links that
/// are missing, and teach nothing.
const SUSPECTED: f64 = 0.35;

/// The shipped model: trees and the fit that makes their margin a probability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Trees grown on several sites.
    pub forest: Forest,
    /// Margin of a candidate before the first tree.
    pub bias: f64,
}

impl Prior {
    /// Margin of a row.
    #[must_use]
    pub fn margin(&self, row: &[f32]) -> f64 {
        self.bias + self.forest.margin(row)
    }
}

/// How a ranking was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankReport {
    /// Body links of the site that were learned from.
    pub links: usize,
    /// Whether the site's own links shaped the order, or the shipped model alone.
    pub learned: bool,
    /// Whether scores are probabilities.
    pub calibrated: bool,
    /// Meanings of the signals by how much they decided, with their shares; largest first.
    pub shares: Vec<(String, f64)>,
}

/// A ranking of all sources.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// Scores in the order of the sources and their candidates, 0 to 1.
    pub scores: Vec<Vec<f64>>,
    /// How it was made.
    pub report: RankReport,
    prior: Prior,
    /// What the shipped model's margin counts.
    prior_weight: f64,
    folds: Vec<Forest>,
}

impl Ranking {
    /// What each signal did for the margin (log odds) of one candidate of a source, in the order of the signals.
    /// `candidates` are all of the source's, as they were ranked.
    #[must_use]
    pub fn parts(&self, source: usize, candidates: &[Candidate], candidate: usize) -> [f64; COUNT] {
        let rows = features(candidates);
        let row = &rows[candidate * WIDTH..(candidate + 1) * WIDTH];
        let mut parts = vec![0.0; WIDTH];
        self.prior.forest.add_parts(row, &mut parts);
        parts.iter_mut().for_each(|part| *part *= self.prior_weight);
        if !self.folds.is_empty() {
            self.folds[source % FOLDS].add_parts(row, &mut parts);
        }
        by_signal(&parts)
    }
}

/// Sums what a signal's features did.
fn by_signal(parts: &[f64]) -> [f64; COUNT] {
    let mut sums = [0.0; COUNT];
    sums.copy_from_slice(&parts[..COUNT]);
    for (place, signal) in COMPARED.iter().enumerate() {
        sums[*signal as usize] += parts[COUNT + 2 * place] + parts[COUNT + 2 * place + 1];
    }
    sums
}

/// Ranks the candidates of all sources.
#[must_use]
pub fn rank(sources: &[Vec<Candidate>], prior: Prior) -> Ranking {
    let rows: Vec<Vec<f32>> = sources.par_iter().map(|c| features(c)).collect();
    let known: Vec<Vec<f64>> = rows.par_iter().map(|r| r.chunks_exact(WIDTH).map(|row| prior.margin(row)).collect()).collect();
    let links = sources.iter().flatten().filter(|c| c.linked).count();
    let learned = links >= FEW_LINKS;
    let mut ranking = Ranking { prior, prior_weight: prior_weight(links), ..Ranking::default() };
    let mut margins = known;
    if learned {
        let base: Vec<Vec<f64>> = margins.iter().map(|m| m.iter().map(|m| m * ranking.prior_weight).collect()).collect();
        let site = Site { sources, rows: &rows, base: &base };
        // A first round, without much effort, finds the candidates that a second one had better not learn from.
        let first = site.out_of_fold(&site.grow_folds(&margins, f64::INFINITY, FIRST));
        let suspected = suspected_above(sources, &first, links);
        ranking.folds = site.grow_folds(&first, suspected, growth_for(links));
        margins = site.out_of_fold(&ranking.folds);
    } else {
        ranking.prior_weight = 1.0;
    }
    let mut gains = ranking.prior.forest.gains.clone();
    gains.resize(WIDTH, 0.0);
    for forest in &ranking.folds {
        gains.iter_mut().zip(&forest.gains).for_each(|(sum, gain)| *sum += gain);
    }
    let fit = learned.then(|| Fit::new(sources, &margins));
    let score = |margin: f64| fit.as_ref().map_or_else(|| sigmoid(margin), |f| f.probability(margin));
    ranking.scores = margins.into_iter().map(|of_source: Vec<f64>| of_source.into_iter().map(score).collect()).collect();
    ranking.report = RankReport { links, learned, calibrated: fit.is_some(), shares: shares(&gains) };
    ranking
}

/// What the shipped model counts beside what the site teaches.
#[expect(clippy::cast_precision_loss, reason = "link counts are far below 2^52")]
fn prior_weight(links: usize) -> f64 {
    MANY_LINKS / (MANY_LINKS + links as f64)
}

const FIRST: Growth = Growth { trees: 40, depth: 4, rate: 0.1, forests: 1 };

/// More links carry more trees.
fn growth_for(links: usize) -> Growth {
    Growth { trees: (links / 4).clamp(15, 100), depth: 5, rate: 0.08, forests: 3 }
}

/// The candidates of a site, their features, and their margins before anything is learned.
struct Site<'a> {
    sources: &'a [Vec<Candidate>],
    rows: &'a [Vec<f32>],
    base: &'a [Vec<f64>],
}

impl Site<'_> {
    /// For each fold, trees grown on the sources of the others.
    fn grow_folds(&self, margins: &[Vec<f64>], suspected: f64, growth: Growth) -> Vec<Forest> {
        let without = |fold: usize| {
            let mut table = Table::default();
            for s in (0..self.sources.len()).filter(|s| s % FOLDS != fold) {
                table.add(&self.sources[s], &self.rows[s], &self.base[s], &margins[s], suspected, 1.0);
            }
            grow(&table.rows(), growth)
        };
        (0..FOLDS).into_par_iter().map(without).collect()
    }

    /// Margins of all candidates by the trees that did not see their source.
    fn out_of_fold(&self, folds: &[Forest]) -> Vec<Vec<f64>> {
        let of_source = |s: usize| {
            let rows = self.rows[s].chunks_exact(WIDTH).zip(&self.base[s]);
            rows.map(|(row, base)| base + folds[s % FOLDS].margin(row)).collect()
        };
        (0..self.sources.len()).into_par_iter().map(of_source).collect()
    }
}

/// The margin above which an unlinked candidate is taken for a link that is missing.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of candidates")]
fn suspected_above(sources: &[Vec<Candidate>], margins: &[Vec<f64>], links: usize) -> f64 {
    let pairs = sources.iter().zip(margins).filter(|(c, _)| c.iter().any(|c| c.linked));
    let mut open: Vec<f64> = pairs.flat_map(|(c, m)| c.iter().zip(m).filter(|(c, _)| !c.linked).map(|(_, m)| *m)).collect();
    let place = (links as f64 * SUSPECTED) as usize;
    if place >= open.len() {
        return f64::INFINITY;
    }
    *open.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
}

/// Grows a model for shipping on the candidates of several sites. Large sites count more than small ones, but not by
/// all their links.
#[must_use]
pub fn grow_prior(sites: &[Vec<Vec<Candidate>>], growth: Growth) -> Prior {
    let rows: Vec<Vec<Vec<f32>>> = sites.iter().map(|site| site.par_iter().map(|c| features(c)).collect()).collect();
    let all: Vec<&Candidate> = sites.iter().flatten().flatten().collect();
    let links = all.iter().filter(|c| c.linked).count();
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let bias = ((links.max(1) as f64) / (all.len().max(2) - links.min(all.len() - 1)) as f64).ln();
    let mut prior = Prior { forest: Forest::default(), bias };
    // Three rounds: any unlinked candidates; those that look like links; those but the ones that must be links.
    for (growth, suspecting) in [(FIRST, false), (FIRST, false), (growth, true)] {
        let mut table = Table::default();
        for (site, rows) in sites.iter().zip(&rows) {
            let margins: Vec<Vec<f64>> = rows.par_iter().map(|r| r.chunks_exact(WIDTH).map(|row| prior.margin(row)).collect()).collect();
            let links = site.iter().flatten().filter(|c| c.linked).count();
            let suspected = if suspecting { suspected_above(site, &margins, links) } else { f64::INFINITY };
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "weights are f32 by design")]
            let weight = (1.0 / (links.max(1) as f64 / MANY_LINKS).max(1.0).sqrt()) as f32;
            for ((candidates, rows), margins) in site.iter().zip(rows).zip(&margins) {
                table.add(candidates, rows, &vec![bias; candidates.len()], margins, suspected, weight);
            }
        }
        prior.forest = grow(&table.rows(), growth);
    }
    prior
}

/// Training rows of some sources: all links, and of the rest those that look most like links and a sample that
/// stands for the others.
#[derive(Default)]
struct Table {
    values: Vec<f32>,
    labels: Vec<bool>,
    weights: Vec<f32>,
    base: Vec<f64>,
}

impl Table {
    /// Adds one source. `margins` say what looks like a link.
    #[expect(clippy::cast_precision_loss, reason = "candidates of a source are few")]
    fn add(&mut self, candidates: &[Candidate], rows: &[f32], base: &[f64], margins: &[f64], suspected: f64, site_weight: f32) {
        let links = candidates.iter().filter(|c| c.linked).count();
        if links == 0 {
            return;
        }
        // A source with many links must not drown the others: what counts is each page's list.
        let weight = site_weight / (links as f32).sqrt();
        let mut open: Vec<usize> = (0..candidates.len()).filter(|i| !candidates[*i].linked && margins[*i] <= suspected).collect();
        open.sort_by(|a, b| margins[*b].total_cmp(&margins[*a]).then(a.cmp(b)));
        let (hard, rest) = open.split_at(open.len().min(HARD));
        let step = rest.len().div_ceil(EASY).max(1);
        let linked = (0..candidates.len()).filter(|i| candidates[*i].linked).map(|i| (i, weight));
        let easy: Vec<usize> = rest.iter().copied().step_by(step).collect();
        let stands_for = rest.len() as f32 / easy.len().max(1) as f32;
        let taken = linked.chain(hard.iter().map(|i| (*i, weight))).chain(easy.into_iter().map(|i| (i, weight * stands_for)));
        for (i, weight) in taken {
            self.values.extend_from_slice(&rows[i * WIDTH..(i + 1) * WIDTH]);
            self.labels.push(candidates[i].linked);
            self.weights.push(weight);
            self.base.push(base[i]);
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows { values: &self.values, width: WIDTH, labels: &self.labels, weights: &self.weights, base: &self.base }
    }
}

/// Rows of features for the candidates of one source, `(n, WIDTH)` row-major, finite.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "candidates of a source are few")]
pub fn features(candidates: &[Candidate]) -> Vec<f32> {
    let mut rows = vec![0.0; candidates.len() * WIDTH];
    for (row, candidate) in rows.chunks_exact_mut(WIDTH).zip(candidates) {
        for (cell, value) in row.iter_mut().zip(candidate.values) {
            *cell = if value.is_finite() { value } else { 0.0 };
        }
        row[WIDTH - 2] = (candidates.len() as f32).ln_1p();
    }
    let mut fused = vec![0.0f32; candidates.len()];
    for (place, signal) in COMPARED.iter().enumerate() {
        let column: Vec<f32> = candidates.iter().map(|c| c.values[*signal as usize]).collect();
        let largest = column.iter().copied().fold(0.0, f32::max).max(1e-9);
        let mut order: Vec<usize> = (0..column.len()).collect();
        order.sort_by(|a, b| column[*b].total_cmp(&column[*a]).then(a.cmp(b)));
        let mut rank = 0usize;
        for (position, i) in order.iter().enumerate() {
            // Equal values share a rank.
            if position > 0 && column[*i] < column[order[position - 1]] {
                rank = position;
            }
            let silent = column[*i] <= 0.0;
            let standing = if silent { 0.0 } else { 1.0 / (1.0 + rank as f32) };
            let row = &mut rows[i * WIDTH..(i + 1) * WIDTH];
            row[COUNT + 2 * place] = (column[*i] / largest).clamp(-1.0, 1.0);
            row[COUNT + 2 * place + 1] = standing;
            fused[*i] += if silent { 0.0 } else { 1.0 / (10.0 + rank as f32) };
        }
    }
    for (row, fused) in rows.chunks_exact_mut(WIDTH).zip(fused) {
        row[WIDTH - 1] = fused;
    }
    rows
}

/// Gains by signal: a signal's three features count together.
fn shares(gains: &[f32]) -> Vec<(String, f64)> {
    let gains: Vec<f64> = gains.iter().copied().map(f64::from).collect();
    let sums = by_signal(&gains);
    let whole: f64 = sums.iter().sum::<f64>().max(1e-9);
    let mut shares: Vec<(String, f64)> =
        crate::signals::NAMES.iter().zip(sums).map(|((_, meaning), sum)| ((*meaning).to_owned(), sum / whole)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares
}

/// Steps of Newton's method at most, and halvings of one.
const MOST_STEPS: usize = 30;
const MOST_HALVINGS: i32 = 20;

/// `p = sigmoid(slope · margin + offset)`, fitted by Newton's method to the folds' own answers.
struct Fit {
    slope: f64,
    offset: f64,
}

impl Fit {
    fn new(sources: &[Vec<Candidate>], margins: &[Vec<f64>]) -> Self {
        let rows: Vec<(f64, f64)> =
            sources.iter().zip(margins).flat_map(|(c, m)| c.iter().zip(m).map(|(c, m)| (*m, f64::from(u8::from(c.linked))))).collect();
        let mut fit = Self { slope: 1.0, offset: 0.0 };
        let mut loss = fit.loss(&rows);
        for _ in 0..MOST_STEPS {
            let step = fit.newton_step(&rows);
            // A full step may leap over the minimum where the slope is steep; half of it, and so on, does not.
            let tried = (0..MOST_HALVINGS).map(|halvings| fit.moved(step, 0.5f64.powi(halvings))).map(|f| (f.loss(&rows), f));
            let Some(better) = { tried }.find(|(tried, _)| *tried < loss * (1.0 - 1e-9)) else { break };
            (loss, fit) = better;
        }
        if fit.slope > 0.0 { fit } else { Self { slope: 1.0, offset: 0.0 } }
    }

    /// Log loss with a weak pull towards (1, 0).
    fn loss(&self, rows: &[(f64, f64)]) -> f64 {
        let pull = 0.5e-3 * ((self.slope - 1.0).powi(2) + self.offset.powi(2));
        // log(1 + exp(x)) without overflow.
        let soft = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        rows.iter().map(|(m, y)| (self.slope * m + self.offset, y)).map(|(x, y)| soft(x) - y * x).sum::<f64>() + pull
    }

    /// Gradient by inverse Hessian; nothing where the Hessian is singular.
    fn newton_step(&self, rows: &[(f64, f64)]) -> (f64, f64) {
        let (mut g, mut h) = ([1e-3 * (self.slope - 1.0), 1e-3 * self.offset], [1e-3, 0.0, 1e-3]);
        for (m, y) in rows {
            let p = self.probability(*m);
            let (error, weight) = (p - y, p * (1.0 - p));
            g = [g[0] + error * m, g[1] + error];
            h = [h[0] + weight * m * m, h[1] + weight * m, h[2] + weight];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        if determinant.abs() < 1e-12 {
            return (0.0, 0.0);
        }
        ((h[2] * g[0] - h[1] * g[1]) / determinant, (h[0] * g[1] - h[1] * g[0]) / determinant)
    }

    fn moved(&self, step: (f64, f64), by: f64) -> Self {
        Self { slope: self.slope - by * step.0, offset: self.offset - by * step.1 }
    }

    fn probability(&self, margin: f64) -> f64 {
        sigmoid(self.slope * margin + self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site_index::PageId;

    fn candidate(target: u32, linked: bool) -> Candidate {
        Candidate { target: PageId(target), linked, values: [0.0; COUNT] }
    }

    #[test]
    fn the_fit_finds_the_odds_where_margins_tell_links_apart_well() {
        // Steep margins, for which full Newton steps from (1, 0) run away: nine in ten above, one in a thousand below.
        let sources: Vec<Vec<Candidate>> = (0..200).map(|s| (0..100).map(|t| candidate(t, t == 0 && s % 10 != 0)).collect()).collect();
        let margins: Vec<Vec<f64>> = (0..200).map(|_| (0..100).map(|t| if t == 0 { 6.0 } else { -14.0 }).collect()).collect();
        let fit = Fit::new(&sources, &margins);
        assert!((fit.probability(6.0) - 0.9).abs() < 0.01, "{}", fit.probability(6.0));
        assert!(fit.probability(-14.0) < 0.001);
        assert!(fit.slope < 5.0, "margins in between stay apart: {}", fit.slope);
    }

    #[test]
    fn what_looks_most_like_a_missing_link_is_not_learned_from() {
        let sources = [(0..10).map(|t| candidate(t, t < 4)).collect::<Vec<_>>()];
        let margins = [(0..10).map(|t| -f64::from(t)).collect::<Vec<_>>()];
        // 35 % of four links: one candidate, the best that is not linked.
        let above = suspected_above(&sources, &margins, 4);
        assert!((-5.0..-4.0).contains(&above), "{above}");
        let mut table = Table::default();
        table.add(&sources[0], &features(&sources[0]), &[0.0; 10], &margins[0], above, 1.0);
        assert_eq!(table.labels.iter().filter(|l| !**l).count(), 5);
    }
}
