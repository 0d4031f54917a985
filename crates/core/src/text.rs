//! Text to words that can be compared: folded, stemmed, numbered.
//!
//! A word keeps its byte range in the text it came from; what is compared is its term, the number
//! of its stem in the site's lexicon. Typographic variants (curly quotes, soft hyphens, no-break
//! blanks, ligatures, letter case) and inflection meet in one term; a part of a word never does.
//! Words are split by the Unicode rules (UAX 29) and at apostrophes, so that `l'article` holds
//! `article`; scripts written without blanks give one word a character, and sequences of words do
//! the rest.

use crate::span::Span;
use rust_stemmers::{Algorithm, Stemmer};
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

pub(crate) mod function_words;
mod generic;

pub use generic::is_generic;

/// Number of a stem in a [`Lexicon`].
pub type Term = u32;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// First byte in the text.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Number of its stem.
    pub term: Term,
    /// Article, preposition, pronoun and the like: carries no subject.
    pub function: bool,
}

impl Word {
    /// The byte range in the text.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

/// The primary subtag of a BCP 47 tag: `pt` of `pt-br`.
#[must_use]
pub fn primary(language: &str) -> &str {
    language.split(['-', '_']).next().unwrap_or_default()
}

/// Whether the character belongs to a script written without blanks between words.
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0xFF66..=0xFF9D | 0x20000..=0x2FA1F)
}

/// The text as it is compared: compatibility forms folded, lower case, plain quotes and blanks, no
/// soft hyphens, single blanks.
#[must_use]
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        match c {
            '\u{ad}' | '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' => {}
            '‘' | '’' | 'ʼ' | '′' => out.push('\''),
            '“' | '”' | '„' | '«' | '»' => out.push('"'),
            '‐' | '‑' | '–' | '—' => out.push('-'),
            c if c.is_whitespace() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Stems of a site, numbered in the order in which they are first seen.
#[derive(Default)]
pub struct Lexicon {
    terms: HashMap<Box<str>, Term>,
    languages: HashMap<Box<str>, Language>,
    count: Term,
}

struct Language {
    stemmer: Option<Stemmer>,
    function_words: &'static [&'static str],
    known: HashMap<Box<str>, (Term, bool)>,
}

impl Lexicon {
    /// How many terms there are; every term is below this number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether no term was seen yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The words of `text`, in order.
    pub fn words(&mut self, text: &str, language: &str) -> Vec<Word> {
        let mut words = Vec::with_capacity(text.len() / 6);
        for (start, token) in text.unicode_word_indices() {
            for (offset, part) in split_token(token) {
                if let Some((term, function)) = self.term(part, language) {
                    let start = start + offset;
                    let (start, end) = (u32::try_from(start), u32::try_from(start + part.len()));
                    if let (Ok(start), Ok(end)) = (start, end) {
                        words.push(Word { start, end, term, function });
                    }
                }
            }
        }
        words
    }

    /// The content terms of a short text such as a title, in order.
    pub fn terms(&mut self, text: &str, language: &str) -> Vec<Term> {
        self.words(text, language).into_iter().map(|w| w.term).collect()
    }

    fn term(&mut self, word: &str, language: &str) -> Option<(Term, bool)> {
        let primary = primary(language);
        if !self.languages.contains_key(primary) {
            self.languages.insert(primary.into(), Language::new(primary));
        }
        let language = self.languages.get_mut(primary)?;
        if let Some(known) = language.known.get(word) {
            return Some(*known);
        }
        let folded = fold(word);
        if folded.is_empty() {
            return None;
        }
        let function = language.is_function(&folded);
        let stem = language.stemmer.as_ref().map_or_else(|| folded.as_str().into(), |s| s.stem(&folded));
        let term = *self.terms.entry(stem.as_ref().into()).or_insert_with(|| {
            self.count += 1;
            self.count - 1
        });
        language.known.insert(word.into(), (term, function));
        Some((term, function))
    }
}

impl Language {
    fn new(primary: &str) -> Self {
        Self { stemmer: stemmer(primary).map(Stemmer::create), function_words: function_words::of(primary), known: HashMap::new() }
    }

