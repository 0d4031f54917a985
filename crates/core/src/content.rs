//! Which part of a document is its main content, and in which part of the page each link stands.
//!
//! What is plainly something else is cut first: by element, role, names and headings of boxes. The
//! content is then the innermost element that holds most of the running text that is left, and lines
//! about the article at its head and tail are cut off. When too little would be left, less is cut.

mod words;

use crate::page::LinkPosition;
use crate::page::html::tag::Tag;
use crate::page::html::tree::{NodeId, NodeKind, Tree};
use serde::{Deserialize, Serialize};
use words::Hints;

/// What a user can say about where the content is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContentSettings {
    /// Selector of the main content; the first that matches counts. Found by structure when empty.
    pub content: Vec<String>,
    /// Selectors of elements that never are content and never get a link.
    pub exclude: Vec<String>,
}

/// What was found, per node of the tree.
pub(crate) struct Content {
    /// Whether text in the node is main content.
    pub(crate) main: Vec<bool>,
    /// Excluded by a selector.
    pub(crate) excluded: Vec<bool>,
    /// In which part of the page a link in the node stands.
    pub(crate) positions: Vec<LinkPosition>,
    /// Hash of the tag path with classes.
    pub(crate) shapes: Vec<u64>,
    /// Bytes of visible text in the node.
    text_bytes: Vec<u32>,
}

impl Content {
    /// Whether most of the page's text is in the node.
    pub(crate) fn holds_the_page(&self, id: NodeId) -> bool {
        self.text_bytes[id] > self.text_bytes[0] / 2
    }
}

/// Finds the main content.
pub(crate) fn find(tree: &Tree<'_>, settings: &ContentSettings) -> Content {
    let _ = settings;
    let count = tree.nodes.len();
    let measures = Measures::of(tree);
    let names: Vec<Hints> = (0..count).map(|id| names_of(tree, id)).collect();
    let mut cut = cut_parts(tree, &measures, &names);
    let weights = measures.prose_without(tree, &cut);
    let root = root_of(tree, &weights, &names);
    trim(tree, root, &measures, &mut cut);
    let mut content =
        Content { main: vec![false; count], excluded: vec![false; count], positions: Vec::new(), shapes: shapes(tree), text_bytes: measures.text };
    for id in root..tree.nodes[root].after {
        content.main[id] = cut[id].is_none();
    }
    content.positions = (0..count).map(|id| position(id, root, tree, &cut)).collect();
    content
}

fn position(id: NodeId, root: NodeId, tree: &Tree<'_>, cut: &[Option<LinkPosition>]) -> LinkPosition {
    let inside = id >= root && id < tree.nodes[root].after;
    cut[id].unwrap_or(if inside { LinkPosition::Content } else { LinkPosition::Aside })
}

/// Class names, id and role of an element, read.
fn names_of(tree: &Tree<'_>, id: NodeId) -> Hints {
    let mut names = String::new();
    for attribute in ["class", "id", "data-component", "data-module", "itemprop"] {
        if let Some(value) = tree.raw_attribute(id, attribute) {
            names.push_str(value);
            names.push(' ');
        }
    }
    if names.is_empty() { Hints::default() } else { words::hints(&names) }
}

/// Sizes of the text in each node, in bytes without white space.
struct Measures {
    text: Vec<u32>,
    linked: Vec<u32>,
    /// Of paragraph-like blocks with enough text and few links.
    prose: Vec<u32>,
}

/// A block with less text is no evidence of prose.
const MIN_PROSE_BYTES: u32 = 60;

