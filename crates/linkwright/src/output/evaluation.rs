//! The text of `linkwright eval`: the answer in a sentence, then the figures it rests on.

use super::words::{count, thousands};
use anstyle::{AnsiColor, Style};
use linkwright_core::eval::{Calibration, Estimate, Evaluation, LeakCheck, Row, RowKind, Suspicion};
use std::fmt::{self, Write};

const TITLE: Style = Style::new().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();

/// The evaluation as text with ANSI styles.
pub(crate) fn render(found: &Evaluation) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_all(&mut out, found);
    out
}

/// What the figures say, in one sentence; `None` where nothing was hidden.
pub(crate) fn verdict(found: &Evaluation) -> Option<String> {
    let own = found.row("linkwright")?.figures.recall_5;
    let mut verdict = format!(
        "Of 100 links that this site has and linkwright was not shown, {} stand among the first five proposals of their page.",
        hundredths(own.value)
    );
    if let Some(plain) = found.row(&found.best_plain) {
        let _ = write!(verdict, " The best plain ranking, {}, has {}", plain.name, hundredths(plain.figures.recall_5.value));
        verdict.push_str(match found.gain {
            gain if gain.low > 0.0 => ": the difference is no chance.",
            gain if gain.high < 0.0 => ", which is better: the ranking does not fit this site.",
            _ => ": the difference may be chance.",
        });
    }
    Some(verdict)
}

/// What every reader of the figures has to know.
pub(crate) const FLOOR: &str = "A good proposal that nobody has made yet counts as wrong, so the figures are a floor.";

/// Reliability in one line.
pub(crate) fn reliability(found: &Evaluation) -> String {
    if !found.calibrated {
        return "scores are similarities here, not probabilities: too few links to calibrate them".to_owned();
    }
    let of = |c: &Calibration| format!("{:.3} over {} pairs", c.error, thousands(c.pairs));
    format!(
        "a score differs from the share of links at that score by {} (expected calibration error); among the ten best of each page by {}",
        of(&found.calibration),
        of(&found.calibration_first_ten)
    )
}

/// The leak check in one line per finding.
pub(crate) fn leak_lines(leaks: &LeakCheck) -> Vec<String> {
    if leaks.passed() {
        return vec![format!(
            "passed: no signal tells hidden links from kept ones ({}), nor decoys from the pairs beside them ({})",
            worst(leaks.worst_kept.as_ref(), leaks.pages_kept),
            worst(leaks.worst_decoys.as_ref(), leaks.pages_decoys)
        )];
    }
    let line = |what: &'static str| {
        move |s: &Suspicion| {
            format!(
                "FAILED: `{}` ({}) sees {what}: right in {:.0} % of the cases, by chance it would be 50 %",
                s.signal,
                s.meaning,
                100.0 * s.larger.max(1.0 - s.larger)
            )
        }
    };
    let existing = leaks.see_existing.iter().map(line("which links exist"));
    let hidden = leaks.see_hidden.iter().map(line("which links were hidden"));
    existing.chain(hidden).collect()
}

fn worst(signal: Option<&Suspicion>, pages: usize) -> String {
    match signal {
        Some(s) => format!(
            "at most {:.0} % right on {}, by chance 50 %: {}",
            100.0 * s.larger.max(1.0 - s.larger),
            count(pages, "page", "pages"),
            s.signal
        ),
        None => "no page has both".to_owned(),
    }
}

fn write_all(out: &mut String, found: &Evaluation) -> fmt::Result {
    writeln!(
        out,
        "{TITLE}{}{TITLE:#}  {}, {}; {} of them hidden each time, {}, seed {}",
        found.base_url,
        count(found.pages, "page", "pages"),
        count(found.links, "body link", "body links"),
        percent(found.share),
        count(found.folds, "time", "times"),
        found.seed
    )?;
    for notice in &found.notices {
        writeln!(out, "{CAUTION}note:{CAUTION:#} {notice}")?;
    }
    if let Some(verdict) = verdict(found) {
        writeln!(out, "\n{verdict}\n{FLOOR}")?;
    }
    writeln!(out, "\n{TITLE}{:<28}   R@1   R@3   R@5  (95 %)        R@10   MRR  cold  warm   hot  links{TITLE:#}", "Found again")?;
    let mut before = None;
    for row in &found.rows {
        if before.is_some_and(|kind| kind != row.kind) {
            writeln!(out)?;
        }
        before = Some(row.kind);
        write_row(out, row)?;
    }
    title(out, "Words of the links that were found")?;
    let anchors = &found.anchors;
    writeln!(
        out,
        "  of {} found among the first ten: {} have words to propose, {} just the hidden ones, {} share a word with them",
        thousands(anchors.found),
        percent(anchors.with_words),
        percent(anchors.exact),
        percent(anchors.share_a_word)
    )?;
    title(out, "Probabilities")?;
    writeln!(out, "  {}", reliability(found))?;
    if found.calibrated {
        write_bins(out, &found.calibration_first_ten)?;
    }
    title(out, "Leak check")?;
    for line in leak_lines(&found.leaks) {
        writeln!(out, "  {line}")?;
    }
    title(out, "How it was ranked")?;
    writeln!(out, "  {}", found.ranking)
}

fn write_row(out: &mut String, row: &Row) -> fmt::Result {
    let f = &row.figures;
    let bold = if row.kind == RowKind::Full { TITLE } else { Style::new() };
    writeln!(
        out,
        "{bold}  {:<26}{}{}{}  {:<12}{}{}{}{}{}{:>7}{bold:#}",
        row.name,
        figure(Some(f.recall_1)),
        figure(Some(f.recall_3)),
        figure(Some(f.recall_5)),
        format!("{:.2}-{:.2}", f.recall_5.low, f.recall_5.high),
        figure(Some(f.recall_10)),
        figure(Some(f.mrr)),
        figure(f.cold),
        figure(f.warm),
        figure(f.hot),
        thousands(row.hidden)
    )
}

fn write_bins(out: &mut String, calibration: &Calibration) -> fmt::Result {
    let line = |name: &str, values: Vec<f64>| {
        let cells: Vec<String> = values.into_iter().map(|v| format!("{v:>6.2}")).collect();
        format!("  {name:<28}{}", cells.join(""))
    };
    writeln!(out, "{}", line("score, tenths of those pairs", calibration.bins.iter().map(|b| b.score).collect()))?;
    writeln!(out, "{}", line("share of links", calibration.bins.iter().map(|b| b.links).collect()))
}

fn figure(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| "     -".to_owned(), |e| format!("{:>6.2}", e.value))
}

fn hundredths(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn title(out: &mut String, text: &str) -> fmt::Result {
    writeln!(out, "\n{TITLE}{text}{TITLE:#}")
}
