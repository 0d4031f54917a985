//! One process at a time in a project.

use crate::sandbox::Sandbox;
use crate::wrong_input::refusal;
use std::net::TcpListener;
use std::process::Stdio;

#[test]
fn a_second_process_is_told_who_holds_the_project_until_that_one_is_gone() {
    let sandbox = Sandbox::empty();
    for page in ["index", "other"] {
        sandbox.write(&format!("site/{page}.html"), &format!("<html lang=en><title>{page}</title><main><p>A page.</p></main>"));
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let site = format!("http://{}/", silent.local_addr().unwrap());
    let mut first = sandbox.command(&["plan", &site, "--project", "project"]).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    // The first process has the project and now waits for an answer that never comes.
    let (_connection, _) = silent.accept().unwrap();

    let second = sandbox.run(&["plan", "site", "--project", "project"]);
    first.kill().unwrap();
    first.wait().unwrap();
    let sentence = refusal(second);
    assert!(sentence.contains("in use by `linkwright plan`"), "{sentence}");
    assert!(sentence.contains(&format!("process {},", first.id())), "{sentence}");

    sandbox.plan();
}
