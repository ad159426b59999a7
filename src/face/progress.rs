//! A progress bar on a terminal for work that takes longer than a second; nothing in a pipe.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that shows itself only once the work has lasted a second.
pub struct Bar {
    bar: ProgressBar,
    start: Instant,
    shown: bool,
}

impl Bar {
    /// A bar on standard error, hidden where that is no terminal or quiet is wanted.
    pub fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} files {wide_bar} {elapsed}") {
            bar.set_style(style);
        }
        Bar { bar, start: Instant::now(), shown: !quiet && std::io::stderr().is_terminal() }
    }

    /// Files done and of all.
    pub fn at(&self, done: usize, total: usize) {
        if !self.shown || self.start.elapsed() < Duration::from_secs(1) {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
