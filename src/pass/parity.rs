//! Parity: is the revision that a process started from still the checkout's?
//!
//! Pure: the face reads git's files and the registry. Whatever cannot be compared
//! blocks mutations, and nothing is ever restarted for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the comparison found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Parity {
    /// The same revision.
    Current,
    /// The checkout has moved past the process.
    Stale,
    /// One of the two cannot be told.
    Unknown,
}

/// Why, as a stable code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParityReason {
    /// Both are the same full revision.
    SameRevision,
    /// They differ.
    RevisionMoved,
    /// The process's revision is not known in full.
    StartedUnknown,
    /// The checkout's revision cannot be read.
    CheckoutUnknown,
}

/// The answer of the parity pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParityReport {
    /// The version of this shape: 1.
    pub schema: u32,
    /// What the comparison found.
    pub status: Parity,
    /// Whether work that changes anything is blocked.
    pub mutations_blocked: bool,
    /// Whether only a newly started process would be current.
    pub restart_required: bool,
    /// Why, as a code.
    pub reason_code: ParityReason,
    /// Why, in a sentence.
    pub reason: String,
    /// What to do next.
    pub next_step: String,
    /// The revision that the process started from, as it was told.
    pub started_head: Option<String>,
    /// The checkout's revision.
    pub current_head: Option<String>,
}

/// Compares the revision that a process started from with the checkout's, or with the
/// reason why that cannot be read. Only full revisions compare: an abbreviated one may
/// name another commit.
///
/// ```
/// use restartlint::pass::parity::{Parity, compare};
/// let (old, new) = ("1".repeat(40), "2".repeat(40));
/// assert_eq!(compare(Some(&old), Ok(&old)).status, Parity::Current);
/// assert_eq!(compare(Some(&old), Ok(&new)).status, Parity::Stale);
/// assert_eq!(compare(None, Ok(&new)).status, Parity::Unknown);
/// ```
pub fn compare(started: Option<&str>, current: Result<&str, &str>) -> ParityReport {
    let full_started = started.and_then(full);
    let (status, reason_code, reason) = match (&full_started, current) {
        (_, Err(fault)) => (
            Parity::Unknown,
            ParityReason::CheckoutUnknown,
            format!("The checkout's revision cannot be told: {fault}."),
        ),
        (_, Ok(head)) if full(head).is_none() => (
            Parity::Unknown,
            ParityReason::CheckoutUnknown,
            "The checkout's revision is no full revision.".to_owned(),
        ),
        (None, Ok(_)) => (
            Parity::Unknown,
            ParityReason::StartedUnknown,
            "The revision that the process started from is not known in full.".to_owned(),
        ),
        (Some(started), Ok(head)) if full(head).as_ref() == Some(started) => (
            Parity::Current,
            ParityReason::SameRevision,
            "The process started from the checkout's revision.".to_owned(),
        ),
        (Some(_), Ok(_)) => (
            Parity::Stale,
            ParityReason::RevisionMoved,
            "The checkout has moved since the process started.".to_owned(),
        ),
    };
    let next_step = match reason_code {
        ParityReason::SameRevision => "None: go on.",
        ParityReason::RevisionMoved => {
            "Reconnect the server from the host, so that it starts from the present revision."
        }
        ParityReason::StartedUnknown => {
            "Reconnect the server from the host, so that it records the revision that it starts from."
        }
        ParityReason::CheckoutUnknown => "Name a git checkout whose files can be read, and ask again.",
    };
    ParityReport {
        schema: 1,
        status,
        mutations_blocked: status != Parity::Current,
        restart_required: status == Parity::Stale,
        reason_code,
        reason,
        next_step: next_step.to_owned(),
        started_head: started.map(str::to_owned),
        current_head: current.ok().map(str::to_owned),
    }
}

fn full(text: &str) -> Option<String> {
    let text = text.trim();
    let hex = (text.len() == 40 || text.len() == 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_full_revisions_leave_mutations_free() {
        let one = "a".repeat(40);
        let two = "b".repeat(40);
        let free = compare(Some(&one.to_uppercase()), Ok(&one));
        assert!(!free.mutations_blocked && !free.restart_required);
        let stale = compare(Some(&one), Ok(&two));
        assert!(stale.mutations_blocked && stale.restart_required && stale.next_step.contains("host"));
        for (started, current) in [
            (None, Ok(one.as_str())),
            (Some(""), Ok(one.as_str())),
            (Some("aaaaaaa"), Ok(one.as_str())),
            (Some("-dirty"), Ok(one.as_str())),
            (Some(one.as_str()), Err("no checkout")),
            (Some(one.as_str()), Ok("aaaaaaa")),
        ] {
            let report = compare(started, current);
            assert_eq!(report.status, Parity::Unknown, "{started:?} {current:?}");
            assert!(report.mutations_blocked && !report.restart_required);
        }
    }
}
