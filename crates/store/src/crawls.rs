//! Crawls: readings of the site. A killed one is continued, a finished one replaces the one before.
//!
//! Pages belong to the crawl that fetched them, so an unfinished or suspicious crawl never harms the
//! pages of the last good one. Bodies are kept once, by hash, whatever the number of crawls.

use crate::error::Failure;
use crate::{Store, StoreError};

/// Number of a crawl in its project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrawlId(pub i64);

/// What a crawl reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCrawl {
    /// The site: a start address or folder, in one canonical form.
    pub site: String,
    /// What limits it, such as `--limit 50 --only /blog/**`; empty for the whole site. Only a crawl of the same
    /// scope is continued, and a partial one never replaces a whole one.
    pub scope: String,
    /// RFC 3339, UTC.
    pub started_at: String,
}

/// A crawl as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crawl {
    /// Its number.
    pub id: CrawlId,
    /// What it reads, and when it began.
    pub begun: NewCrawl,
    /// RFC 3339, UTC; `None` while unfinished.
    pub finished_at: Option<String>,
}

/// Pages with a body before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shrinkage {
    /// In the last finished crawl of the same site and scope; 0 when there is none.
    pub before: usize,
    /// In this crawl.
    pub after: usize,
}

impl Shrinkage {
    /// Whether more than 20 % of the pages are gone: more likely a fault of the server or of one sitemap than an
    /// editor's work.
    #[must_use]
    pub fn is_suspicious(self) -> bool {
        self.after.saturating_mul(5) < self.before.saturating_mul(4)
    }
}

/// What to do when a crawl found far fewer pages than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrink {
    /// Keep both crawls and say so.
    Refuse,
    /// The user confirmed it.
    Accept,
}

/// What came of finishing a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// It is now the crawl of its site and scope.
    Done(Shrinkage),
    /// It stays unfinished and the earlier crawl stays in force.
    Refused(Shrinkage),
}

/// The crawls of a project.
#[derive(Clone, Copy, Debug)]
pub struct Crawls<'a>(pub(crate) &'a Store);

#[derive(sqlx::FromRow)]
struct Row {
    id: i64,
    site: String,
    scope: String,
    started_at: String,
    finished_at: Option<String>,
}

impl From<Row> for Crawl {
    fn from(row: Row) -> Self {
        let begun = NewCrawl { site: row.site, scope: row.scope, started_at: row.started_at };
        Self { id: CrawlId(row.id), begun, finished_at: row.finished_at }
    }
}

