//! The text of `linkwright.toml`: which keys there are, what each is for, and how values are written.

use serde_json::Value;
use std::fmt::Write as _;

/// A table of `linkwright.toml`, its comment, and its keys with theirs.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) comment: &'static str,
    pub(super) keys: &'static [Key],
}

/// A key, its comment, and for a key without a default the example that stands in its place.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) comment: &'static str,
    pub(super) example: Option<&'static str>,
}

const fn key(name: &'static str, comment: &'static str) -> Key {
    Key { name, comment, example: None }
}

const fn optional(name: &'static str, comment: &'static str, example: &'static str) -> Key {
    Key { name, comment, example: Some(example) }
}

/// Every group and key, in the order of the file.
pub(super) const KEYS: &[Group] = &[
    Group {
        name: "site",
        comment: "Which pages belong to the site, and where their content is. Patterns are globs of URL paths: \"/blog/**\".",
        keys: &[
            key("only", "read only these paths; empty reads all, anything else makes the plan partial"),
            key("exclude", "never read these paths"),
            key("hosts", "hosts that belong to the site besides the one it starts on"),
            key("path_scope", "path that all pages of the site lie under"),
            optional("content_selector", "CSS selector of the main content, where it is not recognised", "\"main .article-body\""),
            key("exclude_selectors", "CSS selectors of parts that are never main content, such as \".related-posts\""),
        ],
    },
    Group {
        name: "crawl",
        comment: "How a site is read over HTTP. robots.txt is always obeyed.",
        keys: &[
            key("interval_ms", "least time between two requests to one host; a longer crawl delay of robots.txt wins"),
            key("concurrency", "requests in flight at one time, 1 to 64"),
            key("timeout_s", "seconds to wait for one answer"),
            key("max_pages", "URLs asked for at most"),
            key("max_depth", "clicks from the start at most"),
            key("max_body_bytes", "larger answers are counted and left out"),
            optional("max_time_s", "seconds for the whole crawl; it then stops and the next run continues; no limit when absent", "3600"),
            optional(
                "user_agent",
                "User-Agent header; linkwright and its version when absent",
                "\"linkwright (+https://example.org/contact)\"",
            ),
            key("retries", "further attempts after a 429, a 5xx or no answer"),
            key("max_backoff_s", "longest pause between two attempts, also when Retry-After asks for more"),
            key("queries_per_path", "how many query variants of one path are followed, against endless calendars and filters"),
        ],
    },
    Group {
        name: "pages",
        comment: "Which pages may carry a link (source) or be linked to (target).",
        keys: &[
            key("min_words_source", "words of main content that a source needs"),
            key("min_words_target", "words of main content that a target needs"),
            key("archives", "tag, category, author, pagination and search pages"),
            key("archive_as_source", "whether archive pages may be sources"),
            key("archive_as_target", "whether archive pages may be targets"),
            key("home_as_target", "whether the home page may be a target"),
            key("noindex_as_source", "whether pages closed to search engines may be sources"),
            key("noindex_as_target", "whether pages closed to search engines may be targets"),
            key("cross_language", "whether source and target may be in different languages"),
            key("exclude_source", "paths that are never sources"),
            key("exclude_target", "paths that are never targets"),
        ],
    },
    Group {
        name: "relevance",
        comment: "Which pairs of pages belong together.",
        keys: &[
            key("candidates", "targets looked at for each source before the guardrails, 1 to 1000"),
            optional("floor", "least score of a proposal, 0 to 1; calibrated on this site and model when absent", "0.5"),
            key("near_duplicate", "share of common text, 0 to 1, from which two pages are reported as near duplicates and not linked"),
            key("cannibalization", "similarity, 0 to 1, from which two pages with like titles are reported as competing and not linked"),
            key("same_section", "whether source and target must share the first segment of their path"),
            key("template_linked", "pair that a menu or another template already links: \"flag\" or \"exclude\""),
            key("remember_rejections", "whether a rejected pair comes back only after one of its two pages changed"),
        ],
    },
    Group {
        name: "favour",
        comment: "Which targets come first when the caps do not leave room for all. 0.7 doubles the odds; scores and the floor stay as they are.",
        keys: &[
            key("orphans", "for pages without any body inlink, -5 to 5"),
            key("deep", "for each click that a page lies deeper than three, -5 to 5"),
            key("important", "paths of pages that matter most"),
            key("important_by", "for these pages, -5 to 5"),
        ],
    },
    Group {
        name: "intent",
        comment: "Directions that must not be linked.",
        keys: &[key("forbid", "rules such as { from = \"/products/**\", to = \"/blog/**\" }")],
    },
    Group {
        name: "dates",
        comment: "How dated pages are treated. Undated pages are never affected.",
        keys: &[
            key("news", "paths of dated news"),
            key("news_max_age_days", "older news is neither source nor target; 0 leaves all news out"),
            optional("max_age_days", "any dated page older than this is no target; no limit when absent", "1825"),
        ],
    },
    Group {
        name: "anchors",
        comment: "Which words may become a link.",
        keys: &[
            key("min_words", "least number of words"),
            key("max_words", "greatest number of words"),
            key("min_chars", "least number of characters in scripts without spaces"),
            key("max_chars", "greatest number of characters in scripts without spaces"),
            key("generic", "phrases that say nothing, such as \"our guide\", besides the built-in ones of each language"),
            key("never_link", "words and phrases that never become a link, such as a competitor's name"),
            key("function_word_edges", "whether an anchor may begin or end with a word such as \"the\" or \"of\""),
        ],
    },
    Group {
        name: "placement",
        comment: "Where in a page a link may stand. Headings, links, code, captions, forms and table headers never carry one.",
        keys: &[
            key("skip_first_words", "words at the start of the first paragraph that get no link"),
            key("one_per_paragraph", "whether a paragraph gets one new link at most"),
            key("min_distance_words", "words between two new links at least"),
            key("never_in", "CSS selectors of parts that get no link, such as \".disclaimer\""),
            key("blocks", "kinds of block that may carry a link"),
        ],
    },
    Group {
        name: "caps",
        comment: "How many links a run may propose.",
        keys: &[
            key("per_page", "new links per page and run"),
            key("per_1000_words", "body links per 1,000 words, existing ones included"),
            key("per_target", "new inlinks per target and run"),
            key("per_anchor", "uses of one anchor for one target, existing ones included"),
            key("anchor_share", "share that one anchor may have among a target's anchors, 0 to 1"),
        ],
    },
    Group {
        name: "links",
        comment: "How an inserted link is written. Markdown has no notation for attributes; they are left out there.",
        keys: &[
            key("style", "href: \"auto\" as the page's own links, \"absolute\", \"root\" or \"relative\""),
            key("sections", "links to sections (#id) that the words name: \"auto\" where the site has that habit, \"always\" or \"never\""),
            key("rel", "rel attribute; empty writes none"),
            key("target", "target attribute; empty writes none"),
            key("class", "class attribute; empty writes none"),
            key("marker", "data attribute that marks inserted links, such as \"data-linkwright\"; empty writes none"),
        ],
    },
    Group {
        name: "apply",
        comment: "How approved links are written to the site.",
        keys: &[
            key("max_pages", "pages that one run changes at most"),
            key("pause_ms", "pause between two pages of a WordPress site, in milliseconds"),
        ],
    },
    Group {
        name: "wordpress",
        comment: "The WordPress site that links are written to. The application password comes from the environment\n# (LINKWRIGHT_WORDPRESS_PASSWORD) or from a file that only its owner may read; it is never kept here.",
        keys: &[
            key("url", "address of the site; empty for a site that is not WordPress"),
            key("user", "user whose application password is used"),
            key("password_file", "file that holds the application password"),
            key("types", "REST names of the types that may be changed; empty allows posts, pages and every public type"),
        ],
    },
    Group {
        name: "model",
        comment: "Which embedding model is used. Changing it embeds every page again.",
        keys: &[key("name", "model inside the binary, or one that `linkwright model` lists")],
    },
];

