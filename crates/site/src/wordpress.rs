//! Pages of a WordPress site and back, through its REST API with an application password.
//!
//! Only `content.raw` is read and written: what the editor keeps, not what visitors get. Nothing is written twice:
//! after any answer that leaves a doubt the page is read again, and what it holds decides.

mod builder;
mod client;
mod error;

pub use builder::Builder;
pub use error::WordPressError;

use client::{Answer, Rest};
use linkwright_core::url::{PageUrl, UrlKey};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often a write is tried when the server does not answer for certain.
const ATTEMPTS: u32 = 3;
/// Longest pause that a server can ask for between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Items of a list per request; WordPress gives no more.
const PER_PAGE: usize = 100;
/// Pages of a list that are looked through for one page.
const MOST_LISTS: usize = 50;
/// Title of the draft that a round trip makes; it is there for a second.
const DRAFT_TITLE: &str = "linkwright: round trip, can be deleted";

/// A WordPress site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPressSite {
    /// Its address.
    pub url: PageUrl,
    /// REST names of the types that may be changed; empty allows every type that visitors can open.
    pub types: Vec<String>,
    /// How long an answer may take, in milliseconds.
    pub timeout_ms: u64,
}

/// A user and an application password. Never shown.
#[derive(Clone)]
pub struct Credentials {
    user: String,
    password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials of `{}`", self.user)
    }
}

impl Credentials {
    /// Credentials from a user name and an application password; blanks in the password do not matter.
    ///
    /// # Errors
    /// When either is empty.
    pub fn new(user: &str, password: &str) -> Result<Self, WordPressError> {
        let password: String = password.split_whitespace().collect();
        if user.trim().is_empty() || password.is_empty() {
            return Err(WordPressError::NoCredentials);
        }
        Ok(Self { user: user.trim().to_owned(), password })
    }

    /// Credentials with the password in a file that only its owner may read.
    ///
    /// # Errors
    /// When the file cannot be read, others may read it, or it is empty.
    pub fn from_file(user: &str, file: &Path) -> Result<Self, WordPressError> {
        let path = || file.display().to_string();
        let unreadable = |source| WordPressError::PasswordFile { path: path(), source };
        let found = std::fs::metadata(file).map_err(unreadable)?;
        if readable_by_others(&found) {
            return Err(WordPressError::PasswordFileOpen { path: path() });
        }
        Self::new(user, &std::fs::read_to_string(file).map_err(unreadable)?)
    }
}

#[cfg(unix)]
fn readable_by_others(found: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn readable_by_others(_: &std::fs::Metadata) -> bool {
    false
}

/// A page within WordPress: type and number, written as `posts/12`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// REST name of the type.
    pub rest_base: String,
    /// Number.
    pub id: u64,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.rest_base, self.id)
    }
}

impl FromStr for Location {
    type Err = WordPressError;

    fn from_str(text: &str) -> Result<Self, WordPressError> {
        let parts = text.rsplit_once('/').and_then(|(base, id)| Some((base, id.parse().ok()?)));
        let plain = |base: &str| !base.is_empty() && base.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/'));
        match parts {
            Some((base, id)) if plain(base) => Ok(Self { rest_base: base.to_owned(), id }),
            _ => Err(WordPressError::NotFound { page: text.to_owned() }),
        }
    }
}

/// A page as WordPress keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub location: Location,
    /// What the editor keeps.
    pub raw: String,
    /// Its public address.
    pub link: String,
    /// The page builder whose data stands in the place of the text, if there is one: such a page is not written.
    pub builder: Option<Builder>,
}

/// A WordPress site that let us in.
#[derive(Debug)]
pub struct WordPress {
    rest: Rest,
    site: WordPressSite,
    /// REST names of the types that may be changed.
    types: Vec<String>,
    /// Types whose drafts were looked through for what a killed process left.
    swept: Mutex<BTreeSet<String>>,
}

impl WordPress {
    /// Finds the REST API, logs in, and reads which types there are.
    ///
    /// # Errors
    /// When there is no WordPress, it does not let us in, or the connection is not safe for a password.
    pub async fn connect(site: &WordPressSite, credentials: Credentials) -> Result<Self, WordPressError> {
        let rest = Rest::discover(site, credentials).await?;
        let me = rest.get("wp/v2/users/me", &[("context", "edit")]).await?.ok_or_login_error(&rest)?;
        if me["capabilities"]["edit_posts"] != json!(true) {
            return Err(WordPressError::MayNotEdit { user: rest.user().to_owned() });
        }
        let listed = rest.get("wp/v2/types", &[("context", "edit")]).await?.expect_ok(&rest)?;
        let types = listed.as_object().map(|types| types.values().filter_map(|kind| public_type(kind, site)).collect()).unwrap_or_default();
        let mut found = Self { rest, site: site.clone(), types, swept: Mutex::default() };
        found.types.sort();
        if found.types.is_empty() {
            return Err(WordPressError::NoTypes);
        }
        Ok(found)
    }

    /// The address of the site.
    #[must_use]
    pub fn url(&self) -> &PageUrl {
        &self.site.url
    }

