//! Grows the shipped anchor model from projects that were planned before: `train_anchors OUT.json PROJECT...`.
//!
//! First prints, for each project, how often a model grown on the others puts the editor's words first.

#![expect(clippy::print_stderr, reason = "a tool for developers")]

use anyhow::{Context, Result, bail};
use linkwright_core::anchor::words::{Model, Row};
use linkwright_core::boosting::Growth;
use linkwright_engine::training::anchors;
use std::path::Path;

const GROWTH: Growth = Growth { trees: 80, depth: 5, rate: 0.12, forests: 3 };
/// Pairs of a site, so that no site outweighs the others.
const PAIRS: usize = 1500;

type Pairs = Vec<Vec<(Row, bool)>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((out, projects)) = arguments.split_first().filter(|(_, p)| !p.is_empty()) else {
        bail!("usage: train_anchors OUT.json PROJECT...");
    };
    let sites: Vec<Pairs> = projects.iter().map(|p| Ok(anchors(Path::new(p))?)).collect::<Result<_>>()?;
    let all = Model::grow(&rows(sites.iter()), GROWTH);
    std::fs::write(out, serde_json::to_vec(&all)?).with_context(|| out.clone())?;
    for (i, (name, site)) in projects.iter().zip(&sites).enumerate() {
        let others = sites.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, s)| s);
        let share = first(&Model::grow(&rows(others), GROWTH), site);
        eprintln!("{name}: {} links, chosen first {share:.3}, by the model of all {:.3}", site.len(), first(&all, site));
    }
    Ok(())
}

/// An even sample of each site's pairs.
fn rows<'a>(sites: impl Iterator<Item = &'a Pairs>) -> Vec<(Row, bool)> {
    sites.flat_map(|site| site.iter().step_by(site.len().div_ceil(PAIRS).max(1)).flatten().copied()).collect()
}

/// Share of the pairs whose likeliest stretch is the anchor.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn first(model: &Model, pairs: &Pairs) -> f64 {
    let best = |rows: &&Vec<(Row, bool)>| {
        rows.iter().max_by(|a, b| model.probability(&a.0).total_cmp(&model.probability(&b.0))).is_some_and(|r| r.1)
    };
    pairs.iter().filter(best).count() as f64 / pairs.len().max(1) as f64
}