    fn is_function(&self, folded: &str) -> bool {
        let particle = || folded.chars().count() <= 2 && folded.chars().all(|c| matches!(u32::from(c), 0x3040..=0x309F));
        let letter = || folded.chars().count() == 1 && folded.chars().all(|c| c.is_alphabetic() && !is_unspaced(c));
        self.function_words.binary_search(&folded).is_ok() || particle() || letter()
    }
}

/// Splits `O'Neill` into `O` and `Neill`: elision and possessive are words of their own.
fn split_token(token: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    token.split(['\'', '’', 'ʼ']).filter_map(move |part| {
        let start = at;
        at += part.len() + token.get(at + part.len()..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        (!part.is_empty()).then_some((start, part))
    })
}

fn stemmer(primary: &str) -> Option<Algorithm> {
    Some(match primary {
        "ar" => Algorithm::Arabic,
        "da" => Algorithm::Danish,
        "nl" => Algorithm::Dutch,
        "en" | "" => Algorithm::English,
        "fi" => Algorithm::Finnish,
        "fr" => Algorithm::French,
        "de" => Algorithm::German,
        "el" => Algorithm::Greek,
        "hu" => Algorithm::Hungarian,
        "it" => Algorithm::Italian,
        "no" | "nb" | "nn" => Algorithm::Norwegian,
        "pt" => Algorithm::Portuguese,
        "ro" => Algorithm::Romanian,
        "ru" => Algorithm::Russian,
        "es" => Algorithm::Spanish,
        "sv" => Algorithm::Swedish,
        "ta" => Algorithm::Tamil,
        "tr" => Algorithm::Turkish,
        _ => return None,
    })
}

/// Words of a text for counting: characters of unspaced scripts count as half a word each.
#[must_use]
pub fn count_words(text: &str) -> usize {
    let mut words = 0;
    let mut characters = 0;
    for word in text.unicode_words() {
        if word.chars().next().is_some_and(is_unspaced) {
            characters += word.chars().count();
        } else {
            words += 1;
        }
    }
    words + characters.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(lexicon: &mut Lexicon, text: &str, language: &str) -> Vec<Term> {
        lexicon.terms(text, language)
    }

    #[test]
    fn typographic_variants_and_inflection_meet() {
        let mut lexicon = Lexicon::default();
        let pairs = [
            ("O’Neill's links", "o'neill's LINK", "en"),
            ("co\u{ad}operate\u{a0}now", "cooperate now", "en"),
            ("L’article publié", "l'article publiés", "fr"),
            ("open‑source", "open-source", "en"),
            ("ﬁles", "files", "en"),
        ];
        for (a, b, language) in pairs {
            assert_eq!(terms(&mut lexicon, a, language), terms(&mut lexicon, b, language), "{a} / {b}");
        }
    }

    #[test]
    fn part_of_a_word_is_another_word() {
        let mut lexicon = Lexicon::default();
        let whole = terms(&mut lexicon, "indexing", "en");
        assert_ne!(whole, terms(&mut lexicon, "index card", "en"));
        assert_ne!(terms(&mut lexicon, "cat", "en"), terms(&mut lexicon, "category", "en"));
    }

    #[test]
    fn function_words_are_known_per_language() {
        let mut lexicon = Lexicon::default();
        let words = lexicon.words("The role of the editor", "en");
        assert_eq!(words.iter().map(|w| w.function).collect::<Vec<_>>(), [true, false, true, true, false]);
        assert!(lexicon.words("die", "de")[0].function && !lexicon.words("die", "en")[0].function);
    }

    #[test]
    fn characters_of_unspaced_scripts_count_half() {
        assert_eq!(count_words("two words"), 2);
        assert_eq!(count_words("東京都庁"), 2);
    }

    proptest! {
        #[test]
        fn words_are_sorted_slices_of_the_text(text in "[ -~éß'’東京あ\u{ad}]{0,80}") {
            let mut lexicon = Lexicon::default();
            let mut end = 0;
            for word in lexicon.words(&text, "en") {
                let span = word.span();
                prop_assert!(span.start >= end && !span.is_empty());
                prop_assert!(text.get(span.range()).is_some());
                end = span.end;
            }
        }
    }
}
