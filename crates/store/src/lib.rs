//! Everything kept between runs: one SQLite database and one lock file per project folder.
//!
//! Invariants:
//! - every change is one transaction, begun with the write lock in hand (`BEGIN IMMEDIATE`), so a
//!   kill at any moment leaves the state before it or after it;
//! - there is one writing connection; readers never block it (write-ahead log);
//! - SQL is static text, each query in the module of its noun;
//! - nothing is deleted because it cannot be read: an error names the file and says what to do.

mod blob;
mod crawls;
mod decisions;
mod error;
mod ledger;
mod lock;
mod names;
mod opportunities;
mod pages;
mod plans;
mod runs;
mod vectors;

pub use crawls::{Crawl, CrawlId, Crawls, Finished, NewCrawl, Shrink, Shrinkage};
pub use decisions::{Decision, Decisions, Note, RejectedPair};
pub use error::StoreError;
pub use ledger::{Edit, EditEvent, EditId, Entry, Ledger, NewEdit, PublisherKind};
pub use lock::{Holder, LOCK_FILE, LockError, ProjectLock};
pub use opportunities::{Opportunities, State, StoredOpportunity};
pub use pages::Pages;
pub use plans::Plans;
pub use runs::{NewRun, Run, RunId, RunStatus, Runs};
pub use vectors::{TextHash, VectorModel, Vectors};

use error::Failure;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection, SqlSafeStr, Sqlite, SqliteConnection, Transaction};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the database file in a project folder.
pub const DATABASE_FILE: &str = "linkwright.db";

/// `lkwr`, as the first migration writes it.
const APPLICATION_ID: i64 = 1_818_982_258;

/// How long a statement waits for another process before it gives up. Writes of one step take well under a second;
/// a checkpoint of a large step on a slow disk may take several.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Bodies and vector rows are tens of kilobytes: pages of 8 KiB make shorter overflow chains than the default of
/// 4 KiB. Only a new file takes it.
const PAGE_SIZE_BYTES: u32 = 8192;

/// Every step of the schema, oldest first. Embedded text is never edited once released: its checksum is kept in the
/// database.
fn migrations() -> Migrator {
    let step = |version, name: &'static str, sql: &'static str| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(vec![
        step(1, "initial", include_str!("../migrations/0001_initial.sql")),
        step(2, "publication", include_str!("../migrations/0002_publication.sql")),
    ])
}

/// The project database.
#[derive(Debug)]
pub struct Store {
    writer: SqlitePool,
    reader: SqlitePool,
    path: PathBuf,
}

impl Store {
    /// Opens the database, making it or bringing its schema up to date where needed.
    ///
    /// # Errors
    /// When the file cannot be opened, is no project database, is damaged, or was written by a newer linkwright. The
    /// file is then as it was before.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let at = |error: Failure| error.at(path);
        refuse_unusable(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .busy_timeout(BUSY_TIMEOUT)
            .page_size(PAGE_SIZE_BYTES)
            .synchronous(SqliteSynchronous::Normal)
            .pragma("journal_size_limit", "16777216")
            .foreign_keys(true);
        prepare(&options).await.map_err(at)?;
        let pool = |connections| pool_of(connections).connect_with(options.clone());
        let writer = pool(1).await.map_err(|error| at(error.into()))?;
        let reader = pool(2).await.map_err(|error| at(error.into()))?;
        Ok(Self { writer, reader, path: path.to_owned() })
    }

    /// Finishes what is being written, folds the log into the database file, and closes it.
    pub async fn close(self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs: what was done when, with which settings, rules and model.
    #[must_use]
    pub fn runs(&self) -> Runs<'_> {
        Runs(self)
    }

    /// Crawls: readings of the site, finished or not.
    #[must_use]
    pub fn crawls(&self) -> Crawls<'_> {
        Crawls(self)
    }

    /// Pages as they were fetched.
    #[must_use]
    pub fn pages(&self) -> Pages<'_> {
        Pages(self)
    }

    /// Vectors by model and text.
    #[must_use]
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors(self)
    }

    /// Plan documents of the last runs.
    #[must_use]
    pub fn plans(&self) -> Plans<'_> {
        Plans(self)
    }

    /// Opportunities and their states.
    #[must_use]
    pub fn opportunities(&self) -> Opportunities<'_> {
        Opportunities(self)
    }

    /// Decisions about opportunities, append-only.
    #[must_use]
    pub fn decisions(&self) -> Decisions<'_> {
        Decisions(self)
    }

    /// The ledger of inserted links, append-only.
    #[must_use]
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger(self)
    }

    /// Begins a change. It is undone unless committed.
    async fn begin(&self) -> Result<Transaction<'static, Sqlite>, Failure> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }
}

/// A full disk or a failed write makes SQLite roll back by itself, behind the back of the connection's own count of
/// transactions. Such a connection can begin no further change: it is replaced by a new one.
fn pool_of(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
}

/// What SQLite would report only as "unable to open" or would silently create beside.
fn refuse_unusable(path: &Path) -> Result<(), StoreError> {
    let unreadable = |source| StoreError::Unreadable { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(unreadable(std::io::Error::other("it is a folder"))),
        Ok(_) => std::fs::File::open(path).map(drop).map_err(unreadable),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unreadable(error)),
    }
}

/// Checks that the file is ours and of a schema we know before anything is written to it, then migrates it.
async fn prepare(options: &SqliteConnectOptions) -> Result<(), Failure> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    let prepared = migrate(&mut connection).await;
    let closed = connection.close().await;
    prepared.and_then(|()| Ok(closed?))
}

async fn migrate(connection: &mut SqliteConnection) -> Result<(), Failure> {
    let (tables,): (i64,) = sqlx::query_as("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
    let (id,): (i64,) = sqlx::query_as("SELECT application_id FROM pragma_application_id").fetch_one(&mut *connection).await?;
    if tables > 0 && id != APPLICATION_ID {
        let (begun,): (i64,) = sqlx::query_as(
            "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE '\\_sqlx\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
        )
        .fetch_one(&mut *connection)
        .await?;
        // A kill between making the migration table and the first migration leaves that table alone.
        if begun > 0 {
            return Err(Failure::Foreign);
        }
    }
    sqlx::query("PRAGMA journal_mode = WAL").execute(&mut *connection).await?;
    Ok(migrations().run(connection).await?)
}

#[cfg(test)]
mod tests;
