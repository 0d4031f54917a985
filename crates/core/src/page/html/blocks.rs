//! The tree becomes leaf blocks of text with their places in the source, and links.
//!
//! A block ends wherever a block element starts or ends, at a double line break, and where main
//! content ends or begins. Text is taken as browsers show it: references decoded, white space
//! collapsed. What differs from the source is a segment of its own.

use super::entity::{self, Place};
use super::tag::Tag;
use super::tree::{NodeId, NodeKind, Tree, collapse};
use crate::content::Content;
use crate::page::{Block, BlockKind, Inert, Link, LinkKind, Segment};
use crate::span::Span;
use crate::url::PageUrl;

/// Blocks and links of a page, both in source order.
pub(super) struct Texts {
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
}

/// Reads the tree.
pub(super) fn read(tree: &Tree<'_>, content: &Content, base: &PageUrl) -> Texts {
    let mut reader = Reader::new(tree, content, base);
    let mut id = 1;
    while id < tree.nodes.len() {
        reader.leave_up_to(id);
        id = reader.visit(id);
    }
    reader.leave_up_to(tree.nodes.len());
    reader.flush();
    Texts { blocks: reader.blocks, links: reader.links }
}

/// What an open element says about the text in it.
#[derive(Clone, Copy)]
struct Context {
    after: NodeId,
    is_block: bool,
    kind: BlockKind,
    inert: Option<Inert>,
    /// Index into `Reader::links` of the link the text stands in, and where that link ends.
    link: Option<(usize, usize)>,
    /// The innermost block element.
    block: NodeId,
}

/// White space that is waiting to see whether text follows.
#[derive(Clone, Copy)]
struct Blank {
    source: Span,
    run: u32,
    inert: Option<Inert>,
}

/// Where the text of a link lies in the blocks.
#[derive(Clone, Copy)]
struct Extent {
    first_block: usize,
    last_block: usize,
    start: usize,
    end: usize,
}

struct Reader<'t> {
    tree: &'t Tree<'t>,
    content: &'t Content,
    base: &'t PageUrl,
    contexts: Vec<Context>,
    /// Whether block elements stand in an element, per node.
    has_blocks: Vec<bool>,
    blocks: Vec<Block>,
    links: Vec<Link>,
    extents: Vec<Option<Extent>>,
    // The block at hand.
    text: String,
    segments: Vec<Segment>,
    node: NodeId,
    main: bool,
    run: u32,
    markup_since_text: bool,
    blank: Option<Blank>,
    /// A line break stands where the blank goes: it is not part of any text.
    line_break: bool,
    line_breaks: usize,
    // The section at hand.
    section: Option<String>,
    named_anchor: Option<String>,
}

impl<'t> Reader<'t> {
    fn new(tree: &'t Tree<'t>, content: &'t Content, base: &'t PageUrl) -> Self {
        let root = Context { after: tree.nodes.len(), is_block: true, kind: BlockKind::Paragraph, inert: None, link: None, block: 0 };
        Self {
            tree,
            content,
            base,
            contexts: vec![root],
            has_blocks: has_blocks(tree),
            blocks: Vec::new(),
            links: Vec::new(),
            extents: Vec::new(),
            text: String::new(),
            segments: Vec::new(),
            node: 0,
            main: false,
            run: 0,
            markup_since_text: false,
            blank: None,
            line_break: false,
            line_breaks: 0,
            section: None,
            named_anchor: None,
        }
    }

    fn context(&self) -> Context {
        self.contexts.last().copied().unwrap_or(Context {
            after: usize::MAX,
            is_block: true,
            kind: BlockKind::Paragraph,
            inert: None,
            link: None,
            block: 0,
        })
    }

    /// Leaves the elements that have no node from `id` on.
    fn leave_up_to(&mut self, id: NodeId) {
        while self.contexts.len() > 1 && self.context().after <= id {
            self.markup_since_text = true;
            if self.context().is_block {
                self.flush();
            }
            self.contexts.pop();
        }
    }

    /// Reads one node, gives the next one to read.
    fn visit(&mut self, id: NodeId) -> NodeId {
        let node = self.tree.nodes[id];
        match node.kind {
            NodeKind::Comment => self.markup_since_text = true,
            NodeKind::Text => self.take_text(id, node.source),
            NodeKind::Element { tag, .. } => {
                self.markup_since_text = true;
                if tag.is_skipped() {
                    if tag.is_block() {
                        self.flush();
                    }
                    return node.after;
                }
                self.enter(id, tag);
            }
        }
        id + 1
    }

