//! Project files with named commands: `package.json`, `pyproject.toml`, `Procfile`, `Taskfile.yml`.

use crate::base::span::Span;
use crate::lang::collect::Collector;
use crate::lang::fragment::Fragment;

use super::data::{Data, Id};
use super::values;

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
                "poe" => tasks(collector, data, data.get(table, "tasks")),
                "taskipy" | "pixi" => tasks(collector, data, data.get(table, "tasks")),
                "pdm" | "rye" | "uv" | "hatch" | "pyflow" => {
                    tasks(collector, data, data.get(table, "scripts"));
                    let environments = data.get(table, "envs").map(|e| data.entries(e)).unwrap_or_default();
                    for (_, environment) in environments {
                        tasks(collector, data, data.get(environment, "scripts"));
                    }
                }
                "tox" => {
                    if let Some(ini) = data.get(table, "legacy_tox_ini")
                        && let Some(fragment) = values::fragment(collector, data, ini)
                        && let Some(text) = fragment.text.as_literal().map(str::to_owned)
                    {
                        super::ini::tox_text(collector, &text, &|at| fragment.host(at));
                    }
                    let environments = data.get(table, "env").map(|e| data.entries(e)).unwrap_or_default();
                    for (_, environment) in environments {
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

/// Named tasks: a string, a list of strings, or a table with one of the keys that hold a command.
fn tasks(collector: &mut Collector<'_>, data: &Data, table: Option<Id>) {
    let Some(table) = table else { return };
    for (_, task) in data.entries(table) {
        if data.text(task).is_some() {
            values::shell(collector, data, task);
            continue;
        }
        for &item in data.items(task) {
            if data.text(item).is_some() {
                values::shell(collector, data, item);
            }
        }
        for key in ["cmd", "shell", "composite", "sequence"] {
            if data.is_map(task)
                && let Some(command) = data.get(task, key)
            {
                if key == "cmd" {
                    values::command(collector, data, command)
                } else {
                    values::scripts(collector, data, command)
                }
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
            for key in ["cmd", "cmds", "status", "preconditions"] {
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
        for key in ["cmd", "sh", "defer"] {
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
