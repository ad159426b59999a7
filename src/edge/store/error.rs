//! Why the store cannot be used, in words that say what to do next.

use thiserror::Error;

/// A failure of the store. [`StoreError::at`] adds the file's name.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no such file, and nobody asked to make it.
    #[error("there is no store here; `restartlint fleet register` and `guard record` make one")]
    Missing,
    /// A store of a later version of this program.
    #[error(
        "the store has version {found}, and this restartlint knows version {known}; \
         it was left untouched: use the newer restartlint",
        known = super::schema::VERSION
    )]
    Newer {
        /// The version that the file says.
        found: i64,
    },
    /// Not one of this program's files.
    #[error("this is no restartlint store ({0}); it was left untouched: name another file")]
    Foreign(String),
    /// A store that cannot be read in full.
    #[error(
        "the store is damaged ({0}); it was left untouched: restore it, or move it away and register again"
    )]
    Corrupt(String),
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// SQLite refused.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
    /// A value that the store does not take.
    #[error("{0}")]
    Invalid(String),
    /// The same failure, with the file that it is about.
    #[error("{path}: {error}")]
    At {
        /// The store's file.
        path: String,
        /// What is wrong with it.
        error: Box<StoreError>,
    },
}

impl StoreError {
    /// The failure with the file's name before it.
    pub fn at(self, path: &std::path::Path) -> StoreError {
        match self {
            StoreError::At { .. } => self,
            error => StoreError::At { path: path.display().to_string(), error: Box::new(error) },
        }
    }

    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        match self {
            StoreError::Missing => true,
            StoreError::At { error, .. } => error.is_missing(),
            _ => false,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        if let rusqlite::Error::SqlInputError { msg, .. } = &error {
            // The statements are this program's own, so it is the tables that differ.
            return StoreError::Invalid(format!("the store's tables are not as they should be: {msg}"));
        }
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt) => StoreError::Corrupt(error.to_string()),
            Some(NotADatabase) => StoreError::Foreign("it is no SQLite database".to_owned()),
            _ => StoreError::Sqlite(error),
        }
    }
}
