//! Whether a session lives, a lease is active, a lock is held: one row at a time.
//!
//! A doubt is told to the caller's list, and the row is then taken for the worse.

use jiff::Timestamp;

use super::completeness::SKEW_S;
use super::count::View;
use super::report::{Freshness, LeaseLine, SessionLine};
use super::scope::Scope;
use super::snapshot::{Lease, Session, Snapshot, TerminalLock};
use crate::pass::classes::Role;
use crate::pass::instant::{exceeds, is_over, parse_instant, seconds_between};

/// Phases in which a lease's holder writes: stopping it there loses or tears work.
pub const MUTATING_PHASES: [&str; 7] =
    ["implementing", "publishing", "merging", "pushing", "rebasing", "resolving_conflicts", "committing"];
/// The statuses of a session that has ended.
pub const ENDED_STATUSES: [&str; 3] = ["ended", "stopped", "closed"];

/// One session as the report shows it.
pub(super) fn session_line(session: &Session, view: View<'_>, errors: &mut Vec<String>) -> SessionLine {
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
pub(super) fn lease_line(
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
pub(super) fn active_lock(
    snapshot: &Snapshot,
    now: Timestamp,
    errors: &mut Vec<String>,
) -> Option<TerminalLock> {
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
