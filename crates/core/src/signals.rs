//! Pages, words, phrases, links and vectors to candidates: which targets a source might link to, and
//! what speaks for each.
//!
//! Retrieval is a union: the nearest pages by vector and by words, pages whose title or known
//! anchors stand in the source, pages that similar pages link to, and pages near in the link graph.
//! No single signal has to be right; ranking decides.
//!
//! Every signal is computed as if the links of the source to the candidate did not exist: known
//! anchors without the source's own, inlinks without the pair's, votes by other pages only. So the
//! same numbers can be used to learn from links that exist and to rank links that do not.

use crate::corpus::{Corpus, NO_LINK};
use crate::graph::LinkGraph;
use crate::habits::Habits;
use crate::nearest;
use crate::phrases::{Occurrence, Phrases};
use crate::site_index::{PageId, SiteIndex};
use crate::text::Term;
use crate::tfidf::{AtHome, TfIdf, best};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many similar pages vote on where a source should link.
const VOTERS: usize = 20;
/// Pages with more neighbours than this connect everything with everything and say nothing.
const HUB: usize = 400;
/// A phrase that is this much of a title names its page.
const NAMING_SHARE: f32 = 0.5;
/// Linking pages compared with the source.
const LINKERS: usize = 30;
/// BM25's usual constants (Robertson and Zaragoza 2009).
const BM25_K: f32 = 1.2;
const BM25_B: f32 = 0.75;

macro_rules! signals {
    ($($name:ident: $doc:literal),* $(,)?) => {
        /// What speaks for a pair of pages. The order is that of [`NAMES`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Signal { $(#[doc = $doc] $name),* }
        /// Name and meaning of every signal.
        pub const NAMES: &[(&str, &str)] = &[$((stringify!($name), $doc)),*];
    };
}

signals! {
    PageCosine: "cosine of the two pages' vectors",
    PassageTitle: "best cosine of a passage of the source with the target's title",
    PassagePage: "best cosine of a passage of the source with the target page",
    WordCosine: "TF-IDF cosine of the two pages",
    TitleInSource: "BM25 of the target's title in the source",
    TitleInTarget: "BM25 of the source's title in the target",
    TitleShare: "share of the target's title found in the source, by rarity",
    TitleSentence: "largest share of the target's title found in one sentence",
    TitlePhrase: "largest unbroken part of the target's title found in the source",
    HeadingPhrase: "a section heading of the target found in the source",
    AnchorProbability: "how often words of the source are a link to the target elsewhere",
    AnchorUses: "how many pages use words of the source as a link to the target",
    AnchorShare: "how often those words, where they are a link, lead to the target",
    AnchorSum: "likelihood that any words of the source are a link to the target elsewhere",
    FormProbability: "how often these very letters are a link to the target elsewhere",
    Mentions: "places of the source that name the target",
    PhraseWeight: "rarity of the best phrase that stands for the target",
    PhrasePlace: "how early words that stand for the target appear",
    TitleCosine: "cosine of the two titles",
    TitleWords: "words that both titles share, by rarity",
    RareWord: "rarest word of the source that is most at home in the target",
    RareWords: "rare words of the source that are at home in the target",
    LinkingPassage: "best cosine of a passage of the source with a passage that links to the target",
    LinkingPage: "best cosine of the source with a page that links to the target",
    Votes: "similar pages that link to the target",
    WideVotes: "pages of a wider circle that link to the target",
    TranslationLinks: "the source's versions in other languages link to the target or its versions",
    CommonNeighbours: "pages linked with both (Adamic and Adar)",
    CoCitation: "pages that link to both",
    Coupling: "pages both link to",
    Reciprocal: "the target links to the source",
    Inlinks: "body inlinks of the target from other pages",
    Section: "share of the path that both have in common",
    FolderLift: "how readily the source's folder links into the target's",
    InMenu: "a menu or widget of the source holds the target",
    MenuShare: "share of the pages whose menus hold the target",
    DateDistance: "years between the two dates",
    SourceNewer: "the source is newer than the target",
    SourceLength: "words of the source",
    TargetLength: "words of the target",
    TitleLength: "words of the target's title",
}

