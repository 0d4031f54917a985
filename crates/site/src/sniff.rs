//! From a content type and the first bytes of a body to what it is.
//!
//! After the MIME Sniffing Standard, section 7, cut down to the question that matters here: page,
//! XML, compressed, or neither.

/// How many bytes are looked at. The standard uses 1445; comments before the root can be longer.
const HEAD_BYTES: usize = 4096;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An HTML or XHTML document.
    Html,
    /// XML with another root.
    Xml,
    /// A gzip stream.
    Gzip,
    /// Text without markup.
    Text,
    /// Anything else: images, PDF, archives.
    Binary,
}

/// Extensions of files that are never HTML documents. A link to one is not followed.
const MEDIA: &[&str] = &[
    "7z", "aac", "apk", "atom", "avi", "avif", "bmp", "bz2", "css", "csv", "deb", "dmg", "doc", "docx", "eot", "epub", "exe", "flac",
    "gif", "gz", "ico", "ics", "iso", "jar", "jpeg", "jpg", "js", "json", "jsonld", "m4a", "m4v", "mjs", "mkv", "mov", "mp3", "mp4",
    "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "otf", "pdf", "pkg", "png", "ppt", "pptx", "ps", "psd", "rar", "rpm", "rss",
    "rtf", "svg", "tar", "tgz", "tif", "tiff", "ttf", "txt", "vcf", "wasm", "wav", "webm", "webp", "wmv", "woff", "woff2", "xls", "xlsx",
    "xml", "xz", "zip", "zst",
];

const MAGIC: &[&[u8]] = &[
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"%PDF-",
    b"PK\x03\x04",
    b"RIFF",
    b"BM",
    b"OggS",
    b"ID3",
    b"\x00\x00\x01\x00",
    b"wOFF",
    b"wOF2",
    b"Rar!",
    b"7z\xbc\xaf",
    b"%!PS",
];

/// The extension of a path, where it says that no HTML document is to be expected there.
pub(crate) fn media_extension(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
    MEDIA.iter().find(|&&media| media == extension).copied()
}

/// Whether a content type alone rules a page out, so that the body need not be read.
pub(crate) fn is_foreign_type(content_type: Option<&str>) -> bool {
    let essence = essence(content_type);
    let open = matches!(
        essence.as_str(),
        "" | "text/html" | "application/xhtml+xml" | "application/octet-stream" | "text/plain" | "unknown/unknown"
    );
    !(open || is_xml(&essence) || is_gzip(&essence))
}

/// What a body is, by its content type where that is believable, else by its bytes.
pub(crate) fn kind(content_type: Option<&str>, body: &[u8]) -> Kind {
    let essence = essence(content_type);
    if body.starts_with(&[0x1f, 0x8b]) {
        return Kind::Gzip;
    }
    if is_binary(body) {
        return Kind::Binary;
    }
    let root = root_name(body);
    match root.as_deref() {
        Some("urlset" | "sitemapindex" | "rss" | "feed" | "svg") => Kind::Xml,
        Some("!doctype html" | "html" | "head" | "body" | "title" | "script" | "meta") => Kind::Html,
        _ if matches!(essence.as_str(), "text/html" | "application/xhtml+xml") => Kind::Html,
        _ if is_xml(&essence) || root.as_deref() == Some("?xml") => Kind::Xml,
        Some(_) if essence.is_empty() => Kind::Html,
        _ if is_foreign_type(content_type) => Kind::Binary,
        _ => Kind::Text,
    }
}

