//! Two processes on one project, and processes that are killed at any moment. The second process is
//! this test program again, asked for the one test `child`.

use super::*;
use crate::{Holder, LockError, ProjectLock};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const FOLDER: &str = "LINKWRIGHT_TEST_FOLDER";
const WORK: &str = "LINKWRIGHT_TEST_WORK";

/// Pages and vectors that one step of the child writes.
const STEP: usize = 20;

fn spawn(folder: &std::path::Path, work: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::processes::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(WORK, work)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the child says that it has begun.
fn wait_for(child: &mut Child) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("ready")), "the child ended before it began");
}

#[tokio::test]
async fn child() {
    let (Ok(folder), Ok(work)) = (std::env::var(FOLDER), std::env::var(WORK)) else { return };
    let folder = PathBuf::from(folder);
    if work == "hold" {
        let _lock = ProjectLock::acquire(&folder, &Holder::current("plan https://example.org/", NOW), None).await.unwrap();
        say_ready();
        tokio::time::sleep(Duration::from_secs(60)).await;
    } else {
        let store = Store::open(&folder.join(DATABASE_FILE)).await.unwrap();
        say_ready();
        for round in 0..1_000_000 {
            one_run(&store, round).await;
        }
    }
}

#[expect(clippy::print_stdout, reason = "the parent waits for this line")]
fn say_ready() {
    println!("\nready");
}

/// A whole run: crawl in steps, vectors in steps, plan, end.
async fn one_run(store: &Store, round: usize) {
    let run = store.runs().begin(&run()).await.unwrap();
    let crawl = store.crawls().begin(&crawl("")).await.unwrap().id;
    let model = VectorModel { name: "small".to_owned(), dimensions: 4 };
    for step in 0..5 {
        let pages: Vec<FetchedPage> =
            (0..STEP).map(|n| page(&format!("/{}", step * STEP + n), &format!("{round} {n} {}", "text ".repeat(500)))).collect();
        store.pages().upsert(crawl, &pages).await.unwrap();
        let texts: Vec<String> = (0..STEP).map(|n| format!("{step} {n}")).collect();
        let rows: Vec<(TextHash, &[f32])> = texts.iter().map(|text| (TextHash::of([text.as_str()]), &[0.5_f32; 400][..])).collect();
        store.vectors().put_many(&model, &rows).await.unwrap();
    }
    store.crawls().finish(crawl, NOW, Shrink::Accept).await.unwrap();
    let opportunities = (0..STEP).map(|n| opportunity(&format!("{n}"), &format!("/{n}"), round as f64)).collect();
    store.plans().save(run, &plan(run, opportunities)).await.unwrap();
    store.runs().finish(run, NOW, RunStatus::Finished).await.unwrap();
}

/// What must hold whenever a process ends: the file is sound, and each step is there wholly or not at all.
async fn check(store: &Store) {
    let (sound,): (String,) = sqlx::query_as("PRAGMA integrity_check").fetch_one(&store.reader).await.unwrap();
    assert_eq!(sound, "ok");
    assert!(sqlx::query("PRAGMA foreign_key_check").fetch_all(&store.reader).await.unwrap().is_empty());
    let count = async |sql: &'static str| -> usize {
        let (count,): (i64,) = sqlx::query_as(sql).fetch_one(&store.reader).await.unwrap();
        usize::try_from(count).unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM pages").await % STEP, 0);
    assert_eq!(count("SELECT count(*) FROM vectors").await % STEP, 0);
    assert!(count("SELECT count(*) FROM crawls WHERE status = 'running'").await <= 1);
    assert!(count("SELECT count(*) FROM runs WHERE status = 'running'").await <= 1);
    if let Some(plan) = store.plans().latest().await.unwrap() {
        let kept = store.opportunities().in_state(State::Found).await.unwrap();
        assert_eq!(kept.len(), STEP);
        assert!(kept.iter().all(|kept| kept.last_run.0 == plan.run.id && kept.opportunity.score == plan.opportunities[0].score));
        assert_eq!(store.opportunities().gaps().await.unwrap(), plan.gaps);
    }
}

