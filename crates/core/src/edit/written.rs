//! Links that were written into the bytes of a page, and their way out again.
//!
//! A page that nobody touched since gives its old bytes back, exactly. In one that was edited, each link is found by
//! its own bytes and by what stands around it. Where that leaves a doubt, the link stays and the doubt is named.

use super::{Encoded, Insertion, LinkStyle};
use crate::span::Span;
use serde::{Deserialize, Serialize};

/// Bytes on each side of a link that are remembered to tell it from others.
const CONTEXT: usize = 80;
/// Bytes around it that must still be the same on one side.
const LEAST_CONTEXT: usize = 12;

/// One inserted link, in the bytes of its page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Where the link begins in the new bytes.
    pub place: usize,
    /// What was inserted before the words.
    pub opening: Vec<u8>,
    /// The words.
    pub words: Vec<u8>,
    /// What was inserted after them.
    pub closing: Vec<u8>,
    /// A reference definition that was added for the link: its place in the new bytes, and its bytes.
    pub definition: Option<(usize, Vec<u8>)>,
    /// What stands before the link.
    pub before: Vec<u8>,
    /// What stands after it.
    pub after: Vec<u8>,
}

impl Written {
    /// The whole link.
    #[must_use]
    pub fn link(&self) -> Vec<u8> {
        [&self.opening[..], &self.words, &self.closing].concat()
    }
}

/// What came of taking one link out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Removal {
    /// It is out.
    Removed,
    /// It was not there any more.
    Gone,
    /// Its words were changed; the link is somebody's work now.
    WordsChanged,
    /// Several links are the same, and nothing tells which is meant.
    Ambiguous,
    /// The same link stands there, but in other surroundings.
    Elsewhere,
}

/// Describes the links of an edit as they stand in the new bytes. `insertions` are those the edit was made of.
#[must_use]
pub fn written(encoded: &Encoded, insertions: &[Insertion]) -> Vec<Written> {
    let bytes = &encoded.bytes;
    let mut ordered: Vec<&Insertion> = insertions.iter().collect();
    ordered.sort_by_key(|i| i.place);
    // Each link is a pair of insertions; definitions are one more, and begin a line.
    let is_definition = |span: &&Span| bytes[span.range()].starts_with(b"\n[") || bytes[span.range()].starts_with(b"\r\n[");
    let definitions = encoded.inserted.iter().find(is_definition).copied();
    let pieces: Vec<Span> = encoded.inserted.iter().filter(|span| !is_definition(span)).copied().collect();
    let one = |(insertion, pair): (&&Insertion, &[Span])| {
        let (opening, closing) = (pair[0], pair[1]);
        let closing_bytes = bytes[closing.range()].to_vec();
        let by_reference = insertion.style == LinkStyle::Reference;
        let definition = definitions.filter(|_| by_reference).and_then(|span| definition_of(bytes, span, &closing_bytes));
        Written {
            place: opening.start,
            opening: bytes[opening.range()].to_vec(),
            words: bytes[opening.end..closing.start].to_vec(),
            closing: closing_bytes,
            definition,
            before: bytes[opening.start.saturating_sub(CONTEXT)..opening.start].to_vec(),
            after: bytes[closing.end..(closing.end + CONTEXT).min(bytes.len())].to_vec(),
        }
    };
    ordered.iter().zip(pieces.chunks_exact(2)).map(one).collect()
}

/// The added line that defines the label in `][label]`.
fn definition_of(bytes: &[u8], added: Span, closing: &[u8]) -> Option<(usize, Vec<u8>)> {
    let label = label_of(closing)?;
    let added_bytes = &bytes[added.range()];
    let line_break: &[u8] = if added_bytes.starts_with(b"\r\n") { b"\r\n" } else { b"\n" };
    let start = [line_break, b"[", label, b"]: "].concat();
    let at = find(added_bytes, &start)?;
    let rest = &added_bytes[at + line_break.len()..];
    let end = rest.iter().position(|b| matches!(b, b'\r' | b'\n')).unwrap_or(rest.len());
    Some((added.start + at, added_bytes[at..at + line_break.len() + end].to_vec()))
}

fn label_of(closing: &[u8]) -> Option<&[u8]> {
    closing.strip_prefix(b"][")?.strip_suffix(b"]")
}

/// A page with links taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOut {
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// What came of each link, in the order given.
    pub removals: Vec<Removal>,
    /// Numbers of the links that are out, in the order in which they stood on the page.
    pub order: Vec<usize>,
}

