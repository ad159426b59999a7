//! The fixtures of the passes, asked through the server: a tool answers as its pass and as
//! its command. What a caller may not give is put where the server observes it: into its
//! configuration, its store and its checkout.

#![cfg(feature = "mcp")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod host;

use std::path::Path;
use std::process::Command;

use host::Host;
use serde_json::{Value, json};
use tempfile::TempDir;

const HEAD: &str = "89abcdef0123456789abcdef0123456789abcdef";
const CLASSES: [&str; 10] = [
    "client_reconnect",
    "profile_switch",
    "config_reload",
    "session_restart",
    "role_restart",
    "connector_restart",
    "rolling_restart",
    "full_mcp_restart",
    "host_restart",
    "no_such_class",
];
const ROLES: [&str; 6] = ["author", "reviewer", "merger", "reconciler", "controller", "operator"];

fn project(config: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("restartlint.toml"), format!("store = \"state.db\"\n{config}"))
        .unwrap();
    folder
}

fn fixture(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(file)).unwrap()
}

/// What a command prints as JSON in a folder.
fn command(folder: &Path, args: &[&str]) -> Value {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("restartlint"))
        .current_dir(folder)
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {said}"))
}

#[test]
fn every_command_of_the_guards_table_is_judged_as_the_guard_judges_it() {
    let names = r#"["mcp_server.py", "mcp-server", "mcp-tools", "relay", "svc:app"]"#;
    let project = project(&format!("[guard]\nprocesses = {names}\n"));
    let mut host = Host::ready(project.path(), &[]);
    let table = fixture("guard/commands.tsv");
    let mut count = 0;
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with("#!")) {
        let (text, want) = line.rsplit_once('\t').unwrap();
        let text = text.replace("\\n", "\n");
        let answer = host.call("assess_command", json!({"command": text}))["structuredContent"].clone();
        assert_eq!(answer["command"], text);
        match want {
            "contaminated" => assert_eq!(answer["contaminated"], true, "{text}: {answer}"),
            "clean" => assert_eq!(answer["verdict"], "clean", "{text}: {answer}"),
            _ => assert!(answer["verdict"].is_string(), "{text}: {answer}"),
        }
        // Each tenth is asked of the command as well: the answer is the same to the letter.
        if count % 10 == 0 {
            let same = command(project.path(), &["guard", "command", "--format", "json", "--", &text]);
            assert_eq!(answer, same, "{text}");
        }
        count += 1;
    }
    assert!(count > 130, "{count}");
    host.end();
}

/// The fixture's times, moved to where the server's clock sees them on the same side.
fn moved(text: &str) -> String {
    text.replace("2026-07-23T06:30:00Z", "2001-07-23T06:30:00Z")
        .replace("2026-07-23T06:30:01Z", "2099-07-23T06:30:01Z")
        .replace("2026-07-23T07:12:13", "2099-07-23T07:12:13")
        .replace("2026-07-23T02:12:13", "2099-07-23T02:12:13")
}

#[test]
fn every_lease_case_holds_through_the_server() {
    let project = project("");
    let mut host = Host::ready(project.path(), &[]);
    let cases: Vec<Value> = serde_json::from_str(&moved(&fixture("coordinator/lease.json"))).unwrap();
    assert!(cases.len() > 50, "cases were lost");
    for case in &cases {
        let name = &case["name"];
        let bodies = case["comments"].as_array().unwrap();
        let comments: Vec<Value> = bodies.iter().map(|body| json!({"body": body})).collect();
        let given = json!({"comments": comments, "pr": 818, "kind": case["kind"]});
        let answer = host.call("assess_lease", given)["structuredContent"].clone();
        assert_eq!(answer["lease"].is_null(), case["lease"].is_null(), "{name}: {answer}");
        for (key, want) in case["lease"].as_object().into_iter().flatten() {
            assert_eq!(&answer["lease"][key], want, "{name}: {key}");
        }
        let malformed: Vec<&Value> =
            answer["malformed"].as_array().unwrap().iter().map(|marker| &marker["index"]).collect();
        assert_eq!(json!(malformed), case["malformed"], "{name}");
        for mutation in ["approve", "request_changes", "merge"] {
            let heads = json!({"comments": comments, "pr": 818, "mutation": mutation, "reviewed_head": HEAD, "live_head": HEAD});
            let gate = host.call("assess_lease", heads)["structuredContent"].clone();
            assert_eq!(gate["mutation_allowed"], case["blocked"] == false, "{name}: {gate}");
        }
    }
    host.end();
}

