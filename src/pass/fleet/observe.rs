//! What is looked at: the process table as the edge saw it, and the server processes
//! in it. Values only; reading the system is the edge's.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::row::RuntimeRow;
use super::server::server_name;

/// A process as the system showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Its id.
    pub pid: i64,
    /// Its parent's id.
    pub parent: Option<i64>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// Its name as the kernel keeps it (15 bytes on Linux).
    pub name: String,
    /// Its command line, word by word; empty for a process without one.
    pub argv: Vec<String>,
}

/// The process table at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessTable {
    /// The processes, by id. Those that ended and wait to be reaped are left out.
    pub processes: Vec<Observed>,
    /// Why the table is not complete, if it is not.
    pub fault: Option<String>,
}

/// Where the evidence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The answering process looked itself.
    Observed,
    /// Somebody handed the snapshot over.
    Recorded,
}

/// A process that is a server by its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerProcess {
    /// Its id.
    pub pid: i64,
    /// When it started.
    pub started_at: Option<Timestamp>,
}

/// The server processes at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// Who looked.
    pub evidence: Evidence,
    /// The server processes.
    pub processes: Vec<ServerProcess>,
    /// Why the listing cannot be relied on, if it cannot; the list does not count then.
    pub fault: Option<String>,
}

impl Scan {
    /// The server processes of an observed table: those that run one of the named programs.
    /// Without a name nothing can be told, and the scan says so.
    pub fn of_table(table: &ProcessTable, names: &[String]) -> Scan {
        let fault = match &table.fault {
            Some(fault) => Some(fault.clone()),
            None if names.is_empty() => Some(
                "the configuration names no server: set `daemon`, or `processes` under [guard]".to_owned(),
            ),
            None => None,
        };
        let processes = table
            .processes
            .iter()
            .filter(|process| server_name(&process.argv, names).is_some())
            .map(|process| ServerProcess { pid: process.pid, started_at: process.started_at })
            .collect();
        Scan { evidence: Evidence::Observed, processes, fault }
    }
}

/// The runtime registry at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Registry {
    /// The rows, running and stopped.
    pub rows: Vec<RuntimeRow>,
    /// The ids of the contamination markers that are open.
    pub open_markers: Vec<String>,
    /// Why the registry cannot be relied on, if it cannot.
    pub fault: Option<String>,
}

impl Registry {
    /// A registry that somebody recorded. What its rows claim of themselves is not believed.
    pub fn recorded(mut rows: Vec<RuntimeRow>) -> Registry {
        for row in &mut rows {
            row.attested = None;
        }
        Registry { rows, ..Registry::default() }
    }

    /// A registry that cannot be read.
    pub fn unreadable(fault: impl Into<String>) -> Registry {
        Registry { fault: Some(fault.into()), ..Registry::default() }
    }
}

/// A recorded process listing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedProcesses {
    /// Whether the listing could be made.
    pub available: bool,
    /// The server processes.
    #[serde(deserialize_with = "objects")]
    pub processes: Vec<RecordedProcess>,
    /// Why it could not be made.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A process of a recorded listing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedProcess {
    /// Its id.
    pub pid: i64,
    /// When it started; a time that cannot be read makes the listing unusable.
    #[serde(default)]
    pub started_at: Option<String>,
    /// Its command line.
    #[serde(default)]
    pub command: Option<String>,
}

fn objects<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<RecordedProcess>, D::Error> {
    crate::base::json::listed_objects(deserializer).map(Option::unwrap_or_default)
}

impl RecordedProcesses {
    /// The scan that was recorded.
    pub fn into_scan(self) -> Scan {
        let fault = (!self.available).then(|| {
            self.reason.unwrap_or_else(|| "the recorded listing says that it is not available".into())
        });
        let processes = self
            .processes
            .into_iter()
            .map(|process| ServerProcess {
                pid: process.pid,
                started_at: super::row::instant(process.started_at.as_deref()),
            })
            .collect();
        Scan { evidence: Evidence::Recorded, processes, fault }
    }
}
