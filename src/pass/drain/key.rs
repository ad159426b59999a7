//! The key of a proof's MAC. It is never shown: not by `Debug`, not in a fault.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// The fewest bytes a key may have.
pub const LEAST_KEY_BYTES: usize = 32;

/// A key of at least [`LEAST_KEY_BYTES`] bytes.
#[derive(Clone)]
pub struct Key(Vec<u8>);

impl Key {
    /// The key in a file's bytes: all of them less one final newline; `None` if they are too few.
    ///
    /// ```
    /// use restartlint::pass::drain::Key;
    /// assert!(Key::from_file_bytes(b"0123456789abcdef0123456789abcdef\n").is_some());
    /// assert!(Key::from_file_bytes(b"0123456789abcdef0123456789abcde\n").is_none());
    /// ```
    pub fn from_file_bytes(bytes: &[u8]) -> Option<Key> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        (bytes.len() >= LEAST_KEY_BYTES).then(|| Key(bytes.to_vec()))
    }

    /// `hmac-sha256:` and 64 lower-case hex digits over a message.
    pub(crate) fn mac(&self, message: &[u8]) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(message);
        Some(format!("hmac-sha256:{}", hex::encode(mac.finalize().into_bytes())))
    }

    /// Whether a MAC is the one of the message; the time taken does not depend on where they differ.
    pub(crate) fn verifies(&self, message: &[u8], mac: &str) -> bool {
        self.mac(message).is_some_and(|expected| expected.as_bytes().ct_eq(mac.as_bytes()).into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mac_is_hmac_sha_256() {
        // Test case 6 of RFC 4231: a key longer than the block.
        let key = Key::from_file_bytes(&[0xaa; 131]).unwrap();
        let message = b"Test Using Larger Than Block-Size Key - Hash Key First";
        let mac = "hmac-sha256:60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
        assert_eq!(key.mac(message).as_deref(), Some(mac));
        assert!(key.verifies(message, mac));
        for wrong in ["", "hmac-sha256:", &mac.to_uppercase(), &mac[..mac.len() - 1], &mac.replace('6', "7")]
        {
            assert!(!key.verifies(message, wrong), "{wrong}");
        }
    }

    #[test]
    fn one_final_newline_is_no_part_of_the_key() {
        let (plain, newline, two) = ([7u8; 32].to_vec(), b"\n".to_vec(), b"\n\n".to_vec());
        let of = |tail: &[u8]| Key::from_file_bytes(&[plain.as_slice(), tail].concat()).unwrap();
        assert_eq!(of(b"").mac(b"m"), of(&newline).mac(b"m"));
        assert_ne!(of(b"").mac(b"m"), of(&two).mac(b"m"));
        assert!(Key::from_file_bytes(&[7; 31]).is_none());
        assert!(Key::from_file_bytes(b"").is_none());
    }

    #[test]
    fn a_key_is_never_shown() {
        assert_eq!(format!("{:?}", Key::from_file_bytes(&[b'k'; 32])), "Some(Key(…))");
    }
}
