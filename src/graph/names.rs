//! The names under which other code can get something that matters from a file.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::constants;
use super::passed::Wrapper;
use super::sites::EXIT_EXCEPTION;
use super::solve::Solver;
use super::value::{Object, UnitId, Value, ValueId};
use crate::base::facts::{Language, Tells};
use crate::base::ir::{Expr, ExprId, FuncId, Slot};
use crate::data::commands::CommandCatalogue;

/// Base classes that one class is looked into for.
const MOST_BASES: usize = 16;
/// Values that one value is looked into for: what it applies, holds or gives back.
const MOST_VALUES: usize = 32;

/// The names of a unit under which something that matters can be had: a primitive or a runner
/// under a name of its own, an object that has some, a function that gives one back or runs what
/// it is given, a command as a constant, a class that keeps one.
pub(super) fn names_that_matter(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
    wrappers: &FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
) -> BTreeMap<String, Tells> {
    let program = solver.program(unit);
    let catalogue = solver.catalogue(unit);
    let path_matters =
        |path: &str| catalogue.matters(path) || catalogue.leads_others(path) || catalogue.is_server(path);
    // A primitive, an object that has some, or what holds, applies or gives back one.
    let any_matters = |mut waiting: Vec<ValueId>| {
        for _ in 0..MOST_VALUES {
            let Some(value) = waiting.pop() else { return false };
            match solver.interner.get(value) {
                Value::External { path, .. } if path_matters(solver.interner.text(path)) => return true,
                _ => waiting.extend(behind(solver, unit, value)),
            }
        }
        false
    };
    let value_matters = |value: ValueId| any_matters(vec![value]);
    let gives = |function: FuncId| any_matters(given_back(solver, unit, function));
    let when = |holds: bool, tells: Tells| holds.then_some(tells);
    let matters = |node: u32, name: &str| -> Option<Tells> {
        let of = |v: &ValueId| match solver.interner.get(*v) {
            Value::External { path, .. } => {
                let path = solver.interner.text(path);
                let last = path.rsplit('.').next().unwrap_or(path);
                // `import subprocess as sp`, `m = os`: the module under another name.
                let renamed_module =
                    last != name && (catalogue.has_primitives(path) || catalogue.has_runners(path));
                when(path_matters(path) || renamed_module, Tells::Value)
            }
            Value::Func(u, f) | Value::Bound(u, f, _) => {
                let of_calls = wrappers.get(&(u, f));
                let brings = of_calls.into_iter().flatten().any(|w| w.brings_a_command(commands));
                when(brings || u == unit && gives(f), Tells::Value)
                    .or_else(|| when(of_calls.is_some(), Tells::Runs))
            }
            Value::Class(of, class) if is_a_primitive(solver, of, class) => Some(Tells::Value),
            // What an object is made with it may run.
            Value::Class(of, class)
                if solver.constructor_above(of, class).is_some_and(|of| wrappers.contains_key(&of)) =>
            {
                Some(Tells::Runs)
            }
            _ => when(value_matters(*v), Tells::Value),
        };
        solver.values[node as usize].iter().filter_map(of).min()
    };
    let mut names: BTreeMap<String, Tells> = BTreeMap::new();
    let mut add = |name: &str, node: u32| {
        if name.is_empty() || names.get(name) == Some(&Tells::Value) {
            return;
        }
        if let Some(tells) = matters(node, name) {
            let known = names.entry(name.to_owned()).or_insert(tells);
            *known = tells.min(*known);
        }
    };
    if solver.units()[unit as usize].language == Language::Python {
        for (at, cell) in program.cells.iter().enumerate() {
            add(&cell.name, solver.cell_node(unit, at as u32));
        }
    }
    // Elsewhere only what is exported can be imported; a local name may be any other's.
    for (name, cell) in &program.exports {
        add(name, solver.cell_node(unit, *cell));
    }
    for store in &program.stores {
        if let Slot::Attr(name) = &store.slot {
            add(name, solver.expr_node(unit, store.value));
        }
    }
    let set = set_by_name(solver, unit);
    for Set { name, value, .. } in &set {
        add(name, solver.expr_node(unit, *value));
    }
    for (name, value) in program.classes.iter().flat_map(|c| &c.members) {
        add(name, solver.expr_node(unit, *value));
    }
    for name in constants::names_of_commands(solver, unit, commands) {
        names.entry(name.to_owned()).or_insert(Tells::Command);
    }
    // Objects that keep something that matters.
    let mut kept: Vec<(Value, Tells)> = Vec::new();
    let stores = program.stores.iter().filter_map(|store| match &store.slot {
        Slot::Attr(name) => Some((store.base, name.as_str())),
        _ => None,
    });
    for (object, name) in stores.chain(set.iter().map(|set| (set.object, set.name))) {
        if let Some(tells) = names.get(name) {
            kept.extend(solver.values_of(unit, object).map(|object| (object, *tells)));
        }
    }
    // Classes that are a kind of exception that ends the program, or of server.
    let mut ending: FxHashSet<u32> = FxHashSet::default();
    for (at, class) in program.classes.iter().enumerate() {
        let stores = kept.iter().filter(
            |(v, _)| matches!(v, Value::Instance(u, c) | Value::Class(u, c) if *u == unit && *c == at as u32),
        );
        let stores = stores.map(|(_, tells)| *tells);
        let members = class.members.iter().filter_map(|(name, _)| names.get(name).copied());
        let ends = class.bases.iter().any(|base| {
            solver.values_of(unit, *base).any(|v| match v {
                Value::External { path, .. } => {
                    let path = solver.interner.text(path);
                    catalogue.primitive(path).is_some() || catalogue.is_server(path)
                }
                Value::Class(u, c) => u == unit && ending.contains(&c),
                _ => false,
            })
        });
        if ends {
            ending.insert(at as u32);
        }
        // What its bases have, and the class of the class.
        let above = class.bases.iter().chain(&class.meta).flat_map(|above| solver.values_of(unit, *above));
        let above = above.filter_map(|above| match above {
            Value::Class(u, c) if u == unit => names.get(&program.classes[c as usize].name).copied(),
            _ => None,
        });
        // A method that runs what it is given is told by its own name.
        let above = above.filter(|tells| *tells != Tells::Runs);
        if let Some(tells) = members.chain(stores).chain(above).chain(when(ends, Tells::Value)).min() {
            names.entry(class.name.clone()).or_insert(tells);
        }
    }
    // Such objects by their names, and those of classes that keep something.
    for (name, cell) in &program.exports {
        let keeps = |value: Value| match value {
            Value::Instance(u, class) if u == unit => {
                names.get(&program.classes[class as usize].name).copied()
            }
            Value::External { .. } => {
                kept.iter().filter(|(object, _)| *object == value).map(|(_, tells)| *tells).min()
            }
            _ => None,
        };
        let values = &solver.values[solver.cell_node(unit, *cell) as usize];
        let tells = values.iter().filter_map(|value| keeps(solver.interner.get(*value))).min();
        if let Some(tells) = tells.filter(|tells| *tells != Tells::Runs) {
            names.entry(name.clone()).or_insert(tells);
        }
    }
    names
}

