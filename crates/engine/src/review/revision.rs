//! Other words, another passage, another target: what a reviewer may choose, and whether it can be written.
//!
//! A choice is answered by writing the link into the stored source in memory, by the code that `apply` writes with.

use super::{Item, Review, ReviewError, Snapshot};
use crate::analysis::href;
use crate::apply::same_page;
use crate::assemble::heading_above;
use crate::decisions::{Verdict, decision};
use crate::error::EngineError;
use crate::planned::Planned;
use crate::propose::link_settings;
use linkwright_core::edit::{Places, Preflight, find_again};
use linkwright_core::guardrail;
use linkwright_core::page::{BlockKind, FetchedPage, LinkKind, Page};
use linkwright_core::passage;
use linkwright_core::plan::{Opportunity, PageSummary};
use linkwright_core::settings::Settings;
use linkwright_core::span::Span;
use linkwright_core::text::{Lexicon, Term, count_words};
use linkwright_core::url::PageUrl;
use linkwright_store::{Decision, State, StoredOpportunity};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Words of an anchor at most, where linkwright itself looks for one.
const LONGEST: usize = 6;
/// Passages that are offered.
const OFFERED: usize = 8;
/// Passages that the preflight tries.
const TRIED: usize = 24;

/// Which words are to become the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A range of a block's text.
    At {
        /// Index into the page's blocks.
        block: usize,
        /// Range in the block's text.
        span: Span,
    },
    /// These words, in this block or wherever they stand once.
    Words {
        /// The block to look in first.
        block: Option<usize>,
        /// The words.
        words: String,
    },
}

/// What a reviewer wants instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The words.
    pub place: Place,
    /// URL of the target.
    pub target_url: String,
    /// Section of the target: the `id` of a heading.
    pub section: Option<String>,
}

/// A revision that can be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The opportunity as it would be.
    pub opportunity: Opportunity,
    /// Block of the words.
    pub block: usize,
    /// What speaks against it and does not forbid it.
    pub warnings: Vec<String>,
}

/// A block of a page's main content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBlock {
    /// Index into the page's blocks.
    pub number: usize,
    /// What it is.
    pub kind: BlockKind,
    /// Its text.
    pub text: String,
    /// Places of its words in the text.
    pub words: Vec<Span>,
    /// Places of words in links.
    pub links: Vec<Span>,
    /// Whether some of its words could carry a link.
    pub linkable: bool,
}

/// A passage that could carry the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Index into the page's blocks.
    pub block: usize,
    /// The words, as a range of the block's text.
    pub span: Span,
    /// The sentence, as a range of the block's text.
    pub passage: Span,
    /// The block's text.
    pub text: String,
}

/// All that is needed to revise one opportunity.
#[derive(Clone, Debug)]
pub struct Desk {
    /// The opportunity.
    pub item: Item,
    /// Main content of the source.
    pub blocks: Vec<TextBlock>,
    /// Where its words stand now; `None` when the page has changed under it.
    pub place: Option<(usize, Span)>,
    /// The target that is chosen: another than the opportunity's own, or the same.
    pub target: Option<PageSummary>,
    /// Sections of that target: `id` and heading.
    pub sections: Vec<(String, String)>,
    /// Other passages that could carry a link to it.
    pub suggestions: Vec<Suggestion>,
}

impl Review {
    /// The main content of a page.
    ///
    /// # Errors
    /// `NotFound`; otherwise when the project cannot be read.
    pub async fn contents(&self, url: &str) -> Result<Vec<TextBlock>, ReviewError> {
        let snapshot = self.snapshot().await?;
        Ok(blocks(&*self.page_of(&snapshot, url).await?))
    }

    /// Where the words of an opportunity stand in its page: block and range of the block's text.
    ///
    /// # Errors
    /// `NotFound`; otherwise when the project cannot be read.
    pub async fn place_of(&self, stored: &StoredOpportunity) -> Result<Option<(usize, Span)>, ReviewError> {
        let snapshot = self.snapshot().await?;
        let page = self.page_of(&snapshot, &stored.opportunity.source_url).await?;
        Ok(place(&page, &stored.opportunity))
    }