    /// Where the page with this public address is kept.
    ///
    /// # Errors
    /// `NotFound` when no post, page or other type has it.
    pub async fn find(&self, page: &PageUrl) -> Result<Location, WordPressError> {
        let url = page.to_url();
        if let Some(id) = url.query_pairs().find(|(name, _)| matches!(&**name, "p" | "page_id")).and_then(|(_, id)| id.parse::<u64>().ok())
        {
            for rest_base in &self.types {
                let location = Location { rest_base: rest_base.clone(), id };
                if self.item(&location, "id,link").await.is_ok_and(|item| self.is_at(&item, page)) {
                    return Ok(location);
                }
            }
        }
        let slug = url.path_segments().and_then(|mut segments| segments.rfind(|part| !part.is_empty()).map(str::to_owned));
        match slug {
            Some(slug) => {
                let slug = slug.rsplit_once('.').map_or(slug.as_str(), |(stem, _)| stem);
                for rest_base in &self.types {
                    if let Some(location) = self.in_list(rest_base, &[("slug", slug)], page).await? {
                        return Ok(location);
                    }
                }
            }
            None => {
                if let Some(location) = self.in_list("pages", &[], page).await? {
                    return Ok(location);
                }
            }
        }
        Err(WordPressError::NotFound { page: page.to_string() })
    }

    /// The page as it is kept now.
    ///
    /// # Errors
    /// When it is gone, not public, or may not be edited.
    pub async fn read(&self, location: &Location) -> Result<Source, WordPressError> {
        let item = self.item(location, "id,link,status,content,meta,template,password").await?;
        let status = item["status"].as_str().unwrap_or_default();
        if status != "publish" {
            return Err(WordPressError::NotPublished { location: location.clone(), status: status.to_owned() });
        }
        if item["content"]["protected"] == json!(true) || item["password"].as_str().is_some_and(|password| !password.is_empty()) {
            return Err(WordPressError::PasswordProtected { location: location.clone() });
        }
        let Some(raw) = item["content"]["raw"].as_str() else {
            return Err(WordPressError::NoRawText { location: location.clone() });
        };
        let rendered = item["content"]["rendered"].as_str().unwrap_or_default();
        let builder = Builder::of(raw, rendered, &item["meta"], item["template"].as_str().unwrap_or_default());
        let link = item["link"].as_str().unwrap_or_default().to_owned();
        Ok(Source { location: location.clone(), raw: raw.to_owned(), link, builder })
    }

    /// Whether the site keeps a text as it is written. The text goes into a draft that nobody sees, is read again and
    /// compared, and the draft is deleted: the page itself is not touched, so that nothing is lost where filters or
    /// plugins change what they are given.
    ///
    /// # Errors
    /// `NotKept` with the first difference; otherwise when the draft cannot be made or deleted.
    pub async fn round_trip(&self, location: &Location, text: &str) -> Result<(), WordPressError> {
        self.sweep(&location.rest_base).await?;
        let list = format!("wp/v2/{}", location.rest_base);
        let draft = json!({ "title": DRAFT_TITLE, "status": "draft", "content": text });
        let made = self.rest.send(Method::POST, &list, &[("context", "edit")], Some(&draft)).await?.expect_ok(&self.rest)?;
        let Some(id) = made["id"].as_u64() else { return Err(self.rest.no_json()) };
        let draft = Location { rest_base: location.rest_base.clone(), id };
        let kept = self.item(&draft, "content").await;
        let deleted = self.rest.send(Method::DELETE, &format!("wp/v2/{draft}"), &[("force", "true")], None).await;
        if !deleted.is_ok_and(|answer| answer.is_ok()) {
            return Err(WordPressError::DraftLeft { draft });
        }
        let kept = kept?;
        let kept = kept["content"]["raw"].as_str().unwrap_or_default();
        if kept == text { Ok(()) } else { Err(not_kept(location, text, kept, true)) }
    }

    /// Deletes drafts of round trips that a killed process left; once for each type.
    async fn sweep(&self, rest_base: &str) -> Result<(), WordPressError> {
        if !self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(rest_base.to_owned()) {
            return Ok(());
        }
        let query = [("status", "draft"), ("search", DRAFT_TITLE), ("context", "edit"), ("_fields", "id,title"), ("per_page", "100")];
        let listed = self.rest.get(&format!("wp/v2/{rest_base}"), &query).await?;
        let drafts = listed.value.as_array().cloned().unwrap_or_default();
        for id in drafts.iter().filter(|draft| draft["title"]["raw"] == DRAFT_TITLE).filter_map(|draft| draft["id"].as_u64()) {
            let draft = Location { rest_base: rest_base.to_owned(), id };
            self.rest.send(Method::DELETE, &format!("wp/v2/{draft}"), &[("force", "true")], None).await?;
        }
        Ok(())
    }

