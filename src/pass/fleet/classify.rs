//! The classification: a registry, a scan, a roster and an instant in, a report out.
//!
//! Pure and independent of the order of its inputs. Whatever cannot be told closes the
//! gate; nothing is called missing or stale on the word of a source that cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::observe::{Evidence, Registry, Scan};
use super::report::{BlockedReason, Entry, FleetReport, MemberReport, MemberState};
use super::row::RuntimeRow;
use crate::data::fleet::{Binding, RosterMember};

/// Start times and registrations are told in whole seconds somewhere on the way.
const ROUNDING: SignedDuration = SignedDuration::from_secs(1);
/// How far a clock may be ahead.
const SKEW: SignedDuration = SignedDuration::from_secs(60);

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
    let starts = if scan_fault.is_none() { start_times(scan) } else { BTreeMap::new() };

    let mut running = Vec::new();
    let mut stale = Vec::new();
    let mut unexpected = Vec::new();
    for row in sorted(&registry.rows).into_iter().filter(|row| row.says_running()) {
        if scan_fault.is_some() {
            continue;
        }
        match standing(row, &registry.rows, &starts, now) {
            Err(reason) if readable => stale.push(entry(row, reason)),
            Err(_) => {}
            Ok(()) => match membership(row, &roster, binding) {
                Ok(member) => running.push(Running { row, member }),
                Err(reason) => unexpected.push(entry(row, reason)),
            },
        }
    }

    let duplicate = duplicates(&running);
    let unregistered = if readable { unregistered(&registry.rows, &starts, now) } else { Vec::new() };
    let cohorts = values(&running, |row| row.cohort_id.as_deref());
    let heads = values(&running, |row| row.startup_head.as_deref());
    let revision_mismatch = if heads.known.len() > 1 { mismatched(&running) } else { Vec::new() };
    let members = members(&roster, &running, &stale, &unexpected, &starts, readable, scan.evidence);
    let missing: Vec<Entry> = members
        .iter()
        .filter(|member| matches!(member.state, MemberState::Missing | MemberState::Stale))
        .map(|member| Entry {
            namespace: Some(member.namespace.clone()),
            runtime_id: member.runtime_id.clone(),
            pid: member.pid,
            reason: member.reason.clone(),
        })
        .collect();
    let open_markers: BTreeSet<&String> = registry.open_markers.iter().collect();

    use BlockedReason as R;
    let names = |entries: &[Entry]| entries.iter().map(called).collect::<Vec<_>>().join(", ");
    let causes: [(bool, R, String); 13] = [
        (roster.is_empty(), R::RosterEmpty, "The configuration lists no fleet member.".into()),
        (
            registry_fault.is_some(),
            R::RegistryUnreadable,
            format!("The registry cannot be relied on: {}.", registry_fault.unwrap_or_default()),
        ),
        (
            scan_fault.is_some(),
            R::ProcessListingUnavailable,
            format!("The process listing cannot be relied on: {}.", scan_fault.unwrap_or_default()),
        ),
        (
            !unregistered.is_empty(),
            R::UnregisteredProcess,
            format!("Servers run that no row speaks for: {}.", names(&unregistered)),
        ),
        (
            !cohorts.unknown.is_empty(),
            R::CohortUnknown,
            format!("No cohort is recorded for {}.", cohorts.unknown.join(", ")),
        ),
        (
            cohorts.known.len() > 1,
            R::CohortSplit,
            format!("The running members belong to {} cohorts.", cohorts.known.len()),
        ),
        (
            !heads.unknown.is_empty(),
            R::RevisionUnknown,
            format!("No revision is recorded for {}.", heads.unknown.join(", ")),
        ),
        (
            heads.known.len() > 1,
            R::RevisionMismatch,
            format!("The running members started from {} revisions.", heads.known.len()),
        ),
        (!missing.is_empty(), R::MemberMissing, format!("Not running: {}.", names(&missing))),
        (
            !duplicate.is_empty(),
            R::MemberDuplicate,
            format!("Running more than once: {}.", names(&duplicate)),
        ),
        (
            !unexpected.is_empty(),
            R::MemberUnexpected,
            format!("Running, but not as the roster says: {}.", names(&unexpected)),
        ),
        (
            !stale.is_empty(),
            R::MemberStale,
            format!("Rows say running, and their processes do not: {}.", names(&stale)),
        ),
        (
            !open_markers.is_empty(),
            R::ContaminatedRuntime,
            format!("{} contamination marker(s) are open.", open_markers.len()),
        ),
    ];
    let (blocked_reasons, reasons): (Vec<R>, Vec<String>) =
        causes.into_iter().filter(|(holds, ..)| *holds).map(|(_, code, reason)| (code, reason)).unzip();
    let single_cohort = match (cohorts.known.len(), cohorts.unknown.is_empty()) {
        (0, _) | (_, false) => None,
        (known, true) => Some(known == 1),
    };
    FleetReport {
        schema: 1,
        evidence: scan.evidence,
        assessed_at: now.to_string(),
        mutation_gate_satisfied: blocked_reasons.is_empty(),
        inventory_complete: !blocked_reasons.iter().any(|reason| reason.leaves_inventory_incomplete()),
        single_cohort,
        running_member_count: running.iter().map(|running| running.member).collect::<BTreeSet<_>>().len(),
        blocked_reason: blocked_reasons.first().copied(),
        next_step: blocked_reasons
            .first()
            .map_or("None: every expected server runs, once, from one revision.", |reason| reason.next_step())
            .to_owned(),
        blocked_reasons,
        reasons,
        members,
        missing,
        duplicate,
        unexpected,
        stale,
        unregistered,
        revision_mismatch,
        open_markers: open_markers.into_iter().cloned().collect(),
    }
}

