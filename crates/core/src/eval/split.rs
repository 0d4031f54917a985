//! Links of a site to the sets that are hidden, one set a fold.

use super::chance::Chance;
use crate::site_index::{PageId, SiteIndex};
use std::collections::BTreeSet;

/// Distinct pairs of source and target.
pub type Pairs = BTreeSet<(PageId, PageId)>;

/// Deals the pairs into `folds` sets, each with `share` of the pairs of every source, as nearly as whole links
/// allow. A pair is hidden in one fold only unless the shares add up to more than the whole.
///
/// The links of a source stand in a random order on a circle of circumference 1 that is turned by a random
/// angle, and each fold hides an arc of length `share`: so a page with one link gives it to a fold with just the
/// probability `share`, and a page with ten gives three or so. Only the seed and the addresses decide.
#[must_use]
pub fn split(site: &SiteIndex, pairs: &Pairs, share: f64, folds: usize, seed: u64) -> Vec<Pairs> {
    let mut sets = vec![Pairs::new(); folds];
    let all: Vec<(PageId, PageId)> = pairs.iter().copied().collect();
    for of_source in all.chunk_by(|a, b| a.0 == b.0) {
        let mut chance = Chance::new(seed, &["split", site.page(of_source[0].0).url.as_str()]);
        let mut order = of_source.to_vec();
        chance.shuffle(&mut order);
        let turned = chance.unit();
        for (place, pair) in order.into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "links of a page are few")]
            let angle = (place as f64 + turned) / of_source.len() as f64;
            for (fold, set) in sets.iter_mut().enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "folds are few")]
                let start = fold as f64 * share;
                if (angle - start).rem_euclid(1.0) < share {
                    set.insert(pair);
                }
            }
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::sample;

    fn pairs(sources: u32, links: u32) -> Pairs {
        (0..sources).flat_map(|s| (1..=links).map(move |t| (PageId(s), PageId(s + t)))).collect()
    }

    #[test]
    fn each_fold_hides_its_share_and_no_link_twice() {
        let (site, pairs) = (sample::site(400), pairs(300, 4));
        let folds = split(&site, &pairs, 0.3, 3, 1);
        for fold in &folds {
            assert!((fold.len() as f64 / pairs.len() as f64 - 0.3).abs() < 0.03, "{}", fold.len());
        }
        assert_eq!(folds.iter().flatten().collect::<BTreeSet<_>>().len(), folds.iter().map(BTreeSet::len).sum::<usize>());
    }

    #[test]
    fn a_page_with_one_link_loses_it_as_often_as_the_share_says() {
        let site = sample::site(2_100);
        let folds = split(&site, &pairs(2_000, 1), 0.3, 1, 5);
        assert!((folds[0].len() as f64 / 2_000.0 - 0.3).abs() < 0.03, "{}", folds[0].len());
    }

    #[test]
    fn a_page_with_many_links_never_loses_all() {
        let site = sample::site(60);
        for fold in split(&site, &pairs(40, 10), 0.3, 3, 9) {
            for source in 0..40 {
                let hidden = fold.iter().filter(|p| p.0 == PageId(source)).count();
                assert!((2..=4).contains(&hidden), "{hidden}");
            }
        }
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let (site, pairs) = (sample::site(100), pairs(60, 3));
        assert_eq!(split(&site, &pairs, 0.3, 2, 1), split(&site, &pairs, 0.3, 2, 1));
        assert_ne!(split(&site, &pairs, 0.3, 2, 1), split(&site, &pairs, 0.3, 2, 2));
    }
}
