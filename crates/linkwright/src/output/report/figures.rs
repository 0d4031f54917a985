//! Numbers of the report: tiles, bars and distributions.

use crate::output::counts::{Counts, by_frequency};
use crate::output::digest;
use crate::output::words::{count, thousands};
use linkwright_core::plan::Plan;
use std::collections::BTreeMap;

/// A number of the overview and what stands behind it.
pub(super) struct Tile {
    pub(super) number: String,
    pub(super) name: &'static str,
    pub(super) behind: String,
    pub(super) section: &'static str,
}

/// A bar: its share is of the longest bar beside it.
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) number: String,
    pub(super) percent: usize,
}

/// Two bars over each other: now, and with the plan.
pub(super) struct BeforeAfter {
    pub(super) name: &'static str,
    pub(super) before: Figure,
    pub(super) after: Figure,
}

/// Classes of the inlink distribution: name, lowest number of inlinks.
const INLINK_CLASSES: [(&str, usize); 8] =
    [("none", 0), ("1", 1), ("2", 2), ("3", 3), ("4 to 6", 4), ("7 to 12", 7), ("13 to 50", 13), ("more", 51)];

pub(super) fn tiles(plan: &Plan, counts: &Counts) -> Vec<Tile> {
    let spread =
        format!("on {}, to {}", count(counts.opportunity_sources, "page", "pages"), count(counts.opportunity_targets, "target", "targets"));
    let to_orphans = plan.gaps.iter().filter(|gap| gap.target_orphan == Some(true)).count();
    let gaps = format!("need a sentence first; {} to orphans", thousands(to_orphans));
    let alike = "to merge or tell apart, not to link".to_owned();
    vec![
        tile(counts.opportunities, ["link proposed", "links proposed"], spread, "plan"),
        tile(counts.gaps, ["gap", "gaps"], gaps, "gaps"),
        orphan_tile(counts),
        tile(counts.body_links, ["body link today", "body links today"], per_page(counts), "structure"),
        tile(counts.pages_read, ["page read", "pages read"], format!("of {} found", thousands(counts.pages)), "pages"),
        tile(counts.overlaps, ["pair too alike", "pairs too alike"], alike, "overlaps"),
    ]
}

