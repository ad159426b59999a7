//! What holds for every state, request, proof and environment.
//!
//! `PROPTEST_CASES` sets the number of cases of each property; continuous integration asks
//! for more than a hundred thousand in all. A failing case prints its seed.

use proptest::prelude::*;
use proptest::sample::Index;
use restartlint::pass::authority::Authority;
use restartlint::pass::drain::proof::Terms;
use restartlint::pass::drain::{GateCode, Key, Lifetime, Offer, Replay, issue};
use restartlint::pass::impact::evaluate::counted;
use restartlint::pass::impact::reason::ReasonCode;
use restartlint::pass::impact::report::{BlastRadius, Evidence, Verdict};
use restartlint::pass::impact::snapshot::{Lease, Session, Work};
use restartlint::pass::impact::{Application, Question, Report, Request, Settings, Snapshot, evaluate};
use restartlint::pass::lease::{Comment, HeadPair, LeaseKind, Mutation, assess, find_active_lease};
use serde_json::json;

use super::states::{NOW, case, lock};

fn question<'a>(snapshot: &'a Snapshot, request: &'a Request, authority: Authority) -> Question<'a> {
    Question {
        snapshot,
        evidence: Evidence::Recorded,
        request,
        authority,
        now: NOW.parse().unwrap(),
        settings: Settings::default(),
    }
}

fn dry_run(snapshot: &Snapshot, request: &Request, authority: Authority) -> Report {
    evaluate(question(snapshot, request, authority), Application::DryRun)
}

fn key() -> Key {
    Key::from_file_bytes(b"a key of the tests: 0123456789abcdef").unwrap()
}

/// The proof of that very state, as bytes.
fn proof(snapshot: &Snapshot, request: &Request) -> Vec<u8> {
    let question = question(snapshot, request, Authority::default());
    let (count, target) = counted(question);
    let terms = Terms {
        class: &request.restart_class,
        target,
        proof_id: "dp-1",
        issuer: "tests",
        now: question.now,
        lifetime: Lifetime::default(),
    };
    serde_json::to_vec(&issue(&count, terms, &key()).unwrap()).unwrap()
}

/// What is offered to the gate: mostly the right proof, sometimes none, another's, or half of it.
fn offered(which: u8, snapshot: &Snapshot, request: &Request) -> Option<Vec<u8>> {
    let right = proof(snapshot, request);
    match which {
        0 => None,
        1 => Some(right.get(..right.len() / 2).unwrap_or_default().to_vec()),
        2 => Some(proof(&Snapshot::default(), request)),
        3 => Some(proof(snapshot, &Request { restart_class: "config_reload".into(), ..request.clone() })),
        _ => Some(right),
    }
}

fn replay(which: u8) -> Replay {
    match which {
        0 => Replay::Used,
        1 => Replay::Unchecked,
        _ => Replay::Fresh,
    }
}

