//! What was understood and proposed, as a [`Plan`]: the plain data that every output shows.

use crate::analysis::Analysis;
use crate::favour::Favour;
use crate::propose::{Proposal, rounded, words_of};
use linkwright_core::anchor::Anchor;
use linkwright_core::guardrail::pages::outcome_rule;
use linkwright_core::guardrail::{Counts, Guardrail};
use linkwright_core::opportunity::Pair;
use linkwright_core::overlap;
use linkwright_core::page::{BlockKind, FetchOutcome, FetchedPage, LanguageSource, LinkKind, Page};
use linkwright_core::plan::{Gap, Notice, Opportunity, Overlap, OverlapKind, PageSummary, Plan, RunInfo, Signal, TargetAnchors};
use linkwright_core::settings::Settings;
use linkwright_core::site_index::PageId;
use linkwright_core::text::fold;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// Why a source got nothing though no page rule is against it.
pub const NOTHING: &[(&str, &str)] = &[
    ("N01", "no page of the site is related enough"),
    ("N02", "related pages are linked already"),
    ("N03", "no words of the page can carry the links it should have"),
    ("N04", "the caps were reached first"),
];

/// Builds the plan.
#[must_use]
pub(crate) fn assemble(analysis: &Analysis, proposal: &Proposal, settings: &Settings, run: RunInfo, notices: Vec<Notice>) -> Plan {
    let opportunities: Vec<Opportunity> = proposal
        .choice
        .chosen
        .iter()
        .map(|c| opportunity(analysis, proposal, settings, &proposal.pairs[c.pair], &c.anchor, &run))
        .collect();
    let gaps = proposal.choice.gaps.iter().map(|number| gap(analysis, &proposal.pairs[*number], &run)).collect();
    let counts = page_counts(analysis, proposal);
    let anchors = target_anchors(analysis, &opportunities);
    let mut plan = Plan {
        pages: Vec::new(),
        opportunities,
        gaps,
        overlaps: overlaps(analysis, proposal),
        guardrails: counts.table(),
        anchors,
        notices,
        run,
    };
    plan.pages = page_summaries(analysis, proposal, &plan);
    plan
}

fn page_counts(analysis: &Analysis, proposal: &Proposal) -> Counts {
    let mut counts = proposal.counts.clone();
    for eligibility in &analysis.eligibility {
        let mut rules: Vec<Guardrail> = eligibility.not_source.iter().chain(&eligibility.not_target).copied().collect();
        rules.sort_unstable();
        rules.dedup();
        rules.into_iter().for_each(|g| counts.removed(g));
    }
    for failed in &analysis.failed {
        if let Some(rule) = outcome_rule(failed.outcome) {
            counts.removed(rule);
        }
    }
    for id in analysis.site.ids().filter(|p| analysis.rankable_source(*p)) {
        if proposal.without_vector.contains(&id) {
            counts.flagged(Guardrail::UnknownLanguage);
        }
    }
    counts
}

fn opportunity(analysis: &Analysis, proposal: &Proposal, settings: &Settings, pair: &Pair, anchor: &Anchor, run: &RunInfo) -> Opportunity {
    let (source, target) = (analysis.site.page(pair.source), analysis.site.page(pair.target));
    let block = &source.blocks[anchor.block];
    let source_hash = analysis.body_hash(pair.source);
    let flags = [(&proposal.template_linked, Guardrail::TemplateLinked), (&proposal.once_rejected, Guardrail::Rejected)];
    let flags = flags.into_iter().filter(|(pairs, _)| pairs.contains(&(pair.source, pair.target)));
    let words = words_of(analysis, pair.source, anchor);
    let leads_to = proposal.sections.of(analysis, pair.source, pair.target, words);
    // The words and not the bytes: an edit elsewhere in the page makes no other opportunity of it.
    let place = format!("{}\n{}\n{}\n{}", source.url, target.url, anchor.span.start, block.text);
    Opportunity {
        // The letter keeps spreadsheets from taking it for a number such as 12e4.
        id: format!("o{}", &blake3::hash(place.as_bytes()).to_hex()[..15]),
        source_url: source.url.to_string(),
        source_title: source.short_title.clone(),
        target_url: target.url.to_string(),
        target_title: target.short_title.clone(),
        anchor: words.to_owned(),
        href: analysis.href(pair.source, pair.target, leads_to.as_deref(), settings),
        block_kind: block.kind,
        block_text: block.text.clone(),
        passage: anchor.passage,
        anchor_span: anchor.span,
        source_span: anchor.source,
        source_hash,
        section: heading_above(source, anchor.block),
        score: rounded(pair.score),
        signals: signals(analysis, proposal, settings, pair),
        flags: flags.map(|(_, rule)| rule.code().to_owned()).collect(),
        target_inlinks: analysis.graph.body.into[pair.target.index()].len(),
        target_orphan: orphan(analysis, pair.target, run),
    }
}

