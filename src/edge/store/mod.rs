//! The store: one SQLite file that many processes read and write at once.
//!
//! Opening looks before it touches: a newer, foreign or damaged file is refused and
//! left as it was. Every write is one immediate transaction that is on the disk when
//! the call returns. What cannot be listed is said, never left out.

mod error;
mod known;
mod listing;
mod markers;
mod proofs;
mod runtimes;
mod schema;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use error::StoreError;
pub use listing::{
    ApprovalRecord, LeaseRecord, RecoveryRecord, SessionRecord, SnapshotRecords, TerminalLockRecord,
    WorkRecord,
};
pub use proofs::{IncidentRecord, ProofUse};
pub use schema::VERSION;

/// How long a writer waits for the others before it gives up.
const BUSY: Duration = Duration::from_secs(30);
/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether a store that is not there is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// A missing file is an error ([`StoreError::Missing`]).
    Existing,
    /// A missing file is made, readable and writable by its owner alone.
    Create,
}

/// An open store.
///
/// ```
/// use restartlint::edge::store::{OpenMode, Store};
/// use restartlint::pass::fleet::RuntimeRow;
///
/// let folder = tempfile::tempdir()?;
/// let mut store = Store::open(&folder.path().join("store.db"), OpenMode::Create)?;
/// let row = RuntimeRow {
///     runtime_id: "rt-1".into(),
///     namespace: "gitea-author".into(),
///     pid: Some(4100),
///     status: "running".into(),
///     registered_at: Some("2026-07-28T02:00:00Z".into()),
///     ..RuntimeRow::default()
/// };
/// store.register(&row)?;
/// assert_eq!(store.runtimes(None)?, [row]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store at a path, and brings a version-5 store up to date.
    ///
    /// # Errors
    /// A missing file (unless it is to be made), a file that is no store, a damaged or
    /// newer one, and whatever the system refuses. In each case the file is unchanged.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Store, StoreError> {
        open(path, mode)
            .map(|connection| Store { connection, path: path.to_owned() })
            .map_err(|error| error.at(path))
    }

    /// The store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One write: all of it, on the disk, or nothing.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let run = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|error: StoreError| error.at(&path))
    }

    /// One read: all of it of the same moment.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let run = || {
            let transaction = self.connection.unchecked_transaction()?;
            let value = work(&transaction)?;
            transaction.finish()?;
            Ok(value)
        };
        run().map_err(|error: StoreError| error.at(&self.path))
    }
}

fn open(path: &Path, mode: OpenMode) -> Result<Connection, StoreError> {
    let (identity, size) = found(path, mode)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Until the file is known to be ours, closing it must not even fold its log into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(BUSY)?;
    // One transaction: between two looks another process may have made the tables.
    let whole = known::is_whole(identity.as_ref(), size);
    let state = connection.unchecked_transaction().map_err(StoreError::from).and_then(|transaction| {
        let state = schema::recognise(&transaction, whole)?;
        transaction.finish()?;
        Ok(state)
    });
    // With nothing in the log there is nothing to fold; closing then only takes its files away again.
    if state.is_ok() || log_is_empty(path) {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    }
    let state = state?;
    if !whole {
        known::found_whole(identity.as_ref(), size);
    }
    use_write_ahead_log(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if state != schema::State::Current {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let state = schema::recognise(&transaction, true)?;
        schema::migrate(&transaction, state)?;
        transaction.commit()?;
    }
    Ok(connection)
}

/// Finds the file, or makes it, and looks at its header. No other thread of this process opens a
/// store meanwhile; see [`known`].
fn found(path: &Path, mode: OpenMode) -> Result<(Option<known::Identity>, u64), StoreError> {
    let mut files = known::files();
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(StoreError::Foreign("it is no regular file".to_owned()));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => match mode {
            OpenMode::Existing => return Err(StoreError::Missing),
            OpenMode::Create => create(path)?,
        },
        Err(error) => return Err(error.into()),
    }
    let metadata = fs::metadata(path)?;
    let identity = known::Identity::of(&metadata);
    if identity.as_ref().is_none_or(|file| !files.contains_key(file)) {
        look_at_header(path)?;
        files.extend(identity.clone().map(|file| (file, None)));
    }
    Ok((identity, metadata.len()))
}

/// Makes the file, for its owner alone, and its entry in the folder durable. SQLite gives
/// the log files beside it the same permissions.
fn create(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(file) => file.sync_all()?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    #[cfg(unix)]
    {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn log_is_empty(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|found| found.len() == 0)
}

/// Refuses what the first hundred bytes already give away, before SQLite opens the file.
fn look_at_header(path: &Path) -> Result<(), StoreError> {
    let mut header = Vec::with_capacity(100);
    File::open(path)?.take(100).read_to_end(&mut header)?;
    if header.is_empty() {
        return Ok(());
    }
    if !header.starts_with(MAGIC) {
        return Err(StoreError::Foreign("it is no SQLite database".to_owned()));
    }
    let version = header.get(60..64).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes);
    match version {
        Some(found) if i64::from(found) > VERSION => Err(StoreError::Newer { found: found.into() }),
        Some(_) => Ok(()),
        None => Err(StoreError::Corrupt("its header is cut short".to_owned())),
    }
}

/// Switches to the write-ahead log. SQLite answers "busy" at once, without waiting, when
/// several processes do this to a new file together, so the waiting is done here.
fn use_write_ahead_log(connection: &Connection) -> Result<(), StoreError> {
    let deadline = Instant::now() + BUSY;
    loop {
        let switched =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match switched {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                return Err(StoreError::Invalid(format!(
                    "this file system allows no write-ahead log (journal mode {mode}); put the store on a local disk"
                )));
            }
            Err(error) if busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}
