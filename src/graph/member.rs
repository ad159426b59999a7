//! Attributes: what a member of a value is, through instances, classes, modules and names
//! outside the tree; and what a store puts there.

use super::link::Target;
use super::solve::{Base, NodeId, Solver, User, WHOLE_MODULE};
use super::value::{Symbol, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{Expr, ExprId, FunctionKind, Import, Slot};
use crate::base::site::Confidence;

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
            Value::Absent(path) => self.member_of_absent(path, name, node),
            Value::Instance(u, c)
                if name == "__class__" && self.units[unit as usize].language == Language::Python =>
            {
                self.insert_value(node, Value::Class(u, c));
            }
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
                // What no class of the line has, the class of the class may.
                if !name.starts_with("__")
                    && !self.defines(unit, class, name)
                    && let Some(meta) = self.meta_of(unit, class)
                {
                    let slot = self.slot(meta, name);
                    self.copy(slot, node);
                }
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
                    let order = self.hierarchy.orders.get(&(u, c));
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
}
