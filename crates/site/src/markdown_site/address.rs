//! From the path and front matter of one file to the path of its URL below the base.
//!
//! Rules as the generators document them (Hugo "URL management", Jekyll "Permalinks", Docusaurus
//! "Create a doc" and "Blog", MkDocs `use_directory_urls`, Astro "Pages").

use super::configuration::Configuration;
use super::generator::Generator;
use linkwright_core::page::front_matter::FrontMatter;
use std::collections::BTreeSet;

/// What a file is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A page at this path (or, where front matter says so, at this URL).
    Page(String),
    /// Not published as a page of its own, and why.
    NoPage(&'static str),
}

/// A path taken apart. `name` has no extension; `folder` is empty or ends in no slash.
struct Parts<'a> {
    folder: &'a str,
    name: &'a str,
}

impl<'a> Parts<'a> {
    fn of(path: &'a str) -> Self {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        Self { folder, name: file.rsplit_once('.').map_or(file, |(name, _)| name) }
    }

    fn is_index(&self) -> bool {
        matches!(self.name.to_ascii_lowercase().as_str(), "index" | "readme" | "_index")
    }
}

/// Folders with an `index` file: what else lies in them belongs to that page (Hugo).
pub(crate) fn leaf_bundles<'a>(configuration: &Configuration, paths: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    if configuration.generator != Generator::Hugo {
        return BTreeSet::new();
    }
    let index = paths.map(|path| Parts::of(path)).filter(|parts| parts.name == "index" || parts.name.starts_with("index."));
    index.map(|parts| parts.folder.to_owned()).collect()
}

/// The address of a file.
pub(crate) fn of(configuration: &Configuration, bundles: &BTreeSet<String>, path: &str, front: &FrontMatter) -> Address {
    match configuration.generator {
        Generator::Hugo => hugo(configuration, bundles, path, front),
        Generator::Jekyll => jekyll(configuration, path, front),
        Generator::Astro => astro(configuration, path, front),
        Generator::Docusaurus => docusaurus(configuration, path, front),
        Generator::Mkdocs => mkdocs(configuration, path),
        Generator::Plain => plain(path, front),
    }
}

/// The part of a path below a folder.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A path as a folder URL.
fn as_folder(path: &str) -> Address {
    let path = path.trim_matches('/');
    Address::Page(if path.is_empty() { String::new() } else { format!("{path}/") })
}

/// A whole path or URL that front matter gives.
fn as_written(path: &str) -> Address {
    Address::Page(if path.contains("://") { path.to_owned() } else { path.trim_start_matches('/').to_owned() })
}

fn plain(path: &str, front: &FrontMatter) -> Address {
    if let Some(written) = front.permalink.as_ref().or(front.url.as_ref()).filter(|p| !p.contains([':', '{']) || p.contains("://")) {
        return as_written(written);
    }
    let parts = Parts::of(path);
    match &front.slug {
        Some(slug) if slug.starts_with('/') => as_folder(slug),
        Some(slug) if !parts.is_index() => as_folder(&join(parts.folder, slug)),
        _ if parts.is_index() => as_folder(parts.folder),
        _ => as_folder(&join(parts.folder, parts.name)),
    }
}

fn mkdocs(configuration: &Configuration, path: &str) -> Address {
    let Some(path) = below(path, &configuration.content) else { return Address::NoPage("outside the documents of MkDocs") };
    let parts = Parts::of(path);
    if parts.is_index() && parts.name != "_index" {
        return as_folder(parts.folder);
    }
    let whole = join(parts.folder, parts.name);
    if configuration.folders == Some(false) { Address::Page(format!("{whole}.html")) } else { as_folder(&whole) }
}

