//! HTML source becomes tags and stretches of text, each with its byte range.
//!
//! Follows the tokenizer of the HTML standard where it decides what is markup and what is text:
//! attribute quotes, comments, raw text of scripts and styles. Every byte of the source lies in
//! exactly one token; nothing is decoded here.

use crate::span::Span;

/// An attribute. The value is without quotes; both are ranges of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    pub(super) name: Span,
    pub(super) value: Span,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `name` is the range of the tag name; the attributes are in `Tokenizer::attributes`.
    Start { name: Span, self_closing: bool },
    /// `name` is the range of the tag name.
    End { name: Span },
    /// Character data with character references.
    Text,
    /// Character data of an element whose content is not markup.
    RawText,
    /// A comment, doctype, processing instruction or CDATA section.
    Comment,
}

/// A token and its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// Reads tokens one after the other.
pub(super) struct Tokenizer<'a> {
    source: &'a str,
    at: usize,
    /// Attributes of the start tag read last, in source order.
    pub(super) attributes: Vec<Attribute>,
    raw_text_of: Option<Span>,
}

impl<'a> Tokenizer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, at: 0, attributes: Vec::new(), raw_text_of: None }
    }

    /// The next token, `None` at the end.
    pub(super) fn next_token(&mut self) -> Option<Token> {
        if self.at >= self.source.len() {
            return None;
        }
        let start = self.at;
        let kind = match self.raw_text_of.take() {
            Some(name) => self.raw_text(name),
            None => None,
        };
        let kind = kind.unwrap_or_else(|| self.markup_or_text());
        debug_assert!(self.at > start);
        Some(Token { kind, span: Span::new(start, self.at) })
    }

    /// Says that the content of the element just started, up to its end tag, is text and not markup.
    pub(super) fn enter_raw_text(&mut self, name: Span) {
        self.raw_text_of = Some(name);
    }

    /// Says that all the rest of the source is text.
    pub(super) fn enter_plain_text(&mut self) {
        self.raw_text_of = Some(Span::new(0, 0));
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.source.as_bytes().get(at).copied()
    }

    /// Consumes raw text before the matching end tag; `None` when there is none at all.
    fn raw_text(&mut self, name: Span) -> Option<TokenKind> {
        let start = self.at;
        self.at = if name.is_empty() { self.source.len() } else { self.raw_text_end(name) };
        (self.at > start).then_some(TokenKind::RawText)
    }

    fn raw_text_end(&self, name: Span) -> usize {
        let (bytes, name) = (self.source.as_bytes(), &self.source.as_bytes()[name.range()]);
        let mut at = self.at;
        while let Some(offset) = find(&bytes[at..], b'<') {
            at += offset;
            let after = at + 2 + name.len();
            let matches = bytes.get(at + 1) == Some(&b'/') && bytes.get(at + 2..after).is_some_and(|n| n.eq_ignore_ascii_case(name));
            let closed = bytes.get(after).is_none_or(|b| is_blank(*b) || matches!(b, b'>' | b'/'));
            if matches && closed {
                return at;
            }
            at += 1;
        }
        bytes.len()
    }

    fn markup_or_text(&mut self) -> TokenKind {
        if self.byte(self.at) == Some(b'<')
            && let Some(kind) = self.markup()
        {
            return kind;
        }
        self.text()
    }

    /// Text up to the next `<` that begins markup.
    fn text(&mut self) -> TokenKind {
        let bytes = self.source.as_bytes();
        let mut at = self.at + 1;
        while let Some(offset) = find(&bytes[at.min(bytes.len())..], b'<') {
            at += offset;
            let next = self.byte(at + 1);
            let begins_end_tag = next == Some(b'/') && self.byte(at + 2).is_some();
            if begins_end_tag || next.is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'!' | b'?')) {
                self.at = at;
                return TokenKind::Text;
            }
            at += 1;
        }
        self.at = bytes.len();
        TokenKind::Text
    }

    /// Consumes markup at a `<`; `None` when the `<` is text.
    fn markup(&mut self) -> Option<TokenKind> {
        match self.byte(self.at + 1)? {
            b'!' => Some(self.declaration()),
            b'?' => Some(self.bogus_comment()),
            b'/' => match self.byte(self.at + 2)? {
                byte if byte.is_ascii_alphabetic() => Some(self.tag(self.at + 2)),
                _ => Some(self.bogus_comment()),
            },
            byte if byte.is_ascii_alphabetic() => Some(self.tag(self.at + 1)),
            _ => None,
        }
    }

    fn declaration(&mut self) -> TokenKind {
        let rest = &self.source[self.at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            self.at += 4 + comment_length(comment);
        } else if let Some(data) = rest.strip_prefix("<![CDATA[") {
            // Outside SVG and MathML a CDATA section is a comment up to the first `>`; inside, nothing
            // of it is prose. Where both ends differ the later one would hide text, so the first counts.
            self.at += 9 + data.find('>').map_or(data.len(), |end| end + 1);
        } else {
            return self.bogus_comment();
        }
        TokenKind::Comment
    }

    fn bogus_comment(&mut self) -> TokenKind {
        let rest = &self.source[self.at..];
        self.at += rest.find('>').map_or(rest.len(), |end| end + 1);
        TokenKind::Comment
    }

    /// A start or end tag whose name begins at `name`. A tag cut off by the end of the source is a comment.
    fn tag(&mut self, name: usize) -> TokenKind {
        let is_end = name > self.at + 1;
        self.attributes.clear();
        let name_end = self.skip_until(name, |b| is_blank(b) || matches!(b, b'/' | b'>'));
        let mut at = name_end;
        let self_closing = loop {
            at = self.skip_until(at, |b| !is_blank(b));
            match self.byte(at) {
                None => {
                    self.at = self.source.len();
                    return TokenKind::Comment;
                }
                Some(b'>') => break false,
                Some(b'/') if self.byte(at + 1) == Some(b'>') => {
                    at += 1;
                    break true;
                }
                Some(b'/') => at += 1,
                Some(_) => at = self.attribute(at),
            }
        };
        self.at = at + 1;
        let name = Span::new(name, name_end);
        if is_end { TokenKind::End { name } } else { TokenKind::Start { name, self_closing } }
    }

    /// Reads the attribute that begins at `start`, gives the offset after it.
    fn attribute(&mut self, start: usize) -> usize {
        // A `=` in first place belongs to the name.
        let name_end = self.skip_until(start + 1, |b| is_blank(b) || matches!(b, b'/' | b'>' | b'='));
        let name = Span::new(start, name_end);
        let equals = self.skip_until(name_end, |b| !is_blank(b));
        if self.byte(equals) != Some(b'=') {
            self.attributes.push(Attribute { name, value: Span::new(name_end, name_end) });
            return equals;
        }
        let value = self.skip_until(equals + 1, |b| !is_blank(b));
        let (value, end) = match self.byte(value) {
            Some(quote @ (b'"' | b'\'')) => {
                let end = self.skip_until(value + 1, |b| b == quote);
                (Span::new(value + 1, end), (end + 1).min(self.source.len()))
            }
            _ => {
                let end = self.skip_until(value, |b| is_blank(b) || b == b'>');
                (Span::new(value, end), end)
            }
        };
        self.attributes.push(Attribute { name, value });
        end
    }

    /// The first offset from `at` on whose byte satisfies `stop`, or the end of the source.
    fn skip_until(&self, at: usize, stop: impl Fn(u8) -> bool) -> usize {
        let at = at.min(self.source.len());
        let rest = &self.source.as_bytes()[at..];
        at + rest.iter().position(|b| stop(*b)).unwrap_or(rest.len())
    }
}

fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    memchr::memchr(wanted, bytes)
}

/// White space of the HTML standard.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}

/// Bytes from after `<!--` to after the comment's end.
fn comment_length(comment: &str) -> usize {
    for early in [">", "->"] {
        if comment.starts_with(early) {
            return early.len();
        }
    }
    let mut at = 0;
    while let Some(offset) = comment[at..].find("--") {
        at += offset + 2;
        let rest = &comment[at..];
        if let Some(end) = [">", "!>"].into_iter().find(|end| rest.starts_with(end)) {
            return at + end.len();
        }
        // A third hyphen may be the first of the two that end the comment.
        at -= 1;
    }
    comment.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(source: &str) -> Vec<String> {
        let mut tokenizer = Tokenizer::new(source);
        let mut out = Vec::new();
        while let Some(token) = tokenizer.next_token() {
            let text = &source[token.span.range()];
            out.push(match token.kind {
                TokenKind::Start { name, .. } => {
                    let attributes: Vec<String> =
                        tokenizer.attributes.iter().map(|a| format!("{}={}", &source[a.name.range()], &source[a.value.range()])).collect();
                    if source[name.range()].eq_ignore_ascii_case("script") {
                        tokenizer.enter_raw_text(name);
                    }
                    format!("<{} {}", &source[name.range()], attributes.join("|"))
                }
                TokenKind::End { name } => format!("/{}", &source[name.range()]),
                TokenKind::Text => format!("t:{text}"),
                TokenKind::RawText => format!("r:{text}"),
                TokenKind::Comment => "c".to_owned(),
            });
        }
        out
    }

    #[test]
    fn quotes_and_comments_hide_angle_brackets() {
        let source = "<a title='x > \"y\"\n' href=a/b>t</a><!-- <b> --><i a=\"1\"b>";
        assert_eq!(tokens(source), ["<a title=x > \"y\"\n|href=a/b", "t:t", "/a", "c", "<i a=1|b="]);
    }

    #[test]
    fn script_text_is_never_markup() {
        let source = "<SCRIPT>if (a<b) '<p>' </scripty> </script >x";
        assert_eq!(tokens(source), ["<SCRIPT ", "r:if (a<b) '<p>' </scripty> ", "/script", "t:x"]);
    }

    #[test]
    fn a_lone_angle_bracket_is_text() {
        assert_eq!(tokens("a < b <3 x</ y></>"), ["t:a < b <3 x", "c", "c"]);
        assert_eq!(tokens("a <"), ["t:a <"]);
        assert_eq!(tokens("<p <"), ["c"]);
        assert_eq!(tokens("<!-->x<!--->y<!--a--!>z<!doctype html>"), ["c", "t:x", "c", "t:y", "c", "t:z", "c"]);
    }

    proptest! {
        #[test]
        fn tokens_cover_the_source(source in "(<|>|/|!|-|a|script|=|\"|'| |é|&|\\?)*") {
            let mut tokenizer = Tokenizer::new(&source);
            let mut at = 0;
            while let Some(token) = tokenizer.next_token() {
                prop_assert_eq!(token.span.start, at);
                prop_assert!(token.span.end > at && source.is_char_boundary(token.span.end));
                at = token.span.end;
            }
            prop_assert_eq!(at, source.len());
        }
    }
}
