//! A pair of pages to the words that could carry the link: every place of the source where something
//! stands that names the target, checked against the place rules, best first.
//!
//! Words name a target when the site already links it with them, when they are its title or a weighty
//! part of it, when they are one of its section headings, or, last, when a phrase of a passage that
//! is close to the target is made of the target's own characteristic words. What is proposed is the
//! page's own text; where a phrase occurs more than once, the passage decides which one.

use crate::corpus::{NO_LINK, PageText, TextBlock, is_prose};
use crate::guardrail::{Counts, Guardrail};
use crate::page::{Block, BlockKind, Inert, Page};
use crate::phrases::{Occurrence, Tie};
use crate::settings::{AnchorSettings, PlacementBlock, Settings};
use crate::signals::Evidence;
use crate::site_index::PageId;
use crate::span::Span;
use crate::text::{fold, is_generic, is_unspaced};
use std::collections::HashMap;

/// Anchors kept for a pair, best first.
const KEPT: usize = 6;
/// Words made of less than this share of the target's title, and used nowhere for it, do not name it.
const LEAST_TITLE_SHARE: f32 = 0.34;
/// A known anchor that leads to the target on less than this share of its pages is a common word.
const LEAST_PROBABILITY: f32 = 0.08;
/// A phrase of the target's characteristic words must hold at least this share of the target's weight in them.
const LEAST_TOPIC: f32 = 0.3;

/// A place that could carry the link.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// Index into `Page::blocks`.
    pub block: usize,
    /// The words, as a range of the block's text.
    pub span: Span,
    /// The words in the decoded source.
    pub source: Span,
    /// The sentence, as a range of the block's text.
    pub passage: Span,
    /// Word of the main text at which it begins, for distances.
    pub word: usize,
    /// How well the words name the target, 0 to 1.
    pub strength: f32,
    /// How close the passage is to the target, 0 to 1.
    pub context: f32,
    /// Why the words name the target.
    pub reason: Reason,
}

/// Words of a block: its index in `PageText::blocks`, the first word and how many.
#[derive(Clone, Copy)]
struct Stretch {
    block: u32,
    word: u32,
    words: u32,
}

/// How and how well words name the target, and whether the site has the habit of linking it with them.
#[derive(Clone, Copy)]
struct Naming {
    strength: f32,
    reason: Reason,
    habit: bool,
}

/// Why words name a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The site links it with them already.
    Known,
    /// They are its title or part of it.
    Title,
    /// They are one of its headings.
    Heading,
    /// They are its characteristic words.
    Topic,
}

/// The anchors of a pair and what removed the others.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Best first; ties by place.
    pub anchors: Vec<Anchor>,
    /// Places that a rule removed.
    pub removed: Counts,
}

/// Looks for anchors from `source` to `target`.
#[must_use]
pub fn find(evidence: &Evidence, source: PageId, target: PageId, settings: &Settings) -> Found {
    let finder = Finder { evidence, source, target, settings, page: evidence.site.page(source), text: evidence.corpus.page(source) };
    let mut found = Found::default();
    for occurrence in &evidence.phrases.occurrences[source.index()] {
        let Some(tie) = evidence.phrases.ties[occurrence.phrase as usize].get(&target) else { continue };
        if let Some((strength, reason)) = finder.named(occurrence, tie) {
            let named = Naming { strength, reason, habit: finder.is_habit(occurrence) };
            finder.consider(Stretch { block: occurrence.block, word: occurrence.word, words: occurrence.words }, named, &mut found);
        }
    }
    if found.anchors.is_empty() {
        finder.topics(&mut found);
    }
    found.anchors.sort_by(|a, b| b.strength.total_cmp(&a.strength).then((a.block, a.span).cmp(&(b.block, b.span))));
    found.anchors.dedup_by(|b, a| a.block == b.block && a.span.overlaps(b.span));
    found.anchors.truncate(KEPT);
    found
}

