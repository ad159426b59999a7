//! RL101 to RL108: a site in the daemon's reach.

use super::ctx::{Ctx, related, site_finding};
use super::judge::{SiteView, Verdict};
use super::registered::exits_only;
use super::words::subject;
use crate::base::effect::Effect;
use crate::base::finding::Finding;
use crate::data::inventory::Classification;

/// One rule for each effect.
const RULES: [(Effect, &str, &str, &str); 8] = [
    (
        Effect::Replace,
        "RL101",
        "replaces the daemon's process image",
        "do not replace the process: report that new code is there, fail closed, and let the host reconnect",
    ),
    (
        Effect::Terminate,
        "RL102",
        "ends the daemon's process without unwinding",
        "return an error to the caller and shut down in order, so that work in flight is answered",
    ),
    (
        Effect::Kill,
        "RL103",
        "signals another process from the daemon",
        "end only children that this process started, through their handle; leave other processes to their owner",
    ),
    (
        Effect::Respawn,
        "RL104",
        "starts a new copy of the daemon",
        "a second copy does not get the host's pipes: report that a restart is needed and let the host do it",
    ),
    (
        Effect::Reload,
        "RL105",
        "reloads code inside the daemon",
        "switch reloading off in the daemon; report stale code instead of exchanging it under running requests",
    ),
    (
        Effect::Touch,
        "RL106",
        "touches a file so that the host reloads the daemon",
        "report that the configuration is stale and let a person reload it",
    ),
    (
        Effect::Supervise,
        "RL107",
        "asks a supervisor or the host to stop or restart something",
        "say which unit needs a restart and who may do it; do not do it from inside",
    ),
    (
        Effect::Exit,
        "RL108",
        "exits the daemon away from its entry point",
        "raise an error that the entry point turns into an exit, or register the exit as `guarded_fail_closed`",
    ),
];

/// RL101–RL108.
pub fn run(ctx: &Ctx<'_>) -> Vec<Finding> {
    ctx.views.iter().filter_map(|view| one(ctx, view)).collect()
}

/// The rule that speaks of an effect.
pub fn code(effect: Effect) -> &'static str {
    RULES.iter().find(|(of, ..)| *of == effect).map_or("", |(_, code, ..)| code)
}

fn one(ctx: &Ctx<'_>, view: &SiteView<'_>) -> Option<Finding> {
    let Verdict::Daemon(near) = &view.verdict else { return None };
    let (_, code, does, help) = RULES.iter().find(|(effect, ..)| *effect == view.site.effect)?;
    let reach = view.reach.as_ref()?;
    let from = match reach.steps.first().and_then(|s| ctx.tree().files.get(s.file)) {
        Some(file) => format!(", reached from `{}`", file.path),
        None => String::new(),
    };
    let message = format!("{} {does}{from}", subject(view.site));
    let mut found = site_finding(ctx, view, code, message, *help);
    if let Some(path) = near {
        found.path_id = Some(path.id.value.clone());
        let classification = path.classification.value;
        let why = if !classification.sanctions() {
            match classification {
                Classification::Removed => "was removed, and lists it",
                _ => "forbids it",
            }
        } else if path.daemon_exception {
            "has `daemon_exception`, but no location that names this file and symbol"
        } else {
            "would cover it outside the daemon; inside, only a path with `daemon_exception = true` does"
        };
        found.related.push(related(ctx, &path.id.span, format!("`{}` {why}", path.id.value)));
    } else if let Some(path) = exits_only(ctx, view) {
        found.path_id = Some(path.id.value.clone());
        let why = format!("`{}` lists it, and `guarded_fail_closed` covers exits alone", path.id.value);
        found.related.push(related(ctx, &path.classification.span, why));
    }
    Some(found)
}
