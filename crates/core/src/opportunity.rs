//! Ranked pairs and their anchors to the set that is proposed: opportunities under the caps, and gaps.
//!
//! The choice is made for the whole site at once, best pair first with exact accounting, so that hubs
//! do not take everything. Order is total: score, then source, then target.

use crate::anchor::{Anchor, Found};
use crate::guardrail::{Counts, Guardrail};
use crate::settings::CapSettings;
use crate::settings::Settings;
use crate::site_index::PageId;
use crate::text::fold;
use std::collections::BTreeMap;

/// A pair above the floor, with its anchors after the preflight.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Page that would carry the link.
    pub source: PageId,
    /// Page it would lead to.
    pub target: PageId,
    /// How sure the ranking is, 0 to 1.
    pub score: f64,
    /// Log odds by which the settings favour the target; it moves the pair in the order and leaves the score alone.
    pub favour: f64,
    /// Anchors, best first, and what removed the others.
    pub found: Found,
    /// Where there is no anchor: the block closest to the target, as an index into `Page::blocks`.
    pub best_block: Option<usize>,
}

/// What a source has before the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceState {
    /// Words of main text.
    pub words: usize,
    /// Body links to pages of the site and elsewhere.
    pub body_links: usize,
}

/// A chosen link.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Index of its pair.
    pub pair: usize,
    /// The anchor.
    pub anchor: Anchor,
}

/// The outcome of the choice.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Chosen links, best first.
    pub chosen: Vec<Chosen>,
    /// Pairs that no words carry, best first.
    pub gaps: Vec<usize>,
    /// What the caps and place rules removed.
    pub counts: Counts,
    /// Sources that lost a pair to a cap, for saying why a page got nothing.
    pub capped: BTreeMap<PageId, Guardrail>,
}

/// Anchor texts that body links use for each target now, folded, with their counts.
pub type KnownAnchors = BTreeMap<PageId, BTreeMap<String, usize>>;

/// Chooses links and gaps. `text_of` gives the words of an anchor; `state_of` what a source has.
pub fn choose(
    pairs: &[Pair],
    settings: &Settings,
    known: &KnownAnchors,
    text_of: impl Fn(PageId, &Anchor) -> String,
    state_of: impl Fn(PageId) -> SourceState,
) -> Choice {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let value = |p: &Pair| favoured(p) * p.found.anchors.first().map_or(0.5, |a| 0.5 + 0.5 * f64::from(a.strength));
    order.sort_by(|a, b| {
        let (x, y) = (&pairs[*a], &pairs[*b]);
        value(y).total_cmp(&value(x)).then((x.source, x.target).cmp(&(y.source, y.target)))
    });
    let mut accounts = Accounts { settings, known, sources: BTreeMap::new(), targets: BTreeMap::new() };
    let mut choice = Choice::default();
    for number in order {
        let pair = &pairs[number];
        if pair.found.anchors.is_empty() {
            if accounts.take_gap(pair.source) {
                choice.gaps.push(number);
            }
            continue;
        }
        match accounts.take(pair, &text_of, &state_of, &mut choice.counts) {
            Ok(anchor) => choice.chosen.push(Chosen { pair: number, anchor }),
            Err(rule) => {
                choice.capped.entry(pair.source).or_insert(rule);
            }
        }
    }
    choice
}

/// The score with the target's favour.
fn favoured(pair: &Pair) -> f64 {
    let lift = pair.favour.exp();
    pair.score * lift / (1.0 - pair.score + pair.score * lift)
}

#[derive(Default)]
struct SourceAccount {
    places: Vec<(usize, usize)>,
    gaps: usize,
}

#[derive(Default)]
struct TargetAccount {
    links: usize,
    anchors: BTreeMap<String, usize>,
}

struct Accounts<'a> {
    settings: &'a Settings,
    known: &'a KnownAnchors,
    sources: BTreeMap<PageId, SourceAccount>,
    targets: BTreeMap<PageId, TargetAccount>,
}

