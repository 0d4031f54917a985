//! `linkwright config show`: every setting with its value and where the value comes from.

use super::{Context, ExitStatus, Format};
use crate::output::csv;
use anyhow::Result;
use clap::Subcommand;
use linkwright_engine::EngineError;
use linkwright_engine::project::{Project, SettingInForce};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  linkwright config show                       the settings of the project in the current folder
  linkwright config show --format json

A value comes from, the first that says something: a flag (--set), the environment (LINKWRIGHT_...),
linkwright.toml, the default. linkwright.toml explains each setting in a comment.";

/// Show the settings of the project
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
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

/// A setting as JSON shows it.
#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    value: &'a Value,
    origin: String,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus> {
    let What::Show { format } = args.what;
    let project = Project::peek(&context.project, &[]).map_err(EngineError::from)?;
    let settings = project.settings_in_force();
    match format {
        Format::Text => context.console.print(&table(&settings))?,
        Format::Json => context.console.print_json(&settings.iter().map(row).collect::<Vec<_>>())?,
        Format::Csv => csv::write_rows(context.console.data(), &["key", "value", "origin"], settings.iter().map(cells))?,
    }
    Ok(ExitStatus::Done)
}

fn row(setting: &SettingInForce) -> Row<'_> {
    Row { key: &setting.key, value: &setting.value, origin: setting.origin.to_string() }
}

fn cells(setting: &SettingInForce) -> [String; 3] {
    [setting.key.clone(), shown(&setting.value), setting.origin.to_string()]
}

fn table(settings: &[SettingInForce]) -> String {
    let width = settings.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
    let mut out = String::new();
    for setting in settings {
        // Writing to a `String` cannot fail.
        let _ = writeln!(out, "{:<width$}  {}  ({})", setting.key, shown(&setting.value), setting.origin);
    }
    out
}

fn shown(value: &Value) -> String {
    if value.is_null() { "not set".to_owned() } else { value.to_string() }
}
