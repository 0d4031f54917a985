//! The store as its callers use it, on real files.

mod processes;

use super::*;
use linkwright_core::edit::{LinkAttributes, NewLink, Written};
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, Redirect, SourceFormat};
use linkwright_core::plan::{Gap, Opportunity, Plan, RunInfo};
use linkwright_core::span::Span;
use linkwright_core::url::PageUrl;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tempfile::TempDir;

const NOW: &str = "2026-12-01T00:00:00Z";

fn database() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(DATABASE_FILE);
    (folder, path)
}

async fn store() -> (TempDir, Store) {
    let (folder, path) = database();
    let store = Store::open(&path).await.unwrap();
    (folder, store)
}

fn page(path: &str, body: &str) -> FetchedPage {
    FetchedPage {
        url: PageUrl::parse(&format!("https://example.org{path}")).unwrap(),
        outcome: FetchOutcome::Fetched,
        status: 200,
        redirects: vec![Redirect { url: "https://example.org/old".to_owned(), status: 301 }],
        headers: FetchHeaders { etag: Some("\"a'b\"".to_owned()), ..FetchHeaders::default() },
        body: body.as_bytes().to_vec(),
        format: SourceFormat::Html,
        path: None,
        discovery: Discovery { sitemap: true, links: false },
        sitemap_lastmod: Some("2026-01-01".to_owned()),
        detail: None,
    }
}

fn failed(path: &str, outcome: FetchOutcome) -> FetchedPage {
    FetchedPage { outcome, body: Vec::new(), discovery: Discovery { sitemap: false, links: true }, ..page(path, "") }
}

fn crawl(scope: &str) -> NewCrawl {
    NewCrawl { site: "https://example.org/".to_owned(), scope: scope.to_owned(), started_at: NOW.to_owned() }
}

fn run() -> NewRun {
    let text = |text: &str| text.to_owned();
    NewRun {
        kind: text("plan"),
        site: text("https://example.org/"),
        base_url: text("https://example.org/"),
        started_at: text(NOW),
        version: text("0.1.0"),
        rules: text("1"),
        model: text("test"),
        settings: text("{}"),
    }
}

fn opportunity(id: &str, source: &str, score: f64) -> Opportunity {
    Opportunity {
        id: id.to_owned(),
        source_url: format!("https://example.org{source}"),
        source_title: "Source".to_owned(),
        target_url: "https://example.org/target".to_owned(),
        target_title: "Target".to_owned(),
        anchor: "two words".to_owned(),
        href: "/target".to_owned(),
        block_kind: linkwright_core::page::BlockKind::Paragraph,
        block_text: "Here are two words.".to_owned(),
        passage: Span::new(0, 19),
        anchor_span: Span::new(9, 18),
        source_span: Span::new(12, 21),
        source_hash: "00ff".to_owned(),
        section: None,
        score,
        signals: Vec::new(),
        flags: Vec::new(),
        target_inlinks: 0,
        target_orphan: None,
    }
}

fn plan(run: RunId, opportunities: Vec<Opportunity>) -> Plan {
    let text = |text: &str| text.to_owned();
    let gap = Gap {
        source_url: text("https://example.org/a"),
        source_title: text("A"),
        target_url: text("https://example.org/b"),
        target_title: text("B"),
        score: 0.5,
        reason: text("A01"),
        paragraph: None,
        target_orphan: None,
    };
    Plan {
        run: RunInfo {
            id: run.0,
            site: text("https://example.org/"),
            base_url: text("https://example.org/"),
            started_at: text(NOW),
            version: text("0.1.0"),
            model: text("test"),
            ranking: text("test"),
            score_kind: text("similarity"),
            partial: None,
            complete: true,
            settings_hash: String::new(),
            crawl: 1,
        },
        pages: Vec::new(),
        opportunities,
        gaps: vec![gap],
        overlaps: Vec::new(),
        guardrails: Vec::new(),
        anchors: Vec::new(),
        notices: Vec::new(),
    }
}

async fn finished_crawl(store: &Store, scope: &str, pages: &[FetchedPage]) -> CrawlId {
    let id = store.crawls().begin(&crawl(scope)).await.unwrap().id;
    store.pages().upsert(id, pages).await.unwrap();
    assert!(matches!(store.crawls().finish(id, NOW, Shrink::Accept).await.unwrap(), Finished::Done(_)));
    id
}

