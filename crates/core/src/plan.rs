//! The plan: what a run found and proposes, as plain data. Every output (terminal, CSV, JSON Lines,
//! HTML report, `explain`) is a view of these types.

use crate::page::{BlockKind, FetchOutcome, LanguageSource, SourceFormat};
use crate::span::Span;
use serde::{Deserialize, Serialize};

/// A whole plan. Lists are in a total, documented order so that equal inputs give equal bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How the run was made.
    pub run: RunInfo,
    /// Every page that was asked for, by URL.
    pub pages: Vec<PageSummary>,
    /// Proposed links, best first; ties by source, then target URL.
    pub opportunities: Vec<Opportunity>,
    /// Pairs that belong together where no words can carry the link, best first.
    pub gaps: Vec<Gap>,
    /// Pages too alike to link: near duplicates and pages that compete, most alike first.
    pub overlaps: Vec<Overlap>,
    /// Every guardrail with what it removed or flagged in this run, in the order of their codes.
    pub guardrails: Vec<GuardrailCount>,
    /// Anchors that each target has now in body links and would get, by target URL.
    pub anchors: Vec<TargetAnchors>,
    /// Sentences for people about the run as a whole, such as a partial crawl or an unknown language.
    pub notices: Vec<Notice>,
}

/// How the run was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Number of the run in its project, from 1.
    pub id: i64,
    /// Number of the reading in its project that the pages come from.
    pub crawl: i64,
    /// The site as the user named it.
    pub site: String,
    /// Public address that the pages lie under.
    pub base_url: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Version of linkwright.
    pub version: String,
    /// Embedding model, such as `all-MiniLM-L6-v2 int8`.
    pub model: String,
    /// How candidates were ranked, in words.
    pub ranking: String,
    /// What the score of an opportunity is: `similarity` or `probability`.
    pub score_kind: String,
    /// Why the plan covers only a part of the site, if it does.
    pub partial: Option<String>,
    /// Whether every page of the site that is linked to or listed was read. When it was not, orphans and depth
    /// are unknown.
    pub complete: bool,
    /// blake3 of the settings in force, hexadecimal.
    pub settings_hash: String,
}

/// One page and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageSummary {
    /// Final URL.
    pub url: String,
    /// File below the site folder, for a folder.
    pub path: Option<String>,
    /// Notation.
    pub format: SourceFormat,
    /// What came of reading it.
    pub outcome: FetchOutcome,
    /// HTTP status; 0 when nothing answered.
    pub status: u16,
    /// A sentence about a failure.
    pub detail: Option<String>,
    /// Title without the brand tail.
    pub title: String,
    /// BCP 47 tag, lower case; empty when unknown.
    pub language: String,
    /// Where the language came from.
    pub language_source: LanguageSource,
    /// Words of main content.
    pub words: usize,
    /// Fingerprint of the main text: see `overlap::fingerprint`. Empty where nothing was read.
    #[serde(default)]
    pub fingerprint: String,
    /// Publication date as `YYYY-MM-DD`.
    pub published: Option<String>,
    /// Listed in a sitemap.
    pub in_sitemap: bool,
    /// Led to by links, or found in the folder.
    pub in_links: bool,
    /// Guardrail codes that keep the page from being a source; empty when it may be one.
    pub not_source: Vec<String>,
    /// Guardrail codes that keep the page from being a target; empty when it may be one.
    pub not_target: Vec<String>,
    /// Body links to other pages of the site.
    pub outlinks: usize,
    /// Pages of the site with a body link to it.
    pub inlinks: usize,
    /// Pages of the site with any link to it.
    pub inlinks_all: usize,
    /// Clicks from the home page over all links; `None` when it cannot be reached or is unknown.
    pub depth: Option<u32>,
    /// Indexable and without any body inlink; `None` when the crawl is incomplete.
    pub orphan: Option<bool>,
    /// PageRank over body links, scaled so that the mean is 1.
    pub authority: f64,
    /// Opportunities with this page as source.
    pub opportunities: usize,
    /// Opportunities with this page as target.
    pub proposed_inlinks: usize,
    /// Gaps with this page as source.
    pub gaps: usize,
    /// Why this source got no opportunity, as a guardrail code or one of `N…`; `None` when it got one or is no source.
    pub nothing: Option<String>,
}

