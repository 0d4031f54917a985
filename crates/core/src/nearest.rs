//! Exact nearest rows by dot product.

use rayon::prelude::*;

/// For each query row the `k` rows with the largest dot product, largest first, ties by number.
#[must_use]
pub fn top_k_between(queries: &[f32], rows: &[f32], dimensions: usize, k: usize) -> Vec<Vec<(u32, f32)>> {
    let one = |query: &[f32]| {
        let mut all: Vec<(u32, f32)> = (0u32..).zip(products(query, rows, dimensions)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(k);
        all
    };
    queries.par_chunks_exact(dimensions).map(one).collect()
}

/// Dot products of all rows of `a` with all rows of `b`, `(a, b)` row-major.
#[must_use]
pub fn products(a: &[f32], b: &[f32], dimensions: usize) -> Vec<f32> {
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(p, q)| p * q).sum::<f32>();
    a.chunks_exact(dimensions).flat_map(|x| b.chunks_exact(dimensions).map(move |y| dot(x, y))).collect()
}
