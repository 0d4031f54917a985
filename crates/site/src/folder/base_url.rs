//! From what a folder of HTML says of itself to the public URL it is served at.
//!
//! The sitemap is believed first, then canonical links, then a `CNAME` file as GitHub Pages uses
//! it. A folder that says nothing is at a placeholder.

use super::{File, served_path, sitemaps, url_below};
use linkwright_core::page::hrefs;
use linkwright_core::url::PageUrl;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where a site is thought to be that does not say where it is. `.invalid` never resolves (RFC 2606).
pub(crate) const PLACEHOLDER: &str = "https://site.invalid/";

/// Files whose canonical link is looked at.
const SAMPLE: usize = 40;

/// Bytes of a file that are looked at for a canonical link.
const HEAD_BYTES: usize = 64 * 1024;

/// The base URL and, in words, how it is known.
pub(crate) fn find(root: &Path, html: &[File]) -> (PageUrl, String) {
    let paths: BTreeSet<String> = html.iter().map(|f| bare(served_path(&f.path)).to_owned()).collect();
    let listed = sitemaps::pages(root).into_iter().filter_map(|(url, _)| base_of(&url, &paths));
    if let Some(base) = majority(listed) {
        return (base, "from the sitemap".to_owned());
    }
    let canonical = html.iter().take(SAMPLE).filter_map(base_by_canonical);
    if let Some(base) = majority(canonical) {
        return (base, "from canonical links".to_owned());
    }
    if let Some(base) = by_cname(root) {
        return (base, "from the file CNAME".to_owned());
    }
    placeholder()
}

/// The URL of a folder that says nothing.
pub(crate) fn placeholder() -> (PageUrl, String) {
    let url = PageUrl::parse(PLACEHOLDER).expect("the placeholder is a URL");
    (url, "a placeholder, because the folder does not say; `--base-url` gives the real one".to_owned())
}

/// The host that a `CNAME` file names.
pub(crate) fn by_cname(root: &Path) -> Option<PageUrl> {
    let text = std::fs::read_to_string(root.join("CNAME")).ok()?;
    let host = text.split_whitespace().next()?;
    PageUrl::parse(&format!("https://{host}/")).filter(|url| url.path() == "/" && host.contains('.'))
}

/// The base that explains why the URL belongs to a file: the URL without the file's path.
fn base_of(url: &PageUrl, paths: &BTreeSet<String>) -> Option<PageUrl> {
    let path = url.path();
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
    (0..=parts.len().min(4)).find_map(|skip| {
        let (prefix, rest) = parts.split_at(skip);
        let file = rest.join("/");
        let exists = paths.contains(&file) || paths.contains(&format!("{file}.html"));
        exists.then(|| url_below(&origin(url), &format!("{}/", prefix.join("/"))))
    })
}

fn origin(url: &PageUrl) -> PageUrl {
    url.join("/").map_or_else(|| url.clone(), |(origin, _)| origin)
}

fn base_by_canonical(file: &File) -> Option<PageUrl> {
    let mut bytes = std::fs::read(&file.file).ok()?;
    bytes.truncate(HEAD_BYTES);
    let text = String::from_utf8_lossy(&bytes);
    // A relative canonical link would resolve against the placeholder, and says nothing.
    let canonical = hrefs::find(&text, &PageUrl::parse(PLACEHOLDER)?).canonical.filter(|url| !url.as_str().starts_with(PLACEHOLDER))?;
    let path = canonical.path();
    let rest = bare(served_path(&file.path));
    let prefix = path.trim_end_matches('/').strip_suffix(rest).or_else(|| path.strip_suffix(rest.strip_suffix(".html")?))?;
    url_below(&origin(&canonical), &format!("{}/", prefix.trim_matches('/'))).into()
}

fn bare(path: &str) -> &str {
    path.trim_matches('/')
}

/// What more than half agree on.
fn majority(bases: impl Iterator<Item = PageUrl>) -> Option<PageUrl> {
    let mut counts: BTreeMap<PageUrl, usize> = BTreeMap::new();
    for base in bases {
        *counts.entry(base).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    counts.into_iter().max_by_key(|(_, count)| *count).filter(|(_, count)| count * 2 > total).map(|(base, _)| base)
}
