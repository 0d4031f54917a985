//! Looks into a project that was planned before: its plan, links, pages, and why a pair was or was not proposed.
//!
//! Nothing here reads the site again: pages and vectors come from the project's database.

use crate::analysis::Analysis;
use crate::assemble::NOTHING;
use crate::embedding::embed;
use crate::error::EngineError;
use crate::plan::{embedder, rejections};
use crate::planned;
use crate::progress::Silent;
use crate::project::Project;
use crate::propose::{Groundwork, Inputs, Proposal, propose, words_of};
use crate::reading;
use linkwright_core::anchor;
use linkwright_core::content::ContentSettings;
use linkwright_core::guardrail::{self, Guardrail};
use linkwright_core::page::{FetchedPage, LinkKind, LinkPosition, Page, html};
use linkwright_core::plan::{Gap, Opportunity, PageSummary, Plan, Signal};
use linkwright_core::site_index::PageId;
use linkwright_core::url::PageUrl;
use linkwright_store::Store;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use tokio::runtime::Runtime;

/// One internal link, as crawlers export it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkRow {
    /// Page that carries it.
    pub source: String,
    /// Page it leads to, redirects and canonical links followed.
    pub target: String,
    /// Visible text.
    pub anchor: String,
    /// `body` or `template`.
    pub kind: LinkKind,
    /// `rel` attribute.
    pub rel: String,
    /// Part of the page.
    pub position: LinkPosition,
}

/// What linkwright sees on a page.
#[derive(Clone, Debug, Serialize)]
pub struct PageView {
    /// The parsed page.
    pub page: Page,
    /// Its row in the plan.
    pub summary: Option<PageSummary>,
}

/// A guardrail that applies, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Stable code.
    pub code: String,
    /// Short name.
    pub name: String,
    /// Why it exists.
    pub why: String,
    /// How to change it.
    pub setting: String,
}

/// Another page as a possible target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Considered {
    /// Its URL.
    pub target_url: String,
    /// Its title.
    pub target_title: String,
    /// Similarity or probability.
    pub score: f64,
    /// Code of the rule against it; `None` when nothing is.
    pub rule: Option<String>,
    /// What became of it, in words.
    pub outcome: String,
}

/// A place that could carry the link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The words.
    pub anchor: String,
    /// The sentence they stand in.
    pub passage: String,
    /// How well the words name the target, 0 to 1.
    pub strength: f64,
}

/// What is to say about a pair.
#[derive(Clone, Debug, Serialize)]
pub struct PairStory {
    /// Place among the source's candidates, from 1.
    pub rank: usize,
    /// Score, and the floor it had to reach.
    pub score: f64,
    /// Least score of a proposal in this plan.
    pub floor: f64,
    /// What speaks for the pair.
    pub signals: Vec<Signal>,
    /// Places that could carry the link.
    pub places: Vec<Place>,
    /// Places that a rule removed: code, name, how many.
    pub removed: Vec<(String, String, u64)>,
}

/// Why a pair was or was not proposed, or what a page got and why not more.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The source.
    pub source: PageSummary,
    /// The target, when a pair was asked about.
    pub target: Option<PageSummary>,
    /// The answer in one sentence.
    pub verdict: String,
    /// Rules that decided it.
    pub reasons: Vec<Reason>,
    /// About the pair.
    pub pair: Option<PairStory>,
    /// Opportunities of the source (or the pair).
    pub opportunities: Vec<Opportunity>,
    /// Gaps of the source (or the pair).
    pub gaps: Vec<Gap>,
    /// The source's best candidates and what became of them.
    pub considered: Vec<Considered>,
}

/// The last plan of a project.
///
/// # Errors
/// When there is no project or no plan in it.
pub fn load_plan(project: &Path) -> Result<Plan, EngineError> {
    let (runtime, _, store) = open(project)?;
    latest(&runtime, &store)
}

