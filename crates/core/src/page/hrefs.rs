//! From the decoded text of an HTML page to the addresses a crawler may go to next.
//!
//! One streaming pass, far lighter than parsing the page: no text, no positions. Relative addresses
//! resolve against the first `base href`, which is itself relative to the page's URL, wherever in
//! the document it stands.

use crate::url::PageUrl;
use lol_html::html_content::Element;
use lol_html::{HtmlRewriter, MemorySettings, Settings, element};
use std::cell::RefCell;

/// Memory the parser may take for one page; a page that needs more gives the links found so far.
const MAX_MEMORY_BYTES: usize = 64 << 20;

/// One address a page leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Href {
    /// Where it leads, resolved, without fragment.
    pub url: PageUrl,
    /// The link says `rel=nofollow`.
    pub nofollow: bool,
}

/// What a crawler wants to know of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hrefs {
    /// What relative addresses resolve against.
    pub base: PageUrl,
    /// `a`, `area`, and `link rel=next|prev`, in source order, with repetitions.
    pub links: Vec<Href>,
    /// `link rel=canonical`.
    pub canonical: Option<PageUrl>,
    /// Where a `meta http-equiv=refresh` leads.
    pub refresh: Option<PageUrl>,
    /// Meta robots says `nofollow` or `none`.
    pub nofollow: bool,
}

/// Addresses as written, before the base is known.
#[derive(Default)]
struct Written {
    base: Option<String>,
    links: Vec<(String, bool)>,
    canonical: Option<String>,
    refresh: Option<String>,
    nofollow: bool,
}

/// Reads the links of the page at `url`. Broken HTML gives what could be read.
#[must_use]
pub fn find(text: &str, url: &PageUrl) -> Hrefs {
    let written = collect(text);
    let base = written.base.as_deref().and_then(|href| url.join(href)).map_or_else(|| url.clone(), |(base, _)| base);
    let resolve = |href: &str| base.join(href).map(|(target, _)| target);
    Hrefs {
        links: written.links.iter().filter_map(|(href, nofollow)| Some(Href { url: resolve(href)?, nofollow: *nofollow })).collect(),
        canonical: written.canonical.as_deref().and_then(resolve),
        refresh: written.refresh.as_deref().and_then(resolve),
        nofollow: written.nofollow,
        base,
    }
}

fn collect(text: &str) -> Written {
    let written = RefCell::new(Written::default());
    let base = element!("base[href]", |e| {
        let mut written = written.borrow_mut();
        written.base = written.base.take().or_else(|| attribute(e, "href"));
        Ok(())
    });
    let anchors = element!("a[href], area[href]", |e| {
        if let Some(href) = attribute(e, "href") {
            written.borrow_mut().links.push((href, has_word(e, "rel", "nofollow")));
        }
        Ok(())
    });
    let heads = element!("link[rel][href]", |e| {
        link(e, &mut written.borrow_mut());
        Ok(())
    });
    let metas = element!("meta[content]", |e| {
        meta(e, &mut written.borrow_mut());
        Ok(())
    });
    let settings = Settings::new()
        .append_element_content_handler(base)
        .append_element_content_handler(anchors)
        .append_element_content_handler(heads)
        .append_element_content_handler(metas)
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_MEMORY_BYTES));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| ());
    // A page the parser gives up on keeps what was found before: a crawl is better off with it.
    if rewriter.write(text.as_bytes()).is_ok() {
        let _ = rewriter.end();
    }
    written.take()
}

fn link(e: &Element, written: &mut Written) {
    let Some(href) = attribute(e, "href") else { return };
    if has_word(e, "rel", "canonical") {
        written.canonical.get_or_insert(href);
    } else if ["next", "prev", "previous"].iter().any(|rel| has_word(e, "rel", rel)) {
        written.links.push((href, false));
    }
}

fn meta(e: &Element, written: &mut Written) {
    let Some(content) = attribute(e, "content") else { return };
    if has_word(e, "name", "robots") {
        written.nofollow |= content.split([',', ' ', ';']).any(|w| matches!(w.trim().to_ascii_lowercase().as_str(), "nofollow" | "none"));
    } else if has_word(e, "http-equiv", "refresh") && written.refresh.is_none() {
        written.refresh = refresh_target(&content);
    }
}

