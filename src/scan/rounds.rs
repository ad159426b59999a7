//! Names that matter and are exported under a name of their own: the files that import them are
//! read again with those names in mind, until no file exports a new one.

#![allow(clippy::disallowed_methods)] // Part of the pipeline: it opens the files that discovery listed.

use std::collections::BTreeMap;

use aho_corasick::AhoCorasick;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::link::EVERYTHING;
use super::{Scan, Tools};
use crate::base::facts::{FileFacts, Language, RelPath};
use crate::base::ir::Expr;
use crate::base::source::Source;
use crate::discover::Listing;
use crate::lang::language_of;
use crate::lang::python::imports::imports;
use crate::lang::python::select::identifiers;

/// Files that export what others export: chains longer than this are not followed.
const ROUNDS: usize = 4;

/// Reads the importers of telling names, and puts what they say into the scan.
pub(super) fn follow_exports(tools: &Tools<'_>, listing: &Listing, scan: &mut Scan) {
    let mut done: FxHashSet<(String, RelPath)> = FxHashSet::default();
    let mut wanted: FxHashMap<RelPath, FxHashSet<String>> = FxHashMap::default();
    for _ in 0..ROUNDS {
        let mut exported: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for facts in scan.tree.files.iter().filter(|f| f.language == Language::Python) {
            for name in &facts.telling {
                if done.insert((name.clone(), facts.path.clone())) {
                    exported.entry(module_name(&facts.path).to_owned()).or_default().push(name.clone());
                }
            }
        }
        if exported.is_empty() {
            return;
        }
        for (facts, source, extra) in importers(tools, listing, &exported, &wanted) {
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

/// The name under which other files import this one.
fn module_name(path: &str) -> &str {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// The names under which a file exports what it imports under a telling name.
fn exported_again(facts: &FileFacts, telling: &FxHashSet<String>) -> Vec<String> {
    let Some(program) = &facts.program else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for (name, cell) in &program.exports {
        let mut cells = vec![*cell];
        let mut read = 0;
        while let Some(at) = cells.get(read).copied() {
            read += 1;
            let cell = &program.cells[at as usize];
            let tells = cell.values.iter().any(|value| match &program.exprs[*value as usize].expr {
                Expr::Import(import) => import.name.as_ref().is_some_and(|n| telling.contains(n)),
                Expr::Attr { name, .. } => telling.contains(name),
                _ => false,
            });
            if tells {
                names.push(name.clone());
                break;
            }
            cells.extend(cell.from.iter().filter(|_| read < 16));
        }
    }
    if !program.stars.is_empty() {
        names.extend(telling.iter().cloned());
    }
    names
}

/// The facts of every Python file that mentions both an exporting module and one of its names.
fn importers(
    tools: &Tools<'_>,
    listing: &Listing,
    exported: &BTreeMap<String, Vec<String>>,
    wanted: &FxHashMap<RelPath, FxHashSet<String>>,
) -> Vec<(FileFacts, Source, FxHashSet<String>)> {
    let mut names: Vec<&String> = exported.values().flatten().collect();
    names.sort();
    names.dedup();
    let Ok(automaton) = AhoCorasick::new(&names) else { return Vec::new() };
    let paths: Vec<(&String, &crate::discover::Entry)> =
        listing.files.iter().filter(|(path, _)| path.ends_with(".py")).collect();
    paths
        .par_iter()
        .filter_map(|(path, entry)| {
            let bytes = std::fs::read(&entry.real).ok()?;
            if !automaton.is_match(&bytes) || language_of(path, &bytes) != Some(Language::Python) {
                return None;
            }
            let source = Source::decode(bytes);
            let mentioned: FxHashSet<&str> = identifiers(&source.text).collect();
            let imports = imports(&source.text);
            let imported: FxHashSet<&str> = imports
                .iter()
                .flat_map(|i| i.module.rsplit('.').next().into_iter().chain(i.name.as_deref()))
                .collect();
            let new: FxHashSet<String> = exported
                .iter()
                // Imported, or read as an attribute of its package (`tools.image.swap`).
                .filter(|(module, _)| {
                    imported.contains(module.as_str()) || source.text.contains(&format!(".{module}."))
                })
                .flat_map(|(_, names)| names)
                .filter(|name| mentioned.contains(name.as_str()) || name.as_str() == EVERYTHING)
                .cloned()
                .collect();
            let mut extra = wanted.get(*path).cloned().unwrap_or_default();
            let before = extra.len();
            extra.extend(new);
            if extra.len() == before {
                return None;
            }
            let mut facts = tools.python.read(path, &source, &extra, tools.files, tools.catalogues)?;
            let again = exported_again(&facts, &extra);
            facts.telling.extend(again);
            facts.telling.sort();
            facts.telling.dedup();
            facts.gives.extend(facts.telling.iter().cloned());
            facts.gives.sort();
            facts.gives.dedup();
            Some((facts, source, extra))
        })
        .collect()
}
