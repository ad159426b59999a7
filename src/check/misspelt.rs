//! Primitives of the inventory that no catalogue knows, and that one which is known is near to. No rule: an entry may
//! name what a later version knows. But a path that forbids or covers a misspelt name does nothing, so it is told.

use super::ctx::Ctx;
use crate::base::finding::{Finding, Place};
use crate::data::inventory::RestartPath;
use crate::data::{primitive_names, suggest};

/// A primitive that is misspelt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misspelt {
    /// Where it stands.
    pub place: Place,
    /// The id of its path.
    pub path_id: String,
    /// What is wrong, and what was meant: a sentence without its full stop.
    pub message: String,
}

impl Misspelt {
    /// Whether the help of a finding says it already.
    pub fn is_told_by(&self, finding: &Finding) -> bool {
        finding.path_id.as_ref() == Some(&self.path_id) && finding.help.contains(&self.message)
    }
}

/// Every misspelt primitive of the inventory, in its order.
pub fn all(ctx: &Ctx<'_>) -> Vec<Misspelt> {
    ctx.inputs.inventory.into_iter().flat_map(|i| &i.paths).flat_map(|path| of(ctx, path)).collect()
}

/// The misspelt primitives of one path.
pub fn of(ctx: &Ctx<'_>, path: &RestartPath) -> Vec<Misspelt> {
    let own = || ctx.inputs.config.primitives.iter().map(|primitive| primitive.name.as_str());
    let told = path.primitives.iter().filter_map(|primitive| {
        let text = &primitive.value.text;
        // The catalogues are read only where something needs them.
        if !primitive.value.is_name() || is_met(ctx, text) || own().any(|name| name == text) {
            return None;
        }
        let names = primitive_names::all();
        if names.contains(text) {
            return None;
        }
        let near = suggest::nearest(text, names.iter().map(String::as_str).chain(own()))?;
        Some(Misspelt {
            place: ctx.inventory_place(&primitive.span),
            path_id: path.id.value.clone(),
            message: format!("`{text}` is no known primitive; did you mean `{near}`?"),
        })
    });
    told.collect()
}

/// Whether some site has that primitive.
fn is_met(ctx: &Ctx<'_>, name: &str) -> bool {
    ctx.views.iter().any(|view| view.site.primitive == name)
}
