//! One file that is given on standard input: `-` in the place of the paths.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use super::cli::Cli;
use super::project::Project;
use crate::data::config::MAX_FILE_SIZE;
use crate::scan::Stdin;

/// The name of a file that was given none.
const NAME: &str = "stdin.py";

/// Options of the commands that read `-`.
#[derive(Debug, Default, Args)]
pub struct StdinArgs {
    /// The name under which `-` is read, relative to the working folder.
    #[arg(long, value_name = "NAME")]
    pub stdin_filename: Option<PathBuf>,
}

impl StdinArgs {
    /// Whether standard input is what is asked for.
    pub(super) fn asked(paths: &[PathBuf]) -> Result<bool, Failure> {
        let asked = paths.iter().any(|p| p == Path::new("-"));
        if asked && paths.len() > 1 {
            return Err(Failure::new("`-` reads one file from standard input; give no other path beside it"));
        }
        Ok(asked)
    }

    /// The project of the paths, or of the file that standard input stands for.
    pub(super) fn project(&self, cli: &Cli, paths: &[PathBuf]) -> Result<Project, Failure> {
        match (StdinArgs::asked(paths)?, &self.stdin_filename) {
            (true, Some(name)) => Project::open(cli, std::slice::from_ref(name)),
            (true, None) => Project::open(cli, &[]),
            (false, _) => Project::open(cli, paths),
        }
    }

    /// Reads the file if it is asked for, up to one byte over the size limit: more would not be looked at.
    pub(super) fn read(&self, project: &Project, paths: &[PathBuf]) -> Result<Option<Stdin>, Failure> {
        if !StdinArgs::asked(paths)? {
            return Ok(None);
        }
        let limit = project.config.max_file_size.unwrap_or(MAX_FILE_SIZE);
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|e| Failure::new(format!("standard input cannot be read: {e}")))?;
        let name = match (&self.stdin_filename, project.paths.first()) {
            (Some(_), Some(path)) => crate::discover::relative(&project.root, path),
            _ => NAME.to_owned(),
        };
        Ok(Some(Stdin { name, bytes }))
    }
}
