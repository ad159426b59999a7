//! Definitions under decorators. A decorator's wrapper calls whatever the decorator was given, and
//! one decorator is given many definitions; but each stays callable under its own name. So a call
//! of the decorator's parameter inside a wrapper waits: it counts only where somebody enters the
//! wrapper by a way on which no such definition comes along.

use rustc_hash::{FxHashMap, FxHashSet};

use super::solve::{NodeId, Solver};
use super::value::{UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{CallKind, Expr, ExprId, FuncId};

/// A call that waits: its place, and what it would call.
type Waiting = (UnitId, ExprId, ValueId);

/// What is known of decorators so far.
#[derive(Debug, Default)]
pub(super) struct Decorators {
    /// Parameters through which decorators get what they decorate, with their function.
    parameters: FxHashMap<NodeId, (UnitId, FuncId)>,
    /// Functions that stand under a decorator.
    definitions: FxHashSet<ValueId>,
    /// Calls that wait, by the wrapper that they stand in.
    waiting: FxHashMap<(UnitId, FuncId), Vec<Waiting>>,
    /// How nested functions are entered: the calls, and the references handed over.
    entries: FxHashMap<(UnitId, FuncId), Vec<(UnitId, ExprId)>>,
    /// Wrappers whose calls count.
    released: FxHashSet<(UnitId, FuncId)>,
}

impl<'a> Solver<'a> {
    /// A definition stands under a decorator.
    pub(super) fn note_definition(&mut self, unit: UnitId, definition: ExprId) {
        let program = self.program(unit);
        let mut at = definition;
        loop {
            match &program.exprs[at as usize].expr {
                Expr::Func(function) => {
                    let value = self.interner.value(Value::Func(unit, *function));
                    self.decorators.definitions.insert(value);
                    return;
                }
                Expr::Call(call) if call.kind == CallKind::Decorator && !call.args.is_empty() => {
                    at = call.args[0].value;
                }
                _ => return,
            }
        }
    }

    /// A function is called as a decorator: its first parameter is what it decorates.
    pub(super) fn decorating(&mut self, unit: UnitId, id: ExprId, target: (UnitId, FuncId), bound: bool) {
        let is_decorator = matches!(&self.program(unit).exprs[id as usize].expr,
            Expr::Call(call) if call.kind == CallKind::Decorator);
        if !is_decorator || !self.on_demand() || self.units[target.0 as usize].language != Language::Python {
            return;
        }
        let params = &self.program(target.0).functions[target.1 as usize].params;
        if let Some(param) = params.get(usize::from(bound)) {
            let node = self.cell_node(target.0, param.cell);
            self.decorators.parameters.insert(node, target);
        }
    }

    /// Whether a call of a decorated definition, inside the decorator's wrapper, has to wait.
    pub(super) fn is_deferred(&mut self, unit: UnitId, id: ExprId, callee: ValueId) -> bool {
        if self.decorators.parameters.is_empty() || !self.decorators.definitions.contains(&callee) {
            return false;
        }
        let program = self.program(unit);
        let Expr::Call(call) = &program.exprs[id as usize].expr else { return false };
        let Expr::Cell(cell) = program.exprs[call.callee as usize].expr else { return false };
        let from = &program.cells[cell as usize].from;
        let owner = std::iter::once(&cell)
            .chain(from)
            .find_map(|cell| self.decorators.parameters.get(&self.cell_node(unit, *cell)).copied());
        let wrapper = (unit, program.exprs[id as usize].function);
        if owner.is_none_or(|owner| owner == wrapper) || self.decorators.released.contains(&wrapper) {
            return false;
        }
        self.decorators.waiting.entry(wrapper).or_default().push((unit, id, callee));
        true
    }

    /// A nested function is entered.
    pub(super) fn entered(&mut self, unit: UnitId, at: ExprId, to: (UnitId, FuncId)) {
        let function = &self.program(to.0).functions[to.1 as usize];
        if self.units[to.0 as usize].language == Language::Python && function.parent.is_some_and(|p| p != 0) {
            let entries = self.decorators.entries.entry(to).or_default();
            if !entries.contains(&(unit, at)) {
                entries.push((unit, at));
            }
        }
    }

    /// Lets calls go on that waited in wrappers which are entered without what they wrap. Gives
    /// whether there were any.
    pub fn release_wrapped(&mut self) -> bool {
        let mut ready: Vec<(UnitId, FuncId)> = self
            .decorators
            .waiting
            .iter()
            .filter(|(wrapper, calls)| {
                let entries = self.decorators.entries.get(wrapper).map_or(&[][..], Vec::as_slice);
                entries.iter().any(|(unit, at)| {
                    let called = match &self.program(*unit).exprs[*at as usize].expr {
                        Expr::Call(call) => call.callee,
                        _ => *at,
                    };
                    let values = &self.values[self.expr_node(*unit, called) as usize];
                    // A method comes bound; its function is what was decorated.
                    let bare = |value: &ValueId| match self.interner.get(*value) {
                        Value::Bound(u, f, _) => Value::Func(u, f),
                        other => other,
                    };
                    !values.iter().any(|v| calls.iter().any(|(_, _, c)| bare(v) == self.interner.get(*c)))
                })
            })
            .map(|(wrapper, _)| *wrapper)
            .collect();
        ready.sort_unstable();
        let mut any = false;
        for wrapper in ready {
            self.decorators.released.insert(wrapper);
            for (unit, id, callee) in self.decorators.waiting.remove(&wrapper).unwrap_or_default() {
                self.bound_calls.remove(&(unit, id, callee));
                self.call(unit, id, callee);
                any = true;
            }
        }
        any
    }
}
