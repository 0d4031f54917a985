#![no_main]

use libfuzzer_sys::fuzz_target;
use linkwright_core::url::PageUrl;

fuzz_target!(|text: &str| {
    let Some(url) = PageUrl::parse(text) else { return };
    assert_eq!(PageUrl::parse(url.as_str()).as_ref(), Some(&url));
    if let Some(again) = PageUrl::parse(&format!("https://{}", url.key().as_str())) {
        assert_eq!(again.key(), url.key());
    }
});
