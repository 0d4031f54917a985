//! Vectors by model and text. What is kept under one text hash is a list of rows: a page's own
//! vector, its title's and its passages', in the order the caller chose.
//!
//! Invariant: rows of one model never come back for another, and never with another number of
//! dimensions.

use crate::blob::{bytes_to_floats, floats_to_bytes};
use crate::error::Failure;
use crate::{Store, StoreError};
use sqlx::SqliteConnection;
use std::collections::{BTreeMap, BTreeSet};

/// blake3 of the texts that were embedded, and of how they were cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextHash(pub [u8; 32]);

impl TextHash {
    /// The hash of a list of texts. Where one ends and the next begins counts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for text in texts {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }
}

/// What tells the vectors of one model from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorModel {
    /// Name with everything that changes the numbers: weights, precision, pooling.
    pub name: String,
    /// Numbers per vector.
    pub dimensions: usize,
}

/// The vectors of a project.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a>(pub(crate) &'a Store);

impl Vectors<'_> {
    /// The rows kept for these texts, `(n, d)` row-major; texts that are not there are left out.
    ///
    /// # Errors
    /// `ModelChanged` when the model was kept with another number of dimensions; otherwise when the database cannot be
    /// read.
    pub async fn get_many(self, model: &VectorModel, texts: &[TextHash]) -> Result<BTreeMap<TextHash, Vec<f32>>, StoreError> {
        self.read(model, texts).await.map_err(|error| error.at(self.0.path()))
    }

    /// Keeps rows for texts, all or none.
    ///
    /// # Errors
    /// `VectorSize` when a list is no whole number of rows; `ModelChanged` as in `get_many`; otherwise when the database
    /// cannot be written.
    pub async fn put_many(self, model: &VectorModel, rows: &[(TextHash, &[f32])]) -> Result<(), StoreError> {
        for (_, values) in rows {
            check_size(model, values.len())?;
        }
        self.write(model, rows).await.map_err(|error| error.at(self.0.path()))
    }

    /// Removes the model's rows for all texts but these. Gives how many went.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn prune(self, model: &VectorModel, keep: &BTreeSet<TextHash>) -> Result<usize, StoreError> {
        self.remove(model, keep).await.map_err(|error| error.at(self.0.path()))
    }

    async fn read(self, model: &VectorModel, texts: &[TextHash]) -> Result<BTreeMap<TextHash, Vec<f32>>, Failure> {
        let mut connection = self.0.reader.acquire().await?;
        let mut found = BTreeMap::new();
        let Some(id) = model_id(&mut connection, model).await? else { return Ok(found) };
        for text in texts {
            let row: Option<(Vec<u8>,)> = sqlx::query_as("SELECT vector_rows FROM vectors WHERE model = $1 AND text_hash = $2")
                .bind(id)
                .bind(&text.0[..])
                .fetch_optional(&mut *connection)
                .await?;
            let Some((bytes,)) = row else { continue };
            let values = bytes_to_floats(&bytes).ok_or_else(|| Failure::unfit("vectors", format!("{} bytes", bytes.len())))?;
            check_size(model, values.len())?;
            found.insert(*text, values);
        }
        Ok(found)
    }

    async fn write(self, model: &VectorModel, rows: &[(TextHash, &[f32])]) -> Result<(), Failure> {
        let mut change = self.0.begin().await?;
        let id = match model_id(&mut change, model).await? {
            Some(id) => id,
            None => insert_model(&mut change, model).await?,
        };
        for (text, values) in rows {
            sqlx::query(
                "INSERT INTO vectors (model, text_hash, vector_rows) VALUES ($1, $2, $3)
                 ON CONFLICT (model, text_hash) DO UPDATE SET vector_rows = excluded.vector_rows",
            )
            .bind(id)
            .bind(&text.0[..])
            .bind(floats_to_bytes(values))
            .execute(&mut *change)
            .await?;
        }
        Ok(change.commit().await?)
    }

    async fn remove(self, model: &VectorModel, keep: &BTreeSet<TextHash>) -> Result<usize, Failure> {
        let mut change = self.0.begin().await?;
        let Some(id) = model_id(&mut change, model).await? else { return Ok(0) };
        let rows: Vec<(i64, Vec<u8>)> =
            sqlx::query_as("SELECT id, text_hash FROM vectors WHERE model = $1").bind(id).fetch_all(&mut *change).await?;
        let kept = |hash: &[u8]| <[u8; 32]>::try_from(hash).is_ok_and(|hash| keep.contains(&TextHash(hash)));
        let loose: Vec<i64> = rows.into_iter().filter(|(_, hash)| !kept(hash)).map(|(row, _)| row).collect();
        for row in &loose {
            sqlx::query("DELETE FROM vectors WHERE id = $1").bind(row).execute(&mut *change).await?;
        }
        change.commit().await?;
        Ok(loose.len())
    }
}

fn check_size(model: &VectorModel, values: usize) -> Result<(), StoreError> {
    if model.dimensions > 0 && values.is_multiple_of(model.dimensions) {
        return Ok(());
    }
    Err(StoreError::VectorSize { model: model.name.clone(), dimensions: model.dimensions, values })
}

async fn model_id(connection: &mut SqliteConnection, model: &VectorModel) -> Result<Option<i64>, Failure> {
    let found: Option<(i64, i64)> =
        sqlx::query_as("SELECT id, dimensions FROM models WHERE name = $1").bind(&model.name).fetch_optional(connection).await?;
    let Some((id, stored)) = found else { return Ok(None) };
    let stored = usize::try_from(stored).unwrap_or(0);
    if stored == model.dimensions {
        return Ok(Some(id));
    }
    Err(StoreError::ModelChanged { model: model.name.clone(), stored, asked: model.dimensions }.into())
}

async fn insert_model(connection: &mut SqliteConnection, model: &VectorModel) -> Result<i64, Failure> {
    let dimensions = i64::try_from(model.dimensions).map_err(|error| Failure::unfit("a number of dimensions", error))?;
    let (id,) = sqlx::query_as("INSERT INTO models (name, dimensions) VALUES ($1, $2) RETURNING id")
        .bind(&model.name)
        .bind(dimensions)
        .fetch_one(connection)
        .await?;
    Ok(id)
}
