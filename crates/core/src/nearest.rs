//! Rows of vectors to the nearest rows, exactly: for each row the `k` largest dot products.
//!
//! Products are computed a block of rows by a block of rows, and of each block only what can still
//! be among a row's best is kept, so memory is O(n k) and no matrix of all pairs ever exists. Among
//! the rows of one matrix each pair of blocks is multiplied once and read in both directions.
//! Candidates reach a row in the order of their numbers, and a later one replaces an earlier one only
//! when it is strictly larger: ties go to the smaller number. How a sum is formed depends on the
//! shape of the matrices alone, so results are the same for every number of threads.

use rayon::prelude::*;
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::NdTensorView;

/// Rows of a block: products of two blocks (4 MiB) stay in the outer caches until they are read.
const BLOCK_ROWS: usize = 1024;

/// A row's candidates are reduced to the best `k` when there are this many times `k` of them.
const SLACK: usize = 4;

/// Products that are compared with a row's threshold before a branch.
const STRIDE: usize = 32;

/// For each row the `k` other rows with the largest dot product, largest first, ties by number.
///
/// `vectors` is `(n, dimensions)`, row-major. Only pairs for which `allowed(row, other)` count; it is
/// asked for those pairs alone that would enter a row's best. Products that are no number never count.
#[must_use]
pub fn top_k(vectors: &[f32], dimensions: usize, k: usize, allowed: &(dyn Fn(u32, u32) -> bool + Sync)) -> Vec<Vec<(u32, f32)>> {
    let Some(blocks) = blocks(vectors, dimensions) else { return Vec::new() };
    let other = |row: u32, candidate: u32| row != candidate && allowed(row, candidate);
    let gemm = GemmExecutor::default();
    let mut best: Vec<Vec<Best>> = blocks.iter().map(|block| vec![Best::new(k); block.rows]).collect();
    for (column, right) in blocks.iter().enumerate() {
        let packed = right.pack(&gemm);
        for (row, left) in blocks[..=column].iter().enumerate() {
            let tile = Tile { products: multiply(&gemm, left, &packed), columns: right.rows, first: (left.first, right.first) };
            if row < column {
                tile.offer_rows_to_columns(&mut best[column], &other);
            }
            tile.offer_columns_to_rows(&mut best[row], &other);
        }
    }
    best.into_par_iter().flatten().map(Best::finish).collect()
}

/// For each query the `k` rows with the largest dot product, largest first, ties by number.
///
/// Both matrices are row-major with `dimensions` columns. Products that are no number never count.
#[must_use]
pub fn top_k_between(queries: &[f32], rows: &[f32], dimensions: usize, k: usize) -> Vec<Vec<(u32, f32)>> {
    let Some(left) = blocks(queries, dimensions) else { return Vec::new() };
    let right = blocks(rows, dimensions).unwrap_or_default();
    let gemm = GemmExecutor::default();
    let mut best: Vec<Vec<Best>> = left.iter().map(|block| vec![Best::new(k); block.rows]).collect();
    for right in &right {
        let packed = right.pack(&gemm);
        for (left, best) in left.iter().zip(&mut best) {
            let tile = Tile { products: multiply(&gemm, left, &packed), columns: right.rows, first: (left.first, right.first) };
            tile.offer_columns_to_rows(best, &|_, _| true);
        }
    }
    best.into_par_iter().flatten().map(Best::finish).collect()
}

/// Dot products of all rows of `a` with all rows of `b`, `(a, b)` row-major.
#[must_use]
pub fn products(a: &[f32], b: &[f32], dimensions: usize) -> Vec<f32> {
    let (Some(left), Some(right)) = (Block::new(a, dimensions, 0), Block::new(b, dimensions, 0)) else { return Vec::new() };
    let gemm = GemmExecutor::default();
    multiply(&gemm, &left, &right.pack(&gemm))
}

/// Some consecutive rows of a matrix.
struct Block<'a> {
    values: &'a [f32],
    rows: usize,
    dimensions: usize,
    /// Number of the first row in the whole matrix.
    first: u32,
}

