//! From the sitemap files in a folder to the keys of the pages they list.

use crate::crawl::parse_sitemap;
use linkwright_core::url::{PageUrl, UrlKey};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names that sitemaps have when nobody says where they are.
const USUAL: &[&str] = &["sitemap.xml", "sitemap_index.xml", "sitemap-index.xml", "sitemap.xml.gz", "sitemap.txt"];

/// Sitemap files read at most, and the size of one after decompression.
const MAX_FILES: usize = 1_000;
const MAX_BYTES: usize = 50 * 1024 * 1024;

/// What a sitemap says of a page.
pub(crate) struct Listed {
    pub(crate) lastmod: Option<String>,
}

/// The pages that the folder's sitemaps list, under the base URL.
pub(crate) fn read(root: &Path, base: &PageUrl) -> BTreeMap<UrlKey, Listed> {
    let pages = pages(root).into_iter().filter_map(|(url, lastmod)| Some((moved(&url, base)?.key(), Listed { lastmod })));
    pages.collect()
}

/// Every address that the folder's sitemaps list, as written there.
pub(crate) fn pages(root: &Path) -> Vec<(PageUrl, Option<String>)> {
    let mut waiting: Vec<String> = declared(root);
    waiting.extend(USUAL.iter().map(|&name| name.to_owned()));
    let mut seen = BTreeSet::new();
    let mut pages = Vec::new();
    while let Some(path) = waiting.pop() {
        if seen.len() >= MAX_FILES || !seen.insert(path.clone()) {
            continue;
        }
        let Some(body) = read_below(root, &path) else { continue };
        let sitemap = parse_sitemap(&body, MAX_BYTES);
        pages.extend(sitemap.pages.into_iter().filter_map(|e| Some((PageUrl::parse(&e.location)?, e.lastmod))));
        waiting.extend(sitemap.children.iter().filter_map(|child| local_path(child)));
    }
    pages
}

/// Sitemaps that robots.txt names, by the path of their URL. Its rules are for visitors, not owners.
fn declared(root: &Path) -> Vec<String> {
    let Some(bytes) = read_below(root, "robots.txt") else { return Vec::new() };
    let robots = robotxt::Robots::parse(&bytes, "linkwright");
    robots.sitemaps().iter().filter_map(|url| local_path(url.as_str())).collect()
}

fn local_path(url: &str) -> Option<String> {
    let path = PageUrl::parse(url)?.path();
    Some(path.trim_start_matches('/').to_owned())
}

/// A file below the root; never one outside it. The path comes from a file of the site.
fn read_below(root: &Path, path: &str) -> Option<Vec<u8>> {
    let whole = root.canonicalize().ok()?;
    let file = whole.join(path).canonicalize().ok()?;
    (file.starts_with(&whole) && file.is_file()).then(|| std::fs::read(file).ok()).flatten()
}

/// An address of the sitemap at the base's host: a copy is often planned under another host than
/// the sitemap speaks of.
fn moved(url: &PageUrl, base: &PageUrl) -> Option<PageUrl> {
    if url.host() == base.host() {
        return Some(url.clone());
    }
    let (from, mut to) = (url.to_url(), base.to_url());
    to.set_path(from.path());
    to.set_query(from.query());
    PageUrl::parse(to.as_str())
}
