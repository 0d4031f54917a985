//! The selectors of the settings: `tag`, `#id`, `.class`, `[name]`, `[name=value]` and compounds of
//! them, with descendants, children (`>`) and lists (`,`).
//!
//! A selector that asks for more than that matches nothing; `is_valid` tells.

use crate::page::html::tree::{NodeId, Tree};

/// A list of selectors, any of which may match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selectors(Vec<Vec<Step>>);

/// One compound, and whether it must be the parent of the one after it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    conditions: Vec<Condition>,
    is_parent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Any,
    Tag(String),
    Id(String),
    Class(String),
    Attribute(String, Option<String>),
}

impl Selectors {
    /// Reads selectors; parts that are not understood are left out.
    pub(super) fn read(lists: &[String]) -> Self {
        Self(lists.iter().flat_map(|list| list.split(',')).filter_map(read_one).collect())
    }

    /// Whether an element matches.
    pub(super) fn matches(&self, tree: &Tree<'_>, id: NodeId) -> bool {
        self.0.iter().any(|steps| matches_steps(tree, id, steps))
    }

    /// Whether there is nothing to match.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether every part of a selector is understood.
#[must_use]
pub fn is_valid(selector: &str) -> bool {
    selector.split(',').all(|one| read_one(one).is_some())
}

fn read_one(text: &str) -> Option<Vec<Step>> {
    let spaced = text.replace('>', " > ");
    let mut steps: Vec<Step> = Vec::new();
    for part in spaced.split_whitespace() {
        if part == ">" {
            steps.last_mut()?.is_parent = true;
        } else {
            steps.push(Step { conditions: read_compound(part)?, is_parent: false });
        }
    }
    let ends_well = steps.last().is_some_and(|s| !s.is_parent);
    ends_well.then_some(steps)
}

fn read_compound(text: &str) -> Option<Vec<Condition>> {
    let mut conditions = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (inside, after) = inner.split_once(']')?;
            let (name, value) = match inside.split_once('=') {
                Some((name, value)) => (name, Some(value.trim_matches(['"', '\'']).to_owned())),
                None => (inside, None),
            };
            let is_name = !name.is_empty() && name.chars().all(is_name_character);
            conditions.push(is_name.then(|| Condition::Attribute(name.to_owned(), value))?);
            rest = after;
            continue;
        }
        let body = rest.strip_prefix(['.', '#']).unwrap_or(rest);
        if let Some(after) = body.strip_prefix('*').filter(|_| first == '*') {
            conditions.push(Condition::Any);
            rest = after;
            continue;
        }
        let end = body.find(|c: char| !is_name_character(c)).unwrap_or(body.len());
        let name = body.get(..end).filter(|n| !n.is_empty())?.to_owned();
        conditions.push(match first {
            '.' => Condition::Class(name),
            '#' => Condition::Id(name),
            _ if conditions.is_empty() => Condition::Tag(name),
            _ => return None,
        });
        rest = &body[end..];
    }
    (!conditions.is_empty()).then_some(conditions)
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii()
}

/// Matches from the last step outwards. A descendant step takes the nearest element that fits, which
/// can only miss selectors that mix both combinators in ways nobody writes.
fn matches_steps(tree: &Tree<'_>, id: NodeId, steps: &[Step]) -> bool {
    let Some((last, outer)) = steps.split_last() else { return false };
    if !fits(tree, id, last) {
        return false;
    }
    let mut around = tree.ancestors(id).skip(1);
    outer
        .iter()
        .rev()
        .all(|step| if step.is_parent { around.next().is_some_and(|a| fits(tree, a, step)) } else { around.any(|a| fits(tree, a, step)) })
}

fn fits(tree: &Tree<'_>, id: NodeId, step: &Step) -> bool {
    let equals = |name: &str, wanted: &str| tree.attribute(id, name).is_some_and(|v| v.trim() == wanted);
    tree.tag(id).is_some()
        && step.conditions.iter().all(|condition| match condition {
            Condition::Any => true,
            Condition::Tag(name) => tree.name(id).eq_ignore_ascii_case(name),
            Condition::Id(wanted) => equals("id", wanted),
            Condition::Class(wanted) => tree.attribute(id, "class").is_some_and(|v| v.split_whitespace().any(|c| c == wanted)),
            Condition::Attribute(name, None) => tree.has_attribute(id, name),
            Condition::Attribute(name, Some(wanted)) => equals(name, wanted),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(selector: &str) -> Vec<String> {
        let html = "<main id=m><div class='box note'><p data-x=1>a</p></div><section><div class=box><p>b</p></div></section></main>";
        let tree = Tree::parse(html);
        let selectors = Selectors::read(&[selector.to_owned()]);
        (1..tree.nodes.len()).filter(|id| selectors.matches(&tree, *id)).map(|id| tree.text(id)).collect()
    }

    #[test]
    fn selectors_find_their_elements() {
        let cases = [
            (".box", vec!["a", "b"]),
            ("div.note, #m section", vec!["a", "b"]),
            ("main > .box > p", vec!["a"]),
            ("main p", vec!["a", "b"]),
            ("P[data-x='1']", vec!["a"]),
            ("[data-x]", vec!["a"]),
            ("section > p", vec![]),
            ("p:first-child", vec![]),
        ];
        for (selector, expected) in cases {
            assert_eq!(matched(selector), expected, "{selector}");
        }
        assert!(is_valid("main > .a-b, #c") && !is_valid("a:hover") && !is_valid("> p") && !is_valid(""));
    }
}
