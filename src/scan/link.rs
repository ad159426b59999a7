//! From the facts of files to sites: each program is solved alone, in parallel; a file that
//! imports something that matters from another file is solved once more together with it.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::catalogues::Catalogues;
use crate::base::facts::{Chain, FileFacts, Language, Step, Tree};
use crate::base::ir::{Expr, Import, Program};
use crate::base::site::Confidence;
use crate::base::span::Span;
use crate::graph::link::{Files, Target};
use crate::graph::reach;
use crate::graph::sites::{self, Found};
use crate::graph::solve::Solver;

/// Import hops over which a primitive is followed through files that export it again.
const HOPS: usize = 4;
/// How a Go file's own package is imported.
const OWN_PACKAGE: &str = ".";
/// Most files that are solved together for one file's sites.
const MOST_TOGETHER: usize = 48;

/// Fills in the sites and lookups of every file that has a program.
pub fn sites(tree: &mut Tree, files: &Files, catalogues: &Catalogues) {
    let alone: Vec<(Found, bool)> = tree
        .files
        .par_iter()
        .map(|facts| match &facts.program {
            Some(_) => solve_together(&[facts], files, catalogues),
            None => (Found::default(), false),
        })
        .collect();
    let exporters: FxHashSet<usize> =
        alone.iter().enumerate().filter(|(_, (_, exports))| *exports).map(|(at, _)| at).collect();
    let groups = groups(tree, files, &exporters);
    let again: FxHashMap<usize, Found> = groups
        .par_iter()
        .map(|(at, group)| {
            let members: Vec<&FileFacts> = group.iter().map(|g| &tree.files[*g]).collect();
            (*at, solve_together(&members, files, catalogues).0)
        })
        .collect();
    for (at, (found, _)) in alone.into_iter().enumerate() {
        if tree.files[at].program.is_none() {
            continue;
        }
        let found = match again.get(&at) {
            Some(together) => Found { sites: together.sites.clone(), lookups: together.lookups.clone() },
            None => found,
        };
        tree.files[at].sites.extend(found.sites);
        tree.files[at].lookups.extend(found.lookups);
    }
}

/// An exit at a file's top level is at the program's entry only in a file that is started: not in a
/// script's library, which another file imports.
pub fn entries(tree: &mut Tree, files: &Files) {
    let daemons: FxHashSet<usize> = tree.daemons.iter().filter_map(|d| d.file).collect();
    let index: FxHashMap<&str, usize> =
        tree.files.iter().enumerate().map(|(at, f)| (f.path.as_str(), at)).collect();
    let mut imported: FxHashSet<usize> = FxHashSet::default();
    for (at, facts) in tree.files.iter().enumerate() {
        let Some(program) = facts.program.as_ref().filter(|_| facts.language == Language::Javascript) else {
            continue;
        };
        if is_test(&facts.path) {
            continue;
        }
        for site in &program.imports {
            if let Target::File(path) | Target::Name(path, _) =
                files.resolve(facts.language, &facts.path, &site.import)
            {
                imported.extend(index.get(path.as_str()).copied().filter(|to| *to != at));
            }
        }
    }
    for at in imported.into_iter().filter(|at| !daemons.contains(at)) {
        tree.files[at].sites.iter_mut().for_each(|site| site.entrypoint = false);
    }
}

/// Tests start what they test in their own way.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(part, "test" | "tests" | "__tests__") || part.contains(".test.") || part.contains(".spec.")
    })
}

