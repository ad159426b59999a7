//! What objects were made with: the fields of dataclasses and named tuples. Where it is known which calls made
//! an object, the fields are what these give, and not what others of its class were made with.

use super::{DEPTH, Folder, WRITTEN};
use crate::base::ir::{ClassId, Expr, ExprId};
use crate::graph::value::{UnitId, Value};

impl Folder<'_, '_> {
    /// What the calls that made an object give for one of the fields of its class.
    pub(super) fn made_with(
        &self,
        object: (UnitId, ExprId),
        (unit, class): (UnitId, ClassId),
        name: &str,
    ) -> Vec<(UnitId, ExprId)> {
        let Some(position) = self.field_position((unit, class), name) else { return Vec::new() };
        if self.solver.on_demand() {
            return Vec::new();
        }
        let makers = self.makers(object).unwrap_or_else(|| self.every_maker());
        let mut found = Vec::new();
        for (of, call) in makers {
            let Expr::Call(call) = &self.solver.program(of).exprs[call as usize].expr else { continue };
            if !self.solver.values_of(of, call.callee).any(|v| v == Value::Class(unit, class)) {
                continue;
            }
            let named = call.args.iter().find(|arg| arg.name.as_deref() == Some(name));
            let plain = || call.args.iter().filter(|arg| arg.name.is_none()).nth(position);
            found.extend(named.or_else(plain).map(|arg| (of, arg.value)));
        }
        found.truncate(WRITTEN);
        found
    }

    /// The position of a field among those that make the constructor of a class; none where one is written out.
    pub(super) fn field_position(&self, (unit, class): (UnitId, ClassId), name: &str) -> Option<usize> {
        let above = self.solver.classes_above(unit, class);
        let has_maker = |(u, c): &(UnitId, ClassId)| {
            self.solver.program(*u).classes[*c as usize].members.iter().any(|(name, _)| name == "__init__")
        };
        // A constructor that is written out takes what it says.
        if above.iter().any(has_maker) {
            return None;
        }
        // Those of the classes above come first.
        let mut fields: Vec<&String> = Vec::new();
        for (u, c) in above.into_iter().rev() {
            for field in &self.solver.program(u).classes[c as usize].fields {
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
        }
        fields.iter().position(|field| *field == name)
    }

    /// All calls.
    fn every_maker(&self) -> Vec<(UnitId, ExprId)> {
        let of_unit = |unit: UnitId| {
            let exprs = self.solver.program(unit).exprs.iter().enumerate();
            let calls = exprs.filter(|(_, node)| matches!(node.expr, Expr::Call(_)));
            calls.map(move |(id, _)| (unit, id as ExprId))
        };
        (0..self.solver.units().len() as UnitId).flat_map(of_unit).collect()
    }

    /// The calls that made what an expression may be, where all of them are known.
    pub(super) fn makers(&self, (unit, expr): (UnitId, ExprId)) -> Option<Vec<(UnitId, ExprId)>> {
        // What leads to an object may ask for the members of another, and so on for ever.
        if self.looks_for_makers.replace(true) {
            return None;
        }
        let mut found = Vec::new();
        let is_known = self.add_makers(unit, expr, 0, &mut found);
        self.looks_for_makers.set(false);
        is_known.filter(|()| !found.is_empty()).map(|()| found)
    }

    /// Adds the calls that made what an expression may be; nothing where something else may have.
    fn add_makers(
        &self,
        unit: UnitId,
        expr: ExprId,
        depth: usize,
        found: &mut Vec<(UnitId, ExprId)>,
    ) -> Option<()> {
        if depth > DEPTH || found.len() > WRITTEN || !self.spend() {
            return None;
        }
        let program = self.solver.program(unit);
        let mut all = |of: UnitId, exprs: Vec<ExprId>| {
            let mut exprs = exprs.into_iter().peekable();
            exprs.peek()?;
            exprs.try_for_each(|expr| self.add_makers(of, expr, depth + 1, found))
        };
        match &program.exprs[expr as usize].expr {
            Expr::Same(inner) => all(unit, vec![*inner]),
            Expr::Union(options) => all(unit, options.clone()),
            Expr::Cell(cell) => {
                // What a parameter holds, callers outside may have made.
                let mut cells = vec![*cell];
                let mut read = 0;
                while let Some(cell) = cells.get(read).copied() {
                    read += 1;
                    if self.solver.parameter(unit, cell).is_some() || cells.len() > WRITTEN {
                        return None;
                    }
                    let from = program.cells[cell as usize].from.iter();
                    let new: Vec<_> = from.filter(|from| !cells.contains(from)).copied().collect();
                    cells.extend(new);
                }
                all(unit, self.cell_values(unit, *cell))
            }
            Expr::Import(import) => {
                let (target, cell) = self.imported(unit, import)?;
                all(target, self.cell_values(target, cell))
            }
            Expr::Call(call) if self.makes_an_object(unit, call.callee) => {
                found.push((unit, expr));
                Some(())
            }
            Expr::Element(_) | Expr::Item(..) | Expr::Index { .. } | Expr::Call(_) => {
                let held = self.held_by(unit, expr, depth);
                if held.open || held.items.is_empty() {
                    return None;
                }
                held.items.iter().try_for_each(|(of, item)| self.add_makers(*of, *item, depth + 1, found))
            }
            _ => None,
        }
    }

    /// Whether what is called is a class of the tree and nothing else.
    fn makes_an_object(&self, unit: UnitId, callee: ExprId) -> bool {
        let mut values = self.solver.values_of(unit, callee).peekable();
        values.peek().is_some() && values.all(|value| matches!(value, Value::Class(..)))
    }
}
