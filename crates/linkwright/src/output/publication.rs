//! What was written, taken back and seen, in words.

use super::words::{count, thousands};
use linkwright_engine::Recovered;
use linkwright_engine::apply::{ApplyResult, PageOutcome};
use linkwright_engine::undo::UndoResult;
use linkwright_engine::verify::{Seen, VerifyResult};
use std::fmt::Write as _;

/// A line per written page and link.
pub(crate) fn written(result: &ApplyResult) -> String {
    let mut out = String::new();
    for page in result.pages.iter().filter(|page| page.outcome == PageOutcome::Written) {
        let _ = writeln!(out, "{}", page.location);
        for link in &page.links {
            let edit = link.edit.map(|edit| format!("edit:{edit}")).unwrap_or_default();
            let _ = writeln!(out, "  {edit:<9} \"{}\" -> {}", link.anchor, link.href);
        }
    }
    out
}

/// What came of a run of `apply`, and the next step.
pub(crate) fn applied(result: &ApplyResult, write: bool) -> String {
    let mut out = recovered(&result.recovered);
    let done = if write { PageOutcome::Written } else { PageOutcome::Planned };
    let pages = result.pages.iter().filter(|page| page.outcome == done);
    let (pages, links) = pages.fold((0, 0), |(pages, links), page| (pages + 1, links + page.links.len()));
    let what = format!("{} on {}", count(links, "link", "links"), count(pages, "page", "pages"));
    match (links, result.run, write) {
        (0, _, _) if result.pages.is_empty() => out.push_str("no opportunity is accepted: decide with `linkwright review`\n"),
        (_, Some(run), true) => {
            let _ = writeln!(out, "wrote {what} of {} (run {run}; `linkwright undo {run}` takes it back)", result.site);
        }
        _ => {
            let _ = writeln!(out, "{what} of {} would be written; `linkwright apply --write` does it", result.site);
        }
    }
    for page in &result.pages {
        if let Some(problem) = &page.problem {
            let _ = writeln!(out, "not written: {}: {problem}", page.source_url);
        }
        for link in page.skipped.iter().filter(|_| page.problem.is_none()) {
            let _ = writeln!(out, "left out: {}: \"{}\" -> {}: {}", page.source_url, link.anchor, link.target_url, link.reason);
        }
    }
    if let Some(stopped) = &result.stopped {
        let _ = writeln!(out, "stopped there ({stopped}); `--keep-going` goes on with the next page");
    }
    if result.left > 0 {
        let _ = writeln!(out, "{} more with accepted links for the next run (`--max-pages`)", count(result.left, "page", "pages"));
    }
    out.trim_end().to_owned()
}

/// A line per page and link that was taken back.
pub(crate) fn taken_back(result: &UndoResult) -> String {
    let mut out = String::new();
    for page in result.pages.iter().filter(|page| page.written) {
        let exact = if page.restored_exactly { " (the bytes from before)" } else { "" };
        let _ = writeln!(out, "{}{exact}", page.location);
        for link in page.links.iter().filter(|link| link.removed) {
            let _ = writeln!(out, "  {:<9} \"{}\"", format!("edit:{}", link.edit), link.anchor);
        }
    }
    out
}

/// What came of a run of `undo`.
pub(crate) fn undone(result: &UndoResult, dry_run: bool) -> String {
    let mut out = recovered(&result.recovered);
    let links = result.pages.iter().flat_map(|page| &page.links);
    let removed = links.clone().filter(|link| link.removed).count();
    let pages = result.pages.iter().filter(|page| page.written).count();
    let verb = if dry_run { "would take" } else { "took" };
    let _ = writeln!(out, "{verb} {} out of {}", count(removed, "link", "links"), count(pages, "page", "pages"));
    for page in &result.pages {
        for link in page.links.iter().filter(|link| !link.removed) {
            let reason = link.reason.as_deref().unwrap_or_default();
            let _ = writeln!(out, "left: edit:{} in {}: \"{}\": {reason}", link.edit, page.location, link.anchor);
        }
    }
    if let Some(stopped) = &result.stopped {
        let _ = writeln!(out, "stopped there ({stopped}); `--keep-going` goes on with the next page");
    }
    out.trim_end().to_owned()
}

/// What `verify` saw.
pub(crate) fn verified(result: &VerifyResult) -> String {
    let mut out = recovered(&result.recovered);
    if result.run.is_none() {
        out.push_str("no link is accepted or written yet: decide with `linkwright review`\n");
        return out;
    }
    let number = |seen: Seen| result.links.iter().filter(|link| link.seen == seen).count();
    let line = |out: &mut String, seen: Seen, name: &str, then: &str| {
        let _ = writeln!(out, "{:>7} {name}{then}", thousands(number(seen)));
    };
    line(&mut out, Seen::Observed, "observed", ": there, around their words");
    line(&mut out, Seen::Changed, "changed", ": there, but edited since");
    line(&mut out, Seen::Missing, "missing", ": opened again");
    line(&mut out, Seen::Waiting, "waiting", ": accepted, not on the page yet");
    let told = result.links.iter().filter(|link| matches!(link.seen, Seen::Changed | Seen::Missing));
    for link in told {
        let name = if link.seen == Seen::Changed { "changed" } else { "missing" };
        let detail = link.detail.as_deref().unwrap_or_default();
        let _ = writeln!(out, "{name}: {}: \"{}\" -> {}: {detail}", link.source_url, link.anchor, link.target_url);
    }
    for (url, reason) in &result.unread {
        let _ = writeln!(out, "not read: {url}: {reason}");
    }
    out
}

fn recovered(recovered: &[Recovered]) -> String {
    let mut out = String::new();
    for edit in recovered {
        let _ = writeln!(out, "an earlier run was ended while it wrote {}: edit:{}: {}", edit.source_url, edit.edit, edit.outcome);
    }
    out
}
