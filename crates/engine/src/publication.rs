//! What `apply`, `undo` and `verify` have in common: a project held by this process, the pages where they are kept,
//! and the edits that a killed process left open.

use crate::analysis::parse;
use crate::error::EngineError;
use crate::plan::now;
use crate::planned::{self, Planned};
use crate::progress::Progress;
use crate::project::Project;
use crate::publisher::{Publisher, Trouble};
use crate::reading;
use linkwright_core::edit::{Removal, take_out};
use linkwright_core::page::{FetchHeaders, FetchedPage, Page, SourceFormat};
use linkwright_core::url::PageUrl;
use linkwright_store::{Decision, Edit, EditEvent, Entry, NewRun, ProjectLock, PublisherKind, RunId, RunStatus, State, Store};
use std::collections::BTreeMap;
use std::path::Path;
use tokio::runtime::Runtime;

/// A project whose site is about to be changed or looked at.
pub(crate) struct Publication {
    pub(crate) runtime: Runtime,
    pub(crate) project: Project,
    pub(crate) store: Store,
    pub(crate) planned: Planned,
    /// The site that was planned; a folder without symbolic links.
    pub(crate) site: String,
    pub(crate) started_at: String,
    _lock: ProjectLock,
}

/// An edit that a killed process left open, and how it was closed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Recovered {
    /// Number of the edit.
    pub edit: i64,
    /// The page.
    pub source_url: String,
    /// What became of it, in words.
    pub outcome: String,
}

impl Publication {
    /// Opens a project and takes it for this process.
    ///
    /// # Errors
    /// When there is no project or no plan, or another process holds it.
    pub(crate) fn open(folder: &Path, command: &str) -> Result<Self, EngineError> {
        let runtime = reading::runtime()?;
        let project = Project::find(folder)?;
        let started_at = now();
        let lock = runtime.block_on(project.lock(command, &started_at))?;
        let store = runtime.block_on(project.store())?;
        let plan = runtime.block_on(planned::latest(&store))?;
        let runs = runtime.block_on(store.runs().all())?;
        let run = runs.into_iter().find(|run| run.id.0 == plan.run.id);
        // Project and site may have been moved together since.
        let site = run.map(|run| run.begun.site).filter(|site| Path::new(site).is_dir());
        let site = site.unwrap_or_else(|| plan.run.site.clone());
        Ok(Self { runtime, project, store, planned: Planned::new(plan), site, started_at, _lock: lock })
    }

