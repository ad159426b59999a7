//! Names that matter and are exported under a name of their own: the files that import them are
//! read again with those names in mind, until no file exports a new one.

#![allow(clippy::disallowed_methods)] // Part of the pipeline: it opens the files that discovery listed.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::imported::{Imported, hash};
use super::link::EVERYTHING;
use super::{Scan, Tools};
use crate::base::facts::{FileFacts, Language, RelPath, Tells};
use crate::base::ir::Expr;
use crate::base::source::Source;
use crate::discover::Listing;
use crate::graph::link::Target;
use crate::lang::python::imports::imports;
use crate::lang::python::select::identifiers;

/// Files that export what others export: chains longer than this are not followed.
const ROUNDS: usize = 4;

/// What a file gives, by name.
type Names = BTreeMap<String, Tells>;

/// Reads the importers of telling names, and puts what they say into the scan.
pub(super) fn follow_exports(
    tools: &Tools<'_>,
    listing: &Listing,
    imported: &[(RelPath, Imported)],
    scan: &mut Scan,
) {
    let mut done: FxHashSet<(String, Tells, RelPath)> = FxHashSet::default();
    let mut wanted: FxHashMap<RelPath, Names> = FxHashMap::default();
    for _ in 0..ROUNDS {
        let mut exported: BTreeMap<RelPath, Names> = BTreeMap::new();
        for facts in scan.tree.files.iter().filter(|f| f.language == Language::Python) {
            for (name, tells) in &facts.telling {
                if done.insert((name.clone(), *tells, facts.path.clone())) {
                    let names = exported.entry(facts.path.clone()).or_default();
                    let known = names.entry(name.clone()).or_insert(*tells);
                    *known = (*known).min(*tells);
                }
            }
        }
        if exported.is_empty() {
            return;
        }
        for (facts, source, extra) in importers(tools, listing, imported, &exported, &wanted) {
            wanted.insert(facts.path.clone(), extra);
            scan.sources.insert(facts.path.clone(), source);
            match scan.tree.files.binary_search_by(|f| f.path.cmp(&facts.path)) {
                Ok(at) => {
                    let mut facts = facts;
                    facts.problems = std::mem::take(&mut scan.tree.files[at].problems);
                    scan.tree.files[at] = facts;
                }
                Err(at) => scan.tree.files.insert(at, facts),
            }
        }
    }
}

/// The name under which other files import this one, and that of the package that it lies in.
fn module_name(path: &str) -> (&str, &str) {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    (name, parts.next().unwrap_or(""))
}

/// The names under which a file exports what it imports under a telling name.
fn exported_again(facts: &FileFacts, telling: &Names) -> Vec<(String, Tells)> {
    let Some(program) = &facts.program else { return Vec::new() };
    let mut names: Vec<(String, Tells)> = Vec::new();
    for (name, cell) in &program.exports {
        let mut cells = vec![*cell];
        let mut read = 0;
        while let Some(at) = cells.get(read).copied() {
            read += 1;
            let cell = &program.cells[at as usize];
            let tells = cell.values.iter().filter_map(|value| match &program.exprs[*value as usize].expr {
                Expr::Import(import) => import.name.as_ref().and_then(|n| telling.get(n)),
                Expr::Attr { name, .. } => telling.get(name),
                _ => None,
            });
            if let Some(tells) = tells.min() {
                names.push((name.clone(), *tells));
                break;
            }
            cells.extend(cell.from.iter().filter(|_| read < 16));
        }
    }
    if !program.stars.is_empty() {
        names.extend(telling.iter().map(|(name, tells)| (name.clone(), *tells)));
    }
    names
}

/// The files that export telling names, by the hash of the name that they are imported under, and by
/// that of the package that they lie in.
struct Exporters<'e> {
    all: Vec<(&'e RelPath, &'e Names)>,
    by_name: FxHashMap<u32, Vec<usize>>,
    by_package: FxHashMap<u32, Vec<usize>>,
}

