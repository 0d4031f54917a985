use crate::sandbox::Sandbox;

#[test]
fn every_setting_is_shown_with_its_origin() {
    let outcome = Sandbox::planned().run(&["config", "show", "--project", "project"]).expect_code(0);
    assert!(outcome.stdout.contains("default"), "{}", outcome.stdout);
    assert!(outcome.stdout.lines().count() > 10);
}

#[test]
fn an_unknown_setting_is_refused() {
    let sandbox = Sandbox::with_site();
    let outcome = sandbox.run(&["plan", "site", "--project", "project", "--set", "no_such_setting=1"]).expect_code(2);
    assert!(outcome.stderr.contains("no_such_setting"), "{}", outcome.stderr);
}
