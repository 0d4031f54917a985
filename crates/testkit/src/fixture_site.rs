//! From declared answers to a web server on a free port of 127.0.0.1.
//!
//! Every request is counted and kept, so that a test can say what was asked for, how often, with
//! which headers, and how many requests were in flight at one time. The server runs on a thread of
//! its own and ends when it is dropped: it serves synchronous and asynchronous tests alike.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Stands for the server's own `http://127.0.0.1:PORT` in bodies and header values.
pub const ORIGIN: &str = "{origin}";

/// One answer of the server.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    delay: Duration,
}

impl Answer {
    /// An answer with this status, no headers and no body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), delay: Duration::ZERO }
    }

    /// 200 with bytes of a content type.
    #[must_use]
    pub fn bytes(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..Self::status(200) }.header("content-type", content_type)
    }

    /// 200 with UTF-8 HTML. `{origin}` in it becomes the server's origin.
    #[must_use]
    pub fn html(body: &str) -> Self {
        Self::bytes("text/html; charset=utf-8", body)
    }

    /// 200 with a short page that has a title and links to `targets`.
    #[must_use]
    pub fn page(title: &str, targets: &[&str]) -> Self {
        let links: String = targets.iter().map(|t| format!("<p>See <a href=\"{t}\">this page</a> too.</p>")).collect();
        Self::html(&format!("<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1>{links}</main></html>"))
    }

    /// 200 with plain text.
    #[must_use]
    pub fn text(body: &str) -> Self {
        Self::bytes("text/plain; charset=utf-8", body)
    }

    /// 200 with a sitemap of these addresses.
    #[must_use]
    pub fn sitemap(locations: &[&str]) -> Self {
        Self::bytes("application/xml", listing("urlset", "url", locations))
    }

    /// 200 with a sitemap index of these sitemaps.
    #[must_use]
    pub fn sitemap_index(locations: &[&str]) -> Self {
        Self::bytes("application/xml", listing("sitemapindex", "sitemap", locations))
    }

    /// A redirect.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).header("location", location)
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same, given only after a while.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn into_response(self, origin: &str) -> Response {
        let body = match String::from_utf8(self.body) {
            Ok(text) => text.replace(ORIGIN, origin).into_bytes(),
            Err(bytes) => bytes.into_bytes(),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.headers {
            let value = value.replace(ORIGIN, origin);
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}

fn listing(root: &str, item: &str, locations: &[&str]) -> String {
    let items: String = locations.iter().map(|l| format!("<{item}><loc>{}</loc></{item}>\n", l.replace('&', "&amp;"))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{items}</{root}>\n"
    )
}

/// A request that the server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Headers by lower-case name.
    pub headers: BTreeMap<String, String>,
}

/// Chooses the answer to the nth request of a path, counted from 0.
type Choose = Box<dyn Fn(usize, &Seen) -> Answer + Send + Sync>;

/// A site that is being declared.
#[derive(Default)]
pub struct FixtureSite {
    routes: BTreeMap<String, Choose>,
    folder: Option<PathBuf>,
}

impl FixtureSite {
    /// A site that answers 404 to everything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Always the same answer at a path (with its query, if any).
    #[must_use]
    pub fn at(self, path: &str, answer: Answer) -> Self {
        self.choose(path, move |_, _| answer.clone())
    }

    /// One answer after the other; the last is repeated.
    ///
    /// # Panics
    /// Without any answer.
    #[must_use]
    pub fn in_turn(self, path: &str, answers: Vec<Answer>) -> Self {
        assert!(!answers.is_empty(), "a path needs at least one answer");
        self.choose(path, move |count, _| answers[count.min(answers.len() - 1)].clone())
    }

    /// An answer that depends on the number of requests before and on the request.
    #[must_use]
    pub fn choose(mut self, path: &str, choose: impl Fn(usize, &Seen) -> Answer + Send + Sync + 'static) -> Self {
        self.routes.insert(path.to_owned(), Box::new(choose));
        self
    }

    /// Files of a folder at the paths that are not declared; `index.html` answers for a directory.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Starts the server.
    ///
    /// # Panics
    /// When no port is free or no thread can be started.
    #[must_use]
    pub fn start(self) -> RunningSite {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback");
        listener.set_nonblocking(true).expect("a listener can be non-blocking");
        let address = listener.local_addr().expect("a bound listener has an address");
        let served = Arc::new(Served { site: self, origin: format!("http://{address}"), log: Mutex::default() });
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&served);
        let thread = std::thread::spawn(move || serve(listener, shared, stopped));
        RunningSite { address, served, stop: Some(stop), thread: Some(thread) }
    }
}

