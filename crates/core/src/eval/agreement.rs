//! Proposed words beside those that people used.

use super::AnchorAgreement;
use super::metrics::ratio;
use crate::text::{Lexicon, fold};
use std::collections::BTreeSet;

/// Counts how often words agree.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    found: usize,
    with_words: usize,
    exact: usize,
    share_a_word: usize,
}

impl Tally {
    /// Adds a hidden link that was found, with the words proposed for it and those it had.
    pub fn add(&mut self, proposed: Option<&str>, real: &[String], language: &str) {
        self.found += 1;
        let Some(proposed) = proposed else { return };
        self.with_words += 1;
        self.exact += usize::from(real.iter().any(|r| fold(r) == fold(proposed)));
        let words = content_words(proposed, language);
        self.share_a_word += usize::from(real.iter().any(|r| !words.is_disjoint(&content_words(r, language))));
    }

    /// The shares.
    #[must_use]
    pub fn agreement(self) -> AnchorAgreement {
        let share = |part| ratio(part, self.found);
        AnchorAgreement {
            found: self.found,
            with_words: share(self.with_words),
            exact: share(self.exact),
            share_a_word: share(self.share_a_word),
        }
    }
}

/// Words of more than one letter that are no function words, as they are written but for letter case.
fn content_words(text: &str, language: &str) -> BTreeSet<String> {
    let folded = fold(text);
    let words = Lexicon::default().words(&folded, language);
    let content = words.iter().filter(|w| !w.function).filter_map(|w| folded.get(w.span().range()));
    content.filter(|w| w.chars().nth(1).is_some()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(proposed: Option<&str>, real: &str) -> (f64, f64, f64) {
        let mut tally = Tally::default();
        tally.add(proposed, &[real.to_owned()], "en");
        let found = tally.agreement();
        (found.with_words, found.exact, found.share_a_word)
    }

    #[test]
    fn letter_case_and_white_space_do_not_count() {
        assert_eq!(agreement(Some("Rye  Flour"), "rye flour"), (1.0, 1.0, 1.0));
    }

    #[test]
    fn function_words_are_nothing_in_common() {
        assert_eq!(agreement(Some("the oven"), "the flour"), (1.0, 0.0, 0.0));
        assert_eq!(agreement(Some("rye starter"), "a starter"), (1.0, 0.0, 1.0));
    }

    #[test]
    fn a_link_without_words_agrees_with_nothing() {
        assert_eq!(agreement(None, "rye flour"), (0.0, 0.0, 0.0));
    }
}
