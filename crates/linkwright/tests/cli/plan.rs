use crate::facts::{self, url};
use crate::sandbox::{Sandbox, rows};
use serde_json::Value;

/// Opportunities of the planned example as JSON.
fn opportunities(sandbox: &Sandbox) -> Vec<Value> {
    let lines = sandbox.read("project/plan.jsonl");
    let objects = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    objects.filter(|object| object["type"] == "opportunity").collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {value}"))
}

fn number(value: &Value, key: &str, end: &str) -> usize {
    usize::try_from(value[key][end].as_u64().unwrap()).unwrap()
}

#[test]
fn plan_writes_its_files_and_names_them() {
    let sandbox = Sandbox::with_site();
    let outcome = sandbox.plan();
    for file in ["report.html", "plan.csv", "gaps.csv", "plan.jsonl", "linkwright.toml", "linkwright.db"] {
        assert!(sandbox.path("project").join(file).is_file(), "{file}");
    }
    for file in ["report.html", "plan.csv", "gaps.csv", "plan.jsonl"] {
        assert!(outcome.stdout.contains(file), "{file} in {}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("Next"));
    assert_eq!(outcome.stderr, "", "progress is hidden when standard error is no terminal");
}

#[test]
fn the_csv_begins_with_the_agreed_columns_and_has_rows() {
    let sandbox = Sandbox::planned();
    assert!(sandbox.read("project/plan.csv").starts_with("Source URL,Target URL,Suggested Anchor,Similarity Score,"));
    let rows = sandbox.rows("project/plan.csv");
    assert!(rows.len() >= 5, "{} rows", rows.len());
    for row in rows {
        let score: f64 = row["Similarity Score"].parse().unwrap();
        assert!((0.0..=1.0).contains(&score));
        assert!(row["Passage"].contains(&row["Suggested Anchor"]), "{row:?}");
    }
}

#[test]
fn the_orphan_of_the_example_is_found_and_is_the_only_one() {
    let sandbox = Sandbox::planned();
    let pages = sandbox.run(&["export", "pages", "--project", "project"]).expect_code(0);
    let orphans: Vec<String> = rows(&pages.stdout).into_iter().filter(|row| row["Orphan"] == "yes").map(|row| row["URL"].clone()).collect();
    assert_eq!(orphans, [url(facts::ORPHAN)]);
    assert!(sandbox.run(&["report", "--project", "project"]).stdout.contains(facts::ORPHAN));
}

#[test]
fn pages_that_should_not_be_linked_to_never_are() {
    let sandbox = Sandbox::planned();
    for opportunity in opportunities(&sandbox) {
        for path in facts::NEVER_TARGETS {
            assert_ne!(text(&opportunity, "target_url"), url(path));
        }
    }
}

#[test]
fn pages_link_to_pages_of_their_own_language() {
    let sandbox = Sandbox::planned();
    let german = |address: &str| address.starts_with(&url("/de/"));
    for opportunity in opportunities(&sandbox) {
        assert_eq!(german(text(&opportunity, "source_url")), german(text(&opportunity, "target_url")), "{opportunity}");
    }
}

#[test]
fn near_duplicates_are_reported_and_never_linked_to_each_other() {
    let sandbox = Sandbox::planned();
    let [first, second] = facts::DUPLICATES.map(url);
    for opportunity in opportunities(&sandbox) {
        let pair = [text(&opportunity, "source_url"), text(&opportunity, "target_url")];
        assert!(!(pair.contains(&first.as_str()) && pair.contains(&second.as_str())));
    }
    let plan = sandbox.run(&["report", "--project", "project", "--format", "json"]).expect_code(0).json();
    let overlaps = plan["overlaps"].as_array().unwrap();
    assert!(overlaps.iter().any(|o| o["first_url"] == first.as_str() && o["second_url"] == second.as_str()), "{overlaps:?}");
}

/// Elements whose words cannot carry a new link.
const INERT: [&str; 9] = ["a", "h1", "h2", "h3", "pre", "code", "nav", "aside", "footer"];

#[test]
fn no_anchor_stands_in_a_heading_a_link_code_or_a_menu() {
    let sandbox = Sandbox::planned();
    for opportunity in opportunities(&sandbox) {
        let path = text(&opportunity, "source_url").strip_prefix(facts::BASE).unwrap();
        let source = sandbox.read(&format!("site{path}index.html"));
        let before = &source[..number(&opportunity, "source_span", "start")];
        for element in INERT {
            let opened = before.matches(&format!("<{element}>")).count() + before.matches(&format!("<{element} ")).count();
            let closed = before.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "inside <{element}>: {opportunity}");
        }
    }
}

#[test]
fn the_span_of_an_anchor_holds_the_anchor() {
    let sandbox = Sandbox::planned();
    for opportunity in opportunities(&sandbox) {
        let path = text(&opportunity, "source_url").strip_prefix(facts::BASE).unwrap();
        let source = sandbox.read(&format!("site{path}index.html"));
        let words = &source[number(&opportunity, "source_span", "start")..number(&opportunity, "source_span", "end")];
        let words = words.replace("&amp;", "&").replace("&rsquo;", "’").replace("&nbsp;", " ");
        assert_eq!(words.split_whitespace().collect::<Vec<_>>().join(" "), text(&opportunity, "anchor").replace('\u{a0}', " "));
    }
}

#[test]
fn a_page_gets_each_target_once_and_at_most_three_new_links() {
    let sandbox = Sandbox::planned();
    let mut per_source = std::collections::BTreeMap::<String, Vec<String>>::new();
    for opportunity in opportunities(&sandbox) {
        per_source.entry(text(&opportunity, "source_url").to_owned()).or_default().push(text(&opportunity, "target_url").to_owned());
    }
    for (source, mut targets) in per_source {
        assert!(targets.len() <= 3, "{source}: {targets:?}");
        assert!(!targets.contains(&source));
        let proposed = targets.len();
        targets.sort();
        targets.dedup();
        assert_eq!(targets.len(), proposed, "{source}");
    }
}

#[test]
fn a_second_run_gives_the_same_bytes() {
    let sandbox = Sandbox::planned();
    let files = ["project/plan.csv", "project/gaps.csv", "project/plan.jsonl"];
    let before = files.map(|file| sandbox.read(file));
    sandbox.plan();
    assert_eq!(files.map(|file| sandbox.read(file)), before);
}

#[test]
fn the_summary_adds_up() {
    let sandbox = Sandbox::with_site();
    let counts = sandbox.run(&["plan", "site", "--project", "project", "--format", "json"]).expect_code(0).json()["counts"].clone();
    assert_eq!(counts["pages"], facts::PAGES);
    assert_eq!(counts["pages_read"], facts::PAGES);
    assert_eq!(counts["orphans"], 1);
    assert_eq!(counts["opportunities"], sandbox.rows("project/plan.csv").len());
    assert_eq!(counts["gaps"], sandbox.rows("project/gaps.csv").len());
}

#[test]
fn plan_prints_its_rows_as_csv_when_asked() {
    let sandbox = Sandbox::planned();
    let outcome = sandbox.run(&["plan", "site", "--project", "project", "--format", "csv"]).expect_code(0);
    assert_eq!(outcome.stdout, sandbox.read("project/plan.csv"));
}

#[test]
fn a_ranking_has_at_most_ten_targets_per_source_best_first() {
    let sandbox = Sandbox::planned();
    sandbox.run(&["plan", "site", "--project", "project", "--ranking", "ranking.csv"]).expect_code(0);
    let rows = sandbox.rows("ranking.csv");
    assert!(!rows.is_empty());
    for pair in rows.windows(2) {
        let score = |row: &std::collections::BTreeMap<String, String>| row["score"].parse::<f64>().unwrap();
        assert!(pair[0]["source"] != pair[1]["source"] || score(&pair[0]) >= score(&pair[1]));
    }
    for row in &rows {
        assert!(rows.iter().filter(|other| other["source"] == row["source"]).count() <= 10);
    }
}

#[test]
fn a_pilot_says_that_it_is_partial() {
    let sandbox = Sandbox::with_site();
    let outcome = sandbox.run(&["plan", "site", "--project", "project", "--limit", "5", "--format", "json"]);
    assert!(outcome.json()["run"]["partial"].is_string(), "{outcome:?}");
    assert!(outcome.json()["counts"]["orphans"].is_null(), "a part of a site cannot tell orphans");
}

#[test]
fn the_report_stands_alone() {
    let report = Sandbox::planned().read("project/report.html");
    for asset in ["<link ", "<iframe", " src=", "@import", "url("] {
        assert!(!report.contains(asset), "{asset}");
    }
    assert!(report.contains("<mark>"));
    assert!(report.contains(facts::ORPHAN));
}
