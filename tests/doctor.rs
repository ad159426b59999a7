//! `doctor`, and the way of a newcomer from the README to a denied kill.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn run(folder: &Path, args: &[&str], input: &str) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("restartlint"))
        .current_dir(folder)
        .args(args)
        .write_stdin(input.to_owned())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn states(folder: &Path, expected: i32) -> Vec<(String, String)> {
    let (status, out, err) = run(folder, &["doctor", "--format", "json"], "");
    assert_eq!(status, expected, "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let word = |part: &Value, key: &str| part[key].as_str().unwrap().to_owned();
    report["parts"].as_array().unwrap().iter().map(|p| (word(p, "name"), word(p, "state"))).collect()
}

fn state(states: &[(String, String)], name: &str) -> String {
    states.iter().find(|(n, _)| n == name).map(|(_, state)| state.clone()).unwrap()
}

const SERVER: &str = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP(\"demo\")\n\nif __name__ == \"__main__\":\n    mcp.run()\n";

#[test]
fn an_empty_project_is_sound_and_mostly_inactive() {
    let folder = tempfile::tempdir().unwrap();
    let states = states(folder.path(), 0);
    for name in ["configuration", "inventory", "daemon detection", "guard", "hook", "store", "fleet"] {
        assert_eq!(state(&states, name), "inactive", "{name}");
    }
    assert_eq!(state(&states, "process listing"), "works");
}

#[test]
fn a_newcomer_reaches_a_denied_kill_in_two_commands_after_the_installation() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mcp_server.py"), SERVER).unwrap();
    assert_eq!(run(folder.path(), &["init"], "").0, 0);
    let event = r#"{"tool_name":"Bash","tool_input":{"command":"pkill -f mcp_server.py"}}"#;
    let (status, out, err) = run(folder.path(), &["guard", "hook"], event);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("names the daemon"), "{err}");

    std::fs::create_dir(folder.path().join(".claude")).unwrap();
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md")).unwrap();
    let settings = page.split("```json\n").find(|part| part.contains("PreToolUse")).unwrap();
    let settings = settings.split("```").next().unwrap();
    std::fs::write(folder.path().join(".claude/settings.json"), settings).unwrap();
    let states = states(folder.path(), 0);
    for name in ["configuration", "inventory", "daemon detection", "guard", "hook"] {
        assert_eq!(state(&states, name), "works", "{name}");
    }
}

#[test]
fn what_is_broken_is_said_and_denied() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("restartlint.toml", "daemon = [\"gone.py\"]\nstore = \"state.db\"\n");
    write("state.db", "this is no store");
    write("restart-paths.toml", "schema = 99\n");
    let found = states(folder.path(), 1);
    for name in ["inventory", "daemon detection", "store"] {
        assert_eq!(state(&found, name), "broken", "{name}");
    }
    write("restartlint.toml", "daemon = 1\n");
    assert_eq!(states(folder.path(), 1), [("configuration".to_owned(), "broken".to_owned())]);
}
