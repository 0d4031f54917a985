//! `linkwright export WHAT`: tables of the project for other programs.

use super::{Context, ExitStatus};
use crate::output::{csv, queue, words};
use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use linkwright_engine::decisions::{self, Edit, Entry, StoredOpportunity};
use linkwright_engine::views::{self, LinkRow};
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  linkwright export links > links.csv
  linkwright export links --format json --project clients/example
  linkwright export queue > queue.csv
  linkwright export edits";

/// Columns of the link table; other tools read them by name.
const LINK_COLUMNS: [&str; 6] = ["source", "target", "anchor", "kind", "rel", "position"];

/// Print tables of the project for other programs
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Every internal link: source, target, anchor, kind, rel, position
    Links(Table),
    /// Every page: a row of figures and the reasons that keep it out
    Pages(Table),
    /// Every opportunity, as in plan.csv
    Plan(Table),
    /// Every gap, as in gaps.csv
    Gaps(Table),
    /// Every opportunity with its state, and an empty column for decisions: see `linkwright import decisions`
    Queue(Table),
    /// Every link that was written: run, edit, page, words, and what became of it
    Edits(Table),
}

#[derive(clap::Args)]
struct Table {
    /// How to print it
    #[arg(long, value_enum, default_value = "csv")]
    format: TableFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// A header and a row per item
    Csv,
    /// An array of objects
    Json,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    match &args.what {
        What::Links(table) => links(table.format, context)?,
        What::Pages(table) => {
            let plan = views::load_plan(&context.project)?;
            match table.format {
                TableFormat::Csv => csv::write_pages(&plan, context.console.data())?,
                TableFormat::Json => context.console.print_json(&plan.pages)?,
            }
        }
        What::Plan(table) => {
            let plan = views::load_plan(&context.project)?;
            match table.format {
                TableFormat::Csv => csv::write_plan(&plan, context.console.data())?,
                TableFormat::Json => context.console.print_json(&plan.opportunities)?,
            }
        }
        What::Gaps(table) => {
            let plan = views::load_plan(&context.project)?;
            match table.format {
                TableFormat::Csv => csv::write_gaps(&plan, context.console.data())?,
                TableFormat::Json => context.console.print_json(&plan.gaps)?,
            }
        }
        What::Queue(table) => {
            let rows = decisions::queue(&context.project)?;
            match table.format {
                TableFormat::Csv => queue::write_queue(&rows, context.console.data())?,
                TableFormat::Json => {
                    let item = |kept: &StoredOpportunity| serde_json::json!({ "state": kept.state, "revision": kept.revision, "opportunity": kept.opportunity });
                    context.console.print_json(&rows.iter().map(item).collect::<Vec<_>>())?;
                }
            }
        }
        What::Edits(table) => {
            let rows = decisions::edits(&context.project)?;
            match table.format {
                TableFormat::Csv => queue::write_edits(&rows, context.console.data())?,
                TableFormat::Json => context.console.print_json(&rows.iter().map(edit).collect::<Vec<_>>())?,
            }
        }
    }
    Ok(ExitStatus::Done)
}

fn edit((edit, entries): &(Edit, Vec<Entry>)) -> Value {
    let what = &edit.edit;
    let entry = |entry: &Entry| {
        serde_json::json!({
            "run": entry.run, "event": entry.event, "at": entry.at, "who": entry.who, "hash": entry.hash, "detail": entry.detail,
        })
    };
    serde_json::json!({
        "run": edit.run,
        "edit": edit.id,
        "status": edit.status,
        "source_url": what.source_url,
        "publisher": what.publisher,
        "site": what.site,
        "location": what.location,
        "anchor": what.link.anchor,
        "href": what.link.href,
        "target_url": what.target_url,
        "opportunity": what.opportunity,
        "hash_before": what.hash_before,
        "hash_after": what.hash_after,
        "ledger": entries.iter().map(entry).collect::<Vec<_>>(),
    })
}

fn links(format: TableFormat, context: &Context) -> Result<()> {
    let rows = views::links(&context.project)?;
    match format {
        TableFormat::Json => context.console.print_json(&rows)?,
        TableFormat::Csv => csv::write_rows(context.console.data(), &LINK_COLUMNS, rows.iter().map(link_row))?,
    }
    Ok(())
}

fn link_row(row: &LinkRow) -> [String; 6] {
    let kind = words::link_kind(row.kind).to_owned();
    let position = words::link_position(row.position).to_owned();
    [row.source.clone(), row.target.clone(), row.anchor.clone(), kind, row.rel.clone(), position]
}
