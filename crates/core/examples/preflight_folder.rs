//! Parses every page of a folder, tries links around words of it, and counts what is refused.
//!
//! `cargo run --release --example preflight_folder -- FOLDER BASE_URL [LINKS.csv]`; the links found are
//! written to the file as `source,target,anchor,kind`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for developers")]

use linkwright_core::content::ContentSettings;
use linkwright_core::decode::decode;
use linkwright_core::edit::{LinkSettings, Preflight};
use linkwright_core::page::front_matter::FrontMatter;
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, LinkKind, Page, SourceFormat, html, markdown};
use linkwright_core::span::Span;
use linkwright_core::url::PageUrl;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Links tried per page.
const TRIES: usize = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, base) = (Path::new(&arguments[0]), &arguments[1]);
    let mut links = arguments.get(2).map(|path| csv::Writer::from_path(path).unwrap());
    let (mut parsing, mut checking) = (Duration::ZERO, Duration::ZERO);
    let (mut pages, mut tried, mut bytes) = (0, 0, 0);
    let mut refused: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
        let path = entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        let Some(fetched) = fetch(entry.path(), &path, base) else { continue };
        bytes += fetched.body.len();
        let start = Instant::now();
        let page = parse(&fetched, base);
        parsing += start.elapsed();
        pages += 1;
        if let Some(links) = &mut links {
            for link in &page.links {
                let kind = if link.kind == LinkKind::Body { "body" } else { "template" };
                links.write_record([page.url.as_str(), link.target.as_str(), &link.anchor, kind]).unwrap();
            }
        }
        let places: Vec<(Span, String)> = some_places(&page).into_iter().map(|place| (place, "/some/page/".to_owned())).collect();
        let start = Instant::now();
        let verdicts = Preflight::new(&page, &LinkSettings::default()).many(&places);
        checking += start.elapsed();
        tried += places.len();
        for ((place, _), verdict) in places.iter().zip(verdicts) {
            if let Err(refusal) = verdict {
                let around = Span::new(
                    page.source.text.floor_char_boundary(place.start.saturating_sub(60)),
                    page.source.text.ceil_char_boundary(place.end + 60),
                );
                let words = format!("{path}: {:?} in {:?}", &page.source.text[place.range()], &page.source.text[around.range()]);
                refused.entry(refusal.code()).or_default().push(words);
            }
        }
    }
    let count: usize = refused.values().map(Vec::len).sum();
    println!("{pages} pages, {bytes} bytes, parsed in {parsing:.1?}");
    println!("{tried} links tried in {checking:.1?}, {count} refused");
    for (code, examples) in refused {
        println!("  {code}: {}", examples.len());
        examples.iter().step_by(examples.len().div_ceil(12)).for_each(|e| println!("    {e}"));
    }
}

fn fetch(file: &Path, path: &str, base: &str) -> Option<FetchedPage> {
    let (stem, format) = match path.rsplit_once('.')? {
        (stem, "md") => (stem, SourceFormat::Markdown),
        (stem, "mdx") => (stem, SourceFormat::Mdx),
        (stem, "html") => (stem, SourceFormat::Html),
        _ => return None,
    };
    let public = match format {
        SourceFormat::Html => path.strip_suffix("index.html").unwrap_or(path).to_owned(),
        _ => format!("{}/", stem.trim_end_matches("_index").trim_end_matches("index").trim_end_matches('/')),
    };
    Some(FetchedPage {
        url: PageUrl::parse(&format!("{base}{}", public.trim_start_matches('/')))?,
        outcome: FetchOutcome::Fetched,
        status: 200,
        redirects: Vec::new(),
        headers: FetchHeaders::default(),
        body: std::fs::read(file).ok()?,
        format,
        path: Some(path.to_owned()),
        discovery: Discovery::default(),
        sitemap_lastmod: None,
        detail: None,
    })
}

fn parse(fetched: &FetchedPage, base: &str) -> Page {
    if fetched.format == SourceFormat::Html {
        return html::parse(fetched, &ContentSettings::default());
    }
    let text = decode(&fetched.body, None);
    let front = FrontMatter::parse(&text.text);
    let directory = fetched.path.as_deref().and_then(|p| p.rsplit_once('/')).map_or("", |(directory, _)| directory);
    let resolve = |href: &str| {
        let stem = href.strip_suffix(".md")?;
        let file = PageUrl::parse(&format!("{base}{directory}/"))?.join(stem)?.0;
        PageUrl::parse(&format!("{file}/"))
    };
    markdown::parse(fetched, &front, text, &resolve)
}

/// Two to four words that can carry a link, at places that depend on nothing but the page.
fn some_places(page: &Page) -> Vec<Span> {
    let mut all = Vec::new();
    for block in page.blocks.iter().filter(|b| b.main) {
        for segment in block.segments.iter().filter(|s| s.inert.is_none() && s.verbatim) {
            let text = &block.text[segment.text.range()];
            let words: Vec<Span> = words(text);
            for (i, first) in words.iter().enumerate() {
                let last = words[(i + 1 + i % 3).min(words.len() - 1)];
                if last.start > first.start {
                    all.push(Span::new(segment.source.start + first.start, segment.source.start + last.end));
                }
            }
        }
    }
    let step = (all.len() / TRIES).max(1);
    all.into_iter().step_by(step).collect()
}

/// Stretches of letters and digits.
fn words(text: &str) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for (at, character) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
        let end = at + character.len_utf8();
        match out.last_mut() {
            Some(last) if last.end == at => last.end = end,
            _ => out.push(Span::new(at, end)),
        }
    }
    out
}
