//! Strategies: snapshots, requests, authorities and comments as the world might show them,
//! the unreadable and the contradictory included.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use restartlint::pass::authority::{Authority, AuthoritySource};
use restartlint::pass::classes::CLASS_NAMES;
use restartlint::pass::impact::request::Requester;
use restartlint::pass::impact::snapshot::{Approval, Lease, RecoveryAttempt, Session, TerminalLock, Work};
use restartlint::pass::impact::{Request, Snapshot};
use serde_json::json;

pub const NOW: &str = "2026-07-23T06:30:00Z";

const ROLES: [&str; 7] = ["author", "reviewer", "merger", "reconciler", "controller", "operator", "wizard"];
const SESSIONS: [&str; 6] = ["s-me", "s-a", "s-b", "s-c", "s-o", "s-ghost"];
const CONNECTORS: [&str; 2] = ["forge", "mail"];

/// Instants around the present, one of them unreadable.
fn instant() -> impl Strategy<Value = String> {
    select(vec![
        "2026-07-23T05:00:00Z",
        "2026-07-23T06:14:59Z",
        "2026-07-23T06:15:00Z",
        "2026-07-23T06:29:00Z",
        NOW,
        "2026-07-23T06:30:01Z",
        "2026-07-23T06:31:00Z",
        "2026-07-23T06:45:00Z",
        "soon",
    ])
    .prop_map(str::to_owned)
}

/// Mostly the first, sometimes one of the others.
fn mostly<T: Clone + std::fmt::Debug + 'static>(usual: T, others: Vec<T>) -> impl Strategy<Value = T> {
    prop_oneof![6 => Just(usual), 1 => select(others)]
}

fn session() -> impl Strategy<Value = Session> {
    let role = prop_oneof![12 => select(&ROLES[..6]).prop_map(|r| Some(r.to_owned())), 1 => Just(None)];
    let connector =
        prop_oneof![12 => select(&CONNECTORS[..]).prop_map(|c| Some(c.to_owned())), 1 => Just(None)];
    let heartbeat = prop_oneof![6 => Just("2026-07-23T06:29:00Z".to_owned()), 3 => Just("2026-07-23T05:00:00Z".to_owned()), 1 => instant()];
    (
        select(&SESSIONS[..5]),
        role,
        connector,
        mostly(Some("active"), vec![Some("ended"), Some("paused"), None]),
        heartbeat,
        mostly(Some(true), vec![Some(false), None]),
    )
        .prop_map(|(id, role, connector, status, heartbeat, alive)| Session {
            session_id: id.to_owned(),
            role,
            connector,
            status: status.map(str::to_owned),
            last_heartbeat_at: Some(heartbeat),
            pid_alive: alive,
            ..Session::default()
        })
}

fn lease() -> impl Strategy<Value = Lease> {
    let expiry = prop_oneof![6 => Just("2026-07-23T07:10:00Z".to_owned()), 2 => instant()];
    (
        0..4u32,
        select(&SESSIONS[..]),
        option::weighted(0.9, (select(vec!["pr", "issue"]), 1..4u64)),
        select(vec!["reviewing", "implementing", "pushing"]),
        mostly(Some("active"), vec![Some("released"), Some("paused")]),
        option::of(Just("branches/x".to_owned())),
        expiry,
        mostly(Some(true), vec![Some(false), None]),
    )
        .prop_map(|(id, holder, work, phase, status, worktree, expiry, alive)| Lease {
            lease_id: format!("l-{id}"),
            session_id: Some(holder.to_owned()),
            work: work.map(|(kind, number)| Work { kind: kind.to_owned(), number }),
            phase: Some(phase.to_owned()),
            status: status.map(str::to_owned),
            worktree,
            expires_at: Some(expiry),
            owner_alive: alive,
        })
}

pub fn lock() -> impl Strategy<Value = TerminalLock> {
    (
        mostly("active", vec!["released", "held"]),
        mostly("2026-07-23T07:00:00Z".to_owned(), vec![NOW.to_owned()]),
    )
        .prop_map(|(status, expires_at)| TerminalLock {
            lock_id: "t-1".to_owned(),
            holder_session_id: Some("s-m".to_owned()),
            pr: Some(818),
            status: Some(status.to_owned()),
            expires_at: Some(expires_at),
        })
}

fn target() -> impl Strategy<Value = Option<String>> {
    let names = select(vec!["s-me", "s-a", "s-b", "reviewer", "author", "forge", "mail"]);
    option::weighted(0.7, names.prop_map(str::to_owned))
}

