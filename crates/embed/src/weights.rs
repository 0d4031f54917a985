//! The bytes of a model file to the encoder's weights: a safetensors container (a JSON header with
//! the name, type, shape and place of each tensor, then the tensors) is read, checked and packed
//! for the matrix kernels.
//!
//! Shapes are checked against `model.json` here and relied on by the encoder.

use crate::kernels::LANES;
use crate::model::EmbedError;
use rten_gemm::{GemmExecutor, PackedBMatrix};
use rten_tensor::NdTensorView;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A header longer than this is damage; the built-in model's has 8 KiB.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// `model.json`: what the weights are and how they fit together.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) revision: String,
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) intermediate: usize,
    pub(crate) positions: usize,
    pub(crate) norm_epsilon: f32,
}

/// A matrix with one scale and one bias per output column, packed for the 8-bit kernels.
pub(crate) struct Linear {
    pub(crate) packed: PackedBMatrix<i8>,
    pub(crate) scales: Vec<f32>,
    /// Sums of the columns, for taking off the zero points of the other factor.
    pub(crate) sums: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Gain and bias of a layer norm.
pub(crate) struct NormWeights {
    pub(crate) gain: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// One encoder layer.
pub(crate) struct LayerWeights {
    /// Query, key and value side by side; the query is already divided by the root of a head's width.
    pub(crate) qkv: Linear,
    pub(crate) attention_out: Linear,
    pub(crate) attention_norm: NormWeights,
    pub(crate) ffn_in: Linear,
    pub(crate) ffn_out: Linear,
    pub(crate) ffn_norm: NormWeights,
}

/// Everything an encoder needs.
pub(crate) struct Weights {
    pub(crate) shape: Description,
    /// Word vectors, left where they are: `(words, hidden)` signed bytes.
    words: &'static [u8],
    word_scales: Vec<f32>,
    /// `(positions, hidden)`, the token type added.
    positions: Vec<f32>,
    pub(crate) embedding_norm: NormWeights,
    pub(crate) layers: Vec<LayerWeights>,
}

impl Weights {
    /// Reads and packs a model.
    ///
    /// # Errors
    /// When the container is damaged or a tensor is missing or of another shape.
    pub(crate) fn read(shape: Description, container: &'static [u8], gemm: &GemmExecutor<u8, i8, i32>) -> Result<Self, EmbedError> {
        let file = Container::open(container)?;
        let hidden = shape.hidden;
        let fits = shape.heads > 0 && hidden.is_multiple_of(shape.heads) && hidden > 0;
        if !fits || !hidden.is_multiple_of(LANES) || !shape.intermediate.is_multiple_of(LANES) {
            return Err(EmbedError::DamagedModel(format!("a hidden size of {hidden} does not fit the kernels")));
        }
        let word_scales = file.any_floats("words.scale")?;
        let words = file.tensor("words.weight", "I8", word_scales.len() * hidden)?;
        let layers = (0..shape.layers).map(|layer| read_layer(&file, &shape, layer, gemm)).collect::<Result<_, _>>()?;
        Ok(Self {
            words,
            word_scales,
            positions: file.floats("positions", shape.positions * hidden)?,
            embedding_norm: file.norm("embedding_norm", hidden)?,
            layers,
            shape,
        })
    }

    /// Adds up the vectors of a word and of its place in the sequence.
    pub(crate) fn embed_token(&self, word: u32, position: usize, out: &mut [f32]) {
        let hidden = self.shape.hidden;
        // A tokenizer of another model could give a word that is not there: it counts as the first.
        let word = if (word as usize) < self.word_scales.len() { word as usize } else { 0 };
        let scale = self.word_scales[word];
        let bytes = &self.words[word * hidden..(word + 1) * hidden];
        let place = &self.positions[position * hidden..(position + 1) * hidden];
        for (out, (byte, place)) in out.iter_mut().zip(bytes.iter().zip(place)) {
            *out = f32::from(*byte as i8) * scale + place;
        }
    }
}

fn read_layer(file: &Container, shape: &Description, layer: usize, gemm: &GemmExecutor<u8, i8, i32>) -> Result<LayerWeights, EmbedError> {
    let (hidden, wide) = (shape.hidden, shape.intermediate);
    let name = |part: &str| format!("{layer}.{part}");
    let mut qkv = file.linear(&name("qkv"), hidden, 3 * hidden, gemm)?;
    let shrink = 1.0 / ((hidden / shape.heads) as f32).sqrt();
    for value in qkv.scales[..hidden].iter_mut().chain(&mut qkv.bias[..hidden]) {
        *value *= shrink;
    }
    Ok(LayerWeights {
        qkv,
        attention_out: file.linear(&name("attention_out"), hidden, hidden, gemm)?,
        attention_norm: file.norm(&name("attention_norm"), hidden)?,
        ffn_in: file.linear(&name("ffn_in"), hidden, wide, gemm)?,
        ffn_out: file.linear(&name("ffn_out"), wide, hidden, gemm)?,
        ffn_norm: file.norm(&name("ffn_norm"), hidden)?,
    })
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    data_offsets: (usize, usize),
}

/// A safetensors file in memory.
struct Container {
    entries: BTreeMap<String, Entry>,
    body: &'static [u8],
}

impl Container {
    fn open(bytes: &'static [u8]) -> Result<Self, EmbedError> {
        let damaged = |what: &str| EmbedError::DamagedModel(what.to_owned());
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| damaged("the file is too short"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > MAX_HEADER_BYTES || length > rest.len() {
            return Err(damaged("its header is longer than the file"));
        }
        let (header, body) = rest.split_at(length);
        let entries = serde_json::from_slice(header).map_err(|error| damaged(&error.to_string()))?;
        Ok(Self { entries, body })
    }

    /// The bytes of a tensor of type `dtype`.
    fn bytes(&self, name: &str, dtype: &str) -> Result<&'static [u8], EmbedError> {
        let entry = self.entries.get(name).filter(|entry| entry.dtype == dtype);
        let (start, end) = entry.map_or((1, 0), |entry| entry.data_offsets);
        self.body.get(start..end).ok_or_else(|| EmbedError::DamagedModel(format!("tensor `{name}` is missing")))
    }

