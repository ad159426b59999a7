//! The reference inventory of ten paths: its tree is clean, its document in step, and the
//! five checks of the system that it comes from hold on the same inputs.

#![allow(clippy::disallowed_methods)]

mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reference")
}

/// A copy of the tree with some files put in; what `check` finds in it.
fn with(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for entry in std::fs::read_dir(reference()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        all.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    all.extend(files.iter().map(|(name, text)| (name.to_string(), text.to_string())));
    tree::write(folder.path(), &all);
    let output = tree::run(folder.path(), &["check", "--format", "json", "."]);
    tree::found(&String::from_utf8_lossy(&output.stdout))
}

#[test]
fn the_tree_is_clean_and_the_document_in_step() {
    let check = tree::run(&reference(), &["check", "--format", "json", "."]);
    let json = String::from_utf8_lossy(&check.stdout).into_owned();
    assert_eq!(check.status.code(), Some(0), "{json}");
    assert_eq!(tree::found(&json), Vec::<String>::new());
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["daemon_modules"].as_array().unwrap().len(), 3);
    assert!(document["summary"]["sites"].as_u64().unwrap() >= 12);
    assert_eq!(tree::run(&reference(), &["inventory", "check"]).status.code(), Some(0));
}

#[test]
fn a_module_that_replaces_itself_is_found() {
    let text = "import os\n\n\ndef reload():\n    os.execv(\"/x\", [\"x\"])\n";
    assert_eq!(with(&[("role_session_router.py", text)]), ["RL101 role_session_router.py:5"]);
}

#[test]
fn words_about_it_are_not() {
    let text = "\"\"\"Never calls os._exit.\"\"\"\n\n# NOT os.execv() here: the host reconnects.\nX = 1\n";
    assert_eq!(with(&[("role_session_router.py", text)]), Vec::<String>::new());
}

#[test]
fn the_removed_helper_is_found_when_it_returns() {
    let text =
        "def _trigger_mcp_auto_restart():\n    return None\n\n\ndef report(stale=False):\n    return None\n";
    assert_eq!(with(&[("stale_runtime.py", text)]), ["RL201 stale_runtime.py:1"]);
}

#[test]
fn an_unknown_path_id_is_refused() {
    let refused = tree::run(&reference(), &["inventory", "assert", "cli_venv_bootstrap"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cli_venv_bootstrap_execv"));
    for (id, status) in
        [("profile_switch_runtime", 0), ("manual_daemon_kill", 1), ("ide_client_reconnect", 1)]
    {
        let known = tree::run(&reference(), &["inventory", "assert", id]);
        assert_eq!(known.status.code(), Some(0), "{id}");
        let permitted = tree::run(&reference(), &["inventory", "assert", id, "--permitted"]);
        assert_eq!(permitted.status.code(), Some(status), "{id}");
    }
}

#[test]
fn killing_the_daemon_by_hand_is_contamination_and_looking_for_it_is_not() {
    let scripts =
        [("stop.sh", "#!/bin/sh\nps aux | grep mcp_server\npkill -f mcp_server.py\nkillall python3\n")];
    assert_eq!(with(&scripts), ["RL303 stop.sh:3", "RL303 stop.sh:4"]);
    let guard = |command: &str| tree::run(&reference(), &["guard", "command", "--", command]).status.code();
    assert_eq!(guard("pkill -f mcp_server.py"), Some(1));
    assert_eq!(guard("ps aux | grep mcp_server"), Some(0));
}

#[test]
fn every_id_stands_in_the_document() {
    let text = std::fs::read_to_string(reference().join("restart-paths.md")).unwrap();
    let ids = [
        "cli_venv_bootstrap_execv",
        "daemon_self_replacement",
        "legacy_auto_restart_helper",
        "config_touch_reload",
        "master_advance_auto_restart",
        "stale_runtime_resolver_reconnect",
        "manual_daemon_kill",
        "conflict_marker_infra_stop",
        "ide_client_reconnect",
        "profile_switch_runtime",
    ];
    for id in ids {
        assert!(text.contains(&format!("| `{id}` |")), "{id}");
        assert!(text.contains(&format!("### `{id}`")), "{id}");
    }
}
