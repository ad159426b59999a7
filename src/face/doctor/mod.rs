//! `doctor`: does what protects this project work, and what of it is inactive?
//!
//! Each part is tried as its command would use it: the store is opened, the guard is given
//! a kill of a daemon. Nothing is mended, and a store that is not there is not made.

mod hook;
mod store;

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::{self, Format};
use super::cli::Cli;
use super::guard::judge::{judge, names};
use super::inventory::{faults, line};
use super::output::shown;
use super::project::Project;
use super::sites::{ScanArgs, incomplete, scan_project};
use super::{Failure, Outcome};
use crate::base::terminal::{one_line, visible};
use crate::edge::process;
use crate::scan::{Watch, daemons};

/// Say whether configuration, inventory, daemon detection, guard, hook, store and process
/// listing work, and what is inactive. Exit 1 if anything is broken.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The store; else the configuration's.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What was found out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// Version of this shape.
    pub schema: u32,
    /// Whether nothing is broken. What is inactive is not broken.
    pub sound: bool,
    /// The parts, in the order in which they build on each other.
    pub parts: Vec<Part>,
}

/// One part.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// What was found: a sentence, or a fault shown at its place, over several lines.
    pub detail: String,
    /// What to do, where something is to be done.
    pub next_step: Option<String>,
}

/// How a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was tried, and works.
    Works,
    /// Nobody set it up, and it does nothing.
    Inactive,
    /// It is set up, and does not work.
    Broken,
}

impl Part {
    fn of(name: &str, state: State, detail: impl Into<String>, next_step: Option<&str>) -> Part {
        Part { name: name.to_owned(), state, detail: detail.into(), next_step: next_step.map(str::to_owned) }
    }

    fn broken(name: &str, failure: Failure) -> Part {
        let text = failure.text();
        // An excerpt keeps its lines, or the mark would stand under nothing.
        let detail: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        Part::of(name, State::Broken, detail.join("\n"), Some("Mend what is named above."))
    }
}

/// Runs `doctor`.
pub fn run(args: &DoctorArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let parts = match Project::open(cli, &[]) {
        // Every other part reads the configuration first.
        Err(failure) => vec![Part::broken("configuration", failure)],
        Ok(project) => vec![
            configuration(&project),
            inventory(&project, cli),
            detection(&project, cli).unwrap_or_else(|failure| Part::broken("daemon detection", failure)),
            guard(&project).unwrap_or_else(|failure| Part::broken("guard", failure)),
            hook::part(&project),
            store::part(args.store.as_deref(), &project, cli)
                .unwrap_or_else(|failure| Part::broken("store", failure)),
            processes(),
            fleet(&project),
        ],
    };
    let sound = parts.iter().all(|part| part.state != State::Broken);
    let report = DoctorReport { schema: 1, sound, parts };
    answer::print(args.format, &report, || text(&report))?;
    Ok(if sound { Outcome::Clean } else { Outcome::Denied })
}

fn text(report: &DoctorReport) -> String {
    let mut out = String::new();
    for part in &report.parts {
        let state = match part.state {
            State::Works => "works",
            State::Inactive => "inactive",
            State::Broken => "BROKEN",
        };
        out.push_str(&format!("{state:<9} {}:{}\n", part.name, indented(&part.detail)));
        if let Some(step) = &part.next_step {
            out.push_str(&format!("          next step: {}\n", one_line(step)));
        }
    }
    visible(&out)
}

/// One line beside the name; several below it, as they stand to each other.
fn indented(detail: &str) -> String {
    let lines: Vec<&str> = detail.lines().collect();
    if let [line] = lines.as_slice() {
        return format!(" {}", one_line(line));
    }
    let blanks = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let margin = lines.iter().map(blanks).min().unwrap_or(0);
    lines.iter().map(|line| format!("\n          {}", line.get(margin..).unwrap_or(line))).collect()
}

fn configuration(project: &Project) -> Part {
    let name = "configuration";
    match &project.config.origin {
        Some(origin) => Part::of(name, State::Works, format!("{} is read", origin.file), None),
        None => Part::of(
            name,
            State::Inactive,
            format!("there is none for {}; the defaults hold", shown(&project.root)),
            Some("Run `restartlint init`."),
        ),
    }
}

