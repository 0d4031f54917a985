//! The approval queue: what waits for a person, and what the person decides.
//!
//! Several people and several processes may work on one project at once: nothing is held but the database, every
//! decision names the revision that the reviewer saw, and what is kept in memory is given up as soon as the database
//! says that it has changed.
//!
//! Methods are asynchronous because the store is; a server awaits them on the runtime it has anyway. What takes the
//! processor for more than a moment (parsing pages, understanding the whole site) is handed to blocking threads.

mod effect;
mod picture;
mod queue;
mod revision;
mod site;
mod stories;
#[cfg(test)]
mod tests;

pub use crate::decisions::Verdict;
pub use effect::{Change, Effect, Figures};
pub use linkwright_store::{Decision, Edit, EditEvent, Note, Run, RunStatus, State, StoredOpportunity};
pub use picture::{Cluster, Edge, EdgeKind, Node, Picture, Side};
pub use queue::{Filter, Orphans, Progress, Queue, Show, Sort, first_segment};
pub use revision::{Checked, Desk, Place, Revision, Suggestion, TextBlock};
pub use site::SiteLink;
pub use stories::{AnchorRow, AnchorUse, OrphanRow, PageStory, RunRow};

use crate::analysis::{Analysis, parse};
use crate::decisions::decision;
use crate::error::EngineError;
use crate::plan::now;
use crate::planned::{self, Planned};
use crate::project::Project;
use crate::reading;
use linkwright_core::page::{BlockKind, FetchedPage, Page};
use linkwright_core::plan::{Gap, PageSummary, RunInfo};
use linkwright_core::url::PageUrl;
use linkwright_store::{CrawlId, Store, StoreError};
use site::Site;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::RwLock;

/// Parsed pages that are kept: a reviewer works on a few pages at a time.
const PAGES_KEPT: usize = 24;
/// Characters of a lead.
const LEAD: usize = 320;

/// Why something was not decided.
#[derive(Debug)]
pub enum ReviewError {
    /// Somebody else decided in the meantime.
    Conflict {
        /// The state it is in now.
        state: State,
        /// Who decided; empty where nobody did.
        reviewer: String,
        /// When; RFC 3339.
        decided_at: String,
    },
    /// It cannot be done, in a sentence.
    Refused(String),
    /// A list for a bulk decision is not what the reviewer saw.
    ListChanged,
    /// There is no such thing.
    NotFound(String),
    /// The project cannot be read or written.
    Engine(EngineError),
}

impl From<EngineError> for ReviewError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<StoreError> for ReviewError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { state, reviewer, decided_at, .. } => {
                let state = State::ALL.into_iter().find(|known| known.name() == state).unwrap_or(State::Found);
                Self::Conflict { state, reviewer, decided_at }
            }
            StoreError::NoOpportunity { .. } => Self::NotFound("there is no such opportunity".to_owned()),
            StoreError::IllegalTransition { from, to, .. } => Self::Refused(format!("an opportunity that is {from} cannot become {to}")),
            other => Self::Engine(other.into()),
        }
    }
}

/// One opportunity with everything around it.
#[derive(Clone, Debug)]
pub struct Item {
    /// The opportunity.
    pub stored: Arc<StoredOpportunity>,
    /// The source's row in the plan.
    pub source: Option<PageSummary>,
    /// The target's.
    pub target: Option<PageSummary>,
    /// First sentences of the target's main text.
    pub lead: String,
    /// What was decided so far: the state before, and the decision.
    pub history: Vec<(State, Decision)>,
    /// Remarks, oldest first.
    pub notes: Vec<Note>,
    /// Links of both pages; `None` while the site is still being read.
    pub links: Option<PairLinks>,
}

/// Links of the two pages of an opportunity, each list by URL.
#[derive(Clone, Debug, Default)]
pub struct PairLinks {
    /// Links of the source to other pages.
    pub source_out: Vec<SiteLink>,
    /// Links of other pages to the source.
    pub source_in: Vec<SiteLink>,
    /// Links of the target to other pages.
    pub target_out: Vec<SiteLink>,
    /// Links of other pages to the target.
    pub target_in: Vec<SiteLink>,
}

/// How far the reading of the whole site has come.
#[derive(Clone, Debug)]
pub enum Readiness {
    /// It is being read.
    Computing,
    /// It is there.
    Ready,
    /// It could not be read.
    Failed(String),
}

/// What a bulk decision would decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// How many opportunities it would change.
    pub count: usize,
    /// How many of the list it would leave, because their state does not allow it.
    pub left: usize,
    /// Stands for exactly these opportunities in exactly these revisions.
    pub stamp: String,
}