    fn enter(&mut self, id: NodeId, tag: Tag) {
        let is_block = tag.is_block();
        if is_block {
            self.flush();
        }
        self.note_section(id, tag);
        match tag {
            Tag::Br => return self.take_line_break(),
            Tag::Img => return self.take_image(id),
            _ => {}
        }
        let outer = self.context();
        let mut inner = Context { after: self.tree.nodes[id].after, is_block, ..outer };
        if is_block {
            inner.block = id;
            inner.kind = kind_of(tag, outer.kind);
        }
        if matches!(tag, Tag::A | Tag::Area)
            && let Some(link) = self.link_of(id)
        {
            self.links.push(link);
            self.extents.push(None);
            inner.link = Some((self.links.len() - 1, self.tree.nodes[id].source.end));
        }
        let reason = if self.content.excluded[id] { Some(Inert::Excluded) } else { self.reason_of(id, tag) };
        inner.inert = outer.inert.or(reason);
        self.contexts.push(inner);
    }

    /// Why the text of an element cannot carry a link.
    fn reason_of(&self, id: NodeId, tag: Tag) -> Option<Inert> {
        use Tag::*;
        match tag {
            Code | Kbd | Samp | Pre | Var | Tt | Listing | Xmp | Plaintext => Some(Inert::Code),
            Button | Label | Legend | Option | Optgroup | Output => Some(Inert::Form),
            Form | Fieldset => (!self.content.holds_the_page(id)).then_some(Inert::Form),
            Figure | Figcaption => Some(Inert::Figure),
            Th | Thead | Caption => Some(Inert::TableHeader),
            Q => Some(Inert::Quotation),
            Blockquote => is_attributed(self.tree, id).then_some(Inert::Quotation),
            Summary => Some(Inert::Form),
            _ => tag.is_heading().then_some(Inert::Heading),
        }
    }

    /// Remembers the fragment that leads to what follows.
    fn note_section(&mut self, id: NodeId, tag: Tag) {
        let own = || self.tree.attribute(id, "id").filter(|i| !i.is_empty());
        if tag == Tag::A {
            self.named_anchor = self.fragment_of(id).or(self.named_anchor.take());
        } else if tag.is_heading() {
            let inner = || self.tree.descendants(id).find_map(|d| self.fragment_of(d));
            let found = own().or_else(inner).or_else(|| self.named_anchor.take());
            self.section = found.or(self.section.take());
        } else if tag == Tag::Section {
            self.section = own().or(self.section.take());
        }
    }

    /// The fragment that leads to an element: its `id`, or the `name` of an `a`.
    fn fragment_of(&self, id: NodeId) -> Option<String> {
        let name = || self.tree.attribute(id, "name").filter(|n| !n.is_empty() && self.tree.tag(id) == Some(Tag::A));
        self.tree.attribute(id, "id").filter(|i| !i.is_empty()).or_else(name)
    }

    fn link_of(&self, id: NodeId) -> Option<Link> {
        let href = self.tree.attribute(id, "href")?.trim().to_owned();
        let (target, fragment) = self.base.join(&href)?;
        let rel = self.tree.attribute(id, "rel").map(|r| collapse(&r).to_lowercase()).unwrap_or_default();
        let anchor = match self.tree.text(id) {
            text if text.is_empty() => alternative_text(self.tree, id),
            text => text,
        };
        let in_listing = self.contexts.iter().any(|c| c.kind == BlockKind::Code);
        let kind = if self.content.main[id] && !in_listing { LinkKind::Body } else { LinkKind::Template };
        let (position, source) = (self.content.positions[id], self.tree.nodes[id].source);
        Some(Link { href, target, fragment, anchor, rel, kind, position, place: None, source })
    }

    /// A line break is a blank that no source stands for; two of them end a block.
    fn take_line_break(&mut self) {
        self.line_breaks += 1;
        if self.line_breaks > 1 {
            self.flush();
        }
        self.line_break = true;
        self.blank = None;
    }

    /// An image between words keeps them apart.
    fn take_image(&mut self, _id: NodeId) {
        if !self.text.is_empty() && self.blank.is_none() {
            self.line_break = true;
        }
    }

