//! What a use case answers when it cannot do its work: one sentence, and what to do next.

use std::fmt;

/// A use case could not be carried out.
#[derive(Debug)]
pub struct EngineError {
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

impl EngineError {
    /// An error with a sentence and a hint; an empty hint is none.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { message: message.into(), hint: (!hint.is_empty()).then_some(hint), interrupted: false }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EngineError {}

impl From<linkwright_store::StoreError> for EngineError {
    fn from(error: linkwright_store::StoreError) -> Self {
        Self::new(error.to_string(), error.hint())
    }
}

impl From<linkwright_store::LockError> for EngineError {
    fn from(error: linkwright_store::LockError) -> Self {
        Self::new(error.to_string(), error.hint())
    }
}

impl From<linkwright_site::ReadError> for EngineError {
    fn from(error: linkwright_site::ReadError) -> Self {
        Self::new(error.to_string(), error.hint().unwrap_or_default())
    }
}

impl From<linkwright_embed::EmbedError> for EngineError {
    fn from(error: linkwright_embed::EmbedError) -> Self {
        Self::new(error.to_string(), "")
    }
}

impl From<crate::project::ProjectError> for EngineError {
    fn from(error: crate::project::ProjectError) -> Self {
        Self::new(error.to_string(), error.hint())
    }
}
