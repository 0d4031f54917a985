//! What a user can ask for. The only place where reading, embedding and storing meet.

mod error;
mod progress;

pub use error::EngineError;
pub use progress::{Progress, Silent};
