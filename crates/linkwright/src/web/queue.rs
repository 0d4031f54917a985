//! The queue: the list, the opportunity at hand, and what is decided about it.

use super::App;
use super::address::{self, Params};
use super::frame::{self, Fault, Frame, NAVIGATION, render, state_words, when};
use super::guard::{self, Posted};
use super::markup::{self, Card, Piece, percent};
use crate::output::explanation::weight_words;
use crate::output::words;
use askama::Template;
use axum::extract::State as Known;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use linkwright_core::guardrail;
use linkwright_core::page::LinkKind;
use linkwright_engine::review::{
    Filter, Item, Orphans, Progress, Queue, ReviewError, Show, SiteLink, Sort, State, StoredOpportunity, Verdict,
};

/// Rows of the list on one page.
const ROWS: usize = 50;
/// Links of one list that are shown before the rest is counted.
const LINKS: usize = 60;

/// Reasons for a rejection that are one key away.
pub(crate) const REASONS: &[&str] = &["off topic here", "wrong words", "wrong target", "enough links here already", "reads badly"];

/// One choice of a list of choices.
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) chosen: bool,
}

/// The form of the filter.
pub(crate) struct FilterForm {
    pub(crate) action: &'static str,
    pub(crate) filter: Filter,
    pub(crate) shows: Vec<Choice>,
    pub(crate) sections: Vec<Choice>,
    pub(crate) languages: Vec<Choice>,
    pub(crate) orphans: Vec<Choice>,
    pub(crate) sorts: Vec<Choice>,
    pub(crate) open: bool,
    pub(crate) states: bool,
}

impl FilterForm {
    pub(crate) fn new(action: &'static str, filter: &Filter, queue: &Queue, states: bool) -> Self {
        let choice = |value: &str, label: String, chosen: bool| Choice { value: value.to_owned(), label, chosen };
        let shows = [Show::Waiting, Show::All]
            .into_iter()
            .chain(State::ALL.into_iter().map(Show::Only))
            .filter(|show| *show != Show::Only(State::Found));
        let show_words = |show: Show| match show {
            Show::Waiting => "waiting".to_owned(),
            Show::All => "all".to_owned(),
            Show::Only(state) => state.name().to_owned(),
        };
        let counted = |found: &[(String, usize)], now: &str| {
            let all = choice("", "all".to_owned(), now.is_empty());
            let each = found.iter().map(|(name, count)| choice(name, format!("{name} ({count})"), name == now));
            std::iter::once(all).chain(each).collect::<Vec<_>>()
        };
        let orphan_words = |orphans: Orphans| match orphans {
            Orphans::Any => "do not matter",
            Orphans::First => "first",
            Orphans::Only => "only",
        };
        let sort_words = |sort: Sort| match sort {
            Sort::Score => "best first",
            Sort::Source => "by source",
            Sort::Target => "by target",
            Sort::Decided => "decided last first",
        };
        let quiet = Filter { search: String::new(), show: filter.show, ..Filter::default() };
        Self {
            action,
            shows: shows.map(|show| choice(show.name(), show_words(show), show == filter.show)).collect(),
            sections: counted(&queue.sections, &filter.section),
            languages: counted(&queue.languages, &filter.language),
            orphans: Orphans::ALL.iter().map(|(o, name)| choice(name, orphan_words(*o).to_owned(), *o == filter.orphans)).collect(),
            sorts: Sort::ALL.iter().map(|(s, name)| choice(name, sort_words(*s).to_owned(), *s == filter.sort)).collect(),
            open: Filter { search: String::new(), ..filter.clone() } != quiet,
            filter: filter.clone(),
            states,
        }
    }
}

struct Row {
    address: String,
    anchor: String,
    source: String,
    target: String,
    score: String,
    state: &'static str,
    decided: bool,
    orphan: bool,
    current: bool,
}

/// Links of a page, as many as are shown.
pub(crate) struct Links {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<LinkRow>,
    pub(crate) more: usize,
    pub(crate) total: usize,
}

