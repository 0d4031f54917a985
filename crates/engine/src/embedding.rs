//! Pages to vectors, from the store where the text was embedded before, else from the model.
//!
//! A row of the store holds a page's vector, its title's and those of its passages, under the hash of
//! just these texts and the model: changing one page embeds one page. Pages in languages that the
//! model does not know get none.

use crate::analysis::Analysis;
use crate::error::EngineError;
use crate::progress::Progress;
use linkwright_core::signals::SiteVectors;
use linkwright_core::site_index::PageId;
use linkwright_embed::{Embedder, PageTexts};
use linkwright_store::{Store, TextHash, VectorModel};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Runtime;

/// Pages embedded between two writes to the store: what a kill can cost at most.
const GROUP: usize = 64;

/// The vectors of a site and how they came.
pub(crate) struct Embedded {
    /// One row a page.
    pub(crate) vectors: SiteVectors,
    /// Pages embedded in this run.
    pub(crate) embedded: usize,
    /// Pages found in the store.
    pub(crate) reused: usize,
    /// Pages left out, with languages that the model does not know.
    pub(crate) unknown: BTreeMap<String, usize>,
    model: VectorModel,
    texts: BTreeSet<TextHash>,
}

impl Embedded {
    /// Forgets vectors of texts that the site no longer has.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) fn forget_others(&self, store: &Store, runtime: &Runtime) -> Result<(), EngineError> {
        runtime.block_on(store.vectors().prune(&self.model, &self.texts))?;
        Ok(())
    }
}

/// The texts of one page as slices of its blocks.
fn texts(analysis: &Analysis, id: PageId) -> PageTexts<'_> {
    let (page, text) = (analysis.site.page(id), analysis.corpus.page(id));
    let passages = text.passages().map(|(block, sentence)| {
        let block = &text.blocks[block];
        &page.blocks[block.index].text[block.sentences[sentence].span.range()]
    });
    PageTexts { title: &page.short_title, passages: passages.collect() }
}

/// Embeds every page that can be ranked, and keeps what is new in the store.
///
/// # Errors
/// When the model or the store fails.
pub(crate) fn embed(
    analysis: &Analysis,
    embedder: &dyn Embedder,
    store: &Store,
    runtime: &Runtime,
    progress: &dyn Progress,
) -> Result<Embedded, EngineError> {
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    let mut wanted: Vec<(PageId, TextHash)> = Vec::new();
    for id in analysis.site.ids().filter(|id| analysis.rankable_source(*id) || analysis.rankable_target(*id)) {
        let language = &analysis.site.page(id).language;
        if embedder.languages().contains(language) {
            let texts = texts(analysis, id);
            wanted.push((id, TextHash::of(std::iter::once(texts.title).chain(texts.passages))));
        } else {
            *unknown.entry(language.clone()).or_default() += 1;
        }
    }
    let model = VectorModel { name: embedder.id().to_string(), dimensions: embedder.id().dimensions };
    let hashes: Vec<TextHash> = wanted.iter().map(|(_, hash)| *hash).collect();
    let mut rows = runtime.block_on(store.vectors().get_many(&model, &hashes))?;
    let mut missing: Vec<(PageId, TextHash)> = wanted.iter().filter(|(_, hash)| !rows.contains_key(hash)).copied().collect();
    missing.sort_by_key(|(_, hash)| *hash);
    missing.dedup_by_key(|(_, hash)| *hash);
    let (embedded, reused) = (missing.len(), wanted.len() - missing.len());
    if !missing.is_empty() {
        embed_missing(analysis, embedder, &missing, progress, |group| {
            runtime.block_on(store.vectors().put_many(&model, &group.iter().map(|(h, v)| (*h, v.as_slice())).collect::<Vec<_>>()))?;
            rows.extend(group);
            Ok(())
        })?;
    }
    let vectors = unpack(analysis, &wanted, &rows, model.dimensions);
    Ok(Embedded { vectors, embedded, reused, unknown, model, texts: hashes.into_iter().collect() })
}

