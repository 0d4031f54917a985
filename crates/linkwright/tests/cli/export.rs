use crate::facts::url;
use crate::sandbox::{Sandbox, rows};

#[test]
fn links_have_the_agreed_columns() {
    let outcome = Sandbox::planned().run(&["export", "links", "--project", "project"]).expect_code(0);
    assert!(outcome.stdout.starts_with("source,target,anchor,kind,rel,position"), "{}", outcome.stdout);
}

#[test]
fn links_in_text_are_body_links_and_links_in_menus_are_not() {
    let outcome = Sandbox::planned().run(&["export", "links", "--project", "project"]).expect_code(0);
    let rows = rows(&outcome.stdout);
    let kinds = |source: &str, target: &str| -> Vec<String> {
        let of = rows.iter().filter(|row| row["source"] == url(source) && row["target"] == url(target));
        of.map(|row| row["kind"].clone()).collect()
    };
    assert_eq!(kinds("/blog/rye-bread/", "/blog/storing-bread/"), ["body"]);
    assert_eq!(kinds("/blog/rye-bread/", "/blog/oven-thermometer/"), ["template"], "related posts");
    assert!(kinds("/blog/rye-bread/", "/classes/").iter().all(|kind| kind == "template"), "menu");
}

#[test]
fn json_and_csv_hold_the_same_links() {
    let sandbox = Sandbox::planned();
    let json = sandbox.run(&["export", "links", "--project", "project", "--format", "json"]).expect_code(0).json();
    let csv = sandbox.run(&["export", "links", "--project", "project", "--format", "csv"]).expect_code(0);
    assert_eq!(json.as_array().unwrap().len(), rows(&csv.stdout).len());
}

#[test]
fn plan_and_gaps_are_the_files_of_the_run() {
    let sandbox = Sandbox::planned();
    assert_eq!(sandbox.run(&["export", "plan", "--project", "project"]).stdout, sandbox.read("project/plan.csv"));
    assert_eq!(sandbox.run(&["export", "gaps", "--project", "project"]).stdout, sandbox.read("project/gaps.csv"));
}
