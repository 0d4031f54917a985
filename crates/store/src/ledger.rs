//! The ledger: every inserted link, and what became of it. Append-only.
//!
//! An edit is begun before its page is touched and written when the page is. A process that is killed between the two
//! leaves an open edit; whoever comes next looks at the page and closes it.

use crate::decisions::append;
use crate::error::Failure;
use crate::names::{from_json, from_name, to_json, to_name};
use crate::{Decision, RunId, Store, StoreError};
use linkwright_core::edit::{NewLink, Written};
use linkwright_core::page::SourceFormat;
use serde::{Deserialize, Serialize};
use sqlx::{Sqlite, Transaction};

/// Number of an edit in its project, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EditId(pub i64);

/// What keeps the pages that were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PublisherKind {
    /// Files.
    Folder,
    /// WordPress.
    Wordpress,
}

/// What happened to an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditEvent {
    /// The page is about to be written.
    Begun,
    /// The page holds the link.
    Written,
    /// The page was not written.
    Abandoned,
    /// The link is about to be taken out.
    UndoBegun,
    /// The link is out.
    Undone,
    /// The link was not taken out.
    UndoAbandoned,
    /// Seen on the page by `verify`.
    Observed,
    /// Not seen there.
    Missing,
    /// Seen there with other words.
    Changed,
}

impl EditEvent {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Written => "written",
            Self::Abandoned => "abandoned",
            Self::UndoBegun => "undo_begun",
            Self::Undone => "undone",
            Self::UndoAbandoned => "undo_abandoned",
            Self::Observed => "observed",
            Self::Missing => "missing",
            Self::Changed => "changed",
        }
    }

    /// Whether it says what was seen, and not what was done.
    #[must_use]
    pub fn is_observation(self) -> bool {
        matches!(self, Self::Observed | Self::Missing | Self::Changed)
    }
}

/// An inserted link.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEdit {
    /// The opportunity it carries out.
    pub opportunity: String,
    /// What keeps the page.
    pub publisher: PublisherKind,
    /// The folder, or the address of the WordPress site.
    pub site: String,
    /// The page within it: a path below the folder, or such as `posts/12`.
    pub location: String,
    /// Public URL of the page.
    pub source_url: String,
    /// Public URL of the target.
    pub target_url: String,
    /// Notation of the page.
    pub format: SourceFormat,
    /// What a reader of the page must find.
    pub link: NewLink,
    /// The sentence around it.
    pub passage: String,
    /// blake3 of the page's bytes before, hexadecimal.
    pub hash_before: String,
    /// blake3 of the page's bytes after.
    pub hash_after: String,
    /// The bytes.
    pub written: Written,
}

/// An edit as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// Its number.
    pub id: EditId,
    /// The run that made it.
    pub run: RunId,
    /// What was inserted.
    pub edit: NewEdit,
    /// The last event that says whether the link is on the page.
    pub status: EditEvent,
    /// When that was; RFC 3339, UTC.
    pub at: String,
    /// Who did it.
    pub who: String,
}

impl Edit {
    /// Whether the link is on the page, as far as the ledger knows.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.status, EditEvent::Written | EditEvent::UndoAbandoned)
    }

    /// Whether a process ended between announcing a change and recording it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.status, EditEvent::Begun | EditEvent::UndoBegun)
    }
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The edit.
    pub edit: EditId,
    /// The run in which it happened.
    pub run: RunId,
    /// What happened.
    pub event: EditEvent,
    /// RFC 3339, UTC.
    pub at: String,
    /// Who.
    pub who: String,
    /// Hash of the page's bytes that the event found or left; empty when there was no page.
    pub hash: String,
    /// A sentence, where there is more to say.
    pub detail: Option<String>,
}

/// The ledger of a project.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a>(pub(crate) &'a Store);

impl Ledger<'_> {
    /// Announces the edits of one page, before it is written.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn begin(self, run: RunId, edits: &[NewEdit], at: &str, who: &str) -> Result<Vec<EditId>, StoreError> {
        let begun = async {
            let mut change = self.0.begin().await?;
            let mut ids = Vec::with_capacity(edits.len());
            for edit in edits {
                let id = insert(&mut change, run, edit).await?;
                let (hash, at, who) = (edit.hash_before.clone(), at.to_owned(), who.to_owned());
                add(&mut change, &Entry { edit: id, run, event: EditEvent::Begun, at, who, hash, detail: None }).await?;
                ids.push(id);
            }
            change.commit().await?;
            Ok(ids)
        };
        begun.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Adds entries, and moves opportunities with them, in one step.
    ///
    /// # Errors
    /// When a decision is refused, or the database cannot be written.
    pub async fn record(self, entries: &[Entry], decisions: &[Decision]) -> Result<(), StoreError> {
        let recorded = async {
            let mut change = self.0.begin().await?;
            for entry in entries {
                add(&mut change, entry).await?;
            }
            for decision in decisions {
                append(&mut change, decision).await?;
            }
            Ok(change.commit().await?)
        };
        recorded.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Every edit, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn edits(self) -> Result<Vec<Edit>, StoreError> {
        let listed = async {
            let rows: Vec<Row> = sqlx::query_as(
                "SELECT edits.*, ledger.event, ledger.at, ledger.who FROM edits JOIN ledger ON ledger.id = (
                    SELECT max(id) FROM ledger WHERE edit = edits.id AND event NOT IN ('observed', 'missing', 'changed'))
                 ORDER BY edits.id",
            )
            .fetch_all(&self.0.reader)
            .await?;
            rows.into_iter().map(read).collect::<Result<_, _>>()
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }

    /// Every entry of an edit, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn entries(self, edit: EditId) -> Result<Vec<Entry>, StoreError> {
        let listed = async {
            let rows: Vec<EntryRow> =
                sqlx::query_as("SELECT edit, run, event, at, who, hash, detail FROM ledger WHERE edit = $1 ORDER BY id")
                    .bind(edit.0)
                    .fetch_all(&self.0.reader)
                    .await?;
            let entry = |row: EntryRow| {
                let event = from_name("an event of the ledger", row.event)?;
                let (edit, run) = (EditId(row.edit), RunId(row.run));
                Ok(Entry { edit, run, event, at: row.at, who: row.who, hash: row.hash, detail: row.detail })
            };
            rows.into_iter().map(entry).collect::<Result<_, Failure>>()
        };
        listed.await.map_err(|error: Failure| error.at(self.0.path()))
    }
}

