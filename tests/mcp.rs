//! The server as its host sees it: frames in, frames out, one a line.

#![cfg(feature = "mcp")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod host;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use host::Host;
use restartlint::edge::store::{OpenMode, Store};
use restartlint::pass::authority::{BREAK_GLASS_VARIABLE, OVERRIDE_VARIABLE};
use serde_json::{Value, json};
use tempfile::TempDir;

const INVENTORY: &str = r#"schema = 1

[[path]]
id = "manual_daemon_kill"
title = "Somebody kills the daemon"
classification = "forbidden"
mechanism = "pkill by hand"
guard = "The agent's hook."
locations = ["ops/**"]
primitives = ["effect:kill"]
references = ["docs/a.md"]

[[path]]
id = "export_reexec"
title = "The export starts again under a lock"
classification = "sanctioned_narrow_recovery"
mechanism = "os.execv of itself"
guard = "It never runs inside the daemon."
locations = ["export.py"]
primitives = ["os.execv"]
references = ["docs/a.md"]
"#;

/// The tools, and the published shape of each answer.
const TOOLS: [(&str, &str); 9] = [
    ("check_sources", "check-report"),
    ("list_restart_paths", "restart-paths"),
    ("assert_restart_attempt", "restart-attempt"),
    ("assess_command", "guard-command"),
    ("record_kill_attempt", "guard-record"),
    ("assess_parity", "parity-report"),
    ("assess_fleet_inventory", "fleet-report"),
    ("request_restart", "impact-report"),
    ("assess_lease", "lease-active"),
];

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config =
        "daemon = [\"mcp_server.py\"]\nstore = \"state.db\"\n[guard]\nprocesses = [\"mcp_server.py\"]\n";
    let server = "import os, sys\n\ndef restart():\n    os.execv(sys.executable, [sys.executable, __file__])\n\nrestart()\n";
    std::fs::write(folder.path().join("restartlint.toml"), config).unwrap();
    std::fs::write(folder.path().join("restart-paths.toml"), INVENTORY).unwrap();
    std::fs::write(folder.path().join("mcp_server.py"), server).unwrap();
    folder
}

fn holds(schema: &str, value: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schemas/{schema}.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    holds_as(&schema, value);
}

fn holds_as(schema: &Value, value: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let faults: Vec<String> = validator.iter_errors(value).map(|e| e.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}\n{value}");
}

fn arguments(tool: &str) -> Value {
    match tool {
        "assert_restart_attempt" => json!({"path_id": "export_reexec"}),
        "assess_command" => json!({"command": "sudo pkill -f mcp_server.py"}),
        "record_kill_attempt" => json!({"command": "pkill -f mcp_server.py", "session_id": "s-a"}),
        "request_restart" => wish("client_reconnect", "author"),
        "assess_lease" => json!({"comments": [{"body": "hello", "author": "x"}], "pr": 7}),
        _ => json!({}),
    }
}

fn wish(class: &str, role: &str) -> Value {
    json!({"restart_class": class, "requester": {"session_id": "s-a", "role": role}})
}

#[test]
fn every_tool_is_listed_called_and_answers_in_its_published_shape() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let listed = host.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS.map(|(name, _)| name));
    for (tool, (name, schema)) in listed.as_array().unwrap().iter().zip(TOOLS) {
        let writes = ["record_kill_attempt", "request_restart"].contains(&name);
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{name}");
        assert_eq!(tool["annotations"]["destructiveHint"], false, "{name}");
        let given = arguments(name);
        holds_as(&tool["inputSchema"], &given);
        let result = host.call(name, given);
        assert_eq!(result["isError"], false, "{name}: {result}");
        let report = &result["structuredContent"];
        holds(schema, report);
        holds_as(&tool["outputSchema"], report);
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(&text, report, "{name}");
    }
    host.end();
}

