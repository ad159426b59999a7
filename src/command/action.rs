//! The values that command classification takes and gives.

use std::collections::BTreeMap;

use crate::base::effect::Effect;
use crate::base::site::{Confidence, Target};
use crate::base::span::Span;
use crate::base::text::Text;

/// A command as a program gives it to the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// A string that a shell parses.
    Shell(Text),
    /// A program and its arguments, no shell between.
    Argv(Vec<Text>),
}

/// What the classifier must know about the caller.
#[derive(Debug, Clone, Default)]
pub struct CommandContext {
    /// File name of the calling script, to see that `python3 server.py` starts it again.
    pub own_script: Option<String>,
    /// Dotted name of the calling module, or of the package whose own file it is, for `-m NAME`.
    pub own_module: Option<String>,
    /// Dotted names of the packages that it lies in.
    pub own_packages: Vec<String>,
    /// The text is a script of its own (an `exec` replaces the script's process), not a
    /// string given to a child shell (where it replaces that shell alone).
    pub is_script: bool,
    /// What could be read of the files and tasks that the text may run. Only the guard asks for them.
    pub scripts: BTreeMap<Runs, String>,
}

/// Something of the project that a command line runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runs {
    /// A file of shell commands, by its path as written, seen from the folder of the command line.
    File(String),
    /// A task.
    Task {
        /// The program that runs it: `make`, `npm`.
        runner: String,
        /// Its folder, seen from the folder of the command line; empty for that one.
        folder: String,
        /// Its name; empty for the default.
        name: String,
    },
}

/// One thing that a command line does to a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The effect.
    pub effect: Effect,
    /// Canonical name: `pkill`, `systemctl restart`, `docker compose down`; for a
    /// respawn the empty string (the runner's own name is the primitive).
    pub primitive: String,
    /// What it is aimed at.
    pub target: Option<Target>,
    /// The command's words after the grammar (prefixes such as `sudo` removed), `…` for free parts.
    pub words: Vec<String>,
    /// The command's place in the given string, in bytes; for argument lists empty.
    pub span: Span,
    /// Commands that it is nested in, outermost first (`sudo`, `sh -c`, `xargs`).
    pub nested_in: Vec<String>,
    /// How sure.
    pub confidence: Confidence,
    /// A script's `exec` of another program.
    pub launcher: bool,
    /// Enclosing shell function, if any.
    pub function: Option<String>,
}
