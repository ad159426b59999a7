//! How one row stands: is its process there and the one that wrote it, and is it the
//! member that the roster expects? Also which source cannot be relied on.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::observe::Scan;
use super::row::RuntimeRow;
use crate::data::fleet::{Binding, RosterMember};

/// Start times and registrations are told in whole seconds somewhere on the way.
const ROUNDING: SignedDuration = SignedDuration::from_secs(1);
/// How far a clock may be ahead.
const SKEW: SignedDuration = SignedDuration::from_secs(60);

/// What rows are held against.
pub(super) struct Observation<'r> {
    /// When each server process started.
    starts: BTreeMap<i64, Timestamp>,
    /// The last registration of each pid: a pid names one process.
    newest: BTreeMap<i64, (Timestamp, &'r str)>,
    now: Timestamp,
}

impl<'r> Observation<'r> {
    /// The evidence of a scan and of the rows that say running. A scan with a fault shows nothing.
    pub(super) fn of(rows: &'r [RuntimeRow], scan: Option<&Scan>, now: Timestamp) -> Observation<'r> {
        let mut starts = BTreeMap::new();
        let processes = scan.map(|scan| scan.processes.as_slice()).unwrap_or_default();
        for (pid, start) in processes.iter().filter_map(|process| Some((process.pid, process.started_at?))) {
            // Of a pid that is listed twice the later start counts: it speaks for fewer rows.
            let latest = starts.entry(pid).or_insert(start);
            *latest = start.max(*latest);
        }
        let mut newest = BTreeMap::new();
        for row in rows.iter().filter(|row| row.says_running()) {
            if let (Some(pid), Some(registered)) = (row.pid, row.registered_instant()) {
                let this = (registered, row.runtime_id.as_str());
                let last = newest.entry(pid).or_insert(this);
                *last = this.max(*last);
            }
        }
        Observation { starts, newest, now }
    }

    /// When the process of that id started, if it is a server that runs.
    pub(super) fn start_of(&self, pid: i64) -> Option<Timestamp> {
        self.starts.get(&pid).copied()
    }

    /// The server processes' ids, in order.
    pub(super) fn pids(&self) -> impl Iterator<Item = i64> {
        self.starts.keys().copied()
    }

    /// Whether the row's own process runs, or why it does not.
    pub(super) fn standing(&self, row: &RuntimeRow) -> Result<(), String> {
        let (Some(pid), Some(registered)) = (row.pid, row.registered_instant()) else {
            return Err("the row has no usable pid or registration time".to_owned());
        };
        let Some(started) = self.start_of(pid) else {
            return Err(format!("no server process {pid} runs"));
        };
        if started.duration_since(registered) > ROUNDING {
            return Err(format!("process {pid} started after the row was written: it is another one"));
        }
        if registered.duration_since(self.now) > SKEW {
            return Err("the row was written in the future, so it proves nothing".to_owned());
        }
        match self.newest.get(&pid) {
            Some(&last) if last > (registered, row.runtime_id.as_str()) => {
                Err(format!("process {pid} was registered again later, as `{}`", last.1))
            }
            _ => Ok(()),
        }
    }
}

/// A running row that cannot be placed makes the whole registry doubtful.
pub(super) fn row_fault(rows: &[RuntimeRow]) -> Option<String> {
    rows.iter()
        .filter(|row| row.says_running())
        .filter(|row| row.pid.is_none_or(|pid| pid < 1) || row.registered_instant().is_none())
        .map(|row| row.runtime_id.as_str())
        .min()
        .map(|id| format!("the running row `{id}` has no usable pid or registration time"))
}

/// A process whose start is unknown may be any row's.
pub(super) fn process_fault(scan: &Scan) -> Option<String> {
    let pid = scan.processes.iter().filter(|p| p.started_at.is_none()).map(|p| p.pid).min()?;
    Some(format!("the start time of process {pid} is unknown"))
}

/// The roster entry that a running row is the member of, or how it differs from what is expected.
pub(super) fn membership<'m>(
    row: &RuntimeRow,
    roster: &BTreeSet<&'m RosterMember>,
    binding: &Binding,
) -> Result<&'m RosterMember, String> {
    let mut difference = Err(format!("`{}` is not on the roster", row.namespace));
    for member in roster.iter().filter(|member| member.namespace == row.namespace) {
        match bound(row, member, binding) {
            Ok(()) => return Ok(member),
            Err(reason) => difference = Err(reason),
        }
    }
    difference
}

fn bound(row: &RuntimeRow, member: &RosterMember, binding: &Binding) -> Result<(), String> {
    let pairs = [
        ("remote", &row.remote, binding.remote.as_deref()),
        ("org", &row.org, binding.org.as_deref()),
        ("repo", &row.repo, binding.repo.as_deref()),
        ("profile", &row.profile, Some(member.profile.as_str())),
        ("role", &row.role, Some(member.role.as_str())),
    ];
    for (name, has, expected) in pairs {
        if let Some(expected) = expected
            && has.as_deref() != Some(expected)
        {
            let has = has.as_deref().map_or("nothing".to_owned(), |has| format!("`{has}`"));
            return Err(format!("its {name} is {has}, and `{expected}` is expected"));
        }
    }
    Ok(())
}
