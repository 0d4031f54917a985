//! The evaluation in the report: an answer, a chart of all rankings, the table, and how far scores can be trusted.

use super::figures::Figure;
use crate::output::evaluation::{self, FLOOR};
use crate::output::words::{count, thousands};
use linkwright_core::eval::{AnchorAgreement, Estimate, Evaluation, Row, RowKind};
use linkwright_core::plan::Plan;

/// Where bars begin and how long one of 1 is, in the chart's units.
const START: f64 = 230.0;
const LENGTH: f64 = 350.0;
/// Height of a bar's row.
const STEP: usize = 24;
/// Side of the reliability chart's square and its place.
const SQUARE: f64 = 260.0;
const SQUARE_LEFT: f64 = 40.0;

/// What the section shows.
pub(super) struct Quality {
    pub(super) measured: String,
    pub(super) notices: Vec<String>,
    pub(super) verdict: String,
    pub(super) floor: &'static str,
    pub(super) height: usize,
    pub(super) axis: usize,
    pub(super) ticks: Vec<Tick>,
    pub(super) bars: Vec<Bar>,
    pub(super) heads: [&'static str; 9],
    pub(super) rows: Vec<TableRow>,
    pub(super) anchors: Vec<Figure>,
    pub(super) points: Vec<Point>,
    pub(super) curve: String,
    pub(super) reliability: Vec<String>,
    pub(super) leaks: Vec<String>,
}

/// A mark of the axis.
pub(super) struct Tick {
    pub(super) at: String,
    pub(super) label: &'static str,
}

/// A bar with its interval.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) own: bool,
    pub(super) y: usize,
    pub(super) width: String,
    pub(super) low: String,
    pub(super) high: String,
    pub(super) beside: String,
    pub(super) value: String,
}

/// A row of the table.
pub(super) struct TableRow {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) cells: Vec<String>,
}

/// A bin of the reliability table as a point.
pub(super) struct Point {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) title: String,
}

impl Quality {
    pub(super) fn of(found: &Evaluation, plan: &Plan) -> Self {
        let axis = found.rows.len() * STEP;
        let points = if found.calibrated { points(found) } else { Vec::new() };
        Self {
            measured: measured(found),
            notices: notices(found, plan),
            verdict: evaluation::verdict(found).unwrap_or_default(),
            floor: FLOOR,
            height: axis + 22,
            axis,
            ticks: [("0", 0.0), ("0.25", 0.25), ("0.5", 0.5), ("0.75", 0.75), ("1", 1.0)]
                .map(|(label, at)| Tick { at: along(at), label })
                .into(),
            bars: found.rows.iter().enumerate().map(|(place, row)| bar(row, place)).collect(),
            heads: ["R@1", "R@3", "R@5", "R@10", "MRR", "cold", "warm", "hot", "links"],
            rows: found.rows.iter().map(table_row).collect(),
            anchors: anchors(&found.anchors),
            curve: points.iter().map(|p| format!("{},{}", p.x, p.y)).collect::<Vec<_>>().join(" "),
            points,
            reliability: evaluation::reliability(found),
            leaks: evaluation::leak_lines(&found.leaks),
        }
    }
}

fn measured(found: &Evaluation) -> String {
    format!(
        "{} of this site’s {} between pages that a plan could link were hidden, {} over, and looked for with everything that depends on links read anew (seed {}, run {}).",
        share(found.share),
        count(found.links, "body link", "body links"),
        count(found.folds, "time", "times"),
        found.seed,
        found.run
    )
}

fn notices(found: &Evaluation, plan: &Plan) -> Vec<String> {
    let mut notices = found.notices.clone();
    if found.run != plan.run.id {
        notices.push(format!("measured on run {}, this is run {}: measure again with `linkwright eval`", found.run, plan.run.id));
    }
    if !found.leaks.passed() {
        notices.push("a signal saw what was hidden: the figures are worth nothing, see the leak check".to_owned());
    }
    notices
}

fn along(value: f64) -> String {
    format!("{:.1}", START + LENGTH * value.clamp(0.0, 1.0))
}

fn bar(row: &Row, place: usize) -> Bar {
    let found = row.figures.recall_5;
    Bar {
        name: row.name.clone(),
        own: row.kind == RowKind::Full,
        y: place * STEP,
        width: format!("{:.1}", LENGTH * found.value.clamp(0.0, 1.0)),
        low: along(found.low),
        high: along(found.high),
        beside: format!("{:.1}", START + LENGTH * found.high.max(found.value).clamp(0.0, 1.0) + 8.0),
        value: format!("{:.2}", found.value),
    }
}

fn table_row(row: &Row) -> TableRow {
    let f = &row.figures;
    let value = |e: Estimate| format!("{:.2}", e.value);
    let maybe = |e: Option<Estimate>| e.map_or_else(|| "–".to_owned(), value);
    TableRow {
        name: row.name.clone(),
        about: row.about.clone(),
        cells: vec![
            value(f.recall_1),
            value(f.recall_3),
            format!("{} ({:.2}–{:.2})", value(f.recall_5), f.recall_5.low, f.recall_5.high),
            value(f.recall_10),
            value(f.mrr),
            maybe(f.cold),
            maybe(f.warm),
            maybe(f.hot),
            thousands(row.hidden),
        ],
    }
}

fn anchors(found: &AnchorAgreement) -> Vec<Figure> {
    let figure = |name: &str, value: f64| Figure { name: name.to_owned(), number: share(value), percent: whole_percent(value) };
    vec![
        figure("words to propose", found.with_words),
        figure("just the hidden words", found.exact),
        figure("a word in common", found.share_a_word),
    ]
}

fn points(found: &Evaluation) -> Vec<Point> {
    let point = |b: &linkwright_core::eval::Bin| Point {
        x: format!("{:.1}", SQUARE_LEFT + SQUARE * b.score.clamp(0.0, 1.0)),
        y: format!("{:.1}", SQUARE * (1.0 - b.links.clamp(0.0, 1.0))),
        title: format!("score {:.2}, {:.2} are links ({} pairs)", b.score, b.links, thousands(b.pairs)),
    };
    found.calibration_first_ten.bins.iter().map(point).collect()
}

fn share(value: f64) -> String {
    format!("{:.0} %", 100.0 * value)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share, clamped")]
fn whole_percent(value: f64) -> usize {
    (100.0 * value.clamp(0.0, 1.0)).round() as usize
}
