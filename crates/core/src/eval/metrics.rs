//! Ranks of hidden links to figures, with the interval that the choice of pages leaves open.
//!
//! What is measured is a page's list: every figure is a mean over pages, so one page with a hundred
//! links counts as much as one with one. Recall at k is the share of a page's hidden targets among its
//! first k proposals. Cold, warm and hot are recall at 5 of the targets with no, one or two, and three or
//! more body links left from other pages. MRR is the mean of 1 / rank of a page's first hidden target.

use super::chance::Chance;
use super::{Estimate, Figures};
use crate::site_index::PageId;
use std::collections::BTreeMap;

/// Resamples of the pages behind an interval.
const RESAMPLES: usize = 1_000;
/// Share of the resamples outside an interval, on each side.
const TAIL: f64 = 0.025;
/// Figures of one list: R@1, 3, 5, 10, MRR, cold, warm, hot.
const COUNT: usize = 8;
/// Place of R@5 among them.
const RECALL_5: usize = 2;

/// A hidden link and where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Place among the source's proposals, from 1; `None` when it is not among them.
    pub rank: Option<usize>,
    /// Body links to the target that are left.
    pub inlinks_left: usize,
}

/// The hidden links of one source in one fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The source.
    pub source: PageId,
    /// At least one.
    pub wanted: Vec<Wanted>,
}

/// Sums of a page over its folds, and how many folds had the figure.
type Sums = [(f64, f64); COUNT];

/// The figures of a ranking.
#[must_use]
pub fn figures(measured: &[Measured], seed: u64) -> Figures {
    let sums = by_source(measured);
    let values = means(sums.iter());
    let resampled = resample(&sums, seed);
    let estimate = |place: usize| {
        let value = values[place]?;
        Some(interval(value, resampled.iter().filter_map(|r| r[place]).collect()))
    };
    let certain = |place: usize| estimate(place).unwrap_or_default();
    Figures {
        recall_1: certain(0),
        recall_3: certain(1),
        recall_5: certain(RECALL_5),
        recall_10: certain(3),
        mrr: certain(4),
        cold: estimate(5),
        warm: estimate(6),
        hot: estimate(7),
    }
}

/// How much more of the hidden links the first ranking has among its first five than the second: both are
/// measured on the same pages, so chance that helps one helps the other.
#[must_use]
pub fn difference(first: &[Measured], second: &[Measured], seed: u64) -> Estimate {
    let (first, second) = (by_source(first), by_source(second));
    let of = |sums: &[Sums]| means(sums.iter())[RECALL_5].unwrap_or_default();
    let pairs = resample(&first, seed).into_iter().zip(resample(&second, seed));
    let differences = pairs.filter_map(|(a, b)| Some(a[RECALL_5]? - b[RECALL_5]?)).collect();
    interval(of(&first) - of(&second), differences)
}

fn by_source(measured: &[Measured]) -> Vec<Sums> {
    let mut table: BTreeMap<PageId, Sums> = BTreeMap::new();
    for list in measured {
        let sums = table.entry(list.source).or_default();
        for (sum, value) in sums.iter_mut().zip(values(list)) {
            if let Some(value) = value {
                *sum = (sum.0 + value, sum.1 + 1.0);
            }
        }
    }
    table.into_values().collect()
}

fn values(list: &Measured) -> [Option<f64>; COUNT] {
    let recall = |k: usize, counts: fn(usize) -> bool| {
        let kept: Vec<&Wanted> = list.wanted.iter().filter(|w| counts(w.inlinks_left)).collect();
        let found = kept.iter().filter(|w| w.rank.is_some_and(|r| r <= k)).count();
        (!kept.is_empty()).then(|| ratio(found, kept.len()))
    };
    let all = |_| true;
    let first = list.wanted.iter().filter_map(|w| w.rank).min();
    let reciprocal = (!list.wanted.is_empty()).then(|| first.map_or(0.0, |rank| ratio(1, rank)));
    [
        recall(1, all),
        recall(3, all),
        recall(5, all),
        recall(10, all),
        reciprocal,
        recall(5, |left| left == 0),
        recall(5, |left| left == 1 || left == 2),
        recall(5, |left| left >= 3),
    ]
}