fn astro(configuration: &Configuration, path: &str, front: &FrontMatter) -> Address {
    let Some(path) = below(path, &configuration.content) else { return Address::NoPage("outside the sources of Astro") };
    let page = below(path, "pages");
    // Starlight publishes its collection `docs` at the root; other collections are commonly routed by name.
    let Some(path) = page.or_else(|| below(path, "content/docs")).or_else(|| below(path, "content")) else {
        return Address::NoPage("outside the pages and collections of Astro");
    };
    if path.split('/').any(|part| part.starts_with('_')) {
        return Address::NoPage("excluded by a leading underscore");
    }
    let parts = Parts::of(path);
    let whole = match &front.slug {
        Some(slug) if page.is_none() && slug.contains('/') => slug.trim_matches('/').to_owned(),
        Some(slug) if page.is_none() => join(parts.folder, slug),
        _ if parts.name == "index" => parts.folder.to_owned(),
        _ if page.is_none() => join(parts.folder, parts.name).split('/').map(slugged).collect::<Vec<_>>().join("/"),
        _ => join(parts.folder, parts.name),
    };
    if configuration.folders == Some(false) { Address::Page(whole) } else { as_folder(&whole) }
}

/// Lower case, blanks as hyphens, other signs dropped: how headings and file names become slugs.
fn slugged(text: &str) -> String {
    let kept = text.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

fn docusaurus(configuration: &Configuration, path: &str, front: &FrontMatter) -> Address {
    if path.split('/').any(|part| part.starts_with('_')) {
        return Address::NoPage("a partial, by its leading underscore");
    }
    let Some((locale, area, path)) = docusaurus_area(path) else {
        return Address::NoPage("outside docs, blog and src/pages of Docusaurus");
    };
    let (route, rest) = match area {
        Area::Docs => (configuration.docs_route.as_str(), docusaurus_doc(path, front)),
        Area::Blog => (configuration.blog_route.as_str(), docusaurus_post(path, front)),
        Area::Pages => {
            let parts = Parts::of(path);
            ("", if parts.name == "index" { parts.folder.to_owned() } else { join(parts.folder, parts.name) })
        }
    };
    let parts = [locale, route, rest.trim_matches('/')];
    let whole = parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join("/");
    if configuration.folders == Some(true) || whole.is_empty() { as_folder(&whole) } else { Address::Page(whole) }
}

/// The plugin of Docusaurus that publishes a file.
#[derive(Clone, Copy)]
enum Area {
    Docs,
    Blog,
    Pages,
}

/// Locale (empty for the site's own), area, and the path within it. Translations lie in
/// `i18n/LOCALE/PLUGIN` and are routed below their locale.
fn docusaurus_area(path: &str) -> Option<(&str, Area, &str)> {
    if let Some((locale, rest)) = path.strip_prefix("i18n/").and_then(|rest| rest.split_once('/')) {
        let (plugin, rest) = rest.split_once('/')?;
        return match plugin {
            "docusaurus-plugin-content-docs" => Some((locale, Area::Docs, rest.strip_prefix("current/")?)),
            "docusaurus-plugin-content-blog" => Some((locale, Area::Blog, rest)),
            "docusaurus-plugin-content-pages" => Some((locale, Area::Pages, rest)),
            _ => None,
        };
    }
    let areas = [("docs", Area::Docs), ("blog", Area::Blog), ("src/pages", Area::Pages)];
    areas.into_iter().find_map(|(folder, area)| Some(("", area, below(path, folder)?)))
}

fn docusaurus_doc(path: &str, front: &FrontMatter) -> String {
    let parts = Parts::of(path);
    let folder = parts.folder.split('/').map(without_number).collect::<Vec<_>>().join("/");
    let name = without_number(parts.name);
    let last_folder = folder.rsplit('/').next().unwrap_or_default();
    match (&front.slug, &front.id) {
        (Some(slug), _) if slug.starts_with('/') => slug.clone(),
        (Some(slug), _) => join(&folder, slug),
        _ if parts.is_index() || (!last_folder.is_empty() && name.eq_ignore_ascii_case(last_folder)) => folder,
        (None, Some(id)) => join(&folder, id),
        (None, None) => join(&folder, name),
    }
}

/// `01-intro`, `2. intro` and `03_intro` are `intro`; a date or version is left as it is.
fn without_number(name: &str) -> &str {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == name.len() {
        return name;
    }
    let bare = rest.trim_start();
    let Some(after) = bare.strip_prefix(['-', '_', '.']) else { return name };
    let after = after.trim_start();
    if after.is_empty() || after.starts_with(|c: char| c.is_ascii_digit()) { name } else { after }
}

fn docusaurus_post(path: &str, front: &FrontMatter) -> String {
    if let Some(slug) = &front.slug {
        return slug.clone();
    }
    let parts = Parts::of(path);
    let whole = if parts.name == "index" { parts.folder.to_owned() } else { join(parts.folder, parts.name) };
    match dated(&whole) {
        Some((date, rest)) => format!("{}/{rest}", date.replace('-', "/")),
        None => whole,
    }
}

/// A path that contains `YYYY-MM-DD` followed by a sign: the date, and the rest after it.
fn dated(path: &str) -> Option<(String, String)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (date, rest) = date_and_rest(name)?;
    Some((date.to_owned(), join(folder, rest)))
}

