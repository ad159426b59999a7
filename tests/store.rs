//! The store's file: how it is made, brought up to date, and refused.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use restartlint::edge::store::{IncidentRecord, OpenMode, ProofUse, Store, StoreError, VERSION};
use restartlint::pass::fleet::RuntimeRow;
use restartlint::pass::marker::{Marker, MarkerVerdict};
use rusqlite::Connection;

/// A version-5 store as an older program left it: the eight shared tables, some of
/// them with a column that version 6 does not know.
const VERSION_5: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE sessions (session_id TEXT PRIMARY KEY, role TEXT, profile TEXT, connector TEXT,
        pid INTEGER, status TEXT, last_heartbeat_at TEXT, note TEXT DEFAULT 'old');
    CREATE TABLE leases (lease_id TEXT PRIMARY KEY, session_id TEXT, work TEXT, phase TEXT, status TEXT,
        worktree TEXT, expires_at TEXT);
    CREATE TABLE terminal_locks (lock_id TEXT PRIMARY KEY, holder_session_id TEXT, pr INTEGER, status TEXT,
        expires_at TEXT);
    CREATE TABLE approvals (approval_id TEXT PRIMARY KEY, approver_session_id TEXT, approver_role TEXT,
        restart_class TEXT, target TEXT, expires_at TEXT);
    CREATE TABLE recovery_attempts (kind TEXT, at TEXT, outcome TEXT);
    CREATE TABLE incidents (incident_id TEXT PRIMARY KEY, kind TEXT, code TEXT, restart_class TEXT,
        requester TEXT, fingerprint TEXT, at TEXT);
    CREATE TABLE markers (marker_id TEXT PRIMARY KEY, command TEXT, session_id TEXT, verdict TEXT, reason TEXT,
        recorded_at TEXT, cleared_at TEXT, cleared_by TEXT);
    CREATE TABLE used_proofs (proof_id TEXT PRIMARY KEY, restart_class TEXT, fingerprint TEXT, used_at TEXT);
    INSERT INTO sessions VALUES ('s-a', 'author', 'prgs-author', 'gitea', 4100, 'active',
        '2026-07-23T06:29:00Z', 'kept');
    INSERT INTO leases VALUES ('l-1', 's-a', '{\"kind\":\"pr\",\"number\":818}', 'implementing', 'active',
        'branches/issue-638', '2026-07-23T07:12:13Z');
    INSERT INTO recovery_attempts VALUES ('client_reconnect', '2026-07-23T06:00:00Z', 'failed');
    INSERT INTO markers VALUES ('m-1', 'pkill -f mcp_server.py', 's-a', 'contaminating', NULL,
        '2026-07-23T06:00:00Z', NULL, NULL);
    PRAGMA user_version = 5;";

fn version_5(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(VERSION_5).unwrap();
}

fn schema_of(path: &Path) -> Vec<(String, Option<String>)> {
    let connection = Connection::open(path).unwrap();
    let mut statement =
        connection.prepare("SELECT name, sql FROM sqlite_master ORDER BY type, name").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn user_version(path: &Path) -> i64 {
    Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn row(id: &str, pid: i64) -> RuntimeRow {
    RuntimeRow {
        runtime_id: id.into(),
        namespace: "gitea-author".into(),
        pid: Some(pid),
        boot_id: Some("boot-1".into()),
        status: "running".into(),
        registered_at: Some("2026-07-28T02:00:00Z".into()),
        ..RuntimeRow::default()
    }
}

#[test]
fn a_missing_store_is_made_only_on_request_and_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    assert!(Store::open(&path, OpenMode::Existing).unwrap_err().is_missing());
    assert!(!path.exists());
    let mut store = Store::open(&path, OpenMode::Create).unwrap();
    store.register(&row("r", 1)).unwrap();
    #[cfg(unix)]
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    drop(store);
    assert_eq!(user_version(&path), VERSION);
}

#[test]
fn version_5_becomes_version_6_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    version_5(&path);
    let before = schema_of(&path);

    let mut store = Store::open(&path, OpenMode::Existing).unwrap();
    store.register(&row("r", 1)).unwrap();
    let snapshot = store.snapshot(&|_, _| Some(true)).unwrap();
    drop(store);

    assert_eq!(user_version(&path), 6);
    let after = schema_of(&path);
    for table in &before {
        assert!(after.contains(table), "{} has changed", table.0);
    }
    assert_eq!(snapshot.listing_errors, Vec::<String>::new());
    assert_eq!(snapshot.sessions.len(), 1);
    assert_eq!(
        snapshot.leases.first().and_then(|lease| lease.work.as_ref()).map(|work| work.number),
        Some(818)
    );
    assert_eq!(snapshot.prior_recovery.len(), 1);
    assert_eq!(snapshot.open_markers.len(), 1);
    let note: String = Connection::open(&path)
        .unwrap()
        .query_row("SELECT note FROM sessions", [], |row| row.get(0))
        .unwrap();
    assert_eq!(note, "kept");

    drop(Store::open(&path, OpenMode::Existing).unwrap());
    assert_eq!(schema_of(&path), after, "opening again changes nothing");
}

