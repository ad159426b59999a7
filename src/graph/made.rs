//! Commands that an object is made with: the constructor keeps what it is given, and a method runs it
//! (`Runner(["pkill", "x"]).run()`). Such a constructor takes a command as a function does that runs it.

use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::ir::{Arg, CellId, ClassId, Expr, ExprId, FuncId, Slot};

/// Expressions in expressions that are looked at for what a command is made of.
const MOST_DEPTH: usize = 6;
/// The constructor's name.
const CONSTRUCTOR: &str = "__init__";

impl Solver<'_> {
    /// The constructor that a class defines, if it defines one and no other.
    pub(super) fn constructor(&self, (unit, class): (UnitId, ClassId)) -> Option<FuncId> {
        let functions = &self.program(unit).functions;
        let is_maker = |at: &FuncId| {
            let function = &functions[*at as usize];
            function.class == Some(class) && function.name == CONSTRUCTOR
        };
        let mut makers = (0..functions.len() as FuncId).filter(is_maker);
        makers.next().filter(|_| makers.next().is_none())
    }

    /// The constructor that makes the objects of a class: its own, or the nearest one above.
    pub(super) fn constructor_above(&self, unit: UnitId, class: ClassId) -> Option<(UnitId, FuncId)> {
        let mut above = self.classes_above(unit, class).into_iter();
        above.find_map(|class| Some((class.0, self.constructor(class)?)))
    }

    /// The constructor whose parameters are what a call in a method is given: its arguments are made of nothing but
    /// members of the method's own object, which that constructor stores.
    pub(super) fn maker_behind(&self, unit: UnitId, function: FuncId, args: &[Arg]) -> Option<FuncId> {
        let program = self.program(unit);
        let class = program.functions[function as usize].class?;
        let method = Method { solver: self, unit, function };
        let mut names = Vec::new();
        let plain: Vec<&Arg> = args.iter().filter(|arg| arg.name.is_none()).collect();
        let given: Vec<&Arg> = if plain.is_empty() { args.iter().collect() } else { plain };
        if !given.iter().all(|arg| method.is_own(arg.value, &mut names, 0)) {
            return None;
        }
        let family = self.classes_above(unit, class);
        let maker_of = |name: &str| {
            let stores = self.stores_of(unit, name);
            stores.iter().map(|at| &program.stores[*at as usize]).find_map(|store| {
                let base = &program.exprs[store.base as usize];
                let function = &program.functions[base.function as usize];
                let is_maker = function.name == CONSTRUCTOR
                    && function.class.is_some_and(|class| family.contains(&(unit, class)))
                    && matches!(store.slot, Slot::Attr(_))
                    && self.receiver(unit, store.base) == Some(base.function);
                is_maker.then_some(base.function)
            })
        };
        let maker = maker_of(names.first()?)?;
        names.iter().all(|name| maker_of(name) == Some(maker)).then_some(maker)
    }

    /// The method whose own object an expression is.
    fn receiver(&self, unit: UnitId, expr: ExprId) -> Option<FuncId> {
        let Expr::Cell(cell) = self.program(unit).exprs[expr as usize].expr else { return None };
        self.parameter(unit, cell).filter(|(_, position, _)| *position == 0).map(|(function, ..)| function)
    }
}

/// A method of a class.
struct Method<'s, 'a> {
    solver: &'s Solver<'a>,
    unit: UnitId,
    function: FuncId,
}

impl<'s> Method<'s, '_> {
    /// Whether an expression is made of members of the method's own object and of what is written out. Adds the names
    /// of the members.
    fn is_own(&self, expr: ExprId, names: &mut Vec<&'s str>, depth: usize) -> bool {
        if depth > MOST_DEPTH {
            return false;
        }
        let mut all = |exprs: &[ExprId]| exprs.iter().all(|expr| self.is_own(*expr, names, depth + 1));
        match &self.solver.program(self.unit).exprs[expr as usize].expr {
            Expr::Str(_) | Expr::Int(_) | Expr::Bool(_) | Expr::Null => true,
            Expr::Attr { base, name } if self.solver.receiver(self.unit, *base) == Some(self.function) => {
                names.push(name);
                true
            }
            Expr::Same(inner) => all(&[*inner]),
            Expr::Binary { left, right, .. } => all(&[*left, *right]),
            Expr::Template(parts) | Expr::Union(parts) => all(parts),
            Expr::Seq(items) => all(&items.iter().map(|(item, _)| *item).collect::<Vec<_>>()),
            // `shlex.split(self.command)`.
            Expr::Call(call) if self.is_foreign(call.callee) => {
                all(&call.args.iter().map(|arg| arg.value).collect::<Vec<_>>())
            }
            Expr::Cell(cell) => self.bound(*cell).is_some_and(|values| all(&values)),
            _ => false,
        }
    }

    /// What is bound to a variable; nothing of a parameter.
    fn bound(&self, cell: CellId) -> Option<Vec<ExprId>> {
        let mut cells = vec![cell];
        let mut read = 0;
        let mut values = Vec::new();
        while let Some(cell) = cells.get(read).copied() {
            read += 1;
            if self.solver.parameter(self.unit, cell).is_some() || cells.len() > MOST_DEPTH {
                return None;
            }
            let cell = &self.solver.program(self.unit).cells[cell as usize];
            values.extend(&cell.values);
            let new: Vec<CellId> = cell.from.iter().filter(|from| !cells.contains(from)).copied().collect();
            cells.extend(new);
        }
        Some(values).filter(|values| !values.is_empty())
    }

    /// Whether what is called lies outside the tree.
    fn is_foreign(&self, callee: ExprId) -> bool {
        let mut values = self.solver.values_of(self.unit, callee).peekable();
        values.peek().is_some() && values.all(|value| matches!(value, Value::External { .. }))
    }
}