/// Number of signals.
pub const COUNT: usize = NAMES.len();

/// Values of all signals, in their order.
pub type Values = [f32; COUNT];

/// A pair of pages that might be linked.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The page it would lead to.
    pub target: PageId,
    /// Whether the source has a body link to it already.
    pub linked: bool,
    /// What speaks for it.
    pub values: Values,
}

/// Unit vectors of a site, one row a page.
#[derive(Clone, Debug, Default)]
pub struct SiteVectors {
    /// Length of a row.
    pub dimensions: usize,
    /// `(pages, dimensions)`, row-major.
    pub pages: Vec<f32>,
    /// `(pages, dimensions)`, row-major.
    pub titles: Vec<f32>,
    /// Per page `(passages, dimensions)`, row-major, in the order of `PageText::passages`.
    pub passages: Vec<Vec<f32>>,
    /// Whether the model knows the page's language and the page has a vector.
    pub known: Vec<bool>,
}

impl SiteVectors {
    /// The vector of a passage, by its number in the page.
    #[must_use]
    pub fn passage(&self, page: PageId, passage: usize) -> Option<&[f32]> {
        self.passages[page.index()].get(passage * self.dimensions..(passage + 1) * self.dimensions)
    }

    fn page(&self, id: PageId) -> &[f32] {
        &self.pages[id.index() * self.dimensions..(id.index() + 1) * self.dimensions]
    }

    fn title(&self, id: PageId) -> &[f32] {
        &self.titles[id.index() * self.dimensions..(id.index() + 1) * self.dimensions]
    }

    /// Cosine of a passage of one page with another page.
    #[must_use]
    pub fn passage_cosine(&self, source: PageId, passage: usize, target: PageId) -> f32 {
        self.passage(source, passage).map_or(0.0, |row| dot(row, self.page(target)))
    }

    /// Cosine of two pages' vectors; 0 where one has none.
    #[must_use]
    pub fn cosine(&self, a: PageId, b: PageId) -> f32 {
        if self.known[a.index()] && self.known[b.index()] { dot(self.page(a), self.page(b)) } else { 0.0 }
    }
}

/// Everything the signals are read from.
pub struct Evidence<'a> {
    /// The pages.
    pub site: &'a SiteIndex,
    /// Their words.
    pub corpus: &'a Corpus,
    /// Their links.
    pub graph: &'a LinkGraph,
    /// Their names and anchors.
    pub phrases: &'a Phrases,
    /// Their word vectors.
    pub words: &'a TfIdf,
    /// Their meaning.
    pub vectors: &'a SiteVectors,
    /// How the site links.
    pub habits: &'a Habits,
    /// Per page, the nearest pages by vector, nearest first.
    pub near: Vec<Vec<(PageId, f32)>>,
    /// Average content length of a page in words.
    pub average_length: f32,
}

impl<'a> Evidence<'a> {
    /// Fills in what all sources share: the `k` nearest of the `targets` of every page, and the average length.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "page counts are small")]
    pub fn prepared(mut self, k: usize, targets: &[bool]) -> Self {
        self.near = nearest_pages(self.vectors, targets, k);
        let words: f32 = self.corpus.pages.iter().map(|p| p.length as f32).sum();
        self.average_length = words / self.corpus.pages.len().max(1) as f32;
        self
    }