/// What made the score, and what put the pair before others.
fn signals(analysis: &Analysis, proposal: &Proposal, settings: &Settings, pair: &Pair) -> Vec<Signal> {
    let mut signals = proposal.signals_of(pair.source, pair.target);
    let (by, reasons) = Favour::new(&settings.favour).of(analysis, pair.target);
    if by != 0.0 {
        let words = format!("favoured in the order by the settings: {}", reasons.join(", "));
        signals.push(Signal { name: "favour".to_owned(), value: rounded(by), part: 0.0, words });
    }
    signals
}

fn gap(analysis: &Analysis, pair: &Pair, run: &RunInfo) -> Gap {
    let (source, target) = (analysis.site.page(pair.source), analysis.site.page(pair.target));
    Gap {
        source_url: source.url.to_string(),
        source_title: source.short_title.clone(),
        target_url: target.url.to_string(),
        target_title: target.short_title.clone(),
        score: rounded(pair.score),
        reason: pair.found.removed.most().map_or("N03", Guardrail::code).to_owned(),
        paragraph: pair.best_block.map(|b| source.blocks[b].text.clone()),
        target_orphan: orphan(analysis, pair.target, run),
    }
}

/// The heading that a block stands under.
pub(crate) fn heading_above(page: &Page, block: usize) -> Option<String> {
    page.blocks[..block].iter().rev().find(|b| b.main && matches!(b.kind, BlockKind::Heading(_))).map(|b| b.text.clone())
}

fn orphan(analysis: &Analysis, id: PageId, run: &RunInfo) -> Option<bool> {
    run.complete.then(|| analysis.is_orphan(id))
}

fn overlaps(analysis: &Analysis, proposal: &Proposal) -> Vec<Overlap> {
    let advice = |kind| match kind {
        OverlapKind::NearDuplicate => "keep one, redirect the other to it or name it as canonical",
        OverlapKind::Cannibalization => "merge them, or give each its own subject and title, then link the weaker to the stronger",
    };
    proposal
        .overlaps
        .iter()
        .map(|o| {
            let (first, second) = (analysis.site.page(o.first), analysis.site.page(o.second));
            Overlap {
                first_url: first.url.to_string(),
                first_title: first.short_title.clone(),
                second_url: second.url.to_string(),
                second_title: second.short_title.clone(),
                shared_text: rounded(o.shared_text),
                similarity: rounded(o.similarity),
                kind: o.kind,
                advice: advice(o.kind).to_owned(),
            }
        })
        .collect()
}

fn target_anchors(analysis: &Analysis, opportunities: &[Opportunity]) -> Vec<TargetAnchors> {
    let mut table: BTreeMap<String, BTreeMap<String, (String, usize, usize)>> = BTreeMap::new();
    for id in analysis.site.ids() {
        for link in analysis.site.page(id).links.iter().filter(|l| l.kind == LinkKind::Body && !l.anchor.is_empty()) {
            let Some(target) = analysis.site.find(&link.target).filter(|t| *t != id) else { continue };
            let row = table.entry(analysis.site.page(target).url.to_string()).or_default();
            row.entry(fold(&link.anchor)).or_insert_with(|| (link.anchor.clone(), 0, 0)).1 += 1;
        }
    }
    for opportunity in opportunities {
        let row = table.entry(opportunity.target_url.clone()).or_default();
        row.entry(fold(&opportunity.anchor)).or_insert_with(|| (opportunity.anchor.clone(), 0, 0)).2 += 1;
    }
    let titles: HashMap<String, &str> = analysis.site.pages.iter().map(|p| (p.url.to_string(), p.short_title.as_str())).collect();
    let row = |(url, anchors): (String, BTreeMap<String, (String, usize, usize)>)| {
        let mut anchors: Vec<(String, usize, usize)> = anchors.into_values().collect();
        anchors.sort_by(|a, b| (b.1 + b.2).cmp(&(a.1 + a.2)).then(a.0.cmp(&b.0)));
        TargetAnchors { target_title: titles.get(&url).copied().unwrap_or_default().to_owned(), target_url: url, anchors }
    };
    table.into_iter().map(row).collect()
}

