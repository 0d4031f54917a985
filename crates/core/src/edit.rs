//! An approved anchor in the source of a page → the same source with a link around it, and back.
//!
//! A link is two insertions of bytes (three where a Markdown file keeps its addresses in reference
//! definitions). Every other byte stays. What was written is then looked at by a parser that knows
//! nothing of how it was written (`check`): exactly the new links more, the same text, the same
//! structure. The preflight does both in memory, so what is proposed is what can be written.

mod canonical;
mod check;
mod encode;
mod find;
mod href;
mod observe;
mod place;
mod preflight;
mod references;
mod refusal;
mod write;
mod written;

pub use check::{NewLink, check};
pub use encode::{Encoded, encode_back};
pub use find::{find_again, find_words};
pub use href::{HrefStyle, href_for, href_in, href_style};
pub use observe::{Observation, observe};
pub use place::{Anchor, Places};
pub use preflight::{LinkSettings, Preflight, preflight, preflight_many};
pub use refusal::Refusal;
pub use written::{Removal, TakenOut, Written, take_out, written};

use crate::page::SourceFormat;
use crate::span::Span;
use references::References;
use serde::{Deserialize, Serialize};

/// Attributes of a new link besides its address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkAttributes {
    /// `rel`.
    pub rel: Option<String>,
    /// `target`.
    pub target: Option<String>,
    /// `class`.
    pub class: Option<String>,
    /// Name of a `data-` attribute without a value: a mark by which inserted links are found again.
    pub marker: Option<String>,
}

impl LinkAttributes {
    /// Name and value of each attribute that is set, in the order they are written.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let valued = [("rel", &self.rel), ("target", &self.target), ("class", &self.class)];
        let valued = valued.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        valued.chain(self.marker.as_deref().map(|name| (name, "")))
    }
}

/// Notation of a new link. In HTML pages every link is an `a` element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkStyle {
    /// `<a href="…">words</a>`.
    Html,
    /// `[words](address)`.
    #[default]
    Inline,
    /// `[words][label]` with the address in a definition; inline in a file without definitions.
    Reference,
}

/// One link to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insertion {
    /// The anchor in the decoded source.
    pub place: Span,
    /// The anchor's words as a reader sees them, white space collapsed.
    pub anchor: String,
    /// The address, as it should be in the `href` (not escaped).
    pub href: String,
    /// Further attributes.
    pub attributes: LinkAttributes,
    /// Notation.
    pub style: LinkStyle,
}

/// A source with links written into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// The new source.
    pub text: String,
    /// What was inserted, as ranges of `text`, sorted and disjoint. Deleting them gives the old source.
    pub inserted: Vec<Span>,
}

impl Edited {
    /// Each insertion as its place in the old source and the inserted text.
    pub fn insertions(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut before = 0;
        self.inserted.iter().map(move |span| {
            let at = span.start - before;
            before += span.len();
            (at, &self.text[span.range()])
        })
    }
}

/// Writes links into a source. The result is not checked yet: see [`check`] and [`Preflight`].
///
/// # Errors
/// When a place, an anchor or an address cannot be right, or two places overlap.
pub fn insert(source: &str, format: SourceFormat, insertions: &[Insertion]) -> Result<Edited, Refusal> {
    let mut ordered: Vec<&Insertion> = insertions.iter().collect();
    ordered.sort_by_key(|i| i.place);
    if ordered.windows(2).any(|pair| pair[0].place.end > pair[1].place.start) {
        return Err(Refusal::PlacesOverlap);
    }
    let by_reference = |i: &Insertion| format != SourceFormat::Html && i.style == LinkStyle::Reference;
    let mut references = ordered.iter().any(|i| by_reference(i)).then(|| References::of(source));
    let mut pieces: Vec<(usize, String)> = Vec::with_capacity(ordered.len() * 2 + 1);
    for insertion in ordered {
        words_fit(source, insertion)?;
        write::check_href(&insertion.href)?;
        let label = references.as_mut().filter(|_| by_reference(insertion)).and_then(|r| r.label(&insertion.href));
        let (before, after) = write::around(insertion, format, label.as_deref())?;
        pieces.push((insertion.place.start, before));
        pieces.push((insertion.place.end, after));
    }
    pieces.extend(references.and_then(|r| r.addition()));
    pieces.sort_by_key(|(at, _)| *at);
    Ok(splice(source, &pieces))
}

