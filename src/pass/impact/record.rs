//! What is kept of an evaluation: the incident of a denial and the audit record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reason::ReasonCode;
use super::report::{Counts, RequesterLine};
use super::words::{BlastRadius, Verdict};
use crate::pass::fingerprint::{canonical, sha256_hex};

/// A denial, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// `inc-` and 16 hex digits over the rest: the same denial has the same id.
    pub id: String,
    /// `restart_denied` (dry run) or `apply_denied`.
    pub kind: String,
    /// The first cause: a reason code, or the drain gate's code.
    pub code: String,
    /// The class that was asked for.
    pub class: String,
    /// The target, if any.
    pub target: Option<String>,
    /// Who asked.
    pub requester: RequesterLine,
    /// The fingerprint of the state.
    pub fingerprint: String,
    /// When it was denied.
    pub time: String,
}

/// The members of an [`Audit`] record.
pub const AUDIT_FIELDS: [&str; 14] = [
    "event",
    "coordinator_version",
    "verdict",
    "class",
    "target",
    "requester",
    "required_permission",
    "approval_id",
    "decision",
    "reason_codes",
    "blast_radius",
    "counts",
    "fingerprint",
    "time",
];

/// One evaluation, for the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// `restart_evaluation`.
    pub event: String,
    /// The version that evaluated.
    pub coordinator_version: String,
    /// What the state allows.
    pub verdict: Verdict,
    /// The class that was asked for.
    pub class: String,
    /// The target, if any.
    pub target: Option<String>,
    /// Who asked.
    pub requester: RequesterLine,
    /// The permission that the class needs; null if the class is unknown.
    pub required_permission: Option<String>,
    /// The approval that satisfied it, if one on record did.
    pub approval_id: Option<String>,
    /// `allow` or `deny`: of the restart in a dry run, of the apply otherwise.
    pub decision: String,
    /// Every cause of a denied restart.
    pub reason_codes: Vec<ReasonCode>,
    /// How much it would hit.
    pub blast_radius: BlastRadius,
    /// The totals in scope.
    pub counts: Counts,
    /// The fingerprint of the state.
    pub fingerprint: String,
    /// When it was evaluated.
    pub time: String,
}

impl Incident {
    /// The incident with its id: a digest of all the rest, so the same denial has the same one.
    pub(super) fn named(self) -> Incident {
        let unnamed = Incident { id: String::new(), ..self };
        let digest = sha256_hex(&canonical(&unnamed).unwrap_or_default());
        Incident { id: format!("inc-{}", digest.get(..16).unwrap_or(&digest)), ..unnamed }
    }
}
