//! A page as linkwright understands it: identity, eligibility, blocks of text with their places in
//! the stored source, and links by kind.
//!
//! Invariants that every parser keeps:
//! - all spans index `Page::source.text` (the decoded source), lie on character bounds, and the
//!   segments of a block are sorted and disjoint both in the block's text and in the source;
//! - a block is a leaf: its text never runs across a paragraph, list item or cell boundary;
//! - `source.text[segment.source]` is exactly the segment's text when `verbatim`.

pub mod front_matter;
pub mod hrefs;
pub mod html;
pub mod markdown;

use crate::span::Span;
use crate::url::PageUrl;
use serde::{Deserialize, Serialize};

/// In which notation a page is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceFormat {
    /// HTML, as served or as a file.
    Html,
    /// Markdown with optional front matter; shortcodes and raw HTML are left alone.
    Markdown,
    /// Markdown with JSX.
    Mdx,
}

/// The stored source of a page, decoded, with what is needed to write it back byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// The decoded text without a byte order mark. All spans of a page index this string.
    pub text: String,
    /// WHATWG label of the encoding the bytes were in, such as `UTF-8` or `windows-1252`.
    pub encoding: String,
    /// Whether the bytes began with a byte order mark.
    pub bom: bool,
}

/// Where a page was heard of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    /// Listed in a sitemap.
    pub sitemap: bool,
    /// Led to by a link of another page, or found in the folder.
    pub links: bool,
}

/// What came of asking for one URL or reading one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchOutcome {
    /// The body is there.
    Fetched,
    /// The server answered 304; the body is the one kept from an earlier run.
    Unchanged,
    /// A 3xx that led to another page of the site, which is stored under its own URL. The page has
    /// the URL that was asked for and all hops; `FetchedPage::leads_to` is the other page.
    Redirected,
    /// A chain of redirects that comes back to itself or is longer than allowed.
    RedirectLoop,
    /// A redirect or link that leads out of the site's hosts or path scope.
    OutOfScope,
    /// A redirect or name that leads to a private or loopback address from a public site.
    PrivateAddress,
    /// Status 4xx.
    ClientError,
    /// Status 5xx after all retries.
    ServerError,
    /// No answer in time.
    TimedOut,
    /// Name, connection or TLS failure.
    Unreachable,
    /// Disallowed by robots.txt.
    RobotsDisallowed,
    /// Not HTML by its content type or its bytes.
    NotHtml,
    /// Larger than the size limit.
    TooLarge,
    /// A file that could not be read.
    Unreadable,
    /// Left out by `--only`, `--limit` or a pattern of the settings.
    LeftOut,
}

impl FetchOutcome {
    /// Whether the page's body is there.
    #[must_use]
    pub fn was_read(self) -> bool {
        matches!(self, Self::Fetched | Self::Unchanged)
    }
}

/// One hop of a redirect chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirect {
    /// The URL that was asked for.
    pub url: String,
    /// The 3xx status it answered with.
    pub status: u16,
}

