//! Pages to comparable words: what every signal that reads text starts from.
//!
//! Only main blocks count. Each word keeps its place, and whether it already stands in a link and
//! to which page, so that words that lead somewhere else are no evidence for a new link.

use crate::page::{BlockKind, Page};
use crate::passage;
use crate::site_index::{PageId, SiteIndex};
use crate::span::Span;
use crate::text::{Lexicon, Term, Word};
use std::ops::Range;

/// No page: the word stands in no internal link.
pub const NO_LINK: u32 = u32::MAX;

/// One sentence of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Range in the block's text.
    pub span: Span,
    /// Range of `TextBlock::words`.
    pub words: Range<usize>,
}

/// A main block in words.
#[derive(Clone, Debug)]
pub struct TextBlock {
    /// Index into `Page::blocks`.
    pub index: usize,
    /// What the block is.
    pub kind: BlockKind,
    /// Words in order.
    pub words: Vec<Word>,
    /// Their terms, for slices to be compared.
    pub terms: Vec<Term>,
    /// For each word, the number of the page it already links to, `NO_LINK` where it stands in no link,
    /// or the page itself where it links out of the site.
    pub links_to: Vec<u32>,
    /// Sentences in order.
    pub sentences: Vec<Sentence>,
}

/// A page in words.
#[derive(Clone, Debug, Default)]
pub struct PageText {
    /// Main blocks that hold words, in order.
    pub blocks: Vec<TextBlock>,
    /// Words of the title without the brand tail.
    pub title: Vec<Word>,
    /// That title folded to a string whose word ranges `title` holds.
    pub title_text: String,
    /// Content words of all blocks.
    pub length: usize,
    /// Word of the main text at which each block begins, for distances between places.
    pub block_offsets: Vec<usize>,
    /// Number of each block's first passage; see [`PageText::passages`].
    first_passages: Vec<usize>,
}

impl PageText {
    /// Texts of all sentences outside headings and code, in order, with their block (index into
    /// `blocks`) and sentence number: the passages that are embedded.
    pub fn passages(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.blocks.iter().enumerate().filter(|(_, b)| is_prose(b.kind)).flat_map(|(i, b)| (0..b.sentences.len()).map(move |s| (i, s)))
    }
}

impl PageText {
    /// Number of a passage in [`PageText::passages`], for a sentence of a prose block.
    #[must_use]
    pub fn passage_number(&self, block: usize, sentence: usize) -> usize {
        self.first_passages[block] + sentence
    }
}

/// Whether a block of this kind holds running text that could carry a link.
#[must_use]
pub fn is_prose(kind: BlockKind) -> bool {
    !matches!(kind, BlockKind::Heading(_) | BlockKind::Code | BlockKind::TableHeader | BlockKind::Caption)
}

/// All pages in words.
pub struct Corpus {
    /// One entry a page, in the order of the site index.
    pub pages: Vec<PageText>,
    /// How many pages hold each term.
    pub document_frequency: Vec<u32>,
    /// Stems.
    pub lexicon: Lexicon,
}

impl Corpus {
    /// Reads all pages.
    #[must_use]
    pub fn new(site: &SiteIndex) -> Self {
        let mut lexicon = Lexicon::default();
        let pages: Vec<PageText> = site.ids().map(|id| page_text(site, id, &mut lexicon)).collect();
        let mut document_frequency = vec![0; lexicon.len()];
        let mut last_seen = vec![u32::MAX; lexicon.len()];
        for (number, page) in (0u32..).zip(&pages) {
            for term in page.blocks.iter().flat_map(|b| &b.terms).chain(page.title.iter().map(|w| &w.term)) {
                if last_seen[*term as usize] != number {
                    last_seen[*term as usize] = number;
                    document_frequency[*term as usize] += 1;
                }
            }
        }
        Self { pages, document_frequency, lexicon }
    }

    /// The page in words.
    #[must_use]
    pub fn page(&self, id: PageId) -> &PageText {
        &self.pages[id.index()]
    }

    /// Rarity of a term: `ln(1 + (N - df + 0.5) / (df + 0.5))` (BM25's), at least 0.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "page counts are far below 2^24 where it matters")]
    pub fn rarity(&self, term: Term) -> f32 {
        let count = self.pages.len() as f32;
        let frequency = self.document_frequency.get(term as usize).copied().unwrap_or(0) as f32;
        (1.0 + (count - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
    }
}

fn page_text(site: &SiteIndex, id: PageId, lexicon: &mut Lexicon) -> PageText {
    let page = site.page(id);
    let mut blocks = Vec::new();
    for (index, block) in page.blocks.iter().enumerate().filter(|(_, b)| b.main) {
        let words = lexicon.words(&block.text, &page.language);
        if words.is_empty() {
            continue;
        }
        let spans = if is_prose(block.kind) { passage::split(&block.text, &page.language) } else { vec![Span::new(0, block.text.len())] };
        let sentences = spans.into_iter().map(|span| Sentence { span, words: words_within(&words, span) }).collect();
        let terms = words.iter().map(|w| w.term).collect();
        let links_to = vec![NO_LINK; words.len()];
        blocks.push(TextBlock { index, kind: block.kind, words, terms, links_to, sentences });
    }
    mark_links(site, page, id, &mut blocks);
    let title_text = page.short_title.clone();
    let title = lexicon.words(&title_text, &page.language);
    let length = blocks.iter().flat_map(|b| &b.words).filter(|w| !w.function).count();
    let block_offsets = running_sum(blocks.iter().map(|b| b.words.len()));
    let first_passages = running_sum(blocks.iter().map(|b| if is_prose(b.kind) { b.sentences.len() } else { 0 }));
    PageText { blocks, title, title_text, length, block_offsets, first_passages }
}

/// For each length, the sum of those before it.
fn running_sum(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sum = 0;
    let before = |length| {
        sum += length;
        sum - length
    };
    lengths.map(before).collect()
}

fn words_within(words: &[Word], span: Span) -> Range<usize> {
    let start = words.partition_point(|w| (w.start as usize) < span.start);
    let end = words.partition_point(|w| (w.end as usize) <= span.end);
    start..end.max(start)
}

fn mark_links(site: &SiteIndex, page: &Page, id: PageId, blocks: &mut [TextBlock]) {
    for link in &page.links {
        let Some((index, span)) = link.place else { continue };
        let Ok(at) = blocks.binary_search_by_key(&index, |b| b.index) else { continue };
        let target = site.find(&link.target).unwrap_or(id);
        let block = &mut blocks[at];
        for word in words_within(&block.words, span) {
            block.links_to[word] = target.0;
        }
    }
}
