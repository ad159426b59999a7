//! Names that matter and are exported under a name of their own: the files that import them are
//! read again with those names in mind, and so are the files whose commands or runners these turn
//! out to need, until no file exports a new one.

#![allow(clippy::disallowed_methods)] // Part of the pipeline: it opens the files that discovery listed.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::asked::{Answers, commands_asked, demands, tests_asked};
use super::imported::{Imported, Places, hash};
use super::link::{EVERYTHING, is_package};
use super::python::{Before, Chosen, Reading};
use super::read::{FEW, failed};
use super::{Scan, Tools};
use crate::base::facts::{FileFacts, Language, RelPath, Tells};
use crate::base::ir::{Expr, ExprId, Program};
use crate::base::source::Source;
use crate::discover::Listing;
use crate::lang::python::given::{Given, Hands};
use crate::lang::python::identifiers;
use crate::lang::python::select::Met;

/// Files that export what others export: chains longer than this are not followed.
const ROUNDS: usize = 8;
/// Files that hand on commands to each other, at most.
const RUNNER_ROUNDS: usize = 3;

/// Cells that one exported name's values are looked for in.
const MOST_CELLS: usize = 16;
/// Members, elements and calls that lead from a telling name to what is exported.
const MOST_STEPS: usize = 8;

/// Files that are read again at once, at most.
const AT_ONCE: usize = 32;

/// What a file gives, by name.
type Names = BTreeMap<String, Tells>;

/// What is kept of every Python file, parsed or not.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What it imports.
    pub(super) imported: Imported,
    /// It has the name of a command.
    pub(super) commands: bool,
    /// What it has for others.
    pub(super) hands: Hands,
    /// What was chosen of it, if anything was.
    pub(super) chosen: Option<Box<Chosen>>,
    /// What was met in it.
    pub(super) met: Option<Box<Met>>,
}

impl Known {
    fn before(&self) -> Before<'_> {
        Before { chosen: self.chosen.as_deref(), met: self.met.as_deref() }
    }
}

/// The files that are read anew in one round, with the names that were found since.
pub(super) type Wanted = BTreeMap<RelPath, Given>;

/// Follows names through the files that import them, and puts what these say into the scan.
pub(super) fn follow_exports(
    tools: &Tools<'_>,
    listing: &Listing,
    mut known: BTreeMap<RelPath, Known>,
    scan: &mut Scan,
) {
    let mut told: FxHashSet<(RelPath, String, Tells)> = FxHashSet::default();
    let mut asked: FxHashSet<(RelPath, String)> = FxHashSet::default();
    let mut given: BTreeMap<RelPath, Given> = BTreeMap::new();
    let mut sources: BTreeMap<RelPath, BTreeSet<RelPath>> = BTreeMap::new();
    let mut passed: BTreeMap<RelPath, Names> = BTreeMap::new();
    let mut answers = Answers::default();
    for round in 0..ROUNDS {
        let runners = if round < RUNNER_ROUNDS { &known } else { &BTreeMap::new() };
        let exported = exported(scan, runners, std::mem::take(&mut passed), &mut told);
        let mut wanted = Wanted::new();
        for Importer { path, given, from, passes } in importers(tools, listing, &known, &exported) {
            sources.entry(path.clone()).or_default().extend(from);
            if !given.is_empty() {
                wanted.insert(path.clone(), given);
            }
            if !passes.is_empty() {
                passed.insert(path, passes);
            }
        }
        for (path, names) in commands_asked(tools, listing, &known, &given, &mut asked, &mut answers) {
            wanted.entry(path).or_default().extend(&names);
        }
        for (path, names) in demands(&known, &sources).into_iter().chain(tests_asked(tools, scan, &known)) {
            wanted.entry(path).or_default().extend(&names);
        }
        wanted.retain(|path, names| given.entry(path.clone()).or_default().extend(names));
        if wanted.is_empty() && passed.is_empty() {
            return;
        }
        // A few files at a time: what was read of them before is let go as they are read.
        let paths: Vec<&RelPath> = wanted.keys().collect();
        for some in paths.chunks(AT_ONCE) {
            for (path, reading) in read_again(tools, listing, some, &given, &known) {
                take(scan, &mut known, &given[&path], (path, reading));
            }
        }
    }
}

