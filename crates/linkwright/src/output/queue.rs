//! The queue as a spreadsheet, and a spreadsheet with decisions as rows.

use super::csv::{score, write_rows};
use super::words;
use anyhow::{Context as _, Result, bail};
use linkwright_core::decode::decode;
use linkwright_engine::decisions::{DecisionRow, Edit, Entry, Imported, StoredOpportunity};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// Columns of the queue.
const QUEUE_COLUMNS: [&str; 16] = [
    "Opportunity ID",
    "Decision",
    "Reason",
    "State",
    "Source URL",
    "Target URL",
    "Anchor",
    "Passage",
    "Score",
    "Source Title",
    "Target Title",
    "Target Inlinks",
    "Target Orphan",
    "Flags",
    "Why",
    "Revision",
];

/// Columns of the table of edits.
const EDIT_COLUMNS: [&str; 12] =
    ["Run", "Edit", "Status", "At", "Who", "Source URL", "Location", "Anchor", "Href", "Target URL", "Opportunity ID", "Last Seen"];

/// More than any spreadsheet of decisions.
const MAX_BYTES: u64 = 256 << 20;

/// Writes the queue.
pub(crate) fn write_queue(rows: &[StoredOpportunity], out: impl Write) -> io::Result<()> {
    write_rows(out, &QUEUE_COLUMNS, rows.iter().map(queue_row))
}

fn queue_row(kept: &StoredOpportunity) -> [String; 16] {
    let o = &kept.opportunity;
    let why: Vec<&str> = o.signals.iter().filter(|s| s.part >= 0.0).map(|s| s.words.as_str()).collect();
    [
        o.id.clone(),
        String::new(),
        String::new(),
        kept.state.name().to_owned(),
        o.source_url.clone(),
        o.target_url.clone(),
        o.anchor.clone(),
        o.sentence().to_owned(),
        score(o.score),
        o.source_title.clone(),
        o.target_title.clone(),
        o.target_inlinks.to_string(),
        words::yes_no_unknown(o.target_orphan).to_owned(),
        o.flags.join(" "),
        why.join("; "),
        kept.revision.to_string(),
    ]
}

/// Writes the edits of all runs.
pub(crate) fn write_edits(rows: &[(Edit, Vec<Entry>)], out: impl Write) -> io::Result<()> {
    write_rows(out, &EDIT_COLUMNS, rows.iter().map(edit_row))
}

fn edit_row((edit, entries): &(Edit, Vec<Entry>)) -> [String; 12] {
    let seen = entries.iter().rev().find(|entry| entry.event.is_observation());
    [
        edit.run.0.to_string(),
        format!("edit:{}", edit.id.0),
        edit.status.name().to_owned(),
        edit.at.clone(),
        edit.who.clone(),
        edit.edit.source_url.clone(),
        edit.edit.location.clone(),
        edit.edit.link.anchor.clone(),
        edit.edit.link.href.clone(),
        edit.edit.target_url.clone(),
        edit.edit.opportunity.clone(),
        seen.map(|entry| format!("{} {}", entry.event.name(), entry.at)).unwrap_or_default(),
    ]
}

/// Reads the rows of a spreadsheet with decisions.
///
/// # Errors
/// When the file cannot be read, or has no column for the identity or the decision.
pub(crate) fn read_decisions(file: &Path) -> Result<Vec<DecisionRow>> {
    let name = file.display();
    let size = std::fs::metadata(file).with_context(|| format!("`{name}` cannot be read"))?.len();
    if size > MAX_BYTES {
        bail!("`{name}` is larger than any spreadsheet of decisions");
    }
    let bytes = std::fs::read(file).with_context(|| format!("`{name}` cannot be read"))?;
    parse(&decode(&bytes, None).text).with_context(|| format!("`{name}` cannot be taken"))
}

fn parse(text: &str) -> Result<Vec<DecisionRow>> {
    let mut reader = ::csv::ReaderBuilder::new().delimiter(delimiter(text)).flexible(true).from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_lowercase()).collect();
    let column = |wanted: &str| header.iter().position(|name| name == wanted);
    let (Some(id), Some(decision)) = (column("opportunity id"), column("decision")) else {
        bail!("it needs the columns `Opportunity ID` and `Decision`, as `linkwright export queue` writes them");
    };
    let (reason, revision) = (column("reason"), column("revision"));
    let mut rows = Vec::new();
    for (number, record) in (2..).zip(reader.records()) {
        let record = record?;
        let cell = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default().to_owned();
        rows.push(DecisionRow {
            row: number,
            opportunity: cell(Some(id)),
            decision: cell(Some(decision)),
            reason: undefused(&cell(reason)),
            revision: cell(revision),
        });
    }
    Ok(rows)
}

/// What stands most often in the header line: spreadsheets of some countries write semicolons.
fn delimiter(text: &str) -> u8 {
    let header = text.lines().next().unwrap_or_default();
    let uses = |delimiter: &u8| header.bytes().filter(|byte| byte == delimiter).count();
    // The first of the most frequent.
    [b'\t', b';', b','].into_iter().max_by_key(uses).unwrap_or(b',')
}

/// The apostrophe that an export puts before a would-be formula is not part of the text.
fn undefused(cell: &str) -> String {
    cell.strip_prefix('\'').filter(|rest| super::csv::defuse(rest).len() > rest.len()).unwrap_or(cell).to_owned()
}

/// What came of an import.
pub(crate) fn imported(imported: &Imported, dry_run: bool) -> String {
    let Imported { accepted, rejected, withdrawn, unchanged, refused } = imported;
    let would = if dry_run { "would be " } else { "" };
    let mut out = format!("{would}accepted {accepted}, rejected {rejected}, withdrawn {withdrawn}; nothing to do for {unchanged}\n");
    for row in refused {
        let _ = writeln!(out, "not taken: row {}, `{}`: {}", row.row, row.opportunity.escape_debug(), row.reason);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreadsheets_of_all_countries_are_read() {
        let comma = "Opportunity ID,Decision,Reason,Revision\no1,accept,\"a, \"\"b\"\"\nc\",3\n";
        let semicolon = "Revision;decision;Opportunity ID;Other;Reason\r\n3;accept;o1;x;\"a, \"\"b\"\"\nc\"\r\n";
        let tab = "Opportunity ID\tDecision\tReason\tRevision\no1\taccept\t\"a, \"\"b\"\"\nc\"\t3\n";
        for text in [comma, semicolon, tab] {
            let rows = parse(text).unwrap();
            assert_eq!(rows.len(), 1, "{text}");
            let row = &rows[0];
            assert_eq!((&row.opportunity[..], &row.decision[..], &row.reason[..], &row.revision[..]), ("o1", "accept", "a, \"b\"\nc", "3"));
            assert_eq!(row.row, 2);
        }
    }

    #[test]
    fn what_is_no_queue_is_refused_and_short_rows_are_not() {
        assert!(parse("a,b\n1,2\n").is_err());
        assert!(parse("").is_err());
        let rows = parse("Opportunity ID,Decision,Reason\no1\no2,reject,'=1\n").unwrap();
        assert_eq!((&rows[0].decision[..], &rows[1].reason[..]), ("", "=1"));
    }
}