impl Accounts<'_> {
    fn take_gap(&mut self, source: PageId) -> bool {
        let account = self.sources.entry(source).or_default();
        account.gaps += 1;
        account.gaps <= self.settings.caps.per_page
    }

    /// Books the first anchor that no rule is against, or says which rule stood in the way of the last.
    fn take(
        &mut self,
        pair: &Pair,
        text_of: &impl Fn(PageId, &Anchor) -> String,
        state_of: &impl Fn(PageId) -> SourceState,
        counts: &mut Counts,
    ) -> Result<Anchor, Guardrail> {
        let result = self.pair_rule(pair, state_of).map_or_else(|| self.first_free(pair, text_of, counts), Err);
        match result {
            Ok((anchor, text)) => {
                self.sources.entry(pair.source).or_default().places.push((anchor.block, anchor.word));
                let target = self.targets.entry(pair.target).or_default();
                target.links += 1;
                *target.anchors.entry(text).or_default() += 1;
                Ok(anchor)
            }
            Err(rule) => {
                counts.removed(rule);
                Err(rule)
            }
        }
    }

    fn pair_rule(&self, pair: &Pair, state_of: &impl Fn(PageId) -> SourceState) -> Option<Guardrail> {
        let caps = &self.settings.caps;
        let taken = self.sources.get(&pair.source).map_or(0, |s| s.places.len());
        let state = state_of(pair.source);
        if taken >= caps.per_page {
            return Some(Guardrail::PageCap);
        }
        if state.body_links + taken >= (state.words * caps.per_1000_words).div_ceil(1000) {
            return Some(Guardrail::Density);
        }
        (self.targets.get(&pair.target).map_or(0, |t| t.links) >= caps.per_target).then_some(Guardrail::TargetCap)
    }

    fn first_free(
        &self,
        pair: &Pair,
        text_of: &impl Fn(PageId, &Anchor) -> String,
        counts: &mut Counts,
    ) -> Result<(Anchor, String), Guardrail> {
        let mut last = Guardrail::TooClose;
        for anchor in &pair.found.anchors {
            let text = fold(&text_of(pair.source, anchor));
            match self.place_rule(pair.source, anchor).or_else(|| self.anchor_rule(pair.target, &text)) {
                None => return Ok((anchor.clone(), text)),
                Some(rule) => {
                    // The last one is counted by the caller, once for the pair.
                    if anchor != &pair.found.anchors[pair.found.anchors.len() - 1] {
                        counts.removed(rule);
                    }
                    last = rule;
                }
            }
        }
        Err(last)
    }

    fn place_rule(&self, source: PageId, anchor: &Anchor) -> Option<Guardrail> {
        let placement = &self.settings.placement;
        let places = &self.sources.get(&source)?.places;
        if placement.one_per_paragraph && places.iter().any(|(block, _)| *block == anchor.block) {
            return Some(Guardrail::SecondInParagraph);
        }
        places.iter().any(|(_, word)| word.abs_diff(anchor.word) < placement.min_distance_words).then_some(Guardrail::TooClose)
    }

    fn anchor_rule(&self, target: PageId, text: &str) -> Option<Guardrail> {
        let none = BTreeMap::new();
        let known = self.known.get(&target).unwrap_or(&none);
        let new = self.targets.get(&target).map_or(&none, |t| &t.anchors);
        let uses = known.get(text).unwrap_or(&0) + new.get(text).unwrap_or(&0) + 1;
        let all = known.values().sum::<usize>() + new.values().sum::<usize>() + 1;
        let new_uses = new.get(text).unwrap_or(&0) + 1;
        anchor_cap(&self.settings.caps, uses, new_uses, all)
    }
}

