//! A contamination marker: that somebody ran a command that may have hit a daemon.
//!
//! Opening and clearing both stay on record. Pure values; the store keeps them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the guard said of the recorded command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkerVerdict {
    /// No kill or supervise action, or each provably aimed elsewhere.
    Clean,
    /// An action hits a daemon, or is broad enough to.
    Contaminating,
    /// A target that cannot be decided.
    Undetermined,
}

impl MarkerVerdict {
    /// The name in the store and in output.
    pub fn name(self) -> &'static str {
        match self {
            MarkerVerdict::Clean => "clean",
            MarkerVerdict::Contaminating => "contaminating",
            MarkerVerdict::Undetermined => "undetermined",
        }
    }

    /// The verdict of that name; whatever is not known is undetermined.
    pub fn from_name(name: &str) -> MarkerVerdict {
        match name {
            "clean" => MarkerVerdict::Clean,
            "contaminating" => MarkerVerdict::Contaminating,
            _ => MarkerVerdict::Undetermined,
        }
    }
}

/// One marker. It is open until it is cleared; a clearing is recorded, never a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Marker {
    /// Names the marker.
    pub marker_id: String,
    /// What was run.
    pub command: String,
    /// By which session.
    pub session_id: String,
    /// What the guard said of it.
    pub verdict: MarkerVerdict,
    /// Why, in a sentence.
    pub reason: Option<String>,
    /// When it was recorded (RFC 3339, UTC).
    pub recorded_at: String,
    /// When it was cleared, if it was.
    pub cleared_at: Option<String>,
    /// What authority cleared it.
    pub cleared_by: Option<String>,
}
