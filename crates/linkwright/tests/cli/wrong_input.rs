//! Wrong input is answered with one sentence and a hint, exit code 2, and nothing on standard output.

use crate::sandbox::{Outcome, Sandbox};
use std::net::TcpListener;

/// The sentence after `error:`, having checked the form of the answer.
fn refusal(outcome: Outcome) -> String {
    let outcome = outcome.expect_code(2);
    let mut lines = outcome.stderr.lines();
    let sentence = lines.next().and_then(|line| line.strip_prefix("error: ")).unwrap_or_else(|| panic!("{outcome:?}"));
    assert!(lines.next().is_some_and(|line| line.starts_with("hint: ")), "{outcome:?}");
    assert_eq!(lines.next(), None, "{outcome:?}");
    assert!(!sentence.ends_with('.'), "{sentence}");
    assert_eq!(outcome.stdout, "");
    sentence.to_owned()
}

fn plan(sandbox: &Sandbox, site: &str) -> String {
    refusal(sandbox.run(&["plan", site, "--project", "project"]))
}

#[test]
fn no_such_folder() {
    assert!(plan(&Sandbox::empty(), "nowhere").contains("nowhere"));
}

#[test]
fn a_folder_without_pages() {
    let sandbox = Sandbox::empty();
    sandbox.write("site/picture.png", "not a page");
    plan(&sandbox, "site");
}

#[test]
fn a_site_of_one_page() {
    let sandbox = Sandbox::empty();
    sandbox.write("site/index.html", &format!("<html lang=en><title>One</title><body><main><p>{}</p></main>", "Only a page. ".repeat(120)));
    plan(&sandbox, "site");
}

#[test]
fn a_host_that_does_not_answer() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sentence = plan(&Sandbox::empty(), &format!("http://{address}/"));
    assert!(sentence.contains(&address.to_string()), "{sentence}");
}

#[test]
fn a_project_that_was_never_planned() {
    for args in [&["report"][..], &["explain", "/a/"], &["page", "/a/"], &["export", "links"], &["export", "plan"]] {
        refusal(Sandbox::empty().run(args));
    }
}

#[test]
fn a_folder_to_extract_that_is_not_there() {
    assert!(refusal(Sandbox::empty().run(&["extract", "nowhere"])).contains("nowhere"));
}
