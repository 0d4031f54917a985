//! The passes over one row of activations that stand between the encoder's matrix products.
//!
//! Each pass is one vectorised loop over a row that is in the first-level cache: undoing the
//! quantisation of a product is fused with what follows it (bias, activation, residual, norm).
//! Rows are multiples of [`LANES`] long, so that no pass has a remainder; `Weights` checks it.

use rten_simd::ops::{BitOps, FloatOps, IntOps, NarrowSaturate, NumOps, ToFloat};
use rten_simd::{Isa, Simd, SimdOp};

/// Every row length is a multiple of this: four vectors of the widest instruction set.
pub(crate) const LANES: usize = 64;

/// How a row of floats became unsigned bytes: `float = (byte - zero) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowScale {
    pub(crate) scale: f32,
    pub(crate) zero: u8,
}

/// Quantises `row` over its own range, which is widened to hold 0, to `0..=top`.
pub(crate) struct Quantise<'a> {
    pub(crate) row: &'a [f32],
    pub(crate) bytes: &'a mut [u8],
    /// 255, or 127 where the products of an 8-bit kernel could overflow 16 bits.
    pub(crate) top: f32,
}

impl SimdOp for Quantise<'_> {
    type Output = RowScale;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> RowScale {
        let (floats, ints) = (isa.f32(), isa.i32());
        let width = floats.len();
        let (mut low, mut high) = (floats.zero(), floats.zero());
        for chunk in self.row.chunks_exact(width) {
            let x = floats.load(chunk);
            low = floats.min(low, x);
            high = floats.max(high, x);
        }
        let low = low.to_array().into_iter().fold(0.0, f32::min);
        let high = high.to_array().into_iter().fold(0.0, f32::max);
        let scale = ((high - low) / self.top).max(f32::MIN_POSITIVE);
        let inverse = 1.0 / scale;
        let zero = (-low * inverse).round_ties_even().clamp(0.0, self.top);

        let (factor, shift) = (floats.splat(inverse), ints.splat(zero as i32));
        for (chunk, out) in self.row.chunks_exact(width * 4).zip(self.bytes.chunks_exact_mut(width * 4)) {
            let [a, b, c, d] = floats.load_many::<4>(chunk);
            let first = ints.narrow_saturate(quantise(isa, a, factor, shift), quantise(isa, b, factor, shift));
            let second = ints.narrow_saturate(quantise(isa, c, factor, shift), quantise(isa, d, factor, shift));
            isa.u8().store(isa.i16().narrow_saturate(first, second), out);
        }
        RowScale { scale, zero: zero as u8 }
    }
}

#[inline(always)]
fn quantise<I: Isa>(isa: I, x: I::F32, factor: I::F32, shift: I::I32) -> I::I32 {
    let floats = isa.f32();
    isa.i32().add(floats.to_int_round(floats.mul(x, factor)), shift)
}

/// One row of a product of quantised numbers and what turns it back into floats:
/// `(sums - row.zero * column_sums) * row.scale * column_scales + bias`.
///
/// The zero point is taken off here and not by the matrix kernel: that of `rten-gemm` 0.27 applies
/// the zero points of the first eight rows of a block to all its rows.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    pub(crate) sums: &'a [i32],
    pub(crate) row: RowScale,
    pub(crate) column_scales: &'a [f32],
    /// Sums of the matrix's columns.
    pub(crate) column_sums: &'a [f32],
    pub(crate) bias: &'a [f32],
}

impl Product<'_> {
    /// The vector of floats at `at`. Loops call this by index: inside the closure of an iterator the
    /// vector instructions would not be inlined, and each would be a call.
    #[inline(always)]
    fn load<I: Isa>(&self, isa: I, at: usize) -> I::F32 {
        let (floats, ints) = (isa.f32(), isa.i32());
        let sums = ints.to_float(ints.load(&self.sums[at..]));
        let sums = floats.mul_add(floats.splat(-f32::from(self.row.zero)), floats.load(&self.column_sums[at..]), sums);
        let scale = floats.mul(floats.splat(self.row.scale), floats.load(&self.column_scales[at..]));
        floats.mul_add(sums, scale, floats.load(&self.bias[at..]))
    }
}

