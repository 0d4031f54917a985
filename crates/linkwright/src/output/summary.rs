//! The summary that `plan` prints: what was read, what was found, why some pages got nothing, and what to do next.
//!
//! Text carries its styles as ANSI codes; the stream it is printed to strips them where they are not wanted.

use super::counts::{Counts, by_frequency};
use super::files::WrittenFile;
use super::words::{count, outcome, reason, thousands};
use anstyle::{AnsiColor, Style};
use linkwright_core::plan::{Notice, Plan};
use std::fmt::{self, Display, Write};

/// Most reasons that are listed before the rest is summed up.
const REASONS_SHOWN: usize = 8;
const NUMBER_WIDTH: usize = 7;

const TITLE: Style = Style::new().bold();
const NUMBER: Style = AnsiColor::Cyan.on_default().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
const QUIET: Style = Style::new().dimmed();

/// What the run had to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Work {
    /// Pages embedded in this run.
    pub(crate) embedded: usize,
    /// Pages whose vectors were kept from an earlier run.
    pub(crate) reused: usize,
}

/// Words in a style.
struct Styled<T>(Style, T);

impl<T: Display> Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.0.render(), self.1, self.0.render_reset())
    }
}

/// The summary as text with ANSI styles.
pub(crate) fn render(plan: &Plan, files: &[WrittenFile], work: Work) -> String {
    let counts = Counts::of(plan);
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_all(&mut out, plan, &counts, files, work);
    out
}

fn write_all(out: &mut String, plan: &Plan, counts: &Counts, files: &[WrittenFile], work: Work) -> fmt::Result {
    writeln!(out, "{}  {}", Styled(TITLE, &plan.run.base_url), Styled(QUIET, format!("run {}, {}", plan.run.id, plan.run.model)))?;
    for notice in &plan.notices {
        write_notice(out, notice)?;
    }
    write_pages(out, counts, work)?;
    write_links(out, counts)?;
    write_plan(out, counts)?;
    write_nothing(out, counts)?;
    write_files(out, files)?;
    write_next(out, plan, counts)
}

/// A notice and what to do about it.
pub(super) fn write_notice(out: &mut String, notice: &Notice) -> fmt::Result {
    writeln!(out, "\n{} {}", Styled(CAUTION, "note:"), notice.message)?;
    match &notice.hint {
        Some(hint) => writeln!(out, "{} {hint}", Styled(TITLE, "hint:")),
        None => Ok(()),
    }
}

fn write_pages(out: &mut String, counts: &Counts, work: Work) -> fmt::Result {
    title(out, "Pages")?;
    for (result, pages) in by_frequency(&counts.outcomes) {
        row(out, pages, outcome(result))?;
    }
    row(out, counts.sources, "can carry new links")?;
    row(out, counts.targets, "can be linked to")?;
    row(out, work.embedded, &format!("embedded in this run, {} kept from before", thousands(work.reused)))
}

fn write_links(out: &mut String, counts: &Counts) -> fmt::Result {
    title(out, "Links")?;
    row(out, counts.body_links, "body links between pages")?;
    match counts.orphans {
        Some(orphans) => row(out, orphans, "orphans: indexable pages without a body link from another page"),
        None => writeln!(out, "{:>NUMBER_WIDTH$}  orphans cannot be known: not every page was read", "?"),
    }
}

fn write_plan(out: &mut String, counts: &Counts) -> fmt::Result {
    title(out, "Plan")?;
    let spread = format!(
        "opportunities, on {} to {}",
        count(counts.opportunity_sources, "page", "pages"),
        count(counts.opportunity_targets, "target", "targets")
    );
    row(out, counts.opportunities, &spread)?;
    if let Some(helped) = counts.orphans_helped.filter(|helped| *helped > 0) {
        row(out, helped, "orphans that would get their first body link")?;
    }
    row(out, counts.gaps, "gaps: they belong together, but no words can carry the link")?;
    row(out, counts.overlaps, "pairs too alike to link")
}

fn write_nothing(out: &mut String, counts: &Counts) -> fmt::Result {
    let reasons = by_frequency(&counts.nothing);
    if reasons.is_empty() {
        return Ok(());
    }
    title(out, "Pages that got nothing")?;
    for (code, pages) in reasons.iter().take(REASONS_SHOWN) {
        row(out, *pages, &format!("{} {}", reason(code), Styled(QUIET, format!("({code})"))))?;
    }
    let rest: usize = reasons.iter().skip(REASONS_SHOWN).map(|(_, pages)| pages).sum();
    if rest > 0 {
        row(out, rest, "for other reasons: see the report")?;
    }
    Ok(())
}

fn write_files(out: &mut String, files: &[WrittenFile]) -> fmt::Result {
    if files.is_empty() {
        return Ok(());
    }
    title(out, "Files")?;
    let width = files.iter().map(|file| file.path.display().to_string().chars().count()).max().unwrap_or(0);
    for file in files {
        writeln!(out, "  {:<width$}  {}", file.path.display().to_string(), Styled(QUIET, file.holds))?;
    }
    Ok(())
}

fn write_next(out: &mut String, plan: &Plan, counts: &Counts) -> fmt::Result {
    title(out, "Next")?;
    if counts.opportunities > 0 {
        writeln!(out, "  `linkwright review` decides on them in the browser, `linkwright apply` writes what was accepted")?;
        return writeln!(out, "  report.html shows them all; `linkwright explain SOURCE TARGET` says why, and why not");
    }
    let silent = plan.pages.iter().find(|page| page.nothing.is_some());
    let asked = silent.map_or("URL", |page| page.url.as_str());
    writeln!(out, "  nothing to propose; `linkwright explain {asked}` says why for one page")
}

fn title(out: &mut String, name: &str) -> fmt::Result {
    writeln!(out, "\n{}", Styled(TITLE, name))
}

fn row(out: &mut String, number: usize, words: &str) -> fmt::Result {
    writeln!(out, "{}  {words}", Styled(NUMBER, format!("{:>NUMBER_WIDTH$}", thousands(number))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;
    use std::path::PathBuf;

    fn plain(plan: &Plan) -> String {
        let files = [WrittenFile { path: PathBuf::from("client/plan.csv"), holds: "a row per opportunity" }];
        anstream::adapter::strip_str(&render(plan, &files, Work { embedded: 2, reused: 3 })).to_string()
    }

    #[test]
    fn the_summary_reads_well_without_colour() {
        insta::assert_snapshot!(plain(&sample::plan()));
    }

    #[test]
    fn an_incomplete_crawl_says_that_orphans_cannot_be_known() {
        let mut plan = sample::plan();
        plan.run.complete = false;
        assert!(plain(&plan).contains("orphans cannot be known"));
    }
}