/// A row whose process runs, and the roster entry that it fills.
struct Running<'r> {
    row: &'r RuntimeRow,
    member: &'r RosterMember,
}

fn sorted(rows: &[RuntimeRow]) -> Vec<&RuntimeRow> {
    let mut rows: Vec<&RuntimeRow> = rows.iter().collect();
    rows.sort_by(|a, b| a.namespace.cmp(&b.namespace).then_with(|| a.cmp(b)));
    rows
}

/// A running row that cannot be placed makes the whole registry doubtful.
fn row_fault(rows: &[RuntimeRow]) -> Option<String> {
    sorted(rows)
        .into_iter()
        .filter(|row| row.says_running())
        .find(|row| row.pid.is_none_or(|pid| pid < 1) || row.registered_instant().is_none())
        .map(|row| format!("the running row `{}` has no usable pid or registration time", row.runtime_id))
}

fn process_fault(scan: &Scan) -> Option<String> {
    let pid = scan.processes.iter().filter(|p| p.started_at.is_none()).map(|p| p.pid).min()?;
    Some(format!("the start time of process {pid} is unknown"))
}

/// When each server process started; of a pid that is listed twice the later start counts.
fn start_times(scan: &Scan) -> BTreeMap<i64, Timestamp> {
    let mut starts = BTreeMap::new();
    for (pid, start) in scan.processes.iter().filter_map(|p| Some((p.pid, p.started_at?))) {
        let latest = starts.entry(pid).or_insert(start);
        *latest = start.max(*latest);
    }
    starts
}

/// Whether the row's process runs, or why it does not.
fn standing(
    row: &RuntimeRow,
    rows: &[RuntimeRow],
    starts: &BTreeMap<i64, Timestamp>,
    now: Timestamp,
) -> Result<(), String> {
    let (Some(pid), Some(registered)) = (row.pid, row.registered_instant()) else {
        return Err("the row has no usable pid or registration time".to_owned());
    };
    let Some(started) = starts.get(&pid) else {
        return Err(format!("no server process {pid} runs"));
    };
    if started.duration_since(registered) > ROUNDING {
        return Err(format!("process {pid} started after the row was written: it is another one"));
    }
    if registered.duration_since(now) > SKEW {
        return Err("the row was written in the future, so it proves nothing".to_owned());
    }
    let same_process = rows.iter().filter(|other| other.pid == row.pid && other.says_running());
    let newest = same_process.max_by_key(|other| (other.registered_instant(), &other.runtime_id));
    match newest {
        Some(other)
            if (other.registered_instant(), &other.runtime_id) > (Some(registered), &row.runtime_id) =>
        {
            Err(format!("process {pid} was registered again later, as `{}`", other.runtime_id))
        }
        _ => Ok(()),
    }
}

/// The roster entry that a running row is the member of, or how it differs from what is expected.
fn membership<'m>(
    row: &RuntimeRow,
    roster: &BTreeSet<&'m RosterMember>,
    binding: &Binding,
) -> Result<&'m RosterMember, String> {
    let mut difference = Err(format!("`{}` is not on the roster", row.namespace));
    for member in roster.iter().filter(|member| member.namespace == row.namespace) {
        match bound(row, member, binding) {
            Ok(()) => return Ok(member),
            Err(reason) => difference = Err(reason),
        }
    }
    difference
}

fn bound(row: &RuntimeRow, member: &RosterMember, binding: &Binding) -> Result<(), String> {
    let pairs = [
        ("remote", &row.remote, binding.remote.as_deref()),
        ("org", &row.org, binding.org.as_deref()),
        ("repo", &row.repo, binding.repo.as_deref()),
        ("profile", &row.profile, Some(member.profile.as_str())),
        ("role", &row.role, Some(member.role.as_str())),
    ];
    for (name, has, expected) in pairs {
        if let Some(expected) = expected
            && has.as_deref() != Some(expected)
        {
            let has = has.as_deref().map_or("nothing".to_owned(), |has| format!("`{has}`"));
            return Err(format!("its {name} is {has}, and `{expected}` is expected"));
        }
    }
    Ok(())
}

