//! Why WordPress was not read or written, as sentences for people.

use super::{Builder, Location};

/// Why a page of a WordPress site was not read or written. Each reads as one sentence; passwords never stand in one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WordPressError {
    /// No user or no password.
    #[error("there is no user or no application password for WordPress")]
    NoCredentials,
    /// The password file cannot be read.
    #[error("the password file `{path}` cannot be read: {source}")]
    PasswordFile {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The password file is open to others.
    #[error("the password file `{path}` can be read by others")]
    PasswordFileOpen {
        /// The file.
        path: String,
    },
    /// A password over plain HTTP.
    #[error("`{url}` is not encrypted, so no password is sent there")]
    NotEncrypted {
        /// The site.
        url: String,
    },
    /// Nothing answers, or not in time.
    #[error("`{host}` does not answer: {reason}")]
    NoAnswer {
        /// The site.
        host: String,
        /// What went wrong.
        reason: String,
    },
    /// No REST API.
    #[error("no WordPress REST API was found at `{url}`")]
    NoRest {
        /// The site.
        url: String,
    },
    /// The API lives somewhere else.
    #[error("`{url}` leads to `{elsewhere}`, and no password is sent to another address than the one that was set")]
    Elsewhere {
        /// What was asked.
        url: String,
        /// Where it leads.
        elsewhere: String,
    },
    /// Wrong user or password.
    #[error("WordPress does not accept the user `{user}` with this application password: {said}")]
    WrongPassword {
        /// The user.
        user: String,
        /// What WordPress said.
        said: String,
    },
    /// The login is wrong, or did not arrive.
    #[error("WordPress did not let `{user}` in")]
    NotLoggedIn {
        /// The user.
        user: String,
    },
    /// The user is a reader.
    #[error("the user `{user}` may not edit posts")]
    MayNotEdit {
        /// The user.
        user: String,
    },
    /// Nothing to write.
    #[error("WordPress has no type of page that may be changed")]
    NoTypes,
    /// No such page.
    #[error("WordPress has no page at `{page}`")]
    NotFound {
        /// Address or location.
        page: String,
    },
    /// A page of somebody else.
    #[error("this user may not edit {location}")]
    MayNotEditPage {
        /// The page.
        location: Location,
    },
    /// Draft, private, trash.
    #[error("{location} is not published: its status is `{status}`")]
    NotPublished {
        /// The page.
        location: Location,
        /// Its status.
        status: String,
    },
    /// Readers need a password.
    #[error("{location} is protected by a password")]
    PasswordProtected {
        /// The page.
        location: Location,
    },
    /// No text to edit.
    #[error("WordPress does not give the text of {location} as the editor keeps it")]
    NoRawText {
        /// The page.
        location: Location,
    },
    /// The text is not where the page comes from.
    #[error("{location} is kept by {builder}, which does not show what is written into its text")]
    KeptByBuilder {
        /// The page.
        location: Location,
        /// The page builder.
        builder: Builder,
    },
    /// Somebody saved it.
    #[error("{location} was changed by somebody else in the meantime")]
    Changed {
        /// The page.
        location: Location,
    },
    /// A filter or plugin changes texts.
    #[error("WordPress does not keep the text of {location} as it is written: from character {at} on, `{wrote}` became `{kept}`{}", if *.restored { "" } else { "; the page could not be put back" })]
    NotKept {
        /// The page.
        location: Location,
        /// First character that differs.
        at: usize,
        /// What was written there.
        wrote: String,
        /// What is kept there.
        kept: String,
        /// Whether the page is as it was before.
        restored: bool,
    },
    /// The draft of a round trip is still there.
    #[error("the draft {draft} of a test could not be deleted")]
    DraftLeft {
        /// The draft.
        draft: Location,
    },
    /// Anything else that WordPress says.
    #[error("WordPress answered {status}: {said}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// What WordPress said.
        said: String,
    },
    /// An answer that is no JSON.
    #[error("`{host}` answers with something else than WordPress does")]
    NoJson {
        /// The site.
        host: String,
    },
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be set up: {reason}")]
    Client {
        /// What is wrong.
        reason: String,
    },
}

