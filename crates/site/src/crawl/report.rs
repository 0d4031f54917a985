//! What a crawl says about itself at its end.

use super::robots::RobotsOutcome;
use super::sitemap::SitemapProblem;
use linkwright_core::page::{Discovery, FetchOutcome};
use linkwright_core::url::UrlKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Why a site may have pages that were not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Incomplete {
    /// `--only` or an exclusion left pages out.
    Selection,
    /// `--limit` was reached.
    Limit(usize),
    /// The greatest number of pages of a crawl was reached.
    PageLimit(usize),
    /// The greatest depth of a crawl was reached.
    DepthLimit(u32),
    /// The time of the crawl was up.
    TimeLimit,
    /// The user stopped it.
    Cancelled,
    /// The host stopped answering.
    HostStopped(String),
    /// This many pages could not be read for lack of a usable answer.
    Failures(usize),
    /// This many sitemaps could not be read.
    Sitemaps(usize),
    /// Links were not followed.
    LinksNotFollowed,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Selection => f.write_str("only a selection of pages was read"),
            Self::Limit(n) => write!(f, "the limit of {n} pages was reached"),
            Self::PageLimit(n) => write!(f, "`max_pages` of {n} was reached"),
            Self::DepthLimit(n) => write!(f, "`max_depth` of {n} was reached"),
            Self::TimeLimit => f.write_str("the time for the crawl was up"),
            Self::Cancelled => f.write_str("the crawl was stopped"),
            Self::HostStopped(host) => write!(f, "`{host}` stopped answering"),
            Self::Failures(1) => f.write_str("1 page could not be read"),
            Self::Failures(n) => write!(f, "{n} pages could not be read"),
            Self::Sitemaps(1) => f.write_str("1 sitemap could not be read"),
            Self::Sitemaps(n) => write!(f, "{n} sitemaps could not be read"),
            Self::LinksNotFollowed => f.write_str("links were not followed"),
        }
    }
}

/// What came of one sitemap file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SitemapReport {
    /// Its address.
    pub url: String,
    /// Addresses of the site that it lists.
    pub pages: usize,
    /// What is wrong with it.
    pub problem: Option<SitemapProblem>,
}

/// What a crawl says about itself at its end. It is complete when `incomplete` is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlReport {
    /// Addresses per outcome, those of the continued crawl included.
    pub outcomes: BTreeMap<FetchOutcome, usize>,
    /// Why pages may be missing, each reason once.
    pub incomplete: Vec<Incomplete>,
    /// Each sitemap that was asked for, in order.
    pub sitemaps: Vec<SitemapReport>,
    /// robots.txt of the start host.
    pub robots: RobotsOutcome,
    /// Addresses that were heard of, and not asked for when the crawl ended early.
    pub unfetched: usize,
    /// Pages taken from the archive without a request, because this very crawl had read them.
    pub resumed: usize,
    /// Where each address was heard of, as it stands at the end; pages were sent before that was known.
    pub discovery: BTreeMap<UrlKey, Discovery>,
}

impl CrawlReport {
    /// Whether every page that could be found was read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }
}
