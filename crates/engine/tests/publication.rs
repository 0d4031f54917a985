//! Links on a real folder of pages and off it again, also by processes that are killed at every step.
//!
//! The process that is killed is this test program again, asked for the one test `child`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop right there")]

use linkwright_core::plan::Opportunity;
use linkwright_engine::apply::{ApplyRequest, ApplyResult, PageOutcome, apply};
use linkwright_engine::decisions::{self, DecisionRow, EditEvent, State};
use linkwright_engine::undo::{UndoRequest, UndoResult, Undone, undo};
use linkwright_engine::verify::{Seen, VerifyRequest, VerifyResult, verify};
use linkwright_engine::{PlanRequest, Progress, Silent, plan};
use linkwright_store::{Decision, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use walkdir::WalkDir;

const FOLDER: &str = "LINKWRIGHT_TEST_FOLDER";
const KILL_AT: &str = "LINKWRIGHT_TEST_KILL_AT";
const UNDO: &str = "LINKWRIGHT_TEST_UNDO";

/// A planned copy of the example site with everything accepted.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
        copy(&example, &folder.path().join("site"));
        let desk = Self { folder };
        desk.plan();
        desk.accept_all();
        desk
    }

    fn accept_all(&self) {
        let rows: Vec<DecisionRow> = decisions::queue(&self.project()).unwrap().iter().map(|o| row(&o.opportunity.id, "accept")).collect();
        assert!(rows.len() >= 4, "the example has too few opportunities to say anything");
        let imported = decisions::import(&self.project(), &rows, "Ann", true).unwrap();
        assert_eq!((imported.accepted, imported.refused.len()), (rows.len(), 0));
    }

    fn plan(&self) {
        let request = PlanRequest {
            site: self.site().display().to_string(),
            project: self.project(),
            base_url: Some("https://example.com/".to_owned()),
            ..PlanRequest::default()
        };
        plan(&request, &Silent).unwrap();
    }

    fn site(&self) -> PathBuf {
        self.folder.path().join("site")
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn pages(&self) -> BTreeMap<String, Vec<u8>> {
        pages(&self.site())
    }

    fn apply(&self) -> ApplyResult {
        apply(&request(&self.project()), &Silent).unwrap()
    }

    fn undo(&self, what: Undone) -> UndoResult {
        undo(&undo_request(&self.project(), what), &Silent).unwrap()
    }

    fn verify(&self) -> VerifyResult {
        verify(&VerifyRequest { project: self.project(), live: false, who: "Ann".to_owned() }, &Silent).unwrap()
    }

    fn states(&self) -> Vec<State> {
        let mut states: Vec<State> = decisions::queue(&self.project()).unwrap().iter().map(|kept| kept.state).collect();
        states.sort_unstable();
        states
    }

    /// Every edit and what became of it last.
    fn edits(&self) -> Vec<(String, EditEvent)> {
        decisions::edits(&self.project()).unwrap().into_iter().map(|(edit, _)| (edit.edit.opportunity, edit.status)).collect()
    }
}

fn row(id: &str, decision: &str) -> DecisionRow {
    let text = |text: &str| text.to_owned();
    DecisionRow { row: 1, opportunity: text(id), decision: text(decision), reason: String::new(), revision: String::new() }
}

fn request(project: &Path) -> ApplyRequest {
    ApplyRequest { project: project.to_owned(), write: true, who: "Ann".to_owned(), ..ApplyRequest::default() }
}

fn undo_request(project: &Path, what: Undone) -> UndoRequest {
    UndoRequest { project: project.to_owned(), what, write: true, keep_going: false, who: "Ann".to_owned() }
}

fn copy(from: &Path, to: &Path) {
    for entry in WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Every file of a folder, hidden ones too.
fn pages(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = WalkDir::new(folder).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().strip_prefix(folder).unwrap().display().to_string(), fs::read(entry.path()).unwrap())).collect()
}

fn changed(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    assert!(before.keys().eq(after.keys()));
    before.keys().filter(|path| before[*path] != after[*path]).cloned().collect()
}

