//! Ctrl-C ends the process with exit code 130.
//!
//! Nothing has to be wound up: the database commits by transaction and files are renamed into place, so whatever was
//! finished is kept and the next run goes on from there.

use std::thread;

/// Exit code of an interrupted process, by shell convention 128 + SIGINT.
const INTERRUPTED: i32 = 130;

/// From now on Ctrl-C says so and exits with code 130. Where no handler can be installed, the system's own stays.
pub(crate) fn exit_130_on_ctrl_c() {
    // A thread that cannot be started costs only the message: the signal then ends the process by itself.
    let _ = thread::Builder::new().name("ctrl-c".to_owned()).spawn(wait);
}

fn wait() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
        crate::output::console::error("interrupted", Some("run the same command again to continue where it stopped"));
        #[expect(clippy::exit, reason = "the one place that ends the process early")]
        std::process::exit(INTERRUPTED);
    }
}