/// All internal links of the pages that were read last, in page order.
///
/// # Errors
/// As [`load_plan`].
pub fn links(project: &Path) -> Result<Vec<LinkRow>, EngineError> {
    let (runtime, project, store) = open(project)?;
    let plan = latest(&runtime, &store)?;
    let analysis = analyse(&runtime, &project, &store, &plan)?;
    let mut rows = Vec::new();
    for id in analysis.site.ids() {
        for link in &analysis.site.page(id).links {
            let Some(target) = analysis.site.find(&link.target) else { continue };
            rows.push(LinkRow {
                source: analysis.site.page(id).url.to_string(),
                target: analysis.site.page(target).url.to_string(),
                anchor: link.anchor.clone(),
                kind: link.kind,
                rel: link.rel.clone(),
                position: link.position,
            });
        }
    }
    Ok(rows)
}

/// What linkwright sees on one page.
///
/// # Errors
/// As [`load_plan`], and when the page is not in the project.
pub fn page_view(project: &Path, url: &str) -> Result<PageView, EngineError> {
    let (runtime, project, store) = open(project)?;
    let plan = latest(&runtime, &store)?;
    let analysis = analyse(&runtime, &project, &store, &plan)?;
    let id = find(&analysis, &plan, url)?;
    let page = analysis.site.page(id).clone();
    let summary = summary_of(&plan, &page.url);
    Ok(PageView { page, summary })
}

/// Main text of every HTML file of a folder, by file name without `.html` or `.html.gz`.
///
/// # Errors
/// When the folder cannot be read. A file that cannot is left out of the answer.
pub fn extract(folder: &Path) -> Result<BTreeMap<String, String>, EngineError> {
    let unreadable =
        |e: std::io::Error| EngineError::new(format!("cannot read the folder `{}`: {e}", folder.display()), "name a folder of HTML files");
    let mut files: Vec<_> = std::fs::read_dir(folder).map_err(unreadable)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut texts = BTreeMap::new();
    for file in files {
        let Some(name) = file.file_name().and_then(|n| n.to_str()) else { continue };
        let Some(stem) = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".html") else { continue };
        if let Ok(bytes) = read_file(&file) {
            texts.insert(stem.to_owned(), main_text(bytes));
        }
    }
    if texts.is_empty() {
        return Err(EngineError::new(format!("no HTML files in `{}`", folder.display()), "files must end in `.html` or `.html.gz`"));
    }
    Ok(texts)
}

/// The main text of one page by itself: what repeats across a site is not known here.
fn main_text(body: Vec<u8>) -> String {
    let url = PageUrl::parse("https://page.invalid/").expect("a constant address");
    let fetched = FetchedPage { body, ..FetchedPage::read(url) };
    html::parse(&fetched, &ContentSettings::default()).main_text()
}

/// A file's bytes, unpacked when they are gzip whatever the name says.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    const LARGEST: u64 = 64 << 20;
    let bytes = std::fs::read(path)?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).take(LARGEST).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// Why a pair was or was not proposed, or what a page got.
///
/// # Errors
/// As [`load_plan`], and when a page is not in the project.
pub fn explain(project: &Path, source: &str, target: Option<&str>) -> Result<Explanation, EngineError> {
    let (runtime, project, store) = open(project)?;
    let plan = latest(&runtime, &store)?;
    let analysis = analyse(&runtime, &project, &store, &plan)?;
    let settings = project.settings();
    let source = find(&analysis, &plan, source)?;
    let target = target.map(|t| find(&analysis, &plan, t)).transpose()?;
    let embedded = embed(&analysis, &embedder(settings)?, &store, &runtime, &Silent)?;
    let groundwork = Groundwork::new(&analysis);
    let evidence = groundwork.evidence(&analysis, &embedded.vectors, settings);
    let rejections = rejections(&analysis, &store, &runtime)?;
    let proposal = propose(&analysis, &evidence, &Inputs { settings, rejections: &rejections });

    let source_url = &analysis.site.page(source).url;
    let missing = || EngineError::new(format!("`{source_url}` is not in the last plan"), "run `linkwright plan` again");
    let summary = summary_of(&plan, source_url).ok_or_else(missing)?;
    let is_pair = |url: &str| target.is_none_or(|t| analysis.site.page(t).url.as_str() == url);
    let opportunities: Vec<Opportunity> =
        plan.opportunities.iter().filter(|o| o.source_url == source_url.as_str() && is_pair(&o.target_url)).cloned().collect();
    let gaps: Vec<Gap> = plan.gaps.iter().filter(|g| g.source_url == source_url.as_str() && is_pair(&g.target_url)).cloned().collect();
    let (verdict, reasons) = match target {
        Some(target) => pair_verdict(&analysis, &proposal, source, target, &opportunities, &gaps),
        None => page_verdict(&summary),
    };
    let pair = target.and_then(|t| pair_story(&analysis, &evidence, &proposal, settings, source, t));
    Ok(Explanation {
        target: target.and_then(|t| summary_of(&plan, &analysis.site.page(t).url)),
        considered: considered(&analysis, &proposal, &plan, source),
        source: summary,
        verdict,
        reasons,
        pair,
        opportunities,
        gaps,
    })
}