#[tokio::test]
async fn a_process_killed_at_any_moment_leaves_a_project_that_the_next_run_completes() {
    let folder = tempfile::tempdir().unwrap();
    // Fixed, so that a failure can be repeated as far as a scheduler allows; primes, so that they fall on all stages.
    for kill_after_ms in [0, 2, 5, 11, 23, 37, 53, 71, 97, 131] {
        let mut child = spawn(folder.path(), "write");
        wait_for(&mut child);
        tokio::time::sleep(Duration::from_millis(kill_after_ms)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&folder.path().join(DATABASE_FILE)).await.unwrap();
        check(&store).await;
        store.close().await;
    }
    let store = Store::open(&folder.path().join(DATABASE_FILE)).await.unwrap();
    one_run(&store, 0).await;
    check(&store).await;
    let crawl = store.crawls().latest("https://example.org/", "").await.unwrap().unwrap().id;
    assert_eq!(store.pages().all(crawl).await.unwrap().len(), 5 * STEP);
    assert_eq!(store.runs().latest().await.unwrap().unwrap().status, RunStatus::Finished);
}

#[tokio::test]
async fn a_process_killed_while_it_first_opens_the_project_leaves_one_that_opens() {
    for kill_after_ms in [0, 1, 2, 3, 5, 8, 13, 21] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = spawn(folder.path(), "write");
        tokio::time::sleep(Duration::from_millis(kill_after_ms)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&folder.path().join(DATABASE_FILE)).await.unwrap();
        check(&store).await;
        store.close().await;
    }
}

#[tokio::test]
async fn a_second_process_is_told_who_holds_the_project_and_gets_it_when_that_one_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = spawn(folder.path(), "hold");
    wait_for(&mut child);
    let holder = Holder::current("report", NOW);
    let error = ProjectLock::acquire(folder.path(), &holder, None).await.unwrap_err();
    assert!(error.to_string().contains(&format!("`linkwright plan https://example.org/` (process {}", child.id())), "{error}");
    let waiting = ProjectLock::acquire(folder.path(), &holder, Some(Duration::from_millis(200))).await;
    assert!(matches!(waiting, Err(LockError::Held { .. })));
    child.kill().unwrap();
    child.wait().unwrap();
    ProjectLock::acquire(folder.path(), &holder, Some(Duration::from_secs(10))).await.unwrap();
}

/// Prints the time that a site of 2,500 pages takes. Run it by name; a busy machine says nothing about the code, so
/// there is no limit to fail at.
#[tokio::test]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "a measurement is for reading")]
async fn measure_2500_pages() {
    const PAGES: usize = 2_500;
    let (_folder, store) = store().await;
    let words = ["link", "page", "<p>", "</p>", "anchor", "passage", "<a href=\"/x\">", "</a>", "where", "site", "12", "class=\"c\""];
    let mut seed = 1_u32;
    let mut random = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> 16
    };
    let mut body = |at: usize| -> String {
        let mut text = format!("{at} ");
        while text.len() < 10_000 {
            text.push_str(words[random() as usize % words.len()]);
            text.push(' ');
        }
        text
    };
    let pages: Vec<FetchedPage> = (0..PAGES).map(|n| page(&format!("/{n}"), &body(n))).collect();
    let values: Vec<f32> = (0..42 * 384).map(|n| (n as f32).sin()).collect();
    let model = VectorModel { name: "small".to_owned(), dimensions: 384 };
    let hashes: Vec<TextHash> = (0..PAGES).map(|n| TextHash::of([n.to_string().as_str()])).collect();

    let started = Instant::now();
    let crawl = store.crawls().begin(&crawl("")).await.unwrap().id;
    for batch in pages.chunks(100) {
        store.pages().upsert(crawl, batch).await.unwrap();
    }
    store.crawls().finish(crawl, NOW, Shrink::Accept).await.unwrap();
    println!("pages written: {:.2} s", started.elapsed().as_secs_f64());
    let started = Instant::now();
    for batch in hashes.chunks(100) {
        let rows: Vec<(TextHash, &[f32])> = batch.iter().map(|hash| (*hash, &values[..])).collect();
        store.vectors().put_many(&model, &rows).await.unwrap();
    }
    println!("vectors written: {:.2} s", started.elapsed().as_secs_f64());
    let started = Instant::now();
    assert_eq!(store.pages().all(crawl).await.unwrap().len(), PAGES);
    println!("pages read: {:.2} s", started.elapsed().as_secs_f64());
    let started = Instant::now();
    assert_eq!(store.vectors().get_many(&model, &hashes).await.unwrap().len(), PAGES);
    println!("vectors read: {:.2} s", started.elapsed().as_secs_f64());
    let path = store.path().to_owned();
    store.close().await;
    println!("file: {} MB", std::fs::metadata(path).unwrap().len() / 1_000_000);
}
