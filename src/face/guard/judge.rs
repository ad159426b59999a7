//! What the guard must know of this project and this machine, and its verdict.
//!
//! Evidence is gathered only where it can matter: a command that does nothing to a process
//! is answered without a look at the process table, the store or a scanner.

use std::path::{Path, PathBuf};

use super::scripts;
use crate::base::facts::{Language, ProblemKind};
use crate::command::Inline;
use crate::data::commands::CommandCatalogue;
use crate::data::config::Config;
use crate::data::inventory::Classification;
use crate::data::programs;
use crate::edge::process;
use crate::edge::store::{OpenMode, Store};
use crate::face::Failure;
use crate::face::project::Project;
use crate::pass::fleet::{server_name, server_names};
use crate::pass::guard::{Daemons, Forbidden, Guard, GuardReport, InlineSite, KnownProcess};
use crate::scan::{self, ScanRequest, Stdin, Watch};

/// How many files are looked through for a wildcard among the daemon modules.
const MOST_FILES: usize = 20_000;
/// How many inline programs of one command are given to their scanners.
const MOST_PROGRAMS: usize = 32;

/// The verdict on a command in a project; `store` is the runtime registry, where one is given.
pub(in crate::face) fn judge(
    command: &str,
    project: &Project,
    store: Option<&Path>,
) -> Result<GuardReport, Failure> {
    verdict(command, std::slice::from_ref(project), store.map(Path::to_path_buf).as_slice())
}

/// The verdict where the daemons of several projects are to be held, with their own stores.
pub(super) fn judge_among(command: &str, projects: &[Project]) -> Result<GuardReport, Failure> {
    let stores: Vec<PathBuf> = projects.iter().filter_map(configured_store).collect();
    verdict(command, projects, &stores)
}

fn verdict(command: &str, projects: &[Project], stores: &[PathBuf]) -> Result<GuardReport, Failure> {
    let catalogue = CommandCatalogue::shared();
    let roots: Vec<&Path> = projects.iter().map(|project| project.root.as_path()).collect();
    let examined = scripts::examined(command, catalogue, &roots);
    let mut known = Vec::new();
    for project in projects {
        known.extend(names(project)?);
    }
    let mut daemons = Daemons::named(known, catalogue);
    daemons.modules = projects.iter().flat_map(modules).collect();
    // A store that is named must be readable, whatever the command is.
    for store in stores {
        for row in Store::open(store, OpenMode::Existing)?.runtimes(Some("running"))? {
            if let Some(pid) = row.pid {
                daemons.registered.insert(pid, row.runtime_id.clone());
            }
        }
    }
    if examined.acts() {
        observe(&mut daemons);
        for project in projects {
            daemons.forbidden.extend(forbidden(project)?);
        }
    }
    // Of very many programs the rest are decided by their text alone.
    let inline: Vec<_> = examined.inline().iter().take(MOST_PROGRAMS).map(scanned).collect();
    Ok(Guard::new(catalogue, &daemons).judge_examined(&examined, &inline))
}

/// The verdict on a program of a language that is not told: one of Python's, or what a shell may be given. As the
/// latter it counts only if it then hits a daemon, since most programs are no commands at all.
pub(super) fn judge_program(program: &str, projects: &[Project]) -> Result<GuardReport, Failure> {
    let python = format!("python3 -c '{}'", program.replace('\'', "'\\''"));
    let report = judge_among(&python, projects)?;
    if report.contaminated {
        return Ok(report);
    }
    let as_command = judge_among(program, projects)?;
    let hits = as_command.verdict == crate::pass::guard::Verdict::Contaminating;
    Ok(if hits { as_command } else { report })
}

/// Names of the daemons: configured processes, daemon modules' file names and the commands that are
/// installed for them, and the processes that the inventory's forbidden paths name.
pub(in crate::face) fn names(project: &Project) -> Result<Vec<String>, Failure> {
    let modules = modules(project);
    let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
    let mut names = server_names(&project.config.guard.processes, &modules);
    names.extend(installed(project, &modules));
    if let Some(inventory) = project.inventory()? {
        names.extend(inventory.paths.iter().flat_map(|p| &p.processes).map(|p| p.value.clone()));
    }
    Ok(names)
}

/// The files of the daemon modules.
fn modules(project: &Project) -> Vec<String> {
    let mut modules: Vec<String> = Vec::new();
    for entry in &project.config.daemon {
        if entry.value.contains(['*', '?', '[', '{']) {
            modules.extend(matching(&project.root, &entry.value));
        } else {
            modules.push(entry.value.clone());
        }
    }
    modules
}

/// The commands under which the project's own metadata installs a daemon module, or the package around one.
fn installed(project: &Project, modules: &[&str]) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(project.root.join(name)).unwrap_or_default();
    let dotted: Vec<String> = modules.iter().filter_map(|module| programs::dotted(module)).collect();
    let scripts = programs::scripts(&read("pyproject.toml")).into_iter().filter(|script| {
        let is_inside = |of: &str| of == script.module || of.ends_with(&format!(".{}", script.module));
        dotted.iter().any(|module| {
            is_inside(module) || module.rsplit_once('.').is_some_and(|(package, _)| is_inside(package))
        })
    });
    let bins = programs::bins(&read("package.json")).into_iter().filter(|(_, file)| {
        // What is built from a module keeps its name.
        modules.iter().any(|module| stem(module) == stem(file))
    });
    scripts.map(|script| script.name).chain(bins.map(|(name, _)| name)).collect()
}

/// A file's name without its folder and its suffix.
fn stem(file: &str) -> Option<&std::ffi::OsStr> {
    Path::new(file).file_stem()
}