fn page_summaries(analysis: &Analysis, proposal: &Proposal, plan: &Plan) -> Vec<PageSummary> {
    let count = |urls: Vec<&String>| {
        let mut table: HashMap<String, usize> = HashMap::new();
        urls.into_iter().for_each(|u| *table.entry(u.clone()).or_default() += 1);
        table
    };
    let by_source = count(plan.opportunities.iter().map(|o| &o.source_url).collect());
    let by_target = count(plan.opportunities.iter().map(|o| &o.target_url).collect());
    let gaps = count(plan.gaps.iter().map(|g| &g.source_url).collect());
    let of = |table: &HashMap<String, usize>, url: &str| table.get(url).copied().unwrap_or(0);
    let prints: Vec<String> = analysis.site.pages.par_iter().map(|page| overlap::fingerprint(&page.main_text())).collect();
    let mut rows: Vec<PageSummary> = analysis
        .site
        .ids()
        .zip(&analysis.fetched)
        .map(|(id, fetched)| {
            let page = analysis.site.page(id);
            let mut row = summary(fetched, page.short_title.clone());
            let codes = |rules: &[Guardrail]| rules.iter().map(|g| g.code().to_owned()).collect();
            row.language.clone_from(&page.language);
            row.language_source = page.language_source;
            row.words = page.word_count;
            row.fingerprint.clone_from(&prints[id.index()]);
            row.published.clone_from(&page.published);
            row.not_source = codes(&analysis.eligibility[id.index()].not_source);
            row.not_target = codes(&analysis.eligibility[id.index()].not_target);
            row.outlinks = analysis.graph.body.out[id.index()].len();
            row.inlinks = analysis.graph.body.into[id.index()].len();
            row.inlinks_all = analysis.graph.all.into[id.index()].len();
            row.depth = plan.run.complete.then(|| analysis.graph.depth[id.index()]).flatten();
            row.orphan = orphan(analysis, id, &plan.run);
            row.authority = rounded(analysis.graph.authority[id.index()]);
            row.opportunities = of(&by_source, &row.url);
            row.proposed_inlinks = of(&by_target, &row.url);
            row.gaps = of(&gaps, &row.url);
            row.nothing = nothing(analysis, proposal, id, &row);
            row
        })
        .chain(analysis.failed.iter().map(|fetched| {
            let mut row = summary(fetched, String::new());
            let code = outcome_rule(fetched.outcome).map(|g| g.code().to_owned());
            row.not_source = code.clone().into_iter().collect();
            row.not_target = code.into_iter().collect();
            row
        }))
        .collect();
    rows.sort_by(|a, b| a.url.cmp(&b.url));
    rows
}

fn summary(fetched: &FetchedPage, title: String) -> PageSummary {
    PageSummary {
        url: fetched.url.to_string(),
        path: fetched.path.clone(),
        format: fetched.format,
        outcome: match fetched.outcome {
            FetchOutcome::Unchanged => FetchOutcome::Fetched,
            other => other,
        },
        status: fetched.status,
        detail: fetched.detail.clone(),
        title,
        language: String::new(),
        language_source: LanguageSource::Unknown,
        words: 0,
        fingerprint: String::new(),
        published: None,
        in_sitemap: fetched.discovery.sitemap,
        in_links: fetched.discovery.links,
        not_source: Vec::new(),
        not_target: Vec::new(),
        outlinks: 0,
        inlinks: 0,
        inlinks_all: 0,
        depth: None,
        orphan: None,
        authority: 0.0,
        opportunities: 0,
        proposed_inlinks: 0,
        gaps: 0,
        nothing: None,
    }
}

fn nothing(analysis: &Analysis, proposal: &Proposal, id: PageId, row: &PageSummary) -> Option<String> {
    if row.opportunities > 0 {
        return None;
    }
    if let Some(rule) = analysis.eligibility[id.index()].not_source.first() {
        return Some(rule.code().to_owned());
    }
    if let Some(rule) = proposal.choice.capped.get(&id) {
        return Some(if matches!(rule, Guardrail::Density) { rule.code() } else { "N04" }.to_owned());
    }
    if proposal.pairs.iter().any(|p| p.source == id) {
        return Some("N03".to_owned());
    }
    let linked = proposal.ranked.get(&id).is_some_and(|rows| rows.iter().any(|r| r.rule == Some(Guardrail::AlreadyLinked)));
    Some(if linked { "N02" } else { "N01" }.to_owned())
}
