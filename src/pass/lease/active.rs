//! The active lease: claims, the chains that end them, and what is malformed.
//!
//! Array order is the order of events; `created_at` is never looked at.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::marker::{Comment, Marker, markers};
use crate::pass::instant::{is_over, parse_instant};

/// The phases that end a claim, in any case.
pub const TERMINAL_PHASES: [&str; 3] = ["released", "blocked", "done"];

/// What a lease is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeaseKind {
    /// An author repairs conflicts of the pull request.
    ConflictFix,
    /// A reviewer reviews it.
    Reviewer,
}

impl LeaseKind {
    /// Both kinds.
    pub const ALL: [LeaseKind; 2] = [LeaseKind::ConflictFix, LeaseKind::Reviewer];

    /// The marker's name.
    pub fn marker(self) -> &'static str {
        match self {
            LeaseKind::ConflictFix => "mcp-conflict-fix-lease",
            LeaseKind::Reviewer => "mcp-reviewer-lease",
        }
    }

    /// The member that names the head of the chain.
    fn head(self) -> &'static str {
        match self {
            LeaseKind::ConflictFix => "head_before",
            LeaseKind::Reviewer => "candidate_head",
        }
    }
}

/// A claim as it stands in its marker; what it does not say is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lease {
    /// The pull request; null only where the marker names several.
    pub pr_number: Option<u64>,
    /// The branch.
    pub branch: Option<String>,
    /// The worktree.
    pub worktree: Option<String>,
    /// The profile that holds it.
    pub profile: Option<String>,
    /// The session that holds it.
    pub session_id: Option<String>,
    /// The phase.
    pub phase: Option<String>,
    /// The head that a conflict fix started from.
    pub head_before: Option<String>,
    /// The head that it ended with.
    pub head_after: Option<String>,
    /// The head that a reviewer looks at.
    pub candidate_head: Option<String>,
    /// When it is over, as it stands in the marker.
    pub expires_at: Option<String>,
}

/// A marker that does not say all it must.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MalformedMarker {
    /// The comment's index in the list, from 0.
    pub index: usize,
    /// What it lacks, in one sentence.
    pub reason: String,
}

/// The active lease of a pull request, and the malformed markers of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveLease {
    /// The newest claim that is neither over nor ended.
    pub lease: Option<Lease>,
    /// What could not be read, in order.
    pub malformed: Vec<MalformedMarker>,
}

/// The active conflict-fix lease of a pull request.
///
/// ```
/// use restartlint::pass::lease::{Comment, find_active_conflict_fix_lease};
/// let body = "<!-- mcp-conflict-fix-lease:v1 -->\npr: #7\nprofile: p\nhead_before: a1\n\
///             phase: claimed\nexpires_at: 2026-07-23T07:12:13Z";
/// let comments = [Comment { body: body.to_owned() }];
/// let at = |text: &str| text.parse().unwrap();
/// assert!(find_active_conflict_fix_lease(&comments, 7, at("2026-07-23T07:00:00Z")).lease.is_some());
/// assert!(find_active_conflict_fix_lease(&comments, 7, at("2026-07-23T07:12:13Z")).lease.is_none());
/// assert!(find_active_conflict_fix_lease(&comments, 8, at("2026-07-23T07:00:00Z")).lease.is_none());
/// ```
pub fn find_active_conflict_fix_lease(comments: &[Comment], pr: u64, now: Timestamp) -> ActiveLease {
    find_active_lease(comments, LeaseKind::ConflictFix, pr, now)
}

/// The active lease of that kind of a pull request.
pub fn find_active_lease(comments: &[Comment], kind: LeaseKind, pr: u64, now: Timestamp) -> ActiveLease {
    let markers = markers_of(comments, kind);
    let lease = standing(&markers, pr, now).find(|claim| claim.certain).map(|claim| lease(claim.marker));
    ActiveLease { lease, malformed: malformed(&markers) }
}

/// A claim that is not known to be over or ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'a> {
    pub marker: &'a Marker,
    /// Whether it is known to stand; else it may, and cannot be decided.
    pub certain: bool,
}

