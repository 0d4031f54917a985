//! Which part of a document is its main content, and in which part of the page each link stands.

use crate::page::LinkPosition;
use crate::page::html::tag::Tag;
use crate::page::html::tree::{NodeId, NodeKind, Tree};
use serde::{Deserialize, Serialize};

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
    let mut content = Content {
        main: vec![false; count],
        excluded: vec![false; count],
        positions: vec![LinkPosition::Content; count],
        shapes: shapes(tree),
        text_bytes: text_bytes(tree),
    };
    for id in 1..count {
        let parent = tree.nodes[id].parent;
        let outer = content.positions[parent];
        content.positions[id] = match (outer, tree.tag(id)) {
            (LinkPosition::Content, Some(tag)) => position_of(tree, id, tag),
            _ => outer,
        };
        content.main[id] = content.positions[id] == LinkPosition::Content;
    }
    content
}

fn position_of(tree: &Tree<'_>, id: NodeId, tag: Tag) -> LinkPosition {
    let in_article = || tree.ancestors(id).any(|a| matches!(tree.tag(a), Some(Tag::Article | Tag::Main)));
    match tag {
        Tag::Nav => LinkPosition::Navigation,
        Tag::Aside => LinkPosition::Aside,
        Tag::Header if !in_article() => LinkPosition::Header,
        Tag::Footer => LinkPosition::Footer,
        _ => LinkPosition::Content,
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

/// Visible bytes per node, white space not counted.
fn text_bytes(tree: &Tree<'_>) -> Vec<u32> {
    let mut out = vec![0u32; tree.nodes.len()];
    let mut id = 1;
    while id < tree.nodes.len() {
        let node = tree.nodes[id];
        match node.kind {
            NodeKind::Element { tag, .. } if tag.is_skipped() => {
                id = node.after;
                continue;
            }
            NodeKind::Text => {
                let raw = &tree.source.as_bytes()[node.source.range()];
                out[id] = raw.iter().filter(|b| !b.is_ascii_whitespace()).count() as u32;
            }
            _ => {}
        }
        id += 1;
    }
    for id in (1..out.len()).rev() {
        out[tree.nodes[id].parent] += out[id];
    }
    out
}
