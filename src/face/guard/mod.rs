//! `guard`: what a shell command does to the daemon, and what somebody has done.

mod command;
pub(super) mod judge;
pub(super) mod marker;
mod scripts;

use clap::{Args, Subcommand};

use super::cli::Cli;
use super::{Failure, Outcome};

/// Does a command kill the daemon, and has someone done so?
#[derive(Debug, Args)]
pub struct GuardArgs {
    #[command(subcommand)]
    command: GuardCommand,
}

#[derive(Debug, Subcommand)]
enum GuardCommand {
    /// Judge a command. Exit 0 if it is clean, 1 if it may hit a daemon.
    Command(command::CommandArgs),
    /// Judge an agent's pre-tool-use event on standard input. Exit 0 to allow, 2 to block.
    ///
    /// A host that keeps its hooks in `.claude/settings.json` calls it by
    /// {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "restartlint guard hook"}]}]}}.
    /// Any other host works if it sends a JSON object with `tool_name` and `tool_input.command`.
    Hook,
    /// Record that a command was run, as an open contamination marker. Exit 0 once it is on the disk.
    Record(marker::RecordArgs),
    /// Say which markers are open. Exit 1 while there is one.
    Status(marker::StatusArgs),
    /// Clear a marker. The authority comes from the environment that this process was started with.
    Clear(marker::ClearArgs),
}

/// Runs a `guard` command.
pub fn run(args: &GuardArgs, cli: &Cli) -> Result<Outcome, Failure> {
    match &args.command {
        GuardCommand::Command(args) => command::command(args, cli),
        GuardCommand::Hook => command::hook(cli),
        GuardCommand::Record(args) => marker::record(args, cli),
        GuardCommand::Status(args) => marker::status(args, cli),
        GuardCommand::Clear(args) => marker::clear(args, cli),
    }
}
