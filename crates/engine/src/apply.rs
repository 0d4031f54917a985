//! Accepted opportunities → links on the site.
//!
//! A page is read, its links are placed and checked in memory, the ledger announces them, the page is replaced, and
//! the ledger says that it was. Whatever goes wrong on the way, the page is as it was before or as it is after.

use crate::error::EngineError;
use crate::plan::now;
use crate::progress::Progress;
use crate::propose::link_settings;
use crate::publication::{Circumstances, Publication, Publishers, Recovered, hash};
use crate::publisher::{Publisher, Trouble};
use linkwright_core::edit::{self, Insertion, NewLink, Observation, Preflight, Refusal, encode_back, find_again, observe};
use linkwright_core::page::{LinkKind, Page};
use linkwright_core::plan::Opportunity;
use linkwright_core::url::PageUrl;
use linkwright_store::{Decision, Edit, EditEvent, NewEdit, PublisherKind, RunId, State, StoredOpportunity};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What to write.
#[derive(Clone, Debug, Default)]
pub struct ApplyRequest {
    /// Project folder.
    pub project: PathBuf,
    /// Whether to write, or only to show what would be written.
    pub write: bool,
    /// Pages at most; the setting when absent.
    pub max_pages: Option<usize>,
    /// Identities of the opportunities to write; empty takes all that are accepted.
    pub only: Vec<String>,
    /// Whether to go on after something unexpected.
    pub keep_going: bool,
    /// Who does it.
    pub who: String,
}

/// What was or would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApplyResult {
    /// Number of the run; `None` when nothing was to be written.
    pub run: Option<i64>,
    /// The folder, or the address of the site.
    pub site: String,
    /// The pages, in the order of their value.
    pub pages: Vec<PageChange>,
    /// Pages with accepted links that are left for the next run.
    pub left: usize,
    /// Why the run ended before its end.
    pub stopped: Option<String>,
    /// Edits that a killed process had left open.
    pub recovered: Vec<Recovered>,
}

/// What came of one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageChange {
    /// Its public URL.
    pub source_url: String,
    /// Where it is kept: a path below the folder, or such as `posts/12`.
    pub location: String,
    /// What was done.
    pub outcome: PageOutcome,
    /// Links that were or would be written.
    pub links: Vec<LinkChange>,
    /// Links that were left out, and why.
    pub skipped: Vec<SkippedLink>,
    /// The page before, decoded.
    #[serde(skip)]
    pub before: String,
    /// The page after.
    #[serde(skip)]
    pub after: String,
    /// What went wrong with the whole page.
    pub problem: Option<String>,
}

/// What was done with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageOutcome {
    /// It would be written.
    Planned,
    /// It was written.
    Written,
    /// There was nothing to write.
    Unchanged,
    /// It was not written.
    Failed,
}

/// A link that was or would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkChange {
    /// Identity of the opportunity.
    pub opportunity: String,
    /// Number of the edit, once written.
    pub edit: Option<i64>,
    /// The words.
    pub anchor: String,
    /// Address as it is written.
    pub href: String,
    /// Where it leads.
    pub target_url: String,
}

/// A link that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedLink {
    /// Identity of the opportunity.
    pub opportunity: String,
    /// The words.
    pub anchor: String,
    /// Where it would lead.
    pub target_url: String,
    /// Stable name of the reason.
    pub code: String,
    /// The reason in words.
    pub reason: String,
}

/// Writes accepted opportunities, or shows what would be written.
///
/// # Errors
/// When there is no plan, the site cannot be written at all, or the project cannot be kept. What goes wrong with one
/// page is part of the result.
pub fn apply(request: &ApplyRequest, progress: &dyn Progress) -> Result<ApplyResult, EngineError> {
    let desk = Publication::open(&request.project, "apply")?;
    let publisher = desk.runtime.block_on(Publisher::of(&desk.site, desk.project.settings()))?;
    let site = publisher.site();
    let mut publishers = Publishers::default();
    publishers.add(publisher);
    let recovered = desk.recover(&mut publishers, &request.who, progress)?;
    let mut groups = accepted(&desk, request)?;
    let limit = request.max_pages.unwrap_or(desk.project.settings().apply.max_pages);
    let left = groups.len().saturating_sub(limit);
    groups.truncate(limit);
    let run = if request.write && !groups.is_empty() { Some(desk.begin_run("apply", &site)?) } else { None };
    let publisher = publishers.at(&site);
    let mut work = Work { desk: &desk, publisher, request, run, progress, written: 0 };
    let mut pages = Vec::new();
    let mut stopped = None;
    progress.stage(if request.write { "Writing links" } else { "Placing links" }, Some(groups.len() as u64));
    for group in groups {
        let page = work.page(&group)?;
        progress.advance(1);
        let trouble = page.problem.clone().filter(|_| page.outcome == PageOutcome::Failed && !request.keep_going);
        stopped = trouble.map(|problem| format!("{}: {problem}", page.source_url));
        pages.push(page);
        if stopped.is_some() {
            break;
        }
    }
    desk.finish(run, stopped.is_some())?;
    Ok(ApplyResult { run: run.map(|run| run.0), site, pages, left, stopped, recovered })
}

