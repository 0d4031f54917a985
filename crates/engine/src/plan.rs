//! The main job: from a site to a link plan. Each step is one function; this file is their order.

use crate::analysis::Analysis;
use crate::assemble::assemble;
use crate::embedding::{Embedded, embed};
use crate::error::EngineError;
use crate::progress::Progress;
use crate::project::Project;
use crate::propose::{Groundwork, Inputs, Proposal, RANKED, propose, words_of};
use crate::reading::{self, Reading};
use linkwright_core::anchor;
use linkwright_core::plan::{Notice, Plan, RunInfo};
use linkwright_core::settings::Settings;
use linkwright_core::signals::Evidence;
use linkwright_core::site_index::PageId;
use linkwright_embed::{Embedder, MiniLm};
use linkwright_store::{NewRun, RunStatus, Store};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tokio::runtime::Runtime;

/// What to plan and where to keep it.
#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    /// A start URL, a sitemap URL, or a folder of HTML or Markdown.
    pub site: String,
    /// Project folder.
    pub project: PathBuf,
    /// Public address of a folder's pages.
    pub base_url: Option<String>,
    /// Whether to rank the ten best targets of every source before the caps.
    pub ranking: bool,
    /// Read at most so many pages.
    pub limit: Option<usize>,
    /// Read only pages whose path matches.
    pub only: Option<String>,
    /// Settings given by flag, as dotted key and value.
    pub overrides: Vec<(String, String)>,
    /// Go on though the site has far fewer pages than before.
    pub accept_shrink: bool,
}

/// A plan and what came with it.
pub struct PlanResult {
    /// The plan.
    pub plan: Plan,
    /// Rows of the ranking, by source, best first, when asked for.
    pub ranking: Option<Vec<RankingRow>>,
    /// The project folder.
    pub project_dir: PathBuf,
    /// Pages embedded in this run.
    pub embedded: usize,
    /// Pages whose vectors were kept from before.
    pub reused: usize,
}

/// One row of a ranking.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RankingRow {
    /// Source URL.
    pub source: String,
    /// Target URL.
    pub target: String,
    /// 0 to 1.
    pub score: f64,
    /// Words that could carry the link.
    pub anchor: Option<String>,
}

/// Plans the missing links of a site.
///
/// # Errors
/// When the site cannot be read, or the project cannot be kept. Pages that fail are counted, not errors.
pub fn plan(request: &PlanRequest, progress: &dyn Progress) -> Result<PlanResult, EngineError> {
    let runtime = reading::runtime()?;
    let project = Project::open_or_create(&request.project, &request.overrides)?;
    let started_at = now();
    let _lock = runtime.block_on(project.lock("plan", &started_at))?;
    let store = runtime.block_on(project.store())?;
    let settings = project.settings();

    let reading = reading::read(request, settings, &store, &runtime, &started_at, progress)?;
    progress.stage("Understanding pages", None);
    let facts = reading.facts();
    let analysis = Analysis::new(reading.pages, &facts.base_url, settings, &started_at[..10]);
    reading::check(&analysis)?;

    let embedder = MiniLm::builtin();
    let embedded = embed(&analysis, &embedder, &store, &runtime, progress)?;
    progress.stage("Ranking candidates", None);
    let groundwork = Groundwork::new(&analysis);
    let evidence = groundwork.evidence(&analysis, &embedded.vectors, settings);
    let rejected = rejected_pairs(&analysis, &store, &runtime)?;
    let proposal = propose(&analysis, &evidence, &Inputs { settings, rejected: &rejected });

    let run_id = runtime.block_on(store.runs().begin(&NewRun {
        kind: "plan".to_owned(),
        started_at: started_at.clone(),
        settings: settings.to_json(),
        rules: env!("CARGO_PKG_VERSION").to_owned(),
        model: embedder.id().to_string(),
        site: request.site.clone(),
        base_url: facts.base_url.clone(),
    }))?;
    let run = RunInfo {
        id: run_id.0,
        site: request.site.clone(),
        base_url: facts.base_url.clone(),
        started_at,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: embedder.id().to_string(),
        ranking: "rank fusion of page vectors, words, titles, known anchors and links of similar pages".to_owned(),
        score_kind: "similarity".to_owned(),
        partial: facts.partial.clone(),
        complete: facts.complete,
        settings_hash: settings.hash(),
    };
    let notices = notices(&facts, &analysis, &embedded, embedder.id().name.as_str());
    let plan = assemble(&analysis, &proposal, settings, run, notices);
    progress.stage("Saving the plan", None);
    runtime.block_on(store.plans().save(run_id, &plan))?;
    runtime.block_on(store.runs().finish(run_id, &now(), RunStatus::Finished))?;
    let ranking = request.ranking.then(|| ranking(&analysis, &evidence, &proposal, settings));
    runtime.block_on(store.close());
    Ok(PlanResult { plan, ranking, project_dir: project.dir().to_owned(), embedded: embedded.embedded, reused: embedded.reused })
}
