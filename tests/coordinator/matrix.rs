//! Every class, role, approval, verdict and gate there is, evaluated, and written down in
//! `docs/restart-matrix.md`.

use std::fmt::Write;

use restartlint::pass::authority::Authority;
use restartlint::pass::classes::{CLASS_NAMES, Role, TargetKind, builtin};
use restartlint::pass::drain::proof::Terms;
use restartlint::pass::drain::{Key, Lifetime, Offer, Replay, issue};
use restartlint::pass::impact::evaluate::counted;
use restartlint::pass::impact::report::{Evidence, Verdict};
use restartlint::pass::impact::snapshot::{Approval, Session, TerminalLock};
use restartlint::pass::impact::{Application, Question, Report, Request, Settings, Snapshot, evaluate};

use super::generated::hold;

const NOW: &str = "2026-07-23T06:30:00Z";
const APPROVALS: [&str; 4] = ["nobody", "controller", "operator", "environment"];
const VERDICTS: [Verdict; 3] = [Verdict::Safe, Verdict::Override, Verdict::Unsafe];
const GATES: [&str; 3] = ["proof", "break-glass", "denied"];

/// One cell of the matrix.
struct Cell {
    class: &'static str,
    role: Role,
    approval: &'static str,
    verdict: Verdict,
    gate: &'static str,
}

/// `None` where the verdict cannot be had: a class that counts nobody else has nothing to override.
fn evaluated(cell: &Cell) -> Option<Report> {
    let class = builtin().get(cell.class).unwrap();
    let target = match class.target {
        TargetKind::None => None,
        TargetKind::Session => Some("s-a"),
        TargetKind::Role => Some("reviewer"),
        TargetKind::Connector => Some("forge"),
    };
    // A worker may restart its own session only, and that needs nobody else to be hit.
    let itself = class.target == TargetKind::Session && !class.others.contains(&cell.role);
    let target = if itself { Some("s-me") } else { target };
    let mut request = Request { restart_class: cell.class.into(), ..Request::default() };
    request.requester.session_id = "s-me".into();
    request.requester.role = cell.role.name().into();
    request.request_override = cell.verdict == Verdict::Override;
    request.request_break_glass = cell.gate == "break-glass";
    match class.target {
        TargetKind::None => {}
        TargetKind::Session => request.target_session_id = target.map(Into::into),
        TargetKind::Role => request.target_role = target.map(Into::into),
        TargetKind::Connector => request.target_connector = target.map(Into::into),
    }
    let session = |id: &str, role: &str, live: bool| Session {
        session_id: id.into(),
        role: Some(role.into()),
        connector: Some("forge".into()),
        status: Some("active".into()),
        last_heartbeat_at: Some(if live { "2026-07-23T06:29:00Z" } else { "2026-07-23T05:00:00Z" }.into()),
        pid_alive: Some(live),
        ..Session::default()
    };
    let approval = |role: &str| Approval {
        approval_id: "a-1".into(),
        approver_session_id: "s-boss".into(),
        approver_role: role.into(),
        restart_class: cell.class.into(),
        target: target.map(Into::into),
        expires_at: Some("2026-07-23T06:45:00Z".into()),
    };
    let lock = TerminalLock {
        lock_id: "t-1".into(),
        status: Some("active".into()),
        expires_at: Some("2026-07-23T07:00:00Z".into()),
        ..TerminalLock::default()
    };
    let snapshot = Snapshot {
        schema: 1,
        taken_at: Some(NOW.into()),
        sessions: Some(vec![
            session("s-me", cell.role.name(), true),
            session("s-a", "reviewer", cell.verdict == Verdict::Override),
        ]),
        leases: Some(vec![]),
        terminal_lock: Some((cell.verdict == Verdict::Unsafe).then_some(lock)),
        prior_recovery: Some(vec![]),
        approvals: Some(match cell.approval {
            "controller" | "operator" => vec![approval(cell.approval)],
            _ => vec![],
        }),
        open_markers: Some(vec![]),
        listing_errors: Some(vec![]),
    };
    let question = Question {
        snapshot: &snapshot,
        evidence: Evidence::Recorded,
        request: &request,
        authority: Authority {
            override_restart: cell.approval == "environment" || cell.verdict == Verdict::Override,
            break_glass: cell.gate == "break-glass",
            ..Authority::default()
        },
        now: NOW.parse().unwrap(),
        settings: Settings::default(),
    };
    let key = Key::from_file_bytes(&[7; 32]).unwrap();
    let (count, target) = counted(question);
    let terms = Terms {
        class: cell.class,
        target,
        proof_id: "dp-1",
        issuer: "tests",
        now: question.now,
        lifetime: Lifetime::default(),
    };
    let proof = serde_json::to_vec(&issue(&count, terms, &key).unwrap()).unwrap();
    let offer = Offer {
        proof: (cell.gate == "proof").then_some(proof.as_slice()),
        key: Some(&key),
        replay: Replay::Fresh,
    };
    let report = evaluate(question, Application::Apply(offer));
    (report.verdict == cell.verdict).then_some(report)
}

