//! `linkwright report`: the state of the site's links, from the stored plan.

use super::{Context, ExitStatus, Format};
use crate::output::{csv, digest, files};
use anyhow::Result;
use linkwright_engine::{eval, views};

const EXAMPLES: &str = "\
Examples:
  linkwright report                          orphans, depth, authority, anchors, pages too alike
  linkwright report --format csv > pages.csv a row per page
  linkwright report --project clients/example --format json";

/// Orphans, crawl depth, authority, anchors per target and pages too alike; writes report.html again
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How to print it: csv gives a row per page, json the whole plan
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let plan = views::load_plan(&context.project)?;
    let written = files::write_report(&plan, eval::last(&context.project).as_ref(), &context.project)?;
    match args.format {
        Format::Text => context.console.print(&digest::render(&plan))?,
        Format::Json => context.console.print_json(&plan)?,
        Format::Csv => csv::write_pages(&plan, context.console.data())?,
    }
    context.console.note(&format!("wrote {}", written.path.display()));
    Ok(ExitStatus::Done)
}
