//! A small plan for tests of the outputs, and a way to make it as large as a big site's.

use linkwright_core::eval::{AnchorAgreement, Bin, Calibration, Estimate, Evaluation, Figures, LeakCheck, Row, RowKind, Suspicion};
use linkwright_core::guardrail;
use linkwright_core::page::{BlockKind, FetchOutcome, LanguageSource, SourceFormat};
use linkwright_core::plan::{
    Gap, GuardrailCount, Notice, Opportunity, Overlap, OverlapKind, PageSummary, Plan, RunInfo, Signal, TargetAnchors,
};
use linkwright_core::span::Span;

const BASE: &str = "https://harbour-bakery.example";
const PARAGRAPH: &str = "Rye behaves differently. It has little gluten, so a rye sourdough starter rises by gas alone, and the loaf \
    must be baked the moment it is ready. Wait an hour too long and the crumb turns to paste.";

fn url(path: &str) -> String {
    format!("{BASE}{path}")
}

/// A page that was read and has nothing special about it.
pub(crate) fn page(path: &str, title: &str) -> PageSummary {
    PageSummary {
        url: url(path),
        path: Some(format!("{}index.html", path.trim_start_matches('/'))),
        format: SourceFormat::Html,
        outcome: FetchOutcome::Fetched,
        status: 200,
        detail: None,
        title: title.to_owned(),
        language: "en".to_owned(),
        language_source: LanguageSource::Declared,
        words: 512,
        fingerprint: String::new(),
        published: Some("2026-03-14".to_owned()),
        in_sitemap: true,
        in_links: true,
        not_source: Vec::new(),
        not_target: Vec::new(),
        outlinks: 2,
        inlinks: 1,
        inlinks_all: 9,
        depth: Some(2),
        orphan: Some(false),
        authority: 1.0,
        opportunities: 0,
        proposed_inlinks: 0,
        gaps: 0,
        nothing: None,
    }
}

/// An opportunity in `PARAGRAPH`.
pub(crate) fn opportunity(source: &str, target: &str, score: f64) -> Opportunity {
    let at = |words: &str| {
        let start = PARAGRAPH.find(words).expect("the words are in the paragraph");
        Span::new(start, start + words.len())
    };
    Opportunity {
        id: format!("{source}->{target}"),
        source_url: url(source),
        source_title: "Why rye is another bread".to_owned(),
        target_url: url(target),
        target_title: "Keeping a rye sourdough starter".to_owned(),
        anchor: "rye sourdough starter".to_owned(),
        href: target.to_owned(),
        block_kind: BlockKind::Paragraph,
        block_text: PARAGRAPH.to_owned(),
        passage: at(
            "It has little gluten, so a rye sourdough starter rises by gas alone, and the loaf must be baked the moment it is ready.",
        ),
        anchor_span: at("rye sourdough starter"),
        source_span: Span::new(1200, 1221),
        source_hash: "00".repeat(32),
        section: Some("Time".to_owned()),
        score,
        signals: vec![
            Signal { name: "page_similarity".to_owned(), value: 0.71, part: 0.4, words: "the pages are about the same subject".to_owned() },
            Signal { name: "title_phrase".to_owned(), value: 1.0, part: 0.3, words: "the anchor is in the target's title".to_owned() },
        ],
        flags: vec!["R03".to_owned()],
        target_inlinks: 0,
        target_orphan: Some(true),
    }
}

/// What a rule did, by its code.
fn guardrail(code: &str, removed: u64, flagged: u64) -> GuardrailCount {
    let counts = guardrail::Counts::default().table();
    let row = counts.into_iter().find(|row| row.code == code).unwrap_or_else(|| panic!("no rule {code}"));
    GuardrailCount { removed, flagged, ..row }
}

