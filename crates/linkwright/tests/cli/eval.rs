use crate::sandbox::Sandbox;

#[test]
fn eval_prints_figures_keeps_them_and_shows_them_in_the_report() {
    let sandbox = Sandbox::planned();
    let outcome = sandbox.run(&["eval", "--project", "project"]).expect_code(0);
    for part in ["R@1", "R@5", "MRR", "cold", "linkwright", "page vector", "TF-IDF", "random", "Leak check", "a floor"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("the figures say little"), "the example is small: {}", outcome.stdout);
    let kept: serde_json::Value = serde_json::from_str(&sandbox.read("project/eval.json")).unwrap();
    assert_eq!(kept["rows"][0]["key"], "linkwright");
    let report = sandbox.read("project/report.html");
    assert!(report.contains("How good is the ranking here?") && report.contains("class=\"chart\""));
    sandbox.run(&["report", "--project", "project"]).expect_code(0);
    assert_eq!(sandbox.read("project/report.html"), report, "`report` shows it too");
}

#[test]
fn eval_prints_json_and_the_seed_decides() {
    let sandbox = Sandbox::planned();
    let json = |seed: &str| {
        let mut found = sandbox.run(&["eval", "--project", "project", "--json", "--seed", seed, "--folds", "2"]).expect_code(0).json();
        found["evaluated_at"] = serde_json::Value::Null;
        found
    };
    let first = json("1");
    assert_eq!(first, json("1"));
    assert_ne!(first["rows"], json("2")["rows"]);
    let recall = first["rows"][0]["figures"]["recall_5"]["value"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&recall));
    assert_eq!((first["folds"].as_u64(), first["seed"].as_u64()), (Some(2), Some(1)));
}

#[test]
fn eval_says_what_it_cannot_do() {
    let sandbox = Sandbox::planned();
    for (args, said) in [
        (&["eval", "--project", "project", "--share", "30"][..], "above 0 and below 1"),
        (&["eval", "--project", "project", "--folds", "0"], "not in 1..=100"),
        (&["eval", "--project", "nowhere"], "no linkwright project"),
    ] {
        let outcome = sandbox.run(args).expect_code(2);
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
    let small = Sandbox::empty();
    for (name, link) in [("a", "b"), ("b", "a")] {
        let words = "Bread needs flour, water, salt and time, and most of all time. ".repeat(12);
        small.write(
            &format!("site/{name}.html"),
            &format!("<title>{name}</title><main><p>{words}<a href='{link}.html'>more</a></p></main>"),
        );
    }
    small.run(&["plan", "site", "--base-url", "https://example.com/", "--project", "project"]).expect_code(0);
    let outcome = small.run(&["eval", "--project", "project"]).expect_code(2);
    assert!(outcome.stderr.contains("say nothing") && outcome.stderr.contains("hint: "), "{}", outcome.stderr);
}
