//! The inventory: every registered, classified way to restart, reload, reconnect or
//! kill, read from `restart-paths.toml` with all its faults at once.
//!
//! Knows what a path says and what text it matches; what a match means for a site is the
//! rules' business.

pub mod document;
pub mod draft;
pub mod location;
pub mod pattern;
pub mod read;

use std::ops::Range;

pub use location::Location;
pub use pattern::{CommandPattern, PrimitivePattern};

use super::table::At;

/// What a registered path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Classification {
    /// One-shot recovery, safe by construction, that never targets the running daemon.
    SanctionedNarrowRecovery,
    /// Detects a condition, then fails closed and says what to do; never restarts.
    GuardedFailClosed,
    /// A violation of workflow safety.
    Forbidden,
    /// Deleted, and must stay so.
    Removed,
    /// The host's behaviour, out of this process's control.
    HostResidual,
    /// Not yet decided.
    Unclassified,
}

impl Classification {
    /// All, in the order of the documentation.
    pub const ALL: [Classification; 6] = [
        Classification::SanctionedNarrowRecovery,
        Classification::GuardedFailClosed,
        Classification::Forbidden,
        Classification::Removed,
        Classification::HostResidual,
        Classification::Unclassified,
    ];

    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Classification::SanctionedNarrowRecovery => "sanctioned_narrow_recovery",
            Classification::GuardedFailClosed => "guarded_fail_closed",
            Classification::Forbidden => "forbidden",
            Classification::Removed => "removed",
            Classification::HostResidual => "host_residual",
            Classification::Unclassified => "unclassified",
        }
    }

    /// The classification of that name.
    pub fn from_name(name: &str) -> Option<Classification> {
        Classification::ALL.into_iter().find(|c| c.name() == name)
    }

    /// Whether a path of this classification can cover a site.
    pub fn sanctions(self) -> bool {
        matches!(self, Classification::SanctionedNarrowRecovery | Classification::GuardedFailClosed)
    }

    /// What it is, in a sentence or two.
    pub fn about(self) -> &'static str {
        match self {
            Classification::SanctionedNarrowRecovery => {
                "The path may stay as it is: one-shot recovery that never targets the running daemon. It covers the sites at \
                 its locations with its primitives."
            }
            Classification::GuardedFailClosed => {
                "The path finds that a restart is needed, then stops and says what to do. It covers exits at its locations, \
                 and nothing else."
            }
            Classification::Forbidden => {
                "Nobody may take the path. It covers nothing: what matches it is RL303."
            }
            Classification::Removed => {
                "The path is gone and must stay so. It covers nothing: what brings it back is RL201."
            }
            Classification::HostResidual => {
                "The host does it, and this project cannot. It covers nothing; its locations begin with `host:`, and \
                 `residual_host = true` stands in it."
            }
            Classification::Unclassified => {
                "Nobody has decided on the path yet, as `restartlint init` drafts it. It covers nothing, and RL308 stands \
                 against it."
            }
        }
    }

    /// What it covers, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Classification::SanctionedNarrowRecovery => {
                "covers the sites at its locations with its primitives, outside the daemon"
            }
            Classification::GuardedFailClosed => {
                "covers ordinary exits at its locations: it stops and says what to do, and never restarts"
            }
            Classification::Forbidden => "permits nothing: whatever matches it is a finding",
            Classification::Removed => "permits nothing: whatever brings it back is a finding",
            Classification::HostResidual => {
                "permits nothing: the host does it, out of this process's control"
            }
            Classification::Unclassified => "permits nothing until a person decides",
        }
    }
}

/// One entry of the inventory.
#[derive(Debug, Clone)]
pub struct RestartPath {
    /// Its id, `[a-z0-9_]+`.
    pub id: At<String>,
    /// Its title.
    pub title: String,
    /// What it is.
    pub classification: At<Classification>,
    /// How it works.
    pub mechanism: String,
    /// What keeps it safe.
    pub guard: String,
    /// Where it lies.
    pub locations: Vec<At<Location>>,
    /// Which primitives it is about.
    pub primitives: Vec<At<PrimitivePattern>>,
    /// Which commands it is about.
    pub commands: Vec<At<CommandPattern>>,
    /// Which names it is about.
    pub symbols: Vec<At<String>>,
    /// Process names of the daemon.
    pub processes: Vec<At<String>>,
    /// Canonical names that a condition before the site must test.
    pub guarded_by: Vec<At<String>>,
    /// Demands import time, before the first import that is not standard library.
    pub import_scope: bool,
    /// Where it was decided.
    pub references: Vec<String>,
    /// May cover a site in the daemon's reach.
    pub daemon_exception: bool,
    /// Is the host's behaviour.
    pub residual_host: bool,
    /// Further words.
    pub notes: Vec<String>,
    /// The entry's place.
    pub span: Range<usize>,
}

impl RestartPath {
    /// What it covers, in a few words.
    pub fn meaning(&self) -> &'static str {
        let class = self.classification.value;
        if self.daemon_exception && class == Classification::SanctionedNarrowRecovery {
            return "covers the sites at its locations with its primitives, in the daemon as well";
        }
        class.meaning()
    }
}

/// A well-formed inventory.
#[derive(Debug, Clone)]
pub struct Inventory {
    /// The file as output names it, relative to the root.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Its paths in the order of the file.
    pub paths: Vec<RestartPath>,
}

impl Inventory {
    /// The path with that id.
    pub fn get(&self, id: &str) -> Option<&RestartPath> {
        self.paths.iter().find(|p| p.id.value == id)
    }

    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|p| p.id.value.as_str())
    }
}
