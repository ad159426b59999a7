//! What the coordinator reads: sessions, leases, locks, approvals, recoveries, open
//! markers, all of one moment and in the shape of a snapshot document.
//!
//! A row or table that cannot be read becomes an entry of `listing_errors`; the rest
//! is still listed. Whether a pid is alive is asked of the caller's probe.

use rusqlite::{Connection, Row};
use serde::Serialize;

use super::{Store, StoreError};
use crate::pass::fleet::row::instant;
use crate::pass::marker::Marker;

/// A session as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRecord {
    /// Names the session.
    pub session_id: String,
    /// Its role.
    pub role: String,
    /// Its profile.
    pub profile: Option<String>,
    /// The connector that it uses.
    pub connector: Option<String>,
    /// Its owner's process id.
    pub pid: Option<i64>,
    /// Its status, such as `active`.
    pub status: String,
    /// When it was last heard of (RFC 3339).
    pub last_heartbeat_at: String,
    /// Whether the owner's process runs; absent if that cannot be told.
    pub pid_alive: Option<bool>,
}

/// The work that a lease is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct WorkRecord {
    /// `pr` or `issue`.
    pub kind: String,
    /// Its number.
    pub number: u64,
}

/// A lease as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeaseRecord {
    /// Names the lease.
    pub lease_id: String,
    /// The session that holds it.
    pub session_id: String,
    /// What it is for.
    pub work: Option<WorkRecord>,
    /// The phase of the work.
    pub phase: Option<String>,
    /// Its status, such as `active`.
    pub status: String,
    /// The author's worktree, if there is one.
    pub worktree: Option<String>,
    /// When it ends (RFC 3339).
    pub expires_at: String,
    /// Whether the owner's process runs; absent if that cannot be told.
    pub owner_alive: Option<bool>,
}

/// The terminal (merge) lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TerminalLockRecord {
    /// Names the lock.
    pub lock_id: String,
    /// The session that holds it.
    pub holder_session_id: String,
    /// The pull request that is merged.
    pub pr: Option<u64>,
    /// `active` or `released`.
    pub status: String,
    /// When it ends (RFC 3339).
    pub expires_at: String,
}

/// An earlier attempt to recover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecoveryRecord {
    /// What was tried.
    pub kind: String,
    /// When (RFC 3339).
    pub at: String,
    /// How it ended.
    pub outcome: String,
}

/// An approval that somebody gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovalRecord {
    /// Names the approval.
    pub approval_id: String,
    /// The session that gave it.
    pub approver_session_id: String,
    /// The role that it was given in.
    pub approver_role: String,
    /// The restart class that it is for.
    pub restart_class: String,
    /// The target that it is for.
    pub target: Option<String>,
    /// When it ends (RFC 3339).
    pub expires_at: String,
}

/// Everything that a snapshot holds beside its schema and time; serialises to a
/// snapshot's members.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SnapshotRecords {
    /// The sessions, by id.
    pub sessions: Vec<SessionRecord>,
    /// The leases, by id.
    pub leases: Vec<LeaseRecord>,
    /// The terminal lock that weighs most, if there is any.
    pub terminal_lock: Option<TerminalLockRecord>,
    /// Earlier recoveries, oldest first.
    pub prior_recovery: Vec<RecoveryRecord>,
    /// The approvals, by id.
    pub approvals: Vec<ApprovalRecord>,
    /// The markers that were not cleared.
    pub open_markers: Vec<Marker>,
    /// What could not be listed, and why.
    pub listing_errors: Vec<String>,
}