/// `2024-05-06-title` as `2024-05-06` and `title`.
fn date_and_rest(name: &str) -> Option<(&str, &str)> {
    let date = name.get(..10)?;
    let rest = name.get(10..)?.strip_prefix('-')?;
    let shape = date.bytes().enumerate().all(|(i, b)| if matches!(i, 4 | 7) { b == b'-' } else { b.is_ascii_digit() });
    (shape && !rest.is_empty()).then_some((date, rest))
}

fn jekyll(configuration: &Configuration, path: &str, front: &FrontMatter) -> Address {
    let parts = Parts::of(path);
    let mut folders: Vec<&str> = parts.folder.split('/').filter(|f| !f.is_empty()).collect();
    let post = folders.iter().position(|f| matches!(*f, "_posts" | "_drafts"));
    if let Some(at) = post {
        let categories = folders[..at].iter().map(|c| (*c).to_owned()).chain(front.categories.iter().cloned());
        return jekyll_post(configuration, parts.name, &categories.collect::<Vec<_>>(), front);
    }
    let collection = folders.first().and_then(|f| f.strip_prefix('_')).filter(|name| configuration.collections.contains(*name));
    if let Some(name) = collection {
        folders[0] = name;
        let pattern = configuration.permalinks.get(name).map_or("/:collection/:path:output_ext", String::as_str);
        let path = join(&folders[1..].join("/"), parts.name);
        let fill = Fill {
            date: front.date.as_deref(),
            title: front.slug.as_deref().unwrap_or(parts.name),
            path: &path,
            categories: &[],
            section: name,
            file: parts.name,
        };
        return front.permalink.as_deref().map_or_else(|| as_written(&fill.pattern(pattern)), as_written);
    }
    if path.split('/').any(|part| part.starts_with('_')) {
        return Address::NoPage("not published by Jekyll, by its leading underscore");
    }
    if let Some(permalink) = &front.permalink {
        return as_written(permalink);
    }
    if parts.is_index() {
        return as_folder(parts.folder);
    }
    let style = configuration.permalinks.get("").map_or("date", String::as_str);
    let whole = join(parts.folder, parts.name);
    if style == "pretty" || style.ends_with('/') { as_folder(&whole) } else { Address::Page(format!("{whole}.html")) }
}

fn jekyll_post(configuration: &Configuration, name: &str, categories: &[String], front: &FrontMatter) -> Address {
    let (file_date, file_title) = date_and_rest(name).map_or((None, name), |(date, title)| (Some(date), title));
    let style = configuration.permalinks.get("").map_or("date", String::as_str);
    let pattern = front.permalink.as_deref().unwrap_or(match style {
        "date" => "/:categories/:year/:month/:day/:title:output_ext",
        "pretty" => "/:categories/:year/:month/:day/:title/",
        "none" => "/:categories/:title:output_ext",
        other => other,
    });
    let date = front.date.as_deref().or(file_date);
    let title = front.slug.as_deref().unwrap_or(file_title);
    let fill = Fill { date, title, path: title, categories, section: "posts", file: name };
    as_written(&fill.pattern(pattern))
}

