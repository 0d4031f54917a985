//! Pages as they were fetched, by crawl and URL key.

use crate::blob::{deflate, inflate};
use crate::error::Failure;
use crate::names::{from_json, from_name, to_json, to_name};
use crate::{CrawlId, Store, StoreError};
use linkwright_core::page::{Discovery, FetchOutcome, FetchedPage};
use linkwright_core::url::{PageUrl, UrlKey};
use sqlx::{Sqlite, SqliteConnection, Transaction};
use std::collections::BTreeMap;

/// The fetched pages of a project.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a>(pub(crate) &'a Store);

/// One page of `Pages::batch`: bounds the memory of `all`'s intermediate rows.
const BATCH: u32 = 500;

#[derive(sqlx::FromRow)]
struct Row {
    url: String,
    outcome: String,
    status: u16,
    redirects: String,
    headers: String,
    format: String,
    path: Option<String>,
    in_sitemap: bool,
    in_links: bool,
    sitemap_lastmod: Option<String>,
    detail: Option<String>,
    deflated: Option<bool>,
    bytes: Option<Vec<u8>>,
}

impl Pages<'_> {
    /// Keeps pages of an unfinished crawl, all or none. A page that is there takes the new values, but a page with a
    /// body never gives way to one without (the redirect to `/a/` and the page `/a/` have one key). An unchanged page
    /// without a body takes the body kept from an earlier crawl.
    ///
    /// # Errors
    /// When the crawl is not unfinished, or the database cannot be written.
    pub async fn upsert(self, crawl: CrawlId, pages: &[FetchedPage]) -> Result<(), StoreError> {
        self.write(crawl, pages).await.map_err(|error| error.at(self.0.path()))
    }

    /// A page of a crawl.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn find(self, crawl: CrawlId, key: &UrlKey) -> Result<Option<FetchedPage>, StoreError> {
        let found = async {
            let row: Option<Row> = sqlx::query_as(
                "SELECT url, outcome, status, redirects, headers, format, path, in_sitemap, in_links, sitemap_lastmod, detail, deflated, bytes
                 FROM pages LEFT JOIN bodies ON bodies.hash = pages.body_hash WHERE crawl = $1 AND url_key = $2",
            )
            .bind(crawl.0)
            .bind(key.as_str())
            .fetch_optional(&self.0.reader)
            .await?;
            row.map(read).transpose()
        };
        found.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// The newest body of a page in any finished crawl, for conditional requests.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn known(self, key: &UrlKey) -> Result<Option<FetchedPage>, StoreError> {
        let found = async {
            let row: Option<Row> = sqlx::query_as(
                "SELECT url, outcome, pages.status, redirects, headers, format, path, in_sitemap, in_links, sitemap_lastmod, detail, deflated, bytes
                 FROM pages JOIN bodies ON bodies.hash = pages.body_hash JOIN crawls ON crawls.id = pages.crawl
                 WHERE url_key = $1 AND outcome IN ('fetched', 'unchanged') AND crawls.status = 'finished' ORDER BY pages.crawl DESC LIMIT 1",
            )
            .bind(key.as_str())
            .fetch_optional(&self.0.reader)
            .await?;
            row.map(read).transpose()
        };
        found.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Which pages a crawl has already asked for and what came of them, by key.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn fresh(self, crawl: CrawlId) -> Result<BTreeMap<String, FetchOutcome>, StoreError> {
        let listed = async {
            let rows: Vec<(String, String)> = sqlx::query_as("SELECT url_key, outcome FROM pages WHERE crawl = $1 ORDER BY url_key")
                .bind(crawl.0)
                .fetch_all(&self.0.reader)
                .await?;
            rows.into_iter().map(|(key, outcome)| Ok((key, from_name("the outcome of a page", outcome)?))).collect::<Result<_, Failure>>()
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Up to `limit` pages of a crawl in the order of their keys, beginning after `after`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn batch(self, crawl: CrawlId, after: Option<&UrlKey>, limit: u32) -> Result<Vec<FetchedPage>, StoreError> {
        self.read_batch(crawl, after, limit).await.map_err(|error| error.at(self.0.path()))
    }

    /// Every page of a crawl in the order of their keys.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(self, crawl: CrawlId) -> Result<Vec<FetchedPage>, StoreError> {
        let mut pages: Vec<FetchedPage> = Vec::new();
        loop {
            let after = pages.last().map(|page| page.url.key());
            let batch = self.batch(crawl, after.as_ref(), BATCH).await?;
            if batch.is_empty() {
                return Ok(pages);
            }
            pages.extend(batch);
        }
    }

    /// How many pages of a crawl have each outcome.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn outcomes(self, crawl: CrawlId) -> Result<BTreeMap<FetchOutcome, usize>, StoreError> {
        let mut counts = BTreeMap::new();
        for outcome in self.fresh(crawl).await?.into_values() {
            *counts.entry(outcome).or_default() += 1;
        }
        Ok(counts)
    }

    async fn write(self, crawl: CrawlId, pages: &[FetchedPage]) -> Result<(), Failure> {
        let mut change = self.0.begin().await?;
        let running: Option<(i64,)> =
            sqlx::query_as("SELECT id FROM crawls WHERE id = $1 AND status = 'running'").bind(crawl.0).fetch_optional(&mut *change).await?;
        if running.is_none() {
            return Err(StoreError::NotRunning { what: "crawl", id: crawl.0 }.into());
        }
        for page in pages {
            write_page(&mut change, crawl, page).await?;
        }
        Ok(change.commit().await?)
    }

    async fn read_batch(self, crawl: CrawlId, after: Option<&UrlKey>, limit: u32) -> Result<Vec<FetchedPage>, Failure> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT url, outcome, status, redirects, headers, format, path, in_sitemap, in_links, sitemap_lastmod, detail, deflated, bytes
             FROM pages LEFT JOIN bodies ON bodies.hash = pages.body_hash
             WHERE crawl = $1 AND url_key > $2 ORDER BY url_key LIMIT $3",
        )
        .bind(crawl.0)
        // No key is empty, so the empty text comes before all.
        .bind(after.map_or("", UrlKey::as_str))
        .bind(limit)
        .fetch_all(&self.0.reader)
        .await?;
        rows.into_iter().map(read).collect()
    }
}

