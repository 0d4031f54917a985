//! Tokens become a tree of elements and texts, each with its place in the source.
//!
//! Nodes lie in source order in one vector, and the descendants of a node are the nodes right after
//! it up to `Node::after`: every walk is a loop. End tags that the source leaves out are supplied by
//! the rules of the HTML standard that matter for text: paragraphs, list items, cells, terms, options,
//! headings, links in links. Elements deeper than `MAX_DEPTH` have no children of their own.

use super::entity::{self, Place};
use super::tag::Tag;
use super::token::{Attribute, Token, TokenKind, Tokenizer, is_blank};
use crate::span::Span;

/// Deeper elements are siblings: browsers stop near 512, and the inheritance of flags needs a bound.
const MAX_DEPTH: usize = 500;

/// Browsers take up at most three equal elements again; a page that needs more of them is broken.
const MAX_CUT_OFF: usize = 4;

/// Index of a node in `Tree::nodes`.
pub(crate) type NodeId = usize;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// An element. Its attributes are a range of `Tree::attributes`.
    Element { tag: Tag, name: Span, attributes: (u32, u32) },
    /// Character data, references not decoded.
    Text,
    /// A comment or other markup without meaning here; it still stands between two texts.
    Comment,
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// The node around it; the root is its own parent.
    pub(crate) parent: NodeId,
    /// The first node after its descendants.
    pub(crate) after: NodeId,
    /// The whole of it in the source, from the start tag to the end of the end tag.
    pub(crate) source: Span,
}

/// A document.
pub(crate) struct Tree<'a> {
    pub(crate) source: &'a str,
    pub(crate) nodes: Vec<Node>,
    attributes: Vec<Attribute>,
}

impl<'a> Tree<'a> {
    /// Parses a whole document or a part of one.
    pub(crate) fn parse(source: &'a str) -> Self {
        let mut builder = Builder::new(source);
        let mut tokenizer = Tokenizer::new(source);
        while let Some(token) = tokenizer.next_token() {
            builder.take(token, &mut tokenizer);
        }
        builder.finish()
    }

    /// Tag of an element; `None` for texts and comments.
    pub(crate) fn tag(&self, id: NodeId) -> Option<Tag> {
        match self.nodes[id].kind {
            NodeKind::Element { tag, .. } => Some(tag),
            _ => None,
        }
    }

    /// Name as written.
    pub(crate) fn name(&self, id: NodeId) -> &'a str {
        match self.nodes[id].kind {
            NodeKind::Element { name, .. } => &self.source[name.range()],
            _ => "",
        }
    }

    /// The value of an attribute as written, quotes off and references not decoded.
    pub(crate) fn raw_attribute(&self, id: NodeId, name: &str) -> Option<&'a str> {
        let NodeKind::Element { attributes: (from, to), .. } = self.nodes[id].kind else { return None };
        let attributes = &self.attributes[from as usize..to as usize];
        let found = attributes.iter().find(|a| self.source[a.name.range()].eq_ignore_ascii_case(name))?;
        Some(&self.source[found.value.range()])
    }

    /// The value of an attribute, decoded.
    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<String> {
        self.raw_attribute(id, name).map(|raw| entity::decode_all(raw, Place::Attribute))
    }

    /// Whether the element has the attribute.
    pub(crate) fn has_attribute(&self, id: NodeId, name: &str) -> bool {
        self.raw_attribute(id, name).is_some()
    }

    /// The descendants in source order.
    pub(crate) fn descendants(&self, id: NodeId) -> std::ops::Range<NodeId> {
        id + 1..self.nodes[id].after
    }

    /// The node and those around it, innermost first, without the root.
    pub(crate) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut at = id;
        std::iter::from_fn(move || {
            let here = at;
            at = self.nodes[here].parent;
            (here != 0).then_some(here)
        })
    }

    /// Character data of all descendants, decoded, blanks collapsed; scripts and the like left out.
    pub(crate) fn text(&self, id: NodeId) -> String {
        let mut out = String::new();
        let mut at = id;
        let end = self.nodes[id].after;
        while at < end {
            let node = self.nodes[at];
            match node.kind {
                NodeKind::Text => out.push_str(&entity::decode_all(&self.source[node.source.range()], Place::Text)),
                NodeKind::Element { tag, .. } if at != id && tag.is_skipped() => {
                    at = node.after;
                    continue;
                }
                NodeKind::Element { tag, .. } if tag.is_block() || tag == Tag::Br => out.push(' '),
                _ => {}
            }
            at += 1;
        }
        collapse(&out)
    }
}