#[test]
fn answers_are_those_of_the_commands() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let command = |args: &[&str]| -> Value {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("restartlint"))
            .current_dir(project.path())
            .args(args)
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let timeless = |mut report: Value| {
        report["summary"]["duration_ms"] = Value::Null;
        report
    };
    let checked = host.call("check_sources", json!({}))["structuredContent"].clone();
    assert_eq!(checked["findings"][0]["code"], "RL101", "{checked}");
    assert_eq!(timeless(checked), timeless(command(&["check", "--format", "json"])));
    let line = "pkill -f mcp_server.py";
    let judged = host.call("assess_command", json!({"command": line}))["structuredContent"].clone();
    assert_eq!(judged["verdict"], "contaminating");
    assert_eq!(judged, command(&["guard", "command", "--format", "json", "--", line]));
    host.end();
}

#[test]
fn unknown_ids_paths_outside_and_wrong_arguments_are_refused() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let refused = host.call("assert_restart_attempt", json!({"path_id": "export_rexec"}));
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["structuredContent"]["nearest"], json!(["export_reexec"]));
    holds("restart-attempt", &refused["structuredContent"]);
    let forbidden = host.call("assert_restart_attempt", json!({"path_id": "manual_daemon_kill"}));
    assert_eq!(forbidden["structuredContent"]["registered"], true);
    assert_eq!(forbidden["structuredContent"]["permitted"], false);
    for (tool, given) in [
        ("check_sources", json!({"paths": ["/etc"]})),
        ("check_sources", json!({"paths": ["../.."]})),
        ("check_sources", json!({"language": ["go"]})),
        ("assess_fleet_inventory", json!({"rows": []})),
        ("assess_command", json!({})),
        ("assess_command", json!({"command": 1})),
        ("record_kill_attempt", json!({"command": "x", "session_id": " "})),
        ("assess_lease", json!({"comments": [], "pr": 1, "mutation": "approve"})),
        ("assess_parity", json!({"runtime_id": "rt-nobody"})),
    ] {
        let refused = host.call(tool, given);
        assert_eq!(refused["isError"], true, "{tool}: {refused}");
        assert!(refused["content"][0]["text"].as_str().is_some_and(|text| text.len() > 20), "{refused}");
    }
    host.end();
}

#[test]
fn authority_comes_from_the_environment_alone() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    for role in ["author", "reviewer", "merger", "reconciler", "controller", "operator", "nobody"] {
        for (dry_run, class) in
            [(true, "full_mcp_restart"), (false, "full_mcp_restart"), (false, "host_restart")]
        {
            let mut given = wish(class, role);
            given["request_override"] = true.into();
            given["request_break_glass"] = true.into();
            given["dry_run"] = dry_run.into();
            let report = host.call("request_restart", given)["structuredContent"].clone();
            assert_eq!(report["allow_restart"], false, "{role}");
            assert_eq!(report["apply_authorized"], false, "{role}");
            assert_eq!(report["authority_source"], "server_environment");
            assert_eq!(report["evidence"], "observed");
            holds("impact-report", &report);
        }
    }
    for more in [
        json!({"authority": true}),
        json!({"approvals": [{"approval_id": "a"}]}),
        json!({"snapshot": {}}),
        json!({"drain_proof": {}}),
        json!({"now": "2026-07-23T06:30:00Z"}),
        json!({"env": {OVERRIDE_VARIABLE: "1"}}),
    ] {
        let mut given = wish("full_mcp_restart", "operator");
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(host.call("request_restart", given)["isError"], true, "{more}");
    }
    host.end();

    let mut host = Host::ready(project.path(), &[OVERRIDE_VARIABLE, BREAK_GLASS_VARIABLE]);
    let mut given = wish("full_mcp_restart", "operator");
    given["request_break_glass"] = true.into();
    given["dry_run"] = false.into();
    let report = host.call("request_restart", given.clone())["structuredContent"].clone();
    assert_eq!(report["apply_gate"]["code"], "break_glass", "{report}");
    assert_eq!(report["apply_authorized"], true, "{report}");
    assert_eq!(report["apply_supported"], false);
    assert_eq!(report["restart_performed"], false);
    // The class matrix holds for a worker whatever the environment grants.
    given["requester"]["role"] = "author".into();
    let report = host.call("request_restart", given)["structuredContent"].clone();
    assert_eq!(report["apply_authorized"], false, "{report}");
    assert!(report["reason_codes"].as_array().unwrap().contains(&json!("role_not_permitted")));
    host.end();
}