fn tile(number: usize, [one, many]: [&'static str; 2], behind: String, section: &'static str) -> Tile {
    Tile { number: thousands(number), name: if number == 1 { one } else { many }, behind, section }
}

fn orphan_tile(counts: &Counts) -> Tile {
    let (Some(orphans), Some(helped)) = (counts.orphans, counts.orphans_helped) else {
        return Tile { number: "?".to_owned(), name: "orphans", behind: "unknown: not every page was read".to_owned(), section: "orphans" };
    };
    let behind = match helped {
        _ if orphans == 0 => "every page has a body link".to_owned(),
        0 => "none would get a first body link".to_owned(),
        helped if helped == orphans => "each would get a first body link".to_owned(),
        helped => format!("{} would get a first body link", thousands(helped)),
    };
    tile(orphans, ["orphan", "orphans"], behind, "orphans")
}

/// The report in two sentences.
pub(super) fn lede(counts: &Counts) -> String {
    let read =
        if counts.pages_read == 1 { "1 page was read".to_owned() } else { format!("{} pages were read", thousands(counts.pages_read)) };
    if counts.opportunities == 0 {
        return format!("{read}. No link is proposed; the reasons are counted below.");
    }
    let links = count(counts.opportunities, "link", "links");
    let gaps = match counts.gaps {
        0 => String::new(),
        gaps => format!(", and names {} of pages that need a sentence first", count(gaps, "pair", "pairs")),
    };
    format!("{read}. This report proposes {links} between them, from words that are already on the page{gaps}.")
}

fn per_page(counts: &Counts) -> String {
    if counts.pages_read == 0 {
        return "no page was read".to_owned();
    }
    format!("{:.1} per page on average", counts.body_links as f64 / counts.pages_read as f64)
}

/// How pages found become pages with new links.
pub(super) fn funnel(counts: &Counts) -> Vec<Figure> {
    bars(vec![
        ("found".to_owned(), counts.pages),
        ("read".to_owned(), counts.pages_read),
        ("may be linked to".to_owned(), counts.targets),
        ("may carry new links".to_owned(), counts.sources),
        ("would carry new links".to_owned(), counts.opportunity_sources),
        ("would receive new links".to_owned(), counts.opportunity_targets),
    ])
}

/// A tally as bars, longest first.
pub(super) fn named<K: Ord + Clone>(tally: &BTreeMap<K, usize>, name: impl Fn(&K) -> String) -> Vec<Figure> {
    bars(by_frequency(tally).into_iter().map(|(key, count)| (name(&key), count)).collect())
}

/// Pages per click distance from the home page.
pub(super) fn depths(plan: &Plan) -> Vec<Figure> {
    let name = |depth: Option<u32>| match depth {
        Some(0) => "home page".to_owned(),
        Some(depth) => count(depth as usize, "click", "clicks"),
        None if plan.run.complete => "not reached by links".to_owned(),
        None => "unknown".to_owned(),
    };
    let mut depths: Vec<(Option<u32>, usize)> = digest::depths(plan).into_iter().collect();
    depths.sort_by_key(|(depth, _)| depth.unwrap_or(u32::MAX));
    bars(depths.into_iter().map(|(depth, pages)| (name(depth), pages)).collect())
}

/// How many of the pages that may be linked to have how many body inlinks, now and with the plan.
pub(super) fn inlinks(plan: &Plan) -> Vec<BeforeAfter> {
    let mut before = [0; INLINK_CLASSES.len()];
    let mut after = [0; INLINK_CLASSES.len()];
    for page in plan.pages.iter().filter(|page| page.outcome.was_read() && page.not_target.is_empty()) {
        before[class(page.inlinks)] += 1;
        after[class(page.inlinks + page.proposed_inlinks)] += 1;
    }
    let longest = before.iter().chain(&after).copied().max().unwrap_or(0);
    let rows = INLINK_CLASSES.iter().zip(before.into_iter().zip(after));
    rows.map(|((name, _), (before, after))| BeforeAfter {
        name,
        before: bar("now".to_owned(), before, longest),
        after: bar("with the plan".to_owned(), after, longest),
    })
    .collect()
}

fn class(inlinks: usize) -> usize {
    INLINK_CLASSES.iter().rposition(|(_, lowest)| *lowest <= inlinks).unwrap_or(0)
}

fn bars(rows: Vec<(String, usize)>) -> Vec<Figure> {
    let longest = rows.iter().map(|(_, number)| *number).max().unwrap_or(0);
    rows.into_iter().map(|(name, number)| bar(name, number, longest)).collect()
}

fn bar(name: String, number: usize, longest: usize) -> Figure {
    let percent = if number == 0 { 0 } else { (number * 100 / longest.max(1)).max(1) };
    Figure { name, number: thousands(number), percent }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;

    #[test]
    fn inlinks_fall_into_their_class() {
        let cases = [(0, "none"), (1, "1"), (4, "4 to 6"), (6, "4 to 6"), (7, "7 to 12"), (51, "more"), (9_999, "more")];
        for (inlinks, name) in cases {
            assert_eq!(INLINK_CLASSES[class(inlinks)].0, name);
        }
    }

    #[test]
    fn the_plan_moves_pages_but_does_not_add_any() {
        let rows = inlinks(&sample::plan());
        let sum = |pick: fn(&BeforeAfter) -> &Figure| rows.iter().map(|row| pick(row).number.parse::<usize>().unwrap()).sum::<usize>();
        assert_eq!(sum(|row| &row.before), sum(|row| &row.after));
    }

    #[test]
    fn a_small_number_beside_a_large_one_still_shows() {
        assert_eq!(bar(String::new(), 1, 5_000).percent, 1);
        assert_eq!(bar(String::new(), 0, 5_000).percent, 0);
    }
}