/// The whole file for these values.
pub(super) fn write(values: &Value) -> String {
    let mut out = String::from(
        "# Settings of this linkwright project. A command-line flag wins over this file,\n\
         # this file over the defaults; remove a line to use the default.\n",
    );
    for group in KEYS {
        let _ = write!(out, "\n# {}\n[{}]\n", group.comment, group.name);
        for key in group.keys {
            let _ = writeln!(out, "# {}", key.comment);
            write_value(&mut out, key, &values[group.name][key.name]);
        }
    }
    out
}

/// Every dotted key, in the order of the file.
pub(super) fn keys() -> impl Iterator<Item = String> {
    KEYS.iter().flat_map(|group| group.keys.iter().map(move |key| format!("{}.{}", group.name, key.name)))
}

/// Every dotted key with its value, in the order of the file.
pub(super) fn list(values: &Value) -> Vec<(String, Value)> {
    let pairs = KEYS.iter().flat_map(|group| group.keys.iter().map(move |key| (group.name, key.name)));
    pairs.map(|(group, key)| (format!("{group}.{key}"), values[group][key].clone())).collect()
}

/// Whether this is a group or a dotted key.
pub(super) fn is_known(key: &str) -> bool {
    keys().any(|known| known == key) || KEYS.iter().any(|group| group.name == key)
}

/// The known key with the smallest edit distance, compared whole and by its last part, if the distance is at most a
/// third of the length.
pub(super) fn nearest_key(key: &str) -> Option<String> {
    let last = key.rsplit('.').next().unwrap_or(key);
    let distance = |candidate: &str| {
        let whole = edit_distance(key, candidate);
        let tail = candidate.rsplit('.').next().unwrap_or(candidate);
        // One more than the distance of the tails, so that the right group wins.
        whole.min(edit_distance(last, tail) + 1)
    };
    let groups = KEYS.iter().map(|group| group.name.to_owned());
    let (best, near) = keys().chain(groups).map(|candidate| (distance(&candidate), candidate)).min()?;
    (best <= 1 + last.chars().count() / 3).then_some(near)
}

/// Levenshtein distance in characters; overlong input is cut, as nothing known is long.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn write_value(out: &mut String, key: &Key, value: &Value) {
    match (value, key.example) {
        (Value::Null, example) => {
            let _ = writeln!(out, "# {} = {}", key.name, example.unwrap_or_default());
        }
        (Value::Array(items), _) if items.len() > 3 => {
            let _ = writeln!(out, "{} = [", key.name);
            for item in items {
                let _ = writeln!(out, "    {},", toml_value(item));
            }
            out.push_str("]\n");
        }
        _ => {
            let _ = writeln!(out, "{} = {}", key.name, toml_value(value));
        }
    }
}

/// One value on one line. Depth is bounded by the types of the settings: a list of tables of strings.
fn toml_value(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml_value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, field)| format!("{name} = {}", toml_value(field))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        // A JSON string is a TOML basic string but for U+007F, which TOML wants escaped.
        other => other.to_string().replace('\u{7f}', "\\u007F"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edit_distance_is_symmetric(a in "[a-c_.]{0,8}", b in "[a-c_.]{0,8}") {
            prop_assert_eq!(edit_distance(&a, &b), edit_distance(&b, &a));
            prop_assert_eq!(edit_distance(&a, &b) == 0, a == b);
        }
    }
}
