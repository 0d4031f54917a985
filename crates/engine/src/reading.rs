//! A site to its pages, kept in the project: reads what the request names, stores each page as soon as it is
//! there, and continues a reading that was killed.

use crate::analysis::Analysis;
use crate::error::EngineError;
use crate::plan::PlanRequest;
use crate::progress::Progress;
use linkwright_core::page::{FetchedPage, SourceFormat};
use linkwright_core::plan::Plan;
use linkwright_core::settings::Settings;
use linkwright_core::url::UrlKey;
use linkwright_site::{Archive, Archived, CrawlSettings, Incomplete, ReadProgress, ReadReport, ReadSettings, Seed};
use linkwright_store::{Crawl, CrawlId, Finished, NewCrawl, Shrink, Store};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

/// Pages kept in one transaction: what a kill can cost at most.
const BATCH: usize = 32;
/// An unfinished crawl older than this is begun anew: its pages are no longer what the site shows.
const STALE_HOURS: i64 = 24;

/// What was read.
pub(crate) struct Reading {
    /// Every address that was asked for.
    pub(crate) pages: Vec<FetchedPage>,
    /// What is to say about the reading.
    pub(crate) facts: Facts,
}

/// What is to say about a reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Public address that the pages lie under.
    pub(crate) base_url: String,
    /// How that address is known, for a folder.
    pub(crate) base_url_origin: Option<String>,
    /// Why only a part was read on purpose.
    pub(crate) partial: Option<String>,
    /// Whether every page that could be found was read.
    pub(crate) complete: bool,
    /// Why pages may be missing, in words.
    pub(crate) incomplete: Vec<String>,
    /// Sitemaps that could not be used, in words.
    pub(crate) sitemap_problems: Vec<String>,
    /// Number of the crawl in the project.
    pub(crate) crawl: i64,
}

/// The runtime that reading and storing run on.
///
/// # Errors
/// When the system gives no threads.
pub(crate) fn runtime() -> Result<Runtime, EngineError> {
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|e| EngineError::new(format!("cannot start: {e}"), "free some memory or threads and try again"))
}

/// Reads the site of a request.
///
/// # Errors
/// When not one page can be had, the project cannot be written, or the site shrank suspiciously.
pub(crate) fn read(
    request: &PlanRequest,
    settings: &Settings,
    store: &Store,
    runtime: &Runtime,
    started_at: &str,
    progress: &dyn Progress,
) -> Result<Reading, EngineError> {
    let seed = Seed::parse(&request.site, request.base_url.as_deref())?;
    let read_settings = read_settings(request, settings);
    let crawl = runtime.block_on(begin(&seed, &read_settings, store, started_at))?;
    let report = runtime.block_on(fetch(&seed, &read_settings, store, crawl.id, progress))?;
    let shrink = if request.accept_shrink { Shrink::Accept } else { Shrink::Refuse };
    if let Finished::Refused(counts) = runtime.block_on(store.crawls().finish(crawl.id, &crate::plan::now(), shrink))? {
        return Err(EngineError::new(
            format!("the site has {} pages now and had {} before; nothing was changed", counts.after, counts.before),
            "if the pages are really gone, run again with `--accept-shrink`",
        ));
    }
    let mut pages = runtime.block_on(store.pages().all(crawl.id))?;
    for page in &mut pages {
        if let Some(discovery) = report.discovery().get(&page.url.key()) {
            page.discovery = *discovery;
        }
    }
    let facts = facts(&seed, &report, &pages, crawl.id, request);
    Ok(Reading { pages, facts })
}

/// The pages that a plan was made from.
///
/// # Errors
/// When they are no longer there.
pub(crate) async fn stored(plan: &Plan, store: &Store) -> Result<Vec<FetchedPage>, EngineError> {
    let pages = store.pages().all(CrawlId(plan.run.crawl)).await?;
    if pages.is_empty() {
        return Err(EngineError::new("the pages of the last plan were replaced by a newer reading", "run `linkwright plan` again"));
    }
    Ok(pages)
}

/// A crawl to fill: the unfinished one of the same site and scope, where it can be continued.
async fn begin(seed: &Seed, settings: &ReadSettings, store: &Store, started_at: &str) -> Result<Crawl, EngineError> {
    let (site, can_continue) = match seed {
        Seed::Url(url) => (url.to_string(), true),
        Seed::Folder { path, base_url } => {
            let folder = path.canonicalize().unwrap_or_else(|_| path.clone());
            let base = base_url.as_ref().map(ToString::to_string).unwrap_or_default();
            (format!("{} {base}", folder.display()).trim_end().to_owned(), false)
        }
    };
    let scope = match (&settings.limit, settings.only.join(" ")) {
        (None, only) if only.is_empty() => String::new(),
        (limit, only) => format!("limit {} only {only}", limit.map_or("none".to_owned(), |l| l.to_string())),
    };
    let new = NewCrawl { site, scope, started_at: started_at.to_owned() };
    let crawl = store.crawls().begin(&new).await?;
    let fresh_enough =
        crawl.begun.started_at == started_at || (can_continue && hours_between(&crawl.begun.started_at, started_at) < STALE_HOURS);
    if fresh_enough {
        return Ok(crawl);
    }
    store.crawls().discard(crawl.id).await?;
    Ok(store.crawls().begin(&new).await?)
}

fn hours_between(from: &str, to: &str) -> i64 {
    let parse = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
    parse(to).zip(parse(from)).map_or(i64::MAX, |(to, from)| (to - from) / 3600)
}

