//! The count: which sessions live, which leases are active, what is not known.
//!
//! Every doubt becomes an inventory error; nothing that is not understood is left out.
//! Knows nothing of classes' permissions, approvals or proofs.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::completeness::snapshot_errors;
use super::liveness::{active_lock, lease_line, session_line};
use super::report::{Counts, LeaseLine, SessionLine};
use super::scope::Scope;
use super::snapshot::{Lease, Session, Snapshot, TerminalLock, Work};
use crate::data::coordinator::HEARTBEAT_WINDOW_MINUTES;
use crate::pass::fingerprint::{Covered, fingerprint};

/// How old the last heartbeat of a live session may be, in seconds, unless configured.
pub const HEARTBEAT_WINDOW_S: i64 = HEARTBEAT_WINDOW_MINUTES * 60;

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