/// Response headers that matter, in the form they were received. All absent for files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchHeaders {
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Content-Language`.
    pub content_language: Option<String>,
    /// All `X-Robots-Tag` values, joined with `, `.
    pub x_robots_tag: Option<String>,
    /// All `Link` values, joined with `, `.
    pub link: Option<String>,
    /// `ETag`, for conditional requests.
    pub etag: Option<String>,
    /// `Last-Modified`, for conditional requests.
    pub last_modified: Option<String>,
    /// Where a redirect ends after all its hops, as an absolute URL.
    #[serde(default)]
    pub location: Option<String>,
}

/// What a reader of sites hands over for one URL or file: the exact bytes, and how they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedPage {
    /// The final URL, after redirects that do not change the page's key; the URL asked for otherwise.
    pub url: PageUrl,
    /// What came of it.
    pub outcome: FetchOutcome,
    /// HTTP status; 200 for a file that was read, 0 when nothing answered.
    pub status: u16,
    /// The hops that led here, first asked first; empty without redirects.
    pub redirects: Vec<Redirect>,
    /// Headers.
    pub headers: FetchHeaders,
    /// Exactly the bytes received or read (after transfer and content decoding).
    pub body: Vec<u8>,
    /// Notation of the body.
    pub format: SourceFormat,
    /// Path below the site folder, `/`-separated, where the page is a file.
    pub path: Option<String>,
    /// Where it was heard of.
    pub discovery: Discovery,
    /// `lastmod` of the sitemap, as written there.
    pub sitemap_lastmod: Option<String>,
    /// A sentence for people when the outcome is a failure.
    pub detail: Option<String>,
}

impl FetchedPage {
    /// An HTML page that was read without a hitch, still without its body.
    #[must_use]
    pub fn read(url: PageUrl) -> Self {
        Self {
            url,
            outcome: FetchOutcome::Fetched,
            status: 200,
            redirects: Vec::new(),
            headers: FetchHeaders::default(),
            body: Vec::new(),
            format: SourceFormat::Html,
            path: None,
            discovery: Discovery::default(),
            sitemap_lastmod: None,
            detail: None,
        }
    }

    /// For an address that redirects: the address it ends at, through all hops. `None` for all others.
    #[must_use]
    pub fn leads_to(&self) -> Option<PageUrl> {
        (self.outcome == FetchOutcome::Redirected).then(|| PageUrl::parse(self.headers.location.as_deref()?)).flatten()
    }
}

/// Where a language tag came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LanguageSource {
    /// `lang` attribute or front matter.
    Declared,
    /// `Content-Language` header.
    Header,
    /// Detected from the text.
    Detected,
    /// Neither declared nor enough text to detect it.
    Unknown,
}

/// What a block is in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A paragraph, or text directly in a container.
    Paragraph,
    /// A list item's own text.
    ListItem,
    /// `h1` to `h6`.
    Heading(u8),
    /// Text of a quotation.
    Quote,
    /// A table's data cell.
    TableCell,
    /// A table's header cell.
    TableHeader,
    /// A caption of a figure or table.
    Caption,
    /// `pre` and the like.
    Code,
    /// A term or description of a description list.
    Definition,
}

/// Why words cannot carry a new link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inert {
    /// Already inside a link.
    Link,
    /// Inside `code`, `kbd`, `samp`, `pre`, `var`, `math` and the like, or a Markdown code span.
    Code,
    /// Inside a heading.
    Heading,
    /// Inside a button, form, label, select or text area.
    Form,
    /// Inside a caption or figure.
    Figure,
    /// Inside a table header or caption.
    TableHeader,
    /// Inside a quotation attributed to somebody (`blockquote` with `cite`, a `cite` or an attribution; `q`).
    Quotation,
    /// Inside a shortcode, template tag, JSX expression or raw HTML of a Markdown page.
    Template,
    /// Excluded by a selector of the settings, or markup that cannot be written to safely.
    Excluded,
}

/// A stretch of a block's text and its place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Range in `Block::text`.
    pub text: Span,
    /// Range in the page's source.
    pub source: Span,
    /// Whether the source bytes are the text bytes, so that any inner offset maps one to one.
    /// Entities, collapsed white space and Markdown escapes are segments of their own that map
    /// only as a whole.
    pub verbatim: bool,
    /// Number of the unbroken run of text the segment belongs to: it grows by one wherever markup
    /// stands between two segments. An anchor must lie within one run.
    pub run: u32,
    /// Why these words cannot carry a link, or `None` where they can.
    pub inert: Option<Inert>,
}

/// A leaf block of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Whether it belongs to the main content. Blocks of menus, footers, widgets are kept with `false`.
    pub main: bool,
    /// Visible text, entities decoded, white space collapsed to single blanks and trimmed.
    pub text: String,
    /// Covers `text` completely and in order, but for blanks that stand for markup boundaries.
    pub segments: Vec<Segment>,
    /// `id` of the nearest heading or section above, the fragment a link to this place would use.
    pub section: Option<String>,
    /// The whole block element in the source, for re-reading in context.
    pub source: Span,
    /// Hash of the tag path with classes from the body down, for recognising templates across pages.
    pub shape: u64,
}

/// Whether a link stands in running text of the main content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// In running text or a list of the main content.
    Body,
    /// Navigation, footer, sidebar, widget, author box, related posts.
    Template,
}

/// The part of the page a link stands in, as crawlers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkPosition {
    /// Main content.
    Content,
    /// `nav`, menus, breadcrumbs, pagination.
    Navigation,
    /// Page header.
    Header,
    /// Page footer.
    Footer,
    /// Sidebars, widgets, author boxes, related posts.
    Aside,
}

/// A link of a page to an HTTP(S) URL, inside or outside the site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The `href` as written (entities decoded).
    pub href: String,
    /// Where it leads, resolved against the document's base, without fragment.
    pub target: PageUrl,
    /// The fragment, without `#`, if any.
    pub fragment: Option<String>,
    /// Visible text, white space collapsed; the `alt` of an image link.
    pub anchor: String,
    /// The `rel` attribute, lower case; empty when absent.
    pub rel: String,
    /// Body or template.
    pub kind: LinkKind,
    /// Part of the page.
    pub position: LinkPosition,
    /// Index into `Page::blocks` and range in that block's text, where the anchor is text of a block.
    pub place: Option<(usize, Span)>,
    /// The whole element in the source.
    pub source: Span,
}

