//! The `[guard]` table: which names belong to a daemon, and which tools of an agent run
//! shell commands. Collects its faults with their places.

use super::fault::Fault;
use super::table::{At, View};

/// Tools that run a shell command, unless configured; compared without regard to case.
pub const SHELL_TOOLS: [&str; 12] = [
    "bash",
    "shell",
    "sh",
    "terminal",
    "run_terminal_cmd",
    "run_terminal_command",
    "run_shell_command",
    "execute_command",
    "run_command",
    "local_shell",
    "exec_command",
    "powershell",
];

/// `[guard]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardConfig {
    /// File and program names of the daemons, such as `mcp_server.py`.
    pub processes: Vec<String>,
    /// Tools that run a shell command.
    pub shell_tools: Vec<String>,
}

impl Default for GuardConfig {
    fn default() -> GuardConfig {
        GuardConfig {
            processes: Vec::new(),
            shell_tools: SHELL_TOOLS.iter().map(|&tool| tool.to_owned()).collect(),
        }
    }
}

impl GuardConfig {
    /// Reads the table out of the configuration's top level; without one the defaults hold.
    pub fn read(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> GuardConfig {
        let mut config = GuardConfig::default();
        let Some(table) = view.table("guard", "[guard]", faults) else { return config };
        table.refuse_unknown(&["processes", "shell-tools"], faults);
        config.processes = names("processes", table.texts("processes", faults), faults);
        if table.get("shell-tools").is_some() {
            config.shell_tools = names("shell-tools", table.texts("shell-tools", faults), faults);
        }
        config
    }
}

fn names(key: &str, found: Vec<At<String>>, faults: &mut Vec<Fault>) -> Vec<String> {
    let mut names = Vec::new();
    for name in found {
        if name.value.trim().is_empty() {
            let message = format!("an entry of `{key}` is blank and can never match");
            faults.push(Fault::new(name.span, message, "here"));
        } else {
            names.push(name.value);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::config::{Config, Host};

    #[test]
    fn names_and_tools_are_read() {
        let text = "[guard]\nprocesses = [\"mcp_server.py\", \"gitea-mcp\"]\n";
        let guard = Config::read("restartlint.toml", text, Host::Own).unwrap().unwrap().guard;
        assert_eq!(guard.processes, ["mcp_server.py", "gitea-mcp"]);
        assert!(guard.shell_tools.iter().any(|tool| tool == "bash"));
    }

    #[test]
    fn a_blank_name_and_an_unknown_key_are_faults() {
        let text = "[guard]\nprocesses = [\" \"]\nproceses = []\nshell-tools = 3\n";
        let faults = Config::read("restartlint.toml", text, Host::Own).unwrap_err();
        assert_eq!(faults.faults.len(), 3, "{faults:#?}");
    }
}
