//! Compose files: the commands of services, and restart policies without a limit.

use crate::base::facts::ProblemKind;
use crate::lang::collect::Collector;

use super::data::{Data, Id};
use super::values;

/// Services: command, entry point, health check, life-cycle hooks; RL309 for their restart policy.
pub(super) fn compose(collector: &mut Collector<'_>, data: &Data) {
    for &root in &data.roots {
        // The first version of the format has the services at the top.
        let services = data.get(root, "services").unwrap_or(root);
        for (_, service) in data.entries(services) {
            if data.is_map(service) {
                read_service(collector, data, service);
            }
        }
    }
}

fn read_service(collector: &mut Collector<'_>, data: &Data, service: Id) {
    let entrypoint = data.get(service, "entrypoint");
    let command = data.get(service, "command");
    // The command is the entry point's arguments.
    let joined = entrypoint.zip(command).is_some_and(|(entrypoint, command)| {
        let lists = [data.items(entrypoint), data.items(command)];
        if lists.iter().all(|list| !list.is_empty()) {
            values::list(collector, data, &lists.concat())
        } else {
            let words = [entrypoint, command].map(|id| values::split(collector, data, id));
            words.iter().all(|words| !words.is_empty()) && collector.argv(&words.concat())
        }
    });
    for id in [entrypoint, command].into_iter().flatten().filter(|_| !joined) {
        values::command(collector, data, id);
    }
    if let Some(test) = data.get(service, "healthcheck").and_then(|h| data.get(h, "test")) {
        health_check(collector, data, test);
    }
    for hook in ["post_start", "pre_stop"] {
        let hooks = data.get(service, hook).map(|h| data.items(h)).unwrap_or(&[]);
        for &hook in hooks {
            if let Some(command) = data.get(hook, "command") {
                values::command(collector, data, command);
            }
        }
    }
    let watched = data.get(service, "develop").and_then(|d| data.get(d, "watch"));
    for &rule in watched.map(|w| data.items(w)).unwrap_or(&[]) {
        if let Some(command) = data.get(rule, "exec").and_then(|e| data.get(e, "command")) {
            values::command(collector, data, command);
        }
    }
    restart_policy(collector, data, service);
    swarm_policy(collector, data, service);
}

/// `["CMD", …]`, `["CMD-SHELL", TEXT]` or a string.
fn health_check(collector: &mut Collector<'_>, data: &Data, test: Id) {
    match data.items(test).split_first() {
        None => values::shell(collector, data, test),
        Some((&kind, rest)) => match data.text(kind) {
            Some("CMD-SHELL") => {
                for &text in rest {
                    values::shell(collector, data, text);
                }
            }
            Some("CMD") => {
                let words = values::words(collector, data, rest);
                collector.argv(&words);
            }
            _ => {}
        },
    }
}

/// A swarm's policy that starts again after every end, with no number of attempts.
fn swarm_policy(collector: &mut Collector<'_>, data: &Data, service: Id) {
    let Some(policy) = data.get(service, "deploy").and_then(|d| data.get(d, "restart_policy")) else {
        return;
    };
    let Some(condition) = data.get(policy, "condition") else { return };
    if data.text(condition) == Some("any") && data.get(policy, "max_attempts").is_none() {
        let span = data.key_span(policy, "condition").unwrap_or_default();
        let message = "`condition: any` starts the service again for ever, whatever it exits with; \
                       `condition: on-failure` with `max_attempts` sets a limit";
        collector.problem(ProblemKind::UnboundedRestart, span, message);
    }
}

fn restart_policy(collector: &mut Collector<'_>, data: &Data, service: Id) {
    let Some(restart) = data.get(service, "restart") else { return };
    let policy = data.text(restart).unwrap_or("").to_owned();
    let unlimited = matches!(policy.as_str(), "always" | "unless-stopped");
    let limited = data
        .get(service, "deploy")
        .and_then(|d| data.get(d, "restart_policy"))
        .is_some_and(|p| data.get(p, "max_attempts").is_some());
    if unlimited && !limited {
        let span = data
            .key_span(service, "restart")
            .or_else(|| data.node(restart).map(|n| n.span))
            .unwrap_or_default();
        let message = format!(
            "`restart: {policy}` starts the service again for ever, whatever it exits with; \
             `restart: on-failure:5`, or `deploy.restart_policy.max_attempts`, sets a limit"
        );
        collector.problem(ProblemKind::UnboundedRestart, span, message);
    }
}
