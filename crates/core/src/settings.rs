//! Every threshold of linkwright as plain data, and the text of `linkwright.toml` that documents it.
//!
//! Invariants: `Settings::default()` is valid; `to_commented_toml` of any settings parses back to
//! the same settings; each key has exactly one row in `file::KEYS`, which is where its comment lives.
//! Patterns are globs (`*` within a path segment, `**` across) matched against the path of a URL.

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod check;
mod file;

pub use check::SettingsError;

/// All settings, grouped as the tables of `linkwright.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Which pages belong to the site, and where their content is.
    pub site: SiteSettings,
    /// How a site is read over HTTP.
    pub crawl: CrawlSettings,
    /// Which pages may be source or target.
    pub pages: PageSettings,
    /// Which pairs of pages belong together.
    pub relevance: RelevanceSettings,
    /// Which targets come first.
    pub favour: FavourSettings,
    /// Directions and page types that must not be linked.
    pub intent: IntentSettings,
    /// How dated pages are treated.
    pub dates: DateSettings,
    /// Which words may become a link.
    pub anchors: AnchorSettings,
    /// Where in a page a link may stand.
    pub placement: PlacementSettings,
    /// How many links a run may propose.
    pub caps: CapSettings,
    /// How a link is written.
    pub links: LinkSettings,
    /// How approved links are written to the site.
    pub apply: ApplySettings,
    /// The WordPress site that links are written to.
    pub wordpress: WordPressSettings,
    /// Which embedding model is used.
    pub model: ModelSettings,
}

/// `[site]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SiteSettings {
    /// Globs of paths to read; empty reads all.
    pub only: Vec<String>,
    /// Globs of paths never to read.
    pub exclude: Vec<String>,
    /// Further hosts that belong to the site.
    pub hosts: Vec<String>,
    /// Path that all pages of the site lie under.
    pub path_scope: String,
    /// CSS selector of the main content, where detection fails.
    pub content_selector: Option<String>,
    /// CSS selectors of parts that are never main content.
    pub exclude_selectors: Vec<String>,
}

impl Default for SiteSettings {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            exclude: Vec::new(),
            hosts: Vec::new(),
            path_scope: "/".to_owned(),
            content_selector: None,
            exclude_selectors: Vec::new(),
        }
    }
}

/// `[crawl]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlSettings {
    /// Least time between two requests to one host, in milliseconds.
    pub interval_ms: u64,
    /// Requests in flight at one time.
    pub concurrency: usize,
    /// Time allowed for one answer, in seconds.
    pub timeout_s: u64,
    /// URLs asked for at most.
    pub max_pages: usize,
    /// Clicks from the start at most.
    pub max_depth: u32,
    /// Size of one body at most, in bytes.
    pub max_body_bytes: usize,
    /// Time for the whole crawl, in seconds.
    pub max_time_s: Option<u64>,
    /// `User-Agent` header.
    pub user_agent: Option<String>,
    /// Further attempts after a 429, a 5xx or no answer.
    pub retries: u32,
    /// Longest pause between two attempts, in seconds.
    pub max_backoff_s: u64,
    /// Query variants of one path that are followed.
    pub queries_per_path: usize,
}

impl Default for CrawlSettings {
    fn default() -> Self {
        Self {
            interval_ms: 100,
            concurrency: 4,
            timeout_s: 30,
            max_pages: 100_000,
            max_depth: 64,
            max_body_bytes: 10 * 1024 * 1024,
            max_time_s: None,
            user_agent: None,
            retries: 3,
            max_backoff_s: 60,
            queries_per_path: 20,
        }
    }
}

impl CrawlSettings {
    /// The `User-Agent` in force: the configured one, or linkwright's name and version.
    #[must_use]
    pub fn user_agent(&self) -> &str {
        self.user_agent.as_deref().unwrap_or(concat!("linkwright/", env!("CARGO_PKG_VERSION")))
    }
}

