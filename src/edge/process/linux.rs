//! Linux: the process table out of `/proc`.
//!
//! A pid can be taken over between two reads, so a process counts only if its start, in
//! clock ticks since boot, is the same before and after its command line was read.

use std::fs;
use std::io;

use jiff::{SignedDuration, Timestamp};
use procfs::ProcError;
use procfs::process::{Process, Stat};

use super::Lookup;
use crate::pass::fleet::{Observed, ProcessTable};

/// How often a process that changes under the reader's eyes is read again.
const ATTEMPTS: usize = 4;

pub(super) fn table() -> ProcessTable {
    let unavailable = |fault: String| ProcessTable { processes: Vec::new(), fault: Some(fault) };
    let boot = match procfs::boot_time_secs() {
        Ok(seconds) => seconds,
        Err(error) => return unavailable(format!("the system's start time cannot be read: {error}")),
    };
    let listed = match procfs::process::all_processes() {
        Ok(listed) => listed,
        Err(error) => return unavailable(format!("/proc cannot be listed: {error}")),
    };
    let mut table = ProcessTable::default();
    for process in listed {
        let found = match process {
            Ok(process) => read(&process, boot),
            Err(ProcError::NotFound(_)) => continue,
            Err(error) => Err(error.to_string()),
        };
        match found {
            Ok(Some(process)) => table.processes.push(process),
            Ok(None) => {}
            Err(fault) => table.fault = Some(fault),
        }
    }
    // A `/proc` that hides the processes of others hides the first one as well.
    if !table.processes.iter().any(|process| process.pid == 1) {
        table.fault.get_or_insert_with(|| "/proc shows only some of the processes".to_owned());
    }
    table
}

pub(super) fn lookup(pid: i64) -> Lookup {
    let Ok(pid) = i32::try_from(pid) else { return Lookup::Gone };
    if pid < 1 {
        return Lookup::Gone;
    }
    let boot = match procfs::boot_time_secs() {
        Ok(seconds) => seconds,
        Err(error) => return Lookup::Unknown(error.to_string()),
    };
    match Process::new(pid) {
        Err(ProcError::NotFound(_)) => Lookup::Gone,
        Err(error) => Lookup::Unknown(error.to_string()),
        Ok(process) => match read(&process, boot) {
            // `/proc/N` opens for a thread's id too; a thread is no process.
            Ok(Some(found)) if found.pid == i64::from(pid) => Lookup::Running(found),
            Ok(_) => Lookup::Gone,
            Err(fault) => Lookup::Unknown(fault),
        },
    }
}

pub(super) fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// The process, `None` if it has ended, or why it cannot be read.
fn read(process: &Process, boot: u64) -> Result<Option<Observed>, String> {
    let fault = |error: &dyn std::fmt::Display| format!("process {} cannot be read: {error}", process.pid);
    for _ in 0..ATTEMPTS {
        let before = match stat(process).map_err(|error| fault(&error))? {
            Some(stat) => stat,
            None => return Ok(None),
        };
        let argv = match command_line(process.pid) {
            Ok(argv) => argv,
            Err(error) if has_ended(&error) => return Ok(None),
            Err(error) => return Err(fault(&error)),
        };
        match stat(process).map_err(|error| fault(&error))? {
            None => return Ok(None),
            Some(after) if after.starttime == before.starttime && after.comm == before.comm => {
                return Ok(Some(Observed {
                    pid: i64::from(after.pid),
                    parent: Some(i64::from(after.ppid)).filter(|&parent| parent > 0),
                    started_at: started_at(after.starttime, boot),
                    name: after.comm,
                    argv,
                }));
            }
            // Another program, or another process, since the command line was read.
            Some(_) => {}
        }
    }
    Err(fault(&"it changes all the time"))
}

/// The kernel's line about the process; `None` once it has ended, reaped or not.
fn stat(process: &Process) -> Result<Option<Stat>, ProcError> {
    match process.stat() {
        Ok(stat) if matches!(stat.state, 'Z' | 'X' | 'x') => Ok(None),
        Ok(stat) => Ok(Some(stat)),
        Err(ProcError::NotFound(_)) => Ok(None),
        Err(ProcError::Io(error, _)) if has_ended(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn command_line(pid: i32) -> io::Result<Vec<String>> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline"))?;
    let text = String::from_utf8_lossy(&bytes);
    let words = text.strip_suffix('\0').unwrap_or(&text);
    Ok(if words.is_empty() { Vec::new() } else { words.split('\0').map(str::to_owned).collect() })
}

/// `ESRCH`: the process ended while its file was open.
fn has_ended(error: &io::Error) -> bool {
    const ESRCH: i32 = 3;
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
}

fn started_at(ticks: u64, boot: u64) -> Option<Timestamp> {
    let per_second = procfs::ticks_per_second();
    let whole = ticks.checked_div(per_second)?;
    let millis = ticks.checked_rem(per_second)?.checked_mul(1000)?.checked_div(per_second)?;
    let boot = Timestamp::from_second(boot.try_into().ok()?).ok()?;
    let since = SignedDuration::new(whole.try_into().ok()?, 0)
        .checked_add(SignedDuration::from_millis(millis.try_into().ok()?))?;
    boot.checked_add(since).ok()
}
