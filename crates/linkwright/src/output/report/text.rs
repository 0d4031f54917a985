//! Small pieces of text: names, dates, addresses, excerpts.

/// The host of a URL, as a name for the site.
pub(super) fn site_name(base_url: &str) -> &str {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let name = rest.trim_end_matches('/');
    if name.is_empty() { base_url } else { name }
}

/// The day of an RFC 3339 time.
pub(super) fn date(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// The score's name in a sentence.
pub(super) fn score_word(kind: &str) -> &str {
    if kind == "probability" { "probability" } else { "similarity" }
}

/// A message in pieces: text, and literals that stood in backticks. An unpaired backtick stays text.
pub(super) fn pieces(message: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = message;
    while let Some((text, (literal, after))) = rest.split_once('`').and_then(|(text, tail)| Some((text, tail.split_once('`')?))) {
        pieces.push(Piece { text, literal });
        rest = after;
    }
    pieces.push(Piece { text: rest, literal: "" });
    pieces
}

/// Text, then a literal; either may be empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) literal: &'a str,
}

/// The URL where it may become a link: web addresses only.
pub(super) fn web_address(url: &str) -> Option<&str> {
    (url.starts_with("https://") || url.starts_with("http://")).then_some(url)
}

/// The last part of a text, at most about `limit_bytes` long, cut at a blank.
pub(super) fn tail(text: &str, limit_bytes: usize) -> (&'static str, &str) {
    if text.len() <= limit_bytes {
        return ("", text);
    }
    let cut = ceil(text, text.len() - limit_bytes);
    let rest = &text[cut..];
    let start = rest.find(' ').map_or(0, |blank| blank + 1);
    ("… ", &rest[start..])
}

/// The first part of a text, at most about `limit_bytes` long, cut at a blank.
pub(super) fn head(text: &str, limit_bytes: usize) -> (&str, &'static str) {
    if text.len() <= limit_bytes {
        return (text, "");
    }
    let rest = &text[..ceil(text, limit_bytes)];
    (&rest[..rest.rfind(' ').unwrap_or(rest.len())], " …")
}

/// The first character boundary at or after `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_cut_at_blanks_and_say_so() {
        assert_eq!(head("one two three", 9), ("one two", " …"));
        assert_eq!(tail("one two three", 9), ("… ", "three"));
        assert_eq!(head("short", 9), ("short", ""));
        assert_eq!(tail("short", 9), ("", "short"));
    }

    #[test]
    fn excerpts_of_text_without_blanks_stay_on_character_bounds() {
        let text = "東京都の天気は晴れです";
        assert_eq!(head(text, 7), ("東京都", " …"));
        assert_eq!(tail(text, 7), ("… ", "です"));
    }

    #[test]
    fn literals_are_told_from_text() {
        let told = |message| pieces(message).iter().map(|p| format!("{}<{}>", p.text, p.literal)).collect::<String>();
        assert_eq!(told("run `plan` again"), "run <plan> again<>");
        assert_eq!(told("a ` alone"), "a ` alone<>");
        assert_eq!(told(""), "<>");
    }

    #[test]
    fn only_web_addresses_become_links() {
        assert_eq!(web_address("javascript:alert(1)"), None);
        assert_eq!(web_address("data:text/html,x"), None);
        assert!(web_address("https://a.example/").is_some());
    }
}
