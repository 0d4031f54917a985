//! Pages, words, links and vectors to what is proposed: candidates, guardrails, ranking, anchors,
//! preflight, and the choice under the caps.

use crate::analysis::Analysis;
use crate::favour::{Effect, Favour};
use crate::sections::Sections;
use linkwright_core::anchor::words::Chooser;
use linkwright_core::anchor::{self, Anchor, Found, Reason};
use linkwright_core::edit::{self, LinkAttributes, LinkSettings};
use linkwright_core::guardrail::{Counts, Guardrail};
use linkwright_core::habits::Habits;
use linkwright_core::opportunity::{self, Choice, KnownAnchors, Pair, SourceState};
use linkwright_core::overlap::{self, Alike};
use linkwright_core::page::LinkKind;
use linkwright_core::phrases::Phrases;
use linkwright_core::plan::Signal as PlanSignal;
use linkwright_core::rank;
use linkwright_core::rank::{Prior, Ranking};
use linkwright_core::settings::{FlagOrExclude, Settings};
use linkwright_core::signals::{Candidate, Evidence, NAMES, SiteVectors};
use linkwright_core::site_index::PageId;
use linkwright_core::text::{fold, primary};
use linkwright_core::tfidf::TfIdf;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Rows of a ranking per source.
pub(crate) const RANKED: usize = 10;
/// Pairs per source that anchors are looked for.
const CONSIDERED: usize = 25;
/// Anchors of a pair that the preflight tries.
const TRIED: usize = 3;

/// A candidate with its score.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
    /// The candidate and its signals.
    pub(crate) candidate: Candidate,
    /// 0 to 1.
    pub(crate) score: f64,
    /// The rule that keeps the pair from being proposed, if any.
    pub(crate) rule: Option<Guardrail>,
}

/// Everything that is proposed, and what was not.
pub(crate) struct Proposal {
    /// Per source page that can be ranked, all candidates, best first.
    pub(crate) ranked: BTreeMap<PageId, Vec<Scored>>,
    /// What chooses anchors on this site.
    pub(crate) chooser: Chooser,
    /// Which sections it links.
    pub(crate) sections: Sections,
    /// Pairs above the floor with anchors.
    pub(crate) pairs: Vec<Pair>,
    /// What was chosen among them.
    pub(crate) choice: Choice,
    /// What favoured targets changed in it.
    pub(crate) favour_effect: Effect,
    /// Pages too alike to link.
    pub(crate) overlaps: Vec<Alike>,
    /// Places and pairs that rules removed or flagged.
    pub(crate) counts: Counts,
    /// Pairs that a menu or widget links already.
    pub(crate) template_linked: HashSet<(PageId, PageId)>,
    /// Pairs that a person rejected before one of their pages changed.
    pub(crate) once_rejected: HashSet<(PageId, PageId)>,
    /// Least score of a proposal.
    pub(crate) floor: f64,
    /// How the ranking was made.
    pub(crate) ranking: Ranking,
    /// Pages in languages that the model does not know.
    pub(crate) without_vector: BTreeSet<PageId>,
}

impl Proposal {
    /// What speaks for and against a pair, strongest first, where it was a candidate.
    #[must_use]
    pub(crate) fn signals_of(&self, source: PageId, target: PageId) -> Vec<PlanSignal> {
        let Some(rows) = self.ranked.get(&source) else { return Vec::new() };
        let mut candidates: Vec<Candidate> = rows.iter().map(|r| r.candidate.clone()).collect();
        candidates.sort_by_key(|c| c.target);
        let Ok(candidate) = candidates.binary_search_by_key(&target, |c| c.target) else { return Vec::new() };
        let number = self.ranked.range(..source).count();
        let parts = self.ranking.parts(number, &candidates, candidate);
        let mut signals: Vec<PlanSignal> = NAMES
            .iter()
            .zip(candidates[candidate].values.iter().zip(parts))
            .filter(|(_, (_, part))| part.abs() >= LEAST_PART)
            .map(|((name, meaning), (value, part))| PlanSignal {
                name: snake_case(name),
                value: rounded(f64::from(*value)),
                part: rounded(part),
                words: (*meaning).to_owned(),
            })
            .collect();
        signals.sort_by(|a, b| b.part.total_cmp(&a.part).then(a.name.cmp(&b.name)));
        signals
    }
}

