//! Pages as they are now → what became of the links that were approved.
//!
//! A written link is looked for in its sentence. An approved one that linkwright did not write may have been put in by
//! hand: it is closed when it is seen.

use crate::apply::same_page;
use crate::error::EngineError;
use crate::plan::now;
use crate::progress::Progress;
use crate::publication::{Publication, Publishers, Recovered, hash};
use crate::reading::crawl_settings;
use linkwright_core::edit::{Observation, observe};
use linkwright_core::page::{FetchOutcome, FetchedPage, Page};
use linkwright_core::plan::PageSummary;
use linkwright_core::url::PageUrl;
use linkwright_store::{Decision, Edit, EditEvent, Entry, PublisherKind, RunId, State, StoredOpportunity};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct VerifyRequest {
    /// Project folder.
    pub project: PathBuf,
    /// Whether to look at the public pages, also where the links were written to files.
    pub live: bool,
    /// Who asks.
    pub who: String,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyResult {
    /// Number of the run; `None` when there was nothing to look at.
    pub run: Option<i64>,
    /// What became of each link, by page.
    pub links: Vec<SeenLink>,
    /// Pages that could not be read: URL and reason. Nothing is said about their links.
    pub unread: Vec<(String, String)>,
    /// Edits that a killed process had left open.
    pub recovered: Vec<Recovered>,
}

/// What became of one link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenLink {
    /// Identity of the opportunity.
    pub opportunity: String,
    /// Number of the edit, where linkwright wrote the link.
    pub edit: Option<i64>,
    /// The page.
    pub source_url: String,
    /// The words.
    pub anchor: String,
    /// Where it should lead.
    pub target_url: String,
    /// What was seen.
    pub seen: Seen,
    /// More in words.
    pub detail: Option<String>,
    /// The state it was in.
    pub before: State,
    /// The state it is in now.
    pub after: State,
}

/// What was seen of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// It is there.
    Observed,
    /// It is there with other words, or in an edited sentence.
    Changed,
    /// It is not there.
    Missing,
    /// It waits to be written.
    Waiting,
}

/// Looks at every page with an approved or written link.
///
/// # Errors
/// When there is no plan, or the project cannot be kept. Pages that cannot be read are part of the result.
pub fn verify(request: &VerifyRequest, progress: &dyn Progress) -> Result<VerifyResult, EngineError> {
    let desk = Publication::open(&request.project, "verify")?;
    let mut publishers = Publishers::default();
    let recovered = desk.recover(&mut publishers, &request.who, progress)?;
    let edits = desk.runtime.block_on(desk.store.ledger().edits())?;
    let edits: BTreeMap<String, Edit> = edits.into_iter().filter(Edit::is_live).map(|edit| (edit.edit.opportunity.clone(), edit)).collect();
    let mut by_page: BTreeMap<String, Vec<StoredOpportunity>> = BTreeMap::new();
    for state in [State::Accepted, State::Published, State::Observed, State::Missing] {
        for kept in desk.runtime.block_on(desk.store.opportunities().in_state(state))? {
            by_page.entry(kept.opportunity.source_url.clone()).or_default().push(kept);
        }
    }
    let mut result = VerifyResult { run: None, links: Vec::new(), unread: Vec::new(), recovered };
    if by_page.is_empty() {
        desk.finish(None, false)?;
        return Ok(result);
    }
    let run = desk.begin_run("verify", &desk.planned.plan.run.site)?;
    result.run = Some(run.0);
    progress.stage("Looking at pages", Some(by_page.len() as u64));
    let mut work = Work { desk: &desk, publishers, edits, request };
    let public = work.public_pages(&by_page)?;
    for (url, group) in by_page {
        progress.advance(1);
        match work.page(&url, &group, &public) {
            Ok(page) => work.look(run, &page, &group, &mut result)?,
            Err(reason) => result.unread.push((url, reason)),
        }
    }
    desk.finish(Some(run), false)?;
    Ok(result)
}

struct Work<'a> {
    desk: &'a Publication,
    publishers: Publishers,
    edits: BTreeMap<String, Edit>,
    request: &'a VerifyRequest,
}

