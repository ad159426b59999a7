//! The runtime registry: the rows that servers write about themselves.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Row, named_params, params};

use super::{Store, StoreError};
use crate::pass::fleet::row::{RuntimeRow, STOPPED};

const COLUMNS: &str = "runtime_id, namespace, profile, role, remote, org, repo, repository_root, pid, \
     process_started_at, cohort_id, cohort_source, client_provenance, boot_id, startup_head, transport, \
     status, registered_at, last_heartbeat_at, stopped_at, attested";

impl Store {
    /// Writes a row. A row of the same pid and boot, or of the same id, is replaced: a pid names
    /// one process, and an id one row.
    ///
    /// # Errors
    /// A row that [`RuntimeRow::fault`] rejects, or a failure of the store.
    pub fn register(&mut self, row: &RuntimeRow) -> Result<(), StoreError> {
        if let Some(fault) = row.fault() {
            return Err(StoreError::Invalid(format!("the row cannot be registered: {fault}")));
        }
        self.write(|store| {
            store.execute(
                "DELETE FROM mcp_server_runtimes WHERE pid = ?1 AND boot_id IS ?2",
                params![row.pid, row.boot_id],
            )?;
            store.execute(
                &format!(
                    "INSERT OR REPLACE INTO mcp_server_runtimes ({COLUMNS}) VALUES (:runtime_id, :namespace, \
                     :profile, :role, :remote, :org, :repo, :repository_root, :pid, :process_started_at, \
                     :cohort_id, :cohort_source, :client_provenance, :boot_id, :startup_head, :transport, \
                     :status, :registered_at, :last_heartbeat_at, :stopped_at, :attested)"
                ),
                named_params! {
                    ":runtime_id": row.runtime_id, ":namespace": row.namespace, ":profile": row.profile,
                    ":role": row.role, ":remote": row.remote, ":org": row.org, ":repo": row.repo,
                    ":repository_root": row.repository_root, ":pid": row.pid,
                    ":process_started_at": row.process_started_at, ":cohort_id": row.cohort_id,
                    ":cohort_source": row.cohort_source, ":client_provenance": row.client_provenance,
                    ":boot_id": row.boot_id, ":startup_head": row.startup_head, ":transport": row.transport,
                    ":status": row.status, ":registered_at": row.registered_at,
                    ":last_heartbeat_at": row.last_heartbeat_at, ":stopped_at": row.stopped_at,
                    ":attested": row.attested,
                },
            )?;
            Ok(())
        })
    }

    /// The rows, of one status or all, in the registry's order.
    ///
    /// # Errors
    /// A failure of the store, or a row that cannot be read: the listing is then not complete.
    pub fn runtimes(&self, status: Option<&str>) -> Result<Vec<RuntimeRow>, StoreError> {
        let mut rows = self.read(|store| {
            let mut statement = store.prepare(&format!("SELECT {COLUMNS} FROM mcp_server_runtimes"))?;
            let rows: Vec<RuntimeRow> = statement.query_map([], read_row)?.collect::<Result<_, _>>()?;
            Ok(rows)
        })?;
        rows.retain(|row| status.is_none_or(|status| row.status == status));
        rows.sort_by(RuntimeRow::order);
        Ok(rows)
    }

    /// Moves a runtime's `last_heartbeat_at` and nothing else. Gives whether there is such a runtime.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn heartbeat(&mut self, runtime_id: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.write(|store| {
            let changed = store.execute(
                "UPDATE mcp_server_runtimes SET last_heartbeat_at = ?2 WHERE runtime_id = ?1",
                params![runtime_id, format!("{now:.3}")],
            )?;
            Ok(changed > 0)
        })
    }

    /// Marks a runtime as stopped and keeps its row. Gives whether there is such a runtime.
    /// The first stop's time stays.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn mark_stopped(&mut self, runtime_id: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.write(|store| {
            let changed = store.execute(
                "UPDATE mcp_server_runtimes SET stopped_at = CASE WHEN status = ?3 AND stopped_at IS NOT NULL \
                 THEN stopped_at ELSE ?2 END, status = ?3 WHERE runtime_id = ?1",
                params![runtime_id, format!("{now:.3}"), STOPPED],
            )?;
            Ok(changed > 0)
        })
    }

    /// Drops the rows whose last sign of life is more than `days` old, and gives their ids in order.
    /// A row whose age cannot be told stays.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn prune(&mut self, days: u32, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let window = SignedDuration::from_hours(i64::from(days) * 24);
        self.write(|store| {
            let mut statement = store.prepare(&format!("SELECT {COLUMNS} FROM mcp_server_runtimes"))?;
            let rows: Vec<RuntimeRow> = statement.query_map([], read_row)?.collect::<Result<_, _>>()?;
            let mut dropped = Vec::new();
            for row in rows {
                if row.last_sign().is_some_and(|at| now.duration_since(at) > window) {
                    store.execute(
                        "DELETE FROM mcp_server_runtimes WHERE runtime_id = ?1",
                        params![row.runtime_id],
                    )?;
                    dropped.push(row.runtime_id);
                }
            }
            dropped.sort();
            Ok(dropped)
        })
    }
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<RuntimeRow> {
    Ok(RuntimeRow {
        runtime_id: row.get("runtime_id")?,
        namespace: row.get("namespace")?,
        profile: row.get("profile")?,
        role: row.get("role")?,
        remote: row.get("remote")?,
        org: row.get("org")?,
        repo: row.get("repo")?,
        repository_root: row.get("repository_root")?,
        pid: row.get("pid")?,
        process_started_at: row.get("process_started_at")?,
        cohort_id: row.get("cohort_id")?,
        cohort_source: row.get("cohort_source")?,
        client_provenance: row.get("client_provenance")?,
        boot_id: row.get("boot_id")?,
        startup_head: row.get("startup_head")?,
        transport: row.get("transport")?,
        status: row.get("status")?,
        registered_at: row.get("registered_at")?,
        last_heartbeat_at: row.get("last_heartbeat_at")?,
        stopped_at: row.get("stopped_at")?,
        attested: row.get("attested")?,
    })
}
