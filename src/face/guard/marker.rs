//! `guard record`, `status` and `clear`: the durable marker.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::base::terminal::one_line;
use crate::edge::store::{OpenMode, Store};
use crate::edge::{authority, chance, clock};
use crate::face::answer::{self, Format};
use crate::face::cli::Cli;
use crate::face::store::{open_or_make, store_path};
use crate::face::{Failure, Outcome};
use crate::pass::marker::{Cleared, Marker, MarkerStatus, MarkerVerdict, Recorded};

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// The command that was run.
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    command: String,
    /// The session that ran it.
    #[arg(long, value_name = "ID")]
    session: String,
    /// The store, made if it is not there; else the configuration's.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// How to answer: JSON in either case, for a person on one line.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// The store; else the configuration's.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ClearArgs {
    /// The marker's id.
    #[arg(value_name = "ID")]
    marker_id: String,
    /// The store; else the configuration's.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn record(args: &RecordArgs, cli: &Cli) -> Result<Outcome, Failure> {
    // Blank input is told before a store is looked for.
    let said = Said::of(&args.command, &args.session)?;
    let path = store_path(args.store.as_deref(), cli)?;
    let recorded = recorded(said, &path, cli)?;
    answer::print(args.format, &recorded, || format!("{}\n", serde_json::json!(recorded)))?;
    Ok(Outcome::Clean)
}

/// What was run and who ran it, neither of them blank.
pub(in crate::face) struct Said<'a> {
    command: &'a str,
    session: &'a str,
}

impl<'a> Said<'a> {
    /// Refuses what says nothing.
    pub fn of(command: &'a str, session: &'a str) -> Result<Said<'a>, Failure> {
        if session.trim().is_empty() {
            return Err(Failure::new("the session is blank; a marker says who ran the command"));
        }
        if command.trim().is_empty() {
            return Err(Failure::new("the command is blank; a marker says what was run"));
        }
        Ok(Said { command, session })
    }
}

/// Judges a command that was run, and puts the marker on the disk.
pub(in crate::face) fn recorded(said: Said<'_>, store: &Path, cli: &Cli) -> Result<Recorded, Failure> {
    let (verdict, reason) = judge(said.command, cli);
    let marker = Marker {
        marker_id: chance::fresh_id("marker-")?,
        command: said.command.to_owned(),
        session_id: said.session.to_owned(),
        verdict,
        reason: Some(reason),
        recorded_at: format!("{:.3}", clock::now()),
        cleared_at: None,
        cleared_by: None,
    };
    open_or_make(store)?.record_marker(&marker)?;
    // Only now is it durable, and only now may anybody believe it.
    Ok(Recorded::of(&marker))
}

/// The guard's verdict on a command. An attempt is recorded whatever is wrong here: what
/// cannot be judged is undetermined.
fn judge(command: &str, cli: &Cli) -> (MarkerVerdict, String) {
    match super::judge::judge_for_record(command, cli) {
        Ok(report) => (MarkerVerdict::from_name(super::judge::verdict_name(&report)), report.reason),
        Err(why) => (MarkerVerdict::Undetermined, format!("The command was not judged: {why}")),
    }
}

pub(super) fn status(args: &StatusArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let path = store_path(args.store.as_deref(), cli)?;
    let status = MarkerStatus::of(Store::open(&path, OpenMode::Existing)?.markers()?);
    answer::print(args.format, &status, || {
        let mut text = format!("{}\nnext step: {}\n", status.reason, status.next_step);
        for marker in &status.open_markers {
            text.push_str(&format!(
                "  {}  {}  session {}  {}: {}\n",
                one_line(&marker.marker_id),
                one_line(&marker.recorded_at),
                one_line(&marker.session_id),
                marker.verdict.name(),
                one_line(&marker.command),
            ));
        }
        text
    })?;
    Ok(if status.contaminated { Outcome::Denied } else { Outcome::Clean })
}

pub(super) fn clear(args: &ClearArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let path = store_path(args.store.as_deref(), cli)?;
    let mut store = Store::open(&path, OpenMode::Existing)?;
    let granted = authority::look();
    let id = &args.marker_id;
    let report = if granted.maintenance {
        let by = format!("maintenance authority of the {}", granted.source.name());
        match store.clear_marker(id, &format!("{:.3}", clock::now()), &by)? {
            Some(marker) => Cleared::done(&marker),
            None => Cleared::unknown(id),
        }
    } else {
        Cleared::not_authorized(id)
    };
    answer::print(args.format, &report, || format!("{}\nnext step: {}\n", report.reason, report.next_step))?;
    Ok(if report.cleared { Outcome::Clean } else { Outcome::Denied })
}
