//! Rows of numbers and yes-or-no labels to a sum of small decision trees: gradient boosting with
//! logistic loss (Friedman 2001), on binned features as in LightGBM (Ke et al. 2017).
//!
//! Written here because a model must start from another one's margins (the shipped weights), be the
//! same for any number of threads, and be stored as plain data. Splits are exact over at most
//! 64 quantile bins of each feature; trees grow level by level to a fixed depth, each on half of the
//! rows and half of the features. Ties go to the lower feature, then the lower bin.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Most bins of a feature.
const BINS: usize = 64;
/// Ridge on a leaf's value.
const RIDGE: f64 = 5.0;
/// Least sum of second derivatives in a leaf: about four times as many rows where the answer is open.
const LEAST_HESSIAN: f64 = 1.0;

/// How a model is grown.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Number of trees.
    pub trees: usize,
    /// Splits from the root to a leaf.
    pub depth: usize,
    /// Share of each tree's answer that is added.
    pub rate: f64,
    /// Forests that the answer is the mean of.
    pub forests: usize,
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

/// Grows a forest: the mean of `growth.forests` that differ in the halves of rows and features that their trees see,
/// because one alone leaves much to chance where links are few.
#[must_use]
pub fn grow(rows: &Rows, growth: Growth) -> Forest {
    if rows.labels.is_empty() || rows.width == 0 {
        return Forest { trees: Vec::new(), gains: vec![0.0; rows.width] };
    }
    let binned = Binned::new(rows);
    let forests: Vec<Forest> = (0..growth.forests).into_par_iter().map(|number| grow_one(rows, &binned, growth, number)).collect();
    mean(forests, rows.width)
}

fn grow_one(rows: &Rows, binned: &Binned, growth: Growth, forest_number: usize) -> Forest {
    let mut forest = Forest { trees: Vec::new(), gains: vec![0.0; rows.width] };
    let mut margins = rows.base.to_vec();
    let mut slopes = vec![Slope::default(); margins.len()];
    for number in (0..growth.trees).map(|tree| forest_number * growth.trees + tree) {
        let sample = rows_of(number, margins.len());
        for row in sample.iter().map(|row| *row as usize) {
            slopes[row] = slope(margins[row], rows.labels[row], rows.weights[row]);
        }
        let features = features_of(number, rows.width);
        let tree = Grower { binned, slopes: &slopes, features: &features }.grow(sample, growth, &mut forest.gains);
        margins.iter_mut().enumerate().for_each(|(row, margin)| *margin += f64::from(tree.answer(binned, row)));
        forest.trees.push(tree.nodes);
    }
    forest
}

/// Derivatives of the logistic loss.
fn slope(margin: f64, label: bool, weight: f32) -> Slope {
    let (p, weight) = (sigmoid(margin), f64::from(weight));
    Slope { gradient: weight * (p - f64::from(u8::from(label))), hessian: weight * (p * (1.0 - p)).max(1e-9) }
}

/// One forest that answers what several do on average.
#[expect(clippy::cast_precision_loss, reason = "forests are few")]
fn mean(forests: Vec<Forest>, width: usize) -> Forest {
    let share = 1.0 / forests.len().max(1) as f32;
    let mut all = Forest { trees: Vec::new(), gains: vec![0.0; width] };
    for mut forest in forests {
        forest.trees.iter_mut().flatten().for_each(|node| node.value *= share);
        all.trees.append(&mut forest.trees);
        all.gains.iter_mut().zip(&forest.gains).for_each(|(sum, gain)| *sum += gain * share);
    }
    all
}

/// The features that a tree may split on: another half for each, so that one strong signal does not hide its like.
fn features_of(tree: usize, width: usize) -> Vec<usize> {
    const FEW: usize = 8;
    (0..width).filter(|f| width <= FEW || mix((tree * width + f) as u64) & 1 == 0).collect()
}

/// The rows that a tree is grown on: another half for each.
fn rows_of(tree: usize, count: usize) -> Vec<u32> {
    let all = 0..u32::try_from(count).unwrap_or(u32::MAX);
    all.filter(|row| mix((tree as u64) << 32 | u64::from(*row)) & 1 == 0).collect()
}

/// Scrambles a number (the finalizer of SplitMix64): choices that look random and are the same in every run.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// First and second derivative of the loss, of a row or summed.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    gradient: f64,
    hessian: f64,
}

impl Slope {
    fn plus(self, other: Self) -> Self {
        Self { gradient: self.gradient + other.gradient, hessian: self.hessian + other.hessian }
    }

    fn minus(self, other: Self) -> Self {
        Self { gradient: self.gradient - other.gradient, hessian: self.hessian - other.hessian }
    }

    /// How much a node with these sums lowers the loss.
    fn worth(self) -> f64 {
        self.gradient * self.gradient / (self.hessian + RIDGE)
    }
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
    bin: u8,
}

/// A leaf that may still be split: its rows and, per feature, the sums of its bins.
struct Open {
    node: usize,
    rows: Vec<u32>,
    sums: Vec<Vec<Slope>>,
}

/// A tree, and the bin at which each of its inner nodes splits: rows that it was grown on are binned already.
struct Grown {
    nodes: Vec<Node>,
    bins: Vec<u8>,
}

impl Grown {
    fn answer(&self, binned: &Binned, row: usize) -> f32 {
        let mut at = 0;
        loop {
            let node = &self.nodes[at];
            if node.feature == LEAF {
                return node.value;
            }
            at = usize::from(node.left) + usize::from(binned.columns[usize::from(node.feature)][row] > self.bins[at]);
        }
    }

    fn push(&mut self, leaf: Node) {
        self.nodes.push(leaf);
        self.bins.push(0);
    }
}

