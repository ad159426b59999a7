//! Floor 3: a decided report as bytes, one file a format, one table. No format decides
//! anything: findings, counts and exit status are the same in each.

pub mod concise;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
pub mod sarif;
pub mod sites;
pub mod text;

use crate::base::sources::Sources;
use crate::report::Report;

/// What a format may look at beside the report.
pub struct Look<'a> {
    /// Texts, for excerpts.
    pub sources: &'a Sources,
    /// Whether to colour.
    pub color: bool,
    /// Whether to add counts by rule.
    pub statistics: bool,
}

/// An output format.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// For whom it is.
    pub about: &'static str,
    /// The report as text.
    pub render: fn(&Report, &Look<'_>) -> String,
}

/// Every output format of `check`.
pub const TABLE: &[Format] = &[
    Format { name: "text", about: "excerpts for people", render: text::render },
    Format { name: "concise", about: "a line a finding", render: concise::render },
    Format { name: "json", about: "one document", render: json::render },
    Format { name: "jsonl", about: "a JSON object a finding", render: json::render_lines },
    Format { name: "sarif", about: "SARIF 2.1.0, for code scanning", render: sarif::render },
    Format { name: "github", about: "annotations of GitHub and Gitea workflows", render: github::render },
    Format { name: "gitlab", about: "GitLab's code quality report", render: gitlab::render },
    Format { name: "junit", about: "JUnit XML", render: junit::render },
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    TABLE.iter().find(|f| f.name == name)
}
