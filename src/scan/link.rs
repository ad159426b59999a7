//! From the facts of files to sites: each program is solved alone, in parallel; a file that
//! imports something that matters from another file is solved once more together with it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::catalogues::Catalogues;
use super::read::FEW;
use crate::base::facts::{FileFacts, Language, Problem, ProblemKind, RelPath, Tells, Tree};
use crate::base::ir::{Expr, ExprId, Import, Program, Slot};
use crate::base::span::Span;
use crate::graph::link::{Files, Target};
use crate::graph::matters;
use crate::graph::sites::{self, Found, Registered};
use crate::graph::solve::Solver;

/// Import hops over which a primitive is followed through files that export it again.
const HOPS: usize = 4;
/// How a Go file's own package is imported.
const OWN_PACKAGE: &str = ".";
/// The exported name of the one value that a CommonJS module is.
const WHOLE_MODULE: &str = "module.exports";
/// Most files that are solved together for one file's sites.
const MOST_TOGETHER: usize = 48;
/// Cells that one exported name's values are looked for in.
const MOST_CELLS: usize = 16;

/// What settling a file on its own brought beside its sites.
pub(super) struct Settled {
    /// Names under which something that matters can be had in this file.
    pub(super) telling: BTreeMap<String, Tells>,
}

/// What a file gives that imports everything of a module with primitives.
pub(super) const EVERYTHING: &str = "import *";

fn stars_primitives(facts: &FileFacts, files: &Files, catalogues: &Catalogues) -> bool {
    let Some(program) = &facts.program else { return false };
    program.stars.iter().any(|module| {
        let import = Import { module: module.clone(), name: None };
        match files.resolve(facts.language, &facts.path, &import) {
            Target::External(path) => catalogues.of(facts.language).has_primitives(&path),
            _ => false,
        }
    })
}

/// Solves a file on its own: its sites, its lookups, and the names that matter to others.
pub(super) fn settle(
    facts: &mut FileFacts,
    files: &Files,
    catalogues: &Catalogues,
    known: &dyn Fn(&str) -> bool,
) -> Settled {
    let mut facts_gave_up = false;
    let (found, names) = {
        let members = [&*facts];
        let solver = solved(&members, files, catalogues);
        if solver.units().is_empty() {
            return Settled { telling: BTreeMap::new() };
        }
        if solver.gave_up() {
            facts_gave_up = true;
        }
        sites::find_with_names(&solver, 0, catalogues.commands())
    };
    if facts_gave_up {
        facts.problems.push(Problem {
            kind: ProblemKind::GaveUp,
            span: Span::default(),
            message: "is too involved to be followed to its end: some of its calls were not looked at"
                .to_owned(),
        });
    }
    facts.settle(found.sites);
    facts.lookups = found.lookups;
    facts.tested = found.tested.into_iter().collect();
    facts.gives = given_of(facts, &names);
    let telling: BTreeMap<String, Tells> = names.into_iter().filter(|(n, _)| !known(n)).collect();
    facts.telling =
        facts.gives.iter().filter_map(|n| telling.get(n).map(|tells| (n.clone(), *tells))).collect();
    if facts.language == Language::Python && stars_primitives(facts, files, catalogues) {
        facts.telling.push((EVERYTHING.to_owned(), Tells::Value));
        facts.gives.push(EVERYTHING.to_owned());
    }
    Settled { telling }
}

