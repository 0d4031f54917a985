//! `linkwright completions SHELL`: a completion script on standard output.

use super::{Cli, Context, ExitStatus};
use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  linkwright completions bash > ~/.local/share/bash-completion/completions/linkwright
  linkwright completions zsh > ~/.zfunc/_linkwright
  linkwright completions fish > ~/.config/fish/completions/linkwright.fish";

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "linkwright", &mut script);
    let mut out = context.console.data();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitStatus::Done)
}
