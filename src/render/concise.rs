//! `--format concise`: a line a finding, as compilers print them.

use super::Look;
use crate::base::terminal::one_line;
use crate::report::{Report, Summary};

/// The report.
pub fn render(report: &Report, look: &Look<'_>) -> String {
    let mut out = String::new();
    for reported in &report.findings {
        let f = &reported.finding;
        let line = format!(
            "{}:{}:{}: {} {} {}",
            f.place.path,
            f.place.start.line,
            f.place.start.column,
            f.severity.name(),
            f.code,
            f.message
        );
        out += &one_line(&line);
        out.push('\n');
    }
    out += &closing(report, look);
    out
}

/// The counts by rule, if asked for, and the last line.
pub(super) fn closing(report: &Report, look: &Look<'_>) -> String {
    let statistics = if look.statistics { statistics(report) } else { String::new() };
    statistics + &sentence(&report.summary) + "\n"
}

/// The number of findings by rule, a line a rule.
pub fn statistics(report: &Report) -> String {
    let mut counts = std::collections::BTreeMap::<(&str, &str), usize>::new();
    for f in &report.findings {
        *counts.entry((f.finding.code, f.name)).or_default() += 1;
    }
    counts.into_iter().map(|((code, name), count)| format!("{count:>6}  {code} {name}\n")).collect()
}

/// The counts in one sentence; nothing that is hidden or excepted is silent.
fn sentence(s: &Summary) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut text = if s.errors + s.warnings + s.notes == 0 {
        "no findings".to_owned()
    } else {
        format!("{}, {}, {}", count(s.errors, "error"), count(s.warnings, "warning"), count(s.notes, "note"))
    };
    text += &format!("; {} in {}", count(s.sites, "site"), count(s.files_scanned, "file"));
    for (n, what) in [
        (s.daemon_exceptions, "sanctioned in the daemon by exception"),
        (s.baselined, "hidden by the baseline"),
        (s.silenced, "silenced by annotations"),
    ] {
        if n > 0 {
            text += &format!("; {n} {what}");
        }
    }
    text
}
