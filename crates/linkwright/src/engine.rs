//! Stand-in for linkwright-engine until it lands.
#![allow(missing_docs, dead_code, unused)]
use linkwright_core::page::{LinkKind, LinkPosition, Page};
use linkwright_core::plan::{Gap, Opportunity, PageSummary, Plan, Signal};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct EngineError {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}
impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for EngineError {}
pub(crate) trait Progress: Sync {
    fn stage(&self, name: &str, total: Option<u64>);
    fn advance(&self, by: u64);
}
#[derive(Default)]
pub(crate) struct PlanRequest {
    pub(crate) site: String,
    pub(crate) project: PathBuf,
    pub(crate) base_url: Option<String>,
    pub(crate) ranking: bool,
    pub(crate) limit: Option<usize>,
    pub(crate) only: Option<String>,
    pub(crate) overrides: Vec<(String, String)>,
    pub(crate) accept_shrink: bool,
}
pub(crate) struct RankingRow {
    pub(crate) source: String,
    pub(crate) target: String,
    pub(crate) score: f64,
    pub(crate) anchor: Option<String>,
}
pub(crate) struct PlanResult {
    pub(crate) plan: Plan,
    pub(crate) ranking: Option<Vec<RankingRow>>,
    pub(crate) project_dir: PathBuf,
    pub(crate) embedded: usize,
    pub(crate) reused: usize,
}
/// One internal link, as crawlers export it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LinkRow {
    /// Page that carries it.
    pub(crate) source: String,
    /// Page it leads to, redirects and canonical links followed.
    pub(crate) target: String,
    /// Visible text.
    pub(crate) anchor: String,
    /// `body` or `template`.
    pub(crate) kind: LinkKind,
    /// `rel` attribute.
    pub(crate) rel: String,
    /// Part of the page.
    pub(crate) position: LinkPosition,
}

/// What linkwright sees on a page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PageView {
    /// The parsed page.
    pub(crate) page: Page,
    /// Its row in the plan.
    pub(crate) summary: Option<PageSummary>,
}

/// A guardrail that applies, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Reason {
    /// Stable code.
    pub(crate) code: String,
    /// Short name.
    pub(crate) name: String,
    /// Why it exists.
    pub(crate) why: String,
    /// How to change it.
    pub(crate) setting: String,
}

/// Another page as a possible target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Considered {
    /// Its URL.
    pub(crate) target_url: String,
    /// Its title.
    pub(crate) target_title: String,
    /// Similarity or probability.
    pub(crate) score: f64,
    /// Code of the rule against it; `None` when nothing is.
    pub(crate) rule: Option<String>,
    /// What became of it, in words.
    pub(crate) outcome: String,
}

/// A place that could carry the link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Place {
    /// The words.
    pub(crate) anchor: String,
    /// The sentence they stand in.
    pub(crate) passage: String,
    /// How well the words name the target, 0 to 1.
    pub(crate) strength: f64,
}

/// What is to say about a pair.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PairStory {
    /// Place among the source's candidates, from 1.
    pub(crate) rank: usize,
    /// Score, and the floor it had to reach.
    pub(crate) score: f64,
    /// Least score of a proposal in this plan.
    pub(crate) floor: f64,
    /// What speaks for the pair.
    pub(crate) signals: Vec<Signal>,
    /// Places that could carry the link.
    pub(crate) places: Vec<Place>,
    /// Places that a rule removed: code, name, how many.
    pub(crate) removed: Vec<(String, String, u64)>,
}

/// Why a pair was or was not proposed, or what a page got and why not more.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Explanation {
    /// The source.
    pub(crate) source: PageSummary,
    /// The target, when a pair was asked about.
    pub(crate) target: Option<PageSummary>,
    /// The answer in one sentence.
    pub(crate) verdict: String,
    /// Rules that decided it.
    pub(crate) reasons: Vec<Reason>,
    /// About the pair.
    pub(crate) pair: Option<PairStory>,
    /// Opportunities of the source (or the pair).
    pub(crate) opportunities: Vec<Opportunity>,
    /// Gaps of the source (or the pair).
    pub(crate) gaps: Vec<Gap>,
    /// The source's best candidates and what became of them.
    pub(crate) considered: Vec<Considered>,
}

pub(crate) const NOTHING: &[(&str, &str)] = &[("N01", "no page of the site is related enough")];
type R<T> = Result<T, EngineError>;
fn missing<T>() -> R<T> {
    Err(EngineError { message: "the engine is not there yet".into(), hint: None })
}
pub(crate) fn plan(_: &PlanRequest, _: &dyn Progress) -> R<PlanResult> {
    missing()
}
pub(crate) fn load_plan(_: &Path) -> R<Plan> {
    missing()
}
pub(crate) fn links(_: &Path) -> R<Vec<LinkRow>> {
    missing()
}
pub(crate) fn page_view(_: &Path, _: &str) -> R<PageView> {
    missing()
}
pub(crate) fn explain(_: &Path, _: &str, _: Option<&str>) -> R<Explanation> {
    missing()
}
pub(crate) fn extract(_: &Path) -> R<BTreeMap<String, String>> {
    missing()
}
