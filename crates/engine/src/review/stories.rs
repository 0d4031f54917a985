//! What is to say about one page, the orphans, the anchors of targets, and what was written.

use super::{Readiness, Review, ReviewError, SiteLink, Snapshot};
use crate::error::EngineError;
use linkwright_core::plan::{Gap, PageSummary};
use linkwright_core::text::fold;
use linkwright_store::{Edit, Run, State, StoredOpportunity};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One page: what links in and out, what is proposed, what was turned down.
#[derive(Clone, Debug)]
pub struct PageStory {
    /// Its row in the plan.
    pub summary: PageSummary,
    /// Its links; `None` while the site is still being read.
    pub links: Option<(Vec<SiteLink>, Vec<SiteLink>)>,
    /// Opportunities with it as source, in any state but rejected and expired.
    pub out: Vec<Arc<StoredOpportunity>>,
    /// Opportunities with it as target.
    pub into: Vec<Arc<StoredOpportunity>>,
    /// Rejected ones, in either direction.
    pub rejected: Vec<Arc<StoredOpportunity>>,
    /// Gaps in either direction.
    pub gaps: Vec<Gap>,
}

/// A page without body inlinks, or one that is due to get some.
#[derive(Clone, Debug)]
pub struct OrphanRow {
    /// Its row in the plan.
    pub summary: PageSummary,
    /// Links to it that are accepted or written.
    pub accepted: usize,
    /// Links to it that wait for a decision.
    pub waiting: usize,
}

/// How often words lead to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorUse {
    /// The words.
    pub words: String,
    /// Body links that use them now.
    pub now: usize,
    /// Accepted links that will.
    pub accepted: usize,
    /// Links with them that wait for a decision.
    pub waiting: usize,
}

/// Anchors of one target.
#[derive(Clone, Debug)]
pub struct AnchorRow {
    /// The target.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Most used first.
    pub anchors: Vec<AnchorUse>,
}

/// A run and the links it inserted.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// The run.
    pub run: Run,
    /// Its edits, oldest first.
    pub edits: Vec<Edit>,
}

impl Review {
    /// The story of one page of the plan.
    ///
    /// # Errors
    /// `NotFound`; otherwise when the project cannot be read.
    pub async fn page(&self, url: &str) -> Result<PageStory, ReviewError> {
        let snapshot = self.snapshot().await?;
        let summary = snapshot.planned.page(url).cloned();
        let summary = summary.ok_or_else(|| ReviewError::NotFound(format!("the page {url} is not part of the last plan")))?;
        let gaps = self.inner.store.opportunities().gaps().await?;
        let pick = |fits: &dyn Fn(&StoredOpportunity) -> bool| snapshot.items.iter().filter(|item| fits(item)).cloned().collect();
        let stands = |item: &StoredOpportunity| !matches!(item.state, State::Rejected | State::Expired);
        let touches = |item: &StoredOpportunity| item.opportunity.source_url == url || item.opportunity.target_url == url;
        Ok(PageStory {
            summary,
            links: self.site().map(|site| (site.links_of(url), site.links_to(url))),
            out: pick(&|item| stands(item) && item.opportunity.source_url == url),
            into: pick(&|item| stands(item) && item.opportunity.target_url == url),
            rejected: pick(&|item| item.state == State::Rejected && touches(item)),
            gaps: gaps.into_iter().filter(|gap| gap.source_url == url || gap.target_url == url).collect(),
        })
    }

