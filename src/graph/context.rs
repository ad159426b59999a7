//! What surrounds a site: its symbol, the conditions it runs under, whether it runs at import
//! time, in a fork's child, at the entry point, or since the client is gone.

use rustc_hash::{FxHashMap, FxHashSet};

use super::forked::{Forked, ends_the_process};
use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::effect::Effect;
use crate::base::facts::{Language, Lookup};
use crate::base::ir::{BinaryOp, Expr, ExprId, FuncId, FunctionKind, GuardId, GuardKind, Slot};
use crate::base::site::{Site, Target, Via};
use crate::base::span::Span;

/// Most names that a site's conditions are said to test.
const MOST_NAMES: usize = 64;

/// Facts about one unit's functions that its sites share.
pub(super) struct Contexts {
    unit: UnitId,
    /// Functions that run while the module is imported, with the place that starts them.
    at_import: FxHashMap<FuncId, u32>,
    /// Where the first import stands that is not of the standard library.
    first_foreign_import: Option<u32>,
    /// Functions that are the program's entry.
    entry: FxHashSet<FuncId>,
    /// Handlers of the host's stop, or of the client's leaving.
    stop_handlers: FxHashSet<FuncId>,
    /// What runs in a fork's child.
    forked: Forked,
}

impl Contexts {
    pub(super) fn new(solver: &Solver<'_>, unit: UnitId) -> Contexts {
        let mut contexts = Contexts {
            unit,
            at_import: FxHashMap::default(),
            first_foreign_import: None,
            entry: FxHashSet::default(),
            stop_handlers: FxHashSet::default(),
            forked: Forked::new(solver),
        };
        contexts.find_import_time(solver);
        contexts.find_entry(solver);
        contexts.find_stop_handlers(solver);
        contexts
    }

    fn find_import_time(&mut self, solver: &Solver<'_>) {
        let program = solver.program(self.unit);
        let catalogue = solver.catalogue(self.unit);
        self.first_foreign_import = program
            .imports
            .iter()
            .filter(|i| i.function == 0)
            .filter(|i| !catalogue.is_standard(i.import.module.split('.').next().unwrap_or("")))
            .map(|i| i.span.start)
            .min();
        let mut calls: FxHashMap<FuncId, Vec<(FuncId, u32)>> = FxHashMap::default();
        for edge in &solver.edges {
            if edge.from.0 == self.unit && edge.to.0 == self.unit {
                calls.entry(edge.from.1).or_default().push((edge.to.1, edge.place.0));
            }
        }
        let mut queue: Vec<(FuncId, u32)> = calls.get(&0).cloned().unwrap_or_default();
        while let Some((function, place)) = queue.pop() {
            let known = self.at_import.entry(function).or_insert(u32::MAX);
            if place >= *known {
                continue;
            }
            *known = place;
            for (next, _) in calls.get(&function).into_iter().flatten() {
                queue.push((*next, place));
            }
        }
    }

    fn find_entry(&mut self, solver: &Solver<'_>) {
        let program = solver.program(self.unit);
        let language = solver.units()[self.unit as usize].language;
        for (id, function) in program.functions.iter().enumerate() {
            if function.kind == FunctionKind::MainGuard {
                self.entry.insert(id as FuncId);
            }
        }
        match language {
            Language::Javascript => {
                self.entry.insert(0);
            }
            Language::Go | Language::Rust => {
                let main = program.functions.iter().position(|f| f.symbol == "main" && f.parent == Some(0));
                self.entry.extend(main.map(|id| id as FuncId));
            }
            _ => {}
        }
        // A `main` that the entry calls, and the handlers of what it promises.
        for _ in 0..4 {
            let before = self.entry.len();
            for edge in &solver.edges {
                if edge.from.0 == self.unit
                    && edge.to.0 == self.unit
                    && self.entry.contains(&edge.from.1)
                    && program.functions[edge.to.1 as usize].name == "main"
                {
                    self.entry.insert(edge.to.1);
                }
            }
            if language == Language::Javascript {
                self.find_continuations(solver);
            }
            if self.entry.len() == before {
                break;
            }
        }
    }

