//! `--format gitlab`: GitLab's code quality report, a list of issues.

use serde_json::{Value, json};

use super::Look;
use crate::base::finding::Severity;
use crate::report::Report;

/// The report.
pub fn render(report: &Report, _: &Look<'_>) -> String {
    let issues: Vec<Value> = report
        .findings
        .iter()
        .map(|reported| {
            let f = &reported.finding;
            let severity = match f.severity {
                Severity::Error => "major",
                Severity::Warning => "minor",
                Severity::Note => "info",
            };
            json!({
                "description": format!("{}: {}", f.code, f.message),
                "check_name": f.code,
                "fingerprint": reported.fingerprint,
                "severity": severity,
                "location": {
                    "path": f.place.path,
                    "lines": {"begin": f.place.start.line, "end": f.place.end.line.max(f.place.start.line)},
                },
                "content": {"body": f.help},
            })
        })
        .collect();
    super::json::pretty(&issues)
}
