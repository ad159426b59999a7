//! The project that a run is about: its root, configuration and inventory, found on the
//! disk and read whole before any work begins.

use std::path::{Path, PathBuf};

use super::output::shown;
use super::{Failure, cli::Cli};
use crate::data::config::{Config, Host, INVENTORY};

/// The configuration files of one folder, the most specific first.
const FILES: [&str; 3] = ["restartlint.toml", "pyproject.toml", "Cargo.toml"];

/// A project.
#[derive(Debug)]
pub struct Project {
    /// Its root, absolute.
    pub root: PathBuf,
    /// Its configuration.
    pub config: Config,
    /// The paths to look at, absolute.
    pub paths: Vec<PathBuf>,
}

impl Project {
    /// Finds the project of the given paths (none: the working folder) and reads its configuration.
    pub fn open(cli: &Cli, paths: &[PathBuf]) -> Result<Project, Failure> {
        let here = std::env::current_dir()
            .map_err(|e| Failure::new(format!("the working folder cannot be read: {e}")))?;
        let mut full = Vec::new();
        for path in paths {
            full.push(absolute(&here, path));
        }
        if full.is_empty() {
            full.push(here.clone());
        }
        let start = full.first().cloned().unwrap_or_else(|| here.clone());
        if let Some(file) = &cli.config {
            let file = absolute(&here, file);
            let root = file.parent().map_or_else(|| here.clone(), Path::to_path_buf);
            let config = read_config(&root, &file, true)?.unwrap_or_default();
            return Ok(Project { root, config, paths: full });
        }
        let folder = if start.is_dir() { start.as_path() } else { start.parent().unwrap_or(&here) };
        for ancestor in folder.ancestors() {
            for name in FILES {
                let file = ancestor.join(name);
                if !file.is_file() {
                    continue;
                }
                if let Some(config) = read_config(ancestor, &file, false)? {
                    return Ok(Project { root: ancestor.to_path_buf(), config, paths: full });
                }
            }
        }
        let root = match folder.ancestors().find(|a| a.join(INVENTORY).is_file()) {
            Some(root) => root.to_path_buf(),
            None if full.len() == 1 && start.is_dir() => start,
            None if full.iter().all(|p| p.starts_with(&here)) => here,
            None => folder.to_path_buf(),
        };
        Ok(Project { root, config: Config::default(), paths: full })
    }

    /// A path of the configuration as a file on the disk.
    pub fn file(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }
}

/// Reads a configuration file. One that was named must hold a configuration.
fn read_config(root: &Path, file: &Path, named: bool) -> Result<Option<Config>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::new(format!("the configuration {} cannot be read: {e}", shown(file))))?;
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let display = crate::discover::relative(root, file);
    match Config::read(&display, &text, Host::of(&name)) {
        Err(faults) => Err(Failure::Report(miette::Report::new(faults.report()))),
        Ok(None) if named => Err(Failure::new(format!(
            "{} holds no configuration of restartlint; it would stand under [tool.restartlint] (pyproject.toml) or \
             [package.metadata.restartlint] (Cargo.toml)",
            shown(file)
        ))),
        Ok(config) => Ok(config),
    }
}

/// The path made absolute; one with `..` in it is resolved, so that it lies where it seems to.
fn absolute(here: &Path, path: &Path) -> PathBuf {
    let joined: PathBuf =
        here.join(path).components().filter(|c| !matches!(c, std::path::Component::CurDir)).collect();
    if joined.components().any(|c| matches!(c, std::path::Component::ParentDir)) {
        std::fs::canonicalize(&joined).unwrap_or(joined)
    } else {
        joined
    }
}