fn duplicates(running: &[Running<'_>]) -> Vec<Entry> {
    let count = |namespace: &str| running.iter().filter(|r| r.row.namespace == namespace).count();
    running
        .iter()
        .map(|running| running.row)
        .filter(|row| count(&row.namespace) > 1)
        .map(|row| {
            entry(row, format!("one of {} running members of `{}`", count(&row.namespace), row.namespace))
        })
        .collect()
}

fn mismatched(running: &[Running<'_>]) -> Vec<Entry> {
    running
        .iter()
        .filter_map(|Running { row, .. }| {
            let head = known(row.startup_head.as_deref())?;
            Some(entry(row, format!("started from {head}")))
        })
        .collect()
}

/// The server processes that no running row speaks for.
fn unregistered(rows: &[RuntimeRow], starts: &BTreeMap<i64, Timestamp>, now: Timestamp) -> Vec<Entry> {
    let spoken_for: BTreeSet<i64> = rows
        .iter()
        .filter(|row| row.says_running() && standing(row, rows, starts, now).is_ok())
        .filter_map(|row| row.pid)
        .collect();
    let unspoken = starts.keys().filter(|pid| !spoken_for.contains(pid));
    unspoken
        .map(|pid| {
            let known = rows.iter().any(|row| row.pid == Some(*pid));
            let reason = if known {
                format!("server process {pid} runs, and its row is stopped or speaks of another process")
            } else {
                format!("server process {pid} runs and has no row")
            };
            Entry { namespace: None, runtime_id: None, pid: Some(*pid), reason }
        })
        .collect()
}

struct Values<'r> {
    known: BTreeSet<String>,
    unknown: Vec<&'r str>,
}

fn known(value: Option<&str>) -> Option<&str> {
    value.map(str::trim).filter(|value| !value.is_empty())
}

fn values<'r>(running: &[Running<'r>], of: fn(&RuntimeRow) -> Option<&str>) -> Values<'r> {
    let mut found = Values { known: BTreeSet::new(), unknown: Vec::new() };
    for Running { row, .. } in running {
        match known(of(row)) {
            Some(value) => {
                found.known.insert(value.to_owned());
            }
            None => found.unknown.push(&row.runtime_id),
        }
    }
    found
}

fn members(
    roster: &BTreeSet<&RosterMember>,
    running: &[Running<'_>],
    stale: &[Entry],
    unexpected: &[Entry],
    starts: &BTreeMap<i64, Timestamp>,
    readable: bool,
    evidence: Evidence,
) -> Vec<MemberReport> {
    roster
        .iter()
        .map(|member| {
            let of = |entries: &[Entry]| {
                entries.iter().find(|entry| entry.namespace.as_ref() == Some(&member.namespace)).cloned()
            };
            let mine: Vec<_> = running.iter().filter(|running| running.member == *member).collect();
            let row = mine.first().map(|running| running.row);
            let (state, reason, told) = match (mine.len(), of(stale), of(unexpected)) {
                (1, ..) => (MemberState::Running, "its row and its process agree".to_owned(), None),
                (0, ..) if !readable => (MemberState::Unknown, "a source cannot be read".to_owned(), None),
                (0, Some(stale), _) => (MemberState::Stale, stale.reason.clone(), Some(stale)),
                (0, None, Some(other)) => {
                    (MemberState::Missing, format!("its namespace runs, but {}", other.reason), None)
                }
                (0, None, None) => (MemberState::Missing, "no row and process of it run".to_owned(), None),
                (several, ..) => (MemberState::Duplicate, format!("{several} members of it run"), None),
            };
            let pid = row.and_then(|row| row.pid);
            MemberReport {
                namespace: member.namespace.clone(),
                profile: member.profile.clone(),
                role: member.role.clone(),
                state,
                reason,
                runtime_id: row
                    .map(|row| row.runtime_id.clone())
                    .or_else(|| told.as_ref().and_then(|told| told.runtime_id.clone())),
                pid: pid.or_else(|| told.and_then(|told| told.pid)),
                process_started_at: pid.and_then(|pid| starts.get(&pid)).map(Timestamp::to_string),
                registered_at: row.and_then(|row| row.registered_at.clone()),
                last_heartbeat_at: row.and_then(|row| row.last_heartbeat_at.clone()),
                cohort_id: row.and_then(|row| row.cohort_id.clone()),
                startup_head: row.and_then(|row| row.startup_head.clone()),
                attested: row.and_then(|row| row.attested).filter(|_| evidence == Evidence::Observed),
            }
        })
        .collect()
}

fn entry(row: &RuntimeRow, reason: String) -> Entry {
    Entry {
        namespace: Some(row.namespace.clone()),
        runtime_id: Some(row.runtime_id.clone()),
        pid: row.pid,
        reason,
    }
}

fn called(entry: &Entry) -> String {
    let of = entry.namespace.as_ref().or(entry.runtime_id.as_ref());
    match (of, entry.pid) {
        (Some(name), Some(pid)) => format!("{name} (pid {pid})"),
        (Some(name), None) => name.clone(),
        (None, Some(pid)) => format!("pid {pid}"),
        (None, None) => "unknown".to_owned(),
    }
}
