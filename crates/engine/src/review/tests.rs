//! Filters, conflicts, revisions and the effect on a small site.

use super::*;
use crate::plan::{PlanRequest, plan};
use crate::progress::Silent;
use linkwright_core::span::Span;
use std::fmt::Write as _;
use tempfile::TempDir;

const FILLER: &str = "Bread needs time, flour and a warm place before it is baked in a hot oven. ";

/// A site of a few pages whose texts name each other.
fn site(folder: &Path) {
    let page = |name: &str, title: &str, body: &str| {
        let mut text = String::new();
        for number in 0..14 {
            write!(text, "<p>{FILLER}This is paragraph {number} about {title}. {title} keeps bakers busy in week {number}.</p>").unwrap();
        }
        let html = format!(
            "<!doctype html><html lang=en><head><title>{title}</title></head><body><nav><a href=/>Home</a> <a href=/blog/starter/>Starter</a></nav>\
             <main><h1>{title}</h1><h2 id=more>More</h2><p>{body}</p>{text}</main></body></html>"
        );
        let path = folder.join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("index.html"), html).unwrap();
    };
    page("", "Home", "<a href=/blog/rye/>Rye</a> and <a href=/docs/oven/>ovens</a>.");
    page("blog/rye", "Rye bread", "Feed the sourdough starter before you bake. A hot Dutch oven helps the crust of every loaf.");
    page(
        "blog/starter",
        "Sourdough starter",
        "A lively starter raises rye bread and wheat. Read about <a href=/docs/oven/>the oven</a> as well.",
    );
    page("docs/oven", "Dutch oven", "Heat the Dutch oven. Rye bread bakes best in it, and the sourdough starter shows its strength there.");
    page("docs/lost", "Proofing basket", "A proofing basket holds the loaf. Put rye bread in it, then into a Dutch oven.");
}

struct Project {
    folder: TempDir,
    review: Review,
}

async fn project() -> Project {
    let folder = tempfile::tempdir().unwrap();
    site(&folder.path().join("site"));
    let site = folder.path().join("site");
    planned(folder, &site, &[("relevance.floor".to_owned(), "0.0".to_owned())]).await
}

