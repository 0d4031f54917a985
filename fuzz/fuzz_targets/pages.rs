//! Bytes from the fuzzer → a parsed page, and a place in it. Shared by the targets.

use linkwright_core::content::ContentSettings;
use linkwright_core::edit::{Insertion, LinkSettings, Preflight, insert, remove};
use linkwright_core::page::front_matter::FrontMatter;
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, Page, SourceFormat, SourceText, html, markdown};
use linkwright_core::span::Span;
use linkwright_core::url::PageUrl;

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

/// Links the words that the first two bytes pick, and takes them out again.
pub fn assert_reversible(page: &Page, pick: usize, length: usize) {
    let open: Vec<_> = page.blocks.iter().flat_map(|b| &b.segments).filter(|s| s.inert.is_none() && s.verbatim).collect();
    let Some(segment) = open.get(pick % open.len().max(1)) else { return };
    let text = &page.source.text;
    let start = text.floor_char_boundary(segment.source.start + length % segment.source.len());
    let end = text.ceil_char_boundary((start + 1 + length / 16).min(segment.source.end));
    let flight = Preflight::new(page, &LinkSettings::default());
    let Ok(insertion) = flight.insertion(Span::new(start, end), "/to/?a=1&b=2") else { return };
    let edited = insert(text, page.format, std::slice::from_ref(&insertion)).expect("the anchor fits its place");
    assert_eq!(remove(&edited.text, &edited.inserted).as_deref(), Ok(text.as_str()));
    assert_checked(&flight, &insertion, page);
}

fn assert_checked(flight: &Preflight, insertion: &Insertion, page: &Page) {
    let Ok(edited) = flight.edit(std::slice::from_ref(insertion)) else { return };
    let after = self::page(edited.text.as_bytes(), page.format);
    let links = |page: &Page| page.links.iter().filter(|l| l.href == insertion.href).count();
    assert_eq!(links(&after), links(page) + 1);
}