#[test]
fn links_go_on_the_site_are_seen_there_and_go_again() {
    let desk = Desk::new();
    let before = desk.pages();

    let shown = apply(&ApplyRequest { write: false, ..request(&desk.project()) }, &Silent).unwrap();
    assert!(shown.pages.iter().all(|page| page.outcome == PageOutcome::Planned && page.before != page.after), "{shown:?}");
    assert_eq!((shown.run, desk.pages() == before, desk.edits().len()), (None, true, 0));

    let written = desk.apply();
    let after = desk.pages();
    let links: usize = written.pages.iter().map(|page| page.links.len()).sum();
    assert_eq!((changed(&before, &after).len(), desk.edits().len()), (written.pages.len(), links));
    for page in &written.pages {
        assert_eq!(String::from_utf8_lossy(&after[&page.location]), page.after);
    }
    assert!(desk.states().iter().all(|state| *state == State::Published));
    assert!(desk.apply().pages.is_empty(), "nothing is written twice");

    let seen = desk.verify();
    assert!(seen.links.iter().all(|link| (link.seen, link.after) == (Seen::Observed, State::Observed)), "{seen:?}");
    // A plan of the changed pages proposes none of it again.
    desk.plan();
    assert!(decisions::queue(&desk.project()).unwrap().iter().all(|kept| kept.state != State::Accepted));

    let undone = desk.undo(Undone::Run(written.run.unwrap()));
    assert!(undone.pages.iter().all(|page| page.restored_exactly), "{undone:?}");
    assert_eq!(desk.pages(), before);
    assert!(desk.edits().iter().all(|(_, event)| *event == EditEvent::Undone));
    assert!(undo(&undo_request(&desk.project(), Undone::Run(written.run.unwrap())), &Silent).is_err(), "there is nothing left to undo");
    assert!(undo(&undo_request(&desk.project(), Undone::Edit(999)), &Silent).is_err());
}

#[test]
fn a_page_that_somebody_edited_keeps_the_edit_in_both_directions() {
    let desk = Desk::new();
    let before = desk.pages();
    let shown = apply(&ApplyRequest { write: false, ..request(&desk.project()) }, &Silent).unwrap();
    let edit = |path: &str, change: &dyn Fn(String) -> String| {
        let file = desk.site().join(path);
        fs::write(&file, change(fs::read_to_string(&file).unwrap())).unwrap();
    };
    // Before writing: one page has a new paragraph, one has lost its sentence.
    let (moved, lost) = (&shown.pages[0].location, &shown.pages[1]);
    edit(moved, &|text| text.replacen("<p>", "<p>A new paragraph at the top.</p>\n<p>", 1));
    let anchor = lost.links[0].anchor.clone();
    edit(&lost.location, &|text| text.replace(&anchor, "something else"));
    let edited = desk.pages();

    let written = desk.apply();
    let of = |path: &str| written.pages.iter().find(|page| page.location == path).unwrap();
    assert_eq!(of(moved).outcome, PageOutcome::Written);
    assert_eq!((of(&lost.location).outcome, of(&lost.location).skipped[0].code.as_str()), (PageOutcome::Unchanged, "passage_gone"));
    assert!(desk.states().contains(&State::Expired));

    // After writing: one page is edited elsewhere, in one the link gets other words, in one it goes.
    let (elsewhere, words, gone) = (&written.pages[0], &written.pages[2], &written.pages[3]);
    edit(&elsewhere.location, &|text| text.replacen("</article>", "<p>One more.</p></article>", 1));
    let words_of = |page: &linkwright_engine::apply::PageChange| page.links[0].anchor.clone();
    edit(&words.location, &|text| text.replace(&format!(">{}</a>", words_of(words)), ">other words</a>"));
    edit(&gone.location, &|_| String::from_utf8(edited[&gone.location].clone()).unwrap());

    let seen = desk.verify();
    let seen_of = |url: &str| seen.links.iter().find(|link| link.source_url == url).unwrap().seen;
    assert_eq!(seen_of(&elsewhere.source_url), Seen::Observed);
    assert_eq!(seen_of(&words.source_url), Seen::Missing);
    assert_eq!(seen_of(&gone.source_url), Seen::Missing);

    let undone = desk.undo(Undone::Run(written.run.unwrap()));
    let reason = |path: &str| undone.pages.iter().find(|page| page.location == path).unwrap().links[0].reason.clone().unwrap_or_default();
    assert!(reason(&words.location).contains("words were changed"), "{}", reason(&words.location));
    assert!(reason(&gone.location).contains("not on the page any more"), "{}", reason(&gone.location));
    let now = desk.pages();
    let expected = String::from_utf8(edited[&elsewhere.location].clone()).unwrap().replacen("</article>", "<p>One more.</p></article>", 1);
    assert_eq!(String::from_utf8_lossy(&now[&elsewhere.location]), expected);
    assert_eq!(now[&gone.location], edited[&gone.location]);
    assert!(changed(&before, &now).contains(&words.location));
}