/// The markers of a kind, in order.
pub(super) fn markers_of(comments: &[Comment], kind: LeaseKind) -> Vec<Marker> {
    markers(comments).into_iter().filter(|marker| marker.kind == kind).collect()
}

/// The claims of a pull request that stand or may stand, the newest first.
pub(super) fn standing(markers: &[Marker], pr: u64, now: Timestamp) -> impl Iterator<Item = Standing<'_>> {
    let claims = markers.iter().enumerate().rev();
    claims.filter_map(move |(position, marker)| {
        let claims = marker.may_name(pr) && !is_terminal(marker);
        let expiry = marker.get("expires_at").and_then(parse_instant);
        let over = expiry.is_some_and(|at| is_over(at, now));
        let later = markers.get(position + 1..).unwrap_or_default();
        if !claims || over || later.iter().any(|release| ends(release, marker)) {
            return None;
        }
        let certain = known_version(marker)
            && marker.pr() == Some(pr)
            && marker.get("phase").is_some()
            && expiry.is_some();
        Some(Standing { marker, certain })
    })
}

/// What is malformed, in order.
pub(super) fn malformed(markers: &[Marker]) -> Vec<MalformedMarker> {
    let with_faults = markers.iter().map(|marker| (marker.index, faults(marker)));
    with_faults
        .filter(|(_, faults)| !faults.is_empty())
        .map(|(index, faults)| MalformedMarker {
            index,
            reason: format!("The marker {}.", faults.join("; it ")),
        })
        .collect()
}

/// The claim in a marker.
pub(super) fn lease(marker: &Marker) -> Lease {
    let get = |key: &str| marker.get(key).map(str::to_owned);
    Lease {
        pr_number: marker.pr(),
        branch: get("branch"),
        worktree: get("worktree"),
        profile: get("profile"),
        session_id: get("session_id"),
        phase: get("phase"),
        head_before: get("head_before"),
        head_after: get("head_after"),
        candidate_head: get("candidate_head"),
        expires_at: get("expires_at"),
    }
}

/// Whether a later marker ends a claim: well-formed, of a terminal phase and the same chain.
fn ends(release: &Marker, claim: &Marker) -> bool {
    let same = |key: &str| release.get(key).is_some() && release.get(key) == claim.get(key);
    let lower = |marker: &Marker| marker.get("profile").map(str::to_lowercase);
    is_terminal(release)
        && faults(release).is_empty()
        && release.pr() == claim.pr()
        && lower(release) == lower(claim)
        && same(claim.kind.head())
        && (release.get("branch").is_none() || claim.get("branch").is_none() || same("branch"))
}

fn is_terminal(marker: &Marker) -> bool {
    let phase = marker.get("phase").map(str::to_lowercase);
    phase.is_some_and(|phase| TERMINAL_PHASES.contains(&phase.as_str()))
}

fn known_version(marker: &Marker) -> bool {
    marker.version == "1"
}

/// What a marker lacks. The expiry of a release does not matter.
fn faults(marker: &Marker) -> Vec<String> {
    let mut faults = Vec::new();
    if !known_version(marker) {
        faults.push(format!("has the unknown version {:?}", marker.version));
    }
    let conflicting: Vec<&str> = marker.conflicting().collect();
    for key in &conflicting {
        faults.push(format!("has `{key}` twice with different values"));
    }
    for key in ["pr", "profile", marker.kind.head(), "phase"] {
        if marker.get(key).is_none() && !conflicting.contains(&key) {
            faults.push(format!("lacks `{key}`"));
        }
    }
    if marker.get("pr").is_some() && marker.pr().is_none() {
        faults.push("has a `pr` that is no number".to_owned());
    }
    if !is_terminal(marker) && !conflicting.contains(&"expires_at") {
        match marker.get("expires_at").map(parse_instant) {
            None => faults.push("lacks `expires_at`".to_owned()),
            Some(None) => faults.push("has an `expires_at` that is no instant".to_owned()),
            Some(Some(_)) => {}
        }
    }
    faults
}
