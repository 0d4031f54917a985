//! Text with marked places to pieces that a template can write.

use crate::output::words::short_url;
use linkwright_core::page::BlockKind;
use linkwright_core::plan::PageSummary;
use linkwright_core::span::Span;
use linkwright_engine::review::TextBlock;

/// A piece of text and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The text.
    pub(crate) text: String,
    /// `anchor`, `passage`, `link`, or nothing.
    pub(crate) kind: &'static str,
    /// Place in the block's text, where it is a word that can be chosen.
    pub(crate) word: Option<(usize, usize)>,
}

/// Cuts a text at the bounds of places. Where several cover a piece the first counts. Places that do not fit the text
/// are left out.
pub(crate) fn pieces(text: &str, places: &[(Span, &'static str)]) -> Vec<Piece> {
    let fits = |span: &Span| span.start <= span.end && text.get(span.range()).is_some();
    let places: Vec<&(Span, &'static str)> = places.iter().filter(|(span, _)| fits(span)).collect();
    let mut bounds: Vec<usize> = places.iter().flat_map(|(span, _)| [span.start, span.end]).chain([0, text.len()]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let piece = |pair: &[usize]| {
        let own = Span::new(pair[0], pair[1]);
        let kind = places.iter().find(|(span, _)| span.contains(own)).map_or("", |(_, kind)| *kind);
        Piece { text: text[own.range()].to_owned(), kind, word: None }
    };
    bounds.windows(2).map(piece).collect()
}

/// A block with each word a piece of its own, so that words can be chosen.
fn words(block: &TextBlock, chosen: Option<Span>) -> Vec<Piece> {
    let mut out = Vec::with_capacity(block.words.len() * 2);
    let mut from = 0;
    let kind = |at: usize| if chosen.is_some_and(|span| span.start <= at && at < span.end) { "anchor" } else { "" };
    let mut push = |range: std::ops::Range<usize>, word: bool| {
        if let Some(text) = block.text.get(range.clone()).filter(|text| !text.is_empty()) {
            let word = word.then_some((range.start, range.end));
            out.push(Piece { text: text.to_owned(), kind: kind(range.start), word });
        }
    };
    for word in &block.words {
        push(from..word.start, false);
        push(word.range(), !block.links.iter().any(|link| link.overlaps(*word)));
        from = word.end;
    }
    push(from..block.text.len(), false);
    out
}

/// Blocks that stand together.
pub(crate) struct Group {
    /// `h2` to `h6`, `p`, `ul`, `quote`, `code`.
    pub(crate) kind: &'static str,
    /// Its blocks.
    pub(crate) blocks: Vec<Shown>,
}

/// A block as it is shown.
pub(crate) struct Shown {
    /// Number of the block in its page.
    pub(crate) number: usize,
    /// Its text.
    pub(crate) pieces: Vec<Piece>,
    /// Whether words of it can be chosen.
    pub(crate) choosable: bool,
    /// Whether it is the block of the passage.
    pub(crate) current: bool,
}

/// Main content as groups. `chosen` is the block and range of the words that are marked; `choose` makes each word a
/// piece of its own.
pub(crate) fn groups(blocks: &[TextBlock], chosen: Option<(usize, Span)>, choose: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for block in blocks {
        let own = chosen.filter(|(number, _)| *number == block.number).map(|(_, span)| span);
        let choosable = choose && block.linkable;
        let pieces = if choosable {
            words(block, own)
        } else {
            let marked = own.map(|span| (span, "anchor")).into_iter();
            pieces(&block.text, &marked.chain(block.links.iter().map(|link| (*link, "link"))).collect::<Vec<_>>())
        };
        let shown = Shown { number: block.number, pieces, choosable, current: own.is_some() };
        let kind = kind(block.kind);
        match groups.last_mut() {
            Some(last) if kind == "ul" && last.kind == "ul" => last.blocks.push(shown),
            _ => groups.push(Group { kind, blocks: vec![shown] }),
        }
    }
    groups
}

fn kind(kind: BlockKind) -> &'static str {
    match kind {
        // The page has its own `h1` and a `h2` for each column.
        BlockKind::Heading(1 | 2) => "h3",
        BlockKind::Heading(3) => "h4",
        BlockKind::Heading(_) => "h5",
        BlockKind::ListItem => "ul",
        BlockKind::Quote => "quote",
        BlockKind::Code => "code",
        _ => "p",
    }
}

/// A page of the site, ready for a template.
pub(crate) struct Card {
    /// Title, or the URL where there is none.
    pub(crate) title: String,
    /// URL.
    pub(crate) url: String,
    /// The part of it that tells pages apart.
    pub(crate) short: String,
    /// Address of its view.
    pub(crate) view: String,
    /// Pages whose text leads there; `None` when the page is not in the plan.
    pub(crate) inlinks: Option<usize>,
    /// Pages with any link there.
    pub(crate) inlinks_all: usize,
    /// Pages that its text leads to.
    pub(crate) outlinks: usize,
    /// Clicks from the home page, in words.
    pub(crate) depth: String,
    /// `yes`, `no` or `unknown`.
    pub(crate) orphan: &'static str,
    /// Words of main content.
    pub(crate) words: usize,
}

impl Card {
    /// A card for a page of the plan, or of a URL that is no longer in it.
    pub(crate) fn of(page: Option<&PageSummary>, url: &str, title: &str, base: &str) -> Self {
        let title = if title.trim().is_empty() { short_url(url, base) } else { title };
        Self {
            title: title.to_owned(),
            url: url.to_owned(),
            short: short_url(url, base).to_owned(),
            view: super::address::page(url),
            inlinks: page.map(|page| page.inlinks),
            inlinks_all: page.map_or(0, |page| page.inlinks_all),
            outlinks: page.map_or(0, |page| page.outlinks),
            depth: page.and_then(|page| page.depth).map_or_else(|| "unknown".to_owned(), clicks),
            orphan: crate::output::words::yes_no_unknown(page.and_then(|page| page.orphan)),
            words: page.map_or(0, |page| page.words),
        }
    }
}

/// `1 click`, `2 clicks`.
pub(crate) fn clicks(depth: u32) -> String {
    match depth {
        0 => "home page".to_owned(),
        1 => "1 click".to_owned(),
        more => format!("{more} clicks"),
    }
}

/// A score in hundredths.
pub(crate) fn percent(score: f64) -> String {
    format!("{:.0} %", score * 100.0)
}

/// The address as a link that leaves the queue; nothing but web addresses ever becomes one.
pub(crate) fn outward(url: &str) -> Option<String> {
    linkwright_core::url::PageUrl::parse(url).map(|url| url.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_the_bounds_of_its_places() {
        let cut = pieces("one two three", &[(Span::new(4, 7), "anchor"), (Span::new(0, 7), "passage"), (Span::new(5, 99), "link")]);
        let told: Vec<(&str, &str)> = cut.iter().map(|piece| (piece.text.as_str(), piece.kind)).collect();
        assert_eq!(told, [("one ", "passage"), ("two", "anchor"), (" three", "")]);
    }

    #[test]
    fn only_web_addresses_lead_out() {
        for url in ["javascript:alert(1)", " JavaScript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//x", ""] {
            assert_eq!(outward(url), None, "{url}");
        }
        assert_eq!(outward("https://a.example/?q=\"").as_deref(), Some("https://a.example/?q=%22"));
    }
}
