//! The JSON Schemas in `docs/schemas/` are those of the types. To write them anew:
//! `UPDATE_SCHEMAS=1 cargo test --test schemas`.

#![cfg(feature = "mcp")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use restartlint::face::{doctor, mcp};
use restartlint::pass::{drain, fleet, guard, impact, lease, marker, parity};
use restartlint::render;
use schemars::{JsonSchema, Schema, schema_for};

/// A file's name, and the type that it comes from.
type Shape = (&'static str, fn() -> Schema);

/// The shape of an answer: every member is always there.
fn given<T: JsonSchema>() -> Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

/// Every published shape.
const SCHEMAS: &[Shape] = &[
    ("check-report", given::<render::json::WireReport<'static>>),
    ("doctor-report", given::<doctor::DoctorReport>),
    ("drain-proof", || schema_for!(drain::Proof)),
    ("drain-verification", given::<drain::Verification>),
    ("fleet-report", || schema_for!(fleet::FleetReport)),
    ("fleet-row", || schema_for!(fleet::RuntimeRow)),
    ("guard-clear", || schema_for!(marker::Cleared)),
    ("guard-command", given::<guard::GuardReport>),
    ("guard-record", || schema_for!(marker::Recorded)),
    ("guard-status", || schema_for!(marker::MarkerStatus)),
    ("impact-report", given::<impact::Report>),
    ("lease-active", given::<lease::ActiveLease>),
    ("lease-assessment", given::<lease::Assessment>),
    ("parity-report", || schema_for!(parity::ParityReport)),
    ("reach", given::<render::reach::WireReach<'static>>),
    ("restart-attempt", given::<mcp::Attempt>),
    ("restart-paths", given::<mcp::PathList>),
    ("restart-request", || schema_for!(impact::Request)),
    ("sites", given::<render::sites::WireSites<'static>>),
    ("snapshot", || schema_for!(impact::Snapshot)),
];

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for (name, schema) in SCHEMAS {
        let file = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if update {
            fs::write(&file, &text).unwrap();
        }
        let published = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(published, text, "{} is behind its type", file.display());
    }
    let found: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> = SCHEMAS.iter().map(|(name, _)| format!("{name}.json")).collect();
    assert_eq!(found, expected, "no schema without a type, no type without a schema");
}
