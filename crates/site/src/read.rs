//! From a seed to its pages: the one entrance to this crate.

use crate::archive::Archive;
use crate::crawl::{self, CrawlReport, CrawlSettings, Incomplete};
use crate::folder;
use crate::markdown_site::Generator;
use crate::selection::Selection;
use linkwright_core::page::{Discovery, FetchOutcome, FetchedPage};
use linkwright_core::url::{PageUrl, UrlKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::sync::{mpsc, watch};

/// Where a site is read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seed {
    /// A start URL or the URL of a sitemap; which of the two, its bytes say.
    Url(PageUrl),
    /// A folder of HTML or Markdown.
    Folder {
        /// The folder.
        path: PathBuf,
        /// The public URL that the folder is served at.
        base_url: Option<PageUrl>,
    },
}

impl Seed {
    /// Reads what a user wrote: a URL, a folder, or a host name without scheme.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str, base_url: Option<&str>) -> Result<Self, ReadError> {
        let text = text.trim();
        let base_url = base_url.map(parse_base_url).transpose()?;
        if text.starts_with("http://") || text.starts_with("https://") {
            return PageUrl::parse(text).map(Self::Url).ok_or_else(|| ReadError::NotAWebAddress { text: text.to_owned() });
        }
        let path = PathBuf::from(text);
        if path.is_dir() {
            return Ok(Self::Folder { path, base_url });
        }
        if path.is_file() {
            return Err(ReadError::NotAFolder { path });
        }
        if text.contains("://") {
            return Err(ReadError::NotAWebAddress { text: text.to_owned() });
        }
        match PageUrl::parse(&format!("https://{text}")).filter(|_| looks_like_host(text)) {
            Some(url) => Ok(Self::Url(url)),
            None => Err(ReadError::NoSuchFolder { path }),
        }
    }
}

fn parse_base_url(text: &str) -> Result<PageUrl, ReadError> {
    let url = PageUrl::parse(text).ok_or_else(|| ReadError::BadBaseUrl { text: text.to_owned() })?;
    if url.path().ends_with('/') && url.to_url().query().is_none() {
        return Ok(url);
    }
    let mut with_slash = url.to_url();
    with_slash.set_query(None);
    let path = format!("{}/", with_slash.path().trim_end_matches('/'));
    with_slash.set_path(&path);
    PageUrl::parse(with_slash.as_str()).ok_or_else(|| ReadError::BadBaseUrl { text: text.to_owned() })
}

/// `example.org`, `example.org/docs`, `localhost:8000`: no path of this machine.
fn looks_like_host(text: &str) -> bool {
    let host = text.split(['/', '?']).next().unwrap_or_default();
    let (name, port) = host.split_once(':').unwrap_or((host, "80"));
    let dotted = name.split('.').filter(|label| !label.is_empty()).count() >= 2 && !name.starts_with('.');
    let letters = name.rsplit('.').next().is_some_and(|top| top.len() >= 2 && top.chars().all(char::is_alphabetic));
    (name == "localhost" || (dotted && letters)) && port.parse::<u16>().is_ok()
}

/// What is read of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadSettings {
    /// How a site is crawled.
    pub crawl: CrawlSettings,
    /// Globs on paths or URLs: only these pages are read. Empty reads all.
    pub only: Vec<String>,
    /// Globs on paths or URLs of pages that are never read.
    pub exclude: Vec<String>,
    /// Pages read at most.
    pub limit: Option<usize>,
}

/// How far the reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadProgress {
    /// Addresses or files that are done.
    pub done: usize,
    /// Addresses or files that are known by now.
    pub known: usize,
}

/// What a folder was read as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderKind {
    /// Markdown and the generator that publishes it; HTML when absent.
    pub generator: Option<Generator>,
    /// HTML files in the folder.
    pub html_files: usize,
    /// Markdown files in the folder.
    pub markdown_files: usize,
    /// The public URL of the folder.
    pub base_url: PageUrl,
    /// How that URL is known, in words.
    pub base_url_origin: String,
    /// The URL of each file that is a page, by its path below the folder.
    pub by_path: BTreeMap<String, PageUrl>,
}

/// What the reading of a site says about itself at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadReport {
    /// Addresses or files per outcome, sitemaps, discovery, and whether anything may be missing.
    pub crawl: CrawlReport,
    /// Set for a folder.
    pub folder: Option<FolderKind>,
}

impl ReadReport {
    /// Whether every page that could be found was read: only then are orphans facts.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.crawl.is_complete()
    }

    /// Why pages may be missing.
    #[must_use]
    pub fn incomplete(&self) -> &[Incomplete] {
        &self.crawl.incomplete
    }

    /// Where each address was heard of.
    #[must_use]
    pub fn discovery(&self) -> &BTreeMap<UrlKey, Discovery> {
        &self.crawl.discovery
    }
}

