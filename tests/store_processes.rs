//! The store under many processes at once, some of which are killed in the middle, and
//! the marker that survives whatever its writer does not.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use restartlint::edge::store::{OpenMode, Store};
use restartlint::pass::fleet::RuntimeRow;
use rusqlite::Connection;

const BINARY: &str = env!("CARGO_BIN_EXE_restartlint");

/// How much more than usual is done, for a long run by hand.
fn scale() -> u32 {
    std::env::var("RESTARTLINT_STRESS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn integrity(path: &Path) -> String {
    Connection::open(path).unwrap().pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap()
}

/// One of many processes: registers, beats and lists. Without its variables this is no
/// worker, and there is nothing to do.
#[test]
fn worker() {
    let (Ok(path), Ok(id)) = (std::env::var("WORKER_STORE"), std::env::var("WORKER_ID")) else { return };
    let rounds: u32 = std::env::var("WORKER_ROUNDS").unwrap().parse().unwrap();
    let row = RuntimeRow {
        runtime_id: id.clone(),
        namespace: format!("namespace-{id}"),
        pid: Some(i64::from(std::process::id())),
        boot_id: Some("boot-1".into()),
        status: "running".into(),
        registered_at: Some("2026-07-28T02:00:00Z".into()),
        ..RuntimeRow::default()
    };
    let mut store = Store::open(Path::new(&path), OpenMode::Create).unwrap();
    store.register(&row).unwrap();
    println!("\nregistered");
    for round in 0..rounds {
        let now = jiff::Timestamp::from_second(1_800_000_000 + i64::from(round)).unwrap();
        assert!(store.heartbeat(&id, now).unwrap(), "the row is gone");
        let mine = store.runtimes(Some("running")).unwrap().into_iter().find(|row| row.runtime_id == id);
        assert_eq!(mine.unwrap().last_heartbeat_at, Some(format!("{now:.3}")));
        if round % 8 == 7 {
            store = Store::open(Path::new(&path), OpenMode::Existing).unwrap();
        }
    }
    println!("\ndone");
}

struct Worker {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Worker {
    fn start(store: &Path, id: &str, rounds: u32) -> Worker {
        // restartlint: ignore[RL303] A worker of this test is this test again; nothing outside it starts one.
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker", "--nocapture", "--test-threads=1"])
            .env("WORKER_STORE", store)
            .env("WORKER_ID", id)
            .env("WORKER_ROUNDS", rounds.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Worker { child, lines }
    }

    /// Reads until the worker has said that.
    fn wait_for(&mut self, word: &str) {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if line.trim() == word {
                return;
            }
            line.clear();
        }
        panic!("a worker ended without saying {word}");
    }
}

#[test]
fn fifty_processes_lose_nothing_while_some_are_killed() {
    const WORKERS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.db");
    // Every fifth is to be killed while it writes, and would otherwise go on for very long.
    let doomed = |at: usize| at.is_multiple_of(5);
    let mut workers: Vec<Worker> = (0..WORKERS)
        .map(|at| {
            Worker::start(&path, &format!("w{at:02}"), if doomed(at) { u32::MAX } else { 20 * scale() })
        })
        .collect();
    workers.iter_mut().for_each(|worker| worker.wait_for("registered"));
    for (at, worker) in workers.iter_mut().enumerate() {
        if doomed(at) {
            worker.child.kill().unwrap();
            worker.child.wait().unwrap();
        }
    }
    for (at, worker) in workers.iter_mut().enumerate().filter(|(at, _)| !doomed(*at)) {
        worker.wait_for("done");
        assert!(worker.child.wait().unwrap().success(), "worker {at}");
    }
    let rows = Store::open(&path, OpenMode::Existing).unwrap().runtimes(None).unwrap();
    let ids: Vec<String> = rows.into_iter().map(|row| row.runtime_id).collect();
    let expected: Vec<String> = (0..WORKERS).map(|at| format!("w{at:02}")).collect();
    assert_eq!(ids, expected, "each registration that was acknowledged is there, once");
    assert_eq!(integrity(&path), "ok");
}

fn record(store: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(["guard", "record", "--command", "pkill -f mcp_server.py", "--session", "s-a", "--store"])
        .arg(store)
        .current_dir(store.parent().unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

fn marker_id(answer: &str) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_str(answer).ok()?;
    answer["marker_id"].as_str().map(str::to_owned)
}

/// The writer of a marker is killed at many moments of its life. Whenever it said that the
/// marker is recorded, the marker is there.
#[test]
fn an_acknowledged_marker_survives_its_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let began = Instant::now();
    let first = record(&path).output().unwrap();
    // One undisturbed run says how long a life is; the moments are spread over it and a little beyond.
    let life = began.elapsed();
    let mut told = BTreeSet::from([marker_id(&String::from_utf8(first.stdout).unwrap()).unwrap()]);
    let attempts = 24 * scale();
    for attempt in 0..attempts {
        let mut child = record(&path).spawn().unwrap();
        std::thread::sleep(life.saturating_mul(attempt) / attempts * 5 / 4 + Duration::from_micros(50));
        let _ = child.kill();
        let mut answer = String::new();
        child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
        child.wait().unwrap();
        told.extend(marker_id(&answer));
    }
    assert_eq!(integrity(&path), "ok");
    let markers = Store::open(&path, OpenMode::Existing).unwrap().markers().unwrap();
    let kept: BTreeSet<String> = markers.into_iter().map(|marker| marker.marker_id).collect();
    let lost: Vec<_> = told.difference(&kept).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    println!("{attempts} writers killed, {} acknowledged, {} kept", told.len(), kept.len());
}

/// The same from the very first write: a store that was just begun when its maker was killed
/// is either not there, empty, or whole, and the next writer goes on.
#[test]
fn a_store_that_was_just_begun_can_be_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    for attempt in 0..12 * scale() {
        let path = folder.path().join(format!("store-{attempt}.db"));
        let mut child = record(&path).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(attempt % 12) * 700));
        let _ = child.kill();
        child.wait().unwrap();
        let next = record(&path).output().unwrap();
        assert!(next.status.success(), "attempt {attempt}");
        assert_eq!(integrity(&path), "ok");
    }
}