    /// Functions written where they are called, or where a promise takes them: code of the entry still.
    fn find_continuations(&mut self, solver: &Solver<'_>) {
        let program = solver.program(self.unit);
        for node in &program.exprs {
            if !self.entry.contains(&node.function) {
                continue;
            }
            let Expr::Call(call) = &node.expr else { continue };
            match &program.exprs[call.callee as usize].expr {
                Expr::Func(function) => {
                    self.entry.insert(*function);
                }
                Expr::Attr { name, .. } if matches!(name.as_str(), "then" | "catch" | "finally") => {
                    for arg in &call.args {
                        if let Expr::Func(function) = program.exprs[arg.value as usize].expr {
                            self.entry.insert(function);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn find_stop_handlers(&mut self, solver: &Solver<'_>) {
        let program = solver.program(self.unit);
        let catalogue = solver.catalogue(self.unit);
        let mut registered: FxHashMap<FuncId, Vec<Span>> = FxHashMap::default();
        let mut note = |expr: ExprId| {
            for function in self.functions_in(solver, expr) {
                registered.entry(function).or_default().push(program.exprs[expr as usize].span);
            }
        };
        for node in &program.exprs {
            let Expr::Call(call) = &node.expr else { continue };
            let calls = |what: &dyn Fn(&str) -> bool| {
                solver.values_of(self.unit, call.callee).any(|v| match v {
                    Value::External { path, .. } => what(solver.interner.text(path)),
                    _ => false,
                })
            };
            if calls(&|path| catalogue.takes_stop(path)) {
                call.args.iter().for_each(|arg| note(arg.value));
                continue;
            }
            let registers = calls(&|path| catalogue.registers_stop(path));
            let Some(event) = call.args.first().filter(|_| registers) else { continue };
            let named = solver.values_of(self.unit, event.value).any(|v| match v {
                Value::External { path, .. } => catalogue.is_stop_event(solver.interner.text(path)),
                _ => false,
            }) || solver
                .constant_names(self.unit, event.value)
                .iter()
                .any(|n| catalogue.is_stop_event(n));
            if named {
                call.args.iter().skip(1).for_each(|arg| note(arg.value));
            }
        }
        for store in &program.stores {
            let Slot::Attr(name) = &store.slot else { continue };
            if solver
                .external_paths(self.unit, store.base)
                .iter()
                .any(|base| catalogue.is_stop_member(&format!("{base}.{name}")))
            {
                note(store.value);
            }
        }
        self.only_from_stop(solver, &registered);
    }

    /// The functions of this unit that an expression stands for, through partial applications.
    fn functions_in(&self, solver: &Solver<'_>, expr: ExprId) -> Vec<FuncId> {
        let mut found = Vec::new();
        for value in solver.values_of(self.unit, expr) {
            match value {
                Value::Func(u, f) | Value::Bound(u, f, _) if u == self.unit => found.push(f),
                Value::Partial(u, partial) if u == self.unit => {
                    let Expr::Call(call) = &solver.program(u).exprs[partial as usize].expr else { continue };
                    let Some(first) = call.args.first() else { continue };
                    found.extend(solver.values_of(u, first.value).filter_map(|v| match v {
                        Value::Func(u, f) | Value::Bound(u, f, _) if u == self.unit => Some(f),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        found
    }

    /// Stop handlers, and functions that only they call: a function that something else calls too
    /// does not run because of the stop alone.
    fn only_from_stop(&mut self, solver: &Solver<'_>, registered: &FxHashMap<FuncId, Vec<Span>>) {
        if registered.is_empty() {
            return;
        }
        let mut calls: FxHashMap<FuncId, Vec<(FuncId, Span)>> = FxHashMap::default();
        for edge in solver.edges.iter().filter(|e| e.to.0 == self.unit && e.to.1 != 0) {
            let from = if edge.from.0 == self.unit { edge.from.1 } else { FuncId::MAX };
            let place = Span { start: edge.place.0, end: edge.place.1 };
            calls.entry(edge.to.1).or_default().push((from, place));
        }
        let mut stop: FxHashSet<FuncId> = registered.keys().copied().collect();
        stop.extend(calls.keys().copied());
        // The largest set in which every function is called from the set, or registered, alone.
        loop {
            let kept: FxHashSet<FuncId> = stop
                .iter()
                .copied()
                .filter(|function| {
                    let places = registered.get(function).map_or(&[][..], Vec::as_slice);
                    calls.get(function).into_iter().flatten().all(|(from, place)| {
                        places.contains(place)
                            || self.outward(solver, *from).any(|f| f != *function && stop.contains(&f))
                    })
                })
                .collect();
            if kept.len() == stop.len() {
                break;
            }
            stop = kept;
        }
        // Only what a registered handler leads to: a cycle alone is called by nobody.
        let mut reached: FxHashSet<FuncId> = FxHashSet::default();
        let mut queue: Vec<FuncId> = registered.keys().copied().filter(|f| stop.contains(f)).collect();
        while let Some(function) = queue.pop() {
            if !reached.insert(function) {
                continue;
            }
            for (to, from) in &calls {
                if stop.contains(to)
                    && from.iter().any(|(f, _)| self.outward(solver, *f).any(|f| f == function))
                {
                    queue.push(*to);
                }
            }
        }
        self.stop_handlers = reached;
    }

    /// A site at an expression.
    #[allow(clippy::too_many_arguments, reason = "one value from all its parts")]
    pub(super) fn site(
        &self,
        solver: &Solver<'_>,
        at: ExprId,
        span: Span,
        primitive: String,
        effect: Effect,
        via: Via,
        target: Option<Target>,
    ) -> Site {
        let program = solver.program(self.unit);
        let node = &program.exprs[at as usize];
        let function = &program.functions[node.function as usize];
        let guards = self.guards(solver, node.guard);
        let mut site = Site::new(span, primitive, effect);
        site.via = via;
        site.target = target;
        site.symbol = function.symbol.clone();
        site.function = node.function;
        // Rust has no code that an import runs.
        let is_rust = solver.units()[self.unit as usize].language == Language::Rust;
        site.import_time = function.kind == FunctionKind::Module && !is_rust;
        site.test_only = self.is_test(solver, node.function);
        let forked = self.forked.is_childs(self.unit, node.function)
            || self.forked.holds(self.unit, node.function, (node.span.start, node.span.end));
        site.fork_child = forked && ends_the_process(effect);
        site.entrypoint = self.entry.contains(&node.function);
        site.client_gone = guards.input_ended || self.in_stop_handler(solver, node.function);
        site.before_imports = self.before_imports(node.function, span.start);
        site.guards = guards.names;
        site
    }

    /// A lookup at an expression.
    pub(super) fn lookup(&self, solver: &Solver<'_>, at: ExprId, span: Span, module: &str) -> Lookup {
        let program = solver.program(self.unit);
        let function = program.exprs[at as usize].function;
        Lookup {
            span,
            module: module.to_owned(),
            symbol: program.functions[function as usize].symbol.clone(),
            function,
        }
    }

    fn before_imports(&self, function: FuncId, place: u32) -> bool {
        let start = match function {
            0 => Some(place),
            _ => self.at_import.get(&function).copied(),
        };
        match (start, self.first_foreign_import) {
            (Some(start), Some(foreign)) => start < foreign,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    fn is_test(&self, solver: &Solver<'_>, function: FuncId) -> bool {
        self.outward(solver, function).any(|f| solver.program(self.unit).functions[f as usize].test_only)
    }

    fn in_stop_handler(&self, solver: &Solver<'_>, function: FuncId) -> bool {
        !self.stop_handlers.is_empty()
            && self.outward(solver, function).any(|f| self.stop_handlers.contains(&f))
    }

    /// A function and those around it.
    fn outward<'p>(&self, solver: &Solver<'p>, function: FuncId) -> impl Iterator<Item = FuncId> + 'p {
        let program = solver.program(self.unit);
        std::iter::successors(Some(function), move |f| {
            program.functions.get(*f as usize)?.parent.filter(|p| p != f)
        })
        .take(64)
    }

    fn guards(&self, solver: &Solver<'_>, guard: Option<GuardId>) -> Guards {
        let program = solver.program(self.unit);
        let mut found = Guards::default();
        let mut at = guard;
        let mut depth = 0;
        while let Some(id) = at {
            let guard = &program.guards[id as usize];
            match &guard.kind {
                GuardKind::Branch(condition, holds) => {
                    self.names(solver, *condition, &mut found.names);
                    found.input_ended |= self.says_input_ended(solver, *condition, *holds);
                }
                GuardKind::AfterLeaving(condition, _) => {
                    self.names(solver, *condition, &mut found.names);
                }
                GuardKind::AfterLoop(subject) => found.input_ended |= self.reads_input(solver, *subject),
                // The host said stop.
                GuardKind::Interrupted => found.input_ended = true,
                GuardKind::Handler => {}
            }
            at = guard.parent;
            depth += 1;
            if depth > 512 {
                break;
            }
        }
        found.names.sort();
        found.names.dedup();
        found
    }

    /// The canonical names that a condition tests.
    fn names(&self, solver: &Solver<'_>, condition: ExprId, names: &mut Vec<String>) {
        let program = solver.program(self.unit);
        let mut stack = vec![condition];
        let mut steps = 0;
        while let Some(expr) = stack.pop() {
            steps += 1;
            if steps > 200 || names.len() >= MOST_NAMES {
                break;
            }
            for value in solver.values_of(self.unit, expr) {
                if let Value::External { path, .. } = value {
                    names.push(solver.interner.text(path).replace("()", "").replace("[]", ""));
                }
            }
            match &program.exprs[expr as usize].expr {
                Expr::Binary { left, right, .. } => stack.extend([*left, *right]),
                Expr::Not(inner) | Expr::Neg(inner) | Expr::Same(inner) => stack.push(*inner),
                Expr::Call(call) => {
                    stack.push(call.callee);
                    stack.extend(call.args.iter().map(|a| a.value));
                }
                Expr::Attr { base, .. } | Expr::Item(base, _) | Expr::Element(base) => stack.push(*base),
                Expr::Index { base, key } => stack.extend([*base, *key]),
                Expr::Union(options) | Expr::Template(options) => stack.extend(options.iter().copied()),
                Expr::Seq(items) => stack.extend(items.iter().map(|(i, _)| *i)),
                Expr::Cell(cell) => {
                    // A local variable that holds a test.
                    let cell = &program.cells[*cell as usize];
                    for value in cell.values.iter().take(4) {
                        if matches!(
                            program.exprs[*value as usize].expr,
                            Expr::Binary { .. } | Expr::Not(_) | Expr::Attr { .. } | Expr::Call(_)
                        ) {
                            stack.push(*value);
                        }
                    }
                }
                Expr::Import(_) | Expr::External(_) => {}
                _ => {}
            }
        }
    }

    /// Whether a condition is about what standard input gave.
    fn says_input_ended(&self, solver: &Solver<'_>, condition: ExprId, holds: bool) -> bool {
        let program = solver.program(self.unit);
        match &program.exprs[condition as usize].expr {
            Expr::Not(inner) => holds && self.reads_input(solver, *inner),
            // `read() == 0`, `line == ""`; a word of the client's is no end.
            Expr::Binary { op: BinaryOp::Equal, left, right } => {
                let word = |side: ExprId| match &program.exprs[side as usize].expr {
                    Expr::Str(text) => !text.is_empty(),
                    Expr::Int(number) => *number != 0,
                    _ => false,
                };
                holds
                    && !word(*left)
                    && !word(*right)
                    && (self.reads_input(solver, *left) || self.reads_input(solver, *right))
            }
            _ => !holds && self.reads_input(solver, condition),
        }
    }

    /// Whether an expression is, or comes from, standard input.
    fn reads_input(&self, solver: &Solver<'_>, expr: ExprId) -> bool {
        let program = solver.program(self.unit);
        let catalogue = solver.catalogue(self.unit);
        let mut stack = vec![expr];
        let mut steps = 0;
        while let Some(expr) = stack.pop() {
            steps += 1;
            if steps > 40 {
                return false;
            }
            let reads = solver.values_of(self.unit, expr).any(|v| match v {
                Value::External { path, .. } => catalogue.is_input(solver.interner.text(path)),
                _ => false,
            });
            if reads {
                return true;
            }
            match &program.exprs[expr as usize].expr {
                Expr::Binary { left, right, .. } => stack.extend([*left, *right]),
                Expr::Not(inner) | Expr::Same(inner) | Expr::Element(inner) => stack.push(*inner),
                Expr::Call(call) => {
                    stack.push(call.callee);
                    stack.extend(call.args.iter().map(|a| a.value));
                }
                Expr::Attr { base, .. } => stack.push(*base),
                _ => {}
            }
        }
        false
    }
}

#[derive(Debug, Default)]
struct Guards {
    names: Vec<String>,
    input_ended: bool,
}
