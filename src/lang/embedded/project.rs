//! Project files with named commands: `package.json`, `pyproject.toml`, `Procfile`, `Taskfile.yml`.

use crate::base::facts::ProblemKind;
use crate::base::span::Span;
use crate::lang::collect::Collector;
use crate::lang::fragment::Fragment;

use super::data::{Data, Id};
use super::values;

/// How many tasks of a table are looked at.
const MOST_TASKS: usize = 100_000;

/// The `scripts` of a package.
pub(super) fn package_json(collector: &mut Collector<'_>, data: &Data) {
    for &root in &data.roots {
        let Some(scripts) = data.get(root, "scripts") else { continue };
        for (name, script) in data.entries(scripts) {
            if !name.starts_with("//") {
                values::shell(collector, data, script);
            }
        }
    }
}

/// Tasks and scripts of the tools that run commands; `project.scripts` are entry points, no commands.
pub(super) fn pyproject(collector: &mut Collector<'_>, data: &Data) {
    for &root in &data.roots {
        let Some(tool) = data.get(root, "tool") else { continue };
        for (name, table) in data.entries(tool) {
            match name {
                "poe" => {
                    tasks(collector, data, data.get(table, "tasks"), List::Commands);
                    for (_, group) in nested(data, table, "groups") {
                        tasks(collector, data, data.get(group, "tasks"), List::Commands);
                    }
                }
                "taskipy" | "pixi" => {
                    tasks(collector, data, data.get(table, "tasks"), List::Commands);
                    for (_, part) in
                        nested(data, table, "feature").into_iter().chain(nested(data, table, "target"))
                    {
                        tasks(collector, data, data.get(part, "tasks"), List::Commands);
                        for (_, target) in nested(data, part, "target") {
                            tasks(collector, data, data.get(target, "tasks"), List::Commands);
                        }
                    }
                }
                "pdm" | "rye" | "uv" | "hatch" | "pyflow" => {
                    let list = if name == "rye" { List::Words } else { List::Commands };
                    tasks(collector, data, data.get(table, "scripts"), list);
                    for (_, environment) in nested(data, table, "envs") {
                        tasks(collector, data, data.get(environment, "scripts"), list);
                    }
                }
                "tox" => {
                    if let Some(ini) = data.get(table, "legacy_tox_ini")
                        && let Some(fragment) = values::fragment(collector, data, ini)
                        && let Some(text) = fragment.text.as_literal().map(str::to_owned)
                    {
                        super::ini::tox_text(collector, &text, &|at| fragment.host(at));
                    }
                    let bases = ["env_run_base", "env_pkg_base"];
                    let bases = bases.iter().filter_map(|base| data.get(table, base));
                    let named = nested(data, table, "env").into_iter().map(|(_, environment)| environment);
                    for environment in bases.chain(named) {
                        for key in ["commands_pre", "commands", "commands_post"] {
                            let lists = data.get(environment, key).map(|c| data.items(c)).unwrap_or(&[]);
                            for &list in lists {
                                values::command(collector, data, list);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// The entries of a table in a table.
fn nested<'d>(data: &'d Data, table: Id, key: &str) -> Vec<(&'d str, Id)> {
    data.get(table, key).map(|inner| data.entries(inner)).unwrap_or_default()
}

/// What a list of texts is to a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    /// Commands, one after the other.
    Commands,
    /// One command's words.
    Words,
}

/// Named tasks: a string, a list, or a table with one of the keys that hold a command; lists hold tasks in turn.
fn tasks(collector: &mut Collector<'_>, data: &Data, table: Option<Id>, list: List) {
    const KEYS: [&str; 7] = ["cmd", "shell", "composite", "sequence", "parallel", "switch", "chain"];
    let Some(table) = table else { return };
    let mut pending: Vec<Id> = data.entries(table).into_iter().map(|(_, task)| task).rev().collect();
    let mut seen = 0;
    while let Some(task) = pending.pop() {
        seen += 1;
        if seen > MOST_TASKS {
            collector.problem(ProblemKind::GaveUp, Span::default(), "holds too many tasks to be read");
            return;
        }
        if data.text(task).is_some() {
            values::shell(collector, data, task);
            continue;
        }
        let items = data.items(task);
        if list == List::Words && !items.is_empty() && items.iter().all(|&item| data.text(item).is_some()) {
            values::list(collector, data, items);
            continue;
        }
        pending.extend(items.iter().rev());
        if !data.is_map(task) {
            continue;
        }
        for key in KEYS {
            match data.get(task, key) {
                Some(command) if key == "cmd" => values::command(collector, data, command),
                Some(command) => pending.push(command),
                None => {}
            }
        }
    }
}

/// `name: command` lines.
pub(super) fn procfile(collector: &mut Collector<'_>) {
    let text = &collector.source.text;
    let mut at = 0;
    let mut commands = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end();
        let Some((name, command)) = body.split_once(':') else { continue };
        if name.trim_start().starts_with('#') || name.trim().is_empty() || name.trim().contains(' ') {
            continue;
        }
        let from = start + body.len() - command.trim_start().len();
        commands.push(Span::new(from, start + body.len()));
    }
    for span in commands {
        let fragment = Fragment::of_host(&collector.source.text, span);
        collector.shell(&fragment);
    }
}

/// Commands, preconditions, status checks and shell variables of tasks.
pub(super) fn taskfile(collector: &mut Collector<'_>, data: &Data) {
    for &root in &data.roots {
        variables(collector, data, root);
        let Some(tasks) = data.get(root, "tasks") else { continue };
        for (_, task) in data.entries(tasks) {
            if !data.is_map(task) {
                steps(collector, data, task);
                continue;
            }
            variables(collector, data, task);
            for key in ["cmd", "cmds", "status", "preconditions", "if"] {
                if let Some(value) = data.get(task, key) {
                    steps(collector, data, value);
                }
            }
        }
    }
}

fn steps(collector: &mut Collector<'_>, data: &Data, id: Id) {
    let items = data.items(id);
    let single = [id];
    for &step in if items.is_empty() { &single[..] } else { items } {
        if data.text(step).is_some() {
            values::shell(collector, data, step);
            continue;
        }
        for key in ["cmd", "sh", "defer", "if"] {
            let Some(value) = data.get(step, key) else { continue };
            match data.get(value, "cmd") {
                Some(inner) => values::shell(collector, data, inner),
                None => values::shell(collector, data, value),
            }
        }
    }
}

fn variables(collector: &mut Collector<'_>, data: &Data, owner: Id) {
    for key in ["vars", "env"] {
        let entries = data.get(owner, key).map(|v| data.entries(v)).unwrap_or_default();
        for (_, value) in entries {
            if let Some(command) = data.get(value, "sh") {
                values::shell(collector, data, command);
            }
        }
    }
}
