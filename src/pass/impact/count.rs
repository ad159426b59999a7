//! The count: which sessions live, which leases are active, what is not known.
//!
//! Every doubt becomes an inventory error; nothing that is not understood is left out.
//! Knows nothing of classes' permissions, approvals or proofs.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::report::{Counts, Freshness, LeaseLine, SessionLine};
use super::scope::Scope;
use super::snapshot::{Lease, Session, Snapshot, TerminalLock, Work};
use crate::data::coordinator::HEARTBEAT_WINDOW_MINUTES;
use crate::pass::classes::Role;
use crate::pass::fingerprint::{Covered, fingerprint};
use crate::pass::instant::{exceeds, is_over, parse_instant, seconds_between};

/// How far a clock may run ahead, in seconds.
pub const SKEW_S: i64 = 60;
/// How old a snapshot may be, in seconds.
pub const SNAPSHOT_AGE_S: i64 = 15 * 60;
/// How old the last heartbeat of a live session may be, in seconds, unless configured.
pub const HEARTBEAT_WINDOW_S: i64 = HEARTBEAT_WINDOW_MINUTES * 60;
/// Phases in which a lease's holder writes: stopping it there loses or tears work.
pub const MUTATING_PHASES: [&str; 7] =
    ["implementing", "publishing", "merging", "pushing", "rebasing", "resolving_conflicts", "committing"];
/// The statuses of a session that has ended.
pub const ENDED_STATUSES: [&str; 3] = ["ended", "stopped", "closed"];

/// What is counted from whose view.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Whose sessions and leases lie in scope.
    pub scope: Scope<'a>,
    /// The session of the requester.
    pub own: &'a str,
    /// Whether the requester's own leases stand against it.
    pub own_leases_count: bool,
    /// The present.
    pub now: Timestamp,
    /// How old the last heartbeat of a live session may be, in seconds.
    pub heartbeat_window_s: i64,
}

/// What was found, sorted by id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Count {
    /// Every session, in scope or not.
    pub sessions: Vec<SessionLine>,
    /// Every lease, in scope or not.
    pub leases: Vec<LeaseLine>,
    /// The work behind the disruptive leases in scope, each once.
    pub work: Vec<Work>,
    /// The ids of the critical leases in scope.
    pub critical_sections: Vec<String>,
    /// The merge lock, if it is active or may be.
    pub terminal_lock: Option<TerminalLock>,
    /// What is not known, each a sentence.
    pub errors: Vec<String>,
    /// The totals in scope.
    pub counts: Counts,
}

impl Count {
    /// Whether everything could be listed, read and decided.
    pub fn complete(&self) -> bool {
        self.errors.is_empty()
    }

    /// Whether other sessions live or leases are active in scope.
    pub fn live_work(&self) -> bool {
        self.counts.other_live_sessions > 0 || self.counts.active_leases > 0
    }

    /// The ids of the disruptive leases in scope.
    pub fn active_leases(&self) -> impl Iterator<Item = &str> {
        self.leases.iter().filter(|lease| lease.counts()).map(|lease| lease.lease_id.as_str())
    }

    /// The fingerprint of what is counted, for that class and target.
    pub fn fingerprint(&self, class: &str, target: Option<&str>) -> String {
        let live = self.sessions.iter().filter(|session| session.counts());
        fingerprint(Covered {
            class,
            target,
            sessions: live.map(|session| session.session_id.as_str()).collect(),
            leases: self.active_leases().collect(),
            terminal_lock: self.terminal_lock.as_ref().map(|lock| lock.lock_id.as_str()),
        })
    }

    /// What stands against calling the state drained, sorted by kind; empty if it is.
    pub fn outstanding(&self) -> Vec<String> {
        let leases = self.active_leases().map(|id| format!("lease:{id}"));
        let lock = self.terminal_lock.iter().map(|lock| format!("terminal_lock:{}", lock.lock_id));
        let errors = self.errors.iter().map(|error| format!("inventory:{error}"));
        leases.chain(lock).chain(errors).collect()
    }
}

