//! From a folder of Markdown or MDX to the URLs its generator will publish the files at.
//!
//! The generator is recognised by its configuration file; what it says of URLs (base URL, permalink
//! patterns, trailing slashes) is read there, the rest is the generator's documented default. A
//! folder without configuration is plain: the path without extension is the URL.

mod address;
mod configuration;
mod generator;

pub use generator::{Generator, detect};

use crate::folder::{File, Placed, format_of, url_below};
use address::Address;
use configuration::Configuration;
use linkwright_core::page::SourceFormat;
use linkwright_core::page::front_matter::FrontMatter;
use linkwright_core::url::{PageUrl, UrlKey};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Bytes of a file that are read for its front matter.
const HEAD_BYTES: u64 = 256 * 1024;

/// Markdown files with their addresses.
pub struct MarkdownSite {
    /// Who publishes them.
    pub generator: Generator,
    /// Public URL of the folder.
    pub base_url: PageUrl,
    /// How that URL is known, in words.
    pub base_url_origin: String,
    /// URL of each page by the path of its file below the folder.
    pub by_path: BTreeMap<String, PageUrl>,
    /// What the front matter of each file says.
    pub front: BTreeMap<String, FrontMatter>,
    /// Former addresses with the page each redirects to, as front matter says.
    pub aliases: Vec<(PageUrl, PageUrl)>,
    pub(crate) placed: Vec<Placed>,
}

impl MarkdownSite {
    /// Reads the front matter of the files and gives each its address.
    pub(crate) fn place(root: &Path, files: Vec<File>, base_url: Option<&PageUrl>) -> Self {
        let configuration = Configuration::read(root);
        let (base_url, base_url_origin) = base(root, &configuration, base_url);
        let front: BTreeMap<String, FrontMatter> = files.iter().map(|file| (file.path.clone(), read_front(file))).collect();
        let bundles = address::leaf_bundles(&configuration, front.keys());
        let mut by_path = BTreeMap::new();
        let mut placed = Vec::with_capacity(files.len());
        for file in files {
            let matter = &front[&file.path];
            let address = address::of(&configuration, &bundles, &file.path, matter);
            let (url, left_out) = match address {
                Address::Page(path) => (page_url(&base_url, &path), None),
                Address::NoPage(reason) => (url_below(&base_url, &file.path), Some(reason.to_owned())),
            };
            if left_out.is_none() {
                by_path.insert(file.path.clone(), url.clone());
            }
            let format = format_of(&file.path).unwrap_or(SourceFormat::Markdown);
            placed.push(Placed { file, url, format, left_out });
        }
        let aliases = aliases(&base_url, &by_path, &front);
        Self { generator: configuration.generator, base_url, base_url_origin, by_path, front, aliases, placed }
    }
}

/// Former addresses, in order, each once; never the address of a page.
fn aliases(base: &PageUrl, by_path: &BTreeMap<String, PageUrl>, front: &BTreeMap<String, FrontMatter>) -> Vec<(PageUrl, PageUrl)> {
    let mut taken: BTreeSet<UrlKey> = by_path.values().map(PageUrl::key).collect();
    let mut aliases = Vec::new();
    for (path, page) in by_path {
        for alias in front.get(path).into_iter().flat_map(|f| &f.aliases) {
            // A relative alias stands beside its page, a rooted one below the base.
            let url = if alias.starts_with('/') { Some(page_url(base, alias)) } else { page.join(alias).map(|(url, _)| url) };
            let url = url.filter(|url| url.host() == base.host());
            aliases.extend(url.filter(|url| taken.insert(url.key())).map(|url| (url, page.clone())));
        }
    }
    aliases
}

fn base(root: &Path, configuration: &Configuration, given: Option<&PageUrl>) -> (PageUrl, String) {
    use crate::folder::base_url;
    if let Some(url) = given {
        return (url.clone(), "given".to_owned());
    }
    if let Some(url) = &configuration.base_url {
        return (url.clone(), format!("from the configuration of {}", configuration.generator));
    }
    match base_url::by_cname(root) {
        Some(url) => (url, "from the file CNAME".to_owned()),
        None => base_url::placeholder(),
    }
}

fn read_front(file: &File) -> FrontMatter {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(&file.file).and_then(|f| f.take(HEAD_BYTES).read_to_end(&mut bytes));
    let (text, _, _) = encoding_rs::UTF_8.decode(&bytes);
    // What cannot be read has no front matter; that it cannot be read is told when its turn comes.
    read.map(|_| FrontMatter::parse(&text)).unwrap_or_default()
}

/// The URL of a path that is already written as a URL (front matter may escape it itself).
fn page_url(base: &PageUrl, path: &str) -> PageUrl {
    if let Some(url) = PageUrl::parse(path) {
        return url;
    }
    if path.contains('%') || path.contains('?') {
        let relative = format!("./{}", path.trim_start_matches('/'));
        if let Some((url, _)) = base.join(&relative) {
            return url;
        }
    }
    url_below(base, path)
}

/// Where a link in a Markdown file leads, if it names a file: `../other.md`, `/docs/other.md#part`,
/// or a path without extension that is a file's. `None` for everything else, which is resolved as
/// any link is.
#[must_use]
pub fn resolve(by_path: &BTreeMap<String, PageUrl>, from: &str, href: &str) -> Option<PageUrl> {
    let href = href.split(['#', '?']).next().unwrap_or_default();
    if href.is_empty() || href.starts_with("//") || href.contains(':') {
        return None;
    }
    let decoded = percent_decode(href);
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = match decoded.strip_prefix('/') {
        Some(rooted) => normal_path(rooted)?,
        None => normal_path(&format!("{folder}/{decoded}"))?,
    };
    if format_of(&path).is_some_and(|f| f != SourceFormat::Html) {
        // A rooted path may be meant from the content folder.
        let below = |known: &&String| known.ends_with(&format!("/{path}"));
        let found = by_path
            .get(&path)
            .or_else(|| decoded.starts_with('/').then(|| by_path.keys().find(below)).flatten().and_then(|k| by_path.get(k)));
        return found.cloned();
    }
    if decoded.starts_with('/') {
        return None;
    }
    let candidates = [".md", ".mdx", "/index.md", "/_index.md", "/README.md", "/index.mdx"];
    candidates.iter().find_map(|end| by_path.get(&format!("{path}{end}"))).cloned()
}

/// A path without `.` and `..`; `None` when it leads out of the folder.
fn normal_path(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten().and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
