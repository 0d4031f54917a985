//! From a folder to its pages: which files there are, at which URLs, and whether they are HTML or
//! Markdown.
//!
//! Files are taken in the order of their paths. Hidden files, `node_modules`, and links that lead
//! out of the folder are passed over. A file that cannot be read is an outcome, not an error.

pub(crate) mod base_url;
mod sitemaps;

use crate::markdown_site::{self, MarkdownSite};
use crate::read::{FolderKind, ReadError};
use crate::selection::Selection;
use crate::sniff::{self, Kind};
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, SourceFormat};
use linkwright_core::url::{PageUrl, UrlKey};
use sitemaps::Listed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Largest file that is read as a page.
const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// Why a page beyond `--limit` is left out.
pub(crate) const BEYOND_LIMIT: &str = "beyond the limit of pages";

/// File names that stand for their folder.
const INDEX_FILES: &[&str] = &["index.html", "index.htm", "index.xhtml"];

/// A file below the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Where it is.
    pub(crate) file: PathBuf,
    /// Path below the folder, `/`-separated.
    pub(crate) path: String,
    /// Why it cannot be read, if that is known already.
    pub(crate) problem: Option<String>,
}

/// A page that is still to be read.
pub(crate) struct Entry {
    file: File,
    url: PageUrl,
    format: SourceFormat,
    discovery: Discovery,
    lastmod: Option<String>,
    left_out: Option<String>,
}

/// The pages of a folder.
pub(crate) struct Listing {
    pub(crate) kind: FolderKind,
    pub(crate) entries: Vec<Entry>,
    /// Former addresses that front matter redirects to pages.
    pub(crate) aliases: Vec<(PageUrl, PageUrl)>,
}

/// A file with its address, before sitemaps and selection.
pub(crate) struct Placed {
    pub(crate) file: File,
    pub(crate) url: PageUrl,
    pub(crate) format: SourceFormat,
    /// Why it is no page of its own.
    pub(crate) left_out: Option<String>,
}

/// Lists the pages of a folder.
pub(crate) fn list(root: &Path, base_url: Option<&PageUrl>, selection: &Selection, limit: Option<usize>) -> Result<Listing, ReadError> {
    if !root.is_dir() {
        return Err(ReadError::NoSuchFolder { path: root.to_owned() });
    }
    let files = walk(root)?;
    let html: Vec<File> = files.iter().filter(|f| format_of(&f.path) == Some(SourceFormat::Html)).cloned().collect();
    let markdown: Vec<File> = files.iter().filter(|f| is_markdown(&f.path)).cloned().collect();
    if html.is_empty() && markdown.is_empty() {
        return Err(ReadError::NoPages { path: root.to_owned() });
    }
    let counts = (html.len(), markdown.len());
    let detected = markdown_site::detect(root);
    let (kind, placed, aliases) = if markdown.len() > html.len() || (detected.is_some() && !markdown.is_empty()) {
        let site = MarkdownSite::place(root, markdown, base_url);
        let kind = FolderKind {
            generator: Some(site.generator),
            html_files: counts.0,
            markdown_files: counts.1,
            base_url: site.base_url,
            base_url_origin: site.base_url_origin,
            by_path: site.by_path,
        };
        (kind, site.placed, site.aliases)
    } else {
        let (kind, placed) = place_html(root, html, counts, base_url);
        (kind, placed, Vec::new())
    };
    let listed = sitemaps::read(root, &kind.base_url);
    Ok(Listing { entries: entries(placed, &listed, selection, limit), kind, aliases })
}

/// Every file below the folder, in the order of paths.
fn walk(root: &Path) -> Result<Vec<File>, ReadError> {
    let whole = root.canonicalize().map_err(|e| ReadError::UnreadableFolder { path: root.to_owned(), reason: e.to_string() })?;
    let mut files = Vec::new();
    let is_wanted = |e: &walkdir::DirEntry| e.depth() == 0 || !is_hidden(&e.file_name().to_string_lossy());
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_wanted) {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if entry.file_type().is_symlink() && !stays_inside(entry.path(), &whole) => {}
            Ok(entry) => files.push(File { path: relative(entry.path(), root), file: entry.into_path(), problem: None }),
            Err(error) if error.depth() == 0 => {
                return Err(ReadError::UnreadableFolder { path: root.to_owned(), reason: error.to_string() });
            }
            Err(error) => {
                // A folder that cannot be listed stands as one unreadable page, so that it is counted.
                let file = error.path().unwrap_or(root).to_owned();
                let path = format!("{}/index.html", relative(&file, root));
                files.push(File { file, path, problem: Some(error.to_string()) });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "node_modules" | "__MACOSX" | "CNAME")
}

