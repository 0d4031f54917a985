//! A pair of pages to the stretches of the source that could be the anchor, each as a row of numbers, and
//! a row to how likely an editor would choose it.
//!
//! A stretch lies in one sentence, begins and ends with a content word, and is free: it stands in no link, or
//! in the source's own link to the target, which is read as if it were plain text. Every number is computed
//! without the links of the source, so that rows of links that exist and of links that do not look alike.

use crate::boosting::{Forest, Growth, Rows, grow, sigmoid};
use crate::corpus::{NO_LINK, TextBlock, is_prose};
use crate::page::BlockKind;
use crate::phrases::weight_of;
use crate::signals::Evidence;
use crate::site_index::PageId;
use crate::text::{Term, Word};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// Longest stretch in words.
const MAX_WORDS: usize = 10;
/// Stretches of a pair that are looked at closely.
const CLOSELY: usize = 40;
/// Heaviest words of a target that count as characteristic.
const HEAVIEST: usize = 30;
/// Words between an edge of a stretch and the nearest word that speaks of the target.
const REACH: usize = 2;

/// Numbers in a row.
pub const WIDTH: usize = 32;
/// What is known of a stretch.
pub type Row = [f32; WIDTH];

/// Words of a block that could be the anchor.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Index into `PageText::blocks`.
    pub block: usize,
    /// Sentence of the block.
    pub sentence: usize,
    /// First word of the block.
    pub start: usize,
    /// One past the last word.
    pub end: usize,
    /// What is known of it.
    pub row: Row,
    /// Pages other than the source that link the target with these words.
    pub uses: usize,
    /// How often these words are a link to the target elsewhere.
    pub probability: f32,
    /// Share of the target's title that the words hold, by rarity.
    pub title: f32,
    /// Whether the words are a section heading of the target.
    pub heading: bool,
}

/// The shipped model: trees over rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    forest: Forest,
    bias: f64,
    /// Trees grown on a site's own links, on top of the others.
    #[serde(default)]
    own: Forest,
}

impl Model {
    /// How likely an editor would choose the stretch of this row, 0 to 1.
    #[must_use]
    pub fn probability(&self, row: &Row) -> f64 {
        sigmoid(self.margin(row))
    }

    fn margin(&self, row: &Row) -> f64 {
        self.bias + self.forest.margin(row) + self.own.margin(row)
    }

    /// This model with trees that correct it where the examples say otherwise.
    fn corrected(&self, examples: &[(Row, bool)], growth: Growth) -> Self {
        let values: Vec<f32> = examples.iter().flat_map(|(row, _)| *row).collect();
        let labels: Vec<bool> = examples.iter().map(|(_, label)| *label).collect();
        let base: Vec<f64> = examples.par_iter().map(|(row, _)| self.margin(row)).collect();
        let weights = vec![1.0; labels.len()];
        let rows = Rows { values: &values, width: WIDTH, labels: &labels, weights: &weights, base: &base };
        Self { own: grow(&rows, growth), ..self.clone() }
    }

    /// Grows a model from stretches of linked pairs and whether each is the anchor.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub fn grow(examples: &[(Row, bool)], growth: Growth) -> Self {
        let values: Vec<f32> = examples.iter().flat_map(|(row, _)| *row).collect();
        let labels: Vec<bool> = examples.iter().map(|(_, label)| *label).collect();
        let chosen = labels.iter().filter(|l| **l).count() as f64;
        let bias = ((chosen + 1.0) / (labels.len() as f64 - chosen + 1.0)).ln();
        let base = vec![bias; labels.len()];
        let weights = vec![1.0; labels.len()];
        let rows = Rows { values: &values, width: WIDTH, labels: &labels, weights: &weights, base: &base };
        Self { forest: grow(&rows, growth), bias, own: Forest::default() }
    }

    /// The model in the program.
    #[must_use]
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Model> =
            LazyLock::new(|| serde_json::from_slice(include_bytes!("../../data/anchors.json")).unwrap_or_default());
        &SHIPPED
    }
}

/// What chooses the anchors of a site: the shipped model, corrected by the site's own links where it has enough.
#[derive(Clone, Debug)]
pub struct Chooser {
    /// One model for each fold of the sources, grown on the links of the others.
    folds: Vec<Model>,
    /// Per page, the words that speak of it.
    targets: Targets,
}

