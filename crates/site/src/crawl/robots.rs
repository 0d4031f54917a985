//! From the answer to `/robots.txt` to what may be asked for (RFC 9309).
//!
//! 2xx: its rules hold. 4xx: everything is allowed. 5xx and no answer: nothing is. Redirects are
//! followed up to five times, and the rules then hold for the host that was asked first.

use super::client::{Answer, Ask, Failure, Fetcher};
use robotxt::{AccessResult, Robots};
use serde::{Deserialize, Serialize};
use url::Url;

/// The product token that rules are looked up by; without version, as section 2.2.1 asks.
const PRODUCT: &str = "linkwright";

/// Bytes of robots.txt that are read: the least that section 2.5 allows as a limit.
const MAX_BYTES: usize = 500 * 1024;

/// Redirects that section 2.3.1.2 asks to be followed.
const MAX_REDIRECTS: usize = 5;

/// What robots.txt of the start host said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsOutcome {
    /// Nobody asked.
    #[default]
    NotAsked,
    /// Its rules hold.
    Obeyed,
    /// There is none (4xx, or too many redirects): everything is allowed.
    Absent,
    /// The server failed (5xx) or did not answer: nothing is allowed.
    Unavailable(String),
}

/// Rules of one host.
pub(crate) struct Rules {
    pub(crate) robots: Robots,
    pub(crate) outcome: RobotsOutcome,
    /// Set when the host did not answer at all.
    pub(crate) failure: Option<Failure>,
}

impl Rules {
    /// Whether a URL of this host may be asked for.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        self.robots.is_url_allowed(url)
    }
}

/// Fetches and reads robots.txt of the host of `url`.
pub(crate) async fn fetch(fetcher: &Fetcher, url: &Url) -> Rules {
    let Ok(mut at) = url.join("/robots.txt") else { return rules(AccessResult::Unavailable, RobotsOutcome::Absent) };
    let ask = Ask { max_bytes: MAX_BYTES, any_type: true, ..Ask::default() };
    for _ in 0..=MAX_REDIRECTS {
        let answer = match fetcher.get(&at, &ask).await {
            Ok(answer) => answer,
            Err(failure) => {
                let outcome = RobotsOutcome::Unavailable(failure.to_string());
                return Rules { failure: Some(failure), ..rules(AccessResult::Unreachable, outcome) };
            }
        };
        match next_hop(&answer, &at) {
            Some(next) => at = next,
            None => return judge(&answer),
        }
    }
    rules(AccessResult::TooManyRedirects, RobotsOutcome::Absent)
}

fn next_hop(answer: &Answer, at: &Url) -> Option<Url> {
    let location = (300..400).contains(&answer.status).then_some(answer.location.as_deref()?)?;
    at.join(location).ok()
}

fn judge(answer: &Answer) -> Rules {
    match answer.status {
        200..300 => rules(AccessResult::Successful(&answer.body), RobotsOutcome::Obeyed),
        // A server that asks for patience has not said that everything is allowed.
        429 | 500.. => rules(AccessResult::Unreachable, RobotsOutcome::Unavailable(format!("status {}", answer.status))),
        _ => rules(AccessResult::Unavailable, RobotsOutcome::Absent),
    }
}

fn rules(access: AccessResult<'_>, outcome: RobotsOutcome) -> Rules {
    Rules { robots: Robots::from_access(access, PRODUCT), outcome, failure: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(status: u16, body: &str) -> Rules {
        judge(&Answer { status, body: body.as_bytes().to_vec(), ..Answer::default() })
    }

    fn allows(rules: &Rules, path: &str) -> bool {
        rules.allows(&Url::parse("https://example.org").unwrap().join(path).unwrap())
    }

    #[test]
    fn our_own_group_goes_before_the_general_one() {
        let rules = judged(
            200,
            "User-agent: *\nDisallow: /\n\nUser-agent: LinkWright\nAllow: /a/b\nDisallow: /a\nDisallow: /*?s=\nCrawl-delay: 2\n",
        );
        assert!(allows(&rules, "/") && allows(&rules, "/a/b/c") && !allows(&rules, "/a/x") && !allows(&rules, "/x?s=1"));
        assert_eq!(rules.robots.crawl_delay(), Some(std::time::Duration::from_secs(2)));
    }

    #[test]
    fn missing_allows_all_and_failing_allows_nothing() {
        for status in [401, 403, 404, 410] {
            assert!(allows(&judged(status, ""), "/x"), "{status}");
        }
        for status in [429, 500, 503] {
            let rules = judged(status, "");
            assert!(!allows(&rules, "/x") && matches!(rules.outcome, RobotsOutcome::Unavailable(_)), "{status}");
        }
    }

    #[test]
    fn a_web_page_in_its_place_forbids_nothing() {
        assert!(allows(&judged(200, "<!doctype html><title>Disallow: /</title>"), "/x"));
    }
}
