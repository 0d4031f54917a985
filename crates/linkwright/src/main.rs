//! The `linkwright` command: turns arguments into calls of the engine, and what comes back into text, files and
//! exit codes.

mod cli;
mod output;
mod web;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
