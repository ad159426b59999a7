//! What runs only in the child of a fork: places under a condition that tells the child from its
//! parent, and functions that nothing else calls.

use rustc_hash::{FxHashMap, FxHashSet};

use super::solve::Solver;
use super::value::{UnitId, Value, ValueId};
use crate::base::effect::Effect;
use crate::base::ir::{BinaryOp, Expr, ExprId, FuncId, GuardId, GuardKind};

/// What forks give, by access path.
const FORKS: &[&str] = &[
    "os.fork()",
    "os.forkpty()[]",
    "pty.fork()[]",
    "libc::fork()",
    "nix::unistd::fork()",
    "rustix::runtime::kernel_fork()",
];

/// Conjunctions and negations in one another that are looked through.
const DEEPEST_CONDITION: usize = 16;
/// Enclosing conditions that are looked at.
const DEEPEST: usize = 512;

/// Whether an effect in a fork's child is the child's own end.
pub fn ends_the_process(effect: Effect) -> bool {
    matches!(effect, Effect::Replace | Effect::Terminate | Effect::Exit)
}

/// A place in a function: unit, function, byte offsets.
type Place = (UnitId, FuncId, (u32, u32));

/// What is known of forks in a solved program.
#[derive(Debug, Default)]
pub struct Forked {
    /// Expressions that stand under a condition on a fork, of the child's or the parent's side.
    places: FxHashSet<Place>,
    /// Functions that only the child calls.
    functions: FxHashSet<(UnitId, FuncId)>,
}

impl Forked {
    /// Looks for forks in all units.
    pub fn new(solver: &Solver<'_>) -> Forked {
        let mut forked = Forked::default();
        // Most programs have none.
        if !FORKS.iter().any(|fork| solver.interner.known_symbol(fork).is_some()) {
            return forked;
        }
        let forks = Forks::new(solver);
        let mut child: FxHashSet<Place> = FxHashSet::default();
        for unit in 0..solver.units().len() as UnitId {
            forks.places(unit, &mut forked.places, &mut child);
        }
        if !child.is_empty() {
            forked.functions = only_called_from(solver, &child);
        }
        forked
    }

    /// Whether a place stands under a condition on a fork.
    pub fn holds(&self, unit: UnitId, function: FuncId, place: (u32, u32)) -> bool {
        self.places.contains(&(unit, function, place))
    }

    /// Whether only the child of a fork calls a function.
    pub fn is_childs(&self, unit: UnitId, function: FuncId) -> bool {
        self.functions.contains(&(unit, function))
    }
}

/// Whether an expression's value is what a fork gave.
pub(super) fn is_fork(solver: &Solver<'_>, unit: UnitId, expr: ExprId) -> bool {
    solver.values_of(unit, expr).any(|v| match v {
        Value::External { path, .. } => FORKS.contains(&solver.interner.text(path)),
        _ => false,
    })
}

struct Forks<'s, 'a> {
    solver: &'s Solver<'a>,
    /// Calls, by place, of functions that fork and give back what the fork gave.
    wrapped: FxHashSet<Place>,
}

impl<'s, 'a> Forks<'s, 'a> {
    fn new(solver: &'s Solver<'a>) -> Forks<'s, 'a> {
        let forks = |(u, f): (UnitId, FuncId)| {
            solver.values[solver.result_node(u, f) as usize].iter().any(|v| match solver.interner.get(*v) {
                Value::External { path, .. } => FORKS.contains(&solver.interner.text(path)),
                _ => false,
            })
        };
        let wrapped = solver.edges.iter().filter(|e| forks(e.to)).map(|e| (e.from.0, e.from.1, e.place));
        Forks { solver, wrapped: wrapped.collect() }
    }

    /// The places of a unit under a condition on a fork, and those on the child's side.
    fn places(&self, unit: UnitId, all: &mut FxHashSet<Place>, child: &mut FxHashSet<Place>) {
        let program = self.solver.program(unit);
        // On which side of a fork the code under a guard is, as far as the guard itself tells: the
        // child's (`true`) or the parent's.
        let sides: Vec<Option<bool>> = program
            .guards
            .iter()
            .map(|guard| match guard.kind {
                GuardKind::Branch(condition, holds) => self.side(unit, condition, holds, 0),
                // What the parent does after its child's branch has left is its own further way.
                GuardKind::AfterLeaving(condition, holds) => {
                    self.side(unit, condition, holds, 0).filter(|is_child| *is_child)
                }
                _ => None,
            })
            .collect();
        if sides.iter().all(Option::is_none) {
            return;
        }
        let ended = self.ended(unit, &sides);
        let condition = |guard: GuardId| match program.guards[guard as usize].kind {
            GuardKind::Branch(condition, _) | GuardKind::AfterLeaving(condition, _) => Some(condition),
            _ => None,
        };
        let mut known: FxHashMap<GuardId, (bool, bool)> = FxHashMap::default();
        for node in &program.exprs {
            let Some(guard) = node.guard else { continue };
            let (on_fork, in_child) = *known.entry(guard).or_insert_with(|| {
                std::iter::successors(Some(guard), |g| program.guards[*g as usize].parent).take(DEEPEST).fold(
                    (false, false),
                    |(on_fork, in_child), g| {
                        let lives_on = condition(g).is_some_and(|c| ended.contains(&c));
                        let side = sides[g as usize];
                        (on_fork || side.is_some(), in_child || side == Some(true) && !lives_on)
                    },
                )
            });
            let place = (unit, node.function, (node.span.start, node.span.end));
            if on_fork {
                all.insert(place);
            }
            if in_child {
                child.insert(place);
            }
        }
    }

