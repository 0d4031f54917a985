//! From the queue as a spreadsheet to links on the site and back.

use crate::sandbox::{Outcome, Sandbox, rows};
use linkwright_testkit::FixtureSite;
use std::collections::BTreeMap;
use std::fs;

const COLUMNS: &str = "Opportunity ID,Decision,Reason,State,Source URL,Target URL,Anchor,Passage,Score,";

fn run(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    sandbox.run(&[args, &["--project", "project"]].concat())
}

/// The exported queue with a decision for each row.
fn decided(sandbox: &Sandbox, decide: impl Fn(usize) -> &'static str) -> String {
    let queue = run(sandbox, &["export", "queue"]).expect_code(0).stdout;
    let mut text = "Opportunity ID;Decision;Reason;Revision\n".to_owned();
    for (number, row) in rows(&queue).iter().enumerate() {
        text += &format!("{};{};\"so, says; I\";{}\n", row["Opportunity ID"], decide(number), row["Revision"]);
    }
    text
}

/// A planned site with every opportunity accepted.
fn accepted() -> Sandbox {
    let sandbox = Sandbox::planned();
    sandbox.write("decisions.csv", &decided(&sandbox, |_| "accept"));
    run(&sandbox, &["import", "decisions", "decisions.csv"]).expect_code(0);
    sandbox
}

