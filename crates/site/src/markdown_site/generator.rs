//! From the configuration files in a folder to the generator that publishes it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// A program that turns Markdown into a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
    /// Hugo, and Zola, which places its pages alike.
    Hugo,
    /// Jekyll, as on GitHub Pages.
    Jekyll,
    /// Astro, with or without Starlight.
    Astro,
    /// Docusaurus.
    Docusaurus,
    /// MkDocs.
    Mkdocs,
    /// None that is known.
    Plain,
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hugo => "Hugo",
            Self::Jekyll => "Jekyll",
            Self::Astro => "Astro",
            Self::Docusaurus => "Docusaurus",
            Self::Mkdocs => "MkDocs",
            Self::Plain => "plain Markdown",
        })
    }
}

/// Configuration files by generator; the first that exists decides.
pub(crate) const CONFIGURATIONS: &[(&str, Generator)] = &[
    ("docusaurus.config.js", Generator::Docusaurus),
    ("docusaurus.config.ts", Generator::Docusaurus),
    ("docusaurus.config.mjs", Generator::Docusaurus),
    ("docusaurus.config.cjs", Generator::Docusaurus),
    ("astro.config.mjs", Generator::Astro),
    ("astro.config.ts", Generator::Astro),
    ("astro.config.js", Generator::Astro),
    ("astro.config.mts", Generator::Astro),
    ("astro.config.cjs", Generator::Astro),
    ("mkdocs.yml", Generator::Mkdocs),
    ("mkdocs.yaml", Generator::Mkdocs),
    ("_config.yml", Generator::Jekyll),
    ("_config.yaml", Generator::Jekyll),
    ("_config.toml", Generator::Jekyll),
    ("hugo.toml", Generator::Hugo),
    ("hugo.yaml", Generator::Hugo),
    ("hugo.yml", Generator::Hugo),
    ("hugo.json", Generator::Hugo),
    ("config/_default/hugo.toml", Generator::Hugo),
    ("config/_default/hugo.yaml", Generator::Hugo),
    ("config/_default/config.toml", Generator::Hugo),
    ("config/_default/config.yaml", Generator::Hugo),
];

/// Names that Hugo shared with the world before it had its own; believed beside a content folder.
pub(crate) const OLD_HUGO: &[&str] = &["config.toml", "config.yaml", "config.yml", "config.json"];

/// The generator of a folder and the path of its configuration. `None` for a folder without one.
#[must_use]
pub fn detect(root: &Path) -> Option<(Generator, String)> {
    let exists = |name: &str| root.join(name).is_file();
    if let Some((name, generator)) = CONFIGURATIONS.iter().find(|(name, _)| exists(name)) {
        return Some((*generator, (*name).to_owned()));
    }
    if root.join("content").is_dir()
        && let Some(name) = OLD_HUGO.iter().find(|name| exists(name))
    {
        return Some((Generator::Hugo, (*name).to_owned()));
    }
    root.join("_posts").is_dir().then(|| (Generator::Jekyll, String::new()))
}