/// A page, parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Final URL, after redirects.
    pub url: PageUrl,
    /// Path below the site folder, for a site read from a folder.
    pub path: Option<String>,
    /// Notation.
    pub format: SourceFormat,
    /// Decoded source.
    pub source: SourceText,
    /// URL that relative links resolve against (`base` element applied).
    pub base: PageUrl,
    /// Canonical URL from `link rel=canonical` or the `Link` header, resolved.
    pub canonical: Option<PageUrl>,
    /// `noindex` or `none` from meta robots or `X-Robots-Tag`, or an unpublished page.
    pub noindex: bool,
    /// Front matter says draft, or a date in the future.
    pub draft: bool,
    /// BCP 47 tag, lower case, such as `en` or `pt-br`; empty when unknown.
    pub language: String,
    /// Where the language came from.
    pub language_source: LanguageSource,
    /// `(language, URL)` of each alternate version.
    pub hreflang: Vec<(String, PageUrl)>,
    /// `title` as written, white space collapsed; the first heading where there is no title.
    pub title: String,
    /// Title without the tail (or head) that the site puts on every title; never empty when `title`
    /// is not. Set by `template::find`; equal to `title` before.
    pub short_title: String,
    /// First `h1` of the page.
    pub h1: Option<String>,
    /// Meta description.
    pub description: Option<String>,
    /// Publication date as `YYYY-MM-DD`.
    pub published: Option<String>,
    /// Tags or keywords of the page's front matter or meta.
    pub tags: Vec<String>,
    /// Leaf blocks in source order.
    pub blocks: Vec<Block>,
    /// Links in source order.
    pub links: Vec<Link>,
    /// Words in main blocks (characters / 2 for unspaced scripts).
    pub word_count: usize,
    /// Whether the page has a password field or is plainly a login form.
    pub login: bool,
}

impl Page {
    /// The main blocks' texts joined with line feeds: the main text of the page.
    #[must_use]
    pub fn main_text(&self) -> String {
        let texts: Vec<&str> = self.blocks.iter().filter(|b| b.main).map(|b| b.text.as_str()).collect();
        texts.join("\n")
    }

    /// Bytes of each block's text that are links.
    #[must_use]
    pub fn linked_bytes(&self) -> Vec<usize> {
        let mut out = vec![0; self.blocks.len()];
        for (block, span) in self.links.iter().filter_map(|l| l.place) {
            if let Some(bytes) = out.get_mut(block) {
                *bytes += span.len();
            }
        }
        out
    }
}
