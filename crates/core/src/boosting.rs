//! Rows of numbers and yes-or-no labels to a sum of small decision trees: gradient boosting with
//! logistic loss (Friedman 2001), on binned features as in LightGBM (Ke et al. 2017).
//!
//! Written here because a model must start from another one's margins (the shipped weights), be the
//! same for any number of threads, and be stored as plain data. Splits are exact over at most
//! 64 quantile bins of each feature; trees grow level by level to a fixed depth. Ties go to the
//! lower feature, then the lower bin.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Most bins of a feature.
const BINS: usize = 64;
/// Ridge on a leaf's value.
const RIDGE: f64 = 5.0;
/// Least sum of second derivatives in a leaf: about four times as many rows where the answer is open.
const LEAST_HESSIAN: f64 = 2.0;

/// How a model is grown.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Number of trees.
    pub trees: usize,
    /// Splits from the root to a leaf.
    pub depth: usize,
    /// Share of each tree's answer that is added.
    pub rate: f64,
}

/// A node: an inner one sends rows with `value < threshold` left; a leaf has `feature == LEAF`. The value is what
/// the node would answer as a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Node {
    feature: u16,
    threshold: f32,
    /// Index of the left child; the right one follows it.
    left: u16,
    value: f32,
}

const LEAF: u16 = u16::MAX;

/// A sum of trees over rows of `features` numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forest {
    trees: Vec<Vec<Node>>,
    /// How much each feature's splits gained, for telling what matters.
    pub gains: Vec<f32>,
}

impl Forest {
    /// The margin (log odds) that the trees add for a row.
    #[must_use]
    pub fn margin(&self, row: &[f32]) -> f64 {
        self.trees.iter().map(|tree| f64::from(answer(tree, row))).sum()
    }

    /// Adds to `parts` what each feature did for a row's margin: at every split, how the expected answer changed
    /// (Saabas 2014). The parts of a tree add up to its answer but for the answer at its root.
    pub fn add_parts(&self, row: &[f32], parts: &mut [f64]) {
        for tree in &self.trees {
            let mut at = 0;
            while tree[at].feature != LEAF {
                let feature = usize::from(tree[at].feature);
                let next = child(&tree[at], row);
                parts[feature] += f64::from(tree[next].value - tree[at].value);
                at = next;
            }
        }
    }

    /// Number of trees.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// Whether there is no tree.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }
}

fn answer(tree: &[Node], row: &[f32]) -> f32 {
    let mut at = 0;
    loop {
        let node = &tree[at];
        if node.feature == LEAF {
            return node.value;
        }
        at = child(node, row);
    }
}

/// NaN never gets here: features are made finite when they are computed.
fn child(node: &Node, row: &[f32]) -> usize {
    usize::from(node.left) + usize::from(row[usize::from(node.feature)] >= node.threshold)
}

/// Training rows.
pub struct Rows<'a> {
    /// `(n, width)`, row-major, finite.
    pub values: &'a [f32],
    /// Numbers in a row.
    pub width: usize,
    /// Whether the answer is yes.
    pub labels: &'a [bool],
    /// How much each row counts.
    pub weights: &'a [f32],
    /// Margin of each row before the first tree.
    pub base: &'a [f64],
}

/// Log odds to probability.
#[must_use]
pub fn sigmoid(margin: f64) -> f64 {
    1.0 / (1.0 + (-margin).exp())
}

/// Grows a forest.
#[must_use]
pub fn grow(rows: &Rows, growth: Growth) -> Forest {
    let count = rows.labels.len();
    let mut forest = Forest { trees: Vec::new(), gains: vec![0.0; rows.width] };
    if count == 0 || rows.width == 0 {
        return forest;
    }
    let binned = Binned::new(rows);
    let mut margins = rows.base.to_vec();
    for _ in 0..growth.trees {
        let slopes: Vec<(f64, f64)> = (0..count)
            .map(|i| {
                let p = sigmoid(margins[i]);
                let weight = f64::from(rows.weights[i]);
                (weight * (p - f64::from(u8::from(rows.labels[i]))), weight * (p * (1.0 - p)).max(1e-9))
            })
            .collect();
        let (tree, leaf_of) = grow_tree(&binned, &slopes, growth, &mut forest.gains);
        for (margin, leaf) in margins.iter_mut().zip(leaf_of) {
            *margin += f64::from(tree[leaf].value);
        }
        forest.trees.push(tree);
    }
    forest
}

