//! One identity per page: absolute URLs without fragment, and the key under which variants of the
//! same address meet.
//!
//! `PageUrl` is what is shown and linked to. `UrlKey` is what is compared: scheme, `www.`, default
//! port, letter case of the host, percent-escapes of unreserved characters, tracking parameters,
//! directory index names and the trailing slash do not tell pages apart. Both are idempotent.

use serde::{Deserialize, Serialize};
use std::fmt;
use url::Url;

/// Query parameters that never change what a page shows.
const TRACKING: &[&str] = &[
    "fbclid",
    "gclid",
    "gclsrc",
    "dclid",
    "msclkid",
    "yclid",
    "twclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "ref_src",
    "mkt_tok",
    "hsctatracking",
    "_hsenc",
    "_hsmi",
];

/// File names that a server answers with for a directory.
const INDEX_NAMES: &[&str] = &[
    "index.html",
    "index.htm",
    "index.php",
    "index.md",
    "index.mdx",
    "index.xhtml",
    "index.asp",
    "index.aspx",
    "index.jsp",
    "default.aspx",
];

/// An absolute `http` or `https` URL without fragment and credentials, as serialised by the WHATWG rules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageUrl(String);

impl PageUrl {
    /// Parses an absolute URL. `None` unless it is `http` or `https` with a host.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_url(Url::parse(text.trim()).ok()?)
    }

    /// Resolves `href` as found in a document against this base. Gives the URL and its fragment.
    /// `None` for other schemes (`mailto:`, `javascript:`, `data:`) and for what does not parse.
    #[must_use]
    pub fn join(&self, href: &str) -> Option<(Self, Option<String>)> {
        let base = Url::parse(&self.0).ok()?;
        let joined = base.join(href.trim()).ok()?;
        let fragment = joined.fragment().filter(|f| !f.is_empty()).map(str::to_owned);
        Some((Self::from_url(joined)?, fragment))
    }

    fn from_url(mut url: Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return None;
        }
        url.set_fragment(None);
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        Some(Self(url.into()))
    }

    /// The URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parsed form.
    ///
    /// # Panics
    /// Never: only text that parsed is stored.
    #[must_use]
    pub fn to_url(&self) -> Url {
        Url::parse(&self.0).expect("a PageUrl holds a URL that parsed")
    }

    /// Lower-case host, with port where it is not the scheme's default.
    #[must_use]
    pub fn host(&self) -> String {
        let url = self.to_url();
        let host = url.host_str().unwrap_or_default().to_owned();
        url.port().map_or(host.clone(), |port| format!("{host}:{port}"))
    }

    /// Path, percent-encoded, beginning with `/`.
    #[must_use]
    pub fn path(&self) -> String {
        self.to_url().path().to_owned()
    }

    /// The same path and query under another scheme, host and port.
    #[must_use]
    pub fn at_origin_of(&self, other: &Url) -> Self {
        let mut moved = other.clone();
        let own = self.to_url();
        moved.set_path(own.path());
        moved.set_query(own.query());
        Self::from_url(moved).unwrap_or_else(|| self.clone())
    }

    /// The identity of the page.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        UrlKey::of(&self.to_url())
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is compared to say that two addresses are one page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlKey(String);

impl UrlKey {
    fn of(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        let host = host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host);
        let mut key = host.to_owned();
        if let Some(port) = url.port().filter(|p| !matches!(p, 80 | 443)) {
            key.push_str(&format!(":{port}"));
        }
        key.push_str(&key_path(url.path()));
        let mut pairs: Vec<String> = url.query().unwrap_or_default().split('&').filter(|p| keeps(p)).map(normal_escapes).collect();
        pairs.sort();
        if !pairs.is_empty() {
            key.push('?');
            key.push_str(&pairs.join("&"));
        }
        Self(key)
    }

    /// The key as text: host, path and remaining query.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Path with normal escapes, without directory index name, doubled and trailing slashes.
fn key_path(path: &str) -> String {
    let parts: Vec<String> = path.split('/').filter(|p| !p.is_empty()).map(normal_escapes).collect();
    let kept = match parts.split_last() {
        Some((last, rest)) if INDEX_NAMES.contains(&last.to_ascii_lowercase().as_str()) => rest,
        _ => &parts[..],
    };
    format!("/{}", kept.join("/"))
}

fn keeps(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
    !(pair.is_empty() || name.starts_with("utm_") || TRACKING.contains(&name.as_str()))
}

/// Decodes escapes of unreserved characters, writes the rest with upper-case digits, and escapes
/// bytes outside ASCII, so that `%7e`, `%7E` and `~` are one.
fn normal_escapes(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten().and_then(hex_byte);
        let byte = escaped.unwrap_or(bytes[at]);
        let unreserved = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if unreserved || (escaped.is_none() && byte.is_ascii()) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}

fn hex_byte(pair: &[u8]) -> Option<u8> {
    let high = char::from(pair[0]).to_digit(16)?;
    let low = char::from(pair[1]).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> UrlKey {
        PageUrl::parse(text).unwrap().key()
    }

    #[test]
    fn variants_of_one_address_have_one_key() {
        let variants = [
            "https://example.org/a/caf%C3%A9/",
            "http://www.example.org/a/caf%c3%a9",
            "https://EXAMPLE.org:443/a/café/index.html",
            "https://example.org//a/caf%C3%A9?utm_source=x&fbclid=1#top",
            "https://user:pass@example.org/a/./caf%C3%A9/",
        ];
        for variant in variants {
            assert_eq!(key(variant), key(variants[0]), "{variant}");
        }
    }

    #[test]
    fn different_pages_have_different_keys() {
        let pages = [
            "https://example.org/a",
            "https://example.org/A",
            "https://example.org/a?p=12",
            "https://blog.example.org/a",
            "https://example.org:8080/a",
            "https://example.org/a.html",
        ];
        for (i, a) in pages.iter().enumerate() {
            for b in &pages[i + 1..] {
                assert_ne!(key(a), key(b));
            }
        }
    }

    #[test]
    fn only_web_addresses_are_pages() {
        let base = PageUrl::parse("https://example.org/docs/a.html").unwrap();
        for href in ["mailto:a@b.c", "javascript:void(0)", "data:text/html,x", "tel:1"] {
            assert_eq!(base.join(href), None, "{href}");
        }
        let (url, fragment) = base.join("../b/#part").unwrap();
        assert_eq!((url.as_str(), fragment.as_deref()), ("https://example.org/b/", Some("part")));
    }

    proptest! {
        #[test]
        fn parsing_and_keys_are_idempotent(path in "[ -~é東]{0,40}", query in "[ -~]{0,20}") {
            if let Some(url) = PageUrl::parse(&format!("https://Example.org/{path}?{query}")) {
                let again = PageUrl::parse(url.as_str());
                prop_assert_eq!(again.as_ref(), Some(&url));
                let from_key = PageUrl::parse(&format!("https://{}", url.key().as_str()));
                if let Some(from_key) = from_key {
                    prop_assert_eq!(from_key.key(), url.key());
                }
            }
        }
    }
}
