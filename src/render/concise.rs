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
    let verdict = if look.verdict { sentence(&report.summary) + "\n" } else { String::new() };
    statistics + &verdict
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
    if s.partial {
        text += " in this part of the project";
    }
    let files = count(s.files_scanned, "file");
    text += &match (s.sites, s.files_with_sites) {
        (0, _) => format!("; 0 sites in {files}"),
        (_, with) if with == s.files_scanned => format!("; {} in {files}", count(s.sites, "site")),
        (_, with) => format!("; {} in {with} of {files}", count(s.sites, "site")),
    };
    for (n, what) in [
        (s.daemon_exceptions, "sanctioned in the daemon by exception"),
        (s.baselined, "hidden by the baseline"),
        (s.silenced, "silenced by annotations"),
    ] {
        if n > 0 {
            text += &format!("; {n} {what}");
        }
    }
    if s.partial {
        text += "; what the daemon reaches through other files is not judged";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_counts_what_it_says() {
        let all =
            Summary { sites: 8, files_with_sites: 3, files_scanned: 7, errors: 1, ..Summary::default() };
        assert_eq!(sentence(&all), "1 error, 0 warnings, 0 notes; 8 sites in 3 of 7 files");
        let each = Summary { sites: 1, files_with_sites: 1, files_scanned: 1, ..Summary::default() };
        assert_eq!(sentence(&each), "no findings; 1 site in 1 file");
        let part = Summary { files_scanned: 1, partial: true, ..Summary::default() };
        assert_eq!(
            sentence(&part),
            "no findings in this part of the project; 0 sites in 1 file; what the daemon reaches through other files is \
             not judged"
        );
    }
}