/// Features in bins, column by column.
struct Binned {
    columns: Vec<Vec<u8>>,
    /// Per feature, the lower edge of each bin but the first.
    edges: Vec<Vec<f32>>,
}

impl Binned {
    fn new(rows: &Rows) -> Self {
        let made: Vec<(Vec<u8>, Vec<f32>)> = (0..rows.width)
            .into_par_iter()
            .map(|feature| {
                let column: Vec<f32> = rows.values.iter().skip(feature).step_by(rows.width).copied().collect();
                let edges = edges(&column);
                let bins = column.iter().map(|v| u8::try_from(edges.partition_point(|e| e <= v)).unwrap_or(u8::MAX)).collect();
                (bins, edges)
            })
            .collect();
        let (columns, edges) = made.into_iter().unzip();
        Self { columns, edges }
    }
}

/// Quantiles of the distinct values, so that a feature that is mostly zero keeps bins for the rest.
fn edges(column: &[f32]) -> Vec<f32> {
    let mut distinct = column.to_vec();
    distinct.sort_by(f32::total_cmp);
    distinct.dedup();
    let step = distinct.len().div_ceil(BINS).max(1);
    distinct.iter().copied().step_by(step).skip(1).collect()
}

#[derive(Clone, Copy)]
struct Split {
    gain: f64,
    feature: usize,
    bin: usize,
}

/// Grows one tree and gives the leaf of each row.
fn grow_tree(binned: &Binned, slopes: &[(f64, f64)], growth: Growth, gains: &mut [f32]) -> (Vec<Node>, Vec<usize>) {
    let mut tree = vec![Node { feature: LEAF, threshold: 0.0, left: 0, value: 0.0 }];
    let mut place = vec![0usize; slopes.len()];
    let mut level = vec![0usize];
    for _ in 0..growth.depth {
        let splits = best_splits(binned, slopes, &place, &level, tree.len());
        let mut next = Vec::new();
        for (node, split) in level.iter().zip(&splits) {
            let Some(split) = split else { continue };
            gains[split.feature] += split.gain as f32;
            let left = tree.len();
            let leaf = Node { feature: LEAF, threshold: 0.0, left: 0, value: 0.0 };
            tree.extend([leaf, leaf]);
            tree[*node] = Node {
                feature: u16::try_from(split.feature).unwrap_or(LEAF),
                threshold: binned.edges[split.feature][split.bin],
                left: u16::try_from(left).unwrap_or(0),
                value: 0.0,
            };
            next.extend([left, left + 1]);
        }
        if next.is_empty() {
            break;
        }
        let of_node: std::collections::BTreeMap<usize, Split> = level.iter().zip(&splits).filter_map(|(n, s)| Some((*n, (*s)?))).collect();
        for (row, at) in place.iter_mut().enumerate() {
            if let Some(split) = of_node.get(at) {
                let right = usize::from(binned.columns[split.feature][row]) > split.bin;
                *at = usize::from(tree[*at].left) + usize::from(right);
            }
        }
        level = next;
    }
    let mut sums = vec![(0.0, 0.0); tree.len()];
    for (at, slope) in place.iter().zip(slopes) {
        sums[*at].0 += slope.0;
        sums[*at].1 += slope.1;
    }
    // Children come after their parents.
    for at in (0..tree.len()).rev().filter(|at| tree[*at].feature != LEAF) {
        let left = usize::from(tree[at].left);
        sums[at] = (sums[left].0 + sums[left + 1].0, sums[left].1 + sums[left + 1].1);
    }
    for (node, (gradient, hessian)) in tree.iter_mut().zip(sums) {
        node.value = (-gradient / (hessian + RIDGE) * growth.rate) as f32;
    }
    (tree, place)
}

/// The best split of each node of a level; features are searched side by side, compared in order.
fn best_splits(binned: &Binned, slopes: &[(f64, f64)], place: &[usize], level: &[usize], nodes: usize) -> Vec<Option<Split>> {
    let mut slot = vec![usize::MAX; nodes];
    level.iter().enumerate().for_each(|(i, node)| slot[*node] = i);
    let per_feature: Vec<Vec<Option<Split>>> = (0..binned.columns.len())
        .into_par_iter()
        .map(|feature| {
            let bins = binned.edges[feature].len() + 1;
            let mut sums = vec![(0.0f64, 0.0f64); bins * level.len()];
            for ((bin, at), slope) in binned.columns[feature].iter().zip(place).zip(slopes) {
                let slot = slot[*at];
                if slot != usize::MAX {
                    let sum = &mut sums[slot * bins + usize::from(*bin)];
                    sum.0 += slope.0;
                    sum.1 += slope.1;
                }
            }
            sums.chunks_exact(bins).map(|sums| best_split(sums, feature)).collect()
        })
        .collect();
    (0..level.len())
        .map(|node| {
            let of_features = per_feature.iter().filter_map(|splits| splits[node]);
            of_features.reduce(|best, split| if split.gain > best.gain { split } else { best })
        })
        .collect()
}

