//! Stand-in for linkwright-engine until it lands.
#![allow(missing_docs, dead_code)]
use linkwright_core::page::Page;
use linkwright_core::plan::Plan;
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
pub(crate) struct PlanRequest {
    pub(crate) site: String,
    pub(crate) project: PathBuf,
    pub(crate) base_url: Option<String>,
    pub(crate) ranking: bool,
    pub(crate) limit: Option<usize>,
    pub(crate) only: Option<String>,
    pub(crate) overrides: Vec<(String, String)>,
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
}
#[derive(Serialize)]
pub(crate) struct LinkRow {
    pub(crate) source: String,
    pub(crate) target: String,
    pub(crate) anchor: String,
    pub(crate) kind: String,
    pub(crate) rel: String,
    pub(crate) position: String,
}
type R<T> = Result<T, EngineError>;
fn missing<T>() -> R<T> {
    Err(EngineError { message: "the engine is not there yet".into(), hint: None })
}
pub(crate) fn plan(_: PlanRequest, _: &dyn Progress) -> R<PlanResult> {
    missing()
}
pub(crate) fn load_plan(_: &Path) -> R<Plan> {
    missing()
}
pub(crate) fn links(_: &Path) -> R<Vec<LinkRow>> {
    missing()
}
pub(crate) fn page_view(_: &Path, _: &str) -> R<Page> {
    missing()
}
pub(crate) fn extract(_: &Path) -> R<BTreeMap<String, String>> {
    missing()
}
