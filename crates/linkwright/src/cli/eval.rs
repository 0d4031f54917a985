//! `linkwright eval`: how well the site's own links are found again when they are hidden.

use super::{Context, ExitStatus, TextOrJson};
use crate::output::progress::Bar;
use crate::output::{evaluation, files};
use anyhow::Result;
use linkwright_engine::eval::{self, EvalRequest};
use linkwright_engine::views;

const EXAMPLES: &str = "\
Examples:
  linkwright eval                            hide three times 30 % of the body links and look for them
  linkwright eval --share 0.5 --folds 5      hide more, more often
  linkwright eval --seed 2                   hide other links: the figures should stay within their intervals
  linkwright eval --json > eval.json

It works on the pages of the last `plan`, which it does not change; the site is not read again. The outcome is kept in
eval.json in the project folder and shown in report.html. A good proposal that nobody has made yet counts as wrong, so
the figures are a floor. Exit code 1 says that a signal saw what was hidden: the figures are then worth nothing.";

/// Hide some of the site's own links, rank without them, and say how many are found again
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Share of the body links to hide each time, above 0 and below 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, value_parser = share)]
    share: f64,

    /// How many times to hide links
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    folds: u32,

    /// Seed that decides which links are hidden
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,

    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let request = EvalRequest { project: context.project.clone(), share: args.share, folds: args.folds as usize, seed: args.seed };
    let bar = Bar::new(context.console);
    let found = eval::evaluate(&request, &bar);
    bar.finish();
    let found = found?;
    let kept = files::write_evaluation(&found, &context.project)?;
    let report = files::write_report(&views::load_plan(&context.project)?, Some(&found), &context.project)?;
    match args.format {
        TextOrJson::Text if !args.json => context.console.print(&evaluation::render(&found))?,
        _ => context.console.print_json(&found)?,
    }
    context.console.note(&format!("wrote {} and {}", kept.path.display(), report.path.display()));
    Ok(if found.leaks.passed() { ExitStatus::Done } else { ExitStatus::Findings })
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "expected a number such as 0.3".to_owned())?;
    if share > 0.0 && share < 1.0 { Ok(share) } else { Err("expected a number above 0 and below 1".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_part_of_the_whole() {
        assert_eq!(share("0.25"), Ok(0.25));
        for wrong in ["0", "1", "-0.1", "30", "NaN", "a third"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