/// The files that a wildcard among the daemon modules means.
fn matching(root: &Path, glob: &str) -> Vec<String> {
    let Some(set) = crate::discover::glob_set([glob]) else { return Vec::new() };
    let start = root.join(crate::discover::literal_prefix(glob));
    let folder = if start.is_dir() { start } else { start.parent().unwrap_or(root).to_path_buf() };
    walkdir::WalkDir::new(folder)
        .max_depth(12)
        .sort_by_file_name()
        .into_iter()
        .take(MOST_FILES)
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| crate::discover::relative(root, entry.path()))
        .filter(|path| set.is_match(path))
        .collect()
}

/// What the system shows of its processes. A table that cannot be read is no evidence.
fn observe(daemons: &mut Daemons) {
    let table = process::table();
    let mut ancestors = vec![process::own_pid()];
    while let Some(parent) =
        ancestors.last().and_then(|pid| table.processes.iter().find(|p| p.pid == *pid)).and_then(|p| p.parent)
        && !ancestors.contains(&parent)
    {
        ancestors.push(parent);
    }
    for process in &table.processes {
        let known = KnownProcess {
            name: process.name.clone(),
            line: process.argv.join(" "),
            daemon: server_name(&process.argv, daemons.names()).is_some(),
            ancestor: ancestors.contains(&process.pid),
        };
        daemons.processes.insert(process.pid, known);
    }
}

fn forbidden(project: &Project) -> Result<Vec<Forbidden>, Failure> {
    let Some(inventory) = project.inventory()? else { return Ok(Vec::new()) };
    Ok(inventory
        .paths
        .iter()
        .filter(|path| path.classification.value == Classification::Forbidden)
        .map(|path| Forbidden {
            id: path.id.value.clone(),
            commands: path.commands.iter().map(|c| c.value.clone()).collect(),
            processes: path.processes.iter().map(|p| p.value.clone()).collect(),
        })
        .collect())
}

/// What its own language's scanner says of an inline program; `None` where there is none, or
/// where the program does not parse.
fn scanned(program: &Inline) -> Option<Vec<InlineSite>> {
    let name = match program.interpreter.as_str() {
        "python" | "pypy" | "py" => "command.py",
        "node" | "nodejs" | "bun" => "command.mjs",
        _ => return None,
    };
    let bytes = program.code.clone()?.into_bytes();
    let config = Config::default();
    let request = ScanRequest {
        root: std::path::PathBuf::from("/"),
        paths: Vec::new(),
        stdin: Some(Stdin { name: name.to_owned(), bytes }),
        config: &config,
        watch: Watch::default(),
        languages: None,
        jobs: Some(1),
        reach: false,
        cache: None,
        whole: false,
        progress: None,
    };
    let scan = scan::scan(&request).ok()?;
    let file = scan.tree.files.first();
    let fault = |kind: ProblemKind| matches!(kind, ProblemKind::Syntax | ProblemKind::GaveUp);
    match file {
        Some(facts) if facts.problems.iter().any(|p| fault(p.kind)) => None,
        // A language without a scanner says nothing.
        Some(facts) if facts.program.is_none() && facts.language != Language::Python => None,
        Some(facts) => Some(
            facts
                .sites
                .iter()
                .map(|site| InlineSite {
                    effect: site.effect,
                    primitive: site.primitive.clone(),
                    target: site.target.clone(),
                    command: site.command.clone(),
                })
                .collect(),
        ),
        None if name.ends_with(".py") => Some(Vec::new()),
        None => None,
    }
}

/// The verdict for the record: an attempt is recorded whatever is wrong here.
pub(super) fn judge_for_record(command: &str, cli: &crate::face::cli::Cli) -> Result<GuardReport, String> {
    let judged = Project::open(cli, &[]).and_then(|project| judge(command, &project, None));
    judged.map_err(|failure| match failure {
        Failure::Message(text) => text,
        _ => "the configuration cannot be read".to_owned(),
    })
}

/// Says a report in a few lines.
pub(super) fn text(report: &GuardReport) -> String {
    use crate::base::terminal::one_line;
    let mut out = format!("{}: {}\n", verdict_name(report), one_line(&report.reason));
    for action in &report.actions {
        let target = action.target.as_deref().unwrap_or("");
        out.push_str(&format!(
            "  {}..{}  {} {} {}  [{}]\n",
            action.span.start,
            action.span.end,
            action.effect,
            one_line(&action.primitive),
            one_line(target),
            serde_json::json!(action.reason_code).as_str().unwrap_or(""),
        ));
    }
    if let Some(id) = &report.path_id {
        out.push_str(&format!("registered path: {}\n", one_line(id)));
    }
    out.push_str(&format!("next step: {}\n", one_line(&report.next_step)));
    out
}

/// The verdict's name.
pub(super) fn verdict_name(report: &GuardReport) -> &'static str {
    use crate::pass::guard::Verdict;
    match report.verdict {
        Verdict::Clean => "clean",
        Verdict::Contaminating => "contaminating",
        Verdict::Undetermined => "undetermined",
    }
}

/// The store of a hook: the configuration's, where it is there.
fn configured_store(project: &Project) -> Option<PathBuf> {
    named_store(project).filter(|path| path.exists())
}

/// The store that a configuration names and that is not there.
pub(super) fn missing_store(project: &Project) -> Option<PathBuf> {
    named_store(project).filter(|path| !path.exists())
}

fn named_store(project: &Project) -> Option<PathBuf> {
    Some(project.file(&project.config.store.as_ref()?.value))
}