/// Accepted opportunities by page, the page that gains most first.
fn accepted(desk: &Publication, request: &ApplyRequest) -> Result<Vec<Vec<StoredOpportunity>>, EngineError> {
    let all = desk.runtime.block_on(desk.store.opportunities().in_state(State::Accepted))?;
    if let Some(unknown) = request.only.iter().find(|id| !all.iter().any(|kept| kept.opportunity.id == **id)) {
        return Err(EngineError::new(
            format!("`{unknown}` is no accepted opportunity of this project"),
            "`linkwright export queue` lists them; `linkwright review` accepts them",
        ));
    }
    let wanted = all.into_iter().filter(|kept| request.only.is_empty() || request.only.contains(&kept.opportunity.id));
    let mut by_page: BTreeMap<String, Vec<StoredOpportunity>> = BTreeMap::new();
    wanted.for_each(|kept| by_page.entry(kept.opportunity.source_url.clone()).or_default().push(kept));
    let mut groups: Vec<Vec<StoredOpportunity>> = by_page.into_values().collect();
    groups.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a[0].opportunity.source_url.cmp(&b[0].opportunity.source_url)));
    Ok(groups)
}

/// What the links of a page are worth: their scores, and an orphan counts like a certain link.
fn value(group: &[StoredOpportunity]) -> f64 {
    group.iter().map(|kept| kept.opportunity.score + f64::from(u8::from(kept.opportunity.target_orphan == Some(true)))).sum()
}

struct Work<'a> {
    desk: &'a Publication,
    publisher: &'a Publisher,
    request: &'a ApplyRequest,
    run: Option<RunId>,
    progress: &'a dyn Progress,
    written: usize,
}

/// The links of a page, placed and checked.
struct Placed {
    new: Vec<u8>,
    after: String,
    edits: Vec<NewEdit>,
    skipped: Vec<(StoredOpportunity, Left)>,
}

/// Why a link was left out.
enum Left {
    /// The page as it is cannot carry it.
    Refused(Refusal),
    /// Somebody put it in by hand.
    AlreadyThere,
    /// The page links there with other words or elsewhere.
    LinkedAlready,
    /// A reviewer decided otherwise since the run began.
    DecidedOtherwise,
}

impl Left {
    fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::AlreadyThere => "already_there",
            Self::LinkedAlready => "already_linked",
            Self::DecidedOtherwise => "decided_otherwise",
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.to_string(),
            Self::AlreadyThere => "the link is there already".to_owned(),
            Self::LinkedAlready => "the text of the page leads there already".to_owned(),
            Self::DecidedOtherwise => "a reviewer has decided otherwise since this run began".to_owned(),
        }
    }
}

