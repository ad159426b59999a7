//! Which files cannot hold a site: a search over bytes before anything is parsed.
//!
//! Sound: where it says no, no catalogued command is run by a name that the readers could
//! find. Quoting inside a name is taken off first; where a name may be spelled otherwise
//! (`$'…'`, a value in pieces, a decoded text), it says yes.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use crate::base::facts::Language;
use crate::data::commands::CommandCatalogue;

/// The search for a catalogue's names.
#[derive(Debug)]
pub struct Prefilter {
    names: Option<AhoCorasick>,
}

impl Prefilter {
    /// Prepares the search. If it cannot be built, every file may hold a site.
    pub fn new(catalogue: &CommandCatalogue) -> Prefilter {
        let mut names: Vec<&str> = catalogue.command_names();
        names.push("exec");
        let built = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(names);
        Prefilter { names: built.ok() }
    }

    /// Whether a file of a language that holds commands may hold a site, a watched symbol
    /// or anything else that its reader reports.
    pub fn may_hold(&self, language: Language, bytes: &[u8], watch: &[String]) -> bool {
        let plain = |needle: &[u8]| memchr::memmem::find(bytes, needle).is_some();
        if plain(b"restartlint:") || plain(b"<<<<<<<") || watch.iter().any(|w| plain(w.as_bytes())) {
            return true;
        }
        match language {
            Language::Embedded => {
                self.names_in(bytes) || ["Restart", "restart"].iter().any(|w| plain(w.as_bytes()))
            }
            Language::Shell => self.names_in(bytes) || plain(b"$'") || plain(b"base64") || in_pieces(bytes),
            Language::Document => (plain(b"`") || plain(b"::") || plain(b"~~~")) && self.names_in(bytes),
            _ => self.names_in(bytes),
        }
    }

    fn names_in(&self, bytes: &[u8]) -> bool {
        let Some(names) = &self.names else { return true };
        let word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
        let found = |bytes: &[u8]| {
            names.find_overlapping_iter(bytes).any(|m| {
                let before = m.start().checked_sub(1).and_then(|i| bytes.get(i));
                !word(before) && !word(bytes.get(m.end()))
            })
        };
        if found(bytes) {
            return true;
        }
        let quoted = bytes.iter().any(|b| matches!(b, b'\'' | b'"' | b'\\'));
        quoted && {
            let bare: Vec<u8> =
                bytes.iter().copied().filter(|b| !matches!(b, b'\'' | b'"' | b'\\')).collect();
            found(&bare)
        }
    }
}

/// `${a}ill`, `pk${b}`, `$a$b`: a word that a variable's value completes.
fn in_pieces(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'$', bytes).any(|at| {
        let before = at.checked_sub(1).and_then(|i| bytes.get(i)).copied().unwrap_or(b' ');
        if before.is_ascii_alphabetic() || before == b'}' {
            return true;
        }
        bytes.get(at + 1) == Some(&b'{')
            && bytes
                .get(at..)
                .and_then(|rest| memchr::memchr(b'}', rest))
                .and_then(|end| bytes.get(at + end + 1))
                .is_some_and(|b| b.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_quoted() {
        let filter = Prefilter::new(&CommandCatalogue::built_in());
        let holds = |text: &str| filter.may_hold(Language::Shell, text.as_bytes(), &[]);
        for text in [
            "pkill x",
            "p'k'ill x",
            "PKILL",
            "$'\\x70'",
            "K=pk; ${K}ill x",
            "K=ill; pk$K x",
            "exec a",
            "a\\ir b",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in ["echo hello\n", "ls -l | wc\n", "skilled=1\n"] {
            assert!(!holds(text), "{text}");
        }
        assert!(!filter.may_hold(Language::Document, b"# pkill x", &[]));
        assert!(filter.may_hold(Language::Document, b"run `pkill x`", &[]));
        assert!(filter.may_hold(Language::Shell, b"f() { :; }", &["f".to_owned()]));
    }
}
