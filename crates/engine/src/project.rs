//! A project folder: its settings, its lock and its database. One client, one folder; nothing is shared.
//!
//! Settings come from, the first that says something: flag, environment, `linkwright.toml`, default.
//! The first run writes `linkwright.toml`; nothing ever overwrites it.

use linkwright_core::settings::{Settings, SettingsError};
use linkwright_store::{DATABASE_FILE, Holder, LockError, ProjectLock, Store, StoreError};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::{Table, Value};

/// Name of the settings file in a project folder.
pub const SETTINGS_FILE: &str = "linkwright.toml";

/// More than any settings file.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Settings that the environment may give: what belongs to a machine rather than to a project.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("LINKWRIGHT_MODEL", "model.name"),
    ("LINKWRIGHT_USER_AGENT", "crawl.user_agent"),
    ("LINKWRIGHT_CONCURRENCY", "crawl.concurrency"),
    ("LINKWRIGHT_INTERVAL_MS", "crawl.interval_ms"),
];

/// What keeps a new project's database out of version control.
const GIT_IGNORE: &str = "linkwright.db*\nlinkwright.lock\n";

/// Where a setting's value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nothing says anything else.
    #[default]
    Default,
    /// `linkwright.toml`.
    File,
    /// A `LINKWRIGHT_…` variable.
    Environment,
    /// A command-line flag.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::File => SETTINGS_FILE,
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingInForce {
    /// Dotted key.
    pub key: String,
    /// Its value; null where it is not set.
    pub value: serde_json::Value,
    /// Where the value comes from.
    pub origin: Origin,
}

/// Why a project could not be opened. Each reads as one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// No project in the folder.
    #[error("there is no linkwright project in `{}`", folder.display())]
    NoProject {
        /// The folder.
        folder: PathBuf,
    },
    /// Something else stands in the folder's place.
    #[error("`{}` is not a folder", folder.display())]
    NotAFolder {
        /// The path.
        folder: PathBuf,
    },
    /// The folder cannot be made.
    #[error("the project folder `{}` cannot be made: {source}", folder.display())]
    CannotCreate {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the project cannot be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    CannotWrite {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The settings file cannot be read.
    #[error("`{}` cannot be read: {source}", path.display())]
    CannotRead {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The settings file is no TOML.
    #[error("`{}`, line {line}: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What the parser said.
        reason: String,
    },
    /// A setting is unknown or has a value that is not allowed.
    #[error("{place}: {source}")]
    Setting {
        /// File, variable or flag.
        place: String,
        /// What is wrong.
        source: SettingsError,
    },
}

impl ProjectError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoProject { .. } => "run `linkwright plan SITE` there first, or name the project's folder with `--project`",
            Self::NotAFolder { .. } => "name a folder with `--project`",
            Self::CannotCreate { .. } | Self::CannotWrite { .. } => {
                "check the folder's permissions and free space, or name another one with `--project`"
            }
            Self::CannotRead { .. } => "check the file's permissions and that it is UTF-8 text",
            Self::Syntax { .. } => "correct the line, or remove it to use the default",
            Self::Setting { source, .. } => source.hint(),
        }
    }
}

/// An opened project folder.
#[derive(Clone, Debug)]
pub struct Project {
    folder: PathBuf,
    settings: Settings,
    origins: BTreeMap<String, Origin>,
}

impl Project {
    /// Opens a project, making the folder and `linkwright.toml` where they are missing. `overrides` are dotted keys
    /// with their values as on the command line.
    ///
    /// # Errors
    /// When the folder or file cannot be made or read, or a setting is wrong.
    pub fn open_or_create(folder: &Path, overrides: &[(String, String)]) -> Result<Self, ProjectError> {
        // Settings first: a mistyped flag must not leave a folder behind.
        let project = Self::load(folder, &environment(), overrides)?;
        create(folder)?;
        Ok(project)
    }