#[test]
fn every_class_for_every_role_is_decided_as_the_command_decides_it() {
    let project = project("");
    let mut host = Host::ready(project.path(), &[]);
    for class in CLASSES {
        for role in ROLES {
            let requester = json!({"session_id": "s-a", "role": role});
            let mut wish = json!({"restart_class": class, "requester": requester});
            let mut args =
                vec!["impact", "--store", "state.db", "--class", class, "--role", role, "--session", "s-a"];
            if class == "role_restart" {
                wish["target_role"] = "reviewer".into();
                args.extend(["--target-role", "reviewer"]);
            }
            args.extend(["--format", "json"]);
            let answer = host.call("request_restart", wish)["structuredContent"].clone();
            let same = command(project.path(), &args);
            for key in [
                "allow_restart",
                "approval",
                "blast_radius",
                "inventory_complete",
                "reason_codes",
                "reasons",
                "required_permission",
                "restart_class_authorized",
                "target",
                "verdict",
            ] {
                assert_eq!(answer[key], same[key], "{class} {role} {key}");
            }
            assert_eq!(
                (&answer["apply_supported"], &answer["restart_performed"]),
                (&json!(false), &json!(false))
            );
        }
    }
    host.end();
}

#[test]
fn the_fleet_is_assessed_as_the_command_assesses_it() {
    let member = "[[fleet.member]]\nnamespace = \"author\"\nprofile = \"demo-author\"\nrole = \"author\"\n";
    let binding = "[fleet]\nbinding = { remote = \"origin\", org = \"example\", repo = \"tools\" }\n";
    for roster in [String::new(), binding.to_owned(), format!("{binding}{member}")] {
        let project = project(&roster);
        let mut host = Host::ready(project.path(), &[]);
        let answer = host.call("assess_fleet_inventory", json!({}));
        let answer = answer["structuredContent"].clone();
        let same = command(project.path(), &["fleet", "assess", "--store", "state.db", "--format", "json"]);
        for key in [
            "mutation_gate_satisfied",
            "blocked_reasons",
            "single_cohort",
            "missing",
            "members",
            "unexpected",
        ] {
            assert_eq!(answer[key], same[key], "{roster} {key}: {answer}");
        }
        assert!(answer["blocked_reasons"].as_array().is_some_and(|codes| !codes.is_empty()), "{answer}");
        host.end();
    }
}

#[test]
fn parity_is_that_of_the_checkout_that_the_server_started_in() {
    let project = project("");
    let git = project.path().join(".git");
    std::fs::create_dir_all(git.join("refs/heads")).unwrap();
    std::fs::create_dir_all(git.join("objects")).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let branch = git.join("refs/heads/main");
    std::fs::write(&branch, format!("{}\n", "1".repeat(40))).unwrap();
    let mut host = Host::ready(project.path(), &[]);
    let mut parity = || host.call("assess_parity", json!({}))["structuredContent"].clone();
    let started = "1".repeat(40);
    let asked =
        |started: &str| command(project.path(), &["parity", "--started-head", started, "--format", "json"]);
    let before = parity();
    assert_eq!((&before["mutations_blocked"], before.clone()), (&json!(false), asked(&started)));
    std::fs::write(&branch, format!("{}\n", "2".repeat(40))).unwrap();
    let after = parity();
    assert_eq!((&after["mutations_blocked"], after.clone()), (&json!(true), asked(&started)));
    std::fs::remove_file(&branch).unwrap();
    let unknown = parity();
    assert_eq!((&unknown["mutations_blocked"], unknown.clone()), (&json!(true), asked(&started)));
    host.end();
}
