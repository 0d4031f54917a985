//! How well the site's own links are found again when they are hidden.
//!
//! Several times over, a share of the body links is taken out of the pages, words left behind, and everything that
//! depends on links is read anew from those pages: anchors, graph, signals, the learned ranking. No trace can be left,
//! because what ranks never sees a page with the links in it. Vectors, which depend on text alone, stay.
//!
//! Works on a project that was planned before; the site is not read again.

use crate::analysis::Analysis;
use crate::embedding::{embed, embed_again};
use crate::error::EngineError;
use crate::plan::{embedder, now};
use crate::progress::Progress;
use crate::propose::{self, Groundwork, RANKED, words_of};
use crate::views;
use linkwright_core::anchor;
use linkwright_core::eval::agreement::Tally;
use linkwright_core::eval::calibration::calibration;
use linkwright_core::eval::chance::Chance;
use linkwright_core::eval::hide::{Words, hide, plant};
use linkwright_core::eval::leak::{self, Comparison};
use linkwright_core::eval::metrics::{Measured, Wanted, difference, figures};
use linkwright_core::eval::split::{Pairs, split};
use linkwright_core::eval::{Evaluation, Row, RowKind};
use linkwright_core::page::{Link, LinkKind, LinkPosition};
use linkwright_core::rank::{self, RankReport};
use linkwright_core::settings::{AnchorSettings, Settings};
use linkwright_core::signals::{Candidate, Evidence, Signal, SiteVectors};
use linkwright_core::site_index::PageId;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Fewer links than this prove nothing.
const LEAST_LINKS: usize = 20;
/// Fewer links than this prove little.
const FEW_LINKS: usize = 200;
/// Pages that are embedded again without the words of their links: enough for a figure, few enough to wait for.
const EMBEDDED_AGAIN: usize = 200;
/// Name of the file in the project that keeps the last evaluation.
pub const FILE: &str = "eval.json";

/// What to hide.
#[derive(Clone, Debug)]
pub struct EvalRequest {
    /// Project folder.
    pub project: PathBuf,
    /// Share of the links to hide each time, above 0 and below 1.
    pub share: f64,
    /// How many times.
    pub folds: usize,
    /// Seed of all choices.
    pub seed: u64,
}

/// The last evaluation of a project, where there is one that this version can read.
#[must_use]
pub fn last(project: &Path) -> Option<Evaluation> {
    serde_json::from_slice(&std::fs::read(project.join(FILE)).ok()?).ok()
}

/// Measures the ranking of a project on the site's own links.
///
/// # Errors
/// When there is no project or no plan in it, the request makes no sense, or the site has too few links.
pub fn evaluate(request: &EvalRequest, progress: &dyn Progress) -> Result<Evaluation, EngineError> {
    check(request)?;
    let (runtime, project, store) = views::open(&request.project)?;
    let plan = views::latest(&runtime, &store)?;
    progress.stage("Understanding pages", None);
    let analysis = views::analyse(&runtime, &project, &store, &plan)?;
    let settings = project.settings();
    let model = embedder(settings)?;
    let embedded = embed(&analysis, &model, &store, &runtime, progress)?;
    let embed_again =
        |changed: &Analysis, pages: &BTreeSet<PageId>, vectors: &mut SiteVectors| embed_again(changed, &model, pages, vectors, progress);
    let subject =
        Subject { analysis: &analysis, vectors: &embedded.vectors, settings, embed_again: &embed_again, spoil: &|_, _, _| {}, progress };
    let mut evaluation = subject.evaluate(request)?;
    evaluation.base_url.clone_from(&plan.run.base_url);
    evaluation.run = plan.run.id;
    evaluation.evaluated_at = now();
    evaluation.model.clone_from(&plan.run.model);
    runtime.block_on(store.close());
    Ok(evaluation)
}

fn check(request: &EvalRequest) -> Result<(), EngineError> {
    if !(request.share > 0.0 && request.share < 1.0) {
        return Err(EngineError::new(
            format!("a share of {} of the links cannot be hidden", request.share),
            "give `--share` a number above 0 and below 1, such as 0.3",
        ));
    }
    if request.folds == 0 {
        return Err(EngineError::new("links must be hidden at least once", "give `--folds` a number of 1 or more"));
    }
    Ok(())
}

/// Embeds pages of a changed site over the vectors they had.
type EmbedAgain<'a> = dyn Fn(&Analysis, &BTreeSet<PageId>, &mut SiteVectors) -> Result<(), EngineError> + Sync + 'a;
/// Changes the candidates of a source, given the pairs that were hidden: how a test plants a leak.
type Spoil<'a> = dyn Fn(&Pairs, PageId, &mut [Candidate]) + Sync + 'a;