/// Counts a snapshot from a view.
pub fn count(snapshot: &Snapshot, view: View<'_>) -> Count {
    let mut errors = snapshot_errors(snapshot, view.now);
    let mut listed: Vec<&Session> = snapshot.sessions.iter().flatten().collect();
    listed.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    let by_id: BTreeMap<&str, &Session> = listed.iter().map(|s| (s.session_id.as_str(), *s)).collect();
    let sessions: Vec<SessionLine> =
        listed.iter().map(|session| session_line(session, view, &mut errors)).collect();

    let mut leases: Vec<&Lease> = snapshot.leases.iter().flatten().collect();
    leases.sort_by(|a, b| a.lease_id.cmp(&b.lease_id));
    let leases: Vec<LeaseLine> = leases
        .iter()
        .map(|lease| {
            let holder = lease.session_id.as_deref().and_then(|id| by_id.get(id).copied());
            lease_line(lease, holder, view, &mut errors)
        })
        .collect();

    let counted = leases.iter().filter(|lease| lease.counts());
    let mut work: Vec<Work> = counted.clone().filter_map(|lease| lease.work.clone()).collect();
    work.sort();
    work.dedup();
    let critical_sections: Vec<String> =
        counted.clone().filter(|lease| lease.critical).map(|lease| lease.lease_id.clone()).collect();
    let live = sessions.iter().filter(|session| session.counts());
    let counts = Counts {
        live_sessions: live.clone().count(),
        other_live_sessions: live.filter(|session| !session.own).count(),
        active_leases: counted.count(),
        work_items: work.len(),
        critical_sections: critical_sections.len(),
    };
    let terminal_lock = active_lock(snapshot, view.now, &mut errors);
    Count { sessions, leases, work, critical_sections, terminal_lock, errors, counts }
}

/// What is missing or unreadable in the snapshot as a whole.
fn snapshot_errors(snapshot: &Snapshot, now: Timestamp) -> Vec<String> {
    let mut errors = Vec::new();
    match snapshot.taken_at.as_deref().map(parse_instant) {
        None => errors.push("the snapshot does not say when it was taken".to_owned()),
        Some(None) => errors.push("the snapshot's `taken_at` is no instant".to_owned()),
        Some(Some(taken)) if exceeds(taken, now, SNAPSHOT_AGE_S) => {
            errors.push(format!("the snapshot is older than {} minutes", SNAPSHOT_AGE_S / 60));
        }
        Some(Some(taken)) if exceeds(now, taken, SKEW_S) => {
            errors.push(format!("the snapshot was taken more than {SKEW_S} seconds in the future"));
        }
        Some(Some(_)) => {}
    }
    for (member, missing) in [
        ("sessions", snapshot.sessions.is_none()),
        ("leases", snapshot.leases.is_none()),
        ("terminal_lock", snapshot.terminal_lock.is_none()),
        ("prior_recovery", snapshot.prior_recovery.is_none()),
        ("approvals", snapshot.approvals.is_none()),
        ("open_markers", snapshot.open_markers.is_none()),
        ("listing_errors", snapshot.listing_errors.is_none()),
    ] {
        if missing {
            errors.push(format!("`{member}` was not listed"));
        }
    }
    for error in snapshot.listing_errors.iter().flatten() {
        let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        errors.push(format!("listing failed: {text}"));
    }
    for (index, attempt) in snapshot.prior_recovery.iter().flatten().enumerate() {
        if parse_instant(&attempt.at).is_none() {
            errors.push(format!("prior recovery {index}: `at` is no instant"));
        }
    }
    for approval in snapshot.approvals.iter().flatten() {
        if approval.expires_at.as_deref().and_then(parse_instant).is_none() {
            errors.push(format!("approval {}: `expires_at` is no instant", approval.approval_id));
        }
    }
    errors
}

