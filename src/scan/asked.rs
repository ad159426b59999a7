//! What files ask of those that they import: commands for what runs them, the truth of a condition's names,
//! and names that took part in what was found.

#![allow(clippy::disallowed_methods)] // Part of the pipeline: it opens the files that discovery listed.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::link::is_package;
use super::read::FEW;
use super::rounds::{Known, Wanted};
use super::{Scan, Tools};
use crate::base::facts::RelPath;
use crate::base::source::Source;
use crate::discover::Listing;
use crate::lang::python::given::Given;

/// The names of files that may stand for a command, where these others do: the same question as often as
/// somebody new asks.
pub(super) type Answers = FxHashMap<RelPath, (BTreeSet<String>, BTreeSet<String>)>;

/// Commands that stand in other files than those that run them: given to the one, asked of the other.
pub(super) fn commands_asked(
    tools: &Tools<'_>,
    listing: &Listing,
    known: &BTreeMap<RelPath, Known>,
    given: &BTreeMap<RelPath, Given>,
    asked: &mut FxHashSet<(RelPath, String)>,
    answers: &mut Answers,
) -> Wanted {
    let listed = &tools.listed;
    // Who asks whom for which names.
    let mut asks: BTreeMap<&RelPath, Vec<(&RelPath, Vec<&String>)>> = BTreeMap::new();
    // The packages through which a file has what another one names.
    let mut through: BTreeMap<(&RelPath, &RelPath), Vec<&RelPath>> = BTreeMap::new();
    for (path, file) in known.iter().filter(|(_, file)| !file.hands.asks.is_empty()) {
        let new: Vec<&String> =
            file.hands.asks.iter().filter(|name| asked.insert((path.clone(), (*name).clone()))).collect();
        if new.is_empty() {
            continue;
        }
        for (other, packages) in asked_files(known, listed, file, &new) {
            if other != path && known.get(other).is_some_and(|other| other.commands) {
                asks.entry(other).or_default().push((path, new.clone()));
                through.entry((path, other)).or_default().extend(packages);
            }
        }
    }
    let none = Given::default();
    let given = |path: &RelPath| given.get(path).unwrap_or(&none);
    let is_new = |path: &&RelPath| answers.get(*path).is_none_or(|(of, _)| *of != given(path).commands);
    let paths: Vec<&RelPath> = asks.keys().copied().filter(is_new).collect();
    let found: Vec<_> = paths
        .into_par_iter()
        .with_max_len(FEW)
        .filter_map(|path| {
            let source = Source::decode(std::fs::read(&listing.files.get(path)?.real).ok()?);
            let given = given(path);
            let names = tools.python.commands(&source.text, given, tools.catalogues);
            Some((path.clone(), (given.commands.clone(), names)))
        })
        .collect();
    answers.extend(found);
    let mut wanted = Wanted::new();
    for (path, asks) in &asks {
        let Some((_, commands)) = answers.get(*path) else { continue };
        for (from, names) in asks {
            for name in names.iter().filter(|name| commands.contains(**name)) {
                wanted.entry((*from).clone()).or_default().commands.insert((*name).clone());
                for package in through.get(&(*from, path)).into_iter().flatten() {
                    let brings = known.get(*package).is_some_and(|file| file.imported.brings(name));
                    if !brings && !is_package(package) {
                        continue;
                    }
                    let names = wanted.entry((*package).clone()).or_default();
                    names.values.insert((*name).clone());
                    // Of a member, it has the class.
                    names.hands_on |= is_package(package);
                }
                wanted.entry((*path).clone()).or_default().asked.insert((*name).clone());
            }
        }
    }
    wanted
}

/// Names that decide a condition where they are imported: asked of the files that they come from, and of the
/// packages in between.
pub(super) fn tests_asked(tools: &Tools<'_>, scan: &Scan, known: &BTreeMap<RelPath, Known>) -> Wanted {
    let mut wanted = Wanted::new();
    for facts in scan.tree.files.iter().filter(|facts| !facts.tested.is_empty()) {
        let Some(file) = known.get(&facts.path) else { continue };
        let names: Vec<&String> = facts.tested.iter().collect();
        for (path, package) in asked_files(known, tools.listed, file, &names) {
            for path in [Some(path), package].into_iter().flatten() {
                wanted.entry(path.clone()).or_default().tested.extend(facts.tested.iter().cloned());
            }
        }
    }
    wanted
}

/// The files that a file imports, and those that the packages among them import, or others that import one of
/// the asked names, with these.
fn asked_files<'k>(
    known: &'k BTreeMap<RelPath, Known>,
    listed: &'k [RelPath],
    file: &Known,
    names: &[&String],
) -> Vec<(&'k RelPath, Option<&'k RelPath>)> {
    let of = |file: &Known| -> Vec<&'k RelPath> {
        file.imported.files().iter().filter_map(|place| listed.get(*place as usize)).collect()
    };
    let mut found: Vec<(&RelPath, Option<&RelPath>)> =
        of(file).into_iter().map(|path| (path, None)).collect();
    let mut seen: FxHashSet<&RelPath> = found.iter().map(|(path, _)| *path).collect();
    let passes_on = |path: &RelPath| {
        is_package(path)
            || known.get(path).is_some_and(|file| names.iter().any(|name| file.imported.brings(name)))
    };
    for package in of(file).into_iter().filter(|path| passes_on(path)) {
        for path in known.get(package).map(of).unwrap_or_default() {
            if seen.insert(path) {
                found.push((path, Some(package)));
            }
        }
    }
    found
}

/// Names that took part where they are imported: asked of the files that they come from.
pub(super) fn demands(
    known: &BTreeMap<RelPath, Known>,
    sources: &BTreeMap<RelPath, BTreeSet<RelPath>>,
) -> Wanted {
    let mut wanted = Wanted::new();
    for (path, from) in sources {
        let Some(file) = known.get(path).filter(|file| !file.hands.used.is_empty()) else { continue };
        // What a file passes on comes from where it has it.
        let hands_on = |path: &RelPath| {
            let brings = |other: &Known| file.hands.used.iter().any(|name| other.imported.brings(name));
            is_package(path) || known.get(path).is_some_and(brings)
        };
        let mut from: Vec<&RelPath> = from.iter().collect();
        let mut read = 0;
        while let Some(package) = from.get(read).copied() {
            read += 1;
            for path in sources.get(package).filter(|_| hands_on(package)).into_iter().flatten() {
                if !from.contains(&path) {
                    from.push(path);
                }
            }
        }
        // The names under which packages pass on: of a method, its class.
        let mut passed: BTreeSet<String> = BTreeSet::new();
        for (path, other) in from.iter().filter_map(|path| Some((*path, known.get(*path)?))) {
            let last = |name: &String| name.rsplit('.').next().unwrap_or(name).to_owned();
            let own = other.hands.runs.iter().chain(&other.hands.completes);
            let own: Vec<&String> = own.filter(|name| file.hands.used.contains(&last(name))).collect();
            passed.extend(own.iter().map(|name| name.split('.').next().unwrap_or(name).to_owned()));
            if !own.is_empty() {
                wanted.entry(path.clone()).or_default().asked.extend(own.into_iter().map(last));
            }
        }
        let brings = |path: &RelPath| {
            known.get(path).is_some_and(|file| passed.iter().any(|name| file.imported.brings(name)))
        };
        for package in
            from.into_iter().filter(|path| !passed.is_empty() && (is_package(path) || brings(path)))
        {
            wanted.entry(package.clone()).or_default().values.extend(passed.iter().cloned());
        }
    }
    wanted
}
