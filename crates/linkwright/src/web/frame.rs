//! What all pages have in common: head, navigation, name of the reviewer, and how errors look.

use super::App;
use super::{assets, guard};
use askama::Template;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use linkwright_engine::EngineError;
use linkwright_engine::review::{ReviewError, State};

/// Head and navigation of a page.
pub(crate) struct Frame {
    /// Title of the page.
    pub(crate) title: String,
    /// Path of the entry of the navigation that it belongs to.
    pub(crate) current: &'static str,
    /// The site, short.
    pub(crate) site: String,
    /// Address the site's pages lie under.
    pub(crate) base: String,
    /// `probability` or `similarity`.
    pub(crate) score_word: String,
    /// Who decides.
    pub(crate) reviewer: String,
    /// Whether the reviewer has said so.
    pub(crate) named: bool,
    /// Secret of forms.
    pub(crate) csrf: String,
    /// Address of this page, for the browser's history.
    pub(crate) address: String,
    /// Name of the style.
    pub(crate) style: &'static str,
    /// Name of the script.
    pub(crate) script: &'static str,
}

impl Frame {
    /// The frame of a page.
    ///
    /// # Errors
    /// When the project cannot be read.
    pub(crate) async fn new(app: &App, headers: &HeaderMap, current: &'static str, title: &str, address: String) -> Result<Self, Fault> {
        let run = app.review.run().await?;
        let named = guard::reviewer(headers);
        let base = run.base_url;
        let site = base.split_once("://").map_or(base.as_str(), |(_, rest)| rest).trim_end_matches('/').to_owned();
        Ok(Self {
            title: title.to_owned(),
            current,
            site,
            base,
            score_word: run.score_kind,
            named: named.is_some(),
            reviewer: named.unwrap_or_else(|| app.reviewer.to_string()),
            csrf: app.guard.secret().to_owned(),
            address,
            style: &assets::STYLE_NAME,
            script: &assets::SCRIPT_NAME,
        })
    }
}

/// Entries of the navigation.
pub(crate) const NAVIGATION: &[(&str, &str)] = &[
    ("/queue", "Queue"),
    ("/gaps", "Gaps"),
    ("/orphans", "Orphans"),
    ("/anchors", "Anchors"),
    ("/effect", "Effect"),
    ("/graph", "Graph"),
    ("/runs", "Runs"),
];

/// The name of the reviewer of a request.
pub(crate) fn reviewer(app: &App, headers: &HeaderMap) -> String {
    guard::reviewer(headers).unwrap_or_else(|| app.reviewer.to_string())
}

/// A page as an answer.
pub(crate) fn render(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, [(header::CACHE_CONTROL, "no-store")], Html(html)).into_response(),
        Err(error) => message(StatusCode::INTERNAL_SERVER_ERROR, "The page could not be made", &error.to_string()),
    }
}

#[derive(Template)]
#[template(path = "review/message.html")]
struct Message<'a> {
    style: &'static str,
    title: &'a str,
    hint: &'a str,
}

/// A page that only says something.
pub(crate) fn message(status: StatusCode, title: &str, hint: &str) -> Response {
    let page = Message { style: &assets::STYLE_NAME, title, hint };
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(_) => (status, format!("{title}. {hint}")).into_response(),
    }
}

/// Anything that is not there.
pub(crate) async fn not_found() -> Response {
    message(StatusCode::NOT_FOUND, "There is no such page", "Go back to the queue.")
}

/// An error as an answer.
pub(crate) struct Fault(Box<Response>);

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        let hint = error.hint.clone().unwrap_or_default();
        Self(Box::new(message(StatusCode::INTERNAL_SERVER_ERROR, &capital(&error.message), &capital(&hint))))
    }
}

impl From<ReviewError> for Fault {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Engine(error) => error.into(),
            ReviewError::NotFound(reason) => Self(Box::new(message(StatusCode::NOT_FOUND, &capital(&reason), "Go back to the queue."))),
            other => {
                let (status, sentence) = refusal(&other);
                Self(Box::new(message(status, &sentence, "Go back to the queue.")))
            }
        }
    }
}

/// Status and sentence for something that was not decided.
pub(crate) fn refusal(error: &ReviewError) -> (StatusCode, String) {
    match error {
        ReviewError::Conflict { state, reviewer, decided_at } if !reviewer.is_empty() => {
            let sentence = format!(
                "{reviewer} has decided in the meantime ({}): it is {} now. Nothing was overwritten.",
                when(decided_at),
                state_words(*state)
            );
            (StatusCode::CONFLICT, sentence)
        }
        ReviewError::Conflict { state, .. } => {
            (StatusCode::CONFLICT, format!("It has changed in the meantime: it is {} now.", state_words(*state)))
        }
        ReviewError::ListChanged => (StatusCode::CONFLICT, "The list has changed in the meantime. Nothing was decided.".to_owned()),
        ReviewError::Refused(reason) => (StatusCode::UNPROCESSABLE_ENTITY, format!("This cannot be done: {reason}.")),
        ReviewError::NotFound(reason) => (StatusCode::NOT_FOUND, capital(reason)),
        ReviewError::Engine(error) => (StatusCode::INTERNAL_SERVER_ERROR, capital(&error.message)),
    }
}

/// A state for people.
pub(crate) fn state_words(state: State) -> &'static str {
    match state {
        State::Found => "waiting",
        State::Missing => "missing on the live page",
        state => state.name(),
    }
}

/// `2026-12-01T09:30:00Z` as `2026-12-01 09:30 UTC`.
pub(crate) fn when(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(hour)) => format!("{day} {hour} UTC"),
        _ => time.to_owned(),
    }
}

/// A sentence with a capital first letter.
pub(crate) fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
