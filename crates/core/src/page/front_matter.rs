//! From the text of a Markdown file to the fields of its front matter and the place where its body
//! begins.
//!
//! YAML between `---` lines, TOML between `+++` lines and a JSON object are read; the fields go by
//! the names that Hugo, Jekyll, Astro, Docusaurus, MkDocs, Zola and Eleventy use for them. Reading
//! never fails: what is malformed leaves a sentence in `problem`, and the plain `key: value` lines
//! of broken YAML are used all the same, because a title with an unquoted colon is the most common
//! mistake and says clearly what was meant.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longest front matter that is read. Real ones are below a few kilobytes.
const MAX_BYTES: usize = 1 << 20;

/// How deep tables inside tables are looked into; no field of interest lies deeper.
const MAX_DEPTH: usize = 3;

const TITLE: &[&str] = &["title"];
const DESCRIPTION: &[&str] = &["description", "summary", "excerpt", "subtitle"];
const DATE: &[&str] = &[
    "date",
    "pubdate",
    "publishdate",
    "publish_date",
    "published",
    "publishedat",
    "published_at",
    "datepublished",
    "date_published",
    "created",
];
const ALIASES: &[&str] = &["aliases", "alias", "redirect_from", "redirectfrom"];
const TAGS: &[&str] = &["tags", "tag", "categories", "category", "keywords", "topics"];
const LANGUAGE: &[&str] = &["lang", "language", "locale"];
const NOINDEX: &[&str] = &["noindex", "no_index", "robotsnoindex", "unlisted"];

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// What the front matter of one file says. A file without front matter gives the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontMatter {
    /// Title.
    pub title: Option<String>,
    /// Description, summary or excerpt.
    pub description: Option<String>,
    /// Publication date as `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Last part of the URL (Hugo, Jekyll), or the whole path (Docusaurus).
    pub slug: Option<String>,
    /// Identifier of the document (Docusaurus), which stands for the file name in its URL.
    pub id: Option<String>,
    /// Whole path of the URL, perhaps with placeholders such as `:year` (Jekyll, Eleventy).
    pub permalink: Option<String>,
    /// Whole path or URL of the page (Hugo).
    pub url: Option<String>,
    /// Canonical URL that the page declares.
    pub canonical: Option<String>,
    /// Name of the layout.
    pub layout: Option<String>,
    /// Former paths that redirect here.
    pub aliases: Vec<String>,
    /// Not to be published: `draft: true`, `published: false`, or never rendered.
    pub draft: bool,
    /// Tags, categories and keywords, in the order written, each once.
    pub tags: Vec<String>,
    /// The file's own categories alone, which permalinks may contain.
    pub categories: Vec<String>,
    /// Language tag, lower case, with `-`.
    pub language: Option<String>,
    /// The page asks search engines to leave it out.
    pub noindex: bool,
    /// Byte offset in the decoded text where the body begins; 0 without front matter.
    pub body_start: usize,
    /// Line on which the body begins, 1-based.
    pub body_line: usize,
    /// What is wrong with the front matter, for people.
    pub problem: Option<String>,
}

/// A value of the front matter, whatever notation it came from.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Text(String),
    Flag(bool),
    List(Vec<Field>),
    Table(Fields),
}

/// Fields by lower-case name.
type Fields = BTreeMap<String, Field>;

impl FrontMatter {
    /// Reads the front matter at the beginning of `text`. Never fails: see `problem`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let found = match text.as_bytes() {
            [b'-', b'-', b'-', ..] => fenced(text, "---").map(|(inner, end)| (read_yaml(inner), end)),
            [b'+', b'+', b'+', ..] => fenced(text, "+++").map(|(inner, end)| (read_toml(inner), end)),
            [b'{', ..] => read_json(text),
            _ => None,
        };
        let Some((Some((fields, problem)), end)) = found else {
            return Self { body_line: 1, ..Self::default() };
        };
        let body_line = 1 + text[..end].bytes().filter(|&b| b == b'\n').count();
        Self { body_start: end, body_line, problem, ..Self::from_fields(&fields) }
    }

    fn from_fields(fields: &Fields) -> Self {
        Self {
            title: text_of(fields, TITLE),
            description: text_of(fields, DESCRIPTION),
            date: texts_of(fields, DATE).iter().find_map(|text| date(text)),
            slug: text_of(fields, &["slug"]),
            id: text_of(fields, &["id"]),
            permalink: text_of(fields, &["permalink"]),
            url: text_of(fields, &["url"]),
            canonical: text_of(fields, &["canonical", "canonical_url", "canonicalurl"]),
            layout: text_of(fields, &["layout"]),
            aliases: lists_of(fields, ALIASES, Split::Never),
            draft: is_draft(fields),
            tags: tags_of(fields),
            categories: lists_of(fields, &["categories", "category"], Split::AtCommasOrBlanks),
            language: text_of(fields, LANGUAGE).map(|tag| tag.replace('_', "-").to_lowercase()),
            noindex: is_noindex(fields),
            ..Self::default()
        }
    }
}

