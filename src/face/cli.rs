//! The argument grammar. Each command's arguments stand in its own file; this one
//! only names the commands and hands over.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::{Failure, Outcome};

/// Finds the places where a long-lived stdio daemon can restart, kill, reload or replace itself.
#[derive(Debug, Parser)]
#[command(name = "restartlint", version, about)]
pub struct Cli {
    /// Read this configuration instead of the nearest one upward from the first path.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {}

/// Runs the chosen command.
pub fn dispatch(cli: &Cli) -> Result<Outcome, Failure> {
    match cli.command {}
}
