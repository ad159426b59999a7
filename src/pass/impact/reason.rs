//! Why a restart is denied: the codes, a sentence and the next safe step for each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cause of a denied `allow_restart`. Stable names; the order is the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// No class has that name.
    UnknownClass,
    /// No role has that name.
    UnknownRole,
    /// The role may not ask for this class, or is not the one that the session has.
    RoleNotPermitted,
    /// The class needs a target and the request names none.
    TargetMissing,
    /// The target is not in the inventory.
    TargetUnknown,
    /// The request names a target that it may not name.
    TargetNotAllowed,
    /// Nobody approved.
    ApprovalMissing,
    /// The approval is over, or cannot be dated.
    ApprovalExpired,
    /// The requester approved for itself.
    ApprovalSelfGranted,
    /// The approval is for another class or target, or by a role too low.
    ApprovalWrongScope,
    /// Something could not be listed, read or decided.
    InventoryIncomplete,
    /// Other sessions live, or leases are active.
    LiveWork,
    /// A merge runs.
    TerminalLock,
    /// A contamination marker is open.
    ContaminatedRuntime,
}

impl ReasonCode {
    /// All codes, in order.
    pub const ALL: [ReasonCode; 14] = [
        ReasonCode::UnknownClass,
        ReasonCode::UnknownRole,
        ReasonCode::RoleNotPermitted,
        ReasonCode::TargetMissing,
        ReasonCode::TargetUnknown,
        ReasonCode::TargetNotAllowed,
        ReasonCode::ApprovalMissing,
        ReasonCode::ApprovalExpired,
        ReasonCode::ApprovalSelfGranted,
        ReasonCode::ApprovalWrongScope,
        ReasonCode::InventoryIncomplete,
        ReasonCode::LiveWork,
        ReasonCode::TerminalLock,
        ReasonCode::ContaminatedRuntime,
    ];

    /// The code as it stands in reports.
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    /// What it means, in one sentence.
    pub fn meaning(self) -> &'static str {
        self.texts().1
    }

    /// What to do next, in one sentence.
    pub fn next_step(self) -> &'static str {
        self.texts().2
    }

    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            ReasonCode::UnknownClass => (
                "unknown_class",
                "No restart class has this name.",
                "Ask for one of the nine classes; `client_reconnect` needs the least privilege.",
            ),
            ReasonCode::UnknownRole => (
                "unknown_role",
                "The requester's role is none of the six.",
                "Ask under the role that the session registered with.",
            ),
            ReasonCode::RoleNotPermitted => (
                "role_not_permitted",
                "The requester's role may not ask for this class, or is not the role that its session has in the inventory.",
                "Reconnect the own client, or ask a controller or an operator to make this request.",
            ),
            ReasonCode::TargetMissing => (
                "target_missing",
                "The class needs a target and the request names none of its kind.",
                "Name the session, role or connector that is to be restarted.",
            ),
            ReasonCode::TargetUnknown => (
                "target_unknown",
                "The target is not in the inventory.",
                "List the sessions and name one of them, or a role or connector that one of them has.",
            ),
            ReasonCode::TargetNotAllowed => (
                "target_not_allowed",
                "The request names a target that this class does not take, or that the requester may not choose.",
                "Leave the target out, or ask a controller or an operator to make this request.",
            ),
            ReasonCode::ApprovalMissing => (
                "approval_missing",
                "Nobody has approved this class for this target.",
                "Ask for an approval by another session of the required role.",
            ),
            ReasonCode::ApprovalExpired => (
                "approval_expired",
                "The approval is over, or its expiry cannot be read.",
                "Ask the approver to approve again.",
            ),
            ReasonCode::ApprovalSelfGranted => (
                "approval_self_granted",
                "The requester approved its own request.",
                "Ask another session of the required role to approve.",
            ),
            ReasonCode::ApprovalWrongScope => (
                "approval_wrong_scope",
                "The approval is for another class or target, or its approver's role is not sufficient or not the one that its session has.",
                "Ask for an approval of exactly this class and target by a sufficient role.",
            ),
            ReasonCode::InventoryIncomplete => (
                "inventory_incomplete",
                "Something could not be listed, read or decided, so nobody knows what the restart would hit.",
                "Repair what `inventory_errors` names, take a new snapshot and ask again.",
            ),
            ReasonCode::LiveWork => (
                "live_work",
                "Other sessions live or leases are active in the scope of the restart.",
                "Drain the work that the report lists, or have an operator override it.",
            ),
            ReasonCode::TerminalLock => (
                "terminal_lock",
                "A merge holds the terminal lock; nothing lifts that.",
                "Wait until the merge is done and its lock released.",
            ),
            ReasonCode::ContaminatedRuntime => (
                "contaminated_runtime",
                "A contamination marker is open: somebody killed a server from outside.",
                "Reconnect the client, then have an operator look at the marker and clear it.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_name_and_stands_once_in_order() {
        assert!(ReasonCode::ALL.is_sorted());
        for code in ReasonCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert!(code.meaning().ends_with('.') && code.next_step().ends_with('.'));
        }
    }
}
