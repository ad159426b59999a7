//! How a pass answers: its report as JSON, or a few lines for a person.

use clap::ValueEnum;
use serde::Serialize;

use super::{Failure, output};

/// The format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For a person.
    #[default]
    Text,
    /// One JSON document.
    Json,
}

/// Prints a report in the asked format. The text is made safe for a terminal; it should
/// end in a line end.
pub fn print(format: Format, report: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let answer = match format {
        Format::Json => {
            let json = serde_json::to_string_pretty(report)
                .map_err(|error| Failure::new(format!("the report cannot be written as JSON: {error}")))?;
            json + "\n"
        }
        Format::Text => crate::base::terminal::visible(&text()),
    };
    output::result(&answer, None)
}