    /// Records a run.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn begin_run(&self, kind: &str, site: &str) -> Result<RunId, EngineError> {
        let run = NewRun {
            kind: kind.to_owned(),
            site: site.to_owned(),
            base_url: self.planned.plan.run.base_url.clone(),
            started_at: self.started_at.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rules: String::new(),
            model: String::new(),
            settings: self.project.settings().to_json(),
        };
        Ok(self.runtime.block_on(self.store.runs().begin(&run))?)
    }

    /// Ends a run, where there is one, and closes the project.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn finish(self, run: Option<RunId>, stopped: bool) -> Result<(), EngineError> {
        let status = if stopped { RunStatus::Failed } else { RunStatus::Finished };
        self.runtime.block_on(async {
            if let Some(run) = run {
                self.store.runs().finish(run, &now(), status).await?;
            }
            self.store.close().await;
            Ok(())
        })
    }

    /// The page that these bytes are.
    #[must_use]
    pub(crate) fn page(&self, url: &PageUrl, format: SourceFormat, path: Option<String>, body: Vec<u8>) -> Page {
        // A page without a path comes from a service that gives text, whatever the text says of its encoding.
        let content_type = path.is_none().then(|| "text/html; charset=utf-8".to_owned());
        let headers = FetchHeaders { content_type, ..FetchHeaders::default() };
        let fetched = FetchedPage { format, path, body, headers, ..FetchedPage::read(url.clone()) };
        self.fetched_page(&fetched)
    }

    /// The page that was fetched.
    #[must_use]
    pub(crate) fn fetched_page(&self, fetched: &FetchedPage) -> Page {
        parse(fetched, self.project.settings(), &self.planned.paths)
    }

    /// Closes the edits that a killed process left open, by looking at their pages.
    ///
    /// # Errors
    /// When the database fails. An edit whose page cannot be read stays open.
    pub(crate) fn recover(&self, publishers: &mut Publishers, who: &str, progress: &dyn Progress) -> Result<Vec<Recovered>, EngineError> {
        let edits = self.runtime.block_on(self.store.ledger().edits())?;
        let mut recovered = Vec::new();
        for edit in edits.iter().filter(|edit| edit.is_open()) {
            let outcome = match publishers.of(self, edit) {
                Ok(publisher) => self.settle(publisher, edit, edit.run, who, progress)?,
                Err(trouble) => Err(trouble),
            };
            let outcome = match outcome {
                Ok(event) => words(event).to_owned(),
                Err(trouble) => format!("left open: {}", trouble.message),
            };
            recovered.push(Recovered { edit: edit.id.0, source_url: edit.edit.source_url.clone(), outcome });
        }
        Ok(recovered)
    }

    /// Closes one open edit by what its page holds now.
    ///
    /// # Errors
    /// The outer when the database fails, the inner when the page cannot be read.
    pub(crate) fn settle(
        &self,
        publisher: &Publisher,
        edit: &Edit,
        run: RunId,
        who: &str,
        progress: &dyn Progress,
    ) -> Result<Result<EditEvent, Trouble>, EngineError> {
        let location = &edit.edit.location;
        let bytes = match self.runtime.block_on(publisher.read(location)) {
            Ok(bytes) => bytes,
            Err(trouble) => return Ok(Err(trouble)),
        };
        if let Err(trouble) = publisher.clean(location) {
            return Ok(Err(trouble));
        }
        let hash = hash(&bytes);
        let holds_link = match &hash {
            hash if *hash == edit.edit.hash_before => false,
            hash if *hash == edit.edit.hash_after => true,
            _ => matches!(take_out(&bytes, &[&edit.edit.written]).removals[..], [Removal::Removed | Removal::Ambiguous]),
        };
        let event = match (edit.status, holds_link) {
            (EditEvent::UndoBegun, true) => EditEvent::UndoAbandoned,
            (EditEvent::UndoBegun, false) => EditEvent::Undone,
            (_, true) => EditEvent::Written,
            (_, false) => EditEvent::Abandoned,
        };
        progress.step("record what the page holds");
        self.close(&[edit], event, None, &Circumstances { run, hash: &hash, who })?;
        Ok(Ok(event))
    }

    /// Records what became of edits of one page, and moves their opportunities where that is due.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn close(
        &self,
        edits: &[&Edit],
        event: EditEvent,
        detail: Option<&str>,
        circumstances: &Circumstances,
    ) -> Result<(), EngineError> {
        let &Circumstances { run, hash, who } = circumstances;
        let at = now();
        let entry = |edit: &&Edit| Entry {
            edit: edit.id,
            run,
            event,
            at: at.clone(),
            who: who.to_owned(),
            hash: hash.to_owned(),
            detail: detail.map(str::to_owned),
        };
        let entries: Vec<Entry> = edits.iter().map(entry).collect();
        let state = match event {
            EditEvent::Written => Some(State::Published),
            EditEvent::Undone => Some(State::Undone),
            _ => None,
        };
        self.runtime.block_on(async {
            let mut decisions = Vec::new();
            for (edit, state) in state.iter().flat_map(|state| edits.iter().map(move |edit| (edit, *state))) {
                let found = self.store.opportunities().find(&edit.edit.opportunity).await?;
                if found.is_some_and(|found| found.state.may_become(state)) {
                    let reason = Some(format!("edit {} of run {}", edit.id.0, run.0));
                    decisions.push(Decision { reason, ..Decision::new(&edit.edit.opportunity, state, who, &at) });
                }
            }
            Ok(self.store.ledger().record(&entries, &decisions).await?)
        })
    }
}

/// In which run something happened to edits, how it left the page's bytes, and who did it.
pub(crate) struct Circumstances<'a> {
    pub(crate) run: RunId,
    pub(crate) hash: &'a str,
    pub(crate) who: &'a str,
}

fn words(event: EditEvent) -> &'static str {
    match event {
        EditEvent::Written => "the link had been written",
        EditEvent::Abandoned => "the link had not been written",
        EditEvent::Undone => "the link had been taken out",
        _ => "the link had not been taken out",
    }
}

/// The places that pages are kept in, opened when first needed.
#[derive(Default)]
pub(crate) struct Publishers {
    open: BTreeMap<String, Publisher>,
}

impl Publishers {
    /// Takes one that is open already.
    pub(crate) fn add(&mut self, publisher: Publisher) {
        self.open.insert(publisher.site(), publisher);
    }

    /// One that was added.
    ///
    /// # Panics
    /// When it was not.
    pub(crate) fn at(&self, site: &str) -> &Publisher {
        &self.open[site]
    }

    /// The one of the planned site.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn planned(&mut self, publication: &Publication) -> Result<&Publisher, Trouble> {
        let publisher = publication.runtime.block_on(Publisher::of(&publication.site, publication.project.settings()))?;
        let site = publisher.site();
        self.add(publisher);
        Ok(&self.open[&site])
    }

    /// The one that an edit was written through.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn of(&mut self, publication: &Publication, edit: &Edit) -> Result<&Publisher, Trouble> {
        let site = &edit.edit.site;
        if !self.open.contains_key(site) {
            // The folder may have been moved together with the project.
            let moved = edit.edit.publisher == PublisherKind::Folder && !Path::new(site).is_dir();
            let place = if moved { &publication.site } else { site };
            let settings = publication.project.settings();
            let publisher = publication.runtime.block_on(Publisher::open(edit.edit.publisher, place, settings))?;
            self.open.insert(site.clone(), publisher);
        }
        Ok(&self.open[site])
    }
}

/// blake3 of a page's bytes, hexadecimal.
#[must_use]
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The user of this machine, for the ledger.
#[must_use]
pub fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    named.unwrap_or_else(|| "somebody".to_owned())
}
