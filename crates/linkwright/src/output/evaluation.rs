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
        "Of 100 links that this site has and linkwright was not shown, about {} stand among the first five proposals of their page.",
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

/// How far scores can be read as probabilities, a sentence each.
pub(crate) fn reliability(found: &Evaluation) -> Vec<String> {
    if !found.calibrated {
        return vec!["Scores are similarities here, not probabilities: too few links to calibrate them.".to_owned()];
    }
    let (all, first) = (&found.calibration, &found.calibration_first_ten);
    vec![
        format!(
            "Among the ten best pairs of each page, score and share of links differ by {:.3} ({} pairs).",
            first.error,
            thousands(first.pairs)
        ),
        format!("Over all pairs, expected calibration error {:.3} ({} pairs).", all.error, thousands(all.pairs)),
    ]
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
    // One line each, so that a program that looks for the word finds every signal.
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
    for sentence in reliability(found) {
        writeln!(out, "  {sentence}")?;
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;

    fn plain(found: &Evaluation) -> String {
        anstream::adapter::strip_str(&render(found)).to_string()
    }

    #[test]
    fn the_evaluation_reads_well_without_colour() {
        insta::assert_snapshot!(plain(&sample::evaluation()));
    }

    #[test]
    fn a_leak_is_said_with_the_name_of_the_signal() {
        let mut found = sample::evaluation();
        let signal = found.leaks.worst_kept.clone().unwrap();
        found.leaks.see_existing = vec![Suspicion { larger: 0.97, errors: 30.0, ..signal }];
        let text = plain(&found);
        assert!(text.contains("FAILED: `Inlinks`") && text.contains("97 %") && !text.contains("passed"), "{text}");
    }

    #[test]
    fn the_verdict_does_not_boast() {
        let mut found = sample::evaluation();
        found.gain = Estimate { value: 0.02, low: -0.01, high: 0.05 };
        assert!(verdict(&found).unwrap().contains("may be chance"));
        found.gain = Estimate { value: -0.1, low: -0.15, high: -0.05 };
        assert!(verdict(&found).unwrap().contains("which is better"));
    }
}
