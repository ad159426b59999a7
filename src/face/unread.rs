//! What a run could not look at, for the commands that show facts without policy, and what
//! is known of the disk beside the scan.
//!
//! Knows the rules' words for it (RL401, RL402); decides nothing.

use super::project::Project;
use super::sites::is_unread_kind;
use super::{Failure, output};
use crate::base::finding::{Finding, Severity};
use crate::check::{Ctx, Inputs, Presence, source};
use crate::data::inventory::Inventory;
use crate::scan::Scan;

/// What is known of the disk: which locations exist, and what could not be opened. `whole` says whether all
/// of the project was looked at.
pub(super) fn presence(
    project: &Project,
    scan: &Scan,
    inventory: Option<&Inventory>,
    whole: bool,
) -> Presence {
    let files = inventory.into_iter().flat_map(|i| &i.paths).flat_map(|p| &p.locations);
    let existing = files
        .filter_map(|l| l.value.files())
        .filter(|f| scan.tree.listed.iter().any(|path| f.holds(path)) || project.holds(f))
        .map(|f| f.glob.clone())
        .collect();
    let daemons = scan.tree.daemons.iter().filter(|d| d.file.is_none());
    let unread = daemons
        .filter(|d| scan.tree.listed.binary_search(&d.path).is_ok())
        .filter(|d| is_unread_kind(project, &project.file(&d.path)))
        .map(|d| d.path.clone())
        .collect();
    let closed = scan.unreadable.iter().filter(|(path, _)| project.file(path).exists()).cloned().collect();
    Presence { existing, unread, closed, whole }
}

/// Says on standard error what could not be read in full, a line each; `only` that file where standard input
/// stands for it. The failure, if that leaves the
/// answer incomplete: a path that could not be looked at, or a daemon module that is missing or faulty.
pub(super) fn tell(project: &Project, scan: &Scan, only: Option<&str>) -> Option<Failure> {
    let presence = presence(project, scan, None, only.is_none() && project.is_whole());
    let ctx = Ctx::new(Inputs {
        tree: &scan.tree,
        sources: &scan.sources,
        config: &project.config,
        inventory: None,
        document: None,
        presence: &presence,
    });
    let faults: Vec<Finding> = source::unreadable(&ctx).into_iter().chain(source::conflicts(&ctx)).collect();
    // What could not be opened at all has been told by the scan.
    let opened = |f: &&Finding| {
        only.is_none_or(|only| f.place.path == only)
            && !scan.unreadable.iter().any(|(path, _)| *path == f.place.path)
    };
    let mut grave = 0;
    let mut told = 0;
    for fault in faults.iter().filter(opened) {
        let level = if fault.severity == Severity::Error { "error" } else { "warning" };
        grave += usize::from(fault.severity == Severity::Error);
        told += 1;
        output::warn(&format!(
            "{}:{}:{}: {level}: {}",
            fault.place.path, fault.place.start.line, fault.place.start.column, fault.message
        ));
    }
    let count = told + scan.unreadable.len();
    if count == 0 {
        return None;
    }
    let what = if count == 1 { "1 place" } else { &format!("{count} places") };
    let summary =
        format!("{what} could not be read in full (see above); what is printed may not be the whole answer");
    if grave > 0 || !scan.unreadable.is_empty() {
        return Some(Failure::new(summary));
    }
    output::warn(&summary);
    None
}
