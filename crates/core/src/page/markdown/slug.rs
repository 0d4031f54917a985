//! Heading text → the fragment that leads to it, by the rule that GitHub uses and most site
//! generators follow: lower case, punctuation dropped, blanks to hyphens, repeats numbered.

use std::collections::BTreeMap;

/// Hands out the ids of one page's headings.
#[derive(Default)]
pub(super) struct Slugs {
    seen: BTreeMap<String, usize>,
}

impl Slugs {
    /// The id of a heading with this text, unlike every id given before.
    pub(super) fn next(&mut self, heading: &str) -> String {
        let slug = slug(heading);
        let mut candidate = slug.clone();
        while self.seen.contains_key(&candidate) {
            let count = self.seen.entry(slug.clone()).or_insert(0);
            *count += 1;
            candidate = format!("{slug}-{count}");
        }
        self.seen.insert(candidate.clone(), 0);
        candidate
    }

    /// Notes an id that the author wrote.
    pub(super) fn claim(&mut self, id: &str) {
        self.seen.entry(id.to_owned()).or_insert(0);
    }
}

fn slug(heading: &str) -> String {
    let lower = heading.trim().to_lowercase();
    lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_follow_the_common_rule_and_never_repeat() {
        let mut slugs = Slugs::default();
        let headings = ["What's new?", "What's new", "C++ & Rust", "Über uns", "日本 語", "whats-new-1"];
        let ids: Vec<String> = headings.iter().map(|h| slugs.next(h)).collect();
        assert_eq!(ids, ["whats-new", "whats-new-1", "c--rust", "über-uns", "日本-語", "whats-new-1-1"]);
    }
}