fn hugo(configuration: &Configuration, bundles: &BTreeSet<String>, path: &str, front: &FrontMatter) -> Address {
    let Some(path_below) = below(path, &configuration.content) else { return Address::NoPage("outside the content of Hugo") };
    if let Some(url) = &front.url {
        return as_written(url);
    }
    let (language, parts) = hugo_language(configuration, path_below);
    let is_index = matches!(parts.name, "index" | "_index");
    if !is_index && bundle_above(bundles, path) {
        return Address::NoPage("a resource of the page whose folder it lies in");
    }
    let section = parts.folder.split('/').next().unwrap_or_default();
    let bundle_name = parts.folder.rsplit('/').next().unwrap_or_default();
    let (parent, name) = if parts.name == "index" {
        (parts.folder.rsplit_once('/').map_or("", |(parent, _)| parent), bundle_name)
    } else {
        (parts.folder, parts.name)
    };
    let slug = front.slug.as_deref();
    let whole = match configuration.permalinks.get(section).filter(|_| parts.name != "_index" && !section.is_empty()) {
        Some(pattern) => {
            let title = front.title.as_deref().unwrap_or(name);
            let sections = parent.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect::<Vec<_>>();
            let fill = Fill {
                date: front.date.as_deref(),
                title: slug.unwrap_or(title),
                path: slug.unwrap_or(name),
                categories: &sections,
                section,
                file: name,
            };
            fill.hugo(pattern, slug)
        }
        None if parts.name == "_index" => parts.folder.to_owned(),
        None => join(parent, slug.unwrap_or(name)),
    };
    let whole = whole.split('/').map(hugo_segment).collect::<Vec<_>>().join("/");
    let whole = language.map_or(whole.clone(), |code| join(&code, &whole));
    if configuration.folders == Some(false) && !is_index {
        Address::Page(format!("{}.html", whole.trim_matches('/')))
    } else {
        as_folder(&whole)
    }
}

/// `about.fr.md` and `fr/about.md` belong to French where French is a language of the site.
fn hugo_language<'a>(configuration: &Configuration, path: &'a str) -> (Option<String>, Parts<'a>) {
    let parts = Parts::of(path);
    let suffix = parts.name.rsplit_once('.').filter(|(_, code)| configuration.languages.contains(&code.to_lowercase()));
    if let Some((name, code)) = suffix {
        return (Some(code.to_lowercase()), Parts { folder: parts.folder, name });
    }
    (None, parts)
}

/// Whether the file lies in, or below, the folder of a leaf bundle.
fn bundle_above(bundles: &BTreeSet<String>, path: &str) -> bool {
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        if bundles.contains(above) {
            return true;
        }
        folder = above;
    }
    false
}

/// Hugo lowers the letters of paths and writes blanks as hyphens.
fn hugo_segment(segment: &str) -> String {
    segment.to_lowercase().split_whitespace().collect::<Vec<_>>().join("-")
}

/// What the placeholders of a permalink pattern stand for.
struct Fill<'a> {
    date: Option<&'a str>,
    title: &'a str,
    path: &'a str,
    categories: &'a [String],
    section: &'a str,
    file: &'a str,
}

impl Fill<'_> {
    fn hugo(&self, pattern: &str, slug: Option<&str>) -> String {
        let file_or_slug = slug.unwrap_or(self.file);
        let sections = self.categories.join("/");
        let pattern = pattern
            .replace(":slugorfilename", file_or_slug)
            .replace(":slugorcontentbasename", file_or_slug)
            .replace(":contentbasename", self.file)
            .replace(":filename", self.file)
            .replace(":sections", &sections)
            .replace(":section", self.section)
            .replace(":slug", &slugged(slug.unwrap_or(self.title)))
            .replace(":title", &slugged(self.title));
        self.pattern(&pattern)
    }

    fn pattern(&self, pattern: &str) -> String {
        let part = |range: std::ops::Range<usize>| self.date.and_then(|d| d.get(range)).unwrap_or_default();
        let (year, month, day) = (part(0..4), part(5..7), part(8..10));
        let categories: Vec<String> = self.categories.iter().map(|c| slugged(c)).collect();
        let filled = pattern
            .replace(":categories", &categories.join("/"))
            .replace(":collection", self.section)
            .replace(":output_ext", ".html")
            .replace(":short_year", part(2..4))
            .replace(":year", year)
            .replace(":i_month", month.trim_start_matches('0'))
            .replace(":month", month)
            .replace(":i_day", day.trim_start_matches('0'))
            .replace(":day", day)
            .replace(":title", self.title)
            .replace(":slug", &slugged(self.title))
            .replace(":path", self.path)
            .replace(":name", self.file);
        let trailing = if filled.ends_with('/') { "/" } else { "" };
        format!("{}{trailing}", filled.split('/').filter(|p| !p.is_empty()).collect::<Vec<_>>().join("/"))
    }
}
