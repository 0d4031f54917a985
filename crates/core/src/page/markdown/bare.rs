//! Text → the addresses in it that renderers turn into links by themselves.
//!
//! The rule is that of GitHub's Markdown: `http://`, `https://` or `www.` at the beginning of a word,
//! up to white space or `<`, without the punctuation that ends a sentence.

use crate::span::Span;

/// An address written in running text.
pub(super) struct BareAddress {
    /// Range in the text.
    pub(super) span: Span,
    /// Where it leads; `None` for a mail address.
    pub(super) href: Option<String>,
}

/// The addresses in `text`, in order.
pub(super) fn find(text: &str) -> Vec<BareAddress> {
    if !text.contains("://") && !text.contains("www.") && !text.contains('@') {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (start, word) in words(text) {
        let lead = word.len() - word.trim_start_matches(['(', '*', '_', '~', '"', '\'', '“', '‘', '«', '[']).len();
        let body = &word[lead..];
        let body = &body[..trimmed_length(body)];
        let span = Span::new(start + lead, start + lead + body.len());
        let lower = body.get(..8.min(body.len())).unwrap_or_default().to_ascii_lowercase();
        if lower.starts_with("http://") || lower.starts_with("https://") {
            out.push(BareAddress { span, href: Some(body.to_owned()) });
        } else if lower.starts_with("www.") && body.len() > 6 && body[4..].contains('.') {
            out.push(BareAddress { span, href: Some(format!("http://{body}")) });
        } else if is_mail(body) {
            out.push(BareAddress { span, href: None });
        }
    }
    out
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(|c: char| c.is_whitespace() || c == '<').filter_map(move |word| {
        let start = at;
        // The separator may be longer than one byte; its length is read off the text itself.
        at += word.len() + text[start + word.len()..].chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}

/// Length without trailing punctuation and closing brackets that were never opened.
fn trimmed_length(word: &str) -> usize {
    let mut rest = word;
    loop {
        let Some(last) = rest.chars().next_back() else { return 0 };
        let cut = match last {
            '?' | '!' | '.' | ',' | ':' | ';' | '*' | '_' | '~' | '\'' | '"' | '”' | '’' | '»' | '…' | ']' | '。' | '、' | '）' => {
                true
            }
            ')' => rest.matches(')').count() > rest.matches('(').count(),
            _ => false,
        };
        if !cut {
            return rest.len();
        }
        rest = &rest[..rest.len() - last.len_utf8()];
    }
}

fn is_mail(word: &str) -> bool {
    let Some((name, host)) = word.split_once('@') else { return false };
    let plain = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+'));
    plain(name) && plain(host) && host.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_before_the_punctuation_of_the_sentence() {
        let text = "See (https://example.org/a_(b)), www.example.org/x. Or mail a.b@example.org! Not http or @me.";
        let found: Vec<&str> = find(text).iter().map(|a| &text[a.span.range()]).collect();
        assert_eq!(found, ["https://example.org/a_(b)", "www.example.org/x", "a.b@example.org"]);
    }
}
