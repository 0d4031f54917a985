//! `linkwright extract FOLDER`: the main text of each HTML file, for measuring and for other programs.

use super::{Context, ExitStatus};
use anyhow::Result;
use linkwright_engine::views;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Example:
  linkwright extract pages/ > texts.json

Prints one JSON object: file name without .html or .html.gz to main text. Needs no project.";

/// Print the main text of each HTML file of a folder as JSON
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder of .html and .html.gz files
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    context.console.print_json(&views::extract(&args.folder)?)?;
    Ok(ExitStatus::Done)
}
