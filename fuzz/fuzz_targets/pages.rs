//! Bytes from the fuzzer → a parsed page, and a place in it. Shared by the targets.

use linkwright_core::content::ContentSettings;
use linkwright_core::edit::{Edited, Insertion, LinkSettings, Preflight, Removal, encode_back, insert, remove, take_out, written};
use linkwright_core::page::front_matter::FrontMatter;
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, Page, SourceFormat, SourceText, html, markdown};
use linkwright_core::span::Span;
use linkwright_core::url::PageUrl;

/// Where the new link leads.
const HREF: &str = "/to/?a=1&b=2";

/// The page that the bytes are, in the given notation.
pub fn page(bytes: &[u8], format: SourceFormat) -> Page {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let fetched = FetchedPage {
        url: PageUrl::parse("https://example.org/docs/a/").expect("a constant"),
        outcome: FetchOutcome::Fetched,
        status: 200,
        redirects: Vec::new(),
        headers: FetchHeaders { content_type: Some("text/html; charset=utf-8".to_owned()), ..FetchHeaders::default() },
        body: text.clone().into_bytes(),
        format,
        path: Some("docs/a.md".to_owned()),
        discovery: Discovery::default(),
        sitemap_lastmod: None,
        detail: None,
    };
    if format == SourceFormat::Html {
        return html::parse(&fetched, &ContentSettings::default());
    }
    let source = SourceText { text, encoding: "UTF-8".to_owned(), bom: false };
    markdown::parse(&fetched, &FrontMatter::parse(&source.text), source, &|_| None)
}

/// Every segment must lead back to the source, in order.
pub fn assert_sound(page: &Page) {
    for block in &page.blocks {
        let mut last = (0, 0);
        for segment in &block.segments {
            assert!(last.0 <= segment.text.start && last.1 <= segment.source.start);
            last = (segment.text.end, segment.source.end);
            let (text, written) = (&block.text[segment.text.range()], &page.source.text[segment.source.range()]);
            assert!(!segment.verbatim || text == written);
        }
    }
}

/// Bytes from the fuzzer → a source, and two numbers that pick words of it. The numbers come last, so that any file is a seed.
fn picked(bytes: &[u8]) -> Option<(&[u8], usize, usize)> {
    let (source, [pick @ .., length]) = bytes.split_at_checked(bytes.len().checked_sub(3)?)? else { return None };
    Some((source, usize::from(pick[0]) << 8 | usize::from(pick[1]), usize::from(*length)))
}

/// Links the picked words and takes the link out again. A link that the check lets through must be one link more and
/// leave every text as it was.
pub fn assert_reversible(bytes: &[u8], format: SourceFormat) {
    let Some((source, pick, length)) = picked(bytes) else { return };
    let source = String::from_utf8_lossy(source);
    let page = page(source.as_bytes(), format);
    let open: Vec<_> = page.blocks.iter().flat_map(|b| &b.segments).filter(|s| s.inert.is_none() && s.verbatim).collect();
    let Some(segment) = open.get(pick % open.len().max(1)) else { return };
    let text = &page.source.text;
    let start = text.floor_char_boundary(segment.source.start + length % segment.source.len().max(1));
    let end = text.ceil_char_boundary((start + 1 + length / 16).min(segment.source.end));
    let flight = Preflight::new(&page, &LinkSettings::default());
    let Ok(insertion) = flight.insertion(Span::new(start, end), HREF) else { return };
    let Ok(edited) = insert(text, page.format, std::slice::from_ref(&insertion)) else { return };
    assert_eq!(remove(&edited.text, &edited.inserted).as_deref(), Ok(text.as_str()));
    let Ok(checked) = flight.edit(std::slice::from_ref(&insertion)) else { return };
    assert_eq!(checked.text, edited.text);
    assert_one_link_more(&page, &self::page(checked.text.as_bytes(), page.format));
    assert_taken_out(&page, source.as_bytes(), &edited, &insertion);
}

fn assert_one_link_more(before: &Page, after: &Page) {
    // Where content ends is found by the share of links, and so may move by one more; what is there to read does not.
    let text = |page: &Page| page.blocks.iter().flat_map(|b| b.text.split_whitespace()).collect::<String>();
    assert_eq!(text(after), text(before));
    let new = |page: &Page| page.links.iter().filter(|l| l.href == HREF).count();
    assert_eq!(new(after), new(before) + 1);
    assert_eq!(after.links.len(), before.links.len() + 1);
}

/// What the ledger keeps takes the link out of the bytes again.
fn assert_taken_out(page: &Page, original: &[u8], edited: &Edited, insertion: &Insertion) {
    let encoded = encode_back(&page.source, original, edited).expect("UTF-8 can be written");
    let kept = written(&encoded, std::slice::from_ref(insertion));
    let out = take_out(&encoded.bytes, &kept.iter().collect::<Vec<_>>());
    assert_eq!(out.removals, [Removal::Removed]);
    assert_eq!(out.bytes, original);
}
