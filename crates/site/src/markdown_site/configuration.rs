//! From a generator's configuration file to what it says of addresses.
//!
//! YAML, TOML and JSON are parsed. JavaScript is not run: plain `key: 'value'` pairs are picked out
//! of its text, which is how nearly every project writes them.

use super::generator::{Generator, detect};
use linkwright_core::url::PageUrl;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Largest configuration that is read.
const MAX_BYTES: usize = 1 << 20;

/// What decides the address of a file.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    pub(crate) generator: Generator,
    pub(crate) base_url: Option<PageUrl>,
    /// Folder that holds the content, `/`-separated; empty when the folder read is the content.
    pub(crate) content: String,
    /// URL patterns by section (Hugo) or collection (Jekyll); under the empty name the one for posts.
    pub(crate) permalinks: BTreeMap<String, String>,
    /// Whether pages end in `/` rather than in `.html` or nothing.
    pub(crate) folders: Option<bool>,
    /// Collections that Jekyll writes.
    pub(crate) collections: BTreeSet<String>,
    /// Language codes of a multilingual site; the default language is not among them unless it has a folder.
    pub(crate) languages: BTreeSet<String>,
    /// Route of documents (Docusaurus).
    pub(crate) docs_route: String,
    /// Route of posts (Docusaurus).
    pub(crate) blog_route: String,
}

impl Configuration {
    /// Reads the configuration of a folder, or of the project whose content folder it is.
    pub(crate) fn read(root: &Path) -> Self {
        let own = detect(root).map(|(generator, file)| (root.to_owned(), generator, file));
        let found = own.or_else(|| enclosing(root));
        let Some((project, generator, file)) = found else { return Self::plain() };
        let text = read_text(&project.join(&file));
        let mut configuration = match generator {
            Generator::Astro | Generator::Docusaurus => from_script(generator, &text, &project),
            _ => from_values(generator, &parse(&file, &text), &project),
        };
        if project != root {
            configuration.content = String::new();
        }
        configuration
    }

    fn plain() -> Self {
        Self {
            generator: Generator::Plain,
            base_url: None,
            content: String::new(),
            permalinks: BTreeMap::new(),
            folders: None,
            collections: BTreeSet::new(),
            languages: BTreeSet::new(),
            docs_route: "docs".to_owned(),
            blog_route: "blog".to_owned(),
        }
    }
}

/// The project above, where the folder is what its generator takes content from.
fn enclosing(root: &Path) -> Option<(std::path::PathBuf, Generator, String)> {
    let whole = root.canonicalize().ok()?;
    let project = whole.parent()?;
    let (generator, file) = detect(project)?;
    let name = whole.file_name()?.to_str()?;
    let usual = match generator {
        Generator::Hugo => "content",
        Generator::Mkdocs => "docs",
        _ => return None,
    };
    (name == usual).then(|| (project.to_owned(), generator, file))
}

fn read_text(path: &Path) -> String {
    let mut bytes = std::fs::read(path).unwrap_or_default();
    bytes.truncate(MAX_BYTES);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Any notation as one kind of value; what does not parse says nothing.
fn parse(file: &str, text: &str) -> Value {
    let extension = file.rsplit('.').next().unwrap_or_default();
    match extension {
        "toml" => text.parse::<toml::Table>().ok().and_then(|table| serde_json::to_value(table).ok()),
        "json" => serde_json::from_str(text).ok(),
        _ => yaml(text),
    }
    .unwrap_or(Value::Null)
}

/// MkDocs files carry tags that only its own reader knows (`!ENV`, `!!python/name:…`).
fn yaml(text: &str) -> Option<Value> {
    let value: serde_yaml_ng::Value = serde_yaml_ng::from_str(text).ok()?;
    let serde_yaml_ng::Value::Mapping(map) = value else { return None };
    let entries = map.into_iter().filter_map(|(name, value)| Some((name.as_str()?.to_owned(), serde_json::to_value(value).ok()?)));
    Some(Value::Object(entries.collect()))
}

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    let found = value.as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.and_then(|(_, value)| value.as_str()).map(str::trim).filter(|text| !text.is_empty())
}

fn get<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn base(text: &str) -> Option<PageUrl> {
    let with_slash = format!("{}/", text.trim_end_matches('/'));
    PageUrl::parse(&with_slash)
}

fn from_values(generator: Generator, value: &Value, project: &Path) -> Configuration {
    let plain = Configuration { generator, ..Configuration::plain() };
    match generator {
        Generator::Hugo => hugo(plain, value, project),
        Generator::Jekyll => jekyll(plain, value),
        Generator::Mkdocs => Configuration {
            base_url: text_of(value, "site_url").and_then(base),
            content: text_of(value, "docs_dir").unwrap_or("docs").trim_matches('/').to_owned(),
            folders: Some(get(value, "use_directory_urls").and_then(Value::as_bool).unwrap_or(true)),
            ..plain
        },
        _ => plain,
    }
}

