//! A link whose address is a template tag → the path that the tag names.
//!
//! `[text]({{< ref "other.md" >}})`, `({% link _posts/a.md %})`, `({{ site.baseurl }}/a/)`,
//! `({{ '/a/' | relative_url }})`: the quoted or last word is the path; text after the tag goes on.

use crate::span::Span;

/// The `href` of the link at `link`; `hidden` are the template tags in it, as offsets of the body.
pub(super) fn of(source: &str, link: Span, hidden: &[Span], offset: usize) -> Option<String> {
    let whole = source.get(link.range())?;
    let open = whole.rfind("](").map(|at| link.start + at + 2)?;
    let close = link.end.checked_sub(1).filter(|end| open <= *end)?;
    let tag = hidden.iter().map(|h| Span::new(h.start + offset, h.end + offset)).find(|h| open <= h.start && h.end <= close)?;
    let inner = source.get(tag.range())?.trim_matches(['{', '}', '<', '>', '%', '-', ' ', '\n', '\t']);
    let after = source.get(tag.end..close)?.split_ascii_whitespace().next().unwrap_or_default();
    let before = source.get(open..tag.start)?.trim();
    Some(format!("{before}{}{after}", named_path(inner)))
}

fn named_path(tag: &str) -> String {
    if let Some((quote_at, quote)) = tag.char_indices().find(|(_, c)| matches!(c, '"' | '\'')) {
        return tag[quote_at + 1..].split(quote).next().unwrap_or_default().to_owned();
    }
    let mut words = tag.split_ascii_whitespace();
    let takes_path = matches!(words.next(), Some("ref" | "relref" | "link" | "post_url" | "doc" | "url"));
    if takes_path { words.next().unwrap_or_default().to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_the_quoted_or_the_named_word() {
        for (tag, path) in [
            ("ref \"docs/a.md\"", "docs/a.md"),
            ("relref b.md", "b.md"),
            ("link _posts/2020-01-01-a.md", "_posts/2020-01-01-a.md"),
            ("'/c/' | relative_url", "/c/"),
            ("site.baseurl", ""),
        ] {
            assert_eq!(named_path(tag), path);
        }
    }
}
