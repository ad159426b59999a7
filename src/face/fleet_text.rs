//! The fleet's report and registry as a person reads them.

use std::fmt::Write;

use crate::base::terminal::one_line;
use crate::pass::fleet::{Entry, FleetReport, MemberState, RuntimeRow};

/// The report: the verdict first, then its causes, then what was found.
pub fn report(report: &FleetReport) -> String {
    let mut out = String::new();
    let gate = if report.mutation_gate_satisfied { "satisfied" } else { "closed" };
    let of = format!("{} of {}", report.running_member_count, report.members.len());
    let _ = writeln!(out, "mutation gate {gate}: {of} members run");
    for (code, reason) in report.blocked_reasons.iter().zip(&report.reasons) {
        let _ = writeln!(out, "  {}: {}", code.code(), one_line(reason));
    }
    let _ = writeln!(out, "next step: {}", report.next_step);
    for member in &report.members {
        let state = match member.state {
            MemberState::Running => "running",
            MemberState::Duplicate => "duplicate",
            MemberState::Stale => "stale",
            MemberState::Missing => "missing",
            MemberState::Unknown => "unknown",
        };
        let pid = member.pid.map(|pid| format!(" pid {pid}")).unwrap_or_default();
        let _ =
            writeln!(out, "  {state:<9} {}{pid}: {}", one_line(&member.namespace), one_line(&member.reason));
    }
    let lists = [
        ("duplicate", &report.duplicate),
        ("unexpected", &report.unexpected),
        ("stale", &report.stale),
        ("unregistered", &report.unregistered),
        ("revision mismatch", &report.revision_mismatch),
    ];
    for (name, entries) in lists {
        entries.iter().for_each(|entry| line(&mut out, name, entry));
    }
    out
}

fn line(out: &mut String, name: &str, entry: &Entry) {
    let of = [&entry.namespace, &entry.runtime_id].into_iter().flatten().map(|part| one_line(part));
    let of = of.collect::<Vec<_>>().join(" ");
    let _ =
        writeln!(out, "  {name}: {of}{} {}", if of.is_empty() { "" } else { ":" }, one_line(&entry.reason));
}

/// The registry, a row a line.
pub fn rows(rows: &[RuntimeRow]) -> String {
    let mut out = String::new();
    for row in rows {
        let pid = row.pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string());
        let _ = writeln!(
            out,
            "{}  {}  {}  pid {pid}  registered {}  heartbeat {}",
            one_line(&row.runtime_id),
            one_line(&row.namespace),
            one_line(&row.status),
            one_line(row.registered_at.as_deref().unwrap_or("never")),
            one_line(row.last_heartbeat_at.as_deref().unwrap_or("never")),
        );
    }
    if rows.is_empty() {
        out.push_str("no runtime is registered\n");
    }
    out
}
