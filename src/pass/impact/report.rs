//! The report: what an operator, a console or a client of the tools is shown.
//!
//! Values only. Whether an apply is authorised is a type of its own, so that nothing
//! but both authorisations together can make it true.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reason::ReasonCode;
pub use super::record::{AUDIT_FIELDS, Audit, Incident};
use super::snapshot::{RecoveryAttempt, TerminalLock, Work};
pub use super::words::{BlastRadius, Evidence, Freshness, Verdict};
use crate::pass::authority::AuthoritySource;
use crate::pass::classes::ApprovalLevel;
use crate::pass::drain::gate::GateCode;

/// Totals in scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Live sessions, the requester's own among them.
    pub live_sessions: usize,
    /// Live sessions of others.
    pub other_live_sessions: usize,
    /// Disruptive leases.
    pub active_leases: usize,
    /// Issues and pull requests behind them.
    pub work_items: usize,
    /// Critical sections.
    pub critical_sections: usize,
}

/// One session in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionLine {
    /// Its id.
    pub session_id: String,
    /// Its role, if known.
    pub role: Option<String>,
    /// Whether it lives, or may.
    pub live: bool,
    /// Whether it lies in the scope of the restart.
    pub in_scope: bool,
    /// Whether it is the requester's own.
    pub own: bool,
    /// Seconds since the last heartbeat; negative if it lies ahead, null if unreadable.
    pub heartbeat_age_s: Option<i64>,
}

impl SessionLine {
    /// Whether it is counted.
    pub fn counts(&self) -> bool {
        self.live && self.in_scope
    }
}

/// One lease in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeaseLine {
    /// Its id.
    pub lease_id: String,
    /// What became of it.
    pub freshness: Freshness,
    /// Whether it lies in the scope of the restart.
    pub in_scope: bool,
    /// Whether it stands against a restart of its session.
    pub disruptive: bool,
    /// Whether its holder is writing.
    pub critical: bool,
    /// The issue or pull request behind it.
    pub work: Option<Work>,
}

impl LeaseLine {
    /// Whether it is counted.
    pub fn counts(&self) -> bool {
        self.disruptive && self.in_scope
    }
}

/// Whose approval is needed, and whether it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalState {
    /// Whose.
    pub required: ApprovalLevel,
    /// Whether it is there.
    pub satisfied: bool,
}

/// Who asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequesterLine {
    /// The session.
    pub session_id: String,
    /// The role that it claimed.
    pub role: String,
}

/// The gate before an apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApplyGate {
    /// Whether the drain gate lets it through.
    pub drain_gate_allow: bool,
    /// Whether the class matrix authorises the class.
    pub restart_class_authorized: bool,
    /// `ok`, `break_glass`, or the drain gate's first denial.
    pub code: GateCode,
    /// The drain gate's decision in one sentence.
    pub reason: String,
    /// Whether break-glass was asked for.
    pub break_glass_requested: bool,
    /// Whether the environment grants break-glass.
    pub break_glass_authorized: bool,
    /// Whether a store was asked if the proof had been used.
    pub replay_checked: bool,
}

/// Whether an apply is authorised: true only if the drain gate and the restart both are.
/// There is no other way to make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ApplyAuthorized(bool);

impl ApplyAuthorized {
    /// Both authorisations together.
    ///
    /// ```
    /// use restartlint::pass::impact::report::ApplyAuthorized;
    /// assert!(ApplyAuthorized::both(true, true).get());
    /// assert!(!ApplyAuthorized::both(true, false).get());
    /// ```
    pub fn both(drain_gate_allow: bool, allow_restart: bool) -> ApplyAuthorized {
        ApplyAuthorized(drain_gate_allow && allow_restart)
    }

    /// A dry run authorises nothing.
    pub fn dry_run() -> ApplyAuthorized {
        ApplyAuthorized(false)
    }

    /// The answer.
    pub fn get(self) -> bool {
        self.0
    }
}

/// What always stays false: this program restarts nothing and cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Never;

impl Serialize for Never {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(false)
    }
}

impl JsonSchema for Never {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Never".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": false })
    }
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// The shape's version: 1.
    pub schema: u32,
    /// The version that answers.
    pub coordinator_version: String,
    /// The class that was asked for.
    pub restart_class: String,
    /// The target, if any.
    pub target: Option<String>,
    /// Who asked.
    pub requester: RequesterLine,
    /// Whether nothing more than an answer was asked for.
    pub dry_run: bool,
    /// Where the snapshot came from.
    pub evidence: Evidence,
    /// What the state allows.
    pub verdict: Verdict,
    /// Whether the restart is allowed: class authorised, verdict safe or overridden, no open marker.
    pub allow_restart: bool,
    /// Whether the class matrix authorises the request, approval included.
    pub restart_class_authorized: bool,
    /// The permission that the class needs; null if the class is unknown.
    pub required_permission: Option<String>,
    /// Whose approval is needed, and whether it is there.
    pub approval: ApprovalState,
    /// Every cause of a denied restart.
    pub reason_codes: Vec<ReasonCode>,
    /// A sentence for each code.
    pub reasons: Vec<String>,
    /// What to do next.
    pub next_step: String,
    /// Whether an override was asked for.
    pub override_requested: bool,
    /// Whether the environment grants an override.
    pub override_authorized: bool,
    /// Whether an override could lift the present state.
    pub override_would_allow: bool,
    /// Whose environment granted the authority.
    pub authority_source: AuthoritySource,
    /// How much it would hit.
    pub blast_radius: BlastRadius,
    /// Whether everything could be listed, read and decided.
    pub inventory_complete: bool,
    /// What could not.
    pub inventory_errors: Vec<String>,
    /// The totals in scope.
    pub counts: Counts,
    /// Every session, by id.
    pub sessions: Vec<SessionLine>,
    /// Every lease, by id.
    pub leases: Vec<LeaseLine>,
    /// The issues and pull requests that would be hit.
    pub work: Vec<Work>,
    /// The leases whose holders are writing.
    pub critical_sections: Vec<String>,
    /// The merge lock, if it is active or may be.
    pub terminal_lock: Option<TerminalLock>,
    /// What was tried before, in order.
    pub prior_recovery: Vec<RecoveryAttempt>,
    /// The fingerprint of what is counted.
    pub fingerprint: String,
    /// The gate before an apply; null in a dry run.
    pub apply_gate: Option<ApplyGate>,
    /// Whether the apply is authorised.
    pub apply_authorized: ApplyAuthorized,
    /// Always false: restartlint applies nothing.
    pub apply_supported: Never,
    /// Always false: restartlint restarts nothing.
    pub restart_performed: Never,
    /// The denial, if it is one.
    pub incident: Option<Incident>,
    /// The evaluation, for the record.
    pub audit: Audit,
}

impl Report {
    /// What the exit status says: of the restart in a dry run, of the apply otherwise.
    pub fn allowed(&self) -> bool {
        if self.dry_run { self.allow_restart } else { self.apply_authorized.get() }
    }
}
