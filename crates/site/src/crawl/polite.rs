//! From the wish to ask a host for something to the moment at which that is polite.
//!
//! One queue per host: at most so many requests in flight, a least interval between their starts,
//! and a pause after trouble that doubles up to a limit. A `Retry-After` replaces the doubled pause.
//! Time is tokio's, so tests may pause it.

use super::settings::CrawlSettings;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The queues of all hosts of a crawl.
pub(crate) struct Polite {
    interval: Duration,
    concurrency: usize,
    backoff: Duration,
    max_backoff: Duration,
    hosts: Mutex<BTreeMap<String, Arc<Queue>>>,
}

struct Queue {
    slots: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    interval: Duration,
    next_start: Instant,
    troubles_in_a_row: u32,
}

/// The right to one request; held until its body has been read.
pub(crate) struct Turn {
    queue: Arc<Queue>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Polite {
    pub(crate) fn new(settings: &CrawlSettings) -> Self {
        Self {
            interval: Duration::from_millis(settings.interval_ms),
            concurrency: settings.concurrency.max(1),
            backoff: Duration::from_millis(settings.backoff_ms),
            max_backoff: Duration::from_millis(settings.max_backoff_ms),
            hosts: Mutex::default(),
        }
    }

    fn queue(&self, host: &str) -> Arc<Queue> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = hosts.entry(host.to_owned()).or_insert_with(|| {
            let state = State { interval: self.interval, next_start: Instant::now(), troubles_in_a_row: 0 };
            Arc::new(Queue { slots: Arc::new(Semaphore::new(self.concurrency)), state: Mutex::new(state) })
        });
        Arc::clone(queue)
    }

    /// Makes the interval of a host at least this long.
    pub(crate) fn slow_down(&self, host: &str, interval: Duration) {
        let queue = self.queue(host);
        let mut state = queue.state();
        state.interval = state.interval.max(interval);
    }

    /// Waits until a request to the host may start.
    pub(crate) async fn turn(&self, host: &str) -> Turn {
        let queue = self.queue(host);
        let slot = Arc::clone(&queue.slots).acquire_owned().await.ok();
        while let Some(start) = queue.claim_start() {
            tokio::time::sleep_until(start).await;
        }
        Turn { queue, _slot: slot }
    }

    /// The host is in trouble: nobody asks it for a while. Gives the pause.
    pub(crate) fn trouble(&self, turn: &Turn, retry_after: Option<Duration>) -> Duration {
        let mut state = turn.queue.state();
        let doubled = self.backoff.saturating_mul(2_u32.saturating_pow(state.troubles_in_a_row.min(16)));
        let pause = retry_after.unwrap_or(doubled).min(self.max_backoff);
        state.troubles_in_a_row += 1;
        state.next_start = state.next_start.max(Instant::now() + pause);
        pause
    }
}

impl Turn {
    /// The host answered as it should.
    pub(crate) fn fine(&self) {
        self.queue.state().troubles_in_a_row = 0;
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next start if it has come; otherwise says when to look again. Looking again matters:
    /// a pause may have begun in between.
    fn claim_start(&self) -> Option<Instant> {
        let mut state = self.state();
        let now = Instant::now();
        if state.next_start > now {
            return Some(state.next_start);
        }
        state.next_start = now + state.interval;
        None
    }
}

/// `Retry-After`: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polite(interval_ms: u64, concurrency: usize) -> Polite {
        Polite::new(&CrawlSettings { interval_ms, concurrency, backoff_ms: 5, max_backoff_ms: 50, ..CrawlSettings::default() })
    }

    #[tokio::test]
    async fn requests_to_one_host_start_an_interval_apart() {
        let polite = polite(20, 8);
        let begin = Instant::now();
        for turns in 0..3_u32 {
            drop(polite.turn("a").await);
            assert!(begin.elapsed() >= Duration::from_millis(20) * turns);
        }
        let before = Instant::now();
        let other = polite.queue("b");
        assert!(other.claim_start().is_none(), "another host does not wait");
        polite.slow_down("a", Duration::from_millis(40));
        drop(polite.turn("a").await);
        drop(polite.turn("a").await);
        assert!(before.elapsed() >= Duration::from_millis(40));
    }

    #[tokio::test]
    async fn no_more_than_the_allowed_number_is_in_flight() {
        let polite = polite(0, 2);
        let (first, _second) = (polite.turn("a").await, polite.turn("a").await);
        let third = tokio::time::timeout(Duration::from_millis(20), polite.turn("a")).await;
        assert!(third.is_err());
        drop(first);
        assert!(tokio::time::timeout(Duration::from_secs(5), polite.turn("a")).await.is_ok());
    }

    #[tokio::test]
    async fn trouble_pauses_the_whole_host_longer_and_longer_up_to_a_limit() {
        let polite = polite(0, 4);
        let turn = polite.turn("a").await;
        let pauses: Vec<u128> = (0..6).map(|_| polite.trouble(&turn, None).as_millis()).collect();
        assert_eq!(pauses, [5, 10, 20, 40, 50, 50]);
        let begin = Instant::now();
        drop(polite.turn("a").await);
        assert!(begin.elapsed() >= Duration::from_millis(45));
        turn.fine();
        assert_eq!(polite.trouble(&turn, None).as_millis(), 5);
        assert_eq!(polite.trouble(&turn, Some(Duration::from_millis(30))).as_millis(), 30);
        assert_eq!(polite.trouble(&turn, Some(Duration::from_secs(86_400))).as_millis(), 50);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2015 07:28:00 GMT").unwrap();
        assert_eq!(retry_after(" 120 ", now), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Wed, 21 Oct 2015 07:28:30 GMT", now), Some(Duration::from_secs(30)));
        assert_eq!(retry_after("Wed, 21 Oct 2015 07:27:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
    }
}
