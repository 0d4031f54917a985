//! Opportunities to the list that a reviewer works through.

use crate::planned::Planned;
use linkwright_core::plan::{Gap, Opportunity};
use linkwright_store::{State, StoredOpportunity};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which states are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Found or missing: a decision is due.
    #[default]
    Waiting,
    /// One state.
    Only(State),
    /// Every state.
    All,
}

impl Show {
    /// The name in addresses and settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Only(state) => state.name(),
            Self::All => "all",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let states = State::ALL.into_iter().map(Self::Only);
        [Self::Waiting, Self::All].into_iter().chain(states).find(|show| show.name() == name)
    }

    fn lets_through(self, state: State) -> bool {
        match self {
            Self::Waiting => state.is_waiting(),
            Self::Only(only) => state == only,
            Self::All => true,
        }
    }
}

/// What orphan targets mean for the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orphans {
    /// Nothing.
    #[default]
    Any,
    /// They come first.
    First,
    /// Nothing else is listed.
    Only,
}

impl Orphans {
    /// Each with its name in addresses.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Any, "any"), (Self::First, "first"), (Self::Only, "only")];
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Best first.
    #[default]
    Score,
    /// By the source's URL, best first within a page.
    Source,
    /// By the target's URL, best first within a page.
    Target,
    /// What was decided last first.
    Decided,
}

impl Sort {
    /// Each with its name in addresses.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Score, "score"), (Self::Source, "source"), (Self::Target, "target"), (Self::Decided, "decided")];
}

/// What is listed, and in which order. Empty texts let everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// States.
    pub show: Show,
    /// Words that must all stand in the passage, the anchor, a title or a URL.
    pub search: String,
    /// Part of the source's URL or title.
    pub source: String,
    /// Part of the target's URL or title.
    pub target: String,
    /// First segment of the source's path, such as `/blog`.
    pub section: String,
    /// The source's language.
    pub language: String,
    /// Least score, in hundredths.
    pub least: u8,
    /// Orphan targets.
    pub orphans: Orphans,
    /// Order.
    pub sort: Sort,
}

/// How much of the whole is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Waits for a decision.
    pub waiting: usize,
    /// Accepted and not written yet.
    pub accepted: usize,
    /// Turned down.
    pub rejected: usize,
    /// Written, seen on the live page, or taken back again.
    pub written: usize,
}

impl Progress {
    /// Decided, in hundredths of all.
    #[must_use]
    pub fn percent(&self) -> usize {
        let decided = self.accepted + self.rejected + self.written;
        (decided * 100).checked_div(decided + self.waiting).unwrap_or(100)
    }
}

/// A filtered list.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// What the filter lets through.
    pub items: Vec<Arc<StoredOpportunity>>,
    /// Of the whole project.
    pub progress: Progress,
    /// Sections of sources and how many opportunities each has.
    pub sections: Vec<(String, usize)>,
    /// Languages of sources and how many opportunities each has.
    pub languages: Vec<(String, usize)>,
}

/// The first segment of a URL's path, such as `/blog`; `/` for the top.
#[must_use]
pub fn first_segment(url: &str) -> String {
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match path.split_once('/') {
        Some((first, _)) => format!("/{first}"),
        None => "/".to_owned(),
    }
}

pub(super) fn list(items: &[Arc<StoredOpportunity>], planned: &Planned, filter: &Filter) -> Queue {
    let mut queue = Queue::default();
    let (mut sections, mut languages) = (BTreeMap::new(), BTreeMap::new());
    let wanted = Wanted::new(filter);
    for item in items {
        count(&mut queue.progress, item.state);
        let section = first_segment(&item.opportunity.source_url);
        let language = planned.page(&item.opportunity.source_url).map_or("", |page| page.language.as_str());
        let fits = wanted.opportunity(&item.opportunity, &section, language);
        *sections.entry(section).or_insert(0) += 1;
        *languages.entry(language.to_owned()).or_insert(0) += 1;
        if filter.show.lets_through(item.state) && fits {
            queue.items.push(Arc::clone(item));
        }
    }
    queue.sections = sections.into_iter().collect();
    queue.languages = languages.into_iter().filter(|(language, _)| !language.is_empty()).collect();
    sort(&mut queue.items, filter);
    queue
}

