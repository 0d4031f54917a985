use super::*;
use std::path::PathBuf;

/// URLs below `https://e.org/` of a project with these files.
fn urls(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let listed = files.iter().filter(|(path, _)| format_of(path).is_some_and(|f| f != SourceFormat::Html));
    let listed: Vec<File> =
        listed.map(|(path, _)| File { file: folder.path().join(path), path: (*path).to_owned(), problem: None }).collect();
    let site = MarkdownSite::place(folder.path(), listed, Some(&PageUrl::parse("https://e.org/").unwrap()));
    site.by_path.into_iter().map(|(path, url)| (path, url.as_str().replace("https://e.org", ""))).collect()
}

fn check(configuration: (&str, &str), cases: &[(&str, &str, Option<&str>)]) {
    let mut files = vec![configuration];
    files.extend(cases.iter().map(|(path, text, _)| (*path, *text)));
    let found = urls(&files);
    for (path, text, expected) in cases {
        assert_eq!(found.get(*path).map(String::as_str), *expected, "{path} {text}");
    }
}

#[test]
fn plain_files_are_at_their_path_without_extension() {
    check(
        ("notes.txt", ""),
        &[
            ("index.md", "", Some("/")),
            ("a/README.md", "", Some("/a/")),
            ("a/B c.md", "", Some("/a/B%20c/")),
            ("2024/05/x.markdown", "", Some("/2024/05/x/")),
            ("b.md", "---\nslug: other\n---\n", Some("/other/")),
            ("c.md", "---\npermalink: /deep/c.html\n---\n", Some("/deep/c.html")),
            ("d.mdx", "---\nurl: https://e.org/elsewhere/\n---\n", Some("/elsewhere/")),
        ],
    );
}

#[test]
fn hugo_places_sections_bundles_and_languages() {
    let configuration = "baseURL = 'https://x.org/'\n[permalinks]\nposts = '/:year/:month/:slug/'\n[languages.en]\n[languages.fr]\n";
    check(
        ("hugo.toml", configuration),
        &[
            ("content/_index.md", "", Some("/")),
            ("content/docs/_index.md", "", Some("/docs/")),
            ("content/docs/Set Up.md", "", Some("/docs/set-up/")),
            ("content/docs/bundle/index.md", "", Some("/docs/bundle/")),
            ("content/docs/bundle/notes.md", "", None),
            ("content/docs/slugged.md", "---\nslug: other\n---\n", Some("/docs/other/")),
            ("content/docs/b2/index.md", "---\nslug: b3\n---\n", Some("/docs/b3/")),
            ("content/about.fr.md", "", Some("/fr/about/")),
            ("content/moved.md", "+++\nurl = '/somewhere/else.html'\n+++\n", Some("/somewhere/else.html")),
            ("content/posts/first.md", "+++\ntitle = 'Hello, World'\ndate = 2024-05-06\n+++\n", Some("/2024/05/hello-world/")),
            ("README.md", "", None),
        ],
    );
}

#[test]
fn jekyll_dates_its_posts_and_keeps_its_private_folders() {
    let cases = |post: &'static str, page: &'static str| {
        [
            ("_posts/2024-05-06-first-post.md", "---\ntitle: x\n---\n", Some(post)),
            ("about.md", "---\n---\n", Some(page)),
            ("index.md", "", Some("/")),
            ("_includes/part.md", "", None),
            ("own.md", "---\npermalink: /mine/\n---\n", Some("/mine/")),
        ]
    };
    check(("_config.yml", "title: x"), &cases("/2024/05/06/first-post.html", "/about.html"));
    check(("_config.yml", "permalink: pretty"), &cases("/2024/05/06/first-post/", "/about/"));
    check(("_config.yml", "permalink: /blog/:title/"), &cases("/blog/first-post/", "/about/"));
    check(
        ("_config.yml", "collections:\n  guides:\n    output: true\n  hidden: {}"),
        &[
            ("_guides/start.md", "", Some("/guides/start.html")),
            ("_hidden/x.md", "", None),
            ("news/_posts/2024-05-06-a.md", "---\ncategories: [Big News]\n---\n", Some("/news/big-news/2024/05/06/a.html")),
            ("_posts/2024-05-06-b.md", "---\npermalink: /:year/:title/\n---\n", Some("/2024/b/")),
        ],
    );
}

#[test]
fn docusaurus_strips_numbers_and_dates_posts() {
    check(
        ("docusaurus.config.js", "module.exports = {\n  url: 'https://x.org',\n  baseUrl: '/base/',\n};"),
        &[
            ("docs/01-intro.md", "", Some("/docs/intro")),
            ("docs/02-guide/index.md", "", Some("/docs/guide")),
            ("docs/02-guide/3. more.mdx", "", Some("/docs/guide/more")),
            ("docs/a/a.md", "", Some("/docs/a")),
            ("docs/root.md", "---\nslug: /\n---\n", Some("/docs")),
            ("docs/b/c.md", "---\nid: d\n---\n", Some("/docs/b/d")),
            ("docs/2024-01-02.md", "", Some("/docs/2024-01-02")),
            ("docs/_partial.md", "", None),
            ("blog/2024-05-06-news.md", "", Some("/blog/2024/05/06/news")),
            ("blog/2024-05-07-more/index.md", "", Some("/blog/2024/05/07/more")),
            ("blog/2024-05-08-x.md", "---\nslug: welcome\n---\n", Some("/blog/welcome")),
            ("src/pages/about.md", "", Some("/about")),
            ("i18n/fr/docusaurus-plugin-content-docs/current/01-intro.md", "", Some("/fr/docs/intro")),
        ],
    );
}