    fn take_text(&mut self, id: NodeId, source: Span) {
        let mut context = self.context();
        if context.link.is_some_and(|(_, end)| source.start >= end) {
            context.link = None;
        }
        let inert = context.link.map(|_| Inert::Link).or(context.inert);
        let main = self.content.main[id];
        let raw = &self.tree.source[source.range()];
        if main != self.main && raw.bytes().any(|b| !super::token::is_blank(b)) {
            self.flush();
            self.main = main;
        }
        if self.markup_since_text {
            self.run += 1;
            self.markup_since_text = false;
        }
        let mut piece_start = 0;
        let mut at = 0;
        while let Some(piece) = next_piece(&raw[at..]) {
            let here = Span::new(source.start + at, source.start + at + piece.bytes);
            if !matches!(piece.is, Piece::Verbatim) {
                self.push_verbatim(context, inert, Span::new(source.start + piece_start, here.start));
                piece_start = at + piece.bytes;
            }
            match piece.is {
                Piece::Verbatim | Piece::Nothing => {}
                Piece::Blank => self.push_blank(here, inert),
                Piece::Characters(first, second) => {
                    let mut text = String::from(first);
                    text.extend(second);
                    self.push(context, inert, here, &text, false);
                }
            }
            at += piece.bytes;
        }
        self.push_verbatim(context, inert, Span::new(source.start + piece_start, source.end));
    }

    fn push_blank(&mut self, source: Span, inert: Option<Inert>) {
        match &mut self.blank {
            Some(blank) if blank.source.end == source.start && blank.run == self.run => blank.source.end = source.end,
            Some(_) => {}
            None if self.text.is_empty() || self.line_break => {}
            None => self.blank = Some(Blank { source, run: self.run, inert }),
        }
    }

    fn push_verbatim(&mut self, context: Context, inert: Option<Inert>, source: Span) {
        if !source.is_empty() {
            let tree = self.tree;
            self.push(context, inert, source, &tree.source[source.range()], true);
        }
    }

    /// Appends text that is not blank, and the blank before it.
    fn push(&mut self, context: Context, inert: Option<Inert>, source: Span, text: &str, verbatim: bool) {
        if self.text.is_empty() {
            self.node = context.block;
        }
        self.line_breaks = 0;
        self.named_anchor = None;
        if let Some(blank) = self.blank.take() {
            let verbatim = &self.tree.source[blank.source.range()] == " ";
            self.append(Segment { text: Span::new(0, 0), source: blank.source, verbatim, run: blank.run, inert: blank.inert }, " ");
        } else if self.line_break && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.line_break = false;
        let start = self.text.len();
        self.append(Segment { text: Span::new(0, 0), source, verbatim, run: self.run, inert }, text);
        if let Some((link, _)) = context.link {
            let (block, end) = (self.blocks.len(), self.text.len());
            let extent = self.extents[link].get_or_insert(Extent { first_block: block, last_block: block, start, end });
            extent.last_block = block;
            extent.end = end;
        }
    }

    /// Appends a segment, or lengthens the last one where both map one to one without a gap.
    fn append(&mut self, mut segment: Segment, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        segment.text = Span::new(start, self.text.len());
        match self.segments.last_mut() {
            Some(last)
                if last.verbatim
                    && segment.verbatim
                    && last.run == segment.run
                    && last.inert == segment.inert
                    && last.source.end == segment.source.start
                    && last.text.end == start =>
            {
                last.text.end = segment.text.end;
                last.source.end = segment.source.end;
            }
            _ => self.segments.push(segment),
        }
    }

    /// Ends the block at hand.
    fn flush(&mut self) {
        self.blank = None;
        self.line_break = false;
        self.line_breaks = 0;
        self.run = 0;
        self.markup_since_text = false;
        if self.text.is_empty() {
            return;
        }
        let segments = std::mem::take(&mut self.segments);
        let text = std::mem::take(&mut self.text);
        let source = self.block_source(&segments);
        let kind = self.contexts.iter().rev().find(|c| c.block == self.node).map_or(BlockKind::Paragraph, |c| c.kind);
        let shape = self.content.shapes[self.node];
        self.blocks.push(Block { kind, main: self.main, text, segments, section: self.section.clone(), source, shape });
        self.settle_links();
    }

    /// The element, where the block is all of its text; otherwise from the first to the last text.
    fn block_source(&self, segments: &[Segment]) -> Span {
        let (first, last) = (segments.first().map_or(0, |s| s.source.start), segments.last().map_or(0, |s| s.source.end));
        let element = self.tree.nodes[self.node];
        let is_leaf = self.node != 0 && !self.has_blocks[self.node];
        let whole = Span::new(element.source.start, element.source.end.max(element.source.start));
        if is_leaf && whole.contains(Span::new(first, last.max(first))) { whole } else { Span::new(first, last.max(first)) }
    }