/// The daemon's reach: chains to every function of every file that its modules can call.
pub fn reach(tree: &mut Tree, files: &Files, catalogues: &Catalogues, unique: &dyn Fn(&str) -> bool) {
    let daemons: FxHashSet<usize> = tree.daemons.iter().filter_map(|d| d.file).collect();
    if daemons.is_empty() {
        return;
    }
    let mut solver = Solver::new(files, true);
    let mut file_of = Vec::new();
    for (at, facts) in tree.files.iter().enumerate() {
        if let Some(program) = &facts.program {
            solver.add(&facts.path, facts.language, program, catalogues.of(facts.language));
            file_of.push(at);
        }
    }
    for unit in 0..solver.units().len() {
        solver.connect(unit as u32);
    }
    let roots: Vec<u32> =
        (0..file_of.len() as u32).filter(|u| daemons.contains(&file_of[*u as usize])).collect();
    reach::solve(&mut solver, &roots, unique);
    let reached = reach::walk(&solver, &roots);
    let mut chains = std::collections::BTreeMap::new();
    for (unit, function) in reached.functions() {
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
    // Files without a program (scripts that are daemon modules) are reached at their top level.
    for at in daemons {
        if tree.files[at].program.is_none() {
            chains.insert((at, 0), Chain { steps: Vec::new(), confidence: Confidence::Certain });
        }
    }
    tree.reach = chains;
}

/// The files of a Go file's own package that it uses names of.
fn siblings(
    tree: &Tree,
    files: &Files,
    facts: &FileFacts,
    program: &Program,
    index: &FxHashMap<&str, usize>,
) -> Vec<usize> {
    let mut used: Vec<&str> = program
        .exprs
        .iter()
        .filter_map(|node| match &node.expr {
            Expr::Import(import) if import.module == OWN_PACKAGE => import.name.as_deref(),
            _ => None,
        })
        .collect();
    used.sort_unstable();
    used.dedup();
    let own = Import { module: OWN_PACKAGE.to_owned(), name: None };
    let Target::Package(paths, _) = files.resolve(facts.language, &facts.path, &own) else {
        return Vec::new();
    };
    let declares = |at: &usize| {
        tree.files[*at]
            .program
            .as_ref()
            .is_some_and(|p| p.exports.iter().any(|(name, _)| used.binary_search(&name.as_str()).is_ok()))
    };
    paths.iter().filter_map(|p| index.get(p.as_str()).copied()).filter(declares).collect()
}

/// The sites of the first file, and whether it exports anything that matters to others.
fn solve_together(members: &[&FileFacts], files: &Files, catalogues: &Catalogues) -> (Found, bool) {
    let mut solver = Solver::new(files, false);
    for facts in members {
        if let Some(program) = &facts.program {
            solver.add(&facts.path, facts.language, program, catalogues.of(facts.language));
        }
    }
    // A file of which nothing leads to a site is not solved; only constants of it can matter to others.
    if let [alone] = members
        && !holds_sites(alone, files, catalogues)
    {
        return (Found::default(), sites::exports_what_matters(&solver, 0, &catalogues.commands));
    }
    for unit in 0..solver.units().len() {
        solver.connect(unit as u32);
    }
    solver.activate_all();
    solver.run();
    (
        sites::find(&solver, 0, &catalogues.commands),
        sites::exports_what_matters(&solver, 0, &catalogues.commands),
    )
}

/// Whether a file's own program can hold a site. Python's lookups by name are not seen through here.
fn holds_sites(facts: &FileFacts, files: &Files, catalogues: &Catalogues) -> bool {
    let Some(program) = &facts.program else { return false };
    if !matches!(facts.language, Language::Javascript | Language::Go) {
        return true;
    }
    let catalogue = catalogues.of(facts.language);
    sites::can_hold_sites(program, catalogue, |import| {
        match files.resolve(facts.language, &facts.path, import) {
            Target::External(path) => Some(path),
            _ => None,
        }
    })
}

/// For each file from which an exporter can be reached by imports: itself and the files on the way.
fn groups(tree: &Tree, files: &Files, exporters: &FxHashSet<usize>) -> Vec<(usize, Vec<usize>)> {
    if exporters.is_empty() {
        return Vec::new();
    }
    let index: FxHashMap<&str, usize> =
        tree.files.iter().enumerate().map(|(at, f)| (f.path.as_str(), at)).collect();
    let imports: Vec<Vec<usize>> = tree
        .files
        .par_iter()
        .map(|facts| {
            let Some(program) = &facts.program else { return Vec::new() };
            let mut targets: Vec<usize> = Vec::new();
            for site in &program.imports {
                let resolved = files.resolve(facts.language, &facts.path, &site.import);
                let paths = match resolved {
                    Target::File(path) => vec![path],
                    Target::Name(path, name) => {
                        files.python_submodule(&path, &name).into_iter().chain([path]).collect()
                    }
                    // The own package comes with every file: what is used of it is found below.
                    Target::Package(paths, _) if site.import.module != OWN_PACKAGE => paths,
                    _ => continue,
                };
                targets.extend(paths.iter().filter_map(|p| index.get(p.as_str()).copied()));
            }
            if facts.language == Language::Go {
                targets.extend(siblings(tree, files, facts, program, &index));
            }
            targets.sort_unstable();
            targets.dedup();
            targets
        })
        .collect();
    let mut importers: Vec<Vec<usize>> = vec![Vec::new(); tree.files.len()];
    for (from, targets) in imports.iter().enumerate() {
        for to in targets {
            importers[*to].push(from);
        }
    }
    // Distance to the nearest exporter.
    let mut distance: FxHashMap<usize, usize> = FxHashMap::default();
    let mut frontier: Vec<usize> = exporters.iter().copied().collect();
    frontier.sort_unstable();
    for hop in 0..=HOPS {
        let mut next = Vec::new();
        for file in frontier {
            if distance.contains_key(&file) {
                continue;
            }
            distance.insert(file, hop);
            next.extend(importers[file].iter().copied());
        }
        frontier = next;
    }
    let mut groups = Vec::new();
    for (at, targets) in imports.iter().enumerate() {
        if !targets.iter().any(|t| distance.get(t).is_some_and(|d| *d < HOPS)) {
            continue;
        }
        let mut group = vec![at];
        let mut seen: FxHashSet<usize> = [at].into_iter().collect();
        let mut read = 0;
        while let Some(file) = group.get(read).copied() {
            read += 1;
            for target in &imports[file] {
                if group.len() < MOST_TOGETHER && distance.contains_key(target) && seen.insert(*target) {
                    group.push(*target);
                }
            }
        }
        if group.len() > 1 {
            groups.push((at, group));
        }
    }
    groups
}
