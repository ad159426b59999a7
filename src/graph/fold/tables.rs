//! One of several results: the lists that stand at a position of what an expression gives.

use super::super::value::{UnitId, Value};
use super::{ALTERNATIVES, DEPTH, Folder, Text};
use crate::base::ir::{Expr, ExprId, Spread};

impl Folder<'_, '_> {
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
                let items = self.elements(unit, *list, depth + 1).items.into_iter();
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
