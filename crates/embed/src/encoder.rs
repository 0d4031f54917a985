//! The network: token ids to one vector per token.
//!
//! A BERT encoder (post-norm, GELU, absolute positions) over several sequences laid end to end.
//! There is no padding and no mask: everything but attention treats tokens one by one, and attention
//! runs per sequence and head. Matrix products with weights are 8-bit: weights have one scale per
//! output column, activations one scale and zero per token, so the numbers of a token depend on its
//! own sequence alone, and a sequence has the same vectors in whatever company it is encoded.

use crate::kernels::{AddNorm, Dequantise, Exponentials, Gelu, Norm, NormRow, Product, Quantise, RowScale};
use crate::model::EmbedError;
use crate::weights::{LayerWeights, Linear, NormWeights, Weights};
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::SimdOp;
use rten_tensor::NdTensorView;
use std::ops::Range;

/// Tokens that go through the linear parts of a layer together: enough to read the weights seldom,
/// few enough for what lies between two products to stay in the second-level cache.
const BLOCK_TOKENS: usize = 256;

/// The kernels and buffers of one thread. Buffers grow to the largest batch and are kept.
pub(crate) struct Encoder<'w> {
    weights: &'w Weights,
    int8: GemmExecutor<u8, i8, i32>,
    float: GemmExecutor,
    /// Largest quantised activation.
    top: f32,
    /// `(tokens, hidden)`: the state between layers.
    state: Vec<f32>,
    /// `(query | key | value, head, token, head width)`.
    heads: Vec<f32>,
    /// `(tokens, hidden)`: what attention gathered.
    context: Vec<f32>,
    scores: Vec<f32>,
    gathered: Vec<f32>,
    factors: Vec<f32>,
    block: Block,
}

/// Buffers for one block of tokens on its way through linear parts.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    /// How each row was quantised.
    rows: Vec<RowScale>,
    sums: Vec<i32>,
    wide: Vec<f32>,
}

impl<'w> Encoder<'w> {
    pub(crate) fn new(weights: &'w Weights) -> Self {
        let int8 = GemmExecutor::<u8, i8, i32>::default();
        let top = if int8.may_saturate() { 127.0 } else { 255.0 };
        Self {
            weights,
            int8,
            float: GemmExecutor::default(),
            top,
            state: Vec::new(),
            heads: Vec::new(),
            context: Vec::new(),
            scores: Vec::new(),
            gathered: Vec::new(),
            factors: Vec::new(),
            block: Block::default(),
        }
    }

    /// Encodes sequences that lie end to end in `ids`; `lengths` says how long each is.
    ///
    /// Returns `(tokens, hidden)`, one row per id, valid until the next call.
    ///
    /// # Errors
    /// When a matrix product is refused, which is a bug.
    pub(crate) fn encode(&mut self, ids: &[u32], lengths: &[usize]) -> Result<&[f32], EmbedError> {
        debug_assert_eq!(ids.len(), lengths.iter().sum::<usize>());
        let weights = self.weights;
        let (hidden, tokens) = (weights.shape.hidden, ids.len());
        fit(&mut self.state, tokens * hidden);
        fit(&mut self.context, tokens * hidden);
        fit(&mut self.heads, tokens * hidden * 3);
        self.embed(ids, lengths);
        for layer in &weights.layers {
            for block in blocks(tokens) {
                self.project_heads(layer, block, tokens)?;
            }
            let mut start = 0;
            for length in lengths {
                for head in 0..weights.shape.heads {
                    self.attend(head, start..start + length, tokens)?;
                }
                start += length;
            }
            for block in blocks(tokens) {
                self.finish_layer(layer, block)?;
            }
        }
        Ok(&self.state[..tokens * hidden])
    }

    /// Looks up words and positions.
    fn embed(&mut self, ids: &[u32], lengths: &[usize]) {
        let shape = &self.weights.shape;
        let positions = lengths.iter().flat_map(|length| 0..*length);
        for ((row, id), position) in self.state.chunks_exact_mut(shape.hidden).zip(ids).zip(positions) {
            self.weights.embed_token(*id, position.min(shape.positions - 1), row);
            NormRow { row, norm: norm(&self.weights.embedding_norm, shape.norm_epsilon) }.dispatch();
        }
    }

    /// Queries, keys and values of a block of tokens, each head's rows side by side.
    fn project_heads(&mut self, layer: &LayerWeights, tokens: Range<usize>, all: usize) -> Result<(), EmbedError> {
        let hidden = self.weights.shape.hidden;
        let width = hidden / self.weights.shape.heads;
        let rows = &self.state[tokens.start * hidden..tokens.end * hidden];
        self.block.quantise(rows, hidden, self.top);
        self.block.multiply(&self.int8, &layer.qkv)?;
        let row = fit(&mut self.block.wide, 3 * hidden);
        for (offset, (sums, scale)) in self.block.sums.chunks_exact(3 * hidden).zip(&self.block.rows).enumerate() {
            Dequantise { product: layer.qkv.product(sums, *scale), out: &mut *row }.dispatch();
            for (head, values) in row.chunks_exact(width).enumerate() {
                let at = (head * all + tokens.start + offset) * width;
                self.heads[at..at + width].copy_from_slice(values);
            }
        }
        Ok(())
    }

