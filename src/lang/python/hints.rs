//! Words that decide, from bytes alone, which statements of a file can matter. A form in which a
//! catalogued name can be written should hold one of its words in a place that counts, or be
//! reached from a statement that does; `tests/pieces.rs` holds that against whole files, and
//! `docs/languages/python.md` names the forms that are known to be lost.
//!
//! What counts depends on the word. A name of the catalogue counts after a dot, in quotes, or
//! where the file imports it, and a common one only with its module at hand; a builtin where it is
//! used as a value; a command's name where the word stands like one. A few names of modules stand
//! here for the ways in which Python itself gets one (`sys`, `builtins`).

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use rustc_hash::FxHashSet;

use super::imports::imports;
use super::leaves::identifiers;
use crate::data::primitives::Catalogue;

/// What an occurrence of a word is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Enough on its own.
    Strong,
    /// Enough on its own, whatever it is called with.
    Plain,
    /// Enough on its own, and it makes commands in the file count.
    Runner,
    /// A lookup by name: counts beside the name of a module that has primitives.
    Lookup,
    /// An argument that makes a call count: counts beside such a call's name, or where it is kept.
    Argument,
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
    /// Where it asks for a module that has primitives, or for one that is not written there.
    ModuleLookup,
    /// Not after a dot, unless that of `sys.`: a builtin.
    Builtin,
    /// After a dot, in quotes, or where the file imports it.
    Member,
    /// The same, of a class that the text names: every class has such a member.
    OfClass,
    /// Like a word of a command line.
    CommandWord,
    /// Where a module is kept as a value.
    ModuleValue,
    /// Where an argument has a value that may hold, or its name in quotes stands for a key.
    Argument,
}

/// A compiled word list.
#[derive(Debug)]
pub struct Hints {
    automaton: AhoCorasick,
    words: Vec<(String, Vec<Entry>)>,
    /// Last components that a runner or primitive has in the list.
    known: FxHashSet<String>,
    modules: FxHashSet<String>,
    /// Last components of calls that count by an argument.
    callees: FxHashSet<String>,
    /// Names of what starts a child and gives back its pid.
    child_makers: FxHashSet<String>,
}

/// Ways to look a name up in a module.
const LOOKUPS: [&str; 4] = ["getattr", "__dict__", "vars", "globals"];
/// Ways to get a module by its name.
const MODULE_LOOKUPS: [&str; 3] = ["__import__", "import_module", "sys.modules"];
/// What a copy of this program is made of.
const OWN: [&str; 4] = ["executable", "_base_executable", "argv", "orig_argv"];
/// What stands before a builtin that is read from a module.
const BUILTIN_MODULES: [&str; 3] = ["sys.", "builtins.", "__builtins__."];
/// The interpreter's names in a command.
const PYTHONS: [&str; 4] = ["python", "python3", "python2", "pythonw"];
/// Last components that say too little alone: they count where their module is at hand.
const TOO_COMMON: [&str; 28] = [
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
    "abort",
    "reload",
    "terminate",
];

/// Methods of many objects that count as members of `sys` alone.
const FOUND_IN_SYS: [&str; 2] = ["exit", "quit"];

/// Whether a last component says too little alone.
fn is_common(last: &str) -> bool {
    TOO_COMMON.contains(&last) || last.len() < 4 || is_special(last)
}

/// Whether a name is one of those that Python itself calls.
fn is_special(last: &str) -> bool {
    last.starts_with("__") && last.ends_with("__")
}

/// One way in which a word counts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    place: Place,
    weight: Weight,
    /// Modules of which one must be at hand; none if the word says enough alone.
    modules: FxHashSet<String>,
}

#[derive(Default)]
struct Words(BTreeMap<String, Vec<Entry>>);

impl Words {
    fn add(&mut self, word: &str, place: Place, weight: Weight) {
        self.add_from(word, place, weight, &[]);
    }

