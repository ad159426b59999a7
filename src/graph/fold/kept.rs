//! What one object keeps under a name, by the calls that made it: not what all objects of its class may keep.

use super::Folder;
use crate::base::ir::{Call, ClassId, Expr, ExprId, FuncId, Slot, Spread};
use crate::graph::value::{UnitId, Value};

/// A class, by its unit.
type Class = (UnitId, ClassId);

impl Folder<'_, '_> {
    /// What each call that made an object gave for what it keeps under a name, or the default of that. Nothing where
    /// some call is not known, or where something else may have stored there since.
    pub(super) fn kept(&self, object: (UnitId, ExprId), name: &str) -> Option<Vec<(UnitId, ExprId)>> {
        if self.solver.on_demand() {
            return None;
        }
        let mut values = self.solver.values_of(object.0, object.1);
        let (Some(Value::Instance(u, c)), None) = (values.next(), values.next()) else { return None };
        let stored = self.stored_in((u, c), name);
        let above = self.solver.classes_above(u, c);
        let maker = above.iter().find_map(|class| Some((*class, self.solver.constructor(*class)?)));
        let makers = self.makers(object)?;
        let calls = makers.into_iter().map(|(of, id)| (of, &self.solver.program(of).exprs[id as usize].expr));
        let mut kept = Vec::new();
        for (of, call) in calls {
            let Expr::Call(call) = call else { return None };
            match (maker, stored.as_slice()) {
                (Some(((mu, mc), function)), [value]) if self.overrides(mu, mc, name) => {
                    kept.extend(self.given_for((of, call), (mu, function), *value)?);
                }
                (None, []) => kept.extend(self.field_of((of, call), (u, c), name)?),
                _ => return None,
            }
        }
        Some(kept)
    }

    /// What is stored under a name in what may be an object of a class.
    fn stored_in(&self, (u, c): Class, name: &str) -> Vec<(UnitId, ExprId)> {
        let units = 0..self.solver.units().len() as UnitId;
        let stores = units.flat_map(|unit| {
            let stores = self.solver.stores_of(unit, name);
            stores
                .iter()
                .map(move |at| (unit, &self.solver.program(unit).stores[*at as usize]))
                .collect::<Vec<_>>()
        });
        let is_own = |unit: UnitId, base: ExprId| {
            self.solver.values_of(unit, base).any(|value| match value {
                Value::Instance(of, class) => {
                    (of, class) == (u, c)
                        || self.solver.classes_above(u, c).contains(&(of, class))
                        || self.solver.classes_above(of, class).contains(&(u, c))
                }
                Value::Class(..) => true,
                _ => false,
            })
        };
        let counts =
            stores.filter(|(unit, store)| matches!(store.slot, Slot::Attr(_)) && is_own(*unit, store.base));
        counts.map(|(unit, store)| (unit, store.value)).collect()
    }

    /// What a call gives for the parameter of a constructor that a value is; its default where it is left out.
    fn given_for(
        &self,
        (of, call): (UnitId, &Call),
        maker: (UnitId, FuncId),
        (unit, value): (UnitId, ExprId),
    ) -> Option<Vec<(UnitId, ExprId)>> {
        let program = self.solver.program(unit);
        let Expr::Cell(cell) = &program.exprs[value as usize].expr else { return None };
        let (function, position, Spread::No) = self.solver.parameter(unit, *cell)? else { return None };
        // What is bound to it in between is more than what was given.
        let cell = &program.cells[*cell as usize];
        if (unit, function) != maker || cell.values.len() > 1 || !cell.from.is_empty() {
            return None;
        }
        self.given_or_default((of, call), maker, position)
    }

    /// What a call gives for a field of a class whose constructor is made of them.
    fn field_of(
        &self,
        (of, call): (UnitId, &Call),
        class: Class,
        name: &str,
    ) -> Option<Vec<(UnitId, ExprId)>> {
        let position = self.field_position(class, name)?;
        if call.args.iter().any(|arg| arg.spread != Spread::No) {
            return None;
        }
        let named = call.args.iter().find(|arg| arg.name.as_deref() == Some(name));
        let plain = || call.args.iter().filter(|arg| arg.name.is_none()).nth(position);
        match named.or_else(plain) {
            Some(arg) => Some(vec![(of, arg.value)]),
            None => Some(self.bound_above(&self.solver.classes_above(class.0, class.1), name))
                .filter(|default| !default.is_empty()),
        }
    }
}
