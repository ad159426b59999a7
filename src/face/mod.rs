//! Floor 5: the command line. Arguments are parsed purely, then the world is touched.

// The face is one of the three places that may read files, the environment and the clock.
#![allow(clippy::disallowed_methods)]

pub mod cli;
pub mod failure;

pub use failure::{Failure, Outcome};

use clap::Parser;

/// Parses the process's arguments, runs the command and gives the exit status:
/// 0 clean or allowed, 1 a finding or a denial, 2 the work could not be done.
pub fn main() -> std::process::ExitCode {
    let cli = cli::Cli::parse();
    match cli::dispatch(&cli) {
        Ok(outcome) => std::process::ExitCode::from(outcome.status()),
        Err(failure) => std::process::ExitCode::from(failure.report()),
    }
}
