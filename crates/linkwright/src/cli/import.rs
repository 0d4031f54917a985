//! `linkwright import WHAT`: what was decided elsewhere, back into the project.

use super::{Context, ExitStatus, TextOrJson};
use crate::output::queue;
use anyhow::Result;
use clap::Subcommand;
use linkwright_engine::decisions;
use linkwright_engine::user;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  linkwright export queue > queue.csv
  linkwright import decisions queue.csv --dry-run
  linkwright import decisions queue.csv --reviewer Ann

Edit the column `Decision` of the exported queue: accept, reject or withdraw; an empty cell decides nothing. `Reason` is
kept with the decision. Leave `Opportunity ID` and `Revision` as they are. A row on which somebody else decided since the
export is a conflict: it is listed and not taken. Rows are taken one by one; those that are refused are listed with their
number, and exit code 1 says that there are some.";

/// Read decisions that were made in a spreadsheet
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The exported queue with its column `Decision` filled in
    Decisions(Decisions),
}

#[derive(clap::Args)]
struct Decisions {
    /// CSV with commas, semicolons or tabs
    file: PathBuf,

    /// Say what would come of it and decide nothing
    #[arg(long)]
    dry_run: bool,

    /// Name of who decided; your user name otherwise
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// How to print the outcome
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let What::Decisions(args) = &args.what;
    let rows = queue::read_decisions(&args.file)?;
    let reviewer = args.reviewer.clone().unwrap_or_else(user);
    let imported = decisions::import(&context.project, &rows, &reviewer, !args.dry_run)?;
    match args.format {
        TextOrJson::Json => context.console.print_json(&imported)?,
        TextOrJson::Text => context.console.print(&queue::imported(&imported, args.dry_run))?,
    }
    Ok(if imported.refused.is_empty() { ExitStatus::Done } else { ExitStatus::Findings })
}
