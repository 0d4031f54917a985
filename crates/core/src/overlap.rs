//! Pages to pairs that are too alike to link: near duplicates by shared word shingles, and pages that
//! compete for the same subject by vector and title.

use crate::corpus::{Corpus, PageText};
use crate::plan::OverlapKind;
use crate::settings::RelevanceSettings;
use crate::site_index::PageId;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};

/// Words of a shingle (Broder 1997).
const SHINGLE: usize = 5;
/// Shingles on more pages than this are boilerplate that extraction left in.
const COMMON: usize = 40;

/// A pair that is too alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Alike {
    /// Page with the smaller number.
    pub first: PageId,
    /// The other.
    pub second: PageId,
    /// Share of shingles in common (Jaccard).
    pub shared_text: f64,
    /// Cosine of the page vectors.
    pub similarity: f64,
    /// What they are to each other.
    pub kind: OverlapKind,
}

/// Finds all pairs among `pages`, by page numbers. `cosine` gives the similarity of two pages' vectors;
/// `close` lists pairs worth comparing by vector.
pub fn find(
    corpus: &Corpus,
    pages: &[PageId],
    close: &[(PageId, PageId)],
    settings: &RelevanceSettings,
    cosine: impl Fn(PageId, PageId) -> f32,
) -> Vec<Alike> {
    let shingles: Vec<Vec<u64>> = pages.par_iter().map(|p| shingles(corpus.page(*p))).collect();
    let place: HashMap<PageId, usize> = pages.iter().enumerate().map(|(i, p)| (*p, i)).collect();
    let mut pairs: BTreeSet<(PageId, PageId)> = sharing(pages, &shingles);
    pairs.extend(close.iter().filter(|(a, b)| place.contains_key(a) && place.contains_key(b)).map(|(a, b)| (*a.min(b), *a.max(b))));
    let mut alike: Vec<Alike> = pairs
        .into_iter()
        .filter_map(|(first, second)| {
            let shared_text = jaccard(&shingles[place[&first]], &shingles[place[&second]]);
            let similarity = f64::from(cosine(first, second));
            let kind = kind(corpus, first, second, shared_text, similarity, settings)?;
            Some(Alike { first, second, shared_text, similarity, kind })
        })
        .collect();
    alike.sort_by(|a, b| {
        let strength = |x: &Alike| x.shared_text.max(x.similarity);
        strength(b).total_cmp(&strength(a)).then((a.first, a.second).cmp(&(b.first, b.second)))
    });
    alike
}

fn kind(
    corpus: &Corpus,
    first: PageId,
    second: PageId,
    shared_text: f64,
    similarity: f64,
    settings: &RelevanceSettings,
) -> Option<OverlapKind> {
    if shared_text >= settings.near_duplicate {
        return Some(OverlapKind::NearDuplicate);
    }
    (similarity >= settings.cannibalization && same_subject(corpus, first, second)).then_some(OverlapKind::Cannibalization)
}

/// Titles that share at least half of their content words, numbers not looked at: parts of a series and
/// yearly reports are told apart by their numbers and do not compete.
fn same_subject(corpus: &Corpus, first: PageId, second: PageId) -> bool {
    let words = |p: PageId| -> (BTreeSet<u32>, BTreeSet<String>) {
        let page = corpus.page(p);
        let is_number = |w: &&crate::text::Word| page.title_text[w.span().range()].chars().any(char::is_numeric);
        let terms = page.title.iter().filter(|w| !w.function && !is_number(w)).map(|w| w.term).collect();
        let numbers = page.title.iter().filter(is_number).map(|w| page.title_text[w.span().range()].to_owned()).collect();
        (terms, numbers)
    };
    let ((a, a_numbers), (b, b_numbers)) = (words(first), words(second));
    let shared = a.intersection(&b).count();
    a_numbers == b_numbers && shared > 0 && 2 * shared >= a.len().max(b.len())
}

