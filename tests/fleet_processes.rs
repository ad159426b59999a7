//! The fleet against processes that really run: servers that register themselves, one
//! that ends, a duplicate, one without a row, a pid that is used again. The servers end
//! when their standard input is closed; nobody is signalled.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_restartlint");
const ROLES: [&str; 5] = ["author", "reviewer", "merger", "controller", "reconciler"];

/// A small server: registers itself if it is given a role, says so, and waits for its host to
/// close the pipe. The name is one that no other process of this machine has.
const SERVER: &str = r#"
if [ -n "$1" ]; then
    "$RESTARTLINT" fleet register --store "$STORE" --row - <<ROW >/dev/null || exit 9
{"runtime_id": "rt-$1-$$", "namespace": "gitea-$1", "profile": "prgs-$1", "role": "$1", "pid": $$,
 "remote": "prgs", "org": "example", "repo": "tools", "cohort_id": "host-1", "transport": "stdio",
 "startup_head": "1111111111111111111111111111111111111111"}
ROW
fi
echo ready
read -r line
"#;

struct Machine {
    folder: tempfile::TempDir,
    script: String,
}

struct Server {
    child: Child,
}

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let unique = folder.path().file_name().unwrap().to_string_lossy().trim_start_matches('.').to_owned();
        let script = format!("server-{unique}.sh");
        fs::write(folder.path().join(&script), SERVER).unwrap();
        let mut config = format!(
            "[guard]\nprocesses = [\"{script}\"]\n[fleet]\nbinding = {{ remote = \"prgs\", org = \"example\", repo = \"tools\" }}\n"
        );
        for role in ROLES {
            config.push_str(&format!(
                "[[fleet.member]]\nnamespace = \"gitea-{role}\"\nprofile = \"prgs-{role}\"\nrole = \"{role}\"\n"
            ));
        }
        fs::write(folder.path().join("restartlint.toml"), config).unwrap();
        Machine { folder, script }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("fleet.db")
    }

    /// Starts a server and waits until it says that it is ready.
    fn start(&self, role: &str) -> Server {
        let mut child = Command::new("sh")
            .arg(self.folder.path().join(&self.script))
            .arg(role)
            .env("RESTARTLINT", BINARY)
            .env("STORE", self.store())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Server { child }
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(BINARY).args(args).current_dir(self.folder.path()).output().unwrap()
    }

    fn assess(&self) -> (Option<i32>, Value) {
        let output = self.run(&["fleet", "assess", "--store", "fleet.db", "--format", "json"]);
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
    }
}

impl Server {
    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the pipe, as a host does that goes away, and waits for the end.
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().code().is_some());
    }
}

fn causes(report: &Value) -> Vec<&str> {
    report["blocked_reasons"].as_array().unwrap().iter().map(|cause| cause.as_str().unwrap()).collect()
}

fn pids(report: &Value, list: &str) -> Vec<u64> {
    report[list].as_array().unwrap().iter().map(|entry| entry["pid"].as_u64().unwrap()).collect()
}