#[test]
fn a_migration_that_fails_leaves_version_5() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    version_5(&path);
    // A view of that name: the index cannot be made on it, after the table was skipped.
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "CREATE VIEW mcp_server_runtimes AS SELECT session_id AS pid, role AS boot_id FROM sessions",
        )
        .unwrap();
    let before = schema_of(&path);
    assert!(Store::open(&path, OpenMode::Existing).is_err());
    assert_eq!(user_version(&path), 5);
    assert_eq!(schema_of(&path), before);
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = |name: &str, sql: &str| {
        Connection::open(folder.path().join(name)).unwrap().execute_batch(sql).unwrap();
    };
    fs::write(folder.path().join("garbage"), "garbage ".repeat(900)).unwrap();
    fs::write(folder.path().join("short"), "SQLite format 3\0").unwrap();
    sqlite("foreign", "CREATE TABLE sessions_of_others (id); INSERT INTO sessions_of_others VALUES (1);");
    sqlite("foreign-5", "CREATE TABLE songs (id); PRAGMA user_version = 5;");
    sqlite("ancient", "CREATE TABLE sessions (session_id); PRAGMA user_version = 4;");
    sqlite(
        "other-program",
        "PRAGMA application_id = 77; CREATE TABLE sessions (session_id); PRAGMA user_version = 6;",
    );
    sqlite("half", "CREATE TABLE sessions (session_id); PRAGMA user_version = 6;");
    sqlite("newer", &VERSION_5.replace("user_version = 5", "user_version = 7"));
    for name in ["garbage", "short", "foreign", "foreign-5", "ancient", "other-program", "half", "newer"] {
        let path = folder.path().join(name);
        let before = fs::read(&path).unwrap();
        for mode in [OpenMode::Existing, OpenMode::Create] {
            let error = Store::open(&path, mode).expect_err(name).to_string();
            assert!(error.contains("untouched") && error.contains(name), "{name}: {error}");
        }
        assert_eq!(fs::read(&path).unwrap(), before, "{name}");
    }
    assert!(matches!(
        Store::open(&folder.path().join("newer"), OpenMode::Existing),
        Err(StoreError::At { error, .. }) if matches!(*error, StoreError::Newer { found: 7 })
    ));
    assert!(Store::open(folder.path(), OpenMode::Create).is_err(), "a folder is no store");
}

/// A foreign database with a write-ahead log gets none of our log files beside it.
#[test]
fn a_refused_database_is_left_alone_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE songs (id); INSERT INTO songs VALUES (1);")
        .unwrap();
    let before = fs::read(&path).unwrap();
    assert!(Store::open(&path, OpenMode::Create).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A newer program still has the store open, and what it wrote stands in its log only.
#[test]
fn a_newer_store_keeps_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(Store::open(&path, OpenMode::Create).unwrap());
    let newer = Connection::open(&path).unwrap();
    newer.execute_batch("PRAGMA user_version = 9; CREATE TABLE later (id)").unwrap();
    let before = (fs::read(&path).unwrap(), fs::read(folder.path().join("store.db-wal")).unwrap());
    assert!(Store::open(&path, OpenMode::Existing).is_err());
    assert_eq!((fs::read(&path).unwrap(), fs::read(folder.path().join("store.db-wal")).unwrap()), before);
}

#[test]
fn a_damaged_store_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, OpenMode::Create).unwrap();
    for pid in 1..200 {
        store.register(&row(&format!("runtime-{pid}"), pid)).unwrap();
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut scribbled = whole.clone();
    for byte in scribbled.iter_mut().skip(4096).step_by(7) {
        *byte = 0xA5;
    }
    let cut = whole.get(..whole.len() / 2).unwrap().to_vec();
    for bytes in [&scribbled, &cut] {
        fs::write(&path, bytes).unwrap();
        // Asked by a process of its own: one that found the file whole does not read all of it again at once.
        let asked = std::process::Command::new(env!("CARGO_BIN_EXE_restartlint"))
            .args(["guard", "status", "--store"])
            .arg(&path)
            .output()
            .unwrap();
        assert_eq!(asked.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&asked.stderr).contains("damaged"), "{asked:?}");
        assert_eq!(&fs::read(&path).unwrap(), bytes);
    }
    // What got shorter is looked at again in any case, and so is another file in its place.
    let error = Store::open(&path, OpenMode::Create).unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
    let other = folder.path().join("other.db");
    fs::write(&other, &scribbled).unwrap();
    fs::rename(&other, &path).unwrap();
    let error = Store::open(&path, OpenMode::Create).unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), scribbled);
}

