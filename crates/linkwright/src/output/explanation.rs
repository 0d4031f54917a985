//! The text of `linkwright explain`: the verdict first, then what it rests on.

use super::words::{short_url, thousands};
use anstyle::Style;
use linkwright_core::plan::{Gap, Opportunity, PageSummary};
use linkwright_engine::views::{Considered, Explanation, PairStory, Reason};
use std::fmt::{self, Write};

const TITLE: Style = Style::new().bold();
/// Places of a pair that are shown.
const PLACES_SHOWN: usize = 5;

/// The explanation as text with ANSI styles.
pub(crate) fn render(story: &Explanation) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_all(&mut out, story);
    out
}

fn write_all(out: &mut String, story: &Explanation) -> fmt::Result {
    write_page(out, "from", &story.source)?;
    if let Some(target) = &story.target {
        write_page(out, "to", target)?;
    }
    writeln!(out, "\n{TITLE}{}{TITLE:#}", story.verdict)?;
    write_reasons(out, &story.reasons)?;
    if let Some(pair) = &story.pair {
        write_pair(out, pair)?;
    }
    write_opportunities(out, &story.opportunities)?;
    write_gaps(out, &story.gaps)?;
    match story.target {
        Some(_) => Ok(()),
        None => write_considered(out, &story.considered),
    }
}

fn write_page(out: &mut String, word: &str, page: &PageSummary) -> fmt::Result {
    writeln!(out, "{word:<5} {}  {}", page.url, page.title)
}

fn write_reasons(out: &mut String, reasons: &[Reason]) -> fmt::Result {
    for reason in reasons {
        writeln!(out, "  {}  {}: {}", reason.code, reason.name, reason.why)?;
        if !reason.setting.is_empty() {
            writeln!(out, "       setting: {}", reason.setting)?;
        }
    }
    Ok(())
}

fn write_pair(out: &mut String, pair: &PairStory) -> fmt::Result {
    title(out, "The pair")?;
    writeln!(out, "  number {} of the source's candidates, score {:.2}, floor {:.2}", pair.rank, pair.score, pair.floor)?;
    for signal in &pair.signals {
        writeln!(out, "  {:+.2}  {:<16}  {} ({})", signal.part, weight_words(signal.part), signal.words, rounded(signal.value))?;
    }
    title(out, "Words that could carry the link")?;
    if pair.places.is_empty() {
        writeln!(out, "  none")?;
    }
    for place in pair.places.iter().take(PLACES_SHOWN) {
        writeln!(out, "  \"{}\" in: {}", place.anchor, place.passage)?;
    }
    for (code, name, places) in &pair.removed {
        writeln!(out, "  {} removed: {name} ({code})", thousands(usize::try_from(*places).unwrap_or(usize::MAX)))?;
    }
    Ok(())
}

/// A part of the log odds in words: 0.7 doubles the odds, 2.3 makes them ten times as high.
pub(crate) fn weight_words(part: f64) -> &'static str {
    match part {
        p if p.abs() < f64::EPSILON => "in the order",
        p if p >= 1.5 => "strongly for",
        p if p >= 0.4 => "for",
        p if p > 0.0 => "slightly for",
        p if p > -0.4 => "slightly against",
        p if p > -1.5 => "against",
        _ => "strongly against",
    }
}

/// Two decimals are enough for people.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
}

fn write_opportunities(out: &mut String, opportunities: &[Opportunity]) -> fmt::Result {
    if opportunities.is_empty() {
        return Ok(());
    }
    title(out, "Proposed")?;
    for o in opportunities {
        writeln!(out, "  {:.2}  \"{}\" to {}", o.score, o.anchor, o.target_url)?;
        writeln!(out, "        {}", o.sentence())?;
    }
    Ok(())
}

fn write_gaps(out: &mut String, gaps: &[Gap]) -> fmt::Result {
    if gaps.is_empty() {
        return Ok(());
    }
    title(out, "Gaps")?;
    for gap in gaps {
        writeln!(out, "  {:.2}  to {}", gap.score, gap.target_url)?;
        if let Some(paragraph) = &gap.paragraph {
            writeln!(out, "        a sentence would fit into: {paragraph}")?;
        }
    }
    Ok(())
}

fn write_considered(out: &mut String, considered: &[Considered]) -> fmt::Result {
    if considered.is_empty() {
        return Ok(());
    }
    title(out, "Candidates, best first")?;
    let width = considered.iter().map(|c| c.outcome.chars().count()).max().unwrap_or(0);
    for candidate in considered {
        let rule = candidate.rule.as_deref().unwrap_or("");
        writeln!(out, "  {:.2}  {:<4} {:<width$}  {}", candidate.score, rule, candidate.outcome, short_url(&candidate.target_url, ""))?;
    }
    Ok(())
}

fn title(out: &mut String, name: &str) -> fmt::Result {
    writeln!(out, "\n{TITLE}{name}{TITLE:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;
    use linkwright_engine::views::Place;

    fn story() -> Explanation {
        let plan = sample::plan();
        Explanation {
            source: plan.pages[3].clone(),
            target: Some(plan.pages[5].clone()),
            verdict: "proposed, with the words `rye sourdough starter`".to_owned(),
            reasons: vec![Reason {
                code: "R02".to_owned(),
                name: "already linked in the body".to_owned(),
                why: "a second link to the same page adds nothing".to_owned(),
                setting: "always on".to_owned(),
            }],
            pair: Some(PairStory {
                rank: 1,
                score: 0.81,
                floor: 0.4,
                signals: plan.opportunities[0].signals.clone(),
                places: vec![Place { anchor: "rye starter".to_owned(), passage: "Feed the rye starter.".to_owned(), strength: 0.7 }],
                removed: vec![("A08".to_owned(), "inside a link".to_owned(), 2)],
            }),
            opportunities: vec![plan.opportunities[0].clone()],
            gaps: plan.gaps.clone(),
            considered: Vec::new(),
        }
    }

    #[test]
    fn the_verdict_comes_first_and_everything_behind_it_follows() {
        insta::assert_snapshot!(anstream::adapter::strip_str(&render(&story())).to_string());
    }
}
