//! Prints the internal links of a site's folder as CSV: `links FOLDER BASE_URL`.

use linkwright_core::content::ContentSettings;
use linkwright_core::page::html::parse;
use linkwright_core::page::{Discovery, FetchHeaders, FetchOutcome, FetchedPage, Page, SourceFormat};
use linkwright_core::template;
use linkwright_core::url::{PageUrl, UrlKey};
use rayon::prelude::*;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, base) = (std::env::args().nth(1).ok_or("no folder")?, std::env::args().nth(2).ok_or("no base URL")?);
    let base = PageUrl::parse(&base).ok_or("not a URL")?;
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(&folder).sort_by_file_name().follow_links(true) {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "html") {
            files.push(fetched(Path::new(&folder), entry.path(), &base)?);
        }
    }
    let settings = ContentSettings::default();
    let started = Instant::now();
    let mut pages: Vec<Page> = files.par_iter().map(|f| parse(f, &settings)).collect();
    let parsed = started.elapsed();
    let report = template::find(&mut pages);
    let mut log = std::io::stderr();
    writeln!(log, "{} pages parsed in {parsed:.2?}, template in {:.2?}: {report:?}", pages.len(), started.elapsed() - parsed)?;
    write_links(&pages)?;
    Ok(())
}

/// Links between pages of the site: what leads to no page of it is another matter.
fn write_links(pages: &[Page]) -> Result<(), Box<dyn std::error::Error>> {
    let known: HashSet<UrlKey> = pages.iter().map(|p| p.url.key()).collect();
    let mut out = csv::Writer::from_writer(std::io::stdout());
    out.write_record(["source", "target", "anchor", "kind", "rel", "position", "main", "block"])?;
    for page in pages {
        for link in page.links.iter().filter(|l| known.contains(&l.target.key())) {
            let block = link.place.and_then(|(b, _)| page.blocks.get(b));
            let (kind, position) = (format!("{:?}", link.kind), format!("{:?}", link.position));
            let main = block.map_or(String::new(), |b| b.main.to_string());
            let text = block.map_or("", |b| b.text.as_str());
            out.write_record([page.url.as_str(), link.target.as_str(), &link.anchor, &kind, &link.rel, &position, &main, text])?;
        }
    }
    out.flush()?;
    Ok(())
}

fn fetched(folder: &Path, file: &Path, base: &PageUrl) -> Result<FetchedPage, Box<dyn std::error::Error>> {
    let path = file.strip_prefix(folder)?.to_string_lossy().into_owned();
    let address = path.strip_suffix("index.html").filter(|p| p.is_empty() || p.ends_with('/')).unwrap_or(&path);
    let (url, _) = base.join(address).ok_or("not a URL")?;
    Ok(FetchedPage {
        url,
        outcome: FetchOutcome::Fetched,
        status: 200,
        redirects: Vec::new(),
        headers: FetchHeaders::default(),
        body: std::fs::read(file)?,
        format: SourceFormat::Html,
        path: Some(path),
        discovery: Discovery::default(),
        sitemap_lastmod: None,
        detail: None,
    })
}