    /// Candidates of every source, in the order of target numbers. `allowed` says of a source which pages may be considered
    /// at all.
    pub fn candidates<'m>(&self, sources: &[PageId], k: usize, allowed: &(dyn Fn(PageId) -> &'m [bool] + Sync)) -> Vec<Vec<Candidate>> {
        let of_source = |source: &PageId| {
            let pages = allowed(*source);
            self.of_source(*source, k, &|target| target != *source && pages[target.index()])
        };
        sources.par_iter().map(of_source).collect()
    }

    fn of_source(&self, source: PageId, k: usize, allowed: &dyn Fn(PageId) -> bool) -> Vec<Candidate> {
        let near: Vec<(PageId, f32)> = self.near[source.index()].iter().copied().filter(|(t, _)| allowed(*t)).take(k).collect();
        let by_words = self.words.nearest(source, k.max(VOTERS), allowed);
        let named = self.named(source, allowed);
        let votes = self.votes(source, &near[..near.len().min(VOTERS)], &by_words[..by_words.len().min(VOTERS)], allowed);
        let wide = self.votes(source, &near, &by_words, allowed);
        let neighbours = self.common_neighbours(source, allowed);
        let translations = self.habits.translation_links(self.graph, source, allowed);
        let at_home = self.words.at_home(source, allowed);

        let mut chosen: BTreeSet<PageId> = near.iter().chain(by_words.iter().take(k)).map(|(t, _)| *t).collect();
        chosen.extend(best_by(&named, k, |n| n.phrase_share * n.phrase_weight));
        // A long page may well link a hundred pages by their known anchors.
        chosen.extend(best_by(&named, 3 * k, |n| n.anchor_probability));
        chosen.extend(best_by(&votes, k, |v| *v));
        chosen.extend(best_by(&translations, k, |v| *v));
        chosen.extend(best_by(&at_home, k / 2, |h| h.best));
        chosen.extend(best_by(&neighbours, k, |v| *v));
        chosen.extend(self.graph.body.out[source.index()].iter().copied().filter(|t| allowed(*t)));

        let targets: Vec<PageId> = chosen.into_iter().collect();
        let mut rows: Vec<Candidate> = targets
            .iter()
            .map(|&target| Candidate {
                target,
                linked: self.graph.body.links(source, target),
                values: self.pair_values(
                    source,
                    target,
                    &Found {
                        named: named.get(&target).cloned().unwrap_or_default(),
                        at_home: at_home.get(&target).copied().unwrap_or_default(),
                        votes: votes.get(&target).copied().unwrap_or(0.0),
                        wide_votes: wide.get(&target).copied().unwrap_or(0.0),
                        translations: translations.get(&target).copied().unwrap_or(0.0),
                        neighbours: neighbours.get(&target).copied().unwrap_or(0.0),
                    },
                ),
            })
            .collect();
        self.add_title_values(source, &mut rows);
        self.add_passage_values(source, &mut rows);
        rows
    }

    /// Targets whose title or known anchors stand in the source.
    fn named(&self, source: PageId, allowed: &dyn Fn(PageId) -> bool) -> BTreeMap<PageId, Named> {
        let mut named: BTreeMap<PageId, Named> = BTreeMap::new();
        let mut places: Vec<&Occurrence> = self.phrases.occurrences[source.index()].iter().collect();
        places.sort_by_key(|o| o.phrase);
        for places in places.chunk_by(|a, b| a.phrase == b.phrase) {
            for &target in self.phrases.ties[places[0].phrase as usize].keys().filter(|t| allowed(**t)) {
                let entry = named.entry(target).or_default();
                self.add_phrase(source, target, places, entry);
            }
        }
        named.retain(|_, n| n.anchor_uses > 0 || n.phrase_share > 0.0 || n.heading_share > 0.0);
        named
    }

    /// What one phrase of the source says for one target.
    fn add_phrase(&self, source: PageId, target: PageId, places: &[&Occurrence], entry: &mut Named) {
        let phrase = places[0].phrase;
        let uses = self.phrases.linked_by(phrase, target, source);
        // A phrase that only the source itself uses for the target says nothing.
        let (title_share, heading_share) = self.phrases.shares(phrase, target, source);
        if uses == 0 && title_share == 0.0 && heading_share == 0.0 {
            return;
        }
        // Words that lead to another page do not speak of this one.
        let free = places.iter().filter(|o| o.links_to == NO_LINK || o.links_to == target.0);
        let text = self.corpus.page(source);
        let Some(first) = free.clone().map(|o| text.block_offsets[o.block as usize] + o.word as usize).min() else { return };
        let weight = self.phrases.weight[phrase as usize];
        entry.first_place = entry.first_place.min(first);
        entry.heading_share = entry.heading_share.max(heading_share * weight);
        if title_share * weight > entry.phrase_share * entry.phrase_weight {
            (entry.phrase_share, entry.phrase_weight) = (title_share, weight);
        }
        if uses > 0 || title_share >= NAMING_SHARE {
            entry.mentions += free.clone().count();
        }
        if uses > 0 {
            let probability = self.phrases.link_probability(phrase, target, source);
            if probability > entry.anchor_probability {
                entry.anchor_probability = probability;
                entry.anchor_share = self.phrases.link_share(phrase, target, source);
            }
            let letters = free.map(|o| self.phrases.form_probability(phrase, o.form, target, source)).fold(0.0, f32::max);
            entry.form_probability = entry.form_probability.max(letters);
            entry.anchor_miss *= 1.0 - probability;
            entry.anchor_uses += uses;
            entry.anchor_weight = entry.anchor_weight.max(weight);
        }
    }

    /// Similarity-weighted share of the most similar pages that link to each target.
    fn votes(
        &self,
        source: PageId,
        near: &[(PageId, f32)],
        by_words: &[(PageId, f32)],
        allowed: &dyn Fn(PageId) -> bool,
    ) -> BTreeMap<PageId, f32> {
        let mut voters: BTreeMap<PageId, f32> = by_words.iter().copied().collect();
        for (page, cosine) in near {
            *voters.entry(*page).or_default() += cosine;
        }
        let total: f32 = voters.values().sum::<f32>().max(1e-6);
        let mut votes = BTreeMap::new();
        for (voter, weight) in voters {
            for target in self.graph.body.out[voter.index()].iter().filter(|t| **t != source && allowed(**t)) {
                *votes.entry(*target).or_default() += weight / total;
            }
        }
        votes
    }

    /// Adamic and Adar (2003) over body links in either direction.
    fn common_neighbours(&self, source: PageId, allowed: &dyn Fn(PageId) -> bool) -> BTreeMap<PageId, f32> {
        let mut sums: HashMap<PageId, f32> = HashMap::new();
        for middle in neighbours(self.graph, source) {
            let around = neighbours(self.graph, middle);
            if around.len() > HUB {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "bounded by HUB")]
            let weight = 1.0 / (1.0 + around.len() as f32).ln().max(0.5);
            for target in around.into_iter().filter(|t| *t != source && allowed(*t)) {
                *sums.entry(target).or_default() += weight;
            }
        }
        sums.into_iter().collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn pair_values(&self, source: PageId, target: PageId, found: &Found) -> Values {
        let mut values = [0.0; COUNT];
        let mut set = |signal: Signal, value: f32| values[signal as usize] = value;
        let (body, named) = (&self.graph.body, &found.named);
        set(Signal::PageCosine, self.vectors.cosine(source, target));
        set(Signal::WordCosine, self.words.cosine(source, target));
        set(Signal::TitlePhrase, named.phrase_share);
        set(Signal::PhraseWeight, named.phrase_weight.max(named.anchor_weight));
        set(Signal::HeadingPhrase, named.heading_share);
        set(Signal::AnchorProbability, named.anchor_probability);
        set(Signal::AnchorUses, (named.anchor_uses as f32).ln_1p());
        set(Signal::AnchorShare, named.anchor_share);
        set(Signal::AnchorSum, 1.0 - named.anchor_miss);
        set(Signal::FormProbability, named.form_probability);
        set(Signal::Mentions, (named.mentions as f32).ln_1p());
        set(Signal::TranslationLinks, found.translations);
        set(Signal::PhrasePlace, 1.0 / (1.0 + named.first_place as f32 / 100.0));
        set(Signal::RareWord, found.at_home.best);
        set(Signal::RareWords, found.at_home.sum);
        set(Signal::Votes, found.votes);
        set(Signal::WideVotes, found.wide_votes);
        set(Signal::CommonNeighbours, found.neighbours);
        set(Signal::LinkingPage, self.linking_page(source, target));
        set(Signal::FolderLift, self.habits.folder_lift(self.graph, source, target));
        set(Signal::InMenu, f32::from(u8::from(self.habits.in_menu_of(source, target))));
        set(Signal::MenuShare, self.habits.menu_share(target));
        if self.vectors.known[source.index()] && self.vectors.known[target.index()] {
            set(Signal::TitleCosine, dot(self.vectors.title(source), self.vectors.title(target)));
        }
        set(Signal::CoCitation, common(&body.into[source.index()], &body.into[target.index()], source) as f32);
        set(Signal::Coupling, common(&body.out[source.index()], &body.out[target.index()], target) as f32);
        set(Signal::Reciprocal, f32::from(u8::from(body.links(target, source))));
        let inlinks = body.into[target.index()].len() - usize::from(body.links(source, target));
        set(Signal::Inlinks, (inlinks as f32).ln_1p());
        let (source_page, target_page) = (self.site.page(source), self.site.page(target));
        set(Signal::Section, self.habits.shared_path(source, target));
        let (years, newer) = dates(source_page.published.as_deref(), target_page.published.as_deref());
        set(Signal::DateDistance, years);
        set(Signal::SourceNewer, newer);
        set(Signal::SourceLength, (self.corpus.page(source).length as f32).ln_1p());
        set(Signal::TargetLength, (self.corpus.page(target).length as f32).ln_1p());
        set(Signal::TitleLength, self.corpus.page(target).title.iter().filter(|w| !w.function).count() as f32);
        values
    }

    /// Title words of all candidates in the source, in one pass over its sentences.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn add_title_values(&self, source: PageId, rows: &mut [Candidate]) {
        let text = self.corpus.page(source);
        let mut wanted: HashMap<Term, Vec<u32>> = HashMap::new();
        let mut whole = vec![0.0f32; rows.len()];
        for (number, row) in rows.iter().enumerate() {
            let mut terms: Vec<Term> = self.corpus.page(row.target).title.iter().filter(|w| !w.function).map(|w| w.term).collect();
            terms.sort_unstable();
            terms.dedup();
            for term in terms {
                wanted.entry(term).or_default().push(u32::try_from(number).unwrap_or(u32::MAX));
                whole[number] += self.corpus.rarity(term);
            }
        }
        let mut counts: BTreeMap<Term, u32> = BTreeMap::new();
        let mut in_sentence = vec![0.0f32; rows.len()];
        let mut touched: Vec<u32> = Vec::new();
        for block in &text.blocks {
            for sentence in &block.sentences {
                let mut terms: Vec<Term> = block.terms[sentence.words.clone()].to_vec();
                terms.sort_unstable();
                terms.iter().filter(|t| wanted.contains_key(t)).for_each(|t| *counts.entry(*t).or_default() += 1);
                terms.dedup();
                for term in terms {
                    for &number in wanted.get(&term).map_or(&[][..], Vec::as_slice) {
                        in_sentence[number as usize] += self.corpus.rarity(term);
                        touched.push(number);
                    }
                }
                for number in touched.drain(..) {
                    let share = in_sentence[number as usize] / whole[number as usize].max(1e-6);
                    let value = &mut rows[number as usize].values[Signal::TitleSentence as usize];
                    *value = value.max(share);
                    in_sentence[number as usize] = 0.0;
                }
            }
        }
        for (term, count) in counts {
            let rarity = self.corpus.rarity(term);
            for &number in &wanted[&term] {
                let values = &mut rows[number as usize].values;
                values[Signal::TitleShare as usize] += rarity / whole[number as usize].max(1e-6);
                values[Signal::TitleInSource as usize] += rarity * self.saturation(count as f32, text.length as f32);
            }
        }
        self.add_back_values(source, rows);
    }

    /// The source's title in every candidate.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn add_back_values(&self, source: PageId, rows: &mut [Candidate]) {
        let title: BTreeSet<Term> = self.corpus.page(source).title.iter().filter(|w| !w.function).map(|w| w.term).collect();
        let own: f32 = title.iter().map(|t| self.corpus.rarity(*t)).sum();
        for row in rows {
            let text = self.corpus.page(row.target);
            let other: BTreeSet<Term> = text.title.iter().filter(|w| !w.function).map(|w| w.term).collect();
            let whole = own + other.difference(&title).map(|t| self.corpus.rarity(*t)).sum::<f32>();
            let shared: f32 = other.intersection(&title).map(|t| self.corpus.rarity(*t)).sum();
            row.values[Signal::TitleWords as usize] = shared / whole.max(1e-6);
            let mut sum = 0.0;
            for term in &title {
                let count = self.words.term_count(row.target, *term);
                if count > 0.0 {
                    sum += self.corpus.rarity(*term) * self.saturation(count, text.length as f32);
                }
            }
            row.values[Signal::TitleInTarget as usize] = sum;
        }
    }

    fn saturation(&self, count: f32, length: f32) -> f32 {
        count * (BM25_K + 1.0) / (count + BM25_K * (1.0 - BM25_B + BM25_B * length / self.average_length.max(1.0)))
    }

    fn add_passage_values(&self, source: PageId, rows: &mut [Candidate]) {
        let passages = &self.vectors.passages[source.index()];
        if !self.vectors.known[source.index()] || passages.is_empty() {
            return;
        }
        let known: Vec<usize> = (0..rows.len()).filter(|i| self.vectors.known[rows[*i].target.index()]).collect();
        let titles: Vec<f32> = known.iter().flat_map(|i| self.vectors.title(rows[*i].target)).copied().collect();
        let pages: Vec<f32> = known.iter().flat_map(|i| self.vectors.page(rows[*i].target)).copied().collect();
        for (signal, side) in [(Signal::PassageTitle, titles), (Signal::PassagePage, pages)] {
            let products = nearest::products(&side, passages, self.vectors.dimensions);
            let count = passages.len() / self.vectors.dimensions;
            for (place, row) in known.iter().zip(products.chunks_exact(count)) {
                rows[*place].values[signal as usize] = row.iter().copied().fold(0.0, f32::max);
            }
        }
        self.add_linking_passages(source, rows);
    }

    /// Passages of the source beside those that link to the candidates elsewhere.
    fn add_linking_passages(&self, source: PageId, rows: &mut [Candidate]) {
        let (mut side, mut owners) = (Vec::new(), Vec::new());
        for (number, row) in rows.iter().enumerate() {
            for context in self.habits.contexts(self.vectors, source, row.target) {
                side.extend_from_slice(context);
                owners.push(number);
            }
        }
        let passages = &self.vectors.passages[source.index()];
        let products = nearest::products(&side, passages, self.vectors.dimensions);
        for (owner, row) in owners.iter().zip(products.chunks_exact(passages.len() / self.vectors.dimensions)) {
            let value = &mut rows[*owner].values[Signal::LinkingPassage as usize];
            *value = row.iter().copied().fold(*value, f32::max);
        }
    }

    /// Best cosine of the source with another page that links to the target.
    fn linking_page(&self, source: PageId, target: PageId) -> f32 {
        let into = self.graph.body.into[target.index()].iter().filter(|p| **p != source).take(LINKERS);
        into.map(|page| self.vectors.cosine(source, *page)).fold(0.0, f32::max)
    }
}

