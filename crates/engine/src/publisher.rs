//! Where pages are kept and written: one surface over a folder of files and a WordPress site.

use crate::progress::Progress;
use linkwright_core::page::SourceFormat;
use linkwright_core::plan::PageSummary;
use linkwright_core::settings::Settings;
use linkwright_core::url::PageUrl;
use linkwright_site::wordpress::{Credentials, WordPress, WordPressError, WordPressSite};
use linkwright_site::{FolderPublisher, PublishError, Seed};
use linkwright_store::PublisherKind;
use std::path::Path;

/// Where pages are kept.
pub(crate) enum Publisher {
    Folder(FolderPublisher),
    WordPress(Box<WordPress>),
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

impl From<WordPressError> for Trouble {
    fn from(error: WordPressError) -> Self {
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
    pub(crate) async fn open(kind: PublisherKind, site: &str, settings: &Settings) -> Result<Self, Trouble> {
        match kind {
            PublisherKind::Folder => Ok(Self::Folder(FolderPublisher::open(Path::new(site))?)),
            PublisherKind::Wordpress => {
                let url = PageUrl::parse(site).ok_or_else(|| WordPressError::NoRest { url: site.to_owned() })?;
                let timeout_ms = settings.crawl.timeout_s * 1_000;
                let site = WordPressSite { url, types: settings.wordpress.types.clone(), timeout_ms };
                Ok(Self::WordPress(Box::new(WordPress::connect(&site, credentials(settings)?).await?)))
            }
        }
    }

    /// What kind it is.
    pub(crate) fn kind(&self) -> PublisherKind {
        match self {
            Self::Folder(_) => PublisherKind::Folder,
            Self::WordPress(_) => PublisherKind::Wordpress,
        }
    }

    /// The folder, or the address of the site.
    pub(crate) fn site(&self) -> String {
        match self {
            Self::Folder(folder) => folder.root().display().to_string(),
            Self::WordPress(site) => site.url().to_string(),
        }
    }

    /// Where a page is kept.
    ///
    /// # Errors
    /// When it is not found.
    pub(crate) async fn locate(&self, page: &PageSummary) -> Result<String, Trouble> {
        match self {
            Self::Folder(_) => page.path.clone().ok_or_else(|| PublishError::NoFile { path: page.url.clone() }.into()),
            Self::WordPress(site) => {
                let url = PageUrl::parse(&page.url).ok_or_else(|| WordPressError::NotFound { page: page.url.clone() })?;
                Ok(site.find(&url).await?.to_string())
            }
        }
    }

    /// The notation that a page is kept in.
    pub(crate) fn format(&self, page: &PageSummary) -> SourceFormat {
        match self {
            Self::Folder(_) => page.format,
            Self::WordPress(_) => SourceFormat::Html,
        }
    }

    /// The page as it is kept now.
    ///
    /// # Errors
    /// When it cannot be read, or may not be changed.
    pub(crate) async fn read(&self, location: &str) -> Result<Vec<u8>, Trouble> {
        match self {
            Self::Folder(folder) => Ok(folder.read(location)?),
            Self::WordPress(site) => {
                let source = site.read(&location.parse()?).await?;
                match source.builder {
                    Some(builder) => Err(WordPressError::KeptByBuilder { location: source.location, builder }.into()),
                    None => Ok(source.raw.into_bytes()),
                }
            }
        }
    }

    /// Whether the site keeps this page's bytes as they are written; asked before a page is written for the first time.
    ///
    /// # Errors
    /// When it does not.
    pub(crate) async fn try_out(&self, location: &str, new: &[u8]) -> Result<(), Trouble> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::WordPress(site) => Ok(site.round_trip(&location.parse()?, &text(new)?).await?),
        }
    }

    /// Puts new bytes in the place of `expected`.
    ///
    /// # Errors
    /// When the page holds other bytes by now, or cannot be written.
    pub(crate) async fn write(&self, location: &str, expected: &[u8], new: &[u8], progress: &dyn Progress) -> Result<(), Trouble> {
        match self {
            Self::Folder(folder) => Ok(folder.write(location, expected, new, &|step| progress.step(step))?),
            Self::WordPress(site) => {
                progress.step("send the page");
                Ok(site.write(&location.parse()?, &text(expected)?, &text(new)?).await?)
            }
        }
    }

    /// Removes what a killed process left beside the page.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub(crate) fn clean(&self, location: &str) -> Result<(), Trouble> {
        match self {
            Self::Folder(folder) => Ok(folder.clean(location)?),
            Self::WordPress(_) => Ok(()),
        }
    }
}

/// Variable that holds the application password of WordPress.
const PASSWORD: &str = "LINKWRIGHT_WORDPRESS_PASSWORD";

/// The password comes from the environment, or from a file; settings and database never hold it.
fn credentials(settings: &Settings) -> Result<Credentials, WordPressError> {
    let wordpress = &settings.wordpress;
    match std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()) {
        Some(password) => Credentials::new(&wordpress.user, &password),
        None if wordpress.password_file.is_empty() => Err(WordPressError::NoCredentials),
        None => Credentials::from_file(&wordpress.user, Path::new(&wordpress.password_file)),
    }
}

fn text(bytes: &[u8]) -> Result<String, WordPressError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| WordPressError::NoJson { host: "WordPress".to_owned() })
}