/// A page in another encoding, with other line ends, or with a byte order mark.
fn rewritten(text: &str, number: usize) -> Vec<u8> {
    let mark = b"\xef\xbb\xbf".to_vec();
    let dos = text.replace('\n', "\r\n");
    match number % 4 {
        0 => [mark, dos.into_bytes()].concat(),
        1 => {
            let text = text.replace("charset=\"utf-8\"", "charset=\"windows-1252\"");
            let latin = |c: char| u8::try_from(u32::from(c)).unwrap_or(b'?');
            text.chars().map(latin).collect()
        }
        2 => [vec![0xff, 0xfe], dos.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
        _ => dos.into_bytes(),
    }
}

#[test]
fn line_ends_marks_and_encodings_of_files_stay() {
    let desk = Desk::new();
    let shown = apply(&ApplyRequest { write: false, ..request(&desk.project()) }, &Silent).unwrap();
    for (number, page) in shown.pages.iter().enumerate() {
        fs::write(desk.site().join(&page.location), rewritten(&page.before, number)).unwrap();
    }
    let before = desk.pages();
    let written = desk.apply();
    let after = desk.pages();
    assert!(written.pages.len() >= 4 && written.pages.iter().all(|page| page.outcome == PageOutcome::Written), "{written:?}");
    for page in &written.pages {
        let (old, new) = (&before[&page.location], &after[&page.location]);
        let count = |bytes: &[u8], wanted: u8| bytes.iter().filter(|byte| **byte == wanted).count();
        assert_eq!((old[..2].to_vec(), count(old, b'\r'), count(old, b'\n')), (new[..2].to_vec(), count(new, b'\r'), count(new, b'\n')));
        // Every old byte is there in its order.
        let mut rest = new.iter();
        assert!(old.iter().all(|byte| rest.any(|other| other == byte)), "{}", page.location);
    }
    assert!(desk.verify().links.iter().all(|link| link.seen == Seen::Observed));
    desk.undo(Undone::Run(written.run.unwrap()));
    assert_eq!(desk.pages(), before);
}

/// A reviewer who takes a decision back while the run is under way.
struct Reviewer {
    project: PathBuf,
    id: String,
}

impl Progress for Reviewer {
    fn stage(&self, _: &str, _: Option<u64>) {
        decisions::import(&self.project, &[row(&self.id, "withdraw")], "Bob", true).unwrap();
    }
    fn advance(&self, _: u64) {}
}

#[test]
fn what_a_reviewer_takes_back_during_a_run_is_not_written() {
    let desk = Desk::new();
    let id = decisions::queue(&desk.project()).unwrap()[1].opportunity.id.clone();
    let written = apply(&request(&desk.project()), &Reviewer { project: desk.project(), id: id.clone() }).unwrap();
    let skipped: Vec<_> = written.pages.iter().flat_map(|page| &page.skipped).collect();
    assert_eq!(skipped.iter().map(|s| (s.opportunity.as_str(), s.code.as_str())).collect::<Vec<_>>(), [(id.as_str(), "decided_otherwise")]);
    assert!(desk.edits().iter().all(|(opportunity, _)| *opportunity != id));
}

#[tokio::test]
async fn two_decisions_for_one_pair_make_one_link() {
    let desk = tokio::task::spawn_blocking(Desk::new).await.unwrap();
    let store = Store::open(&desk.project().join("linkwright.db")).await.unwrap();
    let all = store.opportunities().all().await.unwrap();
    let revised = Opportunity { id: all[1].opportunity.id.clone(), ..all[0].opportunity.clone() };
    let twice = Decision {
        revised: Some(Box::new(revised)),
        ..Decision::new(&all[1].opportunity.id, State::Accepted, "Bob", "2026-12-01T00:00:00Z")
    };
    store.decisions().record(&twice).await.unwrap();
    store.close().await;
    let source = all[0].opportunity.source_url.clone();
    let written = tokio::task::spawn_blocking(move || desk.apply()).await.unwrap();
    let page = written.pages.iter().find(|page| page.source_url == source).unwrap();
    assert_eq!(
        (page.links.len(), page.skipped[0].code.as_str(), page.after.matches(&page.links[0].href).count()),
        (1, "already_linked", 1 + page.before.matches(&page.links[0].href).count())
    );
}

#[test]
fn a_project_that_was_moved_with_its_site_is_undone_where_it_is_now() {
    let desk = Desk::new();
    let before = desk.pages();
    let run = desk.apply().run.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for name in ["site", "project"] {
        fs::rename(desk.folder.path().join(name), elsewhere.path().join(name)).unwrap();
    }
    // The plan named the folder by a path that is gone; a new one names it where it is.
    let moved = Desk { folder: elsewhere };
    moved.plan();
    moved.undo(Undone::Run(run));
    assert_eq!(moved.pages(), before);
}

#[test]
fn a_link_that_was_put_in_by_hand_is_closed_and_not_written_again() {
    let desk = Desk::new();
    let shown = apply(&ApplyRequest { write: false, ..request(&desk.project()) }, &Silent).unwrap();
    let (by_hand, elsewhere) = (&shown.pages[0], &shown.pages[1]);
    fs::write(desk.site().join(&by_hand.location), &by_hand.after).unwrap();
    let link = &elsewhere.links[0];
    let text = elsewhere.before.replacen("</article>", &format!("<p>See <a href=\"{}\">this page</a>.</p></article>", link.href), 1);
    fs::write(desk.site().join(&elsewhere.location), text).unwrap();
    let before = desk.pages();
    let seen = desk.verify();
    let of = |url: &str| seen.links.iter().find(|link| link.source_url == url).map(|link| (link.seen, link.after)).unwrap();
    assert_eq!(of(&by_hand.source_url), (Seen::Observed, State::Observed));
    assert_eq!(of(&elsewhere.source_url), (Seen::Waiting, State::Accepted), "a link elsewhere on the page is another one");
    let written = desk.apply();
    let skipped = written.pages.iter().find(|page| page.location == elsewhere.location).unwrap();
    assert_eq!(skipped.skipped[0].code, "already_linked");
    let after = desk.pages();
    for path in [&by_hand.location, &elsewhere.location] {
        assert_eq!(before[path], after[path]);
    }
}

#[test]
fn a_rejected_pair_comes_back_when_a_page_changed_materially_and_says_so() {
    let desk = Desk::new();
    let first = decisions::queue(&desk.project()).unwrap()[0].opportunity.clone();
    let rejected = decisions::import(&desk.project(), &[row(&first.id, "reject")], "Ann", true).unwrap();
    assert_eq!(rejected.rejected, 1);
    let of_pair = || -> Vec<(State, Vec<String>)> {
        let queue = decisions::queue(&desk.project()).unwrap();
        let pair = queue
            .into_iter()
            .filter(|kept| (&kept.opportunity.source_url, &kept.opportunity.target_url) == (&first.source_url, &first.target_url));
        pair.map(|kept| (kept.state, kept.opportunity.flags)).collect()
    };
    let shown = apply(&ApplyRequest { write: false, ..request(&desk.project()) }, &Silent).unwrap();
    assert!(shown.pages.iter().all(|page| page.links.iter().all(|link| link.opportunity != first.id)));
    let path = first.source_url.trim_start_matches("https://example.com/").to_owned() + "index.html";
    let file = desk.site().join(path);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("</article>", "<p>A word more.</p></article>", 1)).unwrap();
    desk.plan();
    assert_eq!(of_pair().iter().map(|(state, _)| *state).collect::<Vec<_>>(), [State::Rejected], "a word is no reason to ask again");
    let much: String =
        (0..60).map(|n| format!("<p>Paragraph {n} says something new about ovens, flour number {n} and the morning.</p>")).collect();
    fs::write(&file, text.replacen("</article>", &format!("{much}</article>"), 1)).unwrap();
    desk.plan();
    let back = of_pair();
    let found = back.iter().find(|(state, _)| *state == State::Found);
    assert!(found.is_some_and(|(_, flags)| flags.contains(&"R04".to_owned())), "{back:?}");
}