async fn count_bodies(store: &Store) -> i64 {
    let (count,): (i64,) = sqlx::query_as("SELECT count(*) FROM bodies").fetch_one(&store.reader).await.unwrap();
    count
}

#[tokio::test]
async fn pages_come_back_as_they_were_in_the_order_of_their_keys() {
    let (_folder, store) = store().await;
    let id = store.crawls().begin(&crawl("")).await.unwrap().id;
    let pages =
        [page("/b", "<p>b</p>"), page("/a?x=é'\"", &"<p>a</p>".repeat(999)), failed("/c", FetchOutcome::ClientError), page("/", "")];
    store.pages().upsert(id, &pages).await.unwrap();
    let mut expected = pages.to_vec();
    expected.sort_by_key(|page| page.url.key());
    assert_eq!(store.pages().all(id).await.unwrap(), expected);
    assert_eq!(store.pages().batch(id, Some(&expected[0].url.key()), 2).await.unwrap(), expected[1..3]);
    assert_eq!(store.pages().find(id, &pages[1].url.key()).await.unwrap().as_ref(), Some(&pages[1]));
    assert_eq!(store.pages().find(id, &page("/none", "").url.key()).await.unwrap(), None);
    assert_eq!(store.pages().outcomes(id).await.unwrap(), [(FetchOutcome::Fetched, 3), (FetchOutcome::ClientError, 1)].into());
}

#[tokio::test]
async fn all_reads_more_than_one_batch() {
    let (_folder, store) = store().await;
    let id = store.crawls().begin(&crawl("")).await.unwrap().id;
    let pages: Vec<FetchedPage> = (0..1_001).map(|n| page(&format!("/{n}"), "same")).collect();
    store.pages().upsert(id, &pages).await.unwrap();
    assert_eq!(store.pages().all(id).await.unwrap().len(), 1_001);
    assert_eq!(count_bodies(&store).await, 1);
}

#[tokio::test]
async fn a_redirect_to_its_own_page_does_not_cost_the_page() {
    let (_folder, store) = store().await;
    let id = store.crawls().begin(&crawl("")).await.unwrap().id;
    for order in [[0, 1], [1, 0]] {
        let both = [page("/a/", "body"), failed("/a", FetchOutcome::Redirected)];
        for at in order {
            store.pages().upsert(id, &both[at..=at]).await.unwrap();
        }
        let kept = store.pages().find(id, &both[0].url.key()).await.unwrap().unwrap();
        assert_eq!((kept.outcome, kept.body, kept.url), (FetchOutcome::Fetched, b"body".to_vec(), both[0].url.clone()));
        assert_eq!(kept.discovery, Discovery { sitemap: true, links: true });
    }
}

#[tokio::test]
async fn an_unchanged_page_has_the_body_of_the_crawl_before() {
    let (_folder, store) = store().await;
    finished_crawl(&store, "", &[page("/a", "first")]).await;
    let key = page("/a", "").url.key();
    assert_eq!(store.pages().known(&key).await.unwrap().unwrap().body, b"first");
    let id = finished_crawl(&store, "", &[failed("/a", FetchOutcome::Unchanged)]).await;
    assert_eq!(store.pages().find(id, &key).await.unwrap().unwrap().body, b"first");
    assert_eq!(store.pages().known(&key).await.unwrap().unwrap().body, b"first");
}

#[tokio::test]
async fn an_unfinished_crawl_is_continued_and_harms_nothing() {
    let (folder, store) = store().await;
    let first = finished_crawl(&store, "", &[page("/a", "old a"), page("/b", "old b")]).await;
    let second = store.crawls().begin(&crawl("")).await.unwrap();
    store.pages().upsert(second.id, &[page("/a", "new a")]).await.unwrap();
    store.close().await;

    let store = Store::open(&folder.path().join(DATABASE_FILE)).await.unwrap();
    assert_eq!(store.crawls().latest("https://example.org/", "").await.unwrap().unwrap().id, first);
    assert_eq!(store.pages().all(first).await.unwrap().len(), 2);
    let later = NewCrawl { started_at: "2027-01-01T00:00:00Z".to_owned(), ..crawl("") };
    assert_eq!(store.crawls().begin(&later).await.unwrap(), second);
    assert_ne!(store.crawls().begin(&crawl("--limit 5")).await.unwrap().id, second.id);
    let fresh = store.pages().fresh(second.id).await.unwrap();
    assert_eq!(fresh.keys().map(String::as_str).collect::<Vec<_>>(), ["example.org/a"]);

    store.crawls().finish(second.id, NOW, Shrink::Accept).await.unwrap();
    assert_eq!(store.crawls().latest("https://example.org/", "").await.unwrap().unwrap().id, second.id);
    assert_eq!(store.pages().all(first).await.unwrap(), []);
    assert_eq!(count_bodies(&store).await, 1, "bodies that no page has are removed");
    let error = store.pages().upsert(second.id, &[page("/z", "")]).await.unwrap_err();
    assert!(matches!(error, StoreError::NotRunning { what: "crawl", .. }), "{error}");
}

