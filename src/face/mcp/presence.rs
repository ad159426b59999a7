//! The server's own row in the runtime registry: written when its transport is bound,
//! touched while it runs, marked as stopped when standard input has ended.
//!
//! A registry that cannot be written is told on standard error; the server serves on, and
//! the fleet pass then sees it as unregistered.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval};

use super::world::World;
use crate::edge::process::{self, Lookup};
use crate::edge::store::{OpenMode, Store};
use crate::edge::{chance, clock};
use crate::face::store::open_or_make;
use crate::face::{Failure, output};
use crate::pass::fleet::RuntimeRow;

/// The time between two signs of life; the fleet pass waits for minutes.
const BEAT: Duration = Duration::from_secs(30);
/// The namespace that this server stands under.
const NAMESPACE: &str = "restartlint";

/// A registration that lasts as long as the session.
pub(super) struct Presence {
    kept: Option<(PathBuf, String, JoinHandle<()>)>,
    /// Held open all the time: otherwise the log files beside the store would come and go, and
    /// a check of the folder that they lie in would list files that are gone when it reads them.
    _open: Option<Store>,
}

impl Presence {
    /// Registers this process, where there is a store, and begins to beat.
    pub async fn begin(world: Arc<World>) -> Presence {
        let Some(store) = world.store().map(Path::to_owned) else {
            return Presence { kept: None, _open: None };
        };
        let path = store.clone();
        let written = spawn_blocking(move || {
            let row = row(&world)?;
            write(&path, &row).map(|open| (row, open))
        });
        match written.await {
            Ok(Ok((row, open))) => {
                let id = row.runtime_id.clone();
                let beats = tokio::spawn(beat(store.clone(), row));
                Presence { kept: Some((store, id, beats)), _open: Some(open) }
            }
            Ok(Err(failure)) => {
                output::warn(&format!("this server is not registered: {}", failure.text()));
                Presence { kept: None, _open: None }
            }
            Err(error) => {
                output::warn(&format!("this server is not registered: {error}"));
                Presence { kept: None, _open: None }
            }
        }
    }

    /// Marks the row as stopped.
    pub async fn end(self) {
        let Some((store, id, beats)) = self.kept else { return };
        beats.abort();
        let stopped = spawn_blocking(move || -> Result<bool, Failure> {
            Ok(Store::open(&store, OpenMode::Existing)?.mark_stopped(&id, clock::now())?)
        });
        if let Ok(Err(failure)) = stopped.await {
            output::warn(&format!("this server is not marked as stopped: {}", failure.text()));
        }
    }
}

fn row(world: &World) -> Result<RuntimeRow, Failure> {
    let started = match process::lookup(process::own_pid()) {
        Lookup::Running(own) => own.started_at.map(|at| at.to_string()),
        Lookup::Gone | Lookup::Unknown(_) => None,
    };
    let now = said(clock::now());
    Ok(RuntimeRow {
        runtime_id: chance::fresh_id("rt-")?,
        namespace: NAMESPACE.to_owned(),
        repository_root: Some(world.root.to_string_lossy().into_owned()),
        pid: Some(process::own_pid()),
        process_started_at: started,
        boot_id: process::boot_id(),
        startup_head: world.startup_head.clone(),
        transport: Some("stdio".to_owned()),
        status: crate::pass::fleet::row::RUNNING.to_owned(),
        registered_at: Some(now.clone()),
        last_heartbeat_at: Some(now),
        // The process itself writes it.
        attested: Some(true),
        ..RuntimeRow::default()
    })
}

fn said(now: Timestamp) -> String {
    format!("{now:.3}")
}

fn write(store: &Path, row: &RuntimeRow) -> Result<Store, Failure> {
    let mut store = open_or_make(store)?;
    store.register(row)?;
    Ok(store)
}

async fn beat(store: PathBuf, row: RuntimeRow) {
    let row = Arc::new(row);
    let mut ticks = interval(BEAT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    // The first tick is at once, and the registration was a sign of life.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let (store, row) = (store.clone(), Arc::clone(&row));
        let beaten = spawn_blocking(move || again(&store, &row)).await;
        if let Ok(Err(failure)) = beaten {
            output::warn(&format!("no sign of life could be written: {}", failure.text()));
        }
    }
}

/// One sign of life; a row that was dropped meanwhile is written again.
fn again(store: &Path, row: &RuntimeRow) -> Result<(), Failure> {
    let now = clock::now();
    if open_or_make(store)?.heartbeat(&row.runtime_id, now)? {
        return Ok(());
    }
    write(store, &RuntimeRow { last_heartbeat_at: Some(said(now)), ..row.clone() }).map(|_| ())
}