fn shingles(page: &PageText) -> Vec<u64> {
    let terms: Vec<u32> = page.blocks.iter().flat_map(|b| b.terms.iter().copied()).collect();
    let mut all: Vec<u64> = terms.windows(SHINGLE).map(hash).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Minimum hashes of a fingerprint (MinHash, Broder 1997): the estimate of a resemblance errs by about 0.06.
const HASHES: u64 = 64;
/// Resemblance below which a page counts as another one than it was.
const SAME_PAGE: f64 = 0.8;

/// A fingerprint of a page's main text, by which [`changed_materially`] tells a rewritten page from one with a
/// corrected word. Equal texts have equal fingerprints on every machine.
#[must_use]
pub fn fingerprint(text: &str) -> String {
    let words: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    let of = |shingle: &[String]| fnv(shingle.iter().flat_map(|word| word.bytes().chain([0])));
    let shingles: Vec<u64> = if words.len() < SHINGLE { vec![of(&words)] } else { words.windows(SHINGLE).map(of).collect() };
    let least = |seed: u64| shingles.iter().map(|s| mixed(s ^ seed)).min().unwrap_or_default();
    (0..HASHES).map(|number| format!("{:04x}", least(mixed(number + 1)) & 0xffff)).collect()
}

/// Whether two fingerprints are of texts that differ in more than a fifth of their passages.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a fingerprint has 64 hashes")]
pub fn changed_materially(before: &str, after: &str) -> bool {
    let hashes = |print: &str| print.as_bytes().chunks(4).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (before, after) = (hashes(before), hashes(after));
    let same = before.iter().zip(&after).filter(|(a, b)| a == b).count();
    before.len() != after.len() || (same as f64) < SAME_PAGE * before.len() as f64
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// FNV-1a over the terms.
fn hash(terms: &[u32]) -> u64 {
    fnv(terms.iter().flat_map(|t| t.to_le_bytes()))
}

fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Pairs that share a good part of their shingles, found through an index of every eighth hash.
fn sharing(pages: &[PageId], shingles: &[Vec<u64>]) -> BTreeSet<(PageId, PageId)> {
    const SAMPLE: u64 = 8;
    let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
    for (i, set) in shingles.iter().enumerate() {
        let sampled = set.iter().filter(|h| set.len() < 64 || *h % SAMPLE == 0);
        sampled.for_each(|h| index.entry(*h).or_default().push(i));
    }
    let mut counts: HashMap<(usize, usize), usize> = HashMap::new();
    for holders in index.values().filter(|h| (2..=COMMON).contains(&h.len())) {
        for (n, a) in holders.iter().enumerate() {
            holders[n + 1..].iter().for_each(|b| *counts.entry((*a, *b)).or_default() += 1);
        }
    }
    counts.into_iter().filter(|(_, n)| *n >= 3).map(|((a, b), _)| (pages[a], pages[b])).collect()
}

#[expect(clippy::cast_precision_loss, reason = "shingle counts are far below 2^52")]
fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let shared = a.iter().filter(|h| b.binary_search(h).is_ok()).count();
    let union = a.len() + b.len() - shared;
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_word_is_no_material_change_and_a_new_half_is() {
        let words = |from: usize, to: usize| (from..to).map(|n| format!("word{n} and")).collect::<Vec<_>>().join(" ");
        let page = words(0, 200);
        let print = fingerprint(&page);
        assert!(!changed_materially(&print, &fingerprint(&page)));
        assert!(!changed_materially(&print, &fingerprint(&page.replace("word90 ", "Wort90 "))));
        assert!(!changed_materially(&print, &fingerprint(&format!("{page} {}", words(300, 310)))));
        assert!(changed_materially(&print, &fingerprint(&format!("{} {}", words(0, 100), words(300, 400)))));
        assert!(changed_materially(&print, &fingerprint("")));
        assert!(changed_materially(&fingerprint("two words"), &fingerprint("two others")));
        assert!(!changed_materially(&fingerprint("Two words."), &fingerprint("two words")));
    }
}
