//! All pages of a site tell what is template: what repeats across them is not the page's own.

use crate::page::Page;
use crate::text;

/// What was found to repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateReport {
    /// Blocks that were taken out of the main content.
    pub blocks: usize,
    /// Links that were taken out of the body.
    pub links: usize,
    /// What the site adds at the end of titles, such as ` | Example`.
    pub title_tail: Option<String>,
    /// What the site puts before titles.
    pub title_head: Option<String>,
}

/// Marks as template what repeats across `pages`, and shortens titles by what the site adds to all.
pub fn find(pages: &mut [Page]) -> TemplateReport {
    let _ = pages;
    TemplateReport::default()
}

/// Words of the main blocks.
#[must_use]
pub fn count_words(page: &Page) -> usize {
    page.blocks.iter().filter(|b| b.main).map(|b| text::count_words(&b.text)).sum()
}
