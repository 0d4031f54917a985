//! Prints the main text of each `.html` or `.html.gz` file of a folder as one JSON object.

use linkwright_core::content::ContentSettings;
use linkwright_core::page::html::parse;
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, SourceFormat};
use linkwright_core::url::PageUrl;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: extract FOLDER")?;
    let mut bodies = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.trim_end_matches(".gz").trim_end_matches(".html").to_owned();
        bodies.insert(name, read(&path)?);
    }
    let settings = ContentSettings::default();
    let started = std::time::Instant::now();
    let texts: BTreeMap<&String, String> = bodies.iter().map(|(name, body)| (name, parse(&fetched(body), &settings).main_text())).collect();
    let spent = started.elapsed();
    writeln!(std::io::stderr(), "{:.2} ms a page", spent.as_secs_f64() * 1000.0 / bodies.len().max(1) as f64)?;
    serde_json::to_writer(std::io::stdout(), &texts)?;
    Ok(())
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    if path.extension().is_some_and(|e| e == "gz") {
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut out)?;
        return Ok(out);
    }
    Ok(bytes)
}

fn fetched(body: &[u8]) -> FetchedPage {
    FetchedPage {
        url: PageUrl::parse("https://example.org/").expect("a valid URL"),
        outcome: FetchOutcome::Fetched,
        status: 200,
        redirects: Vec::new(),
        headers: FetchHeaders::default(),
        body: body.to_vec(),
        format: SourceFormat::Html,
        path: None,
        discovery: Discovery::default(),
        sitemap_lastmod: None,
        detail: None,
    }
}
