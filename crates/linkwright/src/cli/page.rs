//! `linkwright page URL`: what linkwright sees on a page.

use super::{Context, ExitStatus, TextOrJson};
use crate::output::page_view;
use anyhow::Result;
use linkwright_engine::views;

/// Show what linkwright sees on a page: text, blocks, links by kind, language, eligibility and why
#[derive(clap::Args)]
pub(crate) struct Args {
    /// URL or path of the page
    url: String,

    /// How to print it; with -v text shows the parts outside the main content, too
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let view = views::page_view(&context.project, &args.url)?;
    match args.format {
        TextOrJson::Text => context.console.print(&page_view::render(&view, context.console.verbosity))?,
        TextOrJson::Json => context.console.print_json(&view)?,
    }
    Ok(ExitStatus::Done)
}
