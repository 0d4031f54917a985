//! Which settings are allowed.

use super::Settings;

/// Why settings are refused. Each reads as one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// No such key.
    #[error("there is no setting `{key}`{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownKey {
        /// The dotted key as the user wrote it.
        key: String,
        /// The known key that is closest to it, if one is close.
        nearest: Option<String>,
    },
    /// The value has a type or form that the key does not take.
    #[error("setting `{key}` does not take `{value}`: {reason}")]
    Unfit {
        /// Dotted key.
        key: String,
        /// The value as the user wrote it.
        value: String,
        /// What the key takes.
        reason: String,
    },
    /// A value outside its range or a pattern that does not parse.
    #[error("setting `{key}` is {value}, but must be {allowed}")]
    Invalid {
        /// Dotted key.
        key: String,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
}

impl SettingsError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownKey { .. } => "correct or remove the key; a new project folder's `linkwright.toml` lists them all",
            Self::Unfit { .. } | Self::Invalid { .. } => "correct the value, or remove the line to use the default",
        }
    }
}

impl Settings {
    /// Checks ranges, patterns and selectors.
    ///
    /// # Errors
    /// The first value, in the order of the file, that is not allowed.
    pub fn validate(&self) -> Result<(), SettingsError> {
        self.check_patterns()?;
        self.check_selectors()?;
        self.check_ranges()
    }

    fn check_patterns(&self) -> Result<(), SettingsError> {
        let lists = [
            ("site.only", &self.site.only),
            ("site.exclude", &self.site.exclude),
            ("pages.archives", &self.pages.archives),
            ("pages.exclude_source", &self.pages.exclude_source),
            ("pages.exclude_target", &self.pages.exclude_target),
            ("dates.news", &self.dates.news),
            ("favour.important", &self.favour.important),
        ];
        let listed = lists.into_iter().flat_map(|(key, globs)| globs.iter().map(move |glob| (key, glob)));
        let rules = self.intent.forbid.iter().flat_map(|rule| [("intent.forbid", &rule.from), ("intent.forbid", &rule.to)]);
        for (key, glob) in listed.chain(rules) {
            if globset::Glob::new(glob).is_err() {
                return Err(invalid(key, format!("`{glob}`"), "a glob such as `/blog/**`"));
            }
        }
        Ok(())
    }

    fn check_selectors(&self) -> Result<(), SettingsError> {
        let content = self.site.content_selector.iter().map(|selector| ("site.content_selector", selector));
        let excluded = self.site.exclude_selectors.iter().map(|selector| ("site.exclude_selectors", selector));
        let never = self.placement.never_in.iter().map(|selector| ("placement.never_in", selector));
        for (key, selector) in content.chain(excluded).chain(never) {
            if !crate::content::is_valid_selector(selector) {
                return Err(invalid(key, format!("`{selector}`"), "a CSS selector such as `.related-posts`"));
            }
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), SettingsError> {
        if !self.site.path_scope.starts_with('/') {
            return Err(invalid("site.path_scope", format!("`{}`", self.site.path_scope), "a path that begins with `/`"));
        }
        within("crawl.interval_ms", self.crawl.interval_ms, 0, 600_000)?;
        within("crawl.concurrency", self.crawl.concurrency as u64, 1, 64)?;
        within("crawl.timeout_s", self.crawl.timeout_s, 1, 3_600)?;
        within("crawl.max_pages", self.crawl.max_pages as u64, 1, 100_000_000)?;
        within("crawl.max_body_bytes", self.crawl.max_body_bytes as u64, 1_024, 1 << 30)?;
        within("crawl.max_time_s", self.crawl.max_time_s.unwrap_or(1), 1, 31_536_000)?;
        within("crawl.retries", u64::from(self.crawl.retries), 0, 20)?;
        within("crawl.max_backoff_s", self.crawl.max_backoff_s, 0, 86_400)?;
        header_value("crawl.user_agent", self.crawl.user_agent())?;
        within("relevance.candidates", self.relevance.candidates as u64, 1, 1_000)?;
        share("relevance.floor", self.relevance.floor.unwrap_or_default())?;
        share("relevance.near_duplicate", self.relevance.near_duplicate)?;
        share("relevance.cannibalization", self.relevance.cannibalization)?;
        log_odds("favour.orphans", self.favour.orphans)?;
        log_odds("favour.deep", self.favour.deep)?;
        log_odds("favour.important_by", self.favour.important_by)?;
        within("anchors.min_words", self.anchors.min_words as u64, 1, 20)?;
        within("anchors.max_words", self.anchors.max_words as u64, self.anchors.min_words as u64, 20)?;
        within("anchors.min_chars", self.anchors.min_chars as u64, 1, 100)?;
        within("anchors.max_chars", self.anchors.max_chars as u64, self.anchors.min_chars as u64, 100)?;
        within("caps.per_page", self.caps.per_page as u64, 1, 1_000)?;
        within("caps.per_1000_words", self.caps.per_1000_words as u64, 1, 1_000)?;
        within("caps.per_target", self.caps.per_target as u64, 1, 1_000_000)?;
        within("caps.per_anchor", self.caps.per_anchor as u64, 1, 1_000_000)?;
        share("caps.anchor_share", self.caps.anchor_share)?;
        within("apply.max_pages", self.apply.max_pages as u64, 1, 1_000_000)?;
        within("apply.pause_ms", self.apply.pause_ms, 0, 600_000)?;
        if !self.wordpress.url.is_empty() && crate::url::PageUrl::parse(&self.wordpress.url).is_none() {
            return Err(invalid("wordpress.url", format!("`{}`", self.wordpress.url.escape_debug()), "empty or a web address"));
        }
        self.check_attributes()
    }

    fn check_attributes(&self) -> Result<(), SettingsError> {
        let values = [("links.rel", &self.links.rel), ("links.target", &self.links.target), ("links.class", &self.links.class)];
        for (key, value) in values {
            if value.chars().any(|c| c.is_control() || "\"'<>&`".contains(c)) {
                return Err(invalid(key, format!("`{}`", value.escape_debug()), "text without quotes, angle brackets and ampersands"));
            }
        }
        let marker = &self.links.marker;
        let name = marker.strip_prefix("data-").unwrap_or_default();
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if marker.is_empty() || plain {
            return Ok(());
        }
        Err(invalid("links.marker", format!("`{}`", marker.escape_debug()), "empty or a name such as `data-linkwright`"))
    }
}

fn invalid(key: &str, value: String, allowed: &str) -> SettingsError {
    SettingsError::Invalid { key: key.to_owned(), value, allowed: allowed.to_owned() }
}

fn within(key: &str, value: u64, least: u64, greatest: u64) -> Result<(), SettingsError> {
    if (least..=greatest).contains(&value) {
        return Ok(());
    }
    Err(invalid(key, value.to_string(), &format!("between {least} and {greatest}")))
}

/// NaN and infinities, which TOML can write, are outside as well.
fn share(key: &str, value: f64) -> Result<(), SettingsError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(invalid(key, value.to_string(), "between 0 and 1")) }
}

fn log_odds(key: &str, value: f64) -> Result<(), SettingsError> {
    if (-5.0..=5.0).contains(&value) { Ok(()) } else { Err(invalid(key, value.to_string(), "between -5 and 5")) }
}

fn header_value(key: &str, value: &str) -> Result<(), SettingsError> {
    if !value.is_empty() && value.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return Ok(());
    }
    Err(invalid(key, format!("`{}`", value.escape_debug()), "plain ASCII text"))
}