/// A proposed link that passed the preflight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opportunity {
    /// Stable identity: hash of source, target and place.
    pub id: String,
    /// Page that would carry the link.
    pub source_url: String,
    /// Its title.
    pub source_title: String,
    /// Page it leads to, as the link would be written in public.
    pub target_url: String,
    /// Its title.
    pub target_title: String,
    /// The exact words that become the link.
    pub anchor: String,
    /// The `href` that would be written.
    pub href: String,
    /// Block of the passage: what it is.
    pub block_kind: BlockKind,
    /// The block's whole text.
    pub block_text: String,
    /// The sentence, as a range of `block_text`.
    pub passage: Span,
    /// The anchor, as a range of `block_text`.
    pub anchor_span: Span,
    /// The anchor in the decoded source.
    pub source_span: Span,
    /// blake3 of the source bytes the opportunity was planned on, hexadecimal.
    pub source_hash: String,
    /// Heading the passage stands under, where there is one.
    pub section: Option<String>,
    /// Similarity or probability, 0 to 1: see `RunInfo::score_kind`.
    pub score: f64,
    /// What made the score.
    pub signals: Vec<Signal>,
    /// Guardrails that flag but do not forbid, such as a link in the menu.
    pub flags: Vec<String>,
    /// Body inlinks of the target before the plan.
    pub target_inlinks: usize,
    /// Whether the target is an orphan; `None` when unknown.
    pub target_orphan: Option<bool>,
}

impl Opportunity {
    /// The sentence; empty when a stored span does not fit its text.
    #[must_use]
    pub fn sentence(&self) -> &str {
        self.block_text.get(self.passage.range()).unwrap_or_default()
    }

    /// The anchor, as a range of the sentence.
    #[must_use]
    pub fn words_in_sentence(&self) -> Span {
        let cut = |at: usize| at.saturating_sub(self.passage.start).min(self.sentence().len());
        Span::new(cut(self.anchor_span.start), cut(self.anchor_span.end).max(cut(self.anchor_span.start)))
    }
}

/// One part of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Stable name, such as `page_similarity`.
    pub name: String,
    /// Its value for the pair.
    pub value: f64,
    /// What it did for the log odds of the score; below zero it spoke against the pair.
    pub part: f64,
    /// In words that an editor understands.
    pub words: String,
}

/// Source and target belong together but no words can carry the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// Page that should link.
    pub source_url: String,
    /// Its title.
    pub source_title: String,
    /// Page it should lead to.
    pub target_url: String,
    /// Its title.
    pub target_title: String,
    /// See `Opportunity::score`.
    pub score: f64,
    /// Why no words carried it: the guardrail code that removed most anchors, or `N…`.
    pub reason: String,
    /// The paragraph where a sentence would fit best.
    pub paragraph: Option<String>,
    /// Whether the target is an orphan; `None` when unknown.
    pub target_orphan: Option<bool>,
}

/// What two pages that are too alike are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlapKind {
    /// Nearly the same text.
    NearDuplicate,
    /// Different text on the same subject with nearly the same title: they compete in search.
    Cannibalization,
}

/// Two pages too alike to link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// One page; its URL sorts first.
    pub first_url: String,
    /// Its title.
    pub first_title: String,
    /// The other.
    pub second_url: String,
    /// Its title.
    pub second_title: String,
    /// Share of the word shingles they have in common, 0 to 1.
    pub shared_text: f64,
    /// Cosine of the page vectors.
    pub similarity: f64,
    /// What they are to each other.
    pub kind: OverlapKind,
    /// What to do about it.
    pub advice: String,
}

/// A guardrail and what it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardrailCount {
    /// Stable code, such as `P04`.
    pub code: String,
    /// Short name.
    pub name: String,
    /// Why it exists, in a sentence.
    pub why: String,
    /// Default and the setting that changes it.
    pub setting: String,
    /// What is counted: `pages`, `pairs` or `places`.
    pub unit: String,
    /// How many it removed.
    pub removed: u64,
    /// How many it only flagged.
    pub flagged: u64,
}

/// Anchors of one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetAnchors {
    /// The target.
    pub target_url: String,
    /// Its title.
    pub target_title: String,
    /// Anchor text, how many body links use it now, how many the plan would add; most used first.
    pub anchors: Vec<(String, usize, usize)>,
}

/// A sentence about the run as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Stable name, such as `incomplete_crawl`.
    pub code: String,
    /// The sentence.
    pub message: String,
    /// What to do next, if anything.
    pub hint: Option<String>,
}
