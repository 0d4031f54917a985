//! The words under which each page is spoken of: its title and parts of it, its section headings,
//! and the anchors that the site already uses for it, each found again wherever it stands in
//! another page.
//!
//! Known anchors carry their sources, so that every figure can be computed as if the links of the
//! page that is asked about did not exist.

use crate::corpus::{Corpus, NO_LINK, PageText, is_prose};
use crate::page::{BlockKind, LinkKind, Page};
use crate::site_index::{PageId, SiteIndex};
use crate::text::{Term, Word, is_generic};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// Longest phrase looked for, in words.
const MAX_WORDS: usize = 10;
/// A phrase that stands for more targets than this names none of them.
const MAX_TARGETS: usize = 60;

/// A phrase that covers this share of a title is the whole of it.
const WHOLE: f32 = 0.999;

/// Number of a phrase.
pub type PhraseId = u32;

/// Number made of the very letters of a phrase: `SELECT` and `select` are one phrase in two forms.
pub type Form = u32;

/// What ties a phrase to a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tie {
    /// Share of the title's weight that the phrase covers: 1 for the whole title, 0 when it is no part of it.
    pub title_share: f32,
    /// Share of a section heading's weight that the phrase covers.
    pub heading_share: f32,
    /// Pages whose body links use the phrase for the target, sorted.
    pub linked_by: Vec<PageId>,
    /// The same by the letters that stand there, sorted by page.
    forms: Vec<(PageId, Form)>,
}

/// One place of a page where a phrase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The phrase.
    pub phrase: PhraseId,
    /// Index into `PageText::blocks`.
    pub block: u32,
    /// First word in the block.
    pub word: u32,
    /// Number of words.
    pub words: u32,
    /// Page the words already link to, or `NO_LINK`.
    pub links_to: u32,
    /// The letters.
    pub form: Form,
}

/// All phrases of a site, their targets and their places.
#[derive(Debug, Default)]
pub struct Phrases {
    numbers: HashMap<Box<[Term]>, PhraseId>,
    /// Per phrase, the targets it stands for.
    pub ties: Vec<BTreeMap<PageId, Tie>>,
    /// Per phrase, the sum of the rarity of its content words.
    pub weight: Vec<f32>,
    /// Per phrase, how many pages hold it in running text.
    pub pages_with: Vec<u32>,
    /// Per phrase, whether it stands for too many targets to name any by itself.
    common: Vec<bool>,
    /// Per phrase and form, how many pages hold it in running text.
    pages_with_form: HashMap<(PhraseId, Form), u32>,
    /// Per page, where phrases stand in it, in reading order, longest first at one place.
    pub occurrences: Vec<Vec<Occurrence>>,
}

impl Phrases {
    /// Collects the phrases of all `targets` and finds them in all pages. `counts_as_link` says whether
    /// the body links of a page are taken for anchors (archives and menus pages are not).
    pub fn new(site: &SiteIndex, corpus: &Corpus, targets: impl Fn(PageId) -> bool, counts_as_link: impl Fn(PageId) -> bool) -> Self {
        let mut phrases = Self::default();
        for target in site.ids().filter(|id| targets(*id)) {
            phrases.add_titles(corpus, target);
        }
        for source in site.ids().filter(|id| counts_as_link(*id)) {
            phrases.add_anchors(site, corpus, source, &targets);
        }
        phrases.drop_common();
        phrases.find_all(site, corpus);
        phrases
    }

    /// Share of the pages holding the phrase on which it is a link to the target, computed without the page
    /// `except`: how likely these words are meant as that link (Mihalcea and Csomai 2007). Smoothed by one page.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "page counts are small")]
    pub fn link_probability(&self, phrase: PhraseId, target: PageId, except: PageId) -> f32 {
        let linked = self.linked_by(phrase, target, except);
        let pages = self.pages_with[phrase as usize].saturating_sub(1).max(u32::try_from(linked).unwrap_or(0));
        linked as f32 / (pages as f32 + 1.0)
    }

    /// How many pages other than `except` link the target with the phrase.
    #[must_use]
    pub fn linked_by(&self, phrase: PhraseId, target: PageId, except: PageId) -> usize {
        let Some(tie) = self.ties[phrase as usize].get(&target) else { return 0 };
        tie.linked_by.len() - usize::from(tie.linked_by.binary_search(&except).is_ok())
    }