/// Why a site could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Not `http` or `https`, or no host.
    #[error("`{text}` is not a web address")]
    NotAWebAddress {
        /// What was given.
        text: String,
    },
    /// The base URL cannot be used.
    #[error("`{text}` is not a base URL")]
    BadBaseUrl {
        /// What was given.
        text: String,
    },
    /// Neither folder nor address.
    #[error("there is no folder `{}`", path.display())]
    NoSuchFolder {
        /// What was given.
        path: PathBuf,
    },
    /// A file where a folder is needed.
    #[error("`{}` is a file, not a folder", path.display())]
    NotAFolder {
        /// What was given.
        path: PathBuf,
    },
    /// The folder itself cannot be listed.
    #[error("the folder `{}` cannot be read: {reason}", path.display())]
    UnreadableFolder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The folder holds neither HTML nor Markdown.
    #[error("there are no HTML or Markdown pages in `{}`", path.display())]
    NoPages {
        /// The folder.
        path: PathBuf,
    },
    /// A pattern is not a glob.
    #[error("`{pattern}` is not a pattern: {reason}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection, no such name, no answer in time.
    #[error("`{host}` does not answer: {reason}")]
    HostDoesNotAnswer {
        /// Host and port.
        host: String,
        /// What went wrong.
        reason: String,
    },
    /// robots.txt disallows the start URL.
    #[error("robots.txt forbids reading `{url}`")]
    RobotsForbids {
        /// The start URL.
        url: String,
    },
    /// robots.txt cannot be had, so nothing may be read.
    #[error("robots.txt of `{url}` cannot be read ({reason}), so nothing of the site may be")]
    RobotsUnavailable {
        /// The start URL.
        url: String,
        /// What came instead.
        reason: String,
    },
    /// What should be a sitemap is a web page.
    #[error("`{url}` is a web page, not a sitemap")]
    SitemapIsHtml {
        /// The URL.
        url: String,
    },
    /// The sitemap gives no page.
    #[error("the sitemap `{url}` {reason}")]
    EmptySitemap {
        /// The URL.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The start URL redirects out of the site.
    #[error("`{url}` {detail}")]
    StartLeadsElsewhere {
        /// The start URL.
        url: String,
        /// Where it leads.
        detail: String,
    },
    /// The start URL is a file, an image, data.
    #[error("`{url}` is not a web page")]
    StartIsNoPage {
        /// The start URL.
        url: String,
    },
    /// The start URL gave no page.
    #[error("`{url}` gives no page: {reason}")]
    StartFailed {
        /// The start URL.
        url: String,
        /// What came instead.
        reason: String,
    },
    /// The settings do not make an HTTP client.
    #[error("the HTTP client cannot be set up: {reason}")]
    Client {
        /// What is wrong.
        reason: String,
    },
}

impl ReadError {
    /// What the user can do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotAWebAddress { .. } => "give an address that begins with https:// or http://, or a folder",
            Self::BadBaseUrl { .. } => "give the public address of the folder, such as https://www.example.org/",
            Self::NoSuchFolder { .. } => "give a folder that exists, or an address that begins with https://",
            Self::NotAFolder { .. } => "give the folder that holds the site",
            Self::UnreadableFolder { .. } => "check its permissions",
            Self::NoPages { .. } => "give the folder that the site generator writes to, or the one with its Markdown files",
            Self::BadPattern { .. } => "patterns look like /blog/* or https://www.example.org/docs/*",
            Self::HostDoesNotAnswer { .. } => "check the address in a browser, and whether http:// or https:// is right",
            Self::RobotsForbids { .. } => "allow `linkwright` in robots.txt, or read the site from a folder",
            Self::RobotsUnavailable { .. } => "try again later, or read the site from a folder",
            Self::SitemapIsHtml { .. } => "robots.txt often names the sitemap; the start page of the site works as well",
            Self::EmptySitemap { .. } => "give the start page of the site instead",
            Self::StartLeadsElsewhere { .. } => "give that address instead, or add its host to `hosts`",
            Self::StartIsNoPage { .. } => "give the start page of the site, or its sitemap",
            Self::StartFailed { .. } => "check the address in a browser",
            Self::Client { .. } => "check `user_agent` and `proxy` in the settings",
        };
        Some(hint.to_owned())
    }
}

/// What a reader of sites needs from its caller: whom to send pages to, and when to stop.
pub(crate) struct Reading<'a> {
    pub(crate) selection: Selection,
    pub(crate) limit: Option<usize>,
    sender: mpsc::Sender<FetchedPage>,
    progress: &'a (dyn Fn(&ReadProgress) + Send + Sync),
    stop: watch::Receiver<bool>,
}