/// Of the names that matter in a file, those that others can have.
fn given_of(facts: &FileFacts, names: &BTreeMap<String, Tells>) -> Vec<String> {
    let exported: BTreeSet<&str> =
        facts.program.iter().flat_map(|p| &p.exports).map(|(n, _)| n.as_str()).collect();
    let members: BTreeSet<&str> = facts
        .program
        .iter()
        .flat_map(|p| &p.classes)
        .flat_map(|c| &c.members)
        .map(|(n, _)| n.as_str())
        .collect();
    let stored: BTreeSet<&str> = facts
        .program
        .iter()
        .flat_map(|p| &p.stores)
        .filter_map(|s| match &s.slot {
            Slot::Attr(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let is_had = |name: &&String| {
        let name = name.as_str();
        exported.contains(name) || members.contains(name) || stored.contains(name)
    };
    names.keys().filter(is_had).cloned().collect()
}

/// Which sites are found again with what other files say.
#[derive(Clone, Copy)]
pub(super) enum Sites<'s> {
    /// All, with the daemon's reach to come.
    All,
    /// All, and nothing is asked later: the Python programs that no other file needs have had their use.
    AndNoReach,
    /// Those for which one of these files counts.
    Of(&'s dyn Fn(&RelPath) -> bool),
}

/// Solves again, together with what they import, the files that get something that matters from
/// another file, and replaces their sites: until no file gives more than it did alone. Every file is
/// settled already.
pub(super) fn sites(tree: &mut Tree, files: &Files, catalogues: &Catalogues, which: Sites<'_>) {
    if tree.files.iter().all(|facts| facts.gives.is_empty()) {
        return;
    }
    let links = Links::new(tree, files, catalogues);
    let mut solved_before: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut registered = Registered::new();
    for round in 0..=HOPS {
        let mut groups = groups(tree, files, &links);
        if let Sites::Of(changed) = which {
            groups.retain(|(_, group)| group.iter().any(|member| changed(&tree.files[*member].path)));
        }
        groups.retain(|(at, group)| solved_before.get(at) != Some(group));
        if matches!(which, Sites::AndNoReach) && round == 0 {
            let_go(tree, &links, &groups);
        }
        let again: Vec<(usize, Found, Vec<String>)> = groups
            .par_iter()
            .with_max_len(1)
            .map(|(at, group)| {
                let members: Vec<&FileFacts> = group.iter().map(|g| &tree.files[*g]).collect();
                let solver = solved(&members, files, catalogues);
                let (found, names) = sites::find_with_names(&solver, 0, catalogues.commands());
                (*at, found, given_of(&tree.files[*at], &names))
            })
            .collect();
        let mut is_more = false;
        for (at, found, gives) in again {
            registered.extend(found.registered);
            let facts = &mut tree.files[at];
            facts.settle(found.sites);
            facts.lookups = found.lookups;
            let known = facts.gives.len();
            facts.gives.extend(gives);
            facts.gives.sort();
            facts.gives.dedup();
            is_more |= facts.gives.len() > known;
        }
        solved_before.extend(groups);
        if !is_more {
            break;
        }
    }
    let paths: BTreeSet<&String> = registered.iter().map(|(path, _)| path).collect();
    let places: Vec<usize> =
        paths.into_iter().filter_map(|path| links.index.get(path.as_str()).copied()).collect();
    // What a file registers of another is known once both were solved together.
    for at in places {
        let group = solved_before.get(&at).cloned().unwrap_or_else(|| vec![at]);
        let members: Vec<&FileFacts> = group.iter().map(|g| &tree.files[*g]).collect();
        let found = {
            let solver = solved(&members, files, catalogues);
            sites::find_registered(&solver, 0, catalogues.commands(), registered.clone())
        };
        let facts = &mut tree.files[at];
        facts.settle(found.sites);
        facts.lookups = found.lookups;
    }
}

/// Lets go of the Python programs that no group has or may come to have: they have had their use.
fn let_go(tree: &mut Tree, links: &Links, groups: &[(usize, Vec<usize>)]) {
    let members: FxHashSet<usize> = groups.iter().flat_map(|(_, group)| group).copied().collect();
    let heads: FxHashSet<usize> = groups.iter().map(|(at, _)| *at).collect();
    for (at, facts) in tree.files.iter_mut().enumerate() {
        if facts.language == Language::Python
            && !members.contains(&at)
            && !links.imports[at].files().any(|file| heads.contains(&file))
        {
            facts.program = None;
        }
    }
}

/// An exit at a file's top level is at the program's entry only in a file that is started: not in a
/// script's library, which another file imports.
pub(super) fn entries(tree: &mut Tree, files: &Files) {
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

/// The files of a Go file's own package that it uses names of.
fn siblings(
    tree: &Tree,
    files: &Files,
    facts: &FileFacts,
    program: &Program,
    index: &FxHashMap<RelPath, usize>,
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

/// A solver over the files, run to its end with all their code active; unit 0 is the first.
fn solved<'a>(members: &[&'a FileFacts], files: &'a Files, catalogues: &'a Catalogues) -> Solver<'a> {
    let mut solver = Solver::new(files, false);
    solver.make_room(members.iter().filter_map(|facts| facts.program.as_ref()));
    for facts in members {
        if let Some(program) = &facts.program {
            solver.add(&facts.path, facts.language, program, catalogues.of(facts.language));
        }
    }
    // A file of which nothing leads to a site is not solved; only constants of it can matter to others.
    if let [alone] = members
        && !holds_sites(alone, files, catalogues)
    {
        return solver;
    }
    for unit in 0..solver.units().len() {
        solver.connect(unit as u32);
    }
    solver.activate_all();
    solver.run();
    solver.seed_heirs();
    solver.run();
    solver
}

/// Whether a file's own program can hold a site. Python's lookups by name are not seen through here.
fn holds_sites(facts: &FileFacts, files: &Files, catalogues: &Catalogues) -> bool {
    let Some(program) = &facts.program else { return false };
    if !matches!(facts.language, Language::Javascript | Language::Go) {
        return true;
    }
    let catalogue = catalogues.of(facts.language);
    matters::can_hold_sites(program, catalogue, |import| {
        match files.resolve(facts.language, &facts.path, import) {
            Target::External(path) => Some(path),
            _ => None,
        }
    })
}

/// What one file takes from which others.
#[derive(Default)]
struct Imports {
    /// The file and the name in it.
    names: Vec<(usize, String)>,
    /// Files that are imported as modules.
    modules: Vec<usize>,
    /// Packages of whose own files nothing is known: their modules may be had through them.
    packages: Vec<RelPath>,
    /// Files all of whose names are imported.
    stars: Vec<usize>,
    /// Exported names with the file and name that they come from.
    again: Vec<(String, usize, String)>,
}

impl Imports {
    /// The files that it takes something from.
    fn files(&self) -> impl Iterator<Item = usize> + '_ {
        let names = self.names.iter().map(|(file, _)| *file);
        names.chain(self.modules.iter().copied()).chain(self.stars.iter().copied())
    }
}

/// What does not change as files are solved together.
struct Links {
    /// The files by path.
    index: FxHashMap<RelPath, usize>,
    /// Whether each file's own program can hold a site.
    holds: Vec<bool>,
    /// What each file takes from which others.
    imports: Vec<Imports>,
}

impl Links {
    fn new(tree: &Tree, files: &Files, catalogues: &Catalogues) -> Links {
        let index = tree.files.iter().enumerate().map(|(at, facts)| (facts.path.clone(), at)).collect();
        let holds = tree
            .files
            .par_iter()
            .with_max_len(FEW)
            .map(|facts| holds_sites(facts, files, catalogues))
            .collect();
        let imports =
            tree.files.par_iter().with_max_len(FEW).map(|facts| imports_of(facts, files, &index)).collect();
        Links { index, holds, imports }
    }
}

/// For each file that takes something that matters from another: itself and the files on the way.
fn groups(tree: &Tree, files: &Files, links: &Links) -> Vec<(usize, Vec<usize>)> {
    let Links { index, holds, imports } = links;
    let mut gives: Vec<FxHashSet<String>> =
        tree.files.iter().map(|f| f.gives.iter().cloned().collect()).collect();
    // A file that holds nothing gives constants alone, unless it passes on what another gives.
    let mut callable: Vec<bool> = holds.clone();
    for _ in 0..HOPS {
        let mut new: Vec<(usize, String)> = Vec::new();
        for (at, import) in imports.iter().enumerate() {
            for (exported, from, name) in &import.again {
                if gives[*from].contains(name) && !gives[at].contains(exported) {
                    new.push((at, exported.clone()));
                    callable[at] |= callable[*from];
                }
            }
            for from in &import.stars {
                callable[at] |= callable[*from] && !gives[*from].is_empty();
                new.extend(gives[*from].iter().filter(|n| !gives[at].contains(*n)).map(|n| (at, n.clone())));
            }
        }
        if new.is_empty() {
            break;
        }
        for (at, name) in new {
            gives[at].insert(name);
        }
    }
    let needed: Vec<Vec<usize>> = tree
        .files
        .par_iter()
        .with_max_len(FEW)
        .zip(imports)
        .enumerate()
        .map(|(at, (facts, import))| {
            let mut needed = needed(facts, import, tree, &gives, index, files);
            // Commands as constants matter only to files that can run them.
            needed.retain(|other| holds[at] || callable[*other]);
            needed
        })
        .collect();
    let mut groups = Vec::new();
    for (at, first) in needed.iter().enumerate() {
        if first.is_empty() {
            continue;
        }
        let mut group = vec![at];
        let mut read = 0;
        while let Some(file) = group.get(read).copied() {
            read += 1;
            for target in &needed[file] {
                if group.len() < MOST_TOGETHER && !group.contains(target) {
                    group.push(*target);
                }
            }
        }
        groups.push((at, group));
    }
    groups
}

fn imports_of(facts: &FileFacts, files: &Files, index: &FxHashMap<RelPath, usize>) -> Imports {
    let mut found = Imports::default();
    let Some(program) = &facts.program else { return found };
    let at = |path: &str| index.get(path).copied();
    // A path that is written out (`crate::os::crash`) is an import without a statement.
    let written = program.exprs.iter().filter_map(|node| match &node.expr {
        Expr::Import(import) if facts.language != Language::Python => Some(&**import),
        _ => None,
    });
    for import in program.imports.iter().map(|site| &site.import).chain(written) {
        match files.resolve(facts.language, &facts.path, import) {
            Target::File(path) => match at(&path) {
                Some(module) => found.modules.push(module),
                None if is_package(&path) => found.packages.push(path),
                None => {}
            },
            Target::Name(path, name) => {
                found.modules.extend(files.python_submodule(&path, &name).and_then(|p| at(&p)));
                found.names.extend(at(&path).map(|p| (p, name)));
            }
            _ => {}
        }
    }
    let module = |name: &str| {
        let import = Import { module: name.to_owned(), name: None };
        match files.resolve(facts.language, &facts.path, &import) {
            Target::File(path) => at(&path),
            _ => None,
        }
    };
    found.stars.extend(program.stars.iter().filter_map(|star| module(star)));
    if facts.language == Language::Python {
        found.modules.extend(imported_by_name(program).filter_map(module));
    }
    for (exported, cell) in &program.exports {
        for value in program.bound_values(*cell, MOST_CELLS) {
            // `module.exports = require("./other")`: all of the other's names.
            if let Expr::Import(import) = &program.exprs[value as usize].expr
                && import.name.is_none()
                && exported == WHOLE_MODULE
                && let Target::File(path) = files.resolve(facts.language, &facts.path, import)
            {
                found.stars.extend(at(&path));
            }
            if let Expr::Import(import) = &program.exprs[value as usize].expr
                && let Target::Name(path, name) = files.resolve(facts.language, &facts.path, import)
                && let Some(from) = at(&path)
            {
                found.again.push((exported.clone(), from, name));
            }
            // `stop = lib.stop`.
            if let Expr::Attr { base, name } = &program.exprs[value as usize].expr {
                for module in modules_of(program, *base) {
                    if let Target::File(path) = files.resolve(facts.language, &facts.path, module)
                        && let Some(from) = at(&path)
                    {
                        found.again.push((exported.clone(), from, name.clone()));
                    }
                }
            }
        }
    }
    found
}

/// The imports of modules that an expression may stand for.
fn modules_of(program: &Program, expr: ExprId) -> impl Iterator<Item = &Import> {
    let values = match &program.exprs[expr as usize].expr {
        Expr::Cell(cell) => program.bound_values(*cell, MOST_CELLS),
        _ => vec![expr],
    };
    values.into_iter().filter_map(|value| match &program.exprs[value as usize].expr {
        Expr::Import(import) if import.name.is_none() => Some(&**import),
        _ => None,
    })
}

/// The modules that a Python program imports by names that are written out (`import_module("a.b")`).
fn imported_by_name(program: &Program) -> impl Iterator<Item = &str> {
    let is_import = |expr: ExprId| match &program.exprs[expr as usize].expr {
        Expr::Attr { name, .. } => name == "import_module",
        Expr::Import(import) => import.name.as_deref() == Some("import_module"),
        Expr::External(path) => path == "builtins.__import__",
        _ => false,
    };
    program.exprs.iter().filter_map(move |node| {
        let Expr::Call(call) = &node.expr else { return None };
        let Expr::Str(name) = &program.exprs[call.args.first()?.value as usize].expr else { return None };
        let imports = match &program.exprs[call.callee as usize].expr {
            Expr::Cell(cell) => program.bound_values(*cell, MOST_CELLS).into_iter().any(is_import),
            _ => is_import(call.callee),
        };
        imports.then_some(name.as_str())
    })
}

/// The files without which this one's sites are not all seen.
fn needed(
    facts: &FileFacts,
    imports: &Imports,
    tree: &Tree,
    gives: &[FxHashSet<String>],
    index: &FxHashMap<RelPath, usize>,
    files: &Files,
) -> Vec<usize> {
    let Some(program) = &facts.program else { return Vec::new() };
    // What a CommonJS module is stands for each of its names.
    // A Rust path may go on through what the file gives.
    let given = |at: usize, name: &str| {
        gives[at].contains(name)
            || gives[at].contains(WHOLE_MODULE)
            || gives[at].contains(EVERYTHING)
            || name.match_indices("::").any(|(end, _)| gives[at].contains(&name[..end]))
    };
    let mut needed: Vec<usize> =
        imports.names.iter().filter(|(at, name)| given(*at, name)).map(|(at, _)| *at).collect();
    needed.extend(imports.stars.iter().copied().filter(|at| !gives[*at].is_empty()));
    let own_files = imports.modules.iter().map(|at| &tree.files[*at].path).filter(|path| is_package(path));
    let packages: Vec<&RelPath> = own_files.chain(&imports.packages).collect();
    if imports.modules.iter().any(|at| !gives[*at].is_empty()) || !packages.is_empty() {
        let attributes: FxHashSet<&str> = program
            .exprs
            .iter()
            .filter_map(|n| match &n.expr {
                // A component of a Rust path is marked as one.
                Expr::Attr { name, .. } => Some(name.strip_prefix("::").unwrap_or(name)),
                // `getattr(module, "name")`.
                Expr::Call(call) => match &program.exprs[call.args.get(1)?.value as usize].expr {
                    Expr::Str(name) => Some(name),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let last = |name: &str| attributes.contains(name.rsplit("::").next().unwrap_or(name));
        for module in &imports.modules {
            let whole = gives[*module].contains(WHOLE_MODULE) || gives[*module].contains(EVERYTHING);
            if whole || gives[*module].iter().any(|name| last(name)) {
                needed.push(*module);
            }
        }
        // `import package` and then `package.module.name`.
        for package in packages {
            for name in &attributes {
                if let Some(at) =
                    files.python_submodule(package, name).and_then(|path| index.get(path.as_str()).copied())
                    && gives[at].iter().any(|name| attributes.contains(name.as_str()))
                {
                    needed.push(at);
                    needed.extend(index.get(package));
                }
            }
        }
    }
    if facts.language == Language::Go {
        let packages = program.imports.iter().filter(|i| i.import.module != OWN_PACKAGE).flat_map(|site| {
            match files.resolve(facts.language, &facts.path, &site.import) {
                Target::Package(paths, _) => paths,
                _ => Vec::new(),
            }
        });
        needed.extend(
            packages.filter_map(|p| index.get(p.as_str()).copied()).filter(|at| !gives[*at].is_empty()),
        );
        let siblings = siblings(tree, files, facts, program, index);
        needed.extend(siblings.into_iter().filter(|at| !gives[*at].is_empty()));
    }
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// Whether a path is a package's own file.
pub(super) fn is_package(path: &str) -> bool {
    path.ends_with("__init__.py")
}
