//! The daemon's reach over the tree: which files can lie between the daemon and a site, these
//! files read whole, and the call graph walked over them.

#![allow(clippy::disallowed_methods)] // Part of the pipeline: it opens the files that discovery listed.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

use aho_corasick::AhoCorasick;
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::link::Sites;
use super::read::FEW;
use super::{Scan, Tools, link};
use crate::base::facts::{Chain, FileFacts, Language, Problem, ProblemKind, RelPath, Step};
use crate::base::ir::Import;
use crate::base::site::Confidence;
use crate::base::source::Source;
use crate::base::span::Span;
use crate::discover::{Entry, Listing};
use crate::graph::forked::{Forked, ends_the_process};
use crate::graph::link::{Files, Target};
use crate::graph::reach;
use crate::graph::solve::Solver;
use crate::lang;

/// Fills in the chains of everything that the daemon modules reach.
pub(super) fn follow(tools: &Tools<'_>, listing: &Listing, scan: &mut Scan) {
    let daemons: Vec<RelPath> = scan
        .tree
        .daemons
        .iter()
        .filter(|d| d.file.is_some() || listing.files.contains_key(&d.path))
        .map(|d| d.path.clone())
        .collect();
    if daemons.is_empty() {
        return;
    }
    let mut between = between(tools, listing, scan, &daemons);
    load(tools, listing, scan, &between);
    let_go(scan, &between);
    renumber(scan);
    let mut budget = MOST_WANTED;
    let mut refused: FxHashSet<RelPath> = FxHashSet::default();
    let definitions = OnceCell::new();
    let unique = |names: &[String]| defined_once(definitions.get_or_init(|| definitions_of(listing)), names);
    // Files that were left out, and yet are given something: a few rounds end it in practice.
    for round in 0..=MOST_ROUNDS {
        let can_come = |path: &str| round < MOST_ROUNDS && !between.contains(path) && !refused.contains(path);
        let (mut wanted, is_done) = walk(tools, scan, &daemons, &between, &unique, &can_come);
        wanted.retain(|path| can_come(path));
        let read = fetch(tools, listing, scan, &wanted, &mut budget);
        if is_done && read.is_empty() {
            return;
        }
        renumber(scan);
        between.extend(read);
        refused.extend(wanted.into_iter().filter(|path| !between.contains(path)));
    }
}

/// Lets go of the Python programs that the daemon's reach does not lead through; where a site runs at the
/// import of its file, the order of the imports is still asked for.
fn let_go(scan: &mut Scan, between: &FxHashSet<RelPath>) {
    let python = scan.tree.files.iter_mut().filter(|facts| facts.language == Language::Python);
    for facts in python.filter(|facts| !between.contains(&facts.path)) {
        if !facts.sites.iter().any(|site| site.import_time) {
            facts.program = None;
        }
    }
}

/// Files that call a method's name, as far as the way to each is followed.
const MOST_CALLERS: usize = 32;
/// Rounds of reading files that hand on what they are given.
const MOST_ROUNDS: usize = 6;
/// Bytes of such files that are read, the smallest first: helpers are small, and what is left out is
/// taken to call whatever it is given.
const MOST_WANTED: usize = 1 << 20;

/// Reads files that hold no site themselves, as far as the budget goes. Gives their paths.
fn fetch(
    tools: &Tools<'_>,
    listing: &Listing,
    scan: &mut Scan,
    wanted: &[RelPath],
    budget: &mut usize,
) -> Vec<RelPath> {
    let mut texts: Vec<(&RelPath, Source)> =
        wanted.par_iter().filter_map(|path| Some((path, text_of(listing, scan, path)?))).collect();
    texts.sort_by_key(|(path, source)| (source.text.len(), *path));
    texts.retain(|(_, source)| {
        let fits = source.text.len() <= *budget;
        *budget -= if fits { source.text.len() } else { 0 };
        fits
    });
    let read: Vec<FileFacts> = texts
        .into_par_iter()
        .with_max_len(1)
        .filter_map(|(path, source)| {
            let language = lang::language_of(path, source.text.as_bytes())?;
            (language == Language::Python).then(|| {
                let mut facts = tools.python.whole(path, &source, tools.catalogues);
                facts.problems.clear();
                facts
            })
        })
        .collect();
    let mut paths = Vec::new();
    for facts in read {
        paths.push(facts.path.clone());
        match scan.tree.files.binary_search_by(|f| f.path.cmp(&facts.path)) {
            Ok(at) => scan.tree.files[at].program = facts.program,
            Err(at) => scan.tree.files.insert(at, facts),
        }
    }
    paths
}

