//! Rows of numbers that know which model made them.

use crate::model::{EmbedError, ModelId};

/// `(n, d)` f32, row-major; every row has length 1 (error at most 1e-5) or, for a text without any
/// word, is all zeros. Rows of different models are never combined: every operation on two
/// matrices compares their [`ModelId`]s first.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    model: ModelId,
    values: Vec<f32>,
}

impl Vectors {
    /// Takes over values that were stored.
    ///
    /// # Errors
    /// When they are no whole number of rows of the model's dimensions.
    pub fn new(model: ModelId, values: Vec<f32>) -> Result<Self, EmbedError> {
        if model.dimensions == 0 || !values.len().is_multiple_of(model.dimensions) {
            return Err(EmbedError::WrongLength { model, values: values.len() });
        }
        Ok(Self { model, values })
    }

    /// `rows` rows of zeros.
    pub(crate) fn zeros(model: ModelId, rows: usize) -> Self {
        let values = vec![0.0; rows * model.dimensions];
        Self { model, values }
    }

    /// The model that made them.
    #[must_use]
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len() / self.model.dimensions.max(1)
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One row.
    ///
    /// # Panics
    /// When there is no such row, which is a bug in the caller.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        let width = self.model.dimensions;
        &self.values[row * width..(row + 1) * width]
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.model.dimensions.max(1))
    }

    /// All values, row after row.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.values
    }

    /// All values, row after row, given away.
    #[must_use]
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// That both come from one model.
    ///
    /// # Errors
    /// [`EmbedError::ModelMismatch`] when they do not.
    pub fn check_comparable(&self, other: &Self) -> Result<(), EmbedError> {
        if self.model == other.model {
            return Ok(());
        }
        Err(EmbedError::ModelMismatch { left: self.model.clone(), right: other.model.clone() })
    }

    /// Cosine of a row here and a row there.
    ///
    /// # Errors
    /// When the two come from different models.
    ///
    /// # Panics
    /// When a row does not exist, which is a bug in the caller.
    pub fn similarity(&self, row: usize, other: &Self, other_row: usize) -> Result<f32, EmbedError> {
        self.check_comparable(other)?;
        Ok(self.row(row).iter().zip(other.row(other_row)).map(|(a, b)| a * b).sum())
    }

    /// Appends the rows of `other`.
    ///
    /// # Errors
    /// When the two come from different models.
    pub fn append(&mut self, other: &Self) -> Result<(), EmbedError> {
        self.check_comparable(other)?;
        self.values.extend_from_slice(&other.values);
        Ok(())
    }

    /// Adds `weight * vector` to a row; [`normalise`](Self::normalise) makes rows unit rows again.
    pub(crate) fn add_weighted(&mut self, row: usize, weight: f32, vector: &[f32]) {
        let width = self.model.dimensions;
        for (sum, x) in self.values[row * width..(row + 1) * width].iter_mut().zip(vector) {
            *sum += weight * x;
        }
    }

    /// Gives every row length 1; rows of zeros stay.
    pub(crate) fn normalise(&mut self) {
        for row in self.values.chunks_exact_mut(self.model.dimensions.max(1)) {
            normalise(row);
        }
    }
}

/// Gives a row length 1, unless it has none.
pub(crate) fn normalise(row: &mut [f32]) {
    let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        row.iter_mut().for_each(|x| *x /= length);
    } else {
        row.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, dimensions: usize) -> ModelId {
        ModelId { name: name.into(), revision: "1".into(), dimensions }
    }

    #[test]
    fn vectors_of_different_models_or_sizes_are_refused() -> Result<(), EmbedError> {
        let mut left = Vectors::new(model("a", 2), vec![1.0, 0.0])?;
        for other in [model("b", 2), model("a", 1), ModelId { revision: "2".into(), ..model("a", 2) }] {
            let right = Vectors::new(other, vec![0.0, 1.0])?;
            assert!(matches!(left.similarity(0, &right, 0), Err(EmbedError::ModelMismatch { .. })));
            assert!(matches!(left.append(&right), Err(EmbedError::ModelMismatch { .. })));
            assert_eq!(left.len(), 1);
        }
        Ok(())
    }

    #[test]
    fn vectors_of_one_model_are_compared_and_joined() -> Result<(), EmbedError> {
        let mut left = Vectors::new(model("a", 2), vec![1.0, 0.0])?;
        let right = Vectors::new(model("a", 2), vec![0.0, 1.0, 0.6, 0.8])?;
        assert!((left.similarity(0, &right, 1)? - 0.6).abs() < 1e-6);
        left.append(&right)?;
        assert_eq!((left.len(), left.row(2)), (3, &[0.6f32, 0.8] as &[f32]));
        Ok(())
    }

    #[test]
    fn a_length_that_is_no_multiple_of_the_dimensions_is_refused() {
        assert!(matches!(Vectors::new(model("a", 2), vec![1.0]), Err(EmbedError::WrongLength { values: 1, .. })));
        assert!(Vectors::new(model("a", 0), vec![]).is_err());
    }

    #[test]
    fn rows_without_a_length_become_zeros() {
        for mut row in [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
            normalise(&mut row);
            assert_eq!(row, [0.0, 0.0]);
        }
    }
}
