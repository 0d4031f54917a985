//! `linkwright review` in a real browser: keys, marks, conflicts, accessibility, narrow windows, and a kill.
//!
//! Pictures of every page are left in the folder for temporary files of the build, under `review`.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod driver;

use driver::{Browser, request};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A planned project.
struct Project(TempDir);

impl Project {
    /// The example site, planned.
    fn example() -> Self {
        let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
        Self::of(&site)
    }

    fn of(site: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let planned = Command::new(env!("CARGO_BIN_EXE_linkwright"))
            .arg("plan")
            .arg(site)
            .args(["--base-url", "https://bread.example/", "--quiet", "--project"])
            .arg(folder.path().join("project"))
            .output()
            .unwrap();
        assert!(planned.status.success(), "{planned:?}");
        Self(folder)
    }

    fn serve(&self) -> Server {
        self.serve_as("Anna")
    }

    fn serve_as(&self, reviewer: &str) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_linkwright"))
            .args(["review", "--port", "0", "--no-open", "--reviewer", reviewer, "--project"])
            .arg(self.0.path().join("project"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().trim_end_matches('/').to_owned();
        let port = url.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("no address: {line}"));
        Server { process, url, port }
    }
}

struct Server {
    process: Child,
    url: String,
    port: u16,
}

impl Server {
    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    fn get(&self, path: &str) -> String {
        let (status, body) = request("GET", self.port, path, &[], "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn post(&self, path: &str, form: &str) -> u16 {
        request("POST", self.port, path, &[("Content-Type", "application/x-www-form-urlencoded")], form).0
    }

    /// Waits until the whole site is read.
    fn ready(&self) {
        for _ in 0..400 {
            if !self.get("/effect").contains("data-refresh") {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("the site was never read");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The value of a hidden field of a page.
fn field(page: &str, name: &str) -> String {
    page.split(&format!("name=\"{name}\" value=\"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

fn pictures() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("review");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The script of axe-core, from npm.
fn axe() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        const VERSION: &str = "4.10.3";
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("axe-core-{VERSION}"));
        let script = folder.join("package").join("axe.min.js");
        if !script.is_file() {
            fs::create_dir_all(&folder).unwrap();
            let run = |program: &str, args: &[&str]| {
                let done = Command::new(program).args(args).current_dir(&folder).output();
                assert!(done.as_ref().is_ok_and(|done| done.status.success()), "this test needs `{program} {}`: {done:?}", args.join(" "));
            };
            run("npm", &["pack", "--silent", &format!("axe-core@{VERSION}")]);
            run("tar", &["-xzf", &format!("axe-core-{VERSION}.tgz"), "package/axe.min.js"]);
        }
        fs::read_to_string(script).unwrap()
    })
}

/// What axe finds serious or critical on the page at hand.
fn serious(browser: &Browser) -> Vec<String> {
    browser.run(axe());
    let found = browser.run_async(
        "const done = arguments[arguments.length - 1];
         axe.run(document, { resultTypes: ['violations'] }).then((result) => done(result.violations
            .filter((one) => ['serious', 'critical'].includes(one.impact))
            .map((one) => one.id + ': ' + one.nodes.map((node) => node.target + ' ' + node.failureSummary).join(' | '))), (error) => done(['axe failed: ' + error]));",
    );
    found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_queue_is_worked_through_with_keys_alone() {
    let project = Project::example();
    let server = project.serve();
    server.ready();
    let browser = Browser::open(1280, 900);
    browser.go(&server.at("/queue"));
    let heading = || browser.text("document.querySelector('#focus').textContent");
    let first = heading();
    let total: usize = browser.text("document.querySelectorAll('.rows li').length").parse().unwrap();
    assert!(total >= 4, "the example site has {total} opportunities");

    browser.press("j", false);
    browser.wait("document.querySelector('[data-key~=k]')");
    assert_ne!(heading(), first);
    browser.press("k", false);
    browser.wait(&format!("document.querySelector('#focus').textContent === {first:?}"));

    browser.run("window.kept = 1");
    browser.press("a", false);
    browser.wait("document.querySelector('#said')?.textContent.startsWith('Accepted')");
    browser.wait("document.querySelector('.progress').innerText.includes('1 accepted')");
    assert_eq!(browser.text("document.activeElement.id"), "focus", "focus is at the next opportunity");
    assert!(browser.text("document.querySelector('#status').textContent").contains("Accepted"), "it is said aloud");
    assert_eq!(browser.run("return window.kept"), Value::from(1), "no page was loaded");
    let accepted = first;

    browser.press("u", false);
    browser.wait(&format!("document.querySelector('#focus').textContent === {accepted:?} && document.querySelector('.progress').innerText.includes('0 accepted')"));

    browser.press("r", false);
    browser.wait("document.querySelector('.reject').open");
    browser.press("2", false);
    browser.wait("document.querySelector('#said')?.textContent.startsWith('Rejected')");
    browser.wait("document.querySelector('.progress').innerText.includes('1 rejected')");

    browser.press("n", false);
    assert_eq!(browser.text("document.activeElement.id"), "note");
    browser.press("a", false);
    assert_eq!(browser.text("document.querySelector('#note').value"), "a", "keys are letters while one writes");
    browser.press("Escape", false);
    browser.press("/", false);
    assert_eq!(browser.text("document.activeElement.id"), "search");
    browser.press("Escape", false);
    browser.press("?", false);
    browser.wait("document.querySelector('dialog').open");
    browser.press("Escape", false);
    browser.wait("!document.querySelector('dialog').open");

    browser.press("v", false);
    browser.wait("document.querySelectorAll('.side').length === 2");
    assert_eq!(browser.run("const m = document.querySelector('.side mark').getBoundingClientRect(); const s = document.querySelector('.side').getBoundingClientRect(); return m.top >= s.top && m.bottom <= s.bottom"), Value::Bool(true), "the passage is in view");
    browser.press("v", false);
    browser.wait("document.querySelector('.desk')");

    browser.press("e", false);
    browser.wait("document.querySelector('#text .w.on')");
    let words = || browser.text("document.querySelector('#words').value");
    let before = words();
    browser.press("ArrowRight", true);
    browser.wait("document.querySelector('#verdict').className === 'good' || document.querySelector('#verdict').className === 'problem'");
    let longer = words();
    assert!(longer.starts_with(&before) && longer.len() > before.len(), "{before:?} became {longer:?}");
    browser.press("ArrowLeft", true);
    browser
        .wait(&format!("document.querySelector('#words').value === {before:?} && document.querySelector('#verdict').className === 'good'"));
    // A word of one paragraph to the next with the mouse.
    browser.run("const b = [...document.querySelectorAll('#text .block')].find((b) => b.querySelectorAll('.w').length > 12); const w = b.querySelectorAll('.w'); w[4].id = 'drag-from'; w[6].id = 'drag-to'; w[4].scrollIntoView({ block: 'center' });");
    browser.drag("#drag-from", "#drag-to");
    browser.wait("document.querySelectorAll('.w.on').length === 3 && document.querySelector('#drag-from').classList.contains('on')");
    browser.wait("document.querySelector('#verdict').textContent.includes(document.querySelector('#words').value) || document.querySelector('#verdict').className === 'problem'");
    browser.picture(&pictures().join("revise-marked.png"));
    if browser.text("document.querySelector('#verdict').className") == "good" {
        let chosen = words();
        browser.press("a", false);
        browser.wait("document.querySelector('#said')?.textContent.startsWith('Revised')");
        assert!(browser.text("document.querySelector('#said').textContent").contains(&chosen));
        browser.press("u", false);
        browser.wait("document.querySelector('.progress').innerText.includes('0 accepted')");
    } else {
        panic!("the words of a plain paragraph were refused: {}", browser.text("document.querySelector('#verdict').textContent"));
    }
}

#[test]
fn two_browsers_on_two_servers_lose_no_decision() {
    let project = Project::example();
    let (anna, ben) = (project.serve_as("Anna"), project.serve_as("Ben"));
    let (first, second) = (Browser::open(1280, 900), Browser::open(1280, 900));
    first.go(&anna.at("/queue"));
    second.go(&ben.at("/queue"));
    let at_hand = second.text("document.querySelector('#focus').textContent");
    assert_eq!(first.text("document.querySelector('#focus').textContent"), at_hand);
    first.press("a", false);
    first.wait("document.querySelector('#said')?.textContent.startsWith('Accepted')");
    second.press("r", false);
    second.wait("document.querySelector('.reject').open");
    second.press("r", false);
    second.wait("document.querySelector('.flash .problem')?.textContent.includes('Anna has decided in the meantime')");
    assert_eq!(second.text("document.querySelector('#focus').textContent"), at_hand, "it is still at hand");
    assert_eq!(second.text("document.querySelector('.state').textContent"), "accepted");
    second.picture(&pictures().join("conflict.png"));
    second.press("r", false);
    second.wait("document.querySelector('.reject').open");
    second.press("r", false);
    second.wait("document.querySelector('#said')?.textContent.startsWith('Rejected')");
    let history = anna.get(&format!("/queue?show=rejected&id={}", field(&ben.get("/queue?show=rejected"), "id")));
    assert!(history.contains("Accepted by Anna") && history.contains("Rejected by Ben"), "both decisions are kept");
}

#[test]
fn axe_finds_nothing_serious_and_nothing_is_cut_off_in_a_narrow_window() {
    let project = Project::example();
    let server = project.serve();
    server.ready();
    let queue = server.get("/queue");
    let (id, seen, csrf) = (field(&queue, "id"), field(&queue, "seen"), field(&queue, "csrf"));
    assert_eq!(server.post("/decide", &format!("csrf={csrf}&id={id}&seen={seen}&verdict=accept")), 303);
    let next = field(&server.get("/queue"), "id");
    let pages = [
        ("queue", "/queue".to_owned()),
        ("filters", "/queue?show=all&orphans=first&sort=source".to_owned()),
        ("decided", format!("/queue?show=all&id={id}&done={id}")),
        ("empty", "/queue?search=nothing-like-it".to_owned()),
        ("sides", format!("/sides?id={next}")),
        ("revise", format!("/revise?id={next}&find=bread")),
        ("bulk", "/bulk?verdict=reject".to_owned()),
        ("gaps", "/gaps".to_owned()),
        ("page", "/page?url=https%3A%2F%2Fbread.example%2Fblog%2Fstarter%2F".to_owned()),
        ("orphans", "/orphans".to_owned()),
        ("anchors", "/anchors".to_owned()),
        ("runs", "/runs".to_owned()),
        ("effect", "/effect".to_owned()),
        ("graph", "/graph".to_owned()),
        ("keys", "/keys".to_owned()),
    ];
    let known = server.get("/pages?find=bread");
    let page_url = known.split("href=\"/page?url=").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let mut problems = Vec::new();
    for (width, height) in [(1280, 900), (360, 740)] {
        let browser = Browser::open(width, height);
        for dark in [false, true] {
            browser.dark(dark);
            for (name, path) in &pages {
                let path = if *name == "page" { format!("/page?url={page_url}") } else { path.clone() };
                browser.go(&server.at(&path));
                let shade = if dark { "dark" } else { "light" };
                let place = format!("{name} {width} {shade}");
                browser.picture(&pictures().join(format!("{name}-{width}-{shade}.png")));
                problems.extend(serious(&browser).into_iter().map(|found| format!("{place}: {found}")));
                let wide = browser.run("return document.documentElement.scrollWidth");
                if wide.as_u64().unwrap() > u64::from(width) {
                    problems.push(format!("{place}: the page is {wide} wide"));
                }
                if *name == "queue" {
                    browser.press("r", false);
                    browser.wait("document.querySelector('.reject').open");
                    problems.extend(serious(&browser).into_iter().map(|found| format!("{place}, reasons: {found}")));
                    browser.press("Escape", false);
                    browser.press("?", false);
                    browser.wait("document.querySelector('dialog').open");
                    problems.extend(serious(&browser).into_iter().map(|found| format!("{place}, keys: {found}")));
                    browser.press("Escape", false);
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What a hostile site might hold.
const ATTACK: &str = "\"><script>window.pwned=1</script><img src=x onerror=window.pwned=1><svg onload=window.pwned=1>'";

/// A copy of the example site with an attack in the text of every page and in every second title.
fn write_site(folder: &Path) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
    let escaped = ATTACK.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let mut folders = vec![example.clone()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let to = folder.join(path.strip_prefix(&example).unwrap());
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                let mut text = fs::read_to_string(&path).unwrap();
                for end in ["</p>", "</h2>"] {
                    text = text.replace(end, &format!(" {escaped} <a href=\"javascript:window.pwned=1\">{escaped}</a>{end}"));
                }
                if text.len().is_multiple_of(2) {
                    text = text.replace("</title>", &format!(" {escaped}</title>"));
                }
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::write(to, text).unwrap();
            }
        }
    }
}

#[test]
fn a_site_that_contains_scripts_cannot_run_them() {
    let site = tempfile::tempdir().unwrap();
    write_site(site.path());
    let project = Project::of(site.path());
    let server = project.serve();
    server.ready();
    let id = field(&server.get("/queue?show=all"), "id");
    assert!(!id.is_empty(), "the site has an opportunity");
    let browser = Browser::open(1280, 900);
    for path in [
        format!("/queue?id={id}"),
        format!("/sides?id={id}"),
        format!("/revise?id={id}"),
        "/graph".to_owned(),
        "/gaps".to_owned(),
        "/pages?find=pwned".to_owned(),
    ] {
        browser.go(&server.at(&path));
        assert!(browser.text("document.body.innerText").contains("window.pwned"), "{path} shows the text");
        assert_eq!(browser.run("return window.pwned ?? null"), Value::Null, "{path}");
        assert_eq!(
            browser.text("document.querySelectorAll('img, main script, [onload], [onerror], a[href^=\"javascript:\"]').length"),
            "0",
            "{path}"
        );
    }
    // Also when the script of the queue puts the content in place.
    browser.go(&server.at(&format!("/queue?id={id}")));
    browser.press("v", false);
    browser.wait("document.querySelectorAll('.side').length === 2");
    assert_eq!(browser.run("return window.pwned ?? null"), Value::Null);
}

#[test]
fn decisions_survive_a_kill() {
    let project = Project::example();
    let mut accepted = Vec::new();
    for _ in 0..3 {
        let mut server = project.serve();
        let page = server.get("/queue");
        let (id, seen, csrf) = (field(&page, "id"), field(&page, "seen"), field(&page, "csrf"));
        assert_eq!(server.post("/decide", &format!("csrf={csrf}&id={id}&seen={seen}&verdict=accept")), 303);
        // SIGKILL, the moment after the answer.
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        accepted.push(id);
    }
    let server = project.serve();
    let page = server.get("/queue?show=accepted");
    for id in accepted {
        assert!(page.contains(&format!("id={id}")), "{id} is lost");
    }
    let form = "csrf=0123&id=1&seen=0&verdict=accept";
    assert_eq!(server.post("/decide", form), 403, "the form of a server that is gone");
}