/// The words that speak of each page of a site.
#[derive(Clone, Debug)]
pub struct Targets(Vec<TargetWords>);

impl Targets {
    /// Reads all pages.
    #[must_use]
    pub fn new(evidence: &Evidence) -> Self {
        let pages: Vec<PageId> = evidence.site.ids().collect();
        Self(pages.into_par_iter().map(|page| TargetWords::new(evidence, page)).collect())
    }
}

impl Chooser {
    /// Fewer links than this teach nothing.
    const FEW: usize = 60;
    /// More links than this teach no more.
    const MOST: usize = 2_000;
    const FOLDS: usize = 3;

    /// Learns from the site's links, given as `(source, target)` in order.
    #[must_use]
    pub fn learned(evidence: &Evidence, links: &[(PageId, PageId)]) -> Self {
        let targets = Targets::new(evidence);
        let step = links.len().div_ceil(Self::MOST).max(1);
        let examples: Vec<(PageId, Vec<(Row, bool)>)> = links
            .par_iter()
            .step_by(step)
            .map(|(source, target)| (*source, examples(evidence, &targets, *source, *target)))
            .filter(|(_, rows)| !rows.is_empty())
            .collect();
        if examples.len() < Self::FEW {
            return Self { folds: vec![Model::shipped().clone()], targets };
        }
        let growth = Growth { trees: (examples.len() / 6).clamp(15, 60), depth: 4, rate: 0.1, forests: 3 };
        let without = |fold: usize| {
            let kept = examples.iter().filter(|(source, _)| source.index() % Self::FOLDS != fold);
            let rows: Vec<(Row, bool)> = kept.flat_map(|(_, rows)| rows).copied().collect();
            Model::shipped().corrected(&rows, growth)
        };
        Self { folds: (0..Self::FOLDS).into_par_iter().map(without).collect(), targets }
    }

    /// The stretches of a pair, each with how likely an editor would choose it, likeliest first.
    #[must_use]
    pub fn choose(&self, evidence: &Evidence, source: PageId, target: PageId) -> Vec<(f64, Stretch)> {
        let model = self.model(source);
        let stretches = stretches(evidence, &self.targets, source, target).into_iter();
        let mut scored: Vec<(f64, Stretch)> = stretches.map(|s| (model.probability(&s.row), s)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1.block, a.1.start, a.1.end).cmp(&(b.1.block, b.1.start, b.1.end))));
        scored
    }

    /// The model that has not seen the links of the source.
    fn model(&self, source: PageId) -> &Model {
        &self.folds[source.index() % self.folds.len()]
    }
}

/// Stretches of the source's link to the target, and of its rivals: rows with whether each is the anchor.
/// Empty where no stretch is.
#[must_use]
pub fn examples(evidence: &Evidence, targets: &Targets, source: PageId, target: PageId) -> Vec<(Row, bool)> {
    let anchors = anchors_of(evidence, source, target);
    let rows: Vec<(Row, bool)> =
        stretches(evidence, targets, source, target).into_iter().map(|s| (s.row, anchors.contains(&(s.block, s.start, s.end)))).collect();
    if rows.iter().any(|(_, anchor)| *anchor) { rows } else { Vec::new() }
}

/// Words of the source that link to the target, without function words at the edges.
fn anchors_of(evidence: &Evidence, source: PageId, target: PageId) -> BTreeSet<(usize, usize, usize)> {
    let mut anchors = BTreeSet::new();
    for (number, block) in evidence.corpus.page(source).blocks.iter().enumerate() {
        let mut at = 0;
        for run in block.links_to.chunk_by(|a, b| a == b) {
            let words = &block.words[at..at + run.len()];
            if run[0] == target.0
                && let (Some(first), Some(last)) = (words.iter().position(|w| !w.function), words.iter().rposition(|w| !w.function))
            {
                anchors.insert((number, at + first, at + last + 1));
            }
            at += run.len();
        }
    }
    anchors
}

/// Words that speak of a target.
#[derive(Clone, Debug)]
struct TargetWords {
    title: HashMap<Term, f32>,
    title_weight: f32,
    headings: HashSet<Term>,
    topic: HashMap<Term, f32>,
}