/// A site's own habit does not stop it from a first new use of an anchor; the plan itself does not repeat it.
fn anchor_cap(caps: &CapSettings, uses: usize, new_uses: usize, all: usize) -> Option<Guardrail> {
    if new_uses > caps.per_anchor {
        return Some(Guardrail::AnchorRepeated);
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let share = uses as f64 / all as f64;
    (all >= 4 && new_uses > 1 && share > caps.anchor_share).then_some(Guardrail::AnchorShare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchor::Reason;
    use crate::span::Span;

    fn anchor(block: usize, word: usize) -> Anchor {
        let span = Span::new(0, 4);
        Anchor { block, span, source: span, passage: span, word, strength: 0.8, context: 0.5, reason: Reason::Title }
    }

    fn pair(source: u32, target: u32, score: f64, anchors: Vec<Anchor>) -> Pair {
        Pair {
            source: PageId(source),
            target: PageId(target),
            score,
            favour: 0.0,
            found: Found { anchors, removed: Counts::default() },
            best_block: None,
        }
    }

    fn run(pairs: &[Pair], settings: &Settings, words: usize) -> Choice {
        choose(pairs, settings, &KnownAnchors::new(), |s, a| format!("{}-{}", s.0, a.block), |_| SourceState { words, body_links: 0 })
    }

    #[test]
    fn a_page_gets_three_links_and_the_best_ones() {
        let pairs: Vec<Pair> =
            (0..5u32).map(|i| pair(9, i, 0.5 + f64::from(i) / 10.0, vec![anchor(i as usize, 200 * i as usize)])).collect();
        let choice = run(&pairs, &Settings::default(), 5_000);
        let targets: Vec<u32> = choice.chosen.iter().map(|c| pairs[c.pair].target.0).collect();
        assert_eq!(targets, [4, 3, 2]);
        assert_eq!(choice.counts.table().iter().find(|r| r.code == "S03").map(|r| r.removed), Some(2));
    }

    #[test]
    fn favour_moves_a_pair_and_leaves_its_score() {
        let mut pairs: Vec<Pair> = (0..4).map(|i| pair(9, i, 0.5, vec![anchor(i as usize, 200 * i as usize)])).collect();
        pairs[3].favour = 0.5;
        let choice = run(&pairs, &Settings::default(), 5_000);
        let targets: Vec<u32> = choice.chosen.iter().map(|c| pairs[c.pair].target.0).collect();
        assert_eq!((targets, pairs[3].score), (vec![3, 0, 1], 0.5));
        assert!((favoured(&pairs[3]) - 0.622_459).abs() < 1e-6, "0.5 of log odds on even odds");
    }

    #[test]
    fn a_second_link_in_a_paragraph_moves_to_the_next_anchor() {
        let pairs = [pair(9, 1, 0.9, vec![anchor(0, 0)]), pair(9, 2, 0.8, vec![anchor(0, 10), anchor(1, 50), anchor(2, 150)])];
        let choice = run(&pairs, &Settings::default(), 5_000);
        assert_eq!(choice.chosen[1].anchor.block, 2);
    }

    #[test]
    fn density_counts_the_text() {
        let pairs = [pair(9, 1, 0.9, vec![anchor(0, 0)]), pair(9, 2, 0.8, vec![anchor(1, 150)])];
        assert_eq!(run(&pairs, &Settings::default(), 200).chosen.len(), 1);
    }

    #[test]
    fn a_target_is_capped_over_the_whole_site() {
        let pairs: Vec<Pair> = (0..15).map(|s| pair(s, 99, 0.9, vec![anchor(s as usize, 0)])).collect();
        assert_eq!(run(&pairs, &Settings::default(), 5_000).chosen.len(), Settings::default().caps.per_target);
    }

    #[test]
    fn an_anchor_is_not_repeated_for_one_target() {
        let pairs: Vec<Pair> = (0..8).map(|s| pair(s, 99, 0.9, vec![anchor(0, 0)])).collect();
        let choice = choose(
            &pairs,
            &Settings::default(),
            &KnownAnchors::new(),
            |_, _| "same words".to_owned(),
            |_| SourceState { words: 5_000, body_links: 0 },
        );
        assert_eq!(choice.chosen.len(), 3);
    }

    #[test]
    fn what_no_words_carry_is_a_gap() {
        let choice = run(&[pair(1, 2, 0.9, Vec::new())], &Settings::default(), 5_000);
        assert_eq!((choice.chosen.len(), choice.gaps), (0, vec![0]));
    }
}
