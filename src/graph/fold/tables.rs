//! Dictionaries of constants: what they hold under a key, or under any.

use super::super::value::{Object, UnitId, Value};
use super::{ALTERNATIVES, Folder};
use crate::base::ir::{Expr, ExprId};

impl Folder<'_, '_> {
    /// The values that a dictionary written out holds under a key; under any where the key is not known.
    pub(super) fn entries(
        &self,
        unit: UnitId,
        table: ExprId,
        key: Option<ExprId>,
        depth: usize,
    ) -> Vec<(UnitId, ExprId)> {
        let mut found = Vec::new();
        for value in self.solver.values_of(unit, table) {
            let Value::Container(Object::Literal(of, literal)) = value else { continue };
            let Expr::Map(entries) = &self.solver.program(of).exprs[literal as usize].expr else { continue };
            let wanted = key.and_then(|key| self.key(unit, key, depth));
            for (entry_key, entry) in entries {
                let Some(entry_key) = entry_key else { continue };
                if wanted.is_none() || self.key(of, *entry_key, depth) == wanted {
                    found.push((of, *entry));
                }
            }
        }
        found
    }

    /// The values of the dictionary whose pairs a loop goes over (`for key, value in table.items()`).
    pub(super) fn entries_looped_over(&self, unit: UnitId, pair: ExprId) -> Option<Vec<(UnitId, ExprId)>> {
        let exprs = &self.solver.program(unit).exprs;
        let Expr::Element(pairs) = exprs[pair as usize].expr else { return None };
        let Expr::Call(call) = &exprs[pairs as usize].expr else { return None };
        let Expr::Attr { base, name } = &exprs[call.callee as usize].expr else { return None };
        let mut entries = (name == "items").then(|| self.entries(unit, *base, None, 0))?;
        entries.truncate(ALTERNATIVES);
        (!entries.is_empty()).then_some(entries)
    }
}
