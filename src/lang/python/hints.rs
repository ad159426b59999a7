//! Words that decide, from bytes alone, which statements of a file can matter. Sound by
//! construction: every form in which a catalogued name can be written holds one of its words,
//! or is reached from a statement that does.

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashSet;

use crate::data::primitives::Catalogue;

/// What a word is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Enough on its own.
    Strong,
    /// A runner's name: enough on its own, and it makes commands in the file count.
    Runner,
    /// A lookup by name: counts beside the name of a module that has primitives.
    Lookup,
    /// A command's name, or what a copy of this program is made of: counts where the file runs commands.
    Company,
}

/// A compiled word list.
#[derive(Debug)]
pub struct Hints {
    automaton: AhoCorasick,
    words: Vec<(String, Weight)>,
    /// Last components that a runner or primitive has in the list.
    known: FxHashSet<String>,
    modules: FxHashSet<String>,
}

/// Ways to look a name up.
const LOOKUPS: [&str; 7] =
    ["getattr", "__import__", "import_module", "__dict__", "vars", "modules", "globals"];
/// What a copy of this program is made of.
const OWN: [&str; 5] = ["executable", "argv", "__file__", "python", "__name__"];
/// Last components that say too little: their module's name stands for them.
const TOO_COMMON: [&str; 14] = [
    "run", "call", "sudo", "local", "main", "start", "wait", "raise", "restart", "stop", "serve", "watch",
    "install", "Config",
];

impl Hints {
    /// The words of a catalogue, with the names of commands, and `extra` words of this run
    /// (watched symbols, daemons' words).
    pub fn new(catalogue: &Catalogue, commands: &[&str], extra: &[String]) -> Option<Hints> {
        let mut words: Vec<(String, Weight)> = Vec::new();
        let mut known = FxHashSet::default();
        let mut modules = FxHashSet::default();
        let named = catalogue
            .primitives()
            .iter()
            .flat_map(|p| p.names.iter().map(move |n| (n, Weight::Strong, !p.when.is_empty())))
            .chain(
                catalogue.runners().iter().flat_map(|r| r.names.iter().map(|n| (n, Weight::Runner, false))),
            );
        for (name, weight, _) in named {
            let plain = name.trim_end_matches(']');
            let last = plain.rsplit(['.', '[']).next().unwrap_or(plain);
            let head = name.split(['.', '(', '[']).next().unwrap_or(name);
            if TOO_COMMON.contains(&last) || last.len() < 4 {
                // The object or module on which it is called must have got its name somewhere.
                for part in name.split(['.', '(', ')', '[', ']']).rev().skip(1) {
                    if !part.is_empty() && !TOO_COMMON.contains(&part) && part != "builtins" {
                        words.push((part.to_owned(), weight));
                        break;
                    }
                }
            } else {
                known.insert(last.to_owned());
                words.push((last.to_owned(), weight));
            }
            if head != "builtins" {
                modules.insert(head.to_owned());
            }
        }
        // An argument that must be given decides sooner than the name of what takes it.
        for word in ["use_reloader", "reload", "debug=", "debug\"", "debug'", "autoreload", "reloader"] {
            words.push((word.to_owned(), Weight::Strong));
        }
        words.extend(catalogue.renamed_heads().map(|head| (head.to_owned(), Weight::Runner)));
        words.extend(LOOKUPS.iter().map(|w| ((*w).to_owned(), Weight::Lookup)));
        words.extend(OWN.iter().map(|w| ((*w).to_owned(), Weight::Company)));
        words.extend(commands.iter().map(|w| ((*w).to_owned(), Weight::Company)));
        words.extend(extra.iter().map(|w| (w.clone(), Weight::Strong)));
        words.sort_by(|a, b| a.0.cmp(&b.0).then((a.1 as u8).cmp(&(b.1 as u8))));
        words.dedup_by(|b, a| a.0 == b.0);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(words.iter().map(|(w, _)| w))
            .ok()?;
        Some(Hints { automaton, words, known, modules })
    }

    /// Whether a name of the catalogue is always found by its own last component.
    pub fn is_known(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Whether a top-level module has primitives.
    pub fn is_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }

    /// Every word in a text that stands alone: its place and weight, in order of its end.
    pub fn matches<'h>(&'h self, text: &'h str) -> impl Iterator<Item = (usize, Weight)> + 'h {
        let bytes = text.as_bytes();
        self.automaton.find_overlapping_iter(text).filter_map(move |found| {
            let (word, weight) = &self.words[found.pattern().as_usize()];
            let before = found.start().checked_sub(1).map(|at| bytes[at]);
            let after = bytes.get(found.end()).copied();
            let joins = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
            let starts_word = word.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let ends_word = word.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let alone = !(starts_word && joins(before) || ends_word && joins(after));
            // `exit` and `quit` of other objects are not the builtins, but `sys.exit` is one.
            let foreign = matches!(word.as_str(), "exit" | "quit")
                && before == Some(b'.')
                && !text[..found.start()].ends_with("sys.");
            (alone && !foreign).then_some((found.start(), *weight))
        })
    }
}
