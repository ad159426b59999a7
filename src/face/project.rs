//! The project that a run is about: its root, configuration and inventory, found on the
//! disk and read whole before any work begins.

use std::path::{Path, PathBuf};

use super::output::shown;
use super::{Failure, cli::Cli};
use crate::check::Document;
use crate::data::config::{Config, Host, INVENTORY};
use crate::data::fault::{Fault, Faults};
use crate::data::inventory::location::Files;
use crate::data::inventory::{self, Inventory};
use crate::data::table::At;

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
    /// The same as they were given.
    given: Vec<PathBuf>,
}

impl Project {
    /// Finds the project of the given paths (none: the working folder) and reads its configuration.
    pub fn open(cli: &Cli, paths: &[PathBuf]) -> Result<Project, Failure> {
        let here = std::env::current_dir()
            .map_err(|e| Failure::new(format!("the working folder cannot be read: {e}")))?;
        let given = paths.to_vec();
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
            return Ok(Project { root, config, paths: full, given });
        }
        let folder = if start.is_dir() { start.as_path() } else { start.parent().unwrap_or(&here) };
        for ancestor in folder.ancestors() {
            for name in FILES {
                let file = ancestor.join(name);
                if !file.is_file() {
                    continue;
                }
                if let Some(config) = read_config(ancestor, &file, false)? {
                    return Ok(Project { root: ancestor.to_path_buf(), config, paths: full, given });
                }
            }
        }
        let root = match folder.ancestors().find(|a| a.join(INVENTORY).is_file()) {
            Some(root) => root.to_path_buf(),
            None if full.len() == 1 && start.is_dir() => start,
            None if full.iter().all(|p| p.starts_with(&here)) => here,
            None => folder.to_path_buf(),
        };
        Ok(Project { root, config: Config::default(), paths: full, given })
    }

    /// The project of a folder that was given, if one was. A path that is not there, and a file that is not the
    /// project's inventory, mean no project: to take the nearest one instead would answer for another.
    pub fn of_folder(cli: &Cli, folder: Option<&Path>) -> Result<Project, Failure> {
        let Some(given) = folder else { return Project::open(cli, &[]) };
        there(given)?;
        let project = Project::open(cli, &[given.to_path_buf()])?;
        let named =
            project.paths.first().is_some_and(|full| *full == project.file(&project.inventory_file()));
        if given.is_dir() || named {
            Ok(project)
        } else {
            Err(Failure::new(format!(
                "{} is a file; give a folder of the project, or no path for the working folder",
                shown(given)
            )))
        }
    }

    /// A path relative to the root as it was given on the command line, if it was.
    pub fn as_given(&self, relative: &str) -> String {
        let given = self.paths.iter().zip(&self.given);
        let found = given.filter(|(full, _)| crate::discover::relative(&self.root, full) == relative);
        found.map(|(_, given)| shown(given)).next().unwrap_or_else(|| relative.to_owned())
    }

    /// A path of the configuration as a file on the disk.
    pub fn file(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The inventory's file name, relative to the root.
    pub fn inventory_file(&self) -> String {
        self.config.inventory.as_ref().map_or_else(|| INVENTORY.to_owned(), |i| i.value.clone())
    }

    /// Reads the inventory. None of the default name is fine; a configured one must be there.
    pub fn inventory(&self) -> Result<Option<Inventory>, Failure> {
        let name = self.inventory_file();
        let file = self.root.join(&name);
        let text = match std::fs::read(&file) {
            Ok(bytes) => String::from_utf8(bytes)
                .map_err(|_| Failure::new(format!("the inventory {} is no valid UTF-8", shown(&file))))?,
            Err(error) => {
                let missing = error.kind() == std::io::ErrorKind::NotFound;
                return match &self.config.inventory {
                    None if missing => Ok(None),
                    configured => Err(self.unreadable_inventory(&name, &error, configured.as_ref())),
                };
            }
        };
        match inventory::read::read(&name, &text) {
            Ok(inventory) => Ok(Some(inventory)),
            Err(faults) => Err(Failure::Report(miette::Report::new(faults.report()))),
        }
    }

    fn unreadable_inventory(
        &self,
        name: &str,
        error: &std::io::Error,
        configured: Option<&At<String>>,
    ) -> Failure {
        let message = if error.kind() == std::io::ErrorKind::NotFound {
            format!("the inventory `{name}` does not exist")
        } else {
            format!("the inventory `{name}` cannot be read: {error}")
        };
        match (configured, &self.config.origin) {
            (Some(at), Some(origin)) => {
                let fault = Fault::new(at.span.clone(), message, "named here")
                    .help("`restartlint init` drafts an inventory; or correct the name");
                match Faults::collect(&origin.file, &origin.text, vec![fault]) {
                    Some(faults) => Failure::Report(miette::Report::new(faults.report())),
                    None => Failure::new("the inventory cannot be read"),
                }
            }
            _ => Failure::new(message),
        }
    }

    /// The document's path relative to the root, configured or by default beside the inventory.
    pub fn document_file(&self) -> String {
        match &self.config.inventory_doc {
            Some(doc) => doc.value.clone(),
            None => {
                let name = self.inventory_file();
                format!("{}.md", name.strip_suffix(".toml").unwrap_or(&name))
            }
        }
    }

    /// The inventory's document. Where none is configured, one of the default name that has
    /// a generated part is taken; where there is none, nothing is asked.
    pub fn document(&self, inventory: Option<&Inventory>) -> Result<Option<Document>, Failure> {
        if inventory.is_none() {
            return Ok(None);
        }
        let path = self.document_file();
        let text = match std::fs::read_to_string(self.root.join(&path)) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(Failure::new(format!(
                    "the inventory's document `{path}` cannot be read: {error}"
                )));
            }
        };
        let named_at = self.config.inventory_doc.as_ref().map(|d| d.span.clone());
        let wanted =
            named_at.is_some() || text.as_ref().is_some_and(|t| t.contains(inventory::document::BEGIN));
        Ok(wanted.then_some(Document { path, text, named_at }))
    }

    /// The same project, all of it, whatever paths were given.
    pub fn into_whole(self) -> Project {
        Project { paths: vec![self.root.clone()], given: Vec::new(), ..self }
    }

    /// Whether the paths hold the whole project.
    pub fn is_whole(&self) -> bool {
        self.paths.iter().any(|p| self.root.starts_with(p))
    }

    /// Whether a location names something that exists, whether it is scanned or not.
    pub fn holds(&self, files: &Files) -> bool {
        if files.literal {
            return self.root.join(&files.glob).exists();
        }
        let start = self.root.join(crate::discover::literal_prefix(&files.glob));
        walkdir::WalkDir::new(start)
            .into_iter()
            .filter_entry(|e| e.file_name() != ".git")
            .filter_map(Result::ok)
            .filter(|e| e.file_type().is_file())
            .any(|e| files.holds(&crate::discover::relative(&self.root, e.path())))
    }
}

/// Fails where a path that was given names nothing.
pub fn there(given: &Path) -> Result<(), Failure> {
    if given.exists() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} does not exist; give a folder of the project, or no path for the working folder",
        shown(given)
    )))
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
