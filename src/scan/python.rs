//! Reads Python by pieces: only the statements that can matter are parsed; when a name turns out
//! to matter (an alias, a wrapper), the statements that use it are parsed too.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::catalogues::Catalogues;
use super::link::{EVERYTHING, Settled, settle};
use crate::base::effect::Effect;
use crate::base::facts::{FileFacts, Language, Tells};
use crate::base::source::Source;
use crate::graph::link::Files;
use crate::lang::python::cut::{Cut, Kind, cut};
use crate::lang::python::hints::{Hints, Hit, Weight};
use crate::lang::python::select::{Selection, identifiers, select};
use crate::lang::python::{facts, notebook_commands, selected};

/// Rounds of widening for one file: aliases of aliases of aliases.
const ROUNDS: usize = 6;
/// Above this share of a text, parsing it whole is no dearer.
const WHOLE: usize = 90;

/// Everything that reading Python by pieces needs.
pub(super) struct PythonReader {
    hints: Option<Hints>,
    watch: FxHashSet<String>,
    servers: FxHashSet<String>,
    /// Every file is parsed whole.
    parse_all: bool,
}

impl PythonReader {
    /// `symbols` are watched, `words` make a statement count.
    pub(super) fn new(
        catalogues: &Catalogues,
        symbols: &[String],
        words: &[String],
        parse_all: bool,
    ) -> PythonReader {
        let catalogue = catalogues.of(Language::Python);
        let commands = catalogues.commands.command_names();
        let mut extra: Vec<String> = symbols.iter().chain(words).cloned().collect();
        let mut servers = FxHashSet::default();
        for name in catalogue.servers.iter().flat_map(|s| &s.names) {
            let head = name.split('.').next().unwrap_or(name);
            extra.push(head.to_owned());
            servers.insert(head.to_owned());
        }
        extra.extend(["restartlint:", "<<<<<<<"].map(str::to_owned));
        PythonReader {
            hints: Hints::new(catalogue, &commands, &extra),
            watch: symbols.iter().cloned().collect(),
            servers,
            parse_all,
        }
    }

