//! Findings for the tests of this floor and of the output formats. Not part of the program.

use super::decide::{Scope, Setting, Settings, decide};
use super::summary::ReportedFinding;
use crate::base::effect::Effect;
use crate::base::finding::{Finding, Place, Severity};
use crate::base::site::{Confidence, Via};
use crate::base::span::Position;

/// A plain finding.
pub fn finding(code: &'static str, path: &str, line: u32) -> Finding {
    Finding {
        code,
        severity: Severity::Error,
        confidence: Confidence::Certain,
        message: "`os.execv` has no registered path".into(),
        place: Place {
            path: path.into(),
            start: Position { line, column: 5 },
            end: Position { line, column: 20 },
        },
        primitive: Some("os.execv".into()),
        effect: Some(Effect::Replace),
        via: Some(Via::Direct),
        symbol: Some("restart".into()),
        path_id: None,
        chain: Vec::new(),
        related: Vec::new(),
        help: "register it".into(),
    }
}

/// Settings of a few rules.
pub fn settings() -> Settings {
    let setting = |name, fixed, reach| Setting {
        name,
        default: Severity::Error,
        level: Some(Severity::Error),
        selected: true,
        fixed,
        reach,
    };
    Settings::from([
        ("RL101", setting("daemon-self-replacement", true, true)),
        ("RL108", setting("daemon-exit", false, true)),
        ("RL301", setting("unregistered-restart-path", false, false)),
        ("RL303", setting("forbidden-path", false, false)),
        ("RL401", setting("unreadable-source", true, false)),
        ("RL403", setting("unused-annotation", false, false)),
    ])
}

/// A few decided findings.
pub fn reported() -> Vec<ReportedFinding> {
    let findings = vec![finding("RL301", "a.py", 3), finding("RL101", "b.py", 7)];
    decide(findings, &[], &settings(), None, whole()).shown
}

/// A run over the whole project.
pub fn whole() -> Scope<'static> {
    Scope { whole: true, entry: &|_| true, unused: "RL403" }
}
