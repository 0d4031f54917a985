//! Where pages are kept and written: one surface over a folder of files and a WordPress site.

use crate::progress::Progress;
use linkwright_core::page::SourceFormat;
use linkwright_core::plan::PageSummary;
use linkwright_core::settings::Settings;
use linkwright_site::{FolderPublisher, PublishError, Seed};
use linkwright_store::PublisherKind;
use std::path::Path;

/// Where pages are kept.
pub(crate) enum Publisher {
    Folder(FolderPublisher),
}

/// A page as it is kept now.
pub(crate) struct Source {
    pub(crate) bytes: Vec<u8>,
}

/// Why a page was not read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Stable name.
    pub(crate) code: String,
    /// One sentence.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: String,
    /// Whether the page alone is at fault: the run leaves it out and goes on.
    pub(crate) concerns_page: bool,
}

impl From<PublishError> for Trouble {
    fn from(error: PublishError) -> Self {
        Self {
            code: error.code().to_owned(),
            message: error.to_string(),
            hint: error.hint().to_owned(),
            concerns_page: error.concerns_page(),
        }
    }
}

impl From<Trouble> for crate::EngineError {
    fn from(trouble: Trouble) -> Self {
        Self::new(trouble.message, trouble.hint)
    }
}

impl Publisher {
    /// The publisher of a site as a plan's run names it.
    ///
    /// # Errors
    /// When the site was read from the web and no way to write it is set, or it cannot be reached.
    pub(crate) async fn of(site: &str, settings: &Settings) -> Result<Self, Trouble> {
        let wordpress = &settings.wordpress.url;
        match Seed::parse(site, None) {
            _ if !wordpress.is_empty() => Self::open(PublisherKind::Wordpress, wordpress, settings).await,
            Ok(Seed::Folder { path, .. }) => Ok(Self::Folder(FolderPublisher::open(&path)?)),
            Ok(Seed::Url(url)) => Err(Trouble {
                code: "not_writable".to_owned(),
                message: format!("`{url}` was read from the web, and nothing says how to write it"),
                hint: "set `wordpress.url` and `wordpress.user` for a WordPress site, or plan the folder that holds the site; \
                       `linkwright export queue` lists the accepted links for inserting them by hand"
                    .to_owned(),
                concerns_page: false,
            }),
            Err(_) => Err(PublishError::NoFolder { folder: Path::new(site).to_owned() }.into()),
        }
    }

    /// A publisher by the name that the ledger keeps.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub(crate) async fn open(kind: PublisherKind, site: &str, _settings: &Settings) -> Result<Self, Trouble> {
        match kind {
            PublisherKind::Folder => Ok(Self::Folder(FolderPublisher::open(Path::new(site))?)),
            PublisherKind::Wordpress => Err(Trouble {
                code: "not_writable".to_owned(),
                message: "WordPress is not there yet".to_owned(),
                hint: String::new(),
                concerns_page: false,
            }),
        }
    }

    /// What kind it is.
    pub(crate) fn kind(&self) -> PublisherKind {
        match self {
            Self::Folder(_) => PublisherKind::Folder,
        }
    }

    /// The folder, or the address of the site.
    pub(crate) fn site(&self) -> String {
        match self {
            Self::Folder(folder) => folder.root().display().to_string(),
        }
    }

    /// Where a page is kept.
    ///
    /// # Errors
    /// When it is not found.
    #[expect(clippy::unused_async, reason = "other publishers ask a server")]
    pub(crate) async fn locate(&self, page: &PageSummary) -> Result<String, Trouble> {
        match self {
            Self::Folder(_) => page.path.clone().ok_or_else(|| PublishError::NoFile { path: page.url.clone() }.into()),
        }
    }

    /// The notation that a page is kept in.
    pub(crate) fn format(&self, page: &PageSummary) -> SourceFormat {
        match self {
            Self::Folder(_) => page.format,
        }
    }

    /// The page as it is kept now.
    ///
    /// # Errors
    /// When it cannot be read, or may not be changed.
    #[expect(clippy::unused_async, reason = "other publishers ask a server")]
    pub(crate) async fn read(&self, location: &str) -> Result<Source, Trouble> {
        match self {
            Self::Folder(folder) => Ok(Source { bytes: folder.read(location)? }),
        }
    }

    /// Puts new bytes in the place of `expected`.
    ///
    /// # Errors
    /// When the page holds other bytes by now, or cannot be written.
    #[expect(clippy::unused_async, reason = "other publishers ask a server")]
    pub(crate) async fn write(&self, location: &str, expected: &[u8], new: &[u8], progress: &dyn Progress) -> Result<(), Trouble> {
        match self {
            Self::Folder(folder) => Ok(folder.write(location, expected, new, &|step| progress.step(step))?),
        }
    }

    /// Removes what a killed process left beside the page.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub(crate) fn clean(&self, location: &str) -> Result<(), Trouble> {
        match self {
            Self::Folder(folder) => Ok(folder.clean(location)?),
        }
    }
}
