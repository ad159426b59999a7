//! Commands that are built step by step: which method calls belong to which constructor,
//! through variables, fields, chains and functions that give a builder back.

use rustc_hash::FxHashMap;

use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::ir::{Expr, ExprId};
use crate::data::primitives::RunnerForm;

/// Steps that following one builder back may take.
const STEPS: usize = 96;

/// One method call on a builder.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The method call.
    pub(super) call: ExprId,
    /// The method's name.
    pub(super) name: String,
}

/// What is done with one command.
#[derive(Debug, Clone, Default)]
pub(super) struct Built {
    /// Its method calls, in the order of the text.
    pub(super) steps: Vec<Step>,
}

/// Where a builder comes from: its constructor's call, and the call of a function that gave it
/// back, if one did.
type Root = (ExprId, Option<ExprId>);

/// The builders of one unit.
#[derive(Debug, Default)]
pub(super) struct Builders {
    by_root: FxHashMap<ExprId, FxHashMap<Option<ExprId>, Built>>,
}

impl Builders {
    pub(super) fn new(solver: &Solver<'_>, unit: UnitId) -> Builders {
        let mut builders = Builders::default();
        let catalogue = solver.catalogue(unit);
        let entries: Vec<_> = catalogue.runners().iter().filter(|r| r.form == RunnerForm::Builder).collect();
        if entries.is_empty() {
            return builders;
        }
        let is_step = |name: &String| {
            entries.iter().any(|e| {
                [&e.word_methods, &e.list_methods, &e.run_methods, &e.replace_methods]
                    .iter()
                    .any(|m| m.contains(name))
            })
        };
        let program = solver.program(unit);
        for (id, node) in program.exprs.iter().enumerate() {
            let Expr::Call(call) = &node.expr else { continue };
            let Some(Expr::Attr { base, name }) = program.exprs.get(call.callee as usize).map(|n| &n.expr)
            else {
                continue;
            };
            if !is_step(name) {
                continue;
            }
            for (root, via) in roots(solver, unit, *base) {
                let built = builders.by_root.entry(root).or_default().entry(via).or_default();
                built.steps.push(Step { call: id as ExprId, name: name.clone() });
            }
        }
        builders
    }

    /// What becomes of a constructor's command: once for each function call that gave it back, each
    /// with what the function itself did before; at least one.
    pub(super) fn of(&self, constructor: ExprId) -> Vec<Built> {
        let Some(groups) = self.by_root.get(&constructor) else { return vec![Built::default()] };
        let own = groups.get(&None).cloned().unwrap_or_default();
        let mut calls: Vec<ExprId> = groups.keys().filter_map(|via| *via).collect();
        calls.sort_unstable();
        if calls.is_empty() {
            return vec![own];
        }
        calls
            .into_iter()
            .filter_map(|call| groups.get(&Some(call)))
            .map(|group| Built { steps: own.steps.iter().chain(&group.steps).cloned().collect() })
            .collect()
    }
}

/// The constructors that an expression's builder may come from.
fn roots(solver: &Solver<'_>, unit: UnitId, expr: ExprId) -> Vec<Root> {
    let program = solver.program(unit);
    let catalogue = solver.catalogue(unit);
    let mut found: Vec<Root> = Vec::new();
    let mut stack: Vec<(ExprId, Option<ExprId>)> = vec![(expr, None)];
    let mut seen: Vec<ExprId> = vec![expr];
    while let Some((expr, via)) = stack.pop() {
        if seen.len() > STEPS {
            break;
        }
        let mut next: Vec<(ExprId, Option<ExprId>)> = Vec::new();
        match &program.exprs[expr as usize].expr {
            Expr::Cell(cell) => {
                next.extend(solver.program(unit).bound_values(*cell, STEPS).into_iter().map(|v| (v, via)))
            }
            Expr::Same(inner) | Expr::Enter(inner) => next.push((*inner, via)),
            Expr::Union(options) => next.extend(options.iter().map(|o| (*o, via))),
            Expr::Attr { name, .. } => {
                for store in solver.stores_of(unit, name) {
                    if let Some(store) = program.stores.get(store as usize) {
                        next.push((store.value, via));
                    }
                }
            }
            Expr::Call(call) => {
                let mut is_root = false;
                for value in solver.values_of(unit, call.callee) {
                    match value {
                        Value::External { path, .. } => {
                            is_root |= catalogue
                                .runner(solver.interner.text(path))
                                .is_some_and(|r| r.form == RunnerForm::Builder);
                        }
                        Value::Func(u, f) | Value::Bound(u, f, _) if u == unit => {
                            let returns = &program.functions[f as usize].returns;
                            next.extend(returns.iter().map(|r| (*r, via.or(Some(expr)))));
                        }
                        _ => {}
                    }
                }
                if is_root {
                    if !found.contains(&(expr, via)) {
                        found.push((expr, via));
                    }
                    continue;
                }
                if let Expr::Attr { base, .. } = &program.exprs[call.callee as usize].expr {
                    next.push((*base, via));
                }
            }
            _ => {}
        }
        for (expr, via) in next {
            if !seen.contains(&expr) {
                seen.push(expr);
                stack.push((expr, via));
            }
        }
    }
    found
}
