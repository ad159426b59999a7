//! Whether this program would take a command line that somebody wrote down. Nothing is run.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::cli::{Cli, Command};
use super::sites::command_meant;
use super::{Failure, args};

/// The names of the commands, `help` among them.
pub fn commands() -> Vec<String> {
    let names = Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect::<Vec<_>>();
    names.into_iter().chain(["help".to_owned()]).collect()
}

/// Why the words after the program's name are refused, in a sentence without its full stop: a command or an
/// option that does not exist. What is only incomplete is not refused here, since a shell may add to it.
pub fn refused(words: &[&str]) -> Option<String> {
    let given = std::iter::once("restartlint").chain(words.iter().copied()).map(OsString::from).collect();
    match Cli::try_parse_from(args::with_default_command(given, &commands())) {
        Ok(Cli { command: Command::Check(check), .. }) => meant(&check.paths),
        Ok(_) => None,
        Err(error) if matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or("").trim_start_matches("error: ").to_owned();
            let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
            Some(tip.map_or(first.clone(), |tip| format!("{first} ({tip})")))
        }
        Err(_) => None,
    }
}

fn meant(paths: &[PathBuf]) -> Option<String> {
    command_meant(paths).map(Failure::text)
}
