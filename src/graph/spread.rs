//! Arguments that come inside something: spread out of a table or a list, or the elements of a list, one
//! by one.

use super::fold::Folder;
use super::sites::{Finder, Given};
use super::value::{Object, UnitId, Value};
use crate::base::ir::{Arg, Call, Expr, ExprId, FuncId, Spread};
use crate::data::primitives::ArgRef;

/// Functions that hand on their further keyword arguments to each other, at most.
const MOST_DEPTH: usize = 4;

impl Finder<'_, '_> {
    /// A call whose spread arguments are written out somewhere: with them in their places.
    pub(super) fn expanded(&self, call: &Call) -> Option<Call> {
        if call.args.iter().all(|arg| arg.spread == Spread::No) {
            return None;
        }
        let program = self.solver.program(self.unit);
        let folder = Folder::new(self.solver);
        let mut args = Vec::new();
        for arg in &call.args {
            let mut values = self.solver.values_of(self.unit, arg.value);
            let object = match (values.next(), values.next()) {
                (Some(Value::Container(object)), None) => object,
                _ => {
                    args.push(arg.clone());
                    continue;
                }
            };
            match (arg.spread, object) {
                (Spread::Sequence, Object::Literal(of, literal))
                    if of == self.unit && literal == arg.value =>
                {
                    match &program.exprs[literal as usize].expr {
                        Expr::Seq(items) => args.extend(items.iter().map(|(value, spread)| Arg {
                            value: *value,
                            name: None,
                            spread: *spread,
                        })),
                        _ => args.push(arg.clone()),
                    }
                }
                (Spread::Mapping, object) => {
                    let (mut entries, open) = folder.named(object, (self.unit, arg.value));
                    if entries.iter().any(|(_, of, _)| *of != self.unit) {
                        args.push(arg.clone());
                        continue;
                    }
                    // What is stored later stands for what was there before, but where it may not have been.
                    entries.reverse();
                    entries.sort_by_key(|(_, of, value)| folder.truth(*of, *value) == Some(false));
                    let entries = entries.into_iter();
                    args.extend(entries.map(|(name, _, value)| Arg {
                        value,
                        name: Some(name),
                        spread: Spread::No,
                    }));
                    if open {
                        args.push(arg.clone());
                    }
                }
                _ => args.push(arg.clone()),
            }
        }
        Some(Call { callee: call.callee, args: args.into(), kind: call.kind })
    }

    /// `f(**options)`: whether the spread mapping is known to give the keyword something that may hold.
    pub(super) fn spread_gives(&self, at: &ArgRef, given: Given<'_>) -> bool {
        let Some(keyword) = &at.keyword else { return false };
        let spread = given.args.iter().filter(|a| a.spread == Spread::Mapping);
        spread.into_iter().any(|a| self.table_gives(given.unit, a.value, keyword, 0))
    }

    fn table_gives(&self, unit: UnitId, table: ExprId, keyword: &str, depth: usize) -> bool {
        let folder = Folder::new(self.solver);
        self.solver.values_of(unit, table).any(|value| {
            let Value::Container(object) = value else { return false };
            let (entries, _) = folder.named(object, (unit, table));
            let gives = entries
                .iter()
                .any(|(name, of, value)| name == keyword && folder.truth(*of, *value) != Some(false));
            gives
                || match object {
                    Object::Keywords(u, f, _) => self.callers_give((u, f), keyword, depth),
                    _ => false,
                }
        })
    }

    /// Whether a call of a function gives a keyword argument that may hold.
    fn callers_give(&self, function: (UnitId, FuncId), keyword: &str, depth: usize) -> bool {
        if depth > MOST_DEPTH {
            return false;
        }
        let folder = Folder::new(self.solver);
        let is_meant = |value: Value| match value {
            Value::Func(u, f) | Value::Bound(u, f, _) => (u, f) == function,
            _ => false,
        };
        (0..self.solver.units().len() as UnitId).any(|unit| {
            self.solver.program(unit).exprs.iter().any(|node| {
                let Expr::Call(call) = &node.expr else { return false };
                self.solver.values_of(unit, call.callee).any(is_meant)
                    && call.args.iter().any(|arg| match &arg.name {
                        Some(name) => name == keyword && folder.truth(unit, arg.value) != Some(false),
                        None => {
                            arg.spread == Spread::Mapping
                                && self.table_gives(unit, arg.value, keyword, depth + 1)
                        }
                    })
            })
        })
    }

    /// `map(os.system, commands)`: a primitive or runner that is called with each element of a list. `false`
    /// where it is no such call, or nothing is known of the list.
    pub(super) fn each_is_given(&mut self, call: &Call, callees: &[Value]) -> bool {
        let [callable, list, ..] = &*call.args else { return false };
        let catalogue = self.solver.catalogue(self.unit);
        let name = match &self.solver.program(self.unit).exprs[call.callee as usize].expr {
            Expr::Attr { name, .. } => Some(name.as_str()),
            _ => {
                callees.iter().find_map(|callee| self.path(*callee)).and_then(|path| path.rsplit('.').next())
            }
        };
        if !name.is_some_and(|name| catalogue.gives_each(name)) {
            return false;
        }
        let items = Folder::new(self.solver).elements(self.unit, list.value, 0).items;
        let span = self.solver.program(self.unit).exprs[callable.value as usize].span;
        let called: Vec<Value> = self.solver.values_of(self.unit, callable.value).collect();
        let paths: Vec<&str> = called.iter().filter_map(|value| self.path(*value)).collect();
        // A partial application beside them is looked at as what is handed over anywhere.
        let is_known = !items.is_empty() && !paths.is_empty() && paths.len() == called.len();
        for path in paths {
            for (unit, item) in items.iter().copied() {
                let lead = [Arg::positional(item)];
                let given = Given { unit, lead: &lead, args: &[], receiver: None };
                self.reference(path, given, callable.value, span);
            }
        }
        is_known
    }
}