/// Puts what was read of a file again in the place of what was known of it.
fn take(
    scan: &mut Scan,
    known: &mut BTreeMap<RelPath, Known>,
    given: &Given,
    (path, reading): (RelPath, Option<Reading>),
) {
    let at = scan.tree.files.binary_search_by(|facts| facts.path.cmp(&path));
    let file = known.entry(path.clone()).or_default();
    let Some(reading) = reading else {
        // What could be read without these names stands.
        known_facts(scan, at, &path).problems.push(failed());
        return;
    };
    file.hands = reading.hands;
    if let Some(met) = reading.met {
        file.met = Some(Box::new(met));
    }
    let Some(mut facts) = reading.facts else {
        // Nothing of it matters, or nothing else than before.
        if let Ok(at) = at {
            hand_on(&mut scan.tree.files[at], given);
        }
        return;
    };
    file.chosen = reading.chosen;
    hand_on(&mut facts, given);
    let place = known_facts(scan, at, &path);
    let mut problems = std::mem::take(&mut place.problems);
    facts.problems.retain(|new| problems.iter().all(|old| old.kind != new.kind));
    problems.append(&mut facts.problems);
    facts.problems = problems;
    *place = facts;
}

/// The facts of a file at its place in the tree, or new ones where it belongs.
fn known_facts<'s>(scan: &'s mut Scan, at: Result<usize, usize>, path: &RelPath) -> &'s mut FileFacts {
    let at = at.unwrap_or_else(|at| {
        scan.tree.files.insert(at, FileFacts::new(path.clone(), Language::Python));
        at
    });
    &mut scan.tree.files[at]
}

/// What files export that was not told before, by file; `passed` are names that some only pass on.
fn exported(
    scan: &Scan,
    known: &BTreeMap<RelPath, Known>,
    passed: BTreeMap<RelPath, Names>,
    told: &mut FxHashSet<(RelPath, String, Tells)>,
) -> BTreeMap<RelPath, Names> {
    let mut exported: BTreeMap<RelPath, Names> = BTreeMap::new();
    let mut tell = |path: &RelPath, name: &String, tells: Tells| {
        if told.insert((path.clone(), name.clone(), tells)) {
            let names = exported.entry(path.clone()).or_default();
            let known = names.entry(name.clone()).or_insert(tells);
            *known = (*known).min(tells);
        }
    };
    for facts in scan.tree.files.iter().filter(|f| f.language == Language::Python) {
        facts.telling.iter().for_each(|(name, tells)| tell(&facts.path, name, *tells));
    }
    for (path, file) in known {
        file.hands.runs.iter().for_each(|name| tell(path, name, Tells::Runs));
        file.hands.completes.iter().for_each(|name| tell(path, name, Tells::Value));
    }
    for (path, names) in &passed {
        names.iter().for_each(|(name, tells)| tell(path, name, *tells));
    }
    exported
}

/// A file that imports what was exported.
struct Importer {
    path: RelPath,
    /// The names that it mentions.
    given: Given,
    /// The files that they come from.
    from: Vec<RelPath>,
    /// Those of a class of which it mentions no more than the class, for the files that import it from here.
    passes: Names,
}

/// The files that import what was exported, with the names that they mention.
fn importers(
    tools: &Tools<'_>,
    listing: &Listing,
    known: &BTreeMap<RelPath, Known>,
    exported: &BTreeMap<RelPath, Names>,
) -> Vec<Importer> {
    let exporters = Exporters::new(exported, tools.places);
    // The files that name a command, by their places.
    let commands: Vec<bool> =
        tools.listed.iter().map(|path| known.get(path).is_some_and(|file| file.commands)).collect();
    let known: Vec<_> = known.iter().collect();
    known
        .into_par_iter()
        .with_max_len(FEW)
        .filter_map(|(path, file)| {
            let (direct, by_package) = exporters.of(path, &file.imported);
            if direct.is_empty() && by_package.is_empty() {
                return None;
            }
            let text = Source::decode(std::fs::read(&listing.files.get(path)?.real).ok()?).text;
            let inside = |at: &usize| {
                let dotted = format!(".{}.", module_name(exporters.all[*at].0).0);
                memchr::memmem::find(text.as_bytes(), dotted.as_bytes()).is_some()
            };
            let from: Vec<_> = direct
                .iter()
                .chain(by_package.iter().filter(|at| inside(at)))
                .map(|at| exporters.all[*at])
                .collect();
            let mut given = Given::default();
            let (mut names, mut passes) = taken(&text, &file.imported, from.iter().map(|(_, names)| *names));
            // What a star import brings is handed on, mentioned or not.
            if file.imported.has_star() {
                let public = direct.iter().flat_map(|at| exporters.all[*at].1);
                let public = public.filter(|(name, _)| !name.starts_with('_') && !name.contains('.'));
                for (name, tells) in public.filter(|(name, _)| *name != EVERYTHING) {
                    given.hands_on = true;
                    names.entry(name.clone()).or_insert(*tells);
                }
            }
            let runners = names.iter().filter(|(_, tells)| **tells == Tells::Runs);
            passes.extend(runners.map(|(name, tells)| (name.clone(), *tells)));
            // That is what a package's own file is for, which runs nothing itself, and what a file does with a
            // name that it imports and never uses. Others can't have what it only mentions.
            let is_own = is_package(path);
            passes.retain(|name, _| {
                let name = name.split('.').next().unwrap_or(name);
                file.imported.brings(name) && (is_own || words_in(&text, name).nth(1).is_none())
            });
            // What runs commands matters where one is named, or handed over as a constant that another file has.
            let has_constants = || file.imported.files().iter().any(|place| commands[*place as usize]);
            let counts = |name: &str| file.commands || has_constants() && is_given_a_constant(&text, name);
            given.tell(names.into_iter().filter(|(name, tells)| *tells != Tells::Runs || counts(name)));
            let from = from.into_iter().map(|(path, _)| path.clone()).collect();
            let says = !given.is_empty() || !passes.is_empty();
            says.then(|| Importer { path: path.clone(), given, from, passes })
        })
        .collect()
}