/// `[pages]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageSettings {
    /// Words of main content that a source needs.
    pub min_words_source: usize,
    /// Words of main content that a target needs.
    pub min_words_target: usize,
    /// Globs of tag, category, author, pagination and search pages.
    pub archives: Vec<String>,
    /// Whether archive pages may be sources.
    pub archive_as_source: bool,
    /// Whether archive pages may be targets.
    pub archive_as_target: bool,
    /// Whether the home page may be a target.
    pub home_as_target: bool,
    /// Whether noindex pages may be sources.
    pub noindex_as_source: bool,
    /// Whether noindex pages may be targets.
    pub noindex_as_target: bool,
    /// Whether source and target may be in different languages.
    pub cross_language: bool,
    /// Globs of paths that are never sources.
    pub exclude_source: Vec<String>,
    /// Globs of paths that are never targets.
    pub exclude_target: Vec<String>,
}

/// Archive addresses of the common site builders: WordPress, Hugo, Jekyll, Ghost, Drupal, Medium.
const ARCHIVES: &[&str] = &[
    "**/{tag,tags,category,categories,topic,topics,author,authors}",
    "**/{tag,tags,category,categories,topic,topics,author,authors}/**",
    "**/{taxonomy,label,labels,archive,archives,feed,rss}",
    "**/{taxonomy,label,labels,archive,archives,feed,rss}/**",
    "**/{search,suche,recherche,buscar}",
    "**/{search,suche,recherche,buscar}/**",
    "**/page/[0-9]*",
];

impl Default for PageSettings {
    fn default() -> Self {
        Self {
            min_words_source: 200,
            min_words_target: 200,
            archives: ARCHIVES.iter().map(|&glob| glob.to_owned()).collect(),
            archive_as_source: false,
            archive_as_target: false,
            home_as_target: false,
            noindex_as_source: false,
            noindex_as_target: false,
            cross_language: false,
            exclude_source: Vec::new(),
            exclude_target: Vec::new(),
        }
    }
}

/// What is done with a pair that a guardrail may only flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlagOrExclude {
    /// Propose it and say so.
    Flag,
    /// Do not propose it.
    Exclude,
}

/// `[relevance]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelevanceSettings {
    /// Candidates looked at for each source.
    pub candidates: usize,
    /// Least score of a proposal; calibrated on the site and model when absent.
    pub floor: Option<f64>,
    /// Share of common text from which two pages are near duplicates.
    pub near_duplicate: f64,
    /// Similarity of page vectors and titles from which two pages compete.
    pub cannibalization: f64,
    /// Whether source and target must share the first segment of their path.
    pub same_section: bool,
    /// What to do when a menu or another template already links the pair.
    pub template_linked: FlagOrExclude,
    /// Whether a rejected pair comes back only after one of its pages changed.
    pub remember_rejections: bool,
}

impl Default for RelevanceSettings {
    fn default() -> Self {
        Self {
            candidates: 50,
            floor: None,
            near_duplicate: 0.8,
            cannibalization: 0.9,
            same_section: false,
            template_linked: FlagOrExclude::Flag,
            remember_rejections: true,
        }
    }
}

/// `[favour]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FavourSettings {
    /// Log odds added to the place of a pair in the order when its target is an orphan.
    pub orphans: f64,
    /// The same for each click that the target lies deeper than three.
    pub deep: f64,
    /// Globs of pages that matter most.
    pub important: Vec<String>,
    /// Log odds added for these.
    pub important_by: f64,
}

impl Default for FavourSettings {
    fn default() -> Self {
        Self { orphans: 0.5, deep: 0.0, important: Vec::new(), important_by: 1.0 }
    }
}

/// `[intent]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntentSettings {
    /// Directions that are not linked.
    pub forbid: Vec<IntentRule>,
}

/// A direction that is not linked, such as from a product page down to a blog post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentRule {
    /// Glob of the source's path.
    pub from: String,
    /// Glob of the target's path.
    pub to: String,
}

/// `[dates]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DateSettings {
    /// Globs of paths of dated news.
    pub news: Vec<String>,
    /// Age at which news stops being source or target, in days.
    pub news_max_age_days: u32,
    /// Age at which any dated page stops being a target, in days.
    pub max_age_days: Option<u32>,
}

