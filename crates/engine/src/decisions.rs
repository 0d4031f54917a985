//! Decisions made outside: the queue as rows for a spreadsheet, and rows with decisions back.
//!
//! A row says what its reviewer saw. What somebody else decided since is a conflict and stays as it is; nothing is
//! guessed.

use crate::error::EngineError;
use crate::plan::now;
use crate::planned::{self, Planned};
use crate::project::Project;
use crate::reading;
use linkwright_store::{Decision, Store, StoreError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub use linkwright_store::{Edit, EditEvent, Entry, Run, State, StoredOpportunity};

/// What a reviewer says about an opportunity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The link is to be written.
    Accept,
    /// It is not.
    Reject {
        /// Why, in the reviewer's words.
        reason: Option<String>,
    },
    /// The last decision is taken back.
    Withdraw,
}

impl Verdict {
    /// Reads a cell; `None` for an empty one.
    ///
    /// # Errors
    /// When it is no decision.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        match text.trim().to_lowercase().as_str() {
            "" => Ok(None),
            "accept" | "accepted" => Ok(Some(Self::Accept)),
            "reject" | "rejected" => Ok(Some(Self::Reject { reason: None })),
            "withdraw" | "found" => Ok(Some(Self::Withdraw)),
            _ => Err(format!("`{}` is no decision: write accept, reject or withdraw", text.trim())),
        }
    }

    /// Whether it can be said of an opportunity in this state.
    #[must_use]
    pub fn fits(&self, state: State) -> bool {
        // Anything that expired is beyond decisions: only a plan can propose it anew.
        state != State::Expired && state.may_become(self.state())
    }

    fn state(&self) -> State {
        match self {
            Self::Accept => State::Accepted,
            Self::Reject { .. } => State::Rejected,
            Self::Withdraw => State::Found,
        }
    }
}

/// A verdict as a decision, with the prints of both pages, so that a later change of one can be noticed.
#[must_use]
pub(crate) fn decision(planned: &Planned, stored: &StoredOpportunity, verdict: &Verdict, seen: Option<i64>, reviewer: &str) -> Decision {
    let opportunity = &stored.opportunity;
    let reason = if let Verdict::Reject { reason } = verdict { reason.clone() } else { None };
    Decision {
        reason,
        source_print: planned.print(&opportunity.source_url),
        target_print: planned.print(&opportunity.target_url),
        seen,
        ..Decision::new(&opportunity.id, verdict.state(), reviewer, &now())
    }
}

/// One row that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRow {
    /// Row of the spreadsheet; the header is row 1.
    pub row: u64,
    /// Identity of the opportunity.
    pub opportunity: String,
    /// The decision, as it was written.
    pub decision: String,
    /// Why, in the reviewer's words.
    pub reason: String,
    /// Number of the last decision that the reviewer saw, as the queue gave it; empty decides in any case.
    pub revision: String,
}

/// What came of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Rows that were taken.
    pub accepted: usize,
    /// Rows that were taken.
    pub rejected: usize,
    /// Rows that were taken.
    pub withdrawn: usize,
    /// Rows without a decision, or with one that stands already.
    pub unchanged: usize,
    /// Rows that were not taken.
    pub refused: Vec<RefusedRow>,
}

/// A row that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedRow {
    /// Row of the spreadsheet; the header is row 1.
    pub row: u64,
    /// Identity of the opportunity, as it was written.
    pub opportunity: String,
    /// Why, in words.
    pub reason: String,
}

/// Every opportunity and its state, best first.
///
/// # Errors
/// When there is no project, or it cannot be read.
pub fn queue(project: &Path) -> Result<Vec<StoredOpportunity>, EngineError> {
    let runtime = reading::runtime()?;
    let project = Project::find(project)?;
    runtime.block_on(async {
        let store = project.store().await?;
        let rows = store.opportunities().all().await;
        store.close().await;
        Ok(rows?)
    })
}

