//! A stretch of a page's source → the words a reader sees there, if a link may be written around them.

use super::Refusal;
use crate::page::{Page, Segment, SourceFormat};
use crate::span::Span;

/// Words of a block that can become a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Index into `Page::blocks`.
    pub block: usize,
    /// Range in the block's text.
    pub text: Span,
    /// Range in the page's source.
    pub source: Span,
    /// The words.
    pub words: String,
}

/// The segments of a page in the order of the source.
pub struct Places<'a> {
    page: &'a Page,
    segments: Vec<(&'a Segment, usize)>,
}

impl<'a> Places<'a> {
    /// Sorts the segments of a page.
    #[must_use]
    pub fn of(page: &'a Page) -> Self {
        let blocks = page.blocks.iter().enumerate();
        let mut segments: Vec<(&Segment, usize)> = blocks.flat_map(|(i, block)| block.segments.iter().map(move |s| (s, i))).collect();
        segments.sort_by_key(|(segment, block)| (segment.source, *block));
        Self { page, segments }
    }

    /// The anchor at a place of the source.
    ///
    /// # Errors
    /// When the place is no stretch of visible words of one run, or the words cannot carry a link.
    pub fn anchor(&self, place: Span) -> Result<Anchor, Refusal> {
        let text = &self.page.source.text;
        if place.is_empty() || text.get(place.range()).is_none() {
            return Err(Refusal::NoSuchPlace);
        }
        let from = self.segments.partition_point(|(s, _)| s.source.end <= place.start);
        let until = self.segments.partition_point(|(s, _)| s.source.start < place.end);
        let touched = self.segments.get(from..until).filter(|t| !t.is_empty()).ok_or(Refusal::NotInText)?;
        let ((first, block), (last, last_block)) = (touched[0], touched[touched.len() - 1]);
        if let Some(inert) = touched.iter().find_map(|(s, _)| s.inert) {
            return Err(Refusal::NotLinkable(inert));
        }
        if block != last_block || touched.iter().any(|(s, b)| s.run != first.run || *b != block) {
            return Err(Refusal::CrossesMarkup);
        }
        let start = start_in_text(first, place.start).ok_or(Refusal::NotInText)?;
        let end = end_in_text(last, place.end).ok_or(Refusal::NotInText)?;
        let block_text = &self.page.blocks[block].text;
        let words = block_text.get(start..end).ok_or(Refusal::NotInText)?;
        if words.trim() != words || words.is_empty() {
            return Err(Refusal::AnchorUntrimmed);
        }
        if self.page.format != SourceFormat::Html && touches_address(block_text, Span::new(start, end)) {
            return Err(Refusal::BesideAddress);
        }
        Ok(Anchor { block, text: Span::new(start, end), source: place, words: words.to_owned() })
    }

    /// The place of words of a block in the source: the way back from [`Places::anchor`].
    ///
    /// # Errors
    /// As [`Places::anchor`].
    pub fn anchor_of_text(&self, block: usize, words: Span) -> Result<Anchor, Refusal> {
        let block = self.page.blocks.get(block).ok_or(Refusal::NoSuchPlace)?;
        let mut touched = block.segments.iter().filter(|s| s.text.overlaps(words));
        let first = touched.next().ok_or(Refusal::NotInText)?;
        let last = touched.next_back().unwrap_or(first);
        let start = if first.verbatim { first.source.start + words.start.saturating_sub(first.text.start) } else { first.source.start };
        let end = if last.verbatim {
            (last.source.start + words.end.saturating_sub(last.text.start)).min(last.source.end)
        } else {
            last.source.end
        };
        if start >= end {
            return Err(Refusal::NotInText);
        }
        let anchor = self.anchor(Span::new(start, end))?;
        if anchor.text == words { Ok(anchor) } else { Err(Refusal::NotInText) }
    }
}

/// Whether an address is glued to the words. Many generators make a link of an address that begins a word, and a new
/// link decides where words begin.
fn touches_address(text: &str, words: Span) -> bool {
    let before = text[..words.start].rsplit(char::is_whitespace).next();
    let after = text[words.end..].split(char::is_whitespace).next();
    [before, after].into_iter().flatten().any(|glued| ["://", "www.", "@"].iter().any(|sign| glued.contains(sign)))
}

fn start_in_text(segment: &Segment, at: usize) -> Option<usize> {
    let inner = at.checked_sub(segment.source.start)?;
    if segment.verbatim || inner == 0 { Some(segment.text.start + inner) } else { None }
}

fn end_in_text(segment: &Segment, at: usize) -> Option<usize> {
    let left = segment.source.end.checked_sub(at)?;
    if segment.verbatim || left == 0 { segment.text.end.checked_sub(left) } else { None }
}