/// Items come best first; every sort is stable, so that equals keep that order.
fn sort(items: &mut [Arc<StoredOpportunity>], filter: &Filter) {
    items.sort_by(|a, b| b.opportunity.score.total_cmp(&a.opportunity.score).then_with(|| a.opportunity.id.cmp(&b.opportunity.id)));
    match filter.sort {
        Sort::Score => {}
        Sort::Source => items.sort_by(|a, b| a.opportunity.source_url.cmp(&b.opportunity.source_url)),
        Sort::Target => items.sort_by(|a, b| a.opportunity.target_url.cmp(&b.opportunity.target_url)),
        Sort::Decided => items.sort_by_key(|item| Reverse(item.revision)),
    }
    if filter.orphans == Orphans::First {
        items.sort_by_key(|item| item.opportunity.target_orphan != Some(true));
    }
}

pub(super) fn gaps(gaps: Vec<Gap>, planned: &Planned, filter: &Filter) -> Vec<Gap> {
    let wanted = Wanted::new(filter);
    let fits = |gap: &Gap| {
        let language = planned.page(&gap.source_url).map_or("", |page| page.language.as_str());
        wanted.pair(&gap.source_url, &gap.source_title, &gap.target_url, &gap.target_title)
            && wanted.place(&first_segment(&gap.source_url), language, gap.score, gap.target_orphan)
            && wanted.words(&[
                &gap.source_title,
                &gap.target_title,
                &gap.source_url,
                &gap.target_url,
                gap.paragraph.as_deref().unwrap_or(""),
            ])
    };
    let mut kept: Vec<Gap> = gaps.into_iter().filter(fits).collect();
    match filter.sort {
        Sort::Source => kept.sort_by(|a, b| a.source_url.cmp(&b.source_url)),
        Sort::Target => kept.sort_by(|a, b| a.target_url.cmp(&b.target_url)),
        Sort::Score | Sort::Decided => {}
    }
    if filter.orphans == Orphans::First {
        kept.sort_by_key(|gap| gap.target_orphan != Some(true));
    }
    kept
}

fn count(progress: &mut Progress, state: State) {
    match state {
        State::Found | State::Missing => progress.waiting += 1,
        State::Accepted => progress.accepted += 1,
        State::Rejected => progress.rejected += 1,
        State::Published | State::Observed | State::Undone => progress.written += 1,
        State::Expired => {}
    }
}

/// The filter with its words made ready.
struct Wanted<'a> {
    filter: &'a Filter,
    words: Vec<String>,
    source: String,
    target: String,
}

impl<'a> Wanted<'a> {
    fn new(filter: &'a Filter) -> Self {
        let words = filter.search.split_whitespace().map(str::to_lowercase).collect();
        Self { filter, words, source: filter.source.trim().to_lowercase(), target: filter.target.trim().to_lowercase() }
    }

    fn opportunity(&self, o: &Opportunity, section: &str, language: &str) -> bool {
        self.place(section, language, o.score, o.target_orphan)
            && self.pair(&o.source_url, &o.source_title, &o.target_url, &o.target_title)
            && self.words(&[&o.block_text, &o.source_title, &o.target_title, &o.source_url, &o.target_url])
    }

    fn place(&self, section: &str, language: &str, score: f64, orphan: Option<bool>) -> bool {
        let filter = self.filter;
        (filter.section.is_empty() || filter.section == section)
            && (filter.language.is_empty() || filter.language == language)
            && score * 100.0 >= f64::from(filter.least)
            && (filter.orphans != Orphans::Only || orphan == Some(true))
    }

    fn pair(&self, source_url: &str, source_title: &str, target_url: &str, target_title: &str) -> bool {
        let named = |part: &str, url: &str, title: &str| {
            part.is_empty() || url.to_lowercase().contains(part) || title.to_lowercase().contains(part)
        };
        named(&self.source, source_url, source_title) && named(&self.target, target_url, target_title)
    }

    fn words(&self, texts: &[&str]) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        self.words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}
