//! Markdown dialects → plain Markdown of the same length, and the stretches that are no prose.
//!
//! Shortcodes, template tags, JSX, admonition markers and attribute lists mean nothing to a
//! CommonMark parser: some look like text, some break the paragraph around them, some stand where a
//! link's address is. Here they are found in the source and overwritten with as many bytes that
//! parse as a plain word (or as a blank line, or as a list marker), so that every offset that the
//! parser reports is still an offset of the source. Code spans and fenced code are left alone.

use super::OPTIONS;
use crate::page::Inert;
use crate::span::Span;
use pulldown_cmark::{BrokenLink, CodeBlockKind, Event, LinkType, Parser, Tag};

/// The byte that a masked stretch is filled with: a letter, so that it stays one word everywhere.
const FILL: u8 = b'Z';
/// Longest template tag that is believed; a longer one is a brace that was never closed.
const LONGEST_TAG_BYTES: usize = 20_000;
/// Block tags of template languages whose content is no prose, or stands there more than once.
const OPAQUE_BLOCKS: &[&str] =
    &["raw", "verbatim", "highlight", "code", "codeblock", "comment", "capture", "for", "tablerow", "case", "mermaid", "svg", "literal"];

/// A Markdown body ready to be parsed, and what its stretches are.
pub(super) struct Mask {
    /// As long as the body, byte for byte.
    pub(super) text: String,
    /// Stretches that are no visible text, sorted and disjoint.
    pub(super) hidden: Vec<Span>,
    /// Stretches whose text is visible but cannot carry a link, sorted and disjoint.
    pub(super) inert: Vec<(Span, Inert)>,
}

impl Mask {
    /// Finds the stretches of `body`. `mdx` says whether braces and tags are JSX.
    pub(super) fn of(body: &str, mdx: bool) -> Self {
        let mut scan = Scan { body, mdx, text: body.as_bytes().to_vec(), hidden: Vec::new(), inert: Vec::new(), tags: Vec::new() };
        if body.contains(['{', '[', ':', '!', '?', '=', '<']) || mdx {
            let reading = first_reading(body);
            scan.inert = reading.undefined;
            scan.run(&reading.code);
        }
        scan.pair_tags();
        Self { text: String::from_utf8(scan.text).unwrap_or_else(|_| body.to_owned()), hidden: scan.hidden, inert: disjoint(scan.inert) }
    }

    /// The hidden stretches that share a byte with `span`.
    pub(super) fn hidden_in(&self, span: Span) -> &[Span] {
        let from = self.hidden.partition_point(|h| h.end <= span.start);
        let to = self.hidden.partition_point(|h| h.start < span.end);
        self.hidden.get(from..to.max(from)).unwrap_or_default()
    }

    /// Cuts `span` into its visible stretches, each with the reason why it is inert, if it is.
    pub(super) fn visible(&self, span: Span) -> Vec<(Span, Option<Inert>)> {
        let mut out = Vec::new();
        let mut at = span.start;
        for hidden in self.hidden_in(span) {
            if at < hidden.start {
                self.cut_inert(Span::new(at, hidden.start), &mut out);
            }
            at = at.max(hidden.end);
        }
        if at < span.end {
            self.cut_inert(Span::new(at, span.end), &mut out);
        }
        out
    }

    fn cut_inert(&self, span: Span, out: &mut Vec<(Span, Option<Inert>)>) {
        let mut at = span.start;
        let from = self.inert.partition_point(|(s, _)| s.end <= span.start);
        for (inert, why) in self.inert[from..].iter().take_while(|(s, _)| s.start < span.end) {
            if at < inert.start {
                out.push((Span::new(at, inert.start), None));
            }
            let start = inert.start.max(at);
            let end = inert.end.min(span.end);
            out.push((Span::new(start, end), Some(*why)));
            at = end;
        }
        if at < span.end {
            out.push((Span::new(at, span.end), None));
        }
    }
}

/// Joins stretches that overlap; the one that begins first names the reason.
fn disjoint(mut spans: Vec<(Span, Inert)>) -> Vec<(Span, Inert)> {
    spans.sort();
    let mut out: Vec<(Span, Inert)> = Vec::with_capacity(spans.len());
    for (span, why) in spans {
        match out.last_mut() {
            Some((last, _)) if span.start < last.end => last.end = last.end.max(span.end),
            _ => out.push((span, why)),
        }
    }
    out
}

/// What a first reading of the body finds.
#[derive(Default)]
struct FirstReading {
    /// Code spans and fenced code, where braces are only characters. Indented code is not among them:
    /// the body of an admonition looks like it.
    code: Vec<Span>,
    /// Brackets that refer to a definition which is not in this file. With a label it may be in an
    /// included file, and then the words are a link already; without, they are an editor's brackets,
    /// which a link must not cut.
    undefined: Vec<(Span, Inert)>,
}

