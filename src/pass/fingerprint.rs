//! The fingerprint of a state, and canonical JSON: RFC 8785, then SHA-256.
//!
//! Knows only names: which of them count is decided by the count of an impact report.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// What a fingerprint covers: the class, its target and the sorted names in scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Covered<'a> {
    /// The name of the restart class.
    pub class: &'a str,
    /// The target, if the class has one.
    pub target: Option<&'a str>,
    /// The ids of the live sessions.
    pub sessions: Vec<&'a str>,
    /// The ids of the active leases.
    pub leases: Vec<&'a str>,
    /// The id of the active lock.
    pub terminal_lock: Option<&'a str>,
}

/// `sha256:` and 64 lower-case hex digits over what is covered; the order in which the names came does not matter.
///
/// ```
/// use restartlint::pass::fingerprint::{Covered, fingerprint};
/// let covered = |sessions| Covered { class: "host_restart", target: None, sessions, leases: vec![], terminal_lock: None };
/// assert_eq!(fingerprint(covered(vec!["a", "b"])), fingerprint(covered(vec!["b", "a"])));
/// assert_ne!(fingerprint(covered(vec!["a", "bc"])), fingerprint(covered(vec!["ab", "c"])));
/// ```
pub fn fingerprint(mut covered: Covered<'_>) -> String {
    covered.sessions.sort_unstable();
    covered.leases.sort_unstable();
    // The writer fails on map keys that are no strings, and here are none.
    format!("sha256:{}", sha256_hex(&canonical(&covered).unwrap_or_default()))
}

/// The canonical JSON (RFC 8785) of a value; `None` if it has a map key that is no string.
pub(crate) fn canonical(value: &impl Serialize) -> Option<Vec<u8>> {
    serde_json_canonicalizer::to_vec(value).ok()
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_text_is_the_one_of_the_standard() {
        let covered = Covered {
            class: "role_restart",
            target: Some("reviewer"),
            sessions: vec!["s-é", "s-a"],
            leases: vec!["l-1"],
            terminal_lock: None,
        };
        let text = r#"{"class":"role_restart","leases":["l-1"],"sessions":["s-a","s-é"],"target":"reviewer","terminal_lock":null}"#;
        assert_eq!(fingerprint(covered), format!("sha256:{}", sha256_hex(text.as_bytes())));
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn kinds_of_names_do_not_mix() {
        let of = |sessions, leases, lock| {
            fingerprint(Covered { class: "c", target: None, sessions, leases, terminal_lock: lock })
        };
        let all = [
            of(vec!["x"], vec![], None),
            of(vec![], vec!["x"], None),
            of(vec![], vec![], Some("x")),
            of(vec![], vec![], None),
        ];
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }
}
