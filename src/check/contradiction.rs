//! Two sanctioning paths that cover the same site with different classifications: the
//! inventory is not well-formed, which is known only once the sites are.

use std::collections::BTreeSet;

use super::ctx::Ctx;
use crate::data::fault::{Fault, Faults};

/// The faults of the inventory that only its sites show; `None` if there is none.
pub fn faults(ctx: &Ctx<'_>) -> Option<Faults> {
    let inventory = ctx.inputs.inventory?;
    let mut told = BTreeSet::new();
    let mut faults = Vec::new();
    for view in &ctx.views {
        for (at, first) in view.covering.iter().enumerate() {
            for second in view.covering.iter().skip(at + 1) {
                if first.classification.value == second.classification.value
                    || !told.insert((&first.id.value, &second.id.value))
                {
                    continue;
                }
                let message = format!(
                    "the paths `{}` ({}) and `{}` ({}) both cover `{}` at {}:{}",
                    first.id.value,
                    first.classification.value.name(),
                    second.id.value,
                    second.classification.value.name(),
                    view.site.primitive,
                    view.place.path,
                    view.place.start.line
                );
                let label = format!("contradicts `{}`", first.id.value);
                faults.push(Fault::new(second.id.span.clone(), message, label).help(
                    "a site has one classification: narrow the locations or primitives of one of them",
                ));
            }
        }
    }
    Faults::collect(&inventory.file, &inventory.text, faults)
}
