//! Page and pair guardrails: which pages may carry or receive links at all, and which pairs may meet.

use super::Guardrail;
use crate::page::{FetchOutcome, Page};
use crate::settings::Settings;
use crate::site_index::{PageId, SiteIndex};
use crate::url::PageUrl;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Whether a page may be a source and a target, with every reason against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Eligibility {
    /// Reasons that keep it from being a source.
    pub not_source: Vec<Guardrail>,
    /// Reasons that keep it from being a target.
    pub not_target: Vec<Guardrail>,
}

/// The patterns of the settings, compiled once.
#[derive(Clone)]
pub struct PageRules {
    settings: Settings,
    archives: GlobSet,
    exclude_source: GlobSet,
    exclude_target: GlobSet,
    news: GlobSet,
    forbid: Vec<(GlobSet, GlobSet)>,
    today: String,
    home: Option<PageId>,
}

/// Compiles globs; those that do not parse match nothing (settings are checked before).
pub fn globs<'p>(patterns: impl IntoIterator<Item = &'p String>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns.into_iter().filter_map(|p| GlobBuilder::new(p).literal_separator(true).build().ok()) {
        set.add(glob);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

impl PageRules {
    /// Prepares the rules. `today` is `YYYY-MM-DD`.
    #[must_use]
    pub fn new(settings: &Settings, today: &str, home: Option<PageId>) -> Self {
        Self {
            settings: settings.clone(),
            archives: globs(&settings.pages.archives),
            exclude_source: globs(&settings.pages.exclude_source),
            exclude_target: globs(&settings.pages.exclude_target),
            news: globs(&settings.dates.news),
            forbid: settings.intent.forbid.iter().map(|r| (globs([&r.from]), globs([&r.to]))).collect(),
            today: today.to_owned(),
            home,
        }
    }

    /// Every reason against a parsed page.
    #[must_use]
    pub fn check(&self, site: &SiteIndex, id: PageId) -> Eligibility {
        let page = site.page(id);
        let mut found = Eligibility::default();
        for reason in self.always(site, id, page) {
            found.not_source.push(reason);
            found.not_target.push(reason);
        }
        let (path, pages) = (path_of(page), &self.settings.pages);
        let mut against = |on_source: bool, on_target: bool, reason: Guardrail| {
            found.not_source.extend(on_source.then_some(reason));
            found.not_target.extend(on_target.then_some(reason));
        };
        if page.noindex {
            against(!pages.noindex_as_source, !pages.noindex_as_target, Guardrail::NoIndex);
        }
        if page.word_count > 0 {
            against(page.word_count < pages.min_words_source, false, Guardrail::ThinSource);
            against(false, page.word_count < pages.min_words_target, Guardrail::ThinTarget);
        }
        against(self.exclude_source.is_match(&path), false, Guardrail::ExcludedSource);
        against(false, self.exclude_target.is_match(&path), Guardrail::ExcludedTarget);
        if self.is_archive_address(page) || is_listing(page) {
            against(!pages.archive_as_source, !pages.archive_as_target, Guardrail::Archive);
        }
        against(false, self.home == Some(id) && !pages.home_as_target, Guardrail::Home);
        let old = self.is_old(&path, page);
        against(old.0, old.1, Guardrail::OldNews);
        found.not_source.sort_unstable();
        found.not_target.sort_unstable();
        found
    }

    /// Whether the address alone says that the page lists others.
    #[must_use]
    pub fn is_archive_address(&self, page: &Page) -> bool {
        self.archives.is_match(path_of(page))
    }

    fn always(&self, site: &SiteIndex, id: PageId, page: &Page) -> Vec<Guardrail> {
        let mut reasons = Vec::new();
        let stands_for = site.canonical[id.index()];
        let canonical_outside = page.canonical.as_ref().is_some_and(|c| c.key() != page.url.key() && site.find_exact(c).is_none());
        if canonical_outside || (stands_for != id && page.canonical.as_ref().is_some_and(|c| c.key() != page.url.key())) {
            reasons.push(Guardrail::CanonicalElsewhere);
        } else if stands_for != id {
            reasons.push(Guardrail::DuplicateUrl);
        }
        if page.word_count == 0 {
            reasons.push(Guardrail::Empty);
        }
        if page.draft {
            reasons.push(Guardrail::Draft);
        }
        if page.login {
            reasons.push(Guardrail::Login);
        }
        reasons
    }

    /// Whether the date keeps the page from being (source, target).
    fn is_old(&self, path: &str, page: &Page) -> (bool, bool) {
        let Some(age) = page.published.as_deref().and_then(|d| days_between(d, &self.today)) else { return (false, false) };
        let news = self.news.is_match(path) && age > i64::from(self.settings.dates.news_max_age_days);
        let any = self.settings.dates.max_age_days.is_some_and(|max| age > i64::from(max));
        (news, news || any)
    }

    /// The first pair rule that keeps two eligible pages apart, vectors and scores not looked at.
    #[must_use]
    pub fn pair(&self, site: &SiteIndex, source: PageId, target: PageId) -> Option<Guardrail> {
        if source == target || site.canonical[source.index()] == site.canonical[target.index()] {
            return Some(Guardrail::SamePage);
        }
        let (from, to) = (site.page(source), site.page(target));
        if is_translation(from, to) {
            return Some(Guardrail::Translation);
        }
        if !self.settings.pages.cross_language && other_language(from, to) {
            return Some(Guardrail::OtherLanguage);
        }
        if self.forbid.is_empty() && !self.settings.relevance.same_section {
            return None;
        }
        let (from_path, to_path) = (path_of(from), path_of(to));
        if self.forbid.iter().any(|(f, t)| f.is_match(&from_path) && t.is_match(&to_path)) {
            return Some(Guardrail::IntentDirection);
        }
        let outside = self.settings.relevance.same_section && section(&from_path) != section(&to_path);
        outside.then_some(Guardrail::OutsideSection)
    }
}

/// Whether the two are in languages that are known and differ.
#[must_use]
pub fn other_language(a: &Page, b: &Page) -> bool {
    let (a, b) = (crate::text::primary(&a.language), crate::text::primary(&b.language));
    !a.is_empty() && !b.is_empty() && a != b
}

/// Whether one is the other in another language: named as its version, or under an address that differs in its
/// language alone.
fn is_translation(a: &Page, b: &Page) -> bool {
    let names = |from: &Page, to: &PageUrl| from.hreflang.iter().any(|(_, url)| url.key() == to.key());
    let same_path = || a.url.host() == b.url.host() && path_in_any_language(a) == path_in_any_language(b);
    names(a, &b.url) || names(b, &a.url) || (other_language(a, b) && same_path())
}

/// The page's path without a first segment that says its language.
#[must_use]
pub fn path_in_any_language(page: &Page) -> String {
    let path = path_of(page);
    let rest = path.trim_start_matches('/');
    let (first, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let says_language = !page.language.is_empty() && crate::text::primary(&first.to_lowercase()) == crate::text::primary(&page.language);
    if says_language { format!("/{rest}") } else { path }
}

/// What came of reading a page, where that alone rules it out.
#[must_use]
pub fn outcome_rule(outcome: FetchOutcome) -> Option<Guardrail> {
    match outcome {
        FetchOutcome::Fetched | FetchOutcome::Unchanged => None,
        FetchOutcome::Redirected | FetchOutcome::RedirectLoop => Some(Guardrail::Redirects),
        FetchOutcome::NotHtml => Some(Guardrail::NotHtml),
        _ => Some(Guardrail::NotOk),
    }
}

/// A page whose main text is mostly links of a list: an index of other pages, whatever its address.
fn is_listing(page: &Page) -> bool {
    const LEAST_LINKS: usize = 8;
    const LINK_SHARE: f64 = 0.5;
    let linked: usize = page.links.iter().filter(|l| l.place.is_some_and(|(b, _)| page.blocks[b].main)).map(|l| l.anchor.len()).sum();
    let links = page.links.iter().filter(|l| l.place.is_some_and(|(b, _)| page.blocks[b].main)).count();
    let text: usize = page.blocks.iter().filter(|b| b.main).map(|b| b.text.len()).sum();
    #[expect(clippy::cast_precision_loss, reason = "text lengths are far below 2^52")]
    let share = linked as f64 / text.max(1) as f64;
    links >= LEAST_LINKS && share > LINK_SHARE
}

fn path_of(page: &Page) -> String {
    page.url.path()
}

fn section(path: &str) -> &str {
    path.split('/').find(|s| !s.is_empty()).unwrap_or_default()
}

/// Days from one `YYYY-MM-DD` to another, by the civil calendar (Hinnant's day count).
fn days_between(from: &str, to: &str) -> Option<i64> {
    Some(day_number(to)? - day_number(from)?)
}

fn day_number(date: &str) -> Option<i64> {
    let mut parts = date.get(..10)?.split('-').map(|p| p.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_leap_years() {
        assert_eq!(days_between("2024-02-28", "2024-03-01"), Some(2));
        assert_eq!(days_between("2023-02-28", "2023-03-01"), Some(1));
        assert_eq!(days_between("not a date", "2023-03-01"), None);
    }

    #[test]
    fn default_archive_patterns_match_archives_and_nothing_else() {
        let settings = Settings::default();
        let archives = globs(&settings.pages.archives);
        for path in ["/tags/rust/", "/blog/category/news/", "/author/jo/", "/blog/page/2", "/search/", "/en/tag/x/"] {
            assert!(archives.is_match(path), "{path}");
        }
        for path in ["/2014/04/tagging-photos/", "/authority/", "/docs/searching/", "/pages/about/"] {
            assert!(!archives.is_match(path), "{path}");
        }
    }
}
