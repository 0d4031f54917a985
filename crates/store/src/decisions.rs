//! Decisions about opportunities: append-only, and each moves its opportunity in the same step.

use crate::error::Failure;
use crate::names::from_name;
use crate::{State, Store, StoreError};

/// A change of state that somebody or some command decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Identity of the opportunity.
    pub opportunity: String,
    /// The state it comes into.
    pub state: State,
    /// Who decided.
    pub reviewer: String,
    /// RFC 3339, UTC.
    pub decided_at: String,
    /// Why, in the reviewer's words.
    pub reason: Option<String>,
    /// Hash of the target's main text, so that a later change can be noticed.
    pub target_hash: Option<String>,
}

/// A pair that was turned down, with what its pages were then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RejectedPair {
    /// Key of the source.
    pub source_key: String,
    /// Key of the target.
    pub target_key: String,
    /// Hash of the source when it was turned down.
    pub source_hash: String,
    /// Hash of the target's main text when it was turned down, where it is known.
    pub target_hash: Option<String>,
}

/// The decisions of a project.
#[derive(Clone, Copy, Debug)]
pub struct Decisions<'a>(pub(crate) &'a Store);

impl Decisions<'_> {
    /// Records a decision and moves the opportunity.
    ///
    /// # Errors
    /// `NoOpportunity` or `IllegalTransition`; otherwise when the database cannot be written.
    pub async fn record(self, decision: &Decision) -> Result<(), StoreError> {
        self.append(decision).await.map_err(|error| error.at(self.0.path()))
    }

    /// The states that an opportunity went through, oldest first, as `(from, decision)`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn of(self, opportunity: &str) -> Result<Vec<(State, Decision)>, StoreError> {
        self.history(opportunity).await.map_err(|error| error.at(self.0.path()))
    }

    /// Every pair with an opportunity that is turned down now, by source, then target.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn rejected_pairs(self) -> Result<Vec<RejectedPair>, StoreError> {
        let listed = async {
            let rows: Vec<(String, String, String, Option<String>)> = sqlx::query_as(
                "SELECT o.source_key, o.target_key, d.source_hash, d.target_hash FROM opportunities AS o
                 JOIN decisions AS d ON d.id = (SELECT max(id) FROM decisions WHERE opportunity = o.id)
                 WHERE o.state = 'rejected' ORDER BY o.source_key, o.target_key, d.id",
            )
            .fetch_all(&self.0.reader)
            .await?;
            let pair =
                |(source_key, target_key, source_hash, target_hash)| RejectedPair { source_key, target_key, source_hash, target_hash };
            Ok(rows.into_iter().map(pair).collect())
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    async fn append(self, decision: &Decision) -> Result<(), Failure> {
        let mut change = self.0.begin().await?;
        let found: Option<(String, String)> = sqlx::query_as("SELECT state, source_hash FROM opportunities WHERE id = $1")
            .bind(&decision.opportunity)
            .fetch_optional(&mut *change)
            .await?;
        let id = || decision.opportunity.clone();
        let Some((name, source_hash)) = found else { return Err(StoreError::NoOpportunity { id: id() }.into()) };
        let from: State = from_name("the state of an opportunity", name)?;
        if !from.may_become(decision.state) {
            return Err(StoreError::IllegalTransition { id: id(), from: from.name(), to: decision.state.name() }.into());
        }
        sqlx::query("UPDATE opportunities SET state = $2 WHERE id = $1")
            .bind(&decision.opportunity)
            .bind(decision.state.name())
            .execute(&mut *change)
            .await?;
        sqlx::query(
            "INSERT INTO decisions (opportunity, from_state, to_state, reviewer, decided_at, reason, source_hash, target_hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(&decision.opportunity)
        .bind(from.name())
        .bind(decision.state.name())
        .bind(&decision.reviewer)
        .bind(&decision.decided_at)
        .bind(&decision.reason)
        .bind(source_hash)
        .bind(&decision.target_hash)
        .execute(&mut *change)
        .await?;
        Ok(change.commit().await?)
    }

    async fn history(self, opportunity: &str) -> Result<Vec<(State, Decision)>, Failure> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT from_state, to_state, reviewer, decided_at, reason, target_hash FROM decisions WHERE opportunity = $1 ORDER BY id",
        )
        .bind(opportunity)
        .fetch_all(&self.0.reader)
        .await?;
        rows.into_iter().map(|row| row.read(opportunity)).collect()
    }
}

#[derive(sqlx::FromRow)]
struct Row {
    from_state: String,
    to_state: String,
    reviewer: String,
    decided_at: String,
    reason: Option<String>,
    target_hash: Option<String>,
}

impl Row {
    fn read(self, opportunity: &str) -> Result<(State, Decision), Failure> {
        let decision = Decision {
            opportunity: opportunity.to_owned(),
            state: from_name("the state of an opportunity", self.to_state)?,
            reviewer: self.reviewer,
            decided_at: self.decided_at,
            reason: self.reason,
            target_hash: self.target_hash,
        };
        Ok((from_name("the state of an opportunity", self.from_state)?, decision))
    }
}
