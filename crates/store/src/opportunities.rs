//! Opportunities and their life:
//! `found → accepted | rejected → published → observed`, or `missing`, `undone`, `expired`.

use crate::error::Failure;
use crate::names::{from_json, from_name, key_of, to_json};
use crate::{RunId, Store, StoreError};
use linkwright_core::guardrail::Guardrail;
use linkwright_core::plan::{Gap, Opportunity, Plan};
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;

/// Where an opportunity is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Proposed by a run; waits for a decision.
    Found,
    /// Approved; waits to be written.
    Accepted,
    /// Turned down.
    Rejected,
    /// Written.
    Published,
    /// Seen on the live page.
    Observed,
    /// Written, but not on the live page; waits for a decision again.
    Missing,
    /// Taken back.
    Undone,
    /// No longer possible: the page changed under it, or it is not proposed any more.
    Expired,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 8] =
        [Self::Found, Self::Accepted, Self::Rejected, Self::Published, Self::Observed, Self::Missing, Self::Undone, Self::Expired];

    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Published => "published",
            Self::Observed => "observed",
            Self::Missing => "missing",
            Self::Undone => "undone",
            Self::Expired => "expired",
        }
    }

    /// Whether a decision is due.
    #[must_use]
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Found | Self::Missing)
    }

    /// Whether its link is on the site, or is to come there.
    #[must_use]
    pub fn is_link(self) -> bool {
        matches!(self, Self::Accepted | Self::Published | Self::Observed)
    }

    /// Whether an opportunity in this state may come into the next.
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        use State::{Accepted, Expired, Found, Missing, Observed, Published, Rejected, Undone};
        match self {
            Found => matches!(next, Accepted | Rejected | Expired),
            // A link that went missing may come back by itself.
            Missing => matches!(next, Accepted | Rejected | Expired | Observed | Undone),
            // Back to `found` withdraws the decision before anything was written. Seen without having been written:
            // an editor put the link in by hand.
            Accepted => matches!(next, Published | Rejected | Found | Expired | Observed),
            Rejected => matches!(next, Accepted | Found),
            Published => matches!(next, Observed | Missing | Undone),
            Observed => matches!(next, Missing | Undone),
            Undone => matches!(next, Accepted | Rejected),
            Expired => matches!(next, Found),
        }
    }
}

/// An opportunity as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOpportunity {
    /// What was proposed.
    pub opportunity: Opportunity,
    /// As a run proposed it, where a reviewer has revised it.
    pub proposed: Option<Box<Opportunity>>,
    /// Where it is in its life.
    pub state: State,
    /// Number of the last decision about it, 0 before the first: tells whether somebody else has decided since.
    pub revision: i64,
    /// Run that proposed it first.
    pub first_run: RunId,
    /// Run that proposed it last.
    pub last_run: RunId,
}

/// The opportunities of a project.
#[derive(Clone, Copy, Debug)]
pub struct Opportunities<'a>(pub(crate) &'a Store);

#[derive(sqlx::FromRow)]
struct Row {
    state: String,
    first_run: i64,
    last_run: i64,
    payload: String,
    proposed: Option<String>,
    revision: i64,
}

