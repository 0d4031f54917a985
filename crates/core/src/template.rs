//! All pages of a site tell what is template: what repeats across them is not the page's own.
//!
//! Three things repeat: blocks with the same text and links at places of the same shape, links with
//! the same words and target that make up their block or stand in none, and what the site adds to
//! titles. A short block between two blocks that repeat goes with them, such as the entry of a menu
//! that is not a link on its own page. Headings and code repeat in good content and are left alone.
//!
//! What page by page is beyond doubt decides where one page alone is in doubt: a place that is no
//! content on most pages is none on the others. And a page that does nothing but link, to a large part
//! of the site or in rows with the same label as on other pages, is an index: its links recommend nothing.

use crate::page::{Block, BlockKind, Link, LinkKind, LinkPosition, Page};
use crate::text;
use crate::url::UrlKey;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What was found to repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateReport {
    /// Blocks that were taken out of the main content.
    pub blocks: usize,
    /// Links that were taken out of the body.
    pub links: usize,
    /// What the site adds at the end of titles, such as ` | Example`.
    pub title_tail: Option<String>,
    /// What the site puts before titles.
    pub title_head: Option<String>,
}

/// Fewer pages than this that agree prove nothing.
const MIN_PAGES: usize = 4;

/// A site's section is rarely less than this share of its pages: one in so many.
const PAGES_PER_REPEAT: usize = 25;

/// Text without links is often repeated on purpose; it must stand on one in so many pages.
const PAGES_PER_TEXT_REPEAT: usize = 10;

/// A place must be no content on so many times more pages than it is.
const PLACE_MAJORITY: usize = 3;

/// A block of more words than this is no entry of a menu.
const MAX_ENTRY_WORDS: usize = 6;

/// Marks as template what repeats across `pages`, and shortens titles by what the site adds to all.
pub fn find(pages: &mut [Page]) -> TemplateReport {
    let mut report = TemplateReport::default();
    let repeats = Repeats::count(pages);
    let known: HashSet<UrlKey> = pages.iter().map(|p| p.url.key()).collect();
    for page in pages.iter_mut() {
        let repeated = repeats.blocks_of(page);
        let is_index = is_index(page, &known) || repeats.is_row_index(page);
        report.blocks += take_out_blocks(page, &repeated);
        report.links += take_out_links(page, &repeated, &repeats, is_index);
        page.word_count = count_words(page);
    }
    shorten_titles(pages, &mut report);
    report
}

/// Words of the main blocks.
#[must_use]
pub fn count_words(page: &Page) -> usize {
    page.blocks.iter().filter(|b| b.main).map(|b| text::count_words(&b.text)).sum()
}

/// On how many pages things stand, by hash. Hashes are fixed within a build, and only compared.
struct Repeats {
    blocks: HashMap<u64, usize>,
    links: HashMap<u64, usize>,
    /// Of blocks with links: place and words that are no link.
    labels: HashMap<u64, usize>,
    /// Per place, on how many pages it is content, and on how many it is not.
    places: HashMap<u64, (usize, usize)>,
    min_links: usize,
    min_text: usize,
}

impl Repeats {
    fn count(pages: &[Page]) -> Self {
        let (mut blocks, mut links, mut labels, mut places) = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        for page in pages {
            count_once(label_keys(page).into_iter().flatten().collect(), &mut labels);
            count_places(page, &mut places);
            count_once(block_keys(page), &mut blocks);
            count_once(page.links.iter().map(link_key).collect(), &mut links);
        }
        let min_links = (pages.len() / PAGES_PER_REPEAT).max(MIN_PAGES);
        Self { blocks, links, labels, places, min_links, min_text: (pages.len() / PAGES_PER_TEXT_REPEAT).max(MIN_PAGES) }
    }

    /// Whether the block stands at a place that is no content on most pages.
    fn is_elsewhere_no_content(&self, block: &Block) -> bool {
        let (content, other) = self.places.get(&block.shape).copied().unwrap_or_default();
        other >= MIN_PAGES && other >= content * PLACE_MAJORITY
    }

    /// Whether a page has no running text, and rows of links under labels that many pages have.
    fn is_row_index(&self, page: &Page) -> bool {
        let linked = page.linked_bytes();
        if page.blocks.iter().zip(&linked).any(|(block, linked)| is_running_text(block, *linked)) {
            return false;
        }
        let count = |key: &u64| self.labels.get(key).copied().unwrap_or(0);
        label_keys(page).iter().zip(&page.blocks).any(|(key, block)| block.main && key.as_ref().is_some_and(|k| count(k) >= self.min_links))
    }

