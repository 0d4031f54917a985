//! Which part of a document is its main content, and in which part of the page each link stands.
//!
//! What is plainly something else is cut first: by element, role, names and headings of boxes. The
//! content is then the innermost element that holds most of the running text that is left, and lines
//! about the article at its head and tail are cut off. When too little would be left, less is cut.

mod selector;
mod words;

pub use selector::is_valid as is_valid_selector;

use crate::page::LinkPosition;
use crate::page::html::tag::Tag;
use crate::page::html::tree::{NodeId, NodeKind, Tree};
use selector::Selectors;
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
    let count = tree.nodes.len();
    let measures = Measures::of(tree);
    let excluded = excluded(tree, &Selectors::read(&settings.exclude));
    let (root, cut, mut main) = match selected_root(tree, settings) {
        Some(root) => {
            let cut = (0..count).map(|id| is_left_out(tree, id).then_some(LinkPosition::Aside)).collect();
            (root, inherited(tree, cut), vec![false; count])
        }
        None => found_root(tree, &measures),
    };
    for id in root..tree.nodes[root].after {
        main[id] = cut[id].is_none();
    }
    for id in 0..count {
        main[id] &= !excluded[id];
    }
    let positions = (0..count).map(|id| position(id, root, tree, &cut)).collect();
    Content { main, excluded, positions, shapes: shapes(tree), text_bytes: measures.text }
}

/// The root of the content, what is cut from it, and what outside it is content all the same.
fn found_root(tree: &Tree<'_>, measures: &Measures) -> (NodeId, Vec<Option<LinkPosition>>, Vec<bool>) {
    let names: Vec<Hints> = (0..tree.nodes.len()).map(|id| names_of(tree, id)).collect();
    let mut main = vec![false; tree.nodes.len()];
    let mut cut = cut_parts(tree, measures, &names);
    cut_teasers(tree, measures, &mut cut);
    let weights = measures.prose_without(tree, &cut);
    let title = title_of(tree);
    let root = root_of(tree, &weights, &names, title);
    cut_lines(tree, measures, root, &mut cut);
    if let Some(title) = title {
        rescue_lead(tree, measures, &cut, tree.nodes[title].after..root, &mut main);
    }
    (root, cut, main)
}

/// The first element that a selector of the settings matches.
fn selected_root(tree: &Tree<'_>, settings: &ContentSettings) -> Option<NodeId> {
    let selectors = Selectors::read(&settings.content);
    if selectors.is_empty() {
        return None;
    }
    (1..tree.nodes.len()).find(|id| selectors.matches(tree, *id))
}

fn excluded(tree: &Tree<'_>, selectors: &Selectors) -> Vec<bool> {
    let mut out = vec![false; tree.nodes.len()];
    if selectors.is_empty() {
        return out;
    }
    for id in 1..out.len() {
        out[id] = out[tree.nodes[id].parent] || selectors.matches(tree, id);
    }
    out
}

/// What nobody sees as text, wherever it stands.
fn is_left_out(tree: &Tree<'_>, id: NodeId) -> bool {
    tree.tag(id).is_some_and(Tag::is_skipped) || is_hidden(tree, id)
}

/// Gives every node what the node around it has.
fn inherited(tree: &Tree<'_>, mut cut: Vec<Option<LinkPosition>>) -> Vec<Option<LinkPosition>> {
    for id in 1..cut.len() {
        cut[id] = cut[id].or(cut[tree.nodes[id].parent]);
    }
    cut
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
    /// Text that an element has itself, not in inner block elements, and how much of it is linked.
    own: Vec<(u32, u32)>,
    /// The innermost block element around a node.
    block: Vec<NodeId>,
}

/// A block with less text is no evidence of prose.
const MIN_PROSE_BYTES: u32 = 60;

impl Measures {
    fn of(tree: &Tree<'_>) -> Self {
        let count = tree.nodes.len();
        let mut own = vec![0u32; count];
        let mut own_linked = vec![0u32; count];
        let mut of_block = vec![(0u32, 0u32); count];
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
                    let (text, linked) = &mut of_block[block_of[id]];
                    *text += own[id];
                    *linked += own_linked[id];
                }
                NodeKind::Comment => {}
            }
            id += 1;
        }
        let is_evidence = |id: NodeId| is_prose(of_block[id].0, of_block[id].1) && tree.tag(id) != Some(Tag::Pre);
        let mut prose: Vec<u32> = (0..count).map(|id| if is_evidence(id) { of_block[id].0 } else { 0 }).collect();
        for id in (1..count).rev() {
            let parent = tree.nodes[id].parent;
            own[parent] += own[id];
            own_linked[parent] += own_linked[id];
            prose[parent] += prose[id];
        }
        Self { text: own, linked: own_linked, prose, own: of_block, block: block_of }
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

