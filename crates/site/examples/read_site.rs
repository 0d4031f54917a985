//! Reads a site as `linkwright plan` would and lists what came of each address: for looking at a
//! site, and for the figures in the documentation.
//!
//! `cargo run -p linkwright-site --example read_site -- SITE [BASE_URL]`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example for the terminal")]

use linkwright_site::{CrawlSettings, NoArchive, ReadSettings, Seed, read};
use std::error::Error;
use std::time::Instant;
use tokio::sync::{mpsc, watch};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let site = arguments.next().ok_or("give a URL or a folder")?;
    let seed = Seed::parse(&site, arguments.next().as_deref())?;
    let interval_ms = std::env::var("INTERVAL_MS").ok().and_then(|ms| ms.parse().ok()).unwrap_or(100);
    let settings = ReadSettings { crawl: CrawlSettings { interval_ms, ..CrawlSettings::default() }, ..ReadSettings::default() };
    let (sender, mut receiver) = mpsc::channel::<linkwright_core::page::FetchedPage>(64);
    let (_keep, stop) = watch::channel(false);
    let begin = Instant::now();
    let printing = tokio::spawn(async move {
        while let Some(page) = receiver.recv().await {
            println!("{:?}\t{}\t{}\t{}", page.outcome, page.url, page.path.unwrap_or_default(), page.detail.unwrap_or_default());
        }
    });
    let report = read(&seed, &settings, &NoArchive, sender, &|_| (), stop).await?;
    printing.await?;
    eprintln!("{:?} in {:.2} s", report.crawl.outcomes, begin.elapsed().as_secs_f64());
    eprintln!("robots {:?}; incomplete {:?}; unfetched {}", report.crawl.robots, report.crawl.incomplete, report.crawl.unfetched);
    eprintln!("sitemaps {:?}", report.crawl.sitemaps);
    if let Some(folder) = report.folder {
        eprintln!(
            "{:?} html {} markdown {} base {} ({})",
            folder.generator, folder.html_files, folder.markdown_files, folder.base_url, folder.base_url_origin
        );
    }
    Ok(())
}