fn essence(content_type: Option<&str>) -> String {
    content_type.unwrap_or_default().split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_xml(essence: &str) -> bool {
    matches!(essence, "text/xml" | "application/xml") || essence.ends_with("+xml")
}

fn is_gzip(essence: &str) -> bool {
    matches!(essence, "application/gzip" | "application/x-gzip" | "application/gzip-compressed")
}

/// Known magic numbers, or a byte that no text holds. UTF-16 with a byte order mark is text.
fn is_binary(body: &[u8]) -> bool {
    if body.starts_with(&[0xff, 0xfe]) || body.starts_with(&[0xfe, 0xff]) {
        return false;
    }
    let head = &body[..body.len().min(512)];
    MAGIC.iter().any(|magic| head.starts_with(magic)) || head.contains(&0)
}

/// Lower-case name of the first element, after byte order mark, XML declaration, comments and
/// white space; `!doctype html` for that declaration.
fn root_name(body: &[u8]) -> Option<String> {
    let (encoding, bom) = encoding_rs::Encoding::for_bom(body).unwrap_or((encoding_rs::UTF_8, 0));
    let head = &body[bom..body.len().min(bom + HEAD_BYTES)];
    let (text, _) = encoding.decode_without_bom_handling(head);
    let mut rest = text.trim_start();
    let mut declared = false;
    loop {
        let after = if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->").map(|(_, after)| after)
        } else if let Some(instruction) = rest.strip_prefix("<?") {
            declared = true;
            instruction.split_once("?>").map(|(_, after)| after)
        } else {
            break;
        };
        match after {
            Some(after) => rest = after.trim_start(),
            None => return declared.then(|| "?xml".to_owned()),
        }
    }
    let inner = rest.strip_prefix('<')?;
    if inner.get(..13).is_some_and(|d| d.eq_ignore_ascii_case("!doctype html")) {
        return Some("!doctype html".to_owned());
    }
    declared |= inner.get(..8).is_some_and(|d| d.eq_ignore_ascii_case("!doctype"));
    let name: String = inner.chars().take_while(|c| c.is_alphanumeric() || matches!(c, ':' | '-')).collect();
    let local = name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
    (!local.is_empty()).then_some(local).or_else(|| declared.then(|| "?xml".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_where_the_type_is_silent_or_wrong() {
        let cases: &[(Option<&str>, &[u8], Kind)] = &[
            (Some("text/html; charset=x"), b"plain words", Kind::Html),
            (Some("text/html"), b"%PDF-1.7", Kind::Binary),
            (Some("text/html"), b"\x89PNG\r\n", Kind::Binary),
            (Some("text/html"), b"<?xml version='1.0'?><!-- by x --><urlset>", Kind::Xml),
            (Some("application/xml"), b"<?xml version='1.0'?><!DOCTYPE html><html>", Kind::Html),
            (Some("application/xml"), b"\n <!-- hello --> <!DOCTYPE HTML>", Kind::Html),
            (Some("application/xhtml+xml"), b"<x/>", Kind::Html),
            (None, b"\xef\xbb\xbf<!doctype html>", Kind::Html),
            (None, b"<p>words", Kind::Html),
            (None, b"words", Kind::Text),
            (Some("text/plain"), b"https://example.org/", Kind::Text),
            (Some("application/octet-stream"), b"<html>", Kind::Html),
            (Some("application/xml"), b"\x1f\x8b\x08", Kind::Gzip),
            (Some("image/svg+xml"), b"<svg>", Kind::Xml),
            (Some("text/html"), b"\xff\xfe<\0h\0t\0m\0l\0>\0", Kind::Html),
            (Some("text/html"), b"", Kind::Html),
            (Some("application/json"), b"{}", Kind::Binary),
        ];
        for (content_type, body, expected) in cases {
            assert_eq!(kind(*content_type, body), *expected, "{content_type:?} {}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn media_files_are_known_by_their_extension() {
        assert_eq!(media_extension("/a/b.PDF"), Some("pdf"));
        for page in ["/a.html", "/a.b/c", "/v1.2", "/a.php", "/a.pdf/"] {
            assert_eq!(media_extension(page), None, "{page}");
        }
        assert!(is_foreign_type(Some("image/png")) && is_foreign_type(Some("application/pdf; x")));
        assert!(!is_foreign_type(None) && !is_foreign_type(Some("TEXT/HTML")));
    }
}