#[tokio::test]
async fn a_crawl_that_lost_more_than_a_fifth_is_refused_until_confirmed() {
    let (_folder, store) = store().await;
    let pages: Vec<FetchedPage> = (0..10).map(|n| page(&format!("/{n}"), &n.to_string())).collect();
    let first = finished_crawl(&store, "", &pages).await;
    let mut after = pages[..7].to_vec();
    after.extend((7..10).map(|n| failed(&format!("/{n}"), FetchOutcome::ServerError)));
    let second = store.crawls().begin(&crawl("")).await.unwrap().id;
    store.pages().upsert(second, &after).await.unwrap();

    let counts = Shrinkage { before: 10, after: 7 };
    assert_eq!(store.crawls().shrinkage(second).await.unwrap(), counts);
    assert_eq!(store.crawls().finish(second, NOW, Shrink::Refuse).await.unwrap(), Finished::Refused(counts));
    assert_eq!(store.pages().all(first).await.unwrap(), pages);
    assert_eq!(store.crawls().latest("https://example.org/", "").await.unwrap().unwrap().id, first);
    assert_eq!(store.crawls().begin(&crawl("")).await.unwrap().id, second);

    assert_eq!(store.crawls().finish(second, NOW, Shrink::Accept).await.unwrap(), Finished::Done(counts));
    assert_eq!(store.crawls().latest("https://example.org/", "").await.unwrap().unwrap().id, second);
}

#[test]
fn a_fifth_less_is_not_suspicious_and_more_is() {
    for (before, after, suspicious) in
        [(10, 8, false), (10, 7, true), (0, 0, false), (5, 4, false), (5, 3, true), (1, 0, true), (3, 9, false)]
    {
        assert_eq!(Shrinkage { before, after }.is_suspicious(), suspicious, "{before} {after}");
    }
}

#[tokio::test]
async fn a_pilot_does_not_cost_the_whole_crawl_and_discarding_drops_only_its_own() {
    let (_folder, store) = store().await;
    let whole = finished_crawl(&store, "", &[page("/a", "a"), page("/b", "b")]).await;
    let pilot = finished_crawl(&store, "--limit 1", &[page("/a", "a")]).await;
    let other = finished_crawl(&store, "--only /a", &[page("/a", "a")]).await;
    assert_eq!(store.pages().all(whole).await.unwrap().len(), 2);
    assert_eq!(store.pages().all(pilot).await.unwrap().len(), 0);
    let begun = store.crawls().begin(&crawl("")).await.unwrap().id;
    store.pages().upsert(begun, &[page("/c", "c")]).await.unwrap();
    store.crawls().discard(begun).await.unwrap();
    assert_eq!(count_bodies(&store).await, 2);
    assert!(matches!(store.crawls().discard(whole).await, Err(StoreError::NotRunning { .. })));
    assert_eq!(store.pages().all(whole).await.unwrap().len(), 2);
    assert_eq!(store.pages().all(other).await.unwrap().len(), 1);
}

