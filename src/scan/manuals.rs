//! Manuals: a document that shows how to use the very program that its package provides
//! describes the product, and tells no one to end a daemon.
//!
//! Knows which programs a manifest names, and what agents read as their instructions.

#![allow(clippy::disallowed_methods)] // The pipeline opens manifests, listed or not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::packages;
use crate::base::effect::Effect;
use crate::base::facts::{FileFacts, Language};
use crate::base::site::Site;
use crate::graph::link::{join, parent};

/// Documents that tell an agent what to do, by the first part of their names.
const INSTRUCTIONS: &[&str] = &[
    "agent",
    "agents",
    "claude",
    "gemini",
    "qwen",
    "crush",
    "warp",
    "conventions",
    "skill",
    "copilot-instructions",
];
/// The second part of such a name: `review.prompt.md`.
const KINDS: &[&str] = &["instructions", "prompt", "agent", "chatmode", "mode"];
/// Folders of such documents.
const FOLDERS: &[&str] = &["agents", "skills", "prompts", "rules", "instructions"];
/// Catalogued programs that packages provide. What a system provides (`pkill`, `systemctl`, `sudo`) is nobody's
/// own, whatever a manifest says.
const PACKAGED: &[&str] = &[
    "adev",
    "cargo-watch",
    "circusctl",
    "concurrently",
    "cross-env",
    "cross-env-shell",
    "daphne",
    "dotenv",
    "dotenvx",
    "fastapi",
    "fkill",
    "fkill-cli",
    "flask",
    "granian",
    "gunicorn",
    "hupper",
    "hypercorn",
    "hyperfine",
    "kill-port",
    "killport",
    "litestar",
    "node-dev",
    "nodemon",
    "pm2",
    "quart",
    "sanic",
    "supervisorctl",
    "tree-kill",
    "ts-node",
    "ts-node-dev",
    "tsnd",
    "tsx",
    "uvicorn",
    "watchexec",
    "watchfiles",
    "watchmedo",
];

/// Takes the sites out that only show the use of a package's own program, in the documents
/// that lie in the package. Manifests are looked up on the disk, so that a run over one
/// document says what a run over the project says.
pub(super) fn leave_out(files: &mut [FileFacts], root: &Path) {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for facts in files.iter_mut() {
        if facts.language != Language::Document || facts.sites.is_empty() || instructs(&facts.path) {
            continue;
        }
        let folders: Vec<String> = folders(&facts.path).map(str::to_owned).collect();
        for folder in &folders {
            known.entry(folder.clone()).or_insert_with(|| programs(root, folder));
        }
        facts
            .sites
            .retain(|site| !folders.iter().filter_map(|f| known.get(f)).any(|programs| uses(site, programs)));
    }
}

/// The folders that a file lies in, the nearest first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(parent(path)), |folder| (!folder.is_empty()).then(|| parent(folder)))
}

/// Whether an agent obeys the document: it is no manual, whatever package it lies in.
fn instructs(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path).to_ascii_lowercase();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let mut words = stem.split(['.', '_']);
    extension == "mdc"
        || words.next().is_some_and(|first| INSTRUCTIONS.contains(&first))
        || words.next_back().is_some_and(|last| KINDS.contains(&last))
        || parts.any(|folder| {
            folder.starts_with('.') || FOLDERS.iter().any(|known| known.eq_ignore_ascii_case(folder))
        })
}

/// Whether a command line is a use of one of these programs: it runs it, or it is a watcher that it runs. What
/// ends a process is no less that command for being run by another.
fn uses(site: &Site, programs: &BTreeSet<String>) -> bool {
    if programs.is_empty() {
        return false;
    }
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let first = site.command.first().map(|word| base(word));
    // `cargo watch` is the program `cargo-watch`.
    let second = first.as_ref().zip(site.command.get(1)).map(|(program, verb)| format!("{program}-{verb}"));
    let by = site.nested_in.iter().filter_map(|by| by.split_whitespace().next()).map(base);
    let by = by.filter(|_| site.effect == Effect::Reload);
    first
        .into_iter()
        .chain(second)
        .chain(by)
        .any(|program| programs.contains(&program) && PACKAGED.contains(&program.as_str()))
}

/// The programs that the manifests of a folder name.
fn programs(root: &Path, folder: &str) -> BTreeSet<String> {
    let at = |name: &str| root.join(join(folder, name));
    let text = |name: &str| {
        let file = at(name);
        let small = std::fs::metadata(&file).is_ok_and(|m| m.is_file() && m.len() <= packages::LONGEST);
        small.then(|| std::fs::read_to_string(file).ok()).flatten()
    };
    let mut found = BTreeSet::new();
    found.extend(text("package.json").map(|t| of_package(&t)).unwrap_or_default());
    found.extend(text("pyproject.toml").map(|t| of_project(&t)).unwrap_or_default());
    let default = || at("src/main.rs").is_file();
    found.extend(text("Cargo.toml").map(|t| of_crate(&t, default)).unwrap_or_default());
    found
}