async fn write_page(change: &mut Transaction<'static, Sqlite>, crawl: CrawlId, page: &FetchedPage) -> Result<(), Failure> {
    let key = page.url.key();
    let body = body_hash(change, page, &key).await?;
    let written = sqlx::query(
        "INSERT INTO pages (crawl, url_key, url, outcome, status, redirects, headers, format, path, in_sitemap, in_links, sitemap_lastmod, detail, body_hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (crawl, url_key) DO UPDATE SET url = excluded.url, outcome = excluded.outcome, status = excluded.status,
            redirects = excluded.redirects, headers = excluded.headers, format = excluded.format, path = excluded.path,
            in_sitemap = max(in_sitemap, excluded.in_sitemap), in_links = max(in_links, excluded.in_links),
            sitemap_lastmod = coalesce(excluded.sitemap_lastmod, sitemap_lastmod), detail = excluded.detail, body_hash = excluded.body_hash
         WHERE excluded.outcome IN ('fetched', 'unchanged') OR pages.outcome NOT IN ('fetched', 'unchanged')",
    )
    .bind(crawl.0)
    .bind(key.as_str())
    .bind(page.url.as_str())
    .bind(to_name(&page.outcome)?)
    .bind(page.status)
    .bind(to_json("redirects", &page.redirects)?)
    .bind(to_json("headers", &page.headers)?)
    .bind(to_name(&page.format)?)
    .bind(&page.path)
    .bind(page.discovery.sitemap)
    .bind(page.discovery.links)
    .bind(&page.sitemap_lastmod)
    .bind(&page.detail)
    .bind(body)
    .execute(&mut **change)
    .await?;
    if written.rows_affected() == 0 {
        add_discovery(change, crawl, page, &key).await?;
    }
    Ok(())
}

/// The page stays as it was, but where it was heard of is still news.
async fn add_discovery(change: &mut SqliteConnection, crawl: CrawlId, page: &FetchedPage, key: &UrlKey) -> Result<(), Failure> {
    sqlx::query(
        "UPDATE pages SET in_sitemap = max(in_sitemap, $3), in_links = max(in_links, $4),
         sitemap_lastmod = coalesce(sitemap_lastmod, $5) WHERE crawl = $1 AND url_key = $2",
    )
    .bind(crawl.0)
    .bind(key.as_str())
    .bind(page.discovery.sitemap)
    .bind(page.discovery.links)
    .bind(&page.sitemap_lastmod)
    .execute(change)
    .await?;
    Ok(())
}

/// Keeps the body, if there is one, and gives its hash.
async fn body_hash(change: &mut SqliteConnection, page: &FetchedPage, key: &UrlKey) -> Result<Option<Vec<u8>>, Failure> {
    if page.body.is_empty() && page.outcome != FetchOutcome::Fetched {
        return if page.outcome == FetchOutcome::Unchanged { kept_body(change, key).await } else { Ok(None) };
    }
    let hash = blake3::hash(&page.body).as_bytes().to_vec();
    let kept: Option<(i64,)> = sqlx::query_as("SELECT 1 FROM bodies WHERE hash = $1").bind(&hash).fetch_optional(&mut *change).await?;
    if kept.is_none() {
        let small = deflate(&page.body).map_err(|error| Failure::unfit("a body", error))?;
        let deflated = small.len() < page.body.len();
        sqlx::query("INSERT INTO bodies (hash, deflated, bytes) VALUES ($1, $2, $3)")
            .bind(&hash)
            .bind(deflated)
            .bind(if deflated { &small } else { &page.body })
            .execute(&mut *change)
            .await?;
    }
    Ok(Some(hash))
}

async fn kept_body(change: &mut SqliteConnection, key: &UrlKey) -> Result<Option<Vec<u8>>, Failure> {
    let found: Option<(Vec<u8>,)> = sqlx::query_as(
        "SELECT body_hash FROM pages WHERE url_key = $1 AND body_hash IS NOT NULL AND outcome IN ('fetched', 'unchanged') ORDER BY crawl DESC LIMIT 1",
    )
    .bind(key.as_str())
    .fetch_optional(change)
    .await?;
    Ok(found.map(|(hash,)| hash))
}

fn read(row: Row) -> Result<FetchedPage, Failure> {
    let body = match (row.bytes, row.deflated) {
        (Some(bytes), Some(true)) => inflate(&bytes).map_err(|error| Failure::unfit("the body of a page", error))?,
        (Some(bytes), _) => bytes,
        (None, _) => Vec::new(),
    };
    Ok(FetchedPage {
        url: PageUrl::parse(&row.url).ok_or_else(|| Failure::unfit("the URL of a page", &row.url))?,
        outcome: from_name("the outcome of a page", row.outcome)?,
        status: row.status,
        redirects: from_json("the redirects of a page", &row.redirects)?,
        headers: from_json("the headers of a page", &row.headers)?,
        body,
        format: from_name("the format of a page", row.format)?,
        path: row.path,
        discovery: Discovery { sitemap: row.in_sitemap, links: row.in_links },
        sitemap_lastmod: row.sitemap_lastmod,
        detail: row.detail,
    })
}
