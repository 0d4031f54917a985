//! From a URL to one answer: politely asked for, again where that helps, with a bounded body.
//!
//! Redirects are not followed here. HEAD is never used: servers refuse it. Bodies are counted after
//! decompression while they stream in, so that a small answer that unpacks to gigabytes costs no
//! more than the limit.

use super::address::{AddressPolicy, FilteringResolver, PrivateAddress, UnknownHost};
use super::polite::{Polite, retry_after};
use super::settings::CrawlSettings;
use crate::sniff;
use linkwright_core::page::FetchHeaders;
use linkwright_core::url::PageUrl;
use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{Client, Response};
use std::error::Error;
use std::sync::{Arc, Once};
use std::time::{Duration, SystemTime};
use url::{Position, Url};

static CRYPTOGRAPHY: Once = Once::new();

/// What came back for one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: FetchHeaders,
    pub(crate) location: Option<String>,
    pub(crate) body: Vec<u8>,
    /// The body is larger than the limit and was cut there.
    pub(crate) too_large: bool,
    /// The content type ruled a page out, and the body was not read.
    pub(crate) skipped: bool,
}

/// Why nothing came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    TimedOut,
    PrivateAddress(String),
    UnknownHost(String),
    Unreachable(String),
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    /// `ETag` and `Last-Modified` of the copy that is there.
    pub(crate) known: Option<FetchHeaders>,
    /// Body limit.
    pub(crate) max_bytes: usize,
    /// Whether the body is wanted whatever its type.
    pub(crate) any_type: bool,
    /// Whether one attempt must do.
    pub(crate) once: bool,
}

/// The HTTP client of a crawl with its manners.
pub(crate) struct Fetcher {
    client: Client,
    pub(crate) polite: Polite,
    policy: AddressPolicy,
    retries: u32,
}

impl Fetcher {
    /// A client for a crawl.
    ///
    /// # Errors
    /// A sentence when the user agent or the proxy is not usable.
    pub(crate) fn new(settings: &CrawlSettings, policy: AddressPolicy) -> Result<Self, String> {
        Ok(Self { client: client(settings, policy)?, polite: Polite::new(settings), policy, retries: settings.retries })
    }

    /// Whether the address policy allows a URL as it is written.
    pub(crate) fn check(&self, url: &Url) -> Result<(), PrivateAddress> {
        self.policy.check_literal(url)
    }

    /// Asks until there is an answer that is worth having, or the attempts are used up.
    pub(crate) async fn get(&self, url: &Url, ask: &Ask) -> Result<Answer, Failure> {
        self.check(url).map_err(|e| Failure::PrivateAddress(e.to_string()))?;
        let host = &url[Position::BeforeHost..Position::AfterPort];
        let retries = if ask.once { 0 } else { self.retries };
        let mut attempt = 0;
        loop {
            let turn = self.polite.turn(host).await;
            let result = self.attempt(url, ask).await;
            let (again, pause) = match &result {
                Ok((answer, pause)) => (matches!(answer.status, 429 | 502 | 503 | 504), *pause),
                Err(failure) => (matches!(failure, Failure::TimedOut | Failure::Unreachable(_)), None),
            };
            if !again {
                turn.fine();
                return result.map(|(answer, _)| answer);
            }
            self.polite.trouble(&turn, pause);
            attempt += 1;
            if attempt > retries {
                return result.map(|(answer, _)| answer);
            }
        }
    }

    async fn attempt(&self, url: &Url, ask: &Ask) -> Result<(Answer, Option<Duration>), Failure> {
        let mut request = self.client.get(url.clone());
        let known = ask.known.iter();
        for (name, value) in known.flat_map(|k| [(header::IF_NONE_MATCH, &k.etag), (header::IF_MODIFIED_SINCE, &k.last_modified)]) {
            if let Some(value) = value {
                request = request.header(name, value.as_str());
            }
        }
        let response = request.send().await.map_err(|e| failure(&e))?;
        let pause = text_of(response.headers(), &header::RETRY_AFTER).and_then(|v| retry_after(&v, SystemTime::now()));
        Ok((read(response, ask).await?, pause))
    }
}

/// A client for one site, without redirects, that connects inward only where the site itself is private.
///
/// # Errors
/// A sentence when it cannot be made.
pub(crate) async fn http_client(site: &PageUrl, timeout_ms: u64) -> Result<Client, String> {
    let policy = AddressPolicy::for_start(&site.to_url()).await;
    client(&CrawlSettings { timeout_ms, ..CrawlSettings::default() }, policy)
}

