//! The server without a network: requests in, answers out.

use super::*;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use linkwright_engine::review::{Filter, Show, State, Verdict};
use linkwright_engine::{PlanRequest, Silent, plan};
use std::path::Path;
use tempfile::TempDir;
use tower::ServiceExt;

const HOST: &str = "127.0.0.1:4180";
const ATTACK: &str = "\"><script>window.pwned=1</script><img src=x onerror=alert(1)>'";

/// A copy of the example site with an attack in the text of every page and in every second title.
fn write_site(folder: &Path) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
    let escaped = ATTACK.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let mut folders = vec![example.clone()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let to = folder.join(path.strip_prefix(&example).unwrap());
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                let mut text = std::fs::read_to_string(&path).unwrap();
                for end in ["</p>", "</h2>"] {
                    text = text.replace(end, &format!(" {escaped} <a href=\"javascript:window.pwned=1\">{escaped}</a>{end}"));
                }
                if text.len().is_multiple_of(2) {
                    text = text.replace("</title>", &format!(" {escaped}</title>"));
                }
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                std::fs::write(to, text).unwrap();
            }
        }
    }
}

struct Server {
    folder: TempDir,
    app: App,
}

impl Server {
    async fn new() -> Self {
        Self::with(SocketAddr::from(([127, 0, 0, 1], 4180)), None).await
    }

    async fn with(address: SocketAddr, token: Option<&str>) -> Self {
        let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
        Self::of(tempfile::tempdir().unwrap(), &site, address, token).await
    }

