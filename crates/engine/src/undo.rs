//! Links of a run, or one link, out of the site again.
//!
//! A page that nobody touched since gets the bytes from before the run. In any other, each link is found by its own
//! bytes and surroundings; what cannot be found for certain stays and is named.

use crate::error::EngineError;
use crate::progress::Progress;
use crate::publication::{Circumstances, Publication, Publishers, Recovered, hash};
use crate::publisher::{Publisher, Trouble};
use linkwright_core::decode::decode;
use linkwright_core::edit::{NewLink, Refusal, Removal, TakenOut, Written, check, take_out};
use linkwright_core::url::PageUrl;
use linkwright_store::{Edit, EditEvent, RunId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What to take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// Every link of a run.
    Run(i64),
    /// One link.
    Edit(i64),
}

/// What to take back, and how.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    /// Project folder.
    pub project: PathBuf,
    /// A run or an edit.
    pub what: Undone,
    /// Whether to write, or only to show what would be written.
    pub write: bool,
    /// Whether to go on after something unexpected.
    pub keep_going: bool,
    /// Who does it.
    pub who: String,
}

/// What was or would be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndoResult {
    /// Number of the run that took it back; `None` when nothing was to be written.
    pub run: Option<i64>,
    /// The pages, by location.
    pub pages: Vec<UndonePage>,
    /// Why the run ended before its end.
    pub stopped: Option<String>,
    /// Edits that a killed process had left open.
    pub recovered: Vec<Recovered>,
}

/// What came of one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndonePage {
    /// Its public URL.
    pub source_url: String,
    /// Where it is kept.
    pub location: String,
    /// Whether it has the very bytes from before its links were written.
    pub restored_exactly: bool,
    /// Whether it was, or without `write` would be, written.
    pub written: bool,
    /// What came of each link.
    pub links: Vec<UndoneLink>,
    /// The page before, decoded.
    #[serde(skip)]
    pub before: String,
    /// The page after.
    #[serde(skip)]
    pub after: String,
    /// What went wrong with the whole page.
    pub problem: Option<String>,
}

/// What came of one link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndoneLink {
    /// Number of the edit.
    pub edit: i64,
    /// The words.
    pub anchor: String,
    /// Where it leads.
    pub target_url: String,
    /// Whether it is, or would be, out.
    pub removed: bool,
    /// Why not, in words.
    pub reason: Option<String>,
}

/// Takes links back.
///
/// # Errors
/// When there is no such run or edit, or the project cannot be kept. What goes wrong with one page is part of the
/// result.
pub fn undo(request: &UndoRequest, progress: &dyn Progress) -> Result<UndoResult, EngineError> {
    let desk = Publication::open(&request.project, "undo")?;
    let mut publishers = Publishers::default();
    let recovered = desk.recover(&mut publishers, &request.who, progress)?;
    let edits = wanted(&desk, request.what)?;
    let run = if request.write { Some(desk.begin_run("undo", &edits[0].edit.site)?) } else { None };
    let mut by_page: BTreeMap<(String, String), Vec<Edit>> = BTreeMap::new();
    edits.into_iter().for_each(|edit| by_page.entry((edit.edit.site.clone(), edit.edit.location.clone())).or_default().push(edit));
    progress.stage("Taking links out", Some(by_page.len() as u64));
    let (mut pages, mut stopped) = (Vec::new(), None);
    for edits in by_page.into_values() {
        let page = match publishers.of(&desk, &edits[0]) {
            Ok(publisher) => Work { desk: &desk, publisher, request, run, progress }.page(&edits)?,
            Err(trouble) => failed(&edits, trouble.message),
        };
        progress.advance(1);
        let problem = page.problem.clone().filter(|_| !request.keep_going);
        stopped = problem.map(|problem| format!("{}: {problem}", page.source_url));
        pages.push(page);
        if stopped.is_some() {
            break;
        }
    }
    desk.finish(run, stopped.is_some())?;
    Ok(UndoResult { run: run.map(|run| run.0), pages, stopped, recovered })
}

/// The edits of a run that are on the site, or the one that was asked for.
fn wanted(desk: &Publication, what: Undone) -> Result<Vec<Edit>, EngineError> {
    let mut edits = desk.runtime.block_on(desk.store.ledger().edits())?;
    edits.retain(|edit| match what {
        Undone::Run(run) => edit.run == RunId(run),
        Undone::Edit(number) => edit.id.0 == number,
    });
    let (name, number) = match what {
        Undone::Run(run) => ("run", run),
        Undone::Edit(edit) => ("edit", edit),
    };
    if edits.is_empty() {
        return Err(EngineError::new(
            format!("no {name} {number} of this project has written a link"),
            "`linkwright export edits` lists runs and edits",
        ));
    }
    edits.retain(Edit::is_live);
    if edits.is_empty() {
        return Err(EngineError::new(format!("nothing of {name} {number} is on the site any more"), ""));
    }
    Ok(edits)
}

struct Work<'a> {
    desk: &'a Publication,
    publisher: &'a Publisher,
    request: &'a UndoRequest,
    run: Option<RunId>,
    progress: &'a dyn Progress,
}