/// The paragraph or list item closest to the target: where a sentence about it would fit best.
#[must_use]
pub fn best_block(evidence: &Evidence, source: PageId, target: PageId) -> Option<usize> {
    let settings = Settings::default();
    let text = evidence.corpus.page(source);
    let finder = Finder { evidence, source, target, settings: &settings, page: evidence.site.page(source), text };
    let mut best: Option<(f32, usize)> = None;
    for (block, sentence) in text.passages() {
        let kind = text.blocks[block].kind;
        let score = finder.context(block, sentence);
        if matches!(kind, BlockKind::Paragraph | BlockKind::ListItem) && best.is_none_or(|(s, _)| score > s) {
            best = Some((score, text.blocks[block].index));
        }
    }
    best.map(|(_, block)| block)
}

struct Finder<'a> {
    evidence: &'a Evidence<'a>,
    source: PageId,
    target: PageId,
    settings: &'a Settings,
    page: &'a Page,
    text: &'a PageText,
}

impl Finder<'_> {
    /// How well a phrase names the target: `None` when it does not.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn named(&self, occurrence: &Occurrence, tie: &Tie) -> Option<(f32, Reason)> {
        let phrases = self.evidence.phrases;
        let uses = phrases.linked_by(occurrence.phrase, self.target, self.source);
        let probability = phrases.link_probability(occurrence.phrase, self.target, self.source);
        // A phrase is specific when it is as rare as two words that each stand on a tenth of the pages.
        let specific = (phrases.weight[occurrence.phrase as usize] / 4.6).min(1.0);
        let known = (uses > 0 && probability >= LEAST_PROBABILITY)
            .then(|| (0.45 + 0.45 * probability.sqrt() + 0.1 * (uses as f32 / 3.0).min(1.0)) * (0.6 + 0.4 * specific));
        let title = (tie.title_share >= LEAST_TITLE_SHARE).then_some((0.25 + 0.65 * tie.title_share) * (0.4 + 0.6 * specific));
        let heading = (tie.heading_share > 0.0).then_some(0.45 * (0.3 + 0.7 * specific));
        let reasons = [(known, Reason::Known), (title, Reason::Title), (heading, Reason::Heading)];
        let best = reasons.into_iter().filter_map(|(s, r)| Some((s?, r))).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        Some(best)
    }

    /// Whether the site has the habit of linking the target with this phrase, so that even one word of it is specific.
    fn is_habit(&self, occurrence: &Occurrence) -> bool {
        const LEAST_USES: usize = 2;
        const LEAST_PROBABILITY: f32 = 0.15;
        let phrases = self.evidence.phrases;
        phrases.linked_by(occurrence.phrase, self.target, self.source) >= LEAST_USES
            && phrases.link_probability(occurrence.phrase, self.target, self.source) >= LEAST_PROBABILITY
    }

    /// Checks a stretch of words and keeps it when nothing speaks against it.
    fn consider(&self, stretch: Stretch, named: Naming, found: &mut Found) {
        let text_block = &self.text.blocks[stretch.block as usize];
        let range = stretch.word as usize..(stretch.word + stretch.words) as usize;
        let block_ref = &self.page.blocks[text_block.index];
        let span =
            widen(&block_ref.text, Span::new(text_block.words[range.start].span().start, text_block.words[range.end - 1].span().end));
        let Some(sentence) = text_block.sentences.iter().position(|s| s.span.contains(span)) else {
            found.removed.removed(Guardrail::CrossesSentence);
            return;
        };
        let word = self.text.block_offsets[stretch.block as usize] + range.start;
        match self.place(text_block, range.len(), span, word, named.habit) {
            Err(rule) => found.removed.removed(rule),
            Ok(source) => {
                let context = self.context(stretch.block as usize, sentence);
                let passage = text_block.sentences[sentence].span;
                let strength = (named.strength * (0.75 + 0.25 * context)).clamp(0.0, 1.0);
                found.anchors.push(Anchor {
                    block: text_block.index,
                    span,
                    source,
                    passage,
                    word,
                    strength,
                    context,
                    reason: named.reason,
                });
            }
        }
    }

    /// The place in the source, or the first rule against it.
    fn place(&self, text_block: &TextBlock, words: usize, span: Span, word: usize, habit: bool) -> Result<Span, Guardrail> {
        let block = &self.page.blocks[text_block.index];
        let placement = &self.settings.placement;
        kind_rule(block.kind, &placement.blocks)?;
        let source = place_in_source(block, span)?;
        let anchor = &block.text[span.range()];
        if in_address(&block.text, span) {
            return Err(Guardrail::Torn);
        }
        anchor_rules(anchor, words, habit, &self.settings.anchors)?;
        let first = self.text.blocks.iter().position(|b| b.kind == BlockKind::Paragraph);
        let in_first = first.is_some_and(|f| self.text.blocks[f].index == text_block.index);
        if in_first && word - first.map_or(0, |f| self.text.block_offsets[f]) < placement.skip_first_words {
            return Err(Guardrail::FirstWords);
        }
        Ok(source)
    }

    /// How close the passage is to the target, 0 to 1: by meaning where the model knows the language,
    /// else by shared words.
    fn context(&self, block: usize, sentence: usize) -> f32 {
        let vectors = self.evidence.vectors;
        if vectors.known[self.source.index()] && vectors.known[self.target.index()] {
            let cosine = vectors.passage_cosine(self.source, self.text.passage_number(block, sentence), self.target);
            return ((cosine - 0.1) / 0.6).clamp(0.0, 1.0);
        }
        let block = &self.text.blocks[block];
        let words = &block.words[block.sentences[sentence].words.clone()];
        let content: Vec<_> = words.iter().filter(|w| !w.function).collect();
        let shared: f32 = content
            .iter()
            .filter(|w| self.evidence.words.term_count(self.target, w.term) > 0.0)
            .map(|w| self.evidence.corpus.rarity(w.term))
            .sum();
        let whole: f32 = content.iter().map(|w| self.evidence.corpus.rarity(w.term)).sum();
        if whole > 0.0 { shared / whole } else { 0.0 }
    }

    /// Phrases of two to four neighbouring content words that are characteristic of the target.
    fn topics(&self, found: &mut Found) {
        let weights = self.topic_weights();
        let Some(top) = weights.values().copied().max_by(f32::total_cmp).filter(|w| *w > 0.0) else { return };
        let mut best: Option<(f32, Stretch)> = None;
        for (number, block) in self.text.blocks.iter().enumerate().filter(|(_, b)| is_prose(b.kind)) {
            for sentence in &block.sentences {
                let mut start = sentence.words.start;
                while start < sentence.words.end {
                    let strong =
                        |i: usize| !block.words[i].function && block.links_to[i] == NO_LINK && weights.contains_key(&block.terms[i]);
                    let end = (start..sentence.words.end.min(start + 4)).find(|i| !strong(*i)).unwrap_or(sentence.words.end.min(start + 4));
                    if end - start >= 2 {
                        let mut distinct: Vec<u32> = block.terms[start..end].to_vec();
                        distinct.sort_unstable();
                        distinct.dedup();
                        let sum: f32 = distinct.iter().map(|t| weights[t]).sum();
                        let score = sum / (2.0 * top);
                        let place = (u32::try_from(number), u32::try_from(start), u32::try_from(end - start));
                        let better = distinct.len() >= 2 && score >= LEAST_TOPIC && best.is_none_or(|(s, _)| score > s);
                        if let ((Ok(block), Ok(word), Ok(words)), true) = (place, better) {
                            best = Some((score, Stretch { block, word, words }));
                        }
                    }
                    start = end.max(start + 1);
                }
            }
        }
        if let Some((score, stretch)) = best {
            self.consider(stretch, Naming { strength: 0.2 + 0.25 * score.min(1.0), reason: Reason::Topic, habit: false }, found);
        }
    }

    /// The target's characteristic words: its heaviest features that also stand in its title or a heading,
    /// or are among its twenty heaviest.
    fn topic_weights(&self) -> HashMap<u32, f32> {
        const HEAVIEST: usize = 20;
        let corpus = self.evidence.corpus;
        let page = corpus.page(self.target);
        let mut weights: HashMap<u32, f32> = HashMap::new();
        for word in page.blocks.iter().flat_map(|b| &b.words).filter(|w| !w.function) {
            weights.entry(word.term).or_insert_with(|| {
                let count = self.evidence.words.term_count(self.target, word.term);
                (1.0 + count.max(1.0).ln()) * corpus.rarity(word.term)
            });
        }
        let mut heaviest: Vec<(u32, f32)> = weights.into_iter().collect();
        heaviest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        heaviest.truncate(HEAVIEST);
        heaviest.into_iter().collect()
    }
}