/// Parts of a margin below this are not worth telling.
const LEAST_PART: f64 = 0.1;

/// `PageCosine` to `page_cosine`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Figures are shown with four decimals; the order was made before.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// What the proposal needs besides pages and vectors.
pub(crate) struct Inputs<'a> {
    /// Thresholds.
    pub(crate) settings: &'a Settings,
    /// What people rejected.
    pub(crate) rejections: &'a Rejections,
}

/// Pairs that people rejected.
#[derive(Debug, Default)]
pub(crate) struct Rejections {
    /// Neither page has changed materially since.
    pub(crate) standing: BTreeSet<(PageId, PageId)>,
    /// One has.
    pub(crate) lapsed: HashSet<(PageId, PageId)>,
}

/// How this site puts links.
struct Ways {
    chooser: Chooser,
    sections: Sections,
}

/// Prepares words, phrases and neighbours once for all sources.
pub(crate) struct Groundwork {
    phrases: Phrases,
    words: TfIdf,
    habits: Habits,
}

impl Groundwork {
    /// Reads phrases and word vectors of all pages.
    #[must_use]
    pub(crate) fn new(analysis: &Analysis) -> Self {
        let names_pages = |p: PageId| analysis.rankable_source(p);
        let phrases = Phrases::new(&analysis.site, &analysis.corpus, |p| analysis.rankable_target(p), names_pages);
        let habits = Habits::new(&analysis.site, &analysis.corpus, &analysis.graph, names_pages);
        Self { phrases, words: TfIdf::new(&analysis.corpus), habits }
    }

    /// The same as if no page had ever linked another: titles and headings alone name pages.
    #[must_use]
    pub(crate) fn without_anchors(analysis: &Analysis) -> Self {
        let phrases = Phrases::new(&analysis.site, &analysis.corpus, |p| analysis.rankable_target(p), |_| false);
        let habits = Habits::new(&analysis.site, &analysis.corpus, &analysis.graph, |_| false);
        Self { phrases, words: TfIdf::new(&analysis.corpus), habits }
    }

    /// The evidence that signals are read from.
    #[must_use]
    pub(crate) fn evidence<'a>(&'a self, analysis: &'a Analysis, vectors: &'a SiteVectors, settings: &Settings) -> Evidence<'a> {
        let targets: Vec<bool> = analysis.site.ids().map(|p| analysis.rankable_target(p)).collect();
        let k = settings.relevance.candidates;
        let evidence = Evidence {
            site: &analysis.site,
            corpus: &analysis.corpus,
            graph: &analysis.graph,
            phrases: &self.phrases,
            words: &self.words,
            vectors,
            habits: &self.habits,
            near: Vec::new(),
            average_length: 0.0,
        };
        evidence.prepared(k, &targets)
    }
}

/// Proposes links for the whole site.
#[must_use]
pub(crate) fn propose(analysis: &Analysis, evidence: &Evidence, inputs: &Inputs) -> Proposal {
    let settings = inputs.settings;
    let overlaps = overlaps(analysis, evidence, settings);
    let alike: HashSet<(PageId, PageId)> = overlaps.iter().flat_map(|o| [(o.first, o.second), (o.second, o.first)]).collect();
    let (mut ranked, ranking) = rank_all(analysis, evidence, settings);
    for (source, rows) in &mut ranked {
        for row in rows {
            row.rule = pair_rule(analysis, inputs, &alike, *source, row);
        }
    }
    let floor = settings.relevance.floor.unwrap_or_else(|| floor_of_site(&ranked));
    let mut counts = Counts::default();
    let ways = Ways { chooser: chooser(analysis, evidence), sections: Sections::new(analysis, settings.links.sections) };
    let (mut pairs, template_linked) = pairs(analysis, evidence, &ways, settings, &mut ranked, floor, &mut counts);
    let (choice, favour_effect) = choose(analysis, settings, &mut pairs);
    counts.add(&choice.counts);
    let Ways { chooser, sections } = ways;
    let once_rejected = inputs.rejections.lapsed.clone();
    for pair in &pairs {
        if once_rejected.contains(&(pair.source, pair.target)) {
            counts.flagged(Guardrail::Rejected);
        }
    }
    let without_vector = analysis.site.ids().filter(|p| !evidence.vectors.known[p.index()]).collect();
    Proposal {
        ranked,
        chooser,
        sections,
        pairs,
        choice,
        favour_effect,
        overlaps,
        counts,
        template_linked,
        once_rejected,
        floor,
        without_vector,
        ranking,
    }
}

