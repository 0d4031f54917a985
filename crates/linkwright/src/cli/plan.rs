//! `linkwright plan SITE`: the main job.

use super::{Context, ExitStatus, Format};
use crate::output::counts::Counts;
use crate::output::csv;
use crate::output::files::{self, WrittenFile};
use crate::output::progress::Bar;
use crate::output::summary::{self, Work};
use anyhow::Result;
use linkwright_core::plan::Plan;
use linkwright_engine::{PlanRequest, RankingRow};
use serde::Serialize;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  linkwright plan https://example.com/
  linkwright plan https://example.com/sitemap.xml --project clients/example
  linkwright plan public/ --base-url https://example.com/
  linkwright plan content/ --base-url https://example.com/ --only '/blog/*'
  linkwright plan https://example.com/ --limit 50 --set caps.per_page=2

It writes report.html, plan.csv, gaps.csv and plan.jsonl into the project folder and prints a summary. Run it again
at any time, also after an interruption: what did not change is not read, embedded or ranked again.";

/// Read a site and propose the links it is missing
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A start URL, a sitemap URL, or a folder of HTML or Markdown
    site: String,

    /// Public address of a folder's pages
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Also write the best targets of each page, before caps, to this CSV file
    #[arg(long, value_name = "FILE.csv")]
    ranking: Option<PathBuf>,

    /// Read at most this many pages; the plan then says that it is partial
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,

    /// Read only pages whose path matches; the plan then says that it is partial
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,

    /// Change a setting for this run; see `linkwright config show`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    overrides: Vec<(String, String)>,

    /// Go on although the site has far fewer pages than in the run before
    #[arg(long)]
    accept_shrink: bool,

    /// How to print the outcome
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Outcome<'a> {
    run: &'a linkwright_core::plan::RunInfo,
    counts: &'a Counts,
    notices: &'a [linkwright_core::plan::Notice],
    work: Work,
    files: Vec<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<ExitStatus> {
    let request = PlanRequest {
        site: args.site,
        project: context.project.clone(),
        base_url: args.base_url,
        ranking: args.ranking.is_some(),
        limit: args.limit.map(|limit| limit as usize),
        only: args.only,
        overrides: args.overrides,
        accept_shrink: args.accept_shrink,
    };
    let bar = Bar::new(context.console);
    let result = linkwright_engine::plan(&request, &bar);
    bar.finish();
    let result = result?;
    let mut written = files::write_all(&result.plan, &result.project_dir)?;
    if let (Some(path), Some(rows)) = (&args.ranking, &result.ranking) {
        written.push(write_ranking(path, rows)?);
    }
    let work = Work { embedded: result.embedded, reused: result.reused };
    print(&result.plan, &written, work, args.format, context)?;
    Ok(status(&result.plan))
}

fn print(plan: &Plan, written: &[WrittenFile], work: Work, format: Format, context: &Context) -> Result<()> {
    match format {
        Format::Text => context.console.print(&summary::render(plan, written, work))?,
        Format::Csv => csv::write_plan(plan, context.console.data())?,
        Format::Json => {
            let files = written.iter().map(|file| file.path.display().to_string()).collect();
            let outcome = Outcome { run: &plan.run, counts: &Counts::of(plan), notices: &plan.notices, work, files };
            context.console.print_json(&outcome)?;
        }
    }
    Ok(())
}

/// Pages that could not be read are a finding.
fn status(plan: &Plan) -> ExitStatus {
    if Counts::of(plan).pages_failed > 0 { ExitStatus::Findings } else { ExitStatus::Done }
}

fn write_ranking(path: &Path, rows: &[RankingRow]) -> Result<WrittenFile> {
    files::write_file(path, |out| {
        let rows = rows
            .iter()
            .map(|row| [row.source.clone(), row.target.clone(), row.anchor.clone().unwrap_or_default(), format!("{:.6}", row.score)]);
        Ok(csv::write_rows(out, &["source", "target", "anchor", "score"], rows)?)
    })?;
    Ok(WrittenFile { path: path.to_owned(), holds: "the best targets of each page" })
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as `caps.per_page=2`")?;
    if key.trim().is_empty() {
        return Err("the key before `=` is missing".to_owned());
    }
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_split_at_its_first_equals_sign() {
        assert_eq!(key_value("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(key_value("a").is_err());
        assert!(key_value("=b").is_err());
    }
}
