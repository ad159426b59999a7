//! The process table, as this process sees it itself. Nothing is started, and nothing
//! is signalled: where the system has files for it they are read, elsewhere the
//! system's listing is asked.

#[cfg(target_os = "linux")]
mod linux;
// On Linux the tests hold it against the kernel's own files.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code))]
mod portable;

use jiff::SignedDuration;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

use crate::pass::fleet::{Observed, ProcessTable};
use crate::pass::instant::parse_instant;

/// Start times are told in whole seconds somewhere on the way.
const ROUNDING: SignedDuration = SignedDuration::from_secs(1);

/// What asking for one process gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// It runs.
    Running(Observed),
    /// No such process runs. One that ended and waits to be reaped does not run.
    Gone,
    /// The system does not say.
    Unknown(String),
}

/// Every process, by id, or why the table is not complete.
pub fn table() -> ProcessTable {
    let mut table = system::table();
    table.processes.sort_by_key(|process| process.pid);
    table
}

/// One process.
pub fn lookup(pid: i64) -> Lookup {
    system::lookup(pid)
}

/// The identity of the running boot: pids of another boot name other processes.
pub fn boot_id() -> Option<String> {
    system::boot_id()
}

/// This process's id.
pub fn own_pid() -> i64 {
    std::process::id().into()
}

/// The id of the process that started this one, if the system can tell.
pub fn parent_pid() -> Option<i64> {
    match lookup(own_pid()) {
        Lookup::Running(own) => own.parent,
        Lookup::Gone | Lookup::Unknown(_) => None,
    }
}

/// Whether the process that was heard of at that time (RFC 3339) still runs. A process that
/// started later is another one under the same id. Absent where the system does not say, or
/// the time cannot be read.
pub fn alive_since(pid: i64, heard_of_at: Option<&str>) -> Option<bool> {
    let heard = heard_of_at.and_then(parse_instant);
    match lookup(pid) {
        Lookup::Gone => Some(false),
        Lookup::Unknown(_) => None,
        Lookup::Running(process) => Some(process.started_at?.duration_since(heard?) <= ROUNDING),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn this_process_is_seen_with_its_parent_and_command_line() {
        let table = table();
        assert_eq!(table.fault, None);
        let own = table.processes.iter().find(|process| process.pid == own_pid()).unwrap();
        assert_eq!(own.argv, std::env::args().collect::<Vec<_>>());
        assert_eq!(own.parent, parent_pid());
        assert!(parent_pid().is_some());
        assert!(boot_id().is_some_and(|id| !id.is_empty()));
        let age = Timestamp::now().duration_since(own.started_at.unwrap());
        assert!(age >= SignedDuration::ZERO && age < SignedDuration::from_hours(1), "{age:?}");
    }

    #[test]
    fn a_process_is_the_one_that_was_heard_of_only_after_it_started() {
        let now = Timestamp::now().to_string();
        assert_eq!(alive_since(own_pid(), Some(&now)), Some(true));
        assert_eq!(alive_since(own_pid(), Some("2001-01-01T00:00:00Z")), Some(false));
        assert_eq!(alive_since(own_pid(), None), None);
        assert_eq!(alive_since(own_pid(), Some("then")), None);
        for nobody in [0, -1, i64::from(u32::MAX), i64::MAX] {
            assert_eq!(alive_since(nobody, Some(&now)), Some(false), "{nobody}");
        }
    }

    /// Two ways to look give the same answer about a process that does not change.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_portable_listing_agrees() {
        let of = |table: ProcessTable| table.processes.into_iter().find(|p| p.pid == own_pid()).unwrap();
        let (kernel, portable) = (of(linux::table()), of(portable::table()));
        assert_eq!(portable.argv, kernel.argv);
        assert_eq!(portable.parent, kernel.parent);
        let apart = portable.started_at.unwrap().duration_since(kernel.started_at.unwrap());
        assert!(apart.abs() <= ROUNDING, "{apart:?}");
        assert_eq!(portable::lookup(i64::from(u32::MAX)), Lookup::Gone);
    }
}