    /// For each block of the page, whether it repeats.
    fn blocks_of(&self, page: &Page) -> Vec<bool> {
        let linked = page.linked_bytes();
        let count = |key: &u64| self.blocks.get(key).copied().unwrap_or(0);
        let repeats = |(i, key): (usize, &u64)| {
            let block = &page.blocks[i];
            let min = if linked[i] > 0 { self.min_links } else { self.min_text };
            let is_linked_heading = matches!(block.kind, BlockKind::Heading(_)) && linked[i] == block.text.len();
            ((is_linked_heading || may_be_template(block)) && count(key) >= min) || self.is_elsewhere_no_content(block)
        };
        let mut out: Vec<bool> = block_keys(page).iter().enumerate().map(repeats).collect();
        for i in 1..out.len().saturating_sub(1) {
            let is_entry = may_be_template(&page.blocks[i]) && text::count_words(&page.blocks[i].text) <= MAX_ENTRY_WORDS;
            out[i] |= is_entry && out[i - 1] && out[i + 1];
        }
        out
    }
}

/// Whether a block has words that are no link, and reads like a paragraph.
fn is_running_text(block: &Block, linked: usize) -> bool {
    block.main && !matches!(block.kind, BlockKind::Heading(_) | BlockKind::Code) && block.text.len() >= 80 && linked * 2 < block.text.len()
}

/// A page that links to so many pages of the site is an index of it.
const INDEX_TARGETS: usize = 150;

/// So many targets, or links, are an index when nearly all of the page is made of them.
const DENSE_INDEX_TARGETS: usize = 80;

/// Whether a page is an index of the site: its links go to very many pages, or to many and make up the page.
fn is_index(page: &Page, known: &HashSet<UrlKey>) -> bool {
    let body: Vec<&Link> = page.links.iter().filter(|l| l.kind == LinkKind::Body).collect();
    if body.len() < DENSE_INDEX_TARGETS {
        return false;
    }
    let keyed = body.into_iter().map(|l| (l, l.target.key()));
    let (links, keys): (Vec<&Link>, Vec<UrlKey>) = keyed.filter(|(_, key)| known.contains(key)).unzip();
    let targets: HashSet<&UrlKey> = keys.iter().collect();
    let leading = links.iter().filter(|l| l.place.is_some_and(|(_, span)| span.start == 0)).count();
    let (text, linked) = page
        .blocks
        .iter()
        .zip(page.linked_bytes())
        .filter(|(b, _)| b.main)
        .fold((0, 0), |(t, l), (b, linked)| (t + b.text.len(), l + linked));
    let is_directory = targets.len() >= DENSE_INDEX_TARGETS && leading * 10 >= links.len() * 7;
    let is_all_links = links.len() >= INDEX_TARGETS && linked * 100 >= text * 85;
    targets.len() >= INDEX_TARGETS || is_directory || is_all_links
}

fn may_be_template(block: &Block) -> bool {
    !matches!(block.kind, BlockKind::Heading(_) | BlockKind::Code | BlockKind::TableCell | BlockKind::TableHeader)
}

fn count_once(mut keys: Vec<u64>, counts: &mut HashMap<u64, usize>) {
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
}

/// A key per block: its text, its shape and where its links lead.
fn block_keys(page: &Page) -> Vec<u64> {
    let mut hashers: Vec<DefaultHasher> = page.blocks.iter().map(|_| DefaultHasher::new()).collect();
    for (block, hasher) in page.blocks.iter().zip(&mut hashers) {
        (block.shape, block.text.as_str()).hash(hasher);
    }
    for link in &page.links {
        if let Some((block, _)) = link.place
            && let Some(hasher) = hashers.get_mut(block)
        {
            link.target.as_str().hash(hasher);
        }
    }
    hashers.into_iter().map(|h| h.finish()).collect()
}

