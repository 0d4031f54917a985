//! Lists of the report: gaps, orphans, anchors, overlaps, pages that were left out.

use super::proposals::named;
use super::text::{head, web_address};
use crate::output::digest::by_authority;
use crate::output::words::{self, count, reason, short_url};
use linkwright_core::page::FetchOutcome;
use linkwright_core::plan::{Gap, OverlapKind, PageSummary, Plan};
use std::collections::BTreeMap;

const PARAGRAPH_BYTES: usize = 320;
/// Pages of the authority list.
const AUTHORITY_SHOWN: usize = 20;

/// A page as lists show it.
pub(super) struct PageLink<'a> {
    pub(super) title: &'a str,
    pub(super) href: Option<&'a str>,
    pub(super) short: &'a str,
}

pub(super) struct GapRow<'a> {
    pub(super) source: PageLink<'a>,
    pub(super) target: PageLink<'a>,
    pub(super) score: String,
    pub(super) reason: String,
    pub(super) paragraph: Option<(&'a str, &'static str)>,
    pub(super) orphan: bool,
}

pub(super) struct OrphanRow<'a> {
    pub(super) page: PageLink<'a>,
    pub(super) words: usize,
    pub(super) inlinks: usize,
    pub(super) inlinks_all: usize,
    pub(super) proposed: usize,
    pub(super) authority: String,
}

pub(super) struct AnchorRow<'a> {
    pub(super) target: PageLink<'a>,
    pub(super) anchors: &'a [(String, usize, usize)],
    pub(super) now: usize,
    pub(super) new: usize,
}

pub(super) struct OverlapRow<'a> {
    pub(super) first: PageLink<'a>,
    pub(super) second: PageLink<'a>,
    pub(super) kind: &'static str,
    pub(super) shared: String,
    pub(super) similarity: String,
    pub(super) advice: &'a str,
}

/// Pages kept out for one reason.
pub(super) struct Skipped<'a> {
    pub(super) reason: String,
    pub(super) code: String,
    pub(super) effect: &'static str,
    pub(super) count: String,
    pub(super) pages: Vec<(PageLink<'a>, &'a str)>,
}

fn link<'a>(plan: &'a Plan, title: &'a str, url: &'a str) -> PageLink<'a> {
    PageLink { title: named(title, url), href: web_address(url), short: short_url(url, &plan.run.base_url) }
}

pub(super) fn gaps(plan: &Plan) -> Vec<GapRow<'_>> {
    let row = |gap: &'_ Gap| reason(&gap.reason);
    plan.gaps
        .iter()
        .map(|gap| GapRow {
            source: link(plan, &gap.source_title, &gap.source_url),
            target: link(plan, &gap.target_title, &gap.target_url),
            score: format!("{:.2}", gap.score),
            reason: row(gap),
            paragraph: gap.paragraph.as_deref().map(|text| head(text, PARAGRAPH_BYTES)),
            orphan: gap.target_orphan == Some(true),
        })
        .collect()
}

pub(super) fn orphans(plan: &Plan) -> Vec<OrphanRow<'_>> {
    plan.pages.iter().filter(|page| page.orphan == Some(true)).map(|page| page_row(plan, page)).collect()
}

pub(super) fn authority(plan: &Plan) -> Vec<OrphanRow<'_>> {
    by_authority(plan).into_iter().take(AUTHORITY_SHOWN).map(|page| page_row(plan, page)).collect()
}

fn page_row<'a>(plan: &'a Plan, page: &'a PageSummary) -> OrphanRow<'a> {
    OrphanRow {
        page: link(plan, &page.title, &page.url),
        words: page.words,
        inlinks: page.inlinks,
        inlinks_all: page.inlinks_all,
        proposed: page.proposed_inlinks,
        authority: format!("{:.2}", page.authority),
    }
}

pub(super) fn anchors(plan: &Plan) -> Vec<AnchorRow<'_>> {
    plan.anchors
        .iter()
        .map(|target| AnchorRow {
            target: link(plan, &target.target_title, &target.target_url),
            anchors: &target.anchors,
            now: target.anchors.iter().map(|(_, now, _)| now).sum(),
            new: target.anchors.iter().map(|(_, _, new)| new).sum(),
        })
        .collect()
}

pub(super) fn overlaps(plan: &Plan) -> Vec<OverlapRow<'_>> {
    plan.overlaps
        .iter()
        .map(|overlap| OverlapRow {
            first: link(plan, &overlap.first_title, &overlap.first_url),
            second: link(plan, &overlap.second_title, &overlap.second_url),
            kind: match overlap.kind {
                OverlapKind::NearDuplicate => "near duplicate",
                OverlapKind::Cannibalization => "compete in search",
            },
            shared: format!("{:.0} %", overlap.shared_text * 100.0),
            similarity: format!("{:.2}", overlap.similarity),
            advice: &overlap.advice,
        })
        .collect()
}

/// Pages that were not read, by outcome, then pages that a guardrail keeps out, by reason; most pages first.
pub(super) fn skipped<'a>(plan: &'a Plan, outcomes: &[(FetchOutcome, usize)]) -> Vec<Skipped<'a>> {
    let unread = outcomes.iter().filter(|(outcome, _)| !outcome.was_read()).map(|(outcome, _)| unread(plan, *outcome));
    let mut reasons: BTreeMap<&str, Vec<&PageSummary>> = BTreeMap::new();
    for page in plan.pages.iter().filter(|page| page.outcome.was_read()) {
        let mut codes: Vec<&str> = page.not_source.iter().chain(&page.not_target).map(String::as_str).collect();
        codes.sort_unstable();
        codes.dedup();
        for code in codes {
            reasons.entry(code).or_default().push(page);
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(b.0)));
    unread.chain(reasons.into_iter().map(|(code, pages)| kept_out(plan, code, &pages))).collect()
}

fn unread(plan: &Plan, outcome: FetchOutcome) -> Skipped<'_> {
    let pages: Vec<_> = plan.pages.iter().filter(|page| page.outcome == outcome).collect();
    Skipped {
        reason: words::outcome(outcome).to_owned(),
        code: String::new(),
        effect: "not read",
        count: count(pages.len(), "page", "pages"),
        pages: pages.into_iter().map(|page| (link(plan, &page.title, &page.url), page.detail.as_deref().unwrap_or(""))).collect(),
    }
}

fn kept_out<'a>(plan: &'a Plan, code: &str, pages: &[&'a PageSummary]) -> Skipped<'a> {
    let has = |codes: &[String]| codes.iter().any(|other| other == code);
    let effect = match (pages.iter().any(|page| has(&page.not_source)), pages.iter().any(|page| has(&page.not_target))) {
        (true, true) => "no source and no target",
        (true, false) => "no source",
        _ => "no target",
    };
    Skipped {
        reason: reason(code),
        code: code.to_owned(),
        effect,
        count: count(pages.len(), "page", "pages"),
        pages: pages.iter().map(|page| (link(plan, &page.title, &page.url), page.detail.as_deref().unwrap_or(""))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;

    #[test]
    fn a_page_that_is_neither_source_nor_target_is_listed_once_per_reason() {
        let plan = sample::plan();
        let skipped = skipped(&plan, &[(FetchOutcome::Fetched, 5), (FetchOutcome::ClientError, 1)]);
        let facts: Vec<_> = skipped.iter().map(|group| (group.reason.as_str(), group.effect, group.pages.len())).collect();
        assert_eq!(facts, [("not found or refused (4xx)", "not read", 1), ("thin source", "no source and no target", 1)]);
    }
}
