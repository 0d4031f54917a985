//! The numbers behind a plan, counted once for the terminal, the report and JSON.

use super::words;
use linkwright_core::page::FetchOutcome;
use linkwright_core::plan::{PageSummary, Plan};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a plan amounts to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Counts {
    /// Pages asked for.
    pub(crate) pages: usize,
    /// Pages whose body is there.
    pub(crate) pages_read: usize,
    /// Pages that should have been read and were not.
    pub(crate) pages_failed: usize,
    /// Pages by what came of them.
    pub(crate) outcomes: BTreeMap<FetchOutcome, usize>,
    /// Pages that may carry new links.
    pub(crate) sources: usize,
    /// Pages that may be linked to.
    pub(crate) targets: usize,
    /// Body links between pages of the site.
    pub(crate) body_links: usize,
    /// Orphans; `None` when the crawl is incomplete.
    pub(crate) orphans: Option<usize>,
    /// Orphans that the plan gives a first body link; `None` when orphans are unknown.
    pub(crate) orphans_helped: Option<usize>,
    /// Proposed links.
    pub(crate) opportunities: usize,
    /// Pages that would carry one.
    pub(crate) opportunity_sources: usize,
    /// Pages that would receive one.
    pub(crate) opportunity_targets: usize,
    /// Pairs without words to carry the link.
    pub(crate) gaps: usize,
    /// Pages too alike to link.
    pub(crate) overlaps: usize,
    /// Why sources got no opportunity, by code.
    pub(crate) nothing: BTreeMap<String, usize>,
    /// Why read pages were no source, by code. A page with several reasons counts under each.
    pub(crate) not_source: BTreeMap<String, usize>,
    /// Why read pages were no target, by code.
    pub(crate) not_target: BTreeMap<String, usize>,
}

impl Counts {
    /// Counts a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        let read: Vec<&PageSummary> = plan.pages.iter().filter(|p| p.outcome.was_read()).collect();
        let orphans: Vec<&&PageSummary> = read.iter().filter(|p| p.orphan == Some(true)).collect();
        let known = plan.run.complete;
        Self {
            pages: plan.pages.len(),
            pages_read: read.len(),
            pages_failed: plan.pages.iter().filter(|p| words::failed(p.outcome)).count(),
            outcomes: tally(plan.pages.iter().map(|p| p.outcome)),
            sources: read.iter().filter(|p| p.not_source.is_empty()).count(),
            targets: read.iter().filter(|p| p.not_target.is_empty()).count(),
            body_links: read.iter().map(|p| p.outlinks).sum(),
            orphans: known.then_some(orphans.len()),
            orphans_helped: known.then(|| orphans.iter().filter(|p| p.proposed_inlinks > 0).count()),
            opportunities: plan.opportunities.len(),
            opportunity_sources: distinct(plan.opportunities.iter().map(|o| o.source_url.as_str())),
            opportunity_targets: distinct(plan.opportunities.iter().map(|o| o.target_url.as_str())),
            gaps: plan.gaps.len(),
            overlaps: plan.overlaps.len(),
            nothing: tally(plan.pages.iter().filter_map(|p| p.nothing.clone())),
            not_source: tally(read.iter().flat_map(|p| p.not_source.iter().cloned())),
            not_target: tally(read.iter().flat_map(|p| p.not_target.iter().cloned())),
        }
    }
}

/// Entries of a tally, most frequent first; ties by key.
pub(crate) fn by_frequency<K: Ord + Clone>(tally: &BTreeMap<K, usize>) -> Vec<(K, usize)> {
    let mut entries: Vec<(K, usize)> = tally.iter().map(|(key, count)| (key.clone(), *count)).collect();
    entries.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    entries
}

fn tally<K: Ord>(items: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_insert(0) += 1;
    }
    counts
}

fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> usize {
    items.collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;

    #[test]
    fn orphans_of_an_incomplete_crawl_are_unknown() {
        let mut plan = sample::plan();
        assert_eq!(Counts::of(&plan).orphans, Some(1));
        plan.run.complete = false;
        assert_eq!(Counts::of(&plan).orphans, None);
        assert_eq!(Counts::of(&plan).orphans_helped, None);
    }

    #[test]
    fn outcomes_add_up_to_the_pages() {
        let counts = Counts::of(&sample::plan());
        assert_eq!(counts.outcomes.values().sum::<usize>(), counts.pages);
    }
}