/// Few enough for every test run; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 2000 };
    ProptestConfig { cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_apply_is_authorised_only_by_both(
        (snapshot, request, authority) in case(), which in 0..8u8, store in 0..4u8, with_key in prop::bool::weighted(0.9),
    ) {
        let bytes = offered(which, &snapshot, &request);
        let key = key();
        let offer = Offer { proof: bytes.as_deref(), key: with_key.then_some(&key), replay: replay(store) };
        let report = evaluate(question(&snapshot, &request, authority), Application::Apply(offer));
        let gate = report.apply_gate.clone().unwrap();
        let authorized = report.apply_authorized.get();
        prop_assert_eq!(authorized, gate.drain_gate_allow && report.allow_restart);
        prop_assert!(!authorized || gate.restart_class_authorized);
        prop_assert!(!report.allow_restart || report.restart_class_authorized);
        prop_assert_eq!(gate.drain_gate_allow, matches!(gate.code, GateCode::Ok | GateCode::BreakGlass));
        prop_assert!(gate.code != GateCode::BreakGlass || (authority.break_glass && request.request_break_glass));
        prop_assert_eq!(report.incident.is_some(), !authorized);
        prop_assert_eq!(report.allowed(), authorized);
        prop_assert_eq!(gate.replay_checked, offer.replay != Replay::Unchecked);
        prop_assert_eq!(gate.break_glass_requested, request.request_break_glass);
        prop_assert_eq!(gate.break_glass_authorized, authority.break_glass);
        // The first cause is told: the restart's before the gate's.
        let denied_by_gate = Some(gate.code).filter(|_| !gate.drain_gate_allow);
        let cause = report.reason_codes.first().map(|code| (code.name(), code.next_step()));
        let cause = cause.or(denied_by_gate.map(|code| (code.name(), code.next_step())));
        if let (Some((code, next)), Some(incident)) = (cause, &report.incident) {
            prop_assert_eq!((incident.code.as_str(), report.next_step.as_str()), (code, next));
            prop_assert_eq!(&report.audit.decision, "deny");
        } else {
            prop_assert!(report.next_step.starts_with("Restart "));
            prop_assert_eq!(report.next_step.contains("one session at a time"), request.restart_class == "rolling_restart");
            prop_assert_eq!(&report.audit.decision, "allow");
        }
        prop_assert!(!dry_run(&snapshot, &request, authority).apply_authorized.get());
        let json = serde_json::to_value(&report).unwrap();
        prop_assert_eq!(&json["apply_supported"], false);
        prop_assert_eq!(&json["restart_performed"], false);
    }

    #[test]
    fn neither_override_nor_break_glass_changes_the_matrix((snapshot, request, authority) in case()) {
        let plain = Request { request_override: false, request_break_glass: false, ..request.clone() };
        let before = dry_run(&snapshot, &plain, Authority { break_glass: false, maintenance: false, ..authority });
        let after = dry_run(&snapshot, &request, authority);
        prop_assert_eq!(before.restart_class_authorized, after.restart_class_authorized);
        let bytes = proof(&snapshot, &request);
        let offer = Offer { proof: Some(&bytes), key: Some(&key()), replay: Replay::Fresh };
        let applied = evaluate(question(&snapshot, &request, authority), Application::Apply(offer));
        prop_assert_eq!(before.restart_class_authorized, applied.restart_class_authorized);
        // The override's authority stands in for an approval of an operator's own request, and for nothing else.
        if request.requester.role != "operator" {
            let without = dry_run(&snapshot, &request, Authority::default());
            prop_assert_eq!(without.restart_class_authorized, after.restart_class_authorized);
        }
    }

    #[test]
    fn an_incomplete_inventory_never_allows((snapshot, request, authority) in case()) {
        let report = dry_run(&snapshot, &request, authority);
        prop_assert_eq!(report.inventory_complete, report.inventory_errors.is_empty());
        if !report.inventory_complete {
            prop_assert!(!report.allow_restart);
            prop_assert_eq!(report.verdict, Verdict::Unsafe);
            prop_assert_eq!(report.blast_radius, BlastRadius::High);
            prop_assert!(!report.override_would_allow);
        }
        prop_assert_eq!(report.allow_restart, report.reason_codes.is_empty());
        prop_assert!(report.reason_codes.is_sorted());
        let lock = report.terminal_lock.is_some();
        prop_assert!(!lock || !report.allow_restart);
        prop_assert_eq!(lock, report.reason_codes.contains(&ReasonCode::TerminalLock));
        let live = report.counts.other_live_sessions + report.counts.active_leases > 0;
        let expected = match (report.inventory_complete && !lock, live) {
            (false, _) => Verdict::Unsafe,
            (true, false) => Verdict::Safe,
            (true, true) if request.request_override && authority.override_restart => Verdict::Override,
            (true, true) => Verdict::Unsafe,
        };
        prop_assert_eq!(report.verdict, expected);
    }

    #[test]
    fn taking_a_member_away_never_allows(((snapshot, request, authority), member) in (case(), 0..8u8)) {
        let mut less = snapshot.clone();
        match member {
            0 => less.sessions = None,
            1 => less.leases = None,
            2 => less.terminal_lock = None,
            3 => less.prior_recovery = None,
            4 => less.approvals = None,
            5 => less.open_markers = None,
            6 => less.listing_errors = None,
            _ => less.taken_at = None,
        }
        prop_assert!(!dry_run(&less, &request, authority).allow_restart);
    }

    #[test]
    fn one_more_cause_never_turns_a_denial_into_an_allowance(
        (snapshot, request, authority) in case(), what in 0..4u8, lock in lock(),
        role in prop::sample::select(vec!["author", "reviewer", "controller"]),
    ) {
        let before = dry_run(&snapshot, &request, authority);
        let mut more = snapshot.clone();
        match what {
            0 => more.sessions.get_or_insert_default().push(live_session(role)),
            1 => more.leases.get_or_insert_default().push(active_lease()),
            2 => more.terminal_lock = Some(Some(lock)),
            _ => more.open_markers.get_or_insert_default().push(json!({"marker_id": "m-new"})),
        }
        let after = dry_run(&more, &request, authority);
        // A list that was missing is there now, and a target that was unknown may be: what is
        // compared is a state of which more is known, not the same state with a cause more.
        let was_missing = snapshot.sessions.is_none() || snapshot.leases.is_none()
            || snapshot.terminal_lock.is_none() || snapshot.open_markers.is_none();
        let was_unknown = before.reason_codes.contains(&ReasonCode::TargetUnknown);
        let lock_replaced = what == 2 && !matches!(snapshot.terminal_lock, Some(None));
        if !was_missing && !was_unknown && !lock_replaced {
            prop_assert!(before.allow_restart || !after.allow_restart);
            prop_assert!(after.counts.other_live_sessions >= before.counts.other_live_sessions);
            prop_assert!(after.blast_radius >= before.blast_radius);
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter((snapshot, request, authority) in case(), turn in any::<Index>()) {
        let mut turned = snapshot.clone();
        if let Some(rows) = &mut turned.sessions {
            rows.reverse();
        }
        if let Some(rows) = &mut turned.leases && !rows.is_empty() {
            let by = turn.index(rows.len());
            rows.rotate_left(by);
        }
        let (one, other) = (dry_run(&snapshot, &request, authority), dry_run(&turned, &request, authority));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn changing_any_byte_of_a_proof_denies(
        (snapshot, request, authority) in case(), at in any::<Index>(), byte in any::<u8>(),
    ) {
        let right = proof(&snapshot, &request);
        let authority = Authority { break_glass: false, ..authority };
        let code = |bytes: &[u8]| {
            let offer = Offer { proof: Some(bytes), key: Some(&key()), replay: Replay::Fresh };
            let report = evaluate(question(&snapshot, &request, authority), Application::Apply(offer));
            report.apply_gate.map(|gate| gate.code).unwrap()
        };
        let at = at.index(right.len());
        let mut changed = right.clone();
        changed[at] = byte;
        if changed != right {
            let code = code(&changed);
            let text = String::from_utf8_lossy(&changed).into_owned();
            prop_assert!(matches!(code, GateCode::ProofMalformed | GateCode::ProofTampered), "{:?}: {}", code, text);
        }
        let mut cut = right.clone();
        cut.remove(at);
        prop_assert!(!code(&cut).allows());
        prop_assert!(matches!(code(&right), GateCode::Ok | GateCode::ProofUnclean));
    }

    #[test]
    fn no_key_appears_in_any_output(
        (snapshot, request, authority) in case(), secret in "[a-zA-Z0-9]{32,48}",
    ) {
        let key = Key::from_file_bytes(secret.as_bytes()).unwrap();
        let question = question(&snapshot, &request, authority);
        let (count, target) = counted(question);
        let terms = Terms {
            class: &request.restart_class, target, proof_id: "dp-1", issuer: "tests",
            now: question.now, lifetime: Lifetime::default(),
        };
        let proof = issue(&count, terms, &key).unwrap();
        let bytes = serde_json::to_vec(&proof).unwrap();
        let offer = Offer { proof: Some(&bytes), key: Some(&key), replay: Replay::Fresh };
        let report = evaluate(question, Application::Apply(offer));
        let all = format!("{proof:?} {report:?} {key:?} {}", serde_json::to_string(&report).unwrap());
        prop_assert!(!all.contains(&secret));
        prop_assert!(!serde_json::to_string(&report).unwrap().contains(&proof.mac));
    }

    #[test]
    fn what_is_written_is_read_back((snapshot, request, _) in case()) {
        let text = serde_json::to_string(&snapshot).unwrap();
        prop_assert_eq!(Snapshot::from_json(&text).unwrap(), snapshot);
        let text = serde_json::to_string(&request).unwrap();
        prop_assert_eq!(Request::from_json(&text).unwrap(), request);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Snapshot::from_json(&text);
        let _ = Request::from_json(&text);
        prop_assert!(restartlint::pass::drain::Proof::from_json(&bytes).is_none());
        let comments = [Comment { body: text.clone() }, Comment { body: format!("<!-- mcp-conflict-fix-lease:v1 -->\n{text}") }];
        let found = find_active_lease(&comments, LeaseKind::ConflictFix, 818, NOW.parse().unwrap());
        prop_assert!(found.malformed.len() <= 2);
    }

    #[test]
    fn a_release_of_its_chain_ends_a_claim_and_nothing_else_opens_the_gate(
        markers in prop::collection::vec((0..2u8, 0..3u8, 0..4u8), 0..6), head in 0..2u8,
    ) {
        let marker = |(head, profile, phase): (u8, u8, u8)| {
            let phase = ["claimed", "released", "done", "pushing"][usize::from(phase)];
            Comment { body: format!(
                "<!-- mcp-conflict-fix-lease:v1 -->\npr: #818\nprofile: p{profile}\nhead_before: h{head}\nphase: {phase}\n\
                 expires_at: 2026-07-23T07:00:00Z"
            ) }
        };
        let now = NOW.parse().unwrap();
        let mut comments: Vec<Comment> = markers.iter().copied().map(marker).collect();
        // A chain is open if its last marker is a claim.
        let mut open = std::collections::BTreeMap::new();
        for (head, profile, phase) in &markers {
            open.insert((*head, *profile), matches!(phase, 0 | 3));
        }
        let stands = open.values().any(|open| *open);
        let found = find_active_lease(&comments, LeaseKind::ConflictFix, 818, now);
        prop_assert_eq!(found.lease.is_some(), stands);
        let sha = "a".repeat(40);
        let heads = HeadPair { reviewed: &sha, live: &sha };
        prop_assert_eq!(assess(&comments, 818, Mutation::Merge, heads, now).mutation_allowed, !stands);

        comments.push(marker((head, 0, 0)));
        prop_assert!(!assess(&comments, 818, Mutation::Merge, heads, now).mutation_allowed);
        comments.push(marker((head, 0, 1)));
        open.insert((head, 0), false);
        let stands = open.values().any(|open| *open);
        prop_assert_eq!(assess(&comments, 818, Mutation::Merge, heads, now).mutation_allowed, !stands);
    }
}

/// A session that no generated state has, in scope of every class that counts others.
fn live_session(role: &str) -> Session {
    Session {
        session_id: "s-new".into(),
        role: Some(role.into()),
        connector: Some("forge".into()),
        status: Some("active".into()),
        last_heartbeat_at: Some("2026-07-23T06:29:00Z".into()),
        pid_alive: Some(true),
        ..Session::default()
    }
}

fn active_lease() -> Lease {
    Lease {
        lease_id: "l-new".into(),
        session_id: Some("s-a".into()),
        work: Some(Work { kind: "pr".into(), number: 9 }),
        phase: Some("reviewing".into()),
        status: Some("active".into()),
        worktree: None,
        expires_at: Some("2026-07-23T07:10:00Z".into()),
        owner_alive: Some(true),
    }
}

/// The strategies would prove nothing if they never reached an allowance.
#[test]
fn the_cases_reach_every_answer() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    let (mut allowed, mut authorized) = (0, 0);
    for _ in 0..3000 {
        let (snapshot, request, authority) = case().new_tree(&mut runner).unwrap().current();
        let bytes = proof(&snapshot, &request);
        let offer = Offer { proof: Some(&bytes), key: Some(&key()), replay: Replay::Fresh };
        let report = evaluate(question(&snapshot, &request, authority), Application::Apply(offer));
        seen.extend(report.reason_codes.iter().copied());
        allowed += usize::from(report.allow_restart);
        authorized += usize::from(report.apply_authorized.get());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ReasonCode::ALL);
    assert!(allowed > 300 && authorized > 150, "{allowed} allowed, {authorized} authorised");
}