struct Served {
    site: FixtureSite,
    origin: String,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    seen: Vec<Seen>,
    in_flight: usize,
    most_in_flight: usize,
}

impl Served {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(listener: std::net::TcpListener, served: Arc<Served>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime for the fixture site");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a non-blocking listener");
        let router = Router::new().fallback(answer).with_state(served);
        tokio::select! {
            _ = async { axum::serve(listener, router).await } => {}
            _ = stopped => {}
        }
    });
}

async fn answer(State(served): State<Arc<Served>>, request: Request) -> Response {
    let seen = Seen {
        method: request.method().to_string(),
        target: request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        headers: request
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
    };
    let count = {
        let mut log = served.log();
        log.in_flight += 1;
        log.most_in_flight = log.most_in_flight.max(log.in_flight);
        let count = log.seen.iter().filter(|s| s.target == seen.target).count();
        log.seen.push(seen.clone());
        count
    };
    let answer = match served.site.routes.get(&seen.target) {
        Some(choose) => choose(count, &seen),
        None => file_answer(served.site.folder.as_deref(), request.uri().path()),
    };
    tokio::time::sleep(answer.delay).await;
    served.log().in_flight -= 1;
    answer.into_response(&served.origin)
}

fn file_answer(folder: Option<&Path>, path: &str) -> Answer {
    let relative = path.trim_start_matches('/');
    let Some(folder) = folder.filter(|_| !relative.split('/').any(|part| part == "..")) else { return Answer::status(404) };
    let file = folder.join(relative);
    if file.is_dir() && !path.ends_with('/') {
        return Answer::redirect(301, &format!("{path}/"));
    }
    let file = if file.is_dir() { file.join("index.html") } else { file };
    let content_type = match file.extension().and_then(|e| e.to_str()) {
        Some("html" | "htm") => "text/html; charset=utf-8",
        Some("xml") => "application/xml",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    };
    std::fs::read(file).map_or_else(|_| Answer::status(404), |body| Answer::bytes(content_type, body))
}

/// A site that is being served, until it is dropped.
pub struct RunningSite {
    address: SocketAddr,
    served: Arc<Served>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl RunningSite {
    /// The address of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The port that is served.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How often a path (with its query, if any) was asked for.
    #[must_use]
    pub fn hits(&self, path: &str) -> usize {
        self.served.log().seen.iter().filter(|s| s.target == path).count()
    }

    /// Every request so far, in the order they came.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.served.log().seen.clone()
    }

    /// The greatest number of requests that were being answered at one time.
    #[must_use]
    pub fn most_in_flight(&self) -> usize {
        self.served.log().most_in_flight
    }

    /// Forgets all requests so far.
    pub fn forget(&self) {
        let mut log = self.served.log();
        log.seen.clear();
        log.most_in_flight = log.in_flight;
    }
}

impl Drop for RunningSite {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    fn get(site: &RunningSite, path: &str) -> String {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", site.port())).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn answers_come_as_declared_and_are_counted() {
        let site = FixtureSite::new()
            .at("/a?x=1", Answer::html("<a href={origin}/b>").header("x-robots-tag", "noindex"))
            .in_turn("/b", vec![Answer::status(503), Answer::text("ok")])
            .start();
        let a = get(&site, "/a?x=1");
        assert!(a.starts_with("HTTP/1.1 200") && a.contains("x-robots-tag: noindex"), "{a}");
        assert!(a.ends_with(&format!("<a href={}>", site.url("/b"))), "{a}");
        assert!(get(&site, "/b").starts_with("HTTP/1.1 503"));
        assert!(get(&site, "/b").ends_with("ok"));
        assert!(get(&site, "/none").starts_with("HTTP/1.1 404"));
        assert_eq!((site.hits("/b"), site.hits("/a"), site.seen().len(), site.most_in_flight()), (2, 0, 4, 1));
    }

    #[test]
    fn a_folder_is_served_without_leaving_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/index.html"), "home").unwrap();
        let site = FixtureSite::new().folder(folder.path()).start();
        assert!(get(&site, "/a/").ends_with("home"));
        assert!(get(&site, "/a").contains("location: /a/"));
        assert!(get(&site, "/../../etc/passwd").starts_with("HTTP/1.1 404"));
    }
}
