//! `report.html`: one file with everything, readable without a network.
//!
//! Style and script are inline and named by hash in the content security policy, so nothing else can run or load,
//! whatever the pages of the site contain. Everything that comes from pages is escaped by the template.

mod figures;
mod listing;
mod proposals;
mod quality;
mod text;

use self::figures::{Figure, Tile};
use self::listing::{AnchorRow, GapRow, OrphanRow, OverlapRow, Skipped};
use self::proposals::Group;
use self::quality::Quality;
use self::text::Piece;
use super::counts::{Counts, by_frequency};
use super::words;
use anyhow::Result;
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use linkwright_core::eval::Evaluation;
use linkwright_core::plan::{GuardrailCount, Notice, Plan};
use sha2::{Digest, Sha256};
use std::io::Write;

const STYLE: &str = include_str!("../../templates/report.css");
const SCRIPT: &str = include_str!("../../templates/report.js");

/// What the template shows.
#[derive(Template)]
#[template(path = "report.html")]
struct Report<'a> {
    style: &'static str,
    script: &'static str,
    policy: String,
    plan: &'a Plan,
    counts: &'a Counts,
    site_name: &'a str,
    date: &'a str,
    score_word: &'a str,
    lede: String,
    tiles: Vec<Tile>,
    notices: Vec<Message<'a>>,
    funnel: Vec<Figure>,
    outcomes: Vec<Figure>,
    nothing: Vec<Figure>,
    groups: Vec<Group<'a>>,
    gaps: Vec<GapRow<'a>>,
    orphans: Vec<OrphanRow<'a>>,
    depths: Vec<Figure>,
    inlinks: Vec<figures::BeforeAfter>,
    authority: Vec<OrphanRow<'a>>,
    anchors: Vec<AnchorRow<'a>>,
    overlaps: Vec<OverlapRow<'a>>,
    skipped: Vec<Skipped<'a>>,
    guardrails: &'a [GuardrailCount],
    quality: Option<Quality>,
}

/// A notice, its literals told from its text.
struct Message<'a> {
    sentence: Vec<Piece<'a>>,
    hint: Option<Vec<Piece<'a>>>,
}

impl<'a> Message<'a> {
    fn of(notice: &'a Notice) -> Self {
        Self { sentence: text::pieces(&notice.message), hint: notice.hint.as_deref().map(text::pieces) }
    }
}

/// Writes the report.
pub(crate) fn write(plan: &Plan, evaluation: Option<&Evaluation>, out: &mut dyn Write) -> Result<()> {
    let counts = Counts::of(plan);
    let report = Report {
        style: STYLE,
        script: SCRIPT,
        policy: policy(),
        plan,
        counts: &counts,
        site_name: text::site_name(&plan.run.base_url),
        date: text::date(&plan.run.started_at),
        score_word: text::score_word(&plan.run.score_kind),
        lede: figures::lede(&counts),
        tiles: figures::tiles(plan, &counts),
        notices: plan.notices.iter().map(Message::of).collect(),
        funnel: figures::funnel(&counts),
        outcomes: figures::named(&counts.outcomes, |outcome| words::outcome(*outcome).to_owned()),
        nothing: figures::named(&counts.nothing, |code| words::reason(code)),
        groups: proposals::groups(plan),
        gaps: listing::gaps(plan),
        orphans: listing::orphans(plan),
        depths: figures::depths(plan),
        inlinks: figures::inlinks(plan),
        authority: listing::authority(plan),
        anchors: listing::anchors(plan),
        overlaps: listing::overlaps(plan),
        skipped: listing::skipped(plan, &by_frequency(&counts.outcomes)),
        guardrails: &plan.guardrails,
        quality: evaluation.map(|e| Quality::of(e, plan)),
    };
    let mut out = out;
    Ok(report.write_into(&mut out)?)
}