/// What is measured.
struct Subject<'a> {
    analysis: &'a Analysis,
    vectors: &'a SiteVectors,
    settings: &'a Settings,
    embed_again: &'a EmbedAgain<'a>,
    spoil: &'a Spoil<'a>,
    progress: &'a dyn Progress,
}

/// What holds for all folds.
struct Common {
    /// Pairs that a rule keeps apart, in both directions.
    alike: HashSet<(PageId, PageId)>,
    /// Body links that a plan could have proposed.
    links: Pairs,
    /// Per source, the words of its body links by target.
    anchors: BTreeMap<(PageId, PageId), Vec<String>>,
    /// Per source, the pages nearest to it that it does not link.
    near: BTreeMap<PageId, Vec<PageId>>,
}

/// What the folds add up to.
#[derive(Default)]
struct Findings {
    lists: BTreeMap<Kind, Vec<Measured>>,
    agreement: Tally,
    scored: Vec<(f64, bool)>,
    scored_first: Vec<(f64, bool)>,
    kept: Comparison,
    decoys: Comparison,
    report: RankReport,
}

/// The rankings that are measured, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Full,
    WithoutAnchors,
    WordsKept,
    WordsDeleted,
    Plain(usize),
    Random,
}

/// Plain rankings: key, name, what they rank by, the value.
type Plain = (&'static str, &'static str, &'static str, fn(&Candidate) -> f32);

const PLAIN: &[Plain] = &[
    ("page_vector", "page vector", "cosine of the two pages' vectors", |c| c.values[Signal::PageCosine as usize]),
    ("tf_idf", "TF-IDF", "cosine of the two pages' words", |c| c.values[Signal::WordCosine as usize]),
    ("bm25_titles", "BM25 of titles", "words of the target's title in the source", |c| c.values[Signal::TitleInSource as usize]),
    ("title_phrase", "title phrase", "the longest part of the target's title that stands in the source", |c| {
        c.values[Signal::TitlePhrase as usize] * c.values[Signal::PhraseWeight as usize]
    }),
    ("known_anchors", "known anchors", "how often words of the source are a link to the target elsewhere", |c| {
        c.values[Signal::AnchorProbability as usize]
    }),
];

impl Subject<'_> {
    fn evaluate(&self, request: &EvalRequest) -> Result<Evaluation, EngineError> {
        self.progress.stage("Looking at the site's own links", None);
        let common = self.common();
        if common.links.len() < LEAST_LINKS {
            return Err(EngineError::new(
                format!("the site has {} body links that could be hidden; figures from so few say nothing", common.links.len()),
                format!("a site needs {LEAST_LINKS} body links between its pages for an evaluation, and some hundreds for a good one"),
            ));
        }
        let folds = split(&self.analysis.site, &common.links, request.share, request.folds, request.seed);
        let mut findings = Findings::default();
        for (number, hidden) in folds.iter().enumerate() {
            self.progress.stage(&format!("Hiding links, {} of {}", number + 1, folds.len()), None);
            self.fold(&common, hidden, number, request, &mut findings);
        }
        self.progress.stage("Deleting the words of hidden links", None);
        self.without_words(&common, &folds[0], request, &mut findings)?;
        self.progress.stage("Counting", None);
        Ok(self.summary(request, &common, findings))
    }

    fn common(&self) -> Common {
        let analysis = self.analysis;
        let groundwork = Groundwork::new(analysis);
        let evidence = groundwork.evidence(analysis, self.vectors, self.settings);
        let alike: HashSet<(PageId, PageId)> =
            propose::overlaps(analysis, &evidence, self.settings).iter().flat_map(|o| [(o.first, o.second), (o.second, o.first)]).collect();
        let open = |source: PageId, target: PageId| self.could_be_proposed(&alike, source, target);
        let sources: Vec<PageId> = analysis.site.ids().filter(|p| analysis.rankable_source(*p)).collect();
        let out = |source: PageId| &analysis.graph.body.out[source.index()];
        let repeated = self.repeated_in_content();
        let all = sources.iter().flat_map(|s| out(*s).iter().map(|t| (*s, *t)));
        let links: Pairs = all.filter(|(s, t)| open(*s, *t) && !repeated.contains(&(*s, *t))).collect();
        let k = self.settings.relevance.candidates;
        let near_of = |source: PageId| {
            let unlinked = |t: PageId| t != source && out(source).binary_search(&t).is_err() && open(source, t);
            let by_words =
                evidence.words.nearest(source, k, |t| t != source && analysis.rankable_target(t) && analysis.languages_meet(source, t));
            let near = evidence.near[source.index()].iter().take(k).chain(&by_words).map(|(t, _)| *t);
            near.filter(|t| unlinked(*t)).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let linking: BTreeSet<PageId> = links.iter().map(|(s, _)| *s).collect();
        let near = linking.into_iter().collect::<Vec<_>>().into_par_iter().map(|s| (s, near_of(s))).collect();
        let anchors = self.anchors(&links);
        Common { alike, links, anchors, near }
    }

    /// Pairs that a list in the main content links besides, which repeats on many pages: with the body link hidden they
    /// would still be linked, and no plan would propose them.
    fn repeated_in_content(&self) -> Pairs {
        let of_page = |id: PageId| {
            let links = self.analysis.site.page(id).links.iter();
            let repeated = links.filter(|l| l.kind == LinkKind::Template && l.position == LinkPosition::Content);
            repeated.filter_map(move |link| pair_of(self.analysis, id, link))
        };
        self.analysis.site.ids().flat_map(of_page).collect()
    }

    /// Whether no rule keeps the pair apart.
    fn could_be_proposed(&self, alike: &HashSet<(PageId, PageId)>, source: PageId, target: PageId) -> bool {
        self.analysis.rankable_target(target)
            && self.analysis.languages_meet(source, target)
            && self.analysis.pair_rule(source, target).is_none()
            && !alike.contains(&(source, target))
    }

    fn anchors(&self, links: &Pairs) -> BTreeMap<(PageId, PageId), Vec<String>> {
        let mut anchors: BTreeMap<(PageId, PageId), Vec<String>> = BTreeMap::new();
        for id in self.analysis.site.ids() {
            for link in self.analysis.site.page(id).links.iter().filter(|l| l.kind == LinkKind::Body) {
                if let Some(pair) = pair_of(self.analysis, id, link).filter(|p| links.contains(p)) {
                    anchors.entry(pair).or_default().push(link.anchor.clone());
                }
            }
        }
        anchors
    }

    /// One decoy for each source: a page near it that it does not link, as likely as any other of those.
    fn decoys(&self, common: &Common, hidden: &Pairs, fold: usize, seed: u64) -> Pairs {
        let sources: BTreeSet<PageId> = hidden.iter().map(|(s, _)| *s).collect();
        let decoy = |source: PageId| {
            let url = self.analysis.site.page(source).url.as_str();
            let near = common.near.get(&source)?;
            let chosen = near.get(Chance::new(seed, &["decoy", url, &fold.to_string()]).below(near.len()))?;
            Some((source, *chosen))
        };
        sources.into_iter().filter_map(decoy).collect()
    }

    /// The site without the pairs' links. Decoys are planted first and hidden like the rest.
    fn without(&self, hidden: &Pairs, decoys: &Pairs, words_go: &BTreeSet<PageId>, seed: u64) -> Analysis {
        let analysis = self.analysis;
        analysis.with_pages(|id, page| {
            let source = analysis.site.canonical[id.index()];
            let words = if words_go.contains(&source) { Words::Go } else { Words::Stay };
            let decoy = decoys.range((source, PageId(0))..=(source, PageId(u32::MAX))).next();
            let planted = decoy.and_then(|(_, target)| {
                plant(page, &analysis.site.page(*target).url, &mut Chance::new(seed, &["plant", page.url.as_str()]))
            });
            // A menu that holds the target does so whether or not the text links it, so it stays.
            let gone = |link: &Link| {
                link.kind == LinkKind::Body && pair_of(analysis, id, link).is_some_and(|p| hidden.contains(&p) || decoys.contains(&p))
            };
            hide(planted.as_ref().unwrap_or(page), gone, words)
        })
    }

    fn fold(&self, common: &Common, hidden: &Pairs, fold: usize, request: &EvalRequest, findings: &mut Findings) {
        let decoys = self.decoys(common, hidden, fold, request.seed);
        let world = self.without(hidden, &decoys, &BTreeSet::new(), request.seed);
        let secret: Pairs = hidden.union(&decoys).copied().collect();
        let groundwork = Groundwork::new(&world);
        let evidence = groundwork.evidence(&world, self.vectors, self.settings);
        let ranked = self.rank(common, &world, &evidence, &secret);
        findings.add_lists(&ranked, &world, hidden);
        findings.add_random(&world, hidden, fold, request.seed);
        findings.add_agreement(self, common, &world, &evidence, &ranked, hidden);
        findings.add_scores(&ranked, hidden, request.share);
        findings.add_comparisons(common, &ranked, hidden, &decoys);
        findings.report = ranked.report;

        let groundwork = Groundwork::without_anchors(&world);
        let evidence = groundwork.evidence(&world, self.vectors, self.settings);
        let ranked = self.rank(common, &world, &evidence, &secret);
        findings.add(Kind::WithoutAnchors, ranked.lists(&world, hidden, |row| Some(row.score)));
    }

    /// Ranks once more with the words of the hidden links deleted from some pages, which are embedded again.
    fn without_words(&self, common: &Common, hidden: &Pairs, request: &EvalRequest, findings: &mut Findings) -> Result<(), EngineError> {
        let mut sources: Vec<PageId> = hidden.iter().map(|(s, _)| *s).collect::<BTreeSet<_>>().into_iter().collect();
        let sources_of_fold = sources.len();
        Chance::new(request.seed, &["words"]).shuffle(&mut sources);
        let chosen: BTreeSet<PageId> = sources.into_iter().take(EMBEDDED_AGAIN).collect();
        let world = self.without(hidden, &Pairs::new(), &chosen, request.seed);
        let changed = world.site.ids().filter(|id| chosen.contains(&world.site.canonical[id.index()])).collect();
        let mut vectors = self.vectors.clone();
        (self.embed_again)(&world, &changed, &mut vectors)?;
        let groundwork = Groundwork::new(&world);
        let evidence = groundwork.evidence(&world, &vectors, self.settings);
        let ranked = self.rank(common, &world, &evidence, hidden);
        let of_chosen: Pairs = hidden.iter().filter(|(s, _)| chosen.contains(s)).copied().collect();
        let first_fold = findings.lists.get(&Kind::Full).map(Vec::as_slice).unwrap_or_default();
        let with_words = first_fold.iter().take(sources_of_fold).filter(|l| chosen.contains(&l.source)).cloned().collect();
        findings.add(Kind::WordsKept, with_words);
        findings.add(Kind::WordsDeleted, ranked.lists(&world, &of_chosen, |row| Some(row.score)));
        Ok(())
    }

    fn rank(&self, common: &Common, world: &Analysis, evidence: &Evidence, secret: &Pairs) -> Ranked {
        let (sources, mut candidates) = propose::candidates(world, evidence, self.settings);
        sources.par_iter().zip(&mut candidates).for_each(|(source, rows)| (self.spoil)(secret, *source, rows));
        let ranking = rank::rank(&candidates, propose::shipped_prior());
        let rows_of = |(source, (rows, scores)): (&PageId, (Vec<Candidate>, &Vec<f64>))| {
            let open = |row: &RankedRow| self.could_be_proposed(&common.alike, *source, row.candidate.target);
            let rows = rows.into_iter().zip(scores).map(|(candidate, score)| RankedRow { candidate, score: *score });
            (*source, rows.filter(open).collect())
        };
        let sources = sources.iter().zip(candidates.into_iter().zip(&ranking.scores)).map(rows_of).collect();
        Ranked { sources, report: ranking.report }
    }

    fn summary(&self, request: &EvalRequest, common: &Common, findings: Findings) -> Evaluation {
        let rows: Vec<Row> = findings.lists.iter().map(|(kind, lists)| row(*kind, lists, request.seed)).collect();
        let plain = rows.iter().filter(|r| r.kind == RowKind::Plain);
        let best = plain.max_by(|a, b| a.figures.recall_5.value.total_cmp(&b.figures.recall_5.value).then(b.key.cmp(&a.key)));
        let best_plain = best.map(|r| r.key.clone()).unwrap_or_default();
        let best_lists = findings.lists.iter().find(|(kind, _)| about(**kind).0 == best_plain).map(|(_, lists)| lists.as_slice());
        let full = findings.lists.get(&Kind::Full).map(Vec::as_slice).unwrap_or_default();
        let analysis = self.analysis;
        Evaluation {
            base_url: String::new(),
            run: 0,
            evaluated_at: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: String::new(),
            seed: request.seed,
            folds: request.folds,
            share: request.share,
            pages: analysis.site.ids().filter(|p| analysis.rankable_source(*p)).count(),
            links: common.links.len(),
            ranking: ranking_words(&findings.report),
            notices: notices(self, &common.links),
            gain: difference(full, best_lists.unwrap_or_default(), request.seed),
            rows,
            best_plain,
            anchors: findings.agreement.agreement(),
            calibrated: findings.report.calibrated,
            calibration: calibration(findings.scored),
            calibration_first_ten: calibration(findings.scored_first),
            leaks: leak::check(&findings.kept, &findings.decoys),
        }
    }
}

/// The pair that a link of a page stands for, as the link graph counts it.
fn pair_of(analysis: &Analysis, page: PageId, link: &Link) -> Option<(PageId, PageId)> {
    Some((analysis.site.canonical[page.index()], analysis.site.find(&link.target)?))
}

/// A candidate with its score.
struct RankedRow {
    candidate: Candidate,
    score: f64,
}

/// The candidates of every source that no rule forbids.
struct Ranked {
    sources: BTreeMap<PageId, Vec<RankedRow>>,
    report: RankReport,
}

impl Ranked {
    fn rows(&self, source: PageId) -> &[RankedRow] {
        self.sources.get(&source).map(Vec::as_slice).unwrap_or_default()
    }

    /// Places of the hidden links among the proposals of their sources, which links that were kept are not. `value`
    /// orders the proposals; without a value there is no proposal. Ties by number of the target.
    fn lists(&self, world: &Analysis, hidden: &Pairs, value: impl Fn(&RankedRow) -> Option<f64> + Sync) -> Vec<Measured> {
        let hidden: Vec<(PageId, PageId)> = hidden.iter().copied().collect();
        let by_source: Vec<&[(PageId, PageId)]> = hidden.chunk_by(|a, b| a.0 == b.0).collect();
        let list = |links: &&[(PageId, PageId)]| {
            let source = links[0].0;
            let open = self.rows(source).iter().filter(|r| !world.graph.content.links(source, r.candidate.target));
            let mut order: Vec<(f64, PageId)> = open.filter_map(|r| Some((value(r)?, r.candidate.target))).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let rank = |target: PageId| order.iter().position(|(_, t)| *t == target).map(|place| place + 1);
            let wanted = links.iter().map(|(_, t)| Wanted { rank: rank(*t), inlinks_left: world.graph.body.into[t.index()].len() });
            Measured { source, wanted: wanted.collect() }
        };
        by_source.par_iter().map(list).collect()
    }
}

impl Findings {
    fn add(&mut self, kind: Kind, lists: Vec<Measured>) {
        self.lists.entry(kind).or_default().extend(lists);
    }

    fn add_lists(&mut self, ranked: &Ranked, world: &Analysis, hidden: &Pairs) {
        self.add(Kind::Full, ranked.lists(world, hidden, |row| Some(row.score)));
        for (number, (.., value)) in PLAIN.iter().enumerate() {
            let positive = |row: &RankedRow| Some(f64::from(value(&row.candidate))).filter(|v| *v > 0.0);
            self.add(Kind::Plain(number), ranked.lists(world, hidden, positive));
        }
    }

    /// What guessing finds: hidden links at places drawn from all pages that can be linked to.
    fn add_random(&mut self, world: &Analysis, hidden: &Pairs, fold: usize, seed: u64) {
        let hidden: Vec<(PageId, PageId)> = hidden.iter().copied().collect();
        let targets = world.site.ids().filter(|t| world.rankable_target(*t)).count();
        let list = |links: &[(PageId, PageId)]| {
            let source = links[0].0;
            let mut places: Vec<usize> = (1..=targets.saturating_sub(world.graph.body.out[source.index()].len())).collect();
            Chance::new(seed, &["random", world.site.page(source).url.as_str(), &fold.to_string()]).shuffle(&mut places);
            let left = |target: PageId| world.graph.body.into[target.index()].len();
            let wanted = links.iter().enumerate().map(|(i, (_, t))| Wanted { rank: places.get(i).copied(), inlinks_left: left(*t) });
            Measured { source, wanted: wanted.collect() }
        };
        self.add(Kind::Random, hidden.chunk_by(|a, b| a.0 == b.0).map(list).collect());
    }

    fn add_agreement(
        &mut self,
        subject: &Subject,
        common: &Common,
        world: &Analysis,
        evidence: &Evidence,
        ranked: &Ranked,
        hidden: &Pairs,
    ) {
        let settings =
            Settings { anchors: AnchorSettings { min_words: 1, ..subject.settings.anchors.clone() }, ..subject.settings.clone() };
        let lists = ranked.lists(world, hidden, |row| Some(row.score));
        let found = hidden.iter().zip(lists.iter().flat_map(|l| &l.wanted)).filter(|(_, w)| w.rank.is_some_and(|r| r <= RANKED));
        let found: Vec<(PageId, PageId)> = found.map(|(pair, _)| *pair).collect();
        let chooser = propose::chooser(world, evidence);
        let words = |&(source, target): &(PageId, PageId)| {
            let anchors = anchor::find(evidence, &chooser, source, target, &settings).anchors;
            anchors.first().map(|a| words_of(world, source, a).to_owned())
        };
        let proposed: Vec<Option<String>> = found.par_iter().map(words).collect();
        for (pair, words) in found.iter().zip(proposed) {
            let real = common.anchors.get(pair).map(Vec::as_slice).unwrap_or_default();
            self.agreement.add(words.as_deref(), real, &world.site.page(pair.0).language);
        }
    }

    /// Scores of all pairs and whether they are links, hidden or kept. The ranking learned that the hidden share are
    /// no links; on the site as it is it learns from all of them, and claims that much more.
    fn add_scores(&mut self, ranked: &Ranked, hidden: &Pairs, share: f64) {
        let raise = if ranked.report.calibrated { 1.0 / (1.0 - share) } else { 1.0 };
        for (source, rows) in &ranked.sources {
            let is_link = |row: &RankedRow| row.candidate.linked || hidden.contains(&(*source, row.candidate.target));
            if !rows.iter().any(is_link) {
                continue;
            }
            let mut scored: Vec<(f64, bool)> = rows.iter().map(|r| ((r.score * raise).min(1.0), is_link(r))).collect();
            self.scored.extend(&scored);
            scored.sort_by(|a, b| b.0.total_cmp(&a.0));
            self.scored_first.extend(scored.iter().take(RANKED));
        }
    }

    fn add_comparisons(&mut self, common: &Common, ranked: &Ranked, hidden: &Pairs, decoys: &Pairs) {
        for (source, rows) in &ranked.sources {
            let values = |keep: &dyn Fn(&Candidate) -> bool| -> Vec<_> {
                rows.iter().map(|r| &r.candidate).filter(|c| keep(c)).map(|c| &c.values).collect()
            };
            let in_set = |set: &Pairs, c: &Candidate| set.contains(&(*source, c.target));
            self.kept.add(&values(&|c| c.linked && in_set(&common.links, c)), &values(&|c| in_set(hidden, c)));
            let near = common.near.get(source).map(Vec::as_slice).unwrap_or_default();
            let beside = |c: &Candidate| !in_set(decoys, c) && near.binary_search(&c.target).is_ok();
            self.decoys.add(&values(&|c| in_set(decoys, c)), &values(&beside));
        }
    }
}

fn about(kind: Kind) -> (&'static str, &'static str, &'static str, RowKind) {
    match kind {
        Kind::Full => ("linkwright", "linkwright", "all signals, as for a plan", RowKind::Full),
        Kind::WithoutAnchors => {
            ("without_anchors", "without known anchors", "as if nothing were known of the words of the site's links", RowKind::Reduced)
        }
        Kind::WordsKept => (
            "words_kept",
            "some pages, words kept",
            "some of the pages, hidden once: what the next row is to be compared with",
            RowKind::Reduced,
        ),
        Kind::WordsDeleted => {
            ("words_deleted", "the same, words deleted", "the words of each hidden link are gone from its page, too", RowKind::Reduced)
        }
        Kind::Plain(number) => {
            let (key, name, about, _) = PLAIN[number];
            (key, name, about, RowKind::Plain)
        }
        Kind::Random => ("random", "random", "any page that can be linked to", RowKind::Plain),
    }
}

fn row(kind: Kind, lists: &[Measured], seed: u64) -> Row {
    let (key, name, about, kind) = about(kind);
    let sources: BTreeSet<PageId> = lists.iter().map(|l| l.source).collect();
    Row {
        key: key.to_owned(),
        name: name.to_owned(),
        about: about.to_owned(),
        kind,
        sources: sources.len(),
        hidden: lists.iter().map(|l| l.wanted.len()).sum(),
        figures: figures(lists, seed),
    }
}

fn ranking_words(report: &RankReport) -> String {
    if report.learned {
        format!("learned from the {} body links that were left, starting from a model grown on other sites", report.links)
    } else {
        format!("a model grown on other sites: {} body links were left, too few to learn from", report.links)
    }
}

fn notices(subject: &Subject, links: &Pairs) -> Vec<String> {
    let mut notices = Vec::new();
    if links.len() < FEW_LINKS {
        notices.push(format!("only {} body links: the figures say little, see their intervals", links.len()));
    }
    let sources: BTreeSet<PageId> = links.iter().map(|(source, _)| *source).collect();
    let blind = sources.iter().filter(|s| !subject.vectors.known[s.index()]).count();
    if blind > 0 {
        let pages = if blind == sources.len() {
            "no page with links has a vector".to_owned()
        } else {
            format!("{blind} of {} pages with links have no vector", sources.len())
        };
        notices.push(format!("{pages}: the model does not know their language"));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use linkwright_core::anchor::words;
    use linkwright_core::eval::Suspicion;
    use linkwright_core::page::FetchedPage;
    use linkwright_core::signals::NAMES;
    use linkwright_core::url::PageUrl;

    const PAGES: usize = 120;
    const THINGS: [&str; 15] = [
        "starter",
        "oven",
        "crust",
        "proofing",
        "kneading",
        "shaping",
        "scoring",
        "steam",
        "hydration",
        "salting",
        "milling",
        "storing",
        "toasting",
        "slicing",
        "freezing",
    ];

    /// A word of the page's own and one that others have.
    fn title(page: usize) -> String {
        const SYLLABLES: [&str; 10] = ["ba", "ke", "li", "mo", "ru", "ta", "ve", "zo", "ni", "du"];
        let name: String = [page / 100, page / 10 % 10, page % 10].map(|digit| SYLLABLES[digit]).concat();
        format!("{name} {}", THINGS[page % 15])
    }

    /// A page that names six others of its group and links three of them.
    fn page(number: usize) -> FetchedPage {
        let mut chance = Chance::new(1, &["page", &number.to_string()]);
        let mut body = String::new();
        for paragraph in 0..6 {
            let other = (number % 8 + 8 * chance.below(15)) % PAGES;
            let words =
                if paragraph % 2 == 0 && other != number { format!("<a href='/{other}/'>{}</a>", title(other)) } else { title(other) };
            let around: Vec<&str> = (0..8).map(|_| THINGS[chance.below(15)]).collect();
            body.push_str(&format!(
                "<p>Whoever bakes with care reads about {words} before the {} is tried at home.</p>",
                around.join(" and the ")
            ));
        }
        let html =
            format!("<!doctype html><html lang=en><title>{0}</title><body><main><h1>{0}</h1>{body}</main></body></html>", title(number));
        let url = PageUrl::parse(&format!("https://example.com/{number}/")).unwrap();
        FetchedPage { body: html.into_bytes(), ..FetchedPage::read(url) }
    }

    fn analysis(pages: usize) -> Analysis {
        Analysis::new((0..pages).map(page).collect(), "https://example.com/", &Settings::default(), "2026-01-01")
    }

    /// Evaluates without vectors, as for a language that the model does not know.
    fn evaluated(pages: usize, seed: u64, spoil: &Spoil) -> Result<Evaluation, EngineError> {
        let (analysis, settings) = (analysis(pages), Settings::default());
        let count = analysis.site.pages.len();
        let vectors = SiteVectors { passages: vec![Vec::new(); count], known: vec![false; count], ..SiteVectors::default() };
        let embed_again = |_: &Analysis, _: &BTreeSet<PageId>, _: &mut SiteVectors| Ok(());
        let subject =
            Subject { analysis: &analysis, vectors: &vectors, settings: &settings, embed_again: &embed_again, spoil, progress: &Silent };
        subject.evaluate(&EvalRequest { project: PathBuf::new(), share: 0.3, folds: 2, seed })
    }

    fn names(found: &[Suspicion]) -> Vec<&str> {
        found.iter().map(|s| s.signal.as_str()).collect()
    }

    #[test]
    fn an_honest_ranking_passes_and_a_planted_leak_is_exposed() {
        let honest = evaluated(PAGES, 1, &|_, _, _| {}).unwrap();
        assert!(honest.leaks.passed(), "{:?}", honest.leaks);
        assert!(honest.leaks.pages_kept > 30 && honest.leaks.pages_decoys > 30, "{:?}", honest.leaks);

        // A signal that counts the link in question where it exists, as a careless count of inlinks would.
        let sees_existing = evaluated(PAGES, 1, &|_, _, rows| {
            rows.iter_mut().filter(|c| c.linked).for_each(|c| c.values[Signal::Inlinks as usize] += 1.0);
        });
        assert_eq!(names(&sees_existing.unwrap().leaks.see_existing), ["Inlinks"]);

        // A signal from a table that was made before the links were hidden.
        let sees_hidden = evaluated(PAGES, 1, &|hidden, source, rows| {
            let seen = rows.iter_mut().filter(|c| c.linked || hidden.contains(&(source, c.target)));
            seen.for_each(|c| c.values[Signal::Votes as usize] = 1.0);
        })
        .unwrap();
        assert_eq!(names(&sees_hidden.leaks.see_hidden), ["Votes"]);
        let recall = |e: &Evaluation| e.row("linkwright").unwrap().figures.recall_1.value;
        assert!(
            recall(&sees_hidden) > recall(&honest),
            "{} > {}: a leak flatters, so it must be exposed",
            recall(&sees_hidden),
            recall(&honest)
        );
    }

    #[test]
    fn the_seed_decides_what_is_hidden_and_nothing_else_does() {
        let (first, again, other) = (evaluated(64, 1, &|_, _, _| {}), evaluated(64, 1, &|_, _, _| {}), evaluated(64, 2, &|_, _, _| {}));
        let first = first.unwrap();
        assert_eq!(first, again.unwrap());
        assert_ne!(first.rows, other.unwrap().rows);
        assert!(first.rows.len() > 8 && first.rows[0].key == "linkwright");
    }

    #[test]
    fn hidden_links_leave_graph_and_phrases() {
        let analysis = analysis(PAGES);
        let (settings, vectors) = (Settings::default(), SiteVectors::default());
        let embed_again = |_: &Analysis, _: &BTreeSet<PageId>, _: &mut SiteVectors| Ok(());
        let subject = Subject {
            analysis: &analysis,
            vectors: &vectors,
            settings: &settings,
            embed_again: &embed_again,
            spoil: &|_, _, _| {},
            progress: &Silent,
        };
        let all: Pairs = analysis.site.ids().flat_map(|s| analysis.graph.body.out[s.index()].iter().map(move |t| (s, *t))).collect();
        let world = subject.without(&all, &Pairs::new(), &BTreeSet::new(), 1);
        assert!(!all.is_empty() && world.graph.body.out.iter().all(Vec::is_empty));
        assert!(
            world.corpus.pages.iter().flat_map(|p| &p.blocks).all(|b| b.links_to.iter().all(|l| *l == linkwright_core::corpus::NO_LINK))
        );
        assert!(world.site.pages.iter().zip(&analysis.site.pages).all(|(a, b)| a.main_text() == b.main_text()));
    }

    #[test]
    fn too_few_links_are_refused_in_a_sentence() {
        let error = evaluated(8, 1, &|_, _, _| {}).unwrap_err();
        assert!(error.message.contains("say nothing") && error.hint.is_some(), "{error:?}");
    }

    /// Values of all signals and rows of all stretches of a pair.
    fn seen(pages: Vec<FetchedPage>, source: usize, target: usize) -> (Vec<f32>, Vec<words::Row>) {
        let analysis = Analysis::new(pages, "https://example.com/", &Settings::default(), "2026-01-01");
        let count = analysis.site.pages.len();
        let vectors = SiteVectors { passages: vec![Vec::new(); count], known: vec![false; count], ..SiteVectors::default() };
        let groundwork = Groundwork::new(&analysis);
        let evidence = groundwork.evidence(&analysis, &vectors, &Settings::default());
        let id = |page: usize| analysis.site.find(&PageUrl::parse(&format!("https://example.com/{page}/")).unwrap()).unwrap();
        let (sources, candidates) = propose::candidates(&analysis, &evidence, &Settings::default());
        let of_source = &candidates[sources.iter().position(|s| *s == id(source)).unwrap()];
        let values = of_source.iter().find(|c| c.target == id(target)).unwrap().values.to_vec();
        (values, words::stretches(&evidence, &words::Targets::new(&evidence), id(source), id(target)).into_iter().map(|s| s.row).collect())
    }

    #[test]
    fn a_pair_looks_the_same_with_and_without_its_link() {
        let mut pairs = 0;
        for source in 0..12 {
            let html = String::from_utf8(page(source).body).unwrap();
            let Some((_, rest)) = html.split_once("<a href='/") else { continue };
            let target: usize = rest.split_once('/').unwrap().0.parse().unwrap();
            let link = format!("<a href='/{target}/'>{}</a>", title(target));
            let without = FetchedPage { body: html.replace(&link, &title(target)).into_bytes(), ..page(source) };
            let all: Vec<FetchedPage> = (0..PAGES).map(page).collect();
            let mut unlinked = all.clone();
            unlinked[source] = without;
            let (with, without) = (seen(all, source, target), seen(unlinked, source, target));
            for ((name, _), (a, b)) in NAMES.iter().zip(with.0.iter().zip(&without.0)) {
                assert!((a - b).abs() < 1e-5, "{name} of {source} to {target}: {a} with the link, {b} without");
            }
            assert_eq!(with.1, without.1, "words that could carry the link from {source} to {target}");
            pairs += 1;
        }
        assert!(pairs >= 10, "{pairs}");
    }
}