impl Work<'_> {
    fn page(&mut self, group: &[StoredOpportunity]) -> Result<PageChange, EngineError> {
        let mut change = PageChange {
            source_url: group[0].opportunity.source_url.clone(),
            location: String::new(),
            outcome: PageOutcome::Unchanged,
            links: Vec::new(),
            skipped: Vec::new(),
            before: String::new(),
            after: String::new(),
            problem: None,
        };
        let (location, bytes, page) = match self.read(&change.source_url) {
            Ok(read) => read,
            Err(trouble) => {
                change.skipped = group.iter().map(|kept| skipped(kept, &trouble.code, &trouble.message)).collect();
                change.outcome = if trouble.concerns_page { PageOutcome::Unchanged } else { PageOutcome::Failed };
                change.problem = Some(trouble.message);
                return Ok(change);
            }
        };
        change.location = location;
        let (group, withdrawn) = self.still_accepted(group)?;
        let mut placed = self.place(&page, &bytes, &change.location, &group);
        placed.skipped.extend(withdrawn.into_iter().map(|kept| (kept, Left::DecidedOtherwise)));
        change.skipped = placed.skipped.iter().map(|(kept, left)| skipped(kept, left.code(), &left.reason())).collect();
        let hash_now = hash(&bytes);
        if self.run.is_some() {
            self.close_skipped(&placed.skipped, &hash_now)?;
        }
        if placed.edits.is_empty() {
            return Ok(change);
        }
        change.links = placed.edits.iter().map(link).collect();
        change.before = page.source.text;
        change.after.clone_from(&placed.after);
        change.outcome = PageOutcome::Planned;
        if let Some(run) = self.run {
            self.write(run, &bytes, &placed, &mut change)?;
        }
        Ok(change)
    }

    /// A run lasts, and reviewers go on deciding: what is still accepted as it was, and what is not.
    fn still_accepted(&self, group: &[StoredOpportunity]) -> Result<(Vec<StoredOpportunity>, Vec<StoredOpportunity>), EngineError> {
        let desk = self.desk;
        let (mut accepted, mut withdrawn) = (Vec::new(), Vec::new());
        for kept in group {
            let now = desk.runtime.block_on(desk.store.opportunities().find(&kept.opportunity.id))?;
            let same = now.is_some_and(|now| (now.state, now.revision) == (State::Accepted, kept.revision));
            if same { accepted.push(kept.clone()) } else { withdrawn.push(kept.clone()) }
        }
        Ok((accepted, withdrawn))
    }

    fn read(&self, url: &str) -> Result<(String, Vec<u8>, Page), Trouble> {
        let desk = self.desk;
        let gone = || Trouble {
            code: "not_planned".to_owned(),
            message: "the page is not part of the last plan".to_owned(),
            hint: "run `linkwright plan` again".to_owned(),
            concerns_page: true,
        };
        let summary = desk.planned.page(url).ok_or_else(gone)?;
        let page_url = PageUrl::parse(url).ok_or_else(gone)?;
        let location = desk.runtime.block_on(self.publisher.locate(summary))?;
        let bytes = desk.runtime.block_on(self.publisher.read(&location))?;
        let page = desk.page(&page_url, self.publisher.format(summary), summary.path.clone(), bytes.clone());
        Ok((location, bytes, page))
    }

    /// Places links one after another: one that cannot be written costs no other.
    fn place(&self, page: &Page, bytes: &[u8], location: &str, group: &[StoredOpportunity]) -> Placed {
        let flight = Preflight::new(page, &link_settings(self.desk.project.settings()));
        let mut skipped = Vec::new();
        let mut chosen: Vec<(&StoredOpportunity, Insertion)> = Vec::new();
        for kept in group {
            let target = &kept.opportunity.target_url;
            if chosen.iter().any(|(other, _)| other.opportunity.target_url == *target) {
                skipped.push((kept.clone(), Left::LinkedAlready));
                continue;
            }
            match self.insertion(page, &flight, &kept.opportunity).and_then(|insertion| fits(&flight, &chosen, insertion)) {
                Ok(insertion) => chosen.push((kept, insertion)),
                Err(left) => skipped.push((kept.clone(), left)),
            }
        }
        chosen.sort_by_key(|(_, insertion)| insertion.place);
        let insertions: Vec<Insertion> = chosen.iter().map(|(_, insertion)| insertion.clone()).collect();
        let encoded = flight.edit(&insertions).and_then(|edited| Ok((encode_back(&page.source, bytes, &edited)?, edited.text)));
        let (encoded, after) = match encoded {
            Ok(encoded) => encoded,
            Err(refusal) => {
                skipped.extend(chosen.into_iter().map(|(kept, _)| (kept.clone(), Left::Refused(refusal))));
                return Placed { new: bytes.to_vec(), after: page.source.text.clone(), edits: Vec::new(), skipped };
            }
        };
        let (hash_before, hash_after) = (hash(bytes), hash(&encoded.bytes));
        let written = edit::written(&encoded, &insertions);
        let edits = chosen.iter().zip(written).map(|((kept, insertion), written)| NewEdit {
            opportunity: kept.opportunity.id.clone(),
            publisher: self.publisher.kind(),
            site: self.publisher.site(),
            location: location.to_owned(),
            source_url: kept.opportunity.source_url.clone(),
            target_url: kept.opportunity.target_url.clone(),
            format: page.format,
            link: NewLink::of(insertion),
            passage: kept.opportunity.sentence().to_owned(),
            hash_before: hash_before.clone(),
            hash_after: hash_after.clone(),
            written,
        });
        let edits = edits.collect();
        Placed { new: encoded.bytes, after, edits, skipped }
    }

    fn insertion(&self, page: &Page, flight: &Preflight, opportunity: &Opportunity) -> Result<Insertion, Left> {
        let target = PageUrl::parse(&opportunity.target_url);
        let leads = |url: &PageUrl| target.as_ref().is_some_and(|target| same_page(page, url, target));
        if page.links.iter().any(|link| link.kind == LinkKind::Body && leads(&link.target)) {
            let there = observe(page, opportunity.sentence(), opportunity.words_in_sentence(), &leads) == Observation::Observed;
            return Err(if there { Left::AlreadyThere } else { Left::LinkedAlready });
        }
        let anchor = find_again(page, flight.places(), opportunity).map_err(Left::Refused)?;
        flight.insertion(anchor.source, &opportunity.href).map_err(Left::Refused)
    }

    /// What was left out for good gets its state; what another source of the page could still carry waits.
    fn close_skipped(&self, skipped: &[(StoredOpportunity, Left)], hash_now: &str) -> Result<(), EngineError> {
        let desk = self.desk;
        for (kept, left) in skipped {
            let changed = self.publisher.kind() == PublisherKind::Folder && kept.opportunity.source_hash != hash_now;
            let state = match left {
                Left::AlreadyThere => State::Observed,
                Left::LinkedAlready => State::Expired,
                Left::Refused(_) if changed => State::Expired,
                Left::Refused(_) | Left::DecidedOtherwise => continue,
            };
            let decision =
                Decision { reason: Some(left.reason()), ..Decision::new(&kept.opportunity.id, state, &self.request.who, &now()) };
            self.progress.step("record what was left out");
            desk.runtime.block_on(desk.store.decisions().record(&decision))?;
        }
        Ok(())
    }

    fn write(&mut self, run: RunId, bytes: &[u8], placed: &Placed, change: &mut PageChange) -> Result<(), EngineError> {
        let desk = self.desk;
        self.pause();
        self.progress.step("try the page out");
        if let Err(trouble) = desk.runtime.block_on(self.publisher.try_out(&change.location, &placed.new)) {
            change.outcome = if trouble.concerns_page { PageOutcome::Unchanged } else { PageOutcome::Failed };
            change.problem = Some(trouble.message);
            return Ok(());
        }
        self.progress.step("announce the edits");
        let at = now();
        let ids = desk.runtime.block_on(desk.store.ledger().begin(run, &placed.edits, &at, &self.request.who))?;
        let edits: Vec<Edit> = ids
            .iter()
            .zip(&placed.edits)
            .map(|(id, edit)| Edit {
                id: *id,
                run,
                edit: edit.clone(),
                status: EditEvent::Begun,
                at: at.clone(),
                who: self.request.who.clone(),
            })
            .collect();
        self.progress.step("write the page");
        let outcome = desk.runtime.block_on(self.publisher.write(&change.location, bytes, &placed.new, self.progress));
        self.progress.step("record the page");
        self.written += 1;
        match outcome {
            Ok(()) => {
                let circumstances = Circumstances { run, hash: &hash(&placed.new), who: &self.request.who };
                desk.close(&edits.iter().collect::<Vec<_>>(), EditEvent::Written, None, &circumstances)?;
                change.outcome = PageOutcome::Written;
                change.links.iter_mut().zip(ids).for_each(|(link, id)| link.edit = Some(id.0));
            }
            Err(trouble) => {
                // What the page holds now decides, not what the failure sounds like.
                let mut written = true;
                for edit in &edits {
                    written &= desk.settle(self.publisher, edit, run, &self.request.who, self.progress)? == Ok(EditEvent::Written);
                }
                change.outcome = if written { PageOutcome::Written } else { PageOutcome::Failed };
                change.problem = Some(trouble.message);
            }
        }
        Ok(())
    }

    fn pause(&self) {
        if self.written > 0 && self.publisher.kind() == PublisherKind::Wordpress {
            std::thread::sleep(Duration::from_millis(self.desk.project.settings().apply.pause_ms));
        }
    }
}

