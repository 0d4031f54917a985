//! Requests to the REST API: where it lives, who asks, and what an answer says.
//!
//! The password goes to the origin that the user set and nowhere else: redirects are not followed.

use super::{Credentials, WordPressError, WordPressSite};
use crate::crawl::{causes, http_client, retry_after, text_of};
use linkwright_core::url::PageUrl;
use reqwest::header;
use reqwest::{Client, Method, Response};
use serde_json::Value;
use std::time::{Duration, SystemTime};
use url::{Host, Url};

/// More than any post with all its metadata.
const MAX_BYTES: usize = 32 << 20;

/// The REST API of a site.
pub(super) struct Rest {
    client: Client,
    root: Url,
    credentials: Credentials,
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} as {:?}", self.root, self.credentials)
    }
}

/// An answer of the API.
pub(super) struct Answer {
    pub(super) status: u16,
    /// `Null` when it is no JSON.
    pub(super) value: Value,
    pub(super) retry_after: Option<Duration>,
    location: Option<String>,
}

impl Answer {
    pub(super) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status) && !self.value.is_null()
    }

    /// Whether the request may have been carried out, or may be when it is sent again.
    pub(super) fn is_uncertain(&self) -> bool {
        matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504 | 520..=529) || ((200..300).contains(&self.status) && self.value.is_null())
    }

    pub(super) fn expect_ok(self, rest: &Rest) -> Result<Value, WordPressError> {
        if self.is_ok() { Ok(self.value) } else { Err(self.error(rest)) }
    }

    pub(super) fn ok_or_login_error(self, rest: &Rest) -> Result<Value, WordPressError> {
        let user = || rest.user().to_owned();
        match (self.status, self.value["code"].as_str()) {
            (401 | 403, Some("rest_not_logged_in")) => Err(WordPressError::NotLoggedIn { user: user() }),
            (401 | 403, Some(_)) => Err(WordPressError::WrongPassword { user: user(), said: self.said() }),
            _ => self.expect_ok(rest),
        }
    }

    pub(super) fn error(&self, rest: &Rest) -> WordPressError {
        if let Some(elsewhere) = self.location.clone().filter(|_| (300..400).contains(&self.status)) {
            return WordPressError::Elsewhere { url: rest.host(), elsewhere };
        }
        if self.value.is_null() && (200..300).contains(&self.status) {
            return rest.no_json();
        }
        WordPressError::Refused { status: self.status, said: self.said() }
    }

    /// WordPress's own words, without markup and short.
    fn said(&self) -> String {
        let text = self.value["message"].as_str().or(self.value["code"].as_str()).unwrap_or("no reason is given");
        let mut tag = false;
        let plain = text.chars().filter(|c| {
            let inside = tag || *c == '<';
            tag = inside && *c != '>';
            !inside && !c.is_control()
        });
        plain.take(200).collect()
    }
}

impl Rest {
    /// Finds the API of a site.
    pub(super) async fn discover(site: &WordPressSite, credentials: Credentials) -> Result<Self, WordPressError> {
        let url = site.url.to_url();
        if url.scheme() != "https" && !is_loopback(&url) {
            return Err(WordPressError::NotEncrypted { url: url.to_string() });
        }
        let client = http_client(&site.url, site.timeout_ms).await.map_err(|reason| WordPressError::Client { reason })?;
        let mut rest = Self { client, root: url.clone(), credentials };
        let mut candidates = rest.declared(&url).await?;
        let mut base = url.clone();
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        candidates.extend(["wp-json/", "?rest_route=/", "index.php?rest_route=/"].iter().filter_map(|path| base.join(path).ok()));
        for candidate in candidates {
            if candidate.origin() != url.origin() {
                return Err(WordPressError::Elsewhere { url: url.to_string(), elsewhere: candidate.to_string() });
            }
            rest.root = candidate;
            let answer = rest.ask(Method::GET, rest.root.clone(), None, false).await?;
            if answer.is_ok() && answer.value["namespaces"].as_array().is_some_and(|names| names.iter().any(|name| name == "wp/v2")) {
                return Ok(rest);
            }
        }
        Err(WordPressError::NoRest { url: url.to_string() })
    }

    /// What the site says of its API in a `Link` header.
    async fn declared(&self, url: &Url) -> Result<Vec<Url>, WordPressError> {
        let response = self.client.get(url.clone()).send().await.map_err(|error| self.no_answer(&error))?;
        if response.status().is_redirection()
            && let Some(elsewhere) = text_of(response.headers(), &header::LOCATION).and_then(|location| url.join(&location).ok())
            && elsewhere.origin() != url.origin()
        {
            return Err(WordPressError::Elsewhere { url: url.to_string(), elsewhere: elsewhere.to_string() });
        }
        let links = text_of(response.headers(), &header::LINK).unwrap_or_default();
        let api = links.split(',').find(|link| link.contains("https://api.w.org/"));
        let address = api.and_then(|link| link.split('<').nth(1)?.split('>').next());
        Ok(address.and_then(|address| url.join(address).ok()).into_iter().collect())
    }

    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Answer, WordPressError> {
        self.send(Method::GET, path, query, None).await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, WordPressError> {
        self.ask(method, self.address(path, query), body, true).await
    }

    /// The address of a route. Where permalinks are plain, the route is itself a parameter.
    fn address(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.root.clone();
        let route = url.query_pairs().find(|(name, _)| name == "rest_route").map(|(_, route)| route.into_owned());
        match route {
            Some(route) => {
                let route = format!("{}/{path}", route.trim_end_matches('/'));
                url.query_pairs_mut().clear().append_pair("rest_route", &route);
            }
            None => url.set_path(&format!("{}/{path}", self.root.path().trim_end_matches('/'))),
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    async fn ask(&self, method: Method, url: Url, body: Option<&Value>, with_password: bool) -> Result<Answer, WordPressError> {
        let mut request = self.client.request(method, url).header(header::ACCEPT, "application/json");
        if with_password {
            request = request.basic_auth(&self.credentials.user, Some(&self.credentials.password));
        }
        if let Some(body) = body {
            request = request.header(header::CONTENT_TYPE, "application/json; charset=utf-8").body(body.to_string());
        }
        let response = request.send().await.map_err(|error| self.no_answer(&error))?;
        self.read(response).await
    }

    async fn read(&self, mut response: Response) -> Result<Answer, WordPressError> {
        let retry_after = text_of(response.headers(), &header::RETRY_AFTER).and_then(|value| retry_after(&value, SystemTime::now()));
        let location = text_of(response.headers(), &header::LOCATION);
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.no_answer(&error))? {
            if body.len() + chunk.len() > MAX_BYTES {
                return Err(self.no_json());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status, value: serde_json::from_slice(&body).unwrap_or_default(), retry_after, location })
    }

    pub(super) fn user(&self) -> &str {
        &self.credentials.user
    }

    pub(super) fn no_json(&self) -> WordPressError {
        WordPressError::NoJson { host: self.host() }
    }

    fn host(&self) -> String {
        PageUrl::parse(self.root.as_str()).map(|url| url.host()).unwrap_or_default()
    }

    fn no_answer(&self, error: &reqwest::Error) -> WordPressError {
        let reason = if error.is_timeout() { "no answer in time".to_owned() } else { causes(error) };
        WordPressError::NoAnswer { host: self.host(), reason }
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