    /// Of the pages other than `except` on which the phrase is a link, the share on which it leads to the target.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "page counts are small")]
    pub fn link_share(&self, phrase: PhraseId, target: PageId, except: PageId) -> f32 {
        let all: usize = self.ties[phrase as usize].keys().map(|t| self.linked_by(phrase, *t, except)).sum();
        self.linked_by(phrase, target, except) as f32 / all.max(1) as f32
    }

    /// As [`Phrases::link_probability`], counting only pages on which the phrase stands in these letters.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "page counts are small")]
    pub fn form_probability(&self, phrase: PhraseId, form: Form, target: PageId, except: PageId) -> f32 {
        let Some(tie) = self.ties[phrase as usize].get(&target) else { return 0.0 };
        let linked = tie.forms.iter().filter(|(page, f)| *f == form && *page != except).count();
        let pages = self.pages_with_form.get(&(phrase, form)).copied().unwrap_or(0) as usize;
        linked as f32 / (pages.saturating_sub(1).max(linked) as f32 + 1.0)
    }

    fn number(&mut self, corpus: &Corpus, words: &[Word]) -> PhraseId {
        let terms: Box<[Term]> = words.iter().map(|w| w.term).collect();
        if let Some(&number) = self.numbers.get(&terms) {
            return number;
        }
        let number = PhraseId::try_from(self.ties.len()).unwrap_or(PhraseId::MAX);
        self.numbers.insert(terms, number);
        self.ties.push(BTreeMap::new());
        self.weight.push(weight_of(corpus, words));
        self.pages_with.push(0);
        self.common.push(false);
        number
    }

    fn add_titles(&mut self, corpus: &Corpus, target: PageId) {
        let page = corpus.page(target);
        self.add_parts(corpus, target, &page.title, |tie, share| tie.title_share = tie.title_share.max(share));
        for block in page.blocks.iter().filter(|b| matches!(b.kind, BlockKind::Heading(_))) {
            let trimmed = trim(&block.words);
            if matches!(block.kind, BlockKind::Heading(1)) {
                self.add_parts(corpus, target, &block.words, |tie, share| tie.title_share = tie.title_share.max(share * 0.95));
            } else if (1..=MAX_WORDS).contains(&trimmed.len()) {
                let number = self.number(corpus, trimmed);
                let tie = self.ties[number as usize].entry(target).or_default();
                tie.heading_share = 1.0;
            }
        }
    }

    /// Adds a title and every stretch of it that begins and ends with a content word.
    fn add_parts(&mut self, corpus: &Corpus, target: PageId, words: &[Word], mark: impl Fn(&mut Tie, f32)) {
        let title = trim(words);
        let whole = weight_of(corpus, title);
        if whole <= 0.0 || title.len() > 40 {
            return;
        }
        for start in 0..title.len() {
            for end in start + 1..=title.len().min(start + MAX_WORDS) {
                let part = &title[start..end];
                if part[0].function || part[part.len() - 1].function {
                    continue;
                }
                let share = weight_of(corpus, part) / whole;
                let number = self.number(corpus, part);
                mark(self.ties[number as usize].entry(target).or_default(), share);
            }
        }
    }

    fn add_anchors(&mut self, site: &SiteIndex, corpus: &Corpus, source: PageId, targets: &impl Fn(PageId) -> bool) {
        let (page, text) = (site.page(source), corpus.page(source));
        for link in page.links.iter().filter(|l| l.kind == LinkKind::Body) {
            let Some(target) = site.find(&link.target).filter(|t| *t != source && targets(*t)) else { continue };
            let Some((index, span)) = link.place else { continue };
            let Ok(at) = text.blocks.binary_search_by_key(&index, |b| b.index) else { continue };
            if is_generic(&link.anchor, &[]) {
                continue;
            }
            let words: Vec<Word> = text.blocks[at].words.iter().filter(|w| span.contains(w.span())).copied().collect();
            let trimmed = trim(&words);
            if trimmed.is_empty() || trimmed.len() > MAX_WORDS {
                continue;
            }
            let number = self.number(corpus, trimmed);
            let tie = self.ties[number as usize].entry(target).or_default();
            if let Err(place) = tie.linked_by.binary_search(&source) {
                tie.linked_by.insert(place, source);
            }
            let form = (source, form(&page.blocks[index].text, trimmed));
            if let Err(place) = tie.forms.binary_search(&form) {
                tie.forms.insert(place, form);
            }
        }
    }

