//! Parser events → blocks and links.

use super::OPTIONS;
use super::block::OpenBlock;
use super::mask::Mask;
use super::raw::{self, Piece};
use super::slug::Slugs;
use super::{bare, template_href};
use crate::page::{Block, BlockKind, Inert, Link, LinkKind, LinkPosition};
use crate::span::Span;
use crate::url::PageUrl;
use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};
use std::ops::Range;

/// Resolves an `href` to a page and the fragment in it.
pub(super) type Resolve<'a> = &'a dyn Fn(&str) -> Option<(PageUrl, Option<String>)>;

/// What was read from a body.
#[derive(Default)]
pub(super) struct Body {
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
    pub(super) h1: Option<String>,
}

/// A link whose end has not been seen.
struct OpenLink {
    href: String,
    rel: String,
    source: Span,
    text_start: Option<usize>,
    alt: String,
    from_html: bool,
}

/// Reads `source` from `body_start` on.
pub(super) fn read(source: &str, body_start: usize, mask: &Mask, resolve: Resolve) -> Body {
    let mut walk = Walk {
        source,
        offset: body_start,
        mask,
        resolve,
        body: Body::default(),
        containers: Vec::new(),
        block: None,
        block_links: Vec::new(),
        link: None,
        images: 0,
        inline: Vec::new(),
        elements: Vec::new(),
        slugs: Slugs::default(),
        section: None,
        html_from: None,
        heading_id: None,
    };
    for (event, range) in Parser::new_ext(&mask.text, OPTIONS).into_offset_iter() {
        walk.event(event, range);
    }
    walk.flush_html();
    walk.finish_block();
    walk.body
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Quote,
    List,
    Item,
    Table,
    TableHead,
    Footnote,
}

struct Walk<'a> {
    source: &'a str,
    offset: usize,
    mask: &'a Mask,
    resolve: Resolve<'a>,
    body: Body,
    containers: Vec<Container>,
    block: Option<OpenBlock<'a>>,
    block_links: Vec<Link>,
    link: Option<OpenLink>,
    images: usize,
    inline: Vec<Inert>,
    elements: Vec<(String, Option<Inert>)>,
    slugs: Slugs,
    section: Option<String>,
    html_from: Option<Span>,
    heading_id: Option<String>,
}

impl<'a> Walk<'a> {
    fn span(&self, range: &Range<usize>) -> Span {
        Span::new(range.start + self.offset, range.end + self.offset)
    }

    fn event(&mut self, event: Event, range: Range<usize>) {
        let span = self.span(&range);
        if !matches!(event, Event::Html(_)) {
            self.flush_html();
        }
        match event {
            Event::Start(tag) => self.start(tag, span, &range),
            Event::End(tag) => self.end(tag, span),
            Event::Text(text) => self.text(&text, &range),
            Event::Code(_) | Event::InlineMath(_) | Event::DisplayMath(_) => self.code(&event, span),
            Event::SoftBreak => self.soft_break(span),
            Event::HardBreak => {
                self.soft_break(span);
                self.break_run();
            }
            Event::Html(_) => self.html(span),
            Event::InlineHtml(_) => self.inline_html(span),
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => self.break_run(),
            Event::Rule => self.finish_block(),
        }
    }