    /// Opens a project that a run has made before.
    ///
    /// # Errors
    /// `NoProject` when there is none; otherwise as `open_or_create`.
    pub fn find(folder: &Path) -> Result<Self, ProjectError> {
        if !folder.join(DATABASE_FILE).exists() {
            return Err(ProjectError::NoProject { folder: folder.to_owned() });
        }
        Self::load(folder, &environment(), &[])
    }

    /// The settings of a folder, whether or not it holds a project, and nothing made or changed.
    ///
    /// # Errors
    /// When the file cannot be read, or a setting is wrong.
    pub fn peek(folder: &Path, overrides: &[(String, String)]) -> Result<Self, ProjectError> {
        Self::load(folder, &environment(), overrides)
    }

    /// The project folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.folder
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Every setting in force and where it comes from, in the order of `linkwright.toml`.
    #[must_use]
    pub fn settings_in_force(&self) -> Vec<SettingInForce> {
        let listed = self.settings.list().into_iter();
        listed.map(|(key, value)| SettingInForce { origin: self.origins.get(&key).copied().unwrap_or_default(), key, value }).collect()
    }

    /// Opens the project's database.
    ///
    /// # Errors
    /// As `Store::open`.
    pub async fn store(&self) -> Result<Store, StoreError> {
        Store::open(&self.folder.join(DATABASE_FILE)).await
    }

    /// Takes the project for this process; `started_at` is RFC 3339.
    ///
    /// # Errors
    /// `LockError::Held` with the holder when another process has it.
    pub async fn lock(&self, command: &str, started_at: &str) -> Result<ProjectLock, LockError> {
        ProjectLock::acquire(&self.folder, &Holder::current(command, started_at), None).await
    }

    /// As `lock`, but waits for another process at most so long.
    ///
    /// # Errors
    /// As `lock`, after the wait.
    pub async fn lock_within(&self, command: &str, started_at: &str, wait: Duration) -> Result<ProjectLock, LockError> {
        ProjectLock::acquire(&self.folder, &Holder::current(command, started_at), Some(wait)).await
    }

    fn load(folder: &Path, environment: &[(String, String)], flags: &[(String, String)]) -> Result<Self, ProjectError> {
        if folder.exists() && !folder.is_dir() {
            return Err(ProjectError::NotAFolder { folder: folder.to_owned() });
        }
        let path = folder.join(SETTINGS_FILE);
        let mut layers = Layers::default();
        layers.add_file(&path)?;
        for (variable, value) in environment {
            let key = ENVIRONMENT.iter().find(|(name, _)| name == variable).map_or(variable.as_str(), |(_, key)| key);
            layers.add_text(&format!("`{variable}`"), key, value, Origin::Environment)?;
        }
        for (key, value) in flags {
            layers.add_text(&format!("`{key}={value}`"), key, value, Origin::Flag)?;
        }
        let settings = layers.settings()?;
        Ok(Self { folder: folder.to_owned(), settings, origins: layers.origins })
    }
}

/// Variables of `ENVIRONMENT` that are set to something.
fn environment() -> Vec<(String, String)> {
    let set =
        |(name, _): &(&str, &str)| std::env::var(name).ok().filter(|value| !value.is_empty()).map(|value| ((*name).to_owned(), value));
    ENVIRONMENT.iter().filter_map(set).collect()
}

/// Values from all places, later ones over earlier ones, each checked alone so that its place can be named.
#[derive(Default)]
struct Layers {
    values: Table,
    origins: BTreeMap<String, Origin>,
    /// Where each value was written, for messages.
    places: BTreeMap<String, String>,
}

impl Layers {
    fn add_file(&mut self, path: &Path) -> Result<(), ProjectError> {
        let Some(text) = read_settings(path)? else { return Ok(()) };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let place = format!("`{}`", path.display());
        let groups: Table = text.parse().map_err(|error: toml::de::Error| ProjectError::Syntax {
            path: path.to_owned(),
            line: 1 + error.span().map_or(0, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()),
            reason: one_line(error.message()),
        })?;
        let wrong = |source| ProjectError::Setting { place: place.clone(), source };
        for (group, keys) in groups {
            Settings::check_key(&group).map_err(wrong)?;
            let Value::Table(keys) = keys else {
                return Err(wrong(unfit(&group, &keys.to_string(), &format!("it is a group: write `[{group}]`"))));
            };
            for (key, value) in keys {
                let key = format!("{group}.{key}");
                Settings::check_key(&key).map_err(wrong)?;
                fits(&key, &value).map_err(|reason| wrong(unfit(&key, &value.to_string(), &reason)))?;
                self.set(&key, value, Origin::File, &place);
            }
        }
        Ok(())
    }

