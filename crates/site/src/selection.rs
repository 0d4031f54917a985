//! From the patterns of a pilot run to whether a page takes part in it.

use globset::{Glob, GlobSet, GlobSetBuilder};
use linkwright_core::url::PageUrl;

/// `--only` and exclude patterns, compiled. A pattern with `://` is matched against the whole URL,
/// any other against the path of the URL and, for files, the path below the folder.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    only: Patterns,
    exclude: Patterns,
}

#[derive(Clone, Debug)]
struct Patterns {
    urls: GlobSet,
    paths: GlobSet,
    count: usize,
}

impl Selection {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// The pattern that is not a glob, and why.
    pub(crate) fn new(only: &[String], exclude: &[String]) -> Result<Self, (String, String)> {
        Ok(Self { only: Patterns::new(only)?, exclude: Patterns::new(exclude)? })
    }

    /// Whether a page takes part.
    pub(crate) fn includes(&self, url: &PageUrl, path: Option<&str>) -> bool {
        (self.only.count == 0 || self.only.matches(url, path)) && !self.exclude.matches(url, path)
    }

    /// Whether pages may be missing that the site has.
    pub(crate) fn is_partial(&self) -> bool {
        self.only.count > 0
    }
}

impl Patterns {
    fn new(patterns: &[String]) -> Result<Self, (String, String)> {
        let (mut urls, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let set = if pattern.contains("://") { &mut urls } else { &mut paths };
            for variant in variants(pattern) {
                set.add(glob(&variant).map_err(|e| (pattern.clone(), e.kind().to_string()))?);
            }
        }
        let build = |set: GlobSetBuilder| set.build().map_err(|e| (patterns.join(", "), e.to_string()));
        Ok(Self { urls: build(urls)?, paths: build(paths)?, count: patterns.len() })
    }

    fn matches(&self, url: &PageUrl, path: Option<&str>) -> bool {
        if self.count == 0 {
            return false;
        }
        let url_path = url.path();
        self.urls.is_match(url.as_str()) || self.paths.is_match(&url_path) || path.is_some_and(|p| self.paths.is_match(format!("/{p}")))
    }
}

/// `*` stands for any characters, `/` among them, because that is what people mean by `/blog/*`; a
/// pattern that ends in `/` means all below it, and one without a leading `/` matches anywhere.
fn variants(pattern: &str) -> Vec<String> {
    let rooted = if pattern.contains("://") || pattern.starts_with('/') {
        pattern.to_owned()
    } else if pattern.starts_with("**") {
        format!("/{pattern}")
    } else {
        format!("/**/{pattern}")
    };
    match rooted.strip_suffix('/') {
        Some(folder) => vec![format!("{folder}/**"), folder.to_owned()],
        None => vec![format!("{rooted}/"), rooted],
    }
}

fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    Glob::new(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn includes(only: &[&str], exclude: &[&str], url: &str, path: Option<&str>) -> bool {
        let owned = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        Selection::new(&owned(only), &owned(exclude)).unwrap().includes(&PageUrl::parse(url).unwrap(), path)
    }

    #[test]
    fn patterns_match_paths_urls_and_files() {
        let url = "https://example.org/blog/2024/cats/";
        for pattern in [
            "/blog/",
            "/blog/*",
            "/blog/**",
            "/blog/*/cats",
            "/blog/2024/cats/",
            "2024/",
            "cats",
            "https://example.org/blog/**",
            "content/**/cats.md",
            "cats.md",
        ] {
            assert!(includes(&[pattern], &[], url, Some("content/posts/cats.md")), "{pattern}");
        }
        for pattern in ["/news/", "https://other.org/**", "/blog", "dogs.md"] {
            assert!(!includes(&[pattern], &[], url, Some("content/posts/cats.md")), "{pattern}");
        }
    }

    #[test]
    fn exclusion_wins_and_no_pattern_includes_all() {
        assert!(includes(&[], &[], "https://example.org/", None));
        assert!(!includes(&["/blog/"], &["/blog/drafts/"], "https://example.org/blog/drafts/a", None));
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let error = Selection::new(&["/a[".to_owned()], &[]).unwrap_err();
        assert_eq!(error.0, "/a[");
    }
}
