//! What this process knows of the stores that it opened before: a server opens its store
//! for each call.
//!
//! The header is looked at once a file. POSIX drops a process's locks on a file with the first
//! descriptor that is closed, so nobody may look while another thread holds a connection.
//! The look for damage reads all of the file and is taken at most once a minute; damage that
//! comes later is met, and refused, by the read or write that needs what is damaged.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a file that was found whole is taken to be.
const TRUSTED: Duration = Duration::from_secs(60);

/// What tells one file from another that stands in its place later.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity([u64; 4]);

impl Identity {
    /// `None` where the system has nothing that tells.
    #[cfg(unix)]
    pub fn of(file: &Metadata) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt;
        use std::time::UNIX_EPOCH;
        let born = file.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        Some(Identity([file.dev(), file.ino(), born.as_secs(), born.subsec_nanos().into()]))
    }

    /// `None` where the system has nothing that tells.
    #[cfg(not(unix))]
    pub fn of(_: &Metadata) -> Option<Identity> {
        None
    }
}

/// The files whose header was looked at, each with the moment and the size at which it was found whole.
pub(super) type Files = BTreeMap<Identity, Option<(Instant, u64)>>;

static FILES: Mutex<Files> = Mutex::new(Files::new());

/// The files, for one thread at a time.
pub(super) fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a file of that size was found whole a short while ago.
pub(super) fn is_whole(file: Option<&Identity>, size: u64) -> bool {
    let found = file.and_then(|file| files().get(file).copied().flatten());
    found.is_some_and(|(at, then)| at.elapsed() < TRUSTED && then <= size)
}

/// Remembers that a file of that size is whole.
pub(super) fn found_whole(file: Option<&Identity>, size: u64) {
    if let Some(file) = file {
        files().insert(file.clone(), Some((Instant::now(), size)));
    }
}
