//! A site's own links to how well they are found again: what is hidden, what is measured, and what a measurement
//! looks like as data.
//!
//! A share of the body links is hidden ([`split`], [`hide`](mod@hide)), the site is ranked again, and the places of the
//! hidden links become [`Figures`] ([`metrics`]); scores become a reliability table ([`calibration`](mod@calibration));
//! and every evaluation proves that no signal saw what was hidden ([`leak`]).

pub mod agreement;
pub mod calibration;
pub mod chance;
pub mod hide;
pub mod leak;
pub mod metrics;
pub mod split;

use serde::{Deserialize, Serialize};

/// A figure and the interval in which it lies in 95 of 100 draws of the site's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How well a ranking finds hidden links; see [`metrics`] for what each figure means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// R@1.
    pub recall_1: Estimate,
    /// R@3.
    pub recall_3: Estimate,
    /// R@5.
    pub recall_5: Estimate,
    /// R@10.
    pub recall_10: Estimate,
    /// Mean of 1 / rank of the first hidden link.
    pub mrr: Estimate,
    /// R@5 of targets without any other body inlink; `None` when no hidden link has such a target.
    pub cold: Option<Estimate>,
    /// R@5 of targets with one or two.
    pub warm: Option<Estimate>,
    /// R@5 of targets with three or more.
    pub hot: Option<Estimate>,
}

/// What kind of ranking a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// The ranking that plans are made with.
    Full,
    /// The same with something taken away.
    Reduced,
    /// One signal by itself.
    Plain,
}

/// A ranking and its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Stable name, such as `page_vector`.
    pub key: String,
    /// Name for people.
    pub name: String,
    /// What it ranks by, in one sentence.
    pub about: String,
    /// What kind of ranking it is.
    pub kind: RowKind,
    /// Pages whose links were looked for.
    pub sources: usize,
    /// Hidden links looked for.
    pub hidden: usize,
    /// How well they were found.
    pub figures: Figures,
}

/// How the proposed words agree with those of the hidden links that were found among the first ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnchorAgreement {
    /// Hidden links among the first ten.
    pub found: usize,
    /// Share of them for which words were found at all.
    pub with_words: f64,
    /// Share of them whose words are just those of the hidden link, letter case and white space aside.
    pub exact: f64,
    /// Share of them whose words have a content word in common with those of the hidden link.
    pub share_a_word: f64,
}

/// One bin of a reliability table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Pairs in it.
    pub pairs: usize,
    /// Their mean score.
    pub score: f64,
    /// Share of them that are links.
    pub links: f64,
}

/// How far scores can be read as probabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Expected calibration error.
    pub error: f64,
    /// Pairs behind it.
    pub pairs: usize,
    /// Bins of equal count, lowest scores first.
    pub bins: Vec<Bin>,
}

/// A signal in a leak check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspicion {
    /// Name of the signal.
    pub signal: String,
    /// What it measures.
    pub meaning: String,
    /// How often it is larger for kept links than for hidden ones, or for decoys than for the pairs beside them; 0.5 is
    /// chance.
    pub larger: f64,
    /// Distance from chance in standard errors.
    pub errors: f64,
}

/// Whether a signal sees links that it must not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeakCheck {
    /// Pages with both hidden and kept links.
    pub pages_kept: usize,
    /// Pages with a decoy.
    pub pages_decoys: usize,
    /// The signal that tells hidden links from kept ones best.
    pub worst_kept: Option<Suspicion>,
    /// The signal that tells decoys from the pairs beside them best.
    pub worst_decoys: Option<Suspicion>,
    /// Signals that see whether a link exists.
    pub see_existing: Vec<Suspicion>,
    /// Signals that see which links were hidden.
    pub see_hidden: Vec<Suspicion>,
}

impl LeakCheck {
    /// Whether no signal is suspected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.see_existing.is_empty() && self.see_hidden.is_empty()
    }
}

/// How well a site's own links are found again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Address of the site.
    pub base_url: String,
    /// Run of the plan whose pages were used.
    pub run: i64,
    /// When, RFC 3339.
    pub evaluated_at: String,
    /// Version of linkwright.
    pub version: String,
    /// Embedding model.
    pub model: String,
    /// Seed of all choices.
    pub seed: u64,
    /// Number of times that links were hidden.
    pub folds: usize,
    /// Share of the links hidden each time.
    pub share: f64,
    /// Pages that can be sources.
    pub pages: usize,
    /// Body links between pages that a plan could propose, distinct pairs.
    pub links: usize,
    /// How the ranking was made.
    pub ranking: String,
    /// What to say about the measurement.
    pub notices: Vec<String>,
    /// Rankings with their figures, linkwright's own first.
    pub rows: Vec<Row>,
    /// Plain ranking with the highest R@5.
    pub best_plain: String,
    /// How much more of the hidden links are among the first five than in that ranking.
    pub gain: Estimate,
    /// Agreement of the words.
    pub anchors: AnchorAgreement,
    /// Whether scores are probabilities at all.
    pub calibrated: bool,
    /// Reliability over all candidates of pages that have body links.
    pub calibration: Calibration,
    /// Reliability over the ten best candidates of each of those pages, as a plan would show them.
    pub calibration_first_ten: Calibration,
    /// Whether a signal saw what was hidden.
    pub leaks: LeakCheck,
}

impl Evaluation {
    /// The row with a key.
    #[must_use]
    pub fn row(&self, key: &str) -> Option<&Row> {
        self.rows.iter().find(|r| r.key == key)
    }
}

/// Pages for the tests of this folder.
#[cfg(test)]
pub(crate) mod sample {
    use crate::content::ContentSettings;
    use crate::page::{FetchedPage, Page, html};
    use crate::site_index::SiteIndex;
    use crate::url::PageUrl;
    use std::collections::BTreeMap;

    /// A parsed page with a body.
    pub(crate) fn page(path: &str, body: &str) -> Page {
        let url = PageUrl::parse(&format!("https://example.com{path}")).unwrap();
        let html = format!("<!doctype html><html lang=en><title>{path}</title><body><main>{body}</main></body></html>");
        html::parse(&FetchedPage { body: html.into_bytes(), ..FetchedPage::read(url) }, &ContentSettings::default())
    }

    /// A site of so many pages without links.
    pub(crate) fn site(pages: usize) -> SiteIndex {
        SiteIndex::new((0..pages).map(|n| page(&format!("/{n:05}/"), "<p>x</p>")).collect(), &BTreeMap::new())
    }
}
