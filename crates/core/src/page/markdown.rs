//! The text of a Markdown file and its front matter become a `Page`.
//!
//! The body is masked (dialects that CommonMark does not know are overwritten byte for byte, see
//! `mask`), parsed, and read off as blocks whose segments lead back to the source. Links resolve
//! through the caller, who knows which file is which page, or else against the page's own URL.
//!
//! What cannot carry a link is still text, with the reason on its segment: links and addresses, code,
//! headings, table headers, raw HTML blocks, what stands between a shortcode and its end, footnotes.
//! Shortcodes, template tags, attribute lists, comments and the markers of admonitions are no text.
//!
//! A line break inside a paragraph is a segment of its own that maps as a whole and belongs to the
//! run around it: an anchor may cross it, and in the source it stays the line break it was. Where
//! the continuation line begins with more than white space, as in a quotation, a new run begins.

mod bare;
mod block;
mod mask;
mod raw;
mod slug;
mod template_href;
mod walk;

use crate::language::{self, Declarations};
use crate::page::front_matter::FrontMatter;
use crate::page::{FetchedPage, Page, SourceFormat, SourceText};
use crate::text::count_words;
use crate::url::PageUrl;
use mask::Mask;
use pulldown_cmark::Options;

/// The extensions that most site generators agree on.
pub(crate) const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_HEADING_ATTRIBUTES)
    .union(Options::ENABLE_MATH)
    .union(Options::ENABLE_GFM);

/// Parses a Markdown or MDX page. `text` is the decoded body, `front` its front matter; `links` knows
/// the page that a relative path such as `../other.md` names. Never fails: what is no Markdown is text.
#[must_use]
pub fn parse(fetched: &FetchedPage, front: &FrontMatter, text: SourceText, links: &dyn Fn(&str) -> Option<PageUrl>) -> Page {
    let body_start = floor_boundary(&text.text, front.body_start);
    let mask = Mask::of(&text.text[body_start..], fetched.format == SourceFormat::Mdx);
    let resolve = |href: &str| resolve(&fetched.url, href, links);
    let body = walk::read(&text.text, body_start, &mask, &resolve);
    let title =
        front.title.clone().filter(|t| !t.trim().is_empty()).or_else(|| body.h1.clone()).unwrap_or_else(|| name_in_words(&fetched.url));
    let text_of_body: Vec<&str> = body.blocks.iter().map(|b| b.text.as_str()).collect();
    let declared = Declarations { document: front.language.as_deref(), header: fetched.headers.content_language.as_deref() };
    let (language, language_source) = language::of(declared, &text_of_body.join("\n"));
    Page {
        url: fetched.url.clone(),
        path: fetched.path.clone(),
        format: fetched.format,
        base: fetched.url.clone(),
        canonical: front.canonical.as_deref().and_then(|href| Some(fetched.url.join(href)?.0)),
        noindex: front.noindex || front.draft,
        draft: front.draft,
        language,
        language_source,
        hreflang: Vec::new(),
        short_title: title.clone(),
        title,
        h1: body.h1,
        description: front.description.clone(),
        published: front.date.clone(),
        tags: front.tags.clone(),
        word_count: body.blocks.iter().map(|b| count_words(&b.text)).sum(),
        blocks: body.blocks,
        links: body.links,
        login: false,
        source: text,
    }
}

