//! RL301, RL303, RL304: a site outside the daemon, held against the inventory.

use super::ctx::{Ctx, related, site_finding};
use super::daemon;
use super::judge::{Lack, SiteView, Verdict};
use super::words::subject;
use crate::base::effect::Effect;
use crate::base::finding::Finding;
use crate::data::checks;
use crate::data::inventory::{Classification, RestartPath};
use crate::report::annotations::Asks;

/// RL301.
pub fn unregistered(ctx: &Ctx<'_>) -> Vec<Finding> {
    ctx.views
        .iter()
        .filter(|v| matches!(v.verdict, Verdict::Unregistered))
        .map(|view| {
            let (draft, exits) = (draft(ctx, view), exits_only(ctx, view));
            let message = match (draft, exits) {
                (Some(path), _) => {
                    format!("{} is drafted as the path `{}`, which covers nothing until it is decided", subject(view.site), path.id.value)
                }
                (None, Some(path)) => {
                    format!("{} is listed by the path `{}`, whose class `guarded_fail_closed` covers exits alone", subject(view.site), path.id.value)
                }
                (None, None) => format!("{} is covered by no path of the inventory", subject(view.site)),
            };
            let help = if draft.is_some() {
                "decide on the path: RL308 then goes away, and this with it if the class covers the site; `forbidden` and \
                 `removed` cover nothing, so the site must go as well"
            } else if exits.is_some() {
                "classify the path by what the site does: `sanctioned_narrow_recovery` if it may stay as it is, `forbidden` if \
                 nobody may do it; or remove the site"
            } else if ctx.inputs.inventory.is_some() && !takes_comments(&view.file.path) {
                "register it in the inventory (`restartlint init --missing` drafts it), or remove it"
            } else if ctx.inputs.inventory.is_some() {
                "register it in the inventory (`restartlint init --missing` drafts it), remove it, or write `restartlint: ignore[RL301] REASON` beside it"
            } else {
                "there is no inventory yet: `restartlint init` drafts one with every site found"
            };
            let mut found = site_finding(ctx, view, "RL301", message, help);
            if let Some(path) = draft.or(exits) {
                let why = if draft.is_some() { "not decided yet" } else { "covers exits alone" };
                found.path_id = Some(path.id.value.clone());
                found.related.push(related(ctx, &path.classification.span, why));
            }
            found
        })
        .collect()
}

/// Whether a file of that name may hold a comment, where an annotation can stand.
fn takes_comments(path: &str) -> bool {
    !path.to_ascii_lowercase().ends_with(".json")
}

/// The rule that speaks of a site which no path means.
pub fn speaker(view: &SiteView<'_>) -> &'static str {
    if view.reach.is_some() { daemon::code(view.site.effect) } else { "RL301" }
}

/// Whether an annotation with a reason silences what RL301 or RL108 says of a site. The other rules of the daemon's
/// reach cannot be silenced.
pub fn is_ignored(ctx: &Ctx<'_>, view: &SiteView<'_>) -> bool {
    let spoken = speaker(view);
    if checks::find(spoken).is_some_and(|rule| rule.fixed) {
        return false;
    }
    ctx.annotations.iter().any(|annotation| {
        let asks = matches!(&annotation.asks, Asks::Ignore { codes, reason }
            if !reason.is_empty() && codes.iter().any(|code| code == spoken));
        asks && annotation.place.path == view.file.path && annotation.line == view.place.start.line
    })
}

/// The unclassified path that lists the site.
pub fn draft<'a>(ctx: &Ctx<'a>, view: &SiteView<'_>) -> Option<&'a RestartPath> {
    listing(ctx, view, Classification::Unclassified)
}

/// The `guarded_fail_closed` path that lists a site which is no exit: it means the site, and cannot cover it.
pub fn exits_only<'a>(ctx: &Ctx<'a>, view: &SiteView<'_>) -> Option<&'a RestartPath> {
    if view.site.effect == Effect::Exit {
        return None;
    }
    listing(ctx, view, Classification::GuardedFailClosed)
}

/// The first path of that classification that lists the site's primitive at its location.
fn listing<'a>(
    ctx: &Ctx<'a>,
    view: &SiteView<'_>,
    classification: Classification,
) -> Option<&'a RestartPath> {
    ctx.inputs.inventory?.paths.iter().find(|path| {
        path.classification.value == classification
            && path.primitives.iter().any(|p| p.value.matches(&view.site.primitive, view.site.effect))
            && path
                .locations
                .iter()
                .filter_map(|l| l.value.files())
                .any(|f| f.holds_symbol(&view.file.path, &view.site.symbol))
    })
}

/// RL303.
pub fn forbidden(ctx: &Ctx<'_>) -> Vec<Finding> {
    ctx.views
        .iter()
        .filter_map(|view| {
            let Verdict::Forbidden(path) = view.verdict else { return None };
            let message = format!("{} is forbidden by the path `{}`", subject(view.site), path.id.value);
            let help = format!("{} ({})", path.guard, path.references.join(", "));
            let mut found = site_finding(ctx, view, "RL303", message, help);
            found.path_id = Some(path.id.value.clone());
            found.related.push(related(ctx, &path.id.span, "forbidden here"));
            Some(found)
        })
        .collect()
}

/// RL304.
pub fn unguarded(ctx: &Ctx<'_>) -> Vec<Finding> {
    ctx.views
        .iter()
        .filter_map(|view| {
            let Verdict::Unguarded(path, lack) = &view.verdict else { return None };
            Some(lacking(ctx, view, path, lack))
        })
        .collect()
}

fn lacking(ctx: &Ctx<'_>, view: &SiteView<'_>, path: &RestartPath, lack: &Lack) -> Finding {
    let id = &path.id.value;
    let (what, help) = match lack {
        Lack::Guard(names) => {
            let names = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" and ");
            (
                format!("no condition before it tests {names}"),
                format!(
                    "put it under a condition on {names}, or leave earlier when the condition does not hold"
                ),
            )
        }
        Lack::ImportTime => (
            "it does not run at import time".to_owned(),
            "move it to the module's top level, or into a function that the top level calls".to_owned(),
        ),
        Lack::AfterImports => (
            "it runs after an import that is not standard library".to_owned(),
            "move it above every third-party import, so that nothing is loaded twice".to_owned(),
        ),
    };
    let message = format!("{} is covered by the path `{id}`, but {what}", subject(view.site));
    let mut found = site_finding(ctx, view, "RL304", message, help);
    found.path_id = Some(id.clone());
    let demand = match lack {
        Lack::Guard(_) => path.guarded_by.first().map(|g| &g.span),
        _ => None,
    };
    found.related.push(related(ctx, demand.unwrap_or(&path.id.span), format!("demanded by `{id}`")));
    found
}