/// A link, ready for a template.
pub(crate) struct LinkRow {
    pub(crate) view: String,
    pub(crate) title: String,
    pub(crate) anchor: String,
}

impl Links {
    /// Links of one kind.
    pub(crate) fn of(name: &'static str, links: &[SiteLink], kind: LinkKind) -> Self {
        let all: Vec<&SiteLink> = links.iter().filter(|link| link.kind == kind).collect();
        let row = |link: &&SiteLink| LinkRow { view: address::page(&link.url), title: link.title.clone(), anchor: link.anchor.clone() };
        Self { name, rows: all.iter().take(LINKS).map(row).collect(), more: all.len().saturating_sub(LINKS), total: all.len() }
    }
}

struct SignalRow {
    words: String,
    weight: &'static str,
}

struct Event {
    what: String,
    who: String,
    when: String,
    reason: String,
}

/// The opportunity at hand.
struct Detail {
    id: String,
    seen: i64,
    state: &'static str,
    waiting: bool,
    anchor: String,
    href: String,
    heading: String,
    pieces: Vec<Piece>,
    source: Card,
    target: Card,
    lead: String,
    score: String,
    signals: Vec<SignalRow>,
    flags: Vec<String>,
    originally: Option<(String, String)>,
    history: Vec<Event>,
    notes: Vec<Event>,
    links: Vec<(String, Vec<Links>)>,
    links_ready: bool,
    can_accept: bool,
    can_reject: bool,
    can_withdraw: bool,
    can_revise: bool,
    previous: Option<String>,
    next: Option<String>,
    position: String,
    sides: String,
    revise: String,
}

/// What was just done, and how it is taken back.
struct Done {
    id: String,
    seen: i64,
    words: String,
}

#[derive(Template)]
#[template(path = "review/queue.html")]
struct Page {
    frame: Frame,
    navigation: &'static [(&'static str, &'static str)],
    form: FilterForm,
    fields: Vec<(&'static str, String)>,
    rows: Vec<Row>,
    total: usize,
    range: String,
    earlier: Option<String>,
    later: Option<String>,
    progress: Progress,
    detail: Option<Detail>,
    done: Option<Done>,
    problem: Option<String>,
    reasons: &'static [&'static str],
    accept_all: String,
    reject_all: String,
    withdraw_all: Option<String>,
}

/// `GET /queue`.
pub(crate) async fn show(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    let (filter, done) = (params.filter(), params.get("done").to_owned());
    page(&app, &headers, &filter, params.some("id"), &done, None).await
}

