//! What is known about the example site, because it was written to be so.

/// Public address of the example site.
pub(crate) const BASE: &str = "https://harbour-bakery.example";

/// The one page that no other page links to in its text.
pub(crate) const ORPHAN: &str = "/blog/oven-thermometer/";

/// Two pages with nearly the same text.
pub(crate) const DUPLICATES: [&str; 2] = ["/blog/storing-bread-tips/", "/blog/storing-bread/"];

/// Pages that must never be linked to: home page, tag page, category page, list of posts, noindex, canonical elsewhere, thin.
pub(crate) const NEVER_TARGETS: [&str; 7] =
    ["/", "/tag/rye/", "/category/sourdough/", "/blog/", "/newsletter-thanks/", "/blog/starter-guide-2019/", "/visit/"];

/// Number of pages.
pub(crate) const PAGES: usize = 36;

/// A page with code blocks.
pub(crate) const WITH_CODE: &str = "/blog/scaling-script/";

/// A full URL of the example site.
pub(crate) fn url(path: &str) -> String {
    format!("{BASE}{path}")
}
