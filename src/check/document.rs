//! RL307: the inventory's document is not in step with it.

use super::ctx::{Ctx, finding};
use crate::base::finding::Finding;
use crate::base::span::Span;
use crate::data::inventory::document::drift;

const HELP: &str = "run `restartlint inventory render`; prose around the generated part is kept";

/// RL307: one finding a document.
pub fn run(ctx: &Ctx<'_>) -> Vec<Finding> {
    let (Some(inventory), Some(document)) = (ctx.inputs.inventory, ctx.inputs.document) else {
        return Vec::new();
    };
    let Some(text) = &document.text else {
        let place = document
            .named_at
            .as_ref()
            .and_then(|range| ctx.config_place(range))
            .unwrap_or_else(|| ctx.inventory_place(&(0..0)));
        let message = format!("the inventory's document `{}` does not exist", document.path);
        return vec![finding("RL307", place, message, HELP)];
    };
    let Some(drift) = drift(text, inventory) else { return Vec::new() };
    let place = ctx.inputs.sources.place(&document.path, Span::new(drift.at, drift.at));
    vec![finding("RL307", place, drift.message, HELP)]
}
