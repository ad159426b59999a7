//! Approvals: whether a record in the snapshot approves exactly this request.
//!
//! The request itself never approves anything. For an operator's own request the
//! authority of the process's environment stands in.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::reason::ReasonCode;
use super::request::Requester;
use super::snapshot::{Approval, Session};
use crate::pass::classes::{ApprovalLevel, Role};
use crate::pass::instant::{is_over, parse_instant};

/// What has to be approved.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Whose approval is needed.
    pub level: ApprovalLevel,
    /// The class.
    pub class: &'a str,
    /// The target; null approves no target, and a target does not approve null.
    pub target: Option<&'a str>,
    /// Who asks.
    pub requester: &'a Requester,
    /// Whether the environment grants an operator's authority.
    pub operator_authority: bool,
    /// The present.
    pub now: Timestamp,
}

/// How a request stands with its approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approved {
    /// None is needed, or the operator's authority stands in.
    WithoutRecord,
    /// By that record.
    By(String),
    /// Not, and why.
    Not(BTreeSet<ReasonCode>),
}

/// Looks for a record that approves; if none does, says what is wrong with those there are.
pub fn approved(wanted: Wanted<'_>, approvals: &[Approval], sessions: &[Session]) -> Approved {
    let own = Role::named(&wanted.requester.role) == Some(Role::Operator) && wanted.operator_authority;
    if wanted.level == ApprovalLevel::None || own {
        return Approved::WithoutRecord;
    }
    let (matching, others): (Vec<&Approval>, Vec<&Approval>) = approvals
        .iter()
        .partition(|a| a.restart_class == wanted.class && a.target.as_deref() == wanted.target);
    let mut codes = BTreeSet::new();
    for approval in &matching {
        let faults = faults(wanted, approval, sessions);
        if faults.is_empty() {
            return Approved::By(approval.approval_id.clone());
        }
        codes.extend(faults);
    }
    if matching.is_empty() {
        codes.insert(if others.is_empty() {
            ReasonCode::ApprovalMissing
        } else {
            ReasonCode::ApprovalWrongScope
        });
    }
    Approved::Not(codes)
}

/// What keeps a record of the right class and target from approving.
fn faults(wanted: Wanted<'_>, approval: &Approval, sessions: &[Session]) -> Vec<ReasonCode> {
    let mut faults = Vec::new();
    if approval.approver_session_id == wanted.requester.session_id {
        faults.push(ReasonCode::ApprovalSelfGranted);
    }
    let sufficient = Role::named(&approval.approver_role).is_some_and(|role| wanted.level.satisfied_by(role));
    let listed = sessions.iter().find(|session| session.session_id == approval.approver_session_id);
    let claims_its_role = listed.is_none_or(|s| s.role.as_deref() == Some(approval.approver_role.as_str()));
    if !sufficient || !claims_its_role {
        faults.push(ReasonCode::ApprovalWrongScope);
    }
    let expires_at = approval.expires_at.as_deref().and_then(parse_instant);
    if expires_at.is_none_or(|at| is_over(at, wanted.now)) {
        faults.push(ReasonCode::ApprovalExpired);
    }
    faults
}
