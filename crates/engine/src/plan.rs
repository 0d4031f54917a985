//! The main job: from a site to a link plan. Each step is one function; this file is their order.

use crate::analysis::Analysis;
use crate::assemble::assemble;
use crate::embedding::{Embedded, embed};
use crate::error::EngineError;
use crate::progress::Progress;
use crate::project::Project;
use crate::propose::{Groundwork, Inputs, Proposal, RANKED, Rejections, Scored, propose, words_of};
use crate::reading::{self, Facts, Reading};
use linkwright_core::anchor;
use linkwright_core::guardrail::Guardrail;
use linkwright_core::overlap;
use linkwright_core::plan::{Notice, Plan, RunInfo};
use linkwright_core::rank::RankReport;
use linkwright_core::settings::{AnchorSettings, Settings};
use linkwright_core::signals::Evidence;
use linkwright_core::site_index::PageId;
use linkwright_core::url::PageUrl;
use linkwright_embed::{Embedder, MiniLm};
use linkwright_store::{NewRun, RunStatus, Store};
use rayon::prelude::*;
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

    let Reading { pages, facts } = reading::read(request, settings, &store, &runtime, &started_at, progress)?;
    progress.stage("Understanding pages", None);
    let analysis = Analysis::new(pages, &facts.base_url, settings, &started_at[..10]);
    reading::check(&analysis)?;

    let embedder = embedder(settings)?;
    let embedded = embed(&analysis, &embedder, &store, &runtime, progress)?;
    progress.stage("Ranking candidates", None);
    let groundwork = Groundwork::new(&analysis);
    let evidence = groundwork.evidence(&analysis, &embedded.vectors, settings);
    let rejections = rejections(&analysis, &store, &runtime)?;
    let proposal = propose(&analysis, &evidence, &Inputs { settings, rejections: &rejections });

    let run_id = runtime.block_on(store.runs().begin(&NewRun {
        kind: "plan".to_owned(),
        site: place_of(&request.site),
        base_url: facts.base_url.clone(),
        started_at: started_at.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rules: RULES.to_owned(),
        model: embedder.id().to_string(),
        settings: serde_json::to_string(settings).unwrap_or_default(),
    }))?;
    let run = RunInfo {
        id: run_id.0,
        crawl: facts.crawl,
        site: request.site.clone(),
        base_url: facts.base_url.clone(),
        started_at,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: embedder.id().to_string(),
        ranking: ranking_words(&proposal.ranking.report),
        score_kind: if proposal.ranking.report.calibrated { "probability" } else { "similarity" }.to_owned(),
        partial: facts.partial.clone(),
        complete: facts.complete,
        settings_hash: settings.hash(),
    };
    let mut notices = notices(&facts, &embedded, &embedder);
    notices.extend(proposal.favour_effect.notice());
    let plan = assemble(&analysis, &proposal, settings, run, notices);
    progress.stage("Saving the plan", None);
    runtime.block_on(store.plans().save(run_id, &plan))?;
    runtime.block_on(store.runs().finish(run_id, &now(), RunStatus::Finished))?;
    if facts.partial.is_none() {
        embedded.forget_others(&store, &runtime)?;
    }
    let ranking = request.ranking.then(|| ranking(&analysis, &evidence, &proposal, settings));
    runtime.block_on(store.close());
    Ok(PlanResult { plan, ranking, project_dir: project.dir().to_owned(), embedded: embedded.embedded, reused: embedded.reused })
}

/// Where the site is, also for a command that is run in another folder.
fn place_of(site: &str) -> String {
    let folder = std::path::Path::new(site).canonicalize().ok().filter(|path| path.is_dir());
    folder.map_or_else(|| site.to_owned(), |folder| folder.display().to_string())
}

/// The embedding model that the settings name.
///
/// # Errors
/// When this version does not have it.
pub(crate) fn embedder(settings: &Settings) -> Result<MiniLm, EngineError> {
    let built_in = MiniLm::builtin();
    if settings.model.name == built_in.id().name {
        return Ok(built_in);
    }
    let message = format!("the embedding model `{}` is not part of this version", settings.model.name);
    Err(EngineError::new(message, format!("set `model.name` to `{}`", built_in.id().name)))
}

/// Version of the guardrails and the ranking; a new one may change a plan of unchanged pages.
const RULES: &str = "2";

