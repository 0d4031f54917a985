//! A page before and after, as a unified diff that `patch -p1` takes.
//!
//! Lines of web pages can be a whole article long. On a terminal they are cut around what changed; anywhere else the
//! diff is exact.

use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;

/// Characters shown on each side of a change in a long line.
const AROUND: usize = 70;
/// Lines up to this length are shown whole.
const LONG: usize = 240;

/// The diff, empty when nothing changed.
pub(crate) fn render(path: &str, before: &str, after: &str, short: bool) -> String {
    if before == after {
        return String::new();
    }
    let diff = TextDiff::from_lines(before, after);
    if !short {
        return diff.unified_diff().context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string();
    }
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
        let _ = writeln!(out, "{}", hunk.header());
        let changes: Vec<(ChangeTag, &str)> = hunk.iter_changes().map(|c| (c.tag(), c.value().trim_end_matches(['\r', '\n']))).collect();
        changes.chunk_by(|(a, _), (b, _)| (*a == ChangeTag::Equal) == (*b == ChangeTag::Equal)).for_each(|run| short_run(run, &mut out));
    }
    out
}

/// Lines that stay are cut at their end, lines that were exchanged around what differs in them.
fn short_run(run: &[(ChangeTag, &str)], out: &mut String) {
    let of = |tag: ChangeTag| run.iter().filter(move |(t, _)| *t == tag).map(|(_, line)| *line).collect::<Vec<&str>>();
    let (old, new) = (of(ChangeTag::Delete), of(ChangeTag::Insert));
    for line in of(ChangeTag::Equal) {
        let _ = writeln!(out, " {}", cut(line, 0, 0));
    }
    let pairs: Vec<(usize, usize)> = old.iter().zip(&new).map(|(a, b)| common(a, b)).collect();
    let side = |lines: &[&str], sign: char, out: &mut String| {
        for (number, line) in lines.iter().enumerate() {
            let (start, end) = pairs.get(number).copied().unwrap_or_default();
            let _ = writeln!(out, "{sign}{}", cut(line, start, end));
        }
    };
    side(&old, '-', out);
    side(&new, '+', out);
}

/// How many characters two lines share at their beginning and at their end.
fn common(a: &str, b: &str) -> (usize, usize) {
    let start = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let room = a.chars().count().min(b.chars().count()) - start;
    let end = a.chars().rev().zip(b.chars().rev()).take(room).take_while(|(x, y)| x == y).count();
    (start, end)
}

/// A long line without what lies far from the change.
fn cut(line: &str, start: usize, end: usize) -> String {
    let length = line.chars().count();
    if length <= LONG {
        return line.to_owned();
    }
    let from = start.saturating_sub(AROUND);
    let to = if start + end == 0 { LONG } else { (length - end + AROUND).min(length) };
    let middle: String = line.chars().skip(from).take(to - from).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if to < length { "…" } else { "" });
    format!("{before}{middle}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "<a href=\"/x/\">red fox</a>";

    #[test]
    fn the_exact_diff_can_be_applied() {
        let before = "one\ntwo red fox\nthree";
        let diff = render("a.md", before, &before.replace("red fox", LINK), false);
        let expected =
            format!("--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n one\n-two red fox\n+two {LINK}\n three\n\\ No newline at end of file\n");
        assert_eq!(diff, expected);
        assert_eq!(render("a.md", before, before, false), "");
    }

    #[test]
    fn a_terminal_sees_long_lines_around_the_change() {
        let line = format!("{}red fox {}", "ä ".repeat(400), "b ".repeat(400));
        let diff = render("a.html", &line, &line.replace("red fox", LINK), true);
        assert!(diff.lines().all(|line| line.chars().count() < 2 * AROUND + 40), "{diff}");
        assert!(diff.contains(&format!("ä {LINK} b")) && diff.contains("ä red fox b"));
    }
}
