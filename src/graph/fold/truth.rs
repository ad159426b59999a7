//! Whether an expression holds. What is not known is neither true nor false.

use super::{DEPTH, Folder};
use crate::base::ir::{BinaryOp, Expr, ExprId, Node};
use crate::graph::value::{UnitId, Value};

impl Folder<'_, '_> {
    pub(super) fn truth_at(&self, unit: UnitId, expr: ExprId, depth: usize) -> Option<bool> {
        if depth > DEPTH || !self.spend() {
            return None;
        }
        let program = self.solver.program(unit);
        match &program.exprs[expr as usize].expr {
            Expr::Bool(value) => Some(*value),
            Expr::Int(value) => Some(*value != 0),
            Expr::Null => Some(false),
            Expr::Str(text) => Some(!text.is_empty()),
            Expr::Not(inner) => self.truth_at(unit, *inner, depth + 1).map(|t| !t),
            Expr::Same(inner) => self.truth_at(unit, *inner, depth + 1),
            Expr::Union(options) => self.agreed(options.iter().map(|option| (unit, *option)), depth),
            Expr::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                let decides = *op == BinaryOp::Or;
                let sides = [left, right].map(|side| self.truth_at(unit, *side, depth + 1));
                match sides {
                    [Some(one), _] | [_, Some(one)] if one == decides => Some(decides),
                    [Some(_), Some(_)] => Some(!decides),
                    _ => None,
                }
            }
            Expr::Cell(cell) => {
                if self.solver.parameter(unit, *cell).is_some() {
                    return None;
                }
                self.agreed(self.cell_values(unit, *cell).into_iter().map(|value| (unit, value)), depth)
            }
            Expr::Import(import) => {
                let (target, cell) = self.imported(unit, import)?;
                let values = self.cell_values(target, cell);
                let [only] = values.as_slice() else { return None };
                self.truth_at(target, *only, depth + 1)
            }
            Expr::Attr { base, name } => {
                let kept = self.kept((unit, *base), name);
                let members = kept.unwrap_or_else(|| self.member_values(unit, *base, name));
                let is_known = !members.is_empty() && !self.is_stored_unseen(name);
                self.agreed(members.into_iter(), depth).filter(|_| is_known)
            }
            Expr::Element(_) | Expr::Item(..) | Expr::Index { .. } => {
                let held = self.held_by(unit, expr, depth);
                self.agreed(held.items.into_iter(), depth).filter(|_| !held.open)
            }
            Expr::Call(call) => {
                let callees: Vec<Value> = self.solver.values_of(unit, call.callee).collect();
                let [callee] = callees.as_slice() else { return None };
                match *callee {
                    Value::External { path, .. } => {
                        let path = self.solver.interner.text(path);
                        match (path, &*call.args) {
                            ("builtins.bool", [only]) => self.truth_at(unit, only.value, depth + 1),
                            ("builtins.getattr", [object, name, ..]) => {
                                let name = self.solver.constant_key(unit, name.value)?;
                                let members = self.member_values(unit, object.value, &name);
                                let is_known = !members.is_empty() && !self.is_stored_unseen(&name);
                                self.agreed(members.into_iter(), depth).filter(|_| is_known)
                            }
                            _ => None,
                        }
                    }
                    // A function that ends without a `return` gives nothing back, which is false too.
                    Value::Func(u, f) | Value::Bound(u, f, _) => {
                        let function = &self.solver.program(u).functions[f as usize];
                        let returns = function.returns.iter().map(|value| (u, *value));
                        let is_plain = !function.is_async && function.yields.is_empty();
                        self.agreed(returns, depth).filter(|truth| is_plain && !truth)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What all of some values are; of none, nothing.
    fn agreed(&self, values: impl Iterator<Item = (UnitId, ExprId)>, depth: usize) -> Option<bool> {
        let mut known = None;
        for (unit, value) in values {
            match (known, self.truth_at(unit, value, depth + 1)?) {
                (Some(before), now) if before != now => return None,
                (_, now) => known = Some(now),
            }
        }
        known
    }

    /// Whether a member of that name may be stored where nobody sees which object it is of, or under which name.
    fn is_stored_unseen(&self, name: &str) -> bool {
        (0..self.solver.units().len() as UnitId).any(|unit| {
            let program = self.solver.program(unit);
            let is_free = |at: &u32| {
                let base = program.stores[*at as usize].base;
                self.solver.values_of(unit, base).next().is_none()
            };
            let by_name = |node: &Node| match &node.expr {
                Expr::Attr { name, .. } => name == "__dict__",
                Expr::Call(call) => {
                    self.outside(unit, call.callee) == Some("builtins.setattr")
                        && call.args.get(1).is_none_or(|arg| {
                            self.solver.constant_key(unit, arg.value).is_none_or(|of| of == name)
                        })
                }
                _ => false,
            };
            self.solver.stores_of(unit, name).iter().any(is_free) || program.exprs.iter().any(by_name)
        })
    }
}
