//! The parser as a whole: blocks, segments, links and metadata of small pages and of any bytes.

use super::*;
use crate::page::{BlockKind, Discovery, FetchHeaders, FetchOutcome, Inert, LinkKind};
use crate::url::PageUrl;
use proptest::prelude::*;

fn fetched(body: &[u8]) -> FetchedPage {
    FetchedPage {
        url: PageUrl::parse("https://example.org/docs/page.html").unwrap(),
        outcome: FetchOutcome::Fetched,
        status: 200,
        redirects: Vec::new(),
        headers: FetchHeaders::default(),
        body: body.to_vec(),
        format: SourceFormat::Html,
        path: None,
        discovery: Discovery::default(),
        sitemap_lastmod: None,
        detail: None,
    }
}

fn page(html: &str) -> Page {
    let page = parse(&fetched(html.as_bytes()), &ContentSettings::default());
    check(&page);
    page
}

/// The invariants of `Page`.
fn check(page: &Page) {
    let source = &page.source.text;
    let mut at = 0;
    for block in &page.blocks {
        assert!(!block.text.trim().is_empty());
        assert!(source.get(block.source.range()).is_some());
        let mut text_at = 0;
        for segment in &block.segments {
            assert!(segment.source.start >= at && segment.text.start >= text_at, "{block:?}");
            (at, text_at) = (segment.source.end, segment.text.end);
            let shown = &block.text[segment.text.range()];
            let written = source.get(segment.source.range()).expect("a segment lies on character bounds");
            assert!(!segment.verbatim || shown == written, "{shown:?} {written:?}");
            assert!(block.source.contains(segment.source), "{block:?}");
        }
        let covered: usize = block.segments.iter().map(|s| s.text.len()).sum();
        let uncovered = block.text.len() - covered;
        assert!(uncovered <= block.text.matches(' ').count());
        assert_eq!(text_at, block.text.len());
    }
    for link in &page.links {
        assert!(source.get(link.source.range()).is_some());
        if let Some((block, span)) = link.place {
            assert!(page.blocks[block].text.get(span.range()).is_some());
        }
    }
}

fn texts(page: &Page) -> Vec<(BlockKind, &str)> {
    page.blocks.iter().map(|b| (b.kind, b.text.as_str())).collect()
}

#[test]
fn blocks_end_where_elements_end_though_no_tag_says_so() {
    let page = page(
        "<body><h1>Old</h1><P>First <b>bold</b> para<p>Second<ul><li>One<li>Two<ul><li>Inner</ul><li>Three</ul>\
         <dl><dt>Term<dd>Meaning</dl><table><tr><th>Head<td>Cell<tr><td>Next</table>tail<br>more<br><br>last",
    );
    use BlockKind::*;
    let expected = [
        (Heading(1), "Old"),
        (Paragraph, "First bold para"),
        (Paragraph, "Second"),
        (ListItem, "One"),
        (ListItem, "Two"),
        (ListItem, "Inner"),
        (ListItem, "Three"),
        (Definition, "Term"),
        (Definition, "Meaning"),
        (TableHeader, "Head"),
        (TableCell, "Cell"),
        (TableCell, "Next"),
        (Paragraph, "tail more"),
        (Paragraph, "last"),
    ];
    assert_eq!(texts(&page), expected);
}

#[test]
fn text_maps_back_to_the_source_piece_by_piece() {
    let html = "<p>A&amp;B  and\n<em>soft&shy;ly</em> caf\u{e9}&nbsp;x";
    let page = page(html);
    let block = &page.blocks[0];
    assert_eq!(block.text, "A&B and softly caf\u{e9} x");
    let pieces: Vec<(&str, &str, bool, u32)> =
        block.segments.iter().map(|s| (&block.text[s.text.range()], &html[s.source.range()], s.verbatim, s.run)).collect();
    let expected = [
        ("A", "A", true, 0),
        ("&", "&amp;", false, 0),
        ("B", "B", true, 0),
        (" ", "  ", false, 0),
        ("and", "and", true, 0),
        (" ", "\n", false, 0),
        ("soft", "soft", true, 1),
        ("ly", "ly", true, 1),
        (" caf\u{e9}", " caf\u{e9}", true, 2),
        (" ", "&nbsp;", false, 2),
        ("x", "x", true, 2),
    ];
    assert_eq!(pieces, expected);
}

