//! What can go wrong with the database, as sentences for people.

use sqlx::migrate::MigrateError;
use std::path::{Path, PathBuf};

/// Why the project database could not be read or written. Each reads as one sentence; nothing was lost or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened.
    #[error("the project database `{path}` cannot be opened: {source}")]
    Unreadable {
        /// The database file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file or its folder cannot be written.
    #[error("the project database `{path}` cannot be written")]
    ReadOnly {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// No space left.
    #[error("the disk is full: nothing more could be written to `{path}`, and what was there is unharmed")]
    DiskFull {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// The file is no database or is damaged.
    #[error("the project database `{path}` is damaged or is no database")]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// An SQLite database of another program.
    #[error("`{path}` is a database of another program")]
    Foreign {
        /// The database file.
        path: PathBuf,
    },
    /// A newer linkwright wrote the file.
    #[error("the project database `{path}` was written by a newer linkwright (schema {schema})")]
    NewerSchema {
        /// The database file.
        path: PathBuf,
        /// Schema version that this program does not know.
        schema: i64,
    },
    /// Another process kept the database busy for too long.
    #[error("another program is using the project database `{path}`")]
    Locked {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// The disk or file system failed.
    #[error("reading or writing the project database `{path}` failed: {source}")]
    Disk {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// Vectors of a model with one name but another number of dimensions.
    #[error("vectors of model `{model}` have {stored} dimensions in this project, but {asked} were given or asked for")]
    ModelChanged {
        /// Name of the model.
        model: String,
        /// Dimensions of the stored vectors.
        stored: usize,
        /// Dimensions of the model in use.
        asked: usize,
    },
    /// A list of vectors that is no whole number of rows.
    #[error("a list of {values} numbers is no whole number of vectors of model `{model}` with {dimensions} dimensions")]
    VectorSize {
        /// Name of the model.
        model: String,
        /// Dimensions of the model.
        dimensions: usize,
        /// Numbers in the list.
        values: usize,
    },
    /// No such opportunity.
    #[error("there is no opportunity `{id}` in this project")]
    NoOpportunity {
        /// Its identity.
        id: String,
    },
    /// A transition that the life of an opportunity does not have.
    #[error("opportunity `{id}` is {from} and cannot become {to}")]
    IllegalTransition {
        /// Its identity.
        id: String,
        /// The state it is in.
        from: &'static str,
        /// The state that was asked for.
        to: &'static str,
    },
    /// Somebody else decided on the opportunity in the meantime.
    #[error("opportunity `{id}` is {state} by now: {reviewer} decided so at {decided_at}")]
    Conflict {
        /// Its identity.
        id: String,
        /// The state it is in.
        state: &'static str,
        /// Who decided last.
        reviewer: String,
        /// When; RFC 3339, UTC.
        decided_at: String,
    },
    /// No such run or crawl, or one that is finished.
    #[error("there is no unfinished {what} {id} in this project")]
    NotRunning {
        /// `run` or `crawl`.
        what: &'static str,
        /// Its number.
        id: i64,
    },
    /// A stored value that this program cannot read.
    #[error("the project database `{path}` holds {what} that cannot be read: {detail}")]
    Unfit {
        /// The database file.
        path: PathBuf,
        /// What was being read.
        what: &'static str,
        /// Why it cannot be read.
        detail: String,
    },
    /// Any other failure of the database.
    #[error("the project database `{path}` failed: {source}")]
    Database {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// A schema step failed.
    #[error("the schema of the project database `{path}` could not be brought up to date: {source}")]
    Migration {
        /// The database file.
        path: PathBuf,
        /// What failed.
        source: Box<MigrateError>,
    },
}

impl StoreError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "check the file's permissions, or name another folder with `--project`",
            Self::ReadOnly { .. } => "check the permissions of the project folder and its files, or name another folder with `--project`",
            Self::DiskFull { .. } => "free some space and run the command again; it continues where it stopped",
            Self::Damaged { .. } => "restore it from a backup, or move it away and run `linkwright plan` to build a new one",
            Self::Foreign { .. } => "name another project folder with `--project`",
            Self::NewerSchema { .. } => "update linkwright",
            Self::Locked { .. } => "wait until it has finished and run the command again",
            Self::Disk { .. } => "check the disk, then run the command again; it continues where it stopped",
            Self::ModelChanged { .. } | Self::VectorSize { .. } => {
                "use the model that the vectors were made with, or give the new one another name"
            }
            Self::NoOpportunity { .. } => "`linkwright plan` writes the identity of each opportunity to `plan.jsonl`",
            Self::IllegalTransition { .. } => "the opportunity was changed meanwhile; look at its present state",
            Self::Conflict { .. } => "look at it again, and decide once more if you still disagree",
            Self::NotRunning { .. } => "start it again with `linkwright plan`",
            Self::Unfit { .. } => "update linkwright, or move the file away and run `linkwright plan` to build a new one",
            Self::Database { .. } | Self::Migration { .. } => "run the command again; if it fails again, restore the file from a backup",
        }
    }
}

/// A failure before the path of the file is added to it.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(sqlx::Error),
    Migrate(MigrateError),
    Foreign,
    Unfit { what: &'static str, detail: String },
    Ready(StoreError),
}

impl Failure {
    pub(crate) fn unfit(what: &'static str, detail: impl std::fmt::Display) -> Self {
        Self::Unfit { what, detail: detail.to_string() }
    }

    pub(crate) fn at(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Sql(source) => from_sql(source, path),
            Self::Migrate(MigrateError::VersionMissing(schema)) => StoreError::NewerSchema { path, schema },
            Self::Migrate(MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _)) => from_sql(source, path),
            Self::Migrate(source) => StoreError::Migration { path, source: Box::new(source) },
            Self::Foreign => StoreError::Foreign { path },
            Self::Unfit { what, detail } => StoreError::Unfit { path, what, detail },
            Self::Ready(error) => error,
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<MigrateError> for Failure {
    fn from(error: MigrateError) -> Self {
        Self::Migrate(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Ready(error)
    }
}

/// By SQLite's primary result code, the low byte of the extended one: <https://www.sqlite.org/rescode.html>.
fn from_sql(source: sqlx::Error, path: PathBuf) -> StoreError {
    let code = source.as_database_error().and_then(|error| error.code()).and_then(|code| code.parse::<i32>().ok());
    match (code.map(|code| code & 0xff), &source) {
        (Some(5 | 6), _) | (None, sqlx::Error::PoolTimedOut) => StoreError::Locked { path, source },
        (Some(3 | 8 | 23), _) => StoreError::ReadOnly { path, source },
        (Some(10), _) => StoreError::Disk { path, source },
        (Some(11 | 26), _) => StoreError::Damaged { path, source },
        (Some(13), _) => StoreError::DiskFull { path, source },
        // The file itself was seen to open: it is the log or the folder that cannot be written.
        (Some(14), _) => StoreError::ReadOnly { path, source },
        _ => StoreError::Database { path, source },
    }
}