/// Whether a link leads to a file inside the folder. Links to folders are not followed at all: they
/// can go in circles.
fn stays_inside(link: &Path, whole: &Path) -> bool {
    link.canonicalize().is_ok_and(|target| target.is_file() && target.starts_with(whole))
}

fn relative(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<String> = below.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}

fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase()).unwrap_or_default()
}

/// The notation of a file, by its name.
pub(crate) fn format_of(path: &str) -> Option<SourceFormat> {
    match extension(path).as_str() {
        "html" | "htm" | "xhtml" => Some(SourceFormat::Html),
        "md" | "markdown" => Some(SourceFormat::Markdown),
        "mdx" => Some(SourceFormat::Mdx),
        _ => None,
    }
}

fn is_markdown(path: &str) -> bool {
    matches!(format_of(path), Some(SourceFormat::Markdown | SourceFormat::Mdx))
}

/// The URL of a path below a base, escaped as a URL needs it. Escapes that a file name already has
/// are kept: exports of sites name their files as the links are written.
pub(crate) fn url_below(base: &PageUrl, path: &str) -> PageUrl {
    let mut url = base.to_url();
    let below: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(guarded).collect();
    let trailing = if below.is_empty() || !path.ends_with('/') { "" } else { "/" };
    url.set_path(&format!("{}/{}{trailing}", url.path().trim_end_matches('/'), below.join("/")));
    PageUrl::parse(url.as_str()).unwrap_or_else(|| base.clone())
}

/// A path segment in which `%` only begins an escape, and a backslash is no separator.
fn guarded(segment: &str) -> String {
    let is_escape = |at: usize| segment.get(at + 1..at + 3).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    let mut out = String::with_capacity(segment.len());
    for (at, c) in segment.char_indices() {
        match c {
            '%' if !is_escape(at) => out.push_str("%25"),
            '\\' => out.push_str("%5C"),
            _ => out.push(c),
        }
    }
    out
}

/// The path at which a static server gives an HTML file: an index file stands for its folder.
fn served_path(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    if INDEX_FILES.contains(&name.to_ascii_lowercase().as_str()) { &path[..path.len() - name.len()] } else { path }
}

fn place_html(root: &Path, html: Vec<File>, counts: (usize, usize), base_url: Option<&PageUrl>) -> (FolderKind, Vec<Placed>) {
    let (base_url, base_url_origin) = match base_url {
        Some(url) => (url.clone(), "given".to_owned()),
        None => base_url::find(root, &html),
    };
    let place =
        |file: File| Placed { url: url_below(&base_url, served_path(&file.path)), file, format: SourceFormat::Html, left_out: None };
    let placed: Vec<Placed> = html.into_iter().map(place).collect();
    let by_path = placed.iter().map(|p| (p.file.path.clone(), p.url.clone())).collect();
    let kind = FolderKind { generator: None, html_files: counts.0, markdown_files: counts.1, base_url, base_url_origin, by_path };
    (kind, placed)
}

/// Marks what is not selected, beyond the limit, or a second file for the same address.
fn entries(placed: Vec<Placed>, listed: &BTreeMap<UrlKey, Listed>, selection: &Selection, limit: Option<usize>) -> Vec<Entry> {
    let mut taken: BTreeMap<UrlKey, String> = BTreeMap::new();
    let mut count = 0;
    let mut entries = Vec::with_capacity(placed.len());
    for Placed { file, url, format, left_out } in placed {
        let key = url.key();
        let left_out = left_out
            .or_else(|| taken.get(&key).map(|first| format!("the same address as `{first}`")))
            .or_else(|| (!selection.includes(&url, Some(&file.path))).then(|| "not selected".to_owned()))
            .or_else(|| limit.filter(|&limit| count >= limit).map(|_| BEYOND_LIMIT.to_owned()));
        if left_out.is_none() {
            count += 1;
            taken.insert(key.clone(), file.path.clone());
        }
        let known = listed.get(&key);
        let discovery = Discovery { sitemap: known.is_some(), links: true };
        entries.push(Entry { file, url, format, discovery, lastmod: known.and_then(|l| l.lastmod.clone()), left_out });
    }
    entries
}