#[test]
fn words_that_cannot_carry_a_link_say_why() {
    let cases = [
        ("<p><a href=/x>word</a>", Some(Inert::Link)),
        ("<p><code>word</code>", Some(Inert::Code)),
        ("<pre>word</pre>", Some(Inert::Code)),
        ("<h2>word</h2>", Some(Inert::Heading)),
        ("<p><button>word</button>", Some(Inert::Form)),
        ("<p>long text that is most of the page</p><form>word</form>", Some(Inert::Form)),
        ("<form><p>word</p></form>", None),
        ("<figure><figcaption>word</figcaption></figure>", Some(Inert::Figure)),
        ("<table><tr><th>word</table>", Some(Inert::TableHeader)),
        ("<table><caption>word</table>", Some(Inert::TableHeader)),
        ("<blockquote><p>word</p><cite>X</cite></blockquote>", Some(Inert::Quotation)),
        ("<blockquote><p>word</p></blockquote>", None),
        ("<p><q>word</q>", Some(Inert::Quotation)),
        ("<p><a name=x>word</a>", None),
        ("<p><a href=x><p>in</a> word", None),
        ("<p><b>word", None),
    ];
    for (html, expected) in cases {
        let page = page(html);
        let segments = page.blocks.iter().flat_map(|b| b.segments.iter().map(|s| (&b.text[s.text.range()], s.inert)));
        let found: Vec<_> = segments.filter(|(t, _)| t.contains("word")).map(|(_, inert)| inert).collect();
        assert_eq!(found, [expected], "{html}");
    }
}

#[test]
fn what_is_not_prose_is_no_text() {
    let page = page(
        "<title>T</title><style>p{}</style><p>a<script>b('<p>c</p>')</script><svg><text>d</text></svg><textarea><p>e</textarea>\
         <noscript>f</noscript><template><p>g</p></template><iframe>h</iframe><!-- i --><img alt=\"<p>j</p>\" src='data:x,k'>",
    );
    assert_eq!(texts(&page), [(BlockKind::Paragraph, "a")]);
}

#[test]
fn links_resolve_and_say_where_they_stand() {
    let html = "<head><base href='/base/'><base href='/no/'></head><body><nav><a href=n>Nav</a></nav><main><p>See <a href='a?x=1&amp;y=2#part' \
                rel='NoFollow UGC'>the  page</a>, <a href=mailto:x@y.z>mail</a>.</p><a href=//cdn.example.net/><img alt='The\nlogo'></a></main>";
    let page = page(html);
    let links: Vec<_> = page.links.iter().map(|l| (l.target.as_str(), l.anchor.as_str(), l.kind, l.rel.as_str())).collect();
    let expected = [
        ("https://example.org/base/n", "Nav", LinkKind::Template, ""),
        ("https://example.org/base/a?x=1&y=2", "the page", LinkKind::Body, "nofollow ugc"),
        ("https://cdn.example.net/", "The logo", LinkKind::Body, ""),
    ];
    assert_eq!(links, expected);
    assert_eq!(page.links[1].fragment.as_deref(), Some("part"));
    let (block, span) = page.links[1].place.unwrap();
    assert_eq!(&page.blocks[block].text[span.range()], "the page");
    assert!(html[page.links[1].source.range()].starts_with("<a href='a?") && html[page.links[1].source.range()].ends_with("</a>"));
    assert_eq!(page.links[2].place, None);
}

#[test]
fn sections_are_the_fragments_above() {
    let page = page("<p>top<h2 id=one>One</h2><p>a<a name=two></a><h2>Two</h2><p>b<h2><a id=three></a>Three</h2><p>c<h3>No id</h3><p>d");
    let sections: Vec<_> = page.blocks.iter().map(|b| b.section.as_deref().unwrap_or("-")).collect();
    assert_eq!(sections, ["-", "one", "one", "two", "two", "three", "three", "three", "three"]);
}

#[test]
fn the_head_and_the_headers_are_read() {
    let html = "<html lang=pt_BR><head><title> A &amp; B\n| Site</title><meta name=description content='What it is'><link rel=canonical href=/real>\
                <link rel=alternate hreflang=DE href=/de/><meta property=article:published_time content=2024-05-06T07:08:09Z>\
                <meta name=robots content='NOINDEX, follow'><meta name=keywords content='a, b'></head><body><h1>A <i>b</i></h1>";
    let parsed = page(html);
    assert_eq!((parsed.title.as_str(), parsed.h1.as_deref()), ("A & B | Site", Some("A b")));
    assert_eq!(parsed.canonical.as_ref().map(PageUrl::as_str), Some("https://example.org/real"));
    assert_eq!((parsed.language.as_str(), parsed.noindex, parsed.published.as_deref()), ("pt-br", true, Some("2024-05-06")));
    assert_eq!(parsed.hreflang[0].0, "de");
    assert_eq!((parsed.tags, parsed.description.as_deref()), (vec!["a".to_owned(), "b".to_owned()], Some("What it is")));
    let mut with_headers = fetched(b"<p>x");
    with_headers.headers.x_robots_tag = Some("otherbot: noindex, googlebot: none".to_owned());
    with_headers.headers.link = Some("</a.css>; rel=preload, </c>; rel=\"canonical\"".to_owned());
    let page = parse(&with_headers, &ContentSettings::default());
    assert!(page.noindex);
    assert_eq!(page.canonical.unwrap().as_str(), "https://example.org/c");
}

