//! Both pages side by side, and the choice of other words, another passage or another target.

use super::App;
use super::address::{self, Params};
use super::frame::{self, Fault, Frame, NAVIGATION, render};
use super::guard::Posted;
use super::markup::{self, Card, Group, Piece};
use super::queue::{named, next_of, to};
use askama::Template;
use axum::extract::State as Known;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use linkwright_core::span::Span;
use linkwright_engine::review::{Checked, Desk, Filter, Place, ReviewError, Revision};
use serde::Serialize;

/// Pages that a search for a target lists.
const FOUND: usize = 12;

#[derive(Template)]
#[template(path = "review/sides.html")]
struct Sides {
    frame: Frame,
    navigation: &'static [(&'static str, &'static str)],
    source: Card,
    target: Card,
    anchor: String,
    left: Vec<Group>,
    right: Vec<Group>,
    placed: bool,
    back: String,
    revise: String,
}

/// `GET /sides`.
pub(crate) async fn sides(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    let (filter, id) = (params.filter(), params.get("id").to_owned());
    let item = app.review.item(&id).await?;
    let o = &item.stored.opportunity;
    let place = app.review.place_of(&item.stored).await.unwrap_or(None);
    let left = app.review.contents(&o.source_url).await.unwrap_or_default();
    let right = app.review.contents(&o.target_url).await.unwrap_or_default();
    let frame = Frame::new(&app, &headers, "/queue", "Side by side", address::with("/sides", &filter, &[("id", &id)])).await?;
    let page = Sides {
        navigation: NAVIGATION,
        source: Card::of(item.source.as_ref(), &o.source_url, &o.source_title, &frame.base),
        target: Card::of(item.target.as_ref(), &o.target_url, &o.target_title, &frame.base),
        anchor: o.anchor.clone(),
        left: markup::groups(&left, place, false),
        right: markup::groups(&right, None, false),
        placed: place.is_some(),
        back: address::with("/queue", &filter, &[("id", &id)]),
        revise: address::with("/revise", &filter, &[("id", &id)]),
        frame,
    };
    Ok(render(StatusCode::OK, &page))
}

/// What the check says.
struct Answer {
    good: bool,
    sentence: String,
    warnings: Vec<String>,
}

struct Offer {
    value: String,
    pieces: Vec<Piece>,
    chosen: bool,
}

struct Found {
    url: String,
    title: String,
    short: String,
    chosen: bool,
    note: String,
}

#[derive(Template)]
#[template(path = "review/revise.html")]
struct Page {
    frame: Frame,
    navigation: &'static [(&'static str, &'static str)],
    id: String,
    seen: i64,
    fields: Vec<(&'static str, String)>,
    words: String,
    block: String,
    start: String,
    end: String,
    source: Card,
    target: Card,
    target_url: String,
    section: String,
    sections: Vec<(String, String)>,
    search: String,
    found: Vec<Found>,
    offers: Vec<Offer>,
    text: Vec<Group>,
    answer: Answer,
    back: String,
}

/// The values of the form that say what is wanted.
struct Wanted {
    block: Option<usize>,
    span: Option<Span>,
    words: String,
    target: Option<String>,
    section: Option<String>,
}

impl Wanted {
    fn of(params: &Params) -> Self {
        // A passage that was offered names its place in one value.
        let offered: Vec<usize> = params.get("passage").split('-').filter_map(|part| part.parse().ok()).collect();
        let offered = if let [block, start, end] = offered[..] { Some((block, start, end)) } else { None };
        let given = params.number("block").zip(params.number("start").zip(params.number("end")));
        let place = offered.or(given.map(|(block, (start, end))| (block, start, end)));
        Self {
            block: place.map(|(block, ..)| block).or(params.number("block")),
            span: place.filter(|(_, start, end)| start < end).map(|(_, start, end)| Span::new(start, end)),
            words: params.get("words").trim().to_owned(),
            target: params.some("to").map(str::to_owned),
            section: params.some("part").map(str::to_owned),
        }
    }

