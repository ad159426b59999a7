//! Whether a kill or a supervise action is aimed at a daemon: at its name, at a part of
//! it, or so broadly that it hits it too. Pure; what is configured comes in.

use regex::Regex;

use crate::base::facts::Tree;
use crate::base::site::{Target, TargetKind};
use crate::data::commands::CommandCatalogue;
use crate::data::config::Config;
use crate::data::inventory::Inventory;
use crate::data::programs::started_as;

/// The daemons that a project names.
#[derive(Debug, Default)]
pub struct Daemons {
    /// Process names and command lines that a pattern may hit.
    names: Vec<String>,
    /// What stands in command lines that start the daemon modules.
    started_as: Vec<String>,
    /// Interpreters: a kill of all of them hits a daemon that runs in one.
    broad: Vec<String>,
}

impl Daemons {
    /// The daemon modules of the tree, `[guard] processes`, and the inventory's `processes`.
    pub fn of(tree: &Tree, config: &Config, inventory: Option<&Inventory>) -> Daemons {
        let mut names = Vec::new();
        for daemon in &tree.daemons {
            let file = daemon.path.rsplit('/').next().unwrap_or(&daemon.path);
            names.push(file.to_owned());
            // A part of a wildcard is no name.
            if let Some((stem, _)) = file.rsplit_once('.') {
                names.push(stem.to_owned());
            }
        }
        names.extend(config.guard.processes.iter().cloned());
        names.extend(
            inventory.into_iter().flat_map(|i| &i.paths).flat_map(|p| &p.processes).map(|p| p.value.clone()),
        );
        names.retain(|n| !n.trim().is_empty() && !n.contains('*'));
        names.sort();
        names.dedup();
        let modules = tree.daemons.iter().filter(|daemon| !daemon.path.contains('*'));
        let started_as = modules.flat_map(|daemon| started_as(&daemon.path)).collect();
        Daemons { names, started_as, broad: CommandCatalogue::shared().broad.clone() }
    }

    /// Whether the target is a daemon, a part of one's name, or broad enough to hit one.
    pub fn hit_by(&self, target: Option<&Target>) -> bool {
        let Some(target) = target else { return false };
        let text = target.text.trim();
        match target.kind {
            TargetKind::All => true,
            TargetKind::Pid | TargetKind::Port | TargetKind::Variable | TargetKind::Own => false,
            TargetKind::Name | TargetKind::Unit => self.named(text) || self.is_broad(text),
            TargetKind::Pattern => text.is_empty() || self.is_broad(text) || self.pattern(text),
        }
    }

    fn named(&self, text: &str) -> bool {
        let plain = text.rsplit('/').next().unwrap_or(text);
        let plain = plain.strip_suffix(".service").unwrap_or(plain);
        let fold = |name: &str| name.replace('_', "-").to_lowercase();
        self.names.iter().any(|name| fold(name) == fold(plain))
    }

    fn pattern(&self, text: &str) -> bool {
        if self.names.iter().any(|name| name.contains(text) || (text.contains(name) && name.len() > 3)) {
            return true;
        }
        let Ok(regex) = Regex::new(text) else { return false };
        if self.started_as.iter().any(|line| regex.is_match(line)) {
            return true;
        }
        self.names.iter().any(|name| {
            regex.is_match(name)
                || self.broad.iter().any(|interpreter| regex.is_match(&format!("{interpreter} {name}")))
        })
    }

    /// An interpreter's name, with a version or a path.
    fn is_broad(&self, text: &str) -> bool {
        let name = text.rsplit('/').next().unwrap_or(text).trim_start_matches('^').trim_end_matches('$');
        let name = name.trim_end_matches(['*', '.']);
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        name.is_empty() || self.broad.iter().any(|b| b == name || b == plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(kind: TargetKind, text: &str) -> bool {
        let daemons = Daemons {
            started_as: started_as("src/notes/mcp_server.py"),
            names: vec!["mcp_server.py".into(), "mcp_server".into(), "gitea-mcp".into()],
            broad: CommandCatalogue::built_in().broad,
        };
        daemons.hit_by(Some(&Target { kind, text: text.into() }))
    }

    #[test]
    fn names_parts_and_broad_patterns_hit() {
        for text in [
            "mcp_server.py",
            "mcp_server",
            "mcp",
            "python",
            "python3",
            "python3.11",
            "node",
            ".",
            "python.*mcp_server",
            "/srv/mcp_server.py",
        ] {
            assert!(hit(TargetKind::Pattern, text), "{text}");
        }
        for text in ["vite", "mcp_client.py", "nodemon-x"] {
            assert!(!hit(TargetKind::Pattern, text), "{text}");
        }
    }

    #[test]
    fn whole_names_must_be_whole() {
        assert!(hit(TargetKind::Name, "python3") && hit(TargetKind::Name, "gitea-mcp"));
        assert!(!hit(TargetKind::Name, "mcp"));
        assert!(hit(TargetKind::Unit, "gitea-mcp.service") && hit(TargetKind::Unit, "mcp-server"));
        assert!(!hit(TargetKind::Unit, "nginx"));
        assert!(hit(TargetKind::All, "") && !hit(TargetKind::Variable, "…"));
    }
}