fn hugo(plain: Configuration, value: &Value, project: &Path) -> Configuration {
    let mut permalinks = BTreeMap::new();
    let table = get(value, "permalinks");
    // Newer files have one table more: `[permalinks.page]`.
    for table in table.into_iter().chain(table.and_then(|t| get(t, "page"))) {
        let patterns = table.as_object().into_iter().flatten().filter_map(|(section, p)| Some((section.clone(), p.as_str()?.to_owned())));
        permalinks.extend(patterns);
    }
    let default = text_of(value, "defaultContentLanguage").unwrap_or("en");
    let subdir = get(value, "defaultContentLanguageInSubdir").and_then(Value::as_bool).unwrap_or(false);
    let languages = get(value, "languages").and_then(Value::as_object).into_iter().flatten();
    let content = text_of(value, "contentDir").unwrap_or("content").trim_matches('/').to_owned();
    Configuration {
        base_url: text_of(value, "baseURL").or_else(|| text_of(value, "base_url")).and_then(base),
        content: if project.join(&content).is_dir() { content } else { String::new() },
        permalinks,
        folders: Some(!get(value, "uglyURLs").and_then(Value::as_bool).unwrap_or(false)),
        languages: languages.map(|(code, _)| code.to_lowercase()).filter(|code| subdir || code != default).collect(),
        ..plain
    }
}

fn jekyll(plain: Configuration, value: &Value) -> Configuration {
    let path = text_of(value, "baseurl").unwrap_or_default().trim_matches('/');
    let url = text_of(value, "url").and_then(|url| base(&format!("{}/{path}", url.trim_end_matches('/'))));
    let mut permalinks = BTreeMap::new();
    if let Some(pattern) = text_of(value, "permalink") {
        permalinks.insert(String::new(), pattern.to_owned());
    }
    let mut collections = BTreeSet::new();
    for (name, settings) in get(value, "collections").and_then(Value::as_object).into_iter().flatten() {
        if let Some(pattern) = text_of(settings, "permalink") {
            permalinks.insert(name.clone(), pattern.to_owned());
        }
        if get(settings, "output").and_then(Value::as_bool) == Some(true) {
            collections.insert(name.clone());
        }
    }
    Configuration { base_url: url, permalinks, collections, ..plain }
}

fn from_script(generator: Generator, text: &str, project: &Path) -> Configuration {
    let plain = Configuration { generator, ..Configuration::plain() };
    let slash = picked(text, "trailingSlash");
    if generator == Generator::Astro {
        let site = picked(text, "site").unwrap_or_default();
        let path = picked(text, "base").unwrap_or_default();
        let content = if project.join("src").is_dir() { "src" } else { "" };
        return Configuration {
            base_url: base(&format!("{}/{}", site.trim_end_matches('/'), path.trim_matches('/'))),
            content: content.to_owned(),
            folders: Some(slash.as_deref() != Some("never") && picked(text, "format").as_deref() != Some("file")),
            ..plain
        };
    }
    let site = picked(text, "url").unwrap_or_default();
    let path = picked(text, "baseUrl").unwrap_or_default();
    let route = |section: &str, default: &str| {
        let after = text.split_once(section).map(|(_, after)| after).unwrap_or_default();
        let own = after.get(..600.min(after.len())).unwrap_or_default();
        picked(own, "routeBasePath").map_or_else(|| default.to_owned(), |route| route.trim_matches('/').to_owned())
    };
    Configuration {
        base_url: base(&format!("{}/{}", site.trim_end_matches('/'), path.trim_matches('/'))),
        folders: Some(slash.as_deref() == Some("true")),
        docs_route: route("docs:", "docs"),
        blog_route: route("blog:", "blog"),
        ..plain
    }
}

/// The value of the first `name: 'value'` that is no comment.
fn picked(text: &str, name: &str) -> Option<String> {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && !line.starts_with('*')).find_map(|line| {
        let at = line
            .match_indices(name)
            .find(|(at, _)| !line[..*at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-')))?
            .0;
        let rest = line[at + name.len()..].trim_start_matches(['\'', '"']).trim_start().strip_prefix(':')?.trim_start();
        match rest.chars().next()? {
            quote @ ('\'' | '"' | '`') => rest[1..].split(quote).next().map(str::to_owned),
            _ => Some(rest.split([',', '}', ' ']).next()?.trim().to_owned()).filter(|word| matches!(word.as_str(), "true" | "false")),
        }
    })
}
