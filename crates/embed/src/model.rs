//! What every embedding model offers: texts in, unit vectors out, and an identity by which vectors
//! of different models are kept apart.

use crate::vectors::Vectors;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which model a vector comes from. Vectors are comparable only when all three agree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelId {
    /// Name for people, such as `all-MiniLM-L6-v2`.
    pub name: String,
    /// Hash of weights and tokenizer, hexadecimal: it changes when the numbers would.
    pub revision: String,
    /// Length of a vector.
    pub dimensions: usize,
}

impl std::fmt::Display for ModelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short: String = self.revision.chars().take(8).collect();
        write!(f, "{} ({short}, {} dimensions)", self.name, self.dimensions)
    }
}

/// Which languages a model was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Languages {
    /// Any text: a multilingual model, or one that only compares words.
    Any,
    /// These, as primary language subtags such as `en`.
    Only(&'static [&'static str]),
}

impl Languages {
    /// Whether a BCP 47 tag such as `en-GB` is in a language the model knows.
    #[must_use]
    pub fn contains(self, tag: &str) -> bool {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        match self {
            Self::Any => true,
            Self::Only(known) => known.iter().any(|language| primary.eq_ignore_ascii_case(language)),
        }
    }
}

/// How far a call to an embedder has come. Bytes are known beforehand and give the share that is
/// done; tokens are what the time goes into and give the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of text whose vectors are done.
    pub done_bytes: u64,
    /// Bytes of text in the whole call.
    pub total_bytes: u64,
    /// Tokens whose vectors are done.
    pub done_tokens: u64,
}

impl Progress {
    /// Estimated tokens of the whole call, from the tokens per byte so far; 0 before the first.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        let (tokens, total, done) = (u128::from(self.done_tokens), u128::from(self.total_bytes), u128::from(self.done_bytes));
        u64::try_from((tokens * total).checked_div(done).unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

/// A callback that hears of progress, from several threads.
pub type OnProgress<'a> = &'a (dyn Fn(Progress) + Sync);

/// The texts of a page, as an embedder wants them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageTexts<'a> {
    /// Title, embedded by itself.
    pub title: &'a str,
    /// Passages in reading order. The page's vector is made of all of them.
    pub passages: Vec<&'a str>,
}

/// The vectors of several pages.
#[derive(Clone, Debug, PartialEq)]
pub struct PageVectors {
    /// One row per page.
    pub pages: Vectors,
    /// One row per page.
    pub titles: Vectors,
    /// One row per passage: those of the first page, then those of the second, and so on.
    pub passages: Vectors,
}

/// Turns texts into unit vectors.
pub trait Embedder: Send + Sync {
    /// Which model this is. Known without loading it.
    fn id(&self) -> &ModelId;

    /// Which languages it was made for.
    fn languages(&self) -> Languages;

    /// The longest text, in tokens, that is read in one piece; longer ones are chunked and averaged.
    fn max_tokens(&self) -> usize;

    /// One row per text, in order. A text without any word gives a row of zeros. The row of a text
    /// does not depend on the other texts or on the number of threads.
    ///
    /// # Errors
    /// When the model cannot be loaded or run; never because of what a text holds.
    fn embed(&self, texts: &[&str], progress: OnProgress<'_>) -> Result<Vectors, EmbedError>;

    /// The vectors of pages, of their titles and of their passages.
    ///
    /// This default embeds each passage by itself and averages a page's passages by their length.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    fn embed_pages(&self, pages: &[PageTexts<'_>], progress: OnProgress<'_>) -> Result<PageVectors, EmbedError> {
        let titles: Vec<&str> = pages.iter().map(|page| page.title).collect();
        let texts: Vec<&str> = pages.iter().flat_map(|page| page.passages.iter().copied()).collect();
        let passages = self.embed(&texts, progress)?;
        let mut sums = Vectors::zeros(self.id().clone(), pages.len());
        let mut next = 0;
        for (row, page) in pages.iter().enumerate() {
            for passage in &page.passages {
                sums.add_weighted(row, passage.len() as f32, passages.row(next));
                next += 1;
            }
        }
        sums.normalise();
        Ok(PageVectors { pages: sums, titles: self.embed(&titles, &|_| ())?, passages })
    }
}

/// Why vectors could not be made or compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model's file is not what it should be.
    #[error("the embedding model is damaged: {0}")]
    DamagedModel(String),
    /// The tokenizer refused.
    #[error("the tokenizer failed: {0}")]
    Tokenizer(String),
    /// No worker threads could be started.
    #[error("no threads for embedding: {0}")]
    Threads(String),
    /// A matrix product was refused, which is a bug.
    #[error("a matrix product failed: {0}")]
    Product(String),
    /// Vectors of two models were about to be compared or mixed.
    #[error("vectors of `{left}` cannot be compared with vectors of `{right}`\nhint: embed both with the same model")]
    ModelMismatch {
        /// Model of one side.
        left: ModelId,
        /// Model of the other side.
        right: ModelId,
    },
    /// A stored matrix whose length is no multiple of its model's dimensions.
    #[error("{values} values are no whole number of vectors of `{model}`")]
    WrongLength {
        /// The model the values are said to be of.
        model: ModelId,
        /// How many values there are.
        values: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_recognised_by_its_primary_subtag() {
        let english = Languages::Only(&["en"]);
        for (tag, known) in [("en", true), ("EN-gb", true), ("en_US", true), ("fr", false), ("", false), ("enm", false)] {
            assert_eq!(english.contains(tag), known, "{tag}");
        }
        assert!(Languages::Any.contains("xx"));
    }

    #[test]
    fn total_tokens_follow_from_the_share_of_bytes_that_is_done() {
        let progress = Progress { done_bytes: 50, total_bytes: 200, done_tokens: 10 };
        assert_eq!(progress.total_tokens(), 40);
        assert_eq!(Progress::default().total_tokens(), 0);
    }
}
