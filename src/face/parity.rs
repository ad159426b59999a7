//! `parity`: is the revision that a server started from still the checkout's?

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};

use super::answer::{self, Format};
use super::cli::Cli;
use super::store::store_path;
use super::{Failure, Outcome};
use crate::edge::revision;
use crate::edge::store::{OpenMode, Store};
use crate::pass::parity::{ParityReport, compare};

/// Is the revision that runs still the checkout's? Exit 0 only if it is; nothing is ever restarted for it.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("started").required(true))]
pub struct ParityArgs {
    /// The full revision that the server started from.
    #[arg(long, value_name = "REVISION", group = "started")]
    started_head: Option<String>,
    /// The registered server, whose row tells the revision and the checkout.
    #[arg(long, value_name = "ID", group = "started")]
    runtime: Option<String>,
    /// The store of the registry; else the configuration's.
    #[arg(long, value_name = "FILE", requires = "runtime")]
    store: Option<PathBuf>,
    /// The checkout; else the row's, else the working folder.
    #[arg(long, value_name = "FOLDER")]
    checkout: Option<PathBuf>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The revision that a registered server started from, and its checkout.
pub(super) fn registered(runtime: &str, store: &Path) -> Result<(Option<String>, Option<PathBuf>), Failure> {
    let rows = Store::open(store, OpenMode::Existing)?.runtimes(None)?;
    let row = rows.into_iter().find(|row| row.runtime_id == *runtime);
    let row = row.ok_or_else(|| {
        Failure::new(format!("no runtime `{runtime}` is registered; `fleet list` shows those that are"))
    })?;
    Ok((row.startup_head, row.repository_root.map(PathBuf::from)))
}

/// A revision against the one of a checkout.
pub(super) fn compared(started: Option<&str>, checkout: &Path) -> ParityReport {
    let head = revision::head(checkout).map_err(|error| error.to_string());
    compare(started, head.as_deref().map_err(String::as_str))
}

/// Runs `parity`.
pub fn run(args: &ParityArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let mut started = args.started_head.clone();
    let mut checkout = args.checkout.clone();
    if let Some(runtime) = &args.runtime {
        let path = store_path(args.store.as_deref(), cli)?;
        let (head, root) = registered(runtime, &path)?;
        started = head;
        checkout = checkout.or(root);
    }
    let report = compared(started.as_deref(), checkout.as_deref().unwrap_or(Path::new(".")));
    answer::print(args.format, &report, || {
        let shown = |head: &Option<String>| head.clone().unwrap_or_else(|| "unknown".to_owned());
        format!(
            "{}\n  started from {}\n  checkout at  {}\nnext step: {}\n",
            report.reason,
            shown(&report.started_head),
            shown(&report.current_head),
            report.next_step
        )
    })?;
    Ok(if report.mutations_blocked { Outcome::Denied } else { Outcome::Clean })
}