fn inventory(project: &Project, cli: &Cli) -> Part {
    let name = "inventory";
    let found = match project.inventory() {
        Err(failure) => return Part::broken(name, failure),
        Ok(found) => found,
    };
    let Some(inventory) = found else {
        let detail = format!("{} does not exist: every site is a finding", project.inventory_file());
        return Part::of(
            name,
            State::Inactive,
            detail,
            Some("Run `restartlint init`, and decide on each path."),
        );
    };
    let faults = match faults(project, &inventory, cli) {
        Err(failure) => return Part::broken(name, failure),
        Ok((faults, _)) => faults,
    };
    let detail = format!("{} registers {} path(s)", inventory.file, inventory.paths.len());
    if faults.is_empty() {
        return Part::of(name, State::Works, detail, None);
    }
    // What is left of a draft holds nobody to anything yet; anything else is a fault.
    let draft = faults.iter().all(|fault| fault.code == "RL308");
    let state = if draft { State::Inactive } else { State::Broken };
    let step = if draft {
        "Decide on each of them; until then it sanctions nothing. `restartlint explain RL308` says how."
    } else {
        "Mend it; `restartlint inventory check` shows whether all is in order."
    };
    let lines: Vec<String> = faults.iter().map(line).collect();
    Part::of(name, state, format!("{detail}; not in order:\n{}", lines.join("\n")), Some(step))
}

fn detection(project: &Project, cli: &Cli) -> Result<Part, Failure> {
    let name = "daemon detection";
    let scan = scan_project(project, &ScanArgs::everything(), Watch::default(), None, cli)?;
    if let Some(failure) = incomplete(&scan) {
        return Err(failure);
    }
    let missing = scan.tree.daemons.iter().filter(|d| d.file.is_none());
    let missing: Vec<&str> =
        missing.filter(|d| !project.file(&d.path).exists()).map(|d| d.path.as_str()).collect();
    if !missing.is_empty() {
        return Ok(Part::of(
            name,
            State::Broken,
            format!("declared in the configuration, and no file is of that name: {}", missing.join(", ")),
            Some("Correct `daemon`; a folder's name stands for itself alone, `folder/**` for what is in it."),
        ));
    }
    let undeclared: Vec<&str> =
        daemons::undeclared(&project.config, &scan.tree).iter().map(|f| f.path.as_str()).collect();
    let found: Vec<&str> = scan.tree.daemons.iter().map(|d| d.path.as_str()).collect();
    let how = if project.config.daemon.is_empty() { "detected" } else { "declared" };
    if found.is_empty() {
        return Ok(Part::of(
            name,
            State::Inactive,
            "no file builds a stdio server, so that nothing is known to be in a daemon's reach",
            Some("Set `daemon` in the configuration to the files that run inside the daemon."),
        ));
    }
    let detail = format!("{how}: {}", found.join(", "));
    if undeclared.is_empty() {
        return Ok(Part::of(name, State::Works, detail, None));
    }
    let detail =
        format!("{detail}; they build a server too, and are not declared: {}", undeclared.join(", "));
    Ok(Part::of(name, State::Works, detail, Some("Add them to `daemon` if they run inside the daemon.")))
}

/// The guard must deny a kill of a daemon and let a harmless command pass.
fn guard(project: &Project) -> Result<Part, Failure> {
    let name = "guard";
    let Some(daemon) = names(project)?.into_iter().min() else {
        return Ok(Part::of(
            name,
            State::Inactive,
            "no daemon's name is known: every command that ends a process is undetermined, and denied",
            Some("Name the daemons under `[guard] processes`, or set `daemon`."),
        ));
    };
    let quoted = shlex::try_quote(&daemon)
        .map_err(|_| Failure::new(format!("the name {daemon:?} cannot stand in a command")))?;
    let kill = format!("pkill -f {quoted}");
    if !judge(&kill, project, None)?.contaminated {
        return Err(Failure::new(format!("`{kill}` is not denied")));
    }
    if judge("ls", project, None)?.contaminated {
        return Err(Failure::new("`ls` is denied"));
    }
    Ok(Part::of(name, State::Works, format!("`{kill}` is denied, `ls` is allowed"), None))
}

fn processes() -> Part {
    let name = "process listing";
    let table = process::table();
    match table.fault {
        None => Part::of(name, State::Works, format!("{} processes are seen", table.processes.len()), None),
        Some(fault) => Part::broken(name, Failure::new(fault)),
    }
}

fn fleet(project: &Project) -> Part {
    let members = project.config.fleet.members.len();
    if members == 0 {
        return Part::of(
            "fleet",
            State::Inactive,
            "no member is expected, so that the fleet's gate is never satisfied",
            Some("List the expected servers as [[fleet.member]] in the configuration."),
        );
    }
    Part::of("fleet", State::Works, format!("{members} member(s) expected"), None)
}