impl Entry {
    /// Reads the file.
    pub(crate) fn read(self) -> FetchedPage {
        let (outcome, body, detail) = match self.left_out {
            Some(reason) => (FetchOutcome::LeftOut, Vec::new(), Some(reason)),
            None => read_file(&self.file, self.format),
        };
        FetchedPage {
            url: self.url,
            status: if outcome == FetchOutcome::Fetched { 200 } else { 0 },
            outcome,
            redirects: Vec::new(),
            headers: FetchHeaders::default(),
            body,
            format: self.format,
            path: Some(self.file.path),
            discovery: self.discovery,
            sitemap_lastmod: self.lastmod,
            detail,
        }
    }
}

fn read_file(file: &File, format: SourceFormat) -> (FetchOutcome, Vec<u8>, Option<String>) {
    let failed = |reason: String| (FetchOutcome::Unreadable, Vec::new(), Some(reason));
    if let Some(problem) = &file.problem {
        return failed(problem.clone());
    }
    match std::fs::metadata(&file.file) {
        Ok(metadata) if metadata.len() > MAX_FILE_BYTES => {
            return (FetchOutcome::TooLarge, Vec::new(), Some("larger than 10 MiB".to_owned()));
        }
        Ok(metadata) if !metadata.is_file() => return failed("not a regular file".to_owned()),
        Ok(_) => {}
        Err(error) => return failed(error.to_string()),
    }
    match std::fs::read(&file.file) {
        Err(error) => failed(error.to_string()),
        Ok(body) if is_no_text(&body, format) => (FetchOutcome::NotHtml, Vec::new(), Some("its bytes are no document".to_owned())),
        Ok(body) => (FetchOutcome::Fetched, body, None),
    }
}