#[test]
fn a_pid_names_one_process_of_a_boot() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("s"), OpenMode::Create).unwrap();
    store.register(&row("first", 7)).unwrap();
    store.register(&row("second", 7)).unwrap();
    store.register(&RuntimeRow { boot_id: Some("boot-2".into()), ..row("third", 7) }).unwrap();
    let ids: Vec<_> = store.runtimes(None).unwrap().into_iter().map(|row| row.runtime_id).collect();
    assert_eq!(ids, ["second", "third"]);
    assert!(store.register(&row(" ", 8)).is_err());
    assert_eq!(store.runtimes(None).unwrap().len(), 2);
}

#[test]
fn heartbeat_and_stop_move_only_what_is_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("s"), OpenMode::Create).unwrap();
    let written = row("r", 7);
    store.register(&written).unwrap();
    let at = "2026-07-28T03:00:00Z".parse().unwrap();
    assert!(!store.heartbeat("nobody", at).unwrap());
    assert_eq!(store.runtimes(None).unwrap(), std::slice::from_ref(&written));
    assert!(store.heartbeat("r", at).unwrap());
    let beaten = RuntimeRow { last_heartbeat_at: Some("2026-07-28T03:00:00.000Z".into()), ..written };
    assert_eq!(store.runtimes(None).unwrap(), std::slice::from_ref(&beaten));
    assert!(store.mark_stopped("r", "2026-07-28T04:00:00Z".parse().unwrap()).unwrap());
    assert!(store.mark_stopped("r", "2026-07-28T05:00:00Z".parse().unwrap()).unwrap());
    let stopped = RuntimeRow {
        status: "stopped".into(),
        stopped_at: Some("2026-07-28T04:00:00.000Z".into()),
        ..beaten
    };
    assert_eq!(store.runtimes(Some("stopped")).unwrap(), [stopped]);
    assert!(store.runtimes(Some("running")).unwrap().is_empty());
}

#[test]
fn pruning_spares_whatever_gave_a_sign_inside_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("s"), OpenMode::Create).unwrap();
    let now = "2026-07-30T00:00:00Z".parse().unwrap();
    let old = |id, pid| RuntimeRow { registered_at: Some("2026-07-01T00:00:00Z".into()), ..row(id, pid) };
    store.register(&old("old", 1)).unwrap();
    store
        .register(&RuntimeRow { last_heartbeat_at: Some("2026-07-29T00:00:00Z".into()), ..old("beats", 2) })
        .unwrap();
    store
        .register(&RuntimeRow { stopped_at: Some("2026-07-29T00:00:00Z".into()), ..old("stopped", 3) })
        .unwrap();
    store
        .register(&RuntimeRow { registered_at: Some("2026-07-23T00:00:00Z".into()), ..row("edge", 4) })
        .unwrap();
    store.register(&RuntimeRow { registered_at: None, ..row("ageless", 5) }).unwrap();
    assert_eq!(store.prune(7, now).unwrap(), ["old"]);
    assert_eq!(store.prune(7, now).unwrap(), Vec::<String>::new());
    assert_eq!(store.prune(0, now).unwrap(), ["beats", "edge", "stopped"]);
}

#[test]
fn a_marker_stays_on_record_and_keeps_its_first_clearing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("s"), OpenMode::Create).unwrap();
    let marker = Marker {
        marker_id: "m".into(),
        command: "pkill -f mcp_server.py".into(),
        session_id: "s-a".into(),
        verdict: MarkerVerdict::Contaminating,
        reason: None,
        recorded_at: "2026-07-28T02:00:00Z".into(),
        cleared_at: None,
        cleared_by: None,
    };
    store.record_marker(&marker).unwrap();
    assert_eq!(store.markers().unwrap(), std::slice::from_ref(&marker));
    assert_eq!(store.clear_marker("other", "t", "op").unwrap(), None);
    let cleared = store.clear_marker("m", "2026-07-28T03:00:00Z", "op").unwrap().unwrap();
    assert_eq!(cleared.cleared_at.as_deref(), Some("2026-07-28T03:00:00Z"));
    store.clear_marker("m", "2026-07-29T03:00:00Z", "other").unwrap();
    assert_eq!(store.markers().unwrap(), [cleared]);
    assert!(store.snapshot(&|_, _| None).unwrap().open_markers.is_empty());
}

