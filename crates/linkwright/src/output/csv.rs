//! The plan as spreadsheets: `plan.csv` with a row per opportunity and `gaps.csv` with a row per gap.
//!
//! RFC 4180, UTF-8. A cell that a spreadsheet would run as a formula begins with an apostrophe,
//! because titles and passages come from pages that anybody may have written.

use super::words;
use linkwright_core::plan::{Gap, Opportunity, PageSummary, Plan};
use std::borrow::Cow;
use std::io::{self, Write};

/// Columns of `plan.csv`. The first four are fixed: other tools read them by name and by place.
pub(crate) const PLAN_COLUMNS: [&str; 16] = [
    "Source URL",
    "Target URL",
    "Suggested Anchor",
    "Similarity Score",
    "Passage",
    "Section",
    "Source Title",
    "Target Title",
    "Href",
    "Target Inlinks",
    "Target Orphan",
    "Flags",
    "Why",
    "Score Kind",
    "Place In Source",
    "Opportunity ID",
];

/// Columns of `gaps.csv`.
pub(crate) const GAP_COLUMNS: [&str; 9] =
    ["Source URL", "Target URL", "Source Title", "Target Title", "Similarity Score", "Reason", "Reason Code", "Paragraph", "Target Orphan"];

/// Columns of the page list.
const PAGE_COLUMNS: [&str; 16] = [
    "URL",
    "Title",
    "Outcome",
    "Status",
    "Language",
    "Words",
    "Body Outlinks",
    "Body Inlinks",
    "All Inlinks",
    "Crawl Depth",
    "Orphan",
    "Authority",
    "Opportunities",
    "Proposed Inlinks",
    "Not A Source Because",
    "Not A Target Because",
];

/// Writes `plan.csv`.
pub(crate) fn write_plan(plan: &Plan, out: impl Write) -> io::Result<()> {
    write_rows(out, &PLAN_COLUMNS, plan.opportunities.iter().map(|o| plan_row(plan, o)))
}

/// Writes `gaps.csv`.
pub(crate) fn write_gaps(plan: &Plan, out: impl Write) -> io::Result<()> {
    write_rows(out, &GAP_COLUMNS, plan.gaps.iter().map(gap_row))
}

/// Writes one row per page.
pub(crate) fn write_pages(plan: &Plan, out: impl Write) -> io::Result<()> {
    write_rows(out, &PAGE_COLUMNS, plan.pages.iter().map(page_row))
}

/// Writes a header and rows of cells, each defused.
pub(crate) fn write_rows<const N: usize>(out: impl Write, columns: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns).map_err(into_io)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| defuse(cell).into_owned())).map_err(into_io)?;
    }
    writer.flush()
}

/// An apostrophe before what Excel, LibreOffice or Sheets would take for a formula, also in its full-width form.
pub(crate) fn defuse(cell: &str) -> Cow<'_, str> {
    match cell.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠') => Cow::Owned(format!("'{cell}")),
        _ => Cow::Borrowed(cell),
    }
}

/// A score as every output prints it.
pub(crate) fn score(value: f64) -> String {
    format!("{value:.4}")
}

fn plan_row(plan: &Plan, o: &Opportunity) -> [String; 16] {
    let why: Vec<&str> = o.signals.iter().map(|s| s.words.as_str()).collect();
    [
        o.source_url.clone(),
        o.target_url.clone(),
        o.anchor.clone(),
        score(o.score),
        o.sentence().to_owned(),
        o.section.clone().unwrap_or_default(),
        o.source_title.clone(),
        o.target_title.clone(),
        o.href.clone(),
        o.target_inlinks.to_string(),
        words::yes_no_unknown(o.target_orphan).to_owned(),
        o.flags.join(" "),
        why.join("; "),
        plan.run.score_kind.clone(),
        format!("{}..{}", o.source_span.start, o.source_span.end),
        o.id.clone(),
    ]
}

fn gap_row(g: &Gap) -> [String; 9] {
    [
        g.source_url.clone(),
        g.target_url.clone(),
        g.source_title.clone(),
        g.target_title.clone(),
        score(g.score),
        words::reason(&g.reason),
        g.reason.clone(),
        g.paragraph.clone().unwrap_or_default(),
        words::yes_no_unknown(g.target_orphan).to_owned(),
    ]
}

fn page_row(p: &PageSummary) -> [String; 16] {
    [
        p.url.clone(),
        p.title.clone(),
        words::outcome(p.outcome).to_owned(),
        p.status.to_string(),
        p.language.clone(),
        p.words.to_string(),
        p.outlinks.to_string(),
        p.inlinks.to_string(),
        p.inlinks_all.to_string(),
        p.depth.map(|d| d.to_string()).unwrap_or_default(),
        words::yes_no_unknown(p.orphan).to_owned(),
        format!("{:.3}", p.authority),
        p.opportunities.to_string(),
        p.proposed_inlinks.to_string(),
        p.not_source.join(" "),
        p.not_target.join(" "),
    ]
}

fn into_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;

    fn plan_csv(plan: &Plan) -> String {
        let mut out = Vec::new();
        write_plan(plan, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_first_four_columns_are_the_agreed_ones() {
        assert!(plan_csv(&sample::plan()).starts_with("Source URL,Target URL,Suggested Anchor,Similarity Score,"));
    }

    #[test]
    fn cells_that_a_spreadsheet_would_run_are_defused() {
        for cell in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1"] {
            assert_eq!(defuse(cell), format!("'{cell}"));
        }
        for cell in ["", "a=b", "https://a.example/", "'quoted'", "3 - 1"] {
            assert_eq!(defuse(cell), cell);
        }
    }

    #[test]
    fn hostile_text_survives_a_round_trip_through_a_csv_reader() {
        let mut plan = sample::plan();
        plan.opportunities.truncate(1);
        plan.opportunities[0].source_title = "=HYPERLINK(\"http://evil\"),\"a\"\r\nb".to_owned();
        let text = plan_csv(&plan);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let row = reader.records().next().unwrap().unwrap();
        assert_eq!(&row[6], "'=HYPERLINK(\"http://evil\"),\"a\"\r\nb");
        assert_eq!(row.len(), PLAN_COLUMNS.len());
    }

    #[test]
    fn every_opportunity_and_gap_has_a_row() {
        let plan = sample::plan();
        let mut gaps = Vec::new();
        write_gaps(&plan, &mut gaps).unwrap();
        let rows = |text: &str| csv::Reader::from_reader(text.as_bytes()).records().count();
        assert_eq!(rows(&plan_csv(&plan)), plan.opportunities.len());
        assert_eq!(rows(&String::from_utf8(gaps).unwrap()), plan.gaps.len());
    }
}
