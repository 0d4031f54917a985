//! The last plan of a project, with what is looked up in it again and again.

use crate::error::EngineError;
use linkwright_core::plan::{PageSummary, Plan};
use linkwright_core::url::PageUrl;
use linkwright_store::Store;
use std::collections::{BTreeMap, HashMap};

/// The last plan of a project.
///
/// # Errors
/// When there is none, or the project cannot be read.
pub(crate) async fn latest(store: &Store) -> Result<Plan, EngineError> {
    let plan = store.plans().latest().await?;
    plan.ok_or_else(|| EngineError::new("this project has no plan yet", "run `linkwright plan SITE` first"))
}

/// A plan whose pages are found by URL.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// Files by their paths, for links between Markdown files.
    pub(crate) paths: BTreeMap<String, PageUrl>,
    by_url: HashMap<String, usize>,
}

impl Planned {
    /// Prepares a plan.
    #[must_use]
    pub(crate) fn new(plan: Plan) -> Self {
        let by_url = plan.pages.iter().enumerate().map(|(i, page)| (page.url.clone(), i)).collect();
        let paths = plan.pages.iter().filter_map(|page| Some((page.path.clone()?, PageUrl::parse(&page.url)?))).collect();
        Self { plan, paths, by_url }
    }

    /// The row of a page.
    #[must_use]
    pub(crate) fn page(&self, url: &str) -> Option<&PageSummary> {
        self.plan.pages.get(*self.by_url.get(url)?)
    }

    /// Fingerprint of a page's main text, where there is one.
    #[must_use]
    pub(crate) fn print(&self, url: &str) -> Option<String> {
        self.page(url).map(|page| page.fingerprint.clone()).filter(|print| !print.is_empty())
    }
}
