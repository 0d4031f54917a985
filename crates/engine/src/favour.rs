//! Settings to which targets come first: orphans, deep pages, and pages that a person marked as important.

use crate::analysis::Analysis;
use globset::GlobSet;
use linkwright_core::guardrail::pages::globs;
use linkwright_core::opportunity::{Choice, Pair};
use linkwright_core::plan::Notice;
use linkwright_core::settings::FavourSettings;
use linkwright_core::site_index::PageId;
use std::collections::BTreeSet;

/// Clicks from the home page that are not deep.
const SHALLOW: u32 = 3;

/// Who is favoured, and by how much.
pub(crate) struct Favour<'a> {
    settings: &'a FavourSettings,
    important: GlobSet,
}

impl<'a> Favour<'a> {
    /// Reads the settings.
    #[must_use]
    pub(crate) fn new(settings: &'a FavourSettings) -> Self {
        Self { settings, important: globs(&settings.important) }
    }

    /// Log odds for a target, and what they are for.
    #[must_use]
    pub(crate) fn of(&self, analysis: &Analysis, target: PageId) -> (f64, Vec<String>) {
        let clicks = analysis.graph.depth[target.index()].unwrap_or(0);
        let reasons = [
            (self.settings.orphans, analysis.is_orphan(target), "an orphan".to_owned()),
            (
                self.settings.deep * f64::from(clicks.saturating_sub(SHALLOW)),
                clicks > SHALLOW,
                format!("{clicks} clicks from the home page"),
            ),
            (self.settings.important_by, self.important.is_match(analysis.site.page(target).url.path()), "marked as important".to_owned()),
        ];
        let holds = reasons.into_iter().filter(|(by, holds, _)| *holds && *by != 0.0);
        holds.fold((0.0, Vec::new()), |(sum, mut words), (by, _, word)| {
            words.push(word);
            (sum + by, words)
        })
    }
}

/// What favour did to the set: chosen pairs that would not have been, and the other way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    added: usize,
    dropped: usize,
}

impl Effect {
    /// Compares the choice with the one that would have been made without favour.
    #[must_use]
    pub(crate) fn new(pairs: &[Pair], with: &Choice, without: &Choice) -> Self {
        let chosen = |choice: &Choice| -> BTreeSet<(PageId, PageId)> {
            choice.chosen.iter().map(|c| (pairs[c.pair].source, pairs[c.pair].target)).collect()
        };
        let (with, without) = (chosen(with), chosen(without));
        Self { added: with.difference(&without).count(), dropped: without.difference(&with).count() }
    }

    /// In a sentence, where there was any.
    #[must_use]
    pub(crate) fn notice(self) -> Option<Notice> {
        (self != Self::default()).then(|| Notice {
            code: "favour".to_owned(),
            message: format!(
                "favoured targets changed the choice: {} that came in by it, {} that had to give way",
                count(self.added),
                count(self.dropped)
            ),
            hint: Some("`[favour]` in linkwright.toml says who is favoured; 0 turns it off".to_owned()),
        })
    }
}

fn count(links: usize) -> String {
    if links == 1 { "1 link".to_owned() } else { format!("{links} links") }
}