impl<'e> Exporters<'e> {
    fn new(exported: &'e BTreeMap<RelPath, Names>) -> Exporters<'e> {
        let mut exporters = Exporters {
            all: exported.iter().collect(),
            by_name: FxHashMap::default(),
            by_package: FxHashMap::default(),
        };
        for (at, (path, _)) in exporters.all.iter().enumerate() {
            let (name, package) = module_name(path);
            exporters.by_name.entry(hash(name)).or_default().push(at);
            exporters.by_package.entry(hash(package)).or_default().push(at);
        }
        exporters
    }

    /// The exporters that a file with these imports may take from.
    fn of(&self, imported: &Imported) -> Vec<usize> {
        let named = imported.named().iter().filter_map(|h| self.by_name.get(h));
        let bound = imported.bound().iter().filter_map(|h| self.by_package.get(h));
        let mut found: Vec<usize> = named.chain(bound).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The exporters that a text imports, or of whose package it reads the attribute (`tools.image.swap`).
fn taken_from<'e>(
    tools: &Tools<'_>,
    path: &RelPath,
    text: &str,
    from: Vec<(&'e RelPath, &'e Names)>,
) -> Vec<(&'e RelPath, &'e Names)> {
    let names: FxHashSet<&str> = from.iter().map(|(path, _)| module_name(path).0).collect();
    let mut targets: FxHashSet<String> = FxHashSet::default();
    for import in imports(text) {
        let last = import.module.rsplit('.').next().unwrap_or("");
        if !names.contains(last) && !import.name.as_deref().is_some_and(|name| names.contains(name)) {
            continue;
        }
        match tools.files.resolve(Language::Python, path, &import) {
            Target::File(path) => {
                targets.insert(path);
            }
            Target::Name(path, name) => {
                targets.extend(tools.files.python_submodule(&path, &name));
                targets.insert(path);
            }
            _ => {}
        }
    }
    let as_attribute = |path: &str| {
        let dotted = format!(".{}.", module_name(path).0);
        memchr::memmem::find(text.as_bytes(), dotted.as_bytes()).is_some()
    };
    from.into_iter().filter(|(path, _)| targets.contains(*path) || as_attribute(path)).collect()
}

/// The telling names of the exporters that a text mentions.
fn taken(text: &str, from: &[(&RelPath, &Names)]) -> Names {
    let mut names = Names::new();
    if from.is_empty() {
        return names;
    }
    let mentioned: FxHashSet<&str> = identifiers(text).collect();
    // What every class has says nothing.
    let special = |name: &str| name.starts_with("__") && name.ends_with("__");
    for (name, tells) in from.iter().flat_map(|(_, given)| given.iter()) {
        if name == EVERYTHING || (mentioned.contains(name.as_str()) && !special(name)) {
            let known = names.entry(name.clone()).or_insert(*tells);
            *known = (*known).min(*tells);
        }
    }
    names
}

/// The facts of every Python file that takes a telling name from an exporter.
fn importers(
    tools: &Tools<'_>,
    listing: &Listing,
    imported: &[(RelPath, Imported)],
    exported: &BTreeMap<RelPath, Names>,
    wanted: &FxHashMap<RelPath, Names>,
) -> Vec<(FileFacts, Source, Names)> {
    let exporters = Exporters::new(exported);
    imported
        .par_iter()
        .filter_map(|(path, imported)| {
            let from: Vec<(&RelPath, &Names)> = exporters
                .of(imported)
                .into_iter()
                .map(|at| exporters.all[at])
                .filter(|(p, _)| *p != path)
                .collect();
            if from.is_empty() {
                return None;
            }
            let source = Source::decode(std::fs::read(&listing.files.get(path)?.real).ok()?);
            let before = wanted.get(path);
            let mut extra: Names = before.cloned().unwrap_or_default();
            let from = taken_from(tools, path, &source.text, from);
            for (name, tells) in taken(&source.text, &from) {
                let known = extra.entry(name).or_insert(tells);
                *known = (*known).min(tells);
            }
            if extra.is_empty() || before == Some(&extra) {
                return None;
            }
            tools.python.role(&source.text).named(&extra).next()?;
            let mut facts = tools.python.read(path, &source, &extra, tools.files, tools.catalogues)?;
            let mut telling: Names = exported_again(&facts, &extra).into_iter().collect();
            for (name, tells) in &facts.telling {
                let known = telling.entry(name.clone()).or_insert(*tells);
                *known = (*known).min(*tells);
            }
            facts.gives.extend(telling.keys().cloned());
            facts.gives.sort();
            facts.gives.dedup();
            facts.telling = telling.into_iter().collect();
            Some((facts, source, extra))
        })
        .collect()
}
