//! `list_restart_paths` and `assert_restart_attempt`: the inventory's entries, and whether
//! an attempt names one. Registered is not permitted.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{Answer, Nothing, Tool, arguments, input, output, report};
use super::world::World;
use crate::face::Failure;
use crate::face::attempt::{Attempt, PathEntry};
use crate::face::inventory::open;

pub(super) const LIST_RESTART_PATHS: Tool = Tool {
    name: "list_restart_paths",
    title: "List the registered restart paths",
    description: "Lists every restart path that the project's inventory registers, with its classification: which are \
        sanctioned, which are forbidden or removed, and what only the host does.",
    read_only: true,
    alone: false,
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
    alone: false,
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The id of the registered path that the attempt would take.
    path_id: String,
}

fn list(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Nothing {} = arguments(given)?;
    let (_, inventory) = open(&world.cli, None)?;
    report(&PathList {
        paths: inventory.paths.iter().map(PathEntry::from).collect(),
        inventory: inventory.file,
    })
}

fn assert(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Named { path_id } = arguments(given)?;
    let (_, inventory) = open(&world.cli, None)?;
    let attempt = Attempt::of(&inventory, &path_id);
    let registered = attempt.registered;
    match report(&attempt)? {
        Answer::Report(value) if !registered => Ok(Answer::Refused(value)),
        answer => Ok(answer),
    }
}
