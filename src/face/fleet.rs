//! `fleet`: what runs, and the registry that servers write about themselves.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::answer::{self, Format};
use super::cli::Cli;
use super::fleet_text;
use super::input::Source;
use super::project::Project;
use super::store::{open_or_make, store_path};
use super::{Failure, Outcome};
use crate::base::json;
use crate::edge::clock;
use crate::edge::process::{self, Lookup};
use crate::edge::store::{OpenMode, Store, StoreError};
use crate::pass::fleet::row::RecordedFailure;
use crate::pass::fleet::{
    FleetReport, RecordedProcesses, Registry, RuntimeRow, Scan, classify, server_names,
};
use crate::pass::instant::parse_instant;

/// Which servers really run, and are they the ones that are expected?
#[derive(Debug, Args)]
pub struct FleetArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    /// Compare the roster with the registry and the processes that run. Exit 0 if the mutation gate is satisfied.
    Assess(AssessArgs),
    /// List the registry.
    List(ListArgs),
    /// Write a row about a server: called by the server itself, right after its transport is bound.
    Register(RegisterArgs),
    /// Say that a server still runs.
    Heartbeat(RuntimeArgs),
    /// Say that a server ends. Its row stays.
    Stop(RuntimeArgs),
    /// Drop rows that gave no sign of life for the retention time.
    Prune(PruneArgs),
}

