//! The approval queue as web pages: requests to calls of `engine::review`, answers to HTML.
//!
//! Everything works with links and forms alone. The script only sends the same forms and follows the same links
//! without loading the whole page, and lends them keys.

mod address;
mod assets;
mod frame;
mod guard;
mod markup;
mod picture;
mod queue;
mod revise;
mod stories;
#[cfg(test)]
mod tests;

use crate::output::console::Console;
use anyhow::{Context, Result, bail};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::response::Redirect;
use axum::routing::{get, post};
use guard::Guard;
use linkwright_engine::review::Review;
use std::io::IsTerminal;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Where the server listens when nobody says otherwise.
const PORT: u16 = 4180;
/// Longest form that is read: a note or a reason, never a page.
const LARGEST_FORM: usize = 64 * 1024;
/// Shortest token that is taken: a short one can be guessed.
const SHORTEST_TOKEN: usize = 12;

/// What `linkwright review` was asked for.
pub(crate) struct Options {
    /// Project folder.
    pub(crate) project: PathBuf,
    /// Address to listen on.
    pub(crate) bind: IpAddr,
    /// Port; any free one when the usual is taken.
    pub(crate) port: Option<u16>,
    /// Token that browsers must bring.
    pub(crate) token: Option<String>,
    /// Name of decisions until a reviewer gives another.
    pub(crate) reviewer: String,
    /// Whether to open a browser.
    pub(crate) open: bool,
}

/// What every handler knows.
#[derive(Clone)]
pub(crate) struct App {
    review: Review,
    guard: Arc<Guard>,
    reviewer: Arc<str>,
}

/// Serves the queue of a project until Ctrl-C.
///
/// # Errors
/// When there is no plan, or the address cannot be had.
pub(crate) fn serve(options: Options, console: Console) -> Result<()> {
    if options.token.as_ref().is_some_and(|token| token.len() < SHORTEST_TOKEN) {
        bail!("the token is too short: give one of at least {SHORTEST_TOKEN} characters, or none to have one made");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().context("cannot start")?;
    runtime.block_on(async {
        let review = Review::open(&options.project).await?;
        let listener = listen(options.bind, options.port).await?;
        let address = listener.local_addr().context("cannot listen")?;
        let token = match options.token {
            None if !options.bind.is_loopback() => Some(guard::random()?),
            given => given,
        };
        let url = url(address, token.as_deref());
        let guard = Arc::new(Guard::new(address, token)?);
        console.print(&format!("{url}\n"))?;
        console.note("decisions are saved at once; Ctrl-C ends the server");
        if options.open && std::io::stderr().is_terminal() {
            open_browser(&url);
        }
        let app = App { review, guard, reviewer: options.reviewer.into() };
        axum::serve(listener, router(app)).with_graceful_shutdown(stopped()).await.context("the server failed")
    })
}

/// Every address of the server.
fn router(app: App) -> Router {
    Router::new()
        .route("/", get(async || Redirect::to("/queue")))
        .route("/queue", get(queue::show))
        .route("/decide", post(queue::decide).get(async || Redirect::to("/queue")))
        .route("/note", post(queue::note).get(async || Redirect::to("/queue")))
        .route("/name", post(queue::name).get(async || Redirect::to("/queue")))
        .route("/bulk", get(queue::bulk).post(queue::bulk_decide))
        .route("/sides", get(revise::sides))
        .route("/revise", get(revise::show).post(revise::save))
        .route("/check", get(revise::check))
        .route("/gaps", get(stories::gaps))
        .route("/page", get(stories::page))
        .route("/pages", get(stories::pages))
        .route("/orphans", get(stories::orphans))
        .route("/anchors", get(stories::anchors))
        .route("/runs", get(stories::runs))
        .route("/effect", get(stories::effect))
        .route("/graph", get(picture::show))
        .route("/keys", get(stories::keys))
        .route("/assets/{name}", get(assets::file))
        .fallback(frame::not_found)
        .layer(middleware::from_fn_with_state(app.clone(), guard::check))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .with_state(app)
}

async fn listen(bind: IpAddr, port: Option<u16>) -> Result<TcpListener> {
    let at = |port| SocketAddr::new(bind, port);
    match port {
        Some(port) => TcpListener::bind(at(port)).await.with_context(|| format!("cannot listen on {}: give another `--port`", at(port))),
        None => match TcpListener::bind(at(PORT)).await {
            Ok(listener) => Ok(listener),
            Err(_) => TcpListener::bind(at(0)).await.with_context(|| format!("cannot listen on {bind}: give another `--bind`")),
        },
    }
}

/// The address for a browser on this machine.
fn url(address: SocketAddr, token: Option<&str>) -> String {
    let host = match address.ip() {
        ip if ip.is_unspecified() && ip.is_ipv4() => "127.0.0.1".to_owned(),
        IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    let query = token.map(|token| format!("?{}", address::query(&[("token", token)]))).unwrap_or_default();
    format!("http://{host}:{}/{query}", address.port())
}

/// A browser that cannot be started costs nothing: the address stands on the screen.
fn open_browser(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let _ = Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Resolves when the user or the system ends the server.
async fn stopped() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => signal.recv().await,
            Err(_) => std::future::pending().await,
        };
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}