impl Default for DateSettings {
    fn default() -> Self {
        Self {
            news: ["**/{news,press,press-releases,aktuelles,actualites,noticias}/**"].map(str::to_owned).to_vec(),
            news_max_age_days: 730,
            max_age_days: None,
        }
    }
}

/// `[anchors]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnchorSettings {
    /// Least number of words.
    pub min_words: usize,
    /// Greatest number of words.
    pub max_words: usize,
    /// Least number of characters in scripts without spaces.
    pub min_chars: usize,
    /// Greatest number of characters in scripts without spaces.
    pub max_chars: usize,
    /// Generic phrases besides the built-in ones.
    pub generic: Vec<String>,
    /// Words and phrases that never become a link.
    pub never_link: Vec<String>,
    /// Whether an anchor may begin or end with a function word.
    pub function_word_edges: bool,
}

impl Default for AnchorSettings {
    fn default() -> Self {
        Self {
            min_words: 2,
            max_words: 6,
            min_chars: 2,
            max_chars: 20,
            generic: Vec::new(),
            never_link: Vec::new(),
            function_word_edges: false,
        }
    }
}

/// `[placement]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlacementSettings {
    /// Words at the start of the first paragraph that get no link.
    pub skip_first_words: usize,
    /// Whether a paragraph gets one new link at most.
    pub one_per_paragraph: bool,
    /// Words between two new links at least.
    pub min_distance_words: usize,
    /// CSS selectors of parts that get no link.
    pub never_in: Vec<String>,
    /// Kinds of block that may carry a link.
    pub blocks: Vec<PlacementBlock>,
}

/// A kind of block that a setting may allow or forbid as the place of a link. Headings, code,
/// captions and table headers are not among them: they never carry one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacementBlock {
    /// A paragraph.
    Paragraph,
    /// A list item.
    ListItem,
    /// A quotation that is attributed to nobody.
    Quote,
    /// A data cell.
    TableCell,
    /// A term or description of a description list.
    Definition,
}

impl Default for PlacementSettings {
    fn default() -> Self {
        use PlacementBlock::{Definition, ListItem, Paragraph, Quote, TableCell};
        Self {
            skip_first_words: 10,
            one_per_paragraph: true,
            min_distance_words: 100,
            never_in: Vec::new(),
            blocks: vec![Paragraph, ListItem, Quote, TableCell, Definition],
        }
    }
}

/// `[caps]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CapSettings {
    /// New links per page and run.
    pub per_page: usize,
    /// Body links per 1,000 words, existing ones included.
    pub per_1000_words: usize,
    /// New inlinks per target and run.
    pub per_target: usize,
    /// Uses of one anchor for one target, existing ones included.
    pub per_anchor: usize,
    /// Share that one anchor may have among a target's anchors, 0 to 1.
    pub anchor_share: f64,
}

impl Default for CapSettings {
    fn default() -> Self {
        Self { per_page: 3, per_1000_words: 5, per_target: 10, per_anchor: 3, anchor_share: 0.5 }
    }
}

/// What is written as the `href` of a new link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HrefStyle {
    /// As the page's own links to the site are written.
    Auto,
    /// With scheme and host.
    Absolute,
    /// From the root of the host, with a leading `/`.
    Root,
    /// Relative to the page.
    Relative,
}

/// Whether a link may lead to a section of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionTargets {
    /// Where the site's own links do.
    Auto,
    /// Wherever a section is named.
    Always,
    /// Never.
    Never,
}

/// `[links]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkSettings {
    /// How the `href` is written.
    pub style: HrefStyle,
    /// Whether a link may lead to a section of a page.
    pub sections: SectionTargets,
    /// `rel` attribute; empty writes none.
    pub rel: String,
    /// `target` attribute; empty writes none.
    pub target: String,
    /// `class` attribute; empty writes none.
    pub class: String,
    /// Name of a `data-` attribute that marks inserted links; empty writes none.
    pub marker: String,
}

