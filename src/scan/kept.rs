//! What of a scan is kept for a later run over the same tree: all that rules and formats read, without
//! the programs that it came from and without the texts, which are read again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Scan;
use crate::base::facts::{Chain, DaemonModule, FileFacts, RelPath, Tree};
use crate::base::ir::Program;
use crate::base::source::Source;
use crate::base::sources::Sources;

/// A scan as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    files: Vec<FileFacts>,
    daemons: Vec<DaemonModule>,
    reach: Vec<((usize, u32), Chain)>,
    scanned: usize,
    unreadable: BTreeSet<(RelPath, String)>,
    notes: BTreeSet<(RelPath, String)>,
    /// The files whose texts are needed.
    texts: Vec<RelPath>,
}

impl Kept {
    /// What is to be kept of a scan.
    pub(super) fn of(scan: &Scan) -> Kept {
        let tree = &scan.tree;
        Kept {
            texts: shown(tree).filter(|path| scan.sources.get(path).is_some()).cloned().collect(),
            files: tree.files.iter().map(without_program).collect(),
            daemons: tree.daemons.clone(),
            reach: tree.reach.iter().map(|(function, chain)| (*function, chain.clone())).collect(),
            scanned: tree.scanned,
            unreadable: scan.unreadable.clone(),
            notes: scan.notes.clone(),
        }
    }

    /// The scan again; `read` gives a file's text, and nothing if it is not the one that was read then.
    pub(super) fn into_scan(
        self,
        listed: Vec<RelPath>,
        read: impl Fn(&str) -> Option<Source>,
    ) -> Option<Scan> {
        let mut sources = Sources::default();
        for path in self.texts {
            let source = read(&path)?;
            sources.insert(path, source);
        }
        let tree = Tree {
            files: self.files,
            daemons: self.daemons,
            reach: self.reach.into_iter().collect(),
            listed,
            scanned: self.scanned,
        };
        Some(Scan { tree, sources, unreadable: self.unreadable, notes: self.notes })
    }
}

/// The files of which something may be shown: those that say something, and those on a chain.
pub(super) fn shown(tree: &Tree) -> impl Iterator<Item = &RelPath> {
    let steps = tree.reach.values().flat_map(|chain| chain.steps.iter().map(|step| step.file));
    let mut shown: BTreeSet<usize> = steps.chain(tree.daemons.iter().filter_map(|d| d.file)).collect();
    shown.extend(tree.files.iter().enumerate().filter(|(_, facts)| facts.speaks()).map(|(at, _)| at));
    shown.into_iter().map(|at| &tree.files[at].path)
}

/// Facts for whoever does not link them: of the program, the imports where a site stands among them.
fn without_program(facts: &FileFacts) -> FileFacts {
    let program = facts.program.as_ref().filter(|_| facts.sites.iter().any(|site| site.import_time));
    FileFacts {
        program: program.map(|program| Program { imports: program.imports.clone(), ..Program::default() }),
        sites: facts.sites.clone(),
        watched: facts.watched.clone(),
        annotations: facts.annotations.clone(),
        problems: facts.problems.clone(),
        lookups: facts.lookups.clone(),
        server: facts.server.clone(),
        ..FileFacts::new(facts.path.clone(), facts.language)
    }
}
