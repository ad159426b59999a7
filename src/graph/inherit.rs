//! Classes: the order in which bases are asked, what a member is by that order, and what was stored
//! on the way; and what an expression stands for by bindings alone, which is how bases are found.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::link::Target;
use super::solve::{Base, NodeId, Solver, User};
use super::value::{Symbol, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{CallKind, ClassId, DYNAMIC, Expr, ExprId, Import};

/// A method resolution order longer than this is cut: nobody wrote it by hand.
const LONGEST_MRO: usize = 2048;

/// Expressions that finding one base class looks at.
const MOST_STATIC: u32 = 1000;

/// Most modules that one name is looked for in through star imports.
const MOST_MODULES: usize = 64;

/// A class, and a place in its order: the classes from there on.
type Above = (UnitId, ClassId, u32);

/// What is known of classes so far.
#[derive(Debug, Default)]
pub(super) struct Hierarchy {
    /// Orders that were asked for.
    pub(super) orders: FxHashMap<(UnitId, ClassId), Rc<[Base]>>,
    /// What was stored under a name in classes, or (`true`) in their instances.
    stored: FxHashMap<(Above, Symbol, bool), NodeId>,
    /// Steps that finding the present base may still take.
    steps: u32,
}

impl<'a> Solver<'a> {
    /// The member that the method resolution order finds, and what was stored on the way.
    pub(super) fn inherited(
        &mut self,
        unit: UnitId,
        class: ClassId,
        receiver: ValueId,
        name: &str,
        node: NodeId,
        skip: usize,
    ) {
        let order = self.resolution_order(unit, class);
        let is_instance = matches!(self.interner.get(receiver), Value::Instance(..));
        if is_instance && self.units[unit as usize].language == Language::Rust && skip == 0 {
            // A trait's value may be of any type that implements it.
            let class_value = self.interner.value(Value::Class(unit, class));
            let stored = self.slot(class_value, &format!(".{DYNAMIC}{name}"));
            self.subscribe(stored, User::Bind(receiver, node));
        }
        if is_instance && let Some(stored) = self.stored_above(&order, skip, name, true) {
            self.copy(stored, node);
        }
        if let Some(stored) = self.stored_above(&order, skip, name, false) {
            self.subscribe(stored, User::Bind(receiver, node));
        }
        for base in order.iter().skip(skip).copied() {
            match base {
                Base::Class(u, c) => {
                    let members = &self.program(u).classes[c as usize].members;
                    let mut found = false;
                    for (_, value) in members.iter().filter(|(n, _)| n == name) {
                        found = true;
                        let from = self.expr_node(u, *value);
                        self.subscribe(from, User::Bind(receiver, node));
                    }
                    if found {
                        return;
                    }
                }
                Base::External(path) => {
                    let path =
                        format!("{}{}.{name}", self.interner.text(path), if is_instance { "()" } else { "" });
                    self.insert_external(node, &path, 0);
                }
            }
        }
    }

    /// What was stored under a name in the classes of a resolution order from a place on, or in their
    /// instances. One node for a class and name, which takes in that of the class after it: deep
    /// hierarchies with a view of each level would not end otherwise.
    fn stored_above(&mut self, order: &[Base], from: usize, name: &str, instances: bool) -> Option<NodeId> {
        let symbol = self.interner.symbol(name);
        let mut known = None;
        let mut waiting: Vec<(Above, UnitId, ClassId)> = Vec::new();
        for (at, base) in order.iter().enumerate().skip(from) {
            let Base::Class(u, c) = *base else { continue };
            // What lies above a class is its own order, or one that only this order has.
            let own = self.resolution_order(u, c).len() == order.len() - at;
            let key = match order.first() {
                Some(Base::Class(first, class)) if !own => (*first, *class, at as u32),
                _ => (u, c, 0),
            };
            known = self.hierarchy.stored.get(&(key, symbol, instances)).copied();
            if known.is_some() {
                break;
            }
            waiting.push((key, u, c));
        }
        while let Some((key, u, c)) = waiting.pop() {
            let owner = if instances { Value::Instance(u, c) } else { Value::Class(u, c) };
            let owner = self.interner.value(owner);
            let own = self.slot(owner, &format!(".{name}"));
            let node = self.fresh();
            self.copy(own, node);
            if let Some(above) = known {
                self.copy(above, node);
            }
            self.hierarchy.stored.insert((key, symbol, instances), node);
            known = Some(node);
        }
        known
    }

    /// Depth-first, left to right, each class at its last place: what C3 gives wherever it is defined
    /// for hierarchies that people write.
    pub(super) fn resolution_order(&mut self, unit: UnitId, class: ClassId) -> Rc<[Base]> {
        if let Some(order) = self.hierarchy.orders.get(&(unit, class)) {
            return Rc::clone(order);
        }
        let mut walk = vec![Base::Class(unit, class)];
        let mut order = Vec::new();
        let mut on_path = FxHashSet::default();
        while let Some(base) = walk.pop() {
            order.push(base);
            if order.len() >= LONGEST_MRO {
                break;
            }
            if let Base::Class(u, c) = base
                && on_path.insert((u, c))
            {
                let bases = self.program(u).classes[c as usize].bases.clone();
                let resolved: Vec<Base> = bases.into_iter().filter_map(|b| self.static_class(u, b)).collect();
                walk.extend(resolved.into_iter().rev());
            }
        }
        let mut seen = FxHashSet::default();
        let mut kept: Vec<Base> = order.into_iter().rev().filter(|b| seen.insert(*b)).collect();
        kept.reverse();
        let order: Rc<[Base]> = kept.into();
        self.hierarchy.orders.insert((unit, class), Rc::clone(&order));
        order
    }

    /// The class that a base expression names, by bindings alone.
    fn static_class(&mut self, unit: UnitId, expr: ExprId) -> Option<Base> {
        match self.static_value(unit, expr, 0)? {
            Value::Class(u, c) => Some(Base::Class(u, c)),
            Value::External { path, .. } => Some(Base::External(path)),
            _ => None,
        }
    }

    /// What an expression stands for by bindings alone: no calls, no stores.
    pub(super) fn static_value(&mut self, unit: UnitId, expr: ExprId, depth: usize) -> Option<Value> {
        if depth == 0 {
            self.hierarchy.steps = MOST_STATIC;
        }
        // Bindings of one another (a module that imports its own names) fan out without end.
        self.hierarchy.steps = self.hierarchy.steps.checked_sub(1).filter(|_| depth <= 24)?;
        let program = self.program(unit);
        match &program.exprs[expr as usize].expr {
            Expr::Class(class) => Some(Value::Class(unit, *class)),
            Expr::Func(function) => Some(Value::Func(unit, *function)),
            Expr::External(path) => {
                let path = self.catalogue(unit).canonical_path(path).into_owned();
                let path = self.interner.symbol(&path);
                Some(Value::External { path, made: 0 })
            }
            Expr::Cell(cell) => self.static_cell(unit, *cell, depth),
            Expr::Index { base, .. } | Expr::Same(base) => self.static_value(unit, *base, depth + 1),
            Expr::Union(options) => options.iter().find_map(|o| self.static_value(unit, *o, depth + 1)),
            Expr::Call(call) if matches!(call.kind, CallKind::Decorator) => {
                self.static_value(unit, call.args.first()?.value, depth + 1)
            }
            Expr::Attr { base, name } if self.package_of(unit, *base).is_some() => {
                let files = self.package_of(unit, *base)?;
                files.iter().find_map(|file| {
                    let target = self.unit_of(file)?;
                    self.export(target, name)?;
                    self.static_member(target, name, depth)
                })
            }
            Expr::Attr { base, name } => match self.static_value(unit, *base, depth + 1)? {
                Value::Module(target) => self.static_member(target, name, depth),
                Value::External { path, .. } => {
                    let path = format!("{}.{name}", self.interner.text(path));
                    let path = self.catalogue(unit).canonical_path(&path).into_owned();
                    let path = self.interner.symbol(&path);
                    Some(Value::External { path, made: 0 })
                }
                _ => None,
            },
            Expr::Import(import) => {
                let (path, language) = (self.units[unit as usize].path, self.units[unit as usize].language);
                match self.files().resolve(language, path, import) {
                    Target::File(file) => self.unit_of(&file).map(Value::Module),
                    Target::Name(file, name) => {
                        let target = self.unit_of(&file)?;
                        self.static_member(target, &name, depth)
                    }
                    Target::External(path) => {
                        let path = self.catalogue(unit).canonical_path(&path).into_owned();
                        let path = self.interner.symbol(&path);
                        Some(Value::External { path, made: 0 })
                    }
                    Target::Package(files, Some(name)) => files.iter().find_map(|file| {
                        let target = self.unit_of(file)?;
                        self.export(target, &name)?;
                        self.static_member(target, &name, depth)
                    }),
                    Target::Package(_, None) | Target::Missing => None,
                }
            }
            _ => None,
        }
    }

    /// The files of the package of the tree that an expression names.
    fn package_of(&self, unit: UnitId, expr: ExprId) -> Option<Vec<String>> {
        let program = self.program(unit);
        let Expr::Cell(cell) = program.exprs[expr as usize].expr else { return None };
        let [value] = program.cells[cell as usize].values.as_slice() else { return None };
        let Expr::Import(import) = &program.exprs[*value as usize].expr else { return None };
        let state = &self.units[unit as usize];
        match self.files().resolve(state.language, state.path, import) {
            Target::Package(files, None) => Some(files),
            _ => None,
        }
    }

    fn static_cell(&mut self, unit: UnitId, cell: u32, depth: usize) -> Option<Value> {
        let program = self.program(unit);
        let cell = &program.cells[cell as usize];
        for value in &cell.values {
            if let Some(found) = self.static_value(unit, *value, depth + 1) {
                return Some(found);
            }
        }
        if depth > 24 {
            return None;
        }
        cell.from.iter().find_map(|from| self.static_cell(unit, *from, depth + 1))
    }

    fn static_member(&mut self, unit: UnitId, name: &str, depth: usize) -> Option<Value> {
        // Star imports may form cycles, and in Rust usually do: each module is asked once.
        let mut modules = vec![unit];
        let mut read = 0;
        while let Some(unit) = modules.get(read).copied() {
            read += 1;
            if let Some(cell) = self.export(unit, name) {
                return self.static_cell(unit, cell, depth + 1);
            }
            let (path, language) = (self.units[unit as usize].path, self.units[unit as usize].language);
            if let Some(file) = self.files().python_submodule(path, name) {
                return self.unit_of(&file).map(Value::Module);
            }
            for star in &self.program(unit).stars {
                let import = Import { module: star.clone(), name: None };
                if let Target::File(file) = self.files().resolve(language, path, &import)
                    && let Some(target) = self.unit_of(&file)
                    && modules.len() < MOST_MODULES
                    && !modules.contains(&target)
                {
                    modules.push(target);
                }
            }
        }
        None
    }
}
