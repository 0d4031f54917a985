//! From the bytes of a sitemap to the addresses it lists.
//!
//! XML (`urlset`, `sitemapindex`), plain text with one address a line, RSS and Atom are read, as
//! sitemaps.org allows; gzip is recognised by its bytes, whatever the name says. A damaged file
//! gives the addresses before the damage, and says so.

use crate::sniff::{self, Kind};
use flate2::read::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use serde::{Deserialize, Serialize};
use std::io::Read;

/// One address of a sitemap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As written, trimmed.
    pub(crate) location: String,
    /// `lastmod` as written.
    pub(crate) lastmod: Option<String>,
}

/// What a sitemap file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sitemap {
    /// Pages.
    pub(crate) pages: Vec<Entry>,
    /// Further sitemaps.
    pub(crate) children: Vec<String>,
    /// What is wrong with it.
    pub(crate) problem: Option<SitemapProblem>,
}

/// Why a sitemap gave nothing, or less than it might.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SitemapProblem {
    /// The address answers with a web page.
    Html,
    /// Neither XML nor a list of addresses.
    NotASitemap,
    /// The file is damaged; addresses before the damage were used.
    Damaged(String),
    /// It lists nothing.
    Empty,
    /// Larger than the limit; addresses within it were used.
    TooLarge,
    /// Status other than 200.
    Status(u16),
    /// No answer.
    Unreachable(String),
    /// Deeper than sitemap indexes may be nested, or one more than may be read.
    LimitReached,
    /// It lists this many addresses outside the site, which were ignored.
    Foreign(usize),
    /// It lists pages of this public host, which were read from the copy at the private start address.
    Moved(String),
}

impl std::fmt::Display for SitemapProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Html => f.write_str("is a web page, not a sitemap"),
            Self::NotASitemap => f.write_str("is neither XML nor a list of addresses"),
            Self::Damaged(how) => write!(f, "is damaged ({how}); what stands before the damage was used"),
            Self::Empty => f.write_str("lists nothing"),
            Self::TooLarge => f.write_str("is larger than allowed; what stands within the limit was used"),
            Self::Status(status) => write!(f, "answers with status {status}"),
            Self::Unreachable(why) => write!(f, "does not answer: {why}"),
            Self::LimitReached => f.write_str("was not read: too many sitemaps"),
            Self::Moved(host) => write!(f, "lists pages of `{host}`, which were read from the copy instead"),
            Self::Foreign(count) => write!(f, "lists {count} addresses outside the site, which were ignored"),
        }
    }
}

/// Whether bytes that a start URL answered with are a sitemap rather than a page.
pub(crate) fn looks_like_sitemap(content_type: Option<&str>, body: &[u8], max_bytes: usize) -> bool {
    match sniff::kind(content_type, body) {
        Kind::Xml => true,
        Kind::Gzip => {
            let (inner, _) = unzip(body, max_bytes);
            matches!(sniff::kind(None, &inner), Kind::Xml) || is_address_list(&inner)
        }
        Kind::Text => is_address_list(body),
        Kind::Html | Kind::Binary => false,
    }
}

/// Reads a sitemap, at most `max_bytes` of it after decompression. Never fails: see `problem`.
pub(crate) fn parse(body: &[u8], max_bytes: usize) -> Sitemap {
    let (unzipped, damage) = if body.starts_with(&[0x1f, 0x8b]) { unzip(body, max_bytes) } else { (Vec::new(), None) };
    let bytes = if unzipped.is_empty() { body } else { &unzipped[..] };
    let mut sitemap = match sniff::kind(None, bytes) {
        Kind::Xml => parse_xml(&decode(bytes)),
        _ if is_address_list(bytes) => parse_lines(&decode(bytes)),
        Kind::Html => Sitemap { problem: Some(SitemapProblem::Html), ..Sitemap::default() },
        _ if bytes.iter().all(u8::is_ascii_whitespace) => Sitemap { problem: Some(SitemapProblem::Empty), ..Sitemap::default() },
        _ => Sitemap { problem: Some(SitemapProblem::NotASitemap), ..Sitemap::default() },
    };
    sitemap.problem = damage.or(sitemap.problem);
    if sitemap.problem.is_none() && sitemap.pages.is_empty() && sitemap.children.is_empty() {
        sitemap.problem = Some(SitemapProblem::Empty);
    }
    sitemap
}

