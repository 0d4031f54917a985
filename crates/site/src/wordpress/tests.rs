//! A WordPress that fails in the ways that servers on the way to it do.

use super::*;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as the fake sees it.
struct Asked {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
}

/// An answer; `None` drops the connection without one.
type Said = Option<(u16, &'static str, String)>;

/// A post and how the server in front of it behaves.
#[derive(Default)]
struct Post {
    raw: String,
    writes: usize,
    drafts: usize,
    logins: Vec<String>,
}

/// Starts a fake. `front` may answer in the place of WordPress; it hears how often the page was asked to be written.
fn fake(raw: &str, front: impl Fn(&Asked, &mut Post) -> Option<Said> + Send + 'static) -> (PageUrl, Arc<Mutex<Post>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = PageUrl::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let post = Arc::new(Mutex::new(Post { raw: raw.to_owned(), ..Post::default() }));
    let shared = Arc::clone(&post);
    let address = url.to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let Some(asked) = read_request(&stream) else { continue };
            let mut post = shared.lock().unwrap();
            post.logins.extend(asked.headers.get("authorization").cloned());
            let said = front(&asked, &mut post).unwrap_or_else(|| wordpress(&asked, &mut post, &address));
            if let Some((status, headers, body)) = said {
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            }
        }
    });
    (url, post)
}

fn read_request(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut first = line.split_whitespace().map(str::to_owned);
    let (method, path) = (first.next()?, first.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, path, headers, body: String::from_utf8(body).ok()? })
}

/// What WordPress itself would say.
fn wordpress(asked: &Asked, post: &mut Post, url: &str) -> Said {
    let route = asked.path.split('?').next().unwrap_or_default();
    let ok = |value: Value| Some((200, "content-type: application/json\r\n", value.to_string()));
    let item = |id: u64, raw: &str| json!({ "id": id, "link": format!("{url}bread/"), "status": "publish", "content": { "raw": raw, "protected": false } });
    match (asked.method.as_str(), route) {
        (_, "/") => Some((200, "content-type: text/html\r\n", "<p>Home".to_owned())),
        (_, "/wp-json/") => ok(json!({ "namespaces": ["wp/v2"] })),
        (_, "/wp-json/wp/v2/users/me") => ok(json!({ "capabilities": { "edit_posts": true } })),
        (_, "/wp-json/wp/v2/types") => ok(json!({ "post": { "slug": "post", "rest_base": "posts", "viewable": true } })),
        ("GET", "/wp-json/wp/v2/posts/7") => ok(item(7, &post.raw)),
        ("POST", "/wp-json/wp/v2/posts/7") => {
            post.writes += 1;
            post.raw = content(asked);
            ok(item(7, &post.raw))
        }
        ("POST", "/wp-json/wp/v2/posts") => {
            post.drafts += 1;
            ok(item(8, &content(asked)))
        }
        ("GET", "/wp-json/wp/v2/posts/8") => ok(item(8, "filtered")),
        ("DELETE", "/wp-json/wp/v2/posts/8") => {
            post.drafts -= 1;
            ok(json!({ "deleted": true }))
        }
        _ => Some((404, "", json!({ "code": "rest_no_route" }).to_string())),
    }
}

fn content(asked: &Asked) -> String {
    serde_json::from_str::<Value>(&asked.body).unwrap()["content"].as_str().unwrap().to_owned()
}

async fn connect(url: &PageUrl) -> Result<WordPress, WordPressError> {
    let site = WordPressSite { url: url.clone(), types: Vec::new(), timeout_ms: 5_000 };
    WordPress::connect(&site, Credentials::new("ann", "abcd efgh").unwrap()).await
}

fn page() -> Location {
    "posts/7".parse().unwrap()
}

fn is_write(asked: &Asked) -> bool {
    asked.method == "POST" && asked.path.starts_with("/wp-json/wp/v2/posts/7")
}

