//! What the names that authors give to elements, and the headings of boxes, say about their content.
//!
//! General words only, in the languages that themes are written in; no name of one site or product
//! beyond the few widgets that stand on very many sites.

/// What the names of an element say it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    pub(super) navigation: bool,
    pub(super) header: bool,
    pub(super) footer: bool,
    pub(super) comments: bool,
    /// A box beside the content: related posts, sharing, authors, newsletters, notices, advertising.
    pub(super) aside: bool,
    /// Lines about the content: author, date, tags, counts.
    pub(super) about: bool,
    /// The content itself.
    pub(super) content: bool,
}

const NAVIGATION: &[&str] = &[
    "nav",
    "navbar",
    "navigation",
    "topnav",
    "mainnav",
    "subnav",
    "sidenav",
    "navi",
    "menu",
    "menus",
    "submenu",
    "mainmenu",
    "topmenu",
    "megamenu",
    "dropdown",
    "breadcrumb",
    "breadcrumbs",
    "crumb",
    "crumbs",
    "pagination",
    "pager",
    "paging",
    "pagenav",
    "pagenavi",
    "tabs",
    "toolbar",
    "skiplink",
    "toc",
    "sitemap",
    "prevnext",
    "nextprev",
    "quicklinks",
];

const HEADER: &[&str] = &["masthead", "topbar", "siteheader", "pageheader", "logo", "branding"];

const FOOTER: &[&str] = &["footer", "colophon", "copyright", "sitefooter", "pagefooter", "foot", "bottombar", "legal", "disclaimer"];

const COMMENTS: &[&str] = &[
    "comment",
    "comments",
    "commentlist",
    "commentary",
    "disqus",
    "respond",
    "reply",
    "replies",
    "commentform",
    "livefyre",
    "trackback",
    "trackbacks",
    "pingback",
    "pingbacks",
    "kommentare",
    "commentaires",
    "comentarios",
    "commenti",
    "discussion",
    "responses",
];

const ASIDE: &[&str] = &[
    "sidebar",
    "aside",
    "widget",
    "widgets",
    "related",
    "recommend",
    "recommended",
    "recommendation",
    "recommendations",
    "similar",
    "share",
    "sharing",
    "sharebar",
    "sharetools",
    "sharedaddy",
    "addthis",
    "addtoany",
    "social",
    "socials",
    "follow",
    "promo",
    "promos",
    "promotion",
    "sponsor",
    "sponsored",
    "sponsors",
    "ad",
    "ads",
    "adsense",
    "advert",
    "adverts",
    "advertisement",
    "advertising",
    "adslot",
    "banner",
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "newsletter",
    "newsletters",
    "subscribe",
    "subscription",
    "signup",
    "signin",
    "login",
    "register",
    "popup",
    "modal",
    "overlay",
    "lightbox",
    "outbrain",
    "taboola",
    "trending",
    "popular",
    "mostread",
    "latest",
    "rail",
    "teaser",
    "teasers",
    "tools",
    "search",
    "rating",
    "ratings",
    "poll",
    "survey",
    "donate",
    "donation",
    "feedback",
    "paywall",
    "authorbox",
    "authorbio",
    "aboutauthor",
    "bio",
    "relatedposts",
    "morestories",
    "readmore",
    "readnext",
    "upnext",
    "tagcloud",
    "cta",
    "ticker",
    "carousel",
    "seealso",
    "shoutbox",
    "print",
    "printfriendly",
    "email",
    "tooltip",
    "noprint",
    "nosearch",
    "skyscraper",
    "leaderboard",
    "cloud",
    "blogroll",
    "archives",
    "calendar",
    "marginalia",
    "alert",
    "flyout",
    "drawer",
    "snippet",
    "syndication",
    "correction",
];

const ABOUT: &[&str] = &[
    "byline",
    "meta",
    "metadata",
    "postmeta",
    "entrymeta",
    "dateline",
    "timestamp",
    "pubdate",
    "date",
    "tag",
    "tags",
    "taglist",
    "category",
    "categories",
    "keywords",
    "topics",
    "author",
    "authors",
    "info",
    "views",
    "counter",
    "credit",
    "credits",
    "source",
    "caption",
    "kicker",
    "posted",
    "published",
    "updated",
    "filed",
];

const CONTENT: &[&str] = &[
    "article",
    "articlebody",
    "articlecontent",
    "articletext",
    "story",
    "storybody",
    "post",
    "postbody",
    "postcontent",
    "entry",
    "entrycontent",
    "content",
    "body",
    "text",
    "main",
    "blog",
    "maincontent",
    "hentry",
    "page",
    "copy",
    "richtext",
    "prose",
    "markdown",
];

