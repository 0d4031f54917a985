//! The plan as JSON Lines: one object per opportunity, then one per gap, told apart by `type`.

use super::words;
use linkwright_core::plan::{Gap, Opportunity, Plan};
use serde::Serialize;
use std::io::{self, Write};

/// A line. Fields are those of the plan's own types, so that nothing is named twice.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Opportunity {
        /// The sentence itself: `passage` is its byte range in `block_text`.
        passage_text: &'a str,
        #[serde(flatten)]
        opportunity: &'a Opportunity,
    },
    Gap {
        reason_text: String,
        #[serde(flatten)]
        gap: &'a Gap,
    },
}

/// Writes `plan.jsonl`.
pub(crate) fn write_plan(plan: &Plan, mut out: impl Write) -> io::Result<()> {
    for opportunity in &plan.opportunities {
        write_line(&mut out, &Line::Opportunity { passage_text: opportunity.sentence(), opportunity })?;
    }
    for gap in &plan.gaps {
        write_line(&mut out, &Line::Gap { reason_text: words::reason(&gap.reason), gap })?;
    }
    out.flush()
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sample;
    use serde_json::Value;

    #[test]
    fn each_line_is_an_object_with_its_type() {
        let plan = sample::plan();
        let mut out = Vec::new();
        write_plan(&plan, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
        assert_eq!(of("opportunity"), plan.opportunities.len());
        assert_eq!(of("gap"), plan.gaps.len());
        assert_eq!(lines[0]["anchor"], plan.opportunities[0].anchor.as_str());
        assert!(lines[0]["passage_text"].as_str().unwrap().contains(&plan.opportunities[0].anchor));
    }
}