#[tokio::test]
async fn vectors_come_back_for_their_model_only() {
    let (_folder, store) = store().await;
    let model = VectorModel { name: "small".to_owned(), dimensions: 2 };
    let other = VectorModel { name: "other".to_owned(), dimensions: 2 };
    let (a, b) = (TextHash::of(["a"]), TextHash::of(["b"]));
    store.vectors().put_many(&model, &[(a, &[1.0, -0.5]), (b, &[0.25; 4])]).await.unwrap();
    let found = store.vectors().get_many(&model, &[b, a, TextHash::of(["c"])]).await.unwrap();
    assert_eq!(found, [(a, vec![1.0, -0.5]), (b, vec![0.25; 4])].into());
    assert!(store.vectors().get_many(&other, &[a, b]).await.unwrap().is_empty());

    let wider = VectorModel { dimensions: 3, ..model.clone() };
    for result in [store.vectors().get_many(&wider, &[a]).await.map(drop), store.vectors().put_many(&wider, &[(a, &[0.0; 3])]).await] {
        assert!(matches!(result, Err(StoreError::ModelChanged { stored: 2, asked: 3, .. })));
    }
    let uneven = store.vectors().put_many(&model, &[(a, &[0.0; 3])]).await;
    assert!(matches!(uneven, Err(StoreError::VectorSize { values: 3, dimensions: 2, .. })));

    assert_eq!(store.vectors().prune(&other, &BTreeSet::new()).await.unwrap(), 0);
    assert_eq!(store.vectors().prune(&model, &BTreeSet::from([a])).await.unwrap(), 1);
    assert_eq!(store.vectors().get_many(&model, &[a, b]).await.unwrap().into_keys().collect::<Vec<_>>(), [a]);
}

#[test]
fn the_hash_of_texts_depends_on_where_they_are_cut() {
    assert_ne!(TextHash::of(["ab", "c"]), TextHash::of(["a", "bc"]));
    assert_ne!(TextHash::of(["a"]), TextHash::of(["a", ""]));
    assert_eq!(TextHash::of(["a", "b"]), TextHash::of(["a", "b"]));
}

#[tokio::test]
async fn a_killed_run_is_found_by_the_next() {
    let (_folder, store) = store().await;
    let first = store.runs().begin(&run()).await.unwrap();
    let second = store.runs().begin(&run()).await.unwrap();
    store.runs().finish(second, NOW, RunStatus::Finished).await.unwrap();
    let runs = store.runs().all().await.unwrap();
    assert_eq!(
        runs.iter().map(|run| (run.id, run.status)).collect::<Vec<_>>(),
        [(first, RunStatus::Interrupted), (second, RunStatus::Finished)]
    );
    assert_eq!((&runs[1].begun, runs[1].finished_at.as_deref()), (&run(), Some(NOW)));
    assert_eq!(store.runs().latest().await.unwrap().unwrap().id, second);
    assert!(matches!(store.runs().finish(first, NOW, RunStatus::Failed).await, Err(StoreError::NotRunning { .. })));
}

#[tokio::test]
async fn the_last_plans_are_kept_whole() {
    let (_folder, store) = store().await;
    assert_eq!(store.plans().latest().await.unwrap(), None);
    let mut runs = Vec::new();
    for n in 0..7 {
        let id = store.runs().begin(&run()).await.unwrap();
        store.plans().save(id, &plan(id, vec![opportunity("o", "/a", f64::from(n) / 10.0)])).await.unwrap();
        runs.push(id);
    }
    let last = plan(runs[6], vec![opportunity("o", "/a", 0.6)]);
    assert_eq!(store.plans().latest().await.unwrap().as_ref(), Some(&last));
    assert_eq!(store.plans().find(runs[2]).await.unwrap().unwrap().run.id, runs[2].0);
    assert_eq!(store.plans().find(runs[1]).await.unwrap(), None);
    assert_eq!(store.opportunities().gaps().await.unwrap(), last.gaps);
}

#[tokio::test]
async fn a_new_plan_keeps_decisions_and_expires_what_it_no_longer_proposes() {
    let (_folder, store) = store().await;
    let save = async |opportunities| {
        let id = store.runs().begin(&run()).await.unwrap();
        store.plans().save(id, &plan(id, opportunities)).await.unwrap();
    };
    save(["stays", "goes", "rejected", "accepted"].map(|id| opportunity(id, &format!("/{id}"), 0.5)).to_vec()).await;
    decide(&store, "rejected", State::Rejected).await.unwrap();
    decide(&store, "accepted", State::Accepted).await.unwrap();
    save(["stays", "rejected", "new"].map(|id| opportunity(id, &format!("/{id}"), 0.7)).to_vec()).await;

    let states: Vec<(State, Vec<(String, f64)>)> = in_states(&store).await;
    let expected = [
        (State::Found, vec![("new".to_owned(), 0.7), ("stays".to_owned(), 0.7)]),
        (State::Accepted, vec![("accepted".to_owned(), 0.5)]),
        (State::Rejected, vec![("rejected".to_owned(), 0.5)]),
        (State::Expired, vec![("goes".to_owned(), 0.5)]),
    ];
    assert_eq!(states, expected);
    save(vec![opportunity("goes", "/goes", 0.9)]).await;
    assert_eq!(store.opportunities().find("goes").await.unwrap().unwrap().state, State::Found);
}

