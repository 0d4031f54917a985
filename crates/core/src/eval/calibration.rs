//! Scores and answers to how far a probability can be trusted.

use super::metrics::ratio;
use super::{Bin, Calibration};

/// Bins of a reliability table.
const BINS: usize = 10;

/// Reliability in bins of equal count, and the expected calibration error: the mean distance between the mean score
/// of a bin and the share of links in it, each bin weighted by its count (Naeini, Cooper and Hauskrecht 2015).
#[must_use]
pub fn calibration(mut scored: Vec<(f64, bool)>) -> Calibration {
    scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let count = scored.len();
    let edge = |bin: usize| bin * count / BINS;
    let bins: Vec<Bin> = (0..BINS).map(|b| bin(&scored[edge(b)..edge(b + 1)])).filter(|b| b.pairs > 0).collect();
    let error = bins.iter().map(|b| ratio(b.pairs, count) * (b.score - b.links).abs()).sum();
    Calibration { error, pairs: count, bins }
}

fn bin(scored: &[(f64, bool)]) -> Bin {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let mean = scored.iter().map(|s| s.0).sum::<f64>() / scored.len().max(1) as f64;
    Bin { pairs: scored.len(), score: mean, links: ratio(scored.iter().filter(|s| s.1).count(), scored.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::chance::Chance;

    fn drawn(claim: impl Fn(f64) -> f64) -> Vec<(f64, bool)> {
        let mut chance = Chance::new(1, &["calibration"]);
        let mut one = || {
            let truth = chance.unit();
            (claim(truth), chance.unit() < truth)
        };
        (0..20_000).map(|_| one()).collect()
    }

    #[test]
    fn a_true_probability_has_no_error() {
        let found = calibration(drawn(|p| p));
        assert!(found.error < 0.015, "{}", found.error);
        assert_eq!(found.bins.len(), 10);
        assert!(found.bins.iter().all(|b| b.pairs == 2_000));
    }

    #[test]
    fn boasting_is_an_error_of_its_size() {
        let found = calibration(drawn(|p| p / 2.0 + 0.5));
        assert!((found.error - 0.25).abs() < 0.02, "{}", found.error);
    }

    #[test]
    fn few_pairs_are_survived() {
        assert_eq!(calibration(Vec::new()).bins, Vec::new());
        let found = calibration(vec![(0.25, true), (0.75, false)]);
        assert_eq!((found.pairs, found.bins.len()), (2, 2));
        assert!((found.error - 0.75).abs() < 1e-9);
    }
}