pub(crate) fn open(project: &Path) -> Result<(Runtime, Project, Store), EngineError> {
    let runtime = reading::runtime()?;
    let project = Project::find(project)?;
    let store = runtime.block_on(project.store())?;
    Ok((runtime, project, store))
}

pub(crate) fn latest(runtime: &Runtime, store: &Store) -> Result<Plan, EngineError> {
    runtime.block_on(planned::latest(store))
}

pub(crate) fn analyse(runtime: &Runtime, project: &Project, store: &Store, plan: &Plan) -> Result<Analysis, EngineError> {
    Ok(Analysis::of_plan(runtime.block_on(reading::stored(plan, store))?, plan, project.settings()))
}

/// A page by URL, or by a path below the base address.
fn find(analysis: &Analysis, plan: &Plan, text: &str) -> Result<PageId, EngineError> {
    let by_url = PageUrl::parse(text).and_then(|url| analysis.site.find_exact(&url));
    let by_path = || PageUrl::parse(&plan.run.base_url)?.join(text).and_then(|(url, _)| analysis.site.find_exact(&url));
    let by_file = || analysis.site.ids().find(|id| analysis.site.page(*id).path.as_deref() == Some(text));
    let failed = || {
        plan.pages
            .iter()
            .find(|p| p.url == text)
            .map(|p| format!("`{text}` was not read: {}", p.detail.as_deref().unwrap_or("see the report")))
    };
    by_url.or_else(by_path).or_else(by_file).ok_or_else(|| {
        let message = failed().unwrap_or_else(|| format!("no page `{text}` in this project"));
        EngineError::new(message, "give a URL as it stands in plan.csv, or a path such as `/blog/post/`")
    })
}

fn summary_of(plan: &Plan, url: &PageUrl) -> Option<PageSummary> {
    plan.pages.iter().find(|p| p.url == url.as_str()).cloned()
}

fn reason(code: &str) -> Option<Reason> {
    if let Some(rule) = guardrail::by_code(code) {
        let text = |s: &str| s.to_owned();
        return Some(Reason { code: text(code), name: text(rule.name()), why: text(rule.why()), setting: text(rule.setting()) });
    }
    let (code, why) = NOTHING.iter().find(|(c, _)| *c == code)?;
    Some(Reason { code: (*code).to_owned(), name: "nothing to propose".to_owned(), why: (*why).to_owned(), setting: String::new() })
}

fn page_verdict(summary: &PageSummary) -> (String, Vec<Reason>) {
    let codes = summary.not_source.iter().chain(&summary.nothing);
    let mut reasons: Vec<Reason> = codes.filter_map(|c| reason(c)).collect();
    reasons.dedup();
    let verdict = match (summary.opportunities, reasons.first()) {
        (0, Some(first)) => format!("nothing is proposed for this page: {}", first.why),
        (0, None) => "nothing is proposed for this page".to_owned(),
        (n, _) => format!("{n} {} proposed for this page", if n == 1 { "link is" } else { "links are" }),
    };
    (verdict, reasons)
}

