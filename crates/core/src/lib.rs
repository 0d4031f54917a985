//! What a page, passage, link, candidate, opportunity and edit are, and how one becomes the next.
//!
//! Everything here is synchronous and pure: data in, data out. No files, no network, no clock,
//! no environment. Time and randomness, where a function needs them, are arguments.

pub mod content;
pub mod decode;
pub mod language;
pub mod page;
pub mod passage;
pub mod plan;
pub mod settings;
pub mod span;
pub mod template;
pub mod text;
pub mod url;
