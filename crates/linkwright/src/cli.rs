//! Arguments to results: one module per sub-command, each holding its arguments and what it does with them.

mod apply;
mod completions;
mod config;
mod eval;
mod explain;
mod export;
mod extract;
mod import;
mod interrupt;
mod page;
mod plan;
mod report;
mod review;
mod undo;
mod verify;

use crate::output::console::{self, Console, Verbosity};
use clap::{Parser, Subcommand, ValueEnum};
use linkwright_engine::EngineError;
use std::path::PathBuf;
use std::process::ExitCode;

const ABOUT: &str = "Finds the internal links that a website is missing";

const LONG_ABOUT: &str = "\
Finds the internal links that a website is missing: from this passage of this page, with these words as the anchor, \
to that page. Everything runs on this machine; pages are never sent anywhere.";

const EXAMPLES: &str = "\
Examples:
  linkwright plan https://example.com/                 read a site, write plan.csv and report.html
  linkwright plan public/ --base-url https://example.com/
                                                       the same from a folder of HTML or Markdown
  linkwright review                                    decide on what was found, in the browser
  linkwright apply                                     show accepted links as a diff; --write
  linkwright undo 7                                    take a run back
  linkwright verify                                    whether the links are on the site
  linkwright explain /bread/rye/ /bread/starter/       why this link was or was not proposed
  linkwright eval                                      how many of the site's own links it would have found
  linkwright page /bread/rye/                          what linkwright sees on a page
  linkwright export links --format json                every link that was found

A project is a folder: `linkwright.toml` holds the settings, `linkwright.db` what is known. Without --project it is
the current folder. Run `plan` again at any time: only what changed is done again.

Exit codes:
  0    done
  1    done, with findings: pages not read, links left out or missing, rows not taken, a leak
  2    could not do it: wrong usage, settings, files or network
  130  interrupted; run the same command again to continue";

/// Exit codes, as `--help` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Done.
    Done,
    /// Done, but something asks for attention.
    Findings,
    /// Could not do it.
    Failed,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(match status {
            ExitStatus::Done => 0,
            ExitStatus::Findings => 1,
            ExitStatus::Failed => 2,
        })
    }
}

/// How data is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

/// How a story is printed that has no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Parser)]
#[command(name = "linkwright", version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags that every sub-command takes.
#[derive(clap::Args)]
pub(crate) struct Global {
    /// Folder of the project; created by the first `plan`
    #[arg(long, global = true, value_name = "DIR", default_value = ".", env = "LINKWRIGHT_PROJECT", hide_env_values = true)]
    pub(crate) project: PathBuf,

    /// Print data and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Say each step on standard error
    #[arg(short, long, global = true)]
    verbose: bool,

    /// Draw no progress bar; there is none anyway when standard error is no terminal
    #[arg(long, global = true)]
    no_progress: bool,
}

#[derive(Subcommand)]
enum Command {
    Plan(plan::Args),
    Review(review::Args),
    Apply(apply::Args),
    Undo(undo::Args),
    Verify(verify::Args),
    Import(import::Args),
    Report(report::Args),
    Explain(explain::Args),
    Eval(eval::Args),
    Page(page::Args),
    Export(export::Args),
    Extract(extract::Args),
    Config(config::Args),
    Completions(completions::Args),
}

/// What a sub-command knows besides its own arguments.
pub(crate) struct Context {
    /// Folder of the project.
    pub(crate) project: PathBuf,
    /// Where output goes.
    pub(crate) console: Console,
}

impl Global {
    fn context(self) -> Context {
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        Context { project: self.project, console: Console::new(verbosity, self.no_progress) }
    }
}

/// Parses the arguments, runs the sub-command, says what failed.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    // The server ends in its own way: there Ctrl-C is how one leaves.
    if !matches!(cli.command, Command::Review(_)) {
        interrupt::exit_130_on_ctrl_c();
    }
    match run(cli) {
        Ok(status) => status.into(),
        Err(error) if console::is_closed_pipe(&error) => ExitStatus::Done.into(),
        Err(error) => {
            say(&error);
            ExitStatus::Failed.into()
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitStatus> {
    let context = cli.global.context();
    match cli.command {
        Command::Plan(args) => plan::run(args, &context),
        Command::Review(args) => review::run(args, &context),
        Command::Apply(args) => apply::run(args, &context),
        Command::Undo(args) => undo::run(args, &context),
        Command::Verify(args) => verify::run(&args, &context),
        Command::Import(args) => import::run(&args, &context),
        Command::Report(args) => report::run(&args, &context),
        Command::Eval(args) => eval::run(&args, &context),
        Command::Explain(args) => explain::run(&args, &context),
        Command::Page(args) => page::run(&args, &context),
        Command::Export(args) => export::run(&args, &context),
        Command::Extract(args) => extract::run(&args, &context),
        Command::Config(args) => config::run(&args, &context),
        Command::Completions(args) => completions::run(&args, &context),
    }
}

/// The error as one sentence, with the engine's hint where there is one.
fn say(error: &anyhow::Error) {
    let hint = error.chain().find_map(|cause| cause.downcast_ref::<EngineError>()).and_then(|error| error.hint.as_deref());
    console::error(&format!("{error:#}"), hint);
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_argument_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