fn first_reading(body: &str) -> FirstReading {
    let mut undefined = Vec::new();
    let mut code = Vec::new();
    let note = |link: BrokenLink| {
        let labelled = matches!(link.link_type, LinkType::Reference | LinkType::Collapsed);
        // The span of `[words][]` is reported without the empty brackets.
        let empty = if body[link.span.end..].starts_with("[]") { 2 } else { 0 };
        let span = Span::new(link.span.start, link.span.end + empty);
        undefined.push((span, if labelled || empty > 0 { Inert::Link } else { Inert::Excluded }));
        None
    };
    for (event, range) in Parser::new_with_broken_link_callback(body, OPTIONS, Some(note)).into_offset_iter() {
        if matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))) {
            code.push(Span::from(range));
        }
    }
    code.sort();
    FirstReading { code, undefined }
}

/// An opening or closing tag that may have a partner.
struct TagMark {
    family: Family,
    name: String,
    closes: bool,
    span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Shortcode,
    Template,
    Jsx,
}

struct Scan<'a> {
    body: &'a str,
    mdx: bool,
    text: Vec<u8>,
    hidden: Vec<Span>,
    inert: Vec<(Span, Inert)>,
    tags: Vec<TagMark>,
}

impl Scan<'_> {
    fn run(&mut self, code: &[Span]) {
        let bytes = self.body.as_bytes();
        let mut code = code.iter().peekable();
        let mut at = 0;
        let mut line_start = true;
        while at < bytes.len() {
            while code.next_if(|span| span.end <= at).is_some() {}
            if let Some(span) = code.peek().filter(|span| span.start <= at) {
                at = span.end;
                line_start = false;
                continue;
            }
            let here = if line_start { self.line_marker(at).or_else(|| self.stretch(at)) } else { self.stretch(at) };
            line_start = match bytes[at] {
                b'\n' => true,
                b' ' | b'\t' | b'>' => line_start,
                _ => false,
            };
            at = here.unwrap_or(at + 1).max(at + 1);
        }
    }

    /// A marker that owns its line: `:::note`, `!!! note`, `??? note`, `=== "Tab"`, MDX imports.
    fn line_marker(&mut self, at: usize) -> Option<usize> {
        let line = self.line_at(at);
        let end = at + line.len();
        if line.starts_with(":::") {
            self.hide(Span::new(at, end), b' ');
            return Some(end);
        }
        let opens = ["!!! ", "??? ", "???+ ", "=== \""].iter().any(|marker| line.starts_with(marker));
        if opens && self.body.is_char_boundary(at + 4) {
            // The content stands four columns to the right: exactly that of a list item.
            self.hide(Span::new(at, end), FILL);
            self.text[at..at + 4].copy_from_slice(b"-   ");
            return Some(end);
        }
        if self.mdx && (line.starts_with("import ") || line.starts_with("export ")) {
            let rest = &self.body[at..];
            let end = at + rest.find("\n\n").or_else(|| rest.find("\r\n\r\n")).unwrap_or(rest.len());
            self.hide(Span::new(at, end), b' ');
            return Some(end);
        }
        None
    }

    fn line_at(&self, at: usize) -> &str {
        let rest = self.body.get(at..).unwrap_or_default();
        rest.split(['\n', '\r']).next().unwrap_or_default()
    }

    /// A stretch that begins at this byte.
    fn stretch(&mut self, at: usize) -> Option<usize> {
        match self.body.as_bytes()[at] {
            b'{' => self.brace(at),
            b'<' => self.jsx_tag(at),
            b'[' => self.wikilink(at),
            _ => None,
        }
    }

    fn brace(&mut self, at: usize) -> Option<usize> {
        let rest = &self.body[at..];
        for (open, close) in [("{{<", ">}}"), ("{{%", "%}}"), ("{{", "}}"), ("{%", "%}"), ("{# ", "#}")] {
            if rest.starts_with(open) {
                let end = at + self.end_of(at, open.len(), close)?;
                let span = Span::new(at, end);
                self.note_template(span, open, close);
                self.hide(span, FILL);
                return Some(end);
            }
        }
        if let Some(end) = self.attribute_list(at) {
            return Some(end);
        }
        if !self.mdx || is_escaped(self.body, at) {
            return None;
        }
        let end = at + balanced(rest)?;
        self.hide(Span::new(at, end), FILL);
        Some(end)
    }

    fn end_of(&self, at: usize, skip: usize, close: &str) -> Option<usize> {
        let rest = self.body.get(at + skip..)?;
        let found = rest.find(close)? + skip + close.len();
        (found <= LONGEST_TAG_BYTES).then_some(found)
    }

    /// `{: .class}`, `{.class}`, `{#id}`: an attribute list is no text, but a heading's is the parser's.
    fn attribute_list(&mut self, at: usize) -> Option<usize> {
        let line = self.line_at(at);
        let inner = line[1..].trim_start();
        if !inner.starts_with([':', '.', '#']) {
            return None;
        }
        let close = line.find('}')?;
        let plausible = line[1..close].chars().all(|c| c.is_alphanumeric() || " :.#-_=\"'/%,;".contains(c));
        if !plausible || close < 3 {
            return None;
        }
        self.hidden.push(Span::new(at, at + close + 1));
        Some(at + close + 1)
    }

    /// A component's tag. Plain Markdown parses tags itself unless they hold JSX expressions.
    fn jsx_tag(&mut self, at: usize) -> Option<usize> {
        let rest = &self.body[at..];
        if rest.starts_with("<!--") {
            let end = at + rest.find("-->")? + 3;
            return Some(end);
        }
        let name_at = if rest.starts_with("</") { 2 } else { 1 };
        let name: String = rest[name_at..].chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')).collect();
        let component =
            name.starts_with(|c: char| c.is_ascii_uppercase()) || (self.mdx && name.starts_with(|c: char| c.is_ascii_lowercase()));
        let fragment = self.mdx && name.is_empty() && rest[name_at..].starts_with('>');
        if !(component || fragment) {
            return None;
        }
        let end = at + tag_end(rest)?;
        let span = Span::new(at, end);
        let source = &self.body[at..end];
        if rest.as_bytes().get(name_at + name.len()).is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'/' | b'>')) {
            return None;
        }
        if self.mdx && !source.ends_with("/>") {
            self.tags.push(TagMark { family: Family::Jsx, name, closes: name_at == 2, span });
        }
        if self.mdx || source.contains('{') {
            self.hide(span, FILL);
        }
        Some(end)
    }

    /// `[[page]]` and `[[page|words]]`: a link already, in the dialects that know it.
    fn wikilink(&mut self, at: usize) -> Option<usize> {
        let line = self.line_at(at);
        let inner = line.strip_prefix("[[")?;
        let close = inner.find("]]")?;
        let after = inner[close + 2..].chars().next();
        if close == 0 || inner[..close].contains(['[', ']']) || matches!(after, Some('(' | '[' | ':')) {
            return None;
        }
        let end = at + close + 4;
        self.inert.push((Span::new(at, end), Inert::Link));
        Some(end)
    }

    fn note_template(&mut self, span: Span, open: &str, close: &str) {
        let source = &self.body[span.range()];
        let inner = source[open.len()..source.len() - close.len()].trim_matches(|c: char| c == '-' || c.is_whitespace());
        if inner.ends_with('/') {
            return;
        }
        let closing_slash = inner.starts_with('/');
        let word: String = inner.trim_start_matches(['/', ' ']).chars().take_while(|c| !c.is_whitespace()).collect();
        match open {
            "{{<" => self.tags.push(TagMark { family: Family::Shortcode, name: word, closes: closing_slash, span }),
            "{%" | "{{%" => {
                let ended = word.strip_prefix("end").filter(|_| open == "{%");
                let name = ended.unwrap_or(&word).to_owned();
                if OPAQUE_BLOCKS.contains(&name.as_str()) {
                    self.tags.push(TagMark { family: Family::Template, closes: ended.is_some() || closing_slash, name, span });
                }
            }
            _ => {}
        }
    }

    /// Text between a tag and its partner is inert. A tag without partner stands for itself.
    fn pair_tags(&mut self) {
        let mut open: Vec<&TagMark> = Vec::new();
        for tag in &self.tags {
            if !tag.closes {
                open.push(tag);
                continue;
            }
            let Some(partner) = open.iter().rposition(|o| o.family == tag.family && o.name == tag.name) else { continue };
            let start = open[partner].span.end;
            open.truncate(partner);
            if start < tag.span.start {
                self.inert.push((Span::new(start, tag.span.start), Inert::Template));
            }
        }
    }

    fn hide(&mut self, span: Span, fill: u8) {
        self.hidden.push(span);
        for byte in &mut self.text[span.range()] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = fill;
            }
        }
    }
}

/// Whether an odd number of backslashes stands before this byte.
fn is_escaped(body: &str, at: usize) -> bool {
    body.as_bytes()[..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

/// Length of the brace expression that `text` begins with, quotes and nested braces respected.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().take(LONGEST_TAG_BYTES) {
        match (quote, byte) {
            (Some(q), _) if q == byte => quote = None,
            (Some(_), _) => {}
            // An apostrophe inside braces is far more often a quotation mark than not.
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, b'{') => depth += 1,
            (None, b'}') if depth == 1 => return Some(at + 1),
            (None, b'}') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Length of the tag that `text` begins with, quotes and brace expressions respected.
fn tag_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    let mut quote = None;
    while at < bytes.len().min(LONGEST_TAG_BYTES) {
        let byte = bytes[at];
        match (quote, byte) {
            (Some(q), _) if q == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{') => at += balanced(&text[at..])? - 1,
            (None, b'>') => return Some(at + 1),
            (None, b'<') => return None,
            _ => {}
        }
        at += 1;
    }
    None
}
