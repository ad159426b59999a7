//! RL201: something that a `removed` path lists is there again.

use super::ctx::{Ctx, finding, related, site_finding};
use super::judge::Verdict;
use super::words::subject;
use crate::base::facts::WatchKind;
use crate::base::finding::Finding;
use crate::data::inventory::Classification;

const HELP: &str =
    "take it out again; if it must return, decide that first and change the path's classification";

/// RL201.
pub fn run(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = ctx
        .views
        .iter()
        .filter_map(|view| {
            let Verdict::Removed(path) = view.verdict else { return None };
            let message = format!("{} is back; the path `{}` was removed", subject(view.site), path.id.value);
            let mut one = site_finding(ctx, view, "RL201", message, HELP);
            one.path_id = Some(path.id.value.clone());
            one.related.push(related(ctx, &path.id.span, "removed here"));
            Some(one)
        })
        .collect();
    let Some(inventory) = ctx.inputs.inventory else { return found };
    for file in &ctx.tree().files {
        for used in file.watched.iter().filter(|w| w.kind == WatchKind::Symbol) {
            let listing = inventory.paths.iter().find_map(|path| {
                let removed = path.classification.value == Classification::Removed;
                let symbol = path.symbols.iter().find(|s| s.value == used.name)?;
                removed.then_some((path, symbol))
            });
            let Some((path, symbol)) = listing else { continue };
            let message = format!("`{}` is back; the path `{}` was removed", used.name, path.id.value);
            let mut one = finding("RL201", ctx.place(file, used.span), message, HELP);
            one.symbol = Some(used.symbol.clone());
            one.path_id = Some(path.id.value.clone());
            one.related.push(related(ctx, &symbol.span, "removed here"));
            found.push(one);
        }
    }
    found
}