impl Store {
    /// Reads everything that a snapshot needs, at one moment. `probe` says whether the process
    /// of that id runs and is still the one that was heard of at the given time.
    ///
    /// # Errors
    /// Only if the store cannot be read at all; a part that cannot is in `listing_errors`.
    pub fn snapshot(
        &self,
        probe: &dyn Fn(i64, Option<&str>) -> Option<bool>,
    ) -> Result<SnapshotRecords, StoreError> {
        self.read(|store| {
            let mut errors = Vec::new();
            let mut found = SnapshotRecords {
                sessions: list(store, "sessions", SESSIONS, session, &mut errors),
                leases: list(store, "leases", LEASES, lease, &mut errors),
                terminal_lock: heaviest(list(store, "terminal_locks", LOCKS, lock, &mut errors)),
                prior_recovery: list(store, "recovery_attempts", RECOVERIES, recovery, &mut errors),
                approvals: list(store, "approvals", APPROVALS, approval, &mut errors),
                open_markers: super::markers::list(store).unwrap_or_else(|error| {
                    errors.push(format!("markers: {error}"));
                    Vec::new()
                }),
                listing_errors: Vec::new(),
            };
            found.open_markers.retain(|marker| marker.cleared_at.is_none());
            for session in &mut found.sessions {
                session.pid_alive = session.pid.and_then(|pid| probe(pid, Some(&session.last_heartbeat_at)));
            }
            for lease in &mut found.leases {
                let owner = found.sessions.iter().find(|session| session.session_id == lease.session_id);
                lease.owner_alive = owner.and_then(|session| session.pid_alive);
            }
            found.listing_errors = errors;
            Ok(found)
        })
    }
}

const SESSIONS: &str = "SELECT session_id, role, profile, connector, pid, status, last_heartbeat_at \
     FROM sessions ORDER BY session_id";
const LEASES: &str = "SELECT lease_id, session_id, work, phase, status, worktree, expires_at \
     FROM leases ORDER BY lease_id";
const LOCKS: &str =
    "SELECT lock_id, holder_session_id, pr, status, expires_at FROM terminal_locks ORDER BY lock_id";
const RECOVERIES: &str = "SELECT kind, at, outcome FROM recovery_attempts ORDER BY rowid";
const APPROVALS: &str = "SELECT approval_id, approver_session_id, approver_role, restart_class, target, expires_at \
     FROM approvals ORDER BY approval_id";

fn list<T>(
    store: &Connection,
    table: &str,
    query: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
    errors: &mut Vec<String>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut run = || -> rusqlite::Result<()> {
        let mut statement = store.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match read(row) {
                Ok(record) => found.push(record),
                Err(error) => errors.push(format!("{table}: a row cannot be read: {error}")),
            }
        }
        Ok(())
    };
    if let Err(error) = run() {
        errors.push(format!("{table}: {error}"));
    }
    found
}

/// Several locks may be on record; one that is active, and lasts longest or for nobody knows
/// how long, speaks for them all.
fn heaviest(locks: Vec<TerminalLockRecord>) -> Option<TerminalLockRecord> {
    locks.into_iter().max_by_key(|lock| {
        let until = instant(Some(&lock.expires_at));
        (lock.status != "released", until.is_none(), until, lock.lock_id.clone())
    })
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    Ok(SessionRecord {
        session_id: row.get(0)?,
        role: row.get(1)?,
        profile: row.get(2)?,
        connector: row.get(3)?,
        pid: row.get(4)?,
        status: row.get(5)?,
        last_heartbeat_at: row.get(6)?,
        pid_alive: None,
    })
}

fn lease(row: &Row<'_>) -> rusqlite::Result<LeaseRecord> {
    let work: Option<String> = row.get(2)?;
    let work = work.map(|text| serde_json::from_str(&text)).transpose().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, Box::new(error))
    })?;
    Ok(LeaseRecord {
        lease_id: row.get(0)?,
        session_id: row.get(1)?,
        work,
        phase: row.get(3)?,
        status: row.get(4)?,
        worktree: row.get(5)?,
        expires_at: row.get(6)?,
        owner_alive: None,
    })
}

fn lock(row: &Row<'_>) -> rusqlite::Result<TerminalLockRecord> {
    Ok(TerminalLockRecord {
        lock_id: row.get(0)?,
        holder_session_id: row.get(1)?,
        pr: row.get::<_, Option<i64>>(2)?.and_then(|pr| pr.try_into().ok()),
        status: row.get(3)?,
        expires_at: row.get(4)?,
    })
}

fn recovery(row: &Row<'_>) -> rusqlite::Result<RecoveryRecord> {
    Ok(RecoveryRecord { kind: row.get(0)?, at: row.get(1)?, outcome: row.get(2)? })
}

fn approval(row: &Row<'_>) -> rusqlite::Result<ApprovalRecord> {
    Ok(ApprovalRecord {
        approval_id: row.get(0)?,
        approver_session_id: row.get(1)?,
        approver_role: row.get(2)?,
        restart_class: row.get(3)?,
        target: row.get(4)?,
        expires_at: row.get(5)?,
    })
}