/// The block must be of a kind that may carry links.
fn kind_rule(kind: BlockKind, allowed: &[PlacementBlock]) -> Result<(), Guardrail> {
    let place = match kind {
        BlockKind::Heading(_) => return Err(Guardrail::InHeading),
        BlockKind::Code => return Err(Guardrail::InCode),
        BlockKind::Caption => return Err(Guardrail::InFigure),
        BlockKind::TableHeader => return Err(Guardrail::InTableHeader),
        BlockKind::Paragraph => PlacementBlock::Paragraph,
        BlockKind::ListItem => PlacementBlock::ListItem,
        BlockKind::Quote => PlacementBlock::Quote,
        BlockKind::TableCell => PlacementBlock::TableCell,
        BlockKind::Definition => PlacementBlock::Definition,
    };
    if allowed.contains(&place) { Ok(()) } else { Err(Guardrail::InExcluded) }
}

/// Maps a range of a block's text to the source. It must lie in one run of linkable text.
///
/// # Errors
/// The rule that forbids the place.
pub fn place_in_source(block: &Block, span: Span) -> Result<Span, Guardrail> {
    let touched: Vec<_> = block.segments.iter().filter(|s| s.text.overlaps(span)).collect();
    let (Some(first), Some(last)) = (touched.first(), touched.last()) else { return Err(Guardrail::CrossesMarkup) };
    if let Some(inert) = touched.iter().find_map(|s| s.inert) {
        return Err(inert_rule(inert));
    }
    if first.run != last.run || first.text.start > span.start || last.text.end < span.end {
        return Err(Guardrail::CrossesMarkup);
    }
    let start = if first.verbatim { first.source.start + (span.start - first.text.start) } else { first.source.start };
    let end = if last.verbatim { last.source.start + (span.end - last.text.start) } else { last.source.end };
    if start < end { Ok(Span::new(start, end)) } else { Err(Guardrail::CrossesMarkup) }
}

