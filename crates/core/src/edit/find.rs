//! An opportunity that was planned on one source of a page → its place in another source of it.
//!
//! A page changes between the plan and the writing: other links are inserted, paragraphs move, and a content
//! management system keeps another text than it serves. The place is found by its block, then by its sentence. Where
//! either stands there more than once, nothing says which one was meant, and nothing is written.

use super::{Anchor, Places, Refusal};
use crate::page::Page;
use crate::plan::Opportunity;
use crate::span::Span;

/// Finds the words of an opportunity in the source of its page as it is now.
///
/// # Errors
/// When the passage is gone, stands there several times, or its words cannot hold a link any more.
pub fn find_again(page: &Page, places: &Places, opportunity: &Opportunity) -> Result<Anchor, Refusal> {
    if let Ok(anchor) = places.anchor(opportunity.source_span)
        && page.blocks[anchor.block].text == opportunity.block_text
        && anchor.text == opportunity.anchor_span
    {
        return Ok(anchor);
    }
    let same_block = page.blocks.iter().enumerate().filter(|(_, block)| block.text == opportunity.block_text);
    let found: Vec<(usize, usize)> = same_block.map(|(number, _)| (number, opportunity.anchor_span.start)).collect();
    if let Some(place) = only(found)? {
        return words_at(page, places, place, opportunity.anchor_span.len());
    }
    find_words(page, places, opportunity.sentence(), opportunity.words_in_sentence())
}

/// Finds words of a sentence, given as a range of it, in the only block that has the sentence. Quotation marks,
/// dashes and white space may be others than in the sentence: servers set them, and sources do not.
///
/// # Errors
/// As [`find_again`].
pub fn find_words(page: &Page, places: &Places, sentence: &str, words: Span) -> Result<Anchor, Refusal> {
    let wanted = Plain::of(sentence);
    let (first, last) = (wanted.number(words.start), wanted.number(words.end));
    let mut found = Vec::new();
    for (number, block) in page.blocks.iter().enumerate() {
        let text = Plain::of(&block.text);
        for at in text.places_of(&wanted) {
            found.push((number, Span::new(text.starts[at + first], text.end_of(at + last))));
        }
    }
    let Some((block, span)) = only(found)? else { return Err(Refusal::PassageGone) };
    places.anchor_of_text(block, span)
}

fn only<T>(mut found: Vec<T>) -> Result<Option<T>, Refusal> {
    if found.len() > 1 { Err(Refusal::PassageAmbiguous) } else { Ok(found.pop()) }
}

fn words_at(page: &Page, places: &Places, (block, start): (usize, usize), length: usize) -> Result<Anchor, Refusal> {
    let span = Span::new(start, start + length);
    if page.blocks[block].text.get(span.range()).is_none() {
        return Err(Refusal::PassageGone);
    }
    places.anchor_of_text(block, span)
}

/// A text without what typography does to it, and where each of its characters begins in the text.
pub(super) struct Plain {
    pub(super) letters: Vec<char>,
    starts: Vec<usize>,
    length: usize,
}

impl Plain {
    pub(super) fn of(text: &str) -> Self {
        let mut plain = Self { letters: Vec::new(), starts: Vec::new(), length: text.len() };
        for (at, letter) in text.char_indices() {
            match letter {
                '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '`' => plain.push('\'', at),
                '\u{201c}'..='\u{201f}' | '\u{2033}' | '«' | '»' => plain.push('"', at),
                '\u{2026}' => (0..3).for_each(|_| plain.push('.', at)),
                '\u{d7}' => plain.push('x', at),
                '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => {}
                '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push_once('-', at),
                letter if letter.is_whitespace() => plain.push_once(' ', at),
                letter => plain.push(letter, at),
            }
        }
        plain
    }

    fn push(&mut self, letter: char, at: usize) {
        self.letters.push(letter);
        self.starts.push(at);
    }

    fn push_once(&mut self, letter: char, at: usize) {
        if self.letters.last() != Some(&letter) {
            self.push(letter, at);
        }
    }

    /// Number of the first character that begins at a place of the text or after it.
    pub(super) fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start < at)
    }

    /// Where the text goes on after so many characters.
    fn end_of(&self, count: usize) -> usize {
        self.starts.get(count).copied().unwrap_or(self.length)
    }

    /// Where another text stands in this one, as numbers of characters.
    pub(super) fn places_of(&self, other: &Self) -> Vec<usize> {
        let length = other.letters.len();
        if length == 0 {
            return Vec::new();
        }
        (0..=self.letters.len().saturating_sub(length)).filter(|at| self.letters[*at..].starts_with(&other.letters)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::tests::markdown_page;

    /// Where the words of a sentence are found, as text.
    fn found(source: &str, sentence: &str, words: &str) -> Result<String, Refusal> {
        let page = markdown_page(source);
        let start = sentence.find(words).unwrap();
        let anchor = find_words(&page, &Places::of(&page), sentence, Span::new(start, start + words.len()))?;
        Ok(page.source.text[anchor.source.range()].to_owned())
    }

    #[test]
    fn words_are_found_through_typography() {
        let served = "It’s “the red fox” – he runs…";
        assert_eq!(found("First.\n\nIt's \"the red fox\" -- he\nruns...\n", served, "red fox").as_deref(), Ok("red fox"));
        assert_eq!(found("It&#8217;s “the  red fox” – he runs…", served, "the red fox").as_deref(), Ok("the  red fox"));
    }

    #[test]
    fn a_sentence_that_is_gone_or_there_twice_is_not_guessed() {
        assert_eq!(found("The grey fox runs.", "The red fox runs.", "red fox"), Err(Refusal::PassageGone));
        assert_eq!(found("The red fox runs.\n\nThe red fox runs.", "The red fox runs.", "red fox"), Err(Refusal::PassageAmbiguous));
        assert_eq!(found("", "", ""), Err(Refusal::PassageGone));
    }

    #[test]
    fn words_that_came_into_a_link_or_into_emphasis_meanwhile_are_refused() {
        let sentence = "The red fox runs.";
        assert!(matches!(found("The [red fox](/x/) runs.", sentence, "red fox"), Err(Refusal::NotLinkable(_))));
        assert_eq!(found("The red *fox* runs.", sentence, "red fox"), Err(Refusal::CrossesMarkup));
    }
}