    /// A word that counts where one of the modules is at hand; with none, everywhere.
    fn add_from(&mut self, word: &str, place: Place, weight: Weight, modules: &[&str]) {
        let entries = self.0.entry(word.to_owned()).or_default();
        let modules: FxHashSet<String> = modules.iter().map(|m| (*m).to_owned()).collect();
        match entries.iter_mut().find(|e| e.place == place && e.weight == weight) {
            Some(entry) if entry.modules.is_empty() || modules.is_empty() => entry.modules.clear(),
            Some(entry) => entry.modules.extend(modules),
            None => entries.push(Entry { place, weight, modules }),
        }
    }
}

/// The plain components of a catalogued path before its last one, those that make an object, and
/// the last; a key in brackets is one component (`__salt__[cmd.run]`).
struct Path<'n> {
    before: Vec<&'n str>,
    makers: Vec<&'n str>,
    last: &'n str,
}

impl<'n> Path<'n> {
    fn of(name: &'n str) -> Option<Path<'n>> {
        if let Some((before, key)) =
            name.strip_suffix(']').and_then(|n| n.rsplit_once('[')).filter(|(_, k)| !k.is_empty())
        {
            return Some(Path { before: before.split('.').collect(), makers: Vec::new(), last: key });
        }
        let mut parts: Vec<&str> = name.split('.').collect();
        let last = parts.pop()?.trim_end_matches(['(', ')', '[', ']']);
        let is_made = |part: &&&str| part.ends_with([')', ']']);
        let makers = parts.iter().filter(is_made).map(|p| p.trim_end_matches(['(', ')', '[', ']'])).collect();
        let before = parts.iter().filter(|p| !p.ends_with([')', ']'])).copied().collect();
        Some(Path { before, makers, last })
    }
}

impl Hints {
    /// The words of a catalogue, with the names of commands, and `extra` words of this run
    /// (watched symbols, assertions, a configuration's primitives), which count anywhere.
    pub fn new(catalogue: &Catalogue, commands: &[&str], extra: &[String]) -> Option<Hints> {
        let mut words = Words::default();
        let mut known = FxHashSet::default();
        let mut modules = FxHashSet::default();
        let primitives = catalogue.primitives().iter().flat_map(|p| {
            let by_arguments =
                p.pid.is_some() || p.signal.is_some() || !p.when.is_empty() || p.unless_false.is_some();
            let weight = if by_arguments { Weight::Strong } else { Weight::Plain };
            p.names.iter().map(move |name| (name, weight))
        });
        let runners = catalogue.runners().iter().flat_map(|r| &r.names).map(|n| (n, Weight::Runner));
        for (name, weight) in primitives.chain(runners) {
            let Some(Path { before, makers, last }) = Path::of(name) else { continue };
            modules.extend(before.first().filter(|head| **head != "builtins").map(|head| (*head).to_owned()));
            if before == ["builtins"] {
                words.add(last, Place::Builtin, weight);
                if !FOUND_IN_SYS.contains(&last) {
                    known.insert(last.to_owned());
                }
                continue;
            }
            let mut from: Vec<&str> = before.iter().copied().find(|m| *m != "builtins").into_iter().collect();
            // `posix` for `os`.
            let renamed =
                catalogue.renames().filter(|(from, to)| !from.contains('.') && before.first() == Some(to));
            from.extend(renamed.map(|(from, _)| from));
            // Other objects have such methods: only `sys.exit` is found by its word.
            if FOUND_IN_SYS.contains(&last) {
                words.add(last, Place::Member, weight);
            } else if is_special(last) {
                let class = makers.last().or(before.last());
                words.add_from(last, Place::OfClass, weight, class.map(std::slice::from_ref).unwrap_or(&[]));
            } else if is_common(last) {
                words.add_from(last, Place::Member, weight, &from);
            } else {
                words.add(last, Place::Member, weight);
                known.insert(last.to_owned());
            }
            // What makes the object: it may be kept in another file.
            if let Some(maker) = makers.first().filter(|_| !before.iter().any(|m| catalogue.is_everywhere(m)))
            {
                words.add_from(maker, Place::Member, weight, &from);
            }
        }
        // A builtin that stands for a primitive (`reload`).
        for (from, to) in catalogue.renames() {
            // A module that stands for another is known by its own name.
            if !from.contains(['.', '(']) {
                known.insert(from.to_owned());
            }
            if let Some(word) = from.strip_prefix("builtins.").filter(|_| to.contains('.')) {
                words.add(word, Place::Builtin, Weight::Strong);
            }
        }
        // What builds a server, where its library is at hand.
        for name in catalogue.servers.iter().flat_map(|server| &server.names) {
            if let Some(Path { before, last, .. }) = Path::of(name) {
                words.add_from(last, Place::Member, Weight::Strong, before.get(..1).unwrap_or(&[]));
            }
        }
        // What makes a call count, as it is written at the call or in a mapping.
        let mut callees = FxHashSet::default();
        for primitive in catalogue.primitives().iter().filter(|p| !p.when.is_empty()) {
            // Other callees are found by their own names.
            let lasts = primitive.names.iter().filter_map(|name| Path::of(name).map(|p| p.last));
            let common: Vec<String> = lasts.filter(|last| is_common(last)).map(str::to_owned).collect();
            if common.is_empty() {
                continue;
            }
            callees.extend(common);
            for keyword in primitive.when.iter().filter_map(|test| test.keyword.as_deref()) {
                for end in ["=", "\"", "'"] {
                    words.add(&format!("{keyword}{end}"), Place::Argument, Weight::Argument);
                }
            }
        }
        // A module under another name: other files may have it by that.
        for module in &modules {
            for form in [format!("= {module}"), format!("={module}")] {
                words.add(&form, Place::ModuleValue, Weight::Strong);
            }
            words.add(&format!("import {module} as "), Place::Anywhere, Weight::Strong);
        }
        for word in MODULE_LOOKUPS {
            words.add(word, Place::ModuleLookup, Weight::Strong);
            words.add(word, Place::Anywhere, Weight::Lookup);
        }
        LOOKUPS.iter().for_each(|w| words.add(w, Place::Anywhere, Weight::Lookup));
        OWN.iter().for_each(|w| words.add(w, Place::Member, Weight::Company));
        words.add("__file__", Place::Anywhere, Weight::Company);
        PYTHONS.iter().for_each(|w| words.add(w, Place::CommandWord, Weight::Company));
        commands.iter().for_each(|w| words.add(w, Place::CommandWord, Weight::Company));
        extra.iter().for_each(|w| words.add(w, Place::Anywhere, Weight::Strong));
        let words: Vec<(String, Vec<Entry>)> = words.0.into_iter().collect();
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::Standard)
            .build(words.iter().map(|(w, _)| w))
            .ok()?;
        let child_makers = catalogue.child_makers().into_iter().map(str::to_owned).collect();
        Some(Hints { automaton, words, known, modules, callees, child_makers })
    }

