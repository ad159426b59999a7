//! The scope of a restart: whose sessions and leases it would hit.

use super::request::Request;
use super::snapshot::{Lease, Session};
use crate::pass::classes::{RestartClass, ScopeKind, TargetKind};

/// Whose sessions and leases are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Everybody's; also where the class or its target is not known.
    All,
    /// One session's.
    Session(&'a str),
    /// A role's.
    Role(&'a str),
    /// A connector's.
    Connector(&'a str),
}

impl<'a> Scope<'a> {
    /// The scope of a request of that class. Without a class or its target nothing may be left out.
    pub fn of(class: Option<&RestartClass>, request: &'a Request) -> Scope<'a> {
        let Some(class) = class else { return Scope::All };
        let scope = match class.scope {
            ScopeKind::All => Some(Scope::All),
            ScopeKind::Requester => Some(Scope::Session(&request.requester.session_id)),
            ScopeKind::Session => request.target(TargetKind::Session).map(Scope::Session),
            ScopeKind::Role => request.target(TargetKind::Role).map(Scope::Role),
            ScopeKind::Connector => request.target(TargetKind::Connector).map(Scope::Connector),
        };
        scope.unwrap_or(Scope::All)
    }

    /// Whether the session lies in scope; one of unknown role or connector may, so it does.
    pub fn holds(self, session: &Session) -> bool {
        match self {
            Scope::All => true,
            Scope::Session(id) => session.session_id == id,
            Scope::Role(role) => session.role.as_deref().is_none_or(|own| own == role),
            Scope::Connector(connector) => session.connector.as_deref().is_none_or(|own| own == connector),
        }
    }

    /// Whether the lease lies in scope. `holder` is its session, if that is listed; the role and
    /// connector of one that is not listed are unknown, so it lies in each of those scopes.
    pub fn holds_lease(self, lease: &Lease, holder: Option<&Session>) -> bool {
        match (self, holder, lease.session_id.as_deref()) {
            (_, Some(holder), _) => self.holds(holder),
            (Scope::Session(id), None, Some(holder)) => holder == id,
            (_, None, _) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::classes::builtin;

    fn session(id: &str, role: Option<&str>, connector: Option<&str>) -> Session {
        Session {
            session_id: id.into(),
            role: role.map(Into::into),
            connector: connector.map(Into::into),
            ..Session::default()
        }
    }

    fn request() -> Request {
        let text = r#"{"restart_class":"x","requester":{"session_id":"s-me","role":"author"},
            "target_session_id":"s-t","target_role":"merger","target_connector":"gitea"}"#;
        Request::from_json(text).unwrap()
    }

    #[test]
    fn each_class_has_its_scope() {
        let request = request();
        for (class, scope) in [
            ("client_reconnect", Scope::Session("s-me")),
            ("profile_switch", Scope::Session("s-me")),
            ("config_reload", Scope::All),
            ("session_restart", Scope::Session("s-t")),
            ("role_restart", Scope::Role("merger")),
            ("connector_restart", Scope::Connector("gitea")),
            ("rolling_restart", Scope::All),
            ("full_mcp_restart", Scope::All),
            ("host_restart", Scope::All),
            ("turbo_restart", Scope::All),
        ] {
            assert_eq!(Scope::of(builtin().get(class), &request), scope, "{class}");
        }
    }

    #[test]
    fn a_missing_or_blank_target_leaves_nothing_out() {
        let blank = Request { target_role: Some(" ".into()), ..request() };
        assert_eq!(Scope::of(builtin().get("role_restart"), &blank), Scope::All);
        let none = Request { target_connector: None, ..request() };
        assert_eq!(Scope::of(builtin().get("connector_restart"), &none), Scope::All);
    }

    #[test]
    fn the_unknown_is_never_out_of_scope() {
        let known = session("s-a", Some("author"), Some("jira"));
        let unknown = session("s-b", None, None);
        for (scope, of_known, of_unknown) in [
            (Scope::All, true, true),
            (Scope::Session("s-a"), true, false),
            (Scope::Role("author"), true, true),
            (Scope::Role("merger"), false, true),
            (Scope::Connector("jira"), true, true),
            (Scope::Connector("gitea"), false, true),
        ] {
            assert_eq!(scope.holds(&known), of_known, "{scope:?}");
            assert_eq!(scope.holds(&unknown), of_unknown, "{scope:?}");
            let lease = Lease { lease_id: "l".into(), session_id: Some("s-a".into()), ..Lease::default() };
            assert_eq!(scope.holds_lease(&lease, Some(&known)), of_known, "{scope:?}");
        }
        let ghost = Lease { lease_id: "l".into(), session_id: Some("s-ghost".into()), ..Lease::default() };
        assert!(Scope::Role("merger").holds_lease(&ghost, None));
        assert!(Scope::Connector("gitea").holds_lease(&ghost, None));
        assert!(Scope::Session("s-ghost").holds_lease(&ghost, None));
        assert!(!Scope::Session("s-a").holds_lease(&ghost, None));
        let nobodys = Lease { lease_id: "l".into(), ..Lease::default() };
        assert!(Scope::Session("s-a").holds_lease(&nobodys, None));
    }
}
