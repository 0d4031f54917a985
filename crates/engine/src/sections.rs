//! A link to the section of a long page that its words speak of, where the site links that way.
//!
//! Two things name a section: the site's own links with the same words, and a heading that says just these words.
//! Everything else leads to the page. A fragment is only used when the stored page has it.

use crate::analysis::Analysis;
use linkwright_core::page::{BlockKind, LinkKind};
use linkwright_core::settings::SectionTargets;
use linkwright_core::site_index::PageId;
use linkwright_core::text::fold;
use std::collections::BTreeMap;

/// Share of the site's body links that lead to sections from which that is its habit.
const HABIT: f64 = 0.05;
/// Words of main content from which a page is long.
const LONG: usize = 600;

/// By target and words, the sources that link so and the fragment each uses.
type Habits = BTreeMap<(PageId, String), Vec<(PageId, Option<String>)>>;

/// Which sections the site links, and with which words.
pub(crate) struct Sections {
    wanted: bool,
    habits: Habits,
}

impl Sections {
    /// Reads the site's own links.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "link counts are far below 2^52")]
    pub(crate) fn new(analysis: &Analysis, setting: SectionTargets) -> Self {
        let mut habits = Habits::new();
        let (mut all, mut to_sections) = (0usize, 0usize);
        for source in analysis.site.ids() {
            for link in analysis.site.page(source).links.iter().filter(|l| l.kind == LinkKind::Body) {
                let Some(target) = analysis.site.find(&link.target).filter(|t| *t != source) else { continue };
                let fragment = link.fragment.clone().filter(|f| has_section(analysis, target, f));
                all += 1;
                to_sections += usize::from(fragment.is_some());
                habits.entry((target, fold(&link.anchor))).or_default().push((source, fragment));
            }
        }
        let wanted = match setting {
            SectionTargets::Always => true,
            SectionTargets::Never => false,
            SectionTargets::Auto => to_sections as f64 >= HABIT * all.max(1) as f64,
        };
        Self { wanted, habits }
    }

    /// The fragment for a link from `source` to `target` with these words.
    #[must_use]
    pub(crate) fn of(&self, analysis: &Analysis, source: PageId, target: PageId, words: &str) -> Option<String> {
        if !self.wanted {
            return None;
        }
        let words = fold(words);
        if let Some(uses) = self.habits.get(&(target, words.clone())) {
            let mut counts: BTreeMap<&Option<String>, usize> = BTreeMap::new();
            uses.iter().filter(|(page, _)| *page != source).for_each(|(_, fragment)| *counts.entry(fragment).or_default() += 1);
            // The most usual; of equals the whole page, which comes last here and wins.
            if let Some((fragment, _)) = counts.into_iter().rev().max_by_key(|(_, uses)| *uses) {
                return fragment.clone();
            }
        }
        heading(analysis, target, &words)
    }
}

/// The section of a long page whose heading says just these words; not the title.
fn heading(analysis: &Analysis, target: PageId, words: &str) -> Option<String> {
    let page = analysis.site.page(target);
    if page.word_count < LONG || fold(&page.short_title) == words {
        return None;
    }
    let headings = page.blocks.iter().filter(|b| matches!(b.kind, BlockKind::Heading(level) if level > 1) && fold(&b.text) == words);
    let has_text = |section: &String| page.blocks.iter().any(|b| b.main && b.section.as_ref() == Some(section));
    headings.filter_map(|b| b.section.clone()).find(has_text)
}

fn has_section(analysis: &Analysis, target: PageId, fragment: &str) -> bool {
    analysis.site.page(target).blocks.iter().any(|b| b.section.as_deref() == Some(fragment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwright_core::page::FetchedPage;
    use linkwright_core::settings::Settings;
    use linkwright_core::url::PageUrl;

    fn page(path: &str, body: &str) -> FetchedPage {
        let html = format!("<!doctype html><html lang=en><title>{path}</title><body><main><h1>{path}</h1>{body}</main></body></html>");
        FetchedPage { body: html.into_bytes(), ..FetchedPage::read(PageUrl::parse(&format!("https://example.com/{path}/")).unwrap()) }
    }

    fn analysis() -> Analysis {
        let filler = "Bread needs time and a warm place before it is baked in the oven. ".repeat(60);
        let long = format!("<h2 id=steam>Steam in the oven</h2><p>{filler}</p><h2 id=crust>A crisp crust</h2><p>{filler}</p>");
        let link = |who: &str, href: &str| format!("<p>Baker {who} wrote down <a href='{href}'>the first ten minutes</a> of {who}.</p>");
        Analysis::new(
            vec![
                page("oven", &long),
                page("one", &link("one", "/oven/#steam")),
                page("two", &link("two", "/oven/#steam")),
                page("three", &link("three", "/oven/")),
                page("four", &link("four", "/oven/#gone")),
                page("six", &link("six", "/oven/#steam")),
                page("five", "<p>Nothing but words about steam in the oven.</p>"),
            ],
            "https://example.com/",
            &Settings::default(),
            "2026-01-01",
        )
    }

    #[test]
    fn words_lead_to_the_section_that_other_pages_link_so() {
        let analysis = analysis();
        let id = |path: &str| analysis.site.find(&PageUrl::parse(&format!("https://example.com/{path}/")).unwrap()).unwrap();
        let sections = Sections::new(&analysis, SectionTargets::Auto);
        let of = |source: &str, words: &str| sections.of(&analysis, id(source), id("oven"), words);
        assert_eq!(of("five", "The first ten minutes").as_deref(), Some("steam"), "three of five");
        assert_eq!(of("five", "a crisp crust").as_deref(), Some("crust"));
        assert_eq!(of("five", "bread needs time"), None);
        assert_eq!(Sections::new(&analysis, SectionTargets::Never).of(&analysis, id("five"), id("oven"), "a crisp crust"), None);
    }

    #[test]
    fn a_page_does_not_learn_from_its_own_link() {
        let analysis = analysis();
        let id = |path: &str| analysis.site.find(&PageUrl::parse(&format!("https://example.com/{path}/")).unwrap()).unwrap();
        let sections = Sections::new(&analysis, SectionTargets::Auto);
        // Without its own, two links to the section stand against two to the page: one without and one with a lost fragment.
        assert_eq!(sections.of(&analysis, id("one"), id("oven"), "the first ten minutes"), None);
    }
}
