//! TF-IDF vectors of pages over words and word pairs, and their nearest neighbours by cosine.
//!
//! Term weight is `(1 + ln tf) · rarity`, rows have length 1 (Salton and Buckley 1988). Word pairs
//! skip nothing and cross no block; pairs with a function word are left out. Rows that share few
//! terms are never compared: an inverted index gives exact cosines of all pairs that share any.

use crate::corpus::Corpus;
use crate::site_index::PageId;
use crate::text::Term;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// A feature that stands on more than this share of the pages says nothing about any of them.
const MAX_SHARE: f64 = 0.4;

/// A feature on more pages than this is at home in none of them.
const HOMES: usize = 40;

/// How much the rare words of one page belong to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtHome {
    /// Of the word that belongs most: its rarity times the share of its uses on other pages that the page has.
    pub best: f32,
    /// Sum over all such words.
    pub sum: f32,
}

/// Sparse unit rows.
pub struct TfIdf {
    /// Per page, features in ascending order with their weights.
    pub rows: Vec<Vec<(u32, f32)>>,
    postings: Vec<Vec<(u32, f32)>>,
    counts: Vec<HashMap<u64, u32>>,
    /// Per feature that stands on few pages, these pages with their share of its uses.
    homes: Vec<Vec<(u32, f32)>>,
    /// Per feature, its rarity.
    rarity: Vec<f32>,
}

impl TfIdf {
    /// Builds the rows of all pages.
    #[must_use]
    pub fn new(corpus: &Corpus) -> Self {
        let counts: Vec<HashMap<u64, u32>> = corpus.pages.par_iter().map(feature_counts).collect();
        let mut frequency: HashMap<u64, u32> = HashMap::new();
        for feature in counts.iter().flat_map(HashMap::keys) {
            *frequency.entry(*feature).or_default() += 1;
        }
        let numbers = number_features(&frequency, corpus.pages.len());
        let rows: Vec<Vec<(u32, f32)>> = counts.par_iter().map(|c| unit_row(c, &numbers)).collect();
        let mut postings = vec![Vec::new(); numbers.len()];
        for (page, row) in (0u32..).zip(&rows) {
            for &(feature, weight) in row {
                postings[feature as usize].push((page, weight));
            }
        }
        let (homes, rarity) = homes(&counts, &numbers);
        Self { rows, postings, counts, homes, rarity }
    }

    /// Pages in which rare words of `page` are at home, the uses on `page` itself not counted.
    pub fn at_home(&self, page: PageId, allowed: impl Fn(PageId) -> bool) -> BTreeMap<PageId, AtHome> {
        let mut found: BTreeMap<PageId, AtHome> = BTreeMap::new();
        for (feature, _) in &self.rows[page.index()] {
            let homes = &self.homes[*feature as usize];
            let others = homes.iter().filter(|(p, _)| *p != page.0);
            let uses: f32 = others.clone().map(|(_, uses)| uses).sum();
            for (other, uses_there) in others.filter(|(p, _)| allowed(PageId(*p))) {
                let value = self.rarity[*feature as usize] * uses_there / uses;
                let entry = found.entry(PageId(*other)).or_default();
                entry.best = entry.best.max(value);
                entry.sum += value;
            }
        }
        found
    }

    /// How often a content word stands in a page.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of a page are small")]
    pub fn term_count(&self, page: PageId, term: Term) -> f32 {
        self.counts[page.index()].get(&u64::from(term)).copied().unwrap_or(0) as f32
    }

