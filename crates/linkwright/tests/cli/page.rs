use crate::facts::url;
use crate::sandbox::Sandbox;

#[test]
fn page_shows_language_eligibility_text_and_links() {
    let sandbox = Sandbox::planned();
    let outcome = sandbox.run(&["page", &url("/de/blog/roggenbrot/"), "--project", "project"]).expect_code(0);
    for words in ["de", "Warum Roggenbrot anders ist", "wie nasser Zement", "wie man ihn am Leben hält"] {
        assert!(outcome.stdout.contains(words), "{words} in {}", outcome.stdout);
    }
}

#[test]
fn page_says_why_a_page_is_left_out() {
    let outcome = Sandbox::planned().run(&["page", &url("/newsletter-thanks/"), "--project", "project"]).expect_code(0);
    assert!(outcome.stdout.to_lowercase().contains("noindex"), "{}", outcome.stdout);
}

#[test]
fn page_as_json_is_an_object() {
    let outcome = Sandbox::planned().run(&["page", &url("/blog/rye-bread/"), "--project", "project", "--format", "json"]);
    assert!(outcome.expect_code(0).json().is_object());
}
