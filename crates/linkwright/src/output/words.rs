//! Values of the plan in words, used by every output so that they all say the same.

use linkwright_core::guardrail::{self, Guardrail};
use linkwright_core::page::{FetchOutcome, LanguageSource, LinkKind, LinkPosition};
use linkwright_core::span::Span;
use linkwright_engine::NOTHING;

/// What came of a page, for people.
pub(crate) fn outcome(outcome: FetchOutcome) -> &'static str {
    match outcome {
        FetchOutcome::Fetched => "read",
        FetchOutcome::Unchanged => "unchanged since the last run",
        FetchOutcome::Redirected => "redirects to another page",
        FetchOutcome::RedirectLoop => "redirects in a loop",
        FetchOutcome::OutOfScope => "leads out of the site",
        FetchOutcome::PrivateAddress => "leads to a private address",
        FetchOutcome::ClientError => "not found or refused (4xx)",
        FetchOutcome::ServerError => "server error (5xx)",
        FetchOutcome::TimedOut => "no answer in time",
        FetchOutcome::Unreachable => "unreachable",
        FetchOutcome::RobotsDisallowed => "disallowed by robots.txt",
        FetchOutcome::NotHtml => "not HTML",
        FetchOutcome::TooLarge => "larger than the size limit",
        FetchOutcome::Unreadable => "file could not be read",
        FetchOutcome::LeftOut => "left out by your settings",
    }
}

/// Whether a page should have been read and was not: a finding that the exit code reports.
pub(crate) fn failed(outcome: FetchOutcome) -> bool {
    matches!(
        outcome,
        FetchOutcome::RedirectLoop
            | FetchOutcome::ClientError
            | FetchOutcome::ServerError
            | FetchOutcome::TimedOut
            | FetchOutcome::Unreachable
            | FetchOutcome::TooLarge
            | FetchOutcome::Unreadable
    )
}

/// As crawlers name it.
pub(crate) fn link_kind(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Body => "body",
        LinkKind::Template => "template",
    }
}

/// As crawlers name it.
pub(crate) fn link_position(position: LinkPosition) -> &'static str {
    match position {
        LinkPosition::Content => "content",
        LinkPosition::Navigation => "navigation",
        LinkPosition::Header => "header",
        LinkPosition::Footer => "footer",
        LinkPosition::Aside => "aside",
    }
}

/// Where a language tag came from.
pub(crate) fn language_source(source: LanguageSource) -> &'static str {
    match source {
        LanguageSource::Declared => "declared",
        LanguageSource::Header => "by its header",
        LanguageSource::Detected => "detected",
        LanguageSource::Unknown => "unknown",
    }
}

/// `yes`, `no`, or `unknown` where an incomplete crawl cannot tell.
pub(crate) fn yes_no_unknown(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

/// A reason code in words; the code itself where it is unknown, as in a plan of another version.
pub(crate) fn reason(code: &str) -> String {
    let rule = guardrail::by_code(code).map(Guardrail::name);
    let nothing = || NOTHING.iter().find(|(other, _)| *other == code).map(|(_, words)| *words);
    rule.or_else(nothing).unwrap_or(code).to_owned()
}

/// The text of a span; empty when a stored plan's span does not fit its text.
pub(crate) fn slice(text: &str, span: Span) -> &str {
    text.get(span.range()).unwrap_or_default()
}

/// `1 page`, `2 pages`, `1,234 pages`.
pub(crate) fn count(number: usize, singular: &str, plural: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { singular } else { plural })
}

/// A number with thousands separated by commas.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The part of a URL that tells pages of one site apart.
pub(crate) fn short_url<'a>(url: &'a str, base: &str) -> &'a str {
    match url.strip_prefix(base.trim_end_matches('/')) {
        Some("") => "/",
        Some(rest) if rest.starts_with('/') => rest,
        _ => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, words) in cases {
            assert_eq!(thousands(number), words);
        }
    }

    #[test]
    fn short_urls_keep_what_tells_pages_apart() {
        let base = "https://a.example/";
        assert_eq!(short_url("https://a.example/", base), "/");
        assert_eq!(short_url("https://a.example", base), "/");
        assert_eq!(short_url("https://a.example/b/c", base), "/b/c");
        assert_eq!(short_url("https://a.example.com/b", base), "https://a.example.com/b");
    }

    #[test]
    fn a_span_that_does_not_fit_gives_nothing() {
        assert_eq!(slice("käse", Span { start: 0, end: 2 }), "");
        assert_eq!(slice("käse", Span { start: 0, end: 99 }), "");
        assert_eq!(slice("käse", Span { start: 0, end: 3 }), "kä");
    }
}