impl Default for LinkSettings {
    fn default() -> Self {
        Self {
            style: HrefStyle::Auto,
            sections: SectionTargets::Auto,
            rel: String::new(),
            target: String::new(),
            class: String::new(),
            marker: String::new(),
        }
    }
}

/// `[apply]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApplySettings {
    /// Pages that one run changes at most.
    pub max_pages: usize,
    /// Pause between two pages of a WordPress site, in milliseconds.
    pub pause_ms: u64,
}

impl Default for ApplySettings {
    fn default() -> Self {
        Self { max_pages: 20, pause_ms: 500 }
    }
}

/// `[wordpress]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WordPressSettings {
    /// Address of the site; empty for a site that is not WordPress, or whose links are not written.
    pub url: String,
    /// User whose application password is used.
    pub user: String,
    /// File that holds the application password.
    pub password_file: String,
    /// REST names of the types that may be changed; empty allows posts, pages and every public type.
    pub types: Vec<String>,
}

/// `[model]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Name of the embedding model.
    pub name: String,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self { name: "all-MiniLM-L6-v2".to_owned() }
    }
}

impl Settings {
    /// The text of `linkwright.toml`: every key with its value in force and a comment. A key that is not set is
    /// written as a comment with an example.
    #[must_use]
    pub fn to_commented_toml(&self) -> String {
        file::write(&self.values())
    }

    /// blake3 of all values, hexadecimal: equal hashes mean equal settings.
    #[must_use]
    pub fn hash(&self) -> String {
        blake3::hash(self.to_json().as_bytes()).to_hex().to_string()
    }

    /// All values as one line of JSON, an unset one as null.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.values().to_string()
    }

    /// Every dotted key with its value as JSON, in the order of the file.
    #[must_use]
    pub fn list(&self) -> Vec<(String, Value)> {
        file::list(&self.values())
    }

    /// Every dotted key, in the order of the file.
    pub fn keys() -> impl Iterator<Item = String> {
        file::keys()
    }

    /// Checks that `key` (`group` or `group.key`) exists.
    ///
    /// # Errors
    /// `UnknownKey` with the nearest known key.
    pub fn check_key(key: &str) -> Result<(), SettingsError> {
        if file::is_known(key) { Ok(()) } else { Err(SettingsError::UnknownKey { key: key.to_owned(), nearest: file::nearest_key(key) }) }
    }

    /// All values as JSON; an unset key is null.
    fn values(&self) -> Value {
        serde_json::to_value(self).expect("settings hold only numbers, strings, flags and lists of them")
    }
}

#[cfg(test)]
mod tests {
    use super::file::KEYS;
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_commented_file_parses_to_the_defaults() {
        assert_eq!(parse(&Settings::default().to_commented_toml()), Settings::default());
    }

    #[test]
    fn every_key_of_the_settings_is_in_the_file_and_no_other() {
        let values = Settings::default().values();
        let mut fields: Vec<String> = Vec::new();
        for (group, keys) in values.as_object().unwrap() {
            fields.extend(keys.as_object().unwrap().keys().map(|key| format!("{group}.{key}")));
        }
        let mut documented: Vec<String> = Settings::keys().collect();
        fields.sort();
        documented.sort();
        assert_eq!(documented, fields);
    }