    /// The revision that is meant; what is not given stays as it is.
    fn revision(&self, desk: &Desk) -> Revision {
        let o = &desk.item.stored.opportunity;
        let own_words = self.words.is_empty() || self.span.is_some_and(|span| self.is_text_of(desk, span));
        let place = match (self.block, self.span) {
            (Some(block), Some(span)) if own_words => Place::At { block, span },
            (block, _) if !self.words.is_empty() => {
                Place::Words { block: block.or(desk.place.map(|(block, _)| block)), words: self.words.clone() }
            }
            _ => match desk.place {
                Some((block, span)) => Place::At { block, span },
                None => Place::Words { block: None, words: o.anchor.clone() },
            },
        };
        Revision { place, target_url: self.target.clone().unwrap_or_else(|| o.target_url.clone()), section: self.section.clone() }
    }

    /// Whether the words of the form are those at the place of the form. Without the script only the words change.
    fn is_text_of(&self, desk: &Desk, span: Span) -> bool {
        let block = desk.blocks.iter().find(|block| Some(block.number) == self.block);
        block.and_then(|block| block.text.get(span.range())) == Some(self.words.as_str())
    }
}

/// `GET /revise`.
pub(crate) async fn show(Known(app): Known<App>, headers: HeaderMap, params: Params) -> Result<Response, Fault> {
    page(&app, &headers, &params, None).await
}

async fn page(app: &App, headers: &HeaderMap, params: &Params, problem: Option<(StatusCode, String)>) -> Result<Response, Fault> {
    let (filter, id) = (params.filter(), params.get("id").to_owned());
    let mut wanted = Wanted::of(params);
    let desk = app.review.desk(&id, wanted.target.as_deref()).await?;
    let o = desk.item.stored.opportunity.clone();
    let same_target = wanted.target.as_ref().is_none_or(|target| *target == o.target_url);
    if same_target && !params.has("part") {
        wanted.section = o.href.split_once('#').map(|(_, section)| section.to_owned());
    }
    let revision = wanted.revision(&desk);
    let checked = app.review.check_revision(&id, &revision).await;
    let chosen = match (&checked, &revision.place) {
        (Ok(checked), _) => Some((checked.block, checked.opportunity.anchor_span)),
        (Err(_), Place::At { block, span }) => Some((*block, *span)),
        _ => None,
    };
    let words = match (&checked, &revision.place) {
        (Ok(checked), _) => checked.opportunity.anchor.clone(),
        (_, Place::Words { words, .. }) => words.clone(),
        (_, Place::At { block, span }) => {
            let block = desk.blocks.iter().find(|other| other.number == *block);
            block.and_then(|block| block.text.get(span.range())).unwrap_or_default().to_owned()
        }
    };
    let (status, answer) = match problem {
        Some((status, sentence)) => (status, Answer { good: false, sentence, warnings: Vec::new() }),
        None => (StatusCode::OK, answer(checked)?),
    };
    let own = address::with("/revise", &filter, &[("id", &id), ("to", wanted.target.as_deref().unwrap_or_default())]);
    let frame = Frame::new(app, headers, "/queue", "Revise", own).await?;
    let search = params.get("find").trim().to_owned();
    let place = |(block, span): (usize, Span)| (block.to_string(), span.start.to_string(), span.end.to_string());
    let (block, start, end) = chosen.map(place).unwrap_or_default();
    let page = Page {
        navigation: NAVIGATION,
        seen: params.number("seen").unwrap_or(desk.item.stored.revision),
        fields: address::pairs(&filter),
        source: Card::of(desk.item.source.as_ref(), &o.source_url, &o.source_title, &frame.base),
        target: Card::of(desk.target.as_ref(), &revision.target_url, desk.target.as_ref().map_or("", |page| &page.title), &frame.base),
        target_url: revision.target_url.clone(),
        section: revision.section.clone().unwrap_or_default(),
        sections: desk.sections.clone(),
        found: found(app, &search, &revision.target_url, &frame).await?,
        search,
        offers: offers(&desk, chosen),
        text: markup::groups(&desk.blocks, chosen, true),
        back: address::with("/queue", &filter, &[("id", &id)]),
        id,
        words,
        block,
        start,
        end,
        answer,
        frame,
    };
    Ok(render(status, &page))
}

fn answer(checked: Result<Checked, ReviewError>) -> Result<Answer, Fault> {
    match checked {
        Ok(checked) => {
            let sentence = format!("The link can be written: “{}” leads to {}.", checked.opportunity.anchor, checked.opportunity.href);
            Ok(Answer { good: true, sentence, warnings: checked.warnings.iter().map(|warning| frame::capital(warning)).collect() })
        }
        Err(ReviewError::Refused(reason)) => {
            Ok(Answer { good: false, sentence: format!("The link cannot be written: {reason}."), warnings: Vec::new() })
        }
        Err(error) => Err(error.into()),
    }
}

fn offers(desk: &Desk, chosen: Option<(usize, Span)>) -> Vec<Offer> {
    let offer = |suggestion: &linkwright_engine::review::Suggestion| {
        let sentence = suggestion.text.get(suggestion.passage.range()).unwrap_or_default();
        let shift = suggestion.passage.start;
        let words = Span::new(suggestion.span.start.saturating_sub(shift), suggestion.span.end.saturating_sub(shift));
        Offer {
            value: format!("{}-{}-{}", suggestion.block, suggestion.span.start, suggestion.span.end),
            pieces: markup::pieces(sentence, &[(words, "anchor")]),
            chosen: chosen == Some((suggestion.block, suggestion.span)),
        }
    };
    desk.suggestions.iter().map(offer).collect()
}

async fn found(app: &App, search: &str, target: &str, frame: &Frame) -> Result<Vec<Found>, Fault> {
    if search.is_empty() {
        return Ok(Vec::new());
    }
    let pages = app.review.find_pages(search, FOUND).await?;
    let row = |page: linkwright_core::plan::PageSummary| Found {
        title: named(&page.title, &page.url),
        short: crate::output::words::short_url(&page.url, &frame.base).to_owned(),
        chosen: page.url == target,
        note: if page.not_target.is_empty() { String::new() } else { "not proposed by linkwright".to_owned() },
        url: page.url,
    };
    Ok(pages.into_iter().map(row).collect())
}

/// The answer of the preflight for the script.
#[derive(Serialize)]
struct Verdict {
    good: bool,
    sentence: String,
    warnings: Vec<String>,
    words: String,
}

/// `GET /check`: may these words carry the link? Changes nothing.
pub(crate) async fn check(Known(app): Known<App>, params: Params) -> Result<Response, Fault> {
    let wanted = Wanted::of(&params);
    let id = params.get("id");
    let (Some(block), Some(span), Some(target_url)) = (wanted.block, wanted.span, wanted.target.clone()) else {
        return Ok(StatusCode::BAD_REQUEST.into_response());
    };
    let revision = Revision { place: Place::At { block, span }, target_url, section: wanted.section.clone() };
    let checked = app.review.check_revision(id, &revision).await;
    let words = checked.as_ref().map(|checked| checked.opportunity.anchor.clone()).unwrap_or_default();
    let answer = answer(checked)?;
    let verdict = Verdict { good: answer.good, sentence: answer.sentence, warnings: answer.warnings, words };
    let json = serde_json::to_string(&verdict).unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// `POST /revise`.
pub(crate) async fn save(Known(app): Known<App>, headers: HeaderMap, Posted(form): Posted) -> Result<Response, Fault> {
    let (filter, id): (Filter, String) = (form.filter(), form.get("id").to_owned());
    let wanted = Wanted::of(&form);
    let desk = app.review.desk(&id, wanted.target.as_deref()).await?;
    let next = next_of(&app, &filter, &id).await?;
    let seen = form.number("seen").unwrap_or(-1);
    match app.review.revise(&id, &wanted.revision(&desk), seen, &frame::reviewer(&app, &headers)).await {
        Ok(_) => Ok(to(&address::with("/queue", &filter, &[("id", next.as_deref().unwrap_or_default()), ("done", &id)]))),
        Err(error @ (ReviewError::Conflict { .. } | ReviewError::Refused(_))) => {
            page(&app, &headers, &form, Some(frame::refusal(&error))).await
        }
        Err(error) => Err(error.into()),
    }
}
