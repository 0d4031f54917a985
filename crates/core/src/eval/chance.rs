//! A seed to numbers that look random and are the same on every machine.

/// A stream of numbers (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// A stream that only the seed and the words decide.
    #[must_use]
    pub fn new(seed: u64, words: &[&str]) -> Self {
        // FNV-1a; the zero byte keeps `ab, c` and `a, bc` apart.
        let bytes = words.iter().flat_map(|w| w.bytes().chain([0]));
        let hash = bytes.fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
        Self(hash ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 when the limit is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        // The bias is below 2^-40 for any list that fits in memory here.
        usize::try_from(self.number() % u64::try_from(limit.max(1)).unwrap_or(u64::MAX)).unwrap_or(0)
    }

    /// A number from 0 up to but not including 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Brings a list into an order of its own.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            let j = self.below(i + 1);
            list.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_and_the_words_decide() {
        let first = |seed, words: &[&str]| Chance::new(seed, words).number();
        assert_eq!(first(1, &["a"]), first(1, &["a"]));
        assert_ne!(first(1, &["a"]), first(2, &["a"]));
        assert_ne!(first(1, &["ab", "c"]), first(1, &["a", "bc"]));
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut chance = Chance::new(7, &[]);
        let mut counts = [0; 10];
        (0..10_000).for_each(|_| counts[chance.below(10)] += 1);
        assert!(counts.iter().all(|c| (900..1_100).contains(c)), "{counts:?}");
        let mean = (0..10_000).map(|_| chance.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut list: Vec<u32> = (0..50).collect();
        Chance::new(3, &["x"]).shuffle(&mut list);
        assert_ne!(list, (0..50).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