/// Decompresses up to a limit, so that a small bomb stays small.
fn unzip(body: &[u8], max_bytes: usize) -> (Vec<u8>, Option<SitemapProblem>) {
    let mut out = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let result = MultiGzDecoder::new(body).take(limit).read_to_end(&mut out);
    if out.len() > max_bytes {
        out.truncate(max_bytes);
        return (out, Some(SitemapProblem::TooLarge));
    }
    (out, result.err().map(|error| SitemapProblem::Damaged(error.to_string())))
}

fn decode(bytes: &[u8]) -> String {
    let (text, _, _) = encoding_rs::UTF_8.decode(bytes);
    text.into_owned()
}

fn is_address_list(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let text = String::from_utf8_lossy(head);
    let first = text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty());
    first.is_some_and(|line| (line.starts_with("http://") || line.starts_with("https://")) && !line.contains(char::is_whitespace))
}

fn parse_lines(text: &str) -> Sitemap {
    let lines = text.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
    let pages = lines.filter(|line| line.starts_with("http")).map(|line| Entry { location: line.to_owned(), lastmod: None });
    Sitemap { pages: pages.collect(), ..Sitemap::default() }
}

/// What is being read of an XML sitemap. Elements are told by their local names alone, because
/// namespaces are wrong as often as right.
#[derive(Default)]
struct State {
    sitemap: Sitemap,
    entry: Entry,
    /// Text of the element that is open.
    text: String,
    /// Names of the open elements.
    open: Vec<String>,
}

/// Deeper nesting than any sitemap has; what lies below is not tracked.
const MAX_DEPTH: usize = 32;

fn parse_xml(text: &str) -> Sitemap {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    let mut state = State::default();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => state.start(&tag),
            Ok(Event::Empty(tag)) => {
                state.start(&tag);
                state.end();
            }
            Ok(Event::End(_)) => state.end(),
            Ok(Event::Text(text)) => state.text.push_str(&text.into_inner()),
            Ok(Event::CData(text)) => state.text.push_str(&text.into_inner()),
            Ok(Event::GeneralRef(reference)) => state.text.extend(resolve(&reference)),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                state.sitemap.problem = Some(SitemapProblem::Damaged(error.to_string()));
                break;
            }
        }
    }
    if state.sitemap.problem.is_none() && !state.open.is_empty() {
        state.sitemap.problem = Some(SitemapProblem::Damaged("it ends in the middle".to_owned()));
    }
    state.sitemap
}

impl State {
    fn start(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name().as_ref().to_ascii_lowercase();
        self.text.clear();
        if matches!(name.as_str(), "url" | "sitemap" | "item" | "entry") {
            self.entry = Entry::default();
        }
        // Atom has its address in an attribute.
        if name == "link" && self.parent() == Some("entry") && self.entry.location.is_empty() {
            self.entry.location = attribute(tag, "href").unwrap_or_default();
        }
        if self.open.len() < MAX_DEPTH {
            self.open.push(name);
        }
    }

    fn parent(&self) -> Option<&str> {
        self.open.last().map(String::as_str)
    }

    fn end(&mut self) {
        let Some(name) = self.open.pop() else { return };
        let text = self.text.trim();
        match (name.as_str(), self.parent()) {
            ("loc", Some("url" | "sitemap")) | ("link", Some("item")) => self.entry.location = text.to_owned(),
            ("lastmod", Some("url")) | ("updated", Some("entry")) => {
                self.entry.lastmod = (!text.is_empty()).then(|| text.to_owned());
            }
            ("url" | "item" | "entry", _) => self.finish_page(),
            ("sitemap", _) => self.finish_child(),
            _ => {}
        }
        self.text.clear();
    }

    fn finish_page(&mut self) {
        let entry = std::mem::take(&mut self.entry);
        if !entry.location.is_empty() {
            self.sitemap.pages.push(entry);
        }
    }