/// Chooses under the caps, favoured targets first, and says what favour changed.
fn choose(analysis: &Analysis, settings: &Settings, pairs: &mut [Pair]) -> (Choice, Effect) {
    let known = known_anchors(analysis);
    let choose = |pairs: &[Pair]| {
        opportunity::choose(
            pairs,
            settings,
            &known,
            |source, anchor| words_of(analysis, source, anchor).to_owned(),
            |source| state_of(analysis, source),
        )
    };
    let without = choose(pairs);
    let favour = Favour::new(&settings.favour);
    pairs.iter_mut().for_each(|pair| pair.favour = favour.of(analysis, pair.target).0);
    if pairs.iter().all(|pair| pair.favour == 0.0) {
        return (without, Effect::default());
    }
    let with = choose(pairs);
    let effect = Effect::new(pairs, &with, &without);
    (with, effect)
}

/// The words of an anchor as they stand in the page.
#[must_use]
pub(crate) fn words_of<'a>(analysis: &'a Analysis, source: PageId, anchor: &Anchor) -> &'a str {
    &analysis.site.page(source).blocks[anchor.block].text[anchor.span.range()]
}

/// Every source that can be ranked, with its candidates.
#[must_use]
pub(crate) fn candidates(analysis: &Analysis, evidence: &Evidence, settings: &Settings) -> (Vec<PageId>, Vec<Vec<Candidate>>) {
    let sources: Vec<PageId> = analysis.site.ids().filter(|p| analysis.rankable_source(*p)).collect();
    // The same for all pages of a language, and asked very often.
    let language = |page: PageId| primary(&analysis.site.page(page).language);
    let reach = |source: PageId| analysis.site.ids().map(|t| analysis.rankable_target(t) && analysis.languages_meet(source, t)).collect();
    let mut of_language: HashMap<&str, Vec<bool>> = HashMap::new();
    for source in &sources {
        of_language.entry(language(*source)).or_insert_with(|| reach(*source));
    }
    let allowed = |source: PageId| of_language[language(source)].as_slice();
    let candidates = evidence.candidates(&sources, settings.relevance.candidates, &allowed);
    (sources, candidates)
}

fn rank_all(analysis: &Analysis, evidence: &Evidence, settings: &Settings) -> (BTreeMap<PageId, Vec<Scored>>, Ranking) {
    let (sources, candidates) = candidates(analysis, evidence, settings);
    let ranking = rank::rank(&candidates, shipped_prior());
    let rows = candidates.into_iter().zip(&ranking.scores).map(|(candidates, scores)| {
        let mut rows: Vec<Scored> =
            candidates.into_iter().zip(scores).map(|(candidate, score)| Scored { candidate, score: *score, rule: None }).collect();
        rows.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.target.cmp(&b.candidate.target)));
        rows
    });
    let ranked = sources.into_iter().zip(rows).collect();
    (ranked, ranking)
}

/// The ranking model grown on several sites, in the binary.
#[must_use]
pub(crate) fn shipped_prior() -> Prior {
    serde_json::from_slice(include_bytes!("../data/prior.json")).expect("the shipped model is the one that was written")
}

fn pair_rule(analysis: &Analysis, inputs: &Inputs, alike: &HashSet<(PageId, PageId)>, source: PageId, row: &Scored) -> Option<Guardrail> {
    let target = row.candidate.target;
    // First of all: a link that exists is no proposal, whatever else holds.
    let leads_there = |target: PageId| {
        // A list of pages that a menu or a line under the text leads to needs no link in the text.
        let is_list = analysis.eligibility[target.index()].not_target.contains(&Guardrail::Archive);
        analysis.graph.content.links(source, target) || (is_list && analysis.graph.all.links(source, target))
    };
    if leads_there(target) {
        return Some(Guardrail::AlreadyLinked);
    }
    if let Some(rule) = analysis.pair_rule(source, target) {
        return Some(rule);
    }
    if alike.contains(&(source, target)) {
        return Some(Guardrail::Overlap);
    }
    (inputs.settings.relevance.remember_rejections && inputs.rejections.standing.contains(&(source, target))).then_some(Guardrail::Rejected)
}

