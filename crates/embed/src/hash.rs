//! An embedder without a model, for tests: texts that share words get similar vectors.

use crate::model::{EmbedError, Embedder, Languages, ModelId, OnProgress, Progress};
use crate::vectors::Vectors;

/// Adds up one fixed pseudo-random direction per word. Needs no file, knows no meaning, and gives
/// the same rows on every machine.
#[derive(Clone, Debug)]
pub struct HashEmbedder {
    id: ModelId,
}

impl HashEmbedder {
    /// An embedder of `dimensions` dimensions, at least 1.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self { id: ModelId { name: "words".into(), revision: "1".into(), dimensions: dimensions.max(1) } }
    }
}

impl Default for HashEmbedder {
    fn default() -> Self {
        Self::new(64)
    }
}

impl Embedder for HashEmbedder {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn languages(&self) -> Languages {
        Languages::Any
    }

    fn max_tokens(&self) -> usize {
        usize::MAX
    }

    fn embed(&self, texts: &[&str], progress: OnProgress<'_>) -> Result<Vectors, EmbedError> {
        let mut vectors = Vectors::zeros(self.id.clone(), texts.len());
        let total_bytes = texts.iter().map(|text| text.len() as u64).sum();
        let mut state = Progress { total_bytes, ..Progress::default() };
        for (row, text) in texts.iter().enumerate() {
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                vectors.add_weighted(row, 1.0, &direction(word, self.id.dimensions));
                state.done_tokens += 1;
            }
            state.done_bytes += text.len() as u64;
            progress(state);
        }
        vectors.normalise();
        Ok(vectors)
    }
}

/// `dimensions` signs that follow from the lower-case word.
fn direction(word: &str, dimensions: usize) -> Vec<f32> {
    let mut bytes = vec![0; dimensions];
    blake3::Hasher::new().update(word.to_lowercase().as_bytes()).finalize_xof().fill(&mut bytes);
    bytes.into_iter().map(|byte| if byte & 1 == 0 { 1.0 } else { -1.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_more_similar() -> Result<(), EmbedError> {
        let rows = HashEmbedder::default().embed(&["plain language guide", "a guide to plain language", "solar panels"], &|_| ())?;
        assert!(rows.similarity(0, &rows, 1)? > 0.5);
        assert!(rows.similarity(0, &rows, 2)? < 0.5);
        Ok(())
    }

    #[test]
    fn empty_texts_give_zeros_and_progress_reaches_its_total() -> Result<(), EmbedError> {
        let last = std::sync::Mutex::new(Progress::default());
        let rows = HashEmbedder::new(8).embed(&["", "!?", "Word"], &|p| *last.lock().expect("no panic holds it") = p)?;
        assert_eq!(rows.row(0), [0.0; 8]);
        assert_eq!(rows.row(1), [0.0; 8]);
        let last = *last.lock().expect("no panic holds it");
        assert_eq!((last.done_bytes, last.total_bytes, last.done_tokens), (6, 6, 1));
        Ok(())
    }
}
