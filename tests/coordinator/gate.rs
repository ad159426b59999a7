//! The cases of `fixtures/coordinator/gate.json`: a proof of an idle fleet, changed in one
//! way, and the first denial of the drain gate.

use restartlint::pass::authority::Authority;
use restartlint::pass::drain::gate::Present;
use restartlint::pass::drain::proof::Terms;
use restartlint::pass::drain::{GateCode, Key, Lifetime, Offer, Replay, gate, issue, verify};
use restartlint::pass::impact::evaluate::counted;
use restartlint::pass::impact::report::Evidence;
use restartlint::pass::impact::{Question, Request, Settings, Snapshot};
use serde_json::{Map, Value, json};

use super::cases::{BASE, filled_snapshot};

const CASES: &str = include_str!("../../fixtures/coordinator/gate.json");

fn key(byte: u8) -> Key {
    Key::from_file_bytes(&[byte; 32]).unwrap()
}

/// A MAC made without the code under test's own proof type.
fn signed(proof: &Value) -> Value {
    use hmac::{Hmac, KeyInit, Mac};
    let mut proof = proof.clone();
    proof.as_object_mut().unwrap().remove("mac");
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&[1; 32]).unwrap();
    mac.update(&serde_json_canonicalizer::to_vec(&proof).unwrap());
    proof["mac"] = format!("hmac-sha256:{}", hex::encode(mac.finalize().into_bytes())).into();
    proof
}

fn question<'a>(snapshot: &'a Snapshot, request: &'a Request, now: &str) -> Question<'a> {
    Question {
        snapshot,
        evidence: Evidence::Recorded,
        request,
        authority: Authority::default(),
        now: now.parse().unwrap(),
        settings: Settings::default(),
    }
}

fn made(snapshot: &Snapshot, request: &Request, now: &str) -> Value {
    let question = question(snapshot, request, now);
    let (count, target) = counted(question);
    let terms = Terms {
        class: &request.restart_class,
        target,
        proof_id: "dp-1",
        issuer: "tests",
        now: question.now,
        lifetime: Lifetime::default(),
    };
    serde_json::to_value(issue(&count, terms, &key(1)).unwrap()).unwrap()
}

#[test]
fn every_case_holds() {
    let base: Value = serde_json::from_str(BASE).unwrap();
    let cases: Vec<Map<String, Value>> = serde_json::from_str(CASES).unwrap();
    let idle = json!({"sessions": [{"session_id": "s-me", "role": "controller"}]});
    let request = Request::from_json(&base["request"].to_string()).unwrap();
    let now = base["now"].as_str().unwrap();
    let parsed = |given: &Value| Snapshot::from_json(&filled_snapshot(&base, given).to_string()).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for case in &cases {
        let name = &case["name"];
        let mut proof = made(&parsed(&idle), &request, now);
        for (member, value) in case.get("edit").and_then(Value::as_object).into_iter().flatten() {
            proof[member] = value.clone();
        }
        for member in case.get("drop").and_then(Value::as_array).into_iter().flatten() {
            proof.as_object_mut().unwrap().remove(member.as_str().unwrap());
        }
        let edits_mac = case.get("edit").is_some_and(|edit| edit.get("mac").is_some());
        if case.contains_key("sign") && !edits_mac {
            proof = signed(&proof);
        }
        let mut text = proof.to_string();
        if case.contains_key("layout") {
            text = serde_json::to_string_pretty(&proof).unwrap();
        }
        if case.contains_key("upper") {
            let mac = proof["mac"].as_str().unwrap();
            let digits = mac.rsplit(':').next().unwrap();
            text = text.replace(digits, &digits.to_uppercase());
        }
        if let Some(member) = case.get("twice").and_then(Value::as_str) {
            text = text.replacen('{', &format!("{{\"{member}\":{},", proof[member]), 1);
        }
        let bytes = match case.get("raw") {
            None => Some(text.as_bytes()),
            Some(raw) => raw.as_str().map(str::as_bytes),
        };
        let mut state = idle.clone();
        for (member, value) in case.get("state").and_then(Value::as_object).into_iter().flatten() {
            state[member] = value.clone();
        }
        let snapshot = parsed(&state);
        let now = case.get("now").and_then(Value::as_str).unwrap_or(now);
        let keys = (key(1), key(2));
        let offer = Offer {
            proof: bytes,
            key: match case.get("key").and_then(Value::as_str) {
                Some("none") => None,
                Some("other") => Some(&keys.1),
                _ => Some(&keys.0),
            },
            replay: match case.get("replay").and_then(Value::as_str) {
                Some("used") => Replay::Used,
                Some("fresh") => Replay::Fresh,
                _ => Replay::Unchecked,
            },
        };
        let answer = verify(question(&snapshot, &request, now), offer);
        assert_eq!(answer.code.name(), case["code"], "{name}");
        assert_eq!(answer.allow, case["code"] == "ok", "{name}");
        seen.insert(answer.code);
    }
    let told: Vec<GateCode> =
        GateCode::ALL.into_iter().filter(|code| *code != GateCode::BreakGlass).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), told, "a code has no case");
}

#[test]
fn what_is_outstanding_is_counted_and_never_passed_in() {
    let base: Value = serde_json::from_str(BASE).unwrap();
    let request = Request::from_json(&base["request"].to_string()).unwrap();
    let now = base["now"].as_str().unwrap();
    let proof = |given: Value| {
        let snapshot = Snapshot::from_json(&filled_snapshot(&base, &given).to_string()).unwrap();
        made(&snapshot, &request, now)
    };
    let idle = proof(json!({"sessions": [{}, {"session_id": "s-me", "role": "controller"}]}));
    assert_eq!((&idle["clean"], &idle["outstanding"]), (&json!(true), &json!([])));
    assert_eq!((&idle["issued_at"], &idle["expires_at"]), (&json!(now), &json!("2026-07-23T06:35:00Z")));
    let busy = proof(json!({"sessions": [{}], "leases": [{}], "terminal_lock": {}, "listing_errors": ["x"]}));
    assert_eq!(busy["clean"], false);
    assert_eq!(busy["outstanding"], json!(["lease:l-1", "terminal_lock:t-1", "inventory:listing failed: x"]));
}

#[test]
fn a_proof_cannot_outlive_the_calendar() {
    let base: Value = serde_json::from_str(BASE).unwrap();
    let request = Request::from_json(&base["request"].to_string()).unwrap();
    let snapshot = Snapshot::from_json(&base["snapshot"].to_string()).unwrap();
    let mut question = question(&snapshot, &request, "2026-07-23T06:30:00Z");
    question.now = jiff::Timestamp::MAX;
    let (count, target) = counted(question);
    let terms = Terms {
        class: &request.restart_class,
        target,
        proof_id: "dp-1",
        issuer: "tests",
        now: question.now,
        lifetime: Lifetime::default(),
    };
    assert!(issue(&count, terms, &key(1)).is_err());
}

#[test]
fn the_gate_knows_one_class_and_target() {
    let offer = Offer { proof: Some(b"{}"), key: None, replay: Replay::Unchecked };
    let present = Present {
        class: "host_restart",
        target: None,
        fingerprint: "",
        now: "2026-07-23T06:30:00Z".parse().unwrap(),
    };
    assert_eq!(gate(offer, present).code, GateCode::ProofMalformed);
    assert!(!gate(offer, present).allows());
}
