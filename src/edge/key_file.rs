//! The key's file: regular, of its owner alone, and long enough.
//!
//! The file is judged after it is opened, so what is judged is what is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::pass::drain::Key;
use crate::pass::drain::key::LEAST_KEY_BYTES;

/// The most bytes a key's file may have; a longer one is no key.
const MOST_BYTES: u64 = 64 * 1024;

/// Why there is no key. Never holds a byte of it.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    /// It cannot be read.
    #[error("the key file cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is a folder, a pipe or a device.
    #[error("the key file is no regular file")]
    NotAFile,
    /// Its mode lets others read it, or the system cannot say.
    #[error("others than its owner can read the key file; set its mode to 600")]
    NotPrivate,
    /// It has too few bytes.
    #[error("the key has fewer than {LEAST_KEY_BYTES} bytes")]
    TooShort,
    /// It has too many.
    #[error("the key file has more than {MOST_BYTES} bytes")]
    TooLong,
}

/// Reads a key.
pub fn read_key(path: &Path) -> Result<Key, KeyFault> {
    // Opening a pipe would wait for a writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(KeyFault::NotAFile);
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    if !opened.is_file() {
        return Err(KeyFault::NotAFile);
    }
    if !is_private(&opened) {
        return Err(KeyFault::NotPrivate);
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(KeyFault::TooLong);
    }
    Key::from_file_bytes(&bytes).ok_or(KeyFault::TooShort)
}

#[cfg(unix)]
fn is_private(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 == 0
}

/// Where a mode does not say who can read a file, nobody vouches for the key.
#[cfg(not(unix))]
fn is_private(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn key(bytes: &[u8], mode: u32) -> Result<Key, KeyFault> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        read_key(&path)
    }

    #[test]
    fn only_its_owner_may_read_it() {
        for mode in [0o600, 0o400, 0o700] {
            assert!(key(&[7; 32], mode).is_ok(), "{mode:o}");
        }
        for mode in [0o640, 0o604, 0o610, 0o601, 0o660, 0o644, 0o620, 0o602] {
            assert!(matches!(key(&[7; 32], mode), Err(KeyFault::NotPrivate)), "{mode:o}");
        }
    }

    #[test]
    fn its_length_is_held() {
        assert!(matches!(key(&[7; 31], 0o600), Err(KeyFault::TooShort)));
        assert!(matches!(key(b"0123456789012345678901234567890\n", 0o600), Err(KeyFault::TooShort)));
        assert!(key(&[7; 64 * 1024], 0o600).is_ok());
        assert!(matches!(key(&[7; 64 * 1024 + 1], 0o600), Err(KeyFault::TooLong)));
    }

    #[test]
    fn what_is_no_file_is_no_key() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(read_key(folder.path()), Err(KeyFault::NotAFile)));
        assert!(matches!(read_key(&folder.path().join("gone")), Err(KeyFault::Unreadable(_))));
        assert!(matches!(read_key(Path::new("/dev/null")), Err(KeyFault::NotAFile)));
    }
}