async fn in_states(store: &Store) -> Vec<(State, Vec<(String, f64)>)> {
    let mut states = Vec::new();
    for state in State::ALL {
        let found = store.opportunities().in_state(state).await.unwrap();
        if !found.is_empty() {
            states.push((state, found.into_iter().map(|kept| (kept.opportunity.id, kept.opportunity.score)).collect()));
        }
    }
    states
}

async fn decide(store: &Store, id: &str, state: State) -> Result<i64, StoreError> {
    store.decisions().record(&decision(id, state)).await
}

fn decision(id: &str, state: State) -> Decision {
    let text = |text: &str| Some(text.to_owned());
    Decision { reason: text("because"), source_print: text("00ff"), target_print: text("beef"), ..Decision::new(id, state, "Ann", NOW) }
}

#[tokio::test]
async fn a_partial_plan_expires_only_on_the_pages_it_read() {
    let (_folder, store) = store().await;
    let first = store.runs().begin(&run()).await.unwrap();
    store.plans().save(first, &plan(first, vec![opportunity("a", "/a", 0.5), opportunity("b", "/b", 0.5)])).await.unwrap();
    let second = store.runs().begin(&run()).await.unwrap();
    let mut partial = plan(second, Vec::new());
    partial.run.partial = Some("--only /a".to_owned());
    partial.pages = vec![summary("https://example.org/a", FetchOutcome::Fetched), summary("https://example.org/b", FetchOutcome::LeftOut)];
    store.plans().save(second, &partial).await.unwrap();
    assert_eq!(in_states(&store).await, [(State::Found, vec![("b".to_owned(), 0.5)]), (State::Expired, vec![("a".to_owned(), 0.5)])]);
}

fn summary(url: &str, outcome: FetchOutcome) -> linkwright_core::plan::PageSummary {
    linkwright_core::plan::PageSummary {
        url: url.to_owned(),
        path: None,
        format: SourceFormat::Html,
        outcome,
        status: 200,
        detail: None,
        title: String::new(),
        language: String::new(),
        language_source: linkwright_core::page::LanguageSource::Unknown,
        words: 0,
        fingerprint: String::new(),
        published: None,
        in_sitemap: false,
        in_links: false,
        not_source: Vec::new(),
        not_target: Vec::new(),
        outlinks: 0,
        inlinks: 0,
        inlinks_all: 0,
        depth: None,
        orphan: None,
        authority: 0.0,
        opportunities: 0,
        proposed_inlinks: 0,
        gaps: 0,
        nothing: None,
    }
}

#[tokio::test]
async fn decisions_are_legal_recorded_and_never_changed() {
    let (_folder, store) = store().await;
    let id = store.runs().begin(&run()).await.unwrap();
    store.plans().save(id, &plan(id, vec![opportunity("o", "/a", 0.5)])).await.unwrap();
    let refused = decide(&store, "o", State::Published).await.unwrap_err();
    assert_eq!(refused.to_string(), "opportunity `o` is found and cannot become published");
    assert!(matches!(decide(&store, "none", State::Accepted).await, Err(StoreError::NoOpportunity { .. })));
    for state in [State::Accepted, State::Rejected] {
        decide(&store, "o", state).await.unwrap();
    }
    let history = store.decisions().of("o").await.unwrap();
    assert_eq!(
        history.iter().map(|(from, to)| (*from, to.state)).collect::<Vec<_>>(),
        [(State::Found, State::Accepted), (State::Accepted, State::Rejected)]
    );
    let pair = RejectedPair {
        source_key: "example.org/a".to_owned(),
        target_key: "example.org/target".to_owned(),
        source_print: Some("00ff".to_owned()),
        target_print: Some("beef".to_owned()),
    };
    assert_eq!(store.decisions().rejected_pairs().await.unwrap(), [pair]);
    for sql in ["UPDATE decisions SET reviewer = 'Eve'", "DELETE FROM decisions"] {
        assert!(sqlx::query(sql).execute(&store.writer).await.is_err(), "{sql}");
    }
}

