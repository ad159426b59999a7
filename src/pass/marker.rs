//! A contamination marker: that somebody ran a command that may have hit a daemon.
//!
//! Opening and clearing both stay on record. Pure values; the store keeps them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::authority::MAINTENANCE_VARIABLE;

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

/// The answer of a recording: the marker is on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// Names the marker.
    pub marker_id: String,
    /// What the guard said of the command.
    pub verdict: MarkerVerdict,
    /// When it was recorded.
    pub recorded_at: String,
}

impl Recorded {
    /// The answer for a marker that was written.
    pub fn of(marker: &Marker) -> Recorded {
        Recorded {
            marker_id: marker.marker_id.clone(),
            verdict: marker.verdict,
            recorded_at: marker.recorded_at.clone(),
        }
    }
}

/// What became of a request to clear a marker, as a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClearingReason {
    /// It is cleared.
    Cleared,
    /// The process was started without the authority.
    NotAuthorized,
    /// There is no such marker.
    UnknownMarker,
}

/// The answer of a request to clear a marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cleared {
    /// Names the marker.
    pub marker_id: String,
    /// Whether it is cleared.
    pub cleared: bool,
    /// Why, as a code.
    pub reason_code: ClearingReason,
    /// Why, in a sentence.
    pub reason: String,
    /// What to do next.
    pub next_step: String,
}

impl Cleared {
    /// The marker as it stands after its clearing.
    pub fn done(marker: &Marker) -> Cleared {
        let at = marker.cleared_at.as_deref().unwrap_or("an unknown time");
        Cleared {
            marker_id: marker.marker_id.clone(),
            cleared: true,
            reason_code: ClearingReason::Cleared,
            reason: format!("Cleared at {at}; the marker stays on record."),
            next_step: "Assess the fleet again with `fleet assess`.".to_owned(),
        }
    }

    /// Nobody with the authority asked.
    pub fn not_authorized(marker_id: &str) -> Cleared {
        Cleared {
            marker_id: marker_id.to_owned(),
            cleared: false,
            reason_code: ClearingReason::NotAuthorized,
            reason: format!(
                "This process was not started with {MAINTENANCE_VARIABLE}; no argument stands in for it."
            ),
            next_step:
                "Reconnect from the host, then have an operator clear the marker from an environment that \
                        grants it."
                    .to_owned(),
        }
    }

    /// No marker of that name is on record.
    pub fn unknown(marker_id: &str) -> Cleared {
        Cleared {
            marker_id: marker_id.to_owned(),
            cleared: false,
            reason_code: ClearingReason::UnknownMarker,
            reason: format!("There is no marker `{marker_id}` in this store."),
            next_step: "List the markers with `guard status`.".to_owned(),
        }
    }
}

/// Whether the runtime is contaminated, and what is on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarkerStatus {
    /// The version of this shape: 1.
    pub schema: u32,
    /// Whether a marker is open.
    pub contaminated: bool,
    /// `contaminated_runtime` while a marker is open, else absent.
    pub reason_code: Option<String>,
    /// Why, in a sentence.
    pub reason: String,
    /// What to do next.
    pub next_step: String,
    /// The open markers, oldest first.
    pub open_markers: Vec<Marker>,
    /// The cleared ones, oldest first.
    pub cleared_markers: Vec<Marker>,
}

impl MarkerStatus {
    /// The status that all markers of a store amount to.
    ///
    /// ```
    /// use restartlint::pass::marker::MarkerStatus;
    /// assert!(!MarkerStatus::of(Vec::new()).contaminated);
    /// ```
    pub fn of(mut markers: Vec<Marker>) -> MarkerStatus {
        markers.sort_by(|a, b| (&a.recorded_at, &a.marker_id).cmp(&(&b.recorded_at, &b.marker_id)));
        let (open_markers, cleared_markers): (Vec<_>, Vec<_>) =
            markers.into_iter().partition(|marker| marker.cleared_at.is_none());
        let contaminated = !open_markers.is_empty();
        MarkerStatus {
            schema: 1,
            contaminated,
            reason_code: contaminated.then(|| "contaminated_runtime".to_owned()),
            reason: match open_markers.len() {
                0 => "No contamination marker is open.".to_owned(),
                1 => "A contamination marker is open: mutations are blocked.".to_owned(),
                open => format!("{open} contamination markers are open: mutations are blocked."),
            },
            next_step: if contaminated {
                "Reconnect from the host, then have an operator clear the marker with `guard clear`."
                    .to_owned()
            } else {
                "None: go on.".to_owned()
            },
            open_markers,
            cleared_markers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_open_marker_contaminates_and_cleared_ones_stay_listed() {
        let marker = |id: &str, cleared: Option<&str>| Marker {
            marker_id: id.to_owned(),
            command: "killall gitea-mcp".to_owned(),
            session_id: "s-a".to_owned(),
            verdict: MarkerVerdict::from_name("contaminating"),
            reason: None,
            recorded_at: "2026-07-28T02:00:00.000Z".to_owned(),
            cleared_at: cleared.map(str::to_owned),
            cleared_by: None,
        };
        let both = MarkerStatus::of(vec![marker("b", None), marker("a", Some("2026-07-28T03:00:00.000Z"))]);
        assert!(both.contaminated);
        assert_eq!(both.reason_code.as_deref(), Some("contaminated_runtime"));
        assert_eq!(both.open_markers.len(), 1);
        assert_eq!(both.cleared_markers.len(), 1);
        assert!(!MarkerStatus::of(both.cleared_markers).contaminated);
    }

    #[test]
    fn an_unknown_verdict_is_undetermined() {
        for name in ["clean", "contaminating", "undetermined"] {
            assert_eq!(MarkerVerdict::from_name(name).name(), name);
        }
        assert_eq!(MarkerVerdict::from_name("fine"), MarkerVerdict::Undetermined);
    }
}
