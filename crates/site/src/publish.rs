//! Pages of a folder and back: the one place that changes a user's files.
//!
//! A file is replaced whole or not at all: the new bytes are written beside it, made durable, and renamed over it,
//! with its permissions and owner. A symbolic link is followed to the file it names, never replaced.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

/// End of the name of a file that is being written. It begins with a dot, so no reader takes it for a page.
const BEING_WRITTEN: &str = ".linkwright-new";
/// More than any page.
const MAX_BYTES: u64 = 64 << 20;

/// Why a file was not read or written. Each reads as one sentence, and the file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The folder is not there.
    #[error("the folder `{}` is not there", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The file is not there.
    #[error("`{path}` is not there any more")]
    NoFile {
        /// Path below the folder.
        path: String,
    },
    /// The path leads out of the folder.
    #[error("`{path}` leads out of the folder")]
    Outside {
        /// Path below the folder.
        path: String,
    },
    /// A folder, a device, or too large.
    #[error("`{path}` is no page: {reason}")]
    NoPage {
        /// Path below the folder.
        path: String,
        /// What it is.
        reason: &'static str,
    },
    /// The file may not be changed.
    #[error("`{path}` is read-only")]
    ReadOnly {
        /// Path below the folder.
        path: String,
    },
    /// Replacing one name of the file would leave the others with the old text.
    #[error("`{path}` is one file under several names")]
    SeveralNames {
        /// Path below the folder.
        path: String,
    },
    /// The file belongs to somebody else, and the new one would not.
    #[error("`{path}` belongs to another user, and would not any more")]
    Owner {
        /// Path below the folder.
        path: String,
    },
    /// The file is not what the edit was made for.
    #[error("`{path}` was changed by somebody else in the meantime")]
    Changed {
        /// Path below the folder.
        path: String,
    },
    /// The system failed.
    #[error("`{path}` cannot be {action}: {source}")]
    System {
        /// Path below the folder.
        path: String,
        /// `read` or `written`.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl PublishError {
    /// A stable name for reports.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "no_folder",
            Self::NoFile { .. } => "no_file",
            Self::Outside { .. } => "outside_folder",
            Self::NoPage { .. } => "no_page",
            Self::ReadOnly { .. } => "read_only",
            Self::SeveralNames { .. } => "several_names",
            Self::Owner { .. } => "other_owner",
            Self::Changed { .. } => "changed_meanwhile",
            Self::System { .. } => "system",
        }
    }

    /// What the user can do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "run `linkwright plan` on the folder where it is now",
            Self::NoFile { .. } => "run `linkwright plan` again: the page is gone or has moved",
            Self::Outside { .. } => "plan the folder that holds the file itself",
            Self::NoPage { .. } => "run `linkwright plan` again",
            Self::ReadOnly { .. } => "make the file writable if linkwright may change it",
            Self::SeveralNames { .. } => "break the hard link by copying the file, if it should be edited",
            Self::Owner { .. } => "run linkwright as the owner of the files",
            Self::Changed { .. } => "run the command again; the page is looked at anew",
            Self::System { .. } => "check permissions and free space, then run the command again",
        }
    }

    /// Whether the page is at fault and not the run: such a page is left out, and the run goes on.
    #[must_use]
    pub fn concerns_page(&self) -> bool {
        !matches!(self, Self::NoFolder { .. } | Self::System { action: "written", .. })
    }
}

/// A folder whose pages can be read and replaced.
#[derive(Clone, Debug)]
pub struct FolderPublisher {
    root: PathBuf,
}

impl FolderPublisher {
    /// Opens a folder.
    ///
    /// # Errors
    /// `NoFolder` when it is none.
    pub fn open(folder: &Path) -> Result<Self, PublishError> {
        let root = folder.canonicalize().ok().filter(|root| root.is_dir());
        root.map(|root| Self { root }).ok_or_else(|| PublishError::NoFolder { folder: folder.to_owned() })
    }

