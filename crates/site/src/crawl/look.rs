//! Single pages of a site as they are now, asked for as politely as in a crawl.

use super::address::AddressPolicy;
use super::client::Fetcher;
use super::frontier::Candidate;
use super::scope::Scope;
use super::settings::CrawlSettings;
use super::visit::Visitor;
use crate::archive::NoArchive;
use crate::read::ReadError;
use linkwright_core::page::FetchedPage;
use linkwright_core::url::PageUrl;

/// Fetches pages, one after another. Each comes with what came of it; where one redirects, both come.
///
/// # Errors
/// When no HTTP client can be made. Failures of pages are outcomes.
pub async fn look(pages: &[PageUrl], settings: &CrawlSettings) -> Result<Vec<FetchedPage>, ReadError> {
    let Some(first) = pages.first() else { return Ok(Vec::new()) };
    let policy = AddressPolicy::for_start(&first.to_url()).await;
    let fetcher = Fetcher::new(settings, policy).map_err(|reason| ReadError::Client { reason })?;
    let visitor = Visitor::new(settings, &NoArchive, fetcher, Scope::new(first, settings));
    let mut found = Vec::with_capacity(pages.len());
    for url in pages {
        found.extend(visitor.visit(Candidate::of(url)).await.pages);
    }
    Ok(found)
}