impl<'a> Block<'a> {
    /// `None` when there is no row.
    fn new(values: &'a [f32], dimensions: usize, first: u32) -> Option<Self> {
        let rows = values.len().checked_div(dimensions).filter(|rows| *rows > 0)?;
        Some(Self { values: &values[..rows * dimensions], rows, dimensions, first })
    }

    fn view(&self) -> NdTensorView<'a, f32, 2> {
        NdTensorView::from_data([self.rows, self.dimensions], self.values)
    }

    /// Laid out as the right factor of products.
    fn pack(&self, gemm: &GemmExecutor) -> PackedBMatrix<f32> {
        gemm.prepack_b(self.view().transposed())
    }
}

/// A matrix in blocks of [`BLOCK_ROWS`]; `None` when it has no row.
fn blocks(values: &[f32], dimensions: usize) -> Option<Vec<Block<'_>>> {
    Block::new(values, dimensions, 0)?;
    let chunks = values.chunks(BLOCK_ROWS * dimensions).zip((0u32..).step_by(BLOCK_ROWS));
    Some(chunks.filter_map(|(chunk, first)| Block::new(chunk, dimensions, first)).collect())
}

/// All dot products of two blocks.
fn multiply(gemm: &GemmExecutor, left: &Block<'_>, right: &PackedBMatrix<f32>) -> Vec<f32> {
    let mut out = vec![0.0; left.rows * right.cols()];
    gemm.gemm(&mut out, GemmInputA::Unpacked(left.view()), GemmInputB::Packed(right), GemmOptions::default())
        .expect("both blocks have rows of the same length and `out` is as large as their product");
    out
}

/// The products of two blocks, `(left rows, right rows)`.
struct Tile {
    products: Vec<f32>,
    columns: usize,
    /// Numbers of the first left and the first right row.
    first: (u32, u32),
}

impl Tile {
    /// Every left row looks at the right rows.
    fn offer_columns_to_rows(&self, best: &mut [Best], allowed: &(dyn Fn(u32, u32) -> bool + Sync)) {
        let rows = best.par_iter_mut().zip(self.products.par_chunks_exact(self.columns)).enumerate();
        rows.with_min_len(16).for_each(|(offset, (best, products))| {
            let row = self.first.0 + offset as u32;
            for (stride, first) in products.chunks(STRIDE).zip((self.first.1..).step_by(STRIDE)) {
                let threshold = best.threshold;
                if !stride.iter().fold(false, |any, product| any | (*product > threshold)) {
                    continue;
                }
                for (product, candidate) in stride.iter().zip(first..) {
                    best.offer(*product, candidate, row, allowed);
                }
            }
        });
    }

    /// Every right row looks at the left rows. Threads share the columns out.
    fn offer_rows_to_columns(&self, best: &mut [Best], allowed: &(dyn Fn(u32, u32) -> bool + Sync)) {
        let strides = best.par_chunks_mut(STRIDE).enumerate();
        strides.for_each(|(number, best)| {
            let mut thresholds = [f32::INFINITY; STRIDE];
            for (threshold, best) in thresholds.iter_mut().zip(&*best) {
                *threshold = best.threshold;
            }
            let start = number * STRIDE;
            let width = best.len();
            for (products, candidate) in self.products.chunks_exact(self.columns).zip(self.first.0..) {
                let products = &products[start..start + width];
                let pairs = products.iter().zip(&thresholds);
                if !pairs.fold(false, |any, (product, threshold)| any | (product > threshold)) {
                    continue;
                }
                for (column, product) in products.iter().enumerate() {
                    let row = self.first.1 + (start + column) as u32;
                    best[column].offer(*product, candidate, row, allowed);
                    thresholds[column] = best[column].threshold;
                }
            }
        });
    }
}

/// The best candidates of one row so far.
#[derive(Clone)]
struct Best {
    k: usize,
    /// What a candidate must exceed: the `k`-th best at the last reduction.
    threshold: f32,
    found: Vec<(u32, f32)>,
}

impl Best {
    fn new(k: usize) -> Self {
        // With `k` 0 nothing exceeds the threshold.
        let threshold = if k == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
        Self { k, threshold, found: Vec::new() }
    }

