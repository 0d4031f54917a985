//! The text of `linkwright page`: what linkwright sees on a page.

use super::console::Verbosity;
use super::words::{count, language_source, link_kind, link_position, yes_no_unknown};
use anstyle::Style;
use linkwright_core::guardrail;
use linkwright_core::page::{Block, BlockKind, Link, LinkKind, Page};
use linkwright_core::plan::PageSummary;
use linkwright_engine::views::PageView;
use std::fmt::{self, Write};

const TITLE: Style = Style::new().bold();

/// The page as text with ANSI styles; verbose also shows what is outside the main content.
pub(crate) fn render(view: &PageView, verbosity: Verbosity) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_all(&mut out, view, verbosity == Verbosity::Verbose);
    out
}

fn write_all(out: &mut String, view: &PageView, everything: bool) -> fmt::Result {
    let page = &view.page;
    writeln!(out, "{TITLE}{}{TITLE:#}\n{}", page.short_title, page.url)?;
    write_identity(out, page)?;
    if let Some(summary) = &view.summary {
        write_summary(out, summary)?;
    }
    write_text(out, page, everything)?;
    write_links(out, page)
}

fn write_identity(out: &mut String, page: &Page) -> fmt::Result {
    if let Some(path) = &page.path {
        fact(out, "file", path)?;
    }
    fact(out, "title", &page.title)?;
    let language = if page.language.is_empty() { "none" } else { &page.language };
    fact(out, "language", &format!("{language} ({})", language_source(page.language_source)))?;
    fact(out, "words", &page.word_count.to_string())?;
    if let Some(date) = &page.published {
        fact(out, "published", date)?;
    }
    if let Some(canonical) = page.canonical.as_ref().filter(|canonical| **canonical != page.url) {
        fact(out, "canonical", canonical.as_str())?;
    }
    for (language, url) in &page.hreflang {
        fact(out, "translation", &format!("{language} {url}"))?;
    }
    for (holds, name) in [(page.noindex, "noindex"), (page.draft, "draft"), (page.login, "login form")] {
        if holds {
            fact(out, name, "yes")?;
        }
    }
    Ok(())
}

fn write_summary(out: &mut String, summary: &PageSummary) -> fmt::Result {
    fact(out, "as source", &eligibility(&summary.not_source))?;
    fact(out, "as target", &eligibility(&summary.not_target))?;
    let inlinks = format!("{} in the body, {} with menus", summary.inlinks, summary.inlinks_all);
    fact(out, "inlinks", &inlinks)?;
    fact(out, "outlinks", &format!("{} in the body", summary.outlinks))?;
    fact(out, "orphan", yes_no_unknown(summary.orphan))?;
    let depth = summary.depth.map_or("not reached".to_owned(), |depth| count(depth as usize, "click", "clicks"));
    fact(out, "depth", &depth)?;
    fact(out, "authority", &format!("{:.2}", summary.authority))?;
    fact(
        out,
        "proposed",
        &format!("{} from here, {} to here, {}", summary.opportunities, summary.proposed_inlinks, count(summary.gaps, "gap", "gaps")),
    )
}

/// `yes`, or every rule that is against it.
fn eligibility(codes: &[String]) -> String {
    if codes.is_empty() {
        return "yes".to_owned();
    }
    let rules = codes.iter().map(|code| match guardrail::by_code(code) {
        Some(rule) => format!("{} ({code}): {}", rule.name(), rule.why()),
        None => code.clone(),
    });
    format!("no: {}", rules.collect::<Vec<_>>().join("; "))
}

fn write_text(out: &mut String, page: &Page, everything: bool) -> fmt::Result {
    title(out, "Main text")?;
    for block in page.blocks.iter().filter(|block| block.main) {
        write_block(out, block)?;
    }
    let outside: Vec<&Block> = page.blocks.iter().filter(|block| !block.main).collect();
    if !everything {
        return writeln!(out, "  ({} outside the main content; -v shows them)", count(outside.len(), "block", "blocks"));
    }
    title(out, "Outside the main content")?;
    outside.into_iter().try_for_each(|block| write_block(out, block))
}

fn write_block(out: &mut String, block: &Block) -> fmt::Result {
    writeln!(out, "  {:<8}{}", block_kind(block.kind), block.text)
}

fn block_kind(kind: BlockKind) -> String {
    match kind {
        BlockKind::Paragraph => "text".to_owned(),
        BlockKind::ListItem => "item".to_owned(),
        BlockKind::Heading(level) => format!("h{level}"),
        BlockKind::Quote => "quote".to_owned(),
        BlockKind::TableCell => "cell".to_owned(),
        BlockKind::TableHeader => "head".to_owned(),
        BlockKind::Caption => "caption".to_owned(),
        BlockKind::Code => "code".to_owned(),
        BlockKind::Definition => "term".to_owned(),
    }
}

fn write_links(out: &mut String, page: &Page) -> fmt::Result {
    for kind in [LinkKind::Body, LinkKind::Template] {
        let links: Vec<&Link> = page.links.iter().filter(|link| link.kind == kind).collect();
        title(out, &format!("{} links: {}", if kind == LinkKind::Body { "Body" } else { "Template" }, links.len()))?;
        for link in links {
            let place = if kind == LinkKind::Body { link_kind(kind) } else { link_position(link.position) };
            writeln!(out, "  {place:<12}\"{}\" to {}", link.anchor, link.target)?;
        }
    }
    Ok(())
}

fn fact(out: &mut String, name: &str, value: &str) -> fmt::Result {
    writeln!(out, "  {name:<12}{value}")
}

fn title(out: &mut String, name: &str) -> fmt::Result {
    writeln!(out, "\n{TITLE}{name}{TITLE:#}")
}