    #[test]
    fn the_example_of_every_unset_key_is_accepted() {
        let text = Settings::default().to_commented_toml();
        let mut examples = 0;
        let lines = text.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.split(" = ").next().is_some_and(|name| !name.contains(' ')) && rest.contains(" = ") => {
                examples += 1;
                rest
            }
            _ => line,
        });
        let set = parse(&lines.collect::<Vec<_>>().join("\n"));
        assert_eq!(examples, KEYS.iter().flat_map(|group| group.keys).filter(|key| key.example.is_some()).count());
        assert!(!set.values().to_string().contains("null"));
        set.validate().unwrap();
    }

    #[test]
    fn every_key_has_a_comment_on_the_line_above() {
        let text = Settings::default().to_commented_toml();
        let lines: Vec<&str> = text.lines().collect();
        for group in KEYS {
            for key in group.keys {
                let at = lines.iter().position(|line| line.trim_start_matches("# ").starts_with(&format!("{} = ", key.name))).unwrap();
                assert!(lines[at - 1].starts_with("# ") && lines[at - 1].len() > 8, "{}", key.name);
            }
        }
    }

    #[test]
    fn the_defaults_are_valid() {
        Settings::default().validate().unwrap();
    }

    #[test]
    fn archive_addresses_are_told_from_articles() {
        let globs: Vec<_> = ARCHIVES.iter().map(|glob| globset::Glob::new(glob).unwrap().compile_matcher()).collect();
        let matches = |path: &str| globs.iter().any(|glob| glob.is_match(path));
        for path in [
            "/tag/rust",
            "/blog/category/a/b",
            "/page/2",
            "/blog/page/12",
            "/search",
            "/de/suche/",
            "/author/ann",
            "/blog/feed",
            "/tags",
            "/tags/",
        ] {
            assert!(matches(path), "{path}");
        }
        for path in ["/", "/blog/tags-explained", "/pages/2", "/page/about", "/research", "/searching/", "/authors-guide"] {
            assert!(!matches(path), "{path}");
        }
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let cases = [
            ("caps.per_pages", Some("caps.per_page")),
            ("cap.per_page", Some("caps.per_page")),
            ("per_page", Some("caps.per_page")),
            ("crawl.timeout", Some("crawl.timeout_s")),
            ("pages.min_word_source", Some("pages.min_words_source")),
            ("anchor", Some("anchors")),
            ("colour.of.the.sky", None),
        ];
        for (key, nearest) in cases {
            let expected = SettingsError::UnknownKey { key: key.to_owned(), nearest: nearest.map(str::to_owned) };
            assert_eq!(Settings::check_key(key), Err(expected));
        }
        Settings::check_key("caps.per_page").unwrap();
        assert!(toml::from_str::<Settings>("[caps]\nper_pages = 3").is_err());
        assert!(toml::from_str::<Settings>("[cap]\nper_page = 3").is_err());
    }

    #[test]
    fn values_outside_their_range_are_refused_by_name() {
        let cases = [
            ("crawl.concurrency", "[crawl]\nconcurrency = 0"),
            ("crawl.user_agent", "[crawl]\nuser_agent = \"a\\nb: c\""),
            ("site.path_scope", "[site]\npath_scope = \"docs\""),
            ("site.only", "[site]\nonly = [\"/a[\"]"),
            ("site.content_selector", "[site]\ncontent_selector = \"main >\""),
            ("intent.forbid", "[intent]\nforbid = [{ from = \"/a/**\", to = \"{\" }]"),
            ("anchors.max_words", "[anchors]\nmin_words = 4\nmax_words = 3"),
            ("caps.anchor_share", "[caps]\nanchor_share = 1.5"),
            ("relevance.floor", "[relevance]\nfloor = nan"),
            ("links.rel", "[links]\nrel = \"x\\\" onclick=\\\"y\""),
            ("links.marker", "[links]\nmarker = \"onclick\""),
        ];
        for (key, text) in cases {
            let message = parse(text).validate().unwrap_err().to_string();
            assert!(message.starts_with(&format!("setting `{key}` is ")), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn the_hash_tells_settings_apart() {
        let mut changed = Settings::default();
        assert_eq!(changed.hash(), Settings::default().hash());
        changed.caps.per_page = 4;
        assert_ne!(changed.hash(), Settings::default().hash());
    }

    proptest! {
        #[test]
        fn any_text_survives_the_file(phrases in prop::collection::vec(any::<String>(), 0..6), from in any::<String>(), age in any::<Option<u32>>()) {
            let mut settings = Settings::default();
            settings.anchors.never_link = phrases;
            settings.intent.forbid = vec![IntentRule { from: from.clone(), to: from }];
            settings.dates.max_age_days = age;
            prop_assert_eq!(parse(&settings.to_commented_toml()), settings);
        }
    }
}