impl Crawls<'_> {
    /// The unfinished crawl of this site and scope, or a new one. `started_at` tells them apart.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn begin(self, crawl: &NewCrawl) -> Result<Crawl, StoreError> {
        self.resume_or_insert(crawl).await.map_err(|error| error.at(self.0.path()))
    }

    /// The last finished crawl of this site and scope.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn latest(self, site: &str, scope: &str) -> Result<Option<Crawl>, StoreError> {
        let found: Result<Option<Row>, sqlx::Error> = sqlx::query_as(
            "SELECT id, site, scope, started_at, finished_at FROM crawls
             WHERE site = $1 AND scope = $2 AND status = 'finished' ORDER BY id DESC LIMIT 1",
        )
        .bind(site)
        .bind(scope)
        .fetch_optional(&self.0.reader)
        .await;
        Ok(found.map_err(|error| Failure::from(error).at(self.0.path()))?.map(Crawl::from))
    }

    /// Pages with a body in the crawl before and in this one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn shrinkage(self, crawl: CrawlId) -> Result<Shrinkage, StoreError> {
        let counted = async { shrinkage(&mut *self.0.reader.acquire().await?, crawl).await };
        counted.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Finishes a crawl: it takes the place of the finished crawls before it, whose pages are removed, with bodies that
    /// no page has any more.
    ///
    /// # Errors
    /// When the crawl is not unfinished, or the database cannot be written.
    pub async fn finish(self, crawl: CrawlId, finished_at: &str, shrink: Shrink) -> Result<Finished, StoreError> {
        self.replace(crawl, finished_at, shrink).await.map_err(|error| error.at(self.0.path()))
    }

    /// Drops an unfinished crawl, such as one that is too old to continue.
    ///
    /// # Errors
    /// When the crawl is not unfinished, or the database cannot be written.
    pub async fn discard(self, crawl: CrawlId) -> Result<(), StoreError> {
        self.remove(crawl).await.map_err(|error| error.at(self.0.path()))
    }

    async fn resume_or_insert(self, crawl: &NewCrawl) -> Result<Crawl, Failure> {
        let mut change = self.0.begin().await?;
        let unfinished: Option<Row> = sqlx::query_as(
            "SELECT id, site, scope, started_at, finished_at FROM crawls
             WHERE site = $1 AND scope = $2 AND status = 'running' ORDER BY id DESC LIMIT 1",
        )
        .bind(&crawl.site)
        .bind(&crawl.scope)
        .fetch_optional(&mut *change)
        .await?;
        if let Some(row) = unfinished {
            return Ok(row.into());
        }
        let row: Row = sqlx::query_as(
            "INSERT INTO crawls (site, scope, started_at, status) VALUES ($1, $2, $3, 'running')
             RETURNING id, site, scope, started_at, finished_at",
        )
        .bind(&crawl.site)
        .bind(&crawl.scope)
        .bind(&crawl.started_at)
        .fetch_one(&mut *change)
        .await?;
        change.commit().await?;
        Ok(row.into())
    }

    async fn replace(self, crawl: CrawlId, finished_at: &str, shrink: Shrink) -> Result<Finished, Failure> {
        let mut change = self.0.begin().await?;
        let counts = shrinkage(&mut change, crawl).await?;
        if shrink == Shrink::Refuse && counts.is_suspicious() {
            return Ok(Finished::Refused(counts));
        }
        let done = sqlx::query("UPDATE crawls SET finished_at = $2, status = 'finished' WHERE id = $1 AND status = 'running'")
            .bind(crawl.0)
            .bind(finished_at)
            .execute(&mut *change)
            .await?;
        if done.rows_affected() == 0 {
            return Err(not_running(crawl));
        }
        // Besides this crawl, the last whole reading of the site stays: a pilot must not cost it.
        sqlx::query(
            "DELETE FROM pages WHERE crawl IN (SELECT old.id FROM crawls AS old, crawls AS new WHERE new.id = $1
             AND old.id <> new.id AND old.status = 'finished' AND (old.scope <> '' OR (old.site = new.site AND old.scope = new.scope)))",
        )
        .bind(crawl.0)
        .execute(&mut *change)
        .await?;
        sqlx::query(
            "DELETE FROM crawls WHERE id IN (SELECT old.id FROM crawls AS old, crawls AS new WHERE new.id = $1
             AND old.id <> new.id AND old.status = 'finished' AND (old.scope <> '' OR (old.site = new.site AND old.scope = new.scope)))",
        )
        .bind(crawl.0)
        .execute(&mut *change)
        .await?;
        remove_loose_bodies(&mut change).await?;
        change.commit().await?;
        Ok(Finished::Done(counts))
    }

    async fn remove(self, crawl: CrawlId) -> Result<(), Failure> {
        let mut change = self.0.begin().await?;
        sqlx::query("DELETE FROM pages WHERE crawl = $1 AND crawl IN (SELECT id FROM crawls WHERE status = 'running')")
            .bind(crawl.0)
            .execute(&mut *change)
            .await?;
        let done = sqlx::query("DELETE FROM crawls WHERE id = $1 AND status = 'running'").bind(crawl.0).execute(&mut *change).await?;
        if done.rows_affected() == 0 {
            return Err(not_running(crawl));
        }
        remove_loose_bodies(&mut change).await?;
        Ok(change.commit().await?)
    }
}

fn not_running(crawl: CrawlId) -> Failure {
    StoreError::NotRunning { what: "crawl", id: crawl.0 }.into()
}

async fn shrinkage(connection: &mut sqlx::SqliteConnection, crawl: CrawlId) -> Result<Shrinkage, Failure> {
    let (before, after): (i64, i64) = sqlx::query_as(
        "SELECT
            (SELECT count(*) FROM pages WHERE outcome IN ('fetched', 'unchanged') AND crawl =
                (SELECT max(old.id) FROM crawls AS old, crawls AS new WHERE new.id = $1
                 AND old.site = new.site AND old.scope = new.scope AND old.status = 'finished' AND old.id <> new.id)),
            (SELECT count(*) FROM pages WHERE outcome IN ('fetched', 'unchanged') AND crawl = $1)",
    )
    .bind(crawl.0)
    .fetch_one(connection)
    .await?;
    let count = |value| usize::try_from(value).unwrap_or(0);
    Ok(Shrinkage { before: count(before), after: count(after) })
}

async fn remove_loose_bodies(connection: &mut sqlx::SqliteConnection) -> Result<(), Failure> {
    sqlx::query("DELETE FROM bodies WHERE NOT EXISTS (SELECT 1 FROM pages WHERE pages.body_hash = bodies.hash)")
        .execute(connection)
        .await?;
    Ok(())
}
