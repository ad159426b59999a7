//! The durable marker on the command line: recorded for good, cleared by authority alone.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

const AUTHORITY: &str = "GITEA_OPERATOR_DAEMON_MAINTENANCE_AUTHORIZATION";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::write(folder.0.path().join("restartlint.toml"), "[guard]\nprocesses = [\"mcp_server.py\"]\n")
            .unwrap();
        folder
    }

    fn guard(&self, args: &[&str], authority: Option<&str>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_restartlint"));
        command.arg("guard").args(args).args(["--store", "store.db"]).current_dir(self.0.path());
        command.env_remove(AUTHORITY);
        if let Some(value) = authority {
            command.env(AUTHORITY, value);
        }
        command.output().unwrap()
    }

    fn record(&self, command: &str, session: &str) -> String {
        let output = self.guard(&["record", "--command", command, "--session", session], None);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["marker_id"].as_str().unwrap().to_owned()
    }

    fn status(&self) -> (Option<i32>, Value) {
        let output = self.guard(&["status", "--format", "json"], None);
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }
}

#[test]
fn a_marker_is_open_until_authority_clears_it() {
    let folder = Folder::new();
    assert_eq!(folder.status().0, Some(2), "there is no store");
    let id = folder.record("pkill -f mcp_server.py", "s-a");
    let (code, report) = folder.status();
    assert_eq!(code, Some(1));
    assert_eq!(report["reason_code"], "contaminated_runtime");
    assert_eq!(report["open_markers"][0]["command"], "pkill -f mcp_server.py");
    assert_eq!(report["open_markers"][0]["session_id"], "s-a");
    assert_eq!(report["open_markers"][0]["verdict"], "contaminating");

    for value in [None, Some(""), Some("0"), Some(" No "), Some("FALSE")] {
        let output = folder.guard(&["clear", &id], value);
        assert_eq!(output.status.code(), Some(1), "{value:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(AUTHORITY));
    }
    for claim in [&["--authorized"][..], &["--authorization", "1"], &["--operator"]] {
        let args: Vec<&str> = ["clear", &id].into_iter().chain(claim.iter().copied()).collect();
        assert_eq!(folder.guard(&args, None).status.code(), Some(2), "{claim:?}");
    }
    assert_eq!(folder.guard(&["clear", "no-such-marker"], Some("1")).status.code(), Some(1));
    assert_eq!(folder.status().0, Some(1));

    assert_eq!(folder.guard(&["clear", &id], Some("1")).status.code(), Some(0));
    let (code, report) = folder.status();
    assert_eq!(code, Some(0));
    let cleared = &report["cleared_markers"][0];
    assert_eq!(cleared["marker_id"], id.as_str());
    assert!(cleared["cleared_at"].is_string());
    assert_eq!(cleared["cleared_by"], "maintenance authority of the caller_environment");
}

#[test]
fn each_marker_is_cleared_for_itself() {
    let folder = Folder::new();
    let ids = [folder.record("pkill -f mcp_server.py", "s-a"), folder.record("killall gitea-mcp", "s-b")];
    assert_ne!(ids[0], ids[1]);
    for (id, left) in ids.iter().zip([Some(1), Some(0)]) {
        assert_eq!(folder.guard(&["clear", id], Some("granted")).status.code(), Some(0));
        assert_eq!(folder.status().0, left);
    }
}

#[test]
fn what_says_nothing_is_not_recorded() {
    let folder = Folder::new();
    for (command, session) in [("", "s-a"), ("  ", "s-a"), ("pkill x", ""), ("pkill x", " ")] {
        let output = folder.guard(&["record", "--command", command, "--session", session], None);
        assert_eq!(output.status.code(), Some(2));
    }
    assert!(!folder.0.path().join("store.db").exists());
}

#[test]
fn a_command_cannot_steer_the_terminal_that_shows_it() {
    let folder = Folder::new();
    folder.record("pkill \u{1b}[2Jx\nfaked line", "s-\u{7}a");
    let shown = folder.guard(&["status"], None).stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    assert!(!shown.lines().any(|line| line.starts_with("faked")), "{shown:?}");
}

/// A configuration that cannot be read is no reason to lose an attempt.
#[test]
fn an_attempt_is_recorded_beside_a_broken_configuration() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("restartlint.toml"), "[guard\n").unwrap();
    folder.record("pkill -f mcp_server.py", "s-a");
    let (code, report) = folder.status();
    assert_eq!(code, Some(1));
    assert_eq!(report["open_markers"][0]["verdict"], "undetermined");
}