/// `bin` of a `package.json`.
fn of_package(text: &str) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    match manifest.get("bin") {
        Some(serde_json::Value::Object(named)) => named.keys().cloned().collect(),
        Some(serde_json::Value::String(_)) => {
            let name = manifest.get("name").and_then(|n| n.as_str());
            name.and_then(|n| n.rsplit('/').next()).map(str::to_owned).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The scripts of a `pyproject.toml`.
fn of_project(text: &str) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml::Table>() else { return Vec::new() };
    let project = manifest.get("project").and_then(|p| p.get("scripts"));
    let poetry = manifest.get("tool").and_then(|t| t.get("poetry")).and_then(|p| p.get("scripts"));
    let tables = [project, poetry].into_iter().flatten().filter_map(|t| t.as_table());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

/// The programs of a `Cargo.toml`; `default` tells whether the package's own source is one.
fn of_crate(text: &str, default: impl Fn() -> bool) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml::Table>() else { return Vec::new() };
    let name = |table: &toml::Value| table.get("name").and_then(|n| n.as_str()).map(str::to_owned);
    let mut found: Vec<String> =
        manifest.get("bin").and_then(|b| b.as_array()).into_iter().flatten().filter_map(name).collect();
    found.extend(manifest.get("package").and_then(name).filter(|_| default()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::source::Source;
    use crate::data::commands::CommandCatalogue;

    fn left(path: &str, text: &str, manifest: (&str, &str)) -> usize {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(manifest.0), manifest.1).unwrap();
        let source = Source::new(text);
        let mut files = [crate::lang::document::facts(path, &source, &CommandCatalogue::built_in())];
        leave_out(&mut files, folder.path());
        files[0].sites.len()
    }

    #[test]
    fn a_manual_shows_how_to_use_its_own_program() {
        let text = "```sh\n$ kill-port 8080\n$ npx kill-port 8080\n```\n\nRun `npx kill-port 1`.\n";
        let bin = ("package.json", r#"{"name": "kill-port", "bin": "cli.js"}"#);
        assert_eq!(left("README.md", text, bin), 0);
        assert_eq!(left("docs/use.md", text, bin), 0);
        let scoped = ("package.json", r#"{"name": "@a/x", "bin": {"kill-port": "cli.js"}}"#);
        assert_eq!(left("README.md", text, scoped), 0);
        // Of another package, and in a document that an agent obeys.
        assert_eq!(left("README.md", text, ("package.json", r#"{"name": "app"}"#)), 3);
        for path in ["AGENTS.md", "docs/CLAUDE.md", ".claude/skills/a/SKILL.md", "rules/a.mdc"] {
            assert_eq!(left(path, text, bin), 3, "{path}");
        }
    }

    #[test]
    fn a_manifest_hides_no_kill() {
        let text = "```sh\npkill -f mcp_server.py\nsystemctl restart x\nconcurrently 'pkill -f y'\n```\n";
        let bin =
            r#"{"name": "pkill", "bin": {"pkill": "a", "systemctl": "b", "concurrently": "c", "sh": "d"}}"#;
        let all = left("README.md", text, ("package.json", "{}"));
        assert_eq!(left("README.md", text, ("package.json", bin)), all);
        let text = "```sh\nfkill x\n```\n";
        let bin = ("package.json", r#"{"bin": {"fkill": "a"}}"#);
        assert_eq!(left("README.md", text, bin), 0);
        for path in
            ["AGENTS.local.md", "CLAUDE.local.md", "agents/a.md", "a/Skills/b/notes.md", "a.prompt.md"]
        {
            assert_eq!(left(path, text, bin), 1, "{path}");
        }
    }

    #[test]
    fn what_its_program_runs_belongs_to_the_example() {
        let text = "```sh\nconcurrently nodemon \"echo x\"\npkill -f mcp_server.py\n```\n";
        assert_eq!(left("README.md", text, ("package.json", r#"{"bin": {"concurrently": "a.js"}}"#)), 1);
        assert_eq!(left("README.md", text, ("package.json", "{}")), 2);
        let text = "```sh\ncargo watch -x run\n```\n";
        assert_eq!(left("README.md", text, ("Cargo.toml", "[[bin]]\nname = \"cargo-watch\"\n")), 0);
        assert_eq!(left("README.md", text, ("Cargo.toml", "[package]\nname = \"cargo-watch\"\n")), 1);
        let text = "```sh\nkill-port 1\n```\n";
        assert_eq!(
            left("README.md", text, ("pyproject.toml", "[project.scripts]\nkill-port = \"a:b\"\n")),
            0
        );
        assert_eq!(left("README.md", text, ("pyproject.toml", "not toml")), 1);
    }
}