/// What a function gives back, or yields.
fn given_back(solver: &Solver<'_>, unit: UnitId, function: FuncId) -> Vec<ValueId> {
    let nodes = [solver.result_node(unit, function), solver.yield_node(unit, function)];
    nodes.iter().flat_map(|node| &solver.values[*node as usize]).copied().collect()
}

/// What a value of a unit applies, holds or gives back.
fn behind(solver: &Solver<'_>, unit: UnitId, value: ValueId) -> Vec<ValueId> {
    let of_args = |of: UnitId, call: ExprId, most: usize| -> Vec<ValueId> {
        let Expr::Call(call) = &solver.program(of).exprs[call as usize].expr else { return Vec::new() };
        let nodes = call.args.iter().take(most).map(|arg| solver.expr_node(of, arg.value));
        nodes.flat_map(|node| &solver.values[node as usize]).copied().collect()
    };
    match solver.interner.get(value) {
        Value::Partial(of, call) => of_args(of, call, 1),
        // `SimpleNamespace(stop=os.abort)` holds what it was called with.
        Value::Container(Object::Literal(of, made)) => {
            let mut held = of_args(of, made, usize::MAX);
            held.extend(solver.slot_values(value, "[]"));
            held
        }
        Value::Container(_) => solver.slot_values(value, "[]").to_vec(),
        // What a function with parameters gives back, as a decorator's wrapper does, is its callers' as well.
        Value::Func(of, f) | Value::Bound(of, f, _)
            if of == unit && solver.program(unit).functions[f as usize].params.is_empty() =>
        {
            given_back(solver, unit, f)
        }
        Value::Generator(of, f) if of == unit => given_back(solver, unit, f),
        _ => Vec::new(),
    }
}

/// A member that a call stores.
struct Set<'s> {
    /// What has it.
    object: ExprId,
    name: &'s str,
    value: ExprId,
}

/// The members that calls store: those of `setattr` and of namespaces.
fn set_by_name<'s>(solver: &'s Solver<'_>, unit: UnitId) -> Vec<Set<'s>> {
    let program = solver.program(unit);
    let mut set = Vec::new();
    for (id, node) in program.exprs.iter().enumerate() {
        let Expr::Call(call) = &node.expr else { continue };
        for callee in solver.values_of(unit, call.callee) {
            let Value::External { path, .. } = callee else { continue };
            match solver.interner.text(path) {
                "builtins.setattr" => {
                    if let [object, name, value] = &*call.args
                        && let Expr::Str(name) = &program.exprs[name.value as usize].expr
                    {
                        set.push(Set { object: object.value, name, value: value.value });
                    }
                }
                "types.SimpleNamespace" | "argparse.Namespace" => {
                    let named = call.args.iter().filter_map(|arg| Some((arg.name.as_deref()?, arg.value)));
                    set.extend(named.map(|(name, value)| Set { object: id as ExprId, name, value }));
                }
                _ => {}
            }
        }
    }
    set
}

/// Whether a class is a kind of a primitive: an exception that ends the program, a reloader.
fn is_a_primitive(solver: &Solver<'_>, unit: UnitId, class: u32) -> bool {
    let mut waiting = vec![(unit, class)];
    for _ in 0..MOST_BASES {
        let Some((unit, class)) = waiting.pop() else { return false };
        for base in &solver.program(unit).classes[class as usize].bases {
            for value in solver.values_of(unit, *base) {
                match value {
                    Value::External { path, .. } if solver.interner.text(path) == EXIT_EXCEPTION => {
                        return true;
                    }
                    Value::Class(unit, class) => waiting.push((unit, class)),
                    _ => {}
                }
            }
        }
    }
    false
}