/// The page, with something that went wrong where there is.
async fn page(
    app: &App,
    headers: &HeaderMap,
    filter: &Filter,
    id: Option<&str>,
    done: &str,
    problem: Option<(StatusCode, String)>,
) -> Result<Response, Fault> {
    let queue = app.review.queue(filter).await?;
    let at = id.and_then(|id| queue.items.iter().position(|item| item.opportunity.id == id));
    let id = id.map(str::to_owned).or_else(|| queue.items.first().map(|item| item.opportunity.id.clone()));
    let at = at.or_else(|| id.as_ref().and_then(|id| queue.items.iter().position(|item| item.opportunity.id == *id)));
    let own = address::with("/queue", filter, &[("id", id.as_deref().unwrap_or_default()), ("done", done)]);
    let frame = Frame::new(app, headers, "/queue", "Queue", own).await?;
    let detail = match &id {
        Some(id) => match app.review.item(id).await {
            Ok(item) => Some(detail(&item, &queue, at, filter, done, &frame)),
            Err(ReviewError::NotFound(_)) => None,
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let chunk = at.unwrap_or(0) / ROWS;
    let link = |item: &StoredOpportunity| address::with("/queue", filter, &[("id", &item.opportunity.id), ("done", done)]);
    let shown = queue.items.iter().enumerate().skip(chunk * ROWS).take(ROWS);
    let rows: Vec<Row> = shown.map(|(i, item)| row(item, at == Some(i), link(item))).collect();
    let start = |chunk: usize| queue.items.get(chunk * ROWS).map(|item| link(item));
    let (status, problem) = problem.map_or((StatusCode::OK, None), |(status, sentence)| (status, Some(sentence)));
    let bulk = |verdict| address::with("/bulk", filter, &[("verdict", verdict)]);
    let page = Page {
        navigation: NAVIGATION,
        form: FilterForm::new("/queue", filter, &queue, true),
        fields: address::pairs(filter),
        range: format!(
            "{}–{} of {}",
            (chunk * ROWS + 1).min(queue.items.len()),
            chunk * ROWS + rows.len(),
            words::thousands(queue.items.len())
        ),
        earlier: chunk.checked_sub(1).and_then(start),
        later: start(chunk + 1),
        total: queue.items.len(),
        progress: queue.progress,
        done: done_words(app, done).await,
        reasons: REASONS,
        accept_all: bulk("accept"),
        reject_all: bulk("reject"),
        withdraw_all: queue.items.iter().any(|item| Verdict::Withdraw.fits(item.state)).then(|| bulk("withdraw")),
        frame,
        rows,
        detail,
        problem,
    };
    Ok(render(status, &page))
}

async fn done_words(app: &App, id: &str) -> Option<Done> {
    if id.is_empty() {
        return None;
    }
    let stored = app.review.find(id).await.ok()?;
    let words = match stored.state {
        State::Accepted if stored.proposed.is_some() => "Revised and accepted",
        State::Accepted => "Accepted",
        State::Rejected => "Rejected",
        _ => return None,
    };
    Some(Done { id: id.to_owned(), seen: stored.revision, words: format!("{words}: “{}”", stored.opportunity.anchor) })
}

fn row(item: &StoredOpportunity, current: bool, address: String) -> Row {
    let o = &item.opportunity;
    Row {
        address,
        anchor: o.anchor.clone(),
        source: named(&o.source_title, &o.source_url),
        target: named(&o.target_title, &o.target_url),
        score: percent(o.score),
        state: state_words(item.state),
        decided: item.state != State::Found,
        orphan: o.target_orphan == Some(true),
        current,
    }
}

/// A title, or the URL where there is none.
pub(crate) fn named(title: &str, url: &str) -> String {
    if title.trim().is_empty() { url.to_owned() } else { title.to_owned() }
}

fn detail(item: &Item, queue: &Queue, at: Option<usize>, filter: &Filter, done: &str, frame: &Frame) -> Detail {
    let (stored, o) = (&item.stored, &item.stored.opportunity);
    let to = |at: Option<usize>| {
        let other = queue.items.get(at?)?;
        Some(address::with("/queue", filter, &[("id", &other.opportunity.id), ("done", done)]))
    };
    let links = item.links.as_ref().map(|links| {
        vec![
            (
                "Links of this page".to_owned(),
                vec![
                    Links::of("In its text", &links.source_out, LinkKind::Body),
                    Links::of("In its template", &links.source_out, LinkKind::Template),
                    Links::of("To it, in text", &links.source_in, LinkKind::Body),
                ],
            ),
            (
                "Links of the target".to_owned(),
                vec![
                    Links::of("To it, in text", &links.target_in, LinkKind::Body),
                    Links::of("To it, in templates", &links.target_in, LinkKind::Template),
                    Links::of("In its text", &links.target_out, LinkKind::Body),
                    Links::of("In its template", &links.target_out, LinkKind::Template),
                ],
            ),
        ]
    });
    let fits = |verdict: &Verdict| verdict.fits(stored.state);
    Detail {
        id: o.id.clone(),
        seen: stored.revision,
        state: state_words(stored.state),
        waiting: stored.state.is_waiting(),
        anchor: o.anchor.clone(),
        href: o.href.clone(),
        heading: o.section.clone().unwrap_or_default(),
        pieces: markup::pieces(&o.block_text, &[(o.anchor_span, "anchor"), (o.passage, "passage")]),
        source: Card::of(item.source.as_ref(), &o.source_url, &o.source_title, &frame.base),
        target: Card::of(item.target.as_ref(), &o.target_url, &o.target_title, &frame.base),
        lead: item.lead.clone(),
        score: percent(o.score),
        signals: o
            .signals
            .iter()
            .map(|signal| SignalRow { words: frame::capital(&signal.words), weight: weight_words(signal.part) })
            .collect(),
        flags: o
            .flags
            .iter()
            .map(|code| guardrail::by_code(code).map_or_else(|| code.clone(), |rule| format!("{}: {}", rule.name(), rule.why())))
            .collect(),
        originally: stored.proposed.as_ref().map(|proposed| (proposed.anchor.clone(), named(&proposed.target_title, &proposed.target_url))),
        history: item
            .history
            .iter()
            .map(|(_, decision)| Event {
                what: frame::capital(if decision.revised.is_some() { "revised and accepted" } else { state_words(decision.state) }),
                who: decision.reviewer.clone(),
                when: when(&decision.decided_at),
                reason: decision.reason.clone().unwrap_or_default(),
            })
            .collect(),
        notes: item
            .notes
            .iter()
            .map(|note| Event { what: note.text.clone(), who: note.reviewer.clone(), when: when(&note.written_at), reason: String::new() })
            .collect(),
        links_ready: links.is_some(),
        links: links.unwrap_or_default(),
        can_accept: fits(&Verdict::Accept),
        can_reject: fits(&Verdict::Reject { reason: None }),
        can_withdraw: fits(&Verdict::Withdraw),
        can_revise: fits(&Verdict::Accept) || stored.state == State::Accepted,
        previous: to(at.and_then(|at| at.checked_sub(1))),
        next: to(at.map_or(Some(0), |at| Some(at + 1))),
        position: at.map_or_else(
            || "not in this list".to_owned(),
            |at| format!("{} of {}", words::thousands(at + 1), words::thousands(queue.items.len())),
        ),
        sides: format!("{}#passage", address::with("/sides", filter, &[("id", &o.id)])),
        revise: address::with("/revise", filter, &[("id", &o.id)]),
    }
}

/// `POST /decide`.
pub(crate) async fn decide(Known(app): Known<App>, headers: HeaderMap, Posted(form): Posted) -> Result<Response, Fault> {
    let (filter, id) = (form.filter(), form.get("id").to_owned());
    let Some(verdict) = verdict(&form) else {
        return Ok(frame::message(StatusCode::BAD_REQUEST, "This decision is unknown", "Go back to the queue."));
    };
    let next = next_of(&app, &filter, &id).await?;
    let seen = form.number("seen").unwrap_or(-1);
    match app.review.decide(&id, &verdict, seen, &frame::reviewer(&app, &headers)).await {
        Ok(_) if verdict == Verdict::Withdraw => Ok(to(&address::with("/queue", &filter, &[("id", &id)]))),
        Ok(_) => Ok(to(&address::with("/queue", &filter, &[("id", next.as_deref().unwrap_or_default()), ("done", &id)]))),
        Err(error @ (ReviewError::Conflict { .. } | ReviewError::Refused(_))) => {
            page(&app, &headers, &filter, Some(&id), "", Some(frame::refusal(&error))).await
        }
        Err(error) => Err(error.into()),
    }
}

/// What comes after an opportunity in a list: the next, or at the end the one before.
pub(crate) async fn next_of(app: &App, filter: &Filter, id: &str) -> Result<Option<String>, Fault> {
    let queue = app.review.queue(filter).await?;
    let at = queue.items.iter().position(|item| item.opportunity.id == id);
    let beside = at.and_then(|at| queue.items.get(at + 1).or_else(|| queue.items.get(at.checked_sub(1)?)));
    Ok(beside.map(|item| item.opportunity.id.clone()))
}

pub(crate) fn to(address: &str) -> Response {
    Redirect::to(address).into_response()
}

fn verdict(form: &Params) -> Option<Verdict> {
    match form.get("verdict") {
        "accept" => Some(Verdict::Accept),
        "reject" => {
            let reasons: Vec<&str> = [form.some("reason"), form.some("words")].into_iter().flatten().collect();
            Some(Verdict::Reject { reason: Some(reasons.join(": ")).filter(|reason| !reason.is_empty()) })
        }
        "withdraw" => Some(Verdict::Withdraw),
        _ => None,
    }
}

/// `POST /note`.
pub(crate) async fn note(Known(app): Known<App>, headers: HeaderMap, Posted(form): Posted) -> Result<Response, Fault> {
    let (filter, id) = (form.filter(), form.get("id").to_owned());
    match app.review.note(&id, form.get("text"), &frame::reviewer(&app, &headers)).await {
        Ok(()) => Ok(to(&address::with("/queue", &filter, &[("id", &id)]))),
        Err(error @ ReviewError::Refused(_)) => page(&app, &headers, &filter, Some(&id), "", Some(frame::refusal(&error))).await,
        Err(error) => Err(error.into()),
    }
}

/// `POST /name`.
pub(crate) async fn name(Posted(form): Posted) -> Response {
    let name: String = form.get("name").trim().chars().take(80).collect();
    // Only an address of this server.
    let back = Some(form.get("back")).filter(|back| back.starts_with('/') && !back.starts_with("//") && !back.contains('\\'));
    let onward = Redirect::to(back.unwrap_or("/queue"));
    if name.is_empty() {
        return onward.into_response();
    }
    ([(header::SET_COOKIE, guard::name_cookie(&name))], onward).into_response()
}

#[derive(Template)]
#[template(path = "review/bulk.html")]
struct BulkPage {
    frame: Frame,
    navigation: &'static [(&'static str, &'static str)],
    verb: &'static str,
    verdict: String,
    count: usize,
    left: usize,
    stamp: String,
    words: Vec<String>,
    fields: Vec<(&'static str, String)>,
    back: String,
    problem: Option<String>,
    rejects: bool,
    reasons: &'static [&'static str],
}

/// `GET /bulk`.
pub(crate) async fn bulk(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    bulk_page(&app, &headers, &params, None).await
}

async fn bulk_page(app: &App, headers: &HeaderMap, params: &Params, problem: Option<(StatusCode, String)>) -> Result<Response, Fault> {
    let filter = params.filter();
    let verdict = verdict(params).unwrap_or(Verdict::Accept);
    let (name, verb) = match verdict {
        Verdict::Accept => ("accept", "Accept"),
        Verdict::Reject { .. } => ("reject", "Reject"),
        Verdict::Withdraw => ("withdraw", "Withdraw the decisions on"),
    };
    let selection = app.review.select(&filter, &verdict).await?;
    let (status, problem) = problem.map_or((StatusCode::OK, None), |(status, sentence)| (status, Some(sentence)));
    let page = BulkPage {
        frame: Frame::new(app, headers, "/queue", "Decide on many", address::with("/bulk", &filter, &[("verdict", name)])).await?,
        navigation: NAVIGATION,
        verb,
        verdict: name.to_owned(),
        count: selection.count,
        left: selection.left,
        stamp: selection.stamp,
        words: address::words(&filter),
        fields: address::pairs(&filter),
        back: address::with("/queue", &filter, &[]),
        problem,
        rejects: name == "reject",
        reasons: REASONS,
    };
    Ok(render(status, &page))
}

/// `POST /bulk`.
pub(crate) async fn bulk_decide(Known(app): Known<App>, headers: HeaderMap, Posted(form): Posted) -> Result<Response, Fault> {
    let filter = form.filter();
    let Some(verdict) = verdict(&form) else {
        return Ok(frame::message(StatusCode::BAD_REQUEST, "This decision is unknown", "Go back to the queue."));
    };
    match app.review.bulk(&filter, &verdict, form.get("stamp"), &frame::reviewer(&app, &headers)).await {
        Ok(_) => Ok(to(&address::with("/queue", &filter, &[]))),
        Err(error @ ReviewError::ListChanged) => bulk_page(&app, &headers, &form, Some(frame::refusal(&error))).await,
        Err(error) => Err(error.into()),
    }
}