#[tokio::test]
async fn a_decision_on_what_somebody_else_changed_is_a_conflict_that_names_them() {
    let (_folder, store) = planned(vec![opportunity("o", "/a", 0.5), opportunity("p", "/b", 0.5)]).await;
    let seen = |id: &str, seen: i64| Decision { seen: Some(seen), ..decision(id, State::Accepted) };
    let revision = store.decisions().record(&seen("o", 0)).await.unwrap();
    assert_eq!(store.opportunities().find("o").await.unwrap().unwrap().revision, revision);
    let late = Decision { reviewer: "Bob".to_owned(), ..decision("o", State::Rejected) };
    store.decisions().record(&late).await.unwrap();
    let refused = store.decisions().record(&seen("o", revision)).await.unwrap_err();
    assert_eq!(refused.to_string(), "opportunity `o` is rejected by now: Bob decided so at 2026-12-01T00:00:00Z");
    // All or none.
    let many = [seen("p", 0), seen("o", revision)];
    assert!(matches!(store.decisions().record_all(&many).await, Err(StoreError::Conflict { .. })));
    assert_eq!(store.opportunities().find("p").await.unwrap().unwrap().state, State::Found);
}

#[tokio::test]
async fn a_revision_lasts_as_long_as_its_decision() {
    let proposed = opportunity("o", "/a", 0.5);
    let (_folder, store) = planned(vec![proposed.clone()]).await;
    let other = Opportunity { anchor: "two".to_owned(), target_url: "https://example.org/other".to_owned(), ..proposed.clone() };
    let revised = |other: &Opportunity| Decision { revised: Some(Box::new(other.clone())), ..decision("o", State::Accepted) };
    store.decisions().record(&revised(&other)).await.unwrap();
    let again = Opportunity { anchor: "words".to_owned(), ..other.clone() };
    store.decisions().record(&revised(&again)).await.unwrap();
    let kept = store.opportunities().find("o").await.unwrap().unwrap();
    assert_eq!((&kept.opportunity, kept.proposed.as_deref()), (&again, Some(&proposed)));
    // The next plan proposes the same again, and the decision stands.
    let run = store.runs().begin(&run()).await.unwrap();
    store.plans().save(run, &plan(run, vec![proposed.clone()])).await.unwrap();
    assert_eq!(store.opportunities().find("o").await.unwrap().unwrap().opportunity, again);
    decide(&store, "o", State::Found).await.unwrap();
    let kept = store.opportunities().find("o").await.unwrap().unwrap();
    assert_eq!((kept.opportunity, kept.proposed), (proposed, None));
    let history = store.decisions().of("o").await.unwrap();
    assert_eq!(history[1].1.revised.as_deref(), Some(&again));
}

#[tokio::test]
async fn a_decided_pair_is_not_proposed_again_with_another_passage() {
    let (_folder, store) = planned(vec![opportunity("o", "/a", 0.5), opportunity("p", "/b", 0.5)]).await;
    decide(&store, "o", State::Accepted).await.unwrap();
    let run = store.runs().begin(&run()).await.unwrap();
    store.plans().save(run, &plan(run, vec![opportunity("other", "/a", 0.9), opportunity("new", "/b", 0.9)])).await.unwrap();
    let ids = in_states(&store).await.into_iter().map(|(state, found)| (state, found[0].0.clone()));
    let expected = [(State::Found, "new"), (State::Accepted, "o"), (State::Expired, "p")];
    assert_eq!(ids.collect::<Vec<_>>(), expected.map(|(state, id)| (state, id.to_owned())));
}

#[tokio::test]
async fn a_rejected_opportunity_comes_back_only_when_the_plan_says_that_a_page_changed() {
    let (_folder, store) = planned(vec![opportunity("o", "/a", 0.5)]).await;
    decide(&store, "o", State::Rejected).await.unwrap();
    let run = store.runs().begin(&run()).await.unwrap();
    store.plans().save(run, &plan(run, vec![opportunity("o", "/a", 0.6)])).await.unwrap();
    assert_eq!(store.opportunities().find("o").await.unwrap().unwrap().state, State::Rejected);
    let flagged = Opportunity { flags: vec!["R04".to_owned()], ..opportunity("o", "/a", 0.7) };
    store.plans().save(run, &plan(run, vec![flagged.clone()])).await.unwrap();
    let kept = store.opportunities().find("o").await.unwrap().unwrap();
    assert_eq!((kept.state, kept.opportunity), (State::Found, flagged));
    assert_eq!(store.decisions().of("o").await.unwrap().last().unwrap().1.reviewer, "linkwright");
}