    /// Whether a name of the catalogue is always found by its own last component.
    pub fn is_known(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Star imports of modules that have primitives: such a file gives them all to whoever imports it.
    fn starred_modules<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Hit> + 't {
        stars(text).filter_map(|at| {
            let line = text[..at].rfind(['\n', ';', ':']).map_or(0, |n| n + 1);
            let module = text[line..at].trim().strip_prefix("from")?.trim();
            self.is_module(module).then_some(Hit { offset: at, weight: Weight::Strong })
        })
    }

    /// Whether a top-level module has primitives.
    pub fn is_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }

    /// Whether a definition starts a child and may give back its pid.
    pub fn makes_a_child(&self, text: &str) -> bool {
        text.contains("return") && identifiers(text).any(|name| self.child_makers.contains(name))
    }

    /// Whether a call of that name can count by an argument that it is given.
    pub fn takes_arguments(&self, name: &str) -> bool {
        self.callees.contains(name)
    }

    /// Every occurrence in a text that counts, in order of its end.
    pub fn hits(&self, text: &str) -> Vec<Hit> {
        let star = stars(text).next().is_some();
        if !star && !self.automaton.is_match(text) {
            return Vec::new();
        }
        let found = imports(text);
        let imported: FxHashSet<&str> =
            found.iter().flat_map(|i| i.module.split('.').chain(i.name.as_deref())).collect();
        // Modules may be had by their names in quotes, whole or in parts.
        let mut by_name: Option<bool> = None;
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
            for Entry { place, weight, modules } in entries {
                let mut at_hand = || {
                    if *place == Place::OfClass {
                        let named = |class: &String| memchr::memmem::find(text.as_bytes(), class.as_bytes());
                        return modules.iter().any(|class| named(class).is_some());
                    }
                    modules.is_empty()
                        || modules.iter().any(|m| imported.contains(m.as_str()))
                        || around.qualifier().is_some_and(|q| modules.contains(q))
                        || *by_name.get_or_insert_with(|| gets_modules_by_name(text, &self.modules))
                };
                let counts = match place {
                    Place::Anywhere => true,
                    Place::ModuleLookup => asks_for_a_module(&text[around.end..], &self.modules),
                    Place::Builtin => {
                        let of = |module: &&str| around.before().ends_with(*module);
                        around.is_a_value() || is_imported() || BUILTIN_MODULES.iter().any(of)
                    }
                    Place::Member | Place::OfClass => around.is_member() || is_imported() || star,
                    Place::CommandWord => around.stands_like_a_command(),
                    Place::Argument => around.may_be_set(),
                    Place::ModuleValue => around.is_kept(),
                };
                if counts && at_hand() {
                    hits.push(Hit { offset: found.start(), weight: *weight });
                }
            }
        }
        hits
    }
}

