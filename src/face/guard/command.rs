//! `guard command` and `guard hook`: the verdict, for a person and for an agent's host.

use std::path::PathBuf;

use clap::Args;

use super::judge;
use crate::face::answer::{self, Format};
use crate::face::cli::Cli;
use crate::face::input::Source;
use crate::face::project::Project;
use crate::face::{Failure, Outcome};
use crate::pass::guard::hook::{self, Asked};

#[derive(Debug, Args)]
pub(super) struct CommandArgs {
    /// The command, as one argument; `-` reads it from standard input.
    #[arg(value_name = "COMMAND", required = true, num_args = 1.., allow_hyphen_values = true)]
    command: Vec<String>,
    /// The store with the runtime registry: a pid of a running row is a daemon's.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// How to answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn command(args: &CommandArgs, cli: &Cli) -> Result<Outcome, Failure> {
    let command = match args.command.as_slice() {
        [one] if one == "-" => Source::Stdin.read()?.text,
        [one] => one.clone(),
        _ => {
            return Err(Failure::new(
                "the command is one argument: put it in quotes, as in `restartlint guard command -- 'pkill -f x'`",
            ));
        }
    };
    let project = Project::open(cli, &[])?;
    let report = judge::judge(&command, &project, args.store.as_deref())?;
    answer::print(args.format, &report, || judge::text(&report))?;
    Ok(if report.contaminated { Outcome::Denied } else { Outcome::Clean })
}

/// Reads an event on standard input. Allowed is status 0; blocked is status 2 with the reason
/// on standard error, which is what agents' hosts show to the agent.
pub(super) fn hook(cli: &Cli) -> Result<Outcome, Failure> {
    let blocked = |why: String| Failure::new(format!("blocked: {why}"));
    let event = Source::Stdin.read()?;
    let project = Project::open(cli, &[])?;
    let asked =
        hook::read(&event.text, &project.config.guard.shell_tools).map_err(|e| blocked(e.to_string()))?;
    let Asked::Commands(commands) = asked else { return Ok(Outcome::Clean) };
    let store = judge::configured_store(&project);
    for command in commands {
        let report = judge::judge(&command, &project, store.as_deref())?;
        if report.contaminated {
            return Err(blocked(format!(
                "{} ({})\nnext step: {}",
                report.reason,
                judge::verdict_name(&report),
                report.next_step
            )));
        }
    }
    Ok(Outcome::Clean)
}
