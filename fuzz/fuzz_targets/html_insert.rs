#![no_main]
#[path = "pages.rs"]
#[allow(dead_code, reason = "each target uses a part")]
mod pages;

use libfuzzer_sys::fuzz_target;
use linkwright_core::page::SourceFormat;

fuzz_target!(|bytes: &[u8]| pages::assert_reversible(bytes, SourceFormat::Html));
