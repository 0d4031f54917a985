//! `linkwright undo`: a run, or one link, out of the site again.

use super::{Context, ExitStatus, TextOrJson};
use crate::output::progress::Bar;
use crate::output::{diff, publication};
use anyhow::Result;
use linkwright_engine::undo::{self, UndoRequest, Undone};
use linkwright_engine::user;

const EXAMPLES: &str = "\
Examples:
  linkwright undo 7              take back every link that run 7 wrote
  linkwright undo edit:12        take back one link
  linkwright undo 7 --dry-run    show what would be taken back, as a diff

`linkwright export edits` lists runs and edits. A page that nobody touched since gets the very bytes from before. In any
other, each link is found by its own bytes and by what stands around it; what cannot be found for certain stays, and is
listed with the reason. Exit code 1 says that something was left.";

/// Take a run, or one link, back
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Number of a run, or `edit:` and the number of an edit
    #[arg(value_name = "RUN|EDIT", value_parser = parse)]
    what: Undone,

    /// Show the diff and change nothing
    #[arg(long)]
    dry_run: bool,

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
    let request = UndoRequest {
        project: context.project.clone(),
        what: args.what,
        write: !args.dry_run,
        keep_going: args.keep_going,
        who: args.who.unwrap_or_else(user),
    };
    let bar = Bar::new(context.console);
    let result = undo::undo(&request, &bar);
    bar.finish();
    let result = result?;
    match args.format {
        TextOrJson::Json => context.console.print_json(&result)?,
        TextOrJson::Text if !args.dry_run => context.console.print(&publication::taken_back(&result))?,
        TextOrJson::Text => {
            for page in &result.pages {
                context.console.print(&diff::render(&page.location, &page.before, &page.after, context.console.is_terminal()))?;
            }
        }
    }
    context.console.note(&publication::undone(&result, args.dry_run));
    let clean = result.stopped.is_none() && result.pages.iter().all(|page| page.problem.is_none() && page.links.iter().all(|l| l.removed));
    Ok(if clean { ExitStatus::Done } else { ExitStatus::Findings })
}

fn parse(text: &str) -> Result<Undone, String> {
    let (edit, number) = text.strip_prefix("edit:").map_or((false, text), |number| (true, number));
    let number: i64 = number.parse().map_err(|_| "expected the number of a run such as 7, or an edit such as edit:12".to_owned())?;
    Ok(if edit { Undone::Edit(number) } else { Undone::Run(number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_run_and_a_prefix_an_edit() {
        assert_eq!(parse("7"), Ok(Undone::Run(7)));
        assert_eq!(parse("edit:12"), Ok(Undone::Edit(12)));
        for wrong in ["", "edit:", "run 7", "edit 7", "all"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
