//! `--format json` and `jsonl`: the machine's document. The wire structs here are the
//! promise; the internal types may change without them.

use serde::Serialize;

use super::Look;
use crate::base::effect::Effect;
use crate::base::finding::{ChainStep, Severity};
use crate::base::site::{Confidence, Via};
use crate::base::span::Position;
use crate::base::terminal::steers;
use crate::report::{Report, ReportedFinding, Summary};

/// The document.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireReport<'a> {
    /// Version of this shape.
    pub schema: u32,
    /// Who wrote it.
    pub tool: WireTool,
    /// The counts.
    pub summary: WireSummary,
    /// The daemon modules.
    pub daemon_modules: Vec<WireDaemon<'a>>,
    /// The findings by path, place, code.
    pub findings: Vec<WireFinding<'a>>,
}

/// The tool.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireTool {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The counts.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireSummary {
    /// Files that discovery listed.
    pub files_seen: usize,
    /// Files that were opened and searched.
    pub files_scanned: usize,
    /// Sites in them.
    pub sites: usize,
    /// Shown errors.
    pub errors: usize,
    /// Shown warnings.
    pub warnings: usize,
    /// Shown notes.
    pub notes: usize,
    /// Findings that the baseline hides.
    pub baselined: usize,
    /// Sanctioned sites in the daemon's reach.
    pub daemon_exceptions: usize,
    /// Milliseconds that the run took.
    pub duration_ms: u64,
}

impl From<Summary> for WireSummary {
    fn from(s: Summary) -> WireSummary {
        WireSummary {
            files_seen: s.files_seen,
            files_scanned: s.files_scanned,
            sites: s.sites,
            errors: s.errors,
            warnings: s.warnings,
            notes: s.notes,
            baselined: s.baselined,
            daemon_exceptions: s.daemon_exceptions,
            duration_ms: s.duration_ms,
        }
    }
}

/// A daemon module.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireDaemon<'a> {
    /// Relative path; for a declared one that is missing, as declared.
    pub path: &'a str,
    /// Declared, or detected.
    pub declared: bool,
    /// Why it is one.
    pub reason: &'a str,
}

/// A finding.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireFinding<'a> {
    /// The rule's code.
    pub code: &'static str,
    /// The rule's name.
    pub name: &'static str,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// One plain sentence.
    pub message: &'a str,
    /// Relative path.
    pub path: &'a str,
    /// First position.
    pub start: Position,
    /// One past the last position.
    pub end: Position,
    /// The primitive.
    pub primitive: Option<&'a str>,
    /// Its effect.
    pub effect: Option<Effect>,
    /// How it is written.
    pub via: Option<Via>,
    /// The enclosing symbol.
    pub symbol: Option<&'a str>,
    /// The inventory's path that this is about.
    pub path_id: Option<&'a str>,
    /// From the daemon module to the site.
    pub chain: Vec<WireStep<'a>>,
    /// What to do next.
    pub help: &'a str,
    /// 16 hex digits that stay when lines move.
    pub fingerprint: &'a str,
}

/// One step of a chain.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct WireStep<'a> {
    /// Relative path.
    pub path: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The symbol that the step stands in.
    pub symbol: &'a str,
}

impl<'a> From<&'a ChainStep> for WireStep<'a> {
    fn from(step: &'a ChainStep) -> WireStep<'a> {
        WireStep {
            path: &step.place.path,
            line: step.place.start.line,
            column: step.place.start.column,
            symbol: &step.symbol,
        }
    }
}

impl<'a> From<&'a ReportedFinding> for WireFinding<'a> {
    fn from(reported: &'a ReportedFinding) -> WireFinding<'a> {
        let f = &reported.finding;
        WireFinding {
            code: f.code,
            name: reported.name,
            severity: f.severity,
            confidence: f.confidence,
            message: &f.message,
            path: &f.place.path,
            start: f.place.start,
            end: f.place.end,
            primitive: f.primitive.as_deref(),
            effect: f.effect,
            via: f.via,
            symbol: f.symbol.as_deref(),
            path_id: f.path_id.as_deref(),
            chain: f.chain.iter().map(WireStep::from).collect(),
            help: &f.help,
            fingerprint: &reported.fingerprint,
        }
    }
}

/// One document.
pub fn render(report: &Report, _: &Look<'_>) -> String {
    pretty(&wire(report))
}

/// The document before it is written.
pub fn wire(report: &Report) -> WireReport<'_> {
    WireReport {
        schema: 1,
        tool: WireTool { name: "restartlint", version: env!("CARGO_PKG_VERSION") },
        summary: report.summary.into(),
        daemon_modules: report
            .daemons
            .iter()
            .map(|d| WireDaemon { path: &d.path, declared: d.declared, reason: &d.reason })
            .collect(),
        findings: report.findings.iter().map(WireFinding::from).collect(),
    }
}

/// A finding a line.
pub fn render_lines(report: &Report, _: &Look<'_>) -> String {
    report.findings.iter().map(|f| line(&WireFinding::from(f)) + "\n").collect()
}

/// Indented JSON with a line end.
pub fn pretty(value: &impl Serialize) -> String {
    // Serialising plain structs into memory cannot fail.
    escaped(serde_json::to_string_pretty(value).unwrap_or_default() + "\n")
}

/// JSON on one line.
pub fn line(value: &impl Serialize) -> String {
    escaped(serde_json::to_string(value).unwrap_or_default())
}

/// Steering characters that JSON itself lets stand raw can only lie in strings: escaped there.
fn escaped(text: String) -> String {
    let raw = |c: char| steers(c) && c != '\r';
    if !text.chars().any(raw) {
        return text;
    }
    text.chars().fold(String::with_capacity(text.len() + 16), |mut out, c| {
        if raw(c) {
            out += &format!("\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
        out
    })
}
