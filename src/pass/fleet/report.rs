//! The fleet report: what `classify` answers, and the sentences that go with each code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::observe::Evidence;
use super::row::RuntimeRow;

/// Why the mutation gate is closed. The order is the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockedReason {
    /// The configuration expects nobody.
    RosterEmpty,
    /// The registry, or a row of it, cannot be read.
    RegistryUnreadable,
    /// The processes cannot be listed.
    ProcessListingUnavailable,
    /// A server runs that no row speaks for.
    UnregisteredProcess,
    /// A running member's cohort is not recorded.
    CohortUnknown,
    /// The running members belong to several cohorts.
    CohortSplit,
    /// A running member's revision is not recorded.
    RevisionUnknown,
    /// The running members started from different revisions.
    RevisionMismatch,
    /// A roster entry has no running member.
    MemberMissing,
    /// A namespace has several running members.
    MemberDuplicate,
    /// A running row is not on the roster, or bound elsewhere.
    MemberUnexpected,
    /// A row says running, and its process is gone or another.
    MemberStale,
    /// A contamination marker is open.
    ContaminatedRuntime,
}

impl BlockedReason {
    /// The code in reports.
    pub fn code(self) -> &'static str {
        use BlockedReason as R;
        match self {
            R::RosterEmpty => "roster_empty",
            R::RegistryUnreadable => "registry_unreadable",
            R::ProcessListingUnavailable => "process_listing_unavailable",
            R::UnregisteredProcess => "unregistered_process",
            R::CohortUnknown => "cohort_unknown",
            R::CohortSplit => "cohort_split",
            R::RevisionUnknown => "revision_unknown",
            R::RevisionMismatch => "revision_mismatch",
            R::MemberMissing => "member_missing",
            R::MemberDuplicate => "member_duplicate",
            R::MemberUnexpected => "member_unexpected",
            R::MemberStale => "member_stale",
            R::ContaminatedRuntime => "contaminated_runtime",
        }
    }

    /// Whether this cause leaves it open what really runs.
    pub fn leaves_inventory_incomplete(self) -> bool {
        use BlockedReason as R;
        matches!(
            self,
            R::RegistryUnreadable
                | R::ProcessListingUnavailable
                | R::UnregisteredProcess
                | R::CohortUnknown
                | R::RevisionUnknown
        )
    }

    /// What an operator does next.
    pub fn next_step(self) -> &'static str {
        use BlockedReason as R;
        match self {
            R::RosterEmpty => "List the expected servers as [[fleet.member]] in the configuration.",
            R::RegistryUnreadable => "Make the store readable, then assess again.",
            R::ProcessListingUnavailable => {
                "Assess where all processes can be listed, with the servers named in the configuration."
            }
            R::UnregisteredProcess => {
                "Have the host reconnect the server so that it registers itself; see whose it is before anything else."
            }
            R::CohortUnknown => "Reconnect the member from the host so that it records its cohort.",
            R::CohortSplit => "Reconnect the members from one host so that they form one cohort.",
            R::RevisionUnknown => "Reconnect the member from the host so that it records its revision.",
            R::RevisionMismatch => "Reconnect the older members from the host so that all run one revision.",
            R::MemberMissing => "Have the host connect the missing member.",
            R::MemberDuplicate => "Have the host disconnect the member that is not in use.",
            R::MemberUnexpected => {
                "Correct the server's binding, or put it on the roster, and reconnect it from the host."
            }
            R::MemberStale => {
                "Mark the row stopped with `fleet stop`, then have the host reconnect the member."
            }
            R::ContaminatedRuntime => {
                "Reconnect from the host, then have an operator clear the marker with `guard clear`."
            }
        }
    }
}

/// The state of a roster entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemberState {
    /// Exactly one member runs.
    Running,
    /// Several run.
    Duplicate,
    /// None runs, and a row says that one does.
    Stale,
    /// None runs.
    Missing,
    /// A source cannot be read, so nothing can be said.
    Unknown,
}

/// A roster entry with its state and what that rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberReport {
    /// The roster's namespace.
    pub namespace: String,
    /// The roster's profile.
    pub profile: String,
    /// The roster's role.
    pub role: String,
    /// Its state.
    pub state: MemberState,
    /// Why, in a sentence.
    pub reason: String,
    /// The row that it rests on.
    pub runtime_id: Option<String>,
    /// That row's process.
    pub pid: Option<i64>,
    /// When the observed process started (RFC 3339, UTC).
    pub process_started_at: Option<String>,
    /// When the row was written.
    pub registered_at: Option<String>,
    /// When the member was last heard of.
    pub last_heartbeat_at: Option<String>,
    /// The recorded cohort.
    pub cohort_id: Option<String>,
    /// The recorded revision.
    pub startup_head: Option<String>,
    /// Whether the registered process or its own child wrote the row; absent from recorded evidence.
    pub attested: Option<bool>,
}

/// One thing that an operator must look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// The namespace, where known.
    pub namespace: Option<String>,
    /// The row, where there is one.
    pub runtime_id: Option<String>,
    /// The process, where known.
    pub pid: Option<i64>,
    /// Why it is listed, in a sentence.
    pub reason: String,
}

impl Entry {
    /// An entry about a row.
    pub fn of(row: &RuntimeRow, reason: impl Into<String>) -> Entry {
        Entry {
            namespace: Some(row.namespace.clone()),
            runtime_id: Some(row.runtime_id.clone()),
            pid: row.pid,
            reason: reason.into(),
        }
    }
}

/// The answer of the fleet pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetReport {
    /// The version of this shape: 1.
    pub schema: u32,
    /// Where the evidence comes from.
    pub evidence: Evidence,
    /// The instant that was assessed (RFC 3339, UTC).
    pub assessed_at: String,
    /// Whether work that changes anything may go on.
    pub mutation_gate_satisfied: bool,
    /// Whether both sources tell everything.
    pub inventory_complete: bool,
    /// Whether all running members belong to one recorded cohort; absent if that cannot be told.
    pub single_cohort: Option<bool>,
    /// Roster entries with a running member.
    pub running_member_count: usize,
    /// The first cause of a closed gate.
    pub blocked_reason: Option<BlockedReason>,
    /// Every cause, in order.
    pub blocked_reasons: Vec<BlockedReason>,
    /// Every cause in a sentence, in the same order.
    pub reasons: Vec<String>,
    /// What to do next.
    pub next_step: String,
    /// Every roster entry, by namespace.
    pub members: Vec<MemberReport>,
    /// Roster entries without a running member.
    pub missing: Vec<Entry>,
    /// The running members of a namespace that has several.
    pub duplicate: Vec<Entry>,
    /// Running rows that are not on the roster or bound elsewhere.
    pub unexpected: Vec<Entry>,
    /// Rows that say running, of processes that are gone or others.
    pub stale: Vec<Entry>,
    /// Server processes that no row speaks for.
    pub unregistered: Vec<Entry>,
    /// Running members whose revisions differ.
    pub revision_mismatch: Vec<Entry>,
    /// The ids of open contamination markers.
    pub open_markers: Vec<String>,
}
