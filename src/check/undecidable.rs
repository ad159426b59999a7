//! RL405: a lookup in the daemon's reach whose name cannot be known.

use super::ctx::{Ctx, finding};
use crate::base::finding::{ChainStep, Finding};

/// RL405.
pub fn run(ctx: &Ctx<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, file) in ctx.tree().files.iter().enumerate() {
        for lookup in &file.lookups {
            let chain = ctx.tree().reach.get(&(at, lookup.function));
            if chain.is_none() && ctx.daemon(&file.path).is_none() {
                continue;
            }
            let place = ctx.place(file, lookup.span);
            let message = format!(
                "a member of `{}`, which has restart primitives, is looked up by a name that is not known here",
                lookup.module
            );
            let help = "look the name up in a table of what may be called, or call it by name";
            let mut one = finding("RL405", place.clone(), message, help);
            one.symbol = Some(lookup.symbol.clone());
            one.primitive = Some(lookup.module.clone());
            if let Some(chain) = chain {
                one.confidence = chain.confidence;
                one.chain = chain
                    .steps
                    .iter()
                    .filter_map(|step| {
                        let file = ctx.tree().files.get(step.file)?;
                        Some(ChainStep { place: ctx.place(file, step.span), symbol: step.symbol.clone() })
                    })
                    .chain(std::iter::once(ChainStep { place, symbol: lookup.symbol.clone() }))
                    .collect();
            }
            found.push(one);
        }
    }
    found
}