fn splice(source: &str, pieces: &[(usize, String)]) -> Edited {
    let mut text = String::with_capacity(source.len() + pieces.iter().map(|(_, p)| p.len()).sum::<usize>());
    let mut inserted = Vec::with_capacity(pieces.len());
    let mut from = 0;
    for (at, piece) in pieces {
        text.push_str(&source[from..*at]);
        inserted.push(Span::new(text.len(), text.len() + piece.len()));
        text.push_str(piece);
        from = *at;
    }
    text.push_str(&source[from..]);
    Edited { text, inserted }
}

/// Whether the bytes at the place can be the anchor. Where they are written otherwise than they read
/// (character references, escapes), the check decides.
fn words_fit(source: &str, insertion: &Insertion) -> Result<(), Refusal> {
    let written = source.get(insertion.place.range()).filter(|w| !w.is_empty()).ok_or(Refusal::NoSuchPlace)?;
    if insertion.anchor.trim() != insertion.anchor || insertion.anchor.is_empty() {
        return Err(Refusal::AnchorUntrimmed);
    }
    let plain = !written.contains(['&', '\\', '<']);
    let same = written.split_whitespace().eq(insertion.anchor.split_whitespace());
    if plain && !same { Err(Refusal::AnchorNotAtPlace) } else { Ok(()) }
}

