//! Plan documents of the last runs, whole, as deflated JSON.

use crate::blob::{deflate, inflate};
use crate::error::Failure;
use crate::{RunId, Store, StoreError, opportunities};
use linkwright_core::plan::Plan;

/// How many documents are kept: enough to compare a run with those before it.
const KEPT: i64 = 5;

/// The plan documents of a project.
#[derive(Clone, Copy, Debug)]
pub struct Plans<'a>(pub(crate) &'a Store);

impl Plans<'_> {
    /// Keeps the plan of a run, and brings the opportunities and gaps in line with it, in one step. Documents older
    /// than the last five are removed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn save(self, run: RunId, plan: &Plan) -> Result<(), StoreError> {
        self.write(run, plan).await.map_err(|error| error.at(self.0.path()))
    }

    /// The plan of the last run that had one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn latest(self) -> Result<Option<Plan>, StoreError> {
        let found = async {
            let row: Option<(Vec<u8>,)> =
                sqlx::query_as("SELECT bytes FROM plans ORDER BY run DESC LIMIT 1").fetch_optional(&self.0.reader).await?;
            row.map(|(bytes,)| read(&bytes)).transpose()
        };
        found.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// The plan of one run, while it is kept.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn find(self, run: RunId) -> Result<Option<Plan>, StoreError> {
        let found = async {
            let row: Option<(Vec<u8>,)> =
                sqlx::query_as("SELECT bytes FROM plans WHERE run = $1").bind(run.0).fetch_optional(&self.0.reader).await?;
            row.map(|(bytes,)| read(&bytes)).transpose()
        };
        found.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    async fn write(self, run: RunId, plan: &Plan) -> Result<(), Failure> {
        let json = serde_json::to_vec(plan).map_err(|error| Failure::unfit("a plan", error))?;
        let bytes = deflate(&json).map_err(|error| Failure::unfit("a plan", error))?;
        let mut change = self.0.begin().await?;
        sqlx::query("INSERT INTO plans (run, bytes) VALUES ($1, $2) ON CONFLICT (run) DO UPDATE SET bytes = excluded.bytes")
            .bind(run.0)
            .bind(bytes)
            .execute(&mut *change)
            .await?;
        sqlx::query("DELETE FROM plans WHERE run NOT IN (SELECT run FROM plans ORDER BY run DESC LIMIT $1)")
            .bind(KEPT)
            .execute(&mut *change)
            .await?;
        opportunities::merge(&mut change, run, plan).await?;
        Ok(change.commit().await?)
    }
}

fn read(bytes: &[u8]) -> Result<Plan, Failure> {
    let json = inflate(bytes).map_err(|error| Failure::unfit("a plan", error))?;
    serde_json::from_slice(&json).map_err(|error| Failure::unfit("a plan", error))
}
