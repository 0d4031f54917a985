//! Markdown files that keep their addresses in reference definitions: the labels for new ones.

use super::write::markdown_destination;
use pulldown_cmark::{LinkType, Parser, Tag};
use std::collections::BTreeMap;

/// The definitions of a file, and those that new links add to it.
pub(super) struct References {
    labels: BTreeMap<String, String>,
    taken: Vec<String>,
    added: Vec<(String, String)>,
    end: Option<usize>,
    line_break: &'static str,
}

impl References {
    /// Reads the definitions of a file.
    pub(super) fn of(source: &str) -> Self {
        let parser = Parser::new_ext(source, crate::page::markdown::OPTIONS);
        let mut labels = BTreeMap::new();
        let mut taken = Vec::new();
        let mut end = None;
        for (label, definition) in parser.reference_definitions().iter() {
            taken.push(label.to_lowercase());
            end = end.max(Some(definition.span.end));
            if definition.title.is_none() {
                labels.entry(definition.dest.to_string()).or_insert_with(|| label.to_owned());
            }
        }
        let end = end.map(|end| source[..end].trim_end_matches(['\n', '\r']).len());
        let line_break = if source.contains("\r\n") { "\r\n" } else { "\n" };
        Self { labels, taken, added: Vec::new(), end, line_break }
    }

    /// The label for an address, new where there is none. `None` for a file without definitions.
    pub(super) fn label(&mut self, href: &str) -> Option<String> {
        self.end?;
        if let Some(label) = self.labels.get(href) {
            return Some(label.clone());
        }
        let stem = stem(href);
        let label = (1..).map(|n| if n == 1 { stem.clone() } else { format!("{stem}-{n}") }).find(|l| !self.taken.contains(l))?;
        self.taken.push(label.clone());
        self.labels.insert(href.to_owned(), label.clone());
        self.added.push((label.clone(), href.to_owned()));
        Some(label)
    }

    /// Where new definitions are written, and their text.
    pub(super) fn addition(&self) -> Option<(usize, String)> {
        let end = self.end.filter(|_| !self.added.is_empty())?;
        let lines = self.added.iter().map(|(label, href)| format!("{}[{label}]: {}", self.line_break, markdown_destination(href)));
        Some((end, lines.collect()))
    }
}

/// A label made of the last part of the path.
fn stem(href: &str) -> String {
    let path = href.split(['?', '#']).next().unwrap_or_default();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default().to_lowercase();
    let clean: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if clean.is_empty() { "link".to_owned() } else { clean }
}

/// Whether most links of a file refer to definitions.
pub(super) fn predominate(source: &str) -> bool {
    if !source.contains("]:") {
        return false;
    }
    let (mut inline, mut reference) = (0_usize, 0_usize);
    for event in Parser::new_ext(source, crate::page::markdown::OPTIONS) {
        if let pulldown_cmark::Event::Start(Tag::Link { link_type, .. }) = event {
            match link_type {
                LinkType::Inline => inline += 1,
                LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut => reference += 1,
                _ => {}
            }
        }
    }
    reference > inline
}
