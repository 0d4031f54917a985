//! Two sources, before and after → whether the second is the first with exactly the given links more.
//!
//! Nothing of the code that writes or of the parser that found the place is used here. HTML is read by
//! html5ever, Markdown is rendered by pulldown-cmark first. Both documents are written down flat (see
//! `canonical`) and compared in one pass: wherever the second has something more, it must be the next
//! expected link around text that the first has there too. So text, elements, attributes and comments
//! are the same, and a link that ended up in an attribute, a comment, a title or another link is seen.

use super::canonical::{self, CLOSE, NAME, OPEN, OPENED, VALUE, is_sign};
use super::{Insertion, LinkAttributes, Refusal};
use crate::page::SourceFormat;
use crate::url::PageUrl;
use pulldown_cmark::{Options, Parser, html};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A link that must be there after an edit and was not before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLink {
    /// Its `href`.
    pub href: String,
    /// Its text, white space collapsed.
    pub anchor: String,
    /// Its other attributes.
    pub attributes: LinkAttributes,
}

impl NewLink {
    /// The link that an insertion makes.
    #[must_use]
    pub fn of(insertion: &Insertion) -> Self {
        Self { href: insertion.href.clone(), anchor: insertion.anchor.clone(), attributes: insertion.attributes.clone() }
    }
}

/// Elements in which a link would be invalid, invisible or out of place.
const FORBIDDEN: &[&[u8]] = &[
    b"a",
    b"audio",
    b"button",
    b"caption",
    b"code",
    b"datalist",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"iframe",
    b"kbd",
    b"label",
    b"legend",
    b"math",
    b"noscript",
    b"object",
    b"optgroup",
    b"option",
    b"pre",
    b"q",
    b"samp",
    b"script",
    b"select",
    b"style",
    b"summary",
    b"svg",
    b"template",
    b"textarea",
    b"th",
    b"title",
    b"tt",
    b"var",
    b"video",
];

/// Elements that MDX makes of Markdown. Any other comes from a component or raw HTML.
const OF_MARKDOWN: &[&[u8]] =
    &[b"html", b"body", b"p", b"ul", b"ol", b"li", b"blockquote", b"em", b"strong", b"del", b"table", b"tbody", b"tr", b"td"];

/// How far back an unclosed template tag is looked for, in bytes.
const TEMPLATE_REACH: usize = 4_000;

/// Checks an edit. `expected` holds the new links in the order of their places; `base` is the URL that
/// the page's links resolve against.
///
/// # Errors
/// When the two sources differ in anything but the expected links.
pub fn check(before: &str, after: &str, format: SourceFormat, base: &PageUrl, expected: &[NewLink]) -> Result<(), Refusal> {
    compare(&flatten(before, format), after, format, base, expected)
}

/// The flat form of a source. Markdown with template tags is read twice, with the tags as they are and
/// with a word in place of each: generators differ in what their Markdown parser sees there, and
/// emphasis beside a tag depends on it.
pub(super) fn flatten(source: &str, format: SourceFormat) -> Vec<u8> {
    if format == SourceFormat::Html {
        return canonical::of_html(source);
    }
    let mut flat = canonical::of_html(&render(source));
    if has_templates(source) {
        flat.extend(canonical::of_html(&render(&without_templates(source))));
    }
    flat
}

fn has_templates(source: &str) -> bool {
    source.contains("{{") || source.contains("{%")
}

fn without_templates(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(open) = rest.find('{') {
        let (before, tag) = rest.split_at(open);
        out.push_str(before);
        let close = match tag.as_bytes() {
            [b'{', b'{', ..] => tag.find("}}"),
            [b'{', b'%', ..] => tag.find("%}"),
            _ => None,
        };
        out.push_str(if close.is_some() { "template" } else { "{" });
        rest = &tag[close.map_or(1, |at| at + 2)..];
    }
    out.push_str(rest);
    out
}

fn render(source: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    let (head, body) = split_head(source);
    let mut out = String::with_capacity(source.len() + source.len() / 2);
    // The head is kept as a comment: nothing in it may change, and nothing in it is a link.
    out.push_str("<!--");
    out.push_str(&head.replace("--", "- -"));
    out.push_str("-->\n");
    html::push_html(&mut out, Parser::new_ext(body, options));
    out
}

/// Cuts off the lines between two fences of `---` or `+++` at the beginning.
fn split_head(source: &str) -> (&str, &str) {
    let mut at = 0;
    let mut fence = None;
    for line in source.split_inclusive('\n') {
        at += line.len();
        let bare = line.trim_end();
        match fence {
            None if matches!(bare, "---" | "+++") => fence = Some(bare),
            None => break,
            Some(fence) if bare == fence => return source.split_at(at),
            Some(_) => {}
        }
    }
    ("", source)
}

/// Compares the flat form of the old source with the new source.
pub(super) fn compare(before: &[u8], after: &str, format: SourceFormat, base: &PageUrl, expected: &[NewLink]) -> Result<(), Refusal> {
    if expected.iter().any(|link| base.join(&link.href).is_none()) {
        return Err(Refusal::UnusableHref);
    }
    let readings = if format != SourceFormat::Html && has_templates(after) { 2 } else { 1 };
    let after = flatten(after, format);
    let mut walk = Walk { before, after: &after, at: 0, after_at: 0, open: Vec::new(), noted: 0 };
    for link in std::iter::repeat_n(expected, readings).flatten() {
        walk.skip_common()?;
        walk.new_link(link, format)?;
    }
    match walk.skip_common() {
        Err(Refusal::LinkCountWrong) => Ok(()),
        Err(refusal) => Err(refusal),
        Ok(()) => Err(Refusal::LinkCountWrong),
    }
}

