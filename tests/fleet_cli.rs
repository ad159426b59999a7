//! `fleet` and `parity` on the command line: what they answer, refuse and leave alone.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const HEAD: &str = "1111111111111111111111111111111111111111";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write(
            "restartlint.toml",
            "[fleet]\nbinding = { remote = \"prgs\" }\n[[fleet.member]]\nnamespace = \"gitea-author\"\n\
             profile = \"prgs-author\"\nrole = \"author\"\n[guard]\nprocesses = [\"no-such-server-anywhere\"]\n",
        );
        folder
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn run(&self, line: &str) -> Output {
        self.run_with(line, "")
    }

    fn run_with(&self, line: &str, input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_restartlint"))
            .args(line.split(' '))
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that does not read its input may have ended already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn list(&self) -> Value {
        let output = self.run("fleet list --store fleet.db --format json");
        assert_eq!(status(&output), 0);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn row() -> Value {
    json!({
        "runtime_id": "rt-1", "namespace": "gitea-author", "profile": "prgs-author", "role": "author",
        "remote": "prgs", "org": "example", "repo": "tools", "repository_root": "/srv/tools", "pid": 42000,
        "process_started_at": "2026-07-28T01:00:00Z", "cohort_id": "ppid:40990", "cohort_source": "environment",
        "client_provenance": "client_managed", "boot_id": "boot-1", "startup_head": HEAD, "transport": "stdio",
        "status": "running", "registered_at": "2026-07-28T03:30:00+02:00",
        "last_heartbeat_at": "2026-07-28T02:59:00Z", "stopped_at": null
    })
}

const RECORDED: &str =
    "fleet assess --rows rows.json --processes procs.json --now 2026-07-28T03:00:00Z --format json";

fn processes() -> Value {
    json!({"available": true, "reason": null, "processes": [
        {"pid": 42000, "started_at": "2026-07-28T01:00:00Z", "command": "python3 mcp_server.py"}]})
}

#[test]
fn a_row_comes_back_as_it_was_written() {
    let folder = Folder::new();
    assert_eq!(folder.list(), json!([]));
    assert!(!folder.0.path().join("fleet.db").exists(), "listing makes no store");
    let output = folder.run_with("fleet register --store fleet.db --row -", &row().to_string());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let mut listed = folder.list();
    assert_eq!(listed[0].as_object_mut().unwrap().remove("attested"), Some(json!(false)));
    assert_eq!(listed, json!([row()]));

    assert_eq!(status(&folder.run("fleet heartbeat rt-1 --store fleet.db")), 0);
    let beaten = folder.list();
    for (member, value) in row().as_object().unwrap() {
        assert_eq!(&beaten[0][member] == value, member != "last_heartbeat_at", "{member}");
    }
    assert_eq!(status(&folder.run("fleet stop --store fleet.db rt-1")), 0);
    assert_eq!(folder.list()[0]["status"], "stopped");
    let running = folder.run("fleet list --status running --store fleet.db --format json");
    assert_eq!(String::from_utf8_lossy(&running.stdout).trim(), "[]");
    for unknown in ["fleet heartbeat rt-2 --store fleet.db", "fleet stop rt-2 --store fleet.db"] {
        let output = folder.run(unknown);
        assert_eq!(status(&output), 1);
        assert!(String::from_utf8_lossy(&output.stdout).contains("nothing was changed"));
    }
    assert_eq!(folder.list().as_array().unwrap().len(), 1);
}

#[test]
fn what_is_no_row_is_refused_at_its_place() {
    let folder = Folder::new();
    let change = |member: &str, value: Value| {
        let mut row = row();
        row[member] = value;
        row.to_string()
    };
    let cases = [
        (change("runtime_id", json!(" ")), "`runtime_id` is blank"),
        (change("namespace", json!("")), "`namespace` is blank"),
        (change("pid", json!(0)), "`pid`"),
        (change("pid", json!(-4)), "`pid`"),
        (change("pid", json!("42000")), "invalid type"),
        (change("pid", json!(true)), "invalid type"),
        (change("registered_at", json!("today")), "`registered_at`"),
        (change("colour", json!("red")), "unknown field"),
        (change("attested", json!(true)), "`attested`"),
        ("[]".to_owned(), "restartlint"),
        ("{".to_owned(), "1 │"),
        (String::new(), "EOF"),
        (r#"{"runtime_id":"a","runtime_id":"b","namespace":"n","pid":1}"#.to_owned(), "duplicate field"),
    ];
    for (text, told) in cases {
        let output = folder.run_with("fleet register --store fleet.db --row -", &text);
        assert_eq!(status(&output), 2, "{text}");
        assert!(output.stdout.is_empty());
        assert!(!stderr(&output).is_empty());
        if told != "restartlint" {
            assert!(stderr(&output).contains(told), "{text}: {}", stderr(&output));
        }
    }
    assert!(!folder.0.path().join("fleet.db").exists(), "nothing was written for a row that is none");
}

#[test]
fn rows_past_the_retention_go() {
    let folder = Folder::new();
    let now = jiff::Timestamp::now();
    for (id, pid, days) in [("old", 1, 8), ("recent", 2, 6), ("fresh", 3, 1)] {
        let at = (now - jiff::SignedDuration::from_hours(24 * days)).to_string();
        let row = json!({"runtime_id": id, "namespace": "n", "pid": pid, "registered_at": at});
        folder.run_with("fleet register --store fleet.db --row -", &row.to_string());
    }
    let left = |folder: &Folder| -> Vec<String> {
        folder
            .list()
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["runtime_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(status(&folder.run("fleet prune --store fleet.db")), 0);
    assert_eq!(left(&folder), ["recent", "fresh"]);
    assert_eq!(status(&folder.run("fleet prune --store fleet.db --older-than 3")), 0);
    assert_eq!(left(&folder), ["fresh"]);
    assert_eq!(status(&folder.run("fleet prune --store fleet.db --older-than -1")), 2);
    folder.write("restartlint.toml", "[fleet]\nretention-days = 0\n");
    assert_eq!(status(&folder.run("fleet prune --store fleet.db")), 2);
    assert_eq!(status(&folder.run("fleet prune --store none.db --older-than 3")), 0, "nothing to drop");
}

#[test]
fn a_recorded_snapshot_is_replayed_and_says_so() {
    let folder = Folder::new();
    folder.write("rows.json", json!([row()]).to_string());
    folder.write("procs.json", processes().to_string());
    let output = folder.run(RECORDED);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["evidence"], "recorded");
    assert_eq!(report["assessed_at"], "2026-07-28T03:00:00Z");
    assert_eq!(output.stdout, folder.run(RECORDED).stdout, "the same bytes");

    // A listing that was not available counts for nothing, whatever stands in it.
    let mut unavailable = processes();
    unavailable["available"] = json!(false);
    unavailable["reason"] = json!("permission denied");
    folder.write("procs.json", unavailable.to_string());
    let output = folder.run(RECORDED);
    assert_eq!(status(&output), 1);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["blocked_reasons"], json!(["process_listing_unavailable"]));
    assert!(report["reasons"][0].as_str().unwrap().contains("permission denied"));
    folder.write("procs.json", processes().to_string());

    let text = folder.run(&RECORDED.replace(" --format json", ""));
    assert!(String::from_utf8_lossy(&text.stdout).starts_with("mutation gate satisfied: 1 of 1 members run"));

    folder.write("rows.json", json!({"error": "disk I/O error"}).to_string());
    let output = folder.run(RECORDED);
    assert_eq!(status(&output), 1);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["blocked_reason"], "registry_unreadable");
    assert!(report["reasons"][0].as_str().unwrap().contains("disk I/O error"));
}

#[test]
fn a_malformed_snapshot_is_refused() {
    let folder = Folder::new();
    folder.write("rows.json", json!([row()]).to_string());
    for listing in [
        "{",
        "[]",
        r#"{"processes":[],"reason":null}"#,
        r#"{"available":"yes","processes":[]}"#,
        r#"{"available":true,"processes":null}"#,
        r#"{"available":true,"processes":[{"pid":"1"}]}"#,
        r#"{"available":true,"processes":[],"evidence":"observed"}"#,
        r#"{"available":true,"available":true,"processes":[]}"#,
    ] {
        folder.write("procs.json", listing);
        let output = folder.run(RECORDED);
        assert_eq!(status(&output), 2, "{listing}");
        assert!(output.stdout.is_empty() && stderr(&output).contains("procs.json"), "{}", stderr(&output));
    }
    folder.write("procs.json", processes().to_string());
    for rows in ["[{]", "null", "[null]", r#"[{"runtime_id":"a"}]"#, r#"{"error":3}"#, r#"{"rows":[]}"#] {
        folder.write("rows.json", rows);
        assert_eq!(status(&folder.run(RECORDED)), 2, "{rows}");
    }
    folder.write("rows.json", b"[\"\xff\"]");
    assert_eq!(status(&folder.run(RECORDED)), 2);
    assert_eq!(status(&folder.run("fleet assess --rows - --processes -")), 2, "one input is read once");
    assert_eq!(status(&folder.run("fleet assess --rows rows.json")), 2);
    assert_eq!(status(&folder.run("fleet assess --store fleet.db --now 2026-07-28T03:00:00Z")), 2);
}

#[test]
fn an_observed_fleet_needs_names_and_a_store() {
    let folder = Folder::new();
    let assess = |folder: &Folder| -> (i32, Value) {
        let output = folder.run("fleet assess --store fleet.db --format json");
        (status(&output), serde_json::from_slice(&output.stdout).unwrap())
    };
    let (code, report) = assess(&folder);
    assert_eq!((code, &report["blocked_reason"]), (1, &json!("registry_unreadable")));
    assert!(!folder.0.path().join("fleet.db").exists(), "assessing makes no store");

    folder.run_with("fleet register --store fleet.db --row -", &row().to_string());
    let (code, report) = assess(&folder);
    assert_eq!(code, 1);
    assert_eq!(report["evidence"], "observed");
    assert_eq!(report["blocked_reasons"], json!(["member_missing", "member_stale"]));

    folder.write("restartlint.toml", "[[fleet.member]]\nnamespace = \"a\"\nprofile = \"b\"\nrole = \"c\"\n");
    let (code, report) = assess(&folder);
    assert_eq!((code, &report["blocked_reason"]), (1, &json!("process_listing_unavailable")));

    folder.write("fleet.db", "garbage ".repeat(300));
    let (code, report) = assess(&folder);
    assert_eq!((code, &report["blocked_reason"]), (1, &json!("registry_unreadable")));
    assert_eq!(status(&folder.run("fleet list --store fleet.db")), 2);
    assert_eq!(fs::read(folder.0.path().join("fleet.db")).unwrap(), "garbage ".repeat(300).into_bytes());
}

#[test]
fn the_configured_store_serves_where_none_is_named() {
    let folder = Folder::new();
    assert_eq!(status(&folder.run("fleet list")), 2);
    folder.write("restartlint.toml", "store = \"state/fleet.db\"\n");
    fs::create_dir(folder.0.path().join("state")).unwrap();
    assert_eq!(status(&folder.run_with("fleet register --row -", &row().to_string())), 0);
    assert!(folder.0.path().join("state/fleet.db").is_file());
}

#[test]
#[cfg(unix)]
fn a_configured_store_does_not_leave_the_project() {
    let folder = Folder::new();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.0.path().join("link")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("s.db"), folder.0.path().join("s.db")).unwrap();
    for store in ["link/fleet.db", "s.db", "../fleet.db", "/tmp/fleet.db"] {
        folder.write("restartlint.toml", format!("store = \"{store}\"\n"));
        let output = folder.run_with("fleet register --row -", &row().to_string());
        assert_eq!(status(&output), 2, "{store}");
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn parity_compares_with_the_checkout() {
    let folder = Folder::new();
    let ask = |folder: &Folder, line: &str| -> (i32, Value) {
        let output = folder.run(&format!("{line} --format json"));
        (status(&output), serde_json::from_slice(&output.stdout).unwrap_or_default())
    };
    let with_head = format!("parity --started-head {HEAD}");
    let (code, report) = ask(&folder, &format!("{with_head} --checkout /"));
    assert_eq!((code, &report["status"]), (1, &json!("unknown")));

    fs::create_dir_all(folder.0.path().join("tree/.git")).unwrap();
    folder.write("tree/.git/HEAD", HEAD);
    let (code, report) = ask(&folder, &format!("{with_head} --checkout tree"));
    assert_eq!((code, &report["status"]), (0, &json!("current")));
    folder.write("tree/.git/HEAD", HEAD.replace('1', "2"));
    let (code, report) = ask(&folder, &format!("{with_head} --checkout tree"));
    assert_eq!((code, &report["status"]), (1, &json!("stale")));
    assert_eq!(report["restart_required"], true);

    let mut row = row();
    row["repository_root"] = json!(folder.0.path().join("tree").to_string_lossy());
    folder.run_with("fleet register --store fleet.db --row -", &row.to_string());
    let (code, report) = ask(&folder, "parity --runtime rt-1 --store fleet.db");
    assert_eq!((code, &report["started_head"]), (1, &json!(HEAD)));
    assert_eq!(status(&folder.run("parity --runtime rt-2 --store fleet.db")), 2);
    assert_eq!(status(&folder.run("parity")), 2);
}

#[test]
fn the_folder_of_a_new_store_is_made() {
    let folder = Folder::new();
    folder.write("restartlint.toml", "store = \"state/deep/fleet.db\"\n");
    assert_eq!(status(&folder.run("fleet list")), 0);
    assert!(!folder.0.path().join("state").exists());
    let row = json!({"runtime_id": "r", "namespace": "n", "pid": 1}).to_string();
    let output = folder.run_with("fleet register --row -", &row);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(folder.0.path().join("state/deep/fleet.db").is_file());
}