/// The places of `import *`, however it is spaced.
fn stars(text: &str) -> impl Iterator<Item = usize> + '_ {
    memchr::memmem::find_iter(text.as_bytes(), b"import")
        .filter(|at| text[at + 6..].trim_start_matches([' ', '\t', '\\', '\n']).starts_with('*'))
}

/// Whether a text asks somewhere for a module that has primitives, by name.
fn gets_modules_by_name(text: &str, modules: &FxHashSet<String>) -> bool {
    MODULE_LOOKUPS.iter().any(|word| {
        memchr::memmem::find_iter(text.as_bytes(), word.as_bytes())
            .any(|at| asks_for_a_module(&text[at + word.len()..], modules))
    })
}

/// Whether what follows a lookup is the name of a module that has primitives, or a text that is
/// put together there.
fn asks_for_a_module(after: &str, modules: &FxHashSet<String>) -> bool {
    let line = after.lines().next().unwrap_or("");
    let asked = line.trim_start().trim_start_matches(".get").trim_start_matches(['(', '[']).trim_start();
    let quoted = asked.strip_prefix(['"', '\'']);
    let Some(name) = quoted.and_then(|q| q.split(['"', '\'']).next()) else {
        // `f"…"`, `b"…"`: put together. A name is looked for where it is bound.
        let mut letters = asked.chars();
        return letters.next().is_some_and(char::is_alphabetic) && matches!(letters.next(), Some('"' | '\''));
    };
    let rest = quoted.and_then(|q| q.get(name.len() + 1..)).unwrap_or("").trim_start();
    rest.starts_with(['+', '"', '\'', '%', '.', '[']) || name.split('.').any(|part| modules.contains(part))
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
        // The letter of an escape (`"\npkill"`) is no part of the word.
        let escaped = matches!(self.byte_before(), Some(b'n' | b't' | b'r'))
            && self.start.checked_sub(2).is_some_and(|at| self.text.as_bytes()[at] == b'\\');
        (escaped || !joins(self.byte_before(), bytes.first())) && !joins(self.byte_after(), bytes.last())
    }

    /// The name before the dot before the word.
    fn qualifier(&self) -> Option<&str> {
        let before = self.before().strip_suffix('.')?;
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        before.get(start..)
    }

    fn after_dot(&self) -> bool {
        self.before().trim_end_matches([' ', '\t', '\\', '\n', '\r']).ends_with('.')
    }

    /// A builtin that is called or handed on, not one that a text speaks of.
    fn is_a_value(&self) -> bool {
        let before = self.before().trim_end_matches([' ', '\t', '\n', '\r', '\\']);
        let follows = |word: &str| before.ends_with(word);
        if before.ends_with('.') {
            return false;
        }
        self.byte_after() == Some(b'(')
            || before.ends_with(['=', '(', ',', '[', ':', '{'])
            || ["raise", "return", "or", "and", "else", "in", "if", "yield", "except", "not"]
                .into_iter()
                .any(follows)
    }

    fn is_member(&self) -> bool {
        // `sys.exit` is a member that matters; other objects' `exit` and `quit` are not, where `sys` has no
        // other name.
        if FOUND_IN_SYS.contains(&self.word) {
            let object = self.before().trim_end().trim_end_matches('\\').trim_end();
            let object = object.strip_suffix('.').map(str::trim_end);
            return object.is_some_and(|object| object.ends_with("sys") || self.renames_its_module());
        }
        matches!(self.byte_before(), Some(b'"' | b'\'')) || self.after_dot()
    }

    /// Whether the text gives the module of `exit` another name, or gets it by name.
    fn renames_its_module(&self) -> bool {
        let text = self.text.as_bytes();
        ["sys as ", "builtins as ", "= sys\n", "=sys\n", "\"sys\"", "'sys'", "\"builtins\"", "'builtins'"]
            .iter()
            .any(|form| memchr::memmem::find(text, form.as_bytes()).is_some())
    }

    /// Whether a name after a `=` is all that is assigned, or given, there.
    fn is_kept(&self) -> bool {
        let compares = matches!(self.byte_before(), Some(b'=' | b'!' | b'<' | b'>'));
        let after = self.text[self.end..].trim_start_matches([' ', '\t', '\r']);
        !compares && (after.is_empty() || after.starts_with(['\n', ',', ')', ';', '#', ']', '}']))
    }

    /// Whether an argument is given something that may hold: `debug=value`, not `debug=False`, which is
    /// also what a parameter has by default; or, in quotes, it may be a key: not where it is itself what an
    /// argument is given (`level="debug"`).
    fn may_be_set(&self) -> bool {
        let after = &self.text[self.end..];
        if self.word.ends_with('=') {
            let fails = ["False", "None", "0"].iter().filter_map(|value| after.strip_prefix(value));
            return !after.starts_with('=')
                && !fails.map(str::trim_start).any(|rest| rest.starts_with([',', ')']));
        }
        let quote = &self.word[self.word.len() - 1..];
        self.before().strip_suffix(quote).is_some_and(|before| !before.ends_with('='))
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
        let is_program = self.text[self.end..].starts_with(".exe");
        let escaped = matches!(self.byte_before(), Some(b'n' | b't' | b'r'))
            && self.start.checked_sub(2).is_some_and(|at| self.text.as_bytes()[at] == b'\\');
        let opens = opens || escaped;
        let closes =
            is_program || !matches!(self.byte_after(), Some(b'.' | b'=' | b':' | b'[' | b'(' | b','));
        opens && closes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_counts_where_it_may_hold() {
        let counts = |text: &str, word: &str| {
            let start = text.find(word).unwrap();
            Around { text, start, end: start + word.len(), word }.may_be_set()
        };
        for text in ["run(debug=True)", "run(debug=flag)", "run(debug=0 or flag)", "run(debug=None is x)"] {
            assert!(counts(text, "debug="), "{text}");
        }
        for text in ["run(debug=False)", "run(debug=None , x=1)", "run(debug=0, x=1)", "if debug== 1: pass"] {
            assert!(!counts(text, "debug="), "{text}");
        }
        assert!(counts("f(**{\"debug\": True})", "debug\""));
        assert!(counts("f[\"debug\"] = True", "debug\""));
        assert!(!counts("f(level=\"debug\", x=1)", "debug\""));
        assert!(!counts("f(\"to debug\")", "debug\""));
    }

    #[test]
    fn a_module_is_asked_for_by_its_name_or_by_a_text_that_is_put_together() {
        let modules: FxHashSet<String> = ["os".to_owned()].into_iter().collect();
        assert!(asks_for_a_module("(é\"os\")", &modules));
        assert!(!asks_for_a_module("(éa)", &modules));
        assert!(asks_for_a_module("(f\"{name}\")", &modules));
        assert!(asks_for_a_module("('os')", &modules));
        assert!(!asks_for_a_module("(name)", &modules));
    }
}