/// One session as the report shows it.
fn session_line(session: &Session, view: View<'_>, errors: &mut Vec<String>) -> SessionLine {
    let mut doubt = |text: &str| errors.push(format!("session {}: {text}", session.session_id));
    if session.role.as_deref().and_then(Role::named).is_none() {
        doubt("its role is unknown");
    }
    if session.connector.is_none() && matches!(view.scope, Scope::Connector(_)) {
        doubt("its connector is unknown");
    }
    let active = match session.status.as_deref() {
        Some("active") => true,
        Some(status) if ENDED_STATUSES.contains(&status) => false,
        _ => {
            doubt("its status is unknown");
            true
        }
    };
    if session.pid_alive.is_none() {
        doubt("it is not known whether its process runs");
    }
    let heartbeat = session.last_heartbeat_at.as_deref().and_then(parse_instant);
    let fresh = match heartbeat {
        None => {
            doubt("its last heartbeat is no instant");
            true
        }
        Some(heartbeat) => {
            if exceeds(view.now, heartbeat, SKEW_S) {
                doubt(&format!("its last heartbeat lies more than {SKEW_S} seconds in the future"));
            }
            !exceeds(heartbeat, view.now, view.heartbeat_window_s)
        }
    };
    SessionLine {
        session_id: session.session_id.clone(),
        role: session.role.clone(),
        live: active && session.pid_alive != Some(false) && fresh,
        in_scope: view.scope.holds(session),
        own: session.session_id == view.own,
        heartbeat_age_s: heartbeat.map(|heartbeat| seconds_between(heartbeat, view.now)),
    }
}

/// One lease as the report shows it.
fn lease_line(
    lease: &Lease,
    holder: Option<&Session>,
    view: View<'_>,
    errors: &mut Vec<String>,
) -> LeaseLine {
    let mut doubt = |text: &str| errors.push(format!("lease {}: {text}", lease.lease_id));
    let expires_at = lease.expires_at.as_deref().and_then(parse_instant);
    if expires_at.is_none() {
        doubt("its `expires_at` is no instant");
    }
    let freshness = match (lease.status.as_deref(), expires_at, lease.owner_alive) {
        (Some("released"), _, _) => Freshness::Released,
        (Some("active"), Some(at), _) if is_over(at, view.now) => Freshness::Expired,
        (Some("active"), Some(_), Some(false)) => Freshness::DeadProcess,
        (Some("active"), Some(_), Some(true)) => Freshness::Active,
        (Some("active"), Some(_), None) => {
            doubt("it is not known whether its owner runs");
            Freshness::Unknown
        }
        (Some("active"), None, _) => Freshness::Unknown,
        _ => {
            doubt("its status is unknown");
            Freshness::Unknown
        }
    };
    let undecided = matches!(freshness, Freshness::Active | Freshness::Unknown);
    let in_scope = view.scope.holds_lease(lease, holder);
    let own = lease.session_id.as_deref() == Some(view.own);
    let disruptive = freshness == Freshness::Active && (view.own_leases_count || !own);
    if undecided && in_scope && holder.is_none() && (view.own_leases_count || !own) {
        doubt("its session is not listed");
    }
    if undecided && lease.work.is_none() {
        doubt("it names no work");
    }
    let mutating = lease.phase.as_deref().is_some_and(|phase| MUTATING_PHASES.contains(&phase));
    LeaseLine {
        lease_id: lease.lease_id.clone(),
        freshness,
        in_scope,
        disruptive,
        critical: disruptive && (mutating || lease.worktree.as_deref().is_some_and(|tree| !tree.is_empty())),
        work: lease.work.clone(),
    }
}

/// The merge lock, unless there is none or it is known to be over.
fn active_lock(snapshot: &Snapshot, now: Timestamp, errors: &mut Vec<String>) -> Option<TerminalLock> {
    let lock = snapshot.terminal_lock.as_ref()?.as_ref()?;
    let expires_at = lock.expires_at.as_deref().and_then(parse_instant);
    if expires_at.is_none() {
        errors.push(format!("terminal lock {}: its `expires_at` is no instant", lock.lock_id));
    }
    let over = match lock.status.as_deref() {
        Some("released") => true,
        Some("active") => expires_at.is_some_and(|at| is_over(at, now)),
        _ => {
            errors.push(format!("terminal lock {}: its status is unknown", lock.lock_id));
            false
        }
    };
    if over { None } else { Some(lock.clone()) }
}