/// Takes insertions out again: the text from before them.
///
/// # Errors
/// When the ranges do not fit the text.
pub fn remove(edited: &str, inserted: &[Span]) -> Result<String, Refusal> {
    let mut out = String::with_capacity(edited.len());
    let mut from = 0;
    for span in inserted {
        let kept = edited.get(from..span.start).filter(|_| edited.is_char_boundary(span.end));
        out.push_str(kept.ok_or(Refusal::EditDoesNotFit)?);
        from = span.end;
    }
    out.push_str(edited.get(from..).ok_or(Refusal::EditDoesNotFit)?);
    Ok(out)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::page::Page;
    use crate::page::markdown::tests::{fetched, markdown, page_as};
    use crate::url::PageUrl;
    use proptest::prelude::*;

    pub(super) fn markdown_page(source: &str) -> Page {
        page_as(source, SourceFormat::Markdown)
    }

    fn html_page(source: &str) -> Page {
        let mut fetched = fetched(source, SourceFormat::Html);
        fetched.headers.content_type = Some("text/html; charset=utf-8".to_owned());
        crate::page::html::parse(&fetched, &crate::content::ContentSettings::default())
    }

    fn base() -> PageUrl {
        PageUrl::parse("https://example.org/docs/a/").unwrap()
    }

    fn at(source: &str, words: &str) -> Insertion {
        let start = source.find(words).unwrap();
        Insertion {
            place: Span::new(start, start + words.len()),
            anchor: words.to_owned(),
            href: "/to/?a=1&b=2".to_owned(),
            attributes: LinkAttributes::default(),
            style: LinkStyle::Inline,
        }
    }

    fn new_link(insertion: &Insertion) -> NewLink {
        NewLink { href: insertion.href.clone(), anchor: insertion.anchor.clone(), attributes: insertion.attributes.clone() }
    }

    /// Writes and checks.
    fn write(source: &str, format: SourceFormat, insertion: &Insertion) -> Result<String, Refusal> {
        let edited = insert(source, format, std::slice::from_ref(insertion))?;
        assert_eq!(remove(&edited.text, &edited.inserted).as_deref(), Ok(source));
        check(source, &edited.text, format, &base(), &[new_link(insertion)])?;
        Ok(edited.text)
    }

    fn write_html(source: &str, words: &str) -> Result<String, Refusal> {
        write(source, SourceFormat::Html, &at(source, words))
    }

    fn write_markdown(source: &str, words: &str) -> Result<String, Refusal> {
        write(source, SourceFormat::Markdown, &at(source, words))
    }

    #[test]
    fn a_link_is_two_insertions_around_the_words() {
        assert_eq!(write_html("<p>See the red fox.", "red fox").unwrap(), "<p>See the <a href=\"/to/?a=1&amp;b=2\">red fox</a>.");
        assert_eq!(write_markdown("See the *red fox*.\n", "red fox").unwrap(), "See the *[red fox](/to/?a=1&b=2)*.\n");
        assert_eq!(write_markdown("One\ntwo three", "One\ntwo").unwrap(), "[One\ntwo](/to/?a=1&b=2) three");
    }

    #[test]
    fn attributes_are_written_in_html_and_refused_in_markdown_notation() {
        let source = "the red fox";
        let attributes = LinkAttributes {
            rel: Some("nofollow".into()),
            class: Some("a \"7\"".into()),
            marker: Some("data-linkwright".into()),
            ..LinkAttributes::default()
        };
        let insertion = Insertion { attributes, style: LinkStyle::Html, ..at(source, "red fox") };
        let written = "the <a href=\"/to/?a=1&amp;b=2\" rel=\"nofollow\" class=\"a &quot;7&quot;\" data-linkwright=\"\">red fox</a>";
        for format in [SourceFormat::Html, SourceFormat::Markdown] {
            assert_eq!(write(source, format, &insertion).as_deref(), Ok(written));
        }
        let inline = Insertion { style: LinkStyle::Inline, ..insertion };
        assert_eq!(write(source, SourceFormat::Markdown, &inline), Err(Refusal::AttributesNotWritable));
    }

    #[test]
    fn a_file_of_reference_links_gets_reference_links() {
        let source = "The red fox and [b][b], [c].\n\n[b]: /b/\n[c]: /to/?a=1&b=2\n\nEnd of it.\n";
        let page = markdown_page(source);
        let flight = Preflight::new(&page, &LinkSettings::default());
        let fox = flight.insertion(Span::new(4, 11), "/foxes/red.html").unwrap();
        assert_eq!(fox.style, LinkStyle::Reference);
        let known = flight.insertion(Span::from(source.find("End").unwrap()..source.find(" of").unwrap()), "/to/?a=1&b=2").unwrap();
        let edited = flight.edit(&[known, fox]).unwrap();
        assert_eq!(
            edited.text,
            "The [red fox][red] and [b][b], [c].\n\n[b]: /b/\n[c]: /to/?a=1&b=2\n[red]: /foxes/red.html\n\n[End][c] of it.\n"
        );
        assert_eq!(remove(&edited.text, &edited.inserted).as_deref(), Ok(source));
    }

    #[test]
    fn markup_that_cannot_hold_a_link_is_refused_by_the_check_alone() {
        let cases = [
            ("<title>the red fox</title>", "red fox"),
            ("<p><a href=\"/x\">the red fox</a>", "red fox"),
            ("<p>x<img alt=\"the red fox\">", "red fox"),
            ("<p>x<img alt='a > the red fox\n'>", "red fox"),
            ("<p>x<!-- the red fox -->", "red fox"),
            ("<h2>the red fox</h2>", "red fox"),
            ("<p><button>the red fox</button>", "red fox"),
            ("<p><code>the red fox</code>", "red fox"),
            ("<pre>the red fox</pre>", "red fox"),
            ("<textarea>the red fox</textarea>", "red fox"),
            ("<script>the red fox</script>", "red fox"),
            ("<style>the red fox</style>", "red fox"),
            ("<template><p>the red fox</template>", "red fox"),
            ("<select><option>the red fox</select>", "red fox"),
            ("<svg><text>the red fox</text></svg>", "red fox"),
            ("<table><tr><th>the red fox</table>", "red fox"),
            ("<p>x<noscript>the red fox</noscript>", "red fox"),
            ("<p>the <b>red</b> fox", "red</b> fox"),
            ("<p>the red</p><p>fox", "red</p><p>fox"),
            ("<p id=\"the red fox\">x", "red fox"),
        ];
        for (source, words) in cases {
            assert!(write_html(source, words).is_err(), "{source}");
        }
    }

    #[test]
    fn markdown_that_cannot_hold_a_link_is_refused_by_the_check_alone() {
        let cases = [
            ("# the red fox", "red fox"),
            ("`the red fox`", "red fox"),
            ("    the red fox", "red fox"),
            ("```\nthe red fox\n```", "red fox"),
            ("[the red fox](/x/)", "red fox"),
            ("[x](/the-red-fox/)", "red-fox"),
            ("![the red fox](/x.png)", "red fox"),
            ("x!red fox", "red fox"),
            ("{{< figure alt=\"the red fox\" >}}", "red fox"),
            ("a {% tag the red fox %}", "red fox"),
            ("<!-- the red fox -->", "red fox"),
            ("<img alt=\"the red fox\">", "red fox"),
            ("---\ntitle: the red fox\n---\nBody", "red fox"),
            ("+++\ntitle = \"the red fox\"\n+++\nBody", "red fox"),
            ("[r]: /x/ \"the red fox\"\n\n[r]", "red fox"),
            ("$the red fox$", "red fox"),
            ("| red fox |\n|---|\n| x |", "red fox"),
            ("**red fox**s", "red fox"),
            ("**red fox**{{< x >}}", "red fox"),
            ("the red *fox* x", "red *fox"),
            ("the \\red fox", "red fox"),
        ];
        for (source, words) in cases {
            let result = write_markdown(source, words);
            assert!(result.is_err(), "{source}");
        }
        for source in ["{props.the red fox}", "<Note>\n\nthe red fox\n\n</Note>", "<div>\n\nthe red fox\n\n</div>"] {
            assert!(write(source, SourceFormat::Mdx, &at(source, "red fox")).is_err(), "{source}");
        }
        assert!(write("**the red fox** here", SourceFormat::Mdx, &at("**the red fox** here", "red fox")).is_ok());
    }

    #[test]
    fn places_that_do_not_fit_are_refused_before_anything_is_written() {
        let source = "the red fox é";
        let fox = at(source, "red fox");
        let refused = |insertion: Insertion| insert(source, SourceFormat::Html, &[insertion]).unwrap_err();
        assert_eq!(refused(Insertion { place: Span::new(4, 99), ..fox.clone() }), Refusal::NoSuchPlace);
        assert_eq!(refused(Insertion { place: Span::new(4, 4), ..fox.clone() }), Refusal::NoSuchPlace);
        assert_eq!(refused(Insertion { place: Span::new(4, 13), ..fox.clone() }), Refusal::NoSuchPlace);
        assert_eq!(refused(Insertion { place: Span::new(3, 10), ..fox.clone() }), Refusal::AnchorNotAtPlace);
        assert_eq!(refused(Insertion { anchor: "red fox ".into(), ..fox.clone() }), Refusal::AnchorUntrimmed);
        assert_eq!(refused(Insertion { href: "javascript:x".into(), ..fox.clone() }), Refusal::UnusableHref);
        let twice = [fox.clone(), at(source, "fox")];
        assert_eq!(insert(source, SourceFormat::Html, &twice), Err(Refusal::PlacesOverlap));
    }

    #[test]
    fn wrong_edits_do_not_pass_the_check() {
        let before = "<p class=\"x\">the red fox and <b>the red fox</b><!-- c --></p><p>more</p>";
        let good = before.replacen("red fox", "<a href=\"/to/\">red fox</a>", 1);
        let link = NewLink { href: "/to/".into(), anchor: "red fox".into(), attributes: LinkAttributes::default() };
        let verdict = |after: &str, links: &[NewLink]| check(before, after, SourceFormat::Html, &base(), links);
        assert_eq!(verdict(&good, std::slice::from_ref(&link)), Ok(()));
        let mutants = [
            before.to_owned(),
            good.replace("more", "mare"),
            good.replace("more", "more "),
            good.replace("more", "<i>more</i>"),
            good.replace("class=\"x\"", "class=\"y\""),
            good.replace("class=\"x\"", "class=\"x\" id=\"\""),
            good.replace("-- c", "-- d"),
            good.replace("href=\"/to/\"", "href=\"/tu/\""),
            good.replace("href=\"/to/\"", "href=\"/to/\" onclick=\"x\""),
            good.replace("red fox</a>", "red</a> fox"),
            good.replace("</a>", ""),
            good.replace("</p><p>", "</p>"),
            good.replace("<b>", "<b><a href=\"/to/\">").replace("</b>", "</a></b>"),
            good.replace("<a href=\"/to/\">", "<a href=\"/to/\"><a href=\"/to/\">"),
            before.replacen("the red fox", "<a href=\"/to/\">the red fox</a>", 1),
            before.replacen("red fox", "<a href=\"/to/\">rad fox</a>", 1),
            before.replacen("red fox", "<a name=\"/to/\">red fox</a>", 1),
            before.replacen("red fox", "<b>red fox</b>", 1),
        ];
        for mutant in mutants {
            assert!(verdict(&mutant, std::slice::from_ref(&link)).is_err(), "{mutant}");
        }
        assert_eq!(verdict(before, &[]), Ok(()));
        assert!(verdict(&good, &[]).is_err());
        assert!(verdict(&good, &[link.clone(), link]).is_err());
    }

    #[test]
    fn one_refused_link_does_not_take_the_others_with_it() {
        let page = markdown_page("one two three four **five six**s seven");
        let find = |words: &str| {
            let start = page.source.text.find(words).unwrap();
            (Span::new(start, start + words.len()), "/x/".to_owned())
        };
        let links =
            [find("one"), find("two three"), find("three four"), find("five six"), find("seven"), (Span::new(15, 22), "/x/".to_owned())];
        let verdicts = preflight_many(&page, &links, &LinkSettings::default());
        let good: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
        assert_eq!(good, [true, true, true, false, true, false]);
        for (link, verdict) in links.iter().zip(&verdicts) {
            assert_eq!(preflight(&page, link.0, &link.1, &LinkSettings::default()), *verdict);
        }
    }

    #[test]
    fn words_beside_an_address_stay_as_they_are() {
        let verdict = |source: &str, words: &str, format: SourceFormat| {
            let page = if format == SourceFormat::Html { html_page(source) } else { markdown_page(source) };
            let start = page.source.text.find(words).unwrap();
            preflight(&page, Span::new(start, start + words.len()), "/x/", &LinkSettings::default())
        };
        // With a link before it, the address would begin a word, and so become a link by itself.
        for (source, words) in
            [("the href=\"https://example.org/red fox", "href="), ("see:www.example.org it", "see"), ("some one:me@example.org it", "one")]
        {
            assert_eq!(verdict(source, words, SourceFormat::Markdown), Err(Refusal::BesideAddress), "{source}");
        }
        assert_eq!(verdict("a red fox at https://example.org/ or so", "red fox", SourceFormat::Markdown), Ok(()));
        assert_eq!(verdict("<p>see:www.example.org it</p>", "see", SourceFormat::Html), Ok(()), "HTML has no such links");
    }

    #[test]
    fn maps_that_do_not_fit_are_refused() {
        assert_eq!(remove("abc", &[Span::new(1, 9)]), Err(Refusal::EditDoesNotFit));
        assert_eq!(remove("abc", &[Span::new(2, 3), Span::new(0, 1)]), Err(Refusal::EditDoesNotFit));
        assert_eq!(remove("é", &[Span::new(0, 1)]), Err(Refusal::EditDoesNotFit));
    }

    /// Words of a page that could be an anchor, as their place in the source.
    fn some_place(page: &Page, pick: prop::sample::Index, length: usize) -> Option<Span> {
        let mut open = Vec::new();
        for block in &page.blocks {
            for segment in block.segments.iter().filter(|s| s.inert.is_none() && s.verbatim) {
                let text = &block.text[segment.text.range()];
                for (start, _) in text.char_indices() {
                    let end = text[start..].char_indices().nth(length).map_or(text.len(), |(i, _)| start + i);
                    if text[start..end].trim() == &text[start..end] {
                        open.push(Span::new(segment.source.start + start, segment.source.start + end));
                    }
                }
            }
        }
        (!open.is_empty()).then(|| open[pick.index(open.len())])
    }

    fn html() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-zé東]{1,6} ?",
            "[ -~]{0,6}",
            prop::sample::select(vec![
                "<p>",
                "</p>",
                "<div class=\"a > b\">",
                "</div>",
                "<a href='/x'>",
                "</a>",
                "<b>",
                "</b>",
                "<i\n title='\n'>",
                "</i>",
                "<br>",
                "<ul><li>",
                "</ul>",
                "<h2>",
                "</h2>",
                "<script>",
                "</script>",
                "<!--",
                "-->",
                "&amp;",
                "&lt",
                "&#x41;",
                "&nbsp;",
                "\r\n",
                "<table><tr><td>",
                "</table>",
                "<title>",
                "</title>",
                "<textarea>",
                "</textarea>",
                "<select><option>",
                "</select>",
                "<svg>",
                "</svg>",
                "<template>",
                "</template>",
                "<pre>",
                "</pre>",
                "<button>",
                "</button>",
                "<!DOCTYPE html>",
                "<body>",
                "<img alt=\"x\">",
                "<",
                ">",
                "\"",
                "<form>",
                "</form>",
                "<plaintext>",
                "\u{0}",
                "\r",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn removal_restores_and_what_passes_has_one_link_more(source in markdown(), pick: prop::sample::Index, length in 1_usize..9, mdx: bool) {
            let page = page_as(&source, if mdx { SourceFormat::Mdx } else { SourceFormat::Markdown });
            let Some(place) = some_place(&page, pick, length) else { return Ok(()) };
            let flight = Preflight::new(&page, &LinkSettings::default());
            let Ok(insertion) = flight.insertion(place, "/to/(a)/?x=1&amp;y") else { return Ok(()) };
            let edited = insert(&source, page.format, std::slice::from_ref(&insertion)).unwrap();
            prop_assert_eq!(remove(&edited.text, &edited.inserted).unwrap(), source.clone());
            if flight.edit(std::slice::from_ref(&insertion)).is_ok() {
                let after = page_as(&edited.text, page.format);
                let links = |page: &Page| page.links.iter().filter(|l| l.href == insertion.href || l.href == "/to/%28a%29/?x=1&amp;y").count();
                prop_assert_eq!(links(&after), links(&page) + 1);
                prop_assert_eq!(after.main_text(), page.main_text());
            }
        }

        #[test]
        fn any_place_of_html_is_either_refused_or_changes_nothing_else(source in html(), pick: prop::sample::Index, length in 1_usize..9) {
            let starts: Vec<usize> = source.char_indices().map(|(i, _)| i).collect();
            if starts.is_empty() { return Ok(()) }
            let start = starts[pick.index(starts.len())];
            let end = source[start..].char_indices().nth(length).map_or(source.len(), |(i, _)| start + i);
            let anchor = source[start..end].to_owned();
            let insertion = Insertion { place: Span::new(start, end), anchor, href: "/to/".into(), attributes: LinkAttributes::default(), style: LinkStyle::Html };
            let Ok(edited) = insert(&source, SourceFormat::Html, std::slice::from_ref(&insertion)) else { return Ok(()) };
            prop_assert_eq!(remove(&edited.text, &edited.inserted).unwrap(), source.clone());
            if check(&source, &edited.text, SourceFormat::Html, &base(), &[new_link(&insertion)]).is_ok() {
                let (old, new) = (dom_query::Document::from(source.as_str()), dom_query::Document::from(edited.text.as_str()));
                prop_assert_eq!(old.text(), new.text());
                prop_assert_eq!(old.select("a").length() + 1, new.select("a").length());
                prop_assert_eq!(old.select("*").length() + 1, new.select("*").length());
            }
        }

        #[test]
        fn words_of_a_parsed_html_page_are_linked_and_unlinked(source in html(), pick: prop::sample::Index, length in 1_usize..9) {
            let page = html_page(&source);
            let Some(place) = some_place(&page, pick, length) else { return Ok(()) };
            let flight = Preflight::new(&page, &LinkSettings::default());
            let Ok(insertion) = flight.insertion(place, "/to/?x=1&y=2") else { return Ok(()) };
            let edited = insert(&page.source.text, page.format, std::slice::from_ref(&insertion)).unwrap();
            prop_assert_eq!(remove(&edited.text, &edited.inserted).unwrap(), page.source.text.clone());
            if flight.edit(std::slice::from_ref(&insertion)).is_ok() {
                let after = html_page(&edited.text);
                let links = |page: &Page| page.links.iter().filter(|l| l.href == insertion.href).count();
                prop_assert_eq!(links(&after), links(&page) + 1);
            }
        }

        #[test]
        fn no_address_breaks_out(href in "[ -~é]{1,24}") {
            for (source, format) in [("the red fox x", SourceFormat::Html), ("the red fox x", SourceFormat::Markdown)] {
                let insertion = Insertion { href: href.clone(), ..at(source, "red fox") };
                match write(source, format, &insertion) {
                    Ok(text) => prop_assert!(text.starts_with("the ") && text.ends_with(" x")),
                    Err(refusal) => prop_assert_eq!(refusal, Refusal::UnusableHref, "{}", href),
                }
            }
        }
    }
}