impl Opportunities<'_> {
    /// Opportunities in a state, best first, ties by identity.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn in_state(self, state: State) -> Result<Vec<StoredOpportunity>, StoreError> {
        let listed = async {
            let rows: Vec<Row> = sqlx::query_as(
                "SELECT state, first_run, last_run, payload, proposed,
                    coalesce((SELECT max(id) FROM decisions WHERE opportunity = opportunities.id), 0) AS revision
                 FROM opportunities WHERE state = $1 ORDER BY score DESC, id",
            )
            .bind(state.name())
            .fetch_all(&self.0.reader)
            .await?;
            rows.into_iter().map(read).collect::<Result<_, _>>()
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Every opportunity in any state, best first, ties by identity.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(self) -> Result<Vec<StoredOpportunity>, StoreError> {
        let listed = async {
            let rows: Vec<Row> = sqlx::query_as(
                "SELECT state, first_run, last_run, payload, proposed,
                    coalesce((SELECT max(id) FROM decisions WHERE opportunity = opportunities.id), 0) AS revision
                 FROM opportunities ORDER BY score DESC, id",
            )
            .fetch_all(&self.0.reader)
            .await?;
            rows.into_iter().map(read).collect::<Result<_, _>>()
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// A number that changes with every decision and every plan: what was read before it is still true while it is
    /// the same.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn version(self) -> Result<(i64, i64), StoreError> {
        let read = async {
            let sql = "SELECT coalesce((SELECT max(id) FROM decisions), 0), coalesce((SELECT max(run) FROM plans), 0)";
            Ok(sqlx::query_as(sql).fetch_one(&self.0.reader).await?)
        };
        read.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// One opportunity.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn find(self, id: &str) -> Result<Option<StoredOpportunity>, StoreError> {
        let found = async {
            let row: Option<Row> = sqlx::query_as(
                "SELECT state, first_run, last_run, payload, proposed,
                    coalesce((SELECT max(id) FROM decisions WHERE opportunity = opportunities.id), 0) AS revision
                 FROM opportunities WHERE id = $1",
            )
            .bind(id)
            .fetch_optional(&self.0.reader)
            .await?;
            row.map(read).transpose()
        };
        found.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// The gaps of the last run that had a plan, best first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn gaps(self) -> Result<Vec<Gap>, StoreError> {
        let listed = async {
            let rows: Vec<(String,)> = sqlx::query_as("SELECT payload FROM gaps WHERE run = (SELECT max(run) FROM gaps) ORDER BY position")
                .fetch_all(&self.0.reader)
                .await?;
            rows.iter().map(|(payload,)| from_json("a gap", payload)).collect::<Result<_, _>>()
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }
}

fn read(row: Row) -> Result<StoredOpportunity, Failure> {
    Ok(StoredOpportunity {
        opportunity: from_json("an opportunity", &row.payload)?,
        proposed: row.proposed.map(|proposed| from_json("an opportunity", &proposed)).transpose()?,
        state: from_name("the state of an opportunity", row.state)?,
        revision: row.revision,
        first_run: RunId(row.first_run),
        last_run: RunId(row.last_run),
    })
}

/// Brings the kept opportunities and gaps in line with a new plan. What people decided stays; what waits for a
/// decision takes the new values; what a plan that looked at the page no longer proposes expires.
pub(crate) async fn merge(change: &mut SqliteConnection, run: RunId, plan: &Plan) -> Result<(), Failure> {
    for opportunity in &plan.opportunities {
        if opportunity.flags.iter().any(|flag| flag == Guardrail::Rejected.code()) {
            reopen(change, &opportunity.id, &plan.run.started_at).await?;
        }
        upsert(change, run, opportunity).await?;
    }
    expire(change, run, plan).await?;
    sqlx::query("DELETE FROM gaps").execute(&mut *change).await?;
    for (position, gap) in (0_i64..).zip(&plan.gaps) {
        insert_gap(change, run, position, gap).await?;
    }
    Ok(())
}

/// What was decided on a pair stands, also when another passage of the page seems better by now.
async fn upsert(change: &mut SqliteConnection, run: RunId, opportunity: &Opportunity) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO opportunities (id, state, source_key, target_key, source_hash, score, first_run, last_run, payload)
         SELECT $1, 'found', $2, $3, $4, $5, $6, $6, $7
         WHERE NOT EXISTS (SELECT 1 FROM opportunities WHERE source_key = $2 AND target_key = $3 AND id <> $1
            AND state IN ('accepted', 'published', 'observed', 'missing', 'undone'))
         ON CONFLICT (id) DO UPDATE SET last_run = excluded.last_run,
            state = CASE state WHEN 'expired' THEN 'found' ELSE state END,
            source_hash = CASE WHEN state IN ('found', 'missing', 'expired') THEN excluded.source_hash ELSE source_hash END,
            score = CASE WHEN state IN ('found', 'missing', 'expired') THEN excluded.score ELSE score END,
            payload = CASE WHEN state IN ('found', 'missing', 'expired') THEN excluded.payload ELSE payload END",
    )
    .bind(&opportunity.id)
    .bind(key_of(&opportunity.source_url))
    .bind(key_of(&opportunity.target_url))
    .bind(&opportunity.source_hash)
    .bind(opportunity.score)
    .bind(run.0)
    .bind(to_json("an opportunity", opportunity)?)
    .execute(change)
    .await?;
    Ok(())
}

/// What was rejected and is proposed again, because a page changed, waits for a decision once more.
async fn reopen(change: &mut SqliteConnection, id: &str, at: &str) -> Result<(), Failure> {
    let reopened = sqlx::query(
        "INSERT INTO decisions (opportunity, from_state, to_state, reviewer, decided_at, reason, source_hash)
         SELECT id, 'rejected', 'found', 'linkwright', $2, 'one of the two pages has changed since', source_hash
         FROM opportunities WHERE id = $1 AND state = 'rejected'",
    )
    .bind(id)
    .bind(at)
    .execute(&mut *change)
    .await?;
    if reopened.rows_affected() > 0 {
        sqlx::query("UPDATE opportunities SET state = 'found' WHERE id = $1").bind(id).execute(change).await?;
    }
    Ok(())
}

/// A partial plan says nothing about pages it did not read; a whole one also about pages that are gone.
async fn expire(change: &mut SqliteConnection, run: RunId, plan: &Plan) -> Result<(), Failure> {
    if plan.run.partial.is_none() && plan.run.complete {
        sqlx::query("UPDATE opportunities SET state = 'expired' WHERE state = 'found' AND last_run <> $1")
            .bind(run.0)
            .execute(change)
            .await?;
        return Ok(());
    }
    for page in plan.pages.iter().filter(|page| page.outcome.was_read()) {
        sqlx::query("UPDATE opportunities SET state = 'expired' WHERE state = 'found' AND last_run <> $1 AND source_key = $2")
            .bind(run.0)
            .bind(key_of(&page.url))
            .execute(&mut *change)
            .await?;
    }
    Ok(())
}

async fn insert_gap(change: &mut SqliteConnection, run: RunId, position: i64, gap: &Gap) -> Result<(), Failure> {
    sqlx::query("INSERT INTO gaps (run, position, source_key, target_key, score, reason, payload) VALUES ($1, $2, $3, $4, $5, $6, $7)")
        .bind(run.0)
        .bind(position)
        .bind(key_of(&gap.source_url))
        .bind(key_of(&gap.target_url))
        .bind(gap.score)
        .bind(&gap.reason)
        .bind(to_json("a gap", gap)?)
        .execute(change)
        .await?;
    Ok(())
}
