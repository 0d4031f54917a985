//! The stored names of core's enums: the ones their serde form gives them.

use crate::error::Failure;
use linkwright_core::url::PageUrl;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) fn to_name<T: Serialize>(value: &T) -> Result<String, Failure> {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => Ok(name),
        other => Err(Failure::unfit("a name", format!("{other:?}"))),
    }
}

pub(crate) fn from_name<T: DeserializeOwned>(what: &'static str, name: String) -> Result<T, Failure> {
    serde_json::from_value(Value::String(name)).map_err(|error| Failure::unfit(what, error))
}

pub(crate) fn to_json<T: Serialize>(what: &'static str, value: &T) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::unfit(what, error))
}

pub(crate) fn from_json<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::unfit(what, error))
}

/// Identity of the page at `url`; the text itself where it is no web address.
pub(crate) fn key_of(url: &str) -> String {
    PageUrl::parse(url).map_or_else(|| url.to_owned(), |url| url.key().as_str().to_owned())
}
