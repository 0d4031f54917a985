//! Wrong input is answered with one sentence and a hint, exit code 2, and nothing on standard output.

use crate::sandbox::{Outcome, Sandbox};
use linkwright_testkit::{Answer, FixtureSite};
use std::net::TcpListener;

/// The sentence after `error:`, having checked the form of the answer.
pub(crate) fn refusal(outcome: Outcome) -> String {
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

/// The refusal of a site on loopback that is read from `path` on, having checked that it names the address.
fn plan_over_http(site: FixtureSite, path: &str) -> String {
    let site = site.start();
    let outcome = Sandbox::empty().run(&["plan", &site.url(path), "--project", "project", "--set", "crawl.retries=0"]);
    let sentence = refusal(outcome);
    assert!(sentence.contains(&format!("127.0.0.1:{}", site.port())), "{sentence}");
    sentence
}

/// A form to sign in.
fn login() -> Answer {
    Answer::html("<html lang=en><title>Sign in</title><main><form><input name=user><input type=password name=pass></form></main></html>")
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

#[test]
fn robots_txt_forbids_everything() {
    let site = FixtureSite::new().at("/robots.txt", Answer::text("User-agent: *\nDisallow: /\n")).at("/", Answer::page("Home", &[]));
    let site = site.start();
    let sentence = plan(&Sandbox::empty(), &site.url("/"));
    assert!(sentence.contains("robots.txt") && sentence.contains(&site.url("/")), "{sentence}");
    assert_eq!(site.hits("/"), 0, "what is forbidden is not asked for");
}

#[test]
fn robots_txt_that_cannot_be_read() {
    let site = FixtureSite::new().at("/robots.txt", Answer::status(503)).at("/", Answer::page("Home", &[]));
    let sentence = plan_over_http(site, "/");
    assert!(sentence.contains("robots.txt") && sentence.contains("503"), "{sentence}");
}

#[test]
fn a_sitemap_that_is_a_web_page() {
    let sentence = plan_over_http(FixtureSite::new().at("/sitemap.xml", Answer::page("Not found", &["/"])), "/sitemap.xml");
    assert!(sentence.contains("not a sitemap"), "{sentence}");
}

#[test]
fn a_sitemap_without_pages() {
    let sentence = plan_over_http(FixtureSite::new().at("/sitemap.xml", Answer::sitemap(&[])), "/sitemap.xml");
    assert!(sentence.contains("sitemap"), "{sentence}");
}

#[test]
fn a_sitemap_whose_every_page_is_gone() {
    let site = FixtureSite::new().at("/sitemap.xml", Answer::sitemap(&["{origin}/a", "{origin}/b"]));
    plan_over_http(site, "/sitemap.xml");
}

#[test]
fn a_site_behind_a_login() {
    let site = FixtureSite::new().at("/", Answer::redirect(302, "/login/?next=/")).at("/login/?next=/", login()).start();
    assert!(plan(&Sandbox::empty(), &site.url("/")).contains("login"));
}

#[test]
fn a_sitemap_of_login_forms() {
    let site = FixtureSite::new().at("/sitemap.xml", Answer::sitemap(&["{origin}/a", "{origin}/b"])).at("/a", login()).at("/b", login());
    let site = site.start();
    // The start page is not there, but the sitemap in its usual place is.
    assert!(plan(&Sandbox::empty(), &site.url("/")).contains("login"));
    assert!(plan(&Sandbox::empty(), &site.url("/sitemap.xml")).contains("login"));
}

#[test]
fn a_website_of_one_page() {
    let sentence = plan_over_http(FixtureSite::new().at("/", Answer::page("Only", &["/", "#top", "mailto:a@example.org"])), "/");
    assert!(sentence.contains("one page"), "{sentence}");
}

#[test]
fn a_start_page_that_is_not_found() {
    let sentence = plan_over_http(FixtureSite::new(), "/nowhere");
    assert!(sentence.contains("404") && sentence.contains("/nowhere"), "{sentence}");
}

#[test]
fn a_start_page_that_fails() {
    let sentence = plan_over_http(FixtureSite::new().at("/", Answer::status(500)), "/");
    assert!(sentence.contains("500"), "{sentence}");
}

#[test]
fn a_start_page_that_redirects_to_itself() {
    plan_over_http(FixtureSite::new().at("/", Answer::redirect(302, "/")), "/");
}

#[test]
fn a_start_page_that_leads_to_another_host() {
    let elsewhere = FixtureSite::new().at("/", Answer::page("Elsewhere", &[])).start();
    let sentence = plan_over_http(FixtureSite::new().at("/", Answer::redirect(301, &elsewhere.url("/"))), "/");
    assert!(sentence.contains(&elsewhere.port().to_string()), "{sentence}");
    assert_eq!(elsewhere.hits("/"), 0);
}

#[test]
fn a_start_page_that_is_a_file() {
    let sentence = plan_over_http(FixtureSite::new().at("/a.pdf", Answer::bytes("application/pdf", "%PDF-1.7")), "/a.pdf");
    assert!(sentence.contains("/a.pdf"), "{sentence}");
}

#[test]
fn a_database_that_is_none() {
    let sandbox = Sandbox::with_site();
    sandbox.write("project/linkwright.db", &"not a database ".repeat(100));
    let sentence = plan(&sandbox, "site");
    assert!(sentence.contains("linkwright.db"), "{sentence}");
}

#[test]
fn a_mistyped_setting() {
    let sandbox = Sandbox::with_site();
    sandbox.write("project/linkwright.toml", "[caps]\nper_pag = 5\n");
    let sentence = plan(&sandbox, "site");
    assert!(sentence.contains("linkwright.toml") && sentence.contains("caps.per_page"), "{sentence}");
}

#[test]
fn a_project_that_is_a_file() {
    let sandbox = Sandbox::with_site();
    sandbox.write("project", "a file");
    assert!(plan(&sandbox, "site").contains("project"));
}
