//! Proposed links of one page → for each, whether it can be written, found out by writing it.
//!
//! The old source is read once. Links of one page are written together and checked in one pass; only
//! when that is refused are they tried in halves, down to the ones that are at fault.

use super::check::{self, NewLink};
use super::{Edited, Insertion, LinkAttributes, LinkStyle, Places, Refusal, insert, references, remove};
use crate::page::{Page, SourceFormat};
use crate::span::Span;

/// How new links are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkSettings {
    /// Attributes of every new link that is written as HTML; Markdown has no notation for them.
    pub attributes: LinkAttributes,
    /// Notation in Markdown pages; `None` takes the one that the page uses most.
    pub markdown_style: Option<LinkStyle>,
}

/// The writer and the check for one page.
pub struct Preflight<'a> {
    page: &'a Page,
    places: Places<'a>,
    before: Vec<u8>,
    style: LinkStyle,
    attributes: LinkAttributes,
}

impl<'a> Preflight<'a> {
    /// Reads the page's source with the parser that checks.
    #[must_use]
    pub fn new(page: &'a Page, settings: &LinkSettings) -> Self {
        let source = &page.source.text;
        let by_page = || if references::predominate(source) { LinkStyle::Reference } else { LinkStyle::Inline };
        let style = match page.format {
            SourceFormat::Html => LinkStyle::Html,
            SourceFormat::Markdown | SourceFormat::Mdx => settings.markdown_style.unwrap_or_else(by_page),
        };
        let before = check::flatten(source, page.format);
        let attributes = if style == LinkStyle::Html { settings.attributes.clone() } else { LinkAttributes::default() };
        Self { page, places: Places::of(page), before, style, attributes }
    }

    /// The places of the page.
    #[must_use]
    pub fn places(&self) -> &Places<'a> {
        &self.places
    }

    /// The insertion that would write this link.
    ///
    /// # Errors
    /// When no link may be written around this place.
    pub fn insertion(&self, place: Span, href: &str) -> Result<Insertion, Refusal> {
        let anchor = self.places.anchor(place)?;
        super::write::check_href(href)?;
        let attributes = self.attributes.clone();
        Ok(Insertion { place, anchor: anchor.words, href: href.to_owned(), attributes, style: self.style })
    }

    /// Writes links and checks the result: the edit as it would be stored.
    ///
    /// # Errors
    /// When any of the links cannot be written.
    pub fn edit(&self, insertions: &[Insertion]) -> Result<Edited, Refusal> {
        let source = &self.page.source.text;
        let edited = insert(source, self.page.format, insertions)?;
        if remove(&edited.text, &edited.inserted)? != *source {
            return Err(Refusal::EditDoesNotFit);
        }
        let mut ordered: Vec<&Insertion> = insertions.iter().collect();
        ordered.sort_by_key(|i| i.place);
        let expected: Vec<NewLink> = ordered.into_iter().map(NewLink::of).collect();
        check::compare(&self.before, &edited.text, self.page.format, &self.page.base, &expected)?;
        Ok(edited)
    }

    /// Whether one link can be written.
    ///
    /// # Errors
    /// With the reason why not.
    pub fn one(&self, place: Span, href: &str) -> Result<(), Refusal> {
        self.edit(&[self.insertion(place, href)?]).map(|_| ())
    }

    /// For each link by itself, whether it can be written.
    #[must_use]
    pub fn many(&self, links: &[(Span, String)]) -> Vec<Result<(), Refusal>> {
        let mut verdicts: Vec<Result<(), Refusal>> = vec![Ok(()); links.len()];
        let mut waiting: Vec<(usize, Insertion)> = Vec::with_capacity(links.len());
        for (index, (place, href)) in links.iter().enumerate() {
            match self.insertion(*place, href) {
                Ok(insertion) => waiting.push((index, insertion)),
                Err(refusal) => verdicts[index] = Err(refusal),
            }
        }
        waiting.sort_by_key(|(index, i)| (i.place, *index));
        for group in apart(waiting) {
            self.settle(group, &mut verdicts);
        }
        verdicts
    }

    /// Tries a group together, then in halves.
    fn settle(&self, group: Vec<(usize, Insertion)>, verdicts: &mut [Result<(), Refusal>]) {
        let mut groups = vec![group];
        while let Some(mut group) = groups.pop() {
            let insertions: Vec<Insertion> = group.iter().map(|(_, i)| i.clone()).collect();
            let Err(refusal) = self.edit(&insertions) else { continue };
            if let [(index, _)] = group[..] {
                verdicts[index] = Err(refusal);
            } else {
                groups.push(group.split_off(group.len() / 2));
                groups.push(group);
            }
        }
    }
}

/// Splits links, sorted by place, into groups in which no two overlap.
fn apart(mut waiting: Vec<(usize, Insertion)>) -> Vec<Vec<(usize, Insertion)>> {
    let mut groups = Vec::new();
    while !waiting.is_empty() {
        let mut end = 0;
        let (group, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, i)| {
            let fits = i.place.start >= end;
            if fits {
                end = i.place.end;
            }
            fits
        });
        groups.push(group);
        waiting = rest;
    }
    groups
}

/// Whether one link can be written into a page. For several links of a page see [`preflight_many`].
///
/// # Errors
/// With the reason why not.
pub fn preflight(page: &Page, place: Span, href: &str, settings: &LinkSettings) -> Result<(), Refusal> {
    Preflight::new(page, settings).one(place, href)
}

/// For each link by itself, whether it can be written into the page.
#[must_use]
pub fn preflight_many(page: &Page, links: &[(Span, String)], settings: &LinkSettings) -> Vec<Result<(), Refusal>> {
    if links.is_empty() { Vec::new() } else { Preflight::new(page, settings).many(links) }
}