/// A text of the tree: from the scan, or read again.
pub(super) fn text_of(listing: &Listing, scan: &Scan, path: &str) -> Option<Source> {
    if let Some(source) = scan.sources.get(path) {
        return Some(source.clone());
    }
    let entry = listing.files.get(path)?;
    Some(Source::decode(std::fs::read(&entry.real).ok()?))
}

/// The files on a way of imports from a daemon module to a file that holds something, and those whose
/// methods a daemon could call by a name that is theirs alone.
fn between(tools: &Tools<'_>, listing: &Listing, scan: &Scan, daemons: &[RelPath]) -> FxHashSet<RelPath> {
    let mut graph: BTreeMap<RelPath, Vec<RelPath>> = BTreeMap::new();
    let methods = SiteMethods::new(scan);
    let mut calls: BTreeMap<RelPath, Vec<usize>> = BTreeMap::new();
    let mut frontier: Vec<RelPath> = daemons.to_vec();
    while !frontier.is_empty() {
        let read: Vec<(RelPath, Vec<RelPath>, Vec<usize>)> = frontier
            .par_iter()
            .filter_map(|path| {
                let source = text_of(listing, scan, path)?;
                let called = methods.called(&source.text);
                Some((path.clone(), imported_files(tools, scan, path, &source), called))
            })
            .collect();
        let mut next = Vec::new();
        for path in frontier {
            graph.entry(path).or_default();
        }
        for (path, targets, called) in read {
            if !called.is_empty() {
                calls.insert(path.clone(), called);
            }
            next.extend(targets.iter().filter(|t| !graph.contains_key(*t)).cloned());
            graph.insert(path, targets);
        }
        next.sort();
        next.dedup();
        next.retain(|path| !graph.contains_key(path));
        frontier = next;
    }
    let holds = |path: &str| {
        scan.tree
            .files
            .binary_search_by(|f| f.path.as_str().cmp(path))
            .is_ok_and(|at| !scan.tree.files[at].sites.is_empty() || !scan.tree.files[at].lookups.is_empty())
    };
    let mut importers: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for (path, targets) in &graph {
        for target in targets {
            importers.entry(target).or_default().push(path);
        }
    }
    let mut between: FxHashSet<RelPath> = daemons.iter().cloned().collect();
    let mut queue: Vec<&str> = graph.keys().map(String::as_str).filter(|p| holds(p)).collect();
    while let Some(path) = queue.pop() {
        if between.insert(path.to_owned()) || daemons.iter().any(|d| d == path) {
            for importer in importers.get(path).into_iter().flatten() {
                if !between.contains(*importer) {
                    queue.push(importer);
                }
            }
        }
    }
    // A method that is called by a name that is its alone: its file, and the way to the call.
    let mut callers: FxHashMap<usize, Vec<&str>> = FxHashMap::default();
    for (path, called) in &calls {
        for at in called {
            callers.entry(*at).or_default().push(path);
        }
    }
    let mut found: Vec<(usize, Vec<&str>)> = callers.into_iter().collect();
    found.sort_unstable();
    for (at, paths) in found {
        let file = methods.files[at];
        if graph.contains_key(file) {
            continue;
        }
        between.insert(file.to_owned());
        // A name that so many files call is hardly one method's.
        let mut queue: Vec<&str> = if paths.len() > MOST_CALLERS { Vec::new() } else { paths };
        while let Some(path) = queue.pop() {
            if between.insert(path.to_owned()) {
                queue.extend(importers.get(path).into_iter().flatten());
            }
        }
    }
    // A package's file runs before its modules, and their names are read through it.
    let packages: Vec<RelPath> = between.iter().flat_map(|path| tools.files.python_packages(path)).collect();
    between.extend(packages);
    between
}

