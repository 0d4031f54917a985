//! What a page, passage, link, candidate, opportunity and edit are, and how one becomes the next.
//!
//! Everything here is synchronous and pure: data in, data out. No files, no network, no clock,
//! no environment. Time and randomness, where a function needs them, are arguments.

pub mod anchor;
pub mod boosting;
pub mod content;
pub mod corpus;
pub mod decode;
pub mod edit;
pub mod eval;
pub mod graph;
pub mod guardrail;
pub mod habits;
pub mod language;
pub mod nearest;
pub mod opportunity;
pub mod overlap;
pub mod page;
pub mod passage;
pub mod phrases;
pub mod plan;
pub mod rank;
pub mod settings;
pub mod signals;
pub mod site_index;
pub mod span;
pub mod template;
pub mod text;
pub mod tfidf;
pub mod url;
