use crate::sandbox::Sandbox;
use std::process::Stdio;

#[test]
fn help_explains_by_example() {
    insta::assert_snapshot!(Sandbox::empty().run(&["--help"]).expect_code(0).stdout);
}

#[test]
fn the_main_command_explains_by_example() {
    insta::assert_snapshot!(Sandbox::empty().run(&["plan", "--help"]).expect_code(0).stdout);
}

#[test]
fn every_sub_command_has_help() {
    for command in ["plan", "report", "eval", "explain", "page", "export", "extract", "config", "completions"] {
        let outcome = Sandbox::empty().run(&[command, "--help"]).expect_code(0);
        assert!(outcome.stdout.contains("Usage: linkwright"), "{command}");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for args in [&["plan"][..], &["no-such-command"], &["plan", "site", "--limit", "0"], &["plan", "site", "--set", "novalue"]] {
        let outcome = Sandbox::empty().run(args).expect_code(2);
        assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn colour_is_only_for_those_who_want_it() {
    let sandbox = Sandbox::planned();
    let args = ["report", "--project", "project"];
    assert!(!sandbox.run(&args).stdout.contains('\u{1b}'), "a pipe is no terminal");
    assert!(sandbox.run_with(&args, &[("CLICOLOR_FORCE", "1")]).stdout.contains('\u{1b}'));
    assert!(!sandbox.run_with(&args, &[("NO_COLOR", "1")]).stdout.contains('\u{1b}'));
}

#[test]
fn quiet_leaves_standard_error_alone_and_verbose_says_each_step() {
    let sandbox = Sandbox::with_site();
    let args = ["plan", "site", "--project", "project"];
    assert_eq!(sandbox.run(&[&args[..], &["-q"]].concat()).expect_code(0).stderr, "");
    assert!(sandbox.run(&[&args[..], &["-v"]].concat()).expect_code(0).stderr.lines().count() > 2);
}

#[test]
fn a_closed_pipe_is_quiet_success() {
    let sandbox = Sandbox::planned();
    let mut child =
        sandbox.command(&["export", "links", "--project", "project"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_is_exit_code_130_and_the_next_run_completes() {
    use std::io::Read;
    use std::net::TcpListener;
    let sandbox = Sandbox::with_site();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let site = format!("http://{}/", silent.local_addr().unwrap());
    let mut child = sandbox.command(&["plan", &site, "--project", "project"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // The program has asked for a page and now waits for an answer that never comes.
    let (_connection, _) = silent.accept().unwrap();
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    sandbox.plan();
}