/// `text` with soft hyphens removed, runs of white space made one blank, and trimmed.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().filter(|c| *c != '\u{AD}'));
    }
    out
}

/// An element that is open.
struct Open {
    id: NodeId,
    tag: Tag,
    /// The element has ended for the text that follows, though a block inside it is still open.
    ended: bool,
}

struct Builder<'a> {
    source: &'a str,
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    open: Vec<Open>,
    /// Links and code that a closing block cut off, to be taken up again before the next text.
    cut_off: Vec<NodeId>,
    /// Numbers of open `svg` and `math` elements, where `/>` closes.
    foreign: usize,
    /// Where the token at hand begins: elements that end without a tag of their own end there.
    token_start: usize,
    /// Of `html`, `head` and `body`, those that were there; a second one is ignored.
    seen: Vec<Tag>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a str) -> Self {
        let root = Node {
            kind: NodeKind::Element { tag: Tag::Other, name: Span::new(0, 0), attributes: (0, 0) },
            parent: 0,
            after: 1,
            source: Span::new(0, source.len()),
        };
        let open = vec![Open { id: 0, tag: Tag::Other, ended: false }];
        Self { source, nodes: vec![root], attributes: Vec::new(), open, cut_off: Vec::new(), foreign: 0, token_start: 0, seen: Vec::new() }
    }

    fn take(&mut self, token: Token, tokenizer: &mut Tokenizer<'_>) {
        self.token_start = token.span.start;
        match token.kind {
            TokenKind::Text => self.text(token.span),
            TokenKind::RawText => {
                self.add(NodeKind::Text, token.span);
            }
            TokenKind::Comment => {
                self.add(NodeKind::Comment, token.span);
            }
            TokenKind::Start { name, self_closing } => {
                let tag = Tag::of(&self.source[name.range()]);
                self.start(token.span, name, tag, &tokenizer.attributes, self_closing);
                if self.foreign == 0 && tag == Tag::Plaintext {
                    tokenizer.enter_plain_text();
                } else if self.foreign == 0 && tag.is_raw_text() {
                    tokenizer.enter_raw_text(name);
                }
            }
            TokenKind::End { name } => self.end(Tag::of(&self.source[name.range()]), &self.source[name.range()], token.span),
        }
    }

    fn finish(mut self) -> Tree<'a> {
        self.token_start = self.source.len();
        self.close_down_to(1, self.source.len());
        self.nodes[0].after = self.nodes.len();
        Tree { source: self.source, nodes: self.nodes, attributes: self.attributes }
    }

    fn parent(&self) -> NodeId {
        self.open.last().map_or(0, |o| o.id)
    }

    fn add(&mut self, kind: NodeKind, source: Span) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(Node { kind, parent: self.parent(), after: id + 1, source });
        id
    }

    fn text(&mut self, span: Span) {
        let blank = self.source.as_bytes()[span.range()].iter().all(|b| is_blank(*b));
        if !blank {
            self.end_head(span.start);
            self.take_up_again(span.start);
        }
        self.add(NodeKind::Text, span);
    }

    fn end_head(&mut self, at: usize) {
        if let Some(position) = self.open.iter().position(|o| o.tag == Tag::Head)
            && position + 1 == self.open.len()
        {
            self.close_down_to(position, at);
        }
    }

    /// Opens the elements again that a block cut off, with the same attributes and no tag.
    fn take_up_again(&mut self, at: usize) {
        for old in std::mem::take(&mut self.cut_off) {
            if self.open.len() >= MAX_DEPTH {
                return;
            }
            let id = self.add(self.nodes[old].kind, Span::new(at, at));
            if let NodeKind::Element { tag, .. } = self.nodes[id].kind {
                self.open.push(Open { id, tag, ended: false });
            }
        }
    }

    fn start(&mut self, span: Span, name: Span, tag: Tag, attributes: &[Attribute], self_closing: bool) {
        if self.foreign == 0 {
            self.end_implied(tag, span.start);
            if matches!(tag, Tag::Html | Tag::Body | Tag::Head) {
                if self.seen.contains(&tag) {
                    self.add(NodeKind::Comment, span);
                    return;
                }
                self.seen.push(tag);
            }
            if !tag.is_block() && !tag.belongs_in_head() {
                self.take_up_again(span.start);
            }
        }
        let from = self.attributes.len() as u32;
        self.attributes.extend_from_slice(attributes);
        let kind = NodeKind::Element { tag, name, attributes: (from, self.attributes.len() as u32) };
        let id = self.add(kind, span);
        let foreign_root = matches!(tag, Tag::Svg | Tag::Math);
        let empty = tag.is_void() || (self_closing && (self.foreign > 0 || foreign_root));
        if !empty && self.open.len() < MAX_DEPTH {
            self.foreign += usize::from(foreign_root);
            self.open.push(Open { id, tag, ended: false });
        }
    }

    /// Ends the elements that a start tag ends though no end tag is written.
    fn end_implied(&mut self, tag: Tag, at: usize) {
        use Tag::*;
        if !matches!(tag, Html | Head) && !tag.belongs_in_head() {
            self.end_head(at);
        }
        if tag.ends_paragraph() {
            self.close_in_scope(&[P], &[Button], at);
        }
        match tag {
            Li => self.close_in_scope(&[Li], &[Ul, Ol, Menu, Dir], at),
            Dd | Dt => self.close_in_scope(&[Dd, Dt], &[Dl], at),
            Option => self.close_in_scope(&[Option], &[Select, Optgroup], at),
            Optgroup => self.close_in_scope(&[Optgroup], &[Select], at),
            Td | Th => self.close_cells(&[Td, Th, Caption], at),
            Tr => self.close_cells(&[Tr, Td, Th, Caption, Colgroup], at),
            Tbody | Thead | Tfoot => self.close_cells(&[Tbody, Thead, Tfoot, Tr, Td, Th, Caption, Colgroup], at),
            A => self.end_open_link(at),
            Button => self.close_in_scope(&[Button], &[], at),
            _ => {}
        }
        if tag.is_heading()
            && let Some(open) = self.open.last()
            && open.tag.is_heading()
        {
            self.close_down_to(self.open.len() - 1, at);
        }
    }

    /// Ends the innermost open element of `tags`, unless a scope or one of `barriers` lies between.
    fn close_in_scope(&mut self, tags: &[Tag], barriers: &[Tag], at: usize) {
        for position in (1..self.open.len()).rev() {
            let tag = self.open[position].tag;
            if tags.contains(&tag) {
                return self.close_down_to(position, at);
            }
            if tag.is_scope() || barriers.contains(&tag) {
                return;
            }
        }
    }

    /// Ends the outermost open element of `tags` inside the innermost table.
    fn close_cells(&mut self, tags: &[Tag], at: usize) {
        let mut found = None;
        for position in (1..self.open.len()).rev() {
            let tag = self.open[position].tag;
            if tag == Tag::Table {
                break;
            }
            if tags.contains(&tag) {
                found = Some(position);
            }
        }
        let in_table = self.open.iter().any(|o| o.tag == Tag::Table);
        if let Some(position) = found.filter(|_| in_table) {
            self.close_down_to(position, at);
        }
    }

    /// A link never lies in a link: an open one ends where the next begins.
    fn end_open_link(&mut self, at: usize) {
        self.cut_off.retain(|id| !is_element(&self.nodes[*id], Tag::A));
        for position in (1..self.open.len()).rev() {
            let open = &self.open[position];
            if open.tag == Tag::A && !open.ended {
                return self.end_inline(position, at);
            }
            if open.tag.is_scope() {
                return;
            }
        }
    }

    /// Ends the inline element at `position`. Where blocks are open inside it, it ends only for the
    /// text that follows.
    fn end_inline(&mut self, position: usize, end: usize) {
        if self.open[position + 1..].iter().any(|o| o.tag.is_special()) {
            let open = &mut self.open[position];
            open.ended = true;
            self.nodes[open.id].source.end = end;
        } else {
            self.close_down_to(position, end);
        }
    }

    fn end(&mut self, tag: Tag, name: &str, span: Span) {
        if tag == Tag::Br {
            self.add(NodeKind::Element { tag, name: Span::new(span.start + 2, span.start + 4), attributes: (0, 0) }, span);
            return;
        }
        // What comes after `</body>` is still content, and the head ends where content begins.
        if matches!(tag, Tag::Body | Tag::Html) || (tag == Tag::P && !self.open.iter().any(|o| o.tag == Tag::P)) {
            self.add(NodeKind::Comment, span);
            return;
        }
        match self.matching(tag, name) {
            Some(position) if tag.is_special() || tag == Tag::Other => self.close_down_to(position, span.end),
            Some(position) => self.end_inline(position, span.end),
            None => {
                self.cut_off.retain(|id| !is_element(&self.nodes[*id], tag));
                self.add(NodeKind::Comment, span);
            }
        }
    }

    /// The open element that an end tag ends.
    fn matching(&self, tag: Tag, name: &str) -> Option<usize> {
        use Tag::*;
        let table_part = matches!(tag, Table | Tbody | Thead | Tfoot | Tr | Td | Th | Caption);
        for position in (1..self.open.len()).rev() {
            let open = &self.open[position];
            let same = open.tag == tag && (tag != Other || self.name_of(open.id).eq_ignore_ascii_case(name));
            if (same && !open.ended) || (tag.is_heading() && open.tag.is_heading()) {
                return Some(position);
            }
            let barrier = match (table_part, tag) {
                (true, Table) => matches!(open.tag, Template),
                (true, _) => matches!(open.tag, Table | Template),
                (false, Li) => open.tag.is_scope() || matches!(open.tag, Ul | Ol),
                (false, A | Code | Tt) => open.tag.is_scope(),
                (false, _) if tag.is_special() => open.tag.is_scope(),
                (false, _) => open.tag.is_special(),
            };
            if barrier {
                return None;
            }
        }
        None
    }

    fn name_of(&self, id: NodeId) -> &'a str {
        match self.nodes[id].kind {
            NodeKind::Element { name, .. } => &self.source[name.range()],
            _ => "",
        }
    }

    /// Ends the open element at `position` and all inside it. Only the outermost has its end tag there.
    fn close_down_to(&mut self, position: usize, end: usize) {
        let inner_end = end.min(self.token_start);
        let mut cut_off = Vec::new();
        while self.open.len() > position {
            let Some(open) = self.open.pop() else { return };
            let is_outermost = self.open.len() == position;
            let id = open.id;
            self.nodes[id].after = self.nodes.len();
            if !open.ended {
                let end = if is_outermost { end } else { inner_end };
                self.nodes[id].source.end = end.max(self.nodes[id].source.end);
            }
            self.foreign -= usize::from(matches!(open.tag, Tag::Svg | Tag::Math) && self.foreign > 0);
            if open.tag.is_scope() {
                cut_off.clear();
            } else if !is_outermost && !open.ended && open.tag.is_taken_up_again() {
                cut_off.push(id);
            }
        }
        self.cut_off.extend(cut_off.into_iter().rev());
        self.cut_off.truncate(MAX_CUT_OFF);
        self.close_ended();
    }

    /// Closes elements that have ended and have no open block inside any more.
    fn close_ended(&mut self) {
        while let Some(open) = self.open.last()
            && open.ended
        {
            self.nodes[open.id].after = self.nodes.len();
            self.open.pop();
        }
    }
}

fn is_element(node: &Node, wanted: Tag) -> bool {
    matches!(node.kind, NodeKind::Element { tag, .. } if tag == wanted)
}