impl Work<'_> {
    fn page(&self, edits: &[Edit]) -> Result<UndonePage, EngineError> {
        let location = &edits[0].edit.location;
        let bytes = match self.desk.runtime.block_on(self.publisher.read(location)) {
            Ok(bytes) => bytes,
            Err(trouble) => return Ok(failed(edits, trouble.message)),
        };
        let links: Vec<&Written> = edits.iter().map(|edit| &edit.edit.written).collect();
        let taken = take_out(&bytes, &links);
        let exact = restores_exactly(edits, &bytes, &taken.bytes);
        let mut problem = None;
        let verdict = if exact || taken.order.is_empty() { Ok(()) } else { verified(edits, &taken, &bytes) };
        let TakenOut { bytes: new, mut removals, .. } = taken;
        if let Err(refusal) = verdict {
            // An independent parser sees more than the links go. Nothing is changed.
            problem = Some(format!("taking the links out would change more than the links: {refusal}"));
            removals.iter_mut().filter(|removal| **removal == Removal::Removed).for_each(|removal| *removal = Removal::Elsewhere);
        }
        let write = problem.is_none() && removals.contains(&Removal::Removed);
        let (before, after) = (text(&bytes), text(if write { &new } else { &bytes }));
        let mut page = UndonePage {
            source_url: edits[0].edit.source_url.clone(),
            location: location.clone(),
            restored_exactly: exact && write,
            written: write,
            links: edits.iter().zip(&removals).map(|(edit, removal)| undone_link(edit, *removal)).collect(),
            before,
            after,
            problem,
        };
        if let Some(run) = self.run {
            self.record_gone(run, edits, &removals, &hash(&bytes))?;
            if write {
                self.write(run, &with(edits, &removals, Removal::Removed), &bytes, &new, &mut page)?;
            }
        }
        Ok(page)
    }

    fn write(&self, run: RunId, removed: &[&Edit], bytes: &[u8], new: &[u8], page: &mut UndonePage) -> Result<(), EngineError> {
        let desk = self.desk;
        self.progress.step("announce the removal");
        let who = &self.request.who;
        desk.close(removed, EditEvent::UndoBegun, None, &Circumstances { run, hash: &hash(bytes), who })?;
        self.progress.step("write the page");
        let outcome = desk.runtime.block_on(self.publisher.write(&page.location, bytes, new, self.progress));
        self.progress.step("record the page");
        if let Err(Trouble { message, .. }) = outcome {
            for edit in removed {
                let open = Edit { status: EditEvent::UndoBegun, ..(*edit).clone() };
                let closed = desk.settle(self.publisher, &open, run, who, self.progress)?;
                let link = page.links.iter_mut().find(|link| link.edit == edit.id.0);
                if let Some(link) = link.filter(|_| closed != Ok(EditEvent::Undone)) {
                    (link.removed, link.reason) = (false, Some(message.clone()));
                }
            }
            page.written = page.links.iter().any(|link| link.removed);
            page.problem = Some(message);
            return Ok(());
        }
        desk.close(removed, EditEvent::Undone, None, &Circumstances { run, hash: &hash(new), who })
    }

    /// A link that somebody else took out is undone all the same.
    fn record_gone(&self, run: RunId, edits: &[Edit], removals: &[Removal], hash: &str) -> Result<(), EngineError> {
        let gone: Vec<&Edit> = with(edits, removals, Removal::Gone);
        if gone.is_empty() {
            return Ok(());
        }
        self.progress.step("record what was gone");
        let circumstances = Circumstances { run, hash, who: &self.request.who };
        self.desk.close(&gone, EditEvent::Undone, Some("it was not on the page any more"), &circumstances)
    }
}

/// The edits of which this came.
fn with<'a>(edits: &'a [Edit], removals: &[Removal], wanted: Removal) -> Vec<&'a Edit> {
    edits.iter().zip(removals).filter(|(_, removal)| **removal == wanted).map(|(edit, _)| edit).collect()
}

/// Whether these are all the links of one write, the page is as that left it, and it gets the bytes from before.
fn restores_exactly(edits: &[Edit], bytes: &[u8], new: &[u8]) -> bool {
    let first = &edits[0].edit;
    let one_write = edits.iter().all(|edit| edit.edit.hash_after == first.hash_after && edit.edit.hash_before == first.hash_before);
    one_write && hash(bytes) == first.hash_after && hash(new) == first.hash_before
}

/// Whether an independent parser sees exactly the removed links less.
fn verified(edits: &[Edit], taken: &TakenOut, bytes: &[u8]) -> Result<(), Refusal> {
    let links: Vec<NewLink> = taken.order.iter().map(|number| edits[*number].edit.link.clone()).collect();
    let first = &edits[0].edit;
    let base = PageUrl::parse(&first.source_url).ok_or(Refusal::UnusableHref)?;
    check(&text(&taken.bytes), &text(bytes), first.format, &base, &links)
}

fn text(bytes: &[u8]) -> String {
    decode(bytes, None).text
}

fn undone_link(edit: &Edit, removal: Removal) -> UndoneLink {
    let reason = match removal {
        Removal::Removed => None,
        Removal::Gone => Some("it is not on the page any more"),
        Removal::WordsChanged => Some("its words were changed, so that it is somebody else's work now"),
        Removal::Ambiguous => Some("the same link stands there several times in the same surroundings"),
        Removal::Elsewhere => Some("the same link stands on the page, but in other surroundings"),
    };
    UndoneLink {
        edit: edit.id.0,
        anchor: edit.edit.link.anchor.clone(),
        target_url: edit.edit.target_url.clone(),
        removed: matches!(removal, Removal::Removed),
        reason: reason.map(str::to_owned),
    }
}

fn failed(edits: &[Edit], problem: String) -> UndonePage {
    let link = |edit: &Edit| UndoneLink {
        edit: edit.id.0,
        anchor: edit.edit.link.anchor.clone(),
        target_url: edit.edit.target_url.clone(),
        removed: false,
        reason: Some(problem.clone()),
    };
    UndonePage {
        source_url: edits[0].edit.source_url.clone(),
        location: edits[0].edit.location.clone(),
        restored_exactly: false,
        written: false,
        links: edits.iter().map(link).collect(),
        before: String::new(),
        after: String::new(),
        problem: Some(problem),
    }
}
