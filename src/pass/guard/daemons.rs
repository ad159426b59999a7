//! What is known of the daemons: their names, their processes, the paths that forbid hitting them.

use std::collections::BTreeMap;

use crate::data::commands::CommandCatalogue;
use crate::data::inventory::CommandPattern;

/// How many bytes of a process's name the kernel keeps.
pub(super) const KERNEL_NAME: usize = 15;

/// A process that the system showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProcess {
    /// Its name as the kernel keeps it.
    pub name: String,
    /// Its command line, words joined by blanks; empty where it cannot be read.
    pub line: String,
    /// It runs a daemon's program.
    pub daemon: bool,
    /// It is this process, or one that started it.
    pub ancestor: bool,
}

/// A path of the inventory that forbids hitting a daemon.
#[derive(Debug, Clone)]
pub struct Forbidden {
    /// Its id.
    pub id: String,
    /// The commands that it names.
    pub commands: Vec<CommandPattern>,
    /// The process names that it names.
    pub processes: Vec<String>,
}

/// All that the guard knows of daemons.
#[derive(Debug, Clone, Default)]
pub struct Daemons {
    /// File and program names, such as `mcp_server.py`.
    pub(super) names: Vec<String>,
    /// The files of the daemon modules, by their paths from the root.
    pub modules: Vec<String>,
    /// Interpreters under which an unsuffixed name may run.
    interpreters: Vec<String>,
    /// Pids of running rows of the runtime registry, with the runtime's id.
    pub registered: BTreeMap<i64, String>,
    /// Processes by pid, where the table was read.
    pub processes: BTreeMap<i64, KnownProcess>,
    /// Paths that forbid hitting a daemon.
    pub forbidden: Vec<Forbidden>,
}

impl Daemons {
    /// Daemons of these names, with no evidence of processes.
    pub fn named<S: Into<String>>(
        names: impl IntoIterator<Item = S>,
        catalogue: &CommandCatalogue,
    ) -> Daemons {
        let mut names: Vec<String> =
            names.into_iter().map(Into::into).filter(|n| !n.trim().is_empty()).collect();
        names.sort();
        names.dedup();
        Daemons { names, interpreters: catalogue.broad.clone(), ..Daemons::default() }
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether any daemon is known by name.
    pub fn is_known(&self) -> bool {
        !self.names.is_empty()
    }

    /// The interpreters that a daemon of that name may run under.
    pub(super) fn interpreters(&self, name: &str) -> Vec<&str> {
        let extension = base(name).rsplit_once('.').map_or("", |(_, e)| e);
        let of = |wanted: &'static [&'static str]| wanted.to_vec();
        match extension {
            "py" | "pyz" => of(&["python", "python3", "python2", "pypy", "pypy3", "uv", "py", "pythonw"]),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => {
                of(&["node", "nodejs", "deno", "bun", "tsx", "ts-node", "npx"])
            }
            "rb" => of(&["ruby"]),
            "pl" => of(&["perl"]),
            "jar" => of(&["java"]),
            "php" => of(&["php"]),
            "sh" | "bash" | "zsh" => of(&["sh", "bash", "zsh", "dash"]),
            "exe" => Vec::new(),
            _ => self.interpreters.iter().map(String::as_str).collect(),
        }
    }
}

/// The last path component.
pub(super) fn base(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// A name without its suffix.
pub(super) fn stem(name: &str) -> &str {
    let name = base(name);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.chars().all(char::is_alphanumeric) => stem,
        _ => name,
    }
}

/// What the kernel keeps of a name.
pub(super) fn kernel_name(name: &str) -> &str {
    let mut end = name.len().min(KERNEL_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or(name)
}