/// The text between the fence on the first line and the next line that is a fence, and the offset
/// after that line.
fn fenced<'a>(text: &'a str, fence: &str) -> Option<(&'a str, usize)> {
    let first = text.split_inclusive('\n').next()?;
    if first.trim_end() != fence || !first.ends_with('\n') {
        return None;
    }
    let mut at = first.len();
    for line in text[at..].split_inclusive('\n') {
        let bare = line.trim_end();
        if bare == fence || (fence == "---" && bare == "...") {
            return Some((&text[first.len()..at], at + line.len()));
        }
        at += line.len();
    }
    None
}

/// Fields and problem of one front matter, or `None` where what stands there is not front matter,
/// such as a paragraph between two rules.
type Reading = Option<(Fields, Option<String>)>;

fn read_yaml(inner: &str) -> Reading {
    if inner.len() > MAX_BYTES {
        return Some((Fields::new(), Some("front matter is larger than 1 MiB and was not read".to_owned())));
    }
    match serde_yaml_ng::from_str::<serde_yaml_ng::Value>(inner) {
        Ok(serde_yaml_ng::Value::Mapping(map)) => Some((yaml_fields(&map, 0), None)),
        Ok(serde_yaml_ng::Value::Null) => Some((Fields::new(), None)),
        Ok(_) => None,
        Err(error) => {
            let fields = plain_lines(inner);
            let problem = format!("front matter is not valid YAML: {error}");
            (!fields.is_empty()).then_some((fields, Some(problem)))
        }
    }
}

fn yaml_fields(map: &serde_yaml_ng::Mapping, depth: usize) -> Fields {
    let entries = map.iter().filter_map(|(name, value)| Some((name.as_str()?.to_lowercase(), yaml_field(value, depth + 1)?)));
    entries.collect()
}

fn yaml_field(value: &serde_yaml_ng::Value, depth: usize) -> Option<Field> {
    use serde_yaml_ng::Value;
    match value {
        Value::String(text) => Some(Field::Text(text.clone())),
        Value::Bool(flag) => Some(Field::Flag(*flag)),
        Value::Number(number) => Some(Field::Text(number.to_string())),
        Value::Sequence(items) if depth < MAX_DEPTH => Some(Field::List(items.iter().filter_map(|i| yaml_field(i, depth + 1)).collect())),
        Value::Mapping(map) if depth < MAX_DEPTH => Some(Field::Table(yaml_fields(map, depth))),
        Value::Tagged(tagged) if depth < MAX_DEPTH => yaml_field(&tagged.value, depth + 1),
        _ => None,
    }
}

/// The `key: value` lines at the left margin of YAML that does not parse.
fn plain_lines(inner: &str) -> Fields {
    let mut fields = Fields::new();
    for line in inner.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if !named || value.is_empty() {
            continue;
        }
        let field = match value {
            "true" => Field::Flag(true),
            "false" => Field::Flag(false),
            _ => Field::Text(unquote(value).to_owned()),
        };
        fields.entry(name.to_lowercase()).or_insert(field);
    }
    fields
}

fn unquote(value: &str) -> &str {
    let inner = ['"', '\''].iter().find_map(|&q| value.strip_prefix(q)?.strip_suffix(q));
    inner.unwrap_or(value)
}

fn read_toml(inner: &str) -> Reading {
    if inner.len() > MAX_BYTES {
        return Some((Fields::new(), Some("front matter is larger than 1 MiB and was not read".to_owned())));
    }
    match inner.parse::<toml::Table>() {
        Ok(table) => Some((toml_fields(&table, 0), None)),
        Err(error) => Some((Fields::new(), Some(format!("front matter is not valid TOML: {}", error.message())))),
    }
}