/// What was found for a pair before its values are set.
struct Found {
    named: Named,
    at_home: AtHome,
    votes: f32,
    wide_votes: f32,
    translations: f32,
    neighbours: f32,
}

#[derive(Clone, Debug)]
struct Named {
    phrase_share: f32,
    phrase_weight: f32,
    heading_share: f32,
    anchor_probability: f32,
    anchor_share: f32,
    /// Probability that no known anchor is meant as a link to the target.
    anchor_miss: f32,
    anchor_uses: usize,
    anchor_weight: f32,
    /// The same for the very letters, so that a keyword in capitals is not the everyday word.
    form_probability: f32,
    mentions: usize,
    /// Word of the main text at which the first phrase begins.
    first_place: usize,
}

impl Default for Named {
    fn default() -> Self {
        Self {
            phrase_share: 0.0,
            phrase_weight: 0.0,
            heading_share: 0.0,
            anchor_probability: 0.0,
            anchor_share: 0.0,
            anchor_miss: 1.0,
            anchor_uses: 0,
            anchor_weight: 0.0,
            form_probability: 0.0,
            mentions: 0,
            first_place: usize::MAX,
        }
    }
}

fn nearest_pages(vectors: &SiteVectors, targets: &[bool], k: usize) -> Vec<Vec<(PageId, f32)>> {
    let rows: Vec<usize> = (0..targets.len()).filter(|i| vectors.known[*i] && targets[*i]).collect();
    let packed: Vec<f32> =
        rows.iter().flat_map(|r| &vectors.pages[r * vectors.dimensions..(r + 1) * vectors.dimensions]).copied().collect();
    let all: Vec<usize> = (0..targets.len()).filter(|i| vectors.known[*i]).collect();
    let queries: Vec<f32> =
        all.iter().flat_map(|r| &vectors.pages[r * vectors.dimensions..(r + 1) * vectors.dimensions]).copied().collect();
    let mut near = vec![Vec::new(); targets.len()];
    if vectors.dimensions == 0 {
        return near;
    }
    // One more than asked for: a page that is a target finds itself first.
    let found = nearest::top_k_between(&queries, &packed, vectors.dimensions, k + 1);
    for (row, list) in all.into_iter().zip(found) {
        let numbered = list.into_iter().map(|(place, cosine)| (rows[place as usize], cosine));
        near[row] = numbered.filter(|(p, _)| *p != row).filter_map(|(p, c)| Some((PageId(u32::try_from(p).ok()?), c))).collect();
    }
    near
}

