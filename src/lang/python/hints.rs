//! Words that decide, from bytes alone, which statements of a file can matter. Sound by
//! construction: every form in which a catalogued name can be written holds one of its words in a
//! place that counts, or is reached from a statement that does.
//!
//! What counts depends on the word. A name of the catalogue counts after a dot, in quotes, or
//! where the file imports it; a module's name where the file imports it; a command's name where
//! the file runs commands and the word stands like one.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashSet;

use super::imports::imports;
use crate::data::primitives::Catalogue;

/// What an occurrence of a word is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Enough on its own.
    Strong,
    /// Enough on its own, and it makes commands in the file count.
    Runner,
    /// A lookup by name: counts beside the name of a module that has primitives.
    Lookup,
    /// A command's name, or what a copy of this program is made of: counts where the file runs commands.
    Company,
}

/// An occurrence that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its first byte.
    pub offset: usize,
    /// What it is worth.
    pub weight: Weight,
}

/// Where a word must stand to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Anywhere.
    Anywhere,
    /// Not after a dot, unless that of `sys.`: a builtin.
    Builtin,
    /// After a dot, in quotes, or where the file imports it.
    Member,
    /// Where the file imports it.
    Imported,
    /// Like a word of a command line.
    CommandWord,
}

/// A compiled word list.
#[derive(Debug)]
pub struct Hints {
    automaton: AhoCorasick,
    words: Vec<(String, Vec<(Place, Weight)>)>,
    /// Last components that a runner or primitive has in the list.
    known: FxHashSet<String>,
    modules: FxHashSet<String>,
}

/// Ways to look a name up in a module.
const LOOKUPS: [&str; 4] = ["getattr", "__dict__", "vars", "globals"];
/// Ways to get a module by its name.
const MODULE_LOOKUPS: [&str; 3] = ["__import__", "import_module", "sys.modules"];
/// What a copy of this program is made of.
const OWN: [&str; 5] = ["executable", "argv", "__file__", "python", "__name__"];
/// Arguments that must be given for a call to matter, as they are written at a call or in a mapping.
const ARGUMENTS: [&str; 12] = [
    "use_reloader",
    "reload=",
    "reload\"",
    "reload'",
    "debug=",
    "debug\"",
    "debug'",
    "autoreload=",
    "auto_reload",
    "reloader=",
    "reloader\"",
    "reloader'",
];
/// Last components that say too little: the modules that they come from stand for them.
const TOO_COMMON: [&str; 25] = [
    "run",
    "call",
    "sudo",
    "local",
    "main",
    "start",
    "wait",
    "raise",
    "restart",
    "stop",
    "serve",
    "watch",
    "install",
    "Config",
    "Stop",
    "Restart",
    "Halt",
    "Reboot",
    "PowerOff",
    "Application",
    "prepare",
    "shell",
    "system",
    "spawn",
    "kill",
];

#[derive(Default)]
struct Words(BTreeMap<String, Vec<(Place, Weight)>>);

impl Words {
    fn add(&mut self, word: &str, place: Place, weight: Weight) {
        let entries = self.0.entry(word.to_owned()).or_default();
        if !entries.contains(&(place, weight)) {
            entries.push((place, weight));
        }
    }
}

impl Hints {
    /// The words of a catalogue, with the names of commands, and `extra` words of this run
    /// (watched symbols, daemons' words), which count anywhere.
    pub fn new(catalogue: &Catalogue, commands: &[&str], extra: &[String]) -> Option<Hints> {
        let mut words = Words::default();
        let mut known = FxHashSet::default();
        let mut modules = FxHashSet::default();
        let primitives = catalogue.primitives().iter().flat_map(|p| &p.names).map(|n| (n, Weight::Strong));
        let runners = catalogue.runners().iter().flat_map(|r| &r.names).map(|n| (n, Weight::Runner));
        for (name, weight) in primitives.chain(runners) {
            let parts: Vec<&str> = name.split(['.', '(', ')', '[', ']']).filter(|p| !p.is_empty()).collect();
            let Some((last, before)) = parts.split_last() else { continue };
            modules.extend(before.first().filter(|head| **head != "builtins").map(|head| (*head).to_owned()));
            if before == ["builtins"] {
                words.add(last, Place::Builtin, weight);
                known.insert((*last).to_owned());
                continue;
            }
            if TOO_COMMON.contains(last) || last.len() < 4 {
                // Such a name says nothing. What it is called on came from its module, by the module's name;
                // what is kept under a name of its own is told of by the solver.
                for part in before.iter().filter(|p| **p != "builtins") {
                    let place = if part.starts_with("__") { Place::Anywhere } else { Place::Imported };
                    words.add(part, place, weight);
                }
            } else {
                words.add(last, Place::Member, weight);
                known.insert((*last).to_owned());
            }
        }
        // Common words that a module before them makes plain.
        for (word, weight) in
            [("os.system", Weight::Runner), ("os.kill", Weight::Strong), ("pty.spawn", Weight::Runner)]
        {
            words.add(word, Place::Anywhere, weight);
        }
        for (word, weight) in
            [("system", Weight::Runner), ("kill", Weight::Strong), ("spawn", Weight::Runner)]
        {
            words.add(word, Place::Member, weight);
        }
        ARGUMENTS.iter().for_each(|w| words.add(w, Place::Anywhere, Weight::Strong));
        MODULE_LOOKUPS.iter().for_each(|w| words.add(w, Place::Anywhere, Weight::Strong));
        LOOKUPS.iter().for_each(|w| words.add(w, Place::Anywhere, Weight::Lookup));
        OWN.iter().for_each(|w| words.add(w, Place::Anywhere, Weight::Company));
        catalogue.renamed_heads().for_each(|w| words.add(w, Place::Imported, Weight::Runner));
        commands.iter().for_each(|w| words.add(w, Place::CommandWord, Weight::Company));
        extra.iter().for_each(|w| words.add(w, Place::Anywhere, Weight::Strong));
        let words: Vec<(String, Vec<(Place, Weight)>)> = words.0.into_iter().collect();
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

    /// Star imports of modules that have primitives: such a file gives them all to whoever imports it.
    fn starred_modules<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Hit> + 't {
        memchr::memmem::find_iter(text.as_bytes(), b"import *").filter_map(|at| {
            let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
            let module = text[line..at].trim().strip_prefix("from ")?.trim();
            self.is_module(module).then_some(Hit { offset: at, weight: Weight::Strong })
        })
    }