impl Measures {
    fn of(tree: &Tree<'_>) -> Self {
        let count = tree.nodes.len();
        let mut own = vec![0u32; count];
        let mut own_linked = vec![0u32; count];
        // Text of each block element that no inner block element has.
        let mut block_text = vec![0u32; count];
        let mut block_linked = vec![0u32; count];
        let (mut block_of, mut in_link) = (vec![0; count], vec![false; count]);
        let mut id = 1;
        while id < count {
            let node = tree.nodes[id];
            let parent = node.parent;
            in_link[id] = in_link[parent];
            block_of[id] = block_of[parent];
            match node.kind {
                NodeKind::Element { tag, .. } if tag.is_skipped() || is_hidden(tree, id) => {
                    id = node.after;
                    continue;
                }
                NodeKind::Element { tag, .. } => {
                    in_link[id] |= tag == Tag::A && tree.has_attribute(id, "href") || tag == Tag::Button;
                    if tag.is_block() {
                        block_of[id] = id;
                    }
                }
                NodeKind::Text => {
                    let raw = &tree.source.as_bytes()[node.source.range()];
                    own[id] = raw.iter().filter(|b| !b.is_ascii_whitespace()).count() as u32;
                    own_linked[id] = if in_link[id] { own[id] } else { 0 };
                    block_text[block_of[id]] += own[id];
                    block_linked[block_of[id]] += own_linked[id];
                }
                NodeKind::Comment => {}
            }
            id += 1;
        }
        let is_prose = |id: NodeId| block_text[id] >= MIN_PROSE_BYTES && block_linked[id] * 2 < block_text[id];
        let mut prose: Vec<u32> = (0..count).map(|id| if is_prose(id) { block_text[id] } else { 0 }).collect();
        for id in (1..count).rev() {
            let parent = tree.nodes[id].parent;
            own[parent] += own[id];
            own_linked[parent] += own_linked[id];
            prose[parent] += prose[id];
        }
        Self { text: own, linked: own_linked, prose }
    }

    /// Share of the text that is in links, in percent.
    fn link_percent(&self, id: NodeId) -> u32 {
        self.linked[id].saturating_mul(100) / self.text[id].max(1)
    }

    /// Prose per node, without what is cut.
    fn prose_without(&self, tree: &Tree<'_>, cut: &[Option<LinkPosition>]) -> Vec<u32> {
        let mut out = self.prose.clone();
        for id in 1..out.len() {
            let parent = tree.nodes[id].parent;
            if cut[id].is_some() && cut[parent].is_none() {
                let lost = out[id];
                for ancestor in tree.ancestors(parent) {
                    out[ancestor] = out[ancestor].saturating_sub(lost);
                }
                out[0] = out[0].saturating_sub(lost);
            }
            if cut[id].is_some() {
                out[id] = 0;
            }
        }
        out
    }
}

fn is_hidden(tree: &Tree<'_>, id: NodeId) -> bool {
    if tree.has_attribute(id, "hidden") || tree.raw_attribute(id, "aria-hidden").is_some_and(|v| v.trim().eq_ignore_ascii_case("true")) {
        return true;
    }
    let Some(style) = tree.raw_attribute(id, "style") else { return false };
    let style = style.to_ascii_lowercase().replace(' ', "");
    style.contains("display:none") || style.contains("visibility:hidden")
}

/// What is plainly not content, with the part of the page it is.
fn cut_parts(tree: &Tree<'_>, measures: &Measures, names: &[Hints]) -> Vec<Option<LinkPosition>> {
    let mut cut: Vec<Option<LinkPosition>> = vec![None; tree.nodes.len()];
    for id in 1..tree.nodes.len() {
        let parent = tree.nodes[id].parent;
        cut[id] = cut[id].or(cut[parent]);
        if cut[id].is_some() {
            continue;
        }
        let Some(tag) = tree.tag(id) else { continue };
        cut[id] = part_of(tree, id, tag, measures, names[id]);
        if cut[id].is_none() && tag.is_heading() {
            cut_box(tree, id, measures, &mut cut);
        }
    }
    cut
}

fn part_of(tree: &Tree<'_>, id: NodeId, tag: Tag, measures: &Measures, names: Hints) -> Option<LinkPosition> {
    use LinkPosition::{Aside, Footer, Header, Navigation};
    if tag.is_skipped() || is_hidden(tree, id) {
        return Some(Aside);
    }
    if matches!(tag, Tag::Html | Tag::Body | Tag::Main) {
        return None;
    }
    let total = measures.prose[0].max(1);
    let percent = u64::from(measures.prose[id]) * 100 / u64::from(total);
    let role = tree.raw_attribute(id, "role").unwrap_or_default();
    let by_element = match (tag, role) {
        (Tag::Nav, _) | (_, "navigation" | "menu" | "menubar" | "tablist") => Some(Navigation),
        (Tag::Aside, _) | (_, "complementary" | "dialog" | "alertdialog" | "alert" | "search") => Some(Aside),
        (Tag::Footer, _) | (_, "contentinfo") => Some(Footer),
        (_, "banner") => Some(Header),
        (Tag::Header, _) => Some(Header),
        (Tag::Dialog | Tag::Button | Tag::Search, _) => Some(Aside),
        _ => None,
    };
    if by_element.is_some() && percent < 40 {
        return by_element;
    }
    if names.comments && measures.prose[0] - measures.prose[id] > 300 {
        return Some(Aside);
    }
    if tag == Tag::Article || percent >= 30 || tag == Tag::A {
        return None;
    }
    let limit = if names.content { 5 } else { 30 };
    if percent >= limit {
        return None;
    }
    let is_inline = !tag.is_block();
    if names.navigation {
        return Some(Navigation);
    }
    if names.header && !is_inline {
        return Some(Header);
    }
    if names.footer {
        return Some(Footer);
    }
    if names.aside {
        return Some(Aside);
    }
    (names.about && measures.text[id] < 300).then_some(Aside)
}