    /// Whether a name's uses are found without being told.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.hints.as_ref().is_some_and(|h| h.is_known(name))
    }

    /// The whole file's facts, unsettled.
    pub(super) fn whole(&self, path: &str, source: &Source, catalogues: &Catalogues) -> FileFacts {
        let mut facts = facts(path, source, catalogues.of(Language::Python), &self.watch);
        if path.ends_with(".ipynb") {
            facts.commands = notebook_commands(path, source, &catalogues.commands);
            facts.sites.clone_from(&facts.commands);
        }
        facts
    }

    /// The settled facts of what can matter in a file; `None` if nothing can. `extra` are names that
    /// are known to matter.
    pub(super) fn read(
        &self,
        path: &str,
        source: &Source,
        extra: &BTreeMap<String, Tells>,
        files: &Files,
        catalogues: &Catalogues,
    ) -> Option<FileFacts> {
        let text = source.text.as_str();
        let whole = |this: &Self| {
            let mut facts = this.whole(path, source, catalogues);
            settle(&mut facts, files, catalogues, &|name| this.knows(name));
            Some(facts)
        };
        let Some(hints) = self.hints.as_ref().filter(|_| !self.parse_all && !path.ends_with(".ipynb")) else {
            return whole(self);
        };
        let hits = hints.hits(text);
        let role = Role::of(&hits);
        let mut names: FxHashSet<String> = role.named(extra).collect();
        if !role.tells && !is_mentioned(text, &names) && !names.contains(EVERYTHING) {
            return None;
        }
        // It hands on all that another file gives, and may have no word of its own.
        if !role.tells && names.contains(EVERYTHING) {
            return whole(self);
        }
        // Annotations and conflict markers are told apart from strings by the parser.
        let marked = [b"restartlint:".as_slice(), b"<<<<<<< "]
            .iter()
            .any(|mark| memchr::memmem::find(text.as_bytes(), mark).is_some());
        let Some(cut) = cut(text).filter(|_| !marked) else { return whole(self) };
        let mut selection = select(text, &cut, hints, &hits, &names)?;
        for _ in 0..ROUNDS {
            if covers(&selection, text) {
                return whole(self);
            }
            let mut facts = selected(path, source, &selection, catalogues.of(Language::Python), &self.watch);
            let Settled { telling } = settle(&mut facts, files, catalogues, &|name| self.knows(name));
            let before = names.len();
            names.extend(role.named(&telling));
            names.extend(self.server_names(&facts, text, &cut));
            names.extend(called_at_import(&facts));
            if names.len() == before {
                return Some(facts);
            }
            let wider = select(text, &cut, hints, &hits, &names)?;
            if wider == selection {
                return Some(facts);
            }
            selection = wider;
        }
        whole(self)
    }

    /// Whether names that matter elsewhere matter to a file that has this text.
    pub(super) fn role(&self, text: &str) -> Role {
        self.hints.as_ref().map_or(Role::default(), |hints| Role::of(&hints.hits(text)))
    }

    /// Names that a file imports from a server library, and its classes whose heads name one of them:
    /// the statement that builds the server uses one.
    fn server_names(&self, facts: &FileFacts, text: &str, cut: &Cut) -> Vec<String> {
        let Some(program) = &facts.program else { return Vec::new() };
        if facts.server.is_some() {
            return Vec::new();
        }
        let mut names: Vec<String> = program
            .imports
            .iter()
            .filter(|i| self.servers.contains(i.import.module.split('.').next().unwrap_or("")))
            .filter_map(|i| i.import.name.clone())
            .collect();
        for class in cut.statements.iter().filter(|s| s.kind == Kind::Class) {
            let head = text.get(class.head.clone()).unwrap_or("");
            if identifiers(head).any(|word| names.iter().any(|name| name == word)) {
                names.extend(text.get(class.name.clone()).map(str::to_owned));
            }
        }
        names
    }
}

/// Functions with sites: whether the module's top level calls them decides when the site runs.
fn called_at_import(facts: &FileFacts) -> impl Iterator<Item = String> + '_ {
    facts
        .sites
        .iter()
        .filter(|s| s.effect == Effect::Replace && s.function != 0 && !s.symbol.contains('.'))
        .map(|s| s.symbol.clone())
}

/// What a file can do with names that matter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Role {
    /// It says something that matters by itself.
    tells: bool,
    /// It runs commands.
    runs: bool,
    /// It names commands, or this program.
    commands: bool,
}

impl Role {
    fn of(hits: &[Hit]) -> Role {
        let has = |weight| hits.iter().any(|hit| hit.weight == weight);
        let (runs, commands) = (has(Weight::Runner), has(Weight::Company));
        let alone = [Weight::Strong, Weight::Plain, Weight::Lookup, Weight::Argument].into_iter().any(has);
        // What runs commands may run those of another file.
        Role { tells: alone || runs, runs, commands }
    }

    /// The names that matter to a file of this role.
    pub(super) fn named(self, names: &BTreeMap<String, Tells>) -> impl Iterator<Item = String> + '_ {
        let counts = move |tells: Tells| match tells {
            Tells::Value => true,
            Tells::Runs => self.commands,
            Tells::Command => self.runs,
        };
        names.iter().filter(move |(_, tells)| counts(**tells)).map(|(name, _)| name.clone())
    }
}

fn is_mentioned(text: &str, names: &FxHashSet<String>) -> bool {
    !names.is_empty() && identifiers(text).any(|name| names.contains(name))
}

fn covers(selection: &Selection, text: &str) -> bool {
    let chosen: usize = selection.ranges.iter().map(|r| r.len()).sum();
    chosen * 100 >= text.len() * WHOLE
}