fn is_no_text(body: &[u8], format: SourceFormat) -> bool {
    let kind = sniff::kind(Some("text/html"), body);
    matches!(kind, Kind::Binary | Kind::Gzip) || (format == SourceFormat::Html && kind == Kind::Xml)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn listing(root: &Path, base: Option<&str>, only: &[&str], limit: Option<usize>) -> Listing {
        let only: Vec<String> = only.iter().map(|&s| s.to_owned()).collect();
        let base = base.map(|b| PageUrl::parse(b).unwrap());
        list(root, base.as_ref(), &Selection::new(&only, &[]).unwrap(), limit).unwrap()
    }

    fn pages(listing: Listing) -> Vec<(String, FetchOutcome)> {
        listing.entries.into_iter().map(Entry::read).map(|p| (p.url.to_string(), p.outcome)).collect()
    }

    #[test]
    fn paths_become_the_urls_a_static_server_gives_them() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "index.html",
            "a.html",
            "b/index.htm",
            "b/c d.html",
            "é/INDEX.HTML",
            "50%/c%e2%80%8a#.html",
            ".git/x.html",
            "node_modules/y.html",
            "style.css",
        ] {
            write(folder.path(), path, "<title>x</title>");
        }
        let urls: Vec<String> =
            pages(listing(folder.path(), Some("https://e.org/docs/"), &[], None)).into_iter().map(|(url, _)| url).collect();
        assert_eq!(
            urls,
            [
                "https://e.org/docs/50%25/c%e2%80%8a%23.html",
                "https://e.org/docs/a.html",
                "https://e.org/docs/b/c%20d.html",
                "https://e.org/docs/b/",
                "https://e.org/docs/",
                "https://e.org/docs/%C3%A9/"
            ]
        );
    }

    #[test]
    fn the_base_url_is_taken_from_what_the_site_says_of_itself() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "docs/a/index.html", "<title>x</title>");
        assert_eq!(listing(folder.path(), None, &[], None).kind.base_url.as_str(), "https://site.invalid/");
        write(folder.path(), "CNAME", "www.example.org\n");
        assert_eq!(listing(folder.path(), None, &[], None).kind.base_url.as_str(), "https://www.example.org/");
        write(folder.path(), "docs/a/index.html", "<link rel=canonical href='https://canon.example/sub/docs/a/'>");
        assert_eq!(listing(folder.path(), None, &[], None).kind.base_url.as_str(), "https://canon.example/sub/");
        let map = "<urlset><url><loc>https://map.example/docs/a/</loc><lastmod>2024-05-06</lastmod></url></urlset>";
        write(folder.path(), "sitemap.xml", map);
        let listing = listing(folder.path(), None, &[], None);
        assert_eq!(listing.kind.base_url.as_str(), "https://map.example/");
        let page = listing.entries.into_iter().next().unwrap().read();
        assert_eq!((page.discovery, page.sitemap_lastmod.as_deref()), (Discovery { sitemap: true, links: true }, Some("2024-05-06")));
    }

    #[test]
    fn a_sitemap_of_the_public_host_still_counts_under_another_base() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.html", "<title>x</title>");
        write(folder.path(), "robots.txt", "User-agent: *\nDisallow: /\nSitemap: https://live.example/maps/m.xml\n");
        write(folder.path(), "maps/m.xml", "<urlset><url><loc>https://live.example/a.html</loc></url></urlset>");
        let page = listing(folder.path(), Some("https://staging.example/"), &[], None).entries.into_iter().next().unwrap().read();
        assert_eq!((page.outcome, page.discovery.sitemap), (FetchOutcome::Fetched, true));
    }

    #[test]
    fn selection_limit_and_same_addresses_leave_out() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/index.htm", "a/index.html", "b.html", "c.html", "d.html"] {
            write(folder.path(), path, "<title>x</title>");
        }
        use FetchOutcome::{Fetched, LeftOut};
        let outcomes = |listing| pages(listing).into_iter().map(|(_, outcome)| outcome).collect::<Vec<_>>();
        assert_eq!(outcomes(listing(folder.path(), None, &[], Some(2))), [Fetched, LeftOut, Fetched, LeftOut, LeftOut]);
        assert_eq!(outcomes(listing(folder.path(), None, &["/b.html"], None)), [LeftOut, LeftOut, Fetched, LeftOut, LeftOut]);
    }

    #[test]
    fn what_is_no_page_or_cannot_be_read_is_an_outcome() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.html", "<title>x</title>");
        write(folder.path(), "b.html", "\u{0}\u{1}");
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), "secret.html", "<title>secret</title>");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path().join("secret.html"), folder.path().join("c.html")).unwrap();
            std::os::unix::fs::symlink(folder.path(), folder.path().join("circle")).unwrap();
            std::os::unix::fs::symlink(folder.path().join("a.html"), folder.path().join("d.html")).unwrap();
        }
        let gone = Entry {
            file: File { file: folder.path().join("gone.html"), path: "gone.html".to_owned(), problem: None },
            url: PageUrl::parse("https://e.org/gone.html").unwrap(),
            format: SourceFormat::Html,
            discovery: Discovery::default(),
            lastmod: None,
            left_out: None,
        };
        assert_eq!(gone.read().outcome, FetchOutcome::Unreadable);
        let found: Vec<FetchOutcome> = pages(listing(folder.path(), None, &[], None)).into_iter().map(|(_, o)| o).collect();
        let expected = [FetchOutcome::Fetched, FetchOutcome::NotHtml, FetchOutcome::Fetched];
        assert_eq!(found, expected[..if cfg!(unix) { 3 } else { 2 }]);
    }

    #[test]
    fn the_majority_decides_between_html_and_markdown() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.html", "x");
        write(folder.path(), "README.md", "x");
        assert!(listing(folder.path(), None, &[], None).kind.generator.is_none());
        write(folder.path(), "b.md", "x");
        let kind = listing(folder.path(), None, &[], None).kind;
        assert!(kind.generator.is_some());
        assert_eq!((kind.html_files, kind.markdown_files), (1, 2));
        let empty = tempfile::tempdir().unwrap();
        assert!(matches!(list(empty.path(), None, &Selection::new(&[], &[]).unwrap(), None), Err(ReadError::NoPages { .. })));
    }
}
