//! The report for a person at a terminal: the answer first, then why, then what is hit.

use std::fmt::Write;

use crate::base::terminal::one_line;
use crate::pass::impact::Report;

/// The report as lines. Names from the snapshot are made safe for a terminal.
pub fn page(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = lines(report, &mut out);
    out
}

/// The answer in one word and what it is about.
pub fn headline(report: &Report) -> String {
    let answer = match (report.dry_run, report.allowed()) {
        (true, true) => "ALLOWED",
        (false, true) => "AUTHORIZED",
        (_, false) => "DENIED",
    };
    let target = report.target.as_deref().map(|target| format!(" of {target}")).unwrap_or_default();
    let mode = if report.dry_run { "dry run" } else { "apply" };
    format!("{answer}: {}{target} ({mode})", report.restart_class)
}

/// A plain count: `1 session`, `2 sessions`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn lines(report: &Report, out: &mut String) -> std::fmt::Result {
    let counts = report.counts;
    writeln!(out, "{}", one_line(&headline(report)))?;
    writeln!(out)?;
    writeln!(out, "verdict       {}", report.verdict.name())?;
    writeln!(out, "blast radius  {}", report.blast_radius.name())?;
    writeln!(
        out,
        "in scope      {}, {}, {}, {}",
        counted(counts.other_live_sessions, "other live session"),
        counted(counts.active_leases, "active lease"),
        counted(counts.work_items, "work item"),
        counted(counts.critical_sections, "critical section"),
    )?;
    let requester = &report.requester;
    writeln!(out, "asked by      {} ({})", one_line(&requester.session_id), one_line(&requester.role))?;
    let approval = if report.approval.satisfied { "satisfied" } else { "not satisfied" };
    writeln!(out, "approval      {}: {approval}", report.approval.required.name())?;
    if report.override_requested {
        let authorized = if report.override_authorized { "authorized" } else { "not authorized" };
        writeln!(out, "override      requested, {authorized}")?;
    }
    if let Some(gate) = &report.apply_gate {
        writeln!(out, "drain gate    {}: {}", gate.code.name(), gate.reason)?;
        if !gate.replay_checked {
            writeln!(out, "              without a store nobody checks whether the proof was used before")?;
        }
    }
    if !report.reason_codes.is_empty() {
        writeln!(out, "\nwhy")?;
        for (code, reason) in report.reason_codes.iter().zip(&report.reasons) {
            writeln!(out, "  {}: {reason}", code.name())?;
        }
    }
    if !report.inventory_errors.is_empty() {
        writeln!(out, "\nnot known")?;
        for error in &report.inventory_errors {
            writeln!(out, "  {}", one_line(error))?;
        }
    }
    hit(report, out)?;
    if !report.prior_recovery.is_empty() {
        writeln!(out, "\ntried before")?;
        for attempt in &report.prior_recovery {
            let outcome = attempt.outcome.as_deref().unwrap_or("outcome unknown");
            let line = format!("{} at {}: {outcome}", attempt.kind, attempt.at);
            writeln!(out, "  {}", one_line(&line))?;
        }
    }
    writeln!(out, "\nnext          {}", report.next_step)?;
    writeln!(out, "fingerprint   {}", report.fingerprint)?;
    if let Some(incident) = &report.incident {
        writeln!(out, "incident      {} ({})", incident.id, incident.code)?;
    }
    writeln!(out, "Nothing was restarted: restartlint never does.")
}

fn hit(report: &Report, out: &mut String) -> std::fmt::Result {
    if let Some(lock) = &report.terminal_lock {
        let pr = lock.pr.map(|pr| format!(" for pr #{pr}")).unwrap_or_default();
        let holder = lock.holder_session_id.as_deref().unwrap_or("an unknown session");
        writeln!(out, "\nterminal lock\n  {}", one_line(&format!("{}{pr}, held by {holder}", lock.lock_id)))?;
    }
    let sessions: Vec<_> =
        report.sessions.iter().filter(|session| session.counts() && !session.own).collect();
    if !sessions.is_empty() {
        writeln!(out, "\nsessions that would be hit")?;
        for session in sessions {
            let role = session.role.as_deref().unwrap_or("role unknown");
            let age = session.heartbeat_age_s.map_or("unknown".to_owned(), |age| format!("{age} s ago"));
            writeln!(
                out,
                "  {}",
                one_line(&format!("{} ({role}), last heartbeat {age}", session.session_id))
            )?;
        }
    }
    let leases: Vec<_> = report.leases.iter().filter(|lease| lease.counts()).collect();
    if !leases.is_empty() {
        writeln!(out, "\nwork that would be hit")?;
        for lease in leases {
            let work = lease
                .work
                .as_ref()
                .map_or("work unknown".to_owned(), |w| format!("{} #{}", w.kind, w.number));
            let critical = if lease.critical { ", writing now" } else { "" };
            writeln!(out, "  {}", one_line(&format!("{work}, lease {}{critical}", lease.lease_id)))?;
        }
    }
    Ok(())
}
