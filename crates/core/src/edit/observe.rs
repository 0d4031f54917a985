//! A written link → what became of it on the page as it is now.
//!
//! Only the link in its sentence counts. The same link elsewhere on the page is somebody else's.

use super::find::Plain;
use crate::page::{Link, Page};
use crate::span::Span;
use crate::text::fold;
use crate::url::PageUrl;
use std::collections::BTreeSet;

/// Share of the old sentence's words that a block with an edited sentence still has.
const SAME_SENTENCE: f64 = 0.5;

/// What became of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// It is there, around its words in its sentence.
    Observed,
    /// It is there, but its words or its sentence were edited.
    Changed(String),
    /// It is not there.
    Missing(String),
}

/// Looks for a link around `words` (a range of `sentence`) that leads where `leads` says.
#[must_use]
pub fn observe(page: &Page, sentence: &str, words: Span, leads: &dyn Fn(&PageUrl) -> bool) -> Observation {
    let wanted = Plain::of(sentence);
    let expected = (wanted.number(words.start), wanted.number(words.end));
    let anchor = sentence.get(words.range()).unwrap_or_default();
    let links: Vec<(&Link, usize, Span)> = page
        .links
        .iter()
        .filter(|link| leads(&link.target))
        .filter_map(|link| link.place.map(|(block, span)| (link, block, span)))
        .collect();
    let mut sentence_there = false;
    for (number, block) in page.blocks.iter().enumerate() {
        let text = Plain::of(&block.text);
        for at in text.places_of(&wanted) {
            sentence_there = true;
            let here = links.iter().filter(|(_, block, _)| *block == number);
            let mut within = here.map(|(link, _, span)| (link, text.number(span.start), text.number(span.end)));
            let inside: Vec<_> = within.by_ref().filter(|(_, start, end)| *start >= at && *end <= at + wanted.letters.len()).collect();
            if inside.iter().any(|(_, start, end)| (start - at, end - at) == expected) {
                return Observation::Observed;
            }
            if let Some((link, ..)) = inside.first() {
                return Observation::Changed(format!("its words are `{}` now", link.anchor));
            }
        }
    }
    if sentence_there {
        return Observation::Missing("the sentence is there without the link".to_owned());
    }
    let edited = links.iter().any(|(link, block, _)| fold(&link.anchor) == fold(anchor) && resembles(&page.blocks[*block].text, sentence));
    if edited {
        return Observation::Changed("its sentence was edited".to_owned());
    }
    Observation::Missing("its sentence is not on the page any more".to_owned())
}

/// Whether a text has a good part of the words of a sentence.
#[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
fn resembles(text: &str, sentence: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> { fold(text).split_whitespace().map(str::to_owned).collect() };
    let (text, sentence) = (words(text), words(sentence));
    sentence.intersection(&text).count() as f64 >= SAME_SENTENCE * sentence.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::tests::markdown_page;

    const SENTENCE: &str = "It's the red fox that runs by night.";

    fn seen(source: &str) -> Observation {
        let page = markdown_page(source);
        let target = page.base.join("/fox/").unwrap().0;
        observe(&page, SENTENCE, Span::new(9, 16), &|url| *url == target)
    }

    #[test]
    fn only_the_link_in_its_sentence_is_observed() {
        assert_eq!(seen("First. It’s the [red fox](/fox/) that runs by night. Last."), Observation::Observed);
        assert_eq!(
            seen("It's the [red fox](/owl/) that runs by night."),
            Observation::Missing("the sentence is there without the link".into())
        );
        let elsewhere = "It's the red fox that runs by night.\n\nSee the [red fox](/fox/).";
        assert_eq!(seen(elsewhere), Observation::Missing("the sentence is there without the link".into()));
        let other = "Nothing of it.\n\nSee the [red fox](/fox/).";
        assert_eq!(seen(other), Observation::Missing("its sentence is not on the page any more".into()));
    }

    #[test]
    fn an_edited_link_has_changed() {
        assert_eq!(seen("It's [the red fox](/fox/) that runs by night."), Observation::Changed("its words are `the red fox` now".into()));
        assert_eq!(seen("It's the [red fox](/fox/) that runs every night."), Observation::Changed("its sentence was edited".into()));
    }
}