/// Every edit with its entries in the ledger, oldest first.
///
/// # Errors
/// As [`queue`].
pub fn edits(project: &Path) -> Result<Vec<(Edit, Vec<Entry>)>, EngineError> {
    let runtime = reading::runtime()?;
    let project = Project::find(project)?;
    let store = runtime.block_on(project.store())?;
    runtime.block_on(async {
        let mut rows = Vec::new();
        for edit in store.ledger().edits().await? {
            let entries = store.ledger().entries(edit.id).await?;
            rows.push((edit, entries));
        }
        store.close().await;
        Ok(rows)
    })
}

/// Every run, oldest first.
///
/// # Errors
/// As [`queue`].
pub fn runs(project: &Path) -> Result<Vec<Run>, EngineError> {
    let runtime = reading::runtime()?;
    let project = Project::find(project)?;
    runtime.block_on(async {
        let store = project.store().await?;
        let rows = store.runs().all().await;
        store.close().await;
        Ok(rows?)
    })
}

/// Takes decisions from rows. `write` false only says what would come of them.
///
/// # Errors
/// When there is no project or plan, or the database fails. What is wrong with a row is part of the result.
pub fn import(project: &Path, rows: &[DecisionRow], reviewer: &str, write: bool) -> Result<Imported, EngineError> {
    let runtime = reading::runtime()?;
    let project = Project::find(project)?;
    let store = runtime.block_on(project.store())?;
    runtime.block_on(async {
        let import = Import { store: &store, planned: Planned::new(planned::latest(&store).await?), reviewer, write };
        let twice = decided_twice(rows);
        let mut imported = Imported::default();
        for row in rows {
            let outcome = if twice.contains(row.opportunity.trim()) {
                Err("the file decides on it more than once, and not always the same".to_owned())
            } else {
                import.row(row).await?
            };
            match outcome {
                Ok(None) => imported.unchanged += 1,
                Ok(Some(Verdict::Accept)) => imported.accepted += 1,
                Ok(Some(Verdict::Reject { .. })) => imported.rejected += 1,
                Ok(Some(Verdict::Withdraw)) => imported.withdrawn += 1,
                Err(reason) => {
                    imported.refused.push(RefusedRow { row: row.row, opportunity: row.opportunity.trim().to_owned(), reason });
                }
            }
        }
        store.close().await;
        Ok(imported)
    })
}

/// Opportunities on which the rows say different things.
fn decided_twice(rows: &[DecisionRow]) -> BTreeSet<&str> {
    let mut said: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.decision.trim().is_empty()) {
        said.entry(row.opportunity.trim()).or_default().insert(row.decision.trim().to_lowercase());
    }
    said.into_iter().filter(|(_, words)| words.len() > 1).map(|(id, _)| id).collect()
}

struct Import<'a> {
    store: &'a Store,
    planned: Planned,
    reviewer: &'a str,
    write: bool,
}

impl Import<'_> {
    /// Takes one row: what was decided, nothing, or why it is refused.
    async fn row(&self, row: &DecisionRow) -> Result<Result<Option<Verdict>, String>, EngineError> {
        let verdict = match Verdict::parse(&row.decision) {
            Ok(Some(verdict)) => verdict,
            Ok(None) => return Ok(Ok(None)),
            Err(reason) => return Ok(Err(reason)),
        };
        let seen = match row.revision.trim() {
            "" => None,
            text => match text.parse::<i64>() {
                Ok(seen) => Some(seen),
                Err(_) => return Ok(Err(format!("`{text}` is no revision; leave the column as it was exported"))),
            },
        };
        let id = row.opportunity.trim();
        let Some(kept) = self.store.opportunities().find(id).await? else {
            return Ok(Err("there is no such opportunity in this project".to_owned()));
        };
        if kept.state == verdict.state() {
            return Ok(Ok(None));
        }
        let decision = Decision {
            reason: Some(row.reason.trim().to_owned()).filter(|reason| !reason.is_empty()),
            ..decision(&self.planned, &kept, &verdict, seen, self.reviewer)
        };
        let decisions = self.store.decisions();
        let outcome = if self.write { decisions.record(&decision).await.map(drop) } else { decisions.try_out(&decision).await };
        match outcome {
            Ok(()) => Ok(Ok(Some(verdict))),
            Err(refused @ (StoreError::Conflict { .. } | StoreError::IllegalTransition { .. } | StoreError::NoOpportunity { .. })) => {
                Ok(Err(refused.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}
