//! One row of the runtime registry, as a server writes it about itself.
//!
//! Timestamps stay the text that was written, so that a row comes back unchanged;
//! [`RuntimeRow::registered_instant`] and its siblings read them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pass::instant::parse_instant;

/// A registered runtime. Members that the server did not know are absent (`null`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuntimeRow {
    /// Names this runtime; unique in the registry.
    pub runtime_id: String,
    /// The roster's key: which server this is.
    pub namespace: String,
    /// The profile that it runs under.
    #[serde(default)]
    pub profile: Option<String>,
    /// The role that it serves.
    #[serde(default)]
    pub role: Option<String>,
    /// The remote that it is bound to.
    #[serde(default)]
    pub remote: Option<String>,
    /// The organisation that it is bound to.
    #[serde(default)]
    pub org: Option<String>,
    /// The repository that it is bound to.
    #[serde(default)]
    pub repo: Option<String>,
    /// The checkout that it serves.
    #[serde(default)]
    pub repository_root: Option<String>,
    /// Its process id.
    #[serde(default)]
    pub pid: Option<i64>,
    /// When its process started (RFC 3339).
    #[serde(default)]
    pub process_started_at: Option<String>,
    /// The cohort that it was started with; blank means unknown.
    #[serde(default)]
    pub cohort_id: Option<String>,
    /// Where the cohort's identity comes from.
    #[serde(default)]
    pub cohort_source: Option<String>,
    /// Who started it.
    #[serde(default)]
    pub client_provenance: Option<String>,
    /// The boot that its pid belongs to.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// The checkout's revision when it started.
    #[serde(default)]
    pub startup_head: Option<String>,
    /// How it is spoken to, such as `stdio`.
    #[serde(default)]
    pub transport: Option<String>,
    /// `running` or `stopped`.
    #[serde(default = "running")]
    pub status: String,
    /// When the row was written (RFC 3339).
    #[serde(default)]
    pub registered_at: Option<String>,
    /// When it was last heard of (RFC 3339).
    #[serde(default)]
    pub last_heartbeat_at: Option<String>,
    /// When it was marked stopped (RFC 3339).
    #[serde(default)]
    pub stopped_at: Option<String>,
    /// Whether the registered process itself, or its own child, wrote the row. Set by the
    /// registration from what the system says; never believed from a recorded snapshot.
    #[serde(default)]
    pub attested: Option<bool>,
}

/// The status of a row that a server has just written.
pub const RUNNING: &str = "running";
/// The status of a row whose server said that it ends.
pub const STOPPED: &str = "stopped";

fn running() -> String {
    RUNNING.to_owned()
}

/// Reads an RFC 3339 timestamp with its offset; a time without one names no instant.
pub fn instant(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(parse_instant)
}

impl RuntimeRow {
    /// What keeps the row from being registered, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        if self.runtime_id.trim().is_empty() {
            return Some("`runtime_id` is blank");
        }
        if self.namespace.trim().is_empty() {
            return Some("`namespace` is blank");
        }
        match self.pid {
            Some(pid) if (1..=i64::from(u32::MAX)).contains(&pid) => {}
            _ => return Some("`pid` must be a positive process id"),
        }
        if self.status.trim().is_empty() {
            return Some("`status` is blank");
        }
        let times = [
            (&self.process_started_at, "`process_started_at` is not an RFC 3339 time"),
            (&self.registered_at, "`registered_at` is not an RFC 3339 time"),
            (&self.last_heartbeat_at, "`last_heartbeat_at` is not an RFC 3339 time"),
            (&self.stopped_at, "`stopped_at` is not an RFC 3339 time"),
        ];
        times
            .into_iter()
            .find(|(text, _)| text.is_some() && instant(text.as_deref()).is_none())
            .map(|(_, fault)| fault)
    }

    /// Whether the row says that its server runs.
    pub fn says_running(&self) -> bool {
        self.status == RUNNING
    }

    /// When the row was written, if that can be read.
    pub fn registered_instant(&self) -> Option<Timestamp> {
        instant(self.registered_at.as_deref())
    }

    /// The latest of registration, heartbeat and stop: what a row's age is counted from.
    /// Absent if one of them cannot be read, since then the age is unknown.
    pub fn last_sign(&self) -> Option<Timestamp> {
        let mut latest = None;
        for text in [&self.registered_at, &self.last_heartbeat_at, &self.stopped_at].into_iter().flatten() {
            latest = latest.max(Some(instant(Some(text))?));
        }
        latest
    }

    /// The registry's order: by registration, then by id; rows without a readable time last.
    pub fn order(&self, other: &RuntimeRow) -> std::cmp::Ordering {
        let key = |row: &RuntimeRow| {
            let at = row.registered_instant();
            (at.is_none(), at)
        };
        key(self)
            .cmp(&key(other))
            .then_with(|| self.registered_at.cmp(&other.registered_at))
            .then_with(|| self.runtime_id.cmp(&other.runtime_id))
    }
}

/// What a recorded snapshot holds in place of rows that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedFailure {
    /// What went wrong.
    pub error: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(registered: &str) -> RuntimeRow {
        RuntimeRow {
            runtime_id: "r".into(),
            namespace: "n".into(),
            pid: Some(1),
            status: RUNNING.into(),
            registered_at: Some(registered.into()),
            ..RuntimeRow::default()
        }
    }

    #[test]
    fn a_row_needs_an_id_a_namespace_and_a_pid() {
        let good = row("2026-07-28T02:00:00Z");
        assert_eq!(good.fault(), None);
        assert!(RuntimeRow { runtime_id: " \t".into(), ..good.clone() }.fault().is_some());
        assert!(RuntimeRow { namespace: String::new(), ..good.clone() }.fault().is_some());
        for pid in [None, Some(0), Some(-4), Some(i64::MAX)] {
            assert!(RuntimeRow { pid, ..good.clone() }.fault().is_some(), "{pid:?}");
        }
        assert!(row("yesterday").fault().is_some());
        assert!(row("2026-07-28T02:00:00").fault().is_some(), "no offset, no instant");
    }

    #[test]
    fn order_is_of_instants_and_not_of_text() {
        let early = row("2026-07-28T03:30:00+02:00");
        let late = row("2026-07-28T02:00:00Z");
        assert!(early.order(&late).is_lt());
        assert!(late.order(&row("unreadable")).is_lt());
    }

    #[test]
    fn the_last_sign_is_the_latest_time() {
        let mut r = row("2026-07-28T02:00:00Z");
        r.last_heartbeat_at = Some("2026-07-28T05:00:00+02:00".into());
        r.stopped_at = Some("2026-07-28T02:30:00Z".into());
        assert_eq!(r.last_sign(), "2026-07-28T03:00:00Z".parse().ok());
        r.stopped_at = Some("soon".into());
        assert_eq!(r.last_sign(), None);
    }
}
