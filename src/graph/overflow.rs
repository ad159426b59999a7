//! Callables that are not followed any further, since a place holds too many to be told apart:
//! whoever can name one may call it. Only the daemon's reach asks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::ir::{Expr, ExprId, FuncId};
use crate::base::site::Confidence;

/// Functions that some place had no room for.
#[derive(Debug, Default)]
pub(super) struct Overflow {
    functions: FxHashSet<(UnitId, FuncId)>,
    /// Those whose turn has not come yet.
    waiting: Vec<(UnitId, FuncId)>,
    /// Where each function of a unit is defined.
    definitions: FxHashMap<UnitId, FxHashMap<FuncId, ExprId>>,
}

impl Overflow {
    /// A place has no room for a value.
    pub(super) fn note(&mut self, on_demand: bool, value: Value) {
        if let Value::Func(u, f) | Value::Bound(u, f, _) = value
            && on_demand
            && self.functions.insert((u, f))
        {
            self.waiting.push((u, f));
        }
    }
}

impl Solver<'_> {
    /// Takes what was not followed as called by the code that defines it. Gives whether anything was new.
    pub fn overflowed(&mut self) -> bool {
        let waiting = std::mem::take(&mut self.overflow.waiting);
        let changed = !waiting.is_empty();
        for (unit, function) in waiting {
            let program = self.program(unit);
            let definitions = self.overflow.definitions.entry(unit).or_insert_with(|| {
                let defined = program.exprs.iter().enumerate().filter_map(|(at, node)| match node.expr {
                    Expr::Func(function) => Some((function, at as ExprId)),
                    _ => None,
                });
                defined.collect()
            });
            if let Some(at) = definitions.get(&function).copied() {
                self.edge(unit, at, (unit, function), Confidence::Possible);
                self.seed_receiver(unit, function);
            }
        }
        changed
    }
}