impl WordPressError {
    /// A stable name for reports.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoCredentials => "no_credentials",
            Self::PasswordFile { .. } => "password_file",
            Self::PasswordFileOpen { .. } => "password_file_open",
            Self::NotEncrypted { .. } => "not_encrypted",
            Self::NoAnswer { .. } => "no_answer",
            Self::NoRest { .. } => "no_rest",
            Self::Elsewhere { .. } => "elsewhere",
            Self::WrongPassword { .. } => "wrong_password",
            Self::NotLoggedIn { .. } => "not_logged_in",
            Self::MayNotEdit { .. } => "may_not_edit",
            Self::NoTypes => "no_types",
            Self::NotFound { .. } => "not_found",
            Self::MayNotEditPage { .. } => "may_not_edit_page",
            Self::NotPublished { .. } => "not_published",
            Self::PasswordProtected { .. } => "password_protected",
            Self::NoRawText { .. } => "no_raw_text",
            Self::KeptByBuilder { .. } => "kept_by_builder",
            Self::Changed { .. } => "changed_meanwhile",
            Self::NotKept { .. } => "not_kept",
            Self::DraftLeft { .. } => "draft_left",
            Self::Refused { .. } => "refused",
            Self::NoJson { .. } => "no_json",
            Self::Client { .. } => "client",
        }
    }

    /// What the user can do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoCredentials => {
                "set `wordpress.user`, and give the application password in LINKWRIGHT_WORDPRESS_PASSWORD or in the file of `wordpress.password_file`"
            }
            Self::PasswordFile { .. } => "check `wordpress.password_file`",
            Self::PasswordFileOpen { .. } => "`chmod 600` makes it yours alone",
            Self::NotEncrypted { .. } => "set `wordpress.url` to the address with https://",
            Self::NoAnswer { .. } => "check `wordpress.url`, and run the command again",
            Self::NoRest { .. } => "check `wordpress.url`; a security plugin may hide the REST API",
            Self::Elsewhere { .. } => "set `wordpress.url` to that address, if it is yours",
            Self::WrongPassword { .. } => "make a new one in WordPress under Users, Profile, Application Passwords",
            Self::NotLoggedIn { .. } => {
                "check user name and application password; or the web server strips the Authorization header, or a plugin turns application passwords off: see Tools, Site Health in WordPress"
            }
            Self::MayNotEdit { .. } | Self::MayNotEditPage { .. } => "use an application password of an editor or administrator",
            Self::NoTypes => "check `wordpress.types`",
            Self::NotFound { .. } => "run `linkwright plan` again; an archive or a page of a plugin has no text of its own",
            Self::NotPublished { .. } | Self::PasswordProtected { .. } => "publish the page first",
            Self::NoRawText { .. } => "use an application password of a user who may edit this page",
            Self::KeptByBuilder { .. } => "put the link in by hand in the builder; `linkwright verify` closes it",
            Self::Changed { .. } => "run the command again; the page is looked at anew",
            Self::NotKept { .. } => "use an administrator, who may write unfiltered HTML, or put the link in by hand",
            Self::DraftLeft { .. } => "delete it in WordPress",
            Self::Refused { .. } | Self::NoJson { .. } => "a security plugin or the server may stand in between; look at its log",
            Self::Client { .. } => "check `crawl.user_agent` in the settings",
        }
    }

    /// Whether the page is at fault and not the run: such a page is left out, and the run goes on.
    #[must_use]
    pub fn concerns_page(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::MayNotEditPage { .. }
            | Self::NotPublished { .. }
            | Self::PasswordProtected { .. }
            | Self::NoRawText { .. }
            | Self::KeptByBuilder { .. }
            | Self::Changed { .. } => true,
            Self::NotKept { restored, .. } => *restored,
            _ => false,
        }
    }
}