impl Reading<'_> {
    /// `false` when nobody wants more pages.
    pub(crate) async fn send(&self, page: FetchedPage) -> bool {
        self.sender.send(page).await.is_ok()
    }

    pub(crate) fn progress(&self, progress: &ReadProgress) {
        (self.progress)(progress);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns when the caller says stop; never when the caller has gone without saying so.
    pub(crate) async fn cancelled(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|&stopped| stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Reads a site. Each page is sent as soon as it is there, pages of the continued crawl excepted,
/// which the archive has. Setting `stop` to true ends the reading early and leaves a report that
/// says so.
///
/// # Errors
/// When not one page can be had; see `ReadError`. Failures of single pages are outcomes.
pub async fn read<A: Archive>(
    seed: &Seed,
    settings: &ReadSettings,
    archive: &A,
    sender: mpsc::Sender<FetchedPage>,
    progress: &(dyn Fn(&ReadProgress) + Send + Sync),
    stop: watch::Receiver<bool>,
) -> Result<ReadReport, ReadError> {
    let selection =
        Selection::new(&settings.only, &settings.exclude).map_err(|(pattern, reason)| ReadError::BadPattern { pattern, reason })?;
    let reading = Reading { selection, limit: settings.limit, sender, progress, stop };
    match seed {
        Seed::Url(start) => {
            let crawl = crawl::crawl(start, &settings.crawl, archive, &reading).await?;
            Ok(ReadReport { crawl, folder: None })
        }
        Seed::Folder { path, base_url } => read_folder(path, base_url.as_ref(), &reading).await,
    }
}

/// Reads a folder as HTML or Markdown, whichever it has more of.
async fn read_folder(path: &Path, base_url: Option<&PageUrl>, reading: &Reading<'_>) -> Result<ReadReport, ReadError> {
    let (path, base_url) = (path.to_owned(), base_url.cloned());
    let selection = reading.selection.clone();
    let limit = reading.limit;
    let found = tokio::task::spawn_blocking(move || folder::list(&path, base_url.as_ref(), &selection, limit));
    let list = found.await.map_err(|e| ReadError::UnreadableFolder { path: PathBuf::new(), reason: e.to_string() })??;
    let mut report = ReadReport { crawl: CrawlReport::default(), folder: Some(list.kind) };
    let known = list.entries.len();
    for (from, to) in list.aliases {
        *report.crawl.outcomes.entry(FetchOutcome::Redirected).or_default() += 1;
        if !reading.send(crawl::redirect(from, &to)).await {
            break;
        }
    }
    let mut limit_reached = false;
    for (done, entry) in list.entries.into_iter().enumerate() {
        if reading.is_cancelled() {
            report.crawl.unfetched = known - done;
            report.crawl.incomplete.push(Incomplete::Cancelled);
            break;
        }
        let page = entry.read();
        limit_reached |= page.detail.as_deref() == Some(folder::BEYOND_LIMIT);
        *report.crawl.outcomes.entry(page.outcome).or_default() += 1;
        report.crawl.discovery.insert(page.url.key(), page.discovery);
        if !reading.send(page).await {
            report.crawl.unfetched = known - done - 1;
            report.crawl.incomplete.push(Incomplete::Cancelled);
            break;
        }
        reading.progress(&ReadProgress { done: done + 1, known });
    }
    if let (true, Some(limit)) = (limit_reached, reading.limit) {
        report.crawl.incomplete.push(Incomplete::Limit(limit));
    }
    if reading.selection.is_partial() {
        report.crawl.incomplete.push(Incomplete::Selection);
    }
    if let Some(&unreadable) = report.crawl.outcomes.get(&FetchOutcome::Unreadable) {
        report.crawl.incomplete.push(Incomplete::Failures(unreadable));
    }
    report.crawl.incomplete.sort();
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_url_a_folder_or_a_host_name() {
        for (text, url) in [
            ("https://Example.org/docs", "https://example.org/docs"),
            (" http://127.0.0.1:8000/ ", "http://127.0.0.1:8000/"),
            ("example.org", "https://example.org/"),
            ("www.example.org/blog?x=1", "https://www.example.org/blog?x=1"),
            ("localhost:3000", "https://localhost:3000/"),
        ] {
            assert_eq!(Seed::parse(text, None).unwrap(), Seed::Url(PageUrl::parse(url).unwrap()), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let Seed::Folder { base_url, .. } = Seed::parse(text, Some("https://example.org/docs?x#y")).unwrap() else {
            panic!("a folder is a folder")
        };
        assert_eq!(base_url.unwrap().as_str(), "https://example.org/docs/");
    }

    #[test]
    fn what_is_none_of_these_is_told_with_a_hint() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(Seed::parse(file.path().to_str().unwrap(), None), Err(ReadError::NotAFolder { .. })));
        for text in ["./nowhere", "no/such/folder", "nothing", "index.html.d/x", "", "https"] {
            let error = Seed::parse(text, None).unwrap_err();
            assert!(matches!(error, ReadError::NoSuchFolder { .. }) && error.hint().is_some(), "{text}: {error}");
        }
        for text in ["ftp://example.org/", "https://", "http://exa mple.org/"] {
            assert!(matches!(Seed::parse(text, None), Err(ReadError::NotAWebAddress { .. })), "{text}");
        }
        assert!(matches!(Seed::parse(".", Some("example")), Err(ReadError::BadBaseUrl { .. })));
    }

    #[test]
    fn settings_refuse_what_they_do_not_know() {
        let settings: ReadSettings = toml::from_str("limit = 5\n[crawl]\ninterval_ms = 7").unwrap();
        assert_eq!((settings.limit, settings.crawl.interval_ms, settings.crawl.concurrency), (Some(5), 7, 4));
        assert!(toml::from_str::<ReadSettings>("[crawl]\ninterval = 7").is_err());
    }
}
