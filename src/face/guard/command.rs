//! `guard command` and `guard hook`: the verdict, for a person and for an agent's host.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use clap::Args;

use super::judge;
use crate::face::answer::{self, Format};
use crate::face::cli::Cli;
use crate::face::input::Source;
use crate::face::project::Project;
use crate::face::{Failure, Outcome, output};
use crate::pass::guard::hook::{Asked, Event, Unreadable};

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
/// on standard error, which is what agents' hosts show to the agent. Whatever goes wrong blocks,
/// a fault of this program included: any other status would let the command run.
pub(super) fn hook(cli: &Cli) -> Result<Outcome, Failure> {
    let judged = catch_unwind(AssertUnwindSafe(|| decide(cli)));
    let why = match judged {
        Ok(Ok(None)) => return Ok(Outcome::Clean),
        Ok(Ok(Some(why))) => why,
        Ok(Err(failure)) => format!(
            "the guard could not judge the command\n{}\nnext step: mend what is named above; until then every \
             command is blocked, and `restartlint doctor` says whether all works",
            failure.text().trim_end()
        ),
        Err(_) => {
            "the guard met a fault of its own and could not judge the command\nnext step: report it with the \
                   text above; the person can run the command by hand"
                .to_owned()
        }
    };
    Err(Failure::new(format!("blocked: {why}")))
}

/// Why an event is blocked; `None` if it is allowed.
fn decide(cli: &Cli) -> Result<Option<String>, Failure> {
    let text = Source::Stdin.read()?.text;
    let unreadable = |fault: Unreadable| {
        format!(
            "{fault}\nnext step: have the host send a JSON object with `tool_name` and `tool_input.command`; \
             `restartlint guard hook --help` shows it"
        )
    };
    let event = match Event::read(&text) {
        Ok(event) => event,
        Err(fault) => return Ok(Some(unreadable(fault))),
    };
    let config = cli.config.as_deref().map(std::path::absolute).transpose()?;
    enter(event.folder());
    let project = Project::open(&cli.with_config(config), &[])?;
    let commands = match event.asked(&project.config.guard.shell_tools) {
        Ok(Asked::Commands(commands)) => commands,
        Ok(Asked::NoCommand) => return Ok(None),
        Err(fault) => return Ok(Some(unreadable(fault))),
    };
    let store = judge::configured_store(&project);
    for command in commands {
        let report = judge::judge(&command, &project, store.as_deref())?;
        if report.contaminated {
            let verdict = judge::verdict_name(&report);
            return Ok(Some(format!("{} ({verdict})\nnext step: {}", report.reason, report.next_step)));
        }
    }
    Ok(None)
}

/// Goes where the tool will run, so that the configuration, the store and the files that a command
/// names are those of that folder. Where there is no such folder, this process's own stays.
fn enter(folder: Option<&str>) {
    if let Some(folder) = folder
        && let Err(error) = std::env::set_current_dir(folder)
    {
        output::warn(&format!(
            "the folder that the event names, {}, cannot be entered ({error}): the guard judges from its own",
            output::shown(Path::new(folder))
        ));
    }
}