    fn add_text(&mut self, place: &str, key: &str, text: &str, origin: Origin) -> Result<(), ProjectError> {
        let wrong = |source| ProjectError::Setting { place: place.to_owned(), source };
        Settings::check_key(key).map_err(wrong)?;
        let value = value_of(key, text).map_err(|reason| wrong(unfit(key, text, &reason)))?;
        self.set(key, value, origin, place);
        Ok(())
    }

    fn set(&mut self, key: &str, value: Value, origin: Origin, place: &str) {
        insert(&mut self.values, key, value);
        self.origins.insert(key.to_owned(), origin);
        self.places.insert(key.to_owned(), place.to_owned());
    }

    fn settings(&self) -> Result<Settings, ProjectError> {
        // Each value was found to fit its key.
        let settings: Settings = self.values.clone().try_into().map_err(|error: toml::de::Error| ProjectError::Setting {
            place: format!("`{SETTINGS_FILE}`"),
            source: unfit("all", "these values", error.message()),
        })?;
        settings.validate().map_err(|source| {
            let key = if let SettingsError::Invalid { key, .. } = &source { key.as_str() } else { "" };
            ProjectError::Setting { place: self.places.get(key).cloned().unwrap_or_else(|| "settings".to_owned()), source }
        })?;
        Ok(settings)
    }
}

fn insert(values: &mut Table, key: &str, value: Value) {
    let (group, name) = key.split_once('.').unwrap_or((key, ""));
    let group = values.entry(group).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(group) = group {
        group.insert(name.to_owned(), value);
    }
}

/// `None` when there is no such file.
fn read_settings(path: &Path) -> Result<Option<String>, ProjectError> {
    let cannot_read = |source| ProjectError::CannotRead { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(found) if found.len() > MAX_SETTINGS_BYTES => Err(cannot_read(io::Error::other("it is larger than any settings file"))),
        Ok(_) => fs::read_to_string(path).map(Some).map_err(cannot_read),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_read(error)),
    }
}

/// Whether the key takes a value of this type and form, or what it says against it.
fn fits(key: &str, value: &Value) -> Result<(), String> {
    let mut alone = Table::new();
    insert(&mut alone, key, value.clone());
    let parsed: Result<Settings, toml::de::Error> = alone.try_into();
    parsed.map(drop).map_err(|error| one_line(error.message()))
}

/// A value as written on a command line: a number, a flag or a list as in TOML, or bare text, which for a list is its
/// one item.
fn value_of(key: &str, text: &str) -> Result<Value, String> {
    let parsed = format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    let bare = Value::String(text.to_owned());
    let mut first = None;
    for value in parsed.into_iter().chain([bare.clone(), Value::Array(vec![bare])]) {
        match fits(key, &value) {
            Ok(()) => return Ok(value),
            Err(reason) => first = first.or(Some(reason)),
        }
    }
    Err(first.unwrap_or_default())
}