    /// Title parts and headings that many pages share name none of them, unless the site links one of them so;
    /// whole titles and known anchors keep their targets. See [`Phrases::shares`].
    fn drop_common(&mut self) {
        for (ties, common) in self.ties.iter_mut().zip(&mut self.common) {
            *common = ties.len() > MAX_TARGETS;
            if *common {
                ties.retain(|_, tie| !tie.linked_by.is_empty() || tie.title_share >= WHOLE);
            }
        }
    }

    /// Shares of the target's title and of a heading that the phrase covers, as if the links of `except` did not
    /// exist: a common phrase that only that page uses for the target names it no more than its like.
    #[must_use]
    pub fn shares(&self, phrase: PhraseId, target: PageId, except: PageId) -> (f32, f32) {
        let Some(tie) = self.ties[phrase as usize].get(&target) else { return (0.0, 0.0) };
        let counts = !self.common[phrase as usize] || tie.title_share >= WHOLE || self.linked_by(phrase, target, except) > 0;
        if counts { (tie.title_share, tie.heading_share) } else { (0.0, 0.0) }
    }

    fn find_all(&mut self, site: &SiteIndex, corpus: &Corpus) {
        let mut longest = vec![0u8; corpus.lexicon.len()];
        for (terms, number) in &self.numbers {
            if !self.ties[*number as usize].is_empty() {
                let slot = &mut longest[terms[0] as usize];
                *slot = (*slot).max(u8::try_from(terms.len()).unwrap_or(u8::MAX));
            }
        }
        let numbers = &self.numbers;
        self.occurrences = corpus.pages.par_iter().zip(&site.pages).map(|(text, page)| find_in(text, page, numbers, &longest)).collect();
        for occurrences in &self.occurrences {
            let mut seen: Vec<(PhraseId, Form)> = occurrences.iter().map(|o| (o.phrase, o.form)).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|s| *self.pages_with_form.entry(*s).or_default() += 1);
            seen.dedup_by_key(|(phrase, _)| *phrase);
            seen.iter().for_each(|(phrase, _)| self.pages_with[*phrase as usize] += 1);
        }
    }
}

/// The letters of words that stand in a text.
fn form(text: &str, words: &[Word]) -> Form {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return 0 };
    // FNV-1a; two forms of one phrase that fall together only share their counts.
    text[first.span().start..last.span().end].bytes().fold(0x811c_9dc5, |hash, b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

fn find_in(text: &PageText, page: &Page, numbers: &HashMap<Box<[Term]>, PhraseId>, longest: &[u8]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for (block_number, block) in text.blocks.iter().enumerate().filter(|(_, b)| is_prose(b.kind)) {
        for sentence in &block.sentences {
            for start in sentence.words.clone() {
                let most = usize::from(longest[block.terms[start] as usize]).min(sentence.words.end - start);
                for length in (1..=most).rev() {
                    let Some(&phrase) = numbers.get(&block.terms[start..start + length]) else { continue };
                    let links_to = block.links_to[start..start + length].iter().copied().find(|l| *l != NO_LINK).unwrap_or(NO_LINK);
                    let form = form(&page.blocks[block.index].text, &block.words[start..start + length]);
                    let place = (u32::try_from(block_number), u32::try_from(start), u32::try_from(length));
                    if let (Ok(block), Ok(word), Ok(words)) = place {
                        found.push(Occurrence { phrase, block, word, words, links_to, form });
                    }
                }
            }
        }
    }
    found
}

/// Without function words at either end.
#[must_use]
pub fn trim(words: &[Word]) -> &[Word] {
    let Some(start) = words.iter().position(|w| !w.function) else { return &[] };
    let end = words.iter().rposition(|w| !w.function).map_or(start, |e| e + 1);
    &words[start..end]
}

/// Sum of the rarity of the content words.
#[must_use]
pub fn weight_of(corpus: &Corpus, words: &[Word]) -> f32 {
    words.iter().filter(|w| !w.function).map(|w| corpus.rarity(w.term)).sum()
}
