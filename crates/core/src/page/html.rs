//! Served bytes of an HTML page become a `Page`.
//!
//! The source is read once by a tokenizer that keeps the byte range of every tag and text, and made
//! into a tree on which main content is found; blocks and links are read off that tree, so that every
//! run of text leads back to its place in the source.

mod blocks;
mod entity;
mod meta;
pub(crate) mod tag;
mod token;
pub(crate) mod tree;

use crate::content::{self, ContentSettings};
use crate::decode;
use crate::language::{self, Declarations};
use crate::page::{FetchedPage, Page, SourceFormat};
use crate::template;
use tree::Tree;

/// Parses a page. Never fails: what is not HTML becomes a page with the text there is.
#[must_use]
pub fn parse(fetched: &FetchedPage, settings: &ContentSettings) -> Page {
    let source = decode::decode(&fetched.body, fetched.headers.content_type.as_deref());
    let tree = Tree::parse(&source.text);
    let metadata = meta::read(&tree, fetched);
    let content = content::find(&tree, settings);
    let texts = blocks::read(&tree, &content, &metadata.base);
    drop(tree);
    let mut page = Page {
        url: fetched.url.clone(),
        path: fetched.path.clone(),
        format: SourceFormat::Html,
        source,
        base: metadata.base,
        canonical: metadata.canonical,
        noindex: metadata.noindex,
        draft: false,
        language: String::new(),
        language_source: crate::page::LanguageSource::Unknown,
        hreflang: metadata.hreflang,
        short_title: metadata.title.clone(),
        title: metadata.title,
        h1: metadata.h1,
        description: metadata.description,
        published: metadata.published,
        tags: metadata.tags,
        blocks: texts.blocks,
        links: texts.links,
        word_count: 0,
        login: metadata.login,
    };
    let declared = Declarations { document: metadata.declared_language.as_deref(), header: fetched.headers.content_language.as_deref() };
    (page.language, page.language_source) = language::of(declared, &page.main_text());
    page.word_count = template::count_words(&page);
    page
}

#[cfg(test)]
mod tests;
