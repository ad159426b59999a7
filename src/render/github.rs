//! `--format github`: workflow commands that GitHub shows beside the lines of a pull
//! request.

use super::Look;
use crate::base::finding::Severity;
use crate::base::terminal::visible;
use crate::report::Report;

/// The report.
pub fn render(report: &Report, _: &Look<'_>) -> String {
    let mut out = String::new();
    for reported in &report.findings {
        let f = &reported.finding;
        let command = match f.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let (start, end) = (f.place.start, f.place.end);
        // A column range over several lines is refused, so columns stand only on one line.
        let columns = if end.line == start.line && end.column > start.column {
            format!(",col={},endColumn={}", start.column, end.column)
        } else {
            format!(",col={}", start.column)
        };
        let message =
            if f.help.is_empty() { f.message.clone() } else { format!("{}\n{}", f.message, f.help) };
        out += &format!(
            "::{command} file={},line={},endLine={}{columns},title={}::{}\n",
            property(&f.place.path),
            start.line,
            end.line.max(start.line),
            property(&format!("{} {}", f.code, reported.name)),
            data(&message)
        );
    }
    out
}

fn data(text: &str) -> String {
    visible(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A"))
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