/// The floor that the site's own links suggest: a fifth of them score lower. Sites with few links get a
/// floor seen on sites of all kinds.
fn floor_of_site(ranked: &BTreeMap<PageId, Vec<Scored>>) -> f64 {
    const FEW: usize = 40;
    const USUAL: f64 = 0.3;
    /// Below this most proposals would be noise on any site.
    const LEAST: f64 = 0.08;
    let mut scores: Vec<f64> = ranked.values().flatten().filter(|r| r.candidate.linked).map(|r| r.score).collect();
    if scores.len() < FEW {
        return USUAL;
    }
    scores.sort_by(f64::total_cmp);
    scores[scores.len() / 5].max(LEAST)
}

/// Learns from the site's own links which words become an anchor.
pub(crate) fn chooser(analysis: &Analysis, evidence: &Evidence) -> Chooser {
    Chooser::learned(evidence, &body_links(analysis))
}

/// Body links between pages that can be ranked, in order.
pub(crate) fn body_links(analysis: &Analysis) -> Vec<(PageId, PageId)> {
    let sources = analysis.site.ids().filter(|p| analysis.rankable_source(*p));
    let of_source = |source: PageId| analysis.graph.body.out[source.index()].iter().map(move |target| (source, *target));
    sources.flat_map(of_source).filter(|(_, target)| analysis.rankable_target(*target)).collect()
}

/// Pairs above the floor with their anchors, preflight passed.
fn pairs(
    analysis: &Analysis,
    evidence: &Evidence,
    ways: &Ways,
    settings: &Settings,
    ranked: &mut BTreeMap<PageId, Vec<Scored>>,
    floor: f64,
    counts: &mut Counts,
) -> (Vec<Pair>, HashSet<(PageId, PageId)>) {
    let mut template_linked = HashSet::new();
    let mut wanted = Vec::new();
    for (source, rows) in ranked.iter_mut() {
        let eligible = analysis.eligibility[source.index()].not_source.is_empty();
        let mut taken = 0;
        for row in rows.iter_mut() {
            let target = row.candidate.target;
            if row.rule.is_none() && row.score < floor {
                row.rule = Some(Guardrail::BelowFloor);
            }
            let links_by_template = analysis.graph.all.links(*source, target) && !row.candidate.linked;
            if row.rule.is_none() && links_by_template && settings.relevance.template_linked == FlagOrExclude::Exclude {
                row.rule = Some(Guardrail::TemplateLinked);
            }
            if let Some(rule) = row.rule {
                counts.removed(rule);
                continue;
            }
            if !eligible || !analysis.eligibility[target.index()].not_target.is_empty() || taken >= CONSIDERED {
                continue;
            }
            taken += 1;
            if links_by_template {
                counts.flagged(Guardrail::TemplateLinked);
                template_linked.insert((*source, target));
            }
            wanted.push((*source, target, row.score));
        }
    }
    let by_source: Vec<&[(PageId, PageId, f64)]> = wanted.chunk_by(|a, b| a.0 == b.0).collect();
    let found: Vec<Vec<Pair>> = by_source.into_par_iter().map(|group| pairs_of_source(analysis, evidence, ways, settings, group)).collect();
    let pairs: Vec<Pair> = found.into_iter().flatten().collect();
    pairs.iter().for_each(|p| counts.add(&p.found.removed));
    (pairs, template_linked)
}

fn pairs_of_source(
    analysis: &Analysis,
    evidence: &Evidence,
    ways: &Ways,
    settings: &Settings,
    group: &[(PageId, PageId, f64)],
) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = group
        .iter()
        .map(|&(source, target, score)| {
            let mut found = anchor::find(evidence, &ways.chooser, source, target, settings);
            found.anchors.retain(names_well);
            let Found { anchors, removed } = &mut found;
            anchors.retain(|a| {
                let torn = a.reason == Reason::Topic && runs_on(words_of(analysis, source, a));
                if torn {
                    removed.removed(Guardrail::Torn);
                }
                !torn
            });
            let best_block = found.anchors.is_empty().then(|| anchor::best_block(evidence, source, target)).flatten();
            Pair { source, target, score, favour: 0.0, found, best_block }
        })
        .collect();
    preflight(analysis, &ways.sections, settings, &mut pairs);
    pairs
}

