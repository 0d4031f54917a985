//! Which language a page is in: what it declares, or what its text looks like.

use crate::page::LanguageSource;
use whichlang::{Lang, detect_language};

/// Shorter texts are guesses.
const MIN_CHARACTERS: usize = 100;

/// The detector needs no more than this.
const MAX_BYTES: usize = 8_192;

/// What is known about the language of a page before its text is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Declarations<'a> {
    /// `lang` or `xml:lang` of the document, `content-language` of a meta element, or front matter.
    pub document: Option<&'a str>,
    /// `Content-Language` header.
    pub header: Option<&'a str>,
}

/// The language of a page, and how it is known.
#[must_use]
pub fn of(declared: Declarations<'_>, text: &str) -> (String, LanguageSource) {
    if let Some(tag) = declared.document.and_then(normal_tag) {
        return (tag, LanguageSource::Declared);
    }
    if let Some(tag) = declared.header.and_then(normal_tag) {
        return (tag, LanguageSource::Header);
    }
    match detect(text) {
        Some(tag) => (tag.to_owned(), LanguageSource::Detected),
        None => (String::new(), LanguageSource::Unknown),
    }
}

/// A BCP 47 tag in lower case with hyphens. `None` for lists of languages and what is no tag.
#[must_use]
pub fn normal_tag(tag: &str) -> Option<String> {
    let tag = tag.trim().to_ascii_lowercase().replace('_', "-");
    let mut parts = tag.split('-');
    let primary = parts.next().unwrap_or_default();
    let primary_is_right = (2..=3).contains(&primary.len()) && primary.bytes().all(|b| b.is_ascii_lowercase());
    let rest_is_right = parts.all(|p| (1..=8).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_alphanumeric()));
    (primary_is_right && rest_is_right && !matches!(primary, "und" | "zxx" | "mul" | "mis")).then_some(tag)
}

/// The language a text is in, `None` when there is too little of it.
#[must_use]
pub fn detect(text: &str) -> Option<&'static str> {
    let letters = text.chars().filter(|c| c.is_alphabetic()).take(MIN_CHARACTERS).count();
    if letters < MIN_CHARACTERS {
        return None;
    }
    Some(match detect_language(&text[..text.floor_char_boundary(MAX_BYTES)]) {
        Lang::Ara => "ar",
        Lang::Cmn => "zh",
        Lang::Deu => "de",
        Lang::Eng => "en",
        Lang::Fra => "fr",
        Lang::Hin => "hi",
        Lang::Ita => "it",
        Lang::Jpn => "ja",
        Lang::Kor => "ko",
        Lang::Nld => "nl",
        Lang::Por => "pt",
        Lang::Rus => "ru",
        Lang::Spa => "es",
        Lang::Swe => "sv",
        Lang::Tur => "tr",
        Lang::Vie => "vi",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_counts_before_the_text() {
        let text = "Ceci est un texte écrit en français par quelqu’un qui aime écrire, et il est assez long pour que la langue soit reconnue sans aucun doute par le programme.";
        let declared = |document, header| of(Declarations { document, header }, text);
        assert_eq!(declared(Some("pt_BR"), Some("de")), ("pt-br".into(), LanguageSource::Declared));
        assert_eq!(declared(Some(" "), Some("de-CH")), ("de-ch".into(), LanguageSource::Header));
        assert_eq!(declared(None, Some("de, en")), ("fr".into(), LanguageSource::Detected));
        assert_eq!(of(Declarations::default(), "Hello there"), (String::new(), LanguageSource::Unknown));
    }

    #[test]
    fn only_tags_are_tags() {
        for wrong in ["", "english", "e", "en--us", "{{ lang }}", "und", "en;q=1"] {
            assert_eq!(normal_tag(wrong), None, "{wrong}");
        }
        assert_eq!(normal_tag("zh-Hant-TW").as_deref(), Some("zh-hant-tw"));
    }

    #[test]
    fn long_text_in_any_script_is_cut_on_a_character() {
        let text = "日本語の文章です。".repeat(2000);
        assert_eq!(detect(&text), Some("ja"));
    }
}
