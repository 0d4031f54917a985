//! Grows the shipped ranking model from projects that were planned before.
//!
//! `train_prior OUT.json PROJECT...` learns from the body links of all projects.
//! `train_prior --leave-one-out FOLDER PROJECT...` instead ranks each project with a model grown on the
//! others, and writes the ten best targets per source to `FOLDER/NAME.csv`: an honest figure for a new site.
//! `train_prior --without-each FOLDER PROJECT...` ranks each project by its own links alone, once with all signals
//! and once without each, and writes `FOLDER/SIGNAL/NAME.csv`: what each signal contributes.

#![expect(clippy::print_stderr, reason = "a tool for developers")]

use anyhow::{Context, Result, bail};
use linkwright_core::boosting::Growth;
use linkwright_core::rank::{self, Prior};
use linkwright_core::signals::{Candidate, NAMES};
use linkwright_engine::training::{Training, load};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Seen to be enough on five sites; twice as many trees gain less than the noise between sites.
const GROWTH: Growth = Growth { trees: 120, depth: 5, rate: 0.1, forests: 3 };

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = arguments.first().filter(|a| a.starts_with("--")).cloned();
    if mode.is_some() {
        arguments.remove(0);
    }
    if arguments.len() < 2 {
        bail!("usage: train_prior [--leave-one-out | --without-each] OUT PROJECT...");
    }
    let out = PathBuf::from(&arguments[0]);
    let sites: Vec<(PathBuf, Training)> =
        arguments[1..].iter().map(|p| Ok((PathBuf::from(p), load(Path::new(p))?))).collect::<Result<_>>()?;
    match mode.as_deref() {
        None => write_prior(&out, &sites),
        Some("--leave-one-out") => rank_each(&out, &sites),
        Some("--without-each") => rank_without_each(&out, sites),
        Some(other) => bail!("no mode `{other}`"),
    }
}

fn write_prior(out: &Path, sites: &[(PathBuf, Training)]) -> Result<()> {
    let prior = rank::grow_prior(&sources(sites.iter()), GROWTH);
    std::fs::write(out, serde_json::to_vec(&prior)?).with_context(|| out.display().to_string())
}

fn rank_each(folder: &Path, sites: &[(PathBuf, Training)]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for (i, (path, site)) in sites.iter().enumerate() {
        let others = sites.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, s)| s);
        let prior = if sites.len() > 1 { rank::grow_prior(&sources(others), GROWTH) } else { Prior::default() };
        let rank::Ranking { scores, report, .. } = rank::rank(&site.candidates, prior);
        let top: Vec<&(String, f64)> = report.shares.iter().take(8).collect();
        eprintln!("{}: {} links, learned {}, {top:?}", path.display(), report.links, report.learned);
        write_ranking(folder, path, site, &scores)?;
    }
    Ok(())
}

fn rank_without_each(folder: &Path, mut sites: Vec<(PathBuf, Training)>) -> Result<()> {
    let signals = std::iter::once(None).chain((0..NAMES.len()).map(Some));
    for signal in signals {
        let name = signal.map_or("all", |s| NAMES[s].0);
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        for (path, site) in &mut sites {
            let column: Vec<f32> = site.candidates.iter_mut().flatten().map(|c| mask(c, signal)).collect();
            let ranking = rank::rank(&site.candidates, Prior::default());
            site.candidates.iter_mut().flatten().zip(column).for_each(|(c, value)| unmask(c, signal, value));
            write_ranking(&folder, path, site, &ranking.scores)?;
        }
        eprintln!("without {name}");
    }
    Ok(())
}

fn mask(candidate: &mut Candidate, signal: Option<usize>) -> f32 {
    signal.map_or(0.0, |s| std::mem::replace(&mut candidate.values[s], 0.0))
}

fn unmask(candidate: &mut Candidate, signal: Option<usize>, value: f32) {
    if let Some(signal) = signal {
        candidate.values[signal] = value;
    }
}

/// The ten best targets of each source that are not linked yet.
fn write_ranking(folder: &Path, project: &Path, site: &Training, scores: &[Vec<f64>]) -> Result<()> {
    let mut csv = "source,target,score\n".to_owned();
    for ((source, candidates), scores) in site.sources.iter().zip(&site.candidates).zip(scores) {
        let mut rows: Vec<_> = candidates.iter().zip(scores).filter(|(c, _)| !c.linked).collect();
        rows.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.target.cmp(&b.0.target)));
        for (candidate, score) in rows.into_iter().take(10) {
            writeln!(csv, "{source},{},{score:.6}", site.urls[candidate.target.index()])?;
        }
    }
    let name = project.file_name().map_or("site".into(), |n| n.to_string_lossy().into_owned());
    Ok(std::fs::write(folder.join(format!("{name}.csv")), csv)?)
}

fn sources<'a>(sites: impl Iterator<Item = &'a (PathBuf, Training)>) -> Vec<Vec<Vec<Candidate>>> {
    sites.map(|(_, s)| s.candidates.clone()).collect()
}