#[test]
fn bad_frames_do_not_end_it_and_nothing_but_frames_is_written() {
    let project = project();
    let mut host = Host::start(project.path(), &[]);
    // Before the session begins: a stray notification, a stray answer, a request too early.
    host.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    host.write(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#);
    assert!(host.ask("tools/list", json!({}))["error"].is_object());
    let client = json!({"name": "test", "version": "1"});
    let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    assert!(host.ask("initialize", begin)["result"].is_object());
    let deep = "[".repeat(100_000);
    for bad in ["", "garbage", "{", "\u{0}", "{\"jsonrpc\":\"2.0\"", deep.as_str()] {
        host.write(bad);
    }
    host.server.stdin.as_ref().unwrap().write_all(b"\xff\xfe\n").unwrap();
    assert_eq!(host.ask("no/such/method", json!({}))["error"]["code"], -32601);
    assert!(host.ask("tools/call", json!({"name": "nope"}))["error"].is_object());
    let huge = "kill ".repeat(1_000_000);
    let answer = host.call("assess_command", json!({"command": huge}));
    assert_eq!(answer["structuredContent"]["contaminated"], true);
    let cancelled = host.send("tools/call", json!({"name": "check_sources", "arguments": {}}));
    host.write(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}})
            .to_string(),
    );
    let last = host.send("ping", json!({}));
    // The cancelled call may have been answered before; after the ping's answer nothing is lost.
    while host.answer()["id"] != last {}
    host.end();
}

#[test]
fn parallel_calls_are_neither_lost_nor_crossed() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let mut open = BTreeSet::new();
    for at in 0..60 {
        let given = json!({"name": "assess_command", "arguments": {"command": format!("echo {at}")}});
        open.insert((host.send("tools/call", given), format!("echo {at}")));
    }
    while !open.is_empty() {
        let answer = host.answer();
        let command = answer["result"]["structuredContent"]["command"].as_str().unwrap().to_owned();
        assert!(open.remove(&(answer["id"].as_u64().unwrap(), command)), "{answer}");
    }
    host.end();
}

#[test]
fn it_registers_itself_and_is_marked_as_stopped_at_end_of_input() {
    let project = project();
    let host = Host::ready(project.path(), &[]);
    let pid = i64::from(host.server.id());
    let rows = || {
        let store = Store::open(&project.path().join("state.db"), OpenMode::Existing).unwrap();
        store.runtimes(None).unwrap()
    };
    let row = rows().into_iter().find(|row| row.pid == Some(pid)).unwrap();
    assert_eq!((row.status.as_str(), row.transport.as_deref()), ("running", Some("stdio")));
    assert_eq!(row.attested, Some(true));
    host.end();
    let row = rows().into_iter().find(|row| row.pid == Some(pid)).unwrap();
    assert_eq!(row.status, "stopped");
    assert!(row.stopped_at.is_some());
}

#[test]
fn a_host_that_disappears_in_the_middle_of_a_call_leaves_no_process() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    for _ in 0..20 {
        host.send("tools/call", json!({"name": "check_sources", "arguments": {}}));
    }
    let Host { mut server, answers, .. } = host;
    drop(answers);
    drop(server.stdin.take());
    // It ends by itself: waiting for it comes back.
    server.wait().unwrap();
}

#[test]
fn a_faulty_configuration_is_told_and_does_not_end_it() {
    let project = project();
    std::fs::write(project.path().join("restartlint.toml"), "daemon = 1\n").unwrap();
    let mut host = Host::ready(project.path(), &[]);
    let refused = host.call("check_sources", json!({}));
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("restartlint.toml"), "{refused}");
    host.end();
}
