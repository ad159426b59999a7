//! Workflows of Gitea and GitHub, composite actions, `.gitlab-ci.yml`, pre-commit configuration.

use crate::lang::collect::Collector;
use crate::lang::windows;

use super::data::{Data, Id};
use super::values;

/// `run` steps of jobs and of composite actions.
pub(super) fn workflow(collector: &mut Collector<'_>, data: &Data) {
    for &root in &data.roots {
        let top = default_shell(data, root);
        if let Some(jobs) = data.get(root, "jobs") {
            for (_, job) in data.entries(jobs) {
                let shell = default_shell(data, job).or_else(|| top.clone());
                steps(collector, data, job, shell.as_deref());
                // A job's container and services may be given a command of their own.
                for (_, service) in data.get(job, "services").map(|s| data.entries(s)).unwrap_or_default() {
                    if let Some(command) = data.get(service, "command") {
                        values::command(collector, data, command);
                    }
                }
            }
        }
        if let Some(runs) = data.get(root, "runs") {
            steps(collector, data, runs, None);
            // An action that is a container.
            let words: Vec<_> = ["entrypoint", "args"]
                .iter()
                .filter_map(|key| data.get(runs, key))
                .flat_map(|id| values::split(collector, data, id))
                .collect();
            collector.argv(&words);
            for key in ["pre-entrypoint", "post-entrypoint"] {
                if let Some(entry) = data.get(runs, key) {
                    values::command(collector, data, entry);
                }
            }
        }
    }
}

fn default_shell(data: &Data, id: Id) -> Option<String> {
    let run = data.get(data.get(id, "defaults")?, "run")?;
    data.text(data.get(run, "shell")?).map(str::to_owned)
}

fn steps(collector: &mut Collector<'_>, data: &Data, owner: Id, default: Option<&str>) {
    let Some(steps) = data.get(owner, "steps") else { return };
    for &step in data.items(steps) {
        let own = data.get(step, "shell").and_then(|s| data.text(s));
        let shell = own.or(default).unwrap_or("bash");
        let program = shell.split_whitespace().next().unwrap_or(shell);
        if matches!(program, "python" | "python3" | "node" | "perl" | "ruby") {
            continue;
        }
        let Some(run) = data.get(step, "run") else { continue };
        let windows = match program {
            "pwsh" | "powershell" => Some(true),
            "cmd" => Some(false),
            _ => None,
        };
        match (windows, values::fragment(collector, data, run)) {
            (Some(powershell), Some(fragment)) => {
                let text = fragment.text.display();
                let place = |at: usize| fragment.host(u32::try_from(at).unwrap_or(u32::MAX)) as usize;
                windows::script(collector, &text, powershell, &place);
            }
            _ => values::shell(collector, data, run),
        }
    }
}

/// Scripts of GitLab jobs and of the defaults.
pub(super) fn gitlab(collector: &mut Collector<'_>, data: &Data) {
    const KEYS: &[&str] = &["before_script", "script", "after_script", "pre_get_sources_script"];
    for &root in &data.roots {
        for key in KEYS {
            if let Some(script) = data.get(root, key) {
                values::scripts(collector, data, script);
            }
        }
        for (name, job) in data.entries(root) {
            if !data.is_map(job) || matches!(name, "variables" | "workflow" | "stages" | "include" | "spec") {
                continue;
            }
            let hooks = data.get(job, "hooks");
            let services = data.get(job, "services").map(|s| data.items(s)).unwrap_or(&[]);
            for &container in data.get(job, "image").iter().chain(services) {
                for key in ["entrypoint", "command"] {
                    if let Some(command) = data.get(container, key) {
                        values::command(collector, data, command);
                    }
                }
            }
            for &step in data.get(job, "run").map(|r| data.items(r)).unwrap_or(&[]) {
                if let Some(script) = data.get(step, "script") {
                    values::shell(collector, data, script);
                }
            }
            for owner in std::iter::once(job).chain(hooks) {
                for key in KEYS {
                    if let Some(script) = data.get(owner, key) {
                        values::scripts(collector, data, script);
                    }
                }
            }
        }
    }
}

/// Entries of pre-commit hooks. A `pygrep` entry is a regular expression, no command.
pub(super) fn pre_commit(collector: &mut Collector<'_>, data: &Data) {
    for &root in &data.roots {
        let mut hooks: Vec<Id> = data.items(root).to_vec();
        if let Some(repos) = data.get(root, "repos") {
            for &repo in data.items(repos) {
                hooks.extend(data.get(repo, "hooks").map(|h| data.items(h)).unwrap_or(&[]));
            }
        }
        for hook in hooks {
            let language = data.get(hook, "language").and_then(|l| data.text(l));
            if matches!(language, Some("pygrep" | "fail" | "docker_image")) {
                continue;
            }
            let Some(entry) = data.get(hook, "entry") else { continue };
            // The arguments follow the entry's words.
            let args = data.get(hook, "args").map(|a| data.items(a)).unwrap_or(&[]);
            let mut words = values::split(collector, data, entry);
            words.extend(values::words(collector, data, args));
            if args.is_empty() || !collector.argv(&words) {
                values::shell(collector, data, entry);
            }
        }
    }
}
