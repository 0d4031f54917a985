//! A real WordPress with a real database on loopback: `scripts/wordpress.py` installs and starts it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop right there")]

use linkwright_core::url::PageUrl;
use linkwright_site::wordpress::{Credentials, Location, Source, WordPress, WordPressError, WordPressSite};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A running WordPress; ends with its value.
struct Server {
    folder: TempDir,
    answer: Value,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/wordpress.py")
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new("python3").arg(script()).arg("start").arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "no WordPress: {}", String::from_utf8_lossy(&output.stderr));
        Self { answer: serde_json::from_slice(&output.stdout).unwrap(), folder }
    }

    fn url(&self, path: &str) -> PageUrl {
        PageUrl::parse(&format!("{}{path}", self.answer["url"].as_str().unwrap())).unwrap()
    }

    fn password(&self, who: &str) -> &str {
        self.answer[who]["password"].as_str().unwrap()
    }

    async fn connect(&self, user: &str, password: &str) -> Result<WordPress, WordPressError> {
        let site = WordPressSite { url: self.url(""), types: Vec::new(), timeout_ms: 30_000 };
        WordPress::connect(&site, Credentials::new(user, password).unwrap()).await
    }

    /// Adds an item to a list, as an administrator.
    async fn post(&self, list: &str, body: &'static str) {
        let url = self.url(&format!("wp-json/wp/v2/{list}")).to_url();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request =
            client.post(url).basic_auth("admin", Some(self.password("admin"))).header("content-type", "application/json").body(body);
        assert!(request.send().await.unwrap().status().is_success());
    }

    /// How many items a list has, as an administrator sees it.
    async fn count(&self, list: &str) -> usize {
        let url = self.url(&format!("wp-json/wp/v2/{list}")).to_url();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(url).basic_auth("admin", Some(self.password("admin"))).send().await.unwrap();
        serde_json::from_slice::<Value>(&answer.bytes().await.unwrap()).unwrap().as_array().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("python3").arg(script()).arg("stop").arg(self.folder.path()).status();
    }
}

async fn page(site: &WordPress, server: &Server, path: &str) -> Source {
    let location = site.find(&server.url(path)).await.unwrap_or_else(|error| panic!("{path}: {error}"));
    site.read(&location).await.unwrap()
}

#[tokio::test]
async fn pages_of_a_real_wordpress_are_found_read_written_and_refused() {
    let server = Server::start();
    let site = server.connect("admin", server.password("admin")).await.unwrap();

    // What a process left that was killed in a round trip goes with the next one; other drafts stay.
    server.post("posts", r#"{"title":"linkwright: round trip, can be deleted","status":"draft","content":"x"}"#).await;
    assert_eq!(server.count("posts?status=draft").await, 2);

    // Every kind of page is found by its public address, and keeps what is written byte for byte.
    for (path, kind) in [
        ("spoilt-blocks/", "posts"),
        ("spoilt-classic/", "posts"),
        ("about-us/", "pages"),
        ("recipe/poolish-recipe/", "recipes"),
        ("author-frame/", "posts"),
        ("rye-bread/", "posts"),
    ] {
        let source = page(&site, &server, path).await;
        assert_eq!((source.location.rest_base.as_str(), source.builder), (kind, None), "{path}");
        site.round_trip(&source.location, &source.raw).await.unwrap_or_else(|error| panic!("{path}: {error}"));
        let revisions = format!("{}/revisions", source.location);
        let before = server.count(&revisions).await;
        let new = source.raw.replacen(' ', " <a href=\"/x/?a=1&amp;b=2\">", 1).replacen(". ", "</a>. ", 1);
        assert_ne!(new, source.raw);
        site.write(&source.location, &source.raw, &new).await.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(page(&site, &server, path).await.raw, new, "{path}");
        assert!(server.count(&revisions).await > before, "no revision of {path}");
        assert_eq!(site.write(&source.location, &source.raw, "lost").await.unwrap_err().code(), "changed_meanwhile");
        site.write(&source.location, &new, &source.raw).await.unwrap();
    }
    let by_number = format!("?p={}", server.answer["posts"]["rye-bread"]);
    // WordPress sends readers of the number on to the name; the address of a page is its own.
    assert!(site.find(&server.url(&by_number)).await.is_err());

    // Pages that must not be written.
    for path in ["built-elementor/", "built-divi/"] {
        let source = page(&site, &server, path).await;
        assert!(source.builder.is_some(), "{path}");
        assert_eq!(site.write(&source.location, &source.raw, "x").await.unwrap_err().code(), "kept_by_builder");
    }
    let secret = site.find(&server.url("secret-bread/")).await.unwrap();
    assert_eq!(site.read(&secret).await.unwrap_err().code(), "password_protected");
    let draft = Location { rest_base: "posts".to_owned(), id: server.answer["posts"]["unbaked"].as_u64().unwrap() };
    assert_eq!(site.read(&draft).await.unwrap_err().code(), "not_published");
    assert_eq!(site.find(&server.url("no/such/page/")).await.unwrap_err().code(), "not_found");

    // Logins.
    // This WordPress does not tell a login that is wrong from one that did not arrive.
    assert_eq!(server.connect("admin", "wrong wrong").await.unwrap_err().code(), "not_logged_in");
    assert_eq!(server.connect("nobody", "wrong wrong").await.unwrap_err().code(), "not_logged_in");

    // An author may not write frames and scripts: the round trip finds out and leaves the page alone.
    let author = server.connect("author", server.password("author")).await.unwrap();
    let frame = page(&author, &server, "author-frame/").await;
    let refused = author.round_trip(&frame.location, &frame.raw).await.unwrap_err();
    assert_eq!(refused.code(), "not_kept");
    assert_eq!(page(&author, &server, "author-frame/").await.raw, frame.raw);
    let plain = page(&author, &server, "author-plain/").await;
    author.round_trip(&plain.location, &plain.raw).await.unwrap();
    let other = site.find(&server.url("rye-bread/")).await.unwrap();
    assert_eq!(author.read(&other).await.unwrap_err().code(), "may_not_edit_page");

    // No draft of any round trip is left.
    assert_eq!(server.count("posts?status=draft").await, 1);
    assert_eq!(server.count("pages?status=draft").await + server.count("recipes?status=draft").await, 0);
}