fn toml_fields(table: &toml::Table, depth: usize) -> Fields {
    let entries = table.iter().filter_map(|(name, value)| Some((name.to_lowercase(), toml_field(value, depth + 1)?)));
    entries.collect()
}

fn toml_field(value: &toml::Value, depth: usize) -> Option<Field> {
    use toml::Value;
    match value {
        Value::String(text) => Some(Field::Text(text.clone())),
        Value::Boolean(flag) => Some(Field::Flag(*flag)),
        Value::Integer(number) => Some(Field::Text(number.to_string())),
        Value::Float(number) => Some(Field::Text(number.to_string())),
        Value::Datetime(date) => Some(Field::Text(date.to_string())),
        Value::Array(items) if depth < MAX_DEPTH => Some(Field::List(items.iter().filter_map(|i| toml_field(i, depth + 1)).collect())),
        Value::Table(table) if depth < MAX_DEPTH => Some(Field::Table(toml_fields(table, depth))),
        _ => None,
    }
}

/// A JSON object at the beginning; `None` where the brace begins something else (a shortcode, a JSX
/// expression).
fn read_json(text: &str) -> Option<(Reading, usize)> {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut values = serde_json::Deserializer::from_str(&text[..end]).into_iter::<serde_json::Map<String, serde_json::Value>>();
    let map = values.next()?.ok()?;
    let after = values.byte_offset();
    let rest_of_line = text[after..].find('\n').map_or(text.len(), |i| after + i + 1);
    let end = if text[after..rest_of_line].trim().is_empty() { rest_of_line } else { after };
    Some((Some((json_fields(&map, 0), None)), end))
}

fn json_fields(map: &serde_json::Map<String, serde_json::Value>, depth: usize) -> Fields {
    let entries = map.iter().filter_map(|(name, value)| Some((name.to_lowercase(), json_field(value, depth + 1)?)));
    entries.collect()
}

fn json_field(value: &serde_json::Value, depth: usize) -> Option<Field> {
    use serde_json::Value;
    match value {
        Value::String(text) => Some(Field::Text(text.clone())),
        Value::Bool(flag) => Some(Field::Flag(*flag)),
        Value::Number(number) => Some(Field::Text(number.to_string())),
        Value::Array(items) if depth < MAX_DEPTH => Some(Field::List(items.iter().filter_map(|i| json_field(i, depth + 1)).collect())),
        Value::Object(map) if depth < MAX_DEPTH => Some(Field::Table(json_fields(map, depth))),
        _ => None,
    }
}

fn texts_of(fields: &Fields, names: &[&str]) -> Vec<String> {
    let values = names.iter().filter_map(|&name| match fields.get(name)? {
        Field::Text(text) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        _ => None,
    });
    values.filter(|text| !text.is_empty()).collect()
}

fn text_of(fields: &Fields, names: &[&str]) -> Option<String> {
    texts_of(fields, names).into_iter().next()
}

/// Where a single string stands for a list, where it is cut.
#[derive(Clone, Copy)]
enum Split {
    Never,
    AtCommas,
    AtCommasOrBlanks,
}

fn lists_of(fields: &Fields, names: &[&str], split: Split) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for field in names.iter().filter_map(|&name| fields.get(name)) {
        for item in items_of(field, split) {
            let item = item.trim().to_owned();
            if !item.is_empty() && !out.contains(&item) {
                out.push(item);
            }
        }
    }
    out
}

fn items_of(field: &Field, split: Split) -> Vec<String> {
    match field {
        Field::Text(text) => match split {
            Split::AtCommas | Split::AtCommasOrBlanks if text.contains(',') => text.split(',').map(str::to_owned).collect(),
            Split::AtCommasOrBlanks => text.split_whitespace().map(str::to_owned).collect(),
            _ => vec![text.clone()],
        },
        Field::List(items) => items.iter().filter_map(item_text).collect(),
        _ => Vec::new(),
    }
}

/// A list item is a string, or a table that has its words under `label`, `name` or `title`.
fn item_text(item: &Field) -> Option<String> {
    match item {
        Field::Text(text) => Some(text.clone()),
        Field::Table(table) => text_of(table, &["label", "name", "title"]),
        _ => None,
    }
}

