//! A registered path, and a restart attempt held against the inventory, as the JSON that the
//! command and the MCP tools give. Registered is not permitted.

use schemars::JsonSchema;
use serde::Serialize;

use super::inventory::find;
use crate::data::inventory::{Inventory, RestartPath};
use crate::data::suggest;

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
    /// The names that a condition before its sites must test.
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

impl Attempt {
    /// Holds an attempt's path id against the inventory.
    pub fn of(inventory: &Inventory, path_id: &str) -> Attempt {
        let path_id = path_id.to_owned();
        match find(inventory, &path_id) {
            Ok(path) => {
                let permitted = path.classification.value.sanctions();
                let verdict = if permitted { "sanctioned, if its guard holds" } else { "permits nothing" };
                Attempt {
                    registered: true,
                    permitted,
                    path: Some(path.into()),
                    nearest: Vec::new(),
                    reason: format!(
                        "`{path_id}` is registered and {verdict}. Registered is not permitted: forbidden and removed \
                         paths are registered too"
                    ),
                    path_id,
                }
            }
            Err(why) => Attempt {
                registered: false,
                permitted: false,
                path: None,
                nearest: suggest::ranked(&path_id, inventory.ids()).into_iter().map(str::to_owned).collect(),
                reason: format!("{why}. A restart attempt must name a registered path"),
                path_id,
            },
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
            meaning: path.meaning().to_owned(),
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