fn site(sandbox: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![sandbox.path("site")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn decisions_go_out_to_a_spreadsheet_and_come_back() {
    let sandbox = Sandbox::planned();
    let queue = run(&sandbox, &["export", "queue"]).expect_code(0).stdout;
    assert!(queue.starts_with(COLUMNS), "{queue}");
    sandbox.write("decisions.csv", &decided(&sandbox, |number| ["accept", "reject", ""][number.min(2)]));
    let shown = run(&sandbox, &["import", "decisions", "decisions.csv", "--dry-run"]).expect_code(0);
    assert!(shown.stdout.starts_with("would be accepted 1, rejected 1, withdrawn 0;"), "{shown:?}");
    let taken = run(&sandbox, &["import", "decisions", "decisions.csv", "--reviewer", "Ann"]).expect_code(0);
    assert!(taken.stdout.starts_with("accepted 1, rejected 1, withdrawn 0;"), "{taken:?}");
    let states: Vec<String> = rows(&run(&sandbox, &["export", "queue"]).stdout).iter().map(|row| row["State"].clone()).collect();
    assert_eq!(states[..3], ["accepted", "rejected", "found"]);
}

#[test]
fn rows_that_cannot_be_taken_are_listed_and_cost_no_other() {
    let sandbox = Sandbox::planned();
    let before = decided(&sandbox, |_| "reject");
    sandbox.write("first.csv", &decided(&sandbox, |number| if number == 0 { "accept" } else { "" }));
    run(&sandbox, &["import", "decisions", "first.csv"]).expect_code(0);
    sandbox.write("late.csv", &format!("{before}o0000;accept;;0\n;accept;;0\n=1+1;perhaps;;\n"));
    let late = run(&sandbox, &["import", "decisions", "late.csv"]).expect_code(1);
    let refused: Vec<&str> = late.stdout.lines().skip(1).collect();
    assert_eq!(refused.len(), 4, "{late:?}");
    assert!(refused[0].contains("row 2") && refused[0].contains("accepted by now"), "{refused:?}");
    assert!(refused[1].contains("`o0000`: there is no such opportunity"), "{refused:?}");
    assert!(refused[3].contains("`perhaps` is no decision"), "{refused:?}");
    let wrong = run(&sandbox, &["import", "decisions", "nowhere.csv"]).expect_code(2);
    assert!(wrong.stderr.contains("`nowhere.csv` cannot be read"), "{wrong:?}");
    sandbox.write("other.csv", "a,b\n1,2\n");
    assert!(run(&sandbox, &["import", "decisions", "other.csv"]).expect_code(2).stderr.contains("`Opportunity ID` and `Decision`"));
}

#[test]
fn nothing_is_written_without_being_told_and_the_diff_is_a_patch() {
    let sandbox = accepted();
    let before = site(&sandbox);
    let shown = run(&sandbox, &["apply"]).expect_code(0);
    assert_eq!(site(&sandbox), before);
    assert!(shown.stdout.starts_with("--- a/") && shown.stderr.contains("`linkwright apply --write` does it"), "{shown:?}");
    let added: Vec<&str> = shown.stdout.lines().filter(|line| line.starts_with("+ ") && line.contains("<a href=")).collect();
    assert_eq!(added.len(), shown.stdout.matches("\n@@ ").count());
    sandbox.write("links.patch", &shown.stdout);
    let patched = std::process::Command::new("patch")
        .args(["-p1", "-s", "-d"])
        .arg(sandbox.path("site"))
        .arg("-i")
        .arg(sandbox.path("links.patch"))
        .status();
    // Where there is no `patch`, its use cannot be shown; the diff is the same.
    if patched.is_ok_and(|status| status.success()) {
        let by_patch = site(&sandbox);
        let other = accepted();
        run(&other, &["apply", "--write"]).expect_code(0);
        assert!(by_patch.values().eq(site(&other).values()));
    }
}

#[test]
fn a_run_is_written_seen_listed_and_taken_back() {
    let sandbox = accepted();
    let before = site(&sandbox);
    let written = run(&sandbox, &["apply", "--write", "--max-pages", "2", "--who", "Ann"]).expect_code(0);
    assert!(written.stdout.contains("edit:1") && written.stderr.contains("(run 2; `linkwright undo 2` takes it back)"), "{written:?}");
    assert!(written.stderr.contains("more with accepted links for the next run"), "{written:?}");
    let after = site(&sandbox);
    assert_eq!(before.iter().filter(|(path, bytes)| after[*path] != **bytes).count(), 2);
    let seen = run(&sandbox, &["verify"]).expect_code(0);
    assert!(seen.stdout.contains("2 observed") && seen.stdout.contains("0 missing"), "{seen:?}");
    let edits = rows(&run(&sandbox, &["export", "edits"]).stdout);
    assert!(edits.iter().all(|row| row["Run"] == "2" && row["Who"] == "Ann" && row["Status"] == "written"), "{edits:?}");
    let one = run(&sandbox, &["undo", "edit:1"]).expect_code(0);
    assert!(one.stderr.contains("took 1 link out of 1 page"), "{one:?}");
    let shown = run(&sandbox, &["undo", "2", "--dry-run"]).expect_code(0);
    assert!(shown.stdout.contains("\n-") && shown.stderr.contains("would take"), "{shown:?}");
    run(&sandbox, &["undo", "2"]).expect_code(0);
    assert_eq!(site(&sandbox), before);
    assert!(run(&sandbox, &["undo", "2"]).expect_code(2).stderr.contains("nothing of run 2 is on the site any more"));
    assert!(run(&sandbox, &["undo", "99"]).expect_code(2).stderr.contains("no run 99 of this project"));
}

#[test]
fn attributes_of_the_settings_are_written_and_found_again() {
    let sandbox = Sandbox::with_site();
    sandbox.write(
        "project/linkwright.toml",
        "[links]\nrel = \"bookmark\"\nclass = \"in text\"\nmarker = \"data-linkwright\"\nstyle = \"absolute\"\n",
    );
    sandbox.run(&["plan", "site", "--base-url", "https://example.com/", "--project", "project"]).expect_code(0);
    sandbox.write("decisions.csv", &decided(&sandbox, |_| "accept"));
    run(&sandbox, &["import", "decisions", "decisions.csv"]).expect_code(0);
    let before = site(&sandbox);
    let shown = run(&sandbox, &["apply"]).expect_code(0);
    assert!(shown.stdout.contains("<a href=\"https://example.com/"), "{shown:?}");
    assert!(shown.stdout.contains("\" rel=\"bookmark\" class=\"in text\" data-linkwright=\"\">"), "{shown:?}");
    run(&sandbox, &["apply", "--write"]).expect_code(0);
    run(&sandbox, &["verify"]).expect_code(0);
    run(&sandbox, &["undo", "2"]).expect_code(0);
    assert_eq!(site(&sandbox), before);
}

#[test]
fn what_has_nothing_to_do_says_what_to_do_first() {
    let sandbox = Sandbox::planned();
    assert!(run(&sandbox, &["apply"]).expect_code(0).stderr.contains("no opportunity is accepted"));
    assert!(run(&sandbox, &["verify"]).expect_code(0).stdout.contains("no link is accepted or written yet"));
    assert!(run(&sandbox, &["apply", "--only", "o1"]).expect_code(2).stderr.contains("`o1` is no accepted opportunity"));
    for command in [&["apply"][..], &["verify"], &["undo", "1"], &["export", "queue"], &["export", "edits"]] {
        let outcome = Sandbox::empty().run(command).expect_code(2);
        assert!(outcome.stderr.contains("there is no linkwright project"), "{outcome:?}");
    }
}

#[test]
fn links_on_a_site_that_cannot_be_written_are_put_in_by_hand_and_closed_when_seen() {
    let sandbox = Sandbox::with_site();
    let server = FixtureSite::new().folder(&sandbox.path("site")).start();
    let plan = sandbox.run(&["plan", &server.url("/"), "--project", "project", "--set", "crawl.interval_ms=0"]);
    assert_ne!(plan.code, Some(2), "{plan:?}");
    // Somebody who has the files has a project of the same pages; what both propose is accepted.
    let by_hand = |args: &[&str]| sandbox.run(&[args, &["--project", "by-hand"]].concat());
    by_hand(&["plan", "site", "--base-url", &server.url("/")]).expect_code(0);
    let ids = |outcome: Outcome| -> Vec<String> { rows(&outcome.stdout).iter().map(|row| row["Opportunity ID"].clone()).collect() };
    let theirs = ids(by_hand(&["export", "queue"]));
    let common = ids(run(&sandbox, &["export", "queue"])).into_iter().filter(|id| theirs.contains(id));
    let decisions: String = common.map(|id| format!("{id},accept\n")).collect();
    sandbox.write("decisions.csv", &format!("Opportunity ID,Decision\n{decisions}"));
    run(&sandbox, &["import", "decisions", "decisions.csv"]).expect_code(0);
    let refused = run(&sandbox, &["apply"]).expect_code(2);
    assert!(refused.stderr.contains("nothing says how to write it") && refused.stderr.contains("wordpress.url"), "{refused:?}");
    let waiting = run(&sandbox, &["verify", "--format", "json"]).expect_code(0).json();
    let seen = |json: &serde_json::Value| -> Vec<String> {
        json["links"].as_array().unwrap().iter().map(|link| link["seen"].as_str().unwrap().to_owned()).collect()
    };
    assert!(seen(&waiting).len() >= 3 && seen(&waiting).iter().all(|seen| seen == "waiting"), "{waiting}");
    by_hand(&["import", "decisions", "decisions.csv"]).expect_code(0);
    by_hand(&["apply", "--write"]).expect_code(0);
    let there = run(&sandbox, &["verify", "--format", "json"]).expect_code(0).json();
    assert!(seen(&there).iter().all(|seen| seen == "observed"), "{there}");
    // And takes them out again.
    by_hand(&["undo", "2"]).expect_code(0);
    let gone = run(&sandbox, &["verify", "--format", "json"]).expect_code(1).json();
    assert!(seen(&gone).iter().all(|seen| seen == "missing"), "{gone}");
}