#[tokio::test]
async fn notes_stay_with_their_opportunity() {
    let (_folder, store) = planned(vec![opportunity("o", "/a", 0.5)]).await;
    let text = |text: &str| text.to_owned();
    let note = Note { opportunity: text("o"), reviewer: text("Ann"), written_at: text(NOW), text: text("ask \"Bob\" <b>") };
    store.decisions().add_note(&note).await.unwrap();
    assert_eq!(store.decisions().notes("o").await.unwrap(), std::slice::from_ref(&note));
    let lost = Note { opportunity: text("none"), ..note };
    assert!(matches!(store.decisions().add_note(&lost).await, Err(StoreError::NoOpportunity { .. })));
}

/// A project with one plan.
async fn planned(opportunities: Vec<Opportunity>) -> (TempDir, Store) {
    let (folder, store) = store().await;
    let id = store.runs().begin(&run()).await.unwrap();
    store.plans().save(id, &plan(id, opportunities)).await.unwrap();
    (folder, store)
}

fn new_edit(opportunity: &str) -> NewEdit {
    let text = |text: &str| text.to_owned();
    NewEdit {
        opportunity: text(opportunity),
        publisher: PublisherKind::Folder,
        site: text("/site"),
        location: text("a/index.html"),
        source_url: text("https://example.org/a"),
        target_url: text("https://example.org/target"),
        format: SourceFormat::Html,
        link: NewLink { href: text("/target"), anchor: text("two words"), attributes: LinkAttributes::default() },
        passage: text("Here are two words."),
        hash_before: text("aa"),
        hash_after: text("bb"),
        written: Written {
            place: 12,
            opening: b"<a href=\"/target\">".to_vec(),
            words: b"two\xffwords".to_vec(),
            closing: b"</a>".to_vec(),
            definition: Some((99, b"\n[a]: /b".to_vec())),
            before: b"Here are ".to_vec(),
            after: Vec::new(),
        },
    }
}

#[tokio::test]
async fn the_ledger_gives_back_what_was_written_and_is_never_changed() {
    let (_folder, store) = planned(vec![opportunity("o", "/a", 0.5)]).await;
    decide(&store, "o", State::Accepted).await.unwrap();
    let run = store.runs().begin(&NewRun { kind: "apply".to_owned(), ..run() }).await.unwrap();
    let ids = store.ledger().begin(run, &[new_edit("o")], NOW, "Ann").await.unwrap();
    let edits = store.ledger().edits().await.unwrap();
    assert_eq!((edits.len(), &edits[0].edit, edits[0].is_open(), edits[0].is_live()), (1, &new_edit("o"), true, false));
    let entry = |event| Entry { edit: ids[0], run, event, at: NOW.to_owned(), who: "Ann".to_owned(), hash: "bb".to_owned(), detail: None };
    // One step: an entry whose decision is refused is not kept.
    let illegal = [decision("o", State::Observed), decision("o", State::Rejected)];
    assert!(store.ledger().record(&[entry(EditEvent::Written)], &illegal).await.is_err());
    assert!(store.ledger().edits().await.unwrap()[0].is_open());
    store.ledger().record(&[entry(EditEvent::Written)], &[decision("o", State::Published)]).await.unwrap();
    store.ledger().record(&[entry(EditEvent::Observed)], &[]).await.unwrap();
    assert!(store.ledger().edits().await.unwrap()[0].is_live());
    let events: Vec<EditEvent> = store.ledger().entries(ids[0]).await.unwrap().into_iter().map(|entry| entry.event).collect();
    assert_eq!(events, [EditEvent::Begun, EditEvent::Written, EditEvent::Observed]);
    for sql in ["UPDATE ledger SET event = 'undone'", "DELETE FROM ledger", "UPDATE edits SET place = 1", "DELETE FROM edits"] {
        assert!(sqlx::query(sql).execute(&store.writer).await.is_err(), "{sql}");
    }
}

#[test]
fn every_state_can_be_reached_from_found_and_none_becomes_itself() {
    let mut reached = BTreeSet::from([State::Found]);
    for _ in State::ALL {
        let next: Vec<State> = State::ALL.into_iter().filter(|to| reached.iter().any(|from| from.may_become(*to))).collect();
        reached.extend(next);
    }
    assert_eq!(reached.len(), State::ALL.len());
    assert!(State::ALL.into_iter().all(|state| !state.may_become(state)));
    assert!(!State::Found.may_become(State::Published));
}

// What can be wrong with the file.

