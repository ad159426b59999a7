//! `assess_parity` and `assess_fleet_inventory`: what the server itself observes of
//! revisions and processes. A caller has nothing to add to it.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::table::{Answer, Nothing, Tool, arguments, input, output, report};
use super::world::World;
use crate::face::Failure;
use crate::face::fleet::observed;
use crate::face::parity::{compared, registered};
use crate::pass::fleet::FleetReport;
use crate::pass::parity::ParityReport;

pub(super) const ASSESS_PARITY: Tool = Tool {
    name: "assess_parity",
    title: "Assess whether the running revision is the checkout's",
    description: "Is the revision that a server started from still the checkout's? Without `runtime_id` this is asked \
        of the answering server itself. If `mutations_blocked`, change nothing through that server; nothing is ever \
        restarted for it.",
    read_only: true,
    alone: false,
    input: input::<Asked>,
    output: output::<ParityReport>,
    run: parity,
};

pub(super) const ASSESS_FLEET_INVENTORY: Tool = Tool {
    name: "assess_fleet_inventory",
    title: "Assess which servers really run",
    description: "Compares the configured roster with the runtime registry and with the processes that really run on \
        this machine. Takes no parameters: the server looks itself.",
    read_only: true,
    alone: false,
    input: input::<Nothing>,
    output: output::<FleetReport>,
    run: fleet,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// A registered server; the answering one if not given.
    #[serde(default)]
    runtime_id: Option<String>,
}

fn parity(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Asked { runtime_id } = arguments(given)?;
    let Some(runtime) = runtime_id else {
        return report(&compared(world.startup_head.as_deref(), &world.root));
    };
    let (head, checkout) = registered(&runtime, world.needed_store()?)?;
    report(&compared(head.as_deref(), checkout.as_deref().unwrap_or(&world.root)))
}

fn fleet(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let Nothing {} = arguments(given)?;
    report(&observed(&world.project()?, world.needed_store()?))
}