/// The queue as it was read at one moment.
#[derive(Clone)]
struct Snapshot {
    version: (i64, i64),
    planned: Arc<Planned>,
    items: Vec<Arc<StoredOpportunity>>,
    by_id: Arc<HashMap<String, usize>>,
}

impl Snapshot {
    fn find(&self, id: &str) -> Result<&Arc<StoredOpportunity>, ReviewError> {
        let found = self.by_id.get(id).and_then(|at| self.items.get(*at));
        found.ok_or_else(|| ReviewError::NotFound("there is no such opportunity".to_owned()))
    }
}

/// The whole site, once it is understood.
enum SiteState {
    /// Not asked for yet.
    Unread,
    /// Being read for the plan of this run.
    Computing(i64),
    /// Read for the plan of this run.
    Ready(i64, Arc<Site>),
    /// Not readable for the plan of this run.
    Failed(i64, String),
}

/// Pages by run and URL, the one used last at the end.
type KeptPages = VecDeque<((i64, String), Arc<Page>)>;

struct Inner {
    project: Project,
    store: Store,
    kept: RwLock<Option<Arc<Snapshot>>>,
    site: Mutex<SiteState>,
    pages: Mutex<KeptPages>,
}

/// The approval queue of a project. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Review {
    inner: Arc<Inner>,
}

impl Review {
    /// Opens the queue of a project, and begins to read the whole site in the background.
    ///
    /// # Errors
    /// When there is no project, or no plan in it.
    pub async fn open(folder: &Path) -> Result<Self, EngineError> {
        let project = Project::find(folder)?;
        let store = project.store().await?;
        let (site, pages) = (Mutex::new(SiteState::Unread), Mutex::new(VecDeque::new()));
        let review = Self { inner: Arc::new(Inner { project, store, kept: RwLock::new(None), site, pages }) };
        review.snapshot().await?;
        Ok(review)
    }