fn best_by<T>(table: &BTreeMap<PageId, T>, k: usize, value: impl Fn(&T) -> f32) -> impl Iterator<Item = PageId> {
    let scored = table.iter().map(|(page, t)| (*page, value(t))).filter(|(_, v)| *v > 0.0).collect();
    best(scored, k).into_iter().map(|(page, _)| page)
}

fn neighbours(graph: &LinkGraph, page: PageId) -> Vec<PageId> {
    let mut all: Vec<PageId> = graph.body.out[page.index()].iter().chain(&graph.body.into[page.index()]).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// How many pages two sorted lists share, `except` not counted.
fn common(a: &[PageId], b: &[PageId], except: PageId) -> usize {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.iter().filter(|p| **p != except && long.binary_search(p).is_ok()).count()
}

/// Years between two dates (`YYYY-MM-DD`) and whether the first is the newer; `(-1, 0.5)` when one is unknown.
fn dates(source: Option<&str>, target: Option<&str>) -> (f32, f32) {
    match (source.and_then(year), target.and_then(year)) {
        (Some(a), Some(b)) => ((a - b).abs(), if a >= b { 1.0 } else { 0.0 }),
        _ => (-1.0, 0.5),
    }
}

fn year(date: &str) -> Option<f32> {
    let mut parts = date.splitn(3, '-');
    let year: f32 = parts.next()?.parse().ok()?;
    let month: f32 = parts.next()?.parse().ok()?;
    let day: f32 = parts.next()?.get(..2)?.parse().ok()?;
    Some(year + (month - 1.0) / 12.0 + (day - 1.0) / 365.0)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
