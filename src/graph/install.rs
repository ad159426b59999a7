//! What each kind of expression does when its function becomes active, and when a value arrives
//! at its operand.

use super::link::Target;
use super::solve::{Edge, NodeId, Solver, User, WHOLE_MODULE};
use super::value::{Object, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{CallKind, Expr, ExprId, FuncId, FunctionKind, Import, Slot, Spread};
use crate::base::site::Confidence;
use crate::data::primitives::ValueKind;

impl<'a> Solver<'a> {
    /// A method's first parameter may be any instance of its class.
    pub(super) fn seed_receiver(&mut self, unit: UnitId, function: FuncId) {
        let body = &self.program(unit).functions[function as usize];
        if body.this.is_some() {
            return;
        }
        let (Some(class), Some(first)) = (body.class, body.params.first()) else { return };
        let receiver = match body.kind {
            FunctionKind::Method | FunctionKind::Property => Value::Instance(unit, class),
            FunctionKind::ClassMethod => Value::Class(unit, class),
            _ => return,
        };
        let value = self.interner.value(receiver);
        self.insert(self.cell_node(unit, first.cell), value);
    }

    /// What collects further keyword arguments is a table, whoever calls.
    pub(super) fn seed_keywords(&mut self, unit: UnitId, function: FuncId) {
        if self.on_demand() || self.units[unit as usize].language != Language::Python {
            return;
        }
        let params = &self.program(unit).functions[function as usize].params;
        for (at, param) in params.iter().enumerate().filter(|(_, param)| param.spread == Spread::Mapping) {
            let object = Value::Container(Object::Keywords(unit, function, at as u32));
            self.insert_value(self.cell_node(unit, param.cell), object);
        }
    }

    pub(super) fn slot_key(slot: &Slot) -> Option<String> {
        match slot {
            Slot::Attr(name) => Some(name.clone()),
            Slot::Any => Some("[*]".to_owned()),
            Slot::Key(_) => None,
        }
    }

    /// Puts an expression's constraints in force.
    pub(super) fn install(&mut self, unit: UnitId, id: ExprId) {
        let program = self.program(unit);
        let node = self.expr_node(unit, id);
        match &program.exprs[id as usize].expr {
            Expr::Unknown
            | Expr::Str(_)
            | Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Null
            | Expr::Not(_)
            | Expr::Neg(_) => {}
            Expr::Template(parts) => self.template_parts(unit, id, parts),
            // Its node is the variable's.
            Expr::Cell(_) => {}
            Expr::External(path) => {
                let path = self.catalogue(unit).canonical_path(path);
                self.insert_external(node, &path, 0);
            }
            Expr::Import(import) => self.import(unit, import, node),
            Expr::Attr { base, .. } | Expr::Index { base, .. } => {
                let base = self.expr_node(unit, *base);
                self.subscribe(base, User::Step(unit, id));
            }
            Expr::Call(call) => {
                let callee = self.expr_node(unit, call.callee);
                self.subscribe(callee, User::Step(unit, id));
                if call.kind == CallKind::Decorator
                    && let Some(arg) = call.args.first()
                {
                    self.decorated(unit, id, arg.value);
                }
            }
            Expr::Seq(_) | Expr::Map(_) => self.literal(unit, id),
            Expr::Union(options) => {
                for option in options {
                    self.copy(self.expr_node(unit, *option), node);
                }
            }
            Expr::Func(function) => self.insert_value(node, Value::Func(unit, *function)),
            Expr::Class(class) => {
                self.insert_value(node, Value::Class(unit, *class));
                self.class_defined(unit, id, *class);
            }
            Expr::Binary { left, right, .. } => {
                let (left, right) = (self.expr_node(unit, *left), self.expr_node(unit, *right));
                self.subscribe(left, User::Step(unit, id));
                self.subscribe(right, User::Step(unit, id));
            }
            Expr::Element(base)
            | Expr::Item(base, _)
            | Expr::Slice(base, _)
            | Expr::Enter(base)
            | Expr::Instance(base)
            | Expr::Same(base) => {
                let base = self.expr_node(unit, *base);
                self.subscribe(base, User::Step(unit, id));
            }
            Expr::Super(class) => self.super_of(unit, id, *class),
        }
    }

    /// A value arrives at the operand of an expression.
    pub(super) fn step(&mut self, unit: UnitId, id: ExprId, value: ValueId) {
        let program = self.program(unit);
        let node = self.expr_node(unit, id);
        match &program.exprs[id as usize].expr {
            Expr::Attr { name, .. } => self.attribute(unit, id, value, name),
            Expr::Index { key, .. } => self.index(unit, id, value, *key),
            Expr::Call(_) => self.call(unit, id, value),
            Expr::Element(_) => self.element_of(unit, id, value, node),
            Expr::Item(_, position) => {
                if let Value::Instance(..) = self.interner.get(value) {
                    self.element_of(unit, id, value, node);
                } else {
                    self.item_of(value, *position, node);
                }
            }
            Expr::Slice(_, start) => self.slice_of(unit, id, value, *start),
            Expr::Enter(_) => self.enter(value, node),
            Expr::Same(_) => self.insert(node, value),
            Expr::Instance(_) => self.instance_of(unit, value, node),
            Expr::Binary { op, .. } => self.operator(unit, id, *op, value),
            _ => {}
        }
    }

    /// An import runs the imported file, and the packages around it.
    pub(super) fn import_edge(&mut self, unit: UnitId, at: u32) {
        let site = &self.program(unit).imports[at as usize];
        let from = self.units[unit as usize].path;
        let language = self.units[unit as usize].language;
        let mut targets = Vec::new();
        match self.files().resolve(language, from, &site.import) {
            Target::File(path) => targets.push(path),
            Target::Name(path, name) => {
                if let Some(submodule) = self.files().python_submodule(&path, &name)
                    && language == Language::Python
                {
                    targets.push(submodule);
                }
                targets.push(path);
            }
            Target::Package(files, _) => targets.extend(files),
            Target::External(_) | Target::Missing => return,
        }
        if language == Language::Python {
            let packages: Vec<String> =
                targets.iter().flat_map(|t| self.files().python_packages(t)).collect();
            targets.extend(packages);
        }
        let (span, function) = (site.span, site.function);
        for path in targets {
            let Some(target) = self.unit_of(&path) else { continue };
            if target == unit {
                continue;
            }
            self.edges.insert(Edge {
                from: (unit, function),
                to: (target, 0),
                place: (span.start, span.end),
                confidence: Confidence::Certain,
            });
            if self.on_demand() {
                self.activate(target, 0);
            }
        }
    }

    pub(super) fn import(&mut self, unit: UnitId, import: &Import, node: NodeId) {
        let (path, language) = (self.units[unit as usize].path, self.units[unit as usize].language);
        let meant = self.files().resolve(language, path, import);
        match &meant {
            Target::File(path) => {
                if let Some(target) = self.unit_of(path) {
                    self.insert_value(node, Value::Module(target));
                    if let Some(whole) = self.export(target, WHOLE_MODULE) {
                        self.copy(self.cell_node(target, whole), node);
                    }
                } else {
                    self.absent(unit, path, node);
                }
            }
            Target::Package(files, name) => {
                for file in files {
                    let Some(target) = self.unit_of(file) else { continue };
                    let module = self.interner.value(Value::Module(target));
                    match name {
                        Some(name) if self.export(target, name).is_some() => {
                            let slot = self.slot(module, name);
                            self.copy(slot, node);
                        }
                        Some(_) => {}
                        None => self.insert(node, module),
                    }
                }
            }
            // A module that imports a name of its own: what it binds under the name, and in a
            // package's own file the submodule too.
            Target::Name(file, name) if file == path && language == Language::Python => {
                if let Some(submodule) =
                    self.files().python_submodule(file, name).and_then(|p| self.unit_of(&p))
                {
                    self.insert_value(node, Value::Module(submodule));
                }
                let module = self.interner.value(Value::Module(unit));
                let slot = self.slot(module, name);
                self.copy(slot, node);
            }
            Target::Name(path, name) => {
                if let Some(target) = self.unit_of(path) {
                    if language == Language::Python && !self.brings(unit, target, import, name) {
                        return;
                    }
                    let module = self.interner.value(Value::Module(target));
                    let slot = self.slot(module, name);
                    self.copy(slot, node);
                } else if let Some(submodule) =
                    self.files().python_submodule(path, name).and_then(|path| self.unit_of(&path))
                {
                    self.insert_value(node, Value::Module(submodule));
                } else {
                    self.absent(unit, path, node);
                }
            }
            Target::External(path) => {
                let path = self.catalogue(unit).canonical_path(path);
                self.insert_external(node, &path, 0);
            }
            Target::Missing => {}
        }
        if language == Language::Python {
            self.catalogued_module(unit, &meant, node);
        }
    }

    /// Whether an import brings the name: one that only a star import can bring must be public.
    fn brings(&self, unit: UnitId, target: UnitId, import: &Import, name: &str) -> bool {
        let program = self.program(unit);
        !program.stars.contains(&import.module)
            || self.is_public(target, name)
            || program.imports.iter().any(|site| site.import == *import)
    }

    /// A file of the tree may be what the catalogue names (a framework's own checkout), or stand in for
    /// it (`from .green import os`): the name then means both.
    fn catalogued_module(&mut self, unit: UnitId, meant: &Target, node: NodeId) {
        let catalogue = self.catalogue(unit);
        let (dotted, name) = match meant {
            Target::File(file) => (self.files().python_dotted(file), None),
            Target::Name(file, name) => {
                (format!("{}.{name}", self.files().python_dotted(file)), Some((file, name)))
            }
            _ => return,
        };
        let named = |path: &str| {
            catalogue.matters(path) || catalogue.has_primitives(path) || catalogue.has_runners(path)
        };
        if named(&dotted) && dotted.contains('.') {
            self.insert_external(node, &dotted, 0);
        }
        if let Some((file, name)) = name
            && self.files().python_submodule(file, name).is_some()
            && (catalogue.has_primitives(name) || catalogue.has_runners(name))
        {
            self.insert_external(node, name, 0);
        }
    }

    /// An instance of the class that arrived.
    pub(super) fn instance_of(&mut self, unit: UnitId, value: ValueId, node: NodeId) {
        match self.interner.get(value) {
            Value::Class(u, c) => {
                self.insert_value(node, Value::Instance(u, c));
                self.declare(node, u, c);
            }
            // A container of declared elements.
            Value::Container(_) => self.insert(node, value),
            Value::External { path, .. } => {
                let path = format!("{}()", self.interner.text(path));
                let path = self.catalogue(unit).canonical_path(&path).into_owned();
                self.insert_external(node, &path, 0);
            }
            _ => {}
        }
    }

    /// Whether what a call makes must be told apart by its maker.
    pub(super) fn maker(&mut self, unit: UnitId, call: ExprId, path: &str) -> u32 {
        let catalogue = self.catalogue(unit);
        let made = matches!(catalogue.value(path), Some(ValueKind::Child | ValueKind::ChildPid))
            || matches!(catalogue.value(&format!("{path}[]")), Some(ValueKind::Child | ValueKind::ChildPid))
            // Each has members of its own.
            || matches!(path, "types.SimpleNamespace" | "argparse.Namespace");
        if !made {
            return 0;
        }
        let node = &self.program(unit).exprs[call as usize];
        // A value of a declared type: nobody here made it.
        if let Expr::Call(made) = &node.expr
            && made.kind == CallKind::New
            && made.args.is_empty()
            && self.units[unit as usize].language == Language::Go
        {
            return 0;
        }
        let function = node.function;
        let next = self.makers.len() as u32 + 1;
        let id = *self.maker_ids.entry((unit, call)).or_insert(next);
        if id == next {
            self.makers.push((unit, call, function));
        }
        id
    }
}
