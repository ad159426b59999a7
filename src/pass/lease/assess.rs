//! The reviewer's gate: whether a mutation of a pull request is allowed.
//!
//! A claim that cannot be decided blocks like one that stands.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::active::{Lease, LeaseKind, lease, markers_of, standing};
use super::marker::Comment;

/// What a reviewer does to a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// Approves it.
    Approve,
    /// Requests changes.
    RequestChanges,
    /// Merges it.
    Merge,
}

impl Mutation {
    /// All mutations.
    pub const ALL: [Mutation; 3] = [Mutation::Approve, Mutation::RequestChanges, Mutation::Merge];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mutation::Approve => "approve",
            Mutation::RequestChanges => "request_changes",
            Mutation::Merge => "merge",
        }
    }
}

/// Why a mutation is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeaseReason {
    /// A conflict fix holds the pull request, or may.
    ConflictFixActive,
    /// What was reviewed is not what is there.
    StaleHead,
}

impl LeaseReason {
    /// All codes.
    pub const ALL: [LeaseReason; 2] = [LeaseReason::ConflictFixActive, LeaseReason::StaleHead];

    /// The code as it stands in reports.
    pub fn name(self) -> &'static str {
        match self {
            LeaseReason::ConflictFixActive => "conflict_fix_active",
            LeaseReason::StaleHead => "stale_head",
        }
    }
}

/// The head that was reviewed and the one that is there.
#[derive(Debug, Clone, Copy)]
pub struct HeadPair<'a> {
    /// The full hash that was reviewed.
    pub reviewed: &'a str,
    /// The full hash of the live head.
    pub live: &'a str,
}

/// The gate's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Whether the mutation is allowed.
    pub mutation_allowed: bool,
    /// Why not.
    pub reason_codes: Vec<LeaseReason>,
    /// A sentence for each code, with the next step.
    pub reasons: Vec<String>,
    /// The claim that blocks.
    pub blocking_lease: Option<Lease>,
}

/// Assesses a reviewer's mutation of a pull request.
///
/// ```
/// use restartlint::pass::lease::{HeadPair, Mutation, assess};
/// let head = "89abcdef0123456789abcdef0123456789abcdef";
/// let now = "2026-07-23T06:30:00Z".parse().unwrap();
/// assert!(assess(&[], 818, Mutation::Merge, HeadPair { reviewed: head, live: head }, now).mutation_allowed);
/// let short = HeadPair { reviewed: "89abcde", live: head };
/// assert!(!assess(&[], 818, Mutation::Merge, short, now).mutation_allowed);
/// ```
pub fn assess(
    comments: &[Comment],
    pr: u64,
    mutation: Mutation,
    heads: HeadPair<'_>,
    now: Timestamp,
) -> Assessment {
    let markers = markers_of(comments, LeaseKind::ConflictFix);
    if let Some(claim) = standing(&markers, pr, now).next() {
        let holder = claim.marker.get("profile").unwrap_or("an unnamed profile");
        let what = if claim.certain {
            format!("{holder} holds a conflict-fix lease on pull request #{pr}")
        } else {
            format!(
                "{holder} may hold a conflict-fix lease on pull request #{pr}: its marker cannot be read in full"
            )
        };
        let reason = format!("{what}; wait until it is released or over before `{}`.", mutation.name());
        return denied(LeaseReason::ConflictFixActive, reason, Some(lease(claim.marker)));
    }
    if !is_full_hash(heads.reviewed) || heads.reviewed != heads.live {
        let reason = format!(
            "The reviewed head is not the live head; review the live head before `{}`.",
            mutation.name()
        );
        return denied(LeaseReason::StaleHead, reason, None);
    }
    Assessment { mutation_allowed: true, reason_codes: vec![], reasons: vec![], blocking_lease: None }
}

fn denied(code: LeaseReason, reason: String, blocking_lease: Option<Lease>) -> Assessment {
    Assessment { mutation_allowed: false, reason_codes: vec![code], reasons: vec![reason], blocking_lease }
}

/// A SHA-1 or SHA-256 object id in full: an abbreviation names no commit for certain.
fn is_full_hash(head: &str) -> bool {
    matches!(head.len(), 40 | 64) && head.bytes().all(|b| b.is_ascii_hexdigit())
}
