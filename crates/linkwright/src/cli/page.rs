//! `linkwright page URL`: what linkwright sees on a page.

use super::{Context, ExitStatus, Format};
use anyhow::Result;

/// Show what linkwright sees on a page: text, blocks, links by kind, language, eligibility and why
#[derive(clap::Args)]
pub(crate) struct Args {
    /// URL or path of the page
    url: String,

    /// How to print it: csv gives a row per link
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let _ = (&args.url, args.format, context);
    Ok(ExitStatus::Failed)
}
