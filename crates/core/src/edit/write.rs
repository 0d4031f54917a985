//! Addresses and attributes → the bytes that are inserted around an anchor.
//!
//! Nothing that is written can end the attribute or the destination it stands in.

use super::{Insertion, LinkAttributes, LinkStyle, Refusal};
use crate::page::SourceFormat;
use std::fmt::Write as _;

/// Checks that an address can be written at all: no white space at its ends, no control characters,
/// and no scheme but `http` and `https`.
pub(super) fn check_href(href: &str) -> Result<(), Refusal> {
    let scheme = href.split(['/', '?', '#']).next().unwrap_or_default().split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let web = scheme.is_none_or(|scheme| matches!(scheme.as_str(), "http" | "https"));
    let clean = !href.is_empty() && href.trim() == href && !href.chars().any(char::is_control);
    if web && clean { Ok(()) } else { Err(Refusal::UnusableHref) }
}

/// The words before and after an anchor; the label is that of a reference definition.
pub(super) fn around(insertion: &Insertion, format: SourceFormat, label: Option<&str>) -> Result<(String, String), Refusal> {
    check_href(&insertion.href)?;
    let html = format == SourceFormat::Html || insertion.style == LinkStyle::Html;
    if html {
        let attributes = html_attributes(&insertion.attributes);
        return Ok((format!("<a href=\"{}\"{attributes}>", escape_attribute(&insertion.href)), "</a>".to_owned()));
    }
    if insertion.attributes != LinkAttributes::default() {
        return Err(Refusal::AttributesNotWritable);
    }
    let after = label.map_or_else(|| format!("]({})", markdown_destination(&insertion.href)), |label| format!("][{label}]"));
    Ok(("[".to_owned(), after))
}

fn html_attributes(attributes: &LinkAttributes) -> String {
    let mut out = String::new();
    for (name, value) in attributes.pairs() {
        let _ = write!(out, " {name}=\"{}\"", escape_attribute(value));
    }
    out
}

/// Escapes for a double-quoted HTML attribute.
pub(super) fn escape_attribute(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.push(other),
        }
    }
    out
}

/// An address as the destination of a Markdown link. What could end it, begin other markup or be
/// read by a template language is percent-encoded; a would-be character reference is escaped.
pub(super) fn markdown_destination(href: &str) -> String {
    let mut out = String::with_capacity(href.len());
    for (at, character) in href.char_indices() {
        match character {
            '&' if is_reference(&href[at..]) => out.push_str("&amp;"),
            ' ' | '(' | ')' | '<' | '>' | '\\' | '`' | '{' | '}' | '|' | '"' | '[' | ']' | '*' | '$' | '\'' => {
                let _ = write!(out, "%{:02X}", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether a Markdown parser would read a character reference here.
fn is_reference(text: &str) -> bool {
    let name = text[1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '#').count();
    name > 0 && text[1 + name..].starts_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clean_web_addresses_are_written() {
        for href in ["/a/", "../b.md#c", "https://e.org/?a=1&b=2", "//e.org/", "a:8/", "?x:y", "#f:g"] {
            assert_eq!(check_href(href).is_ok(), href != "a:8/", "{href}");
        }
        for href in ["", " /a", "javascript:alert(1)", "JAVASCRIPT:x", "data:,x", "/a\n/b", "mailto:a@b.c"] {
            assert_eq!(check_href(href), Err(Refusal::UnusableHref), "{href}");
        }
    }

    #[test]
    fn nothing_ends_the_attribute_or_the_destination() {
        assert_eq!(escape_attribute("/\"><b>&amp;"), "/&quot;&gt;&lt;b&gt;&amp;amp;");
        assert_eq!(markdown_destination("/a (b)<c>?x=1&copy;&y={{z}}"), "/a%20%28b%29%3Cc%3E?x=1&amp;copy;&y=%7B%7Bz%7D%7D");
    }
}
