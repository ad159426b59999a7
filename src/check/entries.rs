//! RL305, RL306, RL308: the inventory's own entries, held against the tree.

use super::ctx::{Ctx, finding};
use super::judge::{SiteView, means};
use super::misspelt;
use super::registered::exits_only;
use crate::base::effect::Effect;
use crate::base::finding::{Finding, Related};
use crate::data::inventory::draft;
use crate::data::inventory::location::Files;
use crate::data::inventory::{Classification, RestartPath};
use crate::data::table::At;

fn locations(path: &RestartPath) -> impl Iterator<Item = At<&Files>> {
    path.locations.iter().filter_map(|l| Some(At { value: l.value.files()?, span: l.span.clone() }))
}

fn about(mut found: Finding, path: &RestartPath) -> Finding {
    found.path_id = Some(path.id.value.clone());
    found
}

/// RL305.
pub fn stale(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for path in ctx.inputs.inventory.into_iter().flat_map(|i| &i.paths) {
        for At { value: files, span } in locations(path) {
            let place = ctx.inventory_place(&span);
            if !ctx.inputs.presence.existing.contains(&files.glob) {
                let message = format!(
                    "the path `{}` lies at `{}`, and there is no such file",
                    path.id.value, files.glob
                );
                let help = "correct the location, or remove it if the code is gone";
                found.push(about(finding("RL305", place, message, help), path));
            } else if let Some(gone) = gone(ctx, path, files) {
                let message =
                    format!("the path `{}` lies at `{}`, where {gone}", path.id.value, shown(files));
                let help = match other_site(ctx, path, files) {
                    // The site is there: it is the class that does not fit.
                    Some(view) => format!(
                        "`{}` stands there, and `guarded_fail_closed` covers exits alone: classify the path by what the site \
                         does, `sanctioned_narrow_recovery` if it may stay as it is or `forbidden` if nobody may do it; or \
                         remove the location",
                        view.site.primitive
                    ),
                    None => {
                        let misspelt =
                            misspelt::of(ctx, path).into_iter().map(|found| found.message + " Otherwise ");
                        misspelt.collect::<String>()
                            + "remove the location; an entry that covers nothing would cover the next site unseen"
                    }
                };
                found.push(about(finding("RL305", place, message, help), path));
            }
        }
    }
    found
}

fn shown(files: &Files) -> String {
    match &files.symbol {
        Some(symbol) => format!("{}::{symbol}", files.glob),
        None => files.glob.clone(),
    }
}

/// A site at the location that a `guarded_fail_closed` path lists, and cannot cover since it is no exit.
fn other_site<'c>(ctx: &'c Ctx<'_>, path: &RestartPath, files: &Files) -> Option<&'c SiteView<'c>> {
    ctx.views.iter().find(|view| {
        files.holds_symbol(&view.file.path, &view.site.symbol)
            && exits_only(ctx, view).is_some_and(|listing| listing.id.value == path.id.value)
    })
}

/// Why a location of a sanctioning path holds no site any more; `None` if it does, or if
/// this run did not look at all of its files.
fn gone(ctx: &Ctx<'_>, path: &RestartPath, files: &Files) -> Option<String> {
    if !path.classification.value.sanctions() || path.primitives.is_empty() {
        return None;
    }
    if !ctx.inputs.presence.whole || !ctx.tree().listed.iter().any(|file| files.holds(file)) {
        return None;
    }
    let held = ctx
        .views
        .iter()
        .any(|view| files.holds_symbol(&view.file.path, &view.site.symbol) && means(path, view.site));
    // What could not be read may still hold the site.
    let unread = ctx.tree().files.iter().any(|f| {
        files.holds(&f.path)
            && f.problems.iter().any(|p| {
                use crate::base::facts::ProblemKind::{Conflict, GaveUp, TooLarge, Unreadable};
                matches!(p.kind, Conflict | GaveUp | TooLarge | Unreadable)
            })
    });
    let listed: Vec<&str> = path.primitives.iter().map(|p| p.value.text.as_str()).collect();
    let sought = match path.classification.value {
        // Such a path covers exits, whatever it lists.
        Classification::GuardedFailClosed => "no exit is left for it to cover".to_owned(),
        _ => format!("no site of {} is left", crate::data::table::list(&listed)),
    };
    (!held && !unread).then_some(sought)
}

/// RL306.
pub fn daemon_sanctioned(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for path in ctx.inputs.inventory.into_iter().flat_map(|i| &i.paths) {
        if path.classification.value != Classification::SanctionedNarrowRecovery {
            continue;
        }
        for At { value: files, span } in locations(path) {
            let named = path.daemon_exception && files.literal && files.symbol.is_some();
            let site = ctx.views.iter().find(|view| {
                // What only the daemon's calls reach is covered like any other site, unless an exception is meant.
                (view.in_daemon || (path.daemon_exception && view.reach.is_some()))
                    && !view.site.test_only
                    && means(path, view.site)
                    && files.holds_symbol(&view.file.path, &view.site.symbol)
                    // An exit at the entry point needs nobody's sanction.
                    && !(view.site.effect == Effect::Exit && (view.site.entrypoint || view.site.client_gone))
            });
            let (false, Some(view)) = (named, site) else { continue };
            let (message, help) = if path.daemon_exception {
                (
                    format!(
                        "the path `{}` is an exception for the daemon, and `{}` does not name one file and one symbol",
                        path.id.value,
                        shown(files)
                    ),
                    format!("name the place itself: `{}::{}`", view.file.path, view.site.symbol),
                )
            } else {
                (
                    format!(
                        "the path `{}` would sanction `{}` in the daemon module `{}`",
                        path.id.value, view.site.primitive, view.file.path
                    ),
                    "a site inside the daemon is sanctioned only by `daemon_exception = true` and a location \
                     `file::symbol`; better, remove the site"
                        .to_owned(),
                )
            };
            let mut one = finding("RL306", ctx.inventory_place(&span), message, help);
            one.related.push(Related {
                place: view.place.clone(),
                message: "the site in the daemon's reach".to_owned(),
            });
            found.push(about(one, path));
        }
    }
    found
}

/// RL308: a path that nobody has decided on, in whole or in part.
pub fn unclassified(ctx: &Ctx<'_>) -> Vec<Finding> {
    let paths = ctx.inputs.inventory.into_iter().flat_map(|i| &i.paths);
    paths
        .filter_map(|path| {
            let left = draft::left(path);
            let first = left.first()?;
            let undecided = *first == "classification";
            let (id, place) = (&path.id.value, ctx.inventory_place(&path.classification.span));
            let message = if undecided {
                format!("the path `{id}` is still unclassified")
            } else {
                let keys = left.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ");
                format!("the path `{id}` is classified, and still has the {keys} of its draft")
            };
            let host = path.locations.iter().all(|l| l.value.files().is_none());
            let help = match (undecided, host) {
                (true, true) => "decide: `host_residual` with `residual_host = true` if it is the host's own behaviour",
                (true, false) => {
                    "decide: `sanctioned_narrow_recovery` if it may stay as it is, `guarded_fail_closed` if it only exits, \
                     `forbidden` if nobody may do it, `removed` once the code is gone; `restartlint explain RL308` says \
                     what each covers"
                }
                (false, _) => "say in `guard` what keeps it safe, and in `references` where that was decided",
            };
            Some(about(finding("RL308", place, message, help), path))
        })
        .collect()
}