#[derive(Debug, Args)]
struct StoreArgs {
    /// The store; else the configuration's.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct AssessArgs {
    /// Look at this store and at the processes of this machine.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rows", "processes", "now"])]
    store: Option<PathBuf>,
    /// Replay recorded rows (`-`: standard input); the answer then says `recorded`.
    #[arg(long, value_name = "FILE|-", requires = "processes", value_parser = Source::parse)]
    rows: Option<Source>,
    /// Replay a recorded process listing (`-`: standard input).
    #[arg(long, value_name = "FILE|-", requires = "rows", value_parser = Source::parse)]
    processes: Option<Source>,
    /// The instant of the recorded snapshot (RFC 3339).
    #[arg(long, value_name = "TIME", requires = "rows", value_parser = instant)]
    now: Option<Timestamp>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Only rows of this status, such as `running`.
    #[arg(long)]
    status: Option<String>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
struct RegisterArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The row as a JSON object (`-`: standard input).
    #[arg(long, value_name = "FILE|-", value_parser = Source::parse)]
    row: Source,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
struct RuntimeArgs {
    /// The row's `runtime_id`.
    #[arg(value_name = "ID")]
    runtime_id: String,
    #[command(flatten)]
    store: StoreArgs,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
struct PruneArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Days without a sign of life; else the configuration's, else 7.
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads an instant from the command line.
pub(super) fn instant(text: &str) -> Result<Timestamp, String> {
    parse_instant(text).ok_or_else(|| "give a time with an offset, such as 2026-07-28T03:00:00Z".to_owned())
}

/// Runs a `fleet` command.
pub fn run(args: &FleetArgs, cli: &Cli) -> Result<Outcome, Failure> {
    match &args.command {
        FleetCommand::Assess(args) => assess(args, cli),
        FleetCommand::List(args) => list(args, cli),
        FleetCommand::Register(args) => register(args, cli),
        FleetCommand::Heartbeat(args) => touch(args, cli, "heartbeat", Store::heartbeat),
        FleetCommand::Stop(args) => touch(args, cli, "stopped", Store::mark_stopped),
        FleetCommand::Prune(args) => prune(args, cli),
    }
}

/// The report on the servers of this machine, from a store and a look at its processes. It
/// takes nothing from a caller but the store's place.
pub fn observed(project: &Project, store: &Path) -> FleetReport {
    let config = &project.config;
    let daemons: Vec<&str> = config.daemon.iter().map(|entry| entry.value.as_str()).collect();
    let names = server_names(&config.guard.processes, &daemons);
    let (registry, scan) = crate::edge::fleet::observe(store, &names);
    classify(&registry, &scan, &config.fleet.members, &config.fleet.binding, clock::now())
}

fn assess(args: &AssessArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let project = Project::open(cli, &[])?;
    let report = match (&args.rows, &args.processes) {
        (Some(rows), Some(processes)) => {
            if *rows == Source::Stdin && *processes == Source::Stdin {
                return Err(Failure::new(
                    "standard input can be read once: name a file for rows or processes",
                ));
            }
            let (registry, scan) = (recorded_registry(rows)?, recorded_scan(processes)?);
            let fleet = &project.config.fleet;
            classify(&registry, &scan, &fleet.members, &fleet.binding, args.now.unwrap_or_else(clock::now))
        }
        _ => observed(&project, &store_path(args.store.as_deref(), cli)?),
    };
    answer::print(args.format, &report, || fleet_text::report(&report))?;
    Ok(if report.mutation_gate_satisfied { Outcome::Clean } else { Outcome::Denied })
}

fn recorded_registry(source: &Source) -> Result<Registry, Failure> {
    let input = source.read()?;
    if input.text.trim_start().starts_with('{') {
        let failed: RecordedFailure = input.value(json::read_object)?;
        return Ok(Registry::unreadable(failed.error));
    }
    Ok(Registry::recorded(input.value(json::read_objects)?))
}

fn recorded_scan(source: &Source) -> Result<Scan, Failure> {
    let listing: RecordedProcesses = source.read()?.value(json::read_object)?;
    Ok(listing.into_scan())
}

fn list(args: &ListArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let rows = match open_existing(&args.store, cli)? {
        Some(store) => store.runtimes(args.status.as_deref())?,
        None => Vec::new(),
    };
    answer::print(args.format, &rows, || fleet_text::rows(&rows))?;
    Ok(Outcome::Clean)
}

fn register(args: &RegisterArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let input = args.row.read()?;
    let mut row: RuntimeRow = input.value(json::read_object)?;
    if row.attested.is_some() {
        return Err(Failure::new(
            "`attested` is what the system says of the writer; leave it out of the row",
        ));
    }
    // The server itself calls, or has its own child call: the system knows which.
    let parent = process::parent_pid();
    row.attested = Some(parent.is_some() && row.pid == parent);
    if row.attested == Some(true) {
        observe_parent(&mut row);
    }
    row.registered_at.get_or_insert_with(|| format!("{:.3}", clock::now()));
    let path = store_path(args.store.store.as_deref(), cli)?;
    if let Some(fault) = row.fault() {
        return Err(Failure::new(format!("{}: the row cannot be registered: {fault}", input.name)));
    }
    let mut store = open_or_make(&path)?;
    store.register(&row)?;
    answer::print(args.format, &row, || {
        let by =
            if row.attested == Some(true) { "by its own process" } else { "by another process than its own" };
        format!("registered {} ({by})\n", row.runtime_id)
    })?;
    Ok(Outcome::Clean)
}

/// What the server left out and the system says of it.
fn observe_parent(row: &mut RuntimeRow) {
    if row.boot_id.is_none() {
        row.boot_id = process::boot_id();
    }
    if row.process_started_at.is_none()
        && let Some(Lookup::Running(server)) = row.pid.map(process::lookup)
    {
        row.process_started_at = server.started_at.map(|at| at.to_string());
    }
}

fn touch(
    args: &RuntimeArgs,
    cli: &Cli,
    done: &str,
    act: fn(&mut Store, &str, Timestamp) -> Result<bool, StoreError>,
) -> Result<Outcome, Failure> {
    let known = match open_existing(&args.store, cli)? {
        Some(mut store) => act(&mut store, &args.runtime_id, clock::now())?,
        None => false,
    };
    let report = serde_json::json!({ "runtime_id": args.runtime_id, "known": known });
    answer::print(args.format, &report, || {
        if known {
            format!("{done}: {}\n", args.runtime_id)
        } else {
            format!("no runtime `{}` is registered; nothing was changed\n", args.runtime_id)
        }
    })?;
    Ok(if known { Outcome::Clean } else { Outcome::Denied })
}

fn prune(args: &PruneArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let days = match args.older_than {
        Some(days) => days,
        None => Project::open(cli, &[])?.config.fleet.retention_days,
    };
    let dropped = match open_existing(&args.store, cli)? {
        Some(mut store) => store.prune(days, clock::now())?,
        None => Vec::new(),
    };
    let report = serde_json::json!({ "older_than_days": days, "dropped": dropped });
    answer::print(args.format, &report, || {
        let names: String = dropped.iter().map(|id| format!("  {id}\n")).collect();
        format!("dropped {} row(s) without a sign of life for {days} day(s)\n{names}", dropped.len())
    })?;
    Ok(Outcome::Clean)
}

/// The store, or nothing if there is no such file: a store that was never made is empty.
fn open_existing(args: &StoreArgs, cli: &Cli) -> Result<Option<Store>, Failure> {
    let path = store_path(args.store.as_deref(), cli)?;
    match Store::open(&path, OpenMode::Existing) {
        Ok(store) => Ok(Some(store)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