    /// The folder, without symbolic links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The bytes of a page.
    ///
    /// # Errors
    /// When the path leads to no page of the folder, or cannot be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, PublishError> {
        let (file, found) = self.find(path)?;
        if found.len() > MAX_BYTES {
            return Err(PublishError::NoPage { path: path.to_owned(), reason: "it is larger than any page" });
        }
        read(&file).map_err(system(path, "read"))
    }

    /// Puts new bytes in the place of `expected`. `step` hears of each step before it is taken.
    ///
    /// # Errors
    /// When the file holds other bytes by now, may not be changed, or the system fails. It is then as it was.
    pub fn write(&self, path: &str, expected: &[u8], new: &[u8], step: &dyn Fn(&str)) -> Result<(), PublishError> {
        let (file, found) = self.find(path)?;
        if found.permissions().readonly() {
            return Err(PublishError::ReadOnly { path: path.to_owned() });
        }
        if names(&found) > 1 {
            return Err(PublishError::SeveralNames { path: path.to_owned() });
        }
        let beside = beside(&file);
        let replacement = Replacement { path, file: &file, beside: &beside, found: &found };
        let done = replacement.make(expected, new, step);
        if done.is_err() {
            let _ = fs::remove_file(&beside);
        }
        done
    }

    /// Removes what a killed process left beside a file.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn clean(&self, path: &str) -> Result<(), PublishError> {
        let Ok((file, _)) = self.find(path) else { return Ok(()) };
        match fs::remove_file(beside(&file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(system(path, "written")(error)),
            _ => Ok(()),
        }
    }

    /// The file behind a path, symbolic links followed, if it is one of the folder's.
    fn find(&self, path: &str) -> Result<(PathBuf, Metadata), PublishError> {
        let outside = || PublishError::Outside { path: path.to_owned() };
        if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(outside());
        }
        let file = self.root.join(path).canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => PublishError::NoFile { path: path.to_owned() },
            _ => system(path, "read")(error),
        })?;
        if !file.starts_with(&self.root) {
            return Err(outside());
        }
        let found = fs::metadata(&file).map_err(system(path, "read"))?;
        if !found.is_file() {
            return Err(PublishError::NoPage { path: path.to_owned(), reason: "it is no file" });
        }
        Ok((file, found))
    }
}

/// A file about to be replaced.
struct Replacement<'a> {
    /// Path below the folder, for messages.
    path: &'a str,
    file: &'a Path,
    beside: &'a Path,
    found: &'a Metadata,
}