/// Pairs of neighbouring words that say more than each alone.
const ASIDE_PAIRS: &[(&str, &str)] = &[
    ("author", "box"),
    ("author", "bio"),
    ("about", "author"),
    ("author", "info"),
    ("author", "card"),
    ("author", "description"),
    ("post", "author"),
    ("read", "more"),
    ("read", "next"),
    ("more", "stories"),
    ("more", "from"),
    ("more", "news"),
    ("more", "articles"),
    ("most", "read"),
    ("most", "popular"),
    ("most", "viewed"),
    ("see", "also"),
    ("also", "like"),
    ("up", "next"),
    ("sign", "up"),
    ("opt", "in"),
    ("call", "action"),
    ("mail", "chimp"),
    ("recent", "posts"),
    ("other", "posts"),
    ("other", "articles"),
    ("other", "news"),
    ("next", "post"),
    ("previous", "post"),
    ("more", "posts"),
    ("article", "list"),
    ("story", "list"),
    ("news", "list"),
];

const FOOTER_PAIRS: &[(&str, &str)] = &[("site", "info"), ("page", "bottom"), ("site", "bottom")];
const HEADER_PAIRS: &[(&str, &str)] =
    &[("site", "header"), ("page", "header"), ("main", "header"), ("global", "header"), ("top", "bar"), ("header", "top")];
const NAVIGATION_PAIRS: &[(&str, &str)] =
    &[("post", "navigation"), ("prev", "next"), ("skip", "link"), ("skip", "content"), ("table", "contents"), ("quick", "links")];
const CONTENT_PAIRS: &[(&str, &str)] = &[
    ("article", "body"),
    ("article", "content"),
    ("article", "text"),
    ("article", "copy"),
    ("story", "body"),
    ("story", "content"),
    ("story", "text"),
    ("post", "body"),
    ("post", "content"),
    ("post", "text"),
    ("entry", "content"),
    ("entry", "body"),
    ("body", "content"),
    ("main", "content"),
    ("page", "content"),
    ("content", "body"),
    ("news", "body"),
    ("news", "text"),
    ("blog", "post"),
    ("field", "body"),
];

/// Reads the class names and id of an element.
pub(super) fn hints(names: &str) -> Hints {
    let mut hints = Hints::default();
    for name in names.split_ascii_whitespace().take(24) {
        let parts = parts(name);
        for part in &parts {
            let part = part.as_str();
            hints.navigation |= NAVIGATION.contains(&part);
            hints.header |= HEADER.contains(&part);
            hints.footer |= FOOTER.contains(&part);
            hints.comments |= COMMENTS.contains(&part);
            hints.aside |= ASIDE.contains(&part);
            hints.about |= ABOUT.contains(&part);
            hints.content |= CONTENT.contains(&part);
        }
        for pair in parts.windows(2) {
            let pair = (pair[0].as_str(), pair[1].as_str());
            hints.navigation |= NAVIGATION_PAIRS.contains(&pair);
            hints.header |= HEADER_PAIRS.contains(&pair);
            hints.footer |= FOOTER_PAIRS.contains(&pair);
            hints.aside |= ASIDE_PAIRS.contains(&pair);
            hints.content |= CONTENT_PAIRS.contains(&pair);
        }
    }
    hints
}

