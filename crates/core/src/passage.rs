//! Block text to passages: one sentence each, in any language.
//!
//! A passage never crosses a block, never starts or ends with white space, and the passages of a
//! block are sorted and disjoint. Boundaries come from `sentencex`, which knows abbreviations and
//! initials of some forty languages and falls back to related ones.

use crate::span::Span;

/// A block longer than this is not split further: it is no prose, and splitting is not linear.
const MAX_SPLIT_BYTES: usize = 64 * 1024;

/// The sentences of `text`, written in `language` (BCP 47, may be empty).
#[must_use]
pub fn split(text: &str, language: &str) -> Vec<Span> {
    if !has_inner_boundary(text) || text.len() > MAX_SPLIT_BYTES {
        return trimmed(text, 0, text.len()).into_iter().collect();
    }
    let primary = language.split('-').next().unwrap_or_default();
    sentencex::get_sentence_boundaries(primary, text).iter().filter_map(|b| trimmed(text, b.start_byte, b.end_byte)).collect()
}

/// Most blocks are one sentence; looking for a terminator before the end is far cheaper than splitting.
fn has_inner_boundary(text: &str) -> bool {
    let body = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    body.contains(['.', '!', '?', '。', '！', '？', '…', '؟', '।', '։', '።', '။', '\n', ';', '．', '｡'])
}

/// The range without white space at its ends; `None` when nothing is left or the range is not sound.
fn trimmed(text: &str, start: usize, end: usize) -> Option<Span> {
    let slice = text.get(start..end)?;
    let lead = slice.len() - slice.trim_start().len();
    let kept = slice.trim();
    (!kept.is_empty()).then(|| Span::new(start + lead, start + lead + kept.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sentences<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
        split(text, language).into_iter().map(|s| &text[s.range()]).collect()
    }

    #[test]
    fn abbreviations_and_initials_do_not_end_a_sentence() {
        assert_eq!(
            sentences("Dr. Smith of the U.S. team met J. Doe. They talked.", "en"),
            ["Dr. Smith of the U.S. team met J. Doe.", "They talked."]
        );
        assert_eq!(sentences("Das gilt z. B. am 3. Oktober. Danach nicht.", "de"), ["Das gilt z. B. am 3. Oktober.", "Danach nicht."]);
    }

    #[test]
    fn unspaced_scripts_are_split() {
        assert_eq!(sentences("これは一つ目です。これは二つ目です。", "ja"), ["これは一つ目です。", "これは二つ目です。"]);
    }

    proptest! {
        #[test]
        fn passages_are_sorted_disjoint_and_trimmed(text in "[ -~éäß。\n]{0,200}", language in "(en|de|fr|ja|xx|)") {
            let mut end = 0;
            for span in split(&text, &language) {
                prop_assert!(span.start >= end && !span.is_empty());
                let slice = &text[span.range()];
                prop_assert_eq!(slice, slice.trim());
                end = span.end;
            }
        }
    }
}
