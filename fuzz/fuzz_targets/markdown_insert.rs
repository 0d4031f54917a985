#![no_main]
#[path = "pages.rs"]
#[allow(dead_code, reason = "each target uses a part")]
mod pages;

use libfuzzer_sys::fuzz_target;
use linkwright_core::page::SourceFormat;

fuzz_target!(|bytes: &[u8]| {
    let [pick, length, source @ ..] = bytes else { return };
    pages::assert_reversible(&pages::page(source, SourceFormat::Markdown), usize::from(*pick), usize::from(*length));
});
