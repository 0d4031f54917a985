//! Texts to unit vectors.
//!
//! [`Embedder`] is what the rest of the program sees; [`MiniLm`] is the model inside the binary and
//! [`HashEmbedder`] a stand-in for tests. [`Vectors`] know which model made them and refuse to be
//! compared with those of another. Nothing here knows pages, URLs or databases.

mod encoder;
mod hash;
mod kernels;
mod minilm;
mod model;
mod text;
mod vectors;
mod weights;

pub use hash::HashEmbedder;
pub use minilm::MiniLm;
pub use model::{EmbedError, Embedder, Languages, ModelId, OnProgress, PageTexts, PageVectors, Progress};
pub use vectors::Vectors;