    fn start(&mut self, tag: Tag, span: Span, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => self.open_block(self.paragraph_kind(), span),
            Tag::Heading { level, id, .. } => {
                self.heading_id = id.map(|id| id.to_string());
                self.open_block(BlockKind::Heading(level as u8), span);
                self.inline.push(Inert::Heading);
            }
            Tag::BlockQuote(_) => self.enter(Container::Quote),
            Tag::CodeBlock(_) => {
                self.open_block(BlockKind::Code, span);
                self.inline.push(Inert::Code);
            }
            Tag::HtmlBlock | Tag::MetadataBlock(_) => self.finish_block(),
            Tag::List(_) => self.enter(Container::List),
            Tag::Item => self.enter(Container::Item),
            Tag::FootnoteDefinition(_) => {
                self.enter(Container::Footnote);
                self.inline.push(Inert::Excluded);
            }
            Tag::Table(_) => self.enter(Container::Table),
            Tag::TableHead => self.enter(Container::TableHead),
            Tag::TableRow | Tag::DefinitionList => self.finish_block(),
            Tag::TableCell => {
                let header = self.containers.last() == Some(&Container::TableHead);
                self.open_block(if header { BlockKind::TableHeader } else { BlockKind::TableCell }, span);
                if header {
                    self.inline.push(Inert::TableHeader);
                }
            }
            Tag::DefinitionListTitle | Tag::DefinitionListDefinition => self.open_block(BlockKind::Definition, span),
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => self.break_run(),
            Tag::Link { link_type, dest_url, .. } => self.start_link(link_type, &dest_url, span, range),
            Tag::Image { .. } => {
                self.break_run();
                self.images += 1;
            }
        }
    }

    fn end(&mut self, tag: TagEnd, span: Span) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::TableRow => self.finish_block(),
            TagEnd::Heading(level) => self.end_heading(level as u8),
            TagEnd::CodeBlock => {
                self.finish_block();
                self.inline.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::Table => self.leave(),
            TagEnd::TableHead => self.leave(),
            TagEnd::FootnoteDefinition => {
                self.leave();
                self.inline.pop();
            }
            TagEnd::TableCell => {
                self.finish_block();
                if self.containers.last() == Some(&Container::TableHead) {
                    self.inline.pop();
                }
            }
            TagEnd::DefinitionListTitle | TagEnd::DefinitionListDefinition | TagEnd::DefinitionList => self.finish_block(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Superscript | TagEnd::Subscript => self.break_run(),
            TagEnd::Link => self.end_link(span.end),
            TagEnd::Image => {
                self.images = self.images.saturating_sub(1);
                self.break_run();
            }
            TagEnd::MetadataBlock(_) => {}
        }
    }

    fn enter(&mut self, container: Container) {
        self.finish_block();
        self.containers.push(container);
    }

    fn leave(&mut self) {
        self.finish_block();
        self.containers.pop();
    }

    fn paragraph_kind(&self) -> BlockKind {
        match self.containers.last() {
            Some(Container::Quote) => BlockKind::Quote,
            Some(Container::Item | Container::List) => BlockKind::ListItem,
            _ => BlockKind::Paragraph,
        }
    }

    fn open_block(&mut self, kind: BlockKind, span: Span) {
        self.finish_block();
        self.block = Some(OpenBlock::new(self.source, kind, span));
    }

    /// The block that inline content belongs to; text of a tight list item opens its own.
    fn block(&mut self, span: Span) -> &mut OpenBlock<'a> {
        let kind = self.paragraph_kind();
        let source = self.source;
        self.block.get_or_insert_with(|| OpenBlock::new(source, kind, span))
    }

    fn break_run(&mut self) {
        if let Some(block) = &mut self.block {
            block.break_run();
        }
    }

    fn inert(&self) -> Option<Inert> {
        let element = self.elements.iter().rev().find_map(|(_, inert)| *inert);
        self.inline.last().copied().or(element)
    }

    fn text(&mut self, text: &str, range: &Range<usize>) {
        if self.images > 0 {
            if let Some(link) = &mut self.link {
                link.alt.push_str(text);
            }
            return;
        }
        let span = self.span(range);
        let is_code = self.inline.last() == Some(&Inert::Code);
        let verbatim = self.mask.text.get(range.clone()) == Some(text);
        let inert = self.inert();
        self.block(span).extend_to(span.end);
        if !verbatim {
            let hidden = !is_code && !self.mask.hidden_in(Span::from(range.clone())).is_empty();
            if !hidden {
                self.push(|block| block.push_written(text, span, inert));
            }
            return;
        }
        if is_code {
            self.push(|block| block.push_verbatim(span, inert));
            return;
        }
        let span = self.escape(span, inert);
        for (piece, why) in self.mask.visible(Span::new(span.start - self.offset, span.end - self.offset)) {
            let place = Span::new(piece.start + self.offset, piece.end + self.offset);
            if piece.start > range.start && self.mask.hidden_in(Span::new(piece.start - 1, piece.start)).len() == 1 {
                self.break_run();
            }
            self.push(|block| block.push_verbatim(place, inert.or(why)));
        }
    }

    /// A backslash before the text belongs to its first character: both are one segment.
    fn escape(&mut self, span: Span, inert: Option<Inert>) -> Span {
        let bytes = self.source.as_bytes();
        let seen = self.block.as_ref().is_some_and(|b| b.ends_at(span.start));
        let slashed = span.start > self.offset && bytes[span.start - 1] == b'\\' && !seen;
        let punctuation = bytes.get(span.start).is_some_and(u8::is_ascii_punctuation);
        if !slashed || !punctuation || span.is_empty() {
            return span;
        }
        let source = self.source;
        let character = &source[span.start..span.start + 1];
        self.push(|block| block.push_written(character, Span::new(span.start - 1, span.start + 1), inert));
        Span::new(span.start + 1, span.end)
    }

    /// Pushes text and tells an open link where its words begin.
    fn push(&mut self, add: impl FnOnce(&mut OpenBlock<'a>) -> Option<usize>) {
        let Some(block) = &mut self.block else { return };
        let start = add(block);
        if let Some(link) = &mut self.link {
            link.text_start = link.text_start.or(start);
        }
    }

    /// Code and formulas are read as text but never touched. A formula keeps its dollars: often they are prices.
    fn code(&mut self, event: &Event, span: Span) {
        if self.images > 0 {
            return;
        }
        let whole = self.source.get(span.range()).unwrap_or_default();
        let ticks = if matches!(event, Event::Code(_)) { whole.len() - whole.trim_start_matches('`').len() } else { 0 };
        let inner = Span::new(span.start + ticks, (span.end - ticks).max(span.start + ticks));
        self.block(span).extend_to(span.end);
        self.break_run();
        self.push(|block| block.push_verbatim(inner, Some(Inert::Code)));
        self.break_run();
    }

    fn soft_break(&mut self, span: Span) {
        let inert = self.inert();
        if self.images == 0
            && let Some(block) = &mut self.block
        {
            block.push_blank(span, inert);
        }
    }

    fn start_link(&mut self, link_type: LinkType, destination: &str, span: Span, range: &Range<usize>) {
        self.end_link(span.start);
        self.block(span);
        self.break_run();
        self.inline.push(Inert::Link);
        let mail = matches!(link_type, LinkType::Email);
        let href = match self.mask.hidden_in(Span::from(range.clone())) {
            [] => destination.to_owned(),
            hidden => template_href::of(self.source, span, hidden, self.offset).unwrap_or_else(|| destination.to_owned()),
        };
        let href = if mail { format!("mailto:{href}") } else { href };
        self.link = Some(OpenLink { href, rel: String::new(), source: span, text_start: None, alt: String::new(), from_html: false });
    }

    fn end_link(&mut self, end: usize) {
        let Some(link) = self.link.take() else { return };
        if !link.from_html {
            self.inline.pop();
        }
        self.break_run();
        let Some((target, fragment)) = (self.resolve)(&link.href) else { return };
        let place = self.block.as_ref().and_then(|block| {
            let start = link.text_start?;
            Some((usize::MAX, Span::new(start, block.len().max(start))))
        });
        let text = place.and_then(|(_, span)| self.block.as_ref()?.text().get(span.range()));
        let anchor = text.unwrap_or(link.alt.trim()).to_owned();
        self.block_links.push(Link {
            href: link.href,
            target,
            fragment,
            anchor,
            rel: link.rel,
            kind: LinkKind::Body,
            position: LinkPosition::Content,
            place,
            source: Span::new(link.source.start, end.max(link.source.end)),
        });
    }

    fn end_heading(&mut self, level: u8) {
        self.inline.pop();
        let text = self.block.as_ref().map(|b| b.text().to_owned()).unwrap_or_default();
        let id = match self.heading_id.take() {
            Some(id) => {
                self.slugs.claim(&id);
                id
            }
            None => self.slugs.next(&text),
        };
        self.section = Some(id).filter(|id| !id.is_empty());
        if level == 1 && self.body.h1.is_none() && !text.is_empty() {
            self.body.h1 = Some(text);
        }
        self.finish_block();
    }

    fn finish_block(&mut self) {
        if self.link.is_some() {
            let end = self.link.as_ref().map_or(0, |l| l.source.end);
            self.end_link(end);
        }
        let mut links = std::mem::take(&mut self.block_links);
        if let Some(mut block) = self.block.take() {
            self.find_bare_addresses(&mut block, &mut links);
            let shape = self.shape();
            if let Some(block) = block.finish(self.body.blocks.len(), self.section.clone(), shape, &mut links) {
                self.body.blocks.push(block);
            }
        }
        for link in &mut links {
            link.place = link.place.filter(|(block, _)| *block != usize::MAX);
        }
        self.body.links.append(&mut links);
    }

    fn find_bare_addresses(&self, block: &mut OpenBlock, links: &mut Vec<Link>) {
        for stretch in block.open_stretches() {
            let text = block.text()[stretch.range()].to_owned();
            for address in bare::find(&text) {
                let span = Span::new(stretch.start + address.span.start, stretch.start + address.span.end);
                block.mark(span, Inert::Link);
                let Some(href) = address.href else { continue };
                let (Some((target, fragment)), Some(source)) = ((self.resolve)(&href), block.source_of(span)) else { continue };
                links.push(Link {
                    anchor: text[address.span.range()].to_owned(),
                    href,
                    target,
                    fragment,
                    rel: String::new(),
                    kind: LinkKind::Body,
                    position: LinkPosition::Content,
                    place: Some((usize::MAX, span)),
                    source,
                });
            }
        }
        links.sort_by_key(|l| l.source);
    }

    /// FNV-1a of the containers: blocks of one shape stand in the same kind of place.
    fn shape(&self) -> u64 {
        let parts = self.containers.iter().map(|c| *c as u8 + 1);
        parts.fold(0xcbf2_9ce4_8422_2325, |hash, part| (hash ^ u64::from(part)).wrapping_mul(0x0100_0000_01b3))
    }

    /// Collects the lines of an HTML block, so that a tag may run over several.
    fn html(&mut self, span: Span) {
        match &mut self.html_from {
            Some(open) if open.end == span.start => open.end = span.end,
            _ => {
                self.flush_html();
                self.html_from = Some(span);
            }
        }
    }

    fn flush_html(&mut self) {
        let Some(span) = self.html_from.take() else { return };
        let html = self.source.get(span.range()).unwrap_or_default();
        for piece in raw::pieces(html, span.start) {
            self.raw_piece(piece, true);
        }
    }

    fn inline_html(&mut self, span: Span) {
        self.block(span);
        self.break_run();
        let html = self.source.get(span.range()).unwrap_or_default();
        for piece in raw::pieces(html, span.start) {
            if matches!(piece, Piece::Tag { .. }) {
                self.raw_piece(piece, false);
            }
        }
    }

    fn raw_piece(&mut self, piece: Piece, in_block: bool) {
        match piece {
            Piece::Text(span) => self.raw_text(span),
            Piece::Tag { name, closes, self_closing, span } => {
                if in_block && raw::is_block(&name) {
                    self.finish_block();
                }
                if name == "br"
                    && let Some(block) = &mut self.block
                {
                    block.push_blank(span, None);
                }
                self.break_run();
                if closes {
                    self.close_element(&name, span.end);
                } else {
                    self.open_element(name, self_closing, span);
                }
            }
        }
    }

    fn open_element(&mut self, name: String, self_closing: bool, span: Span) {
        if raw::is_void(&name) || (self_closing && name != "a") {
            return;
        }
        if name == "a" && self.link.is_none() {
            let tag = &self.source[span.range()];
            if let Some(href) = raw::attribute(tag, "href") {
                let rel = raw::attribute(tag, "rel").unwrap_or_default().to_lowercase();
                self.link = Some(OpenLink { href, rel, source: span, text_start: None, alt: String::new(), from_html: true });
            }
        }
        let inert = raw::inert_element(&name);
        self.elements.push((name, inert));
    }

    fn close_element(&mut self, name: &str, end: usize) {
        if name == "a" && self.link.as_ref().is_some_and(|l| l.from_html) {
            self.end_link(end);
        }
        if let Some(at) = self.elements.iter().rposition(|(open, _)| open == name) {
            self.elements.truncate(at);
        }
    }

    fn raw_text(&mut self, span: Span) {
        let inert = self.inert().or(Some(Inert::Template));
        let source = self.source;
        let text = &source[span.range()];
        if self.block.is_none() && text.trim().is_empty() {
            return;
        }
        self.block(span).extend_to(span.end);
        if text.contains('&') {
            let decoded = raw::decode_entities(text);
            let edges = text.len() - text.trim_start().len();
            if edges > 0 {
                self.push(|block| block.push_verbatim(Span::new(span.start, span.start + edges), inert));
            }
            self.push(|block| block.push_written(decoded.trim_start(), Span::new(span.start + edges, span.end), inert));
            if decoded.ends_with(|c: char| c.is_ascii_whitespace()) {
                self.soft_break(Span::new(span.end - 1, span.end));
            }
        } else {
            self.push(|block| block.push_verbatim(span, inert));
        }
    }
}