struct Walk<'a> {
    before: &'a [u8],
    after: &'a [u8],
    at: usize,
    after_at: usize,
    /// Names of the elements that are open at `noted`.
    open: Vec<&'a [u8]>,
    noted: usize,
}

impl<'a> Walk<'a> {
    /// Goes on while both are the same. `Ok` where the new one has a link more, `LinkCountWrong` at the
    /// common end.
    fn skip_common(&mut self) -> Result<(), Refusal> {
        let (before, after) = (&self.before[self.at..], &self.after[self.after_at..]);
        let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        self.at += same;
        self.after_at += same;
        match (self.before.get(self.at), self.after.get(self.after_at)) {
            (None, None) => Err(Refusal::LinkCountWrong),
            (Some(old), Some(&OPEN)) if !is_sign(*old) => Ok(()),
            (Some(old), Some(new)) if is_sign(*old) || is_sign(*new) => Err(Refusal::StructureChanged),
            (Some(_), Some(_)) => Err(Refusal::TextChanged),
            (None, Some(_)) | (Some(_), None) => Err(Refusal::StructureChanged),
        }
    }

    /// Reads the element that the new document has more: it must be the expected link around the text
    /// that the old document has here, and nothing else.
    fn new_link(&mut self, link: &NewLink, format: SourceFormat) -> Result<(), Refusal> {
        let rest = &self.after[self.after_at..];
        let opened = rest.iter().position(|b| *b == OPENED).ok_or(Refusal::StructureChanged)?;
        is_expected_tag(&rest[1..opened], link)?;
        let text = &rest[opened + 1..];
        let length = text.iter().position(|b| is_sign(*b)).ok_or(Refusal::StructureChanged)?;
        if text[length] != CLOSE {
            return Err(Refusal::StructureChanged);
        }
        let text = &text[..length];
        if self.before.get(self.at..self.at + length) != Some(text) {
            return Err(Refusal::TextChanged);
        }
        if !same_words(text, &link.anchor) {
            return Err(Refusal::AnchorChanged);
        }
        self.is_allowed_here(format)?;
        self.at += length;
        self.after_at += opened + 1 + length + 1;
        Ok(())
    }

    fn is_allowed_here(&mut self, format: SourceFormat) -> Result<(), Refusal> {
        self.note_open_elements();
        if self.open.iter().any(|name| FORBIDDEN.contains(name) || name.contains(&b'|')) {
            return Err(Refusal::ForbiddenElement);
        }
        if format == SourceFormat::Html {
            return Ok(());
        }
        let foreign = format == SourceFormat::Mdx && !self.open.iter().all(|name| OF_MARKDOWN.contains(name));
        if foreign || self.is_inside_template(format) { Err(Refusal::InsideTemplate) } else { Ok(()) }
    }

    fn note_open_elements(&mut self) {
        while self.noted < self.at {
            let byte = self.before[self.noted];
            self.noted += 1;
            if byte == CLOSE {
                self.open.pop();
            } else if byte == OPEN {
                let name = &self.before[self.noted..];
                let length = name.iter().position(|b| is_sign(*b)).unwrap_or(name.len());
                self.open.push(&name[..length]);
            }
        }
    }

    /// Whether a template tag or expression was opened before this place and not closed.
    fn is_inside_template(&self, format: SourceFormat) -> bool {
        let reach = &self.before[self.at.saturating_sub(TEMPLATE_REACH)..self.at];
        let last = |needle: &[u8]| reach.windows(needle.len()).rposition(|w| w == needle);
        let unclosed = |open: &[u8], close: &[u8]| last(open).is_some_and(|at| last(close).is_none_or(|end| end < at));
        let braces = format == SourceFormat::Mdx && unclosed(b"{", b"}");
        braces || unclosed(b"{{", b"}}") || unclosed(b"{%", b"%}")
    }
}

/// Whether the tag (name and attributes, flat) is that of the expected link.
fn is_expected_tag(tag: &[u8], link: &NewLink) -> Result<(), Refusal> {
    let mut parts = tag.split(|b| *b == NAME);
    if parts.next() != Some(b"a") {
        return Err(Refusal::StructureChanged);
    }
    let mut seen: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
    for part in parts {
        let cut = part.iter().position(|b| *b == VALUE).unwrap_or(part.len());
        seen.insert(&part[..cut], part.get(cut + 1..).unwrap_or_default());
    }
    let href = seen.remove(&b"href"[..]).ok_or(Refusal::LinkCountWrong)?;
    if percent_decoded(href) != percent_decoded(link.href.as_bytes()) {
        return Err(Refusal::LinkCountWrong);
    }
    let expected: BTreeMap<&[u8], &[u8]> = link.attributes.pairs().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
    if seen == expected { Ok(()) } else { Err(Refusal::StructureChanged) }
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match (text[at], digit(text.get(at + 1)), digit(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
            }
            (byte, _, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

fn same_words(text: &[u8], anchor: &str) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.split_whitespace().eq(anchor.split_whitespace()))
}
