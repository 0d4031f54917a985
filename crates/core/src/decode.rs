//! Bytes become text, and places in the text lead back to the bytes.
//!
//! The encoding is, in this order: byte order mark, `charset` of the HTTP header, what the document's
//! first bytes declare, what the bytes look like.

use crate::page::SourceText;
use crate::span::Span;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Browsers look for a declaration in the first 1024 bytes; real pages are sometimes later.
const DECLARATION_BYTES: usize = 4096;

/// Decodes a body. Malformed sequences become U+FFFD; such places do not lead back to the bytes.
#[must_use]
pub fn decode(body: &[u8], content_type: Option<&str>) -> SourceText {
    if let Some((encoding, length)) = Encoding::for_bom(body) {
        let (text, _) = encoding.decode_without_bom_handling(&body[length..]);
        return SourceText { text: text.into_owned(), encoding: encoding.name().to_owned(), bom: true };
    }
    let encoding = content_type.and_then(header_charset).or_else(|| declared(body)).unwrap_or_else(|| detected(body));
    let (text, _) = encoding.decode_without_bom_handling(body);
    SourceText { text: text.into_owned(), encoding: encoding.name().to_owned(), bom: false }
}

fn header_charset(content_type: &str) -> Option<&'static Encoding> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| Encoding::for_label(value.trim().trim_matches(['"', '\'']).as_bytes())).flatten()
    })
}

/// The encoding that an XML declaration or a `meta` element names.
fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(DECLARATION_BYTES)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let encoding = xml_declaration(&head).or_else(|| meta_declarations(&head))?;
    // A declaration that could be read byte by byte cannot be in UTF-16.
    let is_utf16 = encoding == UTF_16LE || encoding == UTF_16BE;
    Some(if is_utf16 { UTF_8 } else { encoding })
}

fn xml_declaration(head: &str) -> Option<&'static Encoding> {
    let declaration = head.trim_start().strip_prefix("<?xml")?;
    label_after(&declaration[..declaration.find("?>")?], "encoding")
}

fn meta_declarations(head: &str) -> Option<&'static Encoding> {
    let mut rest = head;
    while let Some(at) = rest.find("<meta") {
        rest = &rest[at + 5..];
        let tag = &rest[..rest.find('>').unwrap_or(rest.len())];
        if let Some(encoding) = label_after(tag, "charset") {
            return Some(encoding);
        }
    }
    None
}

/// The label in `name = "label"` or `name=label`.
fn label_after(text: &str, name: &str) -> Option<&'static Encoding> {
    let after = &text[text.find(name)? + name.len()..];
    let value = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '/' | '>')).unwrap_or(value.len());
    Encoding::for_label(&value.as_bytes()[..end])
}

fn detected(body: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(body).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(None, Utf8Detection::Allow)
}

impl SourceText {
    /// The range of `body` that a range of the text came from. `None` when the encoding cannot say
    /// exactly: malformed sequences before or in the range, or an encoding with several spellings.
    #[must_use]
    pub fn byte_span(&self, body: &[u8], span: Span) -> Option<Span> {
        let encoding = Encoding::for_label(self.encoding.as_bytes())?;
        let mark = if self.bom { Encoding::for_bom(body)?.1 } else { 0 };
        let (before, within) = (self.text.get(..span.start)?, self.text.get(span.range())?);
        let start = mark + encoded_length(encoding, body.get(mark..)?, before)?;
        let end = start + encoded_length(encoding, body.get(start..)?, within)?;
        Some(Span::new(start, end))
    }
}

/// Length of `text` in `encoding`, given that `bytes` begins with it; `None` when it does not.
fn encoded_length(encoding: &'static Encoding, bytes: &[u8], text: &str) -> Option<usize> {
    if encoding == UTF_8 {
        return bytes.starts_with(text.as_bytes()).then_some(text.len());
    }
    if encoding == UTF_16LE || encoding == UTF_16BE {
        let unit = |u: u16| if encoding == UTF_16LE { u.to_le_bytes() } else { u.to_be_bytes() };
        let encoded: Vec<u8> = text.encode_utf16().flat_map(unit).collect();
        return bytes.starts_with(&encoded).then_some(encoded.len());
    }
    // Stateful encodings have no bytes of their own for a part of the text.
    if encoding == encoding_rs::ISO_2022_JP {
        return None;
    }
    let (encoded, _, unmappable) = encoding.encode(text);
    (!unmappable && bytes.starts_with(&encoded)).then_some(encoded.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_order_of_evidence_is_mark_header_declaration_bytes() {
        let latin: &[u8] = b"<meta charset=utf-8>caf\xE9";
        assert_eq!(decode(latin, Some("text/html; charset=\"ISO-8859-1\"")).text, "<meta charset=utf-8>café");
        assert_eq!(decode(b"\xEF\xBB\xBFcaf\xC3\xA9", Some("text/html; charset=latin1")).text, "café");
        let declared = b"<?xml version='1.0' encoding='windows-1251'?>\xEF\xF0\xE8\xE2\xE5\xF2";
        assert!(decode(declared, Some("text/html")).text.ends_with("привет"));
        let meta = b"<META HTTP-EQUIV=content-type CONTENT='text/html; charset=shift_jis'>\x93\xFA\x96\x7B";
        assert!(decode(meta, None).text.ends_with("日本"));
        let silent = "<p>Les élèves français préfèrent déjà ça, où l’été".replace('’', "'");
        let (bytes, _, _) = encoding_rs::WINDOWS_1252.encode(&silent);
        assert_eq!(decode(&bytes, None).text, silent);
        let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain("<p>é".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(decode(&wide, None).text, "<p>é");
    }

    #[test]
    fn places_lead_back_to_the_bytes() {
        for label in ["utf-8", "windows-1252", "gb18030", "shift_jis", "utf-16le"] {
            let text = if label == "windows-1252" { "<p>déjà vu" } else { "<p>日本 vu" };
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let body = match label {
                "utf-16le" => [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect(),
                _ => encoding.encode(text).0.into_owned(),
            };
            let source = decode(&body, Some(&format!("text/html; charset={label}")));
            let at = source.text.find("vu").unwrap();
            let span = source.byte_span(&body, Span::new(at, at + 2)).unwrap();
            let (back, _) = encoding.decode_without_bom_handling(&body[span.range()]);
            assert_eq!((label, back.as_ref()), (label, "vu"));
        }
    }

    #[test]
    fn a_place_after_malformed_bytes_has_no_bytes() {
        let body = b"a\xFFb";
        let source = decode(body, Some("text/html; charset=utf-8"));
        assert_eq!(source.byte_span(body, Span::new(4, 5)), None);
        assert_eq!(source.byte_span(body, Span::new(0, 1)), Some(Span::new(0, 1)));
        assert_eq!(source.byte_span(body, Span::new(0, 99)), None);
    }

    proptest! {
        #[test]
        fn any_bytes_decode(body in proptest::collection::vec(any::<u8>(), 0..80), label in "utf-8|big5|euc-kr|iso-2022-jp|x") {
            let source = decode(&body, Some(&format!("text/html;charset={label}")));
            if let Some(span) = source.byte_span(&body, Span::new(0, source.text.len())) {
                prop_assert_eq!(span.end, body.len());
            }
        }
    }
}