fn unfit(key: &str, value: &str, reason: &str) -> SettingsError {
    SettingsError::Unfit { key: key.to_owned(), value: one_line(value), reason: reason.to_owned() }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn create(folder: &Path) -> Result<(), ProjectError> {
    if !folder.exists() {
        fs::create_dir_all(folder).map_err(|source| ProjectError::CannotCreate { folder: folder.to_owned(), source })?;
        // Only in a folder of our own: an existing one may have its own rules.
        write_new(&folder.join(".gitignore"), GIT_IGNORE)?;
    }
    write_new(&folder.join(SETTINGS_FILE), &Settings::default().to_commented_toml())
}

/// Writes a file that is not there yet; whole or not at all, whenever the process ends.
fn write_new(path: &Path, text: &str) -> Result<(), ProjectError> {
    if path.exists() {
        return Ok(());
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&beside);
        ProjectError::CannotWrite { path: path.to_owned(), source }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn folder_with(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(SETTINGS_FILE), text).unwrap();
        folder
    }

    fn refusal(folder: &Path, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> String {
        let error = Project::load(folder, &pairs(environment), &pairs(flags)).unwrap_err();
        let sentence = error.to_string();
        assert!(!sentence.contains('\n') && !error.hint().is_empty(), "{sentence}");
        sentence.replace(&folder.display().to_string(), "")
    }

    #[test]
    fn the_first_run_makes_the_folder_and_the_settings_and_the_second_changes_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("clients").join("one");
        let project = Project::open_or_create(&folder, &[]).unwrap();
        assert_eq!(project.settings(), &Settings::default());
        let file = folder.join(SETTINGS_FILE);
        assert_eq!(fs::read_to_string(&file).unwrap(), Settings::default().to_commented_toml());
        assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), GIT_IGNORE);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);

        fs::write(&file, "# mine\n[caps]\nper_page = 7\n").unwrap();
        let project = Project::open_or_create(&folder, &[]).unwrap();
        assert_eq!(project.settings().caps.per_page, 7);
        assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n[caps]\nper_page = 7\n");
    }

    #[test]
    fn an_existing_folder_gets_no_ignore_file() {
        let folder = tempfile::tempdir().unwrap();
        Project::open_or_create(folder.path(), &[]).unwrap();
        assert!(!folder.path().join(".gitignore").exists());
    }

    #[test]
    fn a_mistyped_flag_leaves_no_folder_behind() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new");
        Project::open_or_create(&folder, &pairs(&[("caps.per_pag", "5")])).unwrap_err();
        assert!(!folder.exists());
    }

    #[test]
    fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
        let folder = folder_with("[crawl]\nconcurrency = 2\ninterval_ms = 2\ntimeout_s = 2\n");
        let environment = pairs(&[("LINKWRIGHT_CONCURRENCY", "3"), ("LINKWRIGHT_INTERVAL_MS", "3")]);
        let project = Project::load(folder.path(), &environment, &pairs(&[("crawl.concurrency", "4")])).unwrap();
        let crawl = &project.settings().crawl;
        assert_eq!((crawl.concurrency, crawl.interval_ms, crawl.timeout_s, crawl.retries), (4, 3, 2, Settings::default().crawl.retries));
        let in_force = project.settings_in_force();
        let origin = |key: &str| in_force.iter().find(|setting| setting.key == key).unwrap().origin;
        let keys = ["crawl.concurrency", "crawl.interval_ms", "crawl.timeout_s", "crawl.retries"];
        assert_eq!(keys.map(origin), [Origin::Flag, Origin::Environment, Origin::File, Origin::Default]);
        assert_eq!(in_force.len(), Settings::keys().count());
    }

    #[test]
    fn every_environment_variable_names_a_setting() {
        for (_, key) in ENVIRONMENT {
            Settings::check_key(key).unwrap();
        }
    }

    #[test]
    fn values_on_the_command_line_need_no_quotes() {
        let folder = tempfile::tempdir().unwrap();
        let flags = pairs(&[
            ("caps.per_page", "5"),
            ("caps.anchor_share", "1"),
            ("site.only", "/blog/**"),
            ("site.exclude", "[\"/a\", \"/b\"]"),
            ("pages.home_as_target", "true"),
            ("links.class", "5"),
            ("links.target", "_blank"),
            ("links.style", "root"),
            ("relevance.floor", "0.25"),
            ("intent.forbid", "[{ from = \"/p/**\", to = \"/b/**\" }]"),
        ]);
        let project = Project::load(folder.path(), &[], &flags).unwrap();
        let settings = project.settings();
        assert_eq!((settings.caps.per_page, settings.caps.anchor_share, settings.relevance.floor), (5, 1.0, Some(0.25)));
        assert_eq!((&settings.site.only[..], settings.site.exclude.len()), (&["/blog/**".to_owned()][..], 2));
        assert_eq!((settings.links.class.as_str(), settings.links.target.as_str()), ("5", "_blank"));
        assert!(settings.pages.home_as_target && settings.intent.forbid.len() == 1);
    }

    #[test]
    fn wrong_settings_are_refused_in_one_sentence_that_names_the_place() {
        let cases = [
            ("[caps]\nper_pages = 5", "`/linkwright.toml`: there is no setting `caps.per_pages`; did you mean `caps.per_page`?"),
            ("[cap]\nper_page = 5", "`/linkwright.toml`: there is no setting `cap`; did you mean `caps`?"),
            ("per_page = 5", "`/linkwright.toml`: there is no setting `per_page`; did you mean `caps.per_page`?"),
            ("caps = 5", "`/linkwright.toml`: setting `caps` does not take `5`: it is a group: write `[caps]`"),
            ("[caps]\nper_page = 0", "`/linkwright.toml`: setting `caps.per_page` is 0, but must be between 1 and 1000"),
        ];
        for (text, sentence) in cases {
            assert_eq!(refusal(folder_with(text).path(), &[], &[]), sentence);
        }
        let starts = [
            ("[caps]\n\nper_page = = 5", "`/linkwright.toml`, line 3: "),
            ("[caps]\nper_page = \"five\"", "`/linkwright.toml`: setting `caps.per_page` does not take `\"five\"`: invalid type"),
            ("[intent]\nforbid = [{ from = \"/a\", two = \"/b\" }]", "`/linkwright.toml`: setting `intent.forbid` does not take"),
        ];
        for (text, start) in starts {
            let sentence = refusal(folder_with(text).path(), &[], &[]);
            assert!(sentence.starts_with(start), "{sentence}");
        }
        let folder = tempfile::tempdir().unwrap();
        let sentence = refusal(folder.path(), &[], &[("caps.per_page", "5000")]);
        assert_eq!(sentence, "`caps.per_page=5000`: setting `caps.per_page` is 5000, but must be between 1 and 1000");
        let sentence = refusal(folder.path(), &[("LINKWRIGHT_CONCURRENCY", "many")], &[]);
        assert!(sentence.starts_with("`LINKWRIGHT_CONCURRENCY`: setting `crawl.concurrency` does not take `many`: "), "{sentence}");
    }

    #[test]
    fn a_settings_file_with_a_byte_order_mark_is_read_and_one_in_another_encoding_refused() {
        let project = Project::load(folder_with("\u{feff}[caps]\r\nper_page = 4\r\n").path(), &[], &[]).unwrap();
        assert_eq!(project.settings().caps.per_page, 4);
        let folder = folder_with("");
        fs::write(folder.path().join(SETTINGS_FILE), b"# caf\xe9\n").unwrap();
        assert!(refusal(folder.path(), &[], &[]).starts_with("`/linkwright.toml` cannot be read: "));
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_refused() {
        let folder = folder_with("");
        let error = Project::open_or_create(&folder.path().join(SETTINGS_FILE), &[]).unwrap_err();
        assert!(matches!(error, ProjectError::NotAFolder { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_project_is_found_once_it_has_a_database() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Project::find(folder.path()), Err(ProjectError::NoProject { .. })));
        let project = Project::open_or_create(folder.path(), &[]).unwrap();
        assert!(matches!(Project::find(folder.path()), Err(ProjectError::NoProject { .. })));
        project.store().await.unwrap().close().await;
        assert_eq!(Project::find(folder.path()).unwrap().dir(), folder.path());
    }

    #[tokio::test]
    async fn one_project_has_one_holder() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open_or_create(folder.path(), &[]).unwrap();
        let first = project.lock("plan", "2026-12-01T00:00:00Z").await.unwrap();
        let error = project.lock("plan", "2026-12-01T00:00:01Z").await.unwrap_err();
        assert!(error.to_string().contains("`linkwright plan` (process "), "{error}");
        drop(first);
        project.lock_within("plan", "2026-12-01T00:00:02Z", Duration::from_secs(5)).await.unwrap();
    }
}
