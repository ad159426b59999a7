//! What the server knows from its start: the project, the store and its own revision.
//! Calls are answered from this and from what the system shows, never from a caller's word.

use std::path::{Path, PathBuf};

use super::McpArgs;
use crate::edge::revision;
use crate::face::cli::{Cli, Color, Command};
use crate::face::output::shown;
use crate::face::project::Project;
use crate::face::store::store_path;
use crate::face::{Failure, output};

/// The server's own view.
#[derive(Debug)]
pub(super) struct World {
    /// The global options, as the passes of the command line take them.
    pub cli: Cli,
    /// The project's root, absolute.
    pub root: PathBuf,
    /// The checkout's revision at the start, where there is one.
    pub startup_head: Option<String>,
    store: Option<PathBuf>,
}

impl World {
    /// Looks around once. The root becomes the working folder, so that every pass sees the
    /// project as its command would there.
    ///
    /// # Errors
    /// A root that cannot be entered.
    pub fn at_start(args: &McpArgs, cli: &Cli) -> Result<World, Failure> {
        let config = cli.config.as_deref().map(std::path::absolute).transpose()?;
        let named = args.store.as_deref().map(std::path::absolute).transpose()?;
        if let Some(root) = &args.root {
            std::env::set_current_dir(root)
                .map_err(|error| Failure::new(format!("the root {}: {error}", shown(root))))?;
        }
        let here = std::env::current_dir()
            .map_err(|error| Failure::new(format!("the working folder cannot be read: {error}")))?;
        let cli = Cli { config, color: Color::Never, quiet: true, verbose: 0, command: Command::Man };
        // A faulty configuration is told by each call that needs it; the server itself stays.
        let (root, store) = match Project::open(&cli, &[]) {
            Ok(project) => {
                let wanted = named.is_some() || project.config.store.is_some();
                (project.root, wanted.then(|| store_path(named.as_deref(), &cli)))
            }
            Err(failure) => {
                output::warn(&failure.text());
                (here, named.map(Ok))
            }
        };
        let store = match store {
            Some(Err(failure)) => {
                output::warn(&failure.text());
                None
            }
            Some(Ok(path)) => Some(path),
            None => None,
        };
        let startup_head = revision::head(&root).ok();
        Ok(World { cli, root, startup_head, store })
    }

    /// The store, where one is named or configured.
    pub fn store(&self) -> Option<&Path> {
        self.store.as_deref()
    }

    /// The store, for a tool that cannot do without.
    ///
    /// # Errors
    /// There is none.
    pub fn needed_store(&self) -> Result<&Path, Failure> {
        self.store().ok_or_else(|| {
            Failure::new(
                "the server has no store: start it with `restartlint mcp --store FILE`, or set `store` in the \
                 configuration and reconnect",
            )
        })
    }

    /// The project as it is configured now.
    ///
    /// # Errors
    /// A configuration that cannot be read.
    pub fn project(&self) -> Result<Project, Failure> {
        Project::open(&self.cli, &[])
    }
}
