//! Conditions that another file decides: `app.run(debug=DEBUG)`, where `DEBUG` is imported.

use super::fold::Folder;
use super::sites::Finder;
use super::value::UnitId;
use crate::base::ir::{Expr, ExprId};

/// Expressions of one condition that are looked at.
const MOST_EXPRESSIONS: usize = 32;

impl Finder<'_, '_> {
    /// Whether an expression holds, if that is known. Where it is not, the names of other files that it
    /// depends on are noted.
    pub(super) fn truth(&self, unit: UnitId, expr: ExprId) -> Option<bool> {
        let truth = Folder::new(self.solver).truth(unit, expr);
        if truth.is_none() && unit == self.unit {
            let names = self.imported_in(expr);
            self.tested.borrow_mut().extend(names);
        }
        truth
    }

    /// The names that an expression has from imports, and the members that it reads of anything.
    fn imported_in(&self, expr: ExprId) -> Vec<String> {
        let program = self.solver.program(self.unit);
        let mut exprs = vec![expr];
        let mut names: Vec<String> = Vec::new();
        let (mut read, mut is_foreign) = (0, false);
        while let Some(at) = exprs.get(read).copied().filter(|_| read < MOST_EXPRESSIONS) {
            read += 1;
            match &program.exprs[at as usize].expr {
                Expr::Import(import) => {
                    is_foreign = true;
                    names.extend(import.name.clone());
                }
                Expr::Attr { base, name } => {
                    names.push(name.clone());
                    exprs.push(*base);
                }
                Expr::Cell(cell) => exprs.extend(program.bound_values(*cell, MOST_EXPRESSIONS)),
                Expr::Binary { left, right, .. } => exprs.extend([*left, *right]),
                Expr::Not(inner) | Expr::Same(inner) => exprs.push(*inner),
                Expr::Index { base, .. } => exprs.push(*base),
                Expr::Call(call) => exprs.push(call.callee),
                Expr::Union(options) => exprs.extend(options.iter().copied()),
                _ => {}
            }
        }
        if is_foreign { names } else { Vec::new() }
    }
}
