//! Decisions about opportunities: append-only, and each moves its opportunity in the same step.

use crate::error::Failure;
use crate::names::{from_json, from_name, key_of, to_json};
use crate::{State, Store, StoreError};
use linkwright_core::plan::Opportunity;
use sqlx::{Sqlite, Transaction};

/// A change of state that somebody or some command decided.
#[derive(Clone, Debug, PartialEq)]
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
    /// The opportunity with other words, another passage or another target, where the reviewer revised it. Its
    /// identity stays.
    pub revised: Option<Box<Opportunity>>,
    /// Fingerprint of the source's main text, so that a later change can be noticed.
    pub source_print: Option<String>,
    /// Fingerprint of the target's main text.
    pub target_print: Option<String>,
    /// The revision that the reviewer saw: see [`StoredOpportunity::revision`](crate::StoredOpportunity). When the
    /// opportunity has another by now, the decision is refused as a conflict. `None` decides in any case.
    pub seen: Option<i64>,
}

impl Decision {
    /// A decision without anything optional.
    #[must_use]
    pub fn new(opportunity: &str, state: State, reviewer: &str, decided_at: &str) -> Self {
        Self {
            opportunity: opportunity.to_owned(),
            state,
            reviewer: reviewer.to_owned(),
            decided_at: decided_at.to_owned(),
            reason: None,
            revised: None,
            source_print: None,
            target_print: None,
            seen: None,
        }
    }
}

/// A pair that was turned down, with what its pages were then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RejectedPair {
    /// Key of the source.
    pub source_key: String,
    /// Key of the target.
    pub target_key: String,
    /// Fingerprint of the source's main text when it was turned down, where it is known.
    pub source_print: Option<String>,
    /// Fingerprint of the target's main text when it was turned down, where it is known.
    pub target_print: Option<String>,
}

/// A remark of a reviewer that decides nothing.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Note {
    /// Identity of the opportunity.
    pub opportunity: String,
    /// Who wrote it.
    pub reviewer: String,
    /// RFC 3339, UTC.
    pub written_at: String,
    /// The remark.
    pub text: String,
}

/// The decisions of a project.
#[derive(Clone, Copy, Debug)]
pub struct Decisions<'a>(pub(crate) &'a Store);