impl TargetWords {
    fn new(evidence: &Evidence, target: PageId) -> Self {
        let corpus = evidence.corpus;
        let page = corpus.page(target);
        let content = |words: &[Word]| words.iter().filter(|w| !w.function).map(|w| (w.term, corpus.rarity(w.term))).collect::<Vec<_>>();
        let mut title: HashMap<Term, f32> = content(&page.title).into_iter().collect();
        let mut headings = HashSet::new();
        for block in &page.blocks {
            match block.kind {
                BlockKind::Heading(1) => title.extend(content(&block.words)),
                BlockKind::Heading(_) => headings.extend(content(&block.words).into_iter().map(|(t, _)| t)),
                _ => {}
            }
        }
        let title_weight = weight_of(corpus, &page.title).max(0.01);
        Self { title, title_weight, headings, topic: characteristic(evidence, target) }
    }

    /// How much a word speaks of the target, in units of rarity.
    fn relevance(&self, term: Term, rarity: f32) -> f32 {
        if self.title.contains_key(&term) {
            return rarity;
        }
        let topic = self.topic.get(&term).map_or(0.0, |weight| 0.6 * weight * rarity);
        if self.headings.contains(&term) { topic.max(0.4 * rarity) } else { topic }
    }
}

/// The heaviest words of a page, each as a share of the heaviest.
fn characteristic(evidence: &Evidence, target: PageId) -> HashMap<Term, f32> {
    let mut weights: HashMap<Term, f32> = HashMap::new();
    for word in evidence.corpus.page(target).blocks.iter().flat_map(|b| &b.words).filter(|w| !w.function) {
        weights.entry(word.term).or_insert_with(|| {
            let count = evidence.words.term_count(target, word.term);
            (1.0 + count.max(1.0).ln()) * evidence.corpus.rarity(word.term)
        });
    }
    let mut heaviest: Vec<(Term, f32)> = weights.into_iter().collect();
    heaviest.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    heaviest.truncate(HEAVIEST);
    let top = heaviest.first().map_or(1.0, |(_, w)| w.max(0.01));
    heaviest.into_iter().map(|(term, weight)| (term, weight / top)).collect()
}

/// What other pages' links say about a stretch.
#[derive(Clone, Copy, Default)]
struct Habit {
    uses: usize,
    probability: f32,
    elsewhere: usize,
    title: f32,
    heading: bool,
}

/// The stretches of `source` that speak most of `target`, in reading order.
#[must_use]
pub fn stretches(evidence: &Evidence, targets: &Targets, source: PageId, target: PageId) -> Vec<Stretch> {
    let scan = Scan { evidence, source, target, words: &targets.0[target.index()], habits: habits(evidence, source, target) };
    let mut rough = scan.rough();
    rough.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    rough.truncate(CLOSELY);
    rough.sort_unstable_by_key(|(_, place)| *place);
    let mut closely: Vec<Stretch> = rough.into_iter().map(|(_, place)| scan.look(place)).collect();
    compare(&mut closely);
    closely
}

/// Numbers that mean something only beside those of the pair's other stretches.
fn compare(stretches: &mut [Stretch]) {
    for (from, to) in [(0, 29), (20, 30), (6, 31)] {
        let most = stretches.iter().map(|s| s.row[from]).fold(0.0, f32::max).max(1e-6);
        stretches.iter_mut().for_each(|s| s.row[to] = s.row[from] / most);
    }
}

/// Block, sentence, first word, one past the last word.
type Place = (usize, usize, usize, usize);

struct Scan<'a> {
    evidence: &'a Evidence<'a>,
    source: PageId,
    target: PageId,
    words: &'a TargetWords,
    habits: HashMap<(usize, usize, usize), Habit>,
}

