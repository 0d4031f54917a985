//! The text of `linkwright report`: the state of the site's links on one screen per subject.

use super::counts::Counts;
use super::summary::write_notice;
use super::words::{count, short_url, thousands};
use anstyle::Style;
use linkwright_core::plan::{OverlapKind, PageSummary, Plan};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Longest list that is printed; the report has all of it.
const SHOWN: usize = 15;
const TITLE: Style = Style::new().bold();

/// The digest as text with ANSI styles.
pub(crate) fn render(plan: &Plan) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_all(&mut out, plan);
    out
}

/// Pages by number of clicks from the home page; `None` for those that no link reaches.
pub(crate) fn depths(plan: &Plan) -> BTreeMap<Option<u32>, usize> {
    let mut depths = BTreeMap::new();
    for page in plan.pages.iter().filter(|page| page.outcome.was_read()) {
        *depths.entry(page.depth).or_insert(0) += 1;
    }
    depths
}

/// Read pages by authority, highest first; ties by URL.
pub(crate) fn by_authority(plan: &Plan) -> Vec<&PageSummary> {
    let mut pages: Vec<&PageSummary> = plan.pages.iter().filter(|page| page.outcome.was_read()).collect();
    pages.sort_by(|a, b| b.authority.total_cmp(&a.authority).then_with(|| a.url.cmp(&b.url)));
    pages
}

fn write_all(out: &mut String, plan: &Plan) -> fmt::Result {
    let counts = Counts::of(plan);
    let base = plan.run.base_url.as_str();
    let read = count(counts.pages_read, "page", "pages");
    writeln!(out, "{TITLE}{base}{TITLE:#}  {read}, {} body links, run {}", thousands(counts.body_links), plan.run.id)?;
    for notice in &plan.notices {
        write_notice(out, notice)?;
    }
    write_orphans(out, plan, &counts)?;
    write_depths(out, plan)?;
    title(out, "Authority (PageRank over body links, mean 1)")?;
    let authority = by_authority(plan);
    list(out, &authority, |page| format!("{:7.2}  {}  {} in", page.authority, short_url(&page.url, base), page.inlinks))?;
    title(out, "Anchors per target (now + proposed)")?;
    list(out, &plan.anchors.iter().collect::<Vec<_>>(), |target| {
        let anchors: Vec<String> = target.anchors.iter().take(4).map(|(text, now, new)| format!("\"{text}\" {now}+{new}")).collect();
        format!("  {}  {}", short_url(&target.target_url, base), anchors.join(", "))
    })?;
    title(out, "Pages too alike")?;
    list(out, &plan.overlaps.iter().collect::<Vec<_>>(), |overlap| {
        let kind = match overlap.kind {
            OverlapKind::NearDuplicate => "near duplicate",
            OverlapKind::Cannibalization => "compete in search",
        };
        format!("  {} and {}: {kind}; {}", short_url(&overlap.first_url, base), short_url(&overlap.second_url, base), overlap.advice)
    })
}

fn write_orphans(out: &mut String, plan: &Plan, counts: &Counts) -> fmt::Result {
    title(out, "Orphans")?;
    if counts.orphans.is_none() {
        return writeln!(out, "  unknown: not every page was read");
    }
    let orphans: Vec<&PageSummary> = plan.pages.iter().filter(|page| page.orphan == Some(true)).collect();
    list(out, &orphans, |page| {
        format!("  {}  {}", short_url(&page.url, &plan.run.base_url), count(page.proposed_inlinks, "link proposed", "links proposed"))
    })
}

fn write_depths(out: &mut String, plan: &Plan) -> fmt::Result {
    title(out, "Crawl depth (clicks from the home page, over all links)")?;
    for (depth, pages) in depths(plan) {
        let name = depth.map_or_else(|| "not reached".to_owned(), |depth| depth.to_string());
        writeln!(out, "{:>12}  {}", name, count(pages, "page", "pages"))?;
    }
    Ok(())
}

fn title(out: &mut String, name: &str) -> fmt::Result {
    writeln!(out, "\n{TITLE}{name}{TITLE:#}")
}

fn list<T>(out: &mut String, items: &[&T], line: impl Fn(&T) -> String) -> fmt::Result {
    if items.is_empty() {
        return writeln!(out, "  none");
    }
    for item in items.iter().take(SHOWN) {
        writeln!(out, "{}", line(item))?;
    }
    if items.len() > SHOWN {
        writeln!(out, "  and {} more: see report.html", thousands(items.len() - SHOWN))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;

    #[test]
    fn the_digest_reads_well_without_colour() {
        insta::assert_snapshot!(anstream::adapter::strip_str(&render(&sample::plan())).to_string());
    }
}
