use crate::facts::{self, url};
use crate::sandbox::Sandbox;

#[test]
fn a_proposed_pair_is_explained_with_its_anchor() {
    let sandbox = Sandbox::planned();
    let row = sandbox.rows("project/plan.csv").remove(0);
    let outcome = sandbox.run(&["explain", &row["Source URL"], &row["Target URL"], "--project", "project"]).expect_code(0);
    assert!(outcome.stdout.contains(&row["Suggested Anchor"]), "{}", outcome.stdout);
}

#[test]
fn a_pair_that_a_guardrail_forbids_names_the_guardrail() {
    let sandbox = Sandbox::planned();
    let outcome = sandbox.run(&["explain", &url("/blog/rye-bread/"), &url("/newsletter-thanks/"), "--project", "project"]);
    let outcome = outcome.expect_code(0);
    assert!(outcome.stdout.to_lowercase().contains("noindex"), "{}", outcome.stdout);
}

#[test]
fn one_page_is_explained_alone() {
    let outcome = Sandbox::planned().run(&["explain", &url(facts::WITH_CODE), "--project", "project"]).expect_code(0);
    assert!(outcome.stdout.contains(facts::WITH_CODE));
}

#[test]
fn an_unknown_page_is_one_sentence_and_a_hint() {
    let outcome = Sandbox::planned().run(&["explain", &url("/nowhere/"), "--project", "project"]).expect_code(2);
    assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
}