    #[inline]
    fn offer(&mut self, product: f32, candidate: u32, row: u32, allowed: &(dyn Fn(u32, u32) -> bool + Sync)) {
        if product > self.threshold && allowed(row, candidate) {
            // Adding 0 turns -0 into 0, so that the two are ties when sorted as they are when compared.
            self.found.push((candidate, product + 0.0));
            if self.found.len() >= self.k * SLACK {
                self.reduce();
            }
        }
    }

    /// Keeps the best `k`.
    fn reduce(&mut self) {
        if self.found.len() > self.k && self.k > 0 {
            let (_, last, _) = self.found.select_nth_unstable_by(self.k - 1, larger_first);
            self.threshold = last.1;
            self.found.truncate(self.k);
        }
    }

    fn finish(mut self) -> Vec<(u32, f32)> {
        self.reduce();
        self.found.sort_unstable_by(larger_first);
        self.found.shrink_to_fit();
        self.found
    }
}

fn larger_first(a: &(u32, f32), b: &(u32, f32)) -> std::cmp::Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whole numbers, so that every order of adding up gives the same sum, and many ties.
    fn matrix(rows: usize, dimensions: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 60) as i32 - 8) as f32
        };
        (0..rows * dimensions).map(|_| next()).collect()
    }

    fn naive(queries: &[f32], rows: &[f32], dimensions: usize, k: usize, allowed: impl Fn(u32, u32) -> bool) -> Vec<Vec<(u32, f32)>> {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>() + 0.0;
        let one = |(query, number): (&[f32], u32)| {
            let all = (0u32..).zip(rows.chunks_exact(dimensions)).filter(|(other, _)| allowed(number, *other));
            let mut all: Vec<(u32, f32)> = all.map(|(other, row)| (other, dot(query, row))).collect();
            all.sort_by(larger_first);
            all.truncate(k);
            all
        };
        queries.chunks_exact(dimensions).zip(0..).map(one).collect()
    }

    proptest! {
        #[test]
        fn nearest_rows_are_those_of_naive_dot_products(
            rows in 0usize..90, others in 0usize..90, dimensions in 1usize..20, k in 0usize..12, seed: u64,
        ) {
            let (a, b) = (matrix(rows, dimensions, seed), matrix(others, dimensions, !seed));
            let allowed = |row: u32, other: u32| !(row + other).is_multiple_of(3);
            prop_assert_eq!(
                top_k(&a, dimensions, k, &allowed),
                naive(&a, &a, dimensions, k, |row, other| row != other && allowed(row, other))
            );
            prop_assert_eq!(top_k_between(&a, &b, dimensions, k), naive(&a, &b, dimensions, k, |_, _| true));
        }
    }

    #[test]
    fn matrices_of_several_blocks_agree_with_naive_dot_products() {
        let a = matrix(2 * BLOCK_ROWS + 77, 8, 3);
        let b = matrix(BLOCK_ROWS + 1, 8, 4);
        assert!(top_k(&a, 8, 5, &|_, _| true) == naive(&a, &a, 8, 5, |row, other| row != other));
        assert!(top_k_between(&a, &b, 8, 5) == naive(&a, &b, 8, 5, |_, _| true));
    }

    #[test]
    fn results_are_the_same_bits_for_every_number_of_threads() {
        let scale = |x: f32| (x + 0.3) / 17.0;
        let a: Vec<f32> = matrix(BLOCK_ROWS + 301, 96, 5).into_iter().map(scale).collect();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            pool.install(|| (top_k(&a, 96, 7, &|_, _| true), top_k_between(&a[..96], &a, 96, 7), products(&a[..96], &a, 96)))
        };
        let one = on(1);
        assert!(one == on(2) && one == on(5));
    }

    #[test]
    fn products_that_are_no_number_never_count() {
        let vectors = [1.0, 0.0, f32::NAN, 1.0, 0.5, 0.5];
        assert_eq!(top_k(&vectors, 2, 2, &|_, _| true), [vec![(2, 0.5)], vec![], vec![(0, 0.5)]]);
        assert!(top_k(&[], 2, 2, &|_, _| true).is_empty());
        assert!(top_k(&[1.0], 0, 2, &|_, _| true).is_empty());
        assert!(top_k_between(&[1.0], &[], 1, 2) == [vec![]]);
        assert!(products(&[1.0], &[], 1).is_empty());
    }
}
