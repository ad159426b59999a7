//! How a command ends: an outcome, or a failure that says what to do next.

use std::io;
use std::io::Write as _;

/// The answer of a command that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Clean, or allowed: status 0.
    Clean,
    /// A finding, or denied: status 1.
    Denied,
}

impl Outcome {
    /// The process exit status.
    pub fn status(self) -> u8 {
        match self {
            Outcome::Clean => 0,
            Outcome::Denied => 1,
        }
    }
}

/// Why a command could not do its work: status 2, with text on standard error.
#[derive(Debug)]
pub enum Failure {
    /// One plain sentence, or several lines.
    Message(String),
    /// A fault in the user's own file, shown at its place.
    Report(miette::Report),
    /// Standard output was closed by the reader: no failure at all.
    ClosedPipe,
}

impl Failure {
    /// A failure with a message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Message(message.into())
    }

    /// The failure as plain text, for a reader that is no terminal.
    pub fn text(self) -> String {
        match self {
            Failure::Message(text) => crate::base::terminal::visible(&text),
            Failure::Report(report) => {
                let plain =
                    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
                let mut text = String::new();
                match plain.render_report(&mut text, report.as_ref()) {
                    Ok(()) => text,
                    Err(_) => crate::base::terminal::visible(&report.to_string()),
                }
            }
            Failure::ClosedPipe => "the reader of standard output has gone away".to_owned(),
        }
    }

    /// Prints the failure on standard error and gives the exit status.
    pub fn report(self) -> u8 {
        match self {
            Failure::Message(text) => {
                let _ =
                    writeln!(anstream::stderr(), "restartlint: {}", crate::base::terminal::visible(&text));
                2
            }
            Failure::Report(report) => {
                let _ = writeln!(anstream::stderr(), "{report:?}");
                2
            }
            Failure::ClosedPipe => 0,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::new(error.to_string())
        }
    }
}

impl From<miette::Report> for Failure {
    fn from(report: miette::Report) -> Failure {
        Failure::Report(report)
    }
}