#[test]
fn a_deep_page_is_read_without_recursion() {
    let html = "<div><b><a href=x>".repeat(50_000) + "deep";
    let page = page(&html);
    assert!(page.blocks.iter().any(|b| b.text == "deep"));
}

#[test]
fn large_pages_take_no_more_than_their_share() {
    for piece in [
        "x<br><br>",
        "<!-- c -->x",
        "<p>x<a href=y>z",
        "<h2><b>x",
        "<td>x",
        "</p>",
        "<table>",
        "<blockquote>x",
        "&amp;",
        "<a href='",
        "<!--",
    ] {
        let html = piece.repeat(60_000);
        check(&parse(&fetched(html.as_bytes()), &ContentSettings::default()));
    }
}

/// Elements whose text is not read, as a selector.
const SKIPPED: &str = "head, title, script, style, textarea, svg, math, noscript, template, iframe, noembed, noframes, select, datalist, canvas, \
                       object, applet, audio, video, rp";

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{AD}').collect()
}

#[test]
fn all_text_is_read_that_a_browser_shows() {
    let pages = [
        "<!doctype html><html lang=en><head><title>T</title><script>var a='<p>no</p>';</script></head><body class=home><header><a href=/>Brand</a></header>\
         <main><article><h1>One &amp; two</h1><p>Soft&shy;hyphen, n&nbsp;b, <em>em<strong>strong</strong></em>, &copy;2024 &notanentity; a &lt; b.</p>\
         <ul><li>One<li>Two <ol><li>In</ol></ul><table><thead><tr><th>H<th>I<tbody><tr><td>1<td>2</table><pre>  code\n  more</pre>\
         <figure><img src=x alt=y><figcaption>Cap</figcaption></figure></article></main><footer>End</footer></body></html>",
        "<HTML><HEAD><TITLE>Old</TITLE></HEAD><BODY BGCOLOR=white><CENTER><FONT SIZE=+2>Big</FONT></CENTER><HR><P>Para one<P>Para <A NAME=x>two\
         <A HREF=y>three</A><DL><DT>t1<DD>d1<DT>t2<DD>d2</DL><TABLE BORDER><TR><TD>a<TD>b<TR><TD>c</TABLE>tail<BR>more</BODY></HTML> after",
        "<p>a<div>b<p>c</div>d</p>e<b><p>f</b>g</p><i>h<div>i</i>j</div><a href=1>k<a href=2>l</a>m<a href=3><div>n</a>o</div>\
         <select><option>x<option>y</select><button>p</button><ruby>q<rp>(</rp><rt>r</rt></ruby><span/>s<br/>t<p/>u<custom-tag>v</custom-tag>",
        "<ul><li><p>a</p><p>b</p><li>c<blockquote><p>d</blockquote></ul><h2>e<h3>f</h3><dl><div><dt>g</dt><dd>h</dd></div></dl>\
         <details><summary>i</summary>j</details><address>k</address><fieldset><legend>l</legend><label>m <input value=z></label></fieldset>&#8217;&#x1F600;",
        "plain text with < and > and & and </nothing> and <3 <!-- comment > --> done <![CDATA[ x ]]> end<?php echo 1 ?> last",
    ];
    for html in pages {
        let document = dom_query::Document::from(html);
        document.select(SKIPPED).remove();
        let expected = without_blanks(&document.select("body").text());
        let found: String = page(html).blocks.iter().map(|b| without_blanks(&b.text)).collect();
        assert_eq!(found, expected, "{html}");
    }
}

const MARKUP: &str = "(<p>|</p>|<a href=x>|</a>|<li>|<ul>|</ul>|<table>|<td>|<tr>|</table>|<h2>|</h2>|<b>|</b>|<code>|</code>|<br>|<div class=c>|</div>|<svg>|</svg>|<script>|</script>|<!--|-->|&amp;|&shy;|&nbsp;| |\n|word|\u{e9}|\u{6771}|<|>|\"|'|<body>|</html>|<head>|<title>|</title>|<form>|<select>|<option>|<blockquote>|<main>|<nav>|</nav>)*";

proptest! {
    #[test]
    fn any_bytes_parse(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&parse(&fetched(&body), &ContentSettings::default()));
    }

    #[test]
    fn any_markup_parses(html in MARKUP) {
        check(&parse(&fetched(html.as_bytes()), &ContentSettings::default()));
    }
}
