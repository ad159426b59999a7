//! The coordinator's side of the store: the observed snapshot, used proofs, incidents.
//!
//! Only carries values over; what counts and what is allowed is decided in the pass.

use std::path::Path;

use jiff::Timestamp;

use super::store::{IncidentRecord, OpenMode, ProofUse, SnapshotRecords, Store, StoreError};
use crate::pass::drain::{Proof, Replay};
use crate::pass::impact::Report;
use crate::pass::impact::report::Incident;
use crate::pass::impact::snapshot::{
    Approval, Lease, RecoveryAttempt, Session, Snapshot, TerminalLock, Work,
};

/// What tells whether the process of an id runs and is the one heard of at a time.
pub type Probe<'a> = &'a dyn Fn(i64, Option<&str>) -> Option<bool>;

/// The state that the store and the process table show now.
///
/// # Errors
/// Where the store cannot be read at all. A part that cannot is a listing error of the snapshot.
pub fn observe(path: &Path, now: Timestamp, probe: Probe<'_>) -> Result<Snapshot, StoreError> {
    let store = Store::open(path, OpenMode::Existing)?;
    Ok(snapshot(store.snapshot(probe)?, now))
}

/// The records as a snapshot. A list that failed to be read stands in `listing_errors`.
fn snapshot(records: SnapshotRecords, now: Timestamp) -> Snapshot {
    let session = |s: super::store::SessionRecord| Session {
        session_id: s.session_id,
        role: Some(s.role),
        profile: s.profile,
        connector: s.connector,
        pid: s.pid,
        status: Some(s.status),
        last_heartbeat_at: Some(s.last_heartbeat_at),
        pid_alive: s.pid_alive,
    };
    let lease = |l: super::store::LeaseRecord| Lease {
        lease_id: l.lease_id,
        session_id: Some(l.session_id),
        work: l.work.map(|work| Work { kind: work.kind, number: work.number }),
        phase: l.phase,
        status: Some(l.status),
        worktree: l.worktree,
        expires_at: Some(l.expires_at),
        owner_alive: l.owner_alive,
    };
    let lock = |l: super::store::TerminalLockRecord| TerminalLock {
        lock_id: l.lock_id,
        holder_session_id: Some(l.holder_session_id),
        pr: l.pr,
        status: Some(l.status),
        expires_at: Some(l.expires_at),
    };
    let attempt = |r: super::store::RecoveryRecord| RecoveryAttempt {
        kind: r.kind,
        at: r.at,
        outcome: Some(r.outcome),
    };
    let approval = |a: super::store::ApprovalRecord| Approval {
        approval_id: a.approval_id,
        approver_session_id: a.approver_session_id,
        approver_role: a.approver_role,
        restart_class: a.restart_class,
        target: a.target,
        expires_at: Some(a.expires_at),
    };
    let markers = records.open_markers.into_iter().map(|marker| {
        serde_json::json!({
            "marker_id": marker.marker_id,
            "recorded_at": marker.recorded_at,
            "session_id": marker.session_id,
            "verdict": marker.verdict.name(),
        })
    });
    Snapshot {
        schema: 1,
        taken_at: Some(now.to_string()),
        sessions: Some(records.sessions.into_iter().map(session).collect()),
        leases: Some(records.leases.into_iter().map(lease).collect()),
        terminal_lock: Some(records.terminal_lock.map(lock)),
        prior_recovery: Some(records.prior_recovery.into_iter().map(attempt).collect()),
        approvals: Some(records.approvals.into_iter().map(approval).collect()),
        open_markers: Some(markers.collect()),
        listing_errors: Some(records.listing_errors.into_iter().map(Into::into).collect()),
    }
}

/// What the store knows of a proof's id; a proof that cannot be read has none and is refused anyway.
///
/// # Errors
/// A failure of the store; then the proof must not be taken as unused.
pub fn replay_of(store: &Store, proof: Option<&[u8]>) -> Result<Replay, StoreError> {
    match proof.and_then(Proof::from_json) {
        Some(proof) if store.proof_used(&proof.proof_id)? => Ok(Replay::Used),
        _ => Ok(Replay::Fresh),
    }
}

/// Uses up the proof of an authorised apply. `Replay::Used` if another apply was faster.
///
/// # Errors
/// A failure of the store; then the apply must not be taken as authorised.
pub fn use_up(store: &mut Store, proof: &Proof, now: Timestamp) -> Result<Replay, StoreError> {
    let used =
        store.use_proof(&proof.proof_id, &proof.restart_class, &proof.fingerprint, &now.to_string())?;
    Ok(match used {
        ProofUse::First => Replay::Fresh,
        ProofUse::Replayed => Replay::Used,
    })
}

/// Keeps the incident of a denial, if the report is one.
///
/// # Errors
/// A failure of the store.
pub fn keep_incident(store: &mut Store, report: &Report) -> Result<(), StoreError> {
    match &report.incident {
        Some(incident) => store.record_incident(&record(incident)),
        None => Ok(()),
    }
}

fn record(incident: &Incident) -> IncidentRecord {
    let requester = &incident.requester;
    IncidentRecord {
        incident_id: incident.id.clone(),
        kind: incident.kind.clone(),
        code: incident.code.clone(),
        restart_class: incident.class.clone(),
        requester: Some(
            serde_json::json!({"session_id": requester.session_id, "role": requester.role}).to_string(),
        ),
        fingerprint: Some(incident.fingerprint.clone()),
        at: incident.time.clone(),
    }
}
