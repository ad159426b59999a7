//! RL309, RL401, RL402: what readers say about a file as a whole.

use super::ctx::{Ctx, finding};
use crate::base::facts::{FileFacts, Problem, ProblemKind};
use crate::base::finding::{Finding, Place, Severity};
use crate::base::span::Position;

fn each<'c>(ctx: &'c Ctx<'_>, kind: ProblemKind) -> impl Iterator<Item = (&'c FileFacts, &'c Problem)> {
    ctx.tree()
        .files
        .iter()
        .flat_map(|f| f.problems.iter().map(move |p| (f, p)))
        .filter(move |(_, p)| p.kind == kind)
}

/// RL309.
pub fn unbounded(ctx: &Ctx<'_>) -> Vec<Finding> {
    each(ctx, ProblemKind::UnboundedRestart)
        .map(|(file, problem)| {
            let place = ctx.place(file, problem.span);
            let message = "this restarts the service for ever, with no limit, back-off or final exit status";
            finding("RL309", place, message.to_owned(), problem.message.clone())
        })
        .collect()
}

/// RL402.
pub fn conflicts(ctx: &Ctx<'_>) -> Vec<Finding> {
    each(ctx, ProblemKind::Conflict)
        .map(|(file, problem)| {
            let help = "resolve the conflict; until then nobody knows what this file does";
            finding("RL402", ctx.place(file, problem.span), problem.message.clone(), help)
        })
        .collect()
}

/// RL401: daemon modules that are missing, and one finding for each file that could not be read in full.
pub fn unreadable(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = missing(ctx);
    for file in &ctx.tree().files {
        if file.problems.iter().any(|p| p.kind == ProblemKind::Conflict) {
            continue;
        }
        let mut faults = file.problems.iter().filter(|p| kept(p.kind));
        let Some(first) = faults.next() else { continue };
        let more = match faults.count() {
            0 => String::new(),
            1 => " (and one more fault)".to_owned(),
            n => format!(" (and {n} more faults)"),
        };
        let daemon = ctx.daemon(&file.path).is_some();
        let what = if daemon { "the daemon module" } else { "the file" };
        let message = format!("{what} `{}` {}{more}", file.path, first.message);
        let mut one = finding("RL401", ctx.place(file, first.span), message, help(first.kind));
        if !daemon {
            one.severity = Severity::Warning;
        }
        found.push(one);
    }
    found
}

fn kept(kind: ProblemKind) -> bool {
    !matches!(kind, ProblemKind::Conflict | ProblemKind::UnboundedRestart)
}

fn help(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Unreadable => "make it readable, or exclude it in the configuration",
        ProblemKind::TooLarge => "split it, exclude it, or raise `max-file-size` in the configuration",
        ProblemKind::GaveUp => "nothing is known of this file; exclude it only if it cannot hold a site",
        ProblemKind::Encoding => "save it as UTF-8, or declare its encoding",
        _ => "what could be read around the fault was checked; mend the fault so that the rest is too",
    }
}

/// Declared daemon modules that do not exist or cannot be read, at the configuration's line.
fn missing(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for daemon in ctx.tree().daemons.iter().filter(|d| d.declared && d.file.is_none()) {
        let path = &daemon.path;
        let (message, help) = if ctx.inputs.presence.unread.contains(path) {
            (
                format!("the daemon module `{path}` is declared, and it is of no kind that is read"),
                "declare the source files that run inside the daemon",
            )
        } else if ctx.tree().listed.contains(path) {
            continue;
        } else if let Some((folder, why)) = closed(ctx, path) {
            (
                format!("the daemon module `{path}` is declared, and `{folder}` {why}"),
                "make it readable for whoever runs this; a daemon that cannot be read is a daemon that nobody checks",
            )
        } else {
            let what = if path.contains(['*', '?', '[', '{']) {
                format!("the daemon modules `{path}` are declared, and no file matches")
            } else {
                format!("the daemon module `{path}` is declared, and there is no such file")
            };
            (
                what,
                "correct the entry under `daemon`; a daemon that nobody finds is a daemon that nobody checks",
            )
        };
        let entry = ctx.inputs.config.daemon.iter().find(|e| e.value == *path);
        let place = entry.and_then(|e| ctx.config_place(&e.span)).unwrap_or_else(|| start(path));
        found.push(finding("RL401", place, message, help));
    }
    found
}

/// The folder above a declared module, or above what a glob means, that could not be looked at.
fn closed<'c>(ctx: &'c Ctx<'_>, path: &str) -> Option<(&'c str, &'c str)> {
    let fixed = path.split(['*', '?', '[', '{']).next().unwrap_or("");
    let below =
        |folder: &str, name: &str| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    ctx.inputs
        .presence
        .closed
        .iter()
        .find(|(folder, _)| {
            below(folder, fixed) || *folder == path || (fixed != path && folder.starts_with(fixed))
        })
        .map(|(folder, why)| (folder.as_str(), why.as_str()))
}

fn start(path: &str) -> Place {
    let at = Position { line: 1, column: 1 };
    Place { path: path.to_owned(), start: at, end: at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::facts::{DaemonModule, Tree};
    use crate::base::sources::Sources;
    use crate::check::{Inputs, Presence};
    use crate::data::config::{Config, Host};

    fn messages(daemon: &str, closed: &[&str]) -> Vec<String> {
        let text = format!("daemon = [\"{daemon}\"]\n");
        let config = Config::read("restartlint.toml", &text, Host::Own).unwrap().unwrap();
        let reason = String::new();
        let tree = Tree {
            daemons: vec![DaemonModule { path: daemon.to_owned(), file: None, declared: true, reason }],
            ..Tree::default()
        };
        let why = "may not be read (permission denied)";
        let closed = closed.iter().map(|folder| (folder.to_string(), why.to_owned())).collect();
        let presence = Presence { closed, whole: true, ..Presence::default() };
        let sources = Sources::default();
        let inputs = Inputs {
            tree: &tree,
            sources: &sources,
            config: &config,
            inventory: None,
            document: None,
            presence: &presence,
        };
        unreadable(&Ctx::new(inputs)).into_iter().map(|f| f.message).collect()
    }

    #[test]
    fn a_daemon_in_a_closed_folder_is_not_called_missing() {
        for (daemon, closed) in [("srv/m.py", "srv"), ("srv/*.py", "srv"), ("a/**/m.py", "a/b")] {
            let found = messages(daemon, &[closed]);
            assert!(found[0].contains(&format!("`{closed}` may not be read")), "{found:?}");
        }
        for (daemon, closed) in [("srv/m.py", "sr"), ("srv/m.py", "srv/n"), ("srv/*.py", "other")] {
            let found = messages(daemon, &[closed]);
            assert!(!found[0].contains("may not be read"), "{found:?}");
        }
    }
}