/// Grows one tree.
struct Grower<'a> {
    binned: &'a Binned,
    slopes: &'a [Slope],
    features: &'a [usize],
}

impl Grower<'_> {
    fn grow(&self, all: Vec<u32>, growth: Growth, gains: &mut [f32]) -> Grown {
        let mut tree = Grown { nodes: vec![self.leaf(&all, growth)], bins: vec![0] };
        let sums = self.sums(&all);
        let mut level = vec![Open { node: 0, rows: all, sums }];
        for depth in 0..growth.depth {
            let mut next = Vec::new();
            for open in level {
                let Some(split) = self.best_split(&open.sums) else { continue };
                gains[split.feature] += split.gain as f32;
                let column = &self.binned.columns[split.feature];
                let (left, right): (Vec<u32>, Vec<u32>) = open.rows.iter().partition(|row| column[**row as usize] <= split.bin);
                let node = tree.nodes.len();
                let inner = &mut tree.nodes[open.node];
                inner.feature = u16::try_from(split.feature).unwrap_or(LEAF);
                inner.threshold = self.binned.edges[split.feature][usize::from(split.bin)];
                inner.left = u16::try_from(node).unwrap_or(0);
                tree.bins[open.node] = split.bin;
                [&left, &right].into_iter().for_each(|rows| tree.push(self.leaf(rows, growth)));
                if depth + 1 < growth.depth {
                    let (left_sums, right_sums) = self.children(&left, &right, open.sums);
                    next.push(Open { node, rows: left, sums: left_sums });
                    next.push(Open { node: node + 1, rows: right, sums: right_sums });
                }
            }
            level = next;
        }
        tree
    }

    fn leaf(&self, rows: &[u32], growth: Growth) -> Node {
        let sum = rows.iter().fold(Slope::default(), |sum, row| sum.plus(self.slopes[*row as usize]));
        let value = (-sum.gradient / (sum.hessian + RIDGE) * growth.rate) as f32;
        Node { feature: LEAF, threshold: 0.0, left: 0, value }
    }

    /// Sums of two halves of a node: the smaller is counted, the larger is what remains.
    fn children(&self, left: &[u32], right: &[u32], parent: Vec<Vec<Slope>>) -> (Vec<Vec<Slope>>, Vec<Vec<Slope>>) {
        let counted = self.sums(if left.len() <= right.len() { left } else { right });
        let mut rest = parent;
        for (rest, counted) in rest.iter_mut().zip(&counted) {
            rest.iter_mut().zip(counted).for_each(|(sum, part)| *sum = sum.minus(*part));
        }
        if left.len() <= right.len() { (counted, rest) } else { (rest, counted) }
    }

    /// Per feature, the sums of the rows in each bin. Features are counted side by side, rows in order, so the
    /// sums are the same for any number of threads.
    fn sums(&self, rows: &[u32]) -> Vec<Vec<Slope>> {
        let slopes: Vec<Slope> = rows.iter().map(|row| self.slopes[*row as usize]).collect();
        let of_feature = |feature: &usize| {
            let column = &self.binned.columns[*feature];
            // Most signals are silent for most rows. Adding up in one place alone, each sum would wait for the one before.
            let mut halves = [[Slope::default(); BINS]; 2];
            for (place, (row, slope)) in rows.iter().zip(&slopes).enumerate() {
                let sum = &mut halves[place % 2][usize::from(column[*row as usize]) % BINS];
                *sum = sum.plus(*slope);
            }
            let bins = self.binned.edges[*feature].len() + 1;
            halves[0].iter().zip(&halves[1]).take(bins).map(|(a, b)| a.plus(*b)).collect()
        };
        self.features.par_iter().with_min_len(8).map(of_feature).collect()
    }

    fn best_split(&self, sums: &[Vec<Slope>]) -> Option<Split> {
        let of_features = self.features.iter().zip(sums).filter_map(|(feature, sums)| best_split(sums, *feature));
        of_features.reduce(|best, split| if split.gain > best.gain { split } else { best })
    }
}

fn total(slopes: &[Slope]) -> Slope {
    slopes.iter().fold(Slope::default(), |sum, slope| sum.plus(*slope))
}

fn best_split(sums: &[Slope], feature: usize) -> Option<Split> {
    let whole = total(sums);
    let (mut left, mut best) = (Slope::default(), None::<Split>);
    for (bin, sum) in (0u8..).zip(&sums[..sums.len().saturating_sub(1)]) {
        left = left.plus(*sum);
        let right = whole.minus(left);
        if left.hessian < LEAST_HESSIAN || right.hessian < LEAST_HESSIAN {
            continue;
        }
        let gain = left.worth() + right.worth() - whole.worth();
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
        let forest = grow(&rows, Growth { trees: 40, depth: 3, rate: 0.2, forests: 1 });
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
        let growth = Growth { trees: 10, depth: 4, rate: 0.1, forests: 1 };
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| grow(&rows, growth));
        assert_eq!(one, grow(&rows, growth));
    }

    #[test]
    fn starts_from_the_margins_it_is_given() {
        let (values, labels) = table(200);
        let base: Vec<f64> = labels.iter().map(|l| if *l { 20.0 } else { -20.0 }).collect();
        let weights = vec![1.0; 200];
        let rows = Rows { values: &values, width: 3, labels: &labels, weights: &weights, base: &base };
        let forest = grow(&rows, Growth { trees: 5, depth: 3, rate: 0.3, forests: 1 });
        assert!(forest.margin(&values[..3]).abs() < 1e-3, "nothing is left to learn");
    }

    #[test]
    fn no_rows_give_no_trees() {
        let rows = Rows { values: &[], width: 2, labels: &[], weights: &[], base: &[] };
        assert!(grow(&rows, Growth { trees: 3, depth: 3, rate: 0.1, forests: 1 }).is_empty());
    }
}
