//! Progress of a run on standard error: a bar with rate and time left on a terminal, a line per stage with `-v`,
//! nothing otherwise.

use super::console::{Console, Verbosity};
use indicatif::{ProgressBar, ProgressStyle};
use linkwright_engine::Progress;
use std::time::Duration;

/// How often a stage of unknown length shows that it is alive.
const TICK: Duration = Duration::from_millis(120);
const WITH_TOTAL: &str = "{msg:<22} {wide_bar} {human_pos}/{human_len}  {per_sec}  {eta} left";
const WITHOUT_TOTAL: &str = "{spinner} {msg:<20} {human_pos}  {per_sec}  {elapsed}";

/// Shows the stages of a run.
pub(crate) struct Bar {
    bar: ProgressBar,
    console: Console,
}

impl Bar {
    /// A bar that is hidden unless the console shows progress.
    pub(crate) fn new(console: Console) -> Self {
        let bar = if console.shows_progress() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        Self { bar, console }
    }

    /// Clears the bar from the terminal.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn stage(&self, name: &str, total: Option<u64>) {
        if self.console.verbosity == Verbosity::Verbose {
            self.console.note(&match total {
                Some(total) => format!("{name}: {total}"),
                None => name.to_owned(),
            });
        }
        self.bar.reset();
        self.bar.set_message(name.to_owned());
        self.bar.set_style(style(if total.is_some() { WITH_TOTAL } else { WITHOUT_TOTAL }));
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        if self.console.shows_progress() {
            self.bar.enable_steady_tick(TICK);
        }
    }

    fn advance(&self, by: u64) {
        self.bar.inc(by);
    }
}

/// A template that does not parse falls back to the plain bar; a test sees to it that ours do.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_parse() {
        for template in [WITH_TOTAL, WITHOUT_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