/// The page that `href` leads to by the caller's knowledge, or else by the rules of the web.
fn resolve(base: &PageUrl, href: &str, links: &dyn Fn(&str) -> Option<PageUrl>) -> Option<(PageUrl, Option<String>)> {
    if href.trim().is_empty() {
        return None;
    }
    let (path, fragment) = match href.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment.to_owned()).filter(|f| !f.is_empty())),
        None => (href, None),
    };
    if !path.is_empty()
        && let Some(url) = links(path)
    {
        return Some((url, fragment));
    }
    base.join(href)
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The last part of the path, for a file that has no title of any kind.
fn name_in_words(url: &PageUrl) -> String {
    let path = url.path();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let words = name.replace(['-', '_', '+'], " ");
    let mut letters = words.trim().chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::page::{BlockKind, Discovery, FetchHeaders, FetchOutcome, Inert, Segment};
    use proptest::prelude::*;

    pub(crate) fn fetched(source: &str, format: SourceFormat) -> FetchedPage {
        FetchedPage {
            url: PageUrl::parse("https://example.org/docs/a/").unwrap(),
            outcome: FetchOutcome::Fetched,
            status: 200,
            redirects: Vec::new(),
            headers: FetchHeaders::default(),
            body: source.as_bytes().to_vec(),
            format,
            path: Some("docs/a.md".to_owned()),
            discovery: Discovery::default(),
            sitemap_lastmod: None,
            detail: None,
        }
    }

    pub(crate) fn page_as(source: &str, format: SourceFormat) -> Page {
        let fetched = fetched(source, format);
        let text = SourceText { text: source.to_owned(), encoding: "UTF-8".to_owned(), bom: false };
        let links = |href: &str| href.strip_suffix(".md").and_then(|stem| PageUrl::parse(&format!("https://example.org/docs/{stem}/")));
        parse(&fetched, &FrontMatter::parse(source), text, &links)
    }

    fn page(source: &str) -> Page {
        page_as(source, SourceFormat::Markdown)
    }

    fn assert_sound(page: &Page) {
        let source = &page.source.text;
        let mut last_source = 0;
        for block in &page.blocks {
            let mut last: Option<&Segment> = None;
            for segment in &block.segments {
                let text = &block.text[segment.text.range()];
                let written = &source[segment.source.range()];
                assert!(segment.source.start >= last_source, "segments go back in the source");
                last_source = segment.source.end;
                if segment.verbatim {
                    assert_eq!(text, written);
                }
                if let Some(last) = last {
                    assert!(last.text.end <= segment.text.start && last.run <= segment.run);
                    assert!(last.run != segment.run || last.source.end == segment.source.start, "a run has a hole");
                    assert!(block.text[last.text.end..segment.text.start].trim().is_empty());
                }
                last = Some(segment);
            }
            assert_eq!(block.text, block.text.trim_matches(|c: char| c.is_ascii_whitespace()));
        }
        for link in &page.links {
            assert!(source.get(link.source.range()).is_some());
            if let Some((block, span)) = link.place {
                assert_eq!(page.blocks[block].text[span.range()], link.anchor);
            }
        }
    }

    /// The stretches that can carry a link, one per run.
    fn open(page: &Page) -> Vec<String> {
        let mut out: Vec<(usize, u32, String)> = Vec::new();
        for (index, block) in page.blocks.iter().enumerate() {
            let mut last_end = usize::MAX;
            for segment in block.segments.iter().filter(|s| s.inert.is_none()) {
                let text = &block.text[segment.text.range()];
                match out.last_mut() {
                    Some((i, run, joined)) if *i == index && *run == segment.run && last_end == segment.text.start => joined.push_str(text),
                    _ => out.push((index, segment.run, text.to_owned())),
                }
                last_end = segment.text.end;
            }
        }
        out.into_iter().map(|(_, _, text)| text.trim().to_owned()).filter(|t| !t.is_empty()).collect()
    }

    fn texts(page: &Page) -> Vec<&str> {
        page.blocks.iter().map(|b| b.text.as_str()).collect()
    }

    #[test]
    fn blocks_are_leaves_with_their_kinds_and_sections() {
        let page = page(
            "# Title\n\nOne *two* three\nfour.\n\n- item one\n- item two\n\n  more\n\n> quoted\n\n## Part {#own}\n\n| h |\n|---|\n| c |\n",
        );
        assert_sound(&page);
        let seen: Vec<(BlockKind, &str, Option<&str>)> =
            page.blocks.iter().map(|b| (b.kind, b.text.as_str(), b.section.as_deref())).collect();
        assert_eq!(
            seen,
            [
                (BlockKind::Heading(1), "Title", Some("title")),
                (BlockKind::Paragraph, "One two three four.", Some("title")),
                (BlockKind::ListItem, "item one", Some("title")),
                (BlockKind::ListItem, "item two", Some("title")),
                (BlockKind::ListItem, "more", Some("title")),
                (BlockKind::Quote, "quoted", Some("title")),
                (BlockKind::Heading(2), "Part", Some("own")),
                (BlockKind::TableHeader, "h", Some("own")),
                (BlockKind::TableCell, "c", Some("own")),
            ]
        );
        assert_eq!(open(&page), ["One", "two", "three four.", "item one", "item two", "more", "quoted", "c"]);
        assert_eq!(page.title, "Title");
    }

    #[test]
    fn escapes_and_entities_map_only_as_a_whole() {
        let page = page("R&amp;D and \\*stars\\* here\n");
        assert_sound(&page);
        assert_eq!(texts(&page), ["R&D and *stars* here"]);
        assert_eq!(open(&page), ["R&D and *stars* here"]);
        let whole: Vec<&str> =
            page.blocks[0].segments.iter().filter(|s| !s.verbatim).map(|s| &page.source.text[s.source.range()]).collect();
        assert_eq!(whole, ["&amp;", "\\*", "\\*"]);
    }

    #[test]
    fn a_line_break_is_a_blank_of_the_same_run_but_not_in_a_quotation() {
        let page = page("one\r\n  two\n\n> three\n> four\n");
        assert_sound(&page);
        assert_eq!(texts(&page), ["one two", "three four"]);
        assert_eq!(open(&page), ["one two", "three", "four"]);
    }

    #[test]
    fn links_are_found_in_every_notation() {
        let page = page(
            "See [one *two*](other.md#part), [ref][r], <https://example.org/x>, https://example.org/y_z_. \
             <a href='/raw/?a=1&amp;b=2' rel=\"NoFollow\">raw **link**</a> ![i](i.png) [![alt](i.png)](/img/)\n\n[r]: /ref/ \"T\"\n",
        );
        assert_sound(&page);
        let seen: Vec<(&str, &str, &str)> = page.links.iter().map(|l| (l.anchor.as_str(), l.target.as_str(), l.rel.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("one two", "https://example.org/docs/other/", ""),
                ("ref", "https://example.org/ref/", ""),
                ("https://example.org/x", "https://example.org/x", ""),
                ("https://example.org/y_z", "https://example.org/y_z", ""),
                ("raw link", "https://example.org/raw/?a=1&b=2", "nofollow"),
                ("alt", "https://example.org/img/", ""),
            ]
        );
        assert_eq!(page.links[0].fragment.as_deref(), Some("part"));
        assert_eq!(open(&page), ["See", ",", ",", ",", "_."]);
    }

    #[test]
    fn shortcodes_and_templates_are_no_text_and_their_opaque_content_is_inert() {
        let page = page(
            "Before {{< figure src=\"x.png\" title=\"some words\" >}} after.\n\n{{< highlight go >}}\ncode words\n{{< /highlight >}}\n\n\
             {% raw %}kept raw{% endraw %} then [a]({{< ref \"b.md\" >}}) {{ page.title }}\n\n{{% note %}}\nProse stays.\n{{% /note %}}\n\n`{{` and `}}` are code.\n",
        );
        assert_sound(&page);
        assert_eq!(open(&page), ["Before", "after.", "then", "Prose stays.", "and", "are code."]);
        assert!(!page.main_text().contains("some words") && !page.main_text().contains("ZZ"));
        assert_eq!(page.links[0].target.as_str(), "https://example.org/docs/b/");
    }

    #[test]
    fn markers_of_admonitions_and_attribute_lists_are_no_text() {
        let page = page(
            ":::note Title\nInside here.\n:::\n\n!!! tip \"T\"\n    First part.\n\n    Second part.\n\nPara.\n{: .lead #x}\n\n[[Wiki page]] and [[1]](/one/)\n",
        );
        assert_sound(&page);
        assert_eq!(texts(&page), ["Inside here.", "First part.", "Second part.", "Para.", "[[Wiki page]] and [1]"]);
        assert_eq!(open(&page), ["Inside here.", "First part.", "Second part.", "Para.", "and"]);
    }

    #[test]
    fn mdx_components_expressions_and_imports_carry_nothing() {
        let source = "import A from './a'\nexport const x = 1\n\nText {props.x} more <Chip label={\"a > b\"} /> end.\n\n<Tabs>\n\nInside.\n\n</Tabs>\n\nLast.\n";
        let page = page_as(source, SourceFormat::Mdx);
        assert_sound(&page);
        assert_eq!(open(&page), ["Text", "more", "end.", "Last."]);
        assert!(page.main_text().contains("Inside."));
    }

    #[test]
    fn raw_html_blocks_are_read_but_cannot_carry_a_link() {
        let page =
            page("<div>\n<p>One &amp; <a href=\"/x/\">two</a></p>\n<h2>Three</h2></div>\n\nFour <kbd>five</kbd> <!-- six --> seven\n");
        assert_sound(&page);
        assert_eq!(texts(&page), ["One & two", "Three", "Four five seven"]);
        assert_eq!(open(&page), ["Four", "seven"]);
        assert_eq!(page.links[0].anchor, "two");
    }

    #[test]
    fn code_formulas_and_footnotes_are_inert() {
        let page = page("A `b c` d $e f$ g[^1].\n\n```\ncode  here\n```\n\n[^1]: The note.\n");
        assert_sound(&page);
        assert_eq!(open(&page), ["A", "d", "g", "."]);
        let kinds: Vec<Option<Inert>> = page.blocks.iter().map(|b| b.segments[0].inert).collect();
        assert_eq!(kinds, [None, Some(Inert::Code), Some(Inert::Excluded)]);
    }

    #[test]
    fn brackets_without_a_definition_may_be_links_and_are_left_alone() {
        let page = page("See [the docs][docs-elsewhere], [LDK #1][] and he [the author] said [x](/x/).\n");
        assert_sound(&page);
        assert_eq!(open(&page), ["See", ",", "and he", "said", "."]);
        let at = |words: &str| page.blocks[0].segments.iter().find(|s| page.blocks[0].text[s.text.range()].contains(words)).unwrap().inert;
        assert_eq!((at("docs"), at("LDK"), at("author")), (Some(Inert::Link), Some(Inert::Link), Some(Inert::Excluded)));
    }

    #[test]
    fn front_matter_names_the_page() {
        let page = page("---\ntitle: Named\ndraft: true\nlang: pt_BR\ndate: 2024-05-01\n---\nBody.\n");
        assert_sound(&page);
        assert_eq!((page.title.as_str(), page.draft, page.noindex, page.language.as_str()), ("Named", true, true, "pt-br"));
        assert_eq!((page.published.as_deref(), texts(&page)), (Some("2024-05-01"), vec!["Body."]));
        assert_eq!(super::tests::page_as("No heading.\n", SourceFormat::Markdown).title, "A");
    }

    /// Pieces that Markdown gives a meaning to, thrown together.
    pub(crate) fn markdown() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-zé東]{1,6} ?",
            "[ -~]{0,8}",
            prop::sample::select(vec![
                "\n",
                "\n\n",
                "\r\n",
                "  \n",
                "- ",
                "1. ",
                "> ",
                "# ",
                "## ",
                "    ",
                "\t",
                "*",
                "**",
                "_",
                "~~",
                "`",
                "```\n",
                "$",
                "$$",
                "[",
                "](",
                ")",
                "](/x/)",
                "![",
                "[r]",
                "[r]: /r/\n",
                "[^1]",
                "[^1]: ",
                "<a href=\"/y\">",
                "</a>",
                "<div>\n",
                "</div>\n",
                "<!--",
                "-->",
                "<b>",
                "{{<",
                ">}}",
                "{{% x %}}",
                "{%",
                "%}",
                "{{",
                "}}",
                "{",
                "}",
                "{: .x}",
                ":::note\n",
                ":::\n",
                "!!! tip\n",
                "=== \"T\"\n",
                "| a | b |\n|---|---|\n| c | d |\n",
                "|",
                "\\",
                "&amp;",
                "&#32;",
                "&lt",
                "https://e.org/a_b",
                "<Tabs a={1}>",
                "</Tabs>",
                "import x\n",
                "[[w]]",
                "---\n",
                "+++\n",
                "<script>",
                "\u{a0}",
                "\u{0}",
                "<",
                ">",
                "{#id}",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn any_text_parses_and_every_segment_leads_back(source in markdown(), mdx in any::<bool>()) {
            assert_sound(&page_as(&source, if mdx { SourceFormat::Mdx } else { SourceFormat::Markdown }));
        }

        #[test]
        fn any_characters_parse(source in "\\PC{0,200}") {
            assert_sound(&page(&source));
        }
    }
}
