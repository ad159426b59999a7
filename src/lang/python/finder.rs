//! Finds many words in a text in one pass. A word list of some hundred entries makes an automaton whose
//! tables no cache holds, and takes a while to build; but each entry has a name in it, and most names of a
//! text are told from all of these by two bytes and their length.

use rustc_hash::FxHashMap;

use super::leaves::name_bytes;

/// The bytes of names, as far as entries have them.
const IN_WORDS: [bool; 256] = name_bytes(false);

/// An entry that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Which one.
    pub(super) entry: usize,
    /// Its first byte.
    pub(super) start: usize,
    /// The byte behind it.
    pub(super) end: usize,
}

/// A compiled list.
#[derive(Debug)]
pub(super) struct Finder {
    entries: Vec<String>,
    /// The entries by the name that they are known by, with its offset in them.
    by_name: FxHashMap<Box<[u8]>, Vec<(usize, usize)>>,
    /// Entries without any name.
    nameless: Vec<usize>,
    /// One bit for each pair of bytes that a name begins with.
    pairs: Box<[u64; 1024]>,
    /// For each first byte, a bit for each length.
    lengths: Box<[u64; 256]>,
}

impl Finder {
    /// Of entries, which are known by their places in the list.
    pub(super) fn new(entries: Vec<String>) -> Finder {
        let mut shared: FxHashMap<&[u8], usize> = FxHashMap::default();
        for entry in &entries {
            for (_, name) in words(entry.as_bytes()) {
                *shared.entry(name).or_default() += 1;
            }
        }
        let mut by_name: FxHashMap<Box<[u8]>, Vec<(usize, usize)>> = FxHashMap::default();
        let mut nameless = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            // The name that the fewest share: not the `import` of all imports.
            match words(entry.as_bytes()).min_by_key(|(_, name)| shared[name]) {
                Some((offset, name)) => by_name.entry(name.into()).or_default().push((at, offset)),
                None => nameless.push(at),
            }
        }
        let (mut pairs, mut lengths) = (Box::new([0; 1024]), Box::new([0; 256]));
        for name in by_name.keys() {
            lengths[usize::from(name[0])] |= 1 << name.len().min(63);
            if let [first, second, ..] = **name {
                let pair = usize::from(first) << 8 | usize::from(second);
                pairs[pair / 64] |= 1 << (pair % 64);
            }
        }
        Finder { entries, by_name, nameless, pairs, lengths }
    }

    /// An entry's text.
    pub(super) fn entry(&self, at: usize) -> &str {
        &self.entries[at]
    }

    /// Every entry of the list where it stands as a whole: a name in it is no part of a longer one, unless
    /// that begins with the letter of an escape. In order of the ends, the longest first.
    pub(super) fn find(&self, text: &str) -> Vec<Found> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        for (start, word) in words(bytes) {
            self.known(bytes, start, word, &mut found);
            // The `n` of `"\npkill"` is no part of the word.
            if let [b'n' | b't' | b'r', rest @ ..] = word
                && start.checked_sub(1).is_some_and(|before| bytes[before] == b'\\')
                && !rest.is_empty()
            {
                self.known(bytes, start + 1, rest, &mut found);
            }
        }
        for entry in &self.nameless {
            let text = &self.entries[*entry];
            found.extend(memchr::memmem::find_iter(bytes, text.as_bytes()).map(|start| Found {
                entry: *entry,
                start,
                end: start + text.len(),
            }));
        }
        found.sort_by_key(|found| (found.end, found.start));
        found
    }

    /// Adds the entries that are known by a name which stands at a place.
    fn known(&self, bytes: &[u8], start: usize, name: &[u8], found: &mut Vec<Found>) {
        let may_be = match *name {
            [first, second, ..] => {
                let pair = usize::from(first) << 8 | usize::from(second);
                self.pairs[pair / 64] >> (pair % 64) & 1 != 0
                    && self.lengths[usize::from(first)] >> name.len().min(63) & 1 != 0
            }
            [first] => self.lengths[usize::from(first)] >> 1 & 1 != 0,
            [] => false,
        };
        if !may_be {
            return;
        }
        for (entry, offset) in self.by_name.get(name).into_iter().flatten() {
            let text = self.entries[*entry].as_bytes();
            let Some(start) = start.checked_sub(*offset) else { continue };
            if bytes.get(start..start + text.len()) == Some(text) && stands_whole(bytes, start, text) {
                found.push(Found { entry: *entry, start, end: start + text.len() });
            }
        }
    }
}

/// Whether an entry at a place is whole: no name at its ends is part of a longer one, but for the letter of an escape.
fn stands_whole(bytes: &[u8], start: usize, entry: &[u8]) -> bool {
    let joined = |outer: Option<&u8>, inner: Option<&u8>| {
        let is_name = |byte: Option<&u8>| byte.is_some_and(|b| IN_WORDS[usize::from(*b)]);
        is_name(outer) && is_name(inner)
    };
    // The `n` of `"\npkill"` is no part of the word.
    let escaped = start
        .checked_sub(2)
        .is_some_and(|at| bytes[at] == b'\\' && matches!(bytes[at + 1], b'n' | b't' | b'r'));
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    (escaped || !joined(before, entry.first())) && !joined(bytes.get(start + entry.len()), entry.last())
}

/// Whether a text has a name as a word.
pub(super) fn has_word(text: &str, name: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), name.as_bytes())
        .any(|start| stands_whole(text.as_bytes(), start, name.as_bytes()))
}

/// The names in bytes, with where each begins.
fn words(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|b| IN_WORDS[usize::from(*b)])?;
        let len = bytes[start..].iter().position(|b| !IN_WORDS[usize::from(*b)]);
        at = len.map_or(bytes.len(), |len| start + len);
        Some((start, &bytes[start..at]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(entries: &[&str], text: &str) -> Vec<(String, usize)> {
        let finder = Finder::new(entries.iter().map(|e| (*e).to_owned()).collect());
        finder.find(text).into_iter().map(|f| (finder.entry(f.entry).to_owned(), f.start)).collect()
    }

    #[test]
    fn entries_are_found_where_they_stand_whole() {
        let entries =
            ["kill", "cmd.run", "import os as ", "= os", "debug=", "<<<<<<<", "docker-compose", "é"];
        for (text, want) in [
            ("os.kill(skill, kills, kill_)", vec![("kill", 3)]),
            ("x['cmd.run'] cmd.runner", vec![("cmd.run", 3)]),
            ("import os as o; y = os\nz = osx", vec![("import os as ", 0), ("= os", 18)]),
            ("f(debug=1, xdebug=2)", vec![("debug=", 2)]),
            ("<<<<<<<", vec![("<<<<<<<", 0)]),
            ("docker-compose docker", vec![("docker-compose", 0)]),
            (r#""a\nkill" "\kill" "nkill""#, vec![("kill", 4), ("kill", 12)]),
            ("é kill", vec![("é", 0), ("kill", 3)]),
            ("", vec![]),
        ] {
            let want: Vec<(String, usize)> = want.into_iter().map(|(w, at)| (w.to_owned(), at)).collect();
            assert_eq!(found(&entries, text), want, "{text}");
        }
    }

    #[test]
    fn entries_that_end_together_come_longest_first() {
        assert_eq!(
            found(&["os", "= os", "import os"], "= os; import os"),
            [("= os", 0), ("os", 2), ("import os", 6), ("os", 13)].map(|(w, at)| (w.to_owned(), at))
        );
    }
}
