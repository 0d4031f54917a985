//! `linkwright config show`: every setting with its value and where the value comes from.

use super::{Context, ExitStatus, Format};
use anyhow::Result;
use clap::Subcommand;

/// Show the settings of the project
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Every setting with its value and where the value comes from
    Show {
        /// How to print it
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let What::Show { format } = args.what;
    let _ = (format, context);
    Ok(ExitStatus::Failed)
}
