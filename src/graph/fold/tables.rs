//! Dictionaries of constants: what they hold under a key, or under any.

use super::super::value::{Object, UnitId, Value};
use super::{ALTERNATIVES, DEPTH, Folder, Text};
use crate::base::ir::{Expr, ExprId, Spread};

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

    /// The items of the lists written out that an expression stands for.
    pub(super) fn literal_items(&self, unit: UnitId, list: ExprId) -> Vec<(UnitId, ExprId)> {
        let mut found = Vec::new();
        for value in self.solver.values_of(unit, list) {
            let Value::Container(Object::Literal(of, literal)) = value else { continue };
            let Expr::Seq(items) = &self.solver.program(of).exprs[literal as usize].expr else { continue };
            found.extend(items.iter().take(ALTERNATIVES).map(|(item, _)| (of, *item)));
        }
        found
    }

    /// The values of the dictionary whose pairs a loop goes over (`for key, value in table.items()`).
    pub(super) fn entries_looped_over(
        &self,
        unit: UnitId,
        pair: ExprId,
        position: u32,
    ) -> Option<Vec<(UnitId, ExprId)>> {
        let exprs = &self.solver.program(unit).exprs;
        let Expr::Element(pairs) = exprs[pair as usize].expr else { return None };
        let Expr::Call(call) = &exprs[pairs as usize].expr else { return None };
        let Expr::Attr { base, name } = &exprs[call.callee as usize].expr else { return None };
        let mut entries = (name == "items" && position == 1).then(|| self.entries(unit, *base, None, 0))?;
        entries.truncate(ALTERNATIVES);
        (!entries.is_empty()).then_some(entries)
    }

    /// The lists that stand at a position of what an expression gives (`command, options = both()`).
    pub(super) fn lists_at(&self, unit: UnitId, expr: ExprId, position: u32, depth: usize) -> Vec<Vec<Text>> {
        if depth > DEPTH {
            return Vec::new();
        }
        match &self.solver.program(unit).exprs[expr as usize].expr {
            Expr::Seq(items) => {
                let fixed = items.iter().take_while(|(_, spread)| *spread == Spread::No);
                let item = fixed.map(|(item, _)| *item).nth(position as usize);
                item.map_or_else(Vec::new, |item| self.sequences(unit, item, depth + 1))
            }
            // `for name, command in [("a", ["ls"]), …]`.
            Expr::Element(list) => {
                let items = self.literal_items(unit, *list).into_iter();
                items.flat_map(|(of, item)| self.lists_at(of, item, position, depth + 1)).collect()
            }
            Expr::Cell(cell) => {
                let values = self.cell_values(unit, *cell).into_iter();
                values.flat_map(|value| self.lists_at(unit, value, position, depth + 1)).collect()
            }
            Expr::Call(call) => {
                let mut lists = Vec::new();
                for callee in self.solver.values_of(unit, call.callee) {
                    let (Value::Func(u, f) | Value::Bound(u, f, _)) = callee else { continue };
                    let Some(entered) = self.entered(unit, call, callee) else { continue };
                    for value in &self.solver.program(u).functions[f as usize].returns {
                        for list in self.lists_at(u, *value, position, depth + 1) {
                            lists.extend(self.list_at(&entered, &list, depth));
                        }
                    }
                }
                lists.truncate(ALTERNATIVES);
                lists
            }
            _ => Vec::new(),
        }
    }
}
