//! The cases of `fixtures/coordinator/impact.json`: a state and a request laid over an
//! idle fleet, and what the report must say.

use restartlint::pass::authority::Authority;
use restartlint::pass::impact::report::Evidence;
use restartlint::pass::impact::{Application, Question, Report, Request, Settings, Snapshot, evaluate};
use serde_json::{Map, Value};

pub const BASE: &str = include_str!("../../fixtures/coordinator/base.json");
const CASES: &str = include_str!("../../fixtures/coordinator/impact.json");

/// Lays one document over another, members one by one; anything else replaces.
pub fn lay_over(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(under.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

/// The rows of a case's snapshot, each laid over the base's row of its list.
pub fn filled_snapshot(base: &Value, given: &Value) -> Value {
    let mut snapshot = base["snapshot"].clone();
    for (member, value) in given.as_object().into_iter().flatten() {
        let row = &base["rows"][member];
        let fill = |value: &Value| {
            let mut row = row.clone();
            lay_over(&mut row, value);
            row
        };
        snapshot[member] = match value {
            Value::Array(rows) if row.is_object() => rows.iter().map(fill).collect(),
            Value::Object(_) if row.is_object() => fill(value),
            other => other.clone(),
        };
    }
    snapshot
}

pub fn authority(names: &Value) -> Authority {
    let has = |name: &str| names.as_array().into_iter().flatten().any(|n| n == name);
    Authority {
        override_restart: has("override"),
        break_glass: has("break_glass"),
        maintenance: has("maintenance"),
        ..Authority::default()
    }
}

pub fn dry_run(snapshot: &Value, request: &Value, authority: Authority, now: &str) -> Report {
    let snapshot = Snapshot::from_json(&snapshot.to_string()).expect("a snapshot");
    let request = Request::from_json(&request.to_string()).expect("a request");
    let question = Question {
        snapshot: &snapshot,
        evidence: Evidence::Recorded,
        request: &request,
        authority,
        now: now.parse().expect("an instant"),
        settings: Settings::default(),
    };
    evaluate(question, Application::DryRun)
}

/// Whether every wanted member is there; `sessions` and `leases` are looked up by id.
fn difference(want: &Value, got: &Value, at: &str) -> Option<String> {
    match (want, got) {
        (Value::Object(want), Value::Array(rows)) => want.iter().find_map(|(id, want)| {
            let named = |row: &&Value| row["session_id"] == **id || row["lease_id"] == **id;
            match rows.iter().find(named) {
                Some(row) => difference(want, row, &format!("{at}.{id}")),
                None => Some(format!("{at}: no row {id}")),
            }
        }),
        (Value::Object(want), Value::Object(_)) => {
            want.iter().find_map(|(key, want)| difference(want, &got[key], &format!("{at}.{key}")))
        }
        (want, got) if want == got => None,
        _ => Some(format!("{at}: expected {want}, got {got}")),
    }
}

#[test]
fn every_case_holds() {
    let base: Value = serde_json::from_str(BASE).unwrap();
    let cases: Vec<Map<String, Value>> = serde_json::from_str(CASES).unwrap();
    assert!(cases.len() > 100, "cases were lost");
    let mut failed = Vec::new();
    for case in &cases {
        let none = Value::Null;
        let part = |key: &str| case.get(key).unwrap_or(&none);
        let mut snapshot = filled_snapshot(&base, part("snapshot"));
        for member in part("drop").as_array().into_iter().flatten() {
            snapshot.as_object_mut().unwrap().remove(member.as_str().unwrap());
        }
        let mut request = base["request"].clone();
        if part("request").is_object() {
            lay_over(&mut request, part("request"));
        }
        let now = base["now"].as_str().unwrap();
        let report = dry_run(&snapshot, &request, authority(part("authority")), now);
        let report = serde_json::to_value(&report).unwrap();
        if let Some(difference) = difference(part("expect"), &report, "$") {
            failed.push(format!("{}: {difference}", part("name")));
        }
        assert_eq!(report["incident"].is_null(), report["allow_restart"] == true, "{}", part("name"));
        assert_eq!(report["apply_authorized"], false);
        assert_eq!(report["apply_supported"], false);
        assert_eq!(report["restart_performed"], false);
        let proof_is_next = report["next_step"].as_str().unwrap().contains("drain issue");
        assert_eq!(proof_is_next, report["allow_restart"] == true, "{}", part("name"));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn what_is_not_of_its_shape_is_refused_at_its_place() {
    let base: Value = serde_json::from_str(BASE).unwrap();
    let row = |member: &str| base["rows"][member].clone();
    let set = |member: &str, value: Value| {
        let mut snapshot = base["snapshot"].clone();
        snapshot[member] = value;
        snapshot.to_string()
    };
    let with = |member: &str, key: &str, value: Value| {
        let mut row = row(member);
        row[key] = value;
        set(member, if member == "terminal_lock" { row } else { Value::Array(vec![row]) })
    };
    for text in [
        "[]".to_owned(),
        "null".to_owned(),
        "{".to_owned(),
        String::new(),
        format!("{} x", base["snapshot"]),
        set("schema", 2.into()),
        set("schema", "1".into()),
        set("schema", 1.0.into()),
        set("taken_at", 5.into()),
        set("sessions", Value::Null),
        set("sessions", serde_json::json!({})),
        set("leases", "none".into()),
        set("open_markers", serde_json::json!({"m-1": {}})),
        set("extra", Value::Null),
        set("sessions", Value::Array(vec![row("sessions"), row("sessions")])),
        set("leases", Value::Array(vec![row("leases"), row("leases")])),
        set("sessions", serde_json::json!([["s-a", "author"]])),
        with("sessions", "session_id", "".into()),
        with("sessions", "session_id", Value::Null),
        with("sessions", "pid", "4100".into()),
        with("sessions", "pid", 1.5.into()),
        with("sessions", "pid_alive", "true".into()),
        with("sessions", "extra", 1.into()),
        with("leases", "work", serde_json::json!(["pr", 818])),
        with("leases", "work", serde_json::json!({"kind": "pr", "number": -1})),
        with("leases", "owner_alive", 1.into()),
        with("approvals", "approver_role", Value::Null),
        with("terminal_lock", "pr", "818".into()),
        with("terminal_lock", "lock_id", Value::Null),
        set("terminal_lock", serde_json::json!([])),
        base["snapshot"].to_string().replacen('{', "{\"schema\":1,", 1),
        set("open_markers", Value::Null).replace("null", "[{\"a\":1,\"a\":1}]"),
    ] {
        assert!(Snapshot::from_json(&text).is_err(), "{text}");
    }
    let fault =
        Snapshot::from_json("{\"schema\":1,\n \"sessions\":[{\"session_id\":\"a\",\n  \"pid\":\"x\"}]}");
    assert_eq!(fault.unwrap_err().line, 3);

    let request = |edit: &dyn Fn(&mut Value)| {
        let mut request = base["request"].clone();
        edit(&mut request);
        request.to_string()
    };
    assert!(Request::from_json(&request(&|_| {})).is_ok());
    for text in [
        request(&|r| r["approvals"] = serde_json::json!([])),
        request(&|r| r["override_authorized"] = true.into()),
        request(&|r| r["request_override"] = "yes".into()),
        request(&|r| r["request_break_glass"] = Value::Null),
        request(&|r| r["restart_class"] = Value::Null),
        request(&|r| r["requester"] = serde_json::json!({"session_id": "s-me"})),
        request(&|r| r["requester"] = serde_json::json!({"role": "author"})),
        request(&|r| r["requester"] = serde_json::json!({"session_id": " ", "role": "author"})),
        request(&|r| r["requester"] = serde_json::json!(["s-me", "author"])),
        request(&|r| r["requester"]["authority"] = true.into()),
        request(&|r| r["target_role"] = 1.into()),
        base["request"].to_string().replacen('{', "{\"request_override\":true,", 1),
    ] {
        assert!(Request::from_json(&text).is_err(), "{text}");
    }
}
