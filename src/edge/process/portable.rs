//! Systems without `/proc`: the process table as `sysinfo` gives it, with start times
//! in whole seconds.

use jiff::Timestamp;
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::Lookup;
use crate::pass::fleet::{Observed, ProcessTable};

pub(super) fn table() -> ProcessTable {
    let system = match look(ProcessesToUpdate::All) {
        Ok(system) => system,
        Err(fault) => return ProcessTable { processes: Vec::new(), fault: Some(fault) },
    };
    let processes: Vec<Observed> = system.processes().values().filter_map(read).collect();
    let fault = processes.is_empty().then(|| "the system lists no processes".to_owned());
    ProcessTable { processes, fault }
}

pub(super) fn lookup(pid: i64) -> Lookup {
    let Ok(pid) = u32::try_from(pid) else { return Lookup::Gone };
    let pid = Pid::from_u32(pid);
    match look(ProcessesToUpdate::Some(&[pid])) {
        Ok(system) => system.process(pid).and_then(read).map_or(Lookup::Gone, Lookup::Running),
        Err(fault) => Lookup::Unknown(fault),
    }
}

pub(super) fn boot_id() -> Option<String> {
    System::boot_time().ok().filter(|&seconds| seconds > 0).map(|seconds| format!("boot-{seconds}"))
}

fn look(which: ProcessesToUpdate<'_>) -> Result<System, String> {
    let mut system =
        System::new().map_err(|error| format!("the system's processes cannot be listed: {error:?}"))?;
    let wanted = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always).without_tasks();
    system.refresh_processes_specifics(which, true, wanted);
    Ok(system)
}

fn read(process: &sysinfo::Process) -> Option<Observed> {
    if matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead) {
        return None;
    }
    let seconds = i64::try_from(process.start_time()).ok().filter(|&seconds| seconds > 0);
    Some(Observed {
        pid: process.pid().as_u32().into(),
        parent: process.parent().map(|parent| parent.as_u32().into()),
        started_at: seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()),
        name: process.name().to_string_lossy().into_owned(),
        argv: process.cmd().iter().map(|word| word.to_string_lossy().into_owned()).collect(),
    })
}
