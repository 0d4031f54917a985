//! A target page → the `href` as this page would write it.
//!
//! The form that most of the page's own body links to its own site have is taken: `https://…`,
//! `/path`, `../path` or, in Markdown, the path of the target's file. Without such links the page's
//! other links decide, and without any the root-relative form is written. A target on another host is
//! always absolute, and a form that would not lead back to the target gives way to the absolute one.

use crate::page::{Link, LinkKind, Page, SourceFormat};
use crate::url::PageUrl;
use url::Url;

/// Forms of an address within a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HrefStyle {
    /// `/docs/a/`.
    RootRelative,
    /// `https://example.org/docs/a/`.
    Absolute,
    /// `../a/`.
    PathRelative,
    /// `../a.md`.
    FilePath,
}

/// The form that most links of the page to its own site have.
#[must_use]
pub fn href_style(page: &Page) -> HrefStyle {
    let body = most_common(page, page.links.iter().filter(|l| l.kind == LinkKind::Body));
    body.or_else(|| most_common(page, page.links.iter())).unwrap_or(HrefStyle::RootRelative)
}

fn most_common<'a>(page: &Page, links: impl Iterator<Item = &'a Link>) -> Option<HrefStyle> {
    let host = page.url.host();
    let mut counts = [(HrefStyle::RootRelative, 0_usize), (HrefStyle::Absolute, 0), (HrefStyle::PathRelative, 0), (HrefStyle::FilePath, 0)];
    for link in links.filter(|l| l.target.host() == host && !l.href.starts_with('#')) {
        let style = style_of(&link.href, page.format);
        counts.iter_mut().filter(|(s, _)| *s == style).for_each(|(_, count)| *count += 1);
    }
    // The first of the most frequent: `max_by_key` would take the last.
    let most = counts.iter().map(|(_, count)| *count).max().filter(|count| *count > 0)?;
    counts.iter().find(|(_, count)| *count == most).map(|(style, _)| *style)
}

fn style_of(href: &str, format: SourceFormat) -> HrefStyle {
    let path = href.split(['?', '#']).next().unwrap_or_default();
    let is_file = format != SourceFormat::Html && (path.ends_with(".md") || path.ends_with(".mdx"));
    if href.starts_with("//") || href.contains("://") {
        HrefStyle::Absolute
    } else if is_file && !href.starts_with('/') {
        HrefStyle::FilePath
    } else if href.starts_with('/') {
        HrefStyle::RootRelative
    } else {
        HrefStyle::PathRelative
    }
}

/// The `href` that leads from the page to the target. `path_of` knows the file of a page of the same
/// folder of Markdown.
#[must_use]
pub fn href_for(page: &Page, target: &PageUrl, fragment: Option<&str>, path_of: &dyn Fn(&PageUrl) -> Option<String>) -> String {
    href_in(href_style(page), page, target, fragment, path_of)
}

/// As [`href_for`], in a form that is given.
#[must_use]
pub fn href_in(
    style: HrefStyle,
    page: &Page,
    target: &PageUrl,
    fragment: Option<&str>,
    path_of: &dyn Fn(&PageUrl) -> Option<String>,
) -> String {
    let mut url = target.to_url();
    url.set_fragment(fragment.filter(|f| !f.is_empty()));
    let absolute = url.to_string();
    let tail = &url[url::Position::AfterPath..];
    let base = page.base.to_url();
    if base.origin() != url.origin() {
        return absolute;
    }
    let written = match style {
        HrefStyle::Absolute => return absolute,
        HrefStyle::RootRelative => format!("{}{tail}", url.path()),
        HrefStyle::PathRelative => relative_url(&base, &url).unwrap_or_else(|| format!("{}{tail}", url.path())),
        HrefStyle::FilePath => match (&page.path, path_of(target)) {
            (Some(from), Some(to)) => return format!("{}{tail}", relative_path(from, &to)),
            _ => format!("{}{tail}", url.path()),
        },
    };
    // `//` at the beginning of a path would name a host.
    let leads_back = page.base.join(&written).is_some_and(|(url, _)| url == *target);
    if leads_back { written } else { absolute }
}

/// `make_relative` may give a first segment with a colon, which would read as a scheme, and nothing
/// for the page itself.
fn relative_url(base: &Url, target: &Url) -> Option<String> {
    let relative = base.make_relative(target)?;
    let first = relative.split('/').next().unwrap_or_default();
    if relative.is_empty() || relative.starts_with(['?', '#']) {
        return None;
    }
    Some(if first.contains(':') { format!("./{relative}") } else { relative })
}

/// Path of a file as seen from another file of the same folder tree.
fn relative_path(from: &str, to: &str) -> String {
    let mut from: Vec<&str> = from.split('/').collect();
    from.pop();
    let to: Vec<&str> = to.split('/').collect();
    let directories = to.len().saturating_sub(1);
    let shared = from.iter().zip(&to[..directories]).take_while(|(a, b)| a == b).count();
    let mut parts = vec![".."; from.len() - shared];
    parts.extend(&to[shared..]);
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::tests::markdown_page;

    fn href(source: &str, target: &str) -> String {
        let files = |url: &PageUrl| url.path().strip_prefix("/docs/").map(|p| format!("docs/{}.md", p.trim_end_matches('/')));
        href_for(&markdown_page(source), &PageUrl::parse(target).unwrap(), Some("part"), &files)
    }

    #[test]
    fn the_form_is_that_of_the_pages_own_links() {
        let target = "https://example.org/docs/b/?x=1";
        assert_eq!(href("no links", target), "/docs/b/?x=1#part");
        assert_eq!(href("[a](/x/) [b](../y/) [c](/z/)", target), "/docs/b/?x=1#part");
        assert_eq!(href("[a](https://example.org/x/)", target), "https://example.org/docs/b/?x=1#part");
        assert_eq!(href("[a](../x/) [b](https://other.example/)", target), "../b/?x=1#part");
        assert_eq!(href("[a](x.md)", target), "b.md?x=1#part");
        assert_eq!(href("[a](/x/)", "https://other.example/"), "https://other.example/#part");
        assert_eq!(href("[a](/x/)", "https://example.org//evil.example/"), "https://example.org//evil.example/#part");
    }

    #[test]
    fn paths_between_files_climb_only_as_far_as_needed() {
        assert_eq!(relative_path("docs/a/b.md", "docs/c.md"), "../c.md");
        assert_eq!(relative_path("a.md", "b/c.md"), "b/c.md");
        assert_eq!(relative_path("a/b.md", "a/b.md"), "b.md");
    }
}
