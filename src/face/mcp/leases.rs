//! `assess_lease`: who holds a pull request, and whether a reviewer may act on it.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::table::{Answer, Tool, arguments, input, output, report};
use super::world::World;
use crate::edge::clock;
use crate::face::Failure;
use crate::pass::lease::{
    ActiveLease, Assessment, Comment, HeadPair, LeaseKind, Mutation, assess, find_active_lease,
};

pub(super) const ASSESS_LEASE: Tool = Tool {
    name: "assess_lease",
    title: "Assess the lease on a pull request",
    description: "Reads the lease markers in a pull request's comments. With `mutation`, `reviewed_head` and `live_head` it \
        says whether the reviewer's action is allowed; without them it gives the active lease of `kind`.",
    read_only: true,
    alone: false,
    input: input::<Asked>,
    output: either,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The comments of the pull request, oldest first.
    #[schemars(with = "Vec<Shape>")]
    comments: Vec<Value>,
    /// The pull request's number.
    pr: u64,
    /// Which leases to look at; `conflict_fix` if not given. Not together with `mutation`.
    #[serde(default)]
    kind: Option<LeaseKind>,
    /// What the reviewer is about to do.
    #[serde(default)]
    mutation: Option<Act>,
    /// The full hash of the head that was reviewed; with `mutation`.
    #[serde(default)]
    reviewed_head: Option<String>,
    /// The full hash of the head that is there now; with `mutation`.
    #[serde(default)]
    live_head: Option<String>,
}

/// A comment. Other members are the forge's own.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used; the comments are read by the pass")]
struct Shape {
    /// The text.
    body: String,
}

/// A reviewer's mutation.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Act {
    /// Approve it.
    Approve,
    /// Request changes of it.
    RequestChanges,
    /// Merge it.
    Merge,
}

fn run(_: &World, given: JsonObject) -> Result<Answer, Failure> {
    let asked: Asked = arguments(given)?;
    let comments = Comment::list_from_json(&Value::Array(asked.comments).to_string())
        .map_err(|fault| Failure::new(format!("the comments cannot be read: {}", fault.message)))?;
    let now = clock::now();
    match (asked.mutation, &asked.reviewed_head, &asked.live_head) {
        (None, None, None) => {
            let kind = asked.kind.unwrap_or(LeaseKind::ConflictFix);
            report(&find_active_lease(&comments, kind, asked.pr, now))
        }
        (Some(act), Some(reviewed), Some(live)) if asked.kind.is_none() => {
            let mutation = match act {
                Act::Approve => Mutation::Approve,
                Act::RequestChanges => Mutation::RequestChanges,
                Act::Merge => Mutation::Merge,
            };
            report(&assess(&comments, asked.pr, mutation, HeadPair { reviewed, live }, now))
        }
        _ => Err(Failure::new(
            "give `mutation`, `reviewed_head` and `live_head` together to assess an action, or `kind` alone to see \
             the active lease",
        )),
    }
}

/// The shape of either answer.
fn either() -> JsonObject {
    let mut shapes = [output::<ActiveLease>(), output::<Assessment>()];
    let mut definitions = JsonObject::new();
    for shape in &mut shapes {
        if let Some(Value::Object(own)) = shape.remove("$defs") {
            definitions.extend(own);
        }
    }
    let mut both = JsonObject::new();
    both.insert("type".to_owned(), json!("object"));
    both.insert("anyOf".to_owned(), json!(shapes));
    both.insert("$defs".to_owned(), Value::Object(definitions));
    both
}