    /// What can be chosen for an opportunity, for its own or for another target.
    ///
    /// # Errors
    /// `NotFound`; otherwise when the project cannot be read.
    pub async fn desk(&self, id: &str, target_url: Option<&str>) -> Result<Desk, ReviewError> {
        let snapshot = self.snapshot().await?;
        let item = self.item(id).await?;
        let opportunity = &item.stored.opportunity;
        let page = self.page_of(&snapshot, &opportunity.source_url).await?;
        let target_url = target_url.unwrap_or(&opportunity.target_url).to_owned();
        let target_page = self.page_of(&snapshot, &target_url).await.ok();
        let anchors: Vec<String> = self
            .site()
            .map(|site| site.links_to(&target_url))
            .unwrap_or_default()
            .into_iter()
            .filter(|link| link.kind == LinkKind::Body)
            .map(|link| link.anchor)
            .collect();
        let place = place(&page, opportunity);
        let title = snapshot.planned.page(&target_url).map(|page| page.title.clone()).unwrap_or_default();
        let sections = target_page.as_ref().map(|page| sections(page)).unwrap_or_default();
        let settings = self.inner.project.settings().clone();
        let suggestions = match target_page {
            Some(target) => {
                let planned = Arc::clone(&snapshot.planned);
                let page = Arc::clone(&page);
                let offered = tokio::task::spawn_blocking(move || {
                    let href = href(&page, &target.url, None, &settings, &|url| path_of(&planned, url));
                    suggestions(&page, &title, &anchors, place, &href, &settings)
                });
                offered.await.map_err(|error| EngineError::new(format!("the page could not be searched: {error}"), ""))?
            }
            None => Vec::new(),
        };
        let target = snapshot.planned.page(&target_url).cloned();
        Ok(Desk { blocks: blocks(&page), place, target, sections, suggestions, item })
    }

    /// Whether a revision can be written; the reason in a sentence where it cannot.
    ///
    /// # Errors
    /// `NotFound`, `Refused`; otherwise when the project cannot be read.
    pub async fn check_revision(&self, id: &str, revision: &Revision) -> Result<Checked, ReviewError> {
        let snapshot = self.snapshot().await?;
        let stored = Arc::clone(snapshot.find(id)?);
        let page = self.page_of(&snapshot, &stored.opportunity.source_url).await?;
        let fetched = self.fetched(&snapshot, &stored.opportunity.source_url).await?;
        let target = snapshot.planned.page(&revision.target_url).cloned();
        let target = target.ok_or_else(|| ReviewError::Refused(format!("{} is no page of the last plan", revision.target_url)))?;
        let section = revision.section.as_deref().filter(|section| !section.is_empty());
        if let Some(section) = section {
            let page = self.page_of(&snapshot, &target.url).await?;
            if !sections(&page).iter().any(|(id, _)| id == section) {
                return Err(ReviewError::Refused(format!("the target has no section `{section}`")));
            }
        }
        let (settings, revision) = (self.inner.project.settings().clone(), revision.clone());
        let checked = tokio::task::spawn_blocking(move || {
            let asked =
                Asked { snapshot: &snapshot, stored: &stored, page: &page, fetched: &fetched, target: &target, settings: &settings };
            asked.check(&revision)
        });
        checked.await.map_err(|error| EngineError::new(format!("the link could not be tried: {error}"), ""))?
    }

    /// Accepts an opportunity with other words, another passage or another target. Gives its new revision.
    ///
    /// # Errors
    /// As [`check_revision`](Self::check_revision) and [`decide`](Self::decide).
    pub async fn revise(&self, id: &str, revision: &Revision, seen: i64, reviewer: &str) -> Result<i64, ReviewError> {
        let checked = self.check_revision(id, revision).await?;
        let snapshot = self.snapshot().await?;
        let stored = StoredOpportunity { opportunity: checked.opportunity, ..StoredOpportunity::clone(snapshot.find(id)?) };
        let decision = decision(&snapshot.planned, &stored, &Verdict::Accept, Some(seen), reviewer);
        let decision = Decision { revised: Some(Box::new(stored.opportunity)), ..decision };
        self.record(&decision).await
    }
}

fn path_of(planned: &Planned, url: &PageUrl) -> Option<String> {
    planned.page(url.as_str())?.path.clone()
}

fn place(page: &Page, opportunity: &Opportunity) -> Option<(usize, Span)> {
    let anchor = find_again(page, &Places::of(page), opportunity).ok()?;
    Some((anchor.block, anchor.text))
}

fn can_hold_links(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Paragraph | BlockKind::ListItem | BlockKind::Quote | BlockKind::TableCell | BlockKind::Definition)
}

fn blocks(page: &Page) -> Vec<TextBlock> {
    let mut lexicon = Lexicon::default();
    let main = page.blocks.iter().enumerate().filter(|(_, block)| block.main && !block.text.is_empty());
    main.map(|(number, block)| TextBlock {
        number,
        kind: block.kind,
        words: lexicon.words(&block.text, &page.language).iter().map(linkwright_core::text::Word::span).collect(),
        links: page.links.iter().filter_map(|link| link.place).filter(|(of, _)| *of == number).map(|(_, span)| span).collect(),
        linkable: can_hold_links(block.kind) && block.segments.iter().any(|segment| segment.inert.is_none()),
        text: block.text.clone(),
    })
    .collect()
}

