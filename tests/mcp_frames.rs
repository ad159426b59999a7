//! Frames that no client should send, many calls at once, and hosts that go away: every
//! request that gives an id gets one answer, and no process stays behind.

#![cfg(feature = "mcp")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod host;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host::Host;
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
"#;

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("restartlint.toml", "daemon = [\"mcp_server.py\"]\nstore = \"state.db\"\n");
    write("restart-paths.toml", INVENTORY);
    write("mcp_server.py", "import sys\n\nfor line in sys.stdin:\n    print(line)\n");
    folder
}

fn request(id: &Value, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn assess(id: u64, command: &str) -> String {
    let call = json!({"name": "assess_command", "arguments": {"command": command}});
    request(&json!(id), "tools/call", call)
}

/// What comes before the answer to a ping that is sent now.
fn answers(host: &mut Host) -> Vec<Value> {
    let last = json!("the last");
    host.write(&request(&last, "ping", json!({})));
    let mut all = Vec::new();
    loop {
        let answer = host.answer();
        if answer["id"] == last {
            return all;
        }
        all.push(answer);
    }
}

#[test]
fn each_request_with_an_id_gets_one_answer_whatever_is_wrong_with_it() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}"#, "[".repeat(50_000));
    let lone = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}"#;
    for (code, frame) in [
        (-32700, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"#),
        (-32700, deep.as_str()),
        (-32700, lone),
        (-32700, r#"{"jsonrpc":"2.0","id":7,"id":1,"method":"ping"}"#),
        (-32600, r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#),
        (-32600, r#"{"id":1,"method":"ping"}"#),
        (-32600, r#"{"jsonrpc":"2.0","id":1,"method":7}"#),
        (-32600, r#"{"jsonrpc":"2.0","id":1}"#),
        (-32600, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#),
        (-32602, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#),
        (-32602, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}"#),
        (-32602, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nobody"}}"#),
        (-32601, r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#),
        (-32601, r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#),
    ] {
        host.write(frame);
        let answer = host.answer();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(code)), "{frame:.90}");
        assert!(answer["error"]["message"].as_str().unwrap().len() > 10, "{answer}");
    }
    let input = host.server.stdin.as_ref().unwrap();
    (&mut { input })
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}\n")
        .unwrap();
    assert_eq!(host.answer()["id"], 2);
    // What gives no id has nobody who waits.
    for silent in ["garbage", "\u{0}", "", r#"{"jsonrpc":"2.0","method":"tools/call","params":[]}"#] {
        host.write(silent);
    }
    host.write(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    assert_eq!(answers(&mut host), Vec::<Value>::new());
    host.end();
}

#[test]
fn a_frame_of_a_hundred_megabytes_is_refused_and_not_held() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let mut input = host.server.stdin.as_ref().unwrap();
    input.write_all(br#"{"method":"tools/call","params":{"name":""#).unwrap();
    for _ in 0..100 {
        input.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    input.write_all(b"\"},\"jsonrpc\":\"2.0\",\"id\":1}\n").unwrap();
    let answer = host.answer();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("longer"), "{answer}");
    assert_eq!(answers(&mut host), Vec::<Value>::new());
    host.end();
}

#[test]
fn a_batch_and_an_unknown_version_are_answered() {
    let project = project();
    let mut host = Host::start(project.path(), &[]);
    let begin = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = host.ask("initialize", begin);
    assert!(answer["result"]["protocolVersion"].as_str().is_some_and(|v| v > "2025"), "{answer}");
    host.write(&format!("[{},{},3]", assess(20, "echo 20"), assess(21, "echo 21")));
    let mut ids: Vec<String> = (0..3).map(|_| host.answer()["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["20", "21", "null"]);
    host.end();
}

#[test]
fn an_id_that_is_open_or_cancelled_is_never_answered_with_the_answer_of_another() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let scan = request(&json!(30), "tools/call", json!({"name": "check_sources", "arguments": {}}));
    // Both arrive before the first can be answered.
    host.write(&format!("{scan}\n{}", assess(30, "echo b")));
    let (mut reports, mut refused) = (0, 0);
    for _ in 0..2 {
        let answer = host.answer();
        assert_eq!(answer["id"], 30);
        let report = &answer["result"]["structuredContent"];
        // The second may come when the first is already answered; then it is a call like any other.
        reports += usize::from(report.is_object());
        refused += usize::from(answer["error"].is_object());
    }
    assert!(reports >= 1 && reports + refused == 2);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 31}});
    for round in 0..50 {
        let scan = request(&json!(31), "tools/call", json!({"name": "check_sources", "arguments": {}}));
        host.write(&format!("{scan}\n{cancel}\n{}", assess(31, "echo mine")));
        // A scan after it: when that is answered, the places of the cancelled one are free again.
        host.write(&request(&json!(32), "tools/call", json!({"name": "check_sources", "arguments": {}})));
        let (mut mine, mut next) = (0, 0);
        while mine + next < 2 {
            let answer = host.answer();
            let report = &answer["result"]["structuredContent"];
            let own = report["command"] == "echo mine" || answer["error"].is_object();
            mine += usize::from(answer["id"] == 31 && own);
            next += usize::from(answer["id"] == 32);
            // Else it is the scan's own, which came before it could be cancelled.
            assert!(own || report["summary"].is_object(), "{round}: {answer}");
        }
        assert_eq!((mine, next), (1, 1), "{round}");
    }
    host.end();
}

#[test]
fn two_thousand_calls_twenty_at_once_lose_and_cross_nothing() {
    let project = project();
    let mut host = Host::ready(project.path(), &[]);
    let (calls, mut asked) = (2_000, 0_u64);
    let mut open: BTreeMap<u64, (&str, String)> = BTreeMap::new();
    for _ in 0..calls {
        while asked < calls && open.len() < 20 {
            let (tool, given, key, value) = match asked % 50 {
                0 => ("check_sources", json!({}), "", String::new()),
                at if at % 5 == 1 => {
                    let wish = json!({"restart_class": format!("class-{asked}"), "requester": {"session_id": "s", "role": "operator"}});
                    ("request_restart", wish, "restart_class", format!("class-{asked}"))
                }
                at if at % 5 == 2 => (
                    "assert_restart_attempt",
                    json!({"path_id": format!("path_{asked}")}),
                    "path_id",
                    format!("path_{asked}"),
                ),
                at if at % 5 == 3 => {
                    let line = format!("python3 -c 'import os; os.kill({asked}, 9)'");
                    ("assess_command", json!({"command": line}), "command", line)
                }
                _ => (
                    "assess_command",
                    json!({"command": format!("echo {asked}")}),
                    "command",
                    format!("echo {asked}"),
                ),
            };
            let id = host.send("tools/call", json!({"name": tool, "arguments": given}));
            open.insert(id, (key, value));
            asked += 1;
        }
        let answer = host.answer();
        let (key, value) = open.remove(&answer["id"].as_u64().unwrap()).unwrap();
        let report = &answer["result"]["structuredContent"];
        assert!(report.is_object(), "{answer}");
        assert!(key.is_empty() || report[key] == value.as_str(), "{key} {value}: {answer}");
    }
    assert!(open.is_empty());
    host.end();
}

#[test]
fn the_last_line_needs_no_line_end_and_its_answer_comes() {
    let project = project();
    let host = Host::ready(project.path(), &[]);
    let Host { mut server, mut answers, .. } = host;
    let mut input = server.stdin.take().unwrap();
    input.write_all(assess(40, "echo last").as_bytes()).unwrap();
    drop(input);
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    let answer: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["command"], "echo last");
    assert!(server.wait().unwrap().success());
}

#[test]
fn when_nobody_reads_its_answers_it_ends_although_its_input_is_open() {
    let project = project();
    let host = Host::ready(project.path(), &[]);
    let Host { mut server, answers, .. } = host;
    drop(answers);
    let mut input = server.stdin.take().unwrap();
    // The server may already be gone when the second is written.
    for id in 0..2 {
        let _ = writeln!(input, "{}", assess(id, "echo nobody"));
    }
    // It ends by itself: waiting for it comes back. Its input is still open.
    assert!(server.wait().unwrap().success());
    drop(input);
}

#[test]
fn when_nobody_takes_its_answers_the_end_of_its_input_ends_it() {
    let project = project();
    let host = Host::ready(project.path(), &[]);
    let Host { mut server, answers, .. } = host;
    let mut input = server.stdin.take().unwrap();
    // More than a pipe holds, and nobody takes it out.
    for id in 0..40 {
        writeln!(input, "{}", assess(id, &format!("echo {}", "x".repeat(20_000)))).unwrap();
    }
    drop(input);
    server.wait().unwrap();
    drop(answers);
}

/// A host that is killed outright in the middle of a call. The shell stands for it: it holds both
/// ends of the server's pipes, and says which process the server is.
#[cfg(target_os = "linux")]
#[test]
fn a_host_that_is_killed_in_the_middle_of_a_call_leaves_no_process() {
    let project = project();
    // A project that takes a while, so that the call is still running when its host is gone.
    for at in 0..200 {
        let text = "import os\n\n\ndef run(pid):\n    os.kill(pid, 9)\n\n\n".repeat(40);
        std::fs::write(project.path().join(format!("part{at}.py")), text).unwrap();
    }
    let requests = project.path().join("requests");
    let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let mut lines = request(&json!(0), "initialize", begin) + "\n";
    for id in 1..20 {
        lines.push_str(&request(&json!(id), "tools/call", json!({"name": "check_sources", "arguments": {}})));
        lines.push('\n');
    }
    std::fs::write(&requests, lines).unwrap();
    let script = r#"mkfifo in out hold; "$1" mcp --root . <in >out & echo $!; exec 3>in 4<out; cat requests >&3; read -r _ <&4; echo begun; read -r _ <hold"#;
    let mut host = Command::new("bash")
        .current_dir(project.path())
        .args(["-c", script, "bash"])
        .arg(assert_cmd::cargo::cargo_bin!("restartlint"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = host.stdout.take().unwrap();
    let mut text = String::new();
    while !text.ends_with("begun\n") {
        let mut byte = [0];
        said.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    let server = format!("/proc/{}", text.lines().next().unwrap());
    assert!(std::path::Path::new(&server).exists());
    host.kill().unwrap();
    host.wait().unwrap();
    let begun = Instant::now();
    while std::path::Path::new(&server).exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the server outlives its host");
        std::thread::sleep(Duration::from_millis(20));
    }
}
