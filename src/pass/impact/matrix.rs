//! The class matrix: whether this role may ask for this class and target, approved.
//!
//! Neither an override nor break-glass is known here: they cannot change the answer.

use std::collections::BTreeSet;

use super::approval::{Approved, Wanted, approved};
use super::reason::ReasonCode;
use super::report::ApprovalState;
use super::request::Request;
use super::snapshot::Snapshot;
use crate::pass::classes::{ApprovalLevel, RestartClass, Role, ScopeKind, TargetKind};

/// What the matrix says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// Every cause of a denial; none if the class is authorised.
    pub codes: BTreeSet<ReasonCode>,
    /// Whose approval is needed, and whether it is there.
    pub approval: ApprovalState,
    /// The record that approved, if one did.
    pub approval_id: Option<String>,
}

impl Authorization {
    /// Whether the class is authorised.
    pub fn granted(&self) -> bool {
        self.codes.is_empty()
    }
}

/// The target that a request names for that class, if it takes one.
pub fn target<'a>(class: Option<&RestartClass>, request: &'a Request) -> Option<&'a str> {
    match class.map(|class| (class.target, class.scope)) {
        Some((TargetKind::None, ScopeKind::Requester)) => request.target(TargetKind::Session),
        Some((kind, _)) => request.target(kind),
        None => None,
    }
}

/// Holds a request against the matrix.
pub fn authorize(
    class: Option<&RestartClass>,
    request: &Request,
    snapshot: &Snapshot,
    operator_authority: bool,
    now: jiff::Timestamp,
) -> Authorization {
    let mut codes = BTreeSet::new();
    let role = Role::named(&request.requester.role);
    if role.is_none() {
        codes.insert(ReasonCode::UnknownRole);
    }
    let Some(class) = class else {
        codes.insert(ReasonCode::UnknownClass);
        let approval = ApprovalState { required: ApprovalLevel::Operator, satisfied: false };
        return Authorization { codes, approval, approval_id: None };
    };
    let sessions = snapshot.sessions.as_deref().unwrap_or_default();
    let registered = sessions.iter().find(|session| session.session_id == request.requester.session_id);
    let vouched = registered.is_none_or(|s| s.role.as_deref() == Some(request.requester.role.as_str()));
    if role.is_some_and(|role| !class.roles.contains(&role)) || !vouched {
        codes.insert(ReasonCode::RoleNotPermitted);
    }
    codes.extend(target_faults(class, request, role, snapshot));

    let target = target(Some(class), request);
    let for_itself = target == Some(request.requester.session_id.as_str());
    let level = class.approval_needed(class.scope == ScopeKind::Session && for_itself);
    let wanted =
        Wanted { level, class: &class.name, target, requester: &request.requester, operator_authority, now };
    let (satisfied, approval_id) =
        match approved(wanted, snapshot.approvals.as_deref().unwrap_or_default(), sessions) {
            Approved::WithoutRecord => (true, None),
            Approved::By(id) => (true, Some(id)),
            Approved::Not(missing) => {
                codes.extend(missing);
                (false, None)
            }
        };
    Authorization { codes, approval: ApprovalState { required: level, satisfied }, approval_id }
}

/// What is wrong with the targets that the request names.
fn target_faults(
    class: &RestartClass,
    request: &Request,
    role: Option<Role>,
    snapshot: &Snapshot,
) -> BTreeSet<ReasonCode> {
    let mut codes = BTreeSet::new();
    let own = request.requester.session_id.as_str();
    for kind in [TargetKind::Session, TargetKind::Role, TargetKind::Connector] {
        let names_itself = class.scope == ScopeKind::Requester
            && kind == TargetKind::Session
            && request.target_session_id.as_deref() == Some(own);
        if request.names(kind) && kind != class.target && !names_itself {
            codes.insert(ReasonCode::TargetNotAllowed);
        }
    }
    if class.target == TargetKind::None {
        return codes;
    }
    let Some(target) = request.target(class.target) else {
        codes.insert(ReasonCode::TargetMissing);
        return codes;
    };
    let listed = snapshot.sessions.iter().flatten().any(|session| match class.target {
        TargetKind::Session => session.session_id == target,
        TargetKind::Role => session.role.as_deref() == Some(target),
        TargetKind::Connector => session.connector.as_deref() == Some(target),
        TargetKind::None => false,
    });
    if !listed {
        codes.insert(ReasonCode::TargetUnknown);
    }
    let may_choose = role.is_some_and(|role| class.others.contains(&role));
    if class.scope == ScopeKind::Session && target != own && !may_choose {
        codes.insert(ReasonCode::TargetNotAllowed);
    }
    codes
}
