//! Floor 3: the rules. Each is a plain function of [`Ctx`]; this table points at them
//! and nothing points back.

pub mod annotation;
pub mod contradiction;
pub mod ctx;
pub mod daemon;
pub mod document;
pub mod entries;
pub mod ids;
pub mod imports;
pub mod judge;
pub mod misspelt;
pub mod registered;
pub mod removed;
pub mod source;
pub mod target;
pub mod undecidable;
pub mod words;

pub use ctx::{Ctx, Document, Inputs, Presence};

use crate::base::finding::Finding;

/// A rule, or a family of them.
pub type Check = fn(&Ctx<'_>) -> Vec<Finding>;

/// Every rule with the codes that it gives.
pub const TABLE: &[(&[&str], Check)] = &[
    (&["RL101", "RL102", "RL103", "RL104", "RL105", "RL106", "RL107", "RL108"], daemon::run),
    (&["RL201"], removed::run),
    (&["RL301"], registered::unregistered),
    (&["RL302"], ids::run),
    (&["RL303"], registered::forbidden),
    (&["RL304"], registered::unguarded),
    (&["RL305"], entries::stale),
    (&["RL306"], entries::daemon_sanctioned),
    (&["RL307"], document::run),
    (&["RL308"], entries::unclassified),
    (&["RL309"], source::unbounded),
    (&["RL401"], source::unreadable),
    (&["RL402"], source::conflicts),
    (&["RL403"], annotation::unused),
    (&["RL404"], annotation::without_reason),
    (&["RL405"], undecidable::run),
];

/// Every finding that a rule proposes.
pub fn run(ctx: &Ctx<'_>) -> Vec<Finding> {
    TABLE.iter().flat_map(|(_, check)| check(ctx)).collect()
}