async fn refused(path: &std::path::Path) -> StoreError {
    let error = Store::open(path).await.unwrap_err();
    let sentence = error.to_string();
    assert!(!sentence.contains('\n') && !error.hint().is_empty(), "{sentence}");
    error
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let (_folder, path) = database();
    let bytes = b"dear diary, ".repeat(999);
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(refused(&path).await, StoreError::Damaged { .. }));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn a_damaged_database_is_said_so_and_left_alone() {
    let (_folder, path) = database();
    let store = Store::open(&path).await.unwrap();
    finished_crawl(&store, "", &[page("/a", &"<p>text</p>".repeat(9_999))]).await;
    store.close().await;
    let mut bytes = std::fs::read(&path).unwrap();
    // Everything but the header: what a failing disk or a half copied file looks like.
    bytes[100..].fill(0x5a);
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(refused(&path).await, StoreError::Damaged { .. }));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let (_folder, path) = database();
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("CREATE TABLE bookmarks (url TEXT)").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(matches!(refused(&path).await, StoreError::Foreign { .. }));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let (_folder, path) = database();
    let store = Store::open(&path).await.unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (999, 'later', 1, x'00', 0)",
    )
    .execute(&store.writer)
    .await
    .unwrap();
    store.close().await;
    assert!(matches!(refused(&path).await, StoreError::NewerSchema { schema: 999, .. }));
}

#[tokio::test]
async fn a_folder_in_place_of_the_file_and_a_missing_folder_are_said_so() {
    let (folder, path) = database();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(refused(&path).await, StoreError::Unreadable { .. }));
    assert!(matches!(refused(&folder.path().join("none").join("x.db")).await, StoreError::ReadOnly { .. } | StoreError::Unreadable { .. }));
}

#[tokio::test]
async fn an_empty_file_and_a_first_opening_that_was_killed_become_a_database() {
    let (_folder, path) = database();
    std::fs::write(&path, b"").unwrap();
    Store::open(&path).await.unwrap().close().await;

    let (_folder, path) = database();
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut begun = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::migrate::Migrate::ensure_migrations_table(&mut begun, "_sqlx_migrations").await.unwrap();
    begun.close().await.unwrap();
    Store::open(&path).await.unwrap().close().await;
}

#[tokio::test]
async fn a_full_disk_is_said_so_and_loses_nothing() {
    let (_folder, store) = store().await;
    let id = store.crawls().begin(&crawl("")).await.unwrap().id;
    store.pages().upsert(id, &[page("/a", "a")]).await.unwrap();
    sqlx::query("PRAGMA max_page_count = 1").execute(&store.writer).await.unwrap();
    let noise: Vec<f32> = (0..100_000).map(|n| n as f32).collect();
    let model = VectorModel { name: "small".to_owned(), dimensions: 1 };
    let error = store.vectors().put_many(&model, &[(TextHash::of(["a"]), &noise)]).await.unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert_eq!(store.pages().all(id).await.unwrap().len(), 1);

    sqlx::query("PRAGMA max_page_count = 1000000").execute(&store.writer).await.unwrap();
    store.vectors().put_many(&model, &[(TextHash::of(["a"]), &noise)]).await.unwrap();
}

#[tokio::test]
async fn a_change_that_is_dropped_half_way_did_not_happen() {
    let (_folder, store) = store().await;
    let id = store.crawls().begin(&crawl("")).await.unwrap().id;
    let pages: Vec<FetchedPage> = (0..200).map(|n| page(&format!("/{n}"), &n.to_string())).collect();
    let stopped = tokio::time::timeout(Duration::from_millis(5), store.pages().upsert(id, &pages)).await;
    let kept = store.pages().all(id).await.unwrap().len();
    assert_eq!(kept, if stopped.is_ok() { 200 } else { 0 });
    store.pages().upsert(id, &pages).await.unwrap();
    assert_eq!(store.pages().all(id).await.unwrap().len(), 200);
}

#[tokio::test]
async fn a_page_that_cannot_be_read_back_is_an_error_not_a_guess() {
    let (_folder, store) = store().await;
    let id = store.crawls().begin(&crawl("")).await.unwrap().id;
    store.pages().upsert(id, &[page("/a", &"text ".repeat(99))]).await.unwrap();
    sqlx::query("UPDATE bodies SET bytes = x'ffff'").execute(&store.writer).await.unwrap();
    assert!(matches!(store.pages().all(id).await, Err(StoreError::Unfit { .. })));
}
