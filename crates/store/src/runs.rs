//! Runs: what was done when, with which settings, rules and model.

use crate::error::Failure;
use crate::names::{from_name, to_name};
use crate::{Store, StoreError};
use serde::{Deserialize, Serialize};

/// Number of a run in its project, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Not ended; there is at most one.
    Running,
    /// Ended as it should.
    Finished,
    /// Ended with an error.
    Failed,
    /// Killed; found by the run after it.
    Interrupted,
}

/// What is known of a run when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The command, such as `plan`.
    pub kind: String,
    /// The site as the user named it.
    pub site: String,
    /// Public address that the pages lie under.
    pub base_url: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Version of linkwright.
    pub version: String,
    /// Version of the guardrails and the ranking.
    pub rules: String,
    /// Embedding model.
    pub model: String,
    /// Settings in force, as JSON.
    pub settings: String,
}

/// A run as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// What was known when it began.
    pub begun: NewRun,
    /// RFC 3339, UTC; `None` while it runs or when it was killed.
    pub finished_at: Option<String>,
    /// What came of it.
    pub status: RunStatus,
}

/// The runs of a project.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a>(pub(crate) &'a Store);

const ALL: &str = "SELECT id, kind, site, base_url, started_at, finished_at, status, version, rules, model, settings FROM runs ORDER BY id";

#[derive(sqlx::FromRow)]
struct Row {
    id: i64,
    kind: String,
    site: String,
    base_url: String,
    started_at: String,
    finished_at: Option<String>,
    status: String,
    version: String,
    rules: String,
    model: String,
    settings: String,
}

impl Runs<'_> {
    /// Begins a run. Runs that were killed before they ended are marked as interrupted.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn begin(self, run: &NewRun) -> Result<RunId, StoreError> {
        self.insert(run).await.map_err(|error| error.at(self.0.path()))
    }

    /// Ends a run.
    ///
    /// # Errors
    /// When the run is not running, or the database cannot be written.
    pub async fn finish(self, run: RunId, finished_at: &str, status: RunStatus) -> Result<(), StoreError> {
        self.end(run, finished_at, status).await.map_err(|error| error.at(self.0.path()))
    }

    /// Every run, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(self) -> Result<Vec<Run>, StoreError> {
        self.list().await.map_err(|error| error.at(self.0.path()))
    }

    /// The run that began last.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn latest(self) -> Result<Option<Run>, StoreError> {
        Ok(self.all().await?.pop())
    }

    async fn insert(self, run: &NewRun) -> Result<RunId, Failure> {
        let mut change = self.0.begin().await?;
        sqlx::query("UPDATE runs SET status = 'interrupted' WHERE status = 'running'").execute(&mut *change).await?;
        let (id,) = sqlx::query_as(
            "INSERT INTO runs (kind, site, base_url, started_at, status, version, rules, model, settings)
             VALUES ($1, $2, $3, $4, 'running', $5, $6, $7, $8) RETURNING id",
        )
        .bind(&run.kind)
        .bind(&run.site)
        .bind(&run.base_url)
        .bind(&run.started_at)
        .bind(&run.version)
        .bind(&run.rules)
        .bind(&run.model)
        .bind(&run.settings)
        .fetch_one(&mut *change)
        .await?;
        change.commit().await?;
        Ok(RunId(id))
    }

    async fn end(self, run: RunId, finished_at: &str, status: RunStatus) -> Result<(), Failure> {
        let mut change = self.0.begin().await?;
        let done = sqlx::query("UPDATE runs SET finished_at = $2, status = $3 WHERE id = $1 AND status = 'running'")
            .bind(run.0)
            .bind(finished_at)
            .bind(to_name(&status)?)
            .execute(&mut *change)
            .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::NotRunning { what: "run", id: run.0 }.into());
        }
        Ok(change.commit().await?)
    }

    async fn list(self) -> Result<Vec<Run>, Failure> {
        let rows: Vec<Row> = sqlx::query_as(ALL).fetch_all(&self.0.reader).await?;
        rows.into_iter().map(read).collect()
    }
}

fn read(row: Row) -> Result<Run, Failure> {
    Ok(Run {
        id: RunId(row.id),
        begun: NewRun {
            kind: row.kind,
            site: row.site,
            base_url: row.base_url,
            started_at: row.started_at,
            version: row.version,
            rules: row.rules,
            model: row.model,
            settings: row.settings,
        },
        finished_at: row.finished_at,
        status: from_name("the status of a run", row.status)?,
    })
}
