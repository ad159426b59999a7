//! `guard command` and `guard hook` as an agent's host calls them: status, streams, shapes.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const CONFIG: &str = "[guard]\nprocesses = [\"mcp_server.py\", \"gitea-mcp\"]\n";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("restartlint.toml"), CONFIG).unwrap();
    folder
}

fn run(folder: &Path, args: &[&str], input: &str) -> (i32, String, String) {
    let output = Command::cargo_bin("restartlint")
        .unwrap()
        .current_dir(folder)
        .args(args)
        .write_stdin(input.to_owned())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn verdict(folder: &Path, command: &str) -> (i32, Value) {
    let (status, out, _) = run(folder, &["guard", "command", "--format", "json", "--", command], "");
    (status, serde_json::from_str(&out).unwrap())
}

#[test]
fn a_verdict_has_its_status_and_its_shape() {
    let project = project();
    let (status, report) = verdict(project.path(), "sudo pkill -f mcp_server.py");
    assert_eq!(status, 1);
    assert_eq!(report["verdict"], "contaminating");
    assert_eq!(report["contaminated"], true);
    assert_eq!(report["path_id"], Value::Null);
    let action = &report["actions"][0];
    assert_eq!(action["effect"], "kill");
    assert_eq!(action["primitive"], "pkill");
    assert_eq!(action["target"], "mcp_server.py");
    assert_eq!(action["target_kind"], "pattern");
    assert_eq!(action["reason_code"], "names_daemon");
    assert_eq!(action["span"]["start"], 0);
    assert_eq!(action["span"]["end"], 27);
    assert_eq!(action["nested_in"][0], "sudo");
    assert_eq!(verdict(project.path(), "ps aux | grep mcp_server").0, 0);
    assert_eq!(verdict(project.path(), "kill -9 \"$PID\"").1["verdict"], "undetermined");
}

#[test]
fn the_command_is_one_argument_or_standard_input() {
    let project = project();
    assert_eq!(run(project.path(), &["guard", "command", "-"], "killall gitea-mcp\n").0, 1);
    assert_eq!(run(project.path(), &["guard", "command", "-"], "ls\n").0, 0);
    assert_eq!(run(project.path(), &["guard", "command", "--", "pkill", "-f", "x"], "").0, 2);
    assert_eq!(run(project.path(), &["guard", "command", "--config", "gone.toml", "--", "ls"], "").0, 2);
    assert_eq!(run(project.path(), &["guard", "command", "--store", "gone.db", "--", "ls"], "").0, 2);
}

#[test]
fn a_wildcard_among_the_daemon_modules_names_its_files() {
    let project = project();
    std::fs::create_dir_all(project.path().join("src/servers")).unwrap();
    std::fs::write(project.path().join("src/servers/author.py"), "").unwrap();
    std::fs::write(project.path().join("restartlint.toml"), "daemon = [\"src/servers/*.py\"]\n").unwrap();
    assert_eq!(verdict(project.path(), "pkill -f servers/author.py").1["verdict"], "contaminating");
    assert_eq!(verdict(project.path(), "pkill -f nginx").1["verdict"], "clean");
}

#[test]
fn inline_python_is_read_by_its_scanner() {
    let project = project();
    let of = |code: &str| verdict(project.path(), &format!("python3 -c \"{code}\"")).1["verdict"].clone();
    assert_eq!(of("import os; os.system('pkill -f mcp_server.py')"), "contaminating");
    assert_eq!(of("import os; os.system('pkill -f nginx')"), "clean");
    assert_eq!(of("import os; os.kill(3999999, 9)"), "undetermined");
    assert_eq!(of("print('pkill -f mcp_server.py')"), "clean");
    assert_eq!(of("import os, sys; os.system(sys.argv[1])"), "undetermined");
}

#[test]
fn the_hook_allows_with_0_and_blocks_with_2() {
    let project = project();
    let hook = |event: &str| run(project.path(), &["guard", "hook"], event);
    let shell = |command: &str| format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"{command}"}}}}"#);
    assert_eq!(hook(&shell("ls -l")).0, 0);
    let (status, out, err) = hook(&shell("pkill -f mcp_server.py"));
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("mcp_server.py") && err.contains("next step"), "{err}");
    assert_eq!(hook(r#"{"tool_name":"Read","tool_input":{"path":"x"}}"#).0, 0);
    assert_eq!(hook("{").0, 2);
    assert_eq!(hook("").0, 2);
    assert_eq!(hook(r#"{"tool_name":"bash","tool_input":{}}"#).0, 2);
}
