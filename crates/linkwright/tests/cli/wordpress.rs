//! The whole way on a real WordPress: read from the web, write through the REST API, look again, take back.

use crate::sandbox::{Outcome, Sandbox, rows};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

struct WordPress {
    folder: PathBuf,
    answer: Value,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/wordpress.py")
}

impl WordPress {
    /// Starts one in a folder of the sandbox; it ends with its value.
    fn start(sandbox: &Sandbox) -> Self {
        let folder = sandbox.path("wordpress");
        let output = Command::new("python3").arg(script()).arg("start").arg(&folder).output().unwrap();
        assert!(output.status.success(), "no WordPress: {}", String::from_utf8_lossy(&output.stderr));
        Self { folder, answer: serde_json::from_slice(&output.stdout).unwrap() }
    }

    fn url(&self) -> &str {
        self.answer["url"].as_str().unwrap()
    }

    fn password(&self) -> &str {
        self.answer["admin"]["password"].as_str().unwrap()
    }
}

impl Drop for WordPress {
    fn drop(&mut self) {
        let _ = Command::new("python3").arg(script()).arg("stop").arg(&self.folder).status();
    }
}

#[test]
fn links_go_into_a_real_wordpress_are_seen_by_readers_and_go_again() {
    let sandbox = Sandbox::empty();
    let wordpress = WordPress::start(&sandbox);
    let settings = format!(
        "[wordpress]\nurl = \"{}\"\nuser = \"admin\"\n[crawl]\ninterval_ms = 0\n[apply]\npause_ms = 0\n[relevance]\nfloor = 0.01\n",
        wordpress.url()
    );
    sandbox.write("project/linkwright.toml", &settings);
    let run = |args: &[&str]| -> Outcome {
        sandbox.run_with(&[args, &["--project", "project"]].concat(), &[("LINKWRIGHT_WORDPRESS_PASSWORD", wordpress.password())])
    };
    assert_ne!(run(&["plan", wordpress.url()]).code, Some(2));
    let queue = run(&["export", "queue"]).expect_code(0).stdout;
    let ids: Vec<String> = rows(&queue).iter().map(|row| row["Opportunity ID"].clone()).collect();
    assert!(ids.len() >= 8, "too few opportunities to say anything: {queue}");
    let decisions: String = ids.iter().map(|id| format!("{id},accept\n")).collect();
    sandbox.write("decisions.csv", &format!("Opportunity ID,Decision\n{decisions}"));
    run(&["import", "decisions", "decisions.csv"]).expect_code(0);

    let shown = run(&["apply"]).expect_code(1);
    assert!(shown.stdout.contains("--- a/posts/") && shown.stdout.contains("--- a/recipes/"), "{shown:?}");
    for builder in ["Elementor", "Divi"] {
        assert!(shown.stderr.contains(&format!("is kept by {builder}")), "{shown:?}");
    }
    // Killed again and again on the way, each time after some more of it.
    for after_ms in [150, 400, 700, 1_100] {
        let mut child = sandbox
            .command(&["apply", "--write", "--project", "project"])
            .env("LINKWRIGHT_WORDPRESS_PASSWORD", wordpress.password())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let written = run(&["apply", "--write"]).expect_code(1);
    let mut edits = rows(&run(&["export", "edits"]).stdout);
    assert!(edits.iter().all(|row| ["written", "abandoned"].contains(&row["Status"].as_str())), "{edits:?}");
    edits.retain(|row| row["Status"] == "written");
    let once: BTreeSet<&String> = edits.iter().map(|row| &row["Opportunity ID"]).collect();
    assert!(edits.len() >= 6 && once.len() == edits.len(), "{edits:?}");
    // Quotes that WordPress turns while it serves them, in both editors.
    for anchor in ["keeping a sourdough starter alive", "store bread so that it lasts"] {
        assert!(edits.iter().any(|row| row["Anchor"] == anchor), "{anchor}: {written:?}");
    }
    let seen = run(&["verify"]).expect_code(0);
    assert!(seen.stdout.contains(&format!("{} observed", edits.len())) && seen.stdout.contains("2 waiting"), "{seen:?}");

    // A password that does not fit says so, and is nowhere in the project.
    let runs: BTreeSet<&String> = edits.iter().map(|row| &row["Run"]).collect();
    let first = runs.iter().next().unwrap();
    let wrong = sandbox.run_with(&["undo", first, "--project", "project"], &[("LINKWRIGHT_WORDPRESS_PASSWORD", "abcd efgh")]);
    assert!(wrong.expect_code(1).stdout.is_empty());
    let undone: Vec<Outcome> = runs.iter().map(|number| run(&["undo", number]).expect_code(0)).collect();
    let exact: usize = undone.iter().map(|outcome| outcome.stdout.matches("(the bytes from before)").count()).sum();
    assert_eq!(exact, edits.len(), "{undone:?}");
    let gone = run(&["verify"]).expect_code(0);
    assert!(gone.stdout.contains("0 observed"), "{gone:?}");
    let password: String = wordpress.password().split_whitespace().collect();
    for file in std::fs::read_dir(sandbox.path("project")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for secret in [wordpress.password(), &password] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
        }
    }
}
