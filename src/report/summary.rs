//! The decided report: findings in order, each with its fingerprint, and the counts.

use crate::base::facts::DaemonModule;
use crate::base::finding::{Finding, Severity};

/// A finding that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFinding {
    /// The finding.
    pub finding: Finding,
    /// The rule's name.
    pub name: &'static str,
    /// 16 hex digits that stay when lines move.
    pub fingerprint: String,
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that discovery listed.
    pub files_seen: usize,
    /// Files that were opened and searched.
    pub files_scanned: usize,
    /// Sites of all of them.
    pub sites: usize,
    /// Files that hold one.
    pub files_with_sites: usize,
    /// Not all of the project was looked at, so that the daemon's reach is not known in full.
    pub partial: bool,
    /// Shown findings by severity.
    pub errors: usize,
    /// Shown warnings.
    pub warnings: usize,
    /// Shown notes.
    pub notes: usize,
    /// Findings that the baseline hides.
    pub baselined: usize,
    /// Sites in the daemon's reach that a path with `daemon_exception` sanctions.
    pub daemon_exceptions: usize,
    /// Findings that an annotation silences.
    pub silenced: usize,
    /// Milliseconds that the run took; the only figure that differs between runs.
    pub duration_ms: u64,
}

/// What a run says, the same in every format.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The findings by path, place, code.
    pub findings: Vec<ReportedFinding>,
    /// The daemon modules.
    pub daemons: Vec<DaemonModule>,
    /// The counts.
    pub summary: Summary,
}

impl Report {
    /// The report with its findings counted by severity.
    pub fn counted(mut self) -> Report {
        let count = |severity| self.findings.iter().filter(|f| f.finding.severity == severity).count();
        let (errors, warnings, notes) =
            (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
        self.summary = Summary { errors, warnings, notes, ..self.summary };
        self
    }

    /// Whether a finding is at or above the threshold; `None` is never.
    pub fn fails(&self, at: Option<Severity>) -> bool {
        at.is_some_and(|least| self.findings.iter().any(|f| f.finding.severity >= least))
    }
}
