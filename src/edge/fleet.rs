//! The two sources of the fleet pass, as this process finds them itself.

use std::path::Path;

use super::process;
use super::store::{OpenMode, Store, StoreError};
use crate::pass::fleet::{Registry, Scan};

/// Reads the registry of a store and looks at the processes that run one of the named
/// servers. What cannot be read is a fault in the evidence, never a missing answer.
///
/// The registry is read first: a server that registers between the two looks is then seen as
/// unregistered for a moment, and none is taken for running on the word of an old listing.
pub fn observe(store: &Path, names: &[String]) -> (Registry, Scan) {
    let registry = registry(store).unwrap_or_else(|error| Registry::unreadable(error.to_string()));
    (registry, Scan::of_table(&process::table(), names))
}

fn registry(store: &Path) -> Result<Registry, StoreError> {
    let store = Store::open(store, OpenMode::Existing)?;
    let open = store.markers()?.into_iter().filter(|marker| marker.cleared_at.is_none());
    Ok(Registry {
        open_markers: open.map(|marker| marker.marker_id).collect(),
        rows: store.runtimes(None)?,
        fault: None,
    })
}