    fn finish_child(&mut self) {
        let entry = std::mem::take(&mut self.entry);
        if !entry.location.is_empty() {
            self.sitemap.children.push(entry.location);
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok()??;
    Some(attribute.value.replace("&amp;", "&"))
}

/// The five entities of XML and numeric references; entities that a document declares are ignored.
fn resolve(reference: &BytesRef<'_>) -> Option<char> {
    match reference.as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => reference.resolve_char_ref().ok().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use std::io::Write;

    const MAX: usize = 1 << 20;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn locations(sitemap: &Sitemap) -> Vec<&str> {
        sitemap.pages.iter().map(|e| e.location.as_str()).collect()
    }

    #[test]
    fn a_urlset_gives_addresses_and_dates() {
        let xml = "\u{feff}<?xml version='1.0'?><!-- x --><urlset xmlns:image='i'><url>\n<loc> https://e.org/?a=1&amp;b=&#50; </loc><lastmod>2024-01-02</lastmod>\
            <image:image><image:loc>https://e.org/i.png</image:loc></image:image></url><url><loc><![CDATA[https://e.org/b]]></loc></url><url/></urlset>";
        let sitemap = parse(xml.as_bytes(), MAX);
        assert_eq!(locations(&sitemap), ["https://e.org/?a=1&b=2", "https://e.org/b"]);
        assert_eq!(sitemap.pages[0].lastmod.as_deref(), Some("2024-01-02"));
        assert_eq!(sitemap.problem, None);
    }

    #[test]
    fn an_index_gives_children() {
        let sitemap = parse(b"<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>https://e.org/1.xml</s:loc></s:sitemap></s:sitemapindex>", MAX);
        assert_eq!((sitemap.children, sitemap.pages.len(), sitemap.problem), (vec!["https://e.org/1.xml".to_owned()], 0, None));
    }

    #[test]
    fn gzip_is_recognised_by_its_bytes() {
        let zipped = gzip(b"<urlset><url><loc>https://e.org/z</loc></url></urlset>");
        assert_eq!(locations(&parse(&zipped, MAX)), ["https://e.org/z"]);
        assert!(looks_like_sitemap(Some("application/octet-stream"), &zipped, MAX));
    }

    #[test]
    fn lists_and_feeds_are_sitemaps_too() {
        assert_eq!(locations(&parse(b"https://e.org/1\r\n\r\nhttps://e.org/2\n", MAX)), ["https://e.org/1", "https://e.org/2"]);
        assert_eq!(
            locations(&parse(b"<rss><channel><link>https://e.org/</link><item><link>https://e.org/r</link></item></channel></rss>", MAX)),
            ["https://e.org/r"]
        );
        assert_eq!(
            locations(&parse(b"<feed><link href='https://e.org/'/><entry><link href='https://e.org/f?a&amp;b'/></entry></feed>", MAX)),
            ["https://e.org/f?a&b"]
        );
    }

    #[test]
    fn what_is_wrong_is_said_and_the_rest_is_used() {
        let cut = parse(b"<urlset><url><loc>https://e.org/1</loc></url><url><loc>https://e.o", MAX);
        assert_eq!(locations(&cut), ["https://e.org/1"]);
        assert!(matches!(cut.problem, Some(SitemapProblem::Damaged(_))), "{:?}", cut.problem);
        let mut zipped = gzip("<urlset><url><loc>https://e.org/1</loc></url>".repeat(50).as_bytes());
        zipped.truncate(zipped.len() - 6);
        assert!(matches!(parse(&zipped, MAX).problem, Some(SitemapProblem::Damaged(_))));
        assert_eq!(parse(b"<!doctype html><title>Not here</title>", MAX).problem, Some(SitemapProblem::Html));
        assert_eq!(parse(b"\n", MAX).problem, Some(SitemapProblem::Empty));
        assert_eq!(parse(b"<urlset></urlset>", MAX).problem, Some(SitemapProblem::Empty));
        assert_eq!(parse(b"hello there", MAX).problem, Some(SitemapProblem::NotASitemap));
    }

    #[test]
    fn a_bomb_stays_within_the_limit() {
        let bomb = gzip(&[b"<urlset><url><loc>https://e.org/1</loc></url>".to_vec(), vec![b' '; 4 << 20]].concat());
        let sitemap = parse(&bomb, 1 << 16);
        assert_eq!((locations(&sitemap), sitemap.problem.clone()), (vec!["https://e.org/1"], Some(SitemapProblem::TooLarge)));
    }

    #[test]
    fn entities_are_not_expanded() {
        let xml = "<!DOCTYPE u [<!ENTITY a 'aaaaaaaaaa'>]><urlset><url><loc>https://e.org/&a;&a;x</loc></url></urlset>";
        assert_eq!(locations(&parse(xml.as_bytes(), MAX)), ["https://e.org/x"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(text in "(<[/!?]?(urlset|url|loc|a:loc|item|link)[ />]|\\PC{0,6}|&[a-z#0-9]{0,3};?){0,16}") {
            let _ = parse(text.as_bytes(), MAX);
        }
    }
}
