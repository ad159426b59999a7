//! Contamination markers: recorded before anybody is told, cleared but never deleted.

use rusqlite::types::ValueRef;
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

/// Every marker. A row of any shape is one, and open unless it says that it was cleared: a store
/// that another program began may lack a column, and no marker may be overlooked for that.
pub(super) fn list(store: &Connection) -> Result<Vec<Marker>, StoreError> {
    let mut statement = store.prepare("SELECT rowid AS row_number, * FROM markers")?;
    let mut markers: Vec<Marker> = statement.query_map([], read_marker)?.collect::<Result<_, _>>()?;
    markers.sort_by(|a, b| (&a.recorded_at, &a.marker_id).cmp(&(&b.recorded_at, &b.marker_id)));
    Ok(markers)
}

fn read_marker(row: &Row<'_>) -> rusqlite::Result<Marker> {
    let number: i64 = row.get("row_number")?;
    Ok(Marker {
        marker_id: text(row, "marker_id")?.unwrap_or_else(|| format!("row {number}")),
        command: text(row, "command")?.unwrap_or_default(),
        session_id: text(row, "session_id")?.unwrap_or_default(),
        verdict: MarkerVerdict::from_name(&text(row, "verdict")?.unwrap_or_default()),
        reason: text(row, "reason")?,
        recorded_at: text(row, "recorded_at")?.unwrap_or_default(),
        cleared_at: text(row, "cleared_at")?,
        cleared_by: text(row, "cleared_by")?,
    })
}

/// A value as text; a column that the table does not have is null.
fn text(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<String>> {
    match row.get_ref(column) {
        Ok(ValueRef::Null) | Err(rusqlite::Error::InvalidColumnName(_)) => Ok(None),
        Ok(ValueRef::Integer(number)) => Ok(Some(number.to_string())),
        Ok(ValueRef::Real(number)) => Ok(Some(number.to_string())),
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => {
            Ok(Some(String::from_utf8_lossy(bytes).into_owned()))
        }
        Err(error) => Err(error),
    }
}