    /// Attention of one head within one sequence.
    fn attend(&mut self, head: usize, sequence: Range<usize>, all: usize) -> Result<(), EmbedError> {
        let (hidden, heads) = (self.weights.shape.hidden, self.weights.shape.heads);
        let (width, length) = (hidden / heads, sequence.len());
        let part = |part: usize| {
            let at = ((part * heads + head) * all + sequence.start) * width;
            NdTensorView::from_data([length, width], &self.heads[at..at + length * width])
        };
        let (query, key, value) = (part(0), part(1), part(2));
        let scores = fit(&mut self.scores, length * length);
        let gathered = fit(&mut self.gathered, length * width);
        multiply(&self.float, scores, query, key.transposed())?;
        Exponentials { scores, length, factors: &mut self.factors }.dispatch();
        multiply(&self.float, gathered, NdTensorView::from_data([length, length], &*scores), value)?;
        let rows = gathered.chunks_exact(width).zip(&self.factors);
        for (token, (row, factor)) in sequence.zip(rows) {
            let at = token * hidden + head * width;
            self.context[at..at + width].iter_mut().zip(row).for_each(|(out, x)| *out = x * factor);
        }
        Ok(())
    }

    /// What follows attention: output projection, residual, norm, and the feed-forward part.
    fn finish_layer(&mut self, layer: &LayerWeights, tokens: Range<usize>) -> Result<(), EmbedError> {
        let shape = &self.weights.shape;
        let (hidden, wide) = (shape.hidden, shape.intermediate);
        let range = tokens.start * hidden..tokens.end * hidden;
        let state = &mut self.state[range.clone()];
        let block = &mut self.block;

        block.quantise(&self.context[range], hidden, self.top);
        block.multiply(&self.int8, &layer.attention_out)?;
        block.add_norm(&layer.attention_out, state, norm(&layer.attention_norm, shape.norm_epsilon));

        block.quantise(state, hidden, self.top);
        block.multiply(&self.int8, &layer.ffn_in)?;
        block.activate(&layer.ffn_in, wide, self.top);
        block.multiply(&self.int8, &layer.ffn_out)?;
        block.add_norm(&layer.ffn_out, state, norm(&layer.ffn_norm, shape.norm_epsilon));
        Ok(())
    }
}

impl Block {
    /// Quantises rows of `width` floats.
    fn quantise(&mut self, rows: &[f32], width: usize, top: f32) {
        let bytes = fit(&mut self.bytes, rows.len());
        let pairs = rows.chunks_exact(width).zip(bytes.chunks_exact_mut(width));
        self.rows.clear();
        self.rows.extend(pairs.map(|(row, bytes)| Quantise { row, bytes, top }.dispatch()));
    }

    /// The integer product of the quantised rows with a matrix.
    fn multiply(&mut self, gemm: &GemmExecutor<u8, i8, i32>, linear: &Linear) -> Result<(), EmbedError> {
        let rows = self.rows.len();
        let sums = fit(&mut self.sums, rows * linear.packed.cols());
        let depth = linear.packed.rows();
        let bytes = NdTensorView::from_data([rows, depth], &self.bytes[..rows * depth]);
        gemm.gemm(sums, GemmInputA::Unpacked(bytes), GemmInputB::Packed(&linear.packed), GemmOptions::default())
            .map_err(|error| EmbedError::Product(error.to_string()))
    }

    /// Activates the product of the first feed-forward matrix and quantises it for the second.
    fn activate(&mut self, linear: &Linear, width: usize, top: f32) {
        let bytes = fit(&mut self.bytes, self.rows.len() * width);
        let wide = fit(&mut self.wide, width);
        let rows = self.sums.chunks_exact(width).zip(bytes.chunks_exact_mut(width));
        for (row, (sums, bytes)) in self.rows.iter_mut().zip(rows) {
            Gelu { product: linear.product(sums, *row), out: &mut *wide }.dispatch();
            *row = Quantise { row: wide, bytes, top }.dispatch();
        }
    }

    /// Adds the product to the state and normalises.
    fn add_norm(&self, linear: &Linear, state: &mut [f32], norm: Norm<'_>) {
        let width = linear.scales.len();
        let rows = self.sums.chunks_exact(width).zip(&self.rows);
        for (residual, (sums, row)) in state.chunks_exact_mut(width).zip(rows) {
            AddNorm { product: linear.product(sums, *row), residual, norm }.dispatch();
        }
    }
}

impl Linear {
    fn product<'a>(&'a self, sums: &'a [i32], row: RowScale) -> Product<'a> {
        Product { sums, row, column_scales: &self.scales, column_sums: &self.sums, bias: &self.bias }
    }
}

/// The first `length` places of a buffer, which is never made shorter: what they hold is left over.
fn fit<T: Copy + Default>(buffer: &mut Vec<T>, length: usize) -> &mut [T] {
    if buffer.len() < length {
        buffer.resize(length, T::default());
    }
    &mut buffer[..length]
}

fn norm(weights: &NormWeights, epsilon: f32) -> Norm<'_> {
    Norm { gain: &weights.gain, bias: &weights.bias, epsilon }
}

fn blocks(tokens: usize) -> impl Iterator<Item = Range<usize>> {
    (0..tokens).step_by(BLOCK_TOKENS).map(move |start| start..tokens.min(start + BLOCK_TOKENS))
}

fn multiply(
    gemm: &GemmExecutor,
    out: &mut [f32],
    left: NdTensorView<'_, f32, 2>,
    right: NdTensorView<'_, f32, 2>,
) -> Result<(), EmbedError> {
    gemm.gemm(out, GemmInputA::Unpacked(left), GemmInputB::Unpacked(right), GemmOptions::default())
        .map_err(|error| EmbedError::Product(error.to_string()))
}