/// The product's floats.
pub(crate) struct Dequantise<'a> {
    pub(crate) product: Product<'a>,
    pub(crate) out: &'a mut [f32],
}

impl SimdOp for Dequantise<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let floats = isa.f32();
        for (step, out) in self.out.chunks_exact_mut(floats.len()).enumerate() {
            floats.store(self.product.load(isa, step * floats.len()), out);
        }
    }
}

/// GELU of the product's floats: `x` times the share of a normal distribution below `x`.
pub(crate) struct Gelu<'a> {
    pub(crate) product: Product<'a>,
    pub(crate) out: &'a mut [f32],
}

/// Beyond this the share is taken as that at the bound, within 1e-5 of 0 or 1.
const GELU_BOUND: f32 = 4.25;

/// The share below `x` is `1/2 + x P(x^2)`; these are `P`'s coefficients, lowest first, fitted on
/// `0..=GELU_BOUND`. The activation is then off by at most 4e-5, a hundredth of a quantisation
/// step, and needs neither a division nor an exponential.
const GELU_TERMS: [f32; 9] = [
    3.988_192e-1,
    -6.619_028e-2,
    9.718_777e-3,
    -1.079_077_5e-3,
    8.848_907e-5,
    -5.147_506_7e-6,
    1.986_155e-7,
    -4.515_292e-9,
    4.547_058_6e-11,
];

impl SimdOp for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let floats = isa.f32();
        let (low, high) = (floats.splat(-GELU_BOUND), floats.splat(GELU_BOUND));
        let half = floats.splat(0.5);
        for (step, out) in self.out.chunks_exact_mut(floats.len()).enumerate() {
            let x = self.product.load(isa, step * floats.len());
            let bounded = floats.clamp(x, low, high);
            let square = floats.mul(bounded, bounded);
            let mut sum = floats.splat(GELU_TERMS[8]);
            for term in GELU_TERMS[..8].iter().rev() {
                sum = floats.mul_add(sum, square, floats.splat(*term));
            }
            floats.store(floats.mul(x, floats.mul_add(bounded, sum, half)), out);
        }
    }
}

/// Exponentials of the rows of a square matrix, each less its row's maximum; what would make a row
/// add up to 1 goes to `factors`, to be applied where there is less to multiply.
pub(crate) struct Exponentials<'a> {
    pub(crate) scores: &'a mut [f32],
    pub(crate) length: usize,
    pub(crate) factors: &'a mut Vec<f32>,
}

impl SimdOp for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        self.factors.clear();
        for row in self.scores.chunks_exact_mut(self.length) {
            self.factors.push(exponentials(isa, row));
        }
    }
}