/// A store that another program began may have markers of another shape: none is overlooked.
#[test]
fn a_marker_of_any_shape_is_open_until_it_says_that_it_was_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "CREATE TABLE markers (id TEXT, command TEXT, at INTEGER, cleared_at);
             INSERT INTO markers VALUES ('a', 'pkill x', 3, NULL), ('b', X'FF', 4, NULL), ('c', 'y', 5, 6);
             PRAGMA user_version = 5;",
        )
        .unwrap();
    let store = Store::open(&path, OpenMode::Existing).unwrap();
    let markers = store.markers().unwrap();
    let open: Vec<_> =
        markers.iter().filter(|m| m.cleared_at.is_none()).map(|m| m.marker_id.as_str()).collect();
    assert_eq!(open, ["row 1", "row 2"]);
    assert!(markers.iter().all(|marker| marker.verdict == MarkerVerdict::Undetermined));
    let snapshot = store.snapshot(&|_, _| None).unwrap();
    assert_eq!(snapshot.open_markers.len(), 2);
    assert!(snapshot.listing_errors.iter().any(|error| error.starts_with("sessions: ")));
}

#[test]
fn a_proof_is_used_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    drop(Store::open(&path, OpenMode::Create).unwrap());
    let firsts: usize = std::thread::scope(|scope| {
        let attempts: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut store = Store::open(&path, OpenMode::Existing).unwrap();
                    store.use_proof("p", "full_mcp_restart", "sha256:0", "2026-07-28T02:00:00Z").unwrap()
                })
            })
            .collect();
        attempts.into_iter().map(|a| a.join().unwrap()).filter(|u| *u == ProofUse::First).count()
    });
    assert_eq!(firsts, 1);
    let store = Store::open(&path, OpenMode::Existing).unwrap();
    assert!(store.proof_used("p").unwrap());
    assert!(!store.proof_used("q").unwrap());
}

#[test]
fn an_incident_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("s"), OpenMode::Create).unwrap();
    let incident = IncidentRecord {
        incident_id: "i-1".into(),
        kind: "restart_denied".into(),
        code: "live_work".into(),
        restart_class: "full_mcp_restart".into(),
        requester: Some(r#"{"session_id":"s-ctl","role":"controller"}"#.into()),
        fingerprint: Some("sha256:0".into()),
        at: "2026-07-28T02:00:00Z".into(),
    };
    store.record_incident(&incident).unwrap();
    store.record_incident(&incident).unwrap();
    assert_eq!(store.incidents().unwrap(), [incident]);
}

#[test]
fn what_cannot_be_listed_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    drop(Store::open(&path, OpenMode::Create).unwrap());
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "INSERT INTO sessions VALUES ('s-a', 'author', NULL, NULL, 41, 'active', '2026-07-23T06:29:00Z');
             INSERT INTO sessions VALUES ('s-b', NULL, NULL, NULL, 42, 'active', '2026-07-23T06:29:00Z');
             INSERT INTO leases VALUES ('l-1', 's-a', NULL, NULL, 'active', NULL, '2026-07-23T07:00:00Z');
             INSERT INTO leases VALUES ('l-2', 's-x', 'pr 818', NULL, 'active', NULL, '2026-07-23T07:00:00Z');
             INSERT INTO terminal_locks VALUES ('k-1', 's-a', 1, 'released', '2027-01-01T00:00:00Z');
             INSERT INTO terminal_locks VALUES ('k-2', 's-a', 2, 'active', '2026-07-23T07:00:00Z');
             DROP TABLE approvals;",
        )
        .unwrap();
    let store = Store::open(&path, OpenMode::Existing).unwrap();
    let found = store.snapshot(&|pid, _| Some(pid == 41)).unwrap();
    assert_eq!(found.sessions.len(), 1);
    assert_eq!(found.sessions.first().unwrap().pid_alive, Some(true));
    assert_eq!(found.leases.first().unwrap().owner_alive, Some(true));
    assert_eq!(found.terminal_lock.unwrap().lock_id, "k-2");
    let told = found.listing_errors.join("\n");
    for table in ["sessions: ", "leases: ", "approvals: "] {
        assert!(told.contains(table), "{told}");
    }
}
