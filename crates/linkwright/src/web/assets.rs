//! Style and script: part of the binary, named by what they hold, so that a browser keeps them for good.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const STYLE: &str = include_str!("../../templates/review/review.css");
const SCRIPT: &str = include_str!("../../templates/review/review.js");

/// Name of the style.
pub(crate) static STYLE_NAME: LazyLock<String> = LazyLock::new(|| name(STYLE, "css"));
/// Name of the script.
pub(crate) static SCRIPT_NAME: LazyLock<String> = LazyLock::new(|| name(SCRIPT, "js"));

fn name(text: &str, ending: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("review-{short}.{ending}")
}

/// `GET /assets/NAME`.
pub(crate) async fn file(Path(name): Path<String>) -> Response {
    let (kind, text) = match name.as_str() {
        name if name == *STYLE_NAME => ("text/css; charset=utf-8", STYLE),
        name if name == *SCRIPT_NAME => ("text/javascript; charset=utf-8", SCRIPT),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")], text).into_response()
}