/// `part / whole`; 0 when there is no whole.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn means<'a>(sums: impl Iterator<Item = &'a Sums>) -> [Option<f64>; COUNT] {
    let mut whole: Sums = Default::default();
    for sums in sums {
        for (sum, (value, count)) in whole.iter_mut().zip(sums) {
            *sum = (sum.0 + value, sum.1 + count);
        }
    }
    whole.map(|(sum, count)| (count > 0.0).then(|| sum / count))
}

/// Means over pages drawn with replacement, the same draws for the same seed and number of pages.
fn resample(sums: &[Sums], seed: u64) -> Vec<[Option<f64>; COUNT]> {
    let mut chance = Chance::new(seed, &["resample"]);
    let mut once = || means((0..sums.len()).map(|_| &sums[chance.below(sums.len())]));
    (0..RESAMPLES).map(|_| once()).collect()
}

fn interval(value: f64, mut resampled: Vec<f64>) -> Estimate {
    resampled.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
    let at = |share: f64| resampled.get((share * (resampled.len().max(1) - 1) as f64).round() as usize).copied().unwrap_or(value);
    Estimate { value, low: at(TAIL), high: at(1.0 - TAIL) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(source: u32, ranks: &[(Option<usize>, usize)]) -> Measured {
        let wanted = ranks.iter().map(|&(rank, inlinks_left)| Wanted { rank, inlinks_left }).collect();
        Measured { source: PageId(source), wanted }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn recall_is_a_mean_over_pages_not_links() {
        let found = figures(&[list(1, &[(Some(1), 5)]), list(2, &[(Some(2), 0), (Some(9), 1), (None, 2), (Some(4), 3)])], 1);
        assert!(near(found.recall_1.value, 0.5));
        assert!(near(found.recall_3.value, (1.0 + 0.25) / 2.0));
        assert!(near(found.recall_5.value, (1.0 + 0.5) / 2.0));
        assert!(near(found.recall_10.value, (1.0 + 0.75) / 2.0));
        assert!(near(found.mrr.value, (1.0 + 0.5) / 2.0));
    }

    #[test]
    fn cold_warm_and_hot_are_recall_at_five_by_inlinks_left() {
        let found = figures(&[list(1, &[(Some(6), 0), (Some(5), 1), (None, 2), (Some(1), 3)]), list(2, &[(Some(1), 0)])], 1);
        assert!(near(found.cold.unwrap().value, 0.5));
        assert!(near(found.warm.unwrap().value, 0.5));
        assert!(near(found.hot.unwrap().value, 1.0));
        assert_eq!(figures(&[list(1, &[(None, 9)])], 1).cold, None);
    }

    #[test]
    fn the_interval_holds_the_value_and_narrows_with_more_pages() {
        let lists = |count: u32| -> Vec<Measured> { (0..count).map(|s| list(s, &[((s % 2 == 0).then_some(1), 1)])).collect() };
        let width = |count| {
            let found = figures(&lists(count), 1).recall_5;
            assert!(found.low <= found.value && found.value <= found.high);
            found.high - found.low
        };
        assert!(width(40) > 2.0 * width(1_000));
        // Half of n pages: the standard error is 0.5 / sqrt(n), the interval four of them wide.
        assert!((width(400) - 4.0 * 0.5 / 20.0).abs() < 0.03, "{}", width(400));
    }

    #[test]
    fn folds_of_one_page_are_no_new_pages() {
        let ten = |distinct: bool| -> Vec<Measured> {
            (0..60).map(|i| list(if distinct { i } else { i % 6 }, &[((i % 6 < 3).then_some(1), 1)])).collect()
        };
        let width = |lists: &[Measured]| figures(lists, 1).recall_5.high - figures(lists, 1).recall_5.low;
        assert!(width(&ten(false)) > 1.8 * width(&ten(true)));
    }

    #[test]
    fn a_difference_that_every_page_shows_is_certain() {
        let found: Vec<Measured> = (0..50).map(|s| list(s, &[(Some(1), 1), (Some(7), 1)])).collect();
        let missed: Vec<Measured> = (0..50).map(|s| list(s, &[(None, 1), (None, 1)])).collect();
        let difference = difference(&found, &missed, 1);
        assert!(near(difference.low, 0.5) && near(difference.value, 0.5) && near(difference.high, 0.5));
    }

    #[test]
    fn no_pages_give_no_figures_and_no_panic() {
        assert!(near(figures(&[], 1).recall_5.value, 0.0));
        assert!(near(difference(&[], &[], 1).value, 0.0));
    }
}