#[inline(always)]
fn exponentials<I: Isa>(isa: I, row: &mut [f32]) -> f32 {
    let floats = isa.f32();
    let width = floats.len();
    let mut largest = floats.splat(f32::MIN);
    let (chunks, rest) = row.split_at(row.len() / width * width);
    for chunk in chunks.chunks_exact(width) {
        largest = floats.max(largest, floats.load(chunk));
    }
    let largest = largest.to_array().into_iter().chain(rest.iter().copied()).fold(f32::MIN, f32::max);

    let shift = floats.splat(largest);
    let mut total = floats.zero();
    let mut chunks = row.chunks_exact_mut(width);
    for chunk in chunks.by_ref() {
        let power = exponential(isa, floats.sub(floats.load(chunk), shift));
        total = floats.add(total, power);
        floats.store(power, chunk);
    }
    let mut sum = floats.sum(total);
    let rest = chunks.into_remainder();
    if !rest.is_empty() {
        let mut last = [f32::MIN; LANES];
        last[..rest.len()].copy_from_slice(rest);
        let power = exponential(isa, floats.sub(floats.load(&last), shift));
        floats.store(power, &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
        sum += rest.iter().sum::<f32>();
    }
    1.0 / sum
}

/// Below this an exponential counts as that of it, some 1e-38.
const EXPONENT_BOUND: f32 = -87.0;

/// Coefficients of the exponential on half a binary order around 0, lowest first, fitted to a
/// relative error of 3e-7.
const EXPONENTIAL_TERMS: [f32; 6] = [1.0, 1.0, 4.999_905e-1, 1.666_644_7e-1, 4.189_934e-2, 8.372_696e-3];

/// `e^x` for `x <= 0`: a power of two by its exponent bits times a polynomial for the rest.
#[inline(always)]
fn exponential<I: Isa>(isa: I, x: I::F32) -> I::F32 {
    let (floats, ints) = (isa.f32(), isa.i32());
    let x = floats.max(x, floats.splat(EXPONENT_BOUND));
    let whole = floats.round_ties_even(floats.mul(x, floats.splat(std::f32::consts::LOG2_E)));
    let rest = floats.mul_add(whole, floats.splat(-std::f32::consts::LN_2), x);
    let mut sum = floats.splat(EXPONENTIAL_TERMS[5]);
    for term in EXPONENTIAL_TERMS[..5].iter().rev() {
        sum = floats.mul_add(sum, rest, floats.splat(*term));
    }
    let exponent = ints.add(floats.to_int_trunc(whole), ints.splat(127));
    floats.mul(sum, ints.shift_left::<23>(exponent).reinterpret_cast())
}

/// Layer norm of `residual + product`, written over the residual.
pub(crate) struct AddNorm<'a> {
    pub(crate) product: Product<'a>,
    pub(crate) residual: &'a mut [f32],
    pub(crate) norm: Norm<'a>,
}

/// Gain, bias and epsilon of a layer norm.
#[derive(Clone, Copy)]
pub(crate) struct Norm<'a> {
    pub(crate) gain: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) epsilon: f32,
}

impl SimdOp for AddNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let floats = isa.f32();
        for (step, sum) in self.residual.chunks_exact_mut(floats.len()).enumerate() {
            let x = self.product.load(isa, step * floats.len());
            floats.store(floats.add(floats.load(sum), x), sum);
        }
        normalise(isa, self.residual, self.norm);
    }
}

/// Layer norm of a row in place.
pub(crate) struct NormRow<'a> {
    pub(crate) row: &'a mut [f32],
    pub(crate) norm: Norm<'a>,
}

impl SimdOp for NormRow<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        normalise(isa, self.row, self.norm);
    }
}