/// Embeds in groups, longest waiting work last, and hands each group on as soon as it is done.
fn embed_missing(
    analysis: &Analysis,
    embedder: &dyn Embedder,
    missing: &[(PageId, TextHash)],
    progress: &dyn Progress,
    mut keep: impl FnMut(Vec<(TextHash, Vec<f32>)>) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let bytes: u64 = missing.iter().map(|(id, _)| text_bytes(&texts(analysis, *id))).sum();
    progress.stage("Embedding pages", Some(bytes));
    for group in missing.chunks(GROUP) {
        let texts: Vec<PageTexts> = group.iter().map(|(id, _)| texts(analysis, *id)).collect();
        let told = AtomicU64::new(0);
        let made = embedder.embed_pages(&texts, &|p| {
            let before = told.fetch_max(p.done_bytes, Ordering::Relaxed);
            progress.advance(p.done_bytes.saturating_sub(before));
        })?;
        let total: u64 = texts.iter().map(text_bytes).sum();
        progress.advance(total.saturating_sub(told.load(Ordering::Relaxed)));
        let mut next = 0;
        let rows = group.iter().zip(&texts).enumerate().map(|(i, ((_, hash), texts))| {
            let mut row = [made.pages.row(i), made.titles.row(i)].concat();
            for passage in next..next + texts.passages.len() {
                row.extend_from_slice(made.passages.row(passage));
            }
            next += texts.passages.len();
            (*hash, row)
        });
        keep(rows.collect())?;
    }
    Ok(())
}

fn text_bytes(texts: &PageTexts) -> u64 {
    (texts.title.len() + texts.passages.iter().map(|p| p.len()).sum::<usize>()) as u64
}

/// Lays the rows out by page. A row that is too short for its page counts as missing.
fn unpack(analysis: &Analysis, wanted: &[(PageId, TextHash)], rows: &BTreeMap<TextHash, Vec<f32>>, dimensions: usize) -> SiteVectors {
    let count = analysis.site.pages.len();
    let mut vectors = SiteVectors {
        dimensions,
        pages: vec![0.0; count * dimensions],
        titles: vec![0.0; count * dimensions],
        passages: vec![Vec::new(); count],
        known: vec![false; count],
    };
    for (id, hash) in wanted {
        if let Some(row) = rows.get(hash) {
            lay(&mut vectors, *id, row);
        }
    }
    vectors
}

/// Puts the row of one page in its place.
fn lay(vectors: &mut SiteVectors, id: PageId, row: &[f32]) {
    let dimensions = vectors.dimensions;
    if row.len() < 2 * dimensions {
        return;
    }
    let place = id.index() * dimensions;
    vectors.pages[place..place + dimensions].copy_from_slice(&row[..dimensions]);
    vectors.titles[place..place + dimensions].copy_from_slice(&row[dimensions..2 * dimensions]);
    vectors.passages[id.index()] = row[2 * dimensions..].to_vec();
    vectors.known[id.index()] = row[..dimensions].iter().any(|v| *v != 0.0);
}

/// Embeds some pages whose text was changed for the occasion, over the vectors they had; the store learns nothing.
///
/// # Errors
/// When the model fails.
pub(crate) fn embed_again(
    analysis: &Analysis,
    embedder: &dyn Embedder,
    changed: &BTreeSet<PageId>,
    vectors: &mut SiteVectors,
    progress: &dyn Progress,
) -> Result<(), EngineError> {
    let known = |id: &&PageId| embedder.languages().contains(&analysis.site.page(**id).language);
    let hash = |id: &PageId| {
        let texts = texts(analysis, *id);
        TextHash::of(std::iter::once(texts.title).chain(texts.passages))
    };
    let wanted: Vec<(PageId, TextHash)> = changed.iter().filter(known).map(|id| (*id, hash(id))).collect();
    let mut rows: BTreeMap<TextHash, Vec<f32>> = BTreeMap::new();
    embed_missing(analysis, embedder, &wanted, progress, |group| {
        rows.extend(group);
        Ok(())
    })?;
    for (id, hash) in &wanted {
        if let Some(row) = rows.get(hash) {
            lay(vectors, *id, row);
        }
    }
    Ok(())
}
