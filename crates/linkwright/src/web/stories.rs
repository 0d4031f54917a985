//! Gaps, one page, orphans, anchors, runs and the effect of what is accepted.

use super::App;
use super::address::{self, Params};
use super::frame::{Fault, Frame, NAVIGATION, render, state_words, when};
use super::markup::{Card, outward, percent};
use super::queue::{FilterForm, Links, named};
use crate::output::words;
use askama::Template;
use axum::extract::State as Known;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use linkwright_core::page::LinkKind;
use linkwright_core::plan::Gap;
use linkwright_engine::review::{AnchorRow, Change, Effect, Figures, Readiness, StoredOpportunity};

/// Rows of a long list on one page.
const ROWS: usize = 100;

type Navigation = &'static [(&'static str, &'static str)];

/// A part of a long list.
struct Part {
    from: usize,
    to: usize,
    total: usize,
    earlier: Option<String>,
    later: Option<String>,
}

impl Part {
    /// The part that an address asks for, and the addresses of the parts beside it.
    fn of(params: &Params, total: usize, address: impl Fn(&str) -> String) -> Self {
        let number = params.number::<usize>("part").unwrap_or(1).clamp(1, total.div_ceil(ROWS).max(1));
        let from = (number - 1) * ROWS;
        let to = (from + ROWS).min(total);
        let earlier = (number > 1).then(|| address(&(number - 1).to_string()));
        Self { from, to, total, earlier, later: (to < total).then(|| address(&(number + 1).to_string())) }
    }
}

struct GapRow {
    source: Card,
    target: Card,
    score: String,
    reason: String,
    paragraph: String,
    orphan: bool,
}

fn gap_row(gap: &Gap, base: &str) -> GapRow {
    GapRow {
        source: Card::of(None, &gap.source_url, &gap.source_title, base),
        target: Card::of(None, &gap.target_url, &gap.target_title, base),
        score: percent(gap.score),
        reason: words::reason(&gap.reason),
        paragraph: gap.paragraph.clone().unwrap_or_default(),
        orphan: gap.target_orphan == Some(true),
    }
}

#[derive(Template)]
#[template(path = "review/gaps.html")]
struct GapsPage {
    frame: Frame,
    navigation: Navigation,
    form: FilterForm,
    gaps: Vec<GapRow>,
    part: Part,
}

/// `GET /gaps`.
pub(crate) async fn gaps(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    let filter = params.filter();
    let gaps = app.review.gaps(&filter).await?;
    let queue = app.review.queue(&filter).await?;
    let own = address::with("/gaps", &filter, &[("part", params.get("part"))]);
    let frame = Frame::new(&app, &headers, "/gaps", "Gaps", own).await?;
    let part = Part::of(&params, gaps.len(), |part| address::with("/gaps", &filter, &[("part", part)]));
    let shown = gaps.get(part.from..part.to).unwrap_or_default();
    let page = GapsPage {
        navigation: NAVIGATION,
        form: FilterForm::new("/gaps", &filter, &queue, false),
        gaps: shown.iter().map(|gap| gap_row(gap, &frame.base)).collect(),
        part,
        frame,
    };
    Ok(render(StatusCode::OK, &page))
}

struct Proposal {
    address: String,
    anchor: String,
    other: String,
    view: String,
    score: String,
    state: &'static str,
}

fn proposals(items: &[std::sync::Arc<StoredOpportunity>], url: &str) -> Vec<Proposal> {
    let row = |item: &std::sync::Arc<StoredOpportunity>| {
        let o = &item.opportunity;
        let (title, other) = if o.source_url == url { (&o.target_title, &o.target_url) } else { (&o.source_title, &o.source_url) };
        Proposal {
            address: format!("/queue?{}", address::query(&[("show", "all"), ("id", &o.id)])),
            anchor: o.anchor.clone(),
            other: named(title, other),
            view: address::page(other),
            score: percent(o.score),
            state: state_words(item.state),
        }
    };
    items.iter().map(row).collect()
}