#[test]
fn a_fleet_is_followed_through_its_life() {
    let machine = Machine::new();
    let mut servers: Vec<Server> = ROLES.iter().map(|role| machine.start(role)).collect();

    let (status, report) = machine.assess();
    assert_eq!(status, Some(0), "{report:#}");
    assert_eq!(report["evidence"], "observed");
    assert_eq!(report["running_member_count"], 5);
    let attested = report["members"].as_array().unwrap().iter().filter(|member| member["attested"] == true);
    assert_eq!(attested.count(), 5, "each server had its own child write its row");
    let listed = machine.run(&["fleet", "list", "--store", "fleet.db", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_slice(&listed.stdout).unwrap();
    assert!(rows.iter().all(|row| row["boot_id"].is_string() && row["process_started_at"].is_string()));

    // The author ends without a word.
    let author = servers.remove(0);
    let gone = u64::from(author.pid());
    author.end();
    let (status, report) = machine.assess();
    assert_eq!(status, Some(1));
    assert_eq!(causes(&report), ["member_missing", "member_stale"]);
    assert_eq!(pids(&report, "stale"), [gone]);

    // A new one comes, and the old row is put to rest.
    servers.push(machine.start("author"));
    assert_eq!(causes(&machine.assess().1), ["member_stale"]);
    assert!(
        machine.run(&["fleet", "stop", &format!("rt-author-{gone}"), "--store", "fleet.db"]).status.success()
    );
    assert_eq!(machine.assess().0, Some(0));

    // A second reviewer.
    let twin = machine.start("reviewer");
    let (status, report) = machine.assess();
    assert_eq!(status, Some(1));
    assert_eq!(causes(&report), ["member_duplicate"]);
    assert!(pids(&report, "duplicate").contains(&u64::from(twin.pid())));
    let twin_id = format!("rt-reviewer-{}", twin.pid());
    twin.end();
    assert!(machine.run(&["fleet", "stop", "--store", "fleet.db", &twin_id]).status.success());

    // One that does not register.
    let silent = machine.start("");
    let (status, report) = machine.assess();
    assert_eq!(status, Some(1));
    assert_eq!(causes(&report), ["unregistered_process"]);
    assert_eq!(report["inventory_complete"], false);
    assert_eq!(pids(&report, "unregistered"), [u64::from(silent.pid())]);
    silent.end();
    assert_eq!(machine.assess().0, Some(0));

    // A row that somebody else writes about a server counts, and does not look like the server's own.
    let other = machine.start("");
    let row = format!(
        r#"{{"runtime_id":"rt-other","namespace":"gitea-auditor","pid":{},"registered_at":"{}"}}"#,
        other.pid(),
        jiff::Timestamp::now()
    );
    fs::write(machine.folder.path().join("row.json"), row).unwrap();
    let output =
        machine.run(&["fleet", "register", "--store", "fleet.db", "--row", "row.json", "--format", "json"]);
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["attested"], false);
    assert_eq!(causes(&machine.assess().1), ["member_unexpected"]);
    other.end();

    servers.into_iter().for_each(Server::end);
    let (_, report) = machine.assess();
    assert_eq!(report["running_member_count"], 0);
    assert_eq!(pids(&report, "missing").len(), 5);
}

/// A row outlives its process, and the pid goes to another server: that one is not the member.
#[test]
fn a_row_of_an_earlier_process_does_not_speak_for_a_later_one() {
    let machine = Machine::new();
    let server = machine.start("");
    let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    register(&machine, server.pid(), hour_ago);
    let (_, report) = machine.assess();
    assert_eq!(pids(&report, "stale"), [u64::from(server.pid())]);
    assert_eq!(pids(&report, "unregistered"), [u64::from(server.pid())]);
    server.end();
}

/// The same with a pid that really is given out twice, where the kernel can be asked for one.
#[test]
#[cfg(target_os = "linux")]
fn a_pid_that_is_used_again_is_told_apart() {
    let last_pid = Path::new("/proc/sys/kernel/ns_last_pid");
    let machine = Machine::new();
    let first = machine.start("author");
    let pid = first.pid();
    first.end();
    // Start times are told in whole seconds, and one of rounding is allowed.
    std::thread::sleep(std::time::Duration::from_millis(3100));
    for _ in 0..200 {
        if fs::write(last_pid, (pid - 1).to_string()).is_err() {
            eprintln!("this system gives out no chosen pid; a row of an earlier process is tested beside");
            return;
        }
        let again = machine.start("");
        let same = again.pid() == pid;
        if same {
            let (_, report) = machine.assess();
            assert_eq!(pids(&report, "stale"), [u64::from(pid)], "{report:#}");
            assert_eq!(pids(&report, "unregistered"), [u64::from(pid)]);
            assert_eq!(report["running_member_count"], 0);
        }
        again.end();
        if same {
            return;
        }
    }
    panic!("pid {pid} was never given out again");
}

fn register(machine: &Machine, pid: u32, at: jiff::Timestamp) {
    let row = format!(
        r#"{{"runtime_id":"rt-author-{pid}","namespace":"gitea-author","profile":"prgs-author","role":"author",
            "remote":"prgs","org":"example","repo":"tools","pid":{pid},"registered_at":"{at}"}}"#
    );
    fs::write(machine.folder.path().join("row.json"), row).unwrap();
    let output = machine.run(&["fleet", "register", "--store", "fleet.db", "--row", "row.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// No command of these passes signals or starts a process: the kernel's own account of it.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_signalled_and_nothing_started() {
    let machine = Machine::new();
    let server = machine.start("author");
    let id = format!("rt-author-{}", server.pid());
    let trace = machine.folder.path().join("trace");
    let pid = format!("kill {}", server.pid());
    let commands: [&[&str]; 9] = [
        &["guard", "command", "--store", "fleet.db", "--", &pid],
        &["guard", "command", "--", "pkill -f server; sh stop.sh; make restart"],
        &["fleet", "assess", "--store", "fleet.db"],
        &["fleet", "list", "--store", "fleet.db"],
        &["fleet", "heartbeat", &id, "--store", "fleet.db"],
        &["fleet", "prune", "--store", "fleet.db"],
        &["guard", "record", "--command", "pkill -f server", "--session", "s-a", "--store", "fleet.db"],
        &["guard", "status", "--store", "fleet.db"],
        &["fleet", "stop", &id, "--store", "fleet.db"],
    ];
    for command in commands {
        let traced = Command::new("strace")
            .args(["-f", "-qq", "-e", "signal=none", "-e"])
            .arg(
                "trace=kill,tkill,tgkill,rt_sigqueueinfo,rt_tgsigqueueinfo,pidfd_send_signal,execve,execveat",
            )
            .arg("-o")
            .arg(&trace)
            .arg(BINARY)
            .args(command)
            .current_dir(machine.folder.path())
            .output();
        match traced {
            // Without the tracer, or the right to trace, the linter's own run over this crate stands in.
            Err(_) => break,
            Ok(output) if output.status.code() == Some(1) && output.stdout.is_empty() => break,
            Ok(_) => {}
        }
        let calls = fs::read_to_string(&trace).unwrap();
        let started = calls.lines().filter(|call| call.contains("execve")).count();
        assert_eq!(started, 1, "{command:?} starts itself and nothing else:\n{calls}");
        let signals = calls.lines().filter(|call| {
            call.contains('(')
                && ["kill(", "tkill(", "tgkill(", "sigqueueinfo(", "pidfd_send_signal("]
                    .iter()
                    .any(|name| call.contains(name))
                && !call.contains(", 0) ")
        });
        assert_eq!(signals.count(), 0, "{command:?} signals:\n{calls}");
    }
    assert!(matches!(server.child.id(), pid if pid > 0));
    server.end();
}