/// Kills its process, as `kill -9` does, before a given step.
struct Killer {
    left: AtomicUsize,
}

impl Progress for Killer {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn step(&self, _: &str) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
    }
}

#[test]
fn child() {
    let (Ok(folder), Ok(step)) = (std::env::var(FOLDER), std::env::var(KILL_AT)) else { return };
    let killer = Killer { left: AtomicUsize::new(step.parse().unwrap()) };
    let project = PathBuf::from(folder);
    match std::env::var(UNDO) {
        Ok(run) => drop(undo(&undo_request(&project, Undone::Run(run.parse().unwrap())), &killer).unwrap()),
        Err(_) => drop(apply(&request(&project), &killer).unwrap()),
    }
}

/// Runs a child that is killed before a step; false when it came to its end before that.
fn killed(project: &Path, step: usize, undo: Option<i64>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env(FOLDER, project).env(KILL_AT, step.to_string());
    if let Some(run) = undo {
        command.env(UNDO, run.to_string());
    }
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success() || status.code().is_none(), "the child failed before step {step}: {status}");
    !status.success()
}

/// Puts site and project back to what they were.
fn restore(desk: &Desk, kept: &Path) {
    for name in ["site", "project"] {
        fs::remove_dir_all(desk.folder.path().join(name)).unwrap();
        copy(&kept.join(name), &desk.folder.path().join(name));
    }
}

