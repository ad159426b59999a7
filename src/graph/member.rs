//! Attributes: what a member of a value is, through instances, classes, modules and names
//! outside the tree; and what a store puts there.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::link::Target;
use super::solve::{Base, NodeId, Solver, User, WHOLE_MODULE};
use super::value::{Symbol, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{ClassId, DYNAMIC, Expr, ExprId, FunctionKind, Import, Slot};
use crate::base::site::Confidence;

/// A method resolution order longer than this is cut: nobody wrote it by hand.
const LONGEST_MRO: usize = 2048;

/// Expressions that finding one base class looks at.
const MOST_STATIC: u32 = 1000;

/// Most modules that one name is looked for in through star imports.
const MOST_MODULES: usize = 64;

impl<'a> Solver<'a> {
    /// `value.name` flows into the expression.
    pub(super) fn attribute(&mut self, unit: UnitId, id: ExprId, value: ValueId, name: &str) {
        let node = self.expr_node(unit, id);
        // A component of a path (`a::b`), where the language tells it from a member.
        if let Some(component) = name.strip_prefix("::") {
            let component = self.interner.symbol(component);
            self.path_member(unit, component, value, node);
            return;
        }
        match self.interner.get(value) {
            Value::External { path, made } => {
                if name == "default" && self.units[unit as usize].language == Language::Javascript {
                    // Interop: a module's default is the module.
                    self.insert(node, value);
                }
                let path = format!("{}.{name}", self.interner.text(path));
                let path = self.catalogue(unit).canonical_path(&path).into_owned();
                self.insert_external(node, &path, made);
                let stored = self.slot(value, &format!(".{name}"));
                self.copy(stored, node);
            }
            Value::Container(object) => {
                let symbol = self.interner.symbol(name);
                self.insert_value(node, Value::ContainerMethod(object, symbol));
                if self.units[unit as usize].language != Language::Python {
                    // A method of maps and lists is no element under a free key.
                    let is_method = matches!(
                        name,
                        "get"
                            | "set"
                            | "has"
                            | "push"
                            | "forEach"
                            | "map"
                            | "values"
                            | "keys"
                            | "entries"
                            | "delete"
                    );
                    for slot in
                        [format!("[{name}]"), "[*]".to_owned()].iter().take(2 - usize::from(is_method))
                    {
                        let slot = self.slot(value, slot);
                        self.copy(slot, node);
                    }
                }
            }
            Value::Absent(_) => self.insert(node, value),
            Value::Generator(..) | Value::ContainerMethod(..) => {}
            Value::Partial(of, call) if name == "func" => {
                if let Expr::Call(call) = &self.program(of).exprs[call as usize].expr
                    && let Some(first) = call.args.first()
                {
                    let first = self.expr_node(of, first.value);
                    self.copy(first, node);
                }
            }
            _ => {
                let slot = self.slot(value, name);
                self.subscribe(slot, User::Read(unit, id));
                self.missing_attribute(unit, id, value, name);
            }
        }
    }

    /// `value::name` flows into a node.
    pub(super) fn path_member(&mut self, unit: UnitId, name: Symbol, value: ValueId, node: NodeId) {
        match self.interner.get(value) {
            Value::External { path, made } => {
                let (path, name) = (self.interner.text(path), self.interner.text(name));
                // The mark of a macro belongs to the name.
                let colons = if name == "!" { "" } else { "::" };
                let path = format!("{path}{colons}{name}");
                let path = self.catalogue(unit).canonical_path(&path).into_owned();
                self.insert_external(node, &path, made);
            }
            Value::Module(_) | Value::Class(..) | Value::Instance(..) => {
                let name = self.interner.text(name).to_owned();
                let slot = self.slot(value, &name);
                self.copy(slot, node);
            }
            _ => {}
        }
    }

    /// Connects a new slot to everything that can fill it.
    pub(super) fn open_slot(&mut self, object: ValueId, name: &str, node: NodeId) {
        // A name with a leading dot is what stores wrote; elements are filled by their container.
        if name.starts_with(['.', '[']) {
            return;
        }
        match self.interner.get(object) {
            Value::Instance(unit, class) => {
                self.stored(object, name, node);
                self.inherited(unit, class, object, name, node, 0);
            }
            Value::Class(unit, class) => {
                self.stored(object, name, node);
                self.inherited(unit, class, object, name, node, 0);
            }
            Value::Super(unit, class, instance) => {
                let instance_class = match self.interner.get(instance) {
                    Value::Instance(u, c) | Value::Class(u, c) => (u, c),
                    _ => (unit, class),
                };
                let order = self.resolution_order(instance_class.0, instance_class.1);
                let skip = order.iter().position(|b| *b == Base::Class(unit, class)).map_or(1, |at| at + 1);
                self.inherited(instance_class.0, instance_class.1, instance, name, node, skip);
            }
            Value::Module(unit) => self.module_member(unit, object, name, node),
            _ => self.stored(object, name, node),
        }
    }

    fn stored(&mut self, object: ValueId, name: &str, node: NodeId) {
        let stored = self.slot(object, &format!(".{name}"));
        self.copy(stored, node);
    }

    /// The member that the method resolution order finds, and what was stored on the way.
    fn inherited(
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
        let language = self.units[unit as usize].language;
        let mut found = false;
        for base in order.iter().skip(skip).copied() {
            match base {
                Base::Class(u, c) => {
                    if is_instance {
                        let instance = self.interner.value(Value::Instance(u, c));
                        let stored = self.slot(instance, &format!(".{name}"));
                        self.copy(stored, node);
                    }
                    let class_value = self.interner.value(Value::Class(u, c));
                    let stored = self.slot(class_value, &format!(".{name}"));
                    self.subscribe(stored, User::Bind(receiver, node));
                    if is_instance && base == Base::Class(unit, class) && language == Language::Rust {
                        // A trait's value may be of any type that implements it.
                        let stored = self.slot(class_value, &format!(".{DYNAMIC}{name}"));
                        self.subscribe(stored, User::Bind(receiver, node));
                    }
                    if found {
                        continue;
                    }
                    let members = &self.program(u).classes[c as usize].members;
                    for (_, value) in members.iter().filter(|(n, _)| n == name) {
                        found = true;
                        let from = self.expr_node(u, *value);
                        self.subscribe(from, User::Bind(receiver, node));
                    }
                }
                Base::External(path) => {
                    if !found {
                        let path = format!(
                            "{}{}.{name}",
                            self.interner.text(path),
                            if is_instance { "()" } else { "" }
                        );
                        self.insert_external(node, &path, 0);
                    }
                }
            }
        }
    }

    fn module_member(&mut self, unit: UnitId, object: ValueId, name: &str, node: NodeId) {
        self.stored(object, name, node);
        if let Some(cell) = self.export(unit, name) {
            let cell = self.cell_node(unit, cell);
            self.copy(cell, node);
            return;
        }
        // `a::b` where the file only brings `a` from elsewhere.
        if let Some((head, tail)) = name.rsplit_once("::") {
            let head = self.slot(object, head);
            let tail = self.interner.symbol(tail);
            self.subscribe(head, User::PathMember(unit, tail, node));
            return;
        }
        let (path, language) = (self.units[unit as usize].path, self.units[unit as usize].language);
        if language == Language::Python
            && let Some(file) = self.files().python_submodule(path, name)
        {
            if let Some(target) = self.unit_of(&file) {
                self.insert_value(node, Value::Module(target));
            }
            return;
        }
        if language == Language::Javascript {
            if let Some(whole) = self.export(unit, WHOLE_MODULE) {
                let name = self.interner.symbol(name);
                let whole = self.cell_node(unit, whole);
                self.subscribe(whole, User::Member(name, node));
            }
            if name == "default" {
                self.insert(node, object);
                return;
            }
        }
        for star in self.program(unit).stars.clone() {
            let import = Import { module: star, name: None };
            match self.files().resolve(language, path, &import) {
                Target::File(file) => {
                    let Some(target) = self.unit_of(&file).filter(|t| *t != unit) else { continue };
                    if !self.is_public(target, name) {
                        continue;
                    }
                    let module = self.interner.value(Value::Module(target));
                    let slot = self.slot(module, name);
                    self.copy(slot, node);
                }
                Target::External(module) => {
                    let dot = if language == Language::Rust { "::" } else { "." };
                    let path = format!("{module}{dot}{name}");
                    let path = self.catalogue(unit).canonical_path(&path).into_owned();
                    if self.catalogue(unit).matters(&path) {
                        self.insert_external(node, &path, 0);
                    }
                }
                _ => {}
            }
        }
    }

    /// The member of what a CommonJS module exports flows into a node.
    pub(super) fn member_into(&mut self, value: ValueId, name: Symbol, node: NodeId) {
        let name = self.interner.text(name).to_owned();
        match self.interner.get(value) {
            _ if name == "default" => self.insert(node, value),
            Value::Container(_) => {
                for slot in [format!("[{name}]"), "[*]".to_owned()] {
                    let slot = self.slot(value, &slot);
                    self.copy(slot, node);
                }
            }
            Value::External { path, made } => {
                let path = format!("{}.{name}", self.interner.text(path));
                self.insert_external(node, &path, made);
            }
            Value::Func(..) | Value::Class(..) | Value::Instance(..) | Value::Module(_) => {
                let slot = self.slot(value, &name);
                self.copy(slot, node);
            }
            _ => {}
        }
    }

    /// The access paths of what an expression stands for, of classes' outside bases among them.
    pub(super) fn external_paths(&self, unit: UnitId, expr: ExprId) -> Vec<String> {
        let mut paths = Vec::new();
        for value in self.values_of(unit, expr) {
            match value {
                Value::External { path, .. } => paths.push(self.interner.text(path).to_owned()),
                Value::Instance(u, c) => {
                    let order = self.mro.get(&(u, c));
                    paths.extend(order.iter().flat_map(|o| o.iter()).filter_map(|base| match base {
                        Base::External(path) => Some(format!("{}()", self.interner.text(*path))),
                        Base::Class(..) => None,
                    }));
                }
                _ => {}
            }
        }
        paths
    }

    /// Whether a star import brings a name.
    pub(super) fn is_public(&self, unit: UnitId, name: &str) -> bool {
        match &self.program(unit).public {
            Some(public) => public.iter().any(|n| n == name),
            None => !name.starts_with('_') || self.units[unit as usize].language != Language::Python,
        }
    }

    /// A member read through a receiver: methods are bound to it.
    pub(super) fn bind_member(&mut self, receiver: ValueId, value: ValueId, to: NodeId) {
        let (unit, function) = match (self.interner.get(value), self.interner.get(receiver)) {
            (Value::Func(unit, function), _) => (unit, function),
            (Value::Getter(unit, function), Value::Instance(..)) => {
                self.insert_value(to, Value::Property(unit, function, receiver));
                return;
            }
            _ => {
                self.insert(to, value);
                return;
            }
        };
        let kind = self.program(unit).functions[function as usize].kind;
        let bound = match (kind, self.interner.get(receiver)) {
            (FunctionKind::Static, _) => Value::Func(unit, function),
            (FunctionKind::Property, Value::Instance(..)) => Value::Property(unit, function, receiver),
            (FunctionKind::ClassMethod, Value::Instance(u, c)) => {
                let class = self.interner.value(Value::Class(u, c));
                Value::Bound(unit, function, class)
            }
            (FunctionKind::ClassMethod, _) | (_, Value::Instance(..)) => {
                Value::Bound(unit, function, receiver)
            }
            _ => Value::Func(unit, function),
        };
        self.insert_value(to, bound);
    }

    /// A value arrives at the base of a store.
    pub(super) fn store(&mut self, unit: UnitId, at: u32, base: ValueId) {
        let store = &self.program(unit).stores[at as usize];
        let value = self.expr_node(unit, store.value);
        let names = match Solver::slot_key(&store.slot) {
            Some(element) if element.starts_with('[') => vec![element, "[]".to_owned()],
            Some(name)
                if matches!(self.interner.get(base), Value::Container(_))
                    && self.units[unit as usize].language != Language::Python =>
            {
                vec![format!("[{name}]"), "[]".to_owned()]
            }
            Some(name) => {
                self.property_setter(unit, store.base, base, &name);
                vec![format!(".{name}")]
            }
            None => {
                let crate::base::ir::Slot::Key(key) = store.slot else { return };
                match self.key_of(unit, key) {
                    Some(key) => vec![format!("[{key}]"), "[]".to_owned()],
                    None => vec!["[*]".to_owned(), "[]".to_owned()],
                }
            }
        };
        // `globals()["f"] = …` stores into the module.
        let base = match self.interner.get(base) {
            Value::External { path, .. } if self.interner.text(path) == "builtins.globals()" => {
                let module = self.interner.value(Value::Module(unit));
                if let Some(name) =
                    names.first().and_then(|n| n.strip_prefix('[')).and_then(|n| n.strip_suffix(']'))
                {
                    let slot = self.slot(module, &format!(".{name}"));
                    self.copy(value, slot);
                }
                return;
            }
            _ => base,
        };
        self.own_function(unit, store.value, base);
        if self.units[unit as usize].language == Language::Python {
            self.python_store(unit, at, base);
        }
        for name in names {
            let slot = self.slot(base, &name);
            self.copy(value, slot);
        }
    }

    /// A store into a module rebinds its name; one into something outside hands the value over.
    fn python_store(&mut self, unit: UnitId, at: u32, base: ValueId) {
        let store = &self.program(unit).stores[at as usize];
        let value = self.expr_node(unit, store.value);
        match (self.interner.get(base), &store.slot) {
            (Value::Module(target), Slot::Attr(name)) if target != unit => {
                if let Some(cell) = self.export(target, name) {
                    self.copy(value, self.cell_node(target, cell));
                }
            }
            (Value::Absent(path), _) => self.subscribe(value, User::Carry(path)),
            (Value::External { .. }, Slot::Attr(_)) if self.on_demand() => {
                self.subscribe(value, User::HandOver(unit, store.value, Confidence::Possible));
            }
            (Value::Instance(..), Slot::Key(_)) => {
                let slot = self.slot(base, "__setitem__");
                self.subscribe(slot, User::CallMember(unit, store.base));
            }
            (Value::Instance(u, c), Slot::Attr(_))
                if self.on_demand() && self.defines(u, c, "__setattr__") =>
            {
                let slot = self.slot(base, "__setattr__");
                self.subscribe(slot, User::CallMember(unit, store.base));
            }
            _ => {}
        }
    }

    /// Assigning to a property runs its setter.
    fn property_setter(&mut self, unit: UnitId, at: ExprId, base: ValueId, name: &str) {
        let Value::Instance(u, c) = self.interner.get(base) else { return };
        let order = self.resolution_order(u, c);
        let is_property = order.iter().any(|b| match b {
            Base::Class(u, c) => {
                let program = self.program(*u);
                let is_getter = |value: ExprId| {
                    matches!(&program.exprs[value as usize].expr,
                        Expr::Func(f) if program.functions[*f as usize].kind == FunctionKind::Property)
                };
                program.classes[*c as usize].members.iter().filter(|(n, _)| n == name).any(|(_, value)| {
                    match &program.exprs[*value as usize].expr {
                        Expr::Cell(cell) => {
                            program.cells[*cell as usize].values.iter().any(|v| is_getter(*v))
                        }
                        _ => is_getter(*value),
                    }
                })
            }
            Base::External(_) => false,
        });
        if is_property {
            let slot = self.slot(base, "=");
            self.subscribe(slot, User::CallMember(unit, at));
        }
    }

    /// Depth-first, left to right, each class at its last place: what C3 gives wherever it is defined
    /// for hierarchies that people write.
    pub(super) fn resolution_order(&mut self, unit: UnitId, class: ClassId) -> Rc<[Base]> {
        if let Some(order) = self.mro.get(&(unit, class)) {
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
        self.mro.insert((unit, class), Rc::clone(&order));
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
            self.static_steps = MOST_STATIC;
        }
        // Bindings of one another (a module that imports its own names) fan out without end.
        self.static_steps = self.static_steps.checked_sub(1).filter(|_| depth <= 24)?;
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
            Expr::Call(call) if matches!(call.kind, crate::base::ir::CallKind::Decorator) => {
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
