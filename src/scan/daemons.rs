//! Which files run inside the long-lived process: the declared ones, or, where nothing
//! is declared, those that build or run a stdio server. Pure.

use crate::base::facts::{DaemonModule, FileFacts, Tree};
use crate::data::config::Config;
use crate::discover::glob_set;

/// The daemon modules of a tree, sorted by path. A declared name that matches no file
/// is there with `file: None`.
/// `exists` says whether a name or a glob has a file outside what was listed: such a one is
/// not missing, only not asked for.
pub fn modules(config: &Config, tree: &Tree, exists: &dyn Fn(&str) -> bool) -> Vec<DaemonModule> {
    let mut found = if config.daemon.is_empty() { detected(tree) } else { declared(config, tree, exists) };
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

/// Files that build a server although the configuration declares other daemon modules.
pub fn undeclared<'t>(config: &Config, tree: &'t Tree) -> Vec<&'t FileFacts> {
    if config.daemon.is_empty() {
        return Vec::new();
    }
    tree.files
        .iter()
        .filter(|f| f.server.is_some() && !tree.daemons.iter().any(|d| d.path == f.path))
        .collect()
}

fn detected(tree: &Tree) -> Vec<DaemonModule> {
    tree.files
        .iter()
        .enumerate()
        .filter_map(|(at, file)| {
            Some(DaemonModule {
                path: file.path.clone(),
                file: Some(at),
                declared: false,
                reason: file.server.clone()?,
            })
        })
        .collect()
}

fn declared(config: &Config, tree: &Tree, exists: &dyn Fn(&str) -> bool) -> Vec<DaemonModule> {
    let mut found = Vec::new();
    for entry in &config.daemon {
        let Some(set) = glob_set([entry.value.as_str()]) else { continue };
        let matching: Vec<&String> = tree.listed.iter().filter(|path| set.is_match(path)).collect();
        if matching.is_empty() && !exists(&entry.value) {
            found.push(DaemonModule {
                path: entry.value.clone(),
                file: None,
                declared: true,
                reason: "declared in the configuration, and there is no such file".to_owned(),
            });
        }
        found.extend(matching.into_iter().map(|path| DaemonModule {
            path: path.clone(),
            file: tree.files.binary_search_by(|f| f.path.cmp(path)).ok(),
            declared: true,
            reason: format!("declared as `{}` in the configuration", entry.value),
        }));
    }
    found
}
