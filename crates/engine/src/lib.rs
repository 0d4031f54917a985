//! What a user can ask for. The only place where reading, embedding and storing meet.
//!
//! [`plan`](plan()) is the main job; the functions of [`views`] look into what it left behind.

mod analysis;
pub mod apply;
mod assemble;
pub mod decisions;
mod embedding;
mod error;
pub mod eval;
mod favour;
mod plan;
mod planned;
mod progress;
pub mod project;
mod propose;
mod publication;
mod publisher;
mod reading;
pub mod review;
mod sections;
pub mod training;
pub mod undo;
pub mod verify;
pub mod views;

pub use assemble::NOTHING;
pub use error::EngineError;
pub use plan::{PlanRequest, PlanResult, RankingRow, plan};
pub use progress::{Progress, Silent};
pub use publication::{Recovered, user};
