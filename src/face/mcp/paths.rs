//! `list_restart_paths` and `assert_restart_attempt`: the inventory's entries, and whether
//! an attempt names one. Registered is not permitted.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{Answer, Nothing, Tool, arguments, input, output, report};
use super::world::World;
use crate::data::inventory::RestartPath;
use crate::data::suggest;
use crate::face::Failure;
use crate::face::inventory::{find, open};

pub(super) const LIST_RESTART_PATHS: Tool = Tool {
    name: "list_restart_paths",
    title: "List the registered restart paths",
    description: "Lists every restart path that the project's inventory registers, with its classification: which are \
        sanctioned, which are forbidden or removed, and what only the host does.",
    read_only: true,
    input: input::<Nothing>,
    output: output::<PathList>,
    run: list,
};

pub(super) const ASSERT_RESTART_ATTEMPT: Tool = Tool {
    name: "assert_restart_attempt",
    title: "Hold a restart attempt against the inventory",
    description: "A restart attempt must name a registered path. Says whether `path_id` is registered and whether it \
        permits anything: `permitted` is true only for a sanctioned path, and then only if its guard holds. An unknown \
        id is refused, with the nearest ones.",
    read_only: true,
    input: input::<Named>,
    output: output::<Attempt>,
    run: assert,
};

/// The registered paths.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PathList {
    /// The inventory's file, relative to the project's root.
    pub inventory: String,
    /// The paths, in the file's order.
    pub paths: Vec<PathEntry>,
}

/// A registered path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PathEntry {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its classification.
    pub classification: String,
    /// What the classification means.
    pub meaning: String,
    /// How it restarts.
    pub mechanism: String,
    /// What keeps it safe.
    pub guard: String,
    /// Where it is.
    pub locations: Vec<String>,
    /// The primitives that it covers.
    pub primitives: Vec<String>,
    /// The commands that it covers.
    pub commands: Vec<String>,
    /// The symbols that it is about.
    pub symbols: Vec<String>,
    /// The processes that it is about.
    pub processes: Vec<String>,
    /// The calls that must stand before its sites.
    pub guarded_by: Vec<String>,
    /// Whether it may lie in the daemon's reach.
    pub daemon_exception: bool,
    /// Where to read on.
    pub references: Vec<String>,
}

/// What an attempt's path id is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Attempt {
    /// The id that was named.
    pub path_id: String,
    /// Whether the inventory has it.
    pub registered: bool,
    /// Whether it is sanctioned. Registered alone permits nothing.
    pub permitted: bool,
    /// Its entry.
    pub path: Option<PathEntry>,
    /// The registered ids that are nearest to an unknown one.
    pub nearest: Vec<String>,
    /// The verdict in a sentence.
    pub reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The id of the registered path that the attempt would take.
    path_id: String,
}

fn list(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Nothing {} = arguments(given)?;
    let (_, inventory) = open(&world.cli, &None)?;
    report(&PathList {
        paths: inventory.paths.iter().map(PathEntry::from).collect(),
        inventory: inventory.file,
    })
}

fn assert(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Named { path_id } = arguments(given)?;
    let (_, inventory) = open(&world.cli, &None)?;
    match find(&inventory, &path_id) {
        Ok(path) => {
            let permitted = path.classification.value.sanctions();
            let verdict = if permitted { "sanctioned, if its guard holds" } else { "permits nothing" };
            report(&Attempt {
                registered: true,
                permitted,
                path: Some(path.into()),
                nearest: Vec::new(),
                reason: format!(
                    "`{path_id}` is registered and {verdict}. Registered is not permitted: forbidden and removed paths \
                     are registered too"
                ),
                path_id,
            })
        }
        Err(why) => {
            let nearest = suggest::ranked(&path_id, inventory.ids()).into_iter().map(str::to_owned).collect();
            let refused = Attempt {
                registered: false,
                permitted: false,
                path: None,
                nearest,
                reason: format!("{why}. A restart attempt must name a registered path"),
                path_id,
            };
            match report(&refused)? {
                Answer::Report(value) | Answer::Refused(value) => Ok(Answer::Refused(value)),
            }
        }
    }
}

impl From<&RestartPath> for PathEntry {
    fn from(path: &RestartPath) -> PathEntry {
        let classification = path.classification.value;
        PathEntry {
            id: path.id.value.clone(),
            title: path.title.clone(),
            classification: classification.name().to_owned(),
            meaning: classification.meaning().to_owned(),
            mechanism: path.mechanism.clone(),
            guard: path.guard.clone(),
            locations: path.locations.iter().map(|l| l.value.display()).collect(),
            primitives: path.primitives.iter().map(|p| p.value.text.clone()).collect(),
            commands: path.commands.iter().map(|c| c.value.text.clone()).collect(),
            symbols: path.symbols.iter().map(|s| s.value.clone()).collect(),
            processes: path.processes.iter().map(|p| p.value.clone()).collect(),
            guarded_by: path.guarded_by.iter().map(|g| g.value.clone()).collect(),
            daemon_exception: path.daemon_exception,
            references: path.references.clone(),
        }
    }
}
