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
///
/// The daemons are those of this process's own project and those of the folders that the event names: an agent
/// that goes elsewhere, where a configuration names others, still does not end them.
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
    let cli = cli.with_config(config);
    let mut projects = vec![Project::open(&cli, &[])?];
    let hosts = HOST_FOLDERS.iter().filter_map(std::env::var_os).filter(|folder| !folder.is_empty());
    for folder in hosts.map(PathBuf::from).filter(|folder| folder.is_dir()) {
        add(&mut projects, Project::open(&cli, &[folder])?);
    }
    enter(event.folder());
    add(&mut projects, Project::open(&cli, &[])?);
    let mut tools: Vec<String> =
        projects.iter().flat_map(|project| project.config.guard.shell_tools.clone()).collect();
    tools.sort();
    let Asked::Commands { commands, programs, folders } = (match event.asked(&tools) {
        Ok(asked) => asked,
        Err(fault) => return Ok(Some(unreadable(fault))),
    }) else {
        return Ok(None);
    };
    let here = std::env::current_dir()?;
    let mut places: Vec<Option<&str>> = folders.iter().map(|folder| Some(folder.as_str())).collect();
    if places.is_empty() {
        places.push(None);
    }
    let mut told = 0;
    for place in places {
        std::env::set_current_dir(&here)?;
        enter(place);
        if place.is_some() {
            add(&mut projects, Project::open(&cli, &[])?);
        }
        // Of each project once, whatever is judged there.
        for store in projects.iter().skip(told).filter_map(judge::missing_store) {
            let store = output::shown(&store);
            output::note(
                &cli,
                &format!("restartlint: note: the store {store} does not exist: no registry is asked"),
            );
        }
        told = projects.len();
        let of_commands = commands.iter().map(|command| judge::judge_among(command, &projects));
        let of_programs = programs.iter().map(|program| judge::judge_program(program, &projects));
        for report in of_commands.chain(of_programs) {
            let report = report?;
            if report.contaminated {
                let verdict = judge::verdict_name(&report);
                return Ok(Some(format!("{} ({verdict})\nnext step: {}", report.reason, report.next_step)));
            }
        }
    }
    Ok(None)
}

/// Variables in which hosts tell a hook the root of the session's project, wherever the agent has gone since.
const HOST_FOLDERS: [&str; 2] = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];

/// Adds a project that is not there yet.
fn add(projects: &mut Vec<Project>, project: Project) {
    if !projects.iter().any(|known| known.root == project.root) {
        projects.push(project);
    }
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
