//! The store: can it be opened, or made, and written?
//!
//! Whether a folder can be written only shows when it is tried: an empty file is made there
//! and taken away again.

use std::fs::OpenOptions;
use std::path::Path;

use super::{Part, State};
use crate::edge::store::{OpenMode, Store};
use crate::face::Failure;
use crate::face::cli::Cli;
use crate::face::output::shown;
use crate::face::project::Project;
use crate::face::store::store_path;

const NAME: &str = "store";

pub(super) fn part(named: Option<&Path>, project: &Project, cli: &Cli) -> Result<Part, Failure> {
    if named.is_none() && project.config.store.is_none() {
        return Ok(Part::of(
            NAME,
            State::Inactive,
            "none is named: no registry, no markers, no observed state of a restart",
            Some("Set `store` in the configuration, or give --store."),
        ));
    }
    let configured = project.config.store.as_ref().map(|store| project.file(&store.value));
    let wanted = named.or(configured.as_deref()).unwrap_or(Path::new(""));
    let folder = match wanted.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // What is missing of the folder is made with the store; a file in its place is in the way.
    let mut there = folder;
    while !there.exists() && !there.is_symlink() {
        there = there.parent().filter(|above| *above != Path::new("")).unwrap_or(Path::new("."));
    }
    if !there.is_dir() {
        return Ok(Part::of(
            NAME,
            State::Broken,
            format!("the folder of {} cannot be made: {} is none", shown(wanted), shown(there)),
            Some("Name another store, or take away what stands in its folder's place."),
        ));
    }
    let folder = there;
    let path = store_path(named, cli)?;
    let there = match Store::open(&path, OpenMode::Existing) {
        Ok(store) => Some(store),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(error.into()),
    };
    // A store is not written alone: its log lies beside it.
    let written = match &there {
        Some(_) => OpenOptions::new().write(true).open(&path).map(|_| ()).and_then(|()| tried(folder)),
        None => tried(folder),
    };
    if let Err(error) = written {
        return Ok(Part::of(
            NAME,
            State::Broken,
            format!("{} cannot be written ({error}): no marker and no server can be recorded", shown(&path)),
            Some("Let the person who runs this write the file and its folder, or name another store."),
        ));
    }
    let Some(store) = there else {
        let detail = format!("{} is not there yet; the first record or registration makes it", shown(&path));
        return Ok(Part::of(NAME, State::Inactive, detail, None));
    };
    let running = store.runtimes(Some("running"))?.len();
    let open = store.markers()?.iter().filter(|marker| marker.cleared_at.is_none()).count();
    let detail = format!("{}: {running} running server(s), {open} open marker(s)", shown(&path));
    let step = (open > 0).then_some("`restartlint guard status` shows the markers.");
    Ok(Part::of(NAME, State::Works, detail, step))
}

fn tried(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(format!(".restartlint-doctor-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&file)?;
    std::fs::remove_file(&file)
}
