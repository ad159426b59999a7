//! Words that decide, from bytes alone, which statements of a file can matter. A form in which a
//! catalogued name can be written should hold one of its words in a place that counts, or be
//! reached from a statement that does; `tests/pieces.rs` holds that against whole files, and
//! `docs/languages/python.md` names the forms that are known to be lost.
//!
//! What counts depends on the word. A name of the catalogue counts after a dot, in quotes, or
//! where the file imports it, and a common one only with its module at hand; a builtin where it is
//! used as a value; a command's name where the word stands like one. A few names of modules stand
//! here for the ways in which Python itself gets one (`sys`, `builtins`).

use std::cell::OnceCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::around::{Around, FOUND_IN_SYS};
use super::finder::{Finder, Found, has_word};
use super::imports::{imports, stars};
use super::leaves::identifiers;
use crate::data::primitives::{ArgTest, Catalogue, Condition};

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
    finder: Finder,
    /// For each word of the list, the ways in which it counts.
    entries: Vec<Vec<Entry>>,
    /// Last components that a runner or primitive has in the list.
    known: FxHashSet<String>,
    modules: FxHashSet<String>,
    /// Last components of calls that count by an argument.
    callees: FxHashSet<String>,
    /// Names of what starts a child and gives back its pid.
    child_makers: FxHashSet<String>,
    /// Names of the files that somebody watches.
    triggers: Vec<String>,
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
/// Last components as short as this say too little alone, whatever they are.
const SHORT: usize = 3;

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
    /// What the text must have beside the word.
    beside: Beside,
}

/// What a text must have beside a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Beside {
    /// The module in a package that the word is a member of, wherever it stands.
    module: Option<String>,
    /// Keywords of which a call must give one.
    keywords: Vec<String>,
    /// A file that somebody watches.
    trigger: bool,
}

#[derive(Default)]
struct Words(BTreeMap<String, Vec<Entry>>);

impl Words {
    fn add(&mut self, word: &str, place: Place, weight: Weight) {
        self.add_from(word, place, weight, &[], &Beside::default());
    }

    /// A word that counts where one of the modules is at hand; with none, everywhere.
    fn add_from(&mut self, word: &str, place: Place, weight: Weight, modules: &[&str], beside: &Beside) {
        let entries = self.0.entry(word.to_owned()).or_default();
        let modules: FxHashSet<String> = modules.iter().map(|m| (*m).to_owned()).collect();
        let same = |e: &&mut Entry| e.place == place && e.weight == weight && e.beside == *beside;
        match entries.iter_mut().find(same) {
            Some(entry) if entry.modules.is_empty() || modules.is_empty() => entry.modules.clear(),
            Some(entry) => entry.modules.extend(modules),
            None => entries.push(Entry { place, weight, modules, beside: beside.clone() }),
        }
    }
}

impl Beside {
    /// What a call of a catalogued path needs, by the components before its last one and its conditions.
    fn of(before: &[&str], when: &[ArgTest]) -> Beside {
        let by_keyword = when.iter().all(|test| test.arg.is_none() && test.keyword.is_some());
        Beside {
            module: before.get(1..).and_then(<[&str]>::last).map(|module| (*module).to_owned()),
            keywords: when.iter().filter(|_| by_keyword).filter_map(|test| test.keyword.clone()).collect(),
            trigger: !when.is_empty() && when.iter().all(|test| test.is == Condition::Trigger),
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
    pub fn new(catalogue: &Catalogue, commands: &[&str], extra: &[String]) -> Hints {
        let mut words = Words::default();
        let mut known = FxHashSet::default();
        let mut modules = FxHashSet::default();
        let primitives = catalogue.primitives().iter().flat_map(|p| {
            let by_arguments =
                p.pid.is_some() || p.signal.is_some() || !p.when.is_empty() || p.unless_false.is_some();
            let weight = if by_arguments { Weight::Strong } else { Weight::Plain };
            p.names.iter().map(move |name| (name, weight, p.when.as_slice()))
        });
        let runners = catalogue.runners().iter().flat_map(|r| &r.names);
        let is_common = |last: &str| catalogue.is_common(last) || last.len() <= SHORT || is_special(last);
        for (name, weight, when) in primitives.chain(runners.map(|n| (n, Weight::Runner, [].as_slice()))) {
            let Some(Path { before, makers, last }) = Path::of(name) else { continue };
            let beside = Beside::of(&before, when);
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
                let class = class.map(std::slice::from_ref).unwrap_or(&[]);
                words.add_from(last, Place::OfClass, weight, class, &beside);
            } else if is_common(last) {
                words.add_from(last, Place::Member, weight, &from, &beside);
            } else {
                words.add_from(last, Place::Member, weight, &[], &Beside { module: None, ..beside });
                known.insert(last.to_owned());
            }
            // What makes the object: it may be kept in another file.
            if let Some(maker) = makers.first().filter(|_| !before.iter().any(|m| catalogue.is_everywhere(m)))
            {
                words.add_from(maker, Place::Member, weight, &from, &Beside::default());
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
                let modules = before.get(..1).unwrap_or(&[]);
                words.add_from(last, Place::Member, Weight::Strong, modules, &Beside::default());
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
        let (words, entries) = words.0.into_iter().unzip();
        let finder = Finder::new(words);
        let child_makers = catalogue.child_makers().into_iter().map(str::to_owned).collect();
        let triggers = catalogue.trigger_names().map(str::to_owned).collect();
        Hints { finder, entries, known, modules, callees, child_makers, triggers }
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

    /// The top-level modules that have primitives, in no order.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(String::as_str)
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
        let words = self.finder.find(text);
        if !star && words.is_empty() {
            return Vec::new();
        }
        let found = imports(text);
        let imported: FxHashSet<&str> =
            found.iter().flat_map(|i| i.module.split('.').chain(i.name.as_deref())).collect();
        // Modules may be had by their names in quotes, whole or in parts.
        let mut by_name: Option<bool> = None;
        let names_a_trigger = OnceCell::new();
        let mut hits = Vec::new();
        if star {
            hits.extend(self.starred_modules(text));
        }
        for Found { entry, start, end } in words {
            let word = self.finder.entry(entry);
            let around = Around { text, start, end, word };
            let is_imported = || imported.contains(word);
            for Entry { place, weight, modules, beside } in &self.entries[entry] {
                let mut at_hand = || {
                    if *place == Place::OfClass {
                        return modules.iter().any(|class| has_word(text, class));
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
                let names_trigger = || self.triggers.iter().any(|name| text.contains(name.as_str()));
                if counts
                    && at_hand()
                    && beside.module.as_ref().is_none_or(|module| text.contains(module.as_str()))
                    && (beside.keywords.is_empty() || around.may_be_given(&beside.keywords))
                    && (!beside.trigger || *names_a_trigger.get_or_init(names_trigger))
                {
                    let hit = Hit { offset: start, weight: *weight };
                    if hits.last() != Some(&hit) {
                        hits.push(hit);
                    }
                }
            }
        }
        hits
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
