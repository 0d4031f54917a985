//! A pair of pages to the words that could carry the link: every place of the source where something
//! stands that names the target, checked against the place rules, best first.
//!
//! Which stretch of words an editor would choose is learned from body links of several sites (`words`): how
//! much of the target's title, headings and characteristic words it holds, how the site uses it already, whether
//! it is a whole phrase, and what its passage speaks of. What is proposed is the page's own text.

pub mod words;

use self::words::{Chooser, Stretch};
use crate::corpus::{PageText, TextBlock};
use crate::guardrail::{Counts, Guardrail};
use crate::page::{Block, BlockKind, Inert, Page};
use crate::settings::{AnchorSettings, PlacementBlock, Settings};
use crate::signals::Evidence;
use crate::site_index::PageId;
use crate::span::Span;
use crate::text::{Term, Word, fold, is_generic, is_unspaced};

/// Anchors kept for a pair, best first.
const KEPT: usize = 6;
/// Words made of at least this share of the target's title are called its title.
const TITLE_SHARE: f32 = 0.34;
/// Stretches of a pair that are checked against the place rules.
const CHECKED: usize = 24;

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

/// Looks for anchors from `source` to `target`, the words that an editor would most likely choose first.
#[must_use]
pub fn find(evidence: &Evidence, chooser: &Chooser, source: PageId, target: PageId, settings: &Settings) -> Found {
    let finder = Finder { evidence, source, target, settings, page: evidence.site.page(source), text: evidence.corpus.page(source) };
    let mut found = Found::default();
    for (strength, stretch) in chooser.choose(evidence, source, target).iter().take(CHECKED) {
        finder.consider(stretch, *strength, &mut found);
        if found.anchors.len() == KEPT {
            break;
        }
    }
    found
}

/// The paragraph or list item closest to the target: where a sentence about it would fit best.
#[must_use]
pub fn best_block(evidence: &Evidence, source: PageId, target: PageId) -> Option<usize> {
    let text = evidence.corpus.page(source);
    let mut best: Option<(f32, usize)> = None;
    for (block, sentence) in text.passages() {
        let kind = text.blocks[block].kind;
        let score = context(evidence, source, target, block, sentence);
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
    /// Why a stretch names the target.
    fn reason(stretch: &Stretch) -> Reason {
        if stretch.uses > 0 {
            Reason::Known
        } else if stretch.title >= TITLE_SHARE {
            Reason::Title
        } else if stretch.heading {
            Reason::Heading
        } else {
            Reason::Topic
        }
    }

    /// Whether the site has the habit of linking the target with these words, so that even one word of it is specific.
    fn is_habit(stretch: &Stretch) -> bool {
        const LEAST_USES: usize = 2;
        const LEAST_PROBABILITY: f32 = 0.15;
        stretch.uses >= LEAST_USES && stretch.probability >= LEAST_PROBABILITY
    }

    /// The stretch with the function words around it that belong to the target's title: `How to` of `How to write`.
    fn whole_title(&self, block: &TextBlock, stretch: &Stretch) -> std::ops::Range<usize> {
        let title = &self.evidence.corpus.page(self.target).title;
        let first = title.iter().position(|w| !w.function).unwrap_or(0);
        let last = title.iter().rposition(|w| !w.function).map_or(0, |l| l + 1);
        let range = stretch.start..stretch.end;
        let same = |words: &[Term], title: &[Word]| words.len() == title.len() && words.iter().zip(title).all(|(a, b)| *a == b.term);
        if first >= last || !same(&block.terms[range.clone()], &title[first..last]) {
            return range;
        }
        let bounds = &block.sentences[stretch.sentence].words;
        let (mut start, mut end) = (range.start, range.end);
        if start >= bounds.start + first && same(&block.terms[start - first..start], &title[..first]) {
            start -= first;
        }
        let tail = title.len() - last;
        if end + tail <= bounds.end && same(&block.terms[end..end + tail], &title[last..]) {
            end += tail;
        }
        start..end
    }

    /// Checks a stretch of words and keeps it when nothing speaks against it.
    #[expect(clippy::cast_possible_truncation, reason = "a probability")]
    fn consider(&self, stretch: &Stretch, strength: f64, found: &mut Found) {
        let text_block = &self.text.blocks[stretch.block];
        let range = self.whole_title(text_block, stretch);
        let text = &self.page.blocks[text_block.index].text;
        let span = widen(text, Span::new(text_block.words[range.start].span().start, text_block.words[range.end - 1].span().end));
        let passage = text_block.sentences[stretch.sentence].span;
        if !passage.contains(span) {
            found.removed.removed(Guardrail::CrossesSentence);
            return;
        }
        if found.anchors.iter().any(|a| a.block == text_block.index && a.span.overlaps(span)) {
            return;
        }
        let word = self.text.block_offsets[stretch.block] + range.start;
        match self.place(text_block, range.len(), span, word, Self::is_habit(stretch)) {
            Err(rule) => found.removed.removed(rule),
            Ok(source) => found.anchors.push(Anchor {
                block: text_block.index,
                span,
                source,
                passage,
                word,
                strength: strength as f32,
                context: context(self.evidence, self.source, self.target, stretch.block, stretch.sentence),
                reason: Self::reason(stretch),
            }),
        }
    }

    /// The place in the source, or the first rule against it.
    fn place(&self, text_block: &TextBlock, words: usize, span: Span, word: usize, habit: bool) -> Result<Span, Guardrail> {
        let block = &self.page.blocks[text_block.index];
        let placement = &self.settings.placement;
        kind_rule(block.kind, &placement.blocks)?;
        let source = place_in_source(block, span)?;
        let anchor = &block.text[span.range()];
        if in_address(&block.text, span) || is_address(anchor) {
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
}

/// How close the passage is to the target, 0 to 1: by meaning where the model knows the language,
/// else by shared words.
fn context(evidence: &Evidence, source: PageId, target: PageId, block: usize, sentence: usize) -> f32 {
    let text = evidence.corpus.page(source);
    let vectors = evidence.vectors;
    if vectors.known[source.index()] && vectors.known[target.index()] {
        let cosine = vectors.passage_cosine(source, text.passage_number(block, sentence), target);
        return ((cosine - 0.1) / 0.6).clamp(0.0, 1.0);
    }
    let block = &text.blocks[block];
    let words = &block.words[block.sentences[sentence].words.clone()];
    let content: Vec<_> = words.iter().filter(|w| !w.function).collect();
    let shared: f32 =
        content.iter().filter(|w| evidence.words.term_count(target, w.term) > 0.0).map(|w| evidence.corpus.rarity(w.term)).sum();
    let whole: f32 = content.iter().map(|w| evidence.corpus.rarity(w.term)).sum();
    if whole > 0.0 { shared / whole } else { 0.0 }
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

/// The end of a mail address, whose beginning a page may hide from collectors: `'@example.org`.
fn is_address(anchor: &str) -> bool {
    anchor.split_once('@').is_some_and(|(_, host)| host.contains('.'))
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
        assert!(is_address("'@example.org") && is_address("open data@example.org") && !is_address("@handle"));
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