fn shown(report: Option<&Report>) -> &'static str {
    match report {
        None => "·",
        Some(report) if report.apply_authorized.get() => "apply",
        Some(report) if report.allow_restart => "restart",
        Some(report) if report.restart_class_authorized => "class",
        Some(_) => "no",
    }
}

const HEAD: &str = "# The restart matrix

Generated from the code by `tests/coordinator/matrix.rs`; do not edit. Every restart class, role,
approval, verdict and drain gate there is, evaluated.

| in a cell | means |
|---|---|
| `apply` | the apply is authorised: class, verdict and drain gate all say yes |
| `restart` | the restart is allowed (a dry run exits 0), but the drain gate denies the apply |
| `class` | the class is authorised, but the verdict forbids the restart |
| `no` | the class is not authorised for this role with this approval |
| `·` | the verdict cannot be had: there is nothing to override in this scope |

The approval is by `nobody`, by a `controller`'s or an `operator`'s record, or the override's authority in
the `environment` of the process. The verdict `override` needs that authority as well, so there it stands in
for the approval of an operator's own request. `unsafe` is a held terminal lock. The gate is passed by a
`proof`, by `break-glass`, or it is `denied`. Workers ask for the restart of their own session,
controllers and operators for that of another.
";

#[test]
fn the_matrix_is_written_down() {
    let mut page = HEAD.to_owned();
    let mut cells = 0;
    for class in CLASS_NAMES {
        let _ = writeln!(page, "\n## {class}\n");
        let columns: Vec<String> =
            VERDICTS.iter().flat_map(|v| GATES.map(|gate| format!("{}, {gate}", v.name()))).collect();
        let _ = writeln!(page, "| role | approval | {} |", columns.join(" | "));
        let _ = writeln!(page, "|---|---|{}", "---|".repeat(columns.len()));
        for role in Role::ALL {
            for approval in APPROVALS {
                let _ = write!(page, "| {} | {approval} |", role.name());
                for verdict in VERDICTS {
                    for gate in GATES {
                        let report = evaluated(&Cell { class, role, approval, verdict, gate });
                        holds(class, role, approval, report.as_ref(), verdict, gate);
                        let _ = write!(page, " {} |", shown(report.as_ref()));
                        cells += 1;
                    }
                }
                page.push('\n');
            }
        }
    }
    assert_eq!(cells, 9 * 6 * 4 * 3 * 3);
    hold("docs/restart-matrix.md", &page);
}

/// The same answers from the rules as a person reads them, apart from the code under test.
fn holds(class: &str, role: Role, approval: &str, report: Option<&Report>, verdict: Verdict, gate: &str) {
    let Some(report) = report else {
        assert_eq!(verdict, Verdict::Override, "{class}: only an override can be out of reach");
        return;
    };
    let may_ask = match class {
        "client_reconnect" | "profile_switch" | "session_restart" => true,
        "host_restart" => role == Role::Operator,
        _ => role >= Role::Controller,
    };
    let environment = role == Role::Operator && (approval == "environment" || verdict == Verdict::Override);
    let approved = match class {
        "client_reconnect" | "profile_switch" | "config_reload" => true,
        "session_restart" if role < Role::Controller => true,
        "session_restart" | "role_restart" | "connector_restart" => {
            environment || approval == "controller" || approval == "operator"
        }
        _ => environment || approval == "operator",
    };
    let at = format!("{class} {} {approval} {} {gate}", role.name(), verdict.name());
    let authorized = may_ask && approved;
    assert_eq!(report.restart_class_authorized, authorized, "{at}");
    let allowed = authorized && verdict != Verdict::Unsafe;
    assert_eq!(report.allow_restart, allowed, "{at}");
    // A proof of a locked state is unclean, so only break-glass passes the gate there.
    let passes = gate == "break-glass" || (gate == "proof" && verdict != Verdict::Unsafe);
    assert_eq!(report.apply_authorized.get(), allowed && passes, "{at}");
}
