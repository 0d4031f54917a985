//! From what a visit brings to the frontier, the counts, and the receiver of pages.

use super::Tally;
use super::frontier::Frontier;
use super::report::CrawlReport;
use super::visit::{Visit, record};
use crate::read::{ReadProgress, Reading};
use linkwright_core::page::{FetchOutcome, FetchedPage};
use linkwright_core::url::PageUrl;

/// The part of a crawl that takes what visits bring.
pub(super) struct Taker<'a> {
    pub(super) reading: &'a Reading<'a>,
    pub(super) start: &'a PageUrl,
    pub(super) frontier: &'a mut Frontier,
    pub(super) report: &'a mut CrawlReport,
    pub(super) tally: &'a mut Tally,
}

impl Taker<'_> {
    /// Whether one more address may be asked for while so many are on their way.
    pub(super) fn may_ask(&mut self, running: usize, max_pages: usize) -> bool {
        if let Some(limit) = self.reading.limit
            && self.tally.usable + running >= limit
        {
            self.tally.limit_reached = self.tally.usable >= limit;
            return false;
        }
        self.tally.page_limit_reached = self.tally.asked >= max_pages;
        !self.tally.page_limit_reached
    }

    /// Counts how often in a row the site gave no usable answer.
    pub(super) fn watch(&mut self, visit: &Visit) {
        let Some(page) = visit.pages.last() else { return };
        let silent = matches!(page.outcome, FetchOutcome::TimedOut | FetchOutcome::Unreachable) || matches!(page.status, 429 | 503);
        self.tally.failures_in_a_row = if silent { self.tally.failures_in_a_row + 1 } else { 0 };
    }

    /// Takes links and pages of a visit. `false` when nobody wants more pages.
    pub(super) async fn take(&mut self, visit: Visit) -> bool {
        for link in &visit.links {
            self.frontier.linked(&visit.from, link);
        }
        for page in visit.pages {
            self.frontier.take(&page.url.key());
            if page.url.key() == self.start.key() {
                self.tally.start = Some((page.outcome, page.status, page.detail.clone()));
            }
            if visit.resumed {
                self.frontier.note(&page);
                self.count(&page);
                self.report.resumed += 1;
                continue;
            }
            let unselected = !self.reading.selection.includes(&page.url, None);
            let page = if unselected {
                FetchedPage { detail: Some("not selected".to_owned()), ..record(page.url, FetchOutcome::LeftOut) }
            } else {
                page
            };
            self.tally.left_out += usize::from(unselected);
            if !self.deliver(page).await {
                return false;
            }
        }
        true
    }

    fn count(&mut self, page: &FetchedPage) {
        *self.report.outcomes.entry(page.outcome).or_default() += 1;
        self.tally.usable += usize::from(page.outcome.was_read());
    }

    pub(super) async fn deliver(&mut self, mut page: FetchedPage) -> bool {
        self.frontier.note(&page);
        self.frontier.describe(&mut page);
        self.count(&page);
        self.reading.send(page).await
    }

    pub(super) fn progress(&self, left_in_level: usize) {
        let done = self.report.outcomes.values().sum();
        self.reading.progress(&ReadProgress { done, known: done + left_in_level + self.frontier.waiting() });
    }
}
