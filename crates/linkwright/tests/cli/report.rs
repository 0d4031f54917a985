use crate::facts;
use crate::sandbox::{Sandbox, rows};

#[test]
fn report_writes_the_same_report_again() {
    let sandbox = Sandbox::planned();
    let before = sandbox.read("project/report.html");
    std::fs::remove_file(sandbox.path("project/report.html")).unwrap();
    let outcome = sandbox.run(&["report", "--project", "project"]).expect_code(0);
    assert_eq!(sandbox.read("project/report.html"), before);
    for title in ["Orphans", "Crawl depth", "Authority", "Anchors per target", "Pages too alike"] {
        assert!(outcome.stdout.contains(title), "{title}");
    }
}

#[test]
fn report_as_csv_has_a_row_per_page() {
    let outcome = Sandbox::planned().run(&["report", "--project", "project", "--format", "csv"]).expect_code(0);
    assert_eq!(rows(&outcome.stdout).len(), facts::PAGES);
}