#[test]
fn mkdocs_and_astro_have_their_folders() {
    check(
        ("mkdocs.yml", "site_url: https://x.org/\nmarkdown_extensions:\n  - x: !!python/name:y.z\n"),
        &[
            ("docs/index.md", "", Some("/")),
            ("docs/a/README.md", "", Some("/a/")),
            ("docs/a/b.md", "", Some("/a/b/")),
            ("README.md", "", None),
        ],
    );
    check(("mkdocs.yml", "use_directory_urls: false"), &[("docs/a/b.md", "", Some("/a/b.html")), ("docs/a/index.md", "", Some("/a/"))]);
    check(
        ("astro.config.mjs", "export default defineConfig({ site: 'https://x.org' })"),
        &[
            ("src/pages/about.md", "", Some("/about/")),
            ("src/pages/index.mdx", "", Some("/")),
            ("src/content/docs/guides/Start Here.mdx", "", Some("/guides/start-here/")),
            ("src/content/blog/post.md", "---\nslug: hello\n---\n", Some("/blog/hello/")),
            ("src/components/x.md", "", None),
        ],
    );
}

#[test]
fn base_urls_are_read_from_configurations() {
    let cases = [
        ("hugo.yaml", "baseURL: https://x.org/sub", "https://x.org/sub/"),
        ("_config.yml", "url: https://x.org\nbaseurl: /sub", "https://x.org/sub/"),
        ("mkdocs.yml", "site_url: https://x.org/sub/", "https://x.org/sub/"),
        (
            "docusaurus.config.ts",
            "const c = {\n  // url: 'https://no.org',\n  url: \"https://x.org\", baseUrl: '/sub/',\n}",
            "https://x.org/sub/",
        ),
        ("astro.config.mjs", "defineConfig({\n  site: 'https://x.org',\n  base: '/sub',\n})", "https://x.org/sub/"),
    ];
    for (name, text, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        let site = MarkdownSite::place(folder.path(), Vec::new(), None);
        assert_eq!(site.base_url.as_str(), expected, "{name}");
        assert!(site.base_url_origin.starts_with("from the configuration"));
    }
    let broken = tempfile::tempdir().unwrap();
    std::fs::write(broken.path().join("_config.yml"), "a: [").unwrap();
    assert_eq!(MarkdownSite::place(broken.path(), Vec::new(), None).generator, Generator::Jekyll);
}

#[test]
fn links_by_path_lead_to_the_page_of_the_file() {
    let by_path: BTreeMap<String, PageUrl> = ["content/a/b.md", "content/c d.md", "content/e/index.md", "content/a/f.mdx"]
        .iter()
        .map(|p| ((*p).to_owned(), url_below(&PageUrl::parse("https://e.org/").unwrap(), p)))
        .collect();
    let cases = [
        ("../c%20d.md#part", Some("content/c%20d.md")),
        ("./f.mdx?x", Some("content/a/f.mdx")),
        ("f", Some("content/a/f.mdx")),
        ("../e", Some("content/e/index.md")),
        ("../e/", Some("content/e/index.md")),
        ("/c d.md", Some("content/c%20d.md")),
        ("/content/a/b.md", Some("content/a/b.md")),
        ("/c", None),
        ("../../../x.md", None),
        ("https://other.org/b.md", None),
        ("#part", None),
        ("missing.md", None),
    ];
    for (href, expected) in cases {
        let found = resolve(&by_path, "content/a/b.md", href);
        assert_eq!(found.map(|u| u.to_string()), expected.map(|e| format!("https://e.org/{e}")), "{href}");
    }
}

#[test]
fn a_content_folder_knows_the_project_around_it() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("hugo.toml"), "baseURL = 'https://x.org/'").unwrap();
    let content: PathBuf = project.path().join("content");
    std::fs::create_dir(&content).unwrap();
    let file = content.join("A.md");
    std::fs::write(&file, "").unwrap();
    let site = MarkdownSite::place(&content, vec![File { file, path: "A.md".to_owned(), problem: None }], None);
    assert_eq!((site.generator, site.by_path["A.md"].as_str()), (Generator::Hugo, "https://x.org/a/"));
}

#[test]
fn aliases_redirect_to_their_page_and_never_hide_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), "---\naliases: [/old/, former, /b/, 'https://other.org/x']\n---\n").unwrap();
    std::fs::write(folder.path().join("b.md"), "---\nredirect_from: /old\n---\n").unwrap();
    let files = ["a.md", "b.md"].map(|name| File { file: folder.path().join(name), path: name.to_owned(), problem: None });
    let site = MarkdownSite::place(folder.path(), files.to_vec(), Some(&PageUrl::parse("https://e.org/").unwrap()));
    let found: Vec<(&str, &str)> = site.aliases.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    assert_eq!(found, [("https://e.org/old/", "https://e.org/a/"), ("https://e.org/a/former", "https://e.org/a/")]);
}
