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

/// FNV-1a over the terms.
fn hash(terms: &[u32]) -> u64 {
    terms.iter().flat_map(|t| t.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
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