    /// Cosine of two pages.
    #[must_use]
    pub fn cosine(&self, a: PageId, b: PageId) -> f32 {
        let (a, b) = (&self.rows[a.index()], &self.rows[b.index()]);
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < a.len() && j < b.len() {
            match a[i].0.cmp(&b[j].0) {
                Ordering::Less => i += 1,
                Ordering::Greater => j += 1,
                Ordering::Equal => {
                    sum += a[i].1 * b[j].1;
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        sum
    }

    /// The `k` pages nearest to `page` among those `allowed`, nearest first, ties by number.
    pub fn nearest(&self, page: PageId, k: usize, allowed: impl Fn(PageId) -> bool) -> Vec<(PageId, f32)> {
        let mut sums = vec![0.0f32; self.rows.len()];
        for &(feature, weight) in &self.rows[page.index()] {
            for &(other, other_weight) in &self.postings[feature as usize] {
                sums[other as usize] += weight * other_weight;
            }
        }
        let scored = (0u32..).zip(sums).filter(|&(other, sum)| sum > 0.0 && other != page.0 && allowed(PageId(other)));
        best(scored.map(|(other, sum)| (PageId(other), sum)).collect(), k)
    }
}

/// Per numbered feature on few pages, its uses by page; and every feature's rarity.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn homes(counts: &[HashMap<u64, u32>], numbers: &HashMap<u64, (u32, f32)>) -> (Vec<Vec<(u32, f32)>>, Vec<f32>) {
    let (mut homes, mut rarity) = (vec![Vec::new(); numbers.len()], vec![0.0; numbers.len()]);
    for (page, counts) in (0u32..).zip(counts) {
        for (number, weight, count) in counts.iter().filter_map(|(f, c)| numbers.get(f).map(|(n, w)| (*n, *w, *c))) {
            rarity[number as usize] = weight;
            homes[number as usize].push((page, count as f32));
        }
    }
    homes.iter_mut().filter(|h| h.len() > HOMES).for_each(Vec::clear);
    (homes, rarity)
}

/// The `k` best by value, best first, ties by number.
#[must_use]
pub fn best(mut scored: Vec<(PageId, f32)>, k: usize) -> Vec<(PageId, f32)> {
    let order = |a: &(PageId, f32), b: &(PageId, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if scored.len() > k && k > 0 {
        scored.select_nth_unstable_by(k - 1, order);
    }
    scored.truncate(k);
    scored.sort_by(order);
    scored
}

fn feature_counts(page: &crate::corpus::PageText) -> HashMap<u64, u32> {
    let mut counts = HashMap::new();
    let title = page.title.as_slice();
    for words in page.blocks.iter().map(|b| b.words.as_slice()).chain([title]) {
        for (i, word) in words.iter().enumerate().filter(|(_, w)| !w.function) {
            *counts.entry(u64::from(word.term)).or_default() += 1;
            if let Some(next) = words.get(i + 1).filter(|w| !w.function) {
                *counts.entry((u64::from(word.term) + 1) << 32 | u64::from(next.term)).or_default() += 1;
            }
        }
    }
    counts
}

/// Numbers features that stand on at least two pages and not on too many, with their rarity.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "weights are f32 by design")]
fn number_features(frequency: &HashMap<u64, u32>, pages: usize) -> HashMap<u64, (u32, f32)> {
    let most = ((pages as f64 * MAX_SHARE) as u32).max(3);
    let mut kept: Vec<(u64, u32)> = frequency.iter().filter(|(_, f)| (2..=most).contains(*f)).map(|(k, f)| (*k, *f)).collect();
    kept.sort_unstable();
    let rarity = |f: u32| ((pages as f64 + 1.0) / (f64::from(f) + 1.0)).ln() as f32 + 1.0;
    (0u32..).zip(kept).map(|(number, (feature, f))| (feature, (number, rarity(f)))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of a page are small")]
fn unit_row(counts: &HashMap<u64, u32>, numbers: &HashMap<u64, (u32, f32)>) -> Vec<(u32, f32)> {
    let weigh = |(feature, count): (&u64, &u32)| {
        let (number, rarity) = numbers.get(feature)?;
        Some((*number, (1.0 + (*count as f32).ln()) * rarity))
    };
    let mut row: Vec<(u32, f32)> = counts.iter().filter_map(weigh).collect();
    row.sort_unstable_by_key(|(number, _)| *number);
    let length = row.iter().map(|(_, w)| w * w).sum::<f32>().sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|(_, w)| *w /= length);
    }
    row
}
