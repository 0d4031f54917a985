//! What tests of several crates share: a website on loopback whose every answer is declared.

pub mod fixture_site;

pub use fixture_site::{Answer, FixtureSite, RunningSite, Seen};
