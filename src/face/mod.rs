//! Floor 5: the command line. Arguments are parsed purely, then the world is touched.

// The face is one of the three places that may read files, the environment and the clock.
#![allow(clippy::disallowed_methods)]

pub mod answer;
pub mod args;
pub mod attempt;
pub mod check;
pub mod cli;
pub mod doctor;
pub mod drain;
pub mod explain;
pub mod failure;
pub mod fleet;
mod fleet_text;
pub mod guard;
pub mod impact;
pub mod init;
pub mod input;
pub mod inventory;
pub mod known;
pub mod lease;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod output;
pub mod parity;
pub mod policy;
pub mod progress;
pub mod project;
pub mod question;
pub mod reach;
pub mod rules;
pub mod shell;
pub mod sites;
pub mod spelled;
pub mod stdin;
pub mod store;
mod unread;

pub use failure::{Failure, Outcome};

use clap::Parser;

/// Parses the process's arguments, runs the command and gives the exit status:
/// 0 clean or allowed, 1 a finding or a denial, 2 the work could not be done.
pub fn main() -> std::process::ExitCode {
    // Before anything else: authority is what the environment granted at the start.
    crate::edge::authority::look();
    let args = args::with_default_command(std::env::args_os().collect(), &spelled::commands());
    let cli = match cli::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output with status 0, usage errors to standard error with 2.
            let _ = error.print();
            return std::process::ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    output::choose_color(cli.color);
    if !cli.command.serves() {
        stop_on_interrupt();
    }
    match cli::dispatch(&cli) {
        Ok(outcome) => std::process::ExitCode::from(outcome.status()),
        Err(failure) => std::process::ExitCode::from(failure.report()),
    }
}

/// An interrupt ends the run with status 130, as shells expect it. A server has no such handler:
/// of itself it ends with its input alone.
fn stop_on_interrupt() {
    // Where no handler can be set, the signal's own way of ending the process stays.
    let _ = ctrlc::set_handler(|| std::process::exit(130));
}