/// Now, RFC 3339 in UTC with whole seconds.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// Pairs that people rejected, told apart by whether one of their pages has changed materially since.
pub(crate) fn rejections(analysis: &Analysis, store: &Store, runtime: &Runtime) -> Result<Rejections, EngineError> {
    let find = |key: &str| PageUrl::parse(&format!("https://{key}")).and_then(|url| analysis.site.find(&url));
    let mut rejections = Rejections::default();
    for pair in runtime.block_on(store.decisions().rejected_pairs())? {
        let (Some(source), Some(target)) = (find(&pair.source_key), find(&pair.target_key)) else { continue };
        let same = |print: &Option<String>, page: PageId| {
            let now = || overlap::fingerprint(&analysis.site.page(page).main_text());
            print.as_ref().is_none_or(|before| !overlap::changed_materially(before, &now()))
        };
        if same(&pair.source_print, source) && same(&pair.target_print, target) {
            rejections.standing.insert((source, target));
        } else {
            rejections.lapsed.insert((source, target));
        }
    }
    // Rejected again since: that stands.
    rejections.lapsed.retain(|pair| !rejections.standing.contains(pair));
    Ok(rejections)
}

/// The ten best targets of every source before caps and thresholds, with words that could carry the link.
fn ranking(analysis: &Analysis, evidence: &Evidence, proposal: &Proposal, settings: &Settings) -> Vec<RankingRow> {
    let max_words = settings.anchors.max_words.max(10);
    let anchors = AnchorSettings { min_words: 1, max_words, ..settings.anchors.clone() };
    let settings = Settings { anchors, ..settings.clone() };
    let sources: Vec<(&PageId, &Vec<Scored>)> = proposal.ranked.iter().collect();
    let rows_of = |(source, rows): &(&PageId, &Vec<Scored>)| -> Vec<RankingRow> {
        let open = rows.iter().filter(|r| !r.rule.is_some_and(rules_out));
        let row = |r: &Scored| {
            let found = anchor::find(evidence, &proposal.chooser, **source, r.candidate.target, &settings);
            RankingRow {
                source: analysis.site.page(**source).url.to_string(),
                target: analysis.site.page(r.candidate.target).url.to_string(),
                score: r.score,
                anchor: found.anchors.first().map(|a| words_of(analysis, **source, a).to_owned()),
            }
        };
        open.take(RANKED).map(row).collect()
    };
    sources.par_iter().map(rows_of).collect::<Vec<_>>().concat()
}

/// Rules that say the link cannot or need not be, as against thresholds that only keep it from the plan.
fn rules_out(rule: Guardrail) -> bool {
    !matches!(rule, Guardrail::BelowFloor | Guardrail::TemplateLinked | Guardrail::OtherLanguage | Guardrail::Rejected)
}

fn ranking_words(report: &RankReport) -> String {
    let learned = if report.learned {
        format!("learned from {} body links of this site, starting from a model grown on other sites", report.links)
    } else {
        format!("a model grown on other sites; this one has too few body links to learn from ({})", report.links)
    };
    let most: Vec<String> = report.shares.iter().take(5).map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
    format!("{learned}; what decided most: {}", most.join(", "))
}

fn notices(facts: &Facts, embedded: &Embedded, embedder: &dyn Embedder) -> Vec<Notice> {
    let notice = |code: &str, message: String, hint: &str| Notice {
        code: code.to_owned(),
        message,
        hint: (!hint.is_empty()).then(|| hint.to_owned()),
    };
    let mut notices = Vec::new();
    if let Some(partial) = &facts.partial {
        notices.push(notice(
            "partial_plan",
            format!("this plan covers a part of the site: {partial}"),
            "run again without `--only` and `--limit` for all of it",
        ));
    } else if !facts.complete {
        let why = facts.incomplete.join(", ");
        notices.push(notice(
            "incomplete_crawl",
            format!("the site was not read completely, so orphans and crawl depth are unknown: {why}"),
            "run again to read what is missing",
        ));
    }
    for problem in &facts.sitemap_problems {
        notices.push(notice("sitemap_problem", format!("a sitemap could not be used: {problem}"), ""));
    }
    // An address that the user or the sitemap gave needs no second look.
    if let Some(origin) = facts.base_url_origin.as_ref().filter(|o| !matches!(o.as_str(), "given" | "from the sitemap")) {
        notices.push(notice(
            "base_url",
            format!("page addresses begin with {} ({origin})", facts.base_url),
            "give the public address with `--base-url` if it is another",
        ));
    }
    for (language, pages) in &embedded.unknown {
        let name = if language.is_empty() { "an unknown language" } else { language.as_str() };
        notices.push(notice(
            "unknown_language",
            format!(
                "{} in {name}, which the model {} does not know: words and links alone were used for them",
                if *pages == 1 { "1 page is".to_owned() } else { format!("{pages} pages are") },
                embedder.id().name
            ),
            "this version has the English model only; links between these pages rest on titles, words and known anchors",
        ));
    }
    notices
}