    /// How the last plan was made.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn run(&self) -> Result<RunInfo, EngineError> {
        Ok(self.snapshot().await?.planned.plan.run.clone())
    }

    /// How far the reading of the whole site has come.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        match &*lock(&self.inner.site) {
            SiteState::Ready(..) => Readiness::Ready,
            SiteState::Failed(_, reason) => Readiness::Failed(reason.clone()),
            SiteState::Unread | SiteState::Computing(_) => Readiness::Computing,
        }
    }

    /// What the filter lets through, in its order.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn queue(&self, filter: &Filter) -> Result<Queue, EngineError> {
        let snapshot = self.snapshot().await?;
        Ok(queue::list(&snapshot.items, &snapshot.planned, filter))
    }

    /// The gaps that the filter lets through, best first.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn gaps(&self, filter: &Filter) -> Result<Vec<Gap>, EngineError> {
        let snapshot = self.snapshot().await?;
        let gaps = self.inner.store.opportunities().gaps().await?;
        Ok(queue::gaps(gaps, &snapshot.planned, filter))
    }

    /// One opportunity by itself.
    ///
    /// # Errors
    /// `NotFound`; otherwise when the project cannot be read.
    pub async fn find(&self, id: &str) -> Result<Arc<StoredOpportunity>, ReviewError> {
        Ok(Arc::clone(self.snapshot().await?.find(id)?))
    }

    /// One opportunity with everything around it.
    ///
    /// # Errors
    /// `NotFound`; otherwise when the project cannot be read.
    pub async fn item(&self, id: &str) -> Result<Item, ReviewError> {
        let snapshot = self.snapshot().await?;
        let stored = Arc::clone(snapshot.find(id)?);
        let decisions = self.inner.store.decisions();
        let (history, notes) = (decisions.of(id).await?, decisions.notes(id).await?);
        let (from, to) = (&stored.opportunity.source_url, &stored.opportunity.target_url);
        let lead = self.page_of(&snapshot, to).await.map(|page| lead(&page)).unwrap_or_default();
        let links = self.site().map(|site| PairLinks {
            source_out: site.links_of(from),
            source_in: site.links_to(from),
            target_out: site.links_of(to),
            target_in: site.links_to(to),
        });
        let (source, target) = (snapshot.planned.page(from).cloned(), snapshot.planned.page(to).cloned());
        Ok(Item { source, target, lead, history, notes, links, stored })
    }

    /// Decides about one opportunity, as the reviewer saw it. Gives its new revision.
    ///
    /// # Errors
    /// `Conflict` when it has another revision by now; `Refused` when its state does not allow it.
    pub async fn decide(&self, id: &str, verdict: &Verdict, seen: i64, reviewer: &str) -> Result<i64, ReviewError> {
        let snapshot = self.snapshot().await?;
        let stored = self.inner.store.opportunities().find(id).await?;
        let stored = stored.ok_or_else(|| ReviewError::NotFound("there is no such opportunity".to_owned()))?;
        if stored.revision == seen && !verdict.fits(stored.state) {
            return Err(ReviewError::Refused(format!(
                "it is {} by now, and only a new plan or `linkwright undo` changes that",
                stored.state.name()
            )));
        }
        let decision = decision(&snapshot.planned, &stored, verdict, Some(seen), reviewer);
        self.record(&decision).await
    }

    /// Records a decision and takes it over into what is kept.
    async fn record(&self, decision: &Decision) -> Result<i64, ReviewError> {
        let revision = self.inner.store.decisions().record(decision).await?;
        let fresh = self.inner.store.opportunities().find(&decision.opportunity).await?;
        let mut kept = self.inner.kept.write().await;
        // Only when nothing else was decided in between is the rest still true.
        let next = kept.as_ref().filter(|old| old.version.0 + 1 == revision).zip(fresh).and_then(|(old, fresh)| {
            let at = *old.by_id.get(&decision.opportunity)?;
            let mut next = Snapshot::clone(old);
            next.version.0 = revision;
            *next.items.get_mut(at)? = Arc::new(fresh);
            Some(Arc::new(next))
        });
        if let Some(next) = next {
            *kept = Some(next);
        }
        Ok(revision)
    }

    /// What a bulk decision on a filtered list would decide.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn select(&self, filter: &Filter, verdict: &Verdict) -> Result<Selection, EngineError> {
        let snapshot = self.snapshot().await?;
        let listed = queue::list(&snapshot.items, &snapshot.planned, filter).items;
        Ok(selection(&listed, verdict))
    }

    /// Decides about every opportunity of a filtered list at once: all or none. Gives their number.
    ///
    /// # Errors
    /// `ListChanged` when the list is not the one that the stamp stands for; `Conflict` when somebody decides on one of
    /// it at the same moment.
    pub async fn bulk(&self, filter: &Filter, verdict: &Verdict, stamp: &str, reviewer: &str) -> Result<usize, ReviewError> {
        let snapshot = self.snapshot().await?;
        let listed = queue::list(&snapshot.items, &snapshot.planned, filter).items;
        if selection(&listed, verdict).stamp != stamp {
            return Err(ReviewError::ListChanged);
        }
        let chosen = listed.iter().filter(|stored| verdict.fits(stored.state));
        let decisions: Vec<Decision> =
            chosen.map(|stored| decision(&snapshot.planned, stored, verdict, Some(stored.revision), reviewer)).collect();
        match self.inner.store.decisions().record_all(&decisions).await {
            Ok(()) => Ok(decisions.len()),
            Err(StoreError::Conflict { .. }) => Err(ReviewError::ListChanged),
            Err(other) => Err(other.into()),
        }
    }

    /// Adds a remark.
    ///
    /// # Errors
    /// `NotFound`; otherwise when the project cannot be written.
    pub async fn note(&self, id: &str, text: &str, reviewer: &str) -> Result<(), ReviewError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ReviewError::Refused("a note needs words".to_owned()));
        }
        let note = Note { opportunity: id.to_owned(), reviewer: reviewer.to_owned(), written_at: now(), text: text.to_owned() };
        Ok(self.inner.store.decisions().add_note(&note).await?)
    }

    /// The queue as the database has it now.
    async fn snapshot(&self) -> Result<Arc<Snapshot>, EngineError> {
        let store = &self.inner.store;
        let version = store.opportunities().version().await?;
        let is_fresh = |kept: &Option<Arc<Snapshot>>| kept.clone().filter(|snapshot| snapshot.version == version);
        if let Some(fresh) = is_fresh(&*self.inner.kept.read().await) {
            return Ok(fresh);
        }
        let mut kept = self.inner.kept.write().await;
        if let Some(fresh) = is_fresh(&kept) {
            return Ok(fresh);
        }
        let planned = match kept.as_ref().filter(|old| old.version.1 == version.1) {
            Some(old) => Arc::clone(&old.planned),
            None => Arc::new(Planned::new(planned::latest(store).await?)),
        };
        let items: Vec<Arc<StoredOpportunity>> = store.opportunities().all().await?.into_iter().map(Arc::new).collect();
        let by_id = Arc::new(items.iter().enumerate().map(|(i, item)| (item.opportunity.id.clone(), i)).collect());
        let snapshot = Arc::new(Snapshot { version, planned, items, by_id });
        *kept = Some(Arc::clone(&snapshot));
        self.read_site(&snapshot);
        Ok(snapshot)
    }

    /// Begins to read the whole site, unless it was read for this plan already.
    fn read_site(&self, snapshot: &Snapshot) {
        let run = snapshot.planned.plan.run.id;
        let mut state = lock(&self.inner.site);
        if matches!(&*state, SiteState::Computing(of) | SiteState::Ready(of, _) | SiteState::Failed(of, _) if *of == run) {
            return;
        }
        *state = SiteState::Computing(run);
        let (review, planned) = (self.clone(), Arc::clone(&snapshot.planned));
        tokio::spawn(async move {
            let read = review.understand(planned).await;
            let mut state = lock(&review.inner.site);
            if matches!(&*state, SiteState::Computing(of) if *of == run) {
                *state = match read {
                    Ok(site) => SiteState::Ready(run, Arc::new(site)),
                    Err(error) => SiteState::Failed(run, error.to_string()),
                };
            }
        });
    }

    async fn understand(&self, planned: Arc<Planned>) -> Result<Site, EngineError> {
        let pages = reading::stored(&planned.plan, &self.inner.store).await?;
        let settings = self.inner.project.settings().clone();
        let understood = tokio::task::spawn_blocking(move || Site::new(&Analysis::of_plan(pages, &planned.plan, &settings), &planned.plan));
        understood.await.map_err(|error| EngineError::new(format!("the site could not be understood: {error}"), ""))
    }

    /// The site, once it is understood.
    fn site(&self) -> Option<Arc<Site>> {
        match &*lock(&self.inner.site) {
            SiteState::Ready(_, site) => Some(Arc::clone(site)),
            _ => None,
        }
    }

    /// A page of the plan, parsed.
    async fn page_of(&self, snapshot: &Snapshot, url: &str) -> Result<Arc<Page>, ReviewError> {
        let run = &snapshot.planned.plan.run;
        let key = (run.id, url.to_owned());
        {
            let mut kept = lock(&self.inner.pages);
            if let Some(at) = kept.iter().position(|(other, _)| *other == key)
                && let Some(entry) = kept.remove(at)
            {
                let page = Arc::clone(&entry.1);
                kept.push_back(entry);
                return Ok(page);
            }
        }
        let fetched = self.fetched(snapshot, url).await?;
        let (planned, settings) = (Arc::clone(&snapshot.planned), self.inner.project.settings().clone());
        let parsed = tokio::task::spawn_blocking(move || parse(&fetched, &settings, &planned.paths)).await;
        let mut page = parsed.map_err(|error| EngineError::new(format!("the page could not be read: {error}"), ""))?;
        if let Some(site) = self.site() {
            site.mark_main(&mut page);
        }
        let page = Arc::new(page);
        let mut kept = lock(&self.inner.pages);
        if kept.len() >= PAGES_KEPT {
            kept.pop_front();
        }
        kept.push_back((key, Arc::clone(&page)));
        Ok(page)
    }

    async fn fetched(&self, snapshot: &Snapshot, url: &str) -> Result<FetchedPage, ReviewError> {
        let missing = || ReviewError::NotFound(format!("the page {url} is not part of the last plan"));
        let parsed = PageUrl::parse(url).ok_or_else(missing)?;
        let crawl = CrawlId(snapshot.planned.plan.run.crawl);
        let found = self.inner.store.pages().find(crawl, &parsed.key()).await?.ok_or_else(missing)?;
        if found.outcome.was_read() { Ok(found) } else { Err(missing()) }
    }
}

