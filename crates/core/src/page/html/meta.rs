//! What a document says about itself: base, canonical, robots, titles, dates, languages.

use super::tag::Tag;
use super::tree::{NodeId, Tree, collapse};
use crate::language;
use crate::page::FetchedPage;
use crate::url::PageUrl;

/// Everything read from the head, the headers and a few telling elements.
pub(super) struct Metadata {
    pub(super) base: PageUrl,
    pub(super) canonical: Option<PageUrl>,
    pub(super) noindex: bool,
    pub(super) declared_language: Option<String>,
    pub(super) hreflang: Vec<(String, PageUrl)>,
    pub(super) title: String,
    pub(super) h1: Option<String>,
    pub(super) description: Option<String>,
    pub(super) published: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) login: bool,
}

/// Reads the metadata of a page.
pub(super) fn read(tree: &Tree<'_>, fetched: &FetchedPage) -> Metadata {
    let elements = Elements::of(tree);
    let base = elements.base(&fetched.url);
    let h1 = elements.first_text(Tag::H1);
    let metas = elements.metas();
    let title = elements.title.map(|t| raw_title(tree, t)).filter(|t| !t.is_empty());
    let og_title = meta(&metas, &["og:title", "twitter:title"]);
    let first_heading = || h1.clone().or_else(|| [Tag::H2, Tag::H3].into_iter().find_map(|t| elements.first_text(t)));
    Metadata {
        canonical: elements.canonical(&base).or_else(|| header_canonical(fetched)),
        noindex: is_noindex(&metas, fetched),
        declared_language: elements.language(&metas),
        hreflang: elements.hreflang(&base),
        title: title.or(og_title).or_else(first_heading).unwrap_or_default(),
        description: meta(&metas, &["description", "og:description", "twitter:description"]),
        published: elements.published(&metas).or_else(|| date_in_path(&fetched.url.path())),
        tags: tags(&metas),
        login: elements.is_login(),
        h1,
        base,
    }
}

/// The elements that matter here, found in one walk.
struct Elements<'t> {
    tree: &'t Tree<'t>,
    html: Option<NodeId>,
    title: Option<NodeId>,
    base: Option<NodeId>,
    links: Vec<NodeId>,
    metas: Vec<NodeId>,
    headings: Vec<NodeId>,
    times: Vec<NodeId>,
    scripts: Vec<NodeId>,
    passwords: usize,
}

impl<'t> Elements<'t> {
    fn of(tree: &'t Tree<'t>) -> Self {
        let mut found = Self {
            tree,
            html: None,
            title: None,
            base: None,
            links: Vec::new(),
            metas: Vec::new(),
            headings: Vec::new(),
            times: Vec::new(),
            scripts: Vec::new(),
            passwords: 0,
        };
        let mut id = 1;
        while id < tree.nodes.len() {
            match tree.tag(id) {
                Some(Tag::Html) => found.html = found.html.or(Some(id)),
                Some(Tag::Title) => found.title = found.title.or(Some(id)),
                Some(Tag::Base) if tree.has_attribute(id, "href") => found.base = found.base.or(Some(id)),
                Some(Tag::Link) => found.links.push(id),
                Some(Tag::Meta) => found.metas.push(id),
                Some(Tag::Time) => found.times.push(id),
                Some(Tag::Script) => found.scripts.push(id),
                Some(Tag::Input) => {
                    let is_password = tree.raw_attribute(id, "type").is_some_and(|t| t.eq_ignore_ascii_case("password"));
                    found.passwords += usize::from(is_password);
                }
                Some(Tag::H1 | Tag::H2 | Tag::H3) => found.headings.push(id),
                // The title of a drawing is not the title of the page.
                Some(Tag::Svg | Tag::Template) => {
                    id = tree.nodes[id].after;
                    continue;
                }
                _ => {}
            }
            id += 1;
        }
        found
    }

    fn first_text(&self, tag: Tag) -> Option<String> {
        self.headings.iter().filter(|h| self.tree.tag(**h) == Some(tag)).map(|h| self.tree.text(*h)).find(|t| !t.is_empty())
    }

