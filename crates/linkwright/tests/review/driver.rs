//! A real Chromium, driven through chromedriver.
//!
//! The protocol is JSON over HTTP on loopback: a plain client of the standard library is enough for it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a page may take to show what is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Chromium and its driver, installed where they are missing.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let there = |name: &str| {
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        if there("chromedriver") && there("chromium") {
            return;
        }
        let apt = |args: &[&str]| {
            Command::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive").status().is_ok_and(|status| status.success())
        };
        let installed = apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", "--no-install-recommends", "chromium", "chromium-driver"]);
        assert!(installed && there("chromedriver"), "this test needs Debian's chromium and chromium-driver, and could not install them");
    });
}

/// Sends a request and gives status and body.
pub(crate) fn request(method: &str, port: u16, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let mut length = None;
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let head = line.trim().to_ascii_lowercase();
        if let Some(value) = head.strip_prefix("content-length:") {
            length = value.trim().parse::<u64>().ok();
        }
        if head.is_empty() {
            break;
        }
    }
    let mut bytes = Vec::new();
    reader.take(length.unwrap_or(u64::MAX)).read_to_end(&mut bytes).unwrap();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

/// A browser window.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Opens one of a size.
    pub(crate) fn open(width: u32, height: u32) -> Self {
        install();
        let mut driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .find_map(|line| line.ok()?.split("started successfully on port ").nth(1)?.trim_end_matches('.').parse().ok())
            .expect("chromedriver names its port");
        // The rest of its output is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let size = format!("--window-size={width},{height}");
        let folder = format!("--user-data-dir={}", profile.path().display());
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", &size, &folder];
        let wanted = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": { "args": arguments } } } });
        let (status, body) = request("POST", port, "/session", &[], &wanted.to_string());
        assert_eq!(status, 200, "no browser: {body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        let session = answer["value"]["sessionId"].as_str().unwrap().to_owned();
        let browser = Self { driver, port, session, _profile: profile };
        browser.command(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        browser
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let text = if method == "GET" { String::new() } else { body.to_string() };
        let (status, body) = request(method, self.port, &format!("/session/{}{path}", self.session), &[], &text);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str::<Value>(&body).unwrap()["value"].take()
    }

    fn command(&self, name: &str, parameters: &Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({ "cmd": name, "params": parameters }))
    }

    /// Light or dark, as the user's system would say.
    pub(crate) fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        self.command("Emulation.setEmulatedMedia", &json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] }));
    }

    /// Goes to an address.
    pub(crate) fn go(&self, url: &str) {
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// What a script gives back.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What a script hands to its last argument.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.call("POST", "/execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Presses keys one after another. `shift` holds the key down meanwhile.
    pub(crate) fn press(&self, key: &str, shift: bool) {
        let code = match key {
            "ArrowLeft" => "\u{e012}",
            "ArrowRight" => "\u{e014}",
            "ArrowUp" => "\u{e013}",
            "ArrowDown" => "\u{e015}",
            "Escape" => "\u{e00c}",
            "Enter" => "\u{e007}",
            other => other,
        };
        let mut actions = vec![json!({ "type": "keyDown", "value": code }), json!({ "type": "keyUp", "value": code })];
        if shift {
            actions.insert(0, json!({ "type": "keyDown", "value": "\u{e008}" }));
            actions.push(json!({ "type": "keyUp", "value": "\u{e008}" }));
        }
        self.call("POST", "/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Drags the mouse from the middle of one element to the middle of another.
    pub(crate) fn drag(&self, from: &str, to: &str) {
        let middle = |selector: &str| {
            let script = format!(
                "const r = document.querySelector({selector:?}).getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2];"
            );
            let place = self.run(&script);
            (place[0].as_f64().unwrap().round() as i64, place[1].as_f64().unwrap().round() as i64)
        };
        let ((x1, y1), (x2, y2)) = (middle(from), middle(to));
        let step = |x: i64, y: i64| json!({ "type": "pointerMove", "duration": 50, "x": x, "y": y, "origin": "viewport" });
        let actions = json!([step(x1, y1), { "type": "pointerDown", "button": 0 }, step(x2, y2), { "type": "pointerUp", "button": 0 }]);
        self.call("POST", "/actions", &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": actions }] }));
    }

    /// Waits until an expression of the page is true.
    pub(crate) fn wait(&self, expression: &str) {
        let begun = Instant::now();
        let script = format!("return Boolean({expression});");
        while self.run(&script) != Value::Bool(true) {
            let shown = || self.run("return location.href + '\\n' + document.body.innerText");
            assert!(begun.elapsed() < PATIENCE, "never true: {expression}\n{}", shown().as_str().unwrap_or_default());
            sleep(Duration::from_millis(20));
        }
    }

    /// The text of an expression.
    pub(crate) fn text(&self, expression: &str) -> String {
        self.run(&format!("return String({expression});")).as_str().unwrap_or_default().to_owned()
    }

    /// Keeps a picture of the window. A busy machine may need a second try.
    pub(crate) fn picture(&self, file: &Path) {
        let body = json!({ "cmd": "Page.captureScreenshot", "params": { "format": "png" } }).to_string();
        let path = format!("/session/{}/goog/cdp/execute", self.session);
        let taken = (0..3).find_map(|_| {
            let (status, body) = request("POST", self.port, &path, &[], &body);
            (status == 200).then_some(body)
        });
        let answer: Value = serde_json::from_str(&taken.expect("a picture after three tries")).unwrap();
        std::fs::write(file, decode(answer["value"]["data"].as_str().unwrap())).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = std::panic::catch_unwind(|| request("DELETE", self.port, &format!("/session/{}", self.session), &[], ""));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Base64 of a screenshot.
fn decode(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut out, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for six in text.bytes().filter_map(value) {
        held = held << 6 | six;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits & 0xff) as u8);
        }
    }
    out
}
