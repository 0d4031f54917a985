//! An edit of decoded text → the same edit of the original bytes.
//!
//! The page's own bytes are kept, whatever they are: the decoder is fed byte by byte to learn where in
//! the bytes each insertion belongs, and the result is decoded once more and must read as the edit.

use super::{Edited, Refusal};
use crate::page::SourceText;
use crate::span::Span;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// The bytes of a page with links written into them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// What was inserted, as ranges of `bytes`, in the order of [`Edited::inserted`].
    pub inserted: Vec<Span>,
}

/// Inserts the pieces of an edit into the original bytes. All other bytes stay as they are.
///
/// # Errors
/// When a place has no exact counterpart in the bytes, or the encoding cannot write the insertion.
pub fn encode_back(source: &SourceText, original: &[u8], edited: &Edited) -> Result<Encoded, Refusal> {
    let encoding = Encoding::for_label(source.encoding.as_bytes()).ok_or(Refusal::EncodingNotExact)?;
    let mark = mark_length(source, encoding, original)?;
    let body = &original[mark..];
    let pieces: Vec<(usize, &str)> = edited.insertions().collect();
    let offsets = if encoding == UTF_8 && std::str::from_utf8(body) == Ok(&source.text) {
        pieces.iter().map(|(at, _)| *at).collect()
    } else {
        byte_offsets(body, encoding, &pieces)?
    };
    let mut out = original[..mark].to_vec();
    let mut inserted = Vec::with_capacity(pieces.len());
    let mut from = 0;
    for (offset, (_, piece)) in offsets.into_iter().zip(&pieces) {
        out.extend_from_slice(body.get(from..offset).ok_or(Refusal::EncodingNotExact)?);
        let start = out.len();
        out.extend_from_slice(&encoded(piece, encoding)?);
        inserted.push(Span::new(start, out.len()));
        from = offset;
    }
    out.extend_from_slice(&body[from..]);
    let (read, _) = encoding.decode_without_bom_handling(&out[mark..]);
    if read == edited.text { Ok(Encoded { bytes: out, inserted }) } else { Err(Refusal::EncodingNotExact) }
}

fn mark_length(source: &SourceText, encoding: &'static Encoding, original: &[u8]) -> Result<usize, Refusal> {
    match Encoding::for_bom(original) {
        Some((marked, length)) if source.bom && marked == encoding => Ok(length),
        _ if source.bom => Err(Refusal::EncodingNotExact),
        _ => Ok(0),
    }
}

/// Where in the bytes the decoded text has each of these lengths.
fn byte_offsets(body: &[u8], encoding: &'static Encoding, pieces: &[(usize, &str)]) -> Result<Vec<usize>, Refusal> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut offsets = Vec::with_capacity(pieces.len());
    let mut wanted = pieces.iter().map(|(at, _)| *at).peekable();
    let mut length = 0;
    // One byte gives at most a few characters; the buffer never runs full.
    let mut buffer = [0_u8; 64];
    for (at, byte) in body.iter().enumerate() {
        while wanted.next_if_eq(&length).is_some() {
            offsets.push(at);
        }
        if wanted.peek().is_none() {
            return Ok(offsets);
        }
        let (_, _, written, _) = decoder.decode_to_utf8(std::slice::from_ref(byte), &mut buffer, false);
        length += written;
    }
    while wanted.next_if_eq(&length).is_some() {
        offsets.push(body.len());
    }
    if wanted.peek().is_none() { Ok(offsets) } else { Err(Refusal::EncodingNotExact) }
}

fn encoded(piece: &str, encoding: &'static Encoding) -> Result<Vec<u8>, Refusal> {
    if encoding == UTF_16LE {
        return Ok(piece.encode_utf16().flat_map(u16::to_le_bytes).collect());
    }
    if encoding == UTF_16BE {
        return Ok(piece.encode_utf16().flat_map(u16::to_be_bytes).collect());
    }
    match encoding.encode(piece) {
        (bytes, _, false) => Ok(bytes.into_owned()),
        _ => Err(Refusal::EncodingNotExact),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Insertion, LinkAttributes, LinkStyle, insert};
    use crate::page::SourceFormat;

    fn edit(text: &str, anchor: &str) -> Edited {
        let start = text.find(anchor).unwrap();
        let insertion = Insertion {
            place: Span::new(start, start + anchor.len()),
            anchor: anchor.to_owned(),
            href: "/ä".to_owned(),
            attributes: LinkAttributes::default(),
            style: LinkStyle::Html,
        };
        insert(text, SourceFormat::Html, &[insertion]).unwrap()
    }

    fn source(text: &str, encoding: &str, bom: bool) -> SourceText {
        SourceText { text: text.to_owned(), encoding: encoding.to_owned(), bom }
    }

    #[test]
    fn other_bytes_stay_in_every_encoding() {
        let cases: &[(&str, &[u8], bool)] = &[
            ("windows-1252", b"<p>Caf\xe9 und \xfcber uns\x85", false),
            ("UTF-8", b"\xef\xbb\xbf<p>Caf\xc3\xa9 und uns", true),
            ("UTF-8", b"<p>broken \xff\xe9 und uns", false),
            ("Shift_JIS", b"<p>\x93\x8c\x8b\x9e und uns", false),
            ("UTF-16LE", b"\xff\xfeu\0n\0d\0 \0\xe9\0", true),
        ];
        for (label, original, bom) in cases {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let mark = Encoding::for_bom(original).map_or(0, |(_, length)| length);
            let (text, _) = encoding.decode_without_bom_handling(&original[mark..]);
            let edited = edit(&text, "und");
            let result = encode_back(&source(&text, label, *bom), original, &edited);
            if *label == "Shift_JIS" {
                assert_eq!(result, Err(Refusal::EncodingNotExact), "the address has a letter that it lacks");
                continue;
            }
            let Encoded { bytes, inserted } = result.unwrap();
            assert!(bytes[inserted[0].range()].starts_with(b"<"), "{label}");
            let position = original.windows(3).position(|w| w == b"und").unwrap_or(2);
            assert_eq!(&bytes[..position], &original[..position], "{label}");
            assert!(bytes.len() > original.len());
            assert!(bytes.ends_with(&original[original.len() - 2..]));
        }
    }

    #[test]
    fn bytes_that_are_not_the_decoded_text_are_refused() {
        let text = "<p>one und two";
        let edited = edit(text, "und");
        for (original, bom) in [(&b"<p>other und two"[..], false), (b"<p>one und", false), (b"<p>one und two", true)] {
            assert_eq!(encode_back(&source(text, "UTF-8", bom), original, &edited), Err(Refusal::EncodingNotExact));
        }
        assert!(encode_back(&source(text, "no-such", false), text.as_bytes(), &edited).is_err());
    }
}
