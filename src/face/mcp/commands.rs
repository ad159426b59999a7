//! `assess_command` and `record_kill_attempt`: the guard, and the durable marker.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::table::{Answer, Tool, arguments, input, output, report};
use super::world::World;
use crate::face::Failure;
use crate::face::guard::judge::judge;
use crate::face::guard::marker::{Said, recorded};
use crate::pass::guard::GuardReport;
use crate::pass::marker::Recorded;

pub(super) const ASSESS_COMMAND: Tool = Tool {
    name: "assess_command",
    title: "Assess a shell command",
    description: "Does this shell command kill, stop or restart a daemon? Nothing is run. Run the command only if \
        `verdict` is `clean`; `contaminating` and `undetermined` are denials.",
    read_only: true,
    alone: false,
    input: input::<Asked>,
    output: output::<GuardReport>,
    run: assess,
};

pub(super) const RECORD_KILL_ATTEMPT: Tool = Tool {
    name: "record_kill_attempt",
    title: "Record a kill attempt",
    description: "Records durably that a command that may have hit a daemon was run. An open marker denies every \
        restart that ends a process, until an operator clears it; no tool can clear it.",
    read_only: false,
    alone: false,
    input: input::<Attempted>,
    output: output::<Recorded>,
    run: record,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The command, as a shell would get it.
    command: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Attempted {
    /// The command that was run.
    command: String,
    /// The session that ran it.
    session_id: String,
}

fn assess(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Asked { command } = arguments(given)?;
    report(&judge(&command, &world.project()?, world.store())?)
}

fn record(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Attempted { command, session_id } = arguments(given)?;
    let said = Said::of(&command, &session_id)?;
    report(&recorded(said, world.needed_store()?, &world.cli)?)
}
