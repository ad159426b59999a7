//! The snapshot: what was listed at one instant, as it was listed.
//!
//! Holds text that may not parse and members that may be missing: the count decides
//! what follows from that. Refuses only what is not of this shape at all.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::base::json::{self, JsonFault, Named};

/// Sessions, leases, lock, approvals and markers at one instant. A list that is missing
/// was not listed; it is not an empty one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The shape's version: 1.
    #[serde(deserialize_with = "schema_one")]
    pub schema: u32,
    /// When it was taken (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_at: Option<String>,
    /// The sessions; ids differ.
    #[serde(default, deserialize_with = "json::named_objects", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Session>")]
    pub sessions: Option<Vec<Session>>,
    /// The leases; ids differ.
    #[serde(default, deserialize_with = "json::named_objects", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Lease>")]
    pub leases: Option<Vec<Lease>>,
    /// The merge lock: missing, null (there is none), or the lock.
    #[serde(default, deserialize_with = "json::nullable_object", skip_serializing_if = "Option::is_none")]
    pub terminal_lock: Option<Option<TerminalLock>>,
    /// What was tried before, in order.
    #[serde(default, deserialize_with = "json::listed_objects", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<RecoveryAttempt>")]
    pub prior_recovery: Option<Vec<RecoveryAttempt>>,
    /// The approvals on record.
    #[serde(default, deserialize_with = "json::listed_objects", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Approval>")]
    pub approvals: Option<Vec<Approval>>,
    /// Contamination markers that nobody cleared, of any shape.
    #[serde(default, deserialize_with = "json::listed_values", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Value>")]
    pub open_markers: Option<Vec<Value>>,
    /// What could not be listed, of any shape.
    #[serde(default, deserialize_with = "json::listed_values", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Value>")]
    pub listing_errors: Option<Vec<Value>>,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its id.
    pub session_id: String,
    /// Its role; null if unknown.
    #[serde(default)]
    pub role: Option<String>,
    /// The profile it runs under.
    #[serde(default)]
    pub profile: Option<String>,
    /// The connector it stands behind; null if unknown.
    #[serde(default)]
    pub connector: Option<String>,
    /// The process that owns it.
    #[serde(default)]
    pub pid: Option<i64>,
    /// `active`, `ended`, `stopped` or `closed`; anything else is unknown.
    #[serde(default)]
    pub status: Option<String>,
    /// The last sign of life (RFC 3339).
    #[serde(default)]
    pub last_heartbeat_at: Option<String>,
    /// Whether the owner's process runs; null if unknown.
    #[serde(default)]
    pub pid_alive: Option<bool>,
}

/// One lease: a claim of a session on a piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// Its id.
    pub lease_id: String,
    /// The session that holds it; null if unknown.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The issue or pull request behind it; null if unknown.
    #[serde(default, deserialize_with = "json::optional_object")]
    pub work: Option<Work>,
    /// What its holder does at present.
    #[serde(default)]
    pub phase: Option<String>,
    /// `active` or `released`; anything else is unknown.
    #[serde(default)]
    pub status: Option<String>,
    /// The worktree it writes to, if any.
    #[serde(default)]
    pub worktree: Option<String>,
    /// When it is over (RFC 3339).
    #[serde(default)]
    pub expires_at: Option<String>,
    /// Whether its owner's process runs; null if unknown.
    #[serde(default)]
    pub owner_alive: Option<bool>,
}

/// An issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// `issue` or `pr`.
    pub kind: String,
    /// Its number.
    pub number: u64,
}

/// The lock under which a merge runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalLock {
    /// Its id.
    pub lock_id: String,
    /// The session that holds it.
    #[serde(default)]
    pub holder_session_id: Option<String>,
    /// The pull request that is merged.
    #[serde(default)]
    pub pr: Option<u64>,
    /// `active` or `released`; anything else is unknown.
    #[serde(default)]
    pub status: Option<String>,
    /// When it is over (RFC 3339).
    #[serde(default)]
    pub expires_at: Option<String>,
}

/// An earlier attempt to recover.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoveryAttempt {
    /// The restart class that was tried.
    pub kind: String,
    /// When (RFC 3339).
    pub at: String,
    /// What came of it.
    #[serde(default)]
    pub outcome: Option<String>,
}

/// An approval on record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Its id.
    pub approval_id: String,
    /// The session that gave it.
    pub approver_session_id: String,
    /// The role that the approver claims.
    pub approver_role: String,
    /// The class that is approved.
    pub restart_class: String,
    /// The target that is approved; null for a class without one.
    #[serde(default)]
    pub target: Option<String>,
    /// When it is over (RFC 3339).
    #[serde(default)]
    pub expires_at: Option<String>,
}

impl Snapshot {
    /// Reads a snapshot; refuses a wrong type, an unknown member or schema, a repeated key or id.
    ///
    /// ```
    /// use restartlint::pass::impact::Snapshot;
    /// assert!(Snapshot::from_json(r#"{"schema":1}"#).is_ok());
    /// let fault = Snapshot::from_json(r#"{"schema":1,"sessionz":[]}"#).unwrap_err();
    /// assert!(fault.message.contains("unknown field `sessionz`"));
    /// ```
    pub fn from_json(text: &str) -> Result<Snapshot, JsonFault> {
        json::read_object(text)
    }
}

impl Named for Session {
    const MEMBER: &'static str = "session_id";
    fn name(&self) -> &str {
        &self.session_id
    }
}

impl Named for Lease {
    const MEMBER: &'static str = "lease_id";
    fn name(&self) -> &str {
        &self.lease_id
    }
}

/// The one schema that this version knows.
fn schema_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        1 => Ok(1),
        other => {
            Err(serde::de::Error::custom(format!("schema {other} is unknown; this version reads schema 1")))
        }
    }
}
