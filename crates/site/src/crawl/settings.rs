//! Every limit and politeness of a crawl, with its default.

use serde::{Deserialize, Serialize};

/// How a site is crawled. All sizes are bytes, all times milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlSettings {
    /// `User-Agent` header.
    pub user_agent: String,
    /// Further hosts that belong to the site, with port where it is not the scheme's default. The
    /// start host with and without `www.` always belongs to it.
    pub hosts: Vec<String>,
    /// Prefixes of the paths that belong to the site; empty allows all.
    pub path_scope: Vec<String>,
    /// Whether links are followed. Without, only what sitemaps list is read.
    pub follow_links: bool,
    /// Whether `nofollow` on links and pages is obeyed.
    pub respect_nofollow: bool,
    /// Links away from the start page or a sitemap at most.
    pub max_depth: u32,
    /// URLs asked for at most.
    pub max_pages: usize,
    /// Query variants of one path that are followed; the rest is left out. Ends calendars and facets.
    pub queries_per_path: usize,
    /// Longest URL that is followed, in bytes.
    pub max_url_bytes: usize,
    /// Redirects in one chain at most.
    pub max_redirects: usize,
    /// Least time between the starts of two requests to one host.
    pub interval_ms: u64,
    /// Requests in flight to one host at most.
    pub concurrency: usize,
    /// Longest crawl delay of robots.txt that is obeyed; a longer one counts as this.
    pub max_crawl_delay_ms: u64,
    /// Time for one request, from connecting to the last byte.
    pub timeout_ms: u64,
    /// Time for connecting.
    pub connect_timeout_ms: u64,
    /// Time for the whole crawl; none when absent.
    pub max_time_ms: Option<u64>,
    /// Further attempts after 429, 502, 503, 504 or no answer.
    pub retries: u32,
    /// First pause of a host after such an answer; it doubles with each that follows.
    pub backoff_ms: u64,
    /// Longest pause, also where `Retry-After` asks for more.
    pub max_backoff_ms: u64,
    /// URLs in a row that a host may leave unanswered before the crawl stops.
    pub max_failures_in_a_row: usize,
    /// Largest body, after decompression.
    pub max_body_bytes: usize,
    /// Largest sitemap, after decompression.
    pub max_sitemap_bytes: usize,
    /// Sitemap files read at most.
    pub max_sitemaps: usize,
    /// Sitemap indexes inside each other at most.
    pub max_sitemap_depth: usize,
    /// Proxy for all requests, such as `http://proxy.example:3128`; it then resolves the names.
    pub proxy: Option<String>,
}

impl Default for CrawlSettings {
    fn default() -> Self {
        Self {
            user_agent: format!("linkwright/{} (internal link planner)", env!("CARGO_PKG_VERSION")),
            hosts: Vec::new(),
            path_scope: Vec::new(),
            follow_links: true,
            respect_nofollow: true,
            max_depth: 64,
            max_pages: 100_000,
            queries_per_path: 20,
            max_url_bytes: 2_000,
            max_redirects: 10,
            interval_ms: 100,
            concurrency: 4,
            max_crawl_delay_ms: 10_000,
            timeout_ms: 30_000,
            connect_timeout_ms: 10_000,
            max_time_ms: None,
            retries: 3,
            backoff_ms: 1_000,
            max_backoff_ms: 60_000,
            max_failures_in_a_row: 10,
            max_body_bytes: 10 * 1024 * 1024,
            // sitemaps.org allows 50 MB.
            max_sitemap_bytes: 50 * 1024 * 1024,
            max_sitemaps: 1_000,
            max_sitemap_depth: 8,
            proxy: None,
        }
    }
}
