//! What a person or a program gets to see: a plan as files, summary and report. Every output is a view of
//! `linkwright_core::plan::Plan` and none computes anything that the plan does not hold.

pub(crate) mod console;
pub(crate) mod counts;
pub(crate) mod csv;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod evaluation;
pub(crate) mod explanation;
pub(crate) mod files;
pub(crate) mod jsonl;
pub(crate) mod page_view;
pub(crate) mod progress;
pub(crate) mod publication;
pub(crate) mod queue;
pub(crate) mod report;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod summary;
pub(crate) mod words;
