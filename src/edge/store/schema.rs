//! The store's tables, how its file is recognised, and the way from version 5 to 6.
//!
//! Version 5 is version 6 without `mcp_server_runtimes`. A file is looked at before
//! anything is changed in it: what is not a store of version 5 or 6 is refused.

use rusqlite::Connection;

use super::error::StoreError;

/// The version that this program writes (`PRAGMA user_version`).
pub const VERSION: i64 = 6;
/// The oldest version that can be brought up to [`VERSION`].
const OLDEST: i64 = 5;
/// Marks the files that this program made: `RLNT`. A store made by another program may carry none.
const APPLICATION_ID: i64 = 0x524C_4E54;

/// The tables that both versions have.
const SHARED_TABLES: [(&str, &str); 8] = [
    (
        "sessions",
        "CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY NOT NULL, role TEXT, profile TEXT, connector TEXT,
            pid INTEGER, status TEXT, last_heartbeat_at TEXT)",
    ),
    (
        "leases",
        "CREATE TABLE leases (
            lease_id TEXT PRIMARY KEY NOT NULL, session_id TEXT, work TEXT, phase TEXT,
            status TEXT, worktree TEXT, expires_at TEXT)",
    ),
    (
        "terminal_locks",
        "CREATE TABLE terminal_locks (
            lock_id TEXT PRIMARY KEY NOT NULL, holder_session_id TEXT, pr INTEGER,
            status TEXT, expires_at TEXT)",
    ),
    (
        "approvals",
        "CREATE TABLE approvals (
            approval_id TEXT PRIMARY KEY NOT NULL, approver_session_id TEXT, approver_role TEXT,
            restart_class TEXT, target TEXT, expires_at TEXT)",
    ),
    (
        "recovery_attempts",
        "CREATE TABLE recovery_attempts (
            attempt_id INTEGER PRIMARY KEY, kind TEXT, at TEXT, outcome TEXT)",
    ),
    (
        "incidents",
        "CREATE TABLE incidents (
            incident_id TEXT PRIMARY KEY NOT NULL, kind TEXT, code TEXT, restart_class TEXT,
            requester TEXT, fingerprint TEXT, at TEXT)",
    ),
    (
        "markers",
        "CREATE TABLE markers (
            marker_id TEXT PRIMARY KEY NOT NULL, command TEXT NOT NULL, session_id TEXT NOT NULL,
            verdict TEXT NOT NULL, reason TEXT, recorded_at TEXT NOT NULL,
            cleared_at TEXT, cleared_by TEXT)",
    ),
    (
        "used_proofs",
        "CREATE TABLE used_proofs (
            proof_id TEXT PRIMARY KEY NOT NULL, restart_class TEXT, fingerprint TEXT, used_at TEXT NOT NULL)",
    ),
];

const RUNTIMES: &str = "CREATE TABLE IF NOT EXISTS mcp_server_runtimes (
            runtime_id TEXT PRIMARY KEY NOT NULL, namespace TEXT NOT NULL, profile TEXT, role TEXT,
            remote TEXT, org TEXT, repo TEXT, repository_root TEXT, pid INTEGER NOT NULL,
            process_started_at TEXT, cohort_id TEXT, cohort_source TEXT, client_provenance TEXT,
            boot_id TEXT, startup_head TEXT, transport TEXT, status TEXT NOT NULL,
            registered_at TEXT, last_heartbeat_at TEXT, stopped_at TEXT, attested INTEGER);
        CREATE INDEX IF NOT EXISTS mcp_server_runtimes_pid ON mcp_server_runtimes (pid, boot_id)";

/// What a readable SQLite file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing in it yet.
    Empty,
    /// A store of version 5.
    Older,
    /// A store of this version.
    Current,
}

/// Says what the opened file is, without changing it. Run inside a transaction, so that all
/// looks see the same moment. A file that is known to be `whole` is not read through again.
pub fn recognise(connection: &Connection, whole: bool) -> Result<State, StoreError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables = table_names(connection)?;
    if version > VERSION {
        return Err(StoreError::Newer { found: version });
    }
    if application != 0 && application != APPLICATION_ID {
        return Err(StoreError::Foreign("it is another program's database".to_owned()));
    }
    if version == 0 && tables.is_empty() {
        return Ok(State::Empty);
    }
    if version < OLDEST {
        return Err(StoreError::Foreign(format!(
            "it is a database of version {version}, and a store has version {OLDEST} or {VERSION}"
        )));
    }
    if !SHARED_TABLES.iter().any(|(name, _)| tables.iter().any(|t| t == name)) {
        return Err(StoreError::Foreign("it has none of a store's tables".to_owned()));
    }
    if !whole {
        let fault: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
        if fault != "ok" {
            return Err(StoreError::Corrupt(fault));
        }
    }
    if version == OLDEST {
        return Ok(State::Older);
    }
    if !tables.iter().any(|t| t == "mcp_server_runtimes") {
        return Err(StoreError::Corrupt("the table mcp_server_runtimes is missing".to_owned()));
    }
    Ok(State::Current)
}

/// Brings an empty file or a version-5 store to [`VERSION`]. Run inside one immediate
/// transaction, after [`recognise`] said again what the file is: another process may
/// have been first. Tables that are there stay as they are.
pub fn migrate(connection: &Connection, from: State) -> Result<(), StoreError> {
    match from {
        State::Current => return Ok(()),
        State::Empty => {
            for (_, table) in SHARED_TABLES {
                connection.execute_batch(table)?;
            }
            connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        State::Older => {}
    }
    connection.execute_batch(RUNTIMES)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}

fn table_names(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
    )?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}
