//! `check`: the linter.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cli::Cli;
use super::project::Project;
use super::sites::{ScanArgs, incomplete, scan_project};
use super::{Failure, Outcome, output};
use crate::base::finding::Severity;
use crate::render;
use crate::report::{Report, Summary};
use crate::scan::Watch;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files and folders to read; the working folder if none is given.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub format: Format,
    /// Options of the scan.
    #[command(flatten)]
    pub scan: ScanArgs,
}

/// The output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Excerpts for people.
    Text,
    /// One document for machines.
    Json,
    /// A finding a line.
    Jsonl,
}

/// Runs `check`.
pub fn run(args: &CheckArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let project = Project::open(cli, &args.paths)?;
    let scan = scan_project(&project, &args.scan, Watch::default(), None, cli)?;
    let report = Report {
        daemons: scan.tree.daemons.clone(),
        summary: Summary {
            files_seen: scan.tree.listed.len(),
            files_scanned: scan.tree.scanned,
            sites: scan.tree.files.iter().map(|f| f.sites.len()).sum(),
            ..Summary::default()
        },
        ..Report::default()
    };
    let text = match args.format {
        Format::Text | Format::Json => render::json::json(&report),
        Format::Jsonl => render::json::jsonl(&report),
    };
    output::result(&text, None)?;
    if let Some(failure) = incomplete(&scan) {
        return Err(failure);
    }
    Ok(if report.fails(Some(Severity::Error)) { Outcome::Denied } else { Outcome::Clean })
}