/// For each block with links, a key of its place and the words that are no link, if there are any.
fn label_keys(page: &Page) -> Vec<Option<u64>> {
    let mut labels: Vec<Option<String>> = vec![None; page.blocks.len()];
    let mut ends = vec![0; page.blocks.len()];
    for (index, span) in page.links.iter().filter_map(|l| l.place) {
        let (Some(block), Some(end)) = (page.blocks.get(index), ends.get_mut(index)) else { continue };
        labels[index].get_or_insert_default().push_str(block.text.get(*end..span.start).unwrap_or_default());
        *end = span.end;
    }
    let key = |(index, label): (usize, Option<String>)| {
        let block = &page.blocks[index];
        let mut label = label?;
        label.push_str(block.text.get(ends[index]..).unwrap_or_default());
        label.retain(char::is_alphanumeric);
        let mut hasher = DefaultHasher::new();
        (block.shape, label.as_str()).hash(&mut hasher);
        (!label.is_empty()).then(|| hasher.finish())
    };
    labels.into_iter().enumerate().map(key).collect()
}

fn count_places(page: &Page, places: &mut HashMap<u64, (usize, usize)>) {
    let mut here: Vec<(u64, bool)> = page.blocks.iter().map(|b| (b.shape, b.main)).collect();
    here.sort_unstable();
    here.dedup();
    for (shape, main) in here {
        let (content, other) = places.entry(shape).or_default();
        *(if main { content } else { other }) += 1;
    }
}

fn link_key(link: &Link) -> u64 {
    let mut hasher = DefaultHasher::new();
    (link.anchor.as_str(), link.target.as_str()).hash(&mut hasher);
    hasher.finish()
}

fn take_out_blocks(page: &mut Page, repeated: &[bool]) -> usize {
    let mut taken = 0;
    for (block, _) in page.blocks.iter_mut().zip(repeated).filter(|(block, repeated)| **repeated && block.main) {
        block.main = false;
        taken += 1;
    }
    taken
}

fn take_out_links(page: &mut Page, repeated: &[bool], repeats: &Repeats, is_index: bool) -> usize {
    let mut taken = 0;
    for link in page.links.iter_mut().filter(|l| l.kind == LinkKind::Body) {
        let is_template = is_index
            || match link.place {
                Some((block, _)) => repeated.get(block).copied().unwrap_or(false),
                // Images and links around several blocks have no text of one block to compare.
                None => repeats.links.get(&link_key(link)).copied().unwrap_or(0) >= repeats.min_links,
            };
        if is_template {
            link.kind = LinkKind::Template;
            // The links of an index recommend nothing, but a reader finds them in its content.
            if link.position == LinkPosition::Content && !is_index {
                link.position = LinkPosition::Aside;
            }
            taken += 1;
        }
    }
    taken
}

/// What sites put between a page's own title and their name.
const SEPARATORS: &[&str] = &[" | ", " - ", " – ", " — ", " · ", " • ", " :: ", " » ", " « ", " / ", ": ", "｜", " ｜ "];

/// A name must end or begin this share of titles, in percent, to be taken for the site's.
const TITLE_PERCENT: usize = 40;

fn shorten_titles(pages: &mut [Page], report: &mut TemplateReport) {
    report.title_tail = common_part(pages, tail_of);
    cut_titles(pages, report.title_tail.as_deref(), |title, tail| title.strip_suffix(tail));
    report.title_head = common_part(pages, head_of);
    cut_titles(pages, report.title_head.as_deref(), |title, head| title.strip_prefix(head));
}

fn cut_titles(pages: &mut [Page], part: Option<&str>, cut: for<'t> fn(&'t str, &str) -> Option<&'t str>) {
    let Some(part) = part else { return };
    for page in pages {
        let own = cut(&page.short_title, part).map(str::trim).filter(|own| !own.is_empty());
        if let Some(own) = own.map(str::to_owned) {
            page.short_title = own;
        }
    }
}

fn tail_of(title: &str) -> Option<&str> {
    let at = SEPARATORS.iter().filter_map(|s| title.rfind(s)).max()?;
    (at > 0).then(|| &title[at..])
}

fn head_of(title: &str) -> Option<&str> {
    let end = SEPARATORS.iter().filter_map(|s| title.find(s).map(|at| at + s.len())).min()?;
    (end < title.len()).then(|| &title[..end])
}