fn approval() -> impl Strategy<Value = Approval> {
    (
        0..9u32,
        prop_oneof![4 => Just("s-boss"), 1 => select(&SESSIONS[..])],
        prop_oneof![4 => Just("operator"), 1 => select(&ROLES[..])],
        select(&CLASS_NAMES[..]),
        target(),
        mostly("2026-07-23T06:45:00Z".to_owned(), vec![NOW.to_owned(), "2026-07-23T06:30:01Z".to_owned()]),
    )
        .prop_map(|(id, by, role, class, target, expires)| Approval {
            approval_id: format!("a-{id}"),
            approver_session_id: by.to_owned(),
            approver_role: role.to_owned(),
            restart_class: class.to_owned(),
            target,
            expires_at: Some(expires),
        })
}

/// A snapshot that is of its shape; what it says may be incomplete or contradictory.
pub fn snapshot() -> impl Strategy<Value = Snapshot> {
    let lists = (
        option::weighted(0.97, vec(session(), 0..6)),
        option::weighted(0.97, vec(lease(), 0..4)),
        option::weighted(0.97, option::weighted(0.15, lock())),
        option::weighted(0.97, vec(approval(), 0..5)),
    );
    let rest = (
        option::weighted(0.97, vec(Just(json!({"marker_id": "m-1"})), 0..2)),
        mostly(Some(vec![]), vec![None, Some(vec![json!("timeout")])]),
        mostly(Some(NOW), vec![None, Some("2026-07-23T06:15:00Z"), Some("2026-07-23T06:00:00Z"), Some("x")]),
        vec(Just(RecoveryAttempt { kind: "client_reconnect".into(), at: NOW.into(), outcome: None }), 0..2),
    );
    (lists, rest).prop_map(|((sessions, leases, lock, approvals), (markers, errors, taken_at, tried))| {
        Snapshot {
            schema: 1,
            taken_at: taken_at.map(str::to_owned),
            sessions: sessions.map(|rows| distinct(rows, |s| s.session_id.clone())),
            leases: leases.map(|rows| distinct(rows, |l| l.lease_id.clone())),
            terminal_lock: lock,
            prior_recovery: Some(tried),
            approvals,
            open_markers: markers,
            listing_errors: errors,
        }
    })
}

fn distinct<T>(rows: Vec<T>, name: impl Fn(&T) -> String) -> Vec<T> {
    rows.into_iter().map(|row| (name(&row), row)).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// A request that is of its shape; mostly one that could be granted.
pub fn request() -> impl Strategy<Value = Request> {
    let class = prop_oneof![12 => select(&CLASS_NAMES[..]), 1 => Just("turbo_restart")];
    let role = prop_oneof![6 => select(vec!["controller", "operator"]), 3 => select(&ROLES[..])];
    (class, role, target(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.05)).prop_map(
        |(class, role, target, request_override, request_break_glass, stray)| {
            let mut request = Request {
                restart_class: class.to_owned(),
                requester: Requester { session_id: "s-me".to_owned(), role: role.to_owned() },
                request_override,
                request_break_glass,
                ..Request::default()
            };
            match class {
                "session_restart" => request.target_session_id = target,
                "role_restart" => request.target_role = target,
                "connector_restart" => request.target_connector = target,
                _ if stray => request.target_role = target,
                _ => {}
            }
            request
        },
    )
}

/// A snapshot and a request that fit each other often enough to be allowed.
pub fn case() -> impl Strategy<Value = (Snapshot, Request, Authority)> {
    (snapshot(), request(), authority(), prop::bool::weighted(0.6)).prop_map(
        |(mut snapshot, request, authority, smooth)| {
            if smooth {
                let target = [&request.target_session_id, &request.target_role, &request.target_connector];
                let target = target.into_iter().flatten().next().cloned();
                let approvals = snapshot.approvals.get_or_insert_default();
                approvals.push(Approval {
                    approval_id: "a-smooth".to_owned(),
                    approver_session_id: "s-boss".to_owned(),
                    approver_role: "operator".to_owned(),
                    restart_class: request.restart_class.clone(),
                    target,
                    expires_at: Some("2026-07-23T06:45:00Z".to_owned()),
                });
                snapshot.taken_at = Some(NOW.to_owned());
                snapshot.listing_errors = Some(vec![]);
                snapshot.terminal_lock = Some(None);
                snapshot.open_markers = Some(vec![]);
                for session in snapshot.sessions.get_or_insert_default() {
                    session.role.get_or_insert_with(|| "author".to_owned());
                    session.connector.get_or_insert_with(|| "forge".to_owned());
                    session.pid_alive.get_or_insert(true);
                    session.last_heartbeat_at = Some("2026-07-23T06:29:00Z".to_owned());
                    if session.status.as_deref() != Some("ended") {
                        session.status = Some("active".to_owned());
                    }
                    if session.session_id == "s-me" {
                        session.role = Some(request.requester.role.clone());
                    }
                }
            }
            (snapshot, request, authority)
        },
    )
}

pub fn authority() -> impl Strategy<Value = Authority> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(override_restart, break_glass, maintenance)| {
        Authority { override_restart, break_glass, maintenance, source: AuthoritySource::CallerEnvironment }
    })
}