fn pair_verdict(
    analysis: &Analysis,
    proposal: &Proposal,
    source: PageId,
    target: PageId,
    opportunities: &[Opportunity],
    gaps: &[Gap],
) -> (String, Vec<Reason>) {
    if let Some(found) = opportunities.first() {
        return (format!("proposed, with the words `{}`", found.anchor), Vec::new());
    }
    if let Some(gap) = gaps.first() {
        return ("the pages belong together, but no words can carry the link: a gap".to_owned(), reason(&gap.reason).into_iter().collect());
    }
    let (not_source, not_target) = (&analysis.eligibility[source.index()].not_source, &analysis.eligibility[target.index()].not_target);
    let page_rules: Vec<Reason> = not_source.iter().chain(not_target).filter_map(|g| reason(g.code())).collect();
    if let Some(first) = page_rules.first() {
        return (format!("not proposed: {}", first.why), page_rules);
    }
    let rule = analysis.pair_rule(source, target).or_else(|| {
        proposal.ranked.get(&source)?.iter().find(|r| r.candidate.target == target).map_or(Some(Guardrail::BelowFloor), |r| r.rule)
    });
    match rule.and_then(|r| reason(r.code())) {
        Some(rule) => (format!("not proposed: {}", rule.why), vec![rule]),
        None => {
            let capped = proposal.choice.capped.get(&source).and_then(|r| reason(r.code()));
            let why = capped.as_ref().map_or("better pairs came first".to_owned(), |r| r.why.clone());
            (format!("not proposed: {why}"), capped.into_iter().collect())
        }
    }
}

fn pair_story(
    analysis: &Analysis,
    evidence: &linkwright_core::signals::Evidence,
    proposal: &Proposal,
    settings: &linkwright_core::settings::Settings,
    source: PageId,
    target: PageId,
) -> Option<PairStory> {
    let rows = proposal.ranked.get(&source)?;
    let rank = rows.iter().position(|r| r.candidate.target == target)?;
    let found = anchor::find(evidence, &proposal.chooser, source, target, settings);
    let page = analysis.site.page(source);
    let places = found.anchors.iter().map(|a| Place {
        anchor: words_of(analysis, source, a).to_owned(),
        passage: page.blocks[a.block].text[a.passage.range()].to_owned(),
        strength: f64::from(a.strength),
    });
    let removed = found.removed.table().into_iter().filter(|r| r.removed > 0).map(|r| (r.code, r.name, r.removed));
    Some(PairStory {
        rank: rank + 1,
        score: rows[rank].score,
        floor: proposal.floor,
        signals: proposal.signals_of(source, target),
        places: places.collect(),
        removed: removed.collect(),
    })
}

/// The source's best candidates and what became of them.
fn considered(analysis: &Analysis, proposal: &Proposal, plan: &Plan, source: PageId) -> Vec<Considered> {
    const SHOWN: usize = 15;
    let source_url = analysis.site.page(source).url.as_str();
    let rows = proposal.ranked.get(&source).map(Vec::as_slice).unwrap_or_default();
    let row = |r: &crate::propose::Scored| {
        let target = analysis.site.page(r.candidate.target);
        let proposed = plan.opportunities.iter().any(|o| o.source_url == source_url && o.target_url == target.url.as_str());
        let gap = plan.gaps.iter().any(|g| g.source_url == source_url && g.target_url == target.url.as_str());
        let target_rule = analysis.eligibility[r.candidate.target.index()].not_target.first().copied();
        let rule = r.rule.or(target_rule);
        let outcome = match (proposed, gap, rule) {
            (true, ..) => "proposed",
            (_, true, _) => "gap: no words can carry it",
            (.., Some(rule)) => rule.name(),
            _ => "better pairs came first",
        };
        Considered {
            target_url: target.url.to_string(),
            target_title: target.short_title.clone(),
            score: r.score,
            rule: rule.map(|g| g.code().to_owned()),
            outcome: outcome.to_owned(),
        }
    };
    rows.iter().take(SHOWN).map(row).collect()
}