#[tokio::test]
async fn a_page_is_written_once_however_the_answers_get_lost() {
    // The connection ends after the page was stored; the gateway gives up before; an answer is no JSON.
    let dropped = |asked: &Asked, post: &mut Post| {
        is_write(asked).then(|| {
            post.writes += 1;
            post.raw = content(asked);
            None
        })
    };
    let busy = |asked: &Asked, post: &mut Post| {
        let first = is_write(asked) && post.drafts == 0;
        first.then(|| {
            post.drafts = 1;
            Some((503, "retry-after: 0\r\n", "<h1>Busy".to_owned()))
        })
    };
    let noisy = |asked: &Asked, post: &mut Post| {
        is_write(asked).then(|| {
            post.writes += 1;
            post.raw = content(asked);
            Some((200, "", "<b>Warning</b>: something {}".to_owned()))
        })
    };
    for (name, (url, post)) in [("dropped", fake("old", dropped)), ("busy", fake("old", busy)), ("noisy", fake("old", noisy))] {
        let site = connect(&url).await.unwrap();
        site.write(&page(), "old", "new").await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let post = post.lock().unwrap();
        assert_eq!((post.raw.as_str(), post.writes), ("new", 1), "{name}");
    }
}

#[tokio::test]
async fn a_page_that_changed_or_is_not_kept_is_left_as_it_was() {
    let (url, post) = fake("theirs", |_, _| None);
    let site = connect(&url).await.unwrap();
    assert_eq!(site.write(&page(), "old", "new").await.unwrap_err().code(), "changed_meanwhile");
    assert_eq!(post.lock().unwrap().writes, 0);

    let filters = |asked: &Asked, post: &mut Post| {
        is_write(asked).then(|| {
            post.writes += 1;
            post.raw = content(asked).replace("<b>", "");
            Some((200, "", "{\"id\":7}".to_owned()))
        })
    };
    let (url, post) = fake("old", filters);
    let site = connect(&url).await.unwrap();
    let error = site.write(&page(), "old", "new <b>word").await.unwrap_err();
    assert!(error.to_string().contains("from character 4 on, `new <b>word` became `new word`"), "{error}");
    assert!(error.concerns_page());
    assert_eq!(post.lock().unwrap().raw, "old");
}

#[tokio::test]
async fn the_draft_of_a_round_trip_shows_the_difference_and_is_deleted() {
    let (url, post) = fake("old", |_, _| None);
    let site = connect(&url).await.unwrap();
    assert_eq!(site.round_trip(&page(), "as it is").await.unwrap_err().code(), "not_kept");
    site.round_trip(&page(), "filtered").await.unwrap();
    let (drafts, writes) = {
        let post = post.lock().unwrap();
        (post.drafts, post.writes)
    };
    assert_eq!((drafts, writes), (0, 0));

    let (url, _) = fake("old", |asked, _| (asked.method == "DELETE").then(|| Some((500, "", String::new()))));
    let error = connect(&url).await.unwrap().round_trip(&page(), "filtered").await.unwrap_err();
    assert_eq!(error.to_string(), "the draft posts/8 of a test could not be deleted");
}

#[tokio::test]
async fn logins_that_fail_say_why() {
    let me = |code: &'static str| {
        move |asked: &Asked, _: &mut Post| {
            let body = json!({ "code": code, "message": "<strong>Error</strong>: no\u{7}." }).to_string();
            asked.path.contains("users/me").then_some(Some((401, "", body)))
        }
    };
    let (url, _) = fake("", me("rest_not_logged_in"));
    assert_eq!(connect(&url).await.unwrap_err().to_string(), "WordPress did not let `ann` in");
    let (url, _) = fake("", me("incorrect_password"));
    let error = connect(&url).await.unwrap_err();
    assert_eq!(error.to_string(), "WordPress does not accept the user `ann` with this application password: Error: no.");
    let reader = |asked: &Asked, _: &mut Post| {
        asked.path.contains("users/me").then(|| Some((200, "", json!({ "capabilities": { "read": true } }).to_string())))
    };
    assert_eq!(connect(&fake("", reader).0).await.unwrap_err().code(), "may_not_edit");
    let blocked = |asked: &Asked, _: &mut Post| asked.path.contains("wp-json").then(|| Some((200, "", "<h1>Are you human?".to_owned())));
    assert_eq!(connect(&fake("", blocked).0).await.unwrap_err().code(), "no_rest");
    let nobody = PageUrl::parse("http://127.0.0.1:9/").unwrap();
    assert_eq!(connect(&nobody).await.unwrap_err().code(), "no_answer");
}

