//! Calls: arguments to parameters, results to the call, and what well-known operations
//! outside the tree do with what they are given.

use super::link::Target;
use super::solve::{NodeId, Solver, User};
use super::value::{Object, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{Arg, Call, CallKind, Expr, ExprId, FuncId, FunctionKind, Import, Spread};
use crate::base::site::Confidence;

impl<'a> Solver<'a> {
    /// A value arrives at the callee of a call.
    pub(super) fn call(&mut self, unit: UnitId, id: ExprId, callee: ValueId) {
        if !self.bound_calls.insert((unit, id, callee)) {
            return;
        }
        let program = self.program(unit);
        let Expr::Call(call) = &program.exprs[id as usize].expr else { return };
        let args = &*call.args;
        let node = self.expr_node(unit, id);
        if self.is_deferred(unit, id, callee) {
            return;
        }
        match self.interner.get(callee) {
            Value::Func(u, f) => {
                // `new f()`: the object that the function's `this` is.
                let made = call.kind == CallKind::New && self.program(u).functions[f as usize].this.is_some();
                let object = made.then(|| self.interner.value(Value::Container(Object::Literal(unit, id))));
                if let Some(object) = object {
                    self.insert(node, object);
                }
                self.enter_function(unit, id, (u, f), object, (unit, args), &[], Some(node));
            }
            Value::Bound(u, f, receiver) => {
                self.enter_function(unit, id, (u, f), Some(receiver), (unit, args), &[], Some(node));
            }
            Value::Class(u, c) => {
                let instance = self.interner.value(Value::Instance(u, c));
                self.insert(node, instance);
                for name in ["__init__", "__new__", "__post_init__", "constructor"] {
                    let slot = self.slot(instance, name);
                    self.subscribe(slot, User::CallMember(unit, id));
                }
                self.framework_methods(unit, id, u, c);
                self.note_made(u, c);
                self.made(unit, id, u, c, args);
            }
            Value::Instance(..) => {
                let slot = self.slot(callee, "__call__");
                self.subscribe(slot, User::CallInto(unit, id));
            }
            Value::ContainerMethod(object, name) => {
                let name = self.interner.text(name).to_owned();
                self.container_call(unit, id, object, &name, args);
            }
            Value::Partial(..) => {
                if let Some((of, inner)) = self.partial(callee)
                    && let Some(first) = inner.args.first()
                {
                    // `attrgetter("name")`: the named member of what it is called with.
                    if self.makes_getter(of, inner.callee) {
                        if let Some(object) = args.first() {
                            let object = self.expr_node(unit, object.value);
                            self.subscribe(object, User::Named(unit, id, callee));
                        }
                        return;
                    }
                    let first = self.expr_node(of, first.value);
                    self.subscribe(first, User::CallPartial(unit, id, callee));
                }
            }
            Value::Absent(path) => self.call_absent(unit, id, path, args),
            Value::External { path, made } => {
                let path = self.interner.text(path).to_owned();
                self.external_call(unit, id, &path, made, args);
            }
            _ => {}
        }
    }

    pub(super) fn makes_getter(&self, unit: UnitId, callee: ExprId) -> bool {
        self.values_of(unit, callee).any(
            |v| matches!(v, Value::External { path, .. } if self.interner.text(path) == "operator.attrgetter"),
        )
    }

    /// The call that made a partial application, and its unit.
    pub(super) fn partial(&self, value: ValueId) -> Option<(UnitId, &'a Call)> {
        let Value::Partial(of, partial) = self.interner.get(value) else { return None };
        match &self.program(of).exprs[partial as usize].expr {
            Expr::Call(call) => Some((of, call)),
            _ => None,
        }
    }

    /// `attrgetter(name)` is called: the named member of a value flows into the call.
    pub(super) fn named(&mut self, unit: UnitId, id: ExprId, getter: ValueId, value: ValueId) {
        let name = self.partial(getter).and_then(|(of, call)| Some((of, call.args.first()?.value)));
        for name in name.map_or_else(Vec::new, |(of, name)| self.constant_names(of, name)) {
            self.attribute(unit, id, value, &name);
        }
    }

    /// A callable that a partial application holds is called with the arguments of both.
    pub(super) fn call_partial(&mut self, unit: UnitId, id: ExprId, partial: ValueId, value: ValueId) {
        let program = self.program(unit);
        let Expr::Call(call) = &program.exprs[id as usize].expr else { return };
        let Some((of, inner)) = self.partial(partial) else { return };
        let lead: Vec<(UnitId, Arg)> = inner.args.iter().skip(1).map(|a| (of, a.clone())).collect();
        let node = self.expr_node(unit, id);
        match self.interner.get(value) {
            Value::Func(u, f) => {
                self.enter_function(unit, id, (u, f), None, (unit, &call.args), &lead, Some(node));
            }
            Value::Bound(u, f, receiver) => {
                self.enter_function(unit, id, (u, f), Some(receiver), (unit, &call.args), &lead, Some(node));
            }
            _ => self.call(unit, id, value),
        }
    }

    /// A member found by a protocol is called: with no arguments of its own, or with the call's.
    pub(super) fn call_member(&mut self, unit: UnitId, id: ExprId, value: ValueId, into: Option<NodeId>) {
        let program = self.program(unit);
        let args: &[Arg] = match &program.exprs[id as usize].expr {
            Expr::Call(call) => &call.args,
            _ => &[],
        };
        match self.interner.get(value) {
            Value::Func(u, f) => self.enter_function(unit, id, (u, f), None, (unit, args), &[], into),
            Value::Bound(u, f, receiver) => {
                self.enter_function(unit, id, (u, f), Some(receiver), (unit, args), &[], into);
            }
            _ => {}
        }
    }

    /// What a function gives back flows into a node.
    pub(super) fn result_into(&mut self, value: ValueId, node: NodeId) {
        match self.interner.get(value) {
            Value::Func(u, f) | Value::Bound(u, f, _) => {
                let program = self.program(u);
                if program.functions[f as usize].yields.is_empty() {
                    let result = self.result_node(u, f);
                    self.copy(result, node);
                } else {
                    self.insert_value(node, Value::Generator(u, f));
                }
            }
            _ => {}
        }
    }

    /// Reading a property runs it; anything else is read as it is.
    pub(super) fn read(&mut self, unit: UnitId, id: ExprId, value: ValueId) {
        let node = self.expr_node(unit, id);
        if let Value::Property(u, f, receiver) = self.interner.get(value) {
            self.enter_function(unit, id, (u, f), Some(receiver), (unit, &[]), &[], Some(node));
        } else {
            self.insert(node, value);
            self.descriptor(unit, id, value);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one call, its target, and where each argument comes from")]
    fn enter_function(
        &mut self,
        unit: UnitId,
        id: ExprId,
        target: (UnitId, FuncId),
        receiver: Option<ValueId>,
        args: (UnitId, &[Arg]),
        lead: &[(UnitId, Arg)],
        into: Option<NodeId>,
    ) {
        let confidence = if self.on_demand() {
            self.callee_confidence(unit, id).min(self.receiver_confidence(receiver))
        } else {
            Confidence::Certain
        };
        self.edge(unit, id, target, confidence);
        let (u, f) = target;
        let program = self.program(u);
        let function = &program.functions[f as usize];
        let mut params = function.params.as_slice();
        self.decorating(unit, id, target, receiver.is_some());
        if let Some(receiver) = receiver {
            if let Some(this) = function.this {
                self.insert(self.cell_node(u, this), receiver);
            } else if self.units[u as usize].language != Language::Javascript
                && let Some((first, rest)) = params.split_first()
            {
                params = rest;
                if first.spread == Spread::No {
                    self.insert(self.cell_node(u, first.cell), receiver);
                }
            }
        }
        let skipped = function.params.len() - params.len();
        let mut position = 0usize;
        let all = lead.iter().map(|(u, a)| (*u, a)).chain(args.1.iter().map(|a| (args.0, a)));
        for (from_unit, arg) in all {
            let from = self.expr_node(from_unit, arg.value);
            match (&arg.name, arg.spread) {
                (Some(name), _) => match params.iter().find(|p| p.name == *name && p.spread == Spread::No) {
                    Some(param) => self.argument(u, from, param.cell),
                    None => {
                        for (at, _) in params.iter().enumerate().filter(|(_, p)| p.spread == Spread::Mapping)
                        {
                            let object = self.interner.value(Value::Container(Object::Keywords(
                                u,
                                f,
                                (at + skipped) as u32,
                            )));
                            self.insert(self.cell_node(u, params[at].cell), object);
                            let handed = self.handed(u, from);
                            self.fill(object, &format!("[{name}]"), handed);
                        }
                    }
                },
                (None, Spread::No) => {
                    let plain =
                        params.iter().filter(|p| p.spread == Spread::No && !p.keyword_only).nth(position);
                    match plain {
                        Some(param) => self.argument(u, from, param.cell),
                        None => {
                            if let Some(at) = params.iter().position(|p| p.spread == Spread::Sequence) {
                                let object = self.interner.value(Value::Container(Object::Rest(
                                    u,
                                    f,
                                    (at + skipped) as u32,
                                )));
                                self.insert(self.cell_node(u, params[at].cell), object);
                                let plain = params.iter().take(at).count();
                                let handed = self.handed(u, from);
                                self.fill(object, &format!("[{}]", position.saturating_sub(plain)), handed);
                            }
                        }
                    }
                    position += 1;
                }
                (None, spread) => {
                    // A spread argument may fill any of the remaining parameters.
                    let elements = if spread == Spread::Sequence { User::Elements } else { User::Entries };
                    for (at, param) in params.iter().enumerate().skip(position) {
                        match param.spread {
                            Spread::No => self.subscribe(from, elements(self.cell_node(u, param.cell))),
                            Spread::Sequence if spread == Spread::Sequence => {
                                let object = self.interner.value(Value::Container(Object::Rest(
                                    u,
                                    f,
                                    (at + skipped) as u32,
                                )));
                                self.insert(self.cell_node(u, param.cell), object);
                                for name in ["[*]", "[]"] {
                                    let slot = self.slot(object, name);
                                    self.subscribe(from, User::Elements(slot));
                                }
                            }
                            Spread::Mapping if spread == Spread::Mapping => {
                                let object = self.interner.value(Value::Container(Object::Keywords(
                                    u,
                                    f,
                                    (at + skipped) as u32,
                                )));
                                self.insert(self.cell_node(u, param.cell), object);
                                for name in ["[*]", "[]"] {
                                    let slot = self.slot(object, name);
                                    self.subscribe(from, User::Entries(slot));
                                }
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        if let Some(into) = into {
            if function.yields.is_empty() {
                let result = self.result_node(u, f);
                self.copy(result, into);
            } else {
                self.insert_value(into, Value::Generator(u, f));
            }
        }
    }

    /// A definition under a decorator: it stays callable under its name, whatever the decorator gives back.
    pub(super) fn decorated(&mut self, unit: UnitId, id: ExprId, definition: ExprId) {
        let from = self.expr_node(unit, definition);
        let node = self.expr_node(unit, id);
        self.copy(from, node);
        self.note_definition(unit, definition);
    }

    fn external_call(&mut self, unit: UnitId, id: ExprId, path: &str, made: u32, args: &[Arg]) {
        let node = self.expr_node(unit, id);
        let first = args.first().map(|a| a.value);
        let catalogue = self.catalogue(unit);
        if self.units[unit as usize].language == Language::Javascript
            && (path.starts_with("globalThis.") || path == "require")
            && self.object_call(unit, id, path, args)
        {
            return;
        }
        if self.units[unit as usize].language == Language::Python {
            self.protocols(unit, id, path, args);
        }
        match path {
            "builtins.property" if !args.is_empty() => {
                let read = args.iter().find(|a| a.name.as_deref() == Some("fget")).or(args.first());
                if let Some(read) = read {
                    let from = self.expr_node(unit, read.value);
                    self.subscribe(from, User::Getter(node));
                }
                return;
            }
            "sys.modules.get" | "sys.modules.__getitem__" => {
                if let Some(name) = first.and_then(|name| self.key_of(unit, name)) {
                    self.module_by_name(unit, id, &name);
                }
                return;
            }
            _ if path.ends_with(".__dict__.get") || path.ends_with(".__dict__.__getitem__") => {
                let owner = path.rsplit_once(".__dict__").map_or("", |(owner, _)| owner);
                if let Some(name) = first.and_then(|name| self.key_of(unit, name)) {
                    let member = self.catalogue(unit).canonical_path(&format!("{owner}.{name}")).into_owned();
                    self.insert_external(node, &member, made);
                }
                return;
            }
            "operator.attrgetter" => {
                self.insert_value(node, Value::Partial(unit, id));
                return;
            }
            "builtins.getattr" => {
                if let Some(object) = first {
                    self.subscribe(self.expr_node(unit, object), User::Dynamic(unit, id));
                }
                if let Some(default) = args.get(2) {
                    let from = self.expr_node(unit, default.value);
                    self.copy(from, node);
                }
                return;
            }
            "builtins.setattr" => {
                if let (Some(object), Some(_)) = (first, args.get(2)) {
                    self.subscribe(self.expr_node(unit, object), User::Dynamic(unit, id));
                }
                return;
            }
            // The class of an object.
            "builtins.type" if args.len() == 1 => {
                if let Some(object) = first {
                    self.subscribe(self.expr_node(unit, object), User::Dynamic(unit, id));
                }
                self.insert_external(node, &format!("{path}()"), 0);
                return;
            }
            "builtins.vars" if first.is_some() => {
                if let Some(object) = first {
                    self.subscribe(self.expr_node(unit, object), User::Dynamic(unit, id));
                }
                return;
            }
            "builtins.__import__" | "importlib.import_module" | "importlib.__import__" => {
                if let Some(name) = first.and_then(|name| self.key_of(unit, name)) {
                    let head = match (path, name.split_once('.')) {
                        ("builtins.__import__", Some((head, _))) if args.len() < 4 => head.to_owned(),
                        _ => name.to_string(),
                    };
                    self.module_by_name(unit, id, &head);
                }
                return;
            }
            "builtins.iter" | "builtins.aiter" if first.is_some() => {
                if let Some(object) = first {
                    let from = self.expr_node(unit, object);
                    self.subscribe(from, User::IterateFor(unit, object));
                    self.subscribe(from, User::IteratorFrom(unit, id));
                }
                self.hand_over_arguments(unit, path, args);
                return;
            }
            "builtins.list" | "builtins.tuple" | "builtins.set" | "builtins.frozenset"
            | "builtins.sorted" | "builtins.reversed" | "builtins.iter" | "collections.deque"
            | "itertools.chain" | "itertools.cycle" | "itertools.islice" => {
                let copy = self.interner.value(Value::Container(Object::Literal(unit, id)));
                self.insert(node, copy);
                let sources = if path == "itertools.chain" { args.len() } else { 1 };
                for arg in args.iter().take(sources) {
                    let from = self.expr_node(unit, arg.value);
                    for slot in ["[*]", "[]"] {
                        let slot = self.slot(copy, slot);
                        self.subscribe(from, User::Elements(slot));
                    }
                    self.subscribe(from, User::IterateFor(unit, id));
                }
                self.hand_over_arguments(unit, path, args);
                return;
            }
            "builtins.next" | "builtins.anext" => {
                if let Some(object) = first {
                    let from = self.expr_node(unit, object);
                    self.subscribe(from, User::Elements(node));
                    self.subscribe(from, User::NextOf(unit, id));
                }
                return;
            }
            "builtins.enumerate" => {
                if let Some(object) = first {
                    self.pairs(unit, id, &[(1, object)]);
                }
                return;
            }
            "builtins.zip" | "itertools.zip_longest" => {
                let sources: Vec<(usize, ExprId)> =
                    args.iter().enumerate().map(|(i, a)| (i, a.value)).collect();
                self.pairs(unit, id, &sources);
                return;
            }
            "builtins.dict"
            | "collections.OrderedDict"
            | "collections.defaultdict"
            | "types.MappingProxyType" => {
                let object = self.interner.value(Value::Container(Object::Literal(unit, id)));
                self.insert(node, object);
                for arg in args {
                    let from = self.expr_node(unit, arg.value);
                    match &arg.name {
                        Some(key) => self.fill(object, &format!("[{key}]"), from),
                        None => {
                            for slot in ["[*]", "[]"] {
                                let slot = self.slot(object, slot);
                                self.subscribe(from, User::Entries(slot));
                            }
                            // A default factory runs when a key is missing.
                            for slot in ["[*]", "[]"] {
                                let slot = self.slot(object, slot);
                                self.subscribe(from, User::Result(slot));
                            }
                        }
                    }
                }
                if path == "collections.defaultdict" {
                    self.hand_over_arguments(unit, path, args);
                }
                return;
            }
            "builtins.map" | "builtins.filter" | "itertools.starmap" => {
                let result = self.interner.value(Value::Container(Object::Literal(unit, id)));
                self.insert(node, result);
                let all = self.slot(result, "[]");
                if let (Some(function), Some(source)) = (first, args.get(1)) {
                    let function = self.expr_node(unit, function);
                    let source = self.expr_node(unit, source.value);
                    let elements = self.allocate_elements(source);
                    self.subscribe(function, User::FirstParam(elements));
                    if path == "builtins.filter" {
                        self.copy(elements, all);
                    } else {
                        self.subscribe(function, User::Result(all));
                    }
                }
                self.hand_over_arguments(unit, path, args);
                return;
            }
            "types.SimpleNamespace" | "argparse.Namespace" => {
                let maker = self.maker(unit, id, path);
                if let Some(object) = self.interner.external(&format!("{path}()"), maker) {
                    self.insert(node, object);
                    for arg in args {
                        if let Some(name) = &arg.name {
                            let from = self.expr_node(unit, arg.value);
                            let slot = self.slot(object, &format!(".{name}"));
                            self.copy(from, slot);
                        }
                    }
                }
                return;
            }
            _ => {}
        }
        if catalogue.is_partial(path) {
            self.insert_value(node, Value::Partial(unit, id));
            return;
        }
        if catalogue.is_wrapper(path) {
            if let Some(object) = first {
                let from = self.expr_node(unit, object);
                self.copy(from, node);
            }
            return;
        }
        let made = match made {
            0 => self.maker(unit, id, &format!("{path}()")),
            made => made,
        };
        let result = self.catalogue(unit).canonical_path(&format!("{path}()")).into_owned();
        self.insert_external(node, &result, made);
        self.hand_over_arguments(unit, path, args);
    }

    pub(super) fn allocate_elements(&mut self, source: NodeId) -> NodeId {
        let elements = self.fresh();
        self.subscribe(source, User::Elements(elements));
        elements
    }

    /// A lookup by name: `getattr`, `setattr`, `vars` on the object that arrived.
    pub(super) fn dynamic(&mut self, unit: UnitId, id: ExprId, object: ValueId) {
        let program = self.program(unit);
        let Expr::Call(call) = &program.exprs[id as usize].expr else { return };
        let node = self.expr_node(unit, id);
        let Some(name) = call.args.get(1) else {
            let is_type = self.values_of(unit, call.callee).any(
                |v| matches!(v, Value::External { path, .. } if self.interner.text(path) == "builtins.type"),
            );
            if is_type {
                if let Value::Instance(u, c) = self.interner.get(object) {
                    self.insert_value(node, Value::Class(u, c));
                }
                return;
            }
            // vars(object)
            if let Value::External { path, made } = self.interner.get(object) {
                let path = format!("{}.__dict__", self.interner.text(path));
                self.insert_external(node, &path, made);
            }
            return;
        };
        let names = self.constant_names(unit, name.value);
        let is_set = self.values_of(unit, call.callee).any(
            |v| matches!(v, Value::External { path, .. } if self.interner.text(path) == "builtins.setattr"),
        );
        if !is_set {
            self.free_members(unit, id, object, name.value);
        }
        if let Value::Absent(path) = self.interner.get(object) {
            if let Some(value) = call.args.get(2).filter(|_| is_set) {
                let value = self.expr_node(unit, value.value);
                self.subscribe(value, User::Carry(path));
            }
            self.insert(node, object);
            return;
        }
        for name in names {
            if is_set {
                if let Some(value) = call.args.get(2) {
                    let value = self.expr_node(unit, value.value);
                    let slot = self.slot(object, &format!(".{name}"));
                    self.copy(value, slot);
                }
            } else {
                self.attribute(unit, id, object, &name);
            }
        }
    }

    /// The module of that dotted name, in the tree or outside.
    pub(super) fn module_by_name(&mut self, unit: UnitId, at: ExprId, name: &str) {
        let node = self.expr_node(unit, at);
        let (path, language) = (self.units[unit as usize].path, self.units[unit as usize].language);
        let import = Import { module: name.to_owned(), name: None };
        match self.files().resolve(language, path, &import) {
            Target::File(file) => {
                if let Some(target) = self.unit_of(&file) {
                    self.insert_value(node, Value::Module(target));
                    if self.on_demand() && target != unit {
                        self.edge(unit, at, (target, 0), Confidence::Certain);
                    }
                }
            }
            Target::External(path) => {
                let path = self.catalogue(unit).canonical_path(&path).into_owned();
                self.insert_external(node, &path, 0);
            }
            _ => {}
        }
    }

    /// Whether a function is a method that needs a receiver.
    pub(super) fn takes_receiver(kind: FunctionKind) -> bool {
        matches!(kind, FunctionKind::Method | FunctionKind::ClassMethod | FunctionKind::Property)
    }
}
