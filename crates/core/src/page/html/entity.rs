//! Character references: the source from an `&` on becomes the characters it stands for.
//!
//! Follows the tokenizer of the HTML standard: the longest known name counts, names without `;` only
//! where the standard's table has them so, and not in an attribute before `=` or a letter or digit.

use web_atoms::NAMED_ENTITIES;

/// No name in the standard's table is longer.
const LONGEST_NAME_BYTES: usize = 33;

/// A decoded reference: one or two characters, and the bytes of source it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) first: char,
    pub(super) second: Option<char>,
    pub(super) bytes: usize,
}

/// Where a reference stands; the rules for a missing `;` differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    Attribute,
}

/// Decodes the reference that `source` begins with. `None` when the `&` stands for itself.
pub(super) fn decode(source: &str, place: Place) -> Option<Reference> {
    let rest = source.strip_prefix('&')?;
    match rest.strip_prefix('#') {
        Some(number) => numeric(number),
        None => named(rest, place),
    }
}

/// `text` with all references replaced, for attribute values and titles.
pub(super) fn decode_all(text: &str, place: Place) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match decode(rest, place) {
            Some(reference) => {
                out.push(reference.first);
                out.extend(reference.second);
                reference.bytes
            }
            None => {
                out.push('&');
                1
            }
        };
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

fn named(rest: &str, place: Place) -> Option<Reference> {
    let limit = rest.bytes().take(LONGEST_NAME_BYTES).take_while(u8::is_ascii_alphanumeric).count();
    let with_semicolon = limit + usize::from(rest.as_bytes().get(limit) == Some(&b';'));
    for length in (2..=with_semicolon).rev() {
        let name = &rest[..length];
        let Some(&(first, second)) = NAMED_ENTITIES.get(name) else { continue };
        let Some(first) = char::from_u32(first).filter(|c| *c != '\0') else { continue };
        let next = rest.as_bytes().get(length);
        let blocked = next.is_some_and(|b| *b == b'=' || b.is_ascii_alphanumeric());
        if place == Place::Attribute && !name.ends_with(';') && blocked {
            return None;
        }
        return Some(Reference { first, second: char::from_u32(second).filter(|c| *c != '\0'), bytes: length + 1 });
    }
    None
}

fn numeric(number: &str) -> Option<Reference> {
    let (digits, radix, prefix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 3),
        None => (number, 10, 2),
    };
    let count = digits.bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
    if count == 0 {
        return None;
    }
    let code = u32::from_str_radix(&digits[..count], radix).unwrap_or(u32::MAX);
    let semicolon = usize::from(digits.as_bytes().get(count) == Some(&b';'));
    Some(Reference { first: character(code), second: None, bytes: prefix + count + semicolon })
}

/// The character of a code, with the standard's reading of 0x80 to 0x9F as windows-1252.
fn character(code: u32) -> char {
    let byte = u8::try_from(code).ok().filter(|b| (0x80..=0x9F).contains(b));
    let remapped = byte.and_then(|b| encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[b]).0.chars().next());
    remapped.or_else(|| char::from_u32(code).filter(|c| *c != '\0')).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_become_their_characters() {
        let cases = [
            ("&amp;", "&"),
            ("a &lt b", "a < b"),
            ("&notit; &notin;", "¬it; ∉"),
            ("&#8217;&#x2019;&#146;", "’’’"),
            ("&#0; &#xFFFFFFFFFF;", "\u{FFFD} \u{FFFD}"),
            ("&nosuch; & &; &# &#x;", "&nosuch; & &; &# &#x;"),
            ("&é", "&é"),
        ];
        for (source, text) in cases {
            assert_eq!(decode_all(source, Place::Text), text, "{source}");
        }
    }

    #[test]
    fn an_attribute_keeps_query_parameters_that_look_like_names() {
        assert_eq!(decode_all("?a=1&copy=2&lt=3&amp;b", Place::Attribute), "?a=1&copy=2&lt=3&b");
        assert_eq!(decode_all("&copy 2", Place::Attribute), "© 2");
    }
}
