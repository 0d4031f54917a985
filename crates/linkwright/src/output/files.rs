//! Files of a run in the project folder. Each is written beside its place and then renamed, so that a kill at any
//! moment leaves either the old file or the new one.

use super::{csv, jsonl, report};
use anyhow::{Context, Result};
use linkwright_core::eval::Evaluation;
use linkwright_core::plan::Plan;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that a run wrote, and what it holds in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it holds.
    pub(crate) holds: &'static str,
}

/// Writes every file of a plan.
pub(crate) fn write_all(plan: &Plan, project: &Path) -> Result<Vec<WrittenFile>> {
    let report = write_report(plan, linkwright_engine::eval::last(project).as_ref(), project)?;
    let rows = project.join("plan.csv");
    write_file(&rows, |out| csv::write_plan(plan, out).map_err(Into::into))?;
    let gaps = project.join("gaps.csv");
    write_file(&gaps, |out| csv::write_gaps(plan, out).map_err(Into::into))?;
    let lines = project.join("plan.jsonl");
    write_file(&lines, |out| jsonl::write_plan(plan, out).map_err(Into::into))?;
    Ok(vec![
        report,
        WrittenFile { path: rows, holds: "a row per opportunity" },
        WrittenFile { path: gaps, holds: "a row per gap" },
        WrittenFile { path: lines, holds: "both, for programs" },
    ])
}

/// Writes the HTML report alone, with the last evaluation of the project where there is one.
pub(crate) fn write_report(plan: &Plan, evaluation: Option<&Evaluation>, project: &Path) -> Result<WrittenFile> {
    let path = project.join("report.html");
    write_file(&path, |out| report::write(plan, evaluation, out))?;
    Ok(WrittenFile { path, holds: "open it in a browser" })
}

/// Keeps an evaluation in the project.
pub(crate) fn write_evaluation(evaluation: &Evaluation, project: &Path) -> Result<WrittenFile> {
    let path = project.join(linkwright_engine::eval::FILE);
    write_file(&path, |out| {
        serde_json::to_writer_pretty(&mut *out, evaluation)?;
        Ok(out.write_all(b"\n")?)
    })?;
    Ok(WrittenFile { path, holds: "how well the site's own links are found again" })
}

/// Writes a file in whole or not at all.
pub(crate) fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("output");
    let beside = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = write_through(&beside, write).and_then(|()| Ok(fs::rename(&beside, path)?));
    if written.is_err() {
        // The error being returned matters more than a leftover that could not be removed.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

fn write_through(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    write(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_leftover() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.csv");
        fs::write(&path, "old").unwrap();
        let result = write_file(&path, |out| {
            out.write_all(b"half of the new")?;
            anyhow::bail!("disk full")
        });
        assert!(format!("{:#}", result.unwrap_err()).contains("disk full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
