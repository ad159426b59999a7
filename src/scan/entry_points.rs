//! Entry points that a package's own metadata names (`bin` of a `package.json`, the scripts of a
//! `pyproject.toml`): one that leads to a server's file by its imports is a daemon module as well, and
//! the function that it names is the program's entry. Files that cannot be read name nothing.

#![allow(clippy::disallowed_methods)] // The pipeline opens the files that discovery lists.

use std::collections::{BTreeSet, VecDeque};

use super::reach::{imported_files, text_of};
use super::{Scan, Tools, packages};
use crate::base::facts::{DaemonModule, Language, RelPath};
use crate::base::ir::Import;
use crate::data::programs::{Script, bins, scripts};
use crate::discover::Listing;
use crate::graph::link::{Target, join, parent};

/// Most files that are looked at from one entry point, the nearest first.
const MOST_FILES: usize = 400;

/// An entry point.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryPoint {
    /// Its file.
    file: RelPath,
    /// The function that is called, where one is named.
    function: Option<String>,
    /// The manifest that names it.
    manifest: RelPath,
}

/// The entry points of a listing's manifests; none where nothing is a daemon module.
pub(super) fn named(tools: &Tools<'_>, listing: &Listing, scan: &Scan) -> BTreeSet<EntryPoint> {
    let mut found = BTreeSet::new();
    if scan.tree.daemons.is_empty() {
        return found;
    }
    for (path, entry) in &listing.files {
        let name = path.rsplit('/').next().unwrap_or(path);
        if entry.stamp.size > packages::LONGEST || !matches!(name, "package.json" | "pyproject.toml") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&entry.real) else { continue };
        let at = |file, function| EntryPoint { file, function, manifest: path.clone() };
        if name == "package.json" {
            let files = bins(&text).into_iter().map(|(_, file)| join(parent(path), &file));
            found.extend(files.filter(|file| listing.files.contains_key(file)).map(|file| at(file, None)));
            continue;
        }
        for Script { module, function, .. } in scripts(&text) {
            let import = Import { module, name: None };
            match tools.files.resolve(Language::Python, path, &import) {
                Target::File(file) => {
                    found.insert(at(file, Some(function)));
                }
                Target::Package(files, _) => {
                    found.extend(files.into_iter().map(|file| at(file, Some(function.clone()))));
                }
                _ => {}
            }
        }
    }
    found
}

/// Adds the entry points that lead to a detected server to the daemon modules.
pub(super) fn detect(tools: &Tools<'_>, listing: &Listing, scan: &mut Scan, points: &BTreeSet<EntryPoint>) {
    if scan.tree.daemons.iter().any(|d| d.declared) {
        return;
    }
    let mut added: Vec<DaemonModule> = Vec::new();
    for point in points {
        let known = |path: &str| scan.tree.daemons.iter().any(|d| d.path == path);
        if known(&point.file) || added.iter().any(|d| d.path == point.file) {
            continue;
        }
        let mut seen: BTreeSet<RelPath> = [point.file.clone()].into();
        let mut waiting = VecDeque::from([point.file.clone()]);
        while let Some(path) = waiting.pop_front() {
            if known(&path) {
                let (file, manifest) = (&point.file, &point.manifest);
                added.push(DaemonModule {
                    path: file.clone(),
                    file: scan.tree.files.binary_search_by(|f| f.path.cmp(file)).ok(),
                    declared: false,
                    reason: format!("an entry point that {manifest} names, and that leads to {path}"),
                });
                break;
            }
            let Some(source) = text_of(listing, scan, &path) else { continue };
            for target in imported_files(tools, scan, &path, &source) {
                if seen.len() < MOST_FILES && seen.insert(target.clone()) {
                    waiting.push_back(target);
                }
            }
        }
    }
    scan.tree.daemons.extend(added);
    scan.tree.daemons.sort_by(|a, b| a.path.cmp(&b.path));
}

/// An exit of the function that a manifest names as the program is the entry's own.
pub(super) fn mark(scan: &mut Scan, points: &BTreeSet<EntryPoint>) {
    for point in points {
        let Some(function) = &point.function else { continue };
        let Ok(at) = scan.tree.files.binary_search_by(|f| f.path.cmp(&point.file)) else { continue };
        for site in &mut scan.tree.files[at].sites {
            site.entrypoint |= site.symbol == *function;
        }
    }
}
