//! Filters and other values to addresses and back.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use form_urlencoded::Serializer;
use linkwright_engine::review::{Filter, Orphans, Show, Sort};
use std::convert::Infallible;

/// Names and values of an address or a form, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Reads `name=value&…`. What does not fit is left out by the format itself; nothing fails.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The first value of a name; empty when there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.as_str())
    }

    /// The first value of a name that is not empty.
    pub(crate) fn some(&self, name: &str) -> Option<&str> {
        Some(self.get(name).trim()).filter(|value| !value.is_empty())
    }

    /// Whether the name is there, with a value or without.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    /// A number.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.some(name)?.parse().ok()
    }

    /// The filter of an address or form. Values that it does not know count as not given.
    pub(crate) fn filter(&self) -> Filter {
        let text = |name| self.get(name).trim().to_owned();
        let orphans = Orphans::ALL.into_iter().find(|(_, name)| *name == self.get("orphans")).map(|(orphans, _)| orphans);
        let sort = Sort::ALL.into_iter().find(|(_, name)| *name == self.get("sort")).map(|(sort, _)| sort);
        Filter {
            show: Show::of(self.get("show")).unwrap_or_default(),
            search: text("search"),
            source: text("source"),
            target: text("target"),
            section: text("section"),
            language: text("language"),
            least: self.number("least").unwrap_or(0).min(100),
            orphans: orphans.unwrap_or_default(),
            sort: sort.unwrap_or_default(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default().as_bytes()))
    }
}

/// `name=value&…`, everything encoded. Empty values are left out.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Names and values of a filter, what is usual left out.
pub(crate) fn pairs(filter: &Filter) -> Vec<(&'static str, String)> {
    let name_of = |orphans: Orphans| Orphans::ALL.into_iter().find(|(other, _)| *other == orphans).map_or("", |(_, name)| name);
    let sort_name = Sort::ALL.into_iter().find(|(other, _)| *other == filter.sort).map_or("", |(_, name)| name);
    let mut pairs = vec![
        ("search", filter.search.clone()),
        ("source", filter.source.clone()),
        ("target", filter.target.clone()),
        ("section", filter.section.clone()),
        ("language", filter.language.clone()),
    ];
    if filter.show != Show::default() {
        pairs.push(("show", filter.show.name().to_owned()));
    }
    if filter.least > 0 {
        pairs.push(("least", filter.least.to_string()));
    }
    if filter.orphans != Orphans::default() {
        pairs.push(("orphans", name_of(filter.orphans).to_owned()));
    }
    if filter.sort != Sort::default() {
        pairs.push(("sort", sort_name.to_owned()));
    }
    pairs.retain(|(_, value)| !value.is_empty());
    pairs
}

/// An address with a filter and further values.
pub(crate) fn with(path: &str, filter: &Filter, more: &[(&str, &str)]) -> String {
    let filter = pairs(filter);
    let mut all: Vec<(&str, &str)> = filter.iter().map(|(name, value)| (*name, value.as_str())).collect();
    all.extend(more);
    let query = query(&all);
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The address of the view of one page of the site.
pub(crate) fn page(url: &str) -> String {
    format!("/page?{}", query(&[("url", url)]))
}

/// What a filter lets through, in words.
pub(crate) fn words(filter: &Filter) -> Vec<String> {
    let mut words = Vec::new();
    words.push(match filter.show {
        Show::Waiting => "waiting for a decision".to_owned(),
        Show::All => "in any state".to_owned(),
        Show::Only(state) => state.name().to_owned(),
    });
    let mut say = |value: &str, before: &str| {
        if !value.is_empty() {
            words.push(format!("{before} “{value}”"));
        }
    };
    say(&filter.search, "with the words");
    say(&filter.source, "from pages with");
    say(&filter.target, "to pages with");
    say(&filter.section, "from the section");
    say(&filter.language, "in the language");
    if filter.least > 0 {
        words.push(format!("with a score of at least {} %", filter.least));
    }
    if filter.orphans == Orphans::Only {
        words.push("to orphans only".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwright_engine::review::State;

    #[test]
    fn a_filter_survives_the_way_through_an_address() {
        let filter = Filter {
            show: Show::Only(State::Accepted),
            search: "rye & „Brot“ 100%".to_owned(),
            source: "/a?b=c".to_owned(),
            target: "x y".to_owned(),
            section: "/blog".to_owned(),
            language: "de".to_owned(),
            least: 70,
            orphans: Orphans::First,
            sort: Sort::Target,
        };
        let address = with("/queue", &filter, &[("id", "1")]);
        let params = Params::parse(address.split_once('?').unwrap().1.as_bytes());
        assert_eq!(params.filter(), filter);
        assert_eq!(params.get("id"), "1");
        assert_eq!(with("/queue", &Filter::default(), &[]), "/queue");
    }

    #[test]
    fn values_that_make_no_sense_count_as_not_given() {
        let filter = Params::parse(b"show=nonsense&least=many&orphans=%ff&sort=&least=7").filter();
        assert_eq!(filter, Filter::default());
        assert_eq!(Params::parse(b"least=255").filter().least, 100);
    }
}