    /// The bytes of a tensor that must have `count` elements.
    fn tensor(&self, name: &str, dtype: &str, count: usize) -> Result<&'static [u8], EmbedError> {
        let width = if dtype == "F32" { 4 } else { 1 };
        let bytes = self.bytes(name, dtype)?;
        if bytes.len() != count * width {
            return Err(EmbedError::DamagedModel(format!("tensor `{name}` has not {count} elements")));
        }
        Ok(bytes)
    }

    fn floats(&self, name: &str, count: usize) -> Result<Vec<f32>, EmbedError> {
        Ok(read_floats(self.tensor(name, "F32", count)?))
    }

    fn any_floats(&self, name: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(read_floats(self.bytes(name, "F32")?))
    }

    fn norm(&self, name: &str, width: usize) -> Result<NormWeights, EmbedError> {
        Ok(NormWeights { gain: self.floats(&format!("{name}.gain"), width)?, bias: self.floats(&format!("{name}.bias"), width)? })
    }

    /// A matrix that is stored as one row per output.
    fn linear(&self, name: &str, inputs: usize, outputs: usize, gemm: &GemmExecutor<u8, i8, i32>) -> Result<Linear, EmbedError> {
        let bytes = self.tensor(&format!("{name}.weight"), "I8", inputs * outputs)?;
        let signed: Vec<i8> = bytes.iter().map(|byte| *byte as i8).collect();
        let rows = NdTensorView::from_data([outputs, inputs], signed.as_slice());
        Ok(Linear {
            packed: gemm.prepack_b(rows.transposed()),
            sums: signed.chunks_exact(inputs).map(|row| row.iter().map(|x| f32::from(*x)).sum()).collect(),
            scales: self.floats(&format!("{name}.scale"), outputs)?,
            bias: self.floats(&format!("{name}.bias"), outputs)?,
        })
    }
}

fn read_floats(bytes: &[u8]) -> Vec<f32> {
    let (quads, _) = bytes.as_chunks::<4>();
    quads.iter().map(|quad| f32::from_le_bytes(*quad)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Description {
        Description {
            name: "tiny".into(),
            revision: "0".into(),
            hidden: 64,
            layers: 1,
            heads: 2,
            intermediate: 64,
            positions: 4,
            norm_epsilon: 1e-12,
        }
    }

    #[test]
    fn damaged_containers_are_errors_and_not_panics() {
        let gemm = GemmExecutor::default();
        let long = u64::MAX.to_le_bytes();
        let wrong_header: &[u8] = b"\x02\0\0\0\0\0\0\0[]";
        let empty_header: &[u8] = b"\x02\0\0\0\0\0\0\0{}";
        let reversed: &[u8] = b"\x45\0\0\0\0\0\0\0{\"words.scale\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,0]}}    ";
        for bytes in [&[] as &[u8], long.to_vec().leak(), wrong_header, empty_header, reversed] {
            let result = Weights::read(shape(), bytes.to_vec().leak(), &gemm);
            assert!(matches!(result, Err(EmbedError::DamagedModel(_))), "{bytes:?}");
        }
    }

    #[test]
    fn a_shape_that_does_not_fit_the_kernels_is_refused() {
        let gemm = GemmExecutor::default();
        let bad = Description { hidden: 60, ..shape() };
        assert!(matches!(Weights::read(bad, b"\x02\0\0\0\0\0\0\0{}", &gemm), Err(EmbedError::DamagedModel(_))));
    }
}
