//! The classification: a registry, a scan, a roster and an instant in, a report out.
//!
//! Pure and independent of the order of its inputs. Whatever cannot be told closes the
//! gate; nothing is called missing or stale on the word of a source that cannot be read.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::found::{Found, Running, Values, duplicates, filled};
use super::members::{Known, members, missing};
use super::observe::{Registry, Scan};
use super::report::{Entry, FleetReport};
use super::row::RuntimeRow;
use super::standing::{Observation, membership, process_fault, row_fault};
use crate::data::fleet::{Binding, RosterMember};

/// Classifies a fleet.
///
/// ```
/// use restartlint::data::fleet::{Binding, RosterMember};
/// use restartlint::pass::fleet::{BlockedReason, Evidence, Registry, Scan, classify};
///
/// let roster = [RosterMember {
///     namespace: "gitea-author".into(),
///     profile: "prgs-author".into(),
///     role: "author".into(),
/// }];
/// let scan = Scan { evidence: Evidence::Observed, processes: Vec::new(), fault: None };
/// let now = "2026-07-28T03:00:00Z".parse()?;
/// let report = classify(&Registry::default(), &scan, &roster, &Binding::default(), now);
/// assert!(!report.mutation_gate_satisfied);
/// assert_eq!(report.blocked_reasons, [BlockedReason::MemberMissing]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn classify(
    registry: &Registry,
    scan: &Scan,
    roster: &[RosterMember],
    binding: &Binding,
    now: Timestamp,
) -> FleetReport {
    let registry_fault = registry.fault.clone().or_else(|| row_fault(&registry.rows));
    let scan_fault = scan.fault.clone().or_else(|| process_fault(scan));
    let readable = registry_fault.is_none() && scan_fault.is_none();
    let roster: BTreeSet<&RosterMember> = roster.iter().collect();
    let evidence = Observation::of(&registry.rows, scan_fault.is_none().then_some(scan), now);

    let mut running = Vec::new();
    let mut spoken_for = BTreeSet::new();
    let mut stale = Vec::new();
    let mut unexpected = Vec::new();
    for row in sorted(&registry.rows).into_iter().filter(|row| row.says_running()) {
        match evidence.standing(row) {
            Err(reason) if readable => stale.push(Entry::of(row, reason)),
            Err(_) => {}
            Ok(()) => {
                spoken_for.extend(row.pid);
                match membership(row, &roster, binding) {
                    Ok(member) => running.push(Running { row, member }),
                    Err(reason) => unexpected.push(Entry::of(row, reason)),
                }
            }
        }
    }

    let known = Known {
        running: &running,
        stale: &stale,
        unexpected: &unexpected,
        evidence: &evidence,
        readable,
        looked: scan.evidence,
    };
    let members = members(&roster, &known);
    let found = Found {
        roster_is_empty: roster.is_empty(),
        registry_fault,
        scan_fault,
        cohorts: Values::of(&running, |row| row.cohort_id.as_deref()),
        revisions: Values::of(&running, |row| row.startup_head.as_deref()),
        missing: missing(&members),
        duplicate: duplicates(&running),
        unexpected,
        stale,
        unregistered: if readable {
            unregistered(&registry.rows, &evidence, &spoken_for)
        } else {
            Vec::new()
        },
        open_markers: registry.open_markers.iter().map(String::as_str).collect(),
    };
    let revision_mismatch = if found.revisions.known.len() > 1 { mismatched(&running) } else { Vec::new() };
    let single_cohort = found.single_cohort();
    let (blocked_reasons, reasons): (Vec<_>, Vec<_>) = found.causes().into_iter().unzip();
    let first = blocked_reasons.first().copied();
    FleetReport {
        schema: 1,
        evidence: scan.evidence,
        assessed_at: now.to_string(),
        mutation_gate_satisfied: blocked_reasons.is_empty(),
        inventory_complete: !blocked_reasons.iter().any(|reason| reason.leaves_inventory_incomplete()),
        single_cohort,
        running_member_count: running.iter().map(|running| running.member).collect::<BTreeSet<_>>().len(),
        blocked_reason: first,
        next_step: first
            .map_or("None: every expected server runs, once, from one revision.", |reason| reason.next_step())
            .to_owned(),
        blocked_reasons,
        reasons,
        members,
        missing: found.missing,
        duplicate: found.duplicate,
        unexpected: found.unexpected,
        stale: found.stale,
        unregistered: found.unregistered,
        revision_mismatch,
        open_markers: found.open_markers.into_iter().map(str::to_owned).collect(),
    }
}

fn sorted(rows: &[RuntimeRow]) -> Vec<&RuntimeRow> {
    let mut rows: Vec<&RuntimeRow> = rows.iter().collect();
    rows.sort_by(|a, b| a.namespace.cmp(&b.namespace).then_with(|| a.cmp(b)));
    rows
}

fn mismatched(running: &[Running<'_>]) -> Vec<Entry> {
    let told = running
        .iter()
        .filter_map(|running| Some((running.row, filled(running.row.startup_head.as_deref())?)));
    told.map(|(row, head)| Entry::of(row, format!("started from {head}"))).collect()
}

/// The server processes that no running row speaks for.
fn unregistered(rows: &[RuntimeRow], evidence: &Observation<'_>, spoken_for: &BTreeSet<i64>) -> Vec<Entry> {
    let with_row: BTreeSet<i64> = rows.iter().filter_map(|row| row.pid).collect();
    let unspoken = evidence.pids().filter(|pid| !spoken_for.contains(pid));
    unspoken
        .map(|pid| {
            let reason = if with_row.contains(&pid) {
                format!("server process {pid} runs, and its row is stopped or speaks of another process")
            } else {
                format!("server process {pid} runs and has no row")
            };
            Entry { namespace: None, runtime_id: None, pid: Some(pid), reason }
        })
        .collect()
}
