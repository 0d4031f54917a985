//! The plan grouped by source page, each proposal with its passage in its paragraph.

use super::text::{head, tail, web_address};
use crate::output::words::{count, reason, short_url, slice};
use linkwright_core::plan::{Opportunity, PageSummary, Plan};
use linkwright_core::span::Span;
use std::collections::BTreeMap;

/// Longest part of the paragraph that is shown on either side of the passage.
const CONTEXT_BYTES: usize = 220;
/// Signals that are named; they come strongest first here, whatever their order in the plan.
const SIGNALS_SHOWN: usize = 3;
/// A signal below this part of the score is not worth a reader's time.
const PART_FLOOR: f64 = 0.005;

/// Proposals of one source page.
pub(super) struct Group<'a> {
    pub(super) title: &'a str,
    pub(super) href: Option<&'a str>,
    pub(super) short: &'a str,
    pub(super) language: &'a str,
    pub(super) best: String,
    pub(super) count: String,
    pub(super) number: usize,
    pub(super) open: bool,
    pub(super) rows: Vec<Row<'a>>,
}

/// One proposal.
pub(super) struct Row<'a> {
    pub(super) lead_mark: &'static str,
    pub(super) lead: &'a str,
    pub(super) before: &'a str,
    pub(super) anchor: &'a str,
    pub(super) after: &'a str,
    pub(super) rest: &'a str,
    pub(super) rest_mark: &'static str,
    pub(super) section: Option<&'a str>,
    pub(super) target_title: &'a str,
    pub(super) target_href: Option<&'a str>,
    pub(super) target_short: &'a str,
    pub(super) inlinks: String,
    pub(super) orphan: bool,
    pub(super) score: String,
    pub(super) percent: u32,
    pub(super) why: Vec<&'a str>,
    pub(super) flags: Vec<String>,
}

/// Sources in the order of their best proposal.
pub(super) fn groups(plan: &Plan) -> Vec<Group<'_>> {
    let pages: BTreeMap<&str, &PageSummary> = plan.pages.iter().map(|page| (page.url.as_str(), page)).collect();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&Opportunity>> = Vec::new();
    for opportunity in &plan.opportunities {
        let place = *places.entry(&opportunity.source_url).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(opportunity);
    }
    let languages = |url: &str| pages.get(url).map_or("", |page| page.language.as_str());
    groups.iter().enumerate().map(|(place, rows)| group(plan, rows, languages(&rows[0].source_url), place < OPEN_GROUPS)).collect()
}

/// Groups that are open when the report is: enough to see what a proposal looks like.
const OPEN_GROUPS: usize = 8;

fn group<'a>(plan: &'a Plan, rows: &[&'a Opportunity], language: &'a str, open: bool) -> Group<'a> {
    let first = rows[0];
    Group {
        title: named(&first.source_title, &first.source_url),
        href: web_address(&first.source_url),
        short: short_url(&first.source_url, &plan.run.base_url),
        language,
        best: format!("{:.2}", first.score),
        count: count(rows.len(), "link", "links"),
        number: rows.len(),
        open,
        rows: rows.iter().map(|o| row(plan, o)).collect(),
    }
}

fn row<'a>(plan: &'a Plan, o: &'a Opportunity) -> Row<'a> {
    let part = |start, end| if start <= end { slice(&o.block_text, Span { start, end }) } else { "" };
    let (lead_mark, lead) = tail(part(0, o.passage.start), CONTEXT_BYTES);
    let (rest, rest_mark) = head(part(o.passage.end, o.block_text.len()), CONTEXT_BYTES);
    Row {
        lead_mark,
        lead,
        before: part(o.passage.start, o.anchor_span.start),
        anchor: &o.anchor,
        after: part(o.anchor_span.end, o.passage.end),
        rest,
        rest_mark,
        section: o.section.as_deref(),
        target_title: named(&o.target_title, &o.target_url),
        target_href: web_address(&o.target_url),
        target_short: short_url(&o.target_url, &plan.run.base_url),
        inlinks: inlinks(o),
        orphan: o.target_orphan == Some(true),
        score: format!("{:.2}", o.score),
        percent: (o.score.clamp(0.0, 1.0) * 100.0).round() as u32,
        why: why(o),
        flags: o.flags.iter().map(|code| reason(code)).collect(),
    }
}

/// A page's title, or its URL where it has none.
pub(super) fn named<'a>(title: &'a str, url: &'a str) -> &'a str {
    if title.trim().is_empty() { url } else { title }
}

fn inlinks(o: &Opportunity) -> String {
    match (o.target_orphan, o.target_inlinks) {
        (Some(true), _) => "orphan: this would be its first body link".to_owned(),
        (_, 0) => "no body link yet".to_owned(),
        (_, inlinks) => format!("{} so far", count(inlinks, "body link", "body links")),
    }
}

/// The strongest signals in words, strongest first; ties by name.
fn why(o: &Opportunity) -> Vec<&str> {
    let mut signals: Vec<_> = o.signals.iter().filter(|signal| signal.part >= PART_FLOOR && !signal.words.is_empty()).collect();
    signals.sort_by(|a, b| b.part.total_cmp(&a.part).then_with(|| a.name.cmp(&b.name)));
    signals.into_iter().take(SIGNALS_SHOWN).map(|signal| signal.words.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;

    #[test]
    fn the_parts_of_a_row_are_the_paragraph_again() {
        let plan = sample::plan();
        let groups = groups(&plan);
        let row = &groups[0].rows[0];
        let text = [row.lead, row.before, row.anchor, row.after, row.rest].concat();
        assert_eq!(text, plan.opportunities[0].block_text);
        assert_eq!(row.anchor, "rye sourdough starter");
    }

    #[test]
    fn proposals_of_one_page_stand_together() {
        let plan = sample::plan();
        let groups = groups(&plan);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].number, 2);
        assert_eq!(groups[0].language, "en");
    }
}
