//! Raw HTML inside Markdown → tags and text with their places.
//!
//! A small scanner that respects quotes, enough to see links, what cannot carry one, and the words
//! in between. It never decides what is written: raw HTML of a Markdown page is left alone.

use crate::page::Inert;
use crate::span::Span;

/// One piece of raw HTML.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// An opening or closing tag.
    Tag {
        /// Lower-case name.
        name: String,
        /// Whether it is a closing tag.
        closes: bool,
        /// Whether it ends with `/>`.
        self_closing: bool,
        /// The whole tag.
        span: Span,
    },
    /// Text between tags, entities as written.
    Text(Span),
}

/// Cuts `html`, which stands at offset `at` of the source, into pieces. Comments and declarations are dropped.
pub(super) fn pieces(html: &str, at: usize) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut from = 0;
    while from < html.len() {
        let rest = &html[from..];
        if let Some(length) = skipped(rest) {
            from += length;
        } else if let Some((piece, length)) = tag(rest, at + from) {
            from += length;
            let opaque = match &piece {
                Piece::Tag { name, closes: false, .. } if matches!(name.as_str(), "script" | "style" | "template") => {
                    find_ignoring_case(&html[from..], &format!("</{name}"))
                }
                _ => None,
            };
            out.push(piece);
            from += opaque.unwrap_or(0);
        } else {
            let length = rest.char_indices().skip(1).find(|(_, c)| *c == '<').map_or(rest.len(), |(i, _)| i);
            out.push(Piece::Text(Span::new(at + from, at + from + length)));
            from += length;
        }
    }
    out
}

fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes().windows(needle.len()).position(|w| w.eq_ignore_ascii_case(needle.as_bytes()))
}

fn skipped(rest: &str) -> Option<usize> {
    for (open, close) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")] {
        if rest.starts_with(open) {
            return Some(rest.find(close).map_or(rest.len(), |end| end + close.len()));
        }
    }
    None
}

fn tag(rest: &str, at: usize) -> Option<(Piece, usize)> {
    let bytes = rest.as_bytes();
    if bytes.first() != Some(&b'<') {
        return None;
    }
    let closes = bytes.get(1) == Some(&b'/');
    let name_at = if closes { 2 } else { 1 };
    let name: String = rest[name_at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let mut quote = None;
    for (i, byte) in bytes.iter().enumerate().skip(name_at + name.len()) {
        match (quote, *byte) {
            (Some(q), b) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'>') => {
                let self_closing = bytes[i - 1] == b'/';
                let piece = Piece::Tag { name: name.to_ascii_lowercase(), closes, self_closing, span: Span::new(at, at + i + 1) };
                return Some((piece, i + 1));
            }
            _ => {}
        }
    }
    None
}

/// The value of an attribute of a tag, entities decoded.
pub(super) fn attribute(tag: &str, wanted: &str) -> Option<String> {
    let inner = tag.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
    let mut rest = inner.find(|c: char| c.is_ascii_whitespace()).map_or("", |at| &inner[at..]);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let name_end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/')).unwrap_or(rest.len());
        if name_end == 0 {
            rest = rest.strip_prefix('=')?;
            continue;
        }
        let name = &rest[..name_end];
        rest = rest[name_end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let (found, remaining) = match after.chars().next() {
                Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                _ => after.split_at(after.find(|c: char| c.is_ascii_whitespace()).unwrap_or(after.len())),
            };
            value = found;
            rest = remaining;
        }
        if name.eq_ignore_ascii_case(wanted) {
            return Some(decode_entities(value));
        }
        if rest.is_empty() {
            return None;
        }
    }
}

/// Decodes the character references of a stretch of HTML text.
pub(super) fn decode_entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let escaped = text.replace('<', "&lt;");
    dom_query::Document::fragment(escaped.as_str()).text().to_string()
}

/// Why words inside this element cannot carry a link, if they cannot.
pub(super) fn inert_element(name: &str) -> Option<Inert> {
    Some(match name {
        "a" => Inert::Link,
        "code" | "pre" | "kbd" | "samp" | "var" | "math" | "tt" => Inert::Code,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Inert::Heading,
        "button" | "form" | "label" | "select" | "textarea" | "option" | "fieldset" => Inert::Form,
        "figure" | "figcaption" => Inert::Figure,
        "th" | "caption" => Inert::TableHeader,
        "q" | "cite" => Inert::Quotation,
        "svg" | "script" | "style" | "template" | "noscript" | "iframe" | "object" | "video" | "audio" | "summary" | "title" | "head" => {
            Inert::Excluded
        }
        _ => return None,
    })
}

/// Elements that have no content and no closing tag.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area" | "base" | "br" | "col" | "embed" | "hr" | "img" | "input" | "link" | "meta" | "param" | "source" | "track" | "wbr"
    )
}

/// Elements that end the block of text before them.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "br"
            | "button"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "html"
            | "iframe"
            | "legend"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "section"
            | "select"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "textarea"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
            | "video"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_with_any_quotes() {
        let tag = "<a class=x  data-y = 'a > b' href=\"/q?a=1&amp;b=2\" hidden>";
        assert_eq!(attribute(tag, "href").as_deref(), Some("/q?a=1&b=2"));
        assert_eq!(attribute(tag, "data-y").as_deref(), Some("a > b"));
        assert_eq!(attribute(tag, "hidden").as_deref(), Some(""));
        assert_eq!(attribute(tag, "title"), None);
        assert_eq!(attribute("<a = = >", "href"), None);
    }

    #[test]
    fn tags_end_where_their_quotes_allow() {
        let html = "x<a title=\"1 > 2\">b</a><!-- <b> --> < c";
        let texts: Vec<&str> =
            pieces(html, 0).iter().filter_map(|p| if let Piece::Text(s) = p { Some(&html[s.range()]) } else { None }).collect();
        assert_eq!(texts, ["x", "b", " ", "< c"]);
    }
}