/// Takes links out of a page.
#[must_use]
pub fn take_out(current: &[u8], links: &[&Written]) -> TakenOut {
    let places: Vec<Result<usize, Removal>> = links.iter().map(|link| place_of(current, link)).collect();
    let mut order: Vec<usize> = (0..links.len()).filter(|number| places[*number].is_ok()).collect();
    order.sort_by_key(|number| places[*number].ok());
    let mut bytes = current.to_vec();
    // From the end, so that places before it stay right.
    for (number, at) in order.iter().rev().filter_map(|number| Some((*number, places[*number].ok()?))) {
        let link = links[number];
        bytes.drain(at + link.opening.len() + link.words.len()..at + link.link().len());
        bytes.drain(at..at + link.opening.len());
    }
    order.iter().for_each(|number| remove_definition(&mut bytes, links[*number]));
    let removals = places.into_iter().map(|place| place.map_or_else(|refused| refused, |_| Removal::Removed)).collect();
    TakenOut { bytes, removals, order }
}

/// Where the link stands now.
fn place_of(bytes: &[u8], link: &Written) -> Result<usize, Removal> {
    let whole = link.link();
    let as_written = [&link.before[..], &whole, &link.after].concat();
    if bytes.get(link.place - link.before.len()..).is_some_and(|here| here.starts_with(&as_written)) {
        return Ok(link.place);
    }
    let mut best: Option<(usize, usize)> = None;
    let mut tied = false;
    let mut seen = 0;
    for at in places(bytes, &whole) {
        seen += 1;
        let (left, right) = around(bytes, at, whole.len(), link);
        let enough = |same: usize, known: &[u8]| same >= known.len().min(LEAST_CONTEXT);
        // Where one side is the edge of the page there is nothing to compare on it.
        let left_holds = !link.before.is_empty() && enough(left, &link.before);
        let right_holds = !link.after.is_empty() && enough(right, &link.after);
        let alone = link.before.is_empty() && link.after.is_empty();
        if !(left_holds || right_holds || alone) {
            continue;
        }
        let score = left + right;
        tied = best.is_some_and(|(most, _)| most == score);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, at));
        }
    }
    match best {
        Some(_) if tied => Err(Removal::Ambiguous),
        Some((_, at)) => Ok(at),
        None if seen > 0 => Err(Removal::Elsewhere),
        None if has_other_words(bytes, link) => Err(Removal::WordsChanged),
        None => Err(Removal::Gone),
    }
}

/// How many bytes before and after the place are as they were.
fn around(bytes: &[u8], at: usize, length: usize, link: &Written) -> (usize, usize) {
    let same = |a: &u8, b: &u8| a == b;
    let left = bytes[..at].iter().rev().zip(link.before.iter().rev()).take_while(|(a, b)| same(a, b)).count();
    let right = bytes[at + length..].iter().zip(&link.after).take_while(|(a, b)| same(a, b)).count();
    (left, right)
}

/// Whether the link's opening stands where it stood, around other words.
fn has_other_words(bytes: &[u8], link: &Written) -> bool {
    let known = link.before.len().min(LEAST_CONTEXT);
    let start = [&link.before[link.before.len() - known..], &link.opening[..]].concat();
    let then = |at: usize| &bytes[at + start.len()..];
    // `[` alone is no link: what closes it must follow before the paragraph ends.
    let closes = |rest: &[u8]| {
        let paragraph = find(rest, b"\n\n").unwrap_or(rest.len());
        find(&rest[..paragraph], &link.closing).is_some()
    };
    places(bytes, &start).into_iter().any(|at| closes(then(at)))
}

/// Takes a definition out that the link brought, unless something else uses it by now.
fn remove_definition(bytes: &mut Vec<u8>, link: &Written) {
    let Some((_, definition)) = &link.definition else { return };
    let Some(label) = label_of(&link.closing) else { return };
    let name = [b"[", label, b"]"].concat();
    let [at] = places(bytes, definition)[..] else { return };
    // Once in the definition itself.
    let uses = places(bytes, &name).len();
    let ends_line = bytes.get(at + definition.len()).is_none_or(|b| matches!(b, b'\r' | b'\n'));
    if uses == 1 && ends_line {
        bytes.drain(at..at + definition.len());
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, needle)
}