fn client(settings: &CrawlSettings, policy: AddressPolicy) -> Result<Client, String> {
    CRYPTOGRAPHY.call_once(|| {
        // An error means that a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let build = |certificates: bool| -> Result<Client, String> {
        let mut builder = Client::builder()
            .user_agent(&settings.user_agent)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_millis(settings.timeout_ms))
            .connect_timeout(Duration::from_millis(settings.connect_timeout_ms))
            .default_headers(default_headers())
            .no_proxy();
        let mut proxy_host = None;
        if let Some(proxy) = &settings.proxy {
            proxy_host = Url::parse(proxy).ok().and_then(|u| u.host_str().map(str::to_owned));
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(|e| format!("`{proxy}` is not a proxy address: {}", causes(&e)))?);
        }
        if !certificates {
            builder = builder.tls_certs_only([]);
        }
        let resolver = FilteringResolver { policy, proxy_host };
        builder.dns_resolver(Arc::new(resolver)).build().map_err(|e| causes(&e))
    };
    // A system without root certificates can still read sites over plain HTTP; over HTTPS each
    // request then fails with a reason of its own.
    build(true).or_else(|_| build(false))
}

fn default_headers() -> HeaderMap {
    let accept = header::HeaderValue::from_static("text/html,application/xhtml+xml;q=0.9,application/xml;q=0.8,*/*;q=0.5");
    HeaderMap::from_iter([(header::ACCEPT, accept)])
}

async fn read(mut response: Response, ask: &Ask) -> Result<Answer, Failure> {
    let headers = response.headers();
    let mut answer = Answer {
        status: response.status().as_u16(),
        location: text_of(headers, &header::LOCATION),
        headers: FetchHeaders {
            content_type: text_of(headers, &header::CONTENT_TYPE),
            content_language: text_of(headers, &header::CONTENT_LANGUAGE),
            x_robots_tag: text_of(headers, &HeaderName::from_static("x-robots-tag")),
            link: text_of(headers, &header::LINK),
            etag: text_of(headers, &header::ETAG),
            last_modified: text_of(headers, &header::LAST_MODIFIED),
            ..FetchHeaders::default()
        },
        ..Answer::default()
    };
    if !(200..300).contains(&answer.status) {
        return Ok(answer);
    }
    if !ask.any_type && sniff::is_foreign_type(answer.headers.content_type.as_deref()) {
        answer.skipped = true;
        return Ok(answer);
    }
    while let Some(chunk) = response.chunk().await.map_err(|e| failure(&e))? {
        let room = ask.max_bytes - answer.body.len();
        answer.body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            answer.too_large = true;
            break;
        }
        if !ask.any_type
            && answer.body.len() > 512
            && sniff::kind(answer.headers.content_type.as_deref(), &answer.body) == sniff::Kind::Binary
        {
            answer.skipped = true;
            break;
        }
    }
    Ok(answer)
}

/// All values of a header, joined with `, `.
pub(crate) fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<String> = headers.get_all(name).iter().map(|v| String::from_utf8_lossy(v.as_bytes()).trim().to_owned()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn failure(error: &reqwest::Error) -> Failure {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(private) = inner.downcast_ref::<PrivateAddress>() {
            return Failure::PrivateAddress(private.to_string());
        }
        if let Some(unknown) = inner.downcast_ref::<UnknownHost>() {
            return Failure::UnknownHost(unknown.to_string());
        }
        cause = inner.source();
    }
    if error.is_timeout() { Failure::TimedOut } else { Failure::Unreachable(causes(error)) }
}

/// The innermost cause of an error, which is the one that tells people something.
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no answer in time"),
            Self::PrivateAddress(text) | Self::UnknownHost(text) | Self::Unreachable(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_be_built_with_and_without_public_addresses() {
        let settings = CrawlSettings::default();
        assert!(client(&settings, AddressPolicy::Any).is_ok());
        assert!(client(&settings, AddressPolicy::PublicOnly).is_ok());
        let bad = CrawlSettings { user_agent: "a\nb".to_owned(), ..CrawlSettings::default() };
        assert!(client(&bad, AddressPolicy::Any).is_err());
    }

    #[tokio::test]
    async fn a_public_crawl_never_connects_inward() {
        let settings = CrawlSettings { interval_ms: 0, retries: 0, ..CrawlSettings::default() };
        let fetcher = Fetcher::new(&settings, AddressPolicy::PublicOnly).unwrap();
        for url in ["http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/"] {
            let result = fetcher.get(&Url::parse(url).unwrap(), &Ask::default()).await;
            assert!(matches!(result, Err(Failure::PrivateAddress(_))), "{url}: {result:?}");
        }
    }
}
