//! The closed lists of words that a report answers with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the state allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing in scope would be lost.
    Safe,
    /// Something would be lost, or nobody knows.
    Unsafe,
    /// Live work, overridden with an operator's authority.
    Override,
}

impl Verdict {
    /// The name as reports show it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Override => "override",
        }
    }
}

/// How much a restart would hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlastRadius {
    /// Nobody else.
    None,
    /// One or two sessions and work items.
    Low,
    /// Three to five, or a critical section.
    Medium,
    /// Six or more, a terminal lock, or nobody knows.
    High,
}

impl BlastRadius {
    /// The name as reports show it.
    pub fn name(self) -> &'static str {
        match self {
            BlastRadius::None => "none",
            BlastRadius::Low => "low",
            BlastRadius::Medium => "medium",
            BlastRadius::High => "high",
        }
    }
}

/// What became of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// It holds.
    Active,
    /// Its time is over.
    Expired,
    /// Its holder gave it back.
    Released,
    /// Its owner's process is gone.
    DeadProcess,
    /// It cannot be decided.
    Unknown,
}

impl Freshness {
    /// The name as reports show it.
    pub fn name(self) -> &'static str {
        match self {
            Freshness::Active => "active",
            Freshness::Expired => "expired",
            Freshness::Released => "released",
            Freshness::DeadProcess => "dead_process",
            Freshness::Unknown => "unknown",
        }
    }
}

/// Where the snapshot came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// From a file: somebody else's word.
    #[default]
    Recorded,
    /// From the store and the process table, by the process itself.
    Observed,
}