impl Work<'_> {
    /// Whether the page is looked at where readers see it: everything but files.
    fn is_public(&self, group: &[StoredOpportunity]) -> bool {
        let in_files = group.iter().any(|kept| self.edit(kept).is_some_and(|edit| edit.edit.publisher == PublisherKind::Folder));
        let written = group.iter().any(|kept| self.edit(kept).is_some());
        self.request.live || !(in_files || (!written && self.summary(group).is_some_and(|page| page.path.is_some())))
    }

    fn edit(&self, kept: &StoredOpportunity) -> Option<&Edit> {
        self.edits.get(&kept.opportunity.id)
    }

    fn summary(&self, group: &[StoredOpportunity]) -> Option<&PageSummary> {
        self.desk.planned.page(&group[0].opportunity.source_url)
    }

    /// The pages that are looked at over HTTP, by the URL asked for.
    fn public_pages(&self, by_page: &BTreeMap<String, Vec<StoredOpportunity>>) -> Result<BTreeMap<String, FetchedPage>, EngineError> {
        let wanted = by_page.iter().filter(|(_, group)| self.is_public(group)).filter_map(|(url, _)| PageUrl::parse(url));
        let wanted: Vec<PageUrl> = wanted.collect();
        let settings = crawl_settings(self.desk.project.settings());
        let found = self.desk.runtime.block_on(linkwright_site::look(&wanted, &settings))?;
        Ok(found.into_iter().map(|page| (page.url.to_string(), page)).collect())
    }

    fn page(&mut self, url: &str, group: &[StoredOpportunity], public: &BTreeMap<String, FetchedPage>) -> Result<Page, String> {
        if self.is_public(group) {
            let fetched = public.get(url).ok_or("it was not asked for")?;
            if fetched.outcome != FetchOutcome::Fetched {
                return Err(fetched.detail.clone().unwrap_or_else(|| format!("it answered {}", fetched.status)));
            }
            return Ok(self.desk.fetched_page(fetched));
        }
        let page_url = PageUrl::parse(url).ok_or("its address cannot be read")?;
        let summary = self.summary(group).cloned().ok_or("it is not part of the last plan")?;
        let edit = group.iter().find_map(|kept| self.edit(kept)).cloned();
        let (publisher, location) = match edit {
            Some(edit) => (self.publishers.of(self.desk, &edit), edit.edit.location),
            None => (self.publishers.planned(self.desk), summary.path.clone().unwrap_or_default()),
        };
        let publisher = publisher.map_err(|trouble| trouble.message)?;
        let bytes = self.desk.runtime.block_on(publisher.read(&location)).map_err(|trouble| trouble.message)?;
        Ok(self.desk.page(&page_url, publisher.format(&summary), summary.path, bytes))
    }

    /// Looks for the links of a page, and moves their states.
    fn look(&self, run: RunId, page: &Page, group: &[StoredOpportunity], result: &mut VerifyResult) -> Result<(), EngineError> {
        let page_hash = hash(page.source.text.as_bytes());
        for kept in group {
            let seen = seen(page, kept, self.edit(kept));
            let decision = (seen.after != seen.before).then(|| Decision {
                reason: seen.detail.clone(),
                ..Decision::new(&seen.opportunity, seen.after, &self.request.who, &now())
            });
            let event = match seen.seen {
                Seen::Observed => Some(EditEvent::Observed),
                Seen::Changed => Some(EditEvent::Changed),
                Seen::Missing => Some(EditEvent::Missing),
                Seen::Waiting => None,
            };
            let entry = event.zip(self.edit(kept)).map(|(event, edit)| Entry {
                edit: edit.id,
                run,
                event,
                at: now(),
                who: self.request.who.clone(),
                hash: page_hash.clone(),
                detail: seen.detail.clone(),
            });
            let (entries, decisions): (Vec<Entry>, Vec<Decision>) = (entry.into_iter().collect(), decision.into_iter().collect());
            self.desk.runtime.block_on(self.desk.store.ledger().record(&entries, &decisions))?;
            result.links.push(seen);
        }
        Ok(())
    }
}

/// What the page says about one link.
fn seen(page: &Page, kept: &StoredOpportunity, edit: Option<&Edit>) -> SeenLink {
    let opportunity = &kept.opportunity;
    let target = PageUrl::parse(&opportunity.target_url);
    let leads = |url: &PageUrl| target.as_ref().is_some_and(|target| same_page(page, url, target));
    let observation = observe(page, opportunity.sentence(), opportunity.words_in_sentence(), &leads);
    let (seen, detail, after) = match (observation, kept.state) {
        (Observation::Observed, _) => (Seen::Observed, None, State::Observed),
        (Observation::Changed(detail), _) => (Seen::Changed, Some(detail), State::Observed),
        (Observation::Missing(_), State::Accepted) => (Seen::Waiting, None, State::Accepted),
        (Observation::Missing(detail), _) => (Seen::Missing, Some(detail), State::Missing),
    };
    SeenLink {
        opportunity: opportunity.id.clone(),
        edit: edit.map(|edit| edit.id.0),
        source_url: opportunity.source_url.clone(),
        anchor: opportunity.anchor.clone(),
        target_url: opportunity.target_url.clone(),
        seen,
        detail,
        before: kept.state,
        after,
    }
}