    /// Conditions on whose parent's side the process ends: the child is the program from there on.
    fn ended(&self, unit: UnitId, sides: &[Option<bool>]) -> FxHashSet<ExprId> {
        let program = self.solver.program(unit);
        let catalogue = self.solver.catalogue(unit);
        let ends = |callee: ExprId| {
            self.solver.values_of(unit, callee).any(|v| match v {
                Value::External { path, .. } => catalogue
                    .primitive(self.solver.interner.text(path))
                    .is_some_and(|entry| ends_the_process(entry.effect)),
                _ => false,
            })
        };
        let mut ended = FxHashSet::default();
        for node in &program.exprs {
            if let Some(guard) = node.guard
                && sides[guard as usize] == Some(false)
                && let GuardKind::Branch(condition, _) = program.guards[guard as usize].kind
                && let Expr::Call(call) = &node.expr
                && ends(call.callee)
            {
                ended.insert(condition);
            }
        }
        ended
    }

    /// Whether a condition that has this truth is the child's (`true`) or not surely the child's.
    /// `None`: it says nothing of a fork.
    fn side(&self, unit: UnitId, condition: ExprId, holds: bool, depth: usize) -> Option<bool> {
        if depth > DEEPEST_CONDITION {
            return None;
        }
        let program = self.solver.program(unit);
        let zero = |expr: ExprId| matches!(program.exprs[expr as usize].expr, Expr::Int(0));
        match &program.exprs[condition as usize].expr {
            Expr::Not(inner) => self.side(unit, *inner, !holds, depth + 1),
            Expr::Same(inner) => self.side(unit, *inner, holds, depth + 1),
            // Both sides of a conjunction have the truth that it has, or that an alternative lacks.
            Expr::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                let sides = [*left, *right].map(|side| self.side(unit, side, holds, depth + 1));
                let known = sides.iter().flatten().copied().reduce(|a, b| a || b)?;
                Some(known && holds == (*op == BinaryOp::And))
            }
            Expr::Binary { op, left, right } => {
                let (pid, other) = if zero(*left) { (*right, *left) } else { (*left, *right) };
                self.gives(unit, pid).then(|| match op {
                    BinaryOp::Equal => holds && zero(other),
                    BinaryOp::NotEqual => !holds && zero(other),
                    BinaryOp::Greater => !holds && zero(*right),
                    BinaryOp::Less => !holds && zero(*left),
                    _ => false,
                })
            }
            _ => self.gives(unit, condition).then_some(!holds),
        }
    }

    /// Whether an expression's value is what a fork gave, here or in a function that is called.
    fn gives(&self, unit: UnitId, expr: ExprId) -> bool {
        if is_fork(self.solver, unit, expr) {
            return true;
        }
        if self.wrapped.is_empty() {
            return false;
        }
        let program = self.solver.program(unit);
        let is_wrapped = |expr: ExprId| {
            let node = &program.exprs[expr as usize];
            self.wrapped.contains(&(unit, node.function, (node.span.start, node.span.end)))
        };
        match &program.exprs[expr as usize].expr {
            Expr::Cell(cell) => {
                let cell = &program.cells[*cell as usize];
                let joined = cell.from.iter().flat_map(|from| &program.cells[*from as usize].values);
                cell.values.iter().chain(joined).any(|value| is_wrapped(*value))
            }
            _ => is_wrapped(expr),
        }
    }
}

/// Functions all of whose calls stand at these places, or in such functions.
fn only_called_from(solver: &Solver<'_>, places: &FxHashSet<Place>) -> FxHashSet<(UnitId, FuncId)> {
    type Calls = FxHashMap<(UnitId, FuncId), Vec<(UnitId, FuncId)>>;
    // Calls elsewhere than at the places, by caller and by callee.
    let (mut calls, mut callers) = (Calls::default(), Calls::default());
    let mut queue: Vec<(UnitId, FuncId)> = Vec::new();
    // A value that is handed over stands for who takes it, and calls what it holds.
    let taker = |value: ValueId| (UnitId::MAX, value.saturating_add(1));
    let gifts = solver.bundles.gifts.iter().map(|g| (g.from, g.place, taker(g.value)));
    let edges = solver.edges.iter().filter(|e| e.from != e.to).map(|e| (e.from, e.place, e.to));
    for (from, place, to) in edges.chain(gifts) {
        if places.contains(&(from.0, from.1, place)) {
            queue.push(to);
        } else {
            calls.entry(from).or_default().push(to);
            callers.entry(to).or_default().push(from);
        }
    }
    for (value, held) in &solver.bundles.held {
        for to in held.functions.iter().copied().chain(held.values.iter().map(|v| taker(*v))) {
            calls.entry(taker(*value)).or_default().push(to);
            callers.entry(to).or_default().push(taker(*value));
        }
    }
    // What the places lead to; a module's top level is everybody's.
    let mut found: FxHashSet<(UnitId, FuncId)> = FxHashSet::default();
    while let Some(function) = queue.pop() {
        if function.1 != 0 && found.insert(function) {
            queue.extend(calls.get(&function).into_iter().flatten());
        }
    }
    // Less what something else calls, and what that leads to.
    let outside = |function: &&(UnitId, FuncId)| {
        callers.get(*function).into_iter().flatten().any(|from| !found.contains(from))
    };
    let mut others: Vec<(UnitId, FuncId)> = found.iter().filter(outside).copied().collect();
    while let Some(function) = others.pop() {
        if found.remove(&function) {
            others.extend(calls.get(&function).into_iter().flatten());
        }
    }
    found
}