/// No link is better than a bad one: words that do not name the target, or a passage that speaks of something
/// else, leave a gap for an editor.
fn names_well(anchor: &Anchor) -> bool {
    const LEAST_CONTEXT: f32 = 0.25;
    // Chance that an editor would choose exactly these words among all that stand there.
    const LEAST_STRENGTH: f32 = 0.12;
    anchor.context >= LEAST_CONTEXT && anchor.strength >= LEAST_STRENGTH
}

/// Whether words go on over a comma, as only titles and names may: `apps, Cooper` is the end of one thing and the
/// beginning of another.
fn runs_on(words: &str) -> bool {
    [", ", "; ", ": ", "、", "，", "；"].iter().any(|mark| words.contains(mark))
}

/// Keeps the anchors that the writer itself could insert.
fn preflight(analysis: &Analysis, sections: &Sections, settings: &Settings, pairs: &mut [Pair]) {
    let Some(first) = pairs.first() else { return };
    let page = analysis.site.page(first.source);
    let places: Vec<_> = pairs
        .iter_mut()
        .flat_map(|p| {
            p.found.anchors.truncate(TRIED);
            let (source, target) = (p.source, p.target);
            p.found.anchors.iter().map(move |a| {
                let section = sections.of(analysis, source, target, words_of(analysis, source, a));
                (a.source, analysis.href(source, target, section.as_deref(), settings))
            })
        })
        .collect();
    let mut verdicts = edit::preflight_many(page, &places, &link_settings(settings)).into_iter();
    for pair in pairs {
        let Found { anchors, removed } = &mut pair.found;
        anchors.retain(|_| {
            let passed = verdicts.next().is_some_and(|v| v.is_ok());
            if !passed {
                removed.removed(Guardrail::Preflight);
            }
            passed
        });
    }
}

/// Pairs of pages too alike to link.
#[must_use]
pub(crate) fn overlaps(analysis: &Analysis, evidence: &Evidence, settings: &Settings) -> Vec<Alike> {
    const CLOSEST: usize = 5;
    let pages: Vec<PageId> = analysis.site.ids().filter(|p| analysis.rankable_target(*p)).collect();
    let close: Vec<(PageId, PageId)> =
        pages.iter().flat_map(|p| evidence.near[p.index()].iter().take(CLOSEST).map(move |(q, _)| (*p, *q))).collect();
    let alike = overlap::find(&analysis.corpus, &pages, &close, &settings.relevance, |a, b| evidence.vectors.cosine(a, b));
    alike.into_iter().filter(|o| analysis.pair_rule(o.first, o.second).is_none()).collect()
}

/// Anchors that body links use now.
fn known_anchors(analysis: &Analysis) -> KnownAnchors {
    let mut known = KnownAnchors::new();
    for id in analysis.site.ids() {
        for link in analysis.site.page(id).links.iter().filter(|l| l.kind == LinkKind::Body && !l.anchor.is_empty()) {
            if let Some(target) = analysis.site.find(&link.target).filter(|t| *t != id) {
                *known.entry(target).or_default().entry(fold(&link.anchor)).or_default() += 1;
            }
        }
    }
    known
}

fn state_of(analysis: &Analysis, source: PageId) -> SourceState {
    let page = analysis.site.page(source);
    let body_links =
        page.links.iter().filter(|l| l.kind == LinkKind::Body && analysis.site.find(&l.target).is_some_and(|t| t != source)).count();
    SourceState { words: page.word_count, body_links }
}

/// How new links are written.
#[must_use]
pub(crate) fn link_settings(settings: &Settings) -> LinkSettings {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let links = &settings.links;
    let attributes =
        LinkAttributes { rel: some(&links.rel), target: some(&links.target), class: some(&links.class), marker: some(&links.marker) };
    LinkSettings { attributes, markdown_style: None }
}