fn inert_rule(inert: Inert) -> Guardrail {
    match inert {
        Inert::Link => Guardrail::InLink,
        Inert::Code => Guardrail::InCode,
        Inert::Heading => Guardrail::InHeading,
        Inert::Form => Guardrail::InForm,
        Inert::Figure => Guardrail::InFigure,
        Inert::TableHeader => Guardrail::InTableHeader,
        Inert::Quotation => Guardrail::InQuotation,
        Inert::Template | Inert::Excluded => Guardrail::InExcluded,
    }
}

/// Rules about the words themselves. A single word passes where the site has the habit of linking the target with it.
fn anchor_rules(anchor: &str, words: usize, habit: bool, settings: &AnchorSettings) -> Result<(), Guardrail> {
    if is_generic(anchor, &settings.generic) {
        return Err(Guardrail::GenericAnchor);
    }
    let folded = fold(anchor);
    if settings.never_link.iter().any(|phrase| fold(phrase) == folded) {
        return Err(Guardrail::NeverLink);
    }
    if anchor.chars().all(|c| c.is_numeric() || c.is_ascii_punctuation() || c.is_whitespace()) {
        return Err(Guardrail::GenericAnchor);
    }
    if is_torn(anchor) {
        return Err(Guardrail::Torn);
    }
    let (length, least, most) = if anchor.chars().any(is_unspaced) {
        (anchor.chars().count(), settings.min_chars, settings.max_chars)
    } else {
        (words, if habit { 1 } else { settings.min_words }, settings.max_words)
    };
    if length < least {
        return Err(Guardrail::TooShort);
    }
    if length > most {
        return Err(Guardrail::TooLong);
    }
    Ok(())
}