#[test]
fn a_kill_at_any_step_leaves_every_page_before_or_after_and_the_next_run_completes() {
    let desk = Desk::new();
    // Three pages have every kind of step.
    let queue = decisions::queue(&desk.project()).unwrap();
    let withdrawn: Vec<DecisionRow> = queue.iter().skip(3).map(|kept| row(&kept.opportunity.id, "withdraw")).collect();
    decisions::import(&desk.project(), &withdrawn, "Ann", true).unwrap();
    let before = desk.pages();
    let start = tempfile::tempdir().unwrap();
    copy(desk.folder.path(), start.path());
    let run = desk.apply().run.unwrap();
    let after = desk.pages();
    let done = desk.edits();
    assert!(changed(&before, &after).len() >= 2);
    let end = tempfile::tempdir().unwrap();
    copy(desk.folder.path(), end.path());

    let whole = |step: usize| {
        for (path, bytes) in pages(&desk.site()).iter().filter(|(path, _)| !path.contains(".linkwright-new")) {
            assert!(bytes == &before[path] || bytes == &after[path], "{path} is torn after a kill at step {step}");
        }
    };
    let live = |desk: &Desk| {
        let mut live: Vec<String> = desk.edits().into_iter().filter(|(_, event)| *event == EditEvent::Written).map(|(id, _)| id).collect();
        live.sort();
        live
    };
    let mut steps = 0;
    restore(&desk, start.path());
    while killed(&desk.project(), steps + 1, None) {
        steps += 1;
        whole(steps);
        desk.apply();
        assert_eq!(desk.pages(), after, "kill at step {steps}");
        let mut expected: Vec<String> = done.iter().map(|(id, _)| id.clone()).collect();
        expected.sort();
        assert_eq!(live(&desk), expected, "the ledger after a kill at step {steps}");
        restore(&desk, start.path());
    }
    assert!(steps >= 15, "only {steps} steps of apply");

    steps = 0;
    restore(&desk, end.path());
    while killed(&desk.project(), steps + 1, Some(run)) {
        steps += 1;
        whole(steps);
        // What the killed run had taken out already is not there to be undone again.
        let _ = undo(&undo_request(&desk.project(), Undone::Run(run)), &Silent);
        assert_eq!(desk.pages(), before, "kill at step {steps} of undo");
        assert_eq!(
            (live(&desk).len(), desk.edits().iter().all(|(_, event)| *event == EditEvent::Undone)),
            (0, true),
            "step {steps} of undo"
        );
        restore(&desk, end.path());
    }
    assert!(steps >= 15, "only {steps} steps of undo");
}