#[derive(Template)]
#[template(path = "review/page.html")]
struct PagePage {
    frame: Frame,
    navigation: Navigation,
    card: Card,
    outward: Option<String>,
    facts: Vec<(&'static str, String)>,
    lists: Vec<(&'static str, &'static str, Vec<Proposal>)>,
    links: Vec<Links>,
    ready: bool,
    gaps: Vec<GapRow>,
}

/// `GET /page`.
pub(crate) async fn page(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    let url = params.get("url").to_owned();
    let story = app.review.page(&url).await?;
    let summary = &story.summary;
    let frame = Frame::new(&app, &headers, "", &named(&summary.title, &summary.url), address::page(&url)).await?;
    let card = Card::of(Some(summary), &summary.url, &summary.title, &frame.base);
    let rules = |codes: &[String]| {
        let names = codes.iter().map(|code| linkwright_core::guardrail::by_code(code).map_or(code.as_str(), |rule| rule.name()));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut facts = vec![
        ("Read", words::outcome(summary.outcome).to_owned()),
        ("Pages whose text leads here", words::thousands(summary.inlinks)),
        ("Pages with any link here", words::thousands(summary.inlinks_all)),
        ("Pages its text leads to", words::thousands(summary.outlinks)),
        ("Crawl depth", card.depth.clone()),
        ("Orphan", card.orphan.to_owned()),
        ("PageRank (mean 1)", format!("{:.2}", summary.authority)),
        ("Words of main content", words::thousands(summary.words)),
        ("Language", summary.language.clone()),
        ("Not a source because", rules(&summary.not_source)),
        ("Not a target because", rules(&summary.not_target)),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    let links = story.links.as_ref().map(|(out, into)| {
        vec![
            Links::of("Links to it in text", into, LinkKind::Body),
            Links::of("Links to it in templates", into, LinkKind::Template),
            Links::of("Its links in text", out, LinkKind::Body),
            Links::of("Its links in the template", out, LinkKind::Template),
        ]
    });
    let page = PagePage {
        navigation: NAVIGATION,
        outward: outward(&summary.url),
        facts,
        lists: vec![
            ("Proposed from here", "to", proposals(&story.out, &url)),
            ("Proposed to here", "from", proposals(&story.into, &url)),
            ("Rejected", "with", proposals(&story.rejected, &url)),
        ],
        ready: links.is_some(),
        links: links.unwrap_or_default(),
        gaps: story.gaps.iter().map(|gap| gap_row(gap, &frame.base)).collect(),
        card,
        frame,
    };
    Ok(render(StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "review/pages.html")]
struct PagesPage {
    frame: Frame,
    navigation: Navigation,
    search: String,
    pages: Vec<Card>,
}

/// `GET /pages`: a search over pages.
pub(crate) async fn pages(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    let search = params.get("find").trim().to_owned();
    let found = app.review.find_pages(&search, ROWS).await?;
    let own = format!("/pages?{}", address::query(&[("find", &search)]));
    let frame = Frame::new(&app, &headers, "", "Pages", own).await?;
    let pages = found.iter().map(|page| Card::of(Some(page), &page.url, &page.title, &frame.base)).collect();
    Ok(render(StatusCode::OK, &PagesPage { navigation: NAVIGATION, search, pages, frame }))
}

struct OrphanRow {
    card: Card,
    accepted: usize,
    waiting: usize,
    list: String,
}

#[derive(Template)]
#[template(path = "review/orphans.html")]
struct OrphansPage {
    frame: Frame,
    navigation: Navigation,
    complete: bool,
    rows: Vec<OrphanRow>,
    helped: usize,
    part: Part,
}

/// `GET /orphans`.
pub(crate) async fn orphans(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    let rows = app.review.orphans().await?;
    let frame =
        Frame::new(&app, &headers, "/orphans", "Orphans", format!("/orphans?{}", address::query(&[("part", params.get("part"))]))).await?;
    let part = Part::of(&params, rows.len(), |part| format!("/orphans?part={part}"));
    let row = |row: &linkwright_engine::review::OrphanRow| OrphanRow {
        card: Card::of(Some(&row.summary), &row.summary.url, &row.summary.title, &frame.base),
        accepted: row.accepted,
        waiting: row.waiting,
        list: format!("/queue?{}", address::query(&[("target", &row.summary.url), ("show", "all")])),
    };
    let page = OrphansPage {
        navigation: NAVIGATION,
        complete: app.review.run().await?.complete,
        helped: rows.iter().filter(|row| row.accepted > 0).count(),
        rows: rows.get(part.from..part.to).unwrap_or_default().iter().map(row).collect(),
        part,
        frame,
    };
    Ok(render(StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "review/anchors.html")]
struct AnchorsPage {
    frame: Frame,
    navigation: Navigation,
    rows: Vec<(Card, AnchorRow)>,
    part: Part,
}

/// `GET /anchors`.
pub(crate) async fn anchors(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    let rows = app.review.anchors().await?;
    let frame =
        Frame::new(&app, &headers, "/anchors", "Anchors", format!("/anchors?{}", address::query(&[("part", params.get("part"))]))).await?;
    let part = Part::of(&params, rows.len(), |part| format!("/anchors?part={part}"));
    let shown = rows.into_iter().skip(part.from).take(part.to - part.from);
    let rows = shown.map(|row| (Card::of(None, &row.url, &row.title, &frame.base), row)).collect();
    Ok(render(StatusCode::OK, &AnchorsPage { navigation: NAVIGATION, rows, part, frame }))
}

struct EditRow {
    number: i64,
    source: Card,
    target: Card,
    anchor: String,
    status: &'static str,
    who: String,
    when: String,
}

struct RunRow {
    number: i64,
    kind: String,
    site: String,
    started: String,
    status: &'static str,
    edits: Vec<EditRow>,
}

#[derive(Template)]
#[template(path = "review/runs.html")]
struct RunsPage {
    frame: Frame,
    navigation: Navigation,
    runs: Vec<RunRow>,
}

/// `GET /runs`.
pub(crate) async fn runs(Known(app): Known<App>, headers: HeaderMap) -> Result<Response, Fault> {
    use linkwright_engine::review::{EditEvent, RunStatus};
    let frame = Frame::new(&app, &headers, "/runs", "Runs", "/runs".to_owned()).await?;
    let edit = |edit: &linkwright_engine::review::Edit| EditRow {
        number: edit.id.0,
        source: Card::of(None, &edit.edit.source_url, "", &frame.base),
        target: Card::of(None, &edit.edit.target_url, "", &frame.base),
        anchor: String::from_utf8_lossy(&edit.edit.written.words).into_owned(),
        status: match edit.status {
            EditEvent::Begun => "being written",
            EditEvent::Written => "written",
            EditEvent::Abandoned => "not written",
            EditEvent::UndoBegun => "being taken out",
            EditEvent::Undone => "taken out",
            EditEvent::UndoAbandoned => "not taken out",
            EditEvent::Observed => "seen on the page",
            EditEvent::Missing => "not seen on the page",
            EditEvent::Changed => "changed on the page",
        },
        who: edit.who.clone(),
        when: when(&edit.at),
    };
    let row = |row: &linkwright_engine::review::RunRow| RunRow {
        number: row.run.id.0,
        kind: row.run.begun.kind.clone(),
        site: row.run.begun.site.clone(),
        started: when(&row.run.begun.started_at),
        status: match row.run.status {
            RunStatus::Running => "running",
            RunStatus::Finished => "finished",
            RunStatus::Failed => "failed",
            RunStatus::Interrupted => "interrupted",
        },
        edits: row.edits.iter().map(edit).collect(),
    };
    let runs = app.review.runs().await?.iter().map(row).collect();
    Ok(render(StatusCode::OK, &RunsPage { navigation: NAVIGATION, runs, frame }))
}

struct Tile {
    name: &'static str,
    before: String,
    after: String,
}

struct Bar {
    name: String,
    before: usize,
    after: usize,
    before_width: usize,
    after_width: usize,
}

struct Changed {
    card: Card,
    before: String,
    after: String,
}

/// One list of changes: heading, what the figures are, rows.
type ChangeList = (&'static str, &'static str, Vec<Changed>);

#[derive(Template)]
#[template(path = "review/effect.html")]
struct EffectPage {
    frame: Frame,
    navigation: Navigation,
    waiting: Option<String>,
    links: usize,
    tiles: Vec<Tile>,
    depths: Vec<Bar>,
    lists: Vec<ChangeList>,
}

/// A sentence for a page that needs the whole site, while it is not there.
pub(crate) fn not_ready(app: &App) -> Option<String> {
    match app.review.readiness() {
        Readiness::Ready => None,
        Readiness::Computing => {
            Some("The whole site is being read in the background. This page shows it as soon as it is there.".to_owned())
        }
        Readiness::Failed(reason) => Some(format!("The site could not be read: {reason}.")),
    }
}

/// `GET /effect`.
pub(crate) async fn effect(Known(app): Known<App>, headers: HeaderMap) -> Result<Response, Fault> {
    let frame = Frame::new(&app, &headers, "/effect", "Effect", "/effect".to_owned()).await?;
    let waiting = not_ready(&app);
    let effect = app.review.effect().await?.unwrap_or_default();
    let page = EffectPage {
        navigation: NAVIGATION,
        waiting,
        links: effect.links,
        tiles: tiles(&effect),
        depths: depths(&effect.before, &effect.after),
        lists: lists(&effect, &frame.base),
        frame,
    };
    Ok(render(StatusCode::OK, &page))
}

fn tiles(effect: &Effect) -> Vec<Tile> {
    let (before, after) = (&effect.before, &effect.after);
    let count = |number: Option<usize>| number.map_or_else(|| "unknown".to_owned(), words::thousands);
    let mean = |figures: &Figures| figures.mean_depth.map_or_else(|| "unknown".to_owned(), |mean| format!("{mean:.2}"));
    vec![
        Tile { name: "Orphans", before: count(before.orphans), after: count(after.orphans) },
        Tile { name: "Mean crawl depth", before: mean(before), after: mean(after) },
        Tile { name: "Not reachable", before: words::thousands(before.unreachable), after: words::thousands(after.unreachable) },
        Tile { name: "Body links", before: words::thousands(before.body_links), after: words::thousands(after.body_links) },
    ]
}

fn depths(before: &Figures, after: &Figures) -> Vec<Bar> {
    let all: std::collections::BTreeSet<u32> = before.depths.iter().chain(&after.depths).map(|(depth, _)| *depth).collect();
    let of = |figures: &Figures, depth: u32| figures.depths.iter().find(|(other, _)| *other == depth).map_or(0, |(_, pages)| *pages);
    let most = all.iter().map(|depth| of(before, *depth).max(of(after, *depth))).max().unwrap_or(1).max(1);
    let bar = |depth: u32| {
        let (before, after) = (of(before, depth), of(after, depth));
        let width = |pages: usize| (pages * 100).div_ceil(most);
        Bar { name: super::markup::clicks(depth), before, after, before_width: width(before), after_width: width(after) }
    };
    all.into_iter().map(bar).collect()
}

fn lists(effect: &Effect, base: &str) -> Vec<ChangeList> {
    let rows = |changes: &[Change], write: &dyn Fn(Option<f64>) -> String| {
        let row = |change: &Change| Changed {
            card: Card::of(None, &change.url, &change.title, base),
            before: write(change.before),
            after: write(change.after),
        };
        changes.iter().map(row).collect::<Vec<_>>()
    };
    let whole = |value: Option<f64>| value.map_or_else(|| "not reachable".to_owned(), |value| format!("{value:.0}"));
    let rank = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    vec![
        ("Orphans that get a link", "body inlinks", rows(&effect.adopted, &whole)),
        ("Nearer to the home page", "clicks", rows(&effect.nearer, &whole)),
        ("PageRank grows most", "PageRank, mean 1", rows(&effect.stronger, &rank)),
        ("PageRank shrinks most", "PageRank, mean 1", rows(&effect.weaker, &rank)),
    ]
}

#[derive(Template)]
#[template(path = "review/keys.html")]
struct KeysPage {
    frame: Frame,
    navigation: Navigation,
}

/// `GET /keys`.
pub(crate) async fn keys(Known(app): Known<App>, headers: HeaderMap) -> Result<Response, Fault> {
    let frame = Frame::new(&app, &headers, "", "Keys", "/keys".to_owned()).await?;
    Ok(render(StatusCode::OK, &KeysPage { navigation: NAVIGATION, frame }))
}
