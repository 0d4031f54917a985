//! Black-box tests: the built binary, run in a sandbox on the example site. One module per sub-command.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop right there")]

mod completions;
mod config;
mod eval;
mod explain;
mod export;
mod extract;
mod facts;
mod general;
mod lock;
mod page;
mod plan;
mod publication;
mod report;
mod sandbox;
mod website;
mod wordpress;
mod wrong_input;