/// Six pages, two opportunities, a gap, an orphan, an overlap.
pub(crate) fn plan() -> Plan {
    let starter =
        PageSummary { orphan: Some(true), inlinks: 0, proposed_inlinks: 1, ..page("/starter/", "Keeping a rye sourdough starter") };
    let rye = PageSummary { opportunities: 2, gaps: 1, ..page("/rye/", "Why rye is another bread") };
    let thin =
        PageSummary { words: 40, not_source: vec!["P07".to_owned()], not_target: vec!["P07".to_owned()], ..page("/hours/", "Hours") };
    let silent = PageSummary { nothing: Some("N01".to_owned()), ..page("/ovens/", "Three ovens compared") };
    let missing =
        PageSummary { outcome: FetchOutcome::ClientError, status: 404, detail: Some("404 Not Found".to_owned()), ..page("/gone/", "") };
    let salt = PageSummary { proposed_inlinks: 1, ..page("/salt/", "How much salt") };
    Plan {
        run: RunInfo {
            id: 3,
            crawl: 3,
            site: "examples/site".to_owned(),
            base_url: format!("{BASE}/"),
            started_at: "2026-11-30T09:30:00Z".to_owned(),
            version: "0.1.0".to_owned(),
            model: "all-MiniLM-L6-v2 int8".to_owned(),
            ranking: "rank fusion of meaning, words, titles and known anchors".to_owned(),
            score_kind: "similarity".to_owned(),
            partial: None,
            complete: true,
            settings_hash: "ab".repeat(32),
        },
        pages: vec![missing, thin, silent, rye, salt, starter],
        opportunities: vec![opportunity("/rye/", "/starter/", 0.81234), opportunity("/rye/", "/salt/", 0.5)],
        gaps: vec![Gap {
            source_url: url("/rye/"),
            source_title: "Why rye is another bread".to_owned(),
            target_url: url("/ovens/"),
            target_title: "Three ovens compared".to_owned(),
            score: 0.47,
            reason: "A02".to_owned(),
            paragraph: Some("The oven matters less than the clock.".to_owned()),
            target_orphan: Some(false),
        }],
        overlaps: vec![Overlap {
            first_url: url("/salt-2/"),
            first_title: "How much salt?".to_owned(),
            second_url: url("/salt/"),
            second_title: "How much salt".to_owned(),
            shared_text: 0.92,
            similarity: 0.98,
            kind: OverlapKind::NearDuplicate,
            advice: "keep one, redirect the other to it".to_owned(),
        }],
        guardrails: vec![guardrail("P07", 1, 0), guardrail("A02", 12, 0), guardrail("R03", 0, 4)],
        anchors: vec![TargetAnchors {
            target_url: url("/starter/"),
            target_title: "Keeping a rye sourdough starter".to_owned(),
            anchors: vec![("rye sourdough starter".to_owned(), 0, 1)],
        }],
        notices: vec![Notice {
            code: "example".to_owned(),
            message: "this site is an example".to_owned(),
            hint: Some("plan your own with `linkwright plan URL`".to_owned()),
        }],
    }
}

/// A plan of a big site: `pages` pages, `opportunities` opportunities spread over them.
pub(crate) fn big(pages: usize, opportunities: usize) -> Plan {
    let mut plan = plan();
    let path = |i: usize| format!("/articles/{:04}/a-title-of-the-usual-length-for-a-blog-post/", i % pages);
    plan.pages = (0..pages).map(|i| page(&path(i), "A title of the usual length for a blog post")).collect();
    plan.opportunities =
        (0..opportunities).map(|i| opportunity(&path(i / 3), &path(i * 7 + 1), 0.9 - i as f64 / (2 * opportunities) as f64)).collect();
    plan
}

/// An evaluation of the sample's site.
pub(crate) fn evaluation() -> Evaluation {
    let around = |value: f64| Estimate { value, low: value - 0.04, high: value + 0.03 };
    let row = |key: &str, name: &str, kind: RowKind, five: f64| Row {
        key: key.to_owned(),
        name: name.to_owned(),
        about: format!("what {name} ranks by"),
        kind,
        sources: 210,
        hidden: 1_340,
        figures: Figures {
            recall_1: around(five / 2.0),
            recall_3: around(five * 0.8),
            recall_5: around(five),
            recall_10: around(five * 1.1),
            mrr: around(five * 0.7),
            cold: None,
            warm: Some(around(five * 0.8)),
            hot: Some(around(five)),
        },
    };
    let bins = |scores: &[f64]| scores.iter().map(|s| Bin { pairs: 50, score: *s, links: s * 0.9 }).collect::<Vec<_>>();
    let suspicion = |signal: &str, larger: f64| Suspicion {
        signal: signal.to_owned(),
        meaning: "what the signal measures".to_owned(),
        larger,
        errors: 1.2,
    };
    Evaluation {
        base_url: "https://example.com/".to_owned(),
        run: 7,
        evaluated_at: "2026-01-02T03:04:05Z".to_owned(),
        version: "0.1.0".to_owned(),
        model: "all-minilm-l6-v2".to_owned(),
        seed: 1,
        folds: 3,
        share: 0.3,
        pages: 412,
        links: 1_489,
        ranking: "learned from the 1042 body links that were left, starting from a model grown on other sites".to_owned(),
        notices: vec!["12 of 210 pages with links have no vector: the model does not know their language".to_owned()],
        rows: vec![
            row("linkwright", "linkwright", RowKind::Full, 0.74),
            row("without_anchors", "without known anchors", RowKind::Reduced, 0.66),
            row("page_vector", "page vector", RowKind::Plain, 0.41),
            row("known_anchors", "known anchors", RowKind::Plain, 0.52),
        ],
        best_plain: "known_anchors".to_owned(),
        gain: Estimate { value: 0.22, low: 0.19, high: 0.25 },
        anchors: AnchorAgreement { found: 1_100, with_words: 0.9, exact: 0.42, share_a_word: 0.81 },
        calibrated: true,
        calibration: Calibration { error: 0.004, pairs: 51_000, bins: bins(&[0.0, 0.01, 0.4]) },
        calibration_first_ten: Calibration { error: 0.021, pairs: 2_100, bins: bins(&[0.05, 0.2, 0.5, 0.9]) },
        leaks: LeakCheck {
            pages_kept: 150,
            pages_decoys: 180,
            worst_kept: Some(suspicion("Inlinks", 0.53)),
            worst_decoys: Some(suspicion("Votes", 0.46)),
            ..LeakCheck::default()
        },
    }
}
