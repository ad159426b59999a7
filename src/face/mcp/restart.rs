//! `request_restart`: what a restart would break and whether it is authorised.
//!
//! The state is what the server observes, approvals are records of the store, authority
//! is the environment that the server was started with. A caller expresses intent alone,
//! so an apply can pass the drain gate only by the operator's break-glass: a proof is
//! presented on the command line. Nothing is restarted in any case.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::table::{Answer, Tool, arguments, input, output, report};
use super::world::World;
use crate::base::json;
use crate::edge::store::{OpenMode, Store};
use crate::face::Failure;
use crate::face::impact::decide;
use crate::face::question::Asked;
use crate::pass::authority::AuthoritySource;
use crate::pass::impact::request::Requester;
use crate::pass::impact::{Report, Request};

pub(super) const REQUEST_RESTART: Tool = Tool {
    name: "request_restart",
    title: "Request a restart",
    description: "Says what a restart would break, who would have to approve it, and whether it is authorised. A dry run \
        unless `dry_run` is false. It never restarts anything: `apply_supported` and `restart_performed` are always \
        false. Approvals, authority and drain proofs cannot be passed in.",
    read_only: false,
    alone: false,
    input: input::<Wish>,
    output: output::<Report>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// The name of a restart class, such as `client_reconnect` or `full_mcp_restart`.
    restart_class: String,
    /// Who asks: the session, and the role that it claims.
    #[serde(deserialize_with = "json::object")]
    requester: Requester,
    /// The session to restart, for a class that needs one.
    #[serde(default)]
    target_session_id: Option<String>,
    /// The role to restart, for a class that needs one.
    #[serde(default)]
    target_role: Option<String>,
    /// The connector to restart, for a class that needs one.
    #[serde(default)]
    target_connector: Option<String>,
    /// Asks that live work be overridden; does nothing without an operator's authority.
    #[serde(default)]
    request_override: bool,
    /// Asks that the drain gate be passed without a proof; does nothing without authority.
    #[serde(default)]
    request_break_glass: bool,
    /// Whether only to say what would be. False asks whether an apply would be authorised.
    #[serde(default = "yes")]
    dry_run: bool,
}

fn yes() -> bool {
    true
}

fn run(world: &World, given: JsonObject) -> Result<Answer, Failure> {
    let wish: Wish = arguments(given)?;
    let request = Request {
        restart_class: wish.restart_class,
        requester: wish.requester,
        target_session_id: wish.target_session_id,
        target_role: wish.target_role,
        target_connector: wish.target_connector,
        request_override: wish.request_override,
        request_break_glass: wish.request_break_glass,
    };
    let path = world.needed_store()?;
    let asked = Asked::observed(request, path, AuthoritySource::ServerEnvironment, &world.cli)?;
    let mut store = Store::open(path, OpenMode::Existing)?;
    let offered = (!wish.dry_run).then_some((None, None));
    report(&decide(&asked, offered, Some(&mut store))?)
}
