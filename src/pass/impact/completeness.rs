//! What a snapshot as a whole leaves open: lists that are missing, instants that do not
//! parse, an age that makes it worthless. Rows are looked at where they are counted.

use jiff::Timestamp;

use super::snapshot::Snapshot;
use crate::pass::instant::{exceeds, parse_instant};

/// How far a clock may run ahead, in seconds.
pub const SKEW_S: i64 = 60;
/// How old a snapshot may be, in seconds.
pub const SNAPSHOT_AGE_S: i64 = 15 * 60;

/// What is missing or unreadable in the snapshot as a whole.
pub(super) fn snapshot_errors(snapshot: &Snapshot, now: Timestamp) -> Vec<String> {
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