/// The address in `5; url='/there'`.
fn refresh_target(content: &str) -> Option<String> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim_start();
    let named = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url"))?;
    let target = rest[named.len()..].trim_start().strip_prefix('=')?.trim();
    let target = target.trim_matches(['"', '\'']).trim();
    (!target.is_empty()).then(|| target.to_owned())
}

fn attribute(e: &Element, name: &str) -> Option<String> {
    e.get_attribute(name).map(|value| decode_references(&value))
}

fn has_word(e: &Element, name: &str, word: &str) -> bool {
    e.get_attribute(name).is_some_and(|value| value.split_whitespace().any(|w| w.eq_ignore_ascii_case(word)))
}

/// Decodes the character references that occur in addresses: numeric ones and the five of XML.
fn decode_references(value: &str) -> String {
    if !value.contains('&') {
        return value.to_owned();
    }
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, length) = reference(rest).unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The character that the reference at the start of `text` stands for, and the reference's length.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(12).position(|b| b == b';')?;
    let name = text.get(1..end)?;
    let c = match name {
        "amp" | "AMP" => '&',
        "quot" => '"',
        "apos" => '\'',
        "lt" => '<',
        "gt" => '>',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(html: &str) -> Hrefs {
        find(html, &PageUrl::parse("https://example.org/docs/a.html").unwrap())
    }

    fn urls(html: &str) -> Vec<String> {
        found(html).links.iter().map(|l| l.url.as_str().to_owned()).collect()
    }

    #[test]
    fn links_resolve_against_the_first_base_even_after_them() {
        let html = "<a href=b>1</a><base target=_top><base href='../guide/'><base href=/never/><a href='c#x'>2</a>";
        assert_eq!(urls(html), ["https://example.org/guide/b", "https://example.org/guide/c"]);
        assert_eq!(urls("<a href=b>"), ["https://example.org/docs/b"]);
    }

    #[test]
    fn only_web_links_of_the_document_itself_count() {
        let html = "<!-- <a href=/comment> --><script>'<a href=/script>'</script><textarea><a href=/field></textarea>\
            <a href='mailto:x@y.z'></a><a name=x></a><a title='<a href=/inside>' href=/kept></a><area href=/area>\
            <link rel=stylesheet href=/style><link rel='NEXT' href='?page=2&amp;s=1'>";
        assert_eq!(urls(html), ["https://example.org/kept", "https://example.org/area", "https://example.org/docs/a.html?page=2&s=1"]);
    }

    #[test]
    fn nofollow_is_seen_on_links_and_pages() {
        let page = found("<meta name=ROBOTS content='noindex, NoFollow'><a rel='noopener nofollow' href=/x></a><a href=/y></a>");
        assert!(page.nofollow);
        assert_eq!(page.links.iter().map(|l| l.nofollow).collect::<Vec<_>>(), [true, false]);
        assert!(!found("<meta name=robots content=index><meta name=description content=nofollow>").nofollow);
    }

    #[test]
    fn canonical_and_refresh_are_addresses_too() {
        let page =
            found("<link href=/one rel='canonical'><link href=/two rel=canonical><meta http-equiv=Refresh content=\"0; URL='/moved'\">");
        assert_eq!(page.canonical.unwrap().as_str(), "https://example.org/one");
        assert_eq!(page.refresh.unwrap().as_str(), "https://example.org/moved");
        assert_eq!(found("<meta http-equiv=refresh content=300>").refresh, None);
    }

    #[test]
    fn references_in_addresses_are_decoded_once() {
        let cases = [("a&amp;b", "a&b"), ("&amp;amp;", "&amp;"), ("&#x2F;&#47;", "//"), ("&copy=1&", "&copy=1&"), ("&#xD800;", "&#xD800;")];
        for (written, meant) in cases {
            assert_eq!(decode_references(written), meant);
        }
    }

    #[test]
    fn deep_nesting_is_no_danger() {
        let html = format!("{}<a href=/deep>", "<div>".repeat(200_000));
        assert_eq!(urls(&html), ["https://example.org/deep"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(<(a|base|meta|link|b) (href|content|rel)=['\"]?[^<]{0,12}|\\PC{0,9}|[&#x0-9;>]{0,6}){0,12}") {
            let _ = found(&text);
        }
    }
}