fn best_split(sums: &[(f64, f64)], feature: usize) -> Option<Split> {
    let whole = sums.iter().fold((0.0, 0.0), |a, s| (a.0 + s.0, a.1 + s.1));
    let worth = |s: (f64, f64)| s.0 * s.0 / (s.1 + RIDGE);
    let (mut left, mut best) = ((0.0, 0.0), None::<Split>);
    for (bin, sum) in sums.iter().enumerate().take(sums.len().saturating_sub(1)) {
        left = (left.0 + sum.0, left.1 + sum.1);
        let right = (whole.0 - left.0, whole.1 - left.1);
        if left.1 < LEAST_HESSIAN || right.1 < LEAST_HESSIAN {
            continue;
        }
        let gain = worth(left) + worth(right) - worth(whole);
        if gain > 1e-9 && best.is_none_or(|b| gain > b.gain) {
            best = Some(Split { gain, feature, bin });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic noise.
    fn noise(seed: u64) -> f32 {
        let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 40) as f32 / (1u64 << 24) as f32
    }

    fn table(count: u64) -> (Vec<f32>, Vec<bool>) {
        let values: Vec<f32> = (0..count * 3).map(noise).collect();
        let labels = values.chunks_exact(3).map(|r| (r[0] > 0.5) ^ (r[1] > 0.5)).collect();
        (values, labels)
    }

    #[test]
    fn learns_what_no_single_feature_tells() {
        let (values, labels) = table(2_000);
        let (weights, base) = (vec![1.0; 2_000], vec![0.0; 2_000]);
        let rows = Rows { values: &values, width: 3, labels: &labels, weights: &weights, base: &base };
        let forest = grow(&rows, Growth { trees: 40, depth: 3, rate: 0.2 });
        let (fresh, truth) = {
            let values: Vec<f32> = (90_000..93_000).map(noise).collect();
            let truth: Vec<bool> = values.chunks_exact(3).map(|r| (r[0] > 0.5) ^ (r[1] > 0.5)).collect();
            (values, truth)
        };
        let right = fresh.chunks_exact(3).zip(&truth).filter(|(row, truth)| (forest.margin(row) > 0.0) == **truth).count();
        assert!(right > 900, "{right} of 1000");
        assert!(forest.gains[2] < forest.gains[0] && forest.gains[2] < forest.gains[1]);
        let roots: f64 = forest.trees.iter().map(|t| f64::from(t[0].value)).sum();
        let mut parts = [0.0; 3];
        forest.add_parts(&fresh[..3], &mut parts);
        assert!((parts.iter().sum::<f64>() + roots - forest.margin(&fresh[..3])).abs() < 1e-4);
    }

    #[test]
    fn the_same_rows_give_the_same_trees_for_any_number_of_threads() {
        let (values, labels) = table(500);
        let (weights, base) = (vec![1.0; 500], vec![0.0; 500]);
        let rows = Rows { values: &values, width: 3, labels: &labels, weights: &weights, base: &base };
        let growth = Growth { trees: 10, depth: 4, rate: 0.1 };
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| grow(&rows, growth));
        assert_eq!(one, grow(&rows, growth));
    }

    #[test]
    fn starts_from_the_margins_it_is_given() {
        let (values, labels) = table(200);
        let base: Vec<f64> = labels.iter().map(|l| if *l { 20.0 } else { -20.0 }).collect();
        let weights = vec![1.0; 200];
        let rows = Rows { values: &values, width: 3, labels: &labels, weights: &weights, base: &base };
        let forest = grow(&rows, Growth { trees: 5, depth: 3, rate: 0.3 });
        assert!(forest.margin(&values[..3]).abs() < 1e-3, "nothing is left to learn");
    }

    #[test]
    fn no_rows_give_no_trees() {
        let rows = Rows { values: &[], width: 2, labels: &[], weights: &[], base: &[] };
        assert!(grow(&rows, Growth { trees: 3, depth: 3, rate: 0.1 }).is_empty());
    }
}