    async fn hostile() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site");
        write_site(&site);
        Self::of(folder, &site, SocketAddr::from(([127, 0, 0, 1], 4180)), None).await
    }

    async fn of(folder: TempDir, site: &Path, address: SocketAddr, token: Option<&str>) -> Self {
        let request = PlanRequest {
            site: site.display().to_string(),
            project: folder.path().join("project"),
            base_url: Some("https://bread.example/".to_owned()),
            ..PlanRequest::default()
        };
        tokio::task::spawn_blocking(move || plan(&request, &Silent).unwrap()).await.unwrap();
        let review = Review::open(&folder.path().join("project")).await.unwrap();
        let guard = Arc::new(Guard::new(address, token.map(str::to_owned)).unwrap());
        Self { folder, app: App { review, guard, reviewer: "Anna".into() } }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let answer = router(self.app.clone()).oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).header("host", HOST).body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        let csrf = self.app.guard.secret().to_owned();
        let mut all = vec![("csrf", csrf.as_str())];
        all.extend(pairs);
        self.post_raw(path, &address::query(&all), &[]).await
    }

    async fn post_raw(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::post(path).header("host", HOST).header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    async fn first(&self) -> (String, String) {
        let queue = self.app.review.queue(&Filter::default()).await.unwrap();
        let item = queue.items.first().expect("the site has opportunities");
        (item.opportunity.id.clone(), item.revision.to_string())
    }

    async fn ready(&self) {
        for _ in 0..400 {
            if self.app.review.is_ready() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("the site was never read");
    }
}

#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_alone_take_a_reviewer_through_the_queue() {
    let server = Server::new().await;
    let (id, seen) = server.first().await;
    let page = server.get("/queue").await;
    assert!(page.body.contains(&format!("value=\"{id}\"")), "the first is at hand");
    let answer = server.post("/decide", &[("id", &id), ("seen", &seen), ("verdict", "accept")]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let onward = answer.header(header::LOCATION).to_owned();
    assert!(onward.contains(&format!("done={id}")), "{onward}");
    let page = server.get(&onward).await;
    assert!(page.body.contains("Accepted: “") && page.body.contains("<b>1</b> accepted"));
    let stored = server.app.review.find(&id).await.unwrap();
    assert_eq!(stored.state, State::Accepted);
    let seen = stored.revision.to_string();
    server.post("/decide", &[("id", &id), ("seen", &seen), ("verdict", "withdraw")]).await;
    let seen = server.app.review.find(&id).await.unwrap().revision.to_string();
    let answer = server
        .post("/decide", &[("id", &id), ("seen", &seen), ("verdict", "reject"), ("reason", "wrong words"), ("words", "too <b>vague</b>")])
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    server.post("/note", &[("id", &id), ("text", "ask <i>Ben</i>")]).await;
    let page = server.get(&format!("/queue?show=rejected&id={id}")).await;
    assert!(
        page.body.contains("wrong words: too &#60;b&#62;vague&#60;/b&#62;") && page.body.contains("ask &#60;i&#62;Ben&#60;/i&#62;"),
        "{}",
        page.body
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_works_with_forms_alone() {
    let server = Server::new().await;
    let queue = server.app.review.queue(&Filter { section: "/blog".to_owned(), ..Filter::default() }).await.unwrap();
    let item = queue.items.iter().find(|item| item.opportunity.anchor.contains(' ')).unwrap();
    let (id, seen) = (item.opportunity.id.as_str(), item.revision.to_string());
    let target = item.opportunity.target_url.as_str();
    let words = item.opportunity.anchor.rsplit(' ').next().unwrap();
    let page = server.get(&format!("/revise?{}", address::query(&[("id", id), ("to", target), ("words", words)]))).await;
    assert!(page.body.contains("The link can be written") && page.body.contains(words), "{}", page.body);
    let refused = server.get(&format!("/revise?{}", address::query(&[("id", id), ("to", target), ("words", "no such words")]))).await;
    assert!(refused.body.contains("The link cannot be written: these words do not stand in the page."));
    let found = server.get(&format!("/revise?{}", address::query(&[("id", id), ("find", "starter")]))).await;
    assert!(found.body.contains("name=\"to\" value=\"https://bread.example/blog/"), "{}", found.body);
    let saved = server.post("/revise", &[("id", id), ("seen", &seen), ("to", target), ("words", words)]).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    let stored = server.app.review.find(id).await.unwrap();
    assert_eq!(
        (stored.state, stored.opportunity.anchor.as_str(), stored.opportunity.target_url.as_str()),
        (State::Accepted, words, target)
    );
    let late = server.post("/revise", &[("id", id), ("seen", &seen), ("to", target), ("words", words)]).await;
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert!(late.body.contains("Anna has decided in the meantime"), "{}", late.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_says_who_decided_and_what_it_is_now() {
    let server = Server::new().await;
    let (id, seen) = server.first().await;
    let ben = Review::open(&server.folder.path().join("project")).await.unwrap();
    ben.decide(&id, &Verdict::Reject { reason: None }, seen.parse().unwrap(), "Ben <b>").await.unwrap();
    let answer = server.post("/decide", &[("id", &id), ("seen", &seen), ("verdict", "accept")]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(
        answer.body.contains("Ben &#60;b&#62; has decided in the meantime") && answer.body.contains("it is rejected now"),
        "{}",
        answer.body
    );
    assert!(answer.body.contains("role=\"alert\""));
    assert_eq!(server.app.review.find(&id).await.unwrap().state, State::Rejected);
    // The page that shows the conflict carries the present revision: deciding again is a decision with open eyes.
    let now = server.app.review.find(&id).await.unwrap().revision.to_string();
    assert!(answer.body.contains(&format!("name=\"seen\" value=\"{now}\"")));
    let again = server.post("/decide", &[("id", &id), ("seen", &now), ("verdict", "accept")]).await;
    assert_eq!(again.status, StatusCode::SEE_OTHER);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_decision_says_its_count_first_and_is_refused_when_the_list_changed() {
    let server = Server::new().await;
    let all = server.app.review.queue(&Filter::default()).await.unwrap().items.len();
    let page = server.get("/bulk?verdict=accept&section=%2Fblog").await;
    let listed = server.app.review.queue(&Filter { section: "/blog".to_owned(), ..Filter::default() }).await.unwrap().items.len();
    assert!(listed > 0 && listed < all);
    assert!(page.body.contains(&format!("Accept {listed} opportunit")) && page.body.contains("from the section “/blog”"), "{}", page.body);
    let stamp = page.body.split("name=\"stamp\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let wrong = server.post("/bulk", &[("verdict", "accept"), ("section", "/de"), ("stamp", &stamp)]).await;
    assert_eq!(wrong.status, StatusCode::CONFLICT);
    assert_eq!(server.app.review.queue(&Filter::default()).await.unwrap().items.len(), all, "nothing was decided");
    let done = server.post("/bulk", &[("verdict", "accept"), ("section", "/blog"), ("stamp", &stamp)]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER);
    let accepted = server.app.review.queue(&Filter { show: Show::Only(State::Accepted), ..Filter::default() }).await.unwrap();
    assert_eq!(accepted.items.len(), listed);

    // All of it back at once.
    let page = server.get("/queue?show=accepted").await;
    assert!(page.body.contains("verdict=withdraw") && !server.get("/queue").await.body.contains("verdict=withdraw"), "{}", page.body);
    let page = server.get("/bulk?verdict=withdraw&show=accepted").await;
    assert!(page.body.contains(&format!("Withdraw the decisions on {listed} opportunit")), "{}", page.body);
    let stamp = page.body.split("name=\"stamp\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    server.post("/bulk", &[("verdict", "withdraw"), ("show", "accepted"), ("stamp", &stamp)]).await;
    assert_eq!(server.app.review.queue(&Filter::default()).await.unwrap().items.len(), all);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_come_from_a_page_of_the_server_changes_nothing() {
    let server = Server::new().await;
    let (id, seen) = server.first().await;
    let secret = server.app.guard.secret().to_owned();
    let body = |csrf: &str| address::query(&[("csrf", csrf), ("id", &id), ("seen", &seen), ("verdict", "accept")]);
    let good = body(&secret);
    let refused: [(&str, &[(&str, &str)]); 6] = [
        (&body(""), &[]),
        (&body("0123456789abcdef0123456789abcdef"), &[]),
        (&good, &[("origin", "https://evil.example")]),
        (&good, &[("origin", "null")]),
        (&good, &[("sec-fetch-site", "cross-site")]),
        (&good, &[("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:4181")]),
    ];
    for (body, headers) in refused {
        for path in ["/decide", "/note", "/name", "/bulk", "/revise"] {
            let answer = server.post_raw(path, body, headers).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {headers:?}");
        }
    }
    assert_eq!(server.app.review.find(&id).await.unwrap().state, State::Found);
    let own = server.post_raw("/decide", &good, &[("origin", "http://127.0.0.1:4180"), ("sec-fetch-site", "same-origin")]).await;
    assert_eq!(own.status, StatusCode::SEE_OTHER);
    assert_eq!(server.get("/decide?verdict=accept").await.header(header::LOCATION), "/queue", "reading decides nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_name_for_this_machine_is_not_answered() {
    let server = Server::new().await;
    let ask = async |host: &str| server.send(Request::get("/queue").header("host", host).body(Body::empty()).unwrap()).await;
    for host in ["evil.example", "evil.example:4180", "127.0.0.1:4181", "127.0.0.1", "", "127.0.0.1:4180.evil.example"] {
        let answer = ask(host).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{host}");
        assert!(!answer.body.contains("csrf"), "{host}");
    }
    for host in ["127.0.0.1:4180", "localhost:4180", "LOCALHOST:4180", "[::1]:4180"] {
        assert_eq!(ask(host).await.status, StatusCode::OK, "{host}");
    }
    let none = server.send(Request::get("/queue").body(Body::empty()).unwrap()).await;
    assert_eq!(none.status, StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_brought_once_and_then_kept_in_a_cookie() {
    let token = "a token of some length";
    let server = Server::with(SocketAddr::from(([0, 0, 0, 0], 4180)), Some(token)).await;
    for path in ["/queue", "/page?url=x", "/queue?token=", "/queue?token=wrong", "/check?id=1"] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(!answer.body.contains("csrf"));
    }
    let (id, seen) = server.first().await;
    let answer = server.post("/decide", &[("id", &id), ("seen", &seen), ("verdict", "accept"), ("token", token)]).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "the secret of forms does not stand for the token");
    let let_in = server.get(&format!("/queue?{}", address::query(&[("token", token)]))).await;
    assert_eq!((let_in.status, let_in.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/queue"));
    let cookie = let_in.header(header::SET_COOKIE).to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("token of"), "{cookie}");
    let value = cookie.split(';').next().unwrap();
    let ask = async |cookie: &str| {
        server.send(Request::get("/queue").header("host", "any.example").header("cookie", cookie).body(Body::empty()).unwrap()).await
    };
    assert_eq!(ask(value).await.status, StatusCode::OK);
    assert_eq!(ask(&format!("{value}0")).await.status, StatusCode::UNAUTHORIZED);
    let elsewhere = server.get(&format!("//evil.example/?{}", address::query(&[("token", token)]))).await;
    assert!(!elsewhere.header(header::LOCATION).starts_with("//"), "{elsewhere:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_from_a_site_becomes_markup_on_any_page() {
    let server = Server::hostile().await;
    server.ready().await;
    let (id, seen) = server.first().await;
    server.post("/decide", &[("id", &id), ("seen", &seen), ("verdict", "accept")]).await;
    let pages = server.app.review.find_pages("", 100).await.unwrap();
    let mut paths: Vec<String> = pages.iter().map(|page| address::page(&page.url)).collect();
    for path in
        ["/queue?show=all", "/gaps", "/orphans", "/anchors", "/runs", "/effect", "/graph", "/pages?find=e", "/bulk?verdict=reject", "/keys"]
    {
        paths.push(path.to_owned());
    }
    for path in ["/queue", "/sides", "/revise"] {
        paths.push(format!("{path}?{}", address::query(&[("id", &id), ("show", "all")])));
    }
    for path in ["/queue", "/gaps", "/pages", "/bulk", "/page", "/orphans"] {
        let attack = ["search", "source", "target", "section", "language", "id", "done", "find", "url", "verdict", "part"]
            .map(|name| (name, ATTACK));
        paths.push(format!("{path}?{}", address::query(&attack)));
    }
    let mut seen_attack = 0;
    for path in paths {
        let answer = server.get(&path).await;
        assert!(answer.status.is_success() || answer.status == StatusCode::NOT_FOUND, "{path}: {}", answer.status);
        let policy = answer.header(header::CONTENT_SECURITY_POLICY);
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self'") && !policy.contains("unsafe"), "{path}");
        assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(answer.header(header::REFERRER_POLICY), "no-referrer");
        assert!(answer.body.matches("<script").count() <= 1, "only our own script: {path}");
        for never in ["<img", "onerror=alert(1)>'<", "href=\"javascript:", " style=\"", " onclick", "<iframe"] {
            assert!(!answer.body.contains(never), "{never} in {path}");
        }
        seen_attack += usize::from(answer.body.contains("window.pwned=1"));
    }
    assert!(seen_attack >= 10, "the hostile title was shown on {seen_attack} pages only");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_requests_get_an_answer() {
    let server = Server::new().await;
    let long = "x".repeat(LARGEST_FORM + 1);
    let answer = server.post("/note", &[("id", "1"), ("text", &long)]).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    for path in [
        "/nothing",
        "/assets/nothing.css",
        "/assets/..%2f..%2fCargo.toml",
        "/page",
        "/page?url=javascript:alert(1)",
        "/sides?id=1",
        "/revise?id=%00",
    ] {
        assert_eq!(server.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(server.get("/check?id=1").await.status, StatusCode::BAD_REQUEST);
    let (id, _) = server.first().await;
    let places =
        ["block=0&start=0&end=99999999", "block=999999&start=1&end=2", "block=0&start=5&end=2", "block=-1&start=0&end=1", "passage=1-2"];
    for place in places {
        let answer = server.get(&format!("/revise?id={id}&{place}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{place}");
    }
    let decided = server.post("/decide", &[("id", &id), ("seen", "nonsense"), ("verdict", "accept")]).await;
    assert_eq!(decided.status, StatusCode::CONFLICT);
    assert_eq!(server.post("/decide", &[("id", &id), ("seen", "0"), ("verdict", "publish")]).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_kept_and_decisions_carry_it() {
    let server = Server::new().await;
    assert!(server.get("/queue").await.body.contains("Under which name do you decide?"));
    let answer = server.post("/name", &[("name", " Søren; <b> "), ("back", "//evil.example/")]).await;
    assert_eq!(answer.header(header::LOCATION), "/queue");
    let cookie = answer.header(header::SET_COOKIE).split(';').next().unwrap().to_owned();
    let (id, seen) = server.first().await;
    let secret = server.app.guard.secret().to_owned();
    let body = address::query(&[("csrf", &secret), ("id", &id), ("seen", &seen), ("verdict", "accept")]);
    server.post_raw("/decide", &body, &[("cookie", &cookie)]).await;
    let history = server.app.review.item(&id).await.unwrap().history;
    assert_eq!(history[0].1.reviewer, "Søren; <b>");
    let page = server.send(Request::get("/queue").header("host", HOST).header("cookie", &cookie).body(Body::empty()).unwrap()).await;
    assert!(!page.body.contains("Under which name do you decide?") && page.body.contains("Søren; &#60;b&#62;"));
}

#[tokio::test(flavor = "multi_thread")]
async fn style_and_script_are_kept_for_good_under_a_name_that_changes_with_them() {
    let server = Server::new().await;
    for name in [&*assets::STYLE_NAME, &*assets::SCRIPT_NAME] {
        let answer = server.get(&format!("/assets/{name}")).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(answer.header(header::CACHE_CONTROL).contains("immutable"));
        assert!(server.get("/queue").await.body.contains(name.as_str()));
    }
    assert_eq!(server.get("/queue").await.header(header::CACHE_CONTROL), "no-store");
}
