//! Which store a command works on, and what its failures are for the person.

use std::path::{Path, PathBuf};

use super::Failure;
use super::cli::Cli;
use super::output::shown;
use super::project::Project;
use crate::edge::store::{OpenMode, Store, StoreError};

/// The store that is named, else the configuration's.
///
/// A configuration comes with a checkout, so the store that it names must lie inside, links
/// followed: nothing that a checkout says makes this program write elsewhere.
pub fn store_path(named: Option<&Path>, cli: &Cli) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let project = Project::open(cli, &[])?;
    let Some(store) = &project.config.store else {
        return Err(Failure::new(
            "no store is named; give --store FILE, or set `store` in the configuration",
        ));
    };
    let path = project.file(&store.value);
    match lies_in(&path, &project.root) {
        Ok(true) => Ok(path),
        Ok(false) => Err(Failure::new(format!(
            "the configured store {} lies outside the project, through a link; name it with --store if that is meant",
            shown(&path)
        ))),
        Err(error) => {
            Err(Failure::new(format!("the folder of the configured store {}: {error}", shown(&path))))
        }
    }
}

/// Opens a store to write to; where there is none it is made, with its folder, for the owner alone.
pub fn open_or_make(path: &Path) -> Result<Store, Failure> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty() && !f.exists()) {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(folder)
            .map_err(|e| Failure::new(format!("the store's folder {} cannot be made: {e}", shown(folder))))?;
    }
    Ok(Store::open(path, OpenMode::Create)?)
}

fn lies_in(path: &Path, root: &Path) -> std::io::Result<bool> {
    let root = root.canonicalize()?;
    // A folder that is still to be made lies where the nearest one above it does.
    let mut folder = path.parent().unwrap_or(&root);
    while !folder.exists() && !folder.is_symlink() {
        folder = folder.parent().unwrap_or(&root);
    }
    let folder = folder.canonicalize()?;
    let link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    Ok(folder.starts_with(&root) && (!link || path.canonicalize()?.starts_with(&root)))
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::new(error.to_string())
    }
}
