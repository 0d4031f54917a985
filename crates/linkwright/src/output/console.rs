//! Where output goes: data to standard output, everything else to standard error.
//!
//! This is the only module that touches the two streams. Colours are stripped unless the stream is a terminal that
//! wants them (`NO_COLOR`, `CLICOLOR`, `TERM` are honoured).

use anstyle::{AnsiColor, Style};
use std::io::{self, IsTerminal, Write};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = Style::new().bold();

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Data and errors only.
    Quiet,
    /// Also progress and notes.
    Normal,
    /// Also each step, one line each, instead of a progress bar.
    Verbose,
}

/// What the flags say about output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    /// How much is said.
    pub(crate) verbosity: Verbosity,
    /// Whether a progress bar may be drawn.
    progress: bool,
}

impl Console {
    /// A console for the flags `-q`, `-v` and `--no-progress`.
    pub(crate) fn new(verbosity: Verbosity, no_progress: bool) -> Self {
        Self { verbosity, progress: verbosity == Verbosity::Normal && !no_progress && io::stderr().is_terminal() }
    }

    /// Whether a progress bar is drawn.
    pub(crate) fn shows_progress(self) -> bool {
        self.progress
    }

    /// Whether standard output is read by a person.
    pub(crate) fn is_terminal(self) -> bool {
        io::stdout().is_terminal()
    }

    /// Prints data to standard output.
    ///
    /// # Errors
    /// When the stream cannot be written to, also when its reader has gone: see [`is_closed_pipe`].
    pub(crate) fn print(self, text: &str) -> io::Result<()> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Prints a value as indented JSON.
    ///
    /// # Errors
    /// As [`Console::print`].
    pub(crate) fn print_json(self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let mut out = self.data();
        serde_json::to_writer_pretty(&mut out, value)?;
        out.write_all(b"\n")?;
        out.flush()?;
        Ok(())
    }

    /// Standard output for data that is written as it is made. Never styled.
    pub(crate) fn data(self) -> io::BufWriter<io::StdoutLock<'static>> {
        io::BufWriter::new(io::stdout().lock())
    }

    /// A note on standard error, unless quiet.
    pub(crate) fn note(self, message: &str) {
        if self.verbosity != Verbosity::Quiet {
            to_stderr(message);
        }
    }
}

/// One sentence and what to do next, on standard error.
pub(crate) fn error(message: &str, hint: Option<&str>) {
    to_stderr(&format!("{ERROR}error:{ERROR:#} {message}"));
    if let Some(hint) = hint {
        to_stderr(&format!("{HINT}hint:{HINT:#} {hint}"));
    }
}

/// Whether an error is only that nobody reads our output any more, which is how `| head` ends.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io_error = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json_error = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io_error.or(json_error) == Some(io::ErrorKind::BrokenPipe)
    })
}

/// A message that cannot be shown is no reason to fail.
fn to_stderr(message: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{message}");
}