    /// Gives links whose text lies in the block just ended their place.
    fn settle_links(&mut self) {
        let block = self.blocks.len() - 1;
        for (link, extent) in
            self.links.iter_mut().zip(&self.extents).rev().take_while(|(l, _)| l.source.end > self.blocks[block].segments[0].source.start)
        {
            link.place = match extent {
                Some(e) if e.first_block == block && e.last_block == block => Some((block, Span::new(e.start, e.end))),
                Some(e) if e.last_block == block => None,
                _ => link.place,
            };
        }
    }
}

/// For each node, whether a block element is among its descendants.
fn has_blocks(tree: &Tree<'_>) -> Vec<bool> {
    let mut out = vec![false; tree.nodes.len()];
    for id in (1..out.len()).rev() {
        let is_block = tree.tag(id).is_some_and(Tag::is_block);
        out[tree.nodes[id].parent] |= is_block || out[id];
    }
    out
}

enum Piece {
    /// Characters that stand for themselves.
    Verbatim,
    /// White space.
    Blank,
    /// Source that shows nothing, such as a soft hyphen.
    Nothing,
    /// A decoded reference.
    Characters(char, Option<char>),
}

struct SizedPiece {
    is: Piece,
    bytes: usize,
}

/// The piece that `raw` begins with.
fn next_piece(raw: &str) -> Option<SizedPiece> {
    let first = raw.chars().next()?;
    if first == '&'
        && let Some(reference) = entity::decode(raw, Place::Text)
    {
        let is = match (reference.first, reference.second) {
            (c, None) if c.is_whitespace() => Piece::Blank,
            ('\u{AD}', None) => Piece::Nothing,
            (first, second) => Piece::Characters(first, second),
        };
        return Some(SizedPiece { is, bytes: reference.bytes });
    }
    let is_plain = |b: u8| b.is_ascii_graphic() && b != b'&';
    let plain = raw.bytes().take_while(|b| is_plain(*b)).count();
    if plain > 0 {
        return Some(SizedPiece { is: Piece::Verbatim, bytes: plain });
    }
    let is = match first {
        '\u{AD}' | '\0' => Piece::Nothing,
        c if c.is_whitespace() => Piece::Blank,
        _ => Piece::Verbatim,
    };
    Some(SizedPiece { is, bytes: first.len_utf8() })
}

/// Kind of the text of a block element, given the kind of the text around it.
fn kind_of(tag: Tag, outer: BlockKind) -> BlockKind {
    use Tag::*;
    match tag {
        Li => BlockKind::ListItem,
        Td => BlockKind::TableCell,
        Th => BlockKind::TableHeader,
        Blockquote => BlockKind::Quote,
        Figcaption | Caption => BlockKind::Caption,
        Pre | Listing | Xmp | Plaintext => BlockKind::Code,
        Dt | Dd => BlockKind::Definition,
        Body | Html | Article | Main | Section | Table => BlockKind::Paragraph,
        _ => match (tag.heading_level(), outer) {
            (Some(level), _) => BlockKind::Heading(level),
            (None, BlockKind::Heading(_)) => BlockKind::Paragraph,
            (None, outer) => outer,
        },
    }
}

/// Whether a quotation names whom it is from.
fn is_attributed(tree: &Tree<'_>, id: NodeId) -> bool {
    if tree.raw_attribute(id, "cite").is_some_and(|c| !c.trim().is_empty()) {
        return true;
    }
    let names_source = |d: NodeId| matches!(tree.tag(d), Some(Tag::Cite | Tag::Footer));
    if tree.descendants(id).any(names_source) {
        return true;
    }
    let text_of = |d: NodeId| match tree.nodes[d].kind {
        NodeKind::Text => Some(tree.source[tree.nodes[d].source.range()].trim()).filter(|t| !t.is_empty()),
        _ => None,
    };
    let last = tree.descendants(id).rev().find_map(text_of).unwrap_or_default();
    ["—", "―", "– ", "-- ", "&mdash;", "&#8212;"].iter().any(|dash| last.starts_with(dash))
}

/// Text for a link that shows none: of its images, or its label.
fn alternative_text(tree: &Tree<'_>, id: NodeId) -> String {
    let image = tree.descendants(id).filter(|d| tree.tag(*d) == Some(Tag::Img)).find_map(|d| tree.attribute(d, "alt"));
    let own = || tree.attribute(id, "alt").or_else(|| tree.attribute(id, "aria-label")).or_else(|| tree.attribute(id, "title"));
    let image = image.map(|a| collapse(&a)).filter(|a| !a.is_empty());
    image.or_else(|| own().map(|t| collapse(&t))).unwrap_or_default()
}
