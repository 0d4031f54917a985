//! A temporary folder with a copy of the example site, and the built binary to run in it with an empty environment.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A place to run the binary in.
pub(crate) struct Sandbox {
    folder: TempDir,
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }

    /// The outcome, having checked the exit code.
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

impl Sandbox {
    /// An empty sandbox.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A sandbox with the example site in `site`.
    pub(crate) fn with_site() -> Self {
        let sandbox = Self::empty();
        copy(&example_site(), &sandbox.path("site"));
        sandbox
    }

    /// A sandbox with the example site in `site` and its plan in `project`.
    pub(crate) fn planned() -> Self {
        let sandbox = Self::empty();
        copy(&planned_once(), sandbox.folder.path());
        sandbox
    }

    /// A path inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file's text.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The binary with arguments, in the sandbox, with an empty environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linkwright"));
        command.args(args).current_dir(self.folder.path()).env_clear().env("HOME", self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs the binary.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.run_with(args, &[])
    }

    /// Runs the binary with environment variables.
    pub(crate) fn run_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Outcome {
        let output = self.command(args).envs(environment.iter().copied()).output().unwrap();
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Plans the site into `project`.
    pub(crate) fn plan(&self) -> Outcome {
        self.run(&["plan", "site", "--project", "project"]).expect_code(0)
    }

    /// Rows of a CSV file by column name.
    pub(crate) fn rows(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        rows(&self.read(name))
    }
}

/// Rows of CSV text by column name.
pub(crate) fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
}

/// The example site as this binary plans it, kept on disk for all test processes; tests work on copies.
///
/// The name says which binary and which state of the site it came from. Two processes that make it at one time make
/// the same, and the first to rename its own into place wins.
fn planned_once() -> PathBuf {
    let site = newest(&example_site());
    let binary = modified(Path::new(env!("CARGO_BIN_EXE_linkwright")));
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("planned-{binary}-{site}"));
    if !kept.exists() {
        let sandbox = Sandbox { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        copy(&example_site(), &sandbox.path("site"));
        sandbox.plan();
        let made = sandbox.folder.keep();
        if fs::rename(&made, &kept).is_err() {
            fs::remove_dir_all(&made).unwrap();
        }
    }
    kept
}

/// When the youngest file of a folder was changed, in nanoseconds.
fn newest(folder: &Path) -> u128 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { newest(&path) } else { modified(&path) }).max().unwrap_or(0)
}

fn modified(path: &Path) -> u128 {
    fs::metadata(path).unwrap().modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos()
}

fn example_site() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
