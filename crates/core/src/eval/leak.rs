//! Signals of pairs to whether one of them sees what it must not.
//!
//! Which links are hidden is decided by chance. A signal that is computed as if the pair's own link did not exist
//! can therefore not tell the hidden links of a page from those it kept: of a kept and a hidden link of one page,
//! the kept one has the larger value in half of the cases. A signal that sees links that exist gives itself away: it
//! is larger for kept ones. (The other way round proves nothing: a kept link is judged beside one link fewer of its
//! page than a hidden one, itself, so signals that count the page's other links are a little larger for hidden ones.)
//!
//! A signal that sees hidden links looks the same on both, so there is a second set: decoys, pairs of pages that
//! belong together no more than others, planted as links and hidden with the rest. No honest signal can tell
//! them from the pairs beside them.

use super::{LeakCheck, Suspicion};
use crate::signals::NAMES;
use crate::signals::Values;

/// A signal is suspected when it is right this much more often than chance …
const LEAST_DISTANCE: f64 = 0.05;
/// … and this many standard errors away from it. With some fifty signals and two comparisons, chance alone does that
/// in one evaluation out of many thousands.
const LEAST_ERRORS: f64 = 5.0;
/// Least standard deviation of one page's answer, that of a uniform one, so that few pages that agree prove little.
const LEAST_DEVIATION: f64 = 0.289;

/// Collects how often each signal is larger for pairs of one kind than for pairs of another, page by page.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Per signal, sum and sum of squares of the pages' answers.
    sums: Vec<(f64, f64)>,
    pages: usize,
}

impl Comparison {
    /// Adds one page: the values of its pairs of the first and of the second kind. Pages without both say nothing.
    pub fn add(&mut self, first: &[&Values], second: &[&Values]) {
        if first.is_empty() || second.is_empty() {
            return;
        }
        self.sums.resize(NAMES.len(), (0.0, 0.0));
        self.pages += 1;
        for (signal, sums) in self.sums.iter_mut().enumerate() {
            let larger = larger(first.iter().map(|v| v[signal]), &second.iter().map(|v| v[signal]).collect::<Vec<_>>());
            *sums = (sums.0 + larger, sums.1 + larger * larger);
        }
    }

    /// All signals, the most suspicious first: those farthest above chance, or with `either` farthest from it.
    fn suspicions(&self, either: bool) -> Vec<Suspicion> {
        let named = self.sums.iter().zip(NAMES);
        let mut all: Vec<Suspicion> = named.map(|(sums, (name, meaning))| self.suspicion(*sums, name, meaning)).collect();
        if either {
            all.iter_mut().for_each(|s| s.errors = s.errors.abs());
        }
        all.sort_by(|a, b| b.errors.total_cmp(&a.errors).then(a.signal.cmp(&b.signal)));
        all
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of pages are small")]
    fn suspicion(&self, (sum, squares): (f64, f64), name: &str, meaning: &str) -> Suspicion {
        let pages = self.pages.max(1) as f64;
        let larger = sum / pages;
        let deviation = (squares / pages - larger * larger).max(0.0).sqrt().max(LEAST_DEVIATION);
        let errors = (larger - 0.5) / (deviation / pages.sqrt());
        Suspicion { signal: name.to_owned(), meaning: meaning.to_owned(), larger, errors }
    }
}

/// How often a value of the first list is larger than one of the second; equal ones count half.
fn larger(first: impl Iterator<Item = f32>, second: &[f32]) -> f64 {
    let (mut wins, mut pairs) = (0.0, 0.0);
    for a in first {
        for b in second {
            wins += match a.total_cmp(b) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
            pairs += 1.0;
        }
    }
    if pairs > 0.0 { wins / pairs } else { 0.5 }
}

/// The verdict over both comparisons: kept links beside hidden ones, and decoys beside their like.
#[must_use]
pub fn check(kept: &Comparison, decoys: &Comparison) -> LeakCheck {
    let (kept_all, decoys_all) = (kept.suspicions(false), decoys.suspicions(true));
    let suspected = |s: &&Suspicion| s.errors >= LEAST_ERRORS && (s.larger - 0.5).abs() >= LEAST_DISTANCE;
    LeakCheck {
        pages_kept: kept.pages,
        pages_decoys: decoys.pages,
        worst_kept: kept_all.first().cloned(),
        worst_decoys: decoys_all.first().cloned(),
        see_existing: kept_all.iter().filter(suspected).cloned().collect(),
        see_hidden: decoys_all.iter().filter(suspected).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::chance::Chance;
    use crate::signals::{COUNT, Signal};

    fn noise(chance: &mut Chance) -> Values {
        std::array::from_fn(|_| chance.unit() as f32)
    }

    /// `spoil` changes the values of the first kind.
    fn compared(pages: usize, spoil: impl Fn(&mut Values)) -> Comparison {
        let mut chance = Chance::new(4, &["leak"]);
        let mut comparison = Comparison::default();
        for _ in 0..pages {
            let (mut a, b, c) = (noise(&mut chance), noise(&mut chance), noise(&mut chance));
            spoil(&mut a);
            comparison.add(&[&a], &[&b, &c]);
        }
        comparison
    }

    #[test]
    fn honest_signals_are_not_suspected() {
        for pages in [3, 30, 3_000] {
            let honest = compared(pages, |_| {});
            let check = check(&honest, &honest);
            assert!(check.passed(), "{check:?}");
            assert!(check.worst_kept.is_some());
        }
    }

    #[test]
    fn a_signal_that_sees_links_is_named_in_either_comparison() {
        let seen = compared(40, |v| v[Signal::Votes as usize] = 2.0);
        let lowered = compared(40, |v| v[Signal::Inlinks as usize] = -1.0);
        let honest = compared(40, |_| {});
        let names = |found: &[Suspicion]| found.iter().map(|s| s.signal.clone()).collect::<Vec<_>>();
        assert_eq!(names(&check(&seen, &honest).see_existing), ["Votes"]);
        assert_eq!(names(&check(&honest, &seen).see_hidden), ["Votes"]);
        assert_eq!(names(&check(&honest, &lowered).see_hidden), ["Inlinks"]);
        assert!(check(&lowered, &honest).passed(), "kept links beside one link fewer");
    }

    #[test]
    fn a_small_leak_is_found_on_many_pages() {
        let slight = compared(3_000, |v| v[Signal::CoCitation as usize] += 0.15);
        assert!(!check(&slight, &compared(3_000, |_| {})).passed());
    }

    #[test]
    fn equal_values_say_nothing() {
        let mut flat = Comparison::default();
        (0..100).for_each(|_| flat.add(&[&[1.0; COUNT]], &[&[1.0; COUNT]]));
        assert!(flat.suspicions(true).iter().all(|s| (s.larger - 0.5).abs() < 1e-9));
        assert!(check(&flat, &Comparison::default()).passed());
    }
}