fn selection(listed: &[Arc<StoredOpportunity>], verdict: &Verdict) -> Selection {
    let mut hash = blake3::Hasher::new();
    let mut count = 0;
    for stored in listed.iter().filter(|stored| verdict.fits(stored.state)) {
        hash.update(stored.opportunity.id.as_bytes());
        hash.update(&stored.revision.to_le_bytes());
        count += 1;
    }
    Selection { count, left: listed.len() - count, stamp: hash.finalize().to_hex().to_string() }
}

/// The first sentences of the main text.
fn lead(page: &Page) -> String {
    let prose = page.blocks.iter().filter(|block| block.main && matches!(block.kind, BlockKind::Paragraph));
    let mut lead = String::new();
    'blocks: for block in prose {
        for sentence in linkwright_core::passage::split(&block.text, &page.language) {
            if !lead.is_empty() {
                lead.push(' ');
            }
            lead.push_str(block.text.get(sentence.range()).unwrap_or_default());
            if lead.chars().count() >= LEAD / 2 {
                break 'blocks;
            }
        }
    }
    if lead.chars().count() > LEAD {
        lead = lead.chars().take(LEAD).collect();
        lead.push('…');
    }
    lead
}

/// A lock that a panic elsewhere has not made unusable: every change under these locks is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
