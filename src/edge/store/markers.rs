//! Contamination markers: recorded before anybody is told, cleared but never deleted.

use rusqlite::{Connection, Row, params};

use super::{Store, StoreError};
use crate::pass::marker::{Marker, MarkerVerdict};

impl Store {
    /// Records a marker. When this returns, the marker is on the disk.
    ///
    /// # Errors
    /// A failure of the store; then nobody may believe that it was recorded.
    pub fn record_marker(&mut self, marker: &Marker) -> Result<(), StoreError> {
        self.write(|store| {
            store.execute(
                "INSERT INTO markers (marker_id, command, session_id, verdict, reason, recorded_at, cleared_at, \
                 cleared_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    marker.marker_id,
                    marker.command,
                    marker.session_id,
                    marker.verdict.name(),
                    marker.reason,
                    marker.recorded_at,
                    marker.cleared_at,
                    marker.cleared_by,
                ],
            )?;
            Ok(())
        })
    }

    /// Every marker, open and cleared, by the time and id of its recording.
    ///
    /// # Errors
    /// A failure of the store, or a marker that cannot be read.
    pub fn markers(&self) -> Result<Vec<Marker>, StoreError> {
        self.read(list)
    }

    /// Records that a marker was cleared. Gives the marker as it stands then; one that was
    /// cleared before keeps its first clearing. `None` if there is no such marker.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn clear_marker(
        &mut self,
        marker_id: &str,
        cleared_at: &str,
        cleared_by: &str,
    ) -> Result<Option<Marker>, StoreError> {
        self.write(|store| {
            store.execute(
                "UPDATE markers SET cleared_at = ?2, cleared_by = ?3 WHERE marker_id = ?1 AND cleared_at IS NULL",
                params![marker_id, cleared_at, cleared_by],
            )?;
            Ok(list(store)?.into_iter().find(|marker| marker.marker_id == marker_id))
        })
    }
}

pub(super) fn list(store: &Connection) -> Result<Vec<Marker>, StoreError> {
    let mut statement = store.prepare(
        "SELECT marker_id, command, session_id, verdict, reason, recorded_at, cleared_at, cleared_by \
         FROM markers ORDER BY recorded_at, marker_id",
    )?;
    let markers = statement.query_map([], read_marker)?.collect::<Result<_, _>>()?;
    Ok(markers)
}

fn read_marker(row: &Row<'_>) -> rusqlite::Result<Marker> {
    Ok(Marker {
        marker_id: row.get("marker_id")?,
        command: row.get("command")?,
        session_id: row.get("session_id")?,
        verdict: MarkerVerdict::from_name(&row.get::<_, String>("verdict")?),
        reason: row.get("reason")?,
        recorded_at: row.get("recorded_at")?,
        cleared_at: row.get("cleared_at")?,
        cleared_by: row.get("cleared_by")?,
    })
}