/// The words of a name: `relatedPosts_2`, `related-posts` and `RelatedPosts` are two words.
fn parts(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut previous_is_lower = false;
    let mut open = false;
    for c in name.chars().take(80) {
        if !c.is_ascii_alphabetic() {
            open = false;
            continue;
        }
        if !open || (c.is_ascii_uppercase() && previous_is_lower) {
            out.push(String::new());
            open = true;
        }
        previous_is_lower = c.is_ascii_lowercase();
        if let Some(word) = out.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    out
}

/// How headings of boxes begin that lead to other pages of the site.
const BOX_HEADINGS: &[&str] = &[
    "related post",
    "related article",
    "related stor",
    "related news",
    "related coverage",
    "related video",
    "recent post",
    "recent article",
    "recent news",
    "recent stor",
    "latest post",
    "latest article",
    "latest news",
    "latest stor",
    "latest from",
    "more from",
    "more stories",
    "more articles",
    "more news",
    "more posts",
    "more on this",
    "you may also",
    "you might also",
    "you may like",
    "you might like",
    "also on",
    "read next",
    "popular post",
    "popular article",
    "most popular",
    "most read",
    "most viewed",
    "don't miss",
    "share this",
    "share:",
    "about the author",
    "about author",
    "leave a comment",
    "leave a reply",
    "post a comment",
    "post navigation",
    "sign up for",
    "follow us",
    "filed under",
    "ähnliche beiträge",
    "ähnliche artikel",
    "verwandte artikel",
    "weitere artikel",
    "weitere beiträge",
    "das könnte",
    "neueste beiträge",
    "mehr zum thema",
    "über den autor",
    "articles similaires",
    "articles liés",
    "articles récents",
    "à lire aussi",
    "lire aussi",
    "sur le même sujet",
    "derniers articles",
    "vous aimerez",
    "à propos de l'auteur",
    "artículos relacionados",
    "entradas relacionadas",
    "noticias relacionadas",
    "te puede interesar",
    "también te",
    "entradas recientes",
    "últimas noticias",
    "sobre el autor",
    "artigos relacionados",
    "posts relacionados",
    "notícias relacionadas",
    "leia também",
    "leia mais",
    "sobre o autor",
    "articoli correlati",
    "potrebbe interessarti",
    "leggi anche",
    "articoli recenti",
    "gerelateerde",
    "lees ook",
    "powiązane",
    "czytaj także",
    "zobacz także",
    "читайте также",
    "関連記事",
    "最近の投稿",
    "人気記事",
    "相关文章",
    "相关阅读",
    "最新文章",
    "关于作者",
    "관련 글",
    "관련 기사",
];

/// Whole headings of boxes; longer headings that begin so are of content.
const WHOLE_BOX_HEADINGS: &[&str] = &[
    "more in this",
    "recommended",
    "trending",
    "up next",
    "share",
    "comments",
    "comment",
    "subscribe",
    "newsletter",
    "kommentare",
    "commentaires",
    "comentarios",
    "comentários",
    "commenti",
    "reacties",
    "komentarze",
    "комментарии",
    "похожие",
    "по теме",
    "コメント",
    "tagged",
    "tags",
    "related",
    "recommended for you",
    "trending now",
    "related content",
    "related reading",
];

/// A heading of a box says little more than its first words.
const MAX_BOX_HEADING_REST: usize = 30;

/// Whether a heading introduces a box beside the content.
pub(super) fn is_box_heading(text: &str) -> bool {
    let text = text.trim().to_lowercase().replace('’', "'");
    let is_start = |start: &str| text.strip_prefix(start).is_some_and(|rest| rest.chars().count() <= MAX_BOX_HEADING_REST);
    let whole = text.trim_matches(|c: char| !c.is_alphanumeric());
    BOX_HEADINGS.iter().any(|b| is_start(b)) || WHOLE_BOX_HEADINGS.contains(&whole)
}

/// How lines begin that only point to another page.
const POINTERS: &[&str] = &[
    "related:",
    "related story",
    "related article",
    "related stories",
    "see more:",
    "read more",
    "read also",
    "also read",
    "also on ",
    "read next",
    "watch:",
    "don't miss",
    "must read",
    "mehr zum thema",
    "lesen sie auch",
    "lesen sie mehr",
    "auch interessant",
    "lire aussi",
    "à lire aussi",
    "voir aussi :",
    "lea también",
    "lee también",
    "leer más",
    "ver también:",
    "leia também",
    "leia mais",
    "veja também",
    "leggi anche",
    "lees ook",
    "czytaj także",
    "czytaj też",
    "zobacz też",
    "читайте также",
    "смотрите также",
    "関連:",
    "相关阅读",
    "延伸阅读",
];

/// Whether a line only points to another page.
pub(super) fn is_pointer(text: &str) -> bool {
    starts_with_any(text, POINTERS)
}

/// How last lines begin that ask the reader to do something, or say who made the page.
const CALLS: &[&str] = &[
    "subscribe",
    "sign up",
    "follow ",
    "click here",
    "share this",
    "like this",
    "download our",
    "get our",
    "get the latest",
    "have a tip",
    "got a tip",
    "email ",
    "photo:",
    "image:",
    "image credit",
    "photo credit",
    "tags",
    "tag:",
    "filed under",
    "posted in",
    "copyright",
    "©",
    "all rights reserved",
    "advertisement",
    "comments",
    "leave a comment",
    "this article was originally",
    "folgen sie",
    "abonnieren",
    "suivez",
    "abonnez",
    "inscrivez",
    "síguenos",
    "suscríbete",
    "siga",
    "inscreva",
    "seguici",
    "iscriviti",
    "volg ons",
    "подписывайтесь",
    "подпишитесь",
];

/// Whether a last line is no part of the text any more.
pub(super) fn is_call(text: &str) -> bool {
    starts_with_any(text, CALLS)
}

fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    let head: String = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '©').chars().take(40).collect();
    let head = head.to_lowercase().replace('’', "'");
    starts.iter().any(|s| head.starts_with(s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_word_by_word() {
        assert!(hints("relatedPosts").aside && hints("related-posts").aside && hints("x__related_2").aside);
        assert!(hints("entry-content").content && hints("author-box").aside && hints("SiteFooter").footer);
        assert!(hints("post-comments").comments && hints("primary-nav").navigation);
        assert_eq!(hints("shadow navy header1x loading"), Hints::default());
    }

    #[test]
    fn headings_of_boxes_are_known_in_several_languages() {
        assert!(is_box_heading("Related Posts") && is_box_heading("À lire aussi :") && is_box_heading("関連記事"));
        assert!(!is_box_heading("See also") && !is_box_heading("Relational databases"));
    }
}