/// The tail or head that most titles share.
fn common_part(pages: &[Page], part_of: fn(&str) -> Option<&str>) -> Option<String> {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let titled = pages.iter().filter(|p| !p.short_title.is_empty()).count();
    for part in pages.iter().filter_map(|p| part_of(&p.short_title)) {
        *counts.entry(part).or_default() += 1;
    }
    let (part, count) = counts.into_iter().max_by_key(|(part, count)| (*count, part.len()))?;
    (count >= MIN_PAGES && count * 100 >= titled * TITLE_PERCENT).then(|| part.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ContentSettings;
    use crate::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, SourceFormat};
    use crate::url::PageUrl;

    fn page(path: &str, html: &str) -> Page {
        let fetched = FetchedPage {
            url: PageUrl::parse(&format!("https://example.org/{path}")).unwrap(),
            outcome: FetchOutcome::Fetched,
            status: 200,
            redirects: Vec::new(),
            headers: FetchHeaders::default(),
            body: html.as_bytes().to_vec(),
            format: SourceFormat::Html,
            path: None,
            discovery: Discovery::default(),
            sitemap_lastmod: None,
            detail: None,
        };
        crate::page::html::parse(&fetched, &ContentSettings::default())
    }

    const PROSE: &str =
        "is explained here at some length, so that the page has running text of its own and nobody takes it for a list of links.";

    /// A site of old markup: nothing says which part of a page is what.
    fn plain_site(count: usize) -> Vec<Page> {
        let one = |i: usize| {
            let next = (i + 1) % count;
            let html = format!(
                "<title>Part {i} | Old Site</title><div><ul><li><a href=/>Home</a><li><a href=/all>All parts</a><li>Here</ul></div>\
                 <h2>Overview</h2><p>Part {i} {PROSE} It goes on in <a href=/p{next}>part {next}</a>.\
                 <p>Written by the makers, see <a href=/terms>terms</a>."
            );
            page(&format!("p{i}"), &html)
        };
        (0..count).map(one).collect()
    }

    fn body_links(page: &Page) -> Vec<&str> {
        page.links.iter().filter(|l| l.kind == LinkKind::Body).map(|l| l.anchor.as_str()).collect()
    }

    #[test]
    fn what_repeats_is_template_though_no_markup_says_so() {
        let mut pages = plain_site(8);
        assert!(body_links(&pages[0]).contains(&"Home"));
        let report = find(&mut pages);
        for page in &pages {
            assert_eq!(body_links(page).len(), 1, "{:?}", page.links);
            assert!(body_links(page)[0].starts_with("part "));
            let main: Vec<&str> = page.blocks.iter().filter(|b| b.main).map(|b| b.text.as_str()).collect();
            assert_eq!(main.len(), 2, "{main:?}");
            assert_eq!(main[0], "Overview");
            assert_eq!(page.word_count, count_words(page));
        }
        assert!(report.links >= 3 * 8);
    }

    #[test]
    fn nothing_of_a_single_page_is_template() {
        let mut pages = plain_site(1);
        let before = pages.clone();
        assert_eq!(find(&mut pages), TemplateReport::default());
        assert_eq!(pages, before);
    }

    #[test]
    fn what_the_site_adds_to_titles_is_cut_but_never_all_of_a_title() {
        let titles = ["A - b | Brand", "C | Brand", "D | Brand", "Brand", "E | Brand", " | Brand", "Other | Name"];
        let mut pages: Vec<Page> = titles.iter().map(|t| page("x", &format!("<title>{t}</title><p>x"))).collect();
        let report = find(&mut pages);
        assert_eq!(report.title_tail.as_deref(), Some(" | Brand"));
        let short: Vec<&str> = pages.iter().map(|p| p.short_title.as_str()).collect();
        assert_eq!(short, ["A - b", "C", "D", "Brand", "E", "| Brand", "Other | Name"]);
        let mut pages: Vec<Page> =
            ["Docs: A", "Docs: B: c", "Docs: D", "Docs: E"].iter().map(|t| page("x", &format!("<title>{t}</title>"))).collect();
        find(&mut pages);
        assert_eq!(pages[1].short_title, "B: c");
    }

    #[test]
    fn an_index_of_the_site_recommends_nothing() {
        let rows: String = (0..120).map(|i| format!("<li><a href=/p{i}>Part {i}</a> about things</li>")).collect();
        let mut pages = plain_site(120);
        pages.push(page("all", &format!("<title>All</title><h1>All parts</h1><p>All parts of the site {PROSE}<ul>{rows}</ul>")));
        find(&mut pages);
        assert_eq!(body_links(&pages[120]), Vec::<&str>::new());
        assert_eq!(body_links(&pages[3]), ["part 4"]);
    }

    #[test]
    fn the_order_of_pages_makes_no_difference() {
        let mut forward = plain_site(9);
        let mut backward: Vec<Page> = forward.iter().rev().cloned().collect();
        assert_eq!(find(&mut forward), find(&mut backward));
        backward.reverse();
        assert_eq!(forward, backward);
    }
}
