//! A finding: one rule's word on one place.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::facts::RelPath;
use super::site::{Confidence, Via};
use super::span::Position;

/// How bad a finding is. Ordered: the later, the worse.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Should be mended.
    Warning,
    /// Must be mended or decided.
    Error,
}

impl Severity {
    /// The name used in configuration and output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place in a file, resolved to lines and columns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file, relative to the project root.
    pub path: RelPath,
    /// First position.
    pub start: Position,
    /// One past the last position.
    pub end: Position,
}

/// One step of a finding's chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChainStep {
    /// Where the step stands.
    pub place: Place,
    /// The symbol that it stands in.
    pub symbol: String,
}

/// A second place that explains a finding, such as the inventory's entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Related {
    /// Where.
    pub place: Place,
    /// What is to be seen there.
    pub message: String,
}

/// A finding. Always has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's code, such as `RL101`.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// One plain sentence.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The primitive, where there is one.
    pub primitive: Option<String>,
    /// Its effect.
    pub effect: Option<Effect>,
    /// How it is written.
    pub via: Option<Via>,
    /// The enclosing symbol.
    pub symbol: Option<String>,
    /// The path of the inventory that this is about.
    pub path_id: Option<String>,
    /// From the daemon module to the site, the site last.
    pub chain: Vec<ChainStep>,
    /// Further places.
    pub related: Vec<Related>,
    /// What to do next.
    pub help: String,
}