fn tags_of(fields: &Fields) -> Vec<String> {
    let mut tags = lists_of(fields, TAGS, Split::AtCommas);
    if let Some(Field::Table(taxonomies)) = fields.get("taxonomies") {
        let more = lists_of(taxonomies, TAGS, Split::AtCommas);
        tags.extend(more.into_iter().filter(|t| !tags.contains(t)).collect::<Vec<_>>());
    }
    tags
}

fn flag_of(fields: &Fields, name: &str) -> Option<bool> {
    match fields.get(name)? {
        Field::Flag(flag) => Some(*flag),
        Field::Text(text) => match text.to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn is_draft(fields: &Fields) -> bool {
    let never_rendered = ["build", "_build"].iter().any(|&name| match fields.get(name) {
        Some(Field::Table(build)) => flag_of(build, "render") == Some(false) || text_of(build, &["render"]).is_some_and(|r| r == "never"),
        _ => false,
    });
    flag_of(fields, "draft") == Some(true)
        || flag_of(fields, "published") == Some(false)
        || flag_of(fields, "publish") == Some(false)
        || flag_of(fields, "permalink") == Some(false)
        || flag_of(fields, "headless") == Some(true)
        || never_rendered
}

fn is_noindex(fields: &Fields) -> bool {
    let here = |fields: &Fields| {
        NOINDEX.iter().any(|&name| flag_of(fields, name) == Some(true))
            || lists_of(fields, &["robots"], Split::AtCommasOrBlanks)
                .iter()
                .any(|r| matches!(r.to_lowercase().as_str(), "noindex" | "none"))
    };
    here(fields) || ["seo", "params"].iter().any(|&name| matches!(fields.get(name), Some(Field::Table(table)) if here(table)))
}

/// The day of a date as authors write it: `2019-03-26T10:00:00Z`, `2019/3/26`, `Mar 26, 2019`,
/// `26 March 2019`.
fn date(text: &str) -> Option<String> {
    numeric_date(text).or_else(|| worded_date(text))
}

fn numeric_date(text: &str) -> Option<String> {
    let mut parts = text.splitn(3, ['-', '/', '.']);
    let year = parts.next()?.trim();
    let month = parts.next()?.trim();
    let rest = parts.next()?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (year.len() == 4).then(|| day(year, month, &rest[..digits])).flatten()
}

fn worded_date(text: &str) -> Option<String> {
    let words: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    let (at, month) = words.iter().enumerate().find_map(|(i, word)| {
        let month = MONTHS.iter().position(|m| word.starts_with(m))?;
        Some((i, (month + 1).to_string()))
    })?;
    let is_number = |w: &&String| w.bytes().all(|b| b.is_ascii_digit());
    let year = words[at + 1..].iter().filter(is_number).find(|w| w.len() == 4)?;
    let near = [at.checked_sub(1).and_then(|i| words.get(i)), words.get(at + 1)];
    let ordinal = |w: &String| w.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_owned();
    let number = near.into_iter().flatten().map(ordinal).find(|w| matches!(w.len(), 1 | 2) && w.bytes().all(|b| b.is_ascii_digit()))?;
    day(year, &month, &number)
}

fn day(year: &str, month: &str, day: &str) -> Option<String> {
    let year: u32 = year.parse().ok()?;
    let month: u32 = month.parse().ok().filter(|m| (1..=12).contains(m))?;
    let day: u32 = day.parse().ok().filter(|d| (1..=31).contains(d))?;
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn yaml_toml_and_json_say_the_same() {
        let notations = [
            "---\ntitle: \"Cats: a guide\"\ndate: 2024-05-06T10:00:00Z\ntags: [pets, cats]\nlang: pt_BR\ndraft: true\nslug: cats\naliases:\n  - /old/\n---\nBody",
            "+++\ntitle = \"Cats: a guide\"\ndate = 2024-05-06T10:00:00Z\ntags = [\"pets\", \"cats\"]\nlang = \"pt_BR\"\ndraft = true\nslug = \"cats\"\naliases = [\"/old/\"]\n+++\nBody",
            "{\n\"title\": \"Cats: a guide\", \"date\": \"2024-05-06\", \"tags\": [\"pets\", \"cats\"], \"lang\": \"pt-br\", \"draft\": true, \"slug\": \"cats\", \"aliases\": [\"/old/\"]\n}\nBody",
        ];
        for text in notations {
            let front = FrontMatter::parse(text);
            assert_eq!(&text[front.body_start..], "Body", "{text}");
            assert_eq!(front.title.as_deref(), Some("Cats: a guide"));
            assert_eq!(front.date.as_deref(), Some("2024-05-06"));
            assert_eq!(front.tags, ["pets", "cats"]);
            assert_eq!(front.language.as_deref(), Some("pt-br"));
            assert_eq!(front.slug.as_deref(), Some("cats"));
            assert_eq!(front.aliases, ["/old/"]);
            assert!(front.draft && !front.noindex);
            assert_eq!(front.problem, None);
        }
    }

    #[test]
    fn an_unquoted_colon_spoils_nothing_but_is_told() {
        let front = FrontMatter::parse("---\ntitle: Cats: a guide\ndate: 2024-05-06\npublished: false\n---\nBody");
        assert_eq!(front.title.as_deref(), Some("Cats: a guide"));
        assert_eq!(front.date.as_deref(), Some("2024-05-06"));
        assert!(front.draft);
        assert!(front.problem.is_some_and(|p| p.contains("not valid YAML")));
    }

    #[test]
    fn broken_toml_is_told_and_the_body_is_still_found() {
        let front = FrontMatter::parse("+++\ntitle = Cats\n+++\nBody");
        assert_eq!((front.title, front.body_start, front.body_line), (None, 21, 4));
        assert!(front.problem.is_some_and(|p| p.contains("not valid TOML")));
    }

    #[test]
    fn text_that_only_looks_like_front_matter_is_body() {
        let bodies = [
            "",
            "# Title\n",
            "---\nnever closed: x\n",
            "---\n\nA paragraph between rules.\n\n---\n",
            "{{< figure >}}\n",
            "{/* note */}\n",
            "--- \nx",
        ];
        for text in bodies {
            let front = FrontMatter::parse(text);
            assert_eq!((front.body_start, front.body_line, front.problem), (0, 1, None), "{text:?}");
        }
    }

    #[test]
    fn empty_front_matter_is_skipped() {
        let front = FrontMatter::parse("---\r\n---\r\nBody");
        assert_eq!((front.body_start, front.body_line), (10, 3));
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        let written = [
            ("2019-03-26 10:00:00 -0400", Some("2019-03-26")),
            ("2019/3/6", Some("2019-03-06")),
            ("'Jul 08 2022'", Some("2022-07-08")),
            ("\"March 26th, 2019\"", Some("2019-03-26")),
            ("26 March 2019", Some("2019-03-26")),
            ("2019-13-26", None),
            ("soon", None),
        ];
        for (text, expected) in written {
            let front = FrontMatter::parse(&format!("---\npubDate: {text}\n---\n"));
            assert_eq!(front.date.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn every_way_of_hiding_a_page_is_known() {
        let drafts = ["draft: true", "published: false", "build:\n  render: never", "_build:\n  render: false", "headless: true"];
        for line in drafts {
            assert!(FrontMatter::parse(&format!("---\n{line}\n---\n")).draft, "{line}");
        }
        let hidden = [
            "noindex: true",
            "robots: noindex, follow",
            "robots: [none]",
            "seo:\n  noindex: true",
            "unlisted: true",
            "robotsNoIndex: true",
        ];
        for line in hidden {
            let front = FrontMatter::parse(&format!("---\n{line}\n---\n"));
            assert!(front.noindex && !front.draft, "{line}");
        }
        for line in ["draft: false", "published: 2020-01-01", "robots: index", "title: noindex"] {
            let front = FrontMatter::parse(&format!("---\n{line}\n---\n"));
            assert!(!front.noindex && !front.draft, "{line}");
        }
    }

    #[test]
    fn tags_come_from_lists_strings_tables_and_taxonomies() {
        let front = FrontMatter::parse("---\ntags:\n  - {label: Cats, permalink: /c}\n  - 2024\nkeywords: food, care\n---\n");
        assert_eq!(front.tags, ["Cats", "2024", "food", "care"]);
        let zola = FrontMatter::parse("+++\n[taxonomies]\ntags = [\"a\"]\n+++\n");
        assert_eq!(zola.tags, ["a"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_the_body_begins_on_a_character(text in "(---\n|\\+\\+\\+\n|\\{)?(\\PC|\n|[a-z]+: ?[^\n]*\n){0,12}(---\n|\\+\\+\\+\n|\\})?\\PC{0,8}") {
            let front = FrontMatter::parse(&text);
            prop_assert!(text.is_char_boundary(front.body_start));
            prop_assert!(front.body_line >= 1);
        }
    }
}
