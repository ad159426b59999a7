//! The official SDKs as clients: each lists and calls every tool over standard input and
//! output. They are installed once, under the build's own folder; where no package registry
//! can be reached, or the language is not installed, the test says so and proves nothing.

#![cfg(feature = "mcp")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

const PYTHON: [&str; 2] = ["mcp>=1.28,<3", "jsonschema>=4.20,<5"];
const NODE: [&str; 3] = ["@modelcontextprotocol/sdk@^1.29.0", "ajv@^8.17.0", "tsx@^4.19.0"];

/// What package managers say when they reach nobody.
const UNREACHED: [&str; 9] = [
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "NewConnectionError",
    "ConnectTimeoutError",
    "name resolution",
];

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a step of an installation; false where it could not be tried.
fn installed(step: &mut Command) -> bool {
    let output = match step.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED, nothing is proved: {step:?} is not installed");
            return false;
        }
        Err(error) => panic!("{step:?}: {error}"),
    };
    if output.status.success() {
        return true;
    }
    let text = said(&output);
    assert!(UNREACHED.iter().any(|word| text.contains(word)), "{step:?}: {text}");
    eprintln!("SKIPPED, nothing is proved: no package registry can be reached\n{text}");
    false
}

/// Makes a project and has the client call every tool in it.
fn calls_every_tool(client: &mut Command) {
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(project.path().join(name), text).unwrap();
    write(
        "restartlint.toml",
        "daemon = [\"server.py\"]\nstore = \"state.db\"\n[guard]\nprocesses = [\"server.py\"]\n",
    );
    write("server.py", "print(1)\n");
    write(
        "restart-paths.toml",
        "schema = 1\n[[path]]\nid = \"by_hand\"\ntitle = \"By hand\"\nclassification = \"forbidden\"\n\
         mechanism = \"pkill\"\nguard = \"The hook.\"\nlocations = [\"ops/**\"]\nprimitives = [\"effect:kill\"]\n\
         references = [\"docs/a.md\"]\n",
    );
    let wish =
        json!({"restart_class": "client_reconnect", "requester": {"session_id": "s", "role": "author"}});
    let calls: [(&str, &str, Value); 9] = [
        ("check_sources", "check-report", json!({})),
        ("list_restart_paths", "restart-paths", json!({})),
        ("assert_restart_attempt", "restart-attempt", json!({"path_id": "by_hand"})),
        ("assess_command", "guard-command", json!({"command": "pkill -f server.py"})),
        ("record_kill_attempt", "guard-record", json!({"command": "pkill -f server.py", "session_id": "s"})),
        ("assess_parity", "parity-report", json!({})),
        ("assess_fleet_inventory", "fleet-report", json!({})),
        ("request_restart", "impact-report", wish),
        ("assess_lease", "lease-active", json!({"comments": [{"body": "hello"}], "pr": 7})),
    ];
    write("calls.json", &json!(calls).to_string());
    let output = client
        .arg(assert_cmd::cargo::cargo_bin!("restartlint"))
        .arg(project.path())
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas"))
        .arg(project.path().join("calls.json"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("9 tools called"), "{}", said(&output));
}

fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

#[test]
fn the_official_python_sdk_calls_every_tool() {
    let folder = folder("client-python");
    let python = folder.join("bin/python");
    let has = |python: &Path| {
        let asked = Command::new(python).args(["-c", "import mcp, jsonschema"]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    if !has(&python) {
        let made = installed(Command::new("python3").args(["-m", "venv"]).arg(&folder));
        if !made || !installed(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PYTHON)) {
            return;
        }
    }
    calls_every_tool(Command::new(&python).arg(client("python/client.py")));
}

#[test]
fn the_official_typescript_sdk_calls_every_tool() {
    let folder = folder("client-typescript");
    std::fs::write(folder.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n").unwrap();
    std::fs::copy(client("typescript/client.ts"), folder.join("client.ts")).unwrap();
    let runner = folder.join("node_modules/.bin/tsx");
    if !runner.exists() {
        let mut install = Command::new("npm");
        install.args(["install", "--no-save", "--no-audit", "--no-fund"]).args(NODE).current_dir(&folder);
        if !installed(&mut install) {
            return;
        }
    }
    calls_every_tool(Command::new(&runner).arg("client.ts").current_dir(&folder));
}
