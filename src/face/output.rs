//! Where results and notes go: the result alone on standard output (or in the file that
//! `--output` names), everything else on standard error.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use super::cli::{Cli, Color};
use crate::base::terminal;

/// Sets the choice for everything that is printed afterwards, fault reports included.
pub fn choose_color(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let on = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => colored(&std::io::stderr()),
    };
    // In a pipe nothing is wrapped, so that a sentence can be looked for as it is.
    let width = if std::io::stderr().is_terminal() { 100 } else { 2000 };
    // A second call would fail; the first choice then stands, which is the same.
    let _ = miette::set_hook(Box::new(move |_| {
        Box::new(
            miette::MietteHandlerOpts::new()
                .color(on)
                .unicode(true)
                .width(width)
                .terminal_links(false)
                .build(),
        )
    }));
}

/// Whether a result on standard output is coloured.
pub fn stdout_color(color: Color, to_file: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => !to_file && colored(&std::io::stdout()),
    }
}

fn colored(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    stream.is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// Where a command that looks at files writes its result.
#[derive(Debug, Default, Args)]
pub struct OutputArgs {
    /// Write the result to this file instead of standard output; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl OutputArgs {
    /// The file, if the result goes to one.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|file| *file != Path::new("-"))
    }

    /// Writes a result. Without an answer no file is written: an empty one would look like a clean run, and
    /// an earlier run's result would be lost.
    pub fn write(&self, text: &str, answered: bool) -> Result<(), Failure> {
        match self.file() {
            Some(file) if !answered => {
                warn(&format!("{} is not written: there is no result", shown(file)));
                Ok(())
            }
            file => result(text, file),
        }
    }
}

/// Writes a result. A reader that has gone away is no failure.
pub fn result(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    match file {
        Some(file) => std::fs::write(file, text)
            .map_err(|e| Failure::new(format!("{} cannot be written: {e}", shown(file)))),
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()?;
            Ok(())
        }
    }
}

/// A path for a message.
pub fn shown(path: &Path) -> String {
    terminal::one_line(&path.to_string_lossy())
}

/// Says something on standard error, unless the user wants quiet.
pub fn note(cli: &Cli, text: &str) {
    if !cli.quiet {
        let _ = writeln!(anstream::stderr(), "{}", terminal::visible(text));
    }
}

/// Says something that must be known, quiet or not.
pub fn warn(text: &str) {
    let _ = writeln!(anstream::stderr(), "restartlint: {}", terminal::visible(text));
}
