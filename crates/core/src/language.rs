//! Which language a page is in: what it declares, or what its text looks like.

use crate::page::LanguageSource;
use crate::text::function_words;
use unicode_segmentation::UnicodeSegmentation;
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
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let detected = match detect_language(text) {
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
    };
    confirmed(text, detected)
}

/// The detector knows few languages and always names one of them. Its answer stands where the text has that
/// language's function words, or its own script; else the language whose function words the text does have is taken,
/// and without any the language is unknown.
fn confirmed(text: &str, detected: &'static str) -> Option<&'static str> {
    const CONFIRMED: f64 = 0.12;
    const PLAIN: f64 = 0.2;
    if matches!(detected, "ar" | "zh" | "hi" | "ja" | "ko") || function_word_share(text, detected) >= CONFIRMED {
        return Some(detected);
    }
    let shares = function_words::LANGUAGES.iter().map(|language| (*language, function_word_share(text, language)));
    let best = shares.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(a.0)))?;
    // Vietnamese has no list: its letters are its own.
    let vietnamese = detected == "vi" && text.chars().any(|c| matches!(c, 'ơ' | 'ư' | 'ạ' | 'ế' | 'ộ' | 'ủ'));
    if vietnamese { Some(detected) } else { (best.1 >= PLAIN).then_some(best.0) }
}

#[expect(clippy::cast_precision_loss, reason = "word counts of a page are small")]
fn function_word_share(text: &str, language: &str) -> f64 {
    let list = function_words::of(language);
    let words: Vec<String> = text.unicode_words().take(400).map(str::to_lowercase).collect();
    let found = words.iter().filter(|w| list.binary_search(&w.as_str()).is_ok()).count();
    found as f64 / words.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_the_detector_does_not_know_is_not_taken_for_another() {
        let polish = "Chleb na zakwasie jest dobry i nie potrzebuje drożdży, ale trzeba mu dać czas. Po nocy w lodówce ciasto \
                      jest zimne i nie klei się do rąk, a z pieca wychodzi chleb, który ma smak i chrupiącą skórkę.";
        assert_eq!(detect(polish), Some("pl"));
        let hungarian = "Az egyszerű kovászos kenyérhez csak lisztre, vízre és sóra lesz szükségünk, valamint elegendő türelemre, \
                         amíg megkel. Reggelente friss pékáru várja vendégeinket kikötőnk legrégebbi pékségében.";
        assert!(!matches!(detect(hungarian), Some("tr" | "vi" | "en")));
    }

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