async fn fetch(
    seed: &Seed,
    settings: &ReadSettings,
    store: &Store,
    crawl: CrawlId,
    progress: &dyn Progress,
) -> Result<ReadReport, EngineError> {
    progress.stage("Reading pages", None);
    let (sender, mut receiver) = mpsc::channel(BATCH);
    let archive = StoreArchive { store, crawl };
    // Nobody stops a reading from within; a killed process is continued by the next run.
    let (_keep, stop) = watch::channel(false);
    let done = AtomicUsize::new(0);
    let known = AtomicUsize::new(0);
    let told = Told(progress);
    let on_progress = |p: &ReadProgress| {
        if known.fetch_max(p.known, Ordering::Relaxed) < p.known {
            told.stage(p.known);
        }
        let before = done.fetch_max(p.done, Ordering::Relaxed);
        told.advance(p.done.saturating_sub(before));
    };
    let reading = linkwright_site::read(seed, settings, &archive, sender, &on_progress, stop);
    let keeping = async {
        let mut batch = Vec::with_capacity(BATCH);
        while receiver.recv_many(&mut batch, BATCH).await > 0 {
            store.pages().upsert(crawl, &batch).await?;
            batch.clear();
        }
        Ok::<(), EngineError>(())
    };
    let (report, kept) = tokio::join!(reading, keeping);
    kept?;
    Ok(report?)
}

/// Passes progress on to a front end.
struct Told<'a>(&'a dyn Progress);

impl Told<'_> {
    fn stage(&self, known: usize) {
        self.0.stage("Reading pages", Some(known as u64));
    }

    fn advance(&self, steps: usize) {
        self.0.advance(steps as u64);
    }
}

struct StoreArchive<'a> {
    store: &'a Store,
    crawl: CrawlId,
}

impl Archive for StoreArchive<'_> {
    async fn find(&self, key: &UrlKey) -> Option<Archived> {
        // A page that cannot be read back is asked for again: the worst case is one request too many.
        if let Ok(Some(page)) = self.store.pages().find(self.crawl, key).await {
            return Some(Archived { page, fresh: true });
        }
        let page = self.store.pages().known(key).await.ok().flatten()?;
        Some(Archived { page, fresh: false })
    }
}

fn read_settings(request: &PlanRequest, settings: &Settings) -> ReadSettings {
    let site = &settings.site;
    ReadSettings {
        crawl: crawl_settings(settings),
        only: request.only.iter().chain(&site.only).cloned().collect(),
        exclude: site.exclude.clone(),
        limit: request.limit,
    }
}

/// How pages are asked for.
#[must_use]
pub(crate) fn crawl_settings(settings: &Settings) -> CrawlSettings {
    let (crawl, site) = (&settings.crawl, &settings.site);
    let defaults = CrawlSettings::default();
    CrawlSettings {
        user_agent: crawl.user_agent.clone().unwrap_or_else(|| defaults.user_agent.clone()),
        hosts: site.hosts.clone(),
        path_scope: if site.path_scope == "/" { Vec::new() } else { vec![site.path_scope.clone()] },
        max_depth: crawl.max_depth,
        max_pages: crawl.max_pages,
        queries_per_path: crawl.queries_per_path,
        interval_ms: crawl.interval_ms,
        concurrency: crawl.concurrency,
        timeout_ms: crawl.timeout_s * 1_000,
        max_time_ms: crawl.max_time_s.map(|s| s * 1_000),
        retries: crawl.retries,
        max_backoff_ms: crawl.max_backoff_s * 1_000,
        max_body_bytes: crawl.max_body_bytes,
        ..defaults
    }
}

fn facts(seed: &Seed, report: &ReadReport, pages: &[FetchedPage], crawl: CrawlId, request: &PlanRequest) -> Facts {
    let base_url = match (&report.folder, seed) {
        (Some(folder), _) => folder.base_url.to_string(),
        (None, Seed::Url(url)) => url.join("/").map_or_else(|| url.to_string(), |(root, _)| root.to_string()),
        (None, Seed::Folder { .. }) => pages.first().map(|p| p.url.to_string()).unwrap_or_default(),
    };
    let on_purpose = |reason: &&Incomplete| matches!(reason, Incomplete::Selection | Incomplete::Limit(_));
    let words: Vec<String> = report.incomplete().iter().filter(on_purpose).map(ToString::to_string).collect();
    let given = request.only.is_some() || request.limit.is_some();
    let partial = (given && !words.is_empty()).then(|| words.join(", "));
    let problem = |s: &linkwright_site::crawl::SitemapReport| s.problem.as_ref().map(|p| format!("{}: {p}", s.url));
    Facts {
        base_url,
        base_url_origin: report.folder.as_ref().map(|f| f.base_url_origin.clone()),
        partial,
        complete: report.is_complete(),
        incomplete: report.incomplete().iter().map(ToString::to_string).collect(),
        sitemap_problems: report.crawl.sitemaps.iter().filter_map(problem).collect(),
        crawl: crawl.0,
    }
}

/// Sites that a plan would say nothing about get a sentence instead.
///
/// # Errors
/// When every page is a login form, or there is only one page.
pub(crate) fn check(analysis: &Analysis) -> Result<(), EngineError> {
    let pages = &analysis.site.pages;
    if pages.is_empty() {
        return Err(EngineError::new("not one page of the site could be read", "see the outcome of each address with `linkwright report`"));
    }
    if pages.iter().all(|p| p.login) && pages.iter().any(|p| p.format == SourceFormat::Html) {
        return Err(EngineError::new(
            "every page of the site is a login form",
            "read the site from a folder, or from an address that needs no login",
        ));
    }
    if pages.len() == 1 {
        return Err(EngineError::new(
            format!("the site has one page only, `{}`: there is nothing to link", pages[0].url),
            "name the start page or sitemap of the whole site; pages that only a script makes cannot be seen",
        ));
    }
    Ok(())
}