/// Headings below the title that have an `id`.
fn sections(page: &Page) -> Vec<(String, String)> {
    let headings = page.blocks.iter().filter(|block| block.main && matches!(block.kind, BlockKind::Heading(level) if level > 1));
    let mut sections: Vec<(String, String)> = headings.filter_map(|block| Some((block.section.clone()?, block.text.clone()))).collect();
    sections.dedup_by(|a, b| a.0 == b.0);
    sections
}

/// Passages that name the target, best first, each tried by writing.
fn suggestions(
    page: &Page,
    title: &str,
    anchors: &[String],
    current: Option<(usize, Span)>,
    href: &str,
    settings: &Settings,
) -> Vec<Suggestion> {
    let mut lexicon = Lexicon::default();
    let mut wanted: BTreeSet<Term> = lexicon.terms(title, &page.language).into_iter().collect();
    // One word of a long title says too little.
    let least = wanted.len().min(2);
    anchors.iter().for_each(|anchor| wanted.extend(lexicon.terms(anchor, &page.language)));
    let mut found: Vec<(usize, Suggestion)> = Vec::new();
    for (number, block) in page.blocks.iter().enumerate().filter(|(_, block)| block.main && can_hold_links(block.kind)) {
        let words = lexicon.words(&block.text, &page.language);
        for sentence in passage::split(&block.text, &page.language) {
            let inside: Vec<_> = words.iter().filter(|word| sentence.contains(word.span())).collect();
            let hits: Vec<usize> = (0..inside.len()).filter(|at| !inside[*at].function && wanted.contains(&inside[*at].term)).collect();
            let windows = hits.iter().enumerate().filter_map(|(i, first)| {
                let last = hits[i..].iter().take_while(|at| *at - first < LONGEST).last()?;
                let matched = hits[i..].iter().take_while(|at| *at <= last).count();
                if matched < least {
                    return None;
                }
                // Words between the matches make an anchor worse, but less than a match makes it better.
                Some((matched * 3 - (last - first + 1), *first, *last))
            });
            let Some((worth, first, last)) = windows.max_by_key(|(worth, first, _)| (*worth, std::cmp::Reverse(*first))) else { continue };
            let span = Span::new(inside[first].span().start, inside[last].span().end);
            if current.is_some_and(|(at, words)| at == number && words.overlaps(span)) {
                continue;
            }
            found.push((worth, Suggestion { block: number, span, passage: sentence, text: block.text.clone() }));
        }
    }
    found.sort_by_key(|(worth, suggestion)| (std::cmp::Reverse(*worth), suggestion.block, suggestion.span));
    let flight = Preflight::new(page, &link_settings(settings));
    let can_be_written = |suggestion: &Suggestion| {
        let anchor = flight.places().anchor_of_text(suggestion.block, suggestion.span);
        anchor.and_then(|anchor| flight.one(anchor.source, href)).is_ok()
    };
    found.into_iter().take(TRIED).map(|(_, suggestion)| suggestion).filter(can_be_written).take(OFFERED).collect()
}

/// What a revision is checked against.
struct Asked<'a> {
    snapshot: &'a Snapshot,
    stored: &'a StoredOpportunity,
    page: &'a Page,
    fetched: &'a FetchedPage,
    target: &'a PageSummary,
    settings: &'a Settings,
}