/// The name under which other files import this one, and that of the package that it lies in.
fn module_name(path: &str) -> (&str, &str) {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    (name, parts.next().unwrap_or(""))
}

/// The files that export telling names, by their place and by the hash of the package that they lie in.
struct Exporters<'e> {
    all: Vec<(&'e RelPath, &'e Names)>,
    by_file: FxHashMap<u32, usize>,
    by_package: FxHashMap<u32, Vec<usize>>,
}

impl<'e> Exporters<'e> {
    fn new(exported: &'e BTreeMap<RelPath, Names>, places: &Places<'_>) -> Exporters<'e> {
        let mut exporters = Exporters {
            all: exported.iter().collect(),
            by_file: FxHashMap::default(),
            by_package: FxHashMap::default(),
        };
        for (at, (path, _)) in exporters.all.iter().enumerate() {
            exporters.by_file.extend(places.get(path.as_str()).map(|place| (*place, at)));
            exporters.by_package.entry(hash(module_name(path).1)).or_default().push(at);
        }
        exporters
    }

    /// The exporters that a file imports, and those whose package it has under its name
    /// (`tools.image.swap`).
    fn of(&self, path: &RelPath, imported: &Imported) -> (Vec<usize>, Vec<usize>) {
        let other = |at: &usize| self.all[*at].0 != path;
        let direct: Vec<usize> = imported
            .files()
            .iter()
            .filter_map(|file| self.by_file.get(file).copied())
            .filter(other)
            .collect();
        let packages =
            imported.packages().iter().filter_map(|name| self.by_package.get(name)).flatten().copied();
        let mut by_package: Vec<usize> = packages.filter(other).filter(|at| !direct.contains(at)).collect();
        by_package.sort_unstable();
        by_package.dedup();
        (direct, by_package)
    }
}

/// The telling names of exporters that a text mentions, and those of a class of which it only mentions the
/// class.
fn taken<'e>(text: &str, imported: &Imported, from: impl Iterator<Item = &'e Names>) -> (Names, Names) {
    let (mut names, mut passes) = (Names::new(), Names::new());
    // What every class has says nothing.
    let special = |name: &str| name.starts_with("__") && name.ends_with("__");
    for (name, tells) in from.flatten() {
        // `Runner.run`: a method, and what has it.
        let owned = name.split_once('.');
        let stands = match owned {
            Some((owner, _)) if !stands_in(text, owner) => false,
            Some((_, method)) if !is_read_in(text, method) => {
                passes.insert(name.clone(), *tells);
                false
            }
            Some(_) => true,
            None => imported.brings(name) && stands_in(text, name) || is_read_in(text, name),
        };
        let name = owned.map_or(name.as_str(), |(_, method)| method);
        if name == EVERYTHING || (!special(name) && stands) {
            let known = names.entry(name.to_owned()).or_insert(*tells);
            *known = (*known).min(*tells);
        }
    }
    (names, passes)
}

/// Bytes of a call's arguments that are looked at.
const MOST_ARGUMENTS: usize = 200;