    /// Puts a new text in the place of `expected`.
    ///
    /// # Errors
    /// When the page holds another text by now, is kept by a page builder, or the site does not keep what it is given.
    pub async fn write(&self, location: &Location, expected: &str, new: &str) -> Result<(), WordPressError> {
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            let now = self.read(location).await?;
            if now.raw == new {
                return Ok(());
            }
            if now.raw != expected {
                return Err(WordPressError::Changed { location: location.clone() });
            }
            if let Some(builder) = now.builder {
                return Err(WordPressError::KeptByBuilder { location: location.clone(), builder });
            }
            match self.post(location, new).await {
                Ok(answer) if answer.is_ok() => return self.check(location, expected, new).await,
                Ok(answer) if !answer.is_uncertain() => return Err(answer.error(&self.rest)),
                Ok(answer) => {
                    pause(answer.retry_after, attempt).await;
                    last = Some(answer.error(&self.rest));
                }
                Err(error) => {
                    pause(None, attempt).await;
                    last = Some(error);
                }
            }
        }
        // The last answer may have been lost after the page was written.
        match self.read(location).await {
            Ok(now) if now.raw == new => Ok(()),
            _ => Err(last.unwrap_or_else(|| self.rest.no_json())),
        }
    }

    async fn post(&self, location: &Location, text: &str) -> Result<Answer, WordPressError> {
        self.rest.send(Method::POST, &format!("wp/v2/{location}"), &[("_fields", "id")], Some(&json!({ "content": text }))).await
    }

    /// What was written is there; anything else is put back.
    async fn check(&self, location: &Location, expected: &str, new: &str) -> Result<(), WordPressError> {
        let now = self.read(location).await?;
        if now.raw == new {
            return Ok(());
        }
        let _ = self.post(location, expected).await;
        let restored = self.read(location).await.is_ok_and(|source| source.raw == expected);
        Err(not_kept(location, new, &now.raw, restored))
    }

    async fn item(&self, location: &Location, fields: &str) -> Result<Value, WordPressError> {
        let answer = self.rest.get(&format!("wp/v2/{location}"), &[("context", "edit"), ("_fields", fields)]).await?;
        match answer.status {
            404 | 410 => Err(WordPressError::NotFound { page: location.to_string() }),
            401 | 403 => Err(WordPressError::MayNotEditPage { location: location.clone() }),
            _ => answer.expect_ok(&self.rest),
        }
    }

    /// The item of a list that has the address.
    async fn in_list(&self, rest_base: &str, query: &[(&str, &str)], page: &PageUrl) -> Result<Option<Location>, WordPressError> {
        let per_page = PER_PAGE.to_string();
        for number in 1..=MOST_LISTS {
            let number = number.to_string();
            let mut all = vec![("status", "publish"), ("_fields", "id,link"), ("per_page", per_page.as_str()), ("page", number.as_str())];
            all.extend(query);
            let answer = self.rest.get(&format!("wp/v2/{rest_base}"), &all).await?;
            // Beyond the last page, and types that this user may not list.
            if !answer.is_ok() {
                return Ok(None);
            }
            let items = answer.expect_ok(&self.rest)?;
            let items = items.as_array().cloned().unwrap_or_default();
            if let Some(id) = items.iter().find(|item| self.is_at(item, page)).and_then(|item| item["id"].as_u64()) {
                return Ok(Some(Location { rest_base: rest_base.to_owned(), id }));
            }
            if items.len() < PER_PAGE {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Whether an item has a public address. The site may name another host than the one it was read from.
    fn is_at(&self, item: &Value, page: &PageUrl) -> bool {
        let link = item["link"].as_str().and_then(PageUrl::parse);
        let here = |url: &PageUrl| -> UrlKey { url.at_origin_of(&self.site.url.to_url()).key() };
        link.is_some_and(|link| here(&link) == here(page))
    }
}

/// The REST name of a type that visitors can open and the settings allow.
fn public_type(kind: &Value, site: &WordPressSite) -> Option<String> {
    let rest_base = kind["rest_base"].as_str()?.to_owned();
    let is_page = kind["viewable"] == json!(true) && kind["slug"] != json!("attachment");
    let allowed = site.types.is_empty() || site.types.contains(&rest_base);
    // Types of another namespace do not speak this protocol.
    let here = kind["rest_namespace"].as_str().is_none_or(|namespace| namespace == "wp/v2");
    (is_page && allowed && here).then_some(rest_base)
}

async fn pause(asked: Option<Duration>, attempt: u32) {
    let pause = asked.unwrap_or_else(|| Duration::from_millis(500 << attempt)).min(LONGEST_PAUSE);
    tokio::time::sleep(pause).await;
}

/// Where two texts differ first, with a little of both.
fn not_kept(location: &Location, wrote: &str, kept: &str, restored: bool) -> WordPressError {
    const SHOWN: usize = 40;
    let same = wrote.chars().zip(kept.chars()).take_while(|(a, b)| a == b).count();
    let excerpt = |text: &str| text.chars().skip(same.saturating_sub(10)).take(SHOWN).collect::<String>().escape_debug().to_string();
    WordPressError::NotKept { location: location.clone(), at: same, wrote: excerpt(wrote), kept: excerpt(kept), restored }
}

#[cfg(test)]
mod tests;