    fn base(&self, url: &PageUrl) -> PageUrl {
        let href = self.base.and_then(|b| self.tree.attribute(b, "href"));
        href.and_then(|h| url.join(&h)).map_or_else(|| url.clone(), |(base, _)| base)
    }

    fn has_rel(&self, id: NodeId, wanted: &str) -> bool {
        self.tree.attribute(id, "rel").is_some_and(|rel| rel.split_whitespace().any(|r| r.eq_ignore_ascii_case(wanted)))
    }

    fn canonical(&self, base: &PageUrl) -> Option<PageUrl> {
        let link = self.links.iter().find(|l| self.has_rel(**l, "canonical"))?;
        let href = self.tree.attribute(*link, "href").filter(|h| !h.trim().is_empty())?;
        base.join(&href).map(|(url, _)| url)
    }

    fn hreflang(&self, base: &PageUrl) -> Vec<(String, PageUrl)> {
        let alternate = |id: &&NodeId| self.has_rel(**id, "alternate");
        let pair = |id: &NodeId| {
            let tag = self.tree.attribute(*id, "hreflang")?.trim().to_ascii_lowercase();
            let tag = if tag == "x-default" { tag } else { language::normal_tag(&tag)? };
            Some((tag, base.join(&self.tree.attribute(*id, "href")?)?.0))
        };
        self.links.iter().filter(alternate).filter_map(pair).collect()
    }

    /// Names in lower case and contents of all meta elements.
    fn metas(&self) -> Vec<(String, String)> {
        let pair = |id: &NodeId| {
            let name = ["name", "property", "http-equiv", "itemprop"].into_iter().find_map(|a| self.tree.attribute(*id, a))?;
            let content = collapse(&self.tree.attribute(*id, "content")?);
            (!content.is_empty()).then(|| (name.trim().to_lowercase(), content))
        };
        self.metas.iter().filter_map(pair).collect()
    }

    fn language(&self, metas: &[(String, String)]) -> Option<String> {
        let of_element = self.html.and_then(|html| {
            let value = |name| self.tree.attribute(html, name).and_then(|v| language::normal_tag(&v));
            value("lang").or_else(|| value("xml:lang"))
        });
        of_element.or_else(|| meta(metas, &["content-language"]).and_then(|v| language::normal_tag(&v)))
    }

    fn published(&self, metas: &[(String, String)]) -> Option<String> {
        const NAMES: &[&str] = &[
            "article:published_time",
            "og:published_time",
            "datepublished",
            "date",
            "dc.date",
            "dc.date.issued",
            "dcterms.date",
            "dcterms.created",
            "pubdate",
            "publishdate",
            "publish-date",
            "publish_date",
            "sailthru.date",
            "parsely-pub-date",
            "citation_publication_date",
        ];
        let of_meta = NAMES.iter().find_map(|name| meta(metas, &[name]).and_then(|v| date(&v)));
        let of_script = || self.scripts.iter().find_map(|s| self.json_date(*s));
        of_meta.or_else(of_script).or_else(|| self.times.iter().find_map(|t| self.time(*t)))
    }

    fn json_date(&self, script: NodeId) -> Option<String> {
        let is_json = self.tree.raw_attribute(script, "type").is_some_and(|t| t.trim().eq_ignore_ascii_case("application/ld+json"));
        if !is_json {
            return None;
        }
        let text = &self.tree.source[self.tree.nodes[script].source.range()];
        let after = &text[text.find("\"datePublished\"")? + 15..];
        let value = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        date(value)
    }

    /// A time element with a machine-readable date, or an ISO date as its text; not one in a comment or aside.
    fn time(&self, id: NodeId) -> Option<String> {
        let elsewhere = |a: NodeId| matches!(self.tree.tag(a), Some(Tag::Aside | Tag::Footer | Tag::Nav | Tag::Li));
        if self.tree.ancestors(id).any(elsewhere) {
            return None;
        }
        self.tree.attribute(id, "datetime").or_else(|| Some(self.tree.text(id))).and_then(|v| date(&v))
    }

    /// A password field on a page without much else.
    fn is_login(&self) -> bool {
        self.passwords > 0
    }
}