/// Whether a name is called somewhere with what is spelt as a constant.
fn is_given_a_constant(text: &str, name: &str) -> bool {
    let is_constant = |word: &str| {
        word.starts_with(char::is_uppercase) && !word.contains(char::is_lowercase) && word.len() > 1
    };
    words_in(text, name).any(|at| {
        let after = &text.as_bytes()[at + name.len()..];
        let after = &after[..after.len().min(MOST_ARGUMENTS)];
        let arguments = after.split(|byte| matches!(byte, b')' | b'\n')).next().unwrap_or(after);
        arguments.first() == Some(&b'(') && identifiers(&String::from_utf8_lossy(arguments)).any(is_constant)
    })
}

/// Whether a name stands in a text as a word.
fn stands_in(text: &str, name: &str) -> bool {
    words_in(text, name).next().is_some()
}

/// Whether a name is read of something in a text: after a dot, or in quotes.
fn is_read_in(text: &str, name: &str) -> bool {
    words_in(text, name)
        .any(|at| text[..at].trim_end_matches([' ', '\t', '\\', '\n', '\r']).ends_with(['.', '"', '\'']))
}

/// The places where a name stands in a text as a word.
fn words_in(text: &str, name: &str) -> impl Iterator<Item = usize> {
    let is_name = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80);
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, name.as_bytes()).filter(move |at| {
        !is_name(at.checked_sub(1).and_then(|at| bytes.get(at))) && !is_name(bytes.get(at + name.len()))
    })
}

/// Reads files with the names that they were given.
fn read_again(
    tools: &Tools<'_>,
    listing: &Listing,
    paths: &[&RelPath],
    given: &BTreeMap<RelPath, Given>,
    known: &BTreeMap<RelPath, Known>,
) -> Vec<(RelPath, Option<Reading>)> {
    paths
        .par_iter()
        .with_max_len(1)
        .copied()
        .filter_map(|path| {
            let before = known.get(path).map(Known::before).unwrap_or_default();
            let given = given.get(path)?;
            if let Some(hands) = before.hands(given) {
                return Some((path.clone(), Some(Reading { hands, ..Reading::default() })));
            }
            let source = Source::decode(std::fs::read(&listing.files.get(path)?.real).ok()?);
            let read = || tools.python.read(path, &source, given, before, tools.linking());
            // One file that makes the reader fail is one problem of that file.
            Some((path.clone(), catch_unwind(AssertUnwindSafe(read)).ok()))
        })
        .collect()
}

/// What a file was given and exports again tells as well.
fn hand_on(facts: &mut FileFacts, given: &Given) {
    let mut names = Names::new();
    for (of, tells) in
        [(&given.commands, Tells::Command), (&given.runs, Tells::Runs), (&given.values, Tells::Value)]
    {
        names.extend(of.iter().map(|name| (name.clone(), tells)));
    }
    let mut telling: Names = exported_again(facts, &names).into_iter().collect();
    for (name, tells) in &facts.telling {
        let known = telling.entry(name.clone()).or_insert(*tells);
        *known = (*known).min(*tells);
    }
    facts.gives.extend(telling.keys().cloned());
    let exports = facts.program.iter().flat_map(|program| &program.exports);
    facts.gives.extend(exports.map(|(name, _)| name).filter(|name| given.tested.contains(*name)).cloned());
    facts.gives.sort();
    facts.gives.dedup();
    facts.telling = telling.into_iter().collect();
}

/// The names under which a file exports what it imports under a telling name, and what it takes of that.
fn exported_again(facts: &FileFacts, telling: &Names) -> Vec<(String, Tells)> {
    let Some(program) = &facts.program else { return Vec::new() };
    let mut names: Vec<(String, Tells)> = Vec::new();
    for (name, cell) in &program.exports {
        let values = program.bound_values(*cell, MOST_CELLS);
        if let Some(tells) = values.into_iter().filter_map(|value| taken_of(program, value, telling)).min() {
            names.push((name.clone(), tells));
        }
    }
    if !program.stars.is_empty() {
        names.extend(telling.iter().map(|(name, tells)| (name.clone(), *tells)));
    }
    names
}

/// What an expression tells that is made of a telling name: a member or an element of it, what it gives back.
fn taken_of(program: &Program, value: ExprId, telling: &Names) -> Option<Tells> {
    let mut at = value;
    for _ in 0..MOST_STEPS {
        at = match &program.exprs[at as usize].expr {
            Expr::Import(import) => return import.name.as_ref().and_then(|name| telling.get(name)).copied(),
            Expr::Attr { base, name } => match telling.get(name) {
                Some(tells) => return Some(*tells),
                None => *base,
            },
            Expr::Index { base, .. } => *base,
            Expr::Call(call) => call.callee,
            _ => return None,
        };
    }
    None
}