    /// Whether a top-level module has primitives.
    pub fn is_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }

    /// Every occurrence in a text that counts, in order of its end.
    pub fn hits(&self, text: &str) -> Vec<Hit> {
        if !self.automaton.is_match(text) {
            return Vec::new();
        }
        let found = imports(text);
        let imported: FxHashSet<&str> =
            found.iter().flat_map(|i| i.module.split('.').chain(i.name.as_deref())).collect();
        let star = memchr::memmem::find(text.as_bytes(), b"import *").is_some();
        let mut hits = Vec::new();
        if star {
            hits.extend(self.starred_modules(text));
        }
        for found in self.automaton.find_overlapping_iter(text) {
            let (word, entries) = &self.words[found.pattern().as_usize()];
            let around = Around { text, start: found.start(), end: found.end(), word };
            if !around.is_whole_word() {
                continue;
            }
            let is_imported = || imported.contains(word.as_str());
            for (place, weight) in entries {
                let counts = match place {
                    Place::Anywhere => true,
                    Place::Builtin => {
                        !around.after_dot()
                            || ["sys.", "builtins.", "__builtins__."]
                                .iter()
                                .any(|module| around.before().ends_with(module))
                    }
                    Place::Member => around.is_member() || is_imported() || star,
                    Place::Imported => is_imported(),
                    Place::CommandWord => around.stands_like_a_command(),
                };
                if counts {
                    hits.push(Hit { offset: found.start(), weight: *weight });
                }
            }
        }
        hits
    }
}

/// A word in its text.
struct Around<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    word: &'t str,
}

impl Around<'_> {
    fn before(&self) -> &str {
        &self.text[..self.start]
    }

    fn byte_before(&self) -> Option<u8> {
        self.start.checked_sub(1).map(|at| self.text.as_bytes()[at])
    }

    fn byte_after(&self) -> Option<u8> {
        self.text.as_bytes().get(self.end).copied()
    }

    fn is_whole_word(&self) -> bool {
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let joins = |outer: Option<u8>, inner: Option<&u8>| {
            outer.is_some_and(is_name) && inner.is_some_and(|b| is_name(*b))
        };
        let bytes = self.word.as_bytes();
        !joins(self.byte_before(), bytes.first()) && !joins(self.byte_after(), bytes.last())
    }

    fn after_dot(&self) -> bool {
        self.before().trim_end_matches([' ', '\t', '\\', '\n', '\r']).ends_with('.')
    }

    fn is_member(&self) -> bool {
        // `sys.exit` is a member that matters; other objects' `exit` and `quit` are not.
        if matches!(self.word, "exit" | "quit") {
            return self.before().ends_with("sys.");
        }
        matches!(self.byte_before(), Some(b'"' | b'\'')) || self.after_dot()
    }

    /// In a string's place for a command: after a quote, a blank, a slash or a shell operator, and not
    /// followed by what only code has.
    fn stands_like_a_command(&self) -> bool {
        let opens = matches!(
            self.byte_before(),
            None | Some(
                b'"' | b'\''
                    | b' '
                    | b'/'
                    | b'\n'
                    | b'('
                    | b'`'
                    | b';'
                    | b'|'
                    | b'&'
                    | b'{'
                    | b'}'
                    | b'\\'
                    | b'\t'
            )
        );
        let closes = !matches!(self.byte_after(), Some(b'.' | b'=' | b':' | b'[' | b'(' | b','));
        opens && closes
    }
}
