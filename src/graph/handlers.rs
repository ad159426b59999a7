//! Functions that an object was given to call, and that nothing beside it calls: tools of a server, commands
//! of an application. What their parameters hold comes from outside the tree, so no caller here decides it.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::link::Target;
use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::ir::{Call, CallKind, Expr, ExprId, FuncId, Import};

/// What makes a property of a function: methods of the property itself.
const OF_PROPERTIES: [&str; 3] = ["setter", "getter", "deleter"];

/// Cells through which the object of a decorator is looked for.
const MOST_CELLS: usize = 16;

/// Functions of other files that a file registers: the file, and where the function begins.
pub type Registered = BTreeSet<(String, u32)>;

/// The handlers among one unit's functions, found when they are first asked for.
#[derive(Debug, Default)]
pub(super) struct Handlers {
    found: OnceCell<FxHashSet<FuncId>>,
    /// Those that other files register.
    elsewhere: Registered,
}

impl Handlers {
    /// With what other files register.
    pub(super) fn with(elsewhere: Registered) -> Handlers {
        Handlers { found: OnceCell::new(), elsewhere }
    }

    /// Whether a function stands under a decorator that an object gives (`@mcp.tool()`), or is given to what
    /// registers it (`mcp.add_tool(f)`).
    pub(super) fn holds(&self, solver: &Solver<'_>, unit: UnitId, function: FuncId) -> bool {
        let found = self.found.get_or_init(|| {
            let mut found = find(solver, unit);
            let path = solver.units()[unit as usize].path;
            let functions = solver.program(unit).functions.iter().enumerate();
            let given = functions.filter(|(_, f)| self.elsewhere.contains(&(path.to_owned(), f.span.start)));
            found.extend(given.map(|(at, _)| at as FuncId));
            found
        });
        found.contains(&function)
    }
}

/// The functions of other units that a unit registers.
pub(super) fn registered_elsewhere(solver: &Solver<'_>, unit: UnitId) -> Registered {
    let mut found = Registered::new();
    if solver.units().len() < 2 {
        return found;
    }
    for call in solver.program(unit).exprs.iter().filter_map(|node| match &node.expr {
        Expr::Call(call) if registers(solver, unit, call) => Some(call),
        _ => None,
    }) {
        for value in call.args.iter().flat_map(|arg| solver.values_of(unit, arg.value)) {
            if let Value::Func(u, function) | Value::Bound(u, function, _) = value
                && u != unit
            {
                let start = solver.program(u).functions[function as usize].span.start;
                found.insert((solver.units()[u as usize].path.to_owned(), start));
            }
        }
    }
    found
}

fn find(solver: &Solver<'_>, unit: UnitId) -> FxHashSet<FuncId> {
    let exprs = &solver.program(unit).exprs;
    let decorated = exprs.iter().filter_map(|node| match &node.expr {
        Expr::Call(call) if call.kind == CallKind::Decorator => Some((call.callee, call.args.first()?.value)),
        _ => None,
    });
    let handlers = decorated.filter(|(decorator, _)| is_objects_own(solver, unit, *decorator));
    let mut handlers: FxHashSet<FuncId> =
        handlers.filter_map(|(_, definition)| defined(solver, unit, definition)).collect();
    // What is called beside has callers that decide: `@cache.memoize()` registers nothing.
    if !handlers.is_empty() {
        for node in exprs {
            if let Expr::Call(call) = &node.expr {
                own_functions(solver, unit, call.callee).for_each(|function| {
                    handlers.remove(&function);
                });
            }
        }
    }
    // What is registered by name comes from outside as well, whoever else calls it.
    for node in exprs {
        if let Expr::Call(call) = &node.expr
            && registers(solver, unit, call)
        {
            handlers.extend(call.args.iter().flat_map(|arg| own_functions(solver, unit, arg.value)));
        }
    }
    handlers
}

/// The functions of a unit that an expression may be.
fn own_functions(solver: &Solver<'_>, unit: UnitId, expr: ExprId) -> impl Iterator<Item = FuncId> {
    solver.values_of(unit, expr).filter_map(move |value| match value {
        Value::Func(u, function) | Value::Bound(u, function, _) if u == unit => Some(function),
        _ => None,
    })
}

/// Whether a call registers the functions that it is given, by the name of the method: `mcp.add_tool(f)`,
/// `mcp.tool()(f)`.
fn registers(solver: &Solver<'_>, unit: UnitId, call: &Call) -> bool {
    let exprs = &solver.program(unit).exprs;
    let method = match &exprs[call.callee as usize].expr {
        Expr::Call(inner) => inner.callee,
        _ => call.callee,
    };
    call.kind == CallKind::Plain
        && matches!(&exprs[method as usize].expr, Expr::Attr { name, .. } if solver.catalogue(unit).is_registrar(name))
}

/// The function under decorators.
fn defined(solver: &Solver<'_>, unit: UnitId, mut at: ExprId) -> Option<FuncId> {
    loop {
        // Each decorator stands behind what it decorates: the places only fall.
        at = match &solver.program(unit).exprs[at as usize].expr {
            Expr::Func(function) => return Some(*function),
            Expr::Call(call) if call.kind == CallKind::Decorator => {
                call.args.first().map(|arg| arg.value).filter(|inner| *inner < at)?
            }
            _ => return None,
        };
    }
}

/// Whether a decorator is a method of an object, called or not. A module's own decorators
/// (`functools.cache`) leave a function to its callers.
fn is_objects_own(solver: &Solver<'_>, unit: UnitId, decorator: ExprId) -> bool {
    let program = solver.program(unit);
    let exprs = &program.exprs;
    let method = match &exprs[decorator as usize].expr {
        Expr::Call(call) => call.callee,
        _ => decorator,
    };
    let Expr::Attr { base, name } = &exprs[method as usize].expr else { return false };
    if OF_PROPERTIES.contains(&name.as_str()) {
        return false;
    }
    let state = &solver.units()[unit as usize];
    let target = |import: &Import| solver.files().resolve(state.language, state.path, import);
    let is_object = |at: ExprId| match &exprs[at as usize].expr {
        // A group of commands is a function that a decorator made one of.
        Expr::Call(call) => matches!(call.kind, CallKind::Plain | CallKind::New | CallKind::Decorator),
        // What is not known may be one.
        Expr::Unknown => true,
        // `from app import mcp`: what a file of the tree has under a name and is no module.
        Expr::Import(import) => match target(import) {
            Target::Name(path, name) => solver.files().python_submodule(&path, &name).is_none(),
            _ => false,
        },
        _ => false,
    };
    // What a file of the tree has, imported as a module.
    let is_own_module = |at: ExprId| match &exprs[at as usize].expr {
        Expr::Import(import) => !matches!(target(import), Target::External(_) | Target::Missing),
        _ => false,
    };
    match &exprs[*base as usize].expr {
        // A server that a function is given registers what is defined in it.
        Expr::Cell(cell) => {
            solver.parameter(unit, *cell).is_some()
                || program.bound_values(*cell, MOST_CELLS).into_iter().any(is_object)
        }
        // `self.server.tool()`, `app.mcp.tool()`.
        Expr::Attr { base, .. } => match &exprs[*base as usize].expr {
            Expr::Cell(cell) => {
                solver.parameter(unit, *cell).is_some()
                    || program.bound_values(*cell, MOST_CELLS).into_iter().any(is_own_module)
            }
            _ => is_own_module(*base),
        },
        _ => is_object(*base),
    }
}
