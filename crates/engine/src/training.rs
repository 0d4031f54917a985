//! Candidates of a project with their labels: what the shipped ranking model is grown from.

use crate::EngineError;
use crate::embedding::embed;
use crate::plan::embedder;
use crate::progress::Silent;
use crate::propose::{Groundwork, body_links};
use crate::views;
use linkwright_core::anchor::words::{self, Row, Targets};
use linkwright_core::signals::Candidate;
use rayon::prelude::*;
use std::path::Path;

/// Candidates of every source of a project.
pub struct Training {
    /// URLs of the sources.
    pub sources: Vec<String>,
    /// Their candidates, in the same order.
    pub candidates: Vec<Vec<Candidate>>,
    /// URLs of all pages by number.
    pub urls: Vec<String>,
}

/// Loads a project that was planned before.
///
/// # Errors
/// When there is no project or no plan in it.
pub fn load(project: &Path) -> Result<Training, EngineError> {
    let (runtime, project, store) = views::open(project)?;
    let plan = views::latest(&runtime, &store)?;
    let analysis = views::analyse(&runtime, &project, &store, &plan)?;
    let embedded = embed(&analysis, &embedder(project.settings())?, &store, &runtime, &Silent)?;
    let groundwork = Groundwork::new(&analysis);
    let evidence = groundwork.evidence(&analysis, &embedded.vectors, project.settings());
    let (sources, candidates) = crate::propose::candidates(&analysis, &evidence, project.settings());
    let url = |id: linkwright_core::site_index::PageId| analysis.site.page(id).url.to_string();
    Ok(Training { sources: sources.into_iter().map(url).collect(), candidates, urls: analysis.site.ids().map(url).collect() })
}

/// Stretches of every body link of a project with whether each is the link's anchor: what the shipped anchor
/// model is grown from.
///
/// # Errors
/// When there is no project or no plan in it.
pub fn anchors(project: &Path) -> Result<Vec<Vec<(Row, bool)>>, EngineError> {
    let (runtime, project, store) = views::open(project)?;
    let plan = views::latest(&runtime, &store)?;
    let analysis = views::analyse(&runtime, &project, &store, &plan)?;
    let embedded = embed(&analysis, &embedder(project.settings())?, &store, &runtime, &Silent)?;
    let groundwork = Groundwork::new(&analysis);
    let evidence = groundwork.evidence(&analysis, &embedded.vectors, project.settings());
    let linked = body_links(&analysis);
    let targets = Targets::new(&evidence);
    Ok(linked
        .par_iter()
        .map(|(source, target)| words::examples(&evidence, &targets, *source, *target))
        .filter(|rows| !rows.is_empty())
        .collect())
}