/// The files of the tree that a file imports.
pub(super) fn imported_files(tools: &Tools<'_>, scan: &Scan, path: &str, source: &Source) -> Vec<RelPath> {
    let Some(language) = lang::language_of(path, source.text.as_bytes()) else { return Vec::new() };
    let imports: Vec<Import> = if language == Language::Python && !path.ends_with(".ipynb") {
        lang::python::imports::imports(&source.text)
    } else {
        let known = scan.tree.files.binary_search_by(|f| f.path.as_str().cmp(path)).ok();
        let facts = match known.and_then(|at| scan.tree.files[at].program.as_ref()) {
            Some(program) => Some(program.clone()),
            None => super::read::program_facts(tools, path, language, source).and_then(|f| f.program),
        };
        facts.map_or_else(Vec::new, |program| {
            let stars = program.stars.iter().map(|s| Import { module: s.clone(), name: None });
            program.imports.iter().map(|i| i.import.clone()).chain(stars).collect()
        })
    };
    let mut targets = Vec::new();
    for import in imports {
        targets.extend(targets_of(tools.files, language, path, &import));
    }
    targets.sort();
    targets.dedup();
    targets.retain(|t| t != path);
    targets
}

fn targets_of(files: &Files, language: Language, from: &str, import: &Import) -> Vec<RelPath> {
    let mut found = match files.resolve(language, from, import) {
        Target::File(path) => vec![path],
        Target::Name(path, name) if language == Language::Python => {
            files.python_submodule(&path, &name).into_iter().chain([path]).collect()
        }
        Target::Name(path, _) => vec![path],
        Target::Package(paths, _) => paths,
        Target::External(_) | Target::Missing => Vec::new(),
    };
    if language == Language::Python {
        let packages: Vec<RelPath> = found.iter().flat_map(|f| files.python_packages(f)).collect();
        found.extend(packages);
    }
    found
}

/// Methods with a site of their own that only one file has, and calls of their names.
struct SiteMethods<'t> {
    automaton: Option<AhoCorasick>,
    /// The file of each pattern.
    files: Vec<&'t str>,
}

