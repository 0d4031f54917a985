//! From the key of a URL to the page that an earlier run, or the interrupted one, has kept.

use linkwright_core::page::FetchedPage;
use linkwright_core::url::UrlKey;
use std::future::Future;

/// A page that is already there.
#[derive(Clone, Debug)]
pub struct Archived {
    /// The page, with its body.
    pub page: FetchedPage,
    /// Whether it was read in the very crawl that is being continued. A fresh page is used as it
    /// is, without a request; another is asked for again with its `ETag` and `Last-Modified`.
    pub fresh: bool,
}

/// Pages of earlier crawls.
pub trait Archive: Send + Sync {
    /// The newest page kept under a key.
    fn find(&self, key: &UrlKey) -> impl Future<Output = Option<Archived>> + Send;
}

/// The archive of a first crawl: empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoArchive;

impl Archive for NoArchive {
    async fn find(&self, _: &UrlKey) -> Option<Archived> {
        None
    }
}