#[tokio::test]
async fn the_password_goes_to_the_site_that_was_set_and_nowhere_else() {
    let (other, seen) = fake("", |_, _| None);
    let target = other.to_string();
    let leads_away = move |asked: &Asked, _: &mut Post| {
        let link: &'static str = Box::leak(format!("link: <{target}wp-json/>; rel=\"https://api.w.org/\"\r\n").into_boxed_str());
        (asked.path == "/").then(|| Some((200, link, String::new())))
    };
    let (url, here) = fake("", leads_away);
    assert_eq!(connect(&url).await.unwrap_err().code(), "elsewhere");
    let target = other.to_string();
    let redirects = move |asked: &Asked, _: &mut Post| {
        let location: &'static str = Box::leak(format!("location: {target}\r\n").into_boxed_str());
        asked.path.contains("users/me").then(|| Some((302, location, String::new())))
    };
    assert_eq!(connect(&fake("", redirects).0).await.unwrap_err().code(), "elsewhere");
    assert!(seen.lock().unwrap().logins.is_empty());
    assert!(here.lock().unwrap().logins.is_empty());

    let public = WordPressSite { url: PageUrl::parse("http://example.org/").unwrap(), types: Vec::new(), timeout_ms: 1_000 };
    let refused = WordPress::connect(&public, Credentials::new("ann", "abcd").unwrap()).await.unwrap_err();
    assert_eq!(refused.to_string(), "`http://example.org/` is not encrypted, so no password is sent there");
}

#[tokio::test]
async fn an_endless_answer_is_cut() {
    let huge = |asked: &Asked, _: &mut Post| asked.path.contains("posts/7").then(|| Some((200, "", "x".repeat(40 << 20))));
    let site = connect(&fake("", huge).0).await.unwrap();
    assert_eq!(site.read(&page()).await.unwrap_err().code(), "no_json");
}

#[test]
fn builders_are_recognised_by_text_markup_and_metadata() {
    let none = Value::Null;
    let name = |raw: &str, rendered: &str, meta: &Value| Builder::of(raw, rendered, meta, "").map(|builder| builder.to_string());
    assert_eq!(name("[et_pb_section bb_built=\"1\"]", "", &none).as_deref(), Some("Divi"));
    assert_eq!(name("[vc_row][vc_column]x", "", &none).as_deref(), Some("WPBakery"));
    assert_eq!(name("x", "<div data-elementor-type=\"wp-post\">", &none).as_deref(), Some("Elementor"));
    assert_eq!(name("x", "", &json!({ "_elementor_edit_mode": "builder" })).as_deref(), Some("Elementor"));
    assert_eq!(name("x", "<div class=\"fl-builder-content fl-builder-content-9\">", &none).as_deref(), Some("Beaver Builder"));
    assert_eq!(
        name("<!-- wp:paragraph --><p>about Elementor and [brackets]</p>", "<p>x</p>", &json!({ "_elementor_edit_mode": "", "brizy": [] })),
        None
    );
    assert!(Builder::of("x", "", &none, "elementor_canvas").is_some());
}

#[test]
fn locations_are_read_strictly() {
    assert_eq!("posts/12".parse::<Location>().unwrap().to_string(), "posts/12");
    for wrong in ["", "posts", "posts/", "/12", "posts/x", "po sts/1", "../users/1", "posts?x/1"] {
        assert!(wrong.parse::<Location>().is_err(), "{wrong}");
    }
}

#[cfg(unix)]
#[test]
fn a_password_file_is_its_owners_alone_and_no_password_is_ever_shown() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "abcd efgh\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(Credentials::from_file("ann", &file).unwrap_err().code(), "password_file_open");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let credentials = Credentials::from_file("ann", &file).unwrap();
    assert_eq!((credentials.password.as_str(), format!("{credentials:?}").as_str()), ("abcdefgh", "Credentials of `ann`"));
    assert_eq!(Credentials::from_file("ann", &folder.path().join("none")).unwrap_err().code(), "password_file");
    assert_eq!(Credentials::new("ann", " ").unwrap_err().code(), "no_credentials");
}