impl Asked<'_> {
    fn check(&self, revision: &Revision) -> Result<Checked, ReviewError> {
        let refused = |sentence: &str| Err(ReviewError::Refused(sentence.to_owned()));
        let (page, target) = (self.page, self.target);
        let url = PageUrl::parse(&target.url).filter(|url| url.key() != page.url.key());
        let Some(url) = url else { return refused("a page does not link to itself") };
        if !target.outcome.was_read() {
            return refused("the target could not be read, so that a link to it might be broken");
        }
        if page.links.iter().any(|link| link.kind == LinkKind::Body && same_page(page, &link.target, &url)) {
            return refused("the text of the page leads there already");
        }
        let (block, span) = self.words(&revision.place)?;
        let section = revision.section.as_deref().filter(|section| !section.is_empty());
        let href = href(page, &url, section, self.settings, &|url| path_of(&self.snapshot.planned, url));
        let flight = Preflight::new(page, &link_settings(self.settings));
        let anchor = flight.places().anchor_of_text(block, span).map_err(|refusal| ReviewError::Refused(refusal.to_string()))?;
        flight.one(anchor.source, &href).map_err(|refusal| ReviewError::Refused(refusal.to_string()))?;
        let mut opportunity = self.stored.opportunity.clone();
        let own = self.proposed();
        if self.stored.state != State::Rejected && self.others().any(|other| other.source_span.overlaps(anchor.source)) {
            return refused("another accepted link of this page stands at these words");
        }
        if self.others().any(|other| other.target_url == target.url) {
            return refused("another accepted link of this page leads there");
        }
        let text = &page.blocks[block];
        let sentences = passage::split(&text.text, &page.language);
        opportunity.passage = sentences.into_iter().find(|sentence| sentence.contains(span)).unwrap_or(Span::new(0, text.text.len()));
        opportunity.anchor.clone_from(&anchor.words);
        opportunity.anchor_span = anchor.text;
        opportunity.source_span = anchor.source;
        opportunity.block_kind = text.kind;
        opportunity.block_text.clone_from(&text.text);
        opportunity.section = heading_above(page, block);
        opportunity.source_hash = blake3::hash(&self.fetched.body).to_hex().to_string();
        opportunity.href = href;
        if opportunity.target_url != target.url {
            self.lead_to_target(&mut opportunity, own);
        }
        let warnings = self.warnings(&opportunity, block);
        Ok(Checked { opportunity, block, warnings })
    }

    /// The opportunity as a run proposed it.
    fn proposed(&self) -> &Opportunity {
        self.stored.proposed.as_deref().unwrap_or(&self.stored.opportunity)
    }

    /// What a run knows of the new pair; a pair that no run ranked has no score.
    fn lead_to_target(&self, opportunity: &mut Opportunity, own: &Opportunity) {
        let target = self.target;
        let plan = &self.snapshot.planned.plan;
        let known = plan.opportunities.iter().chain([own]).find(|o| o.source_url == opportunity.source_url && o.target_url == target.url);
        let gap = plan.gaps.iter().find(|gap| gap.source_url == opportunity.source_url && gap.target_url == target.url);
        opportunity.score = known.map(|o| o.score).or(gap.map(|gap| gap.score)).unwrap_or_default();
        opportunity.signals = known.map(|o| o.signals.clone()).unwrap_or_default();
        opportunity.flags = known.map(|o| o.flags.clone()).unwrap_or_default();
        opportunity.target_url.clone_from(&target.url);
        opportunity.target_title.clone_from(&target.title);
        opportunity.target_inlinks = target.inlinks;
        opportunity.target_orphan = target.orphan;
    }

    /// Other links of the same stored page that are to be written.
    fn others(&self) -> impl Iterator<Item = &Opportunity> {
        let own = &self.stored.opportunity;
        let items = self.snapshot.items.iter().filter(|item| item.state == State::Accepted).map(|item| &item.opportunity);
        items.filter(move |other| other.source_url == own.source_url && other.id != own.id)
    }

    fn words(&self, place: &Place) -> Result<(usize, Span), ReviewError> {
        let refused = |sentence: &str| ReviewError::Refused(sentence.to_owned());
        match place {
            Place::At { block, span } => {
                let text = self.page.blocks.get(*block).map(|block| block.text.as_str());
                let fits = text.is_some_and(|text| span.start < span.end && text.get(span.start..span.end).is_some());
                if fits { Ok((*block, *span)) } else { Err(refused("the place is not in the page")) }
            }
            Place::Words { block, words } => {
                let words = words.trim();
                if words.is_empty() {
                    return Err(refused("no words are chosen"));
                }
                let in_block = |number: usize| {
                    let text = self.page.blocks.get(number).map_or("", |block| block.text.as_str());
                    text.match_indices(words).map(|(at, _)| (number, Span::new(at, at + words.len()))).collect::<Vec<_>>()
                };
                let near = block.map(in_block).unwrap_or_default();
                if let Some(first) = near.first() {
                    return Ok(*first);
                }
                let main = self.page.blocks.iter().enumerate().filter(|(_, block)| block.main && can_hold_links(block.kind));
                let found: Vec<(usize, Span)> = main.flat_map(|(number, _)| in_block(number)).collect();
                match found[..] {
                    [only] => Ok(only),
                    [] => Err(refused("these words do not stand in the page")),
                    _ => Err(refused("these words stand in the page more than once: choose the passage")),
                }
            }
        }
    }

    fn warnings(&self, opportunity: &Opportunity, block: usize) -> Vec<String> {
        let mut warnings = Vec::new();
        let words = count_words(&opportunity.anchor);
        if words < 2 {
            warnings.push("one word says little about the target".to_owned());
        } else if words > LONGEST {
            warnings.push(format!("an anchor of {words} words is long"));
        }
        let mut lexicon = Lexicon::default();
        let inside = lexicon.words(&opportunity.anchor, &self.page.language);
        if inside.first().is_some_and(|word| word.function) || inside.last().is_some_and(|word| word.function) {
            warnings.push("the anchor begins or ends with a word that carries no meaning".to_owned());
        }
        if self.page.links.iter().any(|link| link.place.is_some_and(|(at, _)| at == block)) {
            warnings.push("there is a link in this paragraph already".to_owned());
        }
        let reasons = self.target.not_target.iter().filter_map(|code| guardrail::by_code(code));
        warnings.extend(reasons.map(|rule| format!("linkwright would not propose this target: {}", rule.why())));
        warnings
    }
}
