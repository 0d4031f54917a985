//! A page to the same page as if some of its links had never been made.
//!
//! The words stay, as plain text that could carry a link again: nothing tells where a link stood. What is read
//! from the page afterwards, words, phrases, anchors, graph, cannot hold a trace, because there is none.

use super::chance::Chance;
use crate::page::{Block, BlockKind, Inert, Link, LinkKind, LinkPosition, Page, Segment, SourceFormat};
use crate::span::Span;
use crate::url::PageUrl;

/// What becomes of the words of a link that is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// They stay in the text.
    Stay,
    /// They go with the link.
    Go,
}

/// Takes out every link for which `hidden` says so. The page's source text is left out of the copy: nothing that
/// ranks may read it, and it would still hold the links.
#[must_use]
pub fn hide(page: &Page, hidden: impl Fn(&Link) -> bool, words: Words) -> Page {
    let mut copy = page.clone();
    let (gone, kept): (Vec<Link>, Vec<Link>) = copy.links.into_iter().partition(hidden);
    copy.links = kept;
    for link in &gone {
        let Some((number, span)) = link.place else { continue };
        // Another link over the same words, as broken markup may have it, keeps them.
        let still_linked = copy.links.iter().any(|l| l.place.is_some_and(|(n, s)| n == number && s.overlaps(span)));
        let Some(block) = copy.blocks.get_mut(number).filter(|_| !still_linked) else { continue };
        free_words(block, span, link.source, &page.source.text, page.format);
        if words == Words::Go {
            blank(block, span);
        }
    }
    copy.source.text = String::new();
    copy
}

/// Makes the words of a link plain text, in one run with the text around them where only the link's own markup
/// stood between.
fn free_words(block: &mut Block, span: Span, element: Span, source: &str, format: SourceFormat) {
    let inside = |s: &Segment| span.contains(s.text) && s.inert == Some(Inert::Link);
    let Some(first) = block.segments.iter().position(inside) else { return };
    let last = block.segments.iter().rposition(inside).unwrap_or(first);
    let lead = source.get(element.start..block.segments[first].source.start);
    let joins_before =
        first > 0 && block.segments[first - 1].source.end == element.start && lead.is_some_and(|l| opens_link_only(l, format));
    let tail = source.get(block.segments[last].source.end..element.end);
    let joins_after =
        block.segments.get(last + 1).is_some_and(|s| s.source.start == element.end) && tail.is_some_and(|t| closes_link_only(t, format));
    block.segments.iter_mut().filter(|s| inside(s)).for_each(|s| s.inert = None);
    if joins_before {
        join(&mut block.segments, first);
    }
    if joins_after {
        join(&mut block.segments, last + 1);
    }
}

/// Puts the segment at `at` and what follows it in the run of the one before.
fn join(segments: &mut [Segment], at: usize) {
    let step = segments[at].run.saturating_sub(segments[at - 1].run);
    segments[at..].iter_mut().for_each(|s| s.run = s.run.saturating_sub(step));
}

fn opens_link_only(markup: &str, format: SourceFormat) -> bool {
    match format {
        SourceFormat::Html => markup.starts_with('<') && markup.matches('<').count() == 1 && markup.ends_with('>'),
        SourceFormat::Markdown | SourceFormat::Mdx => markup == "[",
    }
}

fn closes_link_only(markup: &str, format: SourceFormat) -> bool {
    match format {
        SourceFormat::Html => markup.matches('<').count() == 1 && markup.ends_with('>'),
        SourceFormat::Markdown | SourceFormat::Mdx => markup.starts_with(']'),
    }
}

/// Blanks instead of the words, so that no other place moves.
fn blank(block: &mut Block, span: Span) {
    if block.text.get(span.range()).is_some() {
        block.text.replace_range(span.range(), &" ".repeat(span.len()));
    }
}

/// A copy of the page with a link to `target` on some words of its running text that carry none, as an editor
/// might have set it; `None` where there are no such words. Which words, chance decides.
#[must_use]
pub fn plant(page: &Page, target: &PageUrl, chance: &mut Chance) -> Option<Page> {
    let places: Vec<(usize, usize, Span)> = page.blocks.iter().enumerate().filter(|(_, b)| carries(b)).flat_map(places).collect();
    let (number, segment, span) = *places.get(chance.below(places.len()))?;
    let mut copy = page.clone();
    let block = &mut copy.blocks[number];
    let source = split_off(block, segment, span);
    let link = Link {
        href: target.to_string(),
        target: target.clone(),
        fragment: None,
        anchor: block.text.get(span.range())?.to_owned(),
        rel: String::new(),
        kind: LinkKind::Body,
        position: LinkPosition::Content,
        place: Some((number, span)),
        source,
    };
    copy.links.push(link);
    Some(copy)
}

fn carries(block: &Block) -> bool {
    block.main && matches!(block.kind, BlockKind::Paragraph | BlockKind::ListItem)
}