/// Only our own style and script, by hash; no request of any kind.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;
    use linkwright_core::eval::Suspicion;

    fn html(plan: &Plan) -> String {
        let mut out = Vec::new();
        write(plan, None, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const ATTACK: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'</style>";

    #[test]
    fn nothing_from_a_page_becomes_markup() {
        let mut plan = sample::plan();
        let attack = || ATTACK.to_owned();
        for page in &mut plan.pages {
            page.title = attack();
            page.detail = Some(attack());
            page.language = attack();
            page.url.push_str(ATTACK);
        }
        for o in &mut plan.opportunities {
            o.block_text = format!("{ATTACK}{}", o.block_text);
            o.passage = linkwright_core::span::Span::new(0, 90);
            o.anchor_span = linkwright_core::span::Span::new(10, 40);
            (o.source_title, o.target_title, o.section) = (attack(), attack(), Some(attack()));
            o.source_url = format!("javascript:alert(1)//{ATTACK}");
            o.target_url = format!("javascript:alert(1)//{ATTACK}");
        }
        for gap in &mut plan.gaps {
            (gap.source_title, gap.target_title, gap.paragraph) = (attack(), attack(), Some(attack()));
        }
        for target in &mut plan.anchors {
            target.target_title = attack();
            target.anchors = vec![(attack(), 1, 1)];
        }
        for overlap in &mut plan.overlaps {
            (overlap.first_title, overlap.advice) = (attack(), attack());
        }
        plan.run.site = attack();
        plan.notices[0].message = attack();
        let html = html(&plan);
        assert_eq!(html.matches("<script").count(), 1, "only our own script");
        assert_eq!(html.matches("</script").count(), 1);
        assert_eq!(html.matches("</style").count(), 1);
        assert!(!html.contains("<img"));
        assert!(!html.contains("href=\"javascript:"));
    }

    #[test]
    fn an_evaluation_is_shown_with_a_chart_and_as_text_only() {
        let mut found = sample::evaluation();
        found.notices = vec![ATTACK.to_owned()];
        found.rows[0].name = ATTACK.to_owned();
        found.leaks.see_hidden = vec![Suspicion { signal: ATTACK.to_owned(), ..found.leaks.worst_kept.clone().unwrap() }];
        let mut out = Vec::new();
        write(&sample::plan(), Some(&found), &mut out).unwrap();
        let html = String::from_utf8(out).unwrap();
        assert!(html.contains("How good is the ranking here?") && html.contains("<svg class=\"chart\""));
        assert!(html.contains("measured on run 7"), "an evaluation of another run says so");
        assert!(html.contains("worth nothing"), "a leak is said where the figures are");
        assert_eq!(html.matches("<script").count(), 1);
        for never in ["<img", "NaN", "style=\"", "url("] {
            assert!(!html.contains(never), "{never}");
        }
        assert!(!self::html(&sample::plan()).contains("id=\"quality\""), "no section without an evaluation");
    }

    #[test]
    fn the_report_asks_nothing_of_any_server() {
        let html = html(&sample::plan());
        for asset in ["<link", "<iframe", " src=", "@import", "url(", "style=\"", " onclick", "fetch("] {
            assert!(!html.contains(asset), "{asset}");
        }
    }

    #[test]
    fn style_and_script_are_the_ones_that_the_policy_names() {
        let html = html(&sample::plan());
        let between = |open: &str, close: &str| {
            let start = html.find(open).unwrap() + open.len();
            html[start..start + html[start..].find(close).unwrap()].to_owned()
        };
        assert_eq!(between("<style>", "</style>"), STYLE);
        assert_eq!(between("<script>", "</script>"), SCRIPT);
        assert!(html.contains("default-src"));
    }

    #[test]
    fn a_big_plan_stays_a_few_megabytes() {
        let html = html(&sample::big(2_500, 5_000));
        assert!(html.len() < 10_000_000, "{} bytes", html.len());
        assert_eq!(html.matches("<article").count(), 5_000);
    }

    #[test]
    fn an_empty_plan_is_still_a_report() {
        let mut plan = sample::plan();
        plan.pages.clear();
        plan.opportunities.clear();
        plan.gaps.clear();
        plan.overlaps.clear();
        plan.anchors.clear();
        let html = html(&plan);
        assert!(html.contains("No link is proposed"));
        assert!(!html.contains("NaN"));
    }

    #[test]
    fn spans_that_do_not_fit_their_text_are_survived() {
        let mut plan = sample::plan();
        plan.opportunities[0].block_text = "ü".to_owned();
        assert!(html(&plan).contains("rye sourdough starter"));
    }
}
