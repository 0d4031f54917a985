//! `linkwright review`: the approval queue in the browser.

use super::{Context, ExitStatus};
use crate::web::{self, Options};
use anyhow::Result;
use std::net::{IpAddr, Ipv4Addr};

const EXAMPLES: &str = "\
Examples:
  linkwright review                              open the queue of the current folder's project
  linkwright review --project clients/example --reviewer Anna
  linkwright review --bind 0.0.0.0 --port 8080   for a whole team; prints an address with a token

Decisions are saved at once. Several people and several servers may work on one project: nobody's decision is lost,
and a conflict is shown. Ctrl-C ends the server.";

/// Open the approval queue in the browser
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Port to listen on; without it 4180, or a free one where that is taken
    #[arg(long, value_name = "N")]
    port: Option<u16>,

    /// Address to listen on; any but a loopback address requires a token
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// Token that browsers must bring once; made up and printed where one is required and none is given
    #[arg(long, value_name = "TOKEN", env = "LINKWRIGHT_REVIEW_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// Name that decisions are recorded under until a reviewer gives another; your user name without it
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<ExitStatus> {
    let options = Options {
        project: context.project.clone(),
        bind: args.bind,
        port: args.port,
        token: args.token,
        reviewer: args.reviewer.unwrap_or_else(linkwright_engine::user),
        open: !args.no_open,
    };
    web::serve(options, context.console)?;
    Ok(ExitStatus::Done)
}
