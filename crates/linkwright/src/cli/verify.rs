//! `linkwright verify`: whether the approved links are on the site.

use super::{Context, ExitStatus, TextOrJson};
use crate::output::progress::Bar;
use crate::output::publication;
use anyhow::Result;
use linkwright_engine::user;
use linkwright_engine::verify::{self, Seen, VerifyRequest};

const EXAMPLES: &str = "\
Examples:
  linkwright verify            look at the pages again, where the links were written
  linkwright verify --live     look at the public pages, also when the links were written to files

A link counts only around its own words in its own sentence. One that is there is closed as observed; one that is not is
opened again as missing. A link that was accepted and put in by hand is closed when it is seen. Pages that cannot be read
are listed, and nothing is said about them. Exit code 1 says that a link is missing or a page could not be read.";

/// Look at the pages again: is every approved link there?
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Look at the public pages over HTTP, also where the links were written to files
    #[arg(long)]
    live: bool,

    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let request = VerifyRequest { project: context.project.clone(), live: args.live, who: user() };
    let bar = Bar::new(context.console);
    let result = verify::verify(&request, &bar);
    bar.finish();
    let result = result?;
    match args.format {
        TextOrJson::Json => context.console.print_json(&result)?,
        TextOrJson::Text => context.console.print(&publication::verified(&result))?,
    }
    let clean = result.unread.is_empty() && result.links.iter().all(|link| link.seen != Seen::Missing);
    Ok(if clean { ExitStatus::Done } else { ExitStatus::Findings })
}