impl Replacement<'_> {
    fn make(&self, expected: &[u8], new: &[u8], step: &dyn Fn(&str)) -> Result<(), PublishError> {
        let failed = || system(self.path, "written");
        step("write beside the page");
        let mut out = OpenOptions::new().write(true).create(true).truncate(true).open(self.beside).map_err(failed())?;
        out.write_all(new).map_err(failed())?;
        fs::set_permissions(self.beside, self.found.permissions()).map_err(failed())?;
        if !keep_owner(self.beside, self.found) {
            return Err(PublishError::Owner { path: self.path.to_owned() });
        }
        out.sync_all().map_err(failed())?;
        drop(out);
        // As late as can be: what somebody saved until now is seen.
        if read(self.file).map_err(system(self.path, "read"))? != expected {
            return Err(PublishError::Changed { path: self.path.to_owned() });
        }
        step("put the page in place");
        fs::rename(self.beside, self.file).map_err(failed())?;
        step("make the new name durable");
        if let Some(folder) = self.file.parent() {
            // Not every system can; the file is in place all the same.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}{BEING_WRITTEN}"))
}

fn system(path: &str, action: &'static str) -> impl Fn(io::Error) -> PublishError + use<> {
    let path = path.to_owned();
    move |source| PublishError::System { path: path.clone(), action, source }
}

#[cfg(unix)]
fn names(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// Gives the new file the owner and group of the old one; false where that is not allowed and they differ.
#[cfg(unix)]
fn keep_owner(new: &Path, old: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, chown};
    let same = |now: &Metadata| (now.uid(), now.gid()) == (old.uid(), old.gid());
    fs::metadata(new).is_ok_and(|now| same(&now)) || chown(new, Some(old.uid()), Some(old.gid())).is_ok()
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &Metadata) -> bool {
    true
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use tempfile::TempDir;

    fn folder() -> (TempDir, FolderPublisher) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("blog")).unwrap();
        fs::write(folder.path().join("blog/a.html"), b"\xef\xbb\xbfold\r\n").unwrap();
        let publisher = FolderPublisher::open(folder.path()).unwrap();
        (folder, publisher)
    }

    fn files(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_nothing_left_beside_it() {
        let (folder, publisher) = folder();
        let file = folder.path().join("blog/a.html");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let old = publisher.read("blog/a.html").unwrap();
        publisher.write("blog/a.html", &old, b"new", &|_| ()).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(files(&folder.path().join("blog")), ["a.html"]);
    }

    #[test]
    fn a_file_that_somebody_changed_stays_as_they_left_it() {
        let (folder, publisher) = folder();
        let refused = publisher.write("blog/a.html", b"older", b"new", &|_| ()).unwrap_err();
        assert_eq!(refused.code(), "changed_meanwhile");
        assert_eq!(publisher.read("blog/a.html").unwrap(), b"\xef\xbb\xbfold\r\n");
        assert_eq!(files(&folder.path().join("blog")), ["a.html"]);
    }

    #[test]
    fn a_symbolic_link_is_followed_and_stays_one() {
        let (folder, publisher) = folder();
        symlink("a.html", folder.path().join("blog/link.html")).unwrap();
        let old = publisher.read("blog/link.html").unwrap();
        publisher.write("blog/link.html", &old, b"new", &|_| ()).unwrap();
        assert!(fs::symlink_metadata(folder.path().join("blog/link.html")).unwrap().is_symlink());
        assert_eq!(publisher.read("blog/a.html").unwrap(), b"new");
    }

    #[test]
    fn nothing_outside_the_folder_is_read_or_written() {
        let (folder, publisher) = folder();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("x.html"), b"x").unwrap();
        symlink(outside.path().join("x.html"), folder.path().join("out.html")).unwrap();
        symlink(outside.path(), folder.path().join("out")).unwrap();
        for path in ["out.html", "out/x.html", "../x.html", "/etc/hostname", "blog/../../x.html"] {
            assert_eq!(publisher.read(path).unwrap_err().code(), "outside_folder", "{path}");
            assert!(publisher.write(path, b"x", b"y", &|_| ()).is_err(), "{path}");
        }
        assert_eq!(fs::read(outside.path().join("x.html")).unwrap(), b"x");
    }

    #[test]
    fn files_that_may_not_be_replaced_are_refused() {
        let (folder, publisher) = folder();
        let refused = |path: &str| publisher.write(path, b"\xef\xbb\xbfold\r\n", b"new", &|_| ()).unwrap_err().code();
        assert_eq!(refused("blog/gone.html"), "no_file");
        assert_eq!(refused("blog/a.html/b.html"), "no_file");
        assert_eq!(refused("blog"), "no_page");
        let file = folder.path().join("blog/a.html");
        fs::hard_link(&file, folder.path().join("b.html")).unwrap();
        assert_eq!(refused("blog/a.html"), "several_names");
        fs::remove_file(folder.path().join("b.html")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(refused("blog/a.html"), "read_only");
        assert!(matches!(FolderPublisher::open(&file), Err(PublishError::NoFolder { .. })));
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let (folder, publisher) = folder();
        fs::write(folder.path().join("blog/.a.html.linkwright-new"), b"half").unwrap();
        publisher.clean("blog/a.html").unwrap();
        publisher.clean("blog/gone.html").unwrap();
        assert_eq!(files(&folder.path().join("blog")), ["a.html"]);
    }
}