/// Two words each, of every stretch of free text that has four.
fn places((number, block): (usize, &Block)) -> Vec<(usize, usize, Span)> {
    const WORDS: usize = 2;
    let free = block.segments.iter().enumerate().filter(|(_, s)| s.verbatim && s.inert.is_none());
    let mut found = Vec::new();
    for (at, segment) in free {
        let Some(text) = block.text.get(segment.text.range()) else { continue };
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices(' ').map(|(i, _)| i + 1)).collect();
        for pair in starts.windows(WORDS + 1).skip(1).step_by(WORDS) {
            let span = Span::new(segment.text.start + pair[0], segment.text.start + pair[WORDS] - 1);
            if !span.is_empty() && block.text.get(span.range()).is_some() {
                found.push((number, at, span));
            }
        }
    }
    found
}

/// Makes the words a segment of their own, inside a link, and gives their place in the source.
fn split_off(block: &mut Block, at: usize, span: Span) -> Span {
    let whole = block.segments[at];
    let part = |start: usize, end: usize, inert| {
        let shift = |place: usize| whole.source.start + (place - whole.text.start);
        Segment { text: Span::new(start, end), source: Span::new(shift(start), shift(end)), inert, ..whole }
    };
    let parts =
        [part(whole.text.start, span.start, None), part(span.start, span.end, Some(Inert::Link)), part(span.end, whole.text.end, None)];
    block.segments.splice(at..=at, parts.into_iter().filter(|p| !p.text.is_empty()));
    parts[1].source
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchor::place_in_source;
    use crate::eval::sample;
    use crate::page::LinkKind;

    const LINKED: &str = "<p>A starter needs <a href='/flour/'>whole rye flour</a> and water, and <a href='/salt/'>salt</a>.</p>";
    const PLAIN: &str = "<p>A starter needs whole rye flour and water, and <a href='/salt/'>salt</a>.</p>";

    fn to(path: &'static str) -> impl Fn(&Link) -> bool {
        move |link| link.target.path() == path
    }

    fn span_of(page: &Page, words: &str) -> (usize, Span) {
        let found = |(n, b): (usize, &Block)| b.text.find(words).map(|at| (n, Span::new(at, at + words.len())));
        page.blocks.iter().enumerate().find_map(found).unwrap()
    }

    #[test]
    fn a_hidden_link_leaves_the_page_as_if_it_had_never_been() {
        let (hidden, plain) = (hide(&sample::page("/a/", LINKED), to("/flour/"), Words::Stay), sample::page("/a/", PLAIN));
        assert_eq!(hidden.main_text(), plain.main_text());
        let targets = |p: &Page| p.links.iter().map(|l| (l.target.clone(), l.anchor.clone(), l.place)).collect::<Vec<_>>();
        assert_eq!(targets(&hidden), targets(&plain));
        // Words across the place where the link began and ended can carry a link, as in the page that never had it.
        for words in ["whole rye", "needs whole", "flour and water", "starter needs whole rye flour and"] {
            let (block, span) = span_of(&hidden, words);
            assert!(place_in_source(&hidden.blocks[block], span).is_ok(), "{words}");
        }
        let (block, span) = span_of(&hidden, "salt");
        assert!(place_in_source(&hidden.blocks[block], span).is_err(), "the other link stays");
        assert!(hidden.source.text.is_empty());
    }

    #[test]
    fn other_markup_still_parts_the_text() {
        let page = sample::page("/a/", "<p>It needs <em><a href='/flour/'>rye</a></em> flour.</p>");
        let hidden = hide(&page, to("/flour/"), Words::Stay);
        let (block, span) = span_of(&hidden, "rye flour");
        assert!(place_in_source(&hidden.blocks[block], span).is_err());
    }

    #[test]
    fn words_can_go_with_their_link_and_nothing_else_moves() {
        let hidden = hide(&sample::page("/a/", LINKED), to("/flour/"), Words::Go);
        assert!(!hidden.main_text().contains("rye") && hidden.main_text().contains("and water"));
        let salt = hidden.links.iter().find(|l| l.anchor == "salt").unwrap().place.unwrap();
        assert_eq!(&hidden.blocks[salt.0].text[salt.1.range()], "salt");
    }

    #[test]
    fn a_planted_link_is_a_link_and_goes_without_a_trace() {
        let page = sample::page("/a/", PLAIN);
        let target = PageUrl::parse("https://example.com/decoy/").unwrap();
        let planted = plant(&page, &target, &mut Chance::new(1, &[])).unwrap();
        let link = planted.links.last().unwrap();
        let (block, span) = link.place.unwrap();
        assert_eq!(link.kind, LinkKind::Body);
        assert_eq!(&planted.blocks[block].text[span.range()], link.anchor);
        assert_eq!(link.anchor.split(' ').count(), 2);
        assert!(place_in_source(&planted.blocks[block], span).is_err());
        let hidden = hide(&planted, to("/decoy/"), Words::Stay);
        assert_eq!(hidden.links, page.links);
        assert_eq!(hidden.main_text(), page.main_text());
        assert!(hidden.blocks[block].segments.iter().zip(&page.blocks[block].segments).all(|(a, b)| a.run == b.run || a.inert.is_none()));
        let whole = Span::new(0, "A starter needs whole rye flour and water, and".len());
        assert_eq!(place_in_source(&hidden.blocks[block], whole), place_in_source(&page.blocks[block], whole));
    }

    #[test]
    fn a_page_without_words_carries_no_decoy() {
        let target = PageUrl::parse("https://example.com/decoy/").unwrap();
        assert!(plant(&sample::page("/a/", "<p>One.</p>"), &target, &mut Chance::new(1, &[])).is_none());
    }
}