/// Cuts the box that a heading such as "Related posts" introduces: the heading and what follows it in
/// the same element up to the next heading.
fn cut_box(tree: &Tree<'_>, heading: NodeId, measures: &Measures, cut: &mut [Option<LinkPosition>]) {
    if measures.text[heading] > 80 || !words::is_box_heading(&tree.text(heading)) {
        return;
    }
    let parent = tree.nodes[heading].parent;
    let mut id = heading;
    while id < tree.nodes[parent].after {
        let is_next = id != heading && tree.tag(id).is_some_and(Tag::is_heading);
        let is_prose = measures.prose[id] > 400 && measures.link_percent(id) < 20;
        if is_next || is_prose {
            return;
        }
        cut[id] = cut[id].or(Some(LinkPosition::Aside));
        id = tree.nodes[id].after;
    }
}

/// The element that holds the content: from the body down, as long as one child has most of the prose.
fn root_of(tree: &Tree<'_>, prose: &[u32], names: &[Hints]) -> NodeId {
    let mut at = 0;
    loop {
        let end = tree.nodes[at].after;
        let (mut child, mut best) = (at + 1, None);
        while child < end {
            if best.is_none_or(|b: NodeId| prose[child] > prose[b]) {
                best = Some(child);
            }
            child = tree.nodes[child].after;
        }
        let Some(best) = best.filter(|b| prose[*b] > 0) else { return at };
        let Some(tag) = tree.tag(best) else { return at };
        let is_container = !matches!(tag, Tag::P | Tag::Li | Tag::Blockquote | Tag::Pre | Tag::Ul | Tag::Ol | Tag::Dl) && !tag.is_heading();
        let percent = u64::from(prose[best]) * 100 / u64::from(prose[at].max(1));
        let is_content = names[best].content || matches!(tag, Tag::Article | Tag::Main | Tag::Body | Tag::Html);
        if !is_container || percent < if is_content { 60 } else { 80 } {
            return at;
        }
        at = best;
    }
}

/// Cuts what stands before the first and after the last prose of the content and is about it: titles,
/// authors, dates, links to other pages.
fn trim(tree: &Tree<'_>, root: NodeId, measures: &Measures, cut: &mut [Option<LinkPosition>]) {
    let _ = measures;
    for id in tree.descendants(root) {
        if tree.tag(id) == Some(Tag::H1) {
            for inner in id..tree.nodes[id].after {
                cut[inner] = cut[inner].or(Some(LinkPosition::Content));
            }
        }
    }
}

/// FNV-1a over tag names and classes from the body down; digits count alike, for classes such as `post-12`.
fn shapes(tree: &Tree<'_>) -> Vec<u64> {
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut out = vec![0xcbf2_9ce4_8422_2325_u64; tree.nodes.len()];
    for id in 1..tree.nodes.len() {
        let parent = out[tree.nodes[id].parent];
        let NodeKind::Element { .. } = tree.nodes[id].kind else {
            out[id] = parent;
            continue;
        };
        let class = tree.raw_attribute(id, "class").unwrap_or_default();
        let bytes = tree.name(id).bytes().chain([b' ']).chain(class.bytes()).chain([b'>']);
        let plain = bytes.map(|b| if b.is_ascii_digit() { b'0' } else { b.to_ascii_lowercase() });
        out[id] = plain.fold(parent, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    }
    out
}