    /// Pages without body inlinks, those that nothing is proposed for last. Whether the list is complete is what
    /// `RunInfo::complete` says.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn orphans(&self) -> Result<Vec<OrphanRow>, EngineError> {
        let snapshot = self.snapshot().await?;
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for item in &snapshot.items {
            let entry = counts.entry(item.opportunity.target_url.as_str()).or_default();
            entry.0 += usize::from(item.state.is_link());
            entry.1 += usize::from(item.state.is_waiting());
        }
        let orphans = snapshot.planned.plan.pages.iter().filter(|page| page.orphan == Some(true));
        let row = |page: &PageSummary| {
            let (accepted, waiting) = counts.get(page.url.as_str()).copied().unwrap_or_default();
            OrphanRow { summary: page.clone(), accepted, waiting }
        };
        let mut rows: Vec<OrphanRow> = orphans.map(row).collect();
        rows.sort_by(|a, b| b.waiting.cmp(&a.waiting).then_with(|| a.summary.url.cmp(&b.summary.url)));
        Ok(rows)
    }

    /// Anchors of each target, targets with the most new links first.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn anchors(&self) -> Result<Vec<AnchorRow>, EngineError> {
        let snapshot = self.snapshot().await?;
        Ok(anchors(&snapshot))
    }

    /// Runs, the last first, each with the links it inserted.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn runs(&self) -> Result<Vec<RunRow>, EngineError> {
        let runs = self.inner.store.runs().all().await?;
        let mut edits: BTreeMap<i64, Vec<Edit>> = BTreeMap::new();
        for edit in self.inner.store.ledger().edits().await? {
            edits.entry(edit.run.0).or_default().push(edit);
        }
        let rows = runs.into_iter().rev().map(|run| RunRow { edits: edits.remove(&run.id.0).unwrap_or_default(), run });
        Ok(rows.collect())
    }

    /// Pages whose URL or title holds all words, by URL, at most so many.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub async fn find_pages(&self, words: &str, most: usize) -> Result<Vec<PageSummary>, EngineError> {
        let snapshot = self.snapshot().await?;
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let fits = |page: &&PageSummary| {
            let (url, title) = (page.url.to_lowercase(), page.title.to_lowercase());
            page.words > 0 && words.iter().all(|word| url.contains(word) || title.contains(word))
        };
        let mut found: Vec<PageSummary> = snapshot.planned.plan.pages.iter().filter(fits).cloned().collect();
        // A title that begins with the words is most likely meant.
        let whole = words.join(" ");
        found.sort_by_key(|page| (!page.not_target.is_empty(), !page.title.to_lowercase().starts_with(&whole)));
        found.truncate(most);
        Ok(found)
    }

    /// How far the whole site is read, for pages that need it.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(self.readiness(), Readiness::Ready)
    }
}

fn anchors(snapshot: &Snapshot) -> Vec<AnchorRow> {
    let mut targets: BTreeMap<&str, (String, BTreeMap<String, AnchorUse>)> = BTreeMap::new();
    let new = |words: &str| AnchorUse { words: words.to_owned(), now: 0, accepted: 0, waiting: 0 };
    for target in &snapshot.planned.plan.anchors {
        let entry = targets.entry(&target.target_url).or_insert_with(|| (target.target_title.clone(), BTreeMap::new()));
        for (words, now, _) in &target.anchors {
            entry.1.entry(fold(words)).or_insert_with(|| new(words)).now += now;
        }
    }
    for item in &snapshot.items {
        let o = &item.opportunity;
        if !item.state.is_link() && !item.state.is_waiting() {
            continue;
        }
        let entry = targets.entry(&o.target_url).or_insert_with(|| (o.target_title.clone(), BTreeMap::new()));
        let used = entry.1.entry(fold(&o.anchor)).or_insert_with(|| new(&o.anchor));
        used.accepted += usize::from(item.state.is_link());
        used.waiting += usize::from(item.state.is_waiting());
    }
    let mut rows: Vec<AnchorRow> = targets
        .into_iter()
        .map(|(url, (title, anchors))| {
            let mut anchors: Vec<AnchorUse> = anchors.into_values().filter(|used| used.now + used.accepted + used.waiting > 0).collect();
            anchors
                .sort_by(|a, b| (b.now + b.accepted, b.waiting).cmp(&(a.now + a.accepted, a.waiting)).then_with(|| a.words.cmp(&b.words)));
            AnchorRow { url: url.to_owned(), title, anchors }
        })
        .filter(|row| !row.anchors.is_empty())
        .collect();
    let new_links = |row: &AnchorRow| row.anchors.iter().map(|used| used.accepted + used.waiting).sum::<usize>();
    rows.sort_by(|a, b| new_links(b).cmp(&new_links(a)).then_with(|| a.url.cmp(&b.url)));
    rows
}