/// The example site, which is rich enough for filters.
async fn example() -> Project {
    planned(tempfile::tempdir().unwrap(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site"), &[]).await
}

async fn planned(folder: TempDir, site: &Path, overrides: &[(String, String)]) -> Project {
    let request = PlanRequest {
        site: site.display().to_string(),
        project: folder.path().join("project"),
        base_url: Some("https://bread.example/".to_owned()),
        overrides: overrides.to_vec(),
        ..PlanRequest::default()
    };
    tokio::task::spawn_blocking(move || plan(&request, &Silent).unwrap()).await.unwrap();
    let review = Review::open(&folder.path().join("project")).await.unwrap();
    Project { folder, review }
}

async fn ready(review: &Review) {
    for _ in 0..400 {
        if review.is_ready() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("the site was never read: {:?}", review.readiness());
}

async fn waiting(review: &Review) -> Vec<Arc<StoredOpportunity>> {
    review.queue(&Filter::default()).await.unwrap().items
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_let_through_what_they_say() {
    let project = example().await;
    let review = &project.review;
    let all = waiting(review).await;
    assert!(all.len() >= 3, "the site is too poor: {all:?}");
    let count = async |filter: Filter| review.queue(&filter).await.unwrap().items.len();
    let blog = review.queue(&Filter { section: "/blog".to_owned(), ..Filter::default() }).await.unwrap();
    assert!(!blog.items.is_empty() && blog.items.len() < all.len());
    assert!(blog.items.iter().all(|item| item.opportunity.source_url.contains("/blog/")));
    let (english, german) = ("en".to_owned(), "de".to_owned());
    let (english, german) =
        (count(Filter { language: english, ..Filter::default() }).await, count(Filter { language: german, ..Filter::default() }).await);
    assert!(english > 0 && german > 0 && english + german == all.len());
    assert_eq!(count(Filter { least: 100, ..Filter::default() }).await, all.iter().filter(|item| item.opportunity.score >= 1.0).count());
    let word = all[0].opportunity.anchor.to_uppercase();
    let found = review.queue(&Filter { search: word, ..Filter::default() }).await.unwrap().items;
    assert!(found.iter().any(|item| item.opportunity.id == all[0].opportunity.id));
    assert_eq!(count(Filter { search: "no such words".to_owned(), ..Filter::default() }).await, 0);
    let target = all[0].opportunity.target_url.clone();
    let to = review.queue(&Filter { target: target.clone(), ..Filter::default() }).await.unwrap().items;
    assert!(to.iter().all(|item| item.opportunity.target_url == target));
    assert!(all.len() > to.len());
    let by_source = review.queue(&Filter { sort: Sort::Source, ..Filter::default() }).await.unwrap().items;
    assert!(by_source.windows(2).all(|pair| pair[0].opportunity.source_url <= pair[1].opportunity.source_url));
    let only = review.queue(&Filter { orphans: Orphans::Only, ..Filter::default() }).await.unwrap().items;
    assert!(only.iter().all(|item| item.opportunity.target_orphan == Some(true)));
    let first = review.queue(&Filter { orphans: Orphans::First, ..Filter::default() }).await.unwrap().items;
    assert_eq!(first.len(), all.len());
    assert!(first.iter().take(only.len()).all(|item| item.opportunity.target_orphan == Some(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_on_what_somebody_else_decided_is_a_conflict_and_changes_nothing() {
    let project = project().await;
    let anna = &project.review;
    // Another process on the same project.
    let ben = Review::open(&project.folder.path().join("project")).await.unwrap();
    let item = waiting(anna).await[0].clone();
    let (id, seen) = (item.opportunity.id.as_str(), item.revision);
    assert_eq!(waiting(&ben).await[0].opportunity.id, id);
    anna.decide(id, &Verdict::Accept, seen, "Anna").await.unwrap();
    let refused = ben.decide(id, &Verdict::Reject { reason: None }, seen, "Ben").await.unwrap_err();
    assert!(matches!(&refused, ReviewError::Conflict { state: State::Accepted, reviewer, .. } if reviewer == "Anna"), "{refused:?}");
    // Ben sees what Anna did without being told to look, and may decide on that.
    let now = ben.find(id).await.unwrap();
    assert_eq!(now.state, State::Accepted);
    ben.decide(id, &Verdict::Reject { reason: Some("off topic".to_owned()) }, now.revision, "Ben").await.unwrap();
    let history = anna.item(id).await.unwrap().history;
    let told: Vec<(&str, State)> = history.iter().map(|(_, decision)| (decision.reviewer.as_str(), decision.state)).collect();
    assert_eq!(told, [("Anna", State::Accepted), ("Ben", State::Rejected)]);
    assert!(history.iter().all(|(_, decision)| decision.source_print.is_some() && decision.target_print.is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_decision_leaves_the_opportunity_as_it_was_proposed() {
    let project = project().await;
    let review = &project.review;
    let item = waiting(review).await[0].clone();
    let id = item.opportunity.id.as_str();
    let revision = review.decide(id, &Verdict::Reject { reason: None }, item.revision, "Anna").await.unwrap();
    assert!(waiting(review).await.iter().all(|other| other.opportunity.id != id));
    review.decide(id, &Verdict::Withdraw, revision, "Anna").await.unwrap();
    let back = review.find(id).await.unwrap();
    assert_eq!((back.state, &back.opportunity), (State::Found, &item.opportunity));
    let refused = review.decide(id, &Verdict::Withdraw, back.revision, "Anna").await.unwrap_err();
    assert!(matches!(refused, ReviewError::Refused(_)), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_decisions_at_once_lose_none() {
    let project = project().await;
    let other = Review::open(&project.folder.path().join("project")).await.unwrap();
    let items = waiting(&project.review).await;
    let mut tasks = Vec::new();
    for (number, item) in items.iter().cloned().enumerate() {
        for (review, name) in [(project.review.clone(), "Anna"), (other.clone(), "Ben")] {
            let item = Arc::clone(&item);
            let verdict = if number % 2 == 0 { Verdict::Accept } else { Verdict::Reject { reason: None } };
            tasks.push(tokio::spawn(async move { review.decide(&item.opportunity.id, &verdict, item.revision, name).await }));
        }
    }
    let mut taken = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => taken += 1,
            Err(error) => assert!(matches!(error, ReviewError::Conflict { .. }), "{error:?}"),
        }
    }
    assert_eq!(taken, items.len(), "each opportunity has exactly one decision");
    for review in [&project.review, &other] {
        assert!(waiting(review).await.is_empty());
        let all = review.queue(&Filter { show: Show::All, ..Filter::default() }).await.unwrap();
        assert_eq!(all.progress.accepted + all.progress.rejected, items.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_decision_takes_exactly_the_list_that_was_seen() {
    let project = project().await;
    let review = &project.review;
    let filter = Filter::default();
    let seen = review.select(&filter, &Verdict::Accept).await.unwrap();
    assert_eq!((seen.count, seen.left), (waiting(review).await.len(), 0));
    let first = waiting(review).await[0].clone();
    review.decide(&first.opportunity.id, &Verdict::Reject { reason: None }, first.revision, "Anna").await.unwrap();
    let refused = review.bulk(&filter, &Verdict::Accept, &seen.stamp, "Ben").await.unwrap_err();
    assert!(matches!(refused, ReviewError::ListChanged), "{refused:?}");
    let seen = review.select(&filter, &Verdict::Accept).await.unwrap();
    assert_eq!(review.bulk(&filter, &Verdict::Accept, &seen.stamp, "Ben").await.unwrap(), seen.count);
    assert!(waiting(review).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_is_written_in_memory_before_it_is_taken() {
    let project = project().await;
    let review = &project.review;
    ready(review).await;
    let rye = "https://bread.example/blog/rye/";
    let filter = Filter { source: rye.to_owned(), ..Filter::default() };
    let item = review.queue(&filter).await.unwrap().items[0].clone();
    let id = item.opportunity.id.as_str();
    let blocks = review.contents(rye).await.unwrap();
    let block = blocks.iter().find(|block| block.text.starts_with("Feed the sourdough")).unwrap();
    let heading = blocks.iter().find(|block| block.text == "More").unwrap();
    let at = |words: &str| {
        let start = block.text.find(words).unwrap();
        Place::At { block: block.number, span: Span::new(start, start + words.len()) }
    };
    let wish = |place: Place, target: &str| Revision { place, target_url: format!("https://bread.example{target}"), section: None };
    let other = if item.opportunity.target_url.ends_with("/starter/") { "/docs/oven/" } else { "/blog/starter/" };
    let good = review.check_revision(id, &wish(at("the sourdough starter"), other)).await.unwrap();
    assert_eq!(good.opportunity.anchor, "the sourdough starter");
    assert!(good.opportunity.target_url.ends_with(other));
    assert!(good.warnings.iter().any(|warning| warning.contains("no meaning")), "{:?}", good.warnings);
    let refusals = [
        (wish(Place::At { block: heading.number, span: Span::new(0, 4) }, other), "in a heading"),
        (wish(Place::At { block: block.number, span: Span::new(0, 9000) }, other), "not in the page"),
        (wish(Place::At { block: 9999, span: Span::new(0, 1) }, other), "not in the page"),
        (wish(at("sourdough starter"), "/blog/rye/"), "does not link to itself"),
        (wish(at("sourdough starter"), "/nowhere/"), "no page of the last plan"),
        (wish(Place::Words { block: None, words: "words that nobody wrote".to_owned() }, other), "do not stand in the page"),
        (wish(Place::Words { block: None, words: "flour".to_owned() }, other), "more than once"),
        (Revision { section: Some("nope".to_owned()), ..wish(at("sourdough starter"), other) }, "no section"),
    ];
    for (revision, sentence) in refusals {
        let refused = review.check_revision(id, &revision).await.unwrap_err();
        assert!(matches!(&refused, ReviewError::Refused(reason) if reason.contains(sentence)), "{sentence}: {refused:?}");
    }
    let section = Revision { section: Some("more".to_owned()), ..wish(at("sourdough starter"), other) };
    review.revise(id, &section, item.revision, "Anna").await.unwrap();
    let revised = review.find(id).await.unwrap();
    assert_eq!((revised.state, revised.opportunity.anchor.as_str()), (State::Accepted, "sourdough starter"));
    assert!(revised.opportunity.href.ends_with("#more"), "{}", revised.opportunity.href);
    assert_eq!(revised.proposed.as_deref(), Some(&item.opportunity));
    assert_eq!(&revised.opportunity.block_text[revised.opportunity.passage.range()], "Feed the sourdough starter before you bake.");
    let late = review.revise(id, &section, item.revision, "Ben").await.unwrap_err();
    assert!(matches!(late, ReviewError::Conflict { .. }), "{late:?}");
    review.decide(id, &Verdict::Withdraw, revised.revision, "Anna").await.unwrap();
    assert_eq!(review.find(id).await.unwrap().opportunity, item.opportunity);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_passage_that_names_the_target_is_offered() {
    let project = project().await;
    let review = &project.review;
    ready(review).await;
    let lost = "https://bread.example/docs/lost/";
    let filter = Filter { source: lost.to_owned(), show: Show::All, ..Filter::default() };
    let item = review.queue(&filter).await.unwrap().items[0].clone();
    let target =
        if item.opportunity.anchor.contains("rye") { "https://bread.example/docs/oven/" } else { "https://bread.example/blog/rye/" };
    let desk = review.desk(&item.opportunity.id, Some(target)).await.unwrap();
    assert!(desk.place.is_some());
    let words: Vec<&str> = desk.suggestions.iter().map(|offer| &offer.text[offer.span.range()]).collect();
    assert!(words.contains(&"Dutch oven") || words.contains(&"rye bread"), "{words:?}");
    for offer in &desk.suggestions {
        let revision = Revision { place: Place::At { block: offer.block, span: offer.span }, target_url: target.to_owned(), section: None };
        review.check_revision(&item.opportunity.id, &revision).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_links_end_orphans_and_the_effect_says_so() {
    let project = project().await;
    let review = &project.review;
    ready(review).await;
    let none = review.effect().await.unwrap().unwrap();
    assert_eq!((none.links, &none.before), (0, &none.after));
    let orphans = review.orphans().await.unwrap();
    assert!(orphans.iter().any(|row| row.summary.url.ends_with("/docs/lost/")), "{orphans:?}");
    assert_eq!(none.before.orphans, Some(orphans.len()));
    let rye = review.queue(&Filter { source: "/blog/rye/".to_owned(), ..Filter::default() }).await.unwrap().items[0].clone();
    let lost = Revision {
        place: Place::Words { block: None, words: "Feed the sourdough starter".to_owned() },
        target_url: "https://bread.example/docs/lost/".to_owned(),
        section: None,
    };
    review.revise(&rye.opportunity.id, &lost, rye.revision, "Anna").await.unwrap();
    let effect = review.effect().await.unwrap().unwrap();
    assert_eq!(effect.links, 1);
    assert_eq!(effect.after.body_links, effect.before.body_links + 1);
    assert_eq!(effect.after.orphans, Some(orphans.len() - 1));
    assert!(effect.adopted.iter().any(|page| page.url.ends_with("/docs/lost/") && page.after == Some(1.0)));
    assert!(effect.stronger.iter().any(|page| page.url.ends_with("/docs/lost/")));
    assert!(
        effect.nearer.iter().any(|page| page.url.ends_with("/docs/lost/") && page.before.is_none() && page.after == Some(2.0)),
        "{effect:?}"
    );
    let picture = review.graph().await.unwrap().unwrap();
    assert_eq!(picture.edges.iter().filter(|edge| edge.kind == EdgeKind::Accepted).count(), 1);
    assert_eq!(review.graph().await.unwrap().unwrap(), picture, "the same picture each time");
    let page = review.page("https://bread.example/docs/lost/").await.unwrap();
    assert_eq!(page.into.len(), 1);
    assert!(page.links.is_some());
    assert!(review.anchors().await.unwrap().iter().any(|row| row.url.ends_with("/docs/lost/") && row.anchors[0].accepted == 1));
    assert_eq!(review.runs().await.unwrap().len(), 1);
}

#[test]
fn sections_are_the_first_segment_of_the_path() {
    let cases = [
        ("https://a.example/", "/"),
        ("https://a.example", "/"),
        ("https://a.example/about", "/"),
        ("https://a.example/blog/", "/blog"),
        ("https://a.example/blog/a/b?x=/y/", "/blog"),
        ("https://a.example/?q=/a/b", "/"),
    ];
    for (url, section) in cases {
        assert_eq!(first_segment(url), section, "{url}");
    }
}
