//! Reads Python by pieces: only the statements that can matter are parsed; when a name turns out
//! to matter (an alias, a wrapper), the statements that use it are parsed too.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::catalogues::Catalogues;
use super::link::{EVERYTHING, Settled, settle};
use crate::base::effect::Effect;
use crate::base::facts::{FileFacts, Language};
use crate::base::ir::Import;
use crate::base::source::Source;
use crate::graph::link::Files;
use crate::lang::python::cut::{Cut, Kind, cut};
use crate::lang::python::given::{Given, Hands};
use crate::lang::python::hints::{Hints, Weight};
use crate::lang::python::select::{Choice, Met, Pieces, Selection};
use crate::lang::python::{facts, identifiers, notebook_commands, selected};

/// Rounds of widening for one file: aliases of aliases of aliases.
const ROUNDS: usize = 6;
/// The fingerprint of a file that was read whole.
const EVERY_PIECE: u64 = u64::MAX;
/// Above this share of a text, in percent, all of it is parsed: that is hardly dearer, and whatever others tell later is
/// parsed then.
const WHOLE: usize = 70;

/// Everything that reading Python by pieces needs.
pub(super) struct PythonReader {
    hints: Hints,
    watch: FxHashSet<String>,
    /// What builds a server, by dotted path.
    servers: Vec<String>,
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
        let commands = catalogues.commands().command_names();
        let mut extra: Vec<String> = symbols.iter().chain(words).cloned().collect();
        let servers = catalogue.servers.iter().flat_map(|server| server.names.iter().cloned()).collect();
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
        self.hints.is_known(name)
    }

    /// The whole file's facts, unsettled.
    pub(super) fn whole(&self, path: &str, source: &Source, catalogues: &Catalogues) -> FileFacts {
        let mut facts = facts(path, source, catalogues.of(Language::Python), &self.watch);
        if path.ends_with(".ipynb") {
            facts.commands = notebook_commands(path, source, catalogues.commands());
            facts.sites.clone_from(&facts.commands);
        }
        facts
    }

    /// Reads what can matter in a file. `given` are the names that other files have to do with.
    pub(super) fn read(
        &self,
        path: &str,
        source: &Source,
        given: &Given,
        before: Before<'_>,
        linking: Linking<'_>,
    ) -> Reading {
        let text = source.text.as_str();
        let mut reading = Reading::default();
        if self.parse_all || path.ends_with(".ipynb") {
            self.read_whole(path, source, (before, before.own()), linking, &mut reading);
            return reading;
        }
        let hints = &self.hints;
        let hits = hints.hits(text);
        reading.commands = hits.iter().any(|hit| hit.weight == Weight::Company);
        let tells = hits.iter().any(|hit| hit.weight != Weight::Company);
        let everything = given.values.contains(EVERYTHING);
        if !tells && !everything && !given.hands_on && !is_mentioned(text, given) {
            return reading;
        }
        // Annotations and conflict markers are told apart from strings by the parser.
        let marked = [b"restartlint:".as_slice(), b"<<<<<<< "]
            .iter()
            .any(|mark| memchr::memmem::find(text.as_bytes(), mark).is_some());
        let Some(cut) = cut(text).filter(|_| !marked) else {
            self.read_whole(path, source, (before, before.own()), linking, &mut reading);
            return reading;
        };
        let pieces = Pieces::new(text, &cut, hints, &hits, linking.catalogues.commands())
            .remembering(before.met.cloned());
        // It hands on all that another file gives, and may have no word of its own.
        let own = if !tells && everything || before.is_whole() {
            let own = before.own();
            reading.hands = pieces.hands(&given.with(&own));
            Some(own)
        } else {
            self.read_pieces(path, source, given, (before, &pieces), linking, &mut reading)
        };
        if let Some(own) = own {
            self.read_whole(path, source, (before, own), linking, &mut reading);
        }
        reading.met = pieces.met();
        reading
    }

    /// Reads all of a file, if it was not before. `own` are names that turned out to matter in it.
    fn read_whole(
        &self,
        path: &str,
        source: &Source,
        (before, own): (Before<'_>, Given),
        Linking { files, catalogues }: Linking<'_>,
        reading: &mut Reading,
    ) {
        // There is no more of it than was read before.
        if before.is_whole() {
            return;
        }
        reading.chosen = Some(Box::new(Chosen { own, begun: EVERY_PIECE, selection: EVERY_PIECE }));
        let mut facts = self.whole(path, source, catalogues);
        settle(&mut facts, files, catalogues, &|name| self.knows(name));
        reading.facts = Some(facts);
    }

    /// Reads the pieces of a file that can matter, as often as a new name turns out to. Where these are about all
    /// of it, gives the names that turned out to matter, and all of it is to be read.
    fn read_pieces(
        &self,
        path: &str,
        source: &Source,
        given: &Given,
        (before, pieces): (Before<'_>, &Pieces<'_>),
        Linking { files, catalogues }: Linking<'_>,
        reading: &mut Reading,
    ) -> Option<Given> {
        let text = source.text.as_str();
        let everything = given.values.contains(EVERYTHING);
        let mut own = before.own();
        let mut given = given.with(&own);
        let mut chosen = before.chosen.map(|before| (before.begun, before.selection));
        for _ in 0..ROUNDS {
            let (choice, hands) = pieces.choose(&given, chosen.map(|(begun, _)| begun));
            reading.hands = hands;
            let (selection, begun) = match choice {
                Choice::Of { selection, begun } => (selection, begun),
                Choice::Nothing if everything => return Some(own),
                Choice::Nothing | Choice::Same => return None,
            };
            let print = FxBuildHasher.hash_one(&selection);
            // The same pieces say the same.
            if chosen.is_some_and(|(_, selection)| selection == print) {
                return None;
            }
            if covers(&selection, text) {
                return Some(own);
            }
            reading.chosen = Some(Box::new(Chosen { own: own.clone(), begun, selection: print }));
            let mut facts = selected(path, source, &selection, catalogues.of(Language::Python), &self.watch);
            let Settled { telling } = settle(&mut facts, files, catalogues, &|name| self.knows(name));
            let mut more = Given::default();
            more.tell(telling);
            more.values.extend(self.server_names(&facts, text, pieces.cut()));
            more.values.extend(called_at_import(&facts));
            reading.facts = Some(facts);
            if !given.extend(&more) {
                return None;
            }
            own.extend(&more);
            chosen = Some((begun, print));
        }
        Some(own)
    }

    /// The names of a text that may stand for a command.
    pub(super) fn commands(&self, text: &str, given: &Given, catalogues: &Catalogues) -> BTreeSet<String> {
        let hints = &self.hints;
        let hits = hints.hits(text);
        let pieces = |cut| Pieces::new(text, &cut, hints, &hits, catalogues.commands()).commands(given);
        cut(text).map_or_else(BTreeSet::new, pieces)
    }

    /// Whether an import brings what builds a server, or a module on the way to it.
    fn leads_to_server(&self, import: &Import) -> bool {
        let name = import.name.as_deref().unwrap_or("");
        self.servers.iter().any(|server| {
            let rest = server.strip_prefix(import.module.as_str()).and_then(|rest| rest.strip_prefix('.'));
            rest.and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
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
            .filter(|i| self.leads_to_server(&i.import))
            .filter_map(|i| i.import.name.clone())
            .collect();
        // `from fastmcp import FastMCP as S`.
        let renamed: Vec<String> = names
            .iter()
            .flat_map(|name| text.match_indices(name.as_str()).map(move |(at, _)| at + name.len()))
            .filter_map(|end| text[end..].strip_prefix(" as "))
            .filter_map(|alias| identifiers(alias).next().map(str::to_owned))
            .collect();
        names.extend(renamed);
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

/// What was read of a file.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// What it says; none if nothing in it can matter.
    pub(super) facts: Option<FileFacts>,
    /// Where its commands and what runs them met, and what it has for others.
    pub(super) hands: Hands,
    /// It has the name of a command.
    pub(super) commands: bool,
    /// What was chosen of it.
    pub(super) chosen: Option<Box<Chosen>>,
    /// What was met in it.
    pub(super) met: Option<Met>,
}

/// What is known of a file that was read before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before<'k> {
    pub(super) chosen: Option<&'k Chosen>,
    pub(super) met: Option<&'k Met>,
}

impl Before<'_> {
    fn is_whole(self) -> bool {
        self.chosen.is_some_and(|before| before.selection == EVERY_PIECE)
    }

    /// The names that turned out to matter in the file itself.
    fn own(self) -> Given {
        self.chosen.map(|before| before.own.clone()).unwrap_or_default()
    }

    /// What the file has for others, where it was read whole and nothing was told since that changes this.
    pub(super) fn hands(self, given: &Given) -> Option<Hands> {
        self.met.filter(|_| self.is_whole())?.hands(&given.with(&self.own())).cloned()
    }
}

/// What was chosen of a file, for the next time that it is read.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The names that turned out to matter in it.
    own: Given,
    /// A fingerprint of what told the pieces.
    begun: u64,
    /// A fingerprint of the pieces.
    selection: u64,
}

/// What imports and names are held against.
#[derive(Clone, Copy)]
pub(super) struct Linking<'l> {
    /// The files of the tree.
    pub(super) files: &'l Files,
    /// What is a primitive.
    pub(super) catalogues: &'l Catalogues,
}

fn is_mentioned(text: &str, given: &Given) -> bool {
    let any = [&given.values, &given.runs, &given.commands, &given.asked, &given.tested];
    !given.is_empty() && identifiers(text).any(|name| any.iter().any(|names| names.contains(name)))
}

fn covers(selection: &Selection, text: &str) -> bool {
    let chosen: usize = selection.ranges.iter().map(|r| r.len()).sum();
    chosen * 100 >= text.len() * WHOLE
}