/// Half of a bracket or quotation, or a title cut one word after its colon.
fn is_torn(anchor: &str) -> bool {
    let count = |wanted: char| anchor.chars().filter(|c| *c == wanted).count();
    let uneven = [('(', ')'), ('[', ']'), ('{', '}'), ('“', '”'), ('«', '»'), ('「', '」')].into_iter().any(|(a, b)| count(a) != count(b));
    let cut = |mark: &str| anchor.rsplit_once(mark).is_some_and(|(_, tail)| !tail.trim().contains(' '));
    uneven || count('"') % 2 == 1 || cut(": ") || cut("; ") || anchor.contains(['|', '>', '<', '=', '\\'])
}

/// Part of a path, an address or an identifier that stands in the text.
fn in_address(text: &str, span: Span) -> bool {
    let glue = |c: char| matches!(c, '/' | '@' | '_' | '\\');
    text[..span.start].ends_with(glue) || text[span.end..].starts_with(glue)
}

/// Takes in what belongs to the words: a closing `()` of a function name, a `+` or `#` of a language's name,
/// a leading `.`, `$`, `@` or `#` that is glued to them.
fn widen(text: &str, span: Span) -> Span {
    let (before, after) = (&text[..span.start], &text[span.end..]);
    let mut end = span.end;
    for tail in ["()", "++", "+", "#"] {
        let rest = after.strip_prefix(tail);
        if rest.is_some_and(|r| !r.starts_with(char::is_alphanumeric)) {
            end += tail.len();
            break;
        }
    }
    let glued = before.chars().next_back().filter(|c| matches!(c, '$' | '@' | '#')).map_or(0, char::len_utf8);
    Span::new(span.start - glued, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_bracket_or_title_is_torn() {
        for torn in ["RFP) Ghostwriting", "the “open data", "Culture Change: Google", "18F/hub](https", "a | b"] {
            assert!(is_torn(torn), "{torn}");
        }
        for whole in ["Take our code: 34 reusable projects", "sqlite3_step()", "“open data”", "User's guide"] {
            assert!(!is_torn(whole), "{whole}");
        }
    }

    #[test]
    fn part_of_an_address_is_no_anchor() {
        let text = "see /2014/large-scale-change/ or ask open data@example.org";
        let span = |words: &str| Span::new(text.find(words).unwrap(), text.find(words).unwrap() + words.len());
        assert!(in_address(text, span("large-scale-change")) && in_address(text, span("open data")));
        assert!(!in_address(text, span("or ask")));
    }

    #[test]
    fn one_word_needs_the_habit_of_the_site() {
        let settings = AnchorSettings::default();
        assert_eq!(anchor_rules("salt", 1, false, &settings), Err(Guardrail::TooShort));
        assert_eq!(anchor_rules("wal-index", 1, true, &settings), Ok(()));
        assert_eq!(anchor_rules("click here", 2, true, &settings), Err(Guardrail::GenericAnchor));
        assert_eq!(anchor_rules("one two three four five six seven", 7, true, &settings), Err(Guardrail::TooLong));
        assert_eq!(anchor_rules("東京都庁の展望室", 8, false, &settings), Ok(()));
    }

    #[test]
    fn what_is_glued_to_a_name_belongs_to_it() {
        let widened = |text: &str, word: &str| {
            let start = text.find(word).unwrap();
            text[widen(text, Span::new(start, start + word.len())).range()].to_owned()
        };
        assert_eq!(widened("call sqlite3_step() now", "sqlite3_step"), "sqlite3_step()");
        assert_eq!(widened("in C++ it", "C"), "C++");
        assert_eq!(widened("the C language", "C"), "C");
    }
}