/// Mean and variance are two passes: the row is small, and their difference stays exact.
#[inline(always)]
fn normalise<I: Isa>(isa: I, row: &mut [f32], norm: Norm<'_>) {
    let floats = isa.f32();
    let (width, count) = (floats.len(), row.len() as f32);
    let mut total = floats.zero();
    for x in row.chunks_exact(width) {
        total = floats.add(total, floats.load(x));
    }
    let mean = floats.splat(floats.sum(total) / count);
    let mut squares = floats.zero();
    for x in row.chunks_exact(width) {
        let distance = floats.sub(floats.load(x), mean);
        squares = floats.mul_add(distance, distance, squares);
    }
    let scale = floats.splat(1.0 / (floats.sum(squares) / count + norm.epsilon).sqrt());
    let columns = norm.gain.chunks_exact(width).zip(norm.bias.chunks_exact(width));
    for (x, (gain, bias)) in row.chunks_exact_mut(width).zip(columns) {
        let centred = floats.mul(floats.sub(floats.load(x), mean), scale);
        floats.store(floats.mul_add(centred, floats.load(gain), floats.load(bias)), x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(length: usize, scale: f32) -> Vec<f32> {
        (0..length).map(|i| ((i * 37 % 101) as f32 - 40.0) * scale).collect()
    }

    fn close(found: &[f32], expected: &[f32], error: f32) {
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() <= error, "{index}: {found} instead of {expected}");
        }
    }

    #[test]
    fn quantised_rows_come_back_within_half_a_step() {
        for (row, top) in [(row(128, 0.1), 255.0), (row(64, 3.0), 127.0), (vec![0.0; 64], 255.0), (vec![2.5; 64], 255.0)] {
            let mut bytes = vec![0; row.len()];
            let RowScale { scale, zero } = Quantise { row: &row, bytes: &mut bytes, top }.dispatch();
            let back: Vec<f32> = bytes.iter().map(|byte| (f32::from(*byte) - f32::from(zero)) * scale).collect();
            close(&back, &row, scale * 1.01);
        }
    }

    #[test]
    fn products_are_scaled_biased_activated_and_normalised() {
        let sums: Vec<i32> = (0..128).map(|i| i * 53 % 997 - 500).collect();
        let (column_scales, column_sums, bias) = (row(128, 0.001), row(128, 5.0), row(128, 0.01));
        let row_scale = RowScale { scale: 0.5, zero: 3 };
        let product = Product { sums: &sums, row: row_scale, column_scales: &column_scales, column_sums: &column_sums, bias: &bias };
        let float = |i: usize| (sums[i] as f32 - 3.0 * column_sums[i]) * 0.5 * column_scales[i] + bias[i];
        let plain: Vec<f32> = (0..128).map(float).collect();

        let mut out = vec![0.0; 128];
        Dequantise { product, out: &mut out }.dispatch();
        close(&out, &plain, 1e-5);

        let mut residual = row(128, 0.2);
        let sum: Vec<f32> = plain.iter().zip(&residual).map(|(a, b)| a + b).collect();
        let mean = sum.iter().sum::<f32>() / 128.0;
        let deviation = (sum.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 128.0).sqrt();
        let (gain, shift) = (row(128, 0.03), row(128, 0.05));
        let expected: Vec<f32> = (0..128).map(|i| (sum[i] - mean) / deviation * gain[i] + shift[i]).collect();
        AddNorm { product, residual: &mut residual, norm: Norm { gain: &gain, bias: &shift, epsilon: 0.0 } }.dispatch();
        close(&residual, &expected, 1e-4);
    }

    #[test]
    fn the_activation_is_close_to_the_error_functions() {
        // x * (1 + erf(x / sqrt 2)) / 2, from tables.
        let expected =
            [(-6.0, 0.0), (-3.0, -0.004_049_7), (-1.0, -0.158_655_3), (0.0, 0.0), (0.5, 0.345_731_2), (2.0, 1.954_499_7), (9.0, 9.0)];
        for (x, value) in expected {
            let (zeros, bias) = ([0; 64], [x; 64]);
            let product = Product {
                sums: &zeros,
                row: RowScale { scale: 1.0, zero: 0 },
                column_scales: &[1.0; 64],
                column_sums: &[0.0; 64],
                bias: &bias,
            };
            let mut out = [0.0; 64];
            Gelu { product, out: &mut out }.dispatch();
            close(&out, &[value; 64], 1e-4);
        }
    }

    #[test]
    fn exponentials_and_factors_make_a_softmax_of_any_length() {
        for length in [1, 3, 15, 16, 17, 40] {
            let scores: Vec<f32> = (0..length * length).map(|i| ((i * 29 % 83) as f32 - 40.0) * 2.5).collect();
            let (mut found, mut factors) = (scores.clone(), Vec::new());
            Exponentials { scores: &mut found, length, factors: &mut factors }.dispatch();
            let rows = scores.chunks_exact(length).zip(found.chunks_exact(length)).zip(&factors);
            for ((scores, found), factor) in rows {
                let largest = scores.iter().copied().fold(f32::MIN, f32::max);
                let powers: Vec<f32> = scores.iter().map(|x| (x - largest).exp()).collect();
                let sum: f32 = powers.iter().sum();
                let expected: Vec<f32> = powers.iter().map(|x| x / sum).collect();
                let found: Vec<f32> = found.iter().map(|x| x * factor).collect();
                close(&found, &expected, 1e-6);
            }
        }
    }
}
