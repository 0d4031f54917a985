//! One process at a time in a project: an operating-system lock on `linkwright.lock`, which goes
//! when its holder does, however it ends.
//!
//! The text of the file is only for people. A file without a lock on it means nothing and is taken over.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Name of the lock file in a project folder.
pub const LOCK_FILE: &str = "linkwright.lock";

/// Time between two attempts while waiting.
const ATTEMPT_EVERY: Duration = Duration::from_millis(100);

/// More than the text of any lock file.
const MAX_TEXT_BYTES: u64 = 4096;

/// Who holds a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub process: u32,
    /// The command, such as `plan`.
    pub command: String,
    /// RFC 3339, UTC.
    pub started_at: String,
}

impl Holder {
    /// This process.
    #[must_use]
    pub fn current(command: &str, started_at: &str) -> Self {
        Self { process: std::process::id(), command: command.to_owned(), started_at: started_at.to_owned() }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let process = lines.next()?.trim().parse().ok()?;
        let line = |text: &str| text.chars().filter(|c| !c.is_control()).take(200).collect();
        Some(Self { process, command: lines.next().map(line)?, started_at: lines.next().map(line)? })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`linkwright {}` (process {}, since {})", self.command, self.process, self.started_at)
    }
}

/// Why a project could not be held. Each reads as one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process holds it.
    #[error("the project `{folder}` is in use by {}", holder.as_ref().map_or_else(|| "another process".to_owned(), ToString::to_string))]
    Held {
        /// The project folder.
        folder: PathBuf,
        /// Who, as far as the lock file says it.
        holder: Option<Holder>,
    },
    /// The lock file cannot be made, opened or locked.
    #[error("the lock file `{path}` cannot be used: {source}")]
    Unusable {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl LockError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Held { .. } => "wait until it has finished, or end that process; its work is kept",
            Self::Unusable { .. } => "check the permissions of the project folder, or name another one with `--project`",
        }
    }
}

/// Holds a project as long as it lives.
#[derive(Debug)]
pub struct ProjectLock {
    file: File,
}

impl ProjectLock {
    /// Takes the project, waiting for another holder at most as long as `wait` says, or not at all.
    ///
    /// # Errors
    /// `Held` when another process still holds it; `Unusable` when the file cannot be made or locked.
    pub async fn acquire(folder: &Path, holder: &Holder, wait: Option<Duration>) -> Result<Self, LockError> {
        let path = folder.join(LOCK_FILE);
        let unusable = |source| LockError::Unusable { path: path.clone(), source };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(unusable)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => return Err(unusable(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            let left = wait.unwrap_or_default().saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(LockError::Held { folder: folder.to_owned(), holder: holder_in(&mut file) });
            }
            tokio::time::sleep(left.min(ATTEMPT_EVERY)).await;
        }
        // The text is a courtesy: a full disk must not keep anybody from reading a project.
        let _ = write_holder(&mut file, holder);
        Ok(Self { file })
    }
}

impl Drop for ProjectLock {
    fn drop(&mut self) {
        // The lock itself goes with the file handle. The file stays: removing it would let two
        // processes lock two files of one name.
        let _ = self.file.set_len(0);
    }
}

fn write_holder(file: &mut File, holder: &Holder) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}\n{}\n{}", holder.process, holder.command.replace(['\n', '\r'], " "), holder.started_at)?;
    file.flush()
}

/// `None` where the text is missing, half written, or cannot be read while another holds the lock (Windows).
fn holder_in(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MAX_TEXT_BYTES).read_to_string(&mut text).ok()?;
    Holder::parse(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_text_names_a_holder() {
        let holder = Holder { process: 12, command: "plan https://example.org".to_owned(), started_at: "2026-12-01T00:00:00Z".to_owned() };
        assert_eq!(Holder::parse("12\nplan https://example.org\n2026-12-01T00:00:00Z\n"), Some(holder));
        for text in ["", "12", "12\nplan", "x\nplan\n2026", "\u{0}\n\n"] {
            assert_eq!(Holder::parse(text), None, "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_second_holder_is_refused_and_told_who_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let holder = Holder::current("plan", "2026-12-01T00:00:00Z");
        let first = ProjectLock::acquire(folder.path(), &holder, None).await.unwrap();
        let error = ProjectLock::acquire(folder.path(), &holder, Some(Duration::from_millis(150))).await.unwrap_err();
        assert!(matches!(&error, LockError::Held { holder: Some(found), .. } if *found == holder), "{error}");
        drop(first);
        ProjectLock::acquire(folder.path(), &holder, None).await.unwrap();
    }

    #[tokio::test]
    async fn a_waiting_process_gets_the_project_when_it_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let holder = Holder::current("plan", "2026-12-01T00:00:00Z");
        let first = ProjectLock::acquire(folder.path(), &holder, None).await.unwrap();
        let waiting = ProjectLock::acquire(folder.path(), &holder, Some(Duration::from_secs(60)));
        let (second, ()) = tokio::join!(waiting, async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(first);
        });
        second.unwrap();
    }

    #[tokio::test]
    async fn a_folder_that_is_not_there_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let holder = Holder::current("plan", "2026-12-01T00:00:00Z");
        let error = ProjectLock::acquire(&folder.path().join("none"), &holder, None).await.unwrap_err();
        assert!(matches!(error, LockError::Unusable { .. }), "{error}");
    }
}