fn places(bytes: &[u8], needle: &[u8]) -> Vec<usize> {
    if needle.is_empty() { Vec::new() } else { memchr::memmem::find_iter(bytes, needle).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::tests::markdown_page;
    use crate::edit::{LinkSettings, Preflight, encode_back};
    use crate::page::Page;
    use proptest::prelude::*;

    fn write(page: &Page, links: &[(&str, &str)]) -> (Vec<u8>, Vec<Written>) {
        let source = &page.source.text;
        let flight = Preflight::new(page, &LinkSettings::default());
        let insertion = |(words, href): &(&str, &str)| {
            let at = source.find(words).unwrap();
            flight.insertion(Span::new(at, at + words.len()), href).unwrap()
        };
        let insertions: Vec<Insertion> = links.iter().map(insertion).collect();
        let edited = flight.edit(&insertions).unwrap();
        let encoded = encode_back(&page.source, source.as_bytes(), &edited).unwrap();
        let links = written(&encoded, &insertions);
        (encoded.bytes, links)
    }

    const SOURCE: &str = "The red fox runs through the wood at night.\n\nA grey owl sits in the old oak and looks on.\n\nThe end of it.\n";

    fn written_here() -> (String, Vec<Written>) {
        let (bytes, links) = write(&markdown_page(SOURCE), &[("red fox", "/fox/"), ("grey owl", "/owl/")]);
        (String::from_utf8(bytes).unwrap(), links)
    }

    fn out(text: &str, links: &[&Written]) -> (String, Vec<Removal>) {
        let taken = take_out(text.as_bytes(), links);
        (String::from_utf8(taken.bytes).unwrap(), taken.removals)
    }

    #[test]
    fn an_untouched_page_gets_its_bytes_back() {
        let (text, links) = written_here();
        let all: Vec<&Written> = links.iter().collect();
        assert_eq!(out(&text, &all), (SOURCE.to_owned(), vec![Removal::Removed; 2]));
    }

    #[test]
    fn one_link_goes_and_the_others_stay() {
        let (text, links) = written_here();
        let (left, removals) = out(&text, &[&links[1]]);
        assert_eq!((left, removals), (text.replace("[grey owl](/owl/)", "grey owl"), vec![Removal::Removed]));
    }

    #[test]
    fn other_edits_stay() {
        let (text, links) = written_here();
        let all: Vec<&Written> = links.iter().collect();
        let edited =
            format!("A new first line.\n\n{}", text.replace("at night", "by day").replace("The end of it.", "[red fox](/fox/) once more."));
        let (left, removals) = out(&edited, &all);
        assert_eq!(removals, vec![Removal::Removed; 2]);
        assert_eq!(left, edited.replacen("[red fox](/fox/)", "red fox", 1).replace("[grey owl](/owl/)", "grey owl"));
    }

    #[test]
    fn what_is_in_doubt_stays_and_is_named() {
        let (text, links) = written_here();
        let refused = |changed: &str, link: &Written| {
            let (left, removals) = out(changed, &[link]);
            assert_eq!(left, changed);
            removals[0]
        };
        assert_eq!(refused(&text.replace("[red fox](/fox/)", "red fox"), &links[0]), Removal::Gone);
        assert_eq!(refused(&text.replace("[grey owl]", "[old owl]"), &links[1]), Removal::WordsChanged);
        assert_eq!(refused(&format!("New.\n\n{text}\n{text}"), &links[1]), Removal::Ambiguous);
        let moved = text.replace("A [grey owl](/owl/) sits", "An animal sits").replace("The end", "Ask any [grey owl](/owl/) what the end");
        assert_eq!(refused(&moved, &links[1]), Removal::Elsewhere);
    }

    #[test]
    fn a_definition_goes_with_its_last_use() {
        let source = "The red fox and [b][b].\n\nA grey owl, a red kite.\n\n[b]: /b/\n\nEnd.\n";
        let page = markdown_page(source);
        let (bytes, links) = write(&page, &[("red fox", "/fox/"), ("grey owl", "/owl/"), ("red kite", "/fox/")]);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("\n[fox]: /fox/\n[owl]: /owl/\n"), "{text}");
        let (left, _) = out(&text, &[&links[0]]);
        assert_eq!(left, text.replacen("[red fox][fox]", "red fox", 1));
        let (left, _) = out(&left, &[&links[2], &links[1]]);
        assert_eq!(left, source);
    }

    proptest! {
        #[test]
        fn taking_out_what_was_written_gives_the_old_page(words in proptest::collection::vec("[a-z]{3,8}", 12..40), take in 0_usize..10) {
            let source = format!("{}.\n", words.join(" "));
            let anchor = format!("{} {}", words[take], words[take + 1]);
            prop_assume!(source.matches(&anchor).count() == 1);
            let (bytes, links) = write(&markdown_page(&source), &[(&anchor, "/x/")]);
            let taken = take_out(&bytes, &[&links[0]]);
            prop_assert_eq!(taken.removals, vec![Removal::Removed]);
            prop_assert_eq!(taken.bytes, source.as_bytes());
        }
    }
}