/// Where phrases that stand for the target, or are links at all, stand in the source.
fn habits(evidence: &Evidence, source: PageId, target: PageId) -> HashMap<(usize, usize, usize), Habit> {
    let phrases = evidence.phrases;
    let mut habits = HashMap::new();
    for o in &evidence.phrases.occurrences[source.index()] {
        let ties = &phrases.ties[o.phrase as usize];
        if !ties.contains_key(&target) {
            continue;
        }
        let (title, heading) = phrases.shares(o.phrase, target, source);
        let uses = phrases.linked_by(o.phrase, target, source);
        let all: usize = ties.values().map(|t| t.linked_by.len() - usize::from(t.linked_by.binary_search(&source).is_ok())).sum();
        let habit = Habit {
            uses,
            probability: phrases.link_probability(o.phrase, target, source),
            elsewhere: all - uses,
            title,
            heading: heading > 0.0,
        };
        // A phrase that only the source's own link ties to the target must look like any other words.
        if uses > 0 || habit.title > 0.0 || habit.heading {
            habits.insert((o.block as usize, o.word as usize, (o.word + o.words) as usize), habit);
        }
    }
    habits
}

impl Scan<'_> {
    fn is_free(&self, block: &TextBlock, word: usize) -> bool {
        let to = block.links_to[word];
        to == NO_LINK || to == self.target.0
    }

    /// Every stretch with a rough figure of how much it speaks of the target.
    fn rough(&self) -> Vec<(f32, Place)> {
        let mut rough = Vec::new();
        for (number, block) in self.evidence.corpus.page(self.source).blocks.iter().enumerate().filter(|(_, b)| is_prose(b.kind)) {
            let rarity: Vec<f32> = block.words.iter().map(|w| if w.function { 0.0 } else { self.evidence.corpus.rarity(w.term) }).collect();
            let relevance: Vec<f32> =
                block.words.iter().zip(&rarity).map(|(w, r)| if w.function { 0.0 } else { self.words.relevance(w.term, *r) }).collect();
            for (sentence, words) in block.sentences.iter().map(|s| s.words.clone()).enumerate() {
                for start in words.clone() {
                    let ahead = (start + REACH + 1).min(words.end);
                    if block.words[start].function || relevance[start..ahead].iter().all(|r| *r <= 0.0) {
                        continue;
                    }
                    let (mut sum, mut seen) = (0.0, Vec::<Term>::new());
                    for end in start + 1..=(start + MAX_WORDS).min(words.end) {
                        let last = end - 1;
                        if !self.is_free(block, last) {
                            break;
                        }
                        if block.words[last].function {
                            continue;
                        }
                        if relevance[last] <= 0.0 {
                            sum -= 0.35 * rarity[last];
                        } else if !seen.contains(&block.terms[last]) {
                            sum += relevance[last];
                            seen.push(block.terms[last]);
                        }
                        let back = start.max(end.saturating_sub(REACH + 1));
                        if relevance[back..end].iter().any(|r| *r > 0.0) {
                            let habit = self.habits.get(&(number, start, end));
                            let known = habit.map_or(0.0, |h| if h.uses > 0 { 3.0 + 20.0 * h.probability } else { 0.5 });
                            rough.push((sum + known, (number, sentence, start, end)));
                        }
                    }
                }
            }
        }
        self.add_known(&mut rough);
        rough
    }

    /// Known anchors whose words do not speak of the target by themselves.
    fn add_known(&self, rough: &mut Vec<(f32, Place)>) {
        let there: HashSet<Place> = rough.iter().map(|(_, place)| *place).collect();
        for (&(number, start, end), habit) in self.habits.iter().filter(|(_, h)| h.uses > 0) {
            let block = &self.evidence.corpus.page(self.source).blocks[number];
            let Some(sentence) = block.sentences.iter().position(|s| s.words.start <= start && end <= s.words.end) else { continue };
            let place = (number, sentence, start, end);
            if (start..end).all(|w| self.is_free(block, w)) && !there.contains(&place) {
                rough.push((3.0 + 20.0 * habit.probability, place));
            }
        }
    }

    /// All that is known of a stretch.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn look(&self, (number, sentence, start, end): Place) -> Stretch {
        let text = self.evidence.corpus.page(self.source);
        let page = self.evidence.site.page(self.source);
        let block = &text.blocks[number];
        let string = block_text(page, block);
        let bounds = block.sentences[sentence].words.clone();
        let habit = self.habits.get(&(number, start, end)).copied().unwrap_or_default();
        let sums = self.sums(block, start, end);
        let content = sums.content.max(1.0);
        let before = (start > bounds.start).then(|| start - 1);
        let after = (end < bounds.end).then_some(end);
        let capital = |i: usize| string[block.words[i].span().range()].starts_with(char::is_uppercase);
        let edge = |word: Option<usize>, gap: &str| match word {
            _ if gap.contains(|c: char| !c.is_whitespace() && c != '-') => 1.0,
            None => 0.0,
            Some(w) if block.words[w].function => 2.0,
            Some(w) if capital(w) => 3.0,
            Some(_) => 4.0,
        };
        let first = block.words[start].span();
        let last = block.words[end - 1].span();
        let gap_before =
            &string[before.map_or(block.sentences[sentence].span.start, |w| block.words[w].span().end).min(first.start)..first.start];
        let gap_after = &string[last.end..after.map_or(block.sentences[sentence].span.end, |w| block.words[w].span().start).max(last.end)];
        let in_title = |w: Option<usize>| f32::from(u8::from(w.is_some_and(|w| self.words.title.contains_key(&block.terms[w]))));
        let quoted = gap_before.ends_with(['"', '“', '‘', '«', '\'']) && gap_after.starts_with(['"', '”', '’', '»', '\'', ',', '.']);
        let digits = string[first.start..last.end].chars().any(|c| c.is_ascii_digit());
        let place = text.block_offsets[number] + start;
        let whole = text.block_offsets.last().copied().unwrap_or(0) + text.blocks.last().map_or(0, |b| b.words.len());
        let row = [
            (sums.title / self.words.title_weight).min(1.5),
            sums.title / sums.rarity.max(0.01),
            habit.title,
            f32::from(u8::from(habit.heading)),
            sums.heading / sums.rarity.max(0.01),
            sums.topic / content,
            habit.probability,
            (habit.uses as f32).ln_1p(),
            (habit.elsewhere as f32).ln_1p(),
            sums.in_target / sums.rarity.max(0.01),
            sums.rarity,
            sums.rarity / content,
            (end - start) as f32,
            content,
            edge(before, gap_before),
            edge(after, gap_after),
            in_title(before),
            in_title(after),
            f32::from(u8::from(capital(start))),
            (start..end).filter(|w| capital(*w)).count() as f32 / content,
            self.context(number, sentence),
            f32::from(u8::from(quoted)),
            f32::from(u8::from(digits)),
            place as f32 / whole.max(1) as f32,
            f32::from(u8::from(block.kind == BlockKind::ListItem)),
            bounds.len() as f32,
            (end - start) as f32 / bounds.len().max(1) as f32,
            in_title(Some(start)),
            in_title(Some(end - 1)),
            0.0,
            0.0,
            0.0,
        ];
        let Habit { uses, probability, heading, .. } = habit;
        Stretch { block: number, sentence, start, end, row, uses, probability, title: row[0], heading }
    }

    fn sums(&self, block: &TextBlock, start: usize, end: usize) -> Sums {
        let mut sums = Sums::default();
        for (at, word) in block.words[start..end].iter().enumerate().filter(|(_, w)| !w.function) {
            sums.content += 1.0;
            let rarity = self.evidence.corpus.rarity(word.term);
            sums.rarity += rarity;
            if self.words.headings.contains(&word.term) {
                sums.heading += rarity;
            }
            if self.evidence.words.term_count(self.target, word.term) > 0.0 {
                sums.in_target += rarity;
            }
            sums.topic += self.words.topic.get(&word.term).copied().unwrap_or(0.0);
            let again = block.terms[start..start + at].contains(&word.term);
            if !again && self.words.title.contains_key(&word.term) {
                sums.title += rarity;
            }
        }
        sums
    }

    fn context(&self, block: usize, sentence: usize) -> f32 {
        let vectors = self.evidence.vectors;
        if vectors.known[self.source.index()] && vectors.known[self.target.index()] {
            let passage = self.evidence.corpus.page(self.source).passage_number(block, sentence);
            return vectors.passage_cosine(self.source, passage, self.target);
        }
        0.3
    }
}

/// Rarity of a stretch's words by what ties them to the target.
#[derive(Default)]
struct Sums {
    content: f32,
    rarity: f32,
    title: f32,
    heading: f32,
    topic: f32,
    in_target: f32,
}

fn block_text<'a>(page: &'a crate::page::Page, block: &TextBlock) -> &'a str {
    &page.blocks[block.index].text
}
