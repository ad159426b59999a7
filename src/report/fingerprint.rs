//! Fingerprints: a finding's name that stays when lines move. Rule, relative path,
//! enclosing symbol, canonical primitive and its ordinal among equals; no offset, no line.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::base::finding::Finding;

/// The versioned key under which fingerprints are written.
pub const KEY: &str = "restartlint/v1";

/// The fingerprints of findings that are sorted by place, in their order: 16 hex digits each.
pub fn fingerprints(findings: &[Finding]) -> Vec<String> {
    let mut seen: BTreeMap<[&str; 4], usize> = BTreeMap::new();
    findings
        .iter()
        .map(|finding| {
            let parts = subject(finding);
            let ordinal = seen.entry(parts).or_default();
            let name = digest(&parts, *ordinal);
            *ordinal += 1;
            name
        })
        .collect()
}

/// Rule, path, symbol, and the primitive or, where there is none, the path of the inventory.
fn subject(finding: &Finding) -> [&str; 4] {
    let primitive = finding.primitive.as_deref().or(finding.path_id.as_deref()).unwrap_or("");
    [finding.code, &finding.place.path, finding.symbol.as_deref().unwrap_or(""), primitive]
}

fn digest(parts: &[&str; 4], ordinal: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length before each part keeps two lists of parts from meeting in one text.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update((ordinal as u64).to_le_bytes());
    let digest = hash.finalize();
    hex::encode(digest.get(..8).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::finding;

    #[test]
    fn lines_do_not_count_and_equals_are_numbered() {
        let (mut a, b) = (finding("RL301", "a.py", 3), finding("RL301", "a.py", 9));
        let before = fingerprints(&[a.clone(), b.clone()]);
        assert_ne!(before[0], before[1]);
        a.place.start.line = 7;
        assert_eq!(fingerprints(&[a.clone(), b]), before);
        assert_eq!(before[0].len(), 16);
        a.symbol = Some("other".into());
        assert_ne!(fingerprints(&[a])[0], before[0]);
    }
}