async fn insert(change: &mut Transaction<'static, Sqlite>, run: RunId, edit: &NewEdit) -> Result<EditId, Failure> {
    let number = |place: usize| i64::try_from(place).map_err(|error| Failure::unfit("a place", error));
    let definition = edit.written.definition.as_ref();
    let (id,) = sqlx::query_as(
        "INSERT INTO edits (run, opportunity, publisher, site, location, source_url, target_url, format, link, passage, hash_before,
            hash_after, place, opening, words, closing, definition_place, definition, context_before, context_after)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) RETURNING id",
    )
    .bind(run.0)
    .bind(&edit.opportunity)
    .bind(to_name(&edit.publisher)?)
    .bind(&edit.site)
    .bind(&edit.location)
    .bind(&edit.source_url)
    .bind(&edit.target_url)
    .bind(to_name(&edit.format)?)
    .bind(to_json("a link", &edit.link)?)
    .bind(&edit.passage)
    .bind(&edit.hash_before)
    .bind(&edit.hash_after)
    .bind(number(edit.written.place)?)
    .bind(&edit.written.opening)
    .bind(&edit.written.words)
    .bind(&edit.written.closing)
    .bind(definition.map(|(place, _)| number(*place)).transpose()?)
    .bind(definition.map(|(_, bytes)| bytes))
    .bind(&edit.written.before)
    .bind(&edit.written.after)
    .fetch_one(&mut **change)
    .await?;
    Ok(EditId(id))
}

async fn add(change: &mut Transaction<'static, Sqlite>, entry: &Entry) -> Result<(), Failure> {
    sqlx::query("INSERT INTO ledger (edit, run, event, at, who, hash, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)")
        .bind(entry.edit.0)
        .bind(entry.run.0)
        .bind(entry.event.name())
        .bind(&entry.at)
        .bind(&entry.who)
        .bind(&entry.hash)
        .bind(&entry.detail)
        .execute(&mut **change)
        .await?;
    Ok(())
}

#[derive(sqlx::FromRow)]
struct EntryRow {
    edit: i64,
    run: i64,
    event: String,
    at: String,
    who: String,
    hash: String,
    detail: Option<String>,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: i64,
    run: i64,
    opportunity: String,
    publisher: String,
    site: String,
    location: String,
    source_url: String,
    target_url: String,
    format: String,
    link: String,
    passage: String,
    hash_before: String,
    hash_after: String,
    place: i64,
    opening: Vec<u8>,
    words: Vec<u8>,
    closing: Vec<u8>,
    definition_place: Option<i64>,
    definition: Option<Vec<u8>>,
    context_before: Vec<u8>,
    context_after: Vec<u8>,
    event: String,
    at: String,
    who: String,
}

fn read(row: Row) -> Result<Edit, Failure> {
    let place = |number: i64| usize::try_from(number).map_err(|error| Failure::unfit("a place", error));
    let definition = match (row.definition_place, row.definition) {
        (Some(at), Some(bytes)) => Some((place(at)?, bytes)),
        _ => None,
    };
    let written = Written {
        place: place(row.place)?,
        opening: row.opening,
        words: row.words,
        closing: row.closing,
        definition,
        before: row.context_before,
        after: row.context_after,
    };
    let edit = NewEdit {
        opportunity: row.opportunity,
        publisher: from_name("a publisher", row.publisher)?,
        site: row.site,
        location: row.location,
        source_url: row.source_url,
        target_url: row.target_url,
        format: from_name("the format of a page", row.format)?,
        link: from_json("a link", &row.link)?,
        passage: row.passage,
        hash_before: row.hash_before,
        hash_after: row.hash_after,
        written,
    };
    let status = from_name("an event of the ledger", row.event)?;
    Ok(Edit { id: EditId(row.id), run: RunId(row.run), edit, status, at: row.at, who: row.who })
}
