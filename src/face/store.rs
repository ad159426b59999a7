//! Which store a command works on, and what its failures are for the person.

use std::path::{Path, PathBuf};

use super::Failure;
use super::cli::Cli;
use super::project::Project;
use crate::edge::store::StoreError;

/// The store that is named, else the configuration's.
pub fn store_path(named: Option<&Path>, cli: &Cli) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let project = Project::open(cli, &[])?;
    match &project.config.store {
        Some(store) => Ok(project.file(&store.value)),
        None => {
            Err(Failure::new("no store is named; give --store FILE, or set `store` in the configuration"))
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::new(error.to_string())
    }
}