/// Whether one more link can be written beside those that were chosen.
fn fits(flight: &Preflight, chosen: &[(&StoredOpportunity, Insertion)], insertion: Insertion) -> Result<Insertion, Left> {
    let mut all: Vec<Insertion> = chosen.iter().map(|(_, insertion)| insertion.clone()).collect();
    all.push(insertion.clone());
    flight.edit(&all).map(|_| insertion).map_err(Left::Refused)
}

/// Whether a link leads to a page. A copy of a site names its public host in canonical links, and so may its links.
pub(crate) fn same_page(page: &Page, link: &PageUrl, target: &PageUrl) -> bool {
    let public = page.canonical.as_ref().filter(|canonical| canonical.host() == link.host());
    link.key() == target.key() || public.is_some_and(|_| link.at_origin_of(&target.to_url()).key() == target.key())
}

fn link(edit: &NewEdit) -> LinkChange {
    LinkChange {
        opportunity: edit.opportunity.clone(),
        edit: None,
        anchor: edit.link.anchor.clone(),
        href: edit.link.href.clone(),
        target_url: edit.target_url.clone(),
    }
}

fn skipped(kept: &StoredOpportunity, code: &str, reason: &str) -> SkippedLink {
    SkippedLink {
        opportunity: kept.opportunity.id.clone(),
        anchor: kept.opportunity.anchor.clone(),
        target_url: kept.opportunity.target_url.clone(),
        code: code.to_owned(),
        reason: reason.to_owned(),
    }
}