impl<'t> SiteMethods<'t> {
    fn new(scan: &'t Scan) -> SiteMethods<'t> {
        let mut methods: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for facts in scan.tree.files.iter().filter(|f| f.program.is_some()) {
            for site in &facts.sites {
                if let Some((_, name)) = site.symbol.rsplit_once('.') {
                    let known = methods.entry(name).or_insert(Some(&facts.path));
                    // A name that several files with sites define is not unique in any case.
                    *known = known.filter(|path| *path == facts.path);
                }
            }
        }
        let methods: Vec<(String, &str)> =
            methods.into_iter().filter_map(|(name, path)| Some((format!(".{name}("), path?))).collect();
        let automaton = (!methods.is_empty())
            .then(|| AhoCorasick::new(methods.iter().map(|(call, _)| call)).ok())
            .flatten();
        SiteMethods { automaton, files: methods.into_iter().map(|(_, path)| path).collect() }
    }

    /// The patterns that a text calls.
    fn called(&self, text: &str) -> Vec<usize> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let mut found: Vec<usize> = automaton.find_iter(text).map(|m| m.pattern().as_usize()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Reads files whole, and finds their sites anew.
fn load(tools: &Tools<'_>, listing: &Listing, scan: &mut Scan, between: &FxHashSet<RelPath>) {
    let mut paths: Vec<&RelPath> = between.iter().collect();
    paths.sort();
    let read: Vec<FileFacts> = paths
        .par_iter()
        .with_max_len(1)
        .filter_map(|path| {
            let source = text_of(listing, scan, path)?;
            let language = lang::language_of(path, source.text.as_bytes())?;
            let known = scan.tree.files.binary_search_by(|f| f.path.cmp(*path)).ok();
            // Only Python is read by pieces.
            if language != Language::Python && known.is_some_and(|at| scan.tree.files[at].program.is_some()) {
                return None;
            }
            let mut facts = match language {
                Language::Python => tools.python.whole(path, &source, tools.catalogues),
                _ => super::read::program_facts(tools, path, language, &source)?,
            };
            link::settle(&mut facts, tools.files, tools.catalogues, &|name| tools.python.knows(name));
            if let Some(at) = known {
                let old = &scan.tree.files[at];
                // What other files asked of it is still asked.
                facts.gives.extend(old.gives.iter().cloned());
                facts.gives.sort();
                facts.gives.dedup();
                facts.watched.extend(old.watched.clone());
                facts.watched.sort_by_key(|w| (w.span, w.kind));
                facts.watched.dedup();
                for problem in &old.problems {
                    if !facts.problems.contains(problem) {
                        facts.problems.push(problem.clone());
                    }
                }
            }
            Some(facts)
        })
        .collect();
    for facts in read {
        match scan.tree.files.binary_search_by(|f| f.path.cmp(&facts.path)) {
            Ok(at) => scan.tree.files[at] = facts,
            Err(at) => scan.tree.files.insert(at, facts),
        }
    }
    let read_anew = |path: &RelPath| between.contains(path);
    link::sites(&mut scan.tree, tools.files, tools.catalogues, Sites::Of(&read_anew));
}

/// Files were added: the daemons' places in the list of files have moved.
fn renumber(scan: &mut Scan) {
    for daemon in &mut scan.tree.daemons {
        daemon.file = scan.tree.files.binary_search_by(|f| f.path.cmp(&daemon.path)).ok();
    }
}

/// A solver over the files of the way, the place of each unit's file, and the daemon modules' units.
fn solver_over<'s>(
    tools: &Tools<'s>,
    scan: &'s Scan,
    daemons: &[RelPath],
    between: &FxHashSet<RelPath>,
) -> (Solver<'s>, Vec<usize>, Vec<u32>) {
    let mut solver = Solver::new(tools.files, true);
    let mut file_of = Vec::new();
    let members = || scan.tree.files.iter().filter(|facts| between.contains(&facts.path));
    solver.make_room(members().filter_map(|facts| facts.program.as_ref()));
    for (at, facts) in scan.tree.files.iter().enumerate() {
        if let Some(program) = facts.program.as_ref().filter(|_| between.contains(&facts.path)) {
            solver.add(&facts.path, facts.language, program, tools.catalogues.of(facts.language));
            file_of.push(at);
        }
    }
    for unit in 0..solver.units().len() {
        solver.connect(unit as u32);
    }
    let roots = daemons.iter().filter_map(|d| solver.unit_of(d)).collect();
    (solver, file_of, roots)
}

/// Follows the program from the daemon modules. Gives the files that it would need beside those, and
/// whether it was followed to its end, with the chains in the scan: not where one that `can_come` is
/// needed early.
fn walk(
    tools: &Tools<'_>,
    scan: &mut Scan,
    daemons: &[RelPath],
    between: &FxHashSet<RelPath>,
    unique: &dyn Fn(&[String]) -> FxHashSet<String>,
    can_come: &dyn Fn(&str) -> bool,
) -> (Vec<RelPath>, bool) {
    let (mut solver, file_of, roots) = solver_over(tools, scan, daemons, between);
    let is_done = reach::solve(&mut solver, &roots, unique, can_come);
    let wanted = solver.wanted_files();
    if !is_done {
        return (wanted, false);
    }
    let reached = reach::walk(&solver, &roots);
    let mut chains = BTreeMap::new();
    // A chain is as long as its way: only those that somebody will read are written out.
    let asked: FxHashSet<(usize, u32)> = scan
        .tree
        .files
        .iter()
        .enumerate()
        .flat_map(|(at, f)| {
            f.sites
                .iter()
                .map(|s| s.function)
                .chain(f.lookups.iter().map(|l| l.function))
                .map(move |id| (at, id))
        })
        .collect();
    for (unit, function) in reached.functions() {
        if !asked.contains(&(file_of[unit as usize], function)) {
            continue;
        }
        let Some((steps, confidence)) = reached.chain((unit, function)) else { continue };
        let steps = steps
            .into_iter()
            .map(|step| {
                let body = &solver.units()[step.from.0 as usize].program.functions[step.from.1 as usize];
                Step {
                    file: file_of[step.from.0 as usize],
                    span: Span { start: step.place.0, end: step.place.1 },
                    symbol: body.symbol.clone(),
                }
            })
            .collect();
        chains.insert((file_of[unit as usize], function), Chain { steps, confidence });
    }
    // A script that is a daemon module has no program: all its commands run in it.
    for daemon in daemons {
        if let Ok(at) = scan.tree.files.binary_search_by(|f| f.path.cmp(daemon))
            && scan.tree.files[at].program.is_none()
        {
            chains.insert((at, 0), Chain { steps: Vec::new(), confidence: Confidence::Certain });
        }
    }
    let children = forked_sites(scan, &solver, &file_of);
    let gave_up = solver.gave_up();
    scan.tree.reach = chains;
    if gave_up {
        say_unfinished(scan);
    }
    for (file, site, is_child) in children {
        scan.tree.files[file].sites[site].fork_child = is_child;
    }
    (wanted, true)
}

/// The daemon's program was not followed to its end: what was found may not be all.
fn say_unfinished(scan: &mut Scan) {
    let problem = Problem {
        kind: ProblemKind::GaveUp,
        span: Span::default(),
        message: "is too involved to be followed to its end: what it reaches may be more than what is said"
            .to_owned(),
    };
    for at in scan.tree.daemons.iter().filter_map(|d| d.file) {
        if let Some(facts) = scan.tree.files.get_mut(at)
            && !facts.problems.contains(&problem)
        {
            facts.problems.push(problem.clone());
        }
    }
}

/// Sites whose function is the child's of a fork, or is not, now that all its calls are known.
fn forked_sites(scan: &Scan, solver: &Solver<'_>, file_of: &[usize]) -> Vec<(usize, usize, bool)> {
    let forked = Forked::new(solver);
    let mut changed = Vec::new();
    for (unit, &file) in file_of.iter().enumerate() {
        let unit = unit as u32;
        for (at, site) in scan.tree.files[file].sites.iter().enumerate() {
            let place = (site.span.start, site.span.end);
            let is_child = forked.is_childs(unit, site.function)
                || forked.holds(unit, site.function, place) && site.fork_child;
            if ends_the_process(site.effect)
                && is_child != site.fork_child
                && solver.is_active(unit, site.function)
            {
                changed.push((file, at, is_child));
            }
        }
    }
    changed
}

/// The names that the Python files of the tree define, as hashes, with whether each is defined once.
fn definitions_of(listing: &Listing) -> FxHashMap<u64, bool> {
    let python: Vec<&Entry> =
        listing.files.iter().filter(|(path, _)| path.ends_with(".py")).map(|(_, entry)| entry).collect();
    let of_files: Vec<Vec<u64>> = python
        .par_iter()
        .with_max_len(FEW)
        .filter_map(|entry| {
            let bytes = std::fs::read(&entry.real).ok()?;
            let names = memchr::memmem::find_iter(&bytes, b"def ").filter_map(|at| {
                let name = &bytes[at + 4..];
                let end = name.iter().position(|b| matches!(b, b'(' | b'\n' | b' '))?;
                (name[end] == b'(').then(|| FxBuildHasher.hash_one(&name[..end]))
            });
            Some(names.collect())
        })
        .collect();
    let mut once: FxHashMap<u64, bool> = FxHashMap::default();
    for name in of_files.into_iter().flatten() {
        once.entry(name).and_modify(|once| *once = false).or_insert(true);
    }
    once
}

/// Of method names, those that the tree does not define twice.
fn defined_once(definitions: &FxHashMap<u64, bool>, names: &[String]) -> FxHashSet<String> {
    let is_alone =
        |name: &&String| definitions.get(&FxBuildHasher.hash_one(name.as_bytes())).copied().unwrap_or(true);
    names.iter().filter(is_alone).cloned().collect()
}