fn raw_title(tree: &Tree<'_>, id: NodeId) -> String {
    tree.text(id)
}

fn meta(metas: &[(String, String)], names: &[&str]) -> Option<String> {
    names.iter().find_map(|wanted| metas.iter().find(|(name, _)| name == wanted).map(|(_, content)| content.clone()))
}

fn is_noindex(metas: &[(String, String)], fetched: &FetchedPage) -> bool {
    let says_no =
        |directives: &str| directives.split([',', ' ']).any(|d| matches!(d.trim().to_ascii_lowercase().as_str(), "noindex" | "none"));
    let in_meta = metas.iter().any(|(name, content)| matches!(name.as_str(), "robots" | "googlebot") && says_no(content));
    in_meta || fetched.headers.x_robots_tag.as_deref().is_some_and(header_says_no)
}

/// `X-Robots-Tag` values: directives for all, or for one named crawler, of which only Google's counts here.
fn header_says_no(value: &str) -> bool {
    let mut agent_counts = true;
    for part in value.split(',') {
        let mut directive = part.trim();
        if let Some((agent, rest)) = directive.split_once(':')
            && !agent.trim().to_ascii_lowercase().starts_with("unavailable_after")
            && !agent.trim().to_ascii_lowercase().starts_with("max-")
        {
            agent_counts = matches!(agent.trim().to_ascii_lowercase().as_str(), "googlebot" | "robots" | "*");
            directive = rest.trim();
        }
        if agent_counts && (directive.eq_ignore_ascii_case("noindex") || directive.eq_ignore_ascii_case("none")) {
            return true;
        }
    }
    false
}

/// `rel="canonical"` of the `Link` header.
fn header_canonical(fetched: &FetchedPage) -> Option<PageUrl> {
    let header = fetched.headers.link.as_deref()?;
    header.split('<').skip(1).find_map(|entry| {
        let (href, parameters) = entry.split_once('>')?;
        let parameters = parameters.to_ascii_lowercase().replace([' ', '"'], "");
        let is_canonical = parameters.split([';', ',']).any(|p| p == "rel=canonical");
        is_canonical.then(|| fetched.url.join(href)).flatten().map(|(url, _)| url)
    })
}

fn tags(metas: &[(String, String)]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (name, content) in metas {
        let list: Vec<&str> = match name.as_str() {
            "article:tag" => vec![content],
            "keywords" | "news_keywords" => content.split([',', ';']).collect(),
            _ => continue,
        };
        for tag in list.into_iter().map(str::trim).filter(|t| !t.is_empty()) {
            if !out.iter().any(|t| t == tag) {
                out.push(tag.to_owned());
            }
        }
    }
    out
}

/// The date that `text` begins with: `2024-05-06…`, `20240506` or `2024/05/06`.
fn date(text: &str) -> Option<String> {
    let text = text.trim();
    let head = text.get(..10).unwrap_or(text);
    let parts: Vec<&str> = head.split(['-', '/', '.']).collect();
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => whole_date(year, month, day),
        [digits, ..] => {
            let digits = digits.get(..8).filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
            whole_date(&digits[..4], &digits[4..6], &digits[6..8])
        }
        [] => None,
    }
}

fn whole_date(year: &str, month: &str, day: &str) -> Option<String> {
    let day: String = day.chars().take_while(char::is_ascii_digit).collect();
    let (y, m, d): (u16, u8, u8) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    ((1980..=2200).contains(&y) && (1..=12).contains(&m) && (1..=31).contains(&d)).then(|| format!("{y:04}-{m:02}-{d:02}"))
}

/// `/2024/05/06/` or `/2024-05-06-` in the path of the URL.
fn date_in_path(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let in_folders = parts.windows(3).find_map(|w| match w {
        [y, m, d] if y.len() == 4 && m.len() <= 2 && d.len() <= 2 => whole_date(y, m, d),
        _ => None,
    });
    in_folders.or_else(|| parts.iter().filter(|p| p.len() > 10).find_map(|p| date(p).filter(|_| p.as_bytes()[4] == b'-')))
}
