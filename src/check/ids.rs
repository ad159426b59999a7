//! RL302: code names a path id that is not registered.

use super::ctx::{Ctx, finding};
use crate::base::facts::WatchKind;
use crate::base::finding::{Finding, Place};
use crate::data::suggest;
use crate::report::annotations::Asks;

/// RL302.
pub fn run(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for annotation in &ctx.annotations {
        if let Asks::Path(id) = &annotation.asks {
            found.extend(unknown(ctx, id, annotation.place.clone(), None, "this annotation"));
        }
    }
    for file in &ctx.tree().files {
        for used in file.watched.iter().filter(|w| w.kind == WatchKind::AssertedId) {
            let place = ctx.place(file, used.span);
            found.extend(unknown(ctx, &used.name, place, Some(used.symbol.clone()), "this assertion"));
        }
    }
    found
}

fn unknown(ctx: &Ctx<'_>, id: &str, place: Place, symbol: Option<String>, what: &str) -> Option<Finding> {
    let ids: Vec<&str> = ctx.inputs.inventory.into_iter().flat_map(|i| i.ids()).collect();
    if ids.contains(&id) {
        return None;
    }
    let near = suggest::did_you_mean(id, ids.iter().copied());
    let help = if !near.is_empty() {
        near
    } else if ctx.inputs.inventory.is_none() {
        "there is no inventory yet: `restartlint init` drafts one".to_owned()
    } else {
        "register the path in the inventory first".to_owned()
    };
    let mut one =
        finding("RL302", place, format!("{what} names the path `{id}`, which is not registered"), help);
    one.path_id = Some(id.to_owned());
    one.symbol = symbol;
    Some(one)
}
