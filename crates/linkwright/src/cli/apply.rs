//! `linkwright apply`: accepted opportunities to links on the site.

use super::{Context, ExitStatus, TextOrJson};
use crate::output::progress::Bar;
use crate::output::{diff, publication};
use anyhow::Result;
use linkwright_engine::apply::{self, ApplyRequest};
use linkwright_engine::user;

const EXAMPLES: &str = "\
Examples:
  linkwright apply                            show what would be written, as a diff
  linkwright apply > links.patch              keep the diff for `patch -p1` or a review
  linkwright apply --write                    write it
  linkwright apply --write --max-pages 5      write five pages, the ones that gain most
  linkwright apply --only o1f6e2a90b3c4d5e    one link

Only accepted opportunities are written: accept them with `linkwright review` or `linkwright import decisions`. Around
the words of each link two pieces are inserted and every other byte stays. A page that was changed since the plan is
looked at anew; where its sentence is gone or no longer clear, the link is left out with a reason. `linkwright undo RUN`
takes a run back. Exit code 1 says that something was left out or went wrong.";

/// Write accepted links to the site; shows the diff unless told to write
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Write; without it nothing is changed
    #[arg(long)]
    write: bool,

    /// Change at most this many pages; the setting `apply.max_pages` otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_pages: Option<u32>,

    /// Write only this opportunity; may be given several times
    #[arg(long, value_name = "ID")]
    only: Vec<String>,

    /// Go on after something unexpected, with the next page
    #[arg(long)]
    keep_going: bool,

    /// Name in the ledger; your user name otherwise
    #[arg(long, value_name = "NAME")]
    who: Option<String>,

    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<ExitStatus> {
    let request = ApplyRequest {
        project: context.project.clone(),
        write: args.write,
        max_pages: args.max_pages.map(|pages| pages as usize),
        only: args.only,
        keep_going: args.keep_going,
        who: args.who.unwrap_or_else(user),
    };
    let bar = Bar::new(context.console);
    let result = apply::apply(&request, &bar);
    bar.finish();
    let result = result?;
    match args.format {
        TextOrJson::Json => context.console.print_json(&result)?,
        TextOrJson::Text if args.write => context.console.print(&publication::written(&result))?,
        TextOrJson::Text => {
            for page in &result.pages {
                context.console.print(&diff::render(&page.location, &page.before, &page.after, context.console.is_terminal()))?;
            }
        }
    }
    context.console.note(&publication::applied(&result, args.write));
    let clean = result.stopped.is_none() && result.pages.iter().all(|page| page.skipped.is_empty() && page.problem.is_none());
    Ok(if clean { ExitStatus::Done } else { ExitStatus::Findings })
}
