//! Who may talk to the server, and what browsers may do with its answers.
//!
//! - A server on a loopback address answers only to loopback names, so that no foreign name that was bound to this
//!   machine (DNS rebinding) can read it.
//! - A server with a token answers only to browsers that brought it once.
//! - What changes something must come from a page of this server: by the headers that browsers set, and by a secret
//!   that each of its forms carries.

use super::App;
use super::address::{self, Params};
use super::frame;
use anyhow::{Result, anyhow};
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What requests are checked against.
pub(crate) struct Guard {
    /// Names the server answers to; `None` answers to all.
    hosts: Option<Vec<String>>,
    /// Digest of the token.
    token: Option<[u8; 32]>,
    /// Name of the cookie that stands for the token. Cookies do not tell ports apart.
    cookie: String,
    /// The secret in forms.
    secret: String,
}

impl Guard {
    /// Rules for a server at an address.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub(crate) fn new(address: SocketAddr, token: Option<String>) -> Result<Self> {
        let port = address.port();
        let hosts = address.ip().is_loopback().then(|| {
            let names = ["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned(), address.ip().to_string()];
            names.iter().map(|name| format!("{name}:{port}")).collect()
        });
        let token = token.map(|token| digest(&token));
        Ok(Self { hosts, token, cookie: format!("lw_token_{port}"), secret: random()? })
    }

    /// The secret that every form of this server carries.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let host = text(headers, header::HOST);
        self.hosts.as_ref().is_none_or(|hosts| hosts.iter().any(|known| host.eq_ignore_ascii_case(known)))
    }

    fn is_let_in(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        // The cookie is a digest of the token's digest: it does not tell the token.
        cookie(headers, &self.cookie).is_some_and(|value| same(&value, &hex(&Sha256::digest(token))))
    }

    fn takes(&self, given: &str) -> bool {
        self.token.is_some_and(|token| same(&hex(&digest(given)), &hex(&token)))
    }
}

/// Values are compared by digests, so that the time it takes says nothing about them.
fn same(a: &str, b: &str) -> bool {
    digest(a) == digest(b)
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 32 characters that nobody can guess.
///
/// # Errors
/// When the system gives no randomness.
pub(crate) fn random() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("the system gives no random numbers: {error}"))?;
    Ok(hex(&bytes))
}

fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The value of a cookie.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(other, _)| *other == name).map(|(_, value)| value.to_owned())
}

/// A cookie that scripts cannot read and other sites cannot send.
pub(crate) fn set_cookie(name: &str, value: &str) -> String {
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000")
}

/// Checks a request before anything else does, and marks its answer.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let answer = match refusal(&app.guard, &request) {
        Some(answer) => answer,
        None => next.run(request).await,
    };
    mark(answer)
}

fn refusal(guard: &Guard, request: &Request) -> Option<Response> {
    let headers = request.headers();
    if !guard.knows_host(headers) {
        let hint = "Open the address that `linkwright review` printed.";
        return Some(frame::message(StatusCode::FORBIDDEN, "This server does not answer to that name", hint));
    }
    if !guard.is_let_in(headers) && !request.uri().path().starts_with("/assets/") {
        return Some(let_in(guard, request));
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read && !comes_from_here(headers) {
        let hint = "Open the page again from this server and decide there.";
        return Some(frame::message(StatusCode::FORBIDDEN, "The request comes from another site", hint));
    }
    None
}

/// A browser that brings the token gets a cookie and is sent on without it, so that it does not stay in the address.
fn let_in(guard: &Guard, request: &Request) -> Response {
    let query = Params::parse(request.uri().query().unwrap_or_default().as_bytes());
    let (given, path) = (query.get("token"), request.uri().path());
    if *request.method() != Method::GET || given.is_empty() || !guard.takes(given) {
        let hint = "Open the address with the token that `linkwright review` printed.";
        return frame::message(StatusCode::UNAUTHORIZED, "A token is needed", hint);
    }
    // Only a path of this server: `//host` would name another.
    let onward = if path.starts_with("//") { "/" } else { path };
    let token = guard.token.map(|token| hex(&Sha256::digest(token))).unwrap_or_default();
    ([(header::SET_COOKIE, set_cookie(&guard.cookie, &token))], Redirect::to(onward)).into_response()
}

/// What browsers say of where a request comes from. Where they say nothing, the secret of the form decides alone.
fn comes_from_here(headers: &HeaderMap) -> bool {
    let site = text(headers, HeaderName::from_static("sec-fetch-site"));
    let origin = text(headers, header::ORIGIN);
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let own_origin = origin.is_empty() || host.is_some_and(|host| host.eq_ignore_ascii_case(text(headers, header::HOST)));
    matches!(site, "" | "same-origin") && own_origin
}

fn mark(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

/// A form that carries the secret.
pub(crate) struct Posted(pub(crate) Params);

impl FromRequest<App> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let bytes = Bytes::from_request(request, app).await.map_err(IntoResponse::into_response)?;
        let params = Params::parse(&bytes);
        if same(params.get("csrf"), app.guard.secret()) {
            return Ok(Self(params));
        }
        let hint = "The server was started again, or the form is not from it. Load the page again and repeat what you did.";
        Err(frame::message(StatusCode::FORBIDDEN, "This form is out of date", hint))
    }
}

/// The name that the browser's user gave; `None` when nobody asked yet.
pub(crate) fn reviewer(headers: &HeaderMap) -> Option<String> {
    let value = cookie(headers, "lw_reviewer")?;
    let name = Params::parse(format!("name={value}").as_bytes()).get("name").trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// The cookie that keeps the name.
pub(crate) fn name_cookie(name: &str) -> String {
    let encoded = address::query(&[("name", name)]);
    set_cookie("lw_reviewer", encoded.strip_prefix("name=").unwrap_or_default())
}