/// Whether a block with so much text, so much of it linked, reads like a paragraph.
fn is_prose(text: u32, linked: u32) -> bool {
    text >= MIN_PROSE_BYTES && linked * 2 < text
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
    if is_left_out(tree, id) {
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
    let limit = if tag == Tag::Aside { 70 } else { 40 };
    if by_element.is_some() && percent < limit {
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

/// Longer items of a list are articles, not teasers of articles.
const MAX_TEASER_BYTES: u32 = 900;

/// Cuts lists of teasers: three or more siblings that each have a linked heading and little text.
fn cut_teasers(tree: &Tree<'_>, measures: &Measures, cut: &mut [Option<LinkPosition>]) {
    let mut teasers = vec![0u32; tree.nodes.len()];
    let mut marked = vec![false; tree.nodes.len()];
    let is_open_heading = |id: &NodeId| cut[*id].is_none() && tree.tag(*id).is_some_and(Tag::is_heading);
    for heading in (1..tree.nodes.len()).filter(is_open_heading).filter(|id| is_linked_heading(tree, *id, measures)) {
        for teaser in tree.ancestors(heading).take_while(|a| measures.text[*a] <= MAX_TEASER_BYTES) {
            if !marked[teaser] {
                marked[teaser] = true;
                teasers[tree.nodes[teaser].parent] += 1;
            }
        }
    }
    for id in 1..tree.nodes.len() {
        let parent = tree.nodes[id].parent;
        let is_list = teasers[parent] >= 3 && cut[parent].is_none();
        if cut[id].is_none() && ((marked[id] && is_list) || cut[parent].is_some()) {
            cut[id] = cut[parent].or(Some(LinkPosition::Aside));
        }
    }
}

/// Whether most of a heading is a link to another page, or the heading stands in one.
fn is_linked_heading(tree: &Tree<'_>, id: NodeId, measures: &Measures) -> bool {
    let is_link =
        |a: NodeId| tree.tag(a) == Some(Tag::A) && tree.raw_attribute(a, "href").is_some_and(|h| !h.trim_start().starts_with('#'));
    let around = || tree.ancestors(id).take(4).any(is_link);
    let within = || tree.descendants(id).any(|d| is_link(d) && measures.text[d] * 10 >= measures.text[id] * 6);
    (1..400).contains(&measures.text[id]) && (within() || around())
}

/// The title of the page: the only `h1` there is.
fn title_of(tree: &Tree<'_>) -> Option<NodeId> {
    let mut titles = (1..tree.nodes.len()).filter(|id| tree.tag(*id) == Some(Tag::H1));
    let title = titles.next()?;
    titles.next().is_none().then_some(title)
}

/// The element that holds the content: from the body down, as long as one child has most of the prose.
fn root_of(tree: &Tree<'_>, prose: &[u32], names: &[Hints], title: Option<NodeId>) -> NodeId {
    let article = title.and_then(|t| tree.ancestors(t).find(|a| tree.tag(*a) == Some(Tag::Article)));
    let mut at = article.filter(|a| prose[*a] > 200).unwrap_or(0);
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

/// Takes paragraphs between the title and the content for content: leads often stand in a box of their own.
fn rescue_lead(tree: &Tree<'_>, measures: &Measures, cut: &[Option<LinkPosition>], range: std::ops::Range<NodeId>, main: &mut [bool]) {
    for id in range {
        let (text, linked) = measures.own[measures.block[id]];
        let is_heading = tree.tag(measures.block[id]).is_some_and(Tag::is_heading);
        main[id] |= cut[id].is_none() && is_prose(text, linked) && !is_heading;
    }
}

/// Cuts titles, and single lines of the content that lead elsewhere.
fn cut_lines(tree: &Tree<'_>, measures: &Measures, root: NodeId, cut: &mut [Option<LinkPosition>]) {
    let range = root..tree.nodes[root].after;
    for (id, &(text, linked)) in measures.own.iter().enumerate().take(range.end).skip(range.start) {
        let is_title = tree.tag(id) == Some(Tag::H1);
        let is_pointer =
            || text > 0 && text < 200 && measures.text[id] < 400 && linked * 10 >= text * 7 && words::is_pointer(&tree.text(id));
        if is_title || is_pointer() {
            cut_all(tree, id, LinkPosition::Content, cut);
        }
    }
    for id in range.rev() {
        let (text, linked) = measures.own[id];
        if text == 0 || cut[id].is_some() {
            continue;
        }
        let is_call =
            text < 400 && measures.text[id] < 800 && linked < text && tree.tag(id) != Some(Tag::Li) && words::is_call(&tree.text(id));
        if !is_call {
            return;
        }
        cut_all(tree, id, LinkPosition::Aside, cut);
    }
}

fn cut_all(tree: &Tree<'_>, id: NodeId, position: LinkPosition, cut: &mut [Option<LinkPosition>]) {
    for part in &mut cut[id..tree.nodes[id].after] {
        *part = part.or(Some(position));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that are main content, one per text node.
    fn main_texts(html: &str, settings: &ContentSettings) -> Vec<String> {
        let tree = Tree::parse(html);
        let content = find(&tree, settings);
        let is_main_text = |id: &NodeId| matches!(tree.nodes[*id].kind, NodeKind::Text) && content.main[*id];
        let texts = (1..tree.nodes.len()).filter(is_main_text).map(|id| tree.text(id));
        texts.filter(|t| !t.is_empty()).collect()
    }

    fn prose(name: &str) -> String {
        format!("{name}: a paragraph of running text that is long enough to be taken for prose, with commas, verbs and a full stop.")
    }

    #[test]
    fn boxes_around_the_article_are_no_content() {
        let (a, b) = (prose("One"), prose("Two"));
        let page = format!(
            "<body><div class=site-header><a href=/>Brand</a></div><div id=main-nav><a href=/a>Menu</a></div>\
             <div class=layout><div class='post hentry'><h1>Title</h1><div class=byline>By Someone, {b}</div><p>{a}</p><h2>Part</h2><p>{b}</p>\
             <div class=sharedaddy><a href=/s>Share</a></div><h3>Related posts</h3><ul><li><a href=/r>Other post</a></li></ul></div>\
             <div id=comments><p>{a}</p><p>{b}</p></div><div class=sidebar-widget><p>{a}</p></div></div><div class=footer>Imprint {a}</div>"
        );
        let found = main_texts(&page, &ContentSettings::default());
        assert!(found.contains(&a) && found.contains(&"Part".to_owned()));
        for text in ["Brand", "Menu", "Title", "Share", "Related posts", "Other post"] {
            assert!(!found.contains(&text.to_owned()), "{text}");
        }
        assert_eq!(found.iter().filter(|t| **t == b).count(), 1);
    }

    #[test]
    fn lists_of_teasers_are_no_content() {
        let card = |i: usize| format!("<div class=card><h3><a href=/{i}>Post number {i}</a></h3><p>{}</p></div>", prose("Teaser"));
        let cards: String = (0..5).map(card).collect();
        let found = main_texts(&format!("<main><p>{}</p><div>{cards}</div></main>", prose("Intro")), &ContentSettings::default());
        assert_eq!(found, [prose("Intro")]);
    }

    #[test]
    fn an_article_is_never_emptied_by_its_names() {
        let text = prose("All");
        for class in ["sidebar", "comments", "footer", "menu", "widget share", "hidden-nav header"] {
            let page = format!("<body><div class='{class}'><p>{text}</p><p>{text}</p></div></body>");
            assert_eq!(main_texts(&page, &ContentSettings::default()).len(), 2, "{class}");
        }
        assert_eq!(main_texts("<p>Short</p>", &ContentSettings::default()), ["Short"]);
    }

    #[test]
    fn selectors_decide_where_they_are_given() {
        let html = format!("<div id=x><p>Mine</p><p class=no>Not</p></div><article><p>{}</p></article>", prose("Long"));
        let settings = ContentSettings { content: vec!["#x".into()], exclude: vec![".no".into()] };
        assert_eq!(main_texts(&html, &settings), ["Mine"]);
        let settings = ContentSettings { content: vec!["#absent".into()], exclude: Vec::new() };
        assert_eq!(main_texts(&html, &settings), [prose("Long")]);
    }

    #[test]
    fn hidden_text_is_no_content() {
        let text = prose("Seen");
        let html = format!("<main><p>{text}</p><p hidden>h</p><div style='DISPLAY : none'>d</div><p aria-hidden=true>a</p></main>");
        assert_eq!(main_texts(&html, &ContentSettings::default()), [text]);
    }
}
