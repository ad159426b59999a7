//! `check_sources`: the linter on the served project.

use std::path::{Path, PathBuf};

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::table::{Answer, Tool, arguments, input, output, report};
use super::world::World;
use crate::face::Failure;
use crate::face::check::{CheckArgs, checked};
use crate::face::output::shown;
use crate::face::sites::{ScanArgs, incomplete};
use crate::render::json::{WireReport, wire};

pub(super) const CHECK_SOURCES: Tool = Tool {
    name: "check_sources",
    title: "Check the sources for restart paths",
    description: "Finds the code, scripts, documents and host files of this project that can restart, kill, reload or \
        replace the daemon, and holds each against the inventory. Without `paths` the whole project is checked. An \
        empty `findings` list is clean.",
    read_only: true,
    alone: true,
    input: input::<Asked>,
    output: output::<WireReport<'static>>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Files and folders of the project, relative to its root; the whole project if none is given.
    #[serde(default)]
    paths: Vec<String>,
    /// Show only these rules: codes, names, or the beginning of codes.
    #[serde(default)]
    select: Vec<String>,
    /// Do not show these rules.
    #[serde(default)]
    ignore: Vec<String>,
    /// Read only these languages.
    #[serde(default)]
    language: Vec<String>,
}

fn run(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let asked: Asked = arguments(given)?;
    let mut paths = Vec::with_capacity(asked.paths.len());
    for path in &asked.paths {
        paths.push(inside(&world.root, Path::new(path))?);
    }
    if paths.is_empty() {
        paths.push(world.root.clone());
    }
    let narrowed = !asked.paths.is_empty() || !asked.language.is_empty();
    let scan = ScanArgs { language: asked.language, ..ScanArgs::everything() };
    let checked = checked(&CheckArgs::of(paths, asked.select, asked.ignore, scan), &world.cli)?;
    match incomplete(&checked.scan) {
        Some(failure) => {
            let unread = checked.scan.unreadable.iter().map(|(path, why)| format!("{path} {why}"));
            let unread: Vec<String> = unread.collect();
            Err(Failure::new(format!("{}\n{}", unread.join("\n"), failure.text())))
        }
        None => match checked.nothing {
            // An empty list would be taken for a clean one.
            Some(why) if narrowed => Err(Failure::new(why)),
            _ => report(&wire(&checked.report)),
        },
    }
}

/// A path that lies in the root, links followed: the project is served, not the machine.
fn inside(root: &Path, path: &Path) -> Result<PathBuf, Failure> {
    let full = root.join(path);
    let real = full
        .canonicalize()
        .map_err(|error| Failure::new(format!("the path {} cannot be looked at: {error}", shown(path))))?;
    let real_root = root.canonicalize()?;
    if real.starts_with(&real_root) {
        return Ok(full);
    }
    Err(Failure::new(format!("the path {} lies outside the project that is served", shown(path))))
}
