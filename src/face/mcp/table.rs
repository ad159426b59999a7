//! The tools as a table of plain functions, and what they have in common.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::world::World;
use super::{commands, evidence, leases, paths, restart, sources};
use crate::face::Failure;

/// A tool.
pub(super) struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it is for, written for the agent that chooses among tools.
    pub description: &'static str,
    /// Whether it leaves everything as it was. None ever destroys anything.
    pub read_only: bool,
    /// Whether it scans the project, so that no other call runs beside it.
    pub alone: bool,
    /// The shape of its arguments.
    pub input: fn() -> JsonObject,
    /// The shape of its answer.
    pub output: fn() -> JsonObject,
    /// Answers a call.
    pub run: Run,
}

/// What answers a call.
pub(super) type Run = fn(&World, JsonObject) -> Result<Answer, Failure>;

/// The answer to a call that could be worked on.
#[derive(Debug)]
pub(super) enum Answer {
    /// A report. A denial is a report too.
    Report(Value),
    /// The call itself is refused, with the reason in the same shape.
    Refused(Value),
}

/// Every tool, in the order in which they are listed.
pub(super) const TABLE: [&Tool; 9] = [
    &sources::CHECK_SOURCES,
    &paths::LIST_RESTART_PATHS,
    &paths::ASSERT_RESTART_ATTEMPT,
    &commands::ASSESS_COMMAND,
    &commands::RECORD_KILL_ATTEMPT,
    &evidence::ASSESS_PARITY,
    &evidence::ASSESS_FLEET_INVENTORY,
    &restart::REQUEST_RESTART,
    &leases::ASSESS_LEASE,
];

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TABLE.into_iter().find(|tool| tool.name == name)
}

/// The arguments of a tool that takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Reads the arguments.
///
/// # Errors
/// A wrong type, a missing argument, or one that the tool does not have.
pub(super) fn arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(given)).map_err(|error| {
        Failure::new(format!("the arguments are not those of this tool: {error}; nothing was done"))
    })
}

/// A report as the answer.
///
/// # Errors
/// A report that is no JSON, which is a fault of this program.
pub(super) fn report(value: &impl Serialize) -> Result<Answer, Failure> {
    let value = serde_json::to_value(value)
        .map_err(|error| Failure::new(format!("the answer cannot be written as JSON: {error}")))?;
    Ok(Answer::Report(value))
}

/// The schema of a tool's arguments.
pub(super) fn input<T: JsonSchema>() -> JsonObject {
    object(SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>())
}

/// The schema of an answer: every member is always there.
pub(super) fn output<T: JsonSchema>() -> JsonObject {
    object(SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>())
}

/// A schema as the protocol carries it. Its dialect is the protocol's, and number formats
/// such as `uint64`, which no validator must know, go; the bounds beside them stay.
fn object(schema: Schema) -> JsonObject {
    let mut value = schema.to_value();
    let mut left = vec![&mut value];
    while let Some(part) = left.pop() {
        match part {
            Value::Object(members) => {
                if members.get("format").is_some_and(Value::is_string) {
                    members.remove("format");
                }
                left.extend(members.values_mut());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    let mut members = match value {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    };
    members.remove("$schema");
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a caller could use to speak for an operator, if a tool had it.
    const FORBIDDEN: [&str; 9] =
        ["author", "approv", "evidence", "proof", "key", "now", "snapshot", "process", "env"];

    #[test]
    fn no_parameter_can_express_authority_evidence_or_approval() {
        for tool in TABLE {
            let input = (tool.input)();
            let names = input.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            for name in names.keys() {
                assert!(!FORBIDDEN.iter().any(|word| name.contains(word)), "{}: {name}", tool.name);
            }
            assert_eq!(input.get("additionalProperties"), Some(&Value::Bool(false)), "{}", tool.name);
            assert_eq!(input.get("type"), Some(&"object".into()), "{}", tool.name);
            assert_eq!((tool.output)().get("type"), Some(&"object".into()), "{}", tool.name);
        }
        let fleet = (evidence::ASSESS_FLEET_INVENTORY.input)();
        assert!(fleet.get("properties").is_none_or(|p| p.as_object().is_some_and(|p| p.is_empty())));
    }
}
