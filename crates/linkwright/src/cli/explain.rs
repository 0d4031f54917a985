//! `linkwright explain SOURCE [TARGET]`: the story of one page or pair.

use super::{Context, ExitStatus, TextOrJson};
use crate::output::explanation;
use anyhow::Result;
use linkwright_engine::views;

const EXAMPLES: &str = "\
Examples:
  linkwright explain https://example.com/rye/                    what this page got, and why not more
  linkwright explain https://example.com/rye/ https://example.com/starter/
                                                                 why this link was or was not proposed";

/// Say why a pair was or was not proposed, or why a page got nothing
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL or path of the page that would carry the link
    source: String,

    /// URL or path of the page it would lead to
    target: Option<String>,

    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let story = views::explain(&context.project, &args.source, args.target.as_deref())?;
    match args.format {
        TextOrJson::Text => context.console.print(&explanation::render(&story))?,
        TextOrJson::Json => context.console.print_json(&story)?,
    }
    Ok(ExitStatus::Done)
}
