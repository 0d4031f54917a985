//! From a website, or a folder that holds one, to the exact bytes of its pages.
//!
//! `read` takes a seed (a start URL, a sitemap URL, a folder of HTML or Markdown) and sends one
//! `FetchedPage` for every address it heard of, with what came of it; failures of pages are
//! outcomes, never errors. What the bytes mean is not known here. `publish` writes pages of a
//! folder back, `wordpress` those of a WordPress site.

pub mod archive;
pub mod crawl;
pub mod folder;
pub mod markdown_site;
pub mod publish;
pub mod read;
mod selection;
mod sniff;
pub mod wordpress;

pub use archive::{Archive, Archived, NoArchive};
pub use crawl::{CrawlReport, CrawlSettings, Incomplete, RobotsOutcome, look};
pub use markdown_site::{Generator, MarkdownSite};
pub use publish::{FolderPublisher, PublishError};
pub use read::{FolderKind, ReadError, ReadProgress, ReadReport, ReadSettings, Seed, read};