impl Decisions<'_> {
    /// Records a decision and moves the opportunity. Gives the opportunity's new revision.
    ///
    /// # Errors
    /// `NoOpportunity`, `Conflict` or `IllegalTransition`; otherwise when the database cannot be written.
    pub async fn record(self, decision: &Decision) -> Result<i64, StoreError> {
        let recorded = async {
            let mut change = self.0.begin().await?;
            let revision = append(&mut change, decision).await?;
            change.commit().await?;
            Ok(revision)
        };
        recorded.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Whether a decision would be taken; nothing changes.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub async fn try_out(self, decision: &Decision) -> Result<(), StoreError> {
        let tried = async {
            let mut change = self.0.begin().await?;
            append(&mut change, decision).await?;
            Ok(change.rollback().await?)
        };
        tried.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Records many decisions, all or none.
    ///
    /// # Errors
    /// As [`record`](Self::record), for the first that is refused.
    pub async fn record_all(self, decisions: &[Decision]) -> Result<(), StoreError> {
        let recorded = async {
            let mut change = self.0.begin().await?;
            for decision in decisions {
                append(&mut change, decision).await?;
            }
            Ok(change.commit().await?)
        };
        recorded.await.map_err(|error: Failure| error.at(self.0.path()))
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
            let rows: Vec<(String, String, Option<String>, Option<String>)> = sqlx::query_as(
                "SELECT o.source_key, o.target_key, d.source_print, d.target_print FROM opportunities AS o
                 JOIN decisions AS d ON d.id = (SELECT max(id) FROM decisions WHERE opportunity = o.id)
                 WHERE o.state = 'rejected' ORDER BY o.source_key, o.target_key, d.id",
            )
            .fetch_all(&self.0.reader)
            .await?;
            let pair =
                |(source_key, target_key, source_print, target_print)| RejectedPair { source_key, target_key, source_print, target_print };
            Ok(rows.into_iter().map(pair).collect())
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Adds a note.
    ///
    /// # Errors
    /// `NoOpportunity`; otherwise when the database cannot be written.
    pub async fn add_note(self, note: &Note) -> Result<(), StoreError> {
        let added = async {
            let mut change = self.0.begin().await?;
            current(&mut change, &note.opportunity).await?;
            sqlx::query("INSERT INTO notes (opportunity, reviewer, written_at, text) VALUES ($1, $2, $3, $4)")
                .bind(&note.opportunity)
                .bind(&note.reviewer)
                .bind(&note.written_at)
                .bind(&note.text)
                .execute(&mut *change)
                .await?;
            Ok(change.commit().await?)
        };
        added.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// The notes on an opportunity, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn notes(self, opportunity: &str) -> Result<Vec<Note>, StoreError> {
        let listed = async {
            let sql = "SELECT opportunity, reviewer, written_at, text FROM notes WHERE opportunity = $1 ORDER BY id";
            Ok(sqlx::query_as(sql).bind(opportunity).fetch_all(&self.0.reader).await?)
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    async fn history(self, opportunity: &str) -> Result<Vec<(State, Decision)>, Failure> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT from_state, to_state, reviewer, decided_at, reason, revised, source_print, target_print
             FROM decisions WHERE opportunity = $1 ORDER BY id",
        )
        .bind(opportunity)
        .fetch_all(&self.0.reader)
        .await?;
        rows.into_iter().map(|row| row.read(opportunity)).collect()
    }
}

#[derive(sqlx::FromRow)]
struct Current {
    state: String,
    source_hash: String,
    proposed: Option<String>,
    payload: String,
    revision: i64,
}

async fn current(change: &mut Transaction<'static, Sqlite>, id: &str) -> Result<Current, Failure> {
    let found = sqlx::query_as(
        "SELECT state, source_hash, proposed, payload,
            coalesce((SELECT max(id) FROM decisions WHERE opportunity = opportunities.id), 0) AS revision
         FROM opportunities WHERE id = $1",
    )
    .bind(id)
    .fetch_optional(&mut **change)
    .await?;
    found.ok_or_else(|| StoreError::NoOpportunity { id: id.to_owned() }.into())
}

/// Records a decision within a change.
pub(crate) async fn append(change: &mut Transaction<'static, Sqlite>, decision: &Decision) -> Result<i64, Failure> {
    let id = &decision.opportunity;
    let now = current(change, id).await?;
    let from: State = from_name("the state of an opportunity", now.state.clone())?;
    if decision.seen.is_some_and(|seen| seen != now.revision) {
        return Err(conflict(change, id, from).await?.into());
    }
    let revises_again = decision.revised.is_some() && from == State::Accepted && decision.state == State::Accepted;
    if !from.may_become(decision.state) && !revises_again {
        return Err(StoreError::IllegalTransition { id: id.clone(), from: from.name(), to: decision.state.name() }.into());
    }
    sqlx::query("UPDATE opportunities SET state = $2 WHERE id = $1").bind(id).bind(decision.state.name()).execute(&mut **change).await?;
    if let Some(revised) = &decision.revised {
        let proposed = now.proposed.as_ref().unwrap_or(&now.payload);
        put(change, id, revised, Some(proposed)).await?;
    } else if let (Some(proposed), State::Found | State::Rejected) = (&now.proposed, decision.state) {
        // A decision that is taken back takes its revision with it; a rejection is one of what was proposed.
        put(change, id, &from_json("an opportunity", proposed)?, None).await?;
    }
    let revised = decision.revised.as_ref().map(|revised| to_json("an opportunity", revised)).transpose()?;
    let (revision,) = sqlx::query_as(
        "INSERT INTO decisions (opportunity, from_state, to_state, reviewer, decided_at, reason, source_hash, revised, source_print, target_print)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id",
    )
    .bind(id)
    .bind(from.name())
    .bind(decision.state.name())
    .bind(&decision.reviewer)
    .bind(&decision.decided_at)
    .bind(&decision.reason)
    .bind(now.source_hash)
    .bind(revised)
    .bind(&decision.source_print)
    .bind(&decision.target_print)
    .fetch_one(&mut **change)
    .await?;
    Ok(revision)
}

/// Puts another form of the opportunity in place.
async fn put(
    change: &mut Transaction<'static, Sqlite>,
    id: &str,
    opportunity: &Opportunity,
    proposed: Option<&String>,
) -> Result<(), Failure> {
    sqlx::query("UPDATE opportunities SET payload = $2, proposed = $3, source_key = $4, target_key = $5, source_hash = $6 WHERE id = $1")
        .bind(id)
        .bind(to_json("an opportunity", opportunity)?)
        .bind(proposed)
        .bind(key_of(&opportunity.source_url))
        .bind(key_of(&opportunity.target_url))
        .bind(&opportunity.source_hash)
        .execute(&mut **change)
        .await?;
    Ok(())
}

async fn conflict(change: &mut Transaction<'static, Sqlite>, id: &str, state: State) -> Result<StoreError, Failure> {
    let last: Option<(String, String)> =
        sqlx::query_as("SELECT reviewer, decided_at FROM decisions WHERE opportunity = $1 ORDER BY id DESC LIMIT 1")
            .bind(id)
            .fetch_optional(&mut **change)
            .await?;
    let (reviewer, decided_at) = last.unwrap_or_default();
    Ok(StoreError::Conflict { id: id.to_owned(), state: state.name(), reviewer, decided_at })
}

#[derive(sqlx::FromRow)]
struct Row {
    from_state: String,
    to_state: String,
    reviewer: String,
    decided_at: String,
    reason: Option<String>,
    revised: Option<String>,
    source_print: Option<String>,
    target_print: Option<String>,
}

impl Row {
    fn read(self, opportunity: &str) -> Result<(State, Decision), Failure> {
        let decision = Decision {
            opportunity: opportunity.to_owned(),
            state: from_name("the state of an opportunity", self.to_state)?,
            reviewer: self.reviewer,
            decided_at: self.decided_at,
            reason: self.reason,
            revised: self.revised.map(|revised| from_json("an opportunity", &revised)).transpose()?,
            source_print: self.source_print,
            target_print: self.target_print,
            seen: None,
        };
        Ok((from_name("the state of an opportunity", self.from_state)?, decision))
    }
}
