//! What is put into containers after they were made: by methods that add to them, and by stores under a key.

use rustc_hash::FxHashMap;

use super::solve::Solver;
use super::value::{Object, UnitId, Value};
use crate::base::ir::{CellId, Expr, ExprId, FuncId, Slot};

/// Methods that add to the container that they are called on.
const ADDING: [&str; 10] = [
    "append",
    "appendleft",
    "add",
    "insert",
    "extend",
    "extendleft",
    "update",
    "setdefault",
    "push",
    "unshift",
];

/// Functions in one another that are looked through.
const MOST_NESTED: usize = 64;

/// One way in which something comes into a container.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fill {
    /// A call of one of its methods.
    Call(ExprId),
    /// A store of the unit under a key.
    Store(u32),
}

/// What fills each container, in the order of the units and of their texts.
pub(super) type Fills = FxHashMap<Object, Vec<(UnitId, Fill)>>;

impl Solver<'_> {
    /// What fills a container, as far as is known when it is first asked for.
    pub(super) fn fills_of(&self, object: Object) -> &[(UnitId, Fill)] {
        self.fills.get_or_init(|| self.all_fills()).get(&object).map_or(&[], Vec::as_slice)
    }

    /// Calls that make the list in a variable longer, in order.
    pub(super) fn growth_of(&self, unit: UnitId, cell: CellId) -> &[ExprId] {
        self.units[unit as usize].growth.get(&cell).map_or(&[], Vec::as_slice)
    }

    /// Those of what a variable was before: what a function reads of its module is the module's variable.
    pub(super) fn growth_behind(&self, unit: UnitId, cell: CellId) -> &[ExprId] {
        let cells = &self.program(unit).cells;
        let mut at = cell;
        for _ in 0..MOST_NESTED {
            let growth = self.growth_of(unit, at);
            match (growth.is_empty(), cells[at as usize].values.is_empty(), &*cells[at as usize].from) {
                (true, true, [only]) => at = *only,
                _ => return growth,
            }
        }
        &[]
    }

    /// Whether a function is another, or stands in it.
    pub(super) fn is_inside(&self, unit: UnitId, function: FuncId, other: FuncId) -> bool {
        let parent = |of: &FuncId| self.program(unit).functions[*of as usize].parent;
        std::iter::successors(Some(function), parent).take(MOST_NESTED).any(|of| of == other)
    }

    fn all_fills(&self) -> Fills {
        let mut fills = Fills::default();
        let mut note = |unit: UnitId, base: ExprId, fill: Fill| {
            for value in self.values_of(unit, base) {
                if let Value::Container(object) = value {
                    fills.entry(object).or_default().push((unit, fill));
                }
            }
        };
        for unit in 0..self.units.len() as UnitId {
            let program = self.program(unit);
            for (id, node) in program.exprs.iter().enumerate() {
                if let Expr::Call(call) = &node.expr
                    && let Expr::Attr { base, name } = &program.exprs[call.callee as usize].expr
                    && ADDING.contains(&name.as_str())
                {
                    note(unit, *base, Fill::Call(id as ExprId));
                }
            }
            for (at, store) in program.stores.iter().enumerate() {
                if matches!(store.slot, Slot::Key(_)) {
                    note(unit, store.base, Fill::Store(at as u32));
                }
            }
        }
        fills
    }
}
