//! Python's protocols: what the language and its builtins call on an object under a name that
//! nobody wrote (`len(x)` calls `__len__`), what defining a class calls, and which member a free
//! name may mean. Only the daemon's reach asks: a site stands where it is written.

use super::fold::Folder;
use super::solve::{Base, NodeId, Solver, User};
use super::value::{UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{Arg, BinaryOp, ClassId, Expr, ExprId, FuncId, FunctionKind, GuardKind};
use crate::base::site::Confidence;

/// Which members an operation calls on its argument: each of the first list, and the first that
/// exists of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Protocol {
    name: &'static str,
    every: &'static [&'static str],
    first: &'static [&'static str],
}

const TEXT: &[&str] = &["__str__", "__repr__"];
const TRUTH: &[&str] = &["__bool__", "__len__"];

/// The operations, by access path. The first two are the language's own.
const PROTOCOLS: &[Protocol] = &[
    Protocol { name: "if", every: &[], first: TRUTH },
    Protocol { name: "f-string", every: &[], first: &["__format__", "__str__", "__repr__"] },
    Protocol { name: "builtins.bool", every: &[], first: TRUTH },
    Protocol { name: "builtins.len", every: &["__len__"], first: &[] },
    Protocol { name: "builtins.str", every: &[], first: TEXT },
    Protocol { name: "builtins.print", every: &[], first: TEXT },
    Protocol { name: "builtins.format", every: &[], first: &["__format__", "__str__", "__repr__"] },
    Protocol { name: "builtins.repr", every: &["__repr__"], first: &[] },
    Protocol { name: "builtins.ascii", every: &["__repr__"], first: &[] },
    Protocol { name: "builtins.hash", every: &["__hash__"], first: &[] },
    Protocol { name: "builtins.int", every: &[], first: &["__int__", "__index__", "__trunc__"] },
    Protocol { name: "builtins.float", every: &[], first: &["__float__", "__index__"] },
    Protocol { name: "builtins.complex", every: &["__complex__"], first: &[] },
    Protocol { name: "builtins.bytes", every: &["__bytes__"], first: &[] },
    Protocol { name: "builtins.abs", every: &["__abs__"], first: &[] },
    Protocol { name: "builtins.round", every: &["__round__"], first: &[] },
    Protocol { name: "builtins.divmod", every: &["__divmod__"], first: &[] },
    Protocol { name: "builtins.pow", every: &["__pow__"], first: &[] },
    Protocol { name: "builtins.dir", every: &["__dir__"], first: &[] },
    Protocol { name: "builtins.reversed", every: &["__reversed__"], first: &[] },
    Protocol { name: "builtins.open", every: &["__fspath__"], first: &[] },
    Protocol { name: "os.fspath", every: &["__fspath__"], first: &[] },
    Protocol { name: "operator.index", every: &["__index__"], first: &[] },
    Protocol { name: "math.floor", every: &["__floor__"], first: &[] },
    Protocol { name: "math.ceil", every: &["__ceil__"], first: &[] },
    Protocol { name: "math.trunc", every: &["__trunc__"], first: &[] },
    Protocol { name: "copy.copy", every: &["__copy__"], first: &["__reduce_ex__", "__reduce__"] },
    Protocol { name: "copy.deepcopy", every: &["__deepcopy__"], first: &["__reduce_ex__", "__reduce__"] },
    Protocol { name: "pickle.dumps", every: &["__getstate__"], first: &["__reduce_ex__", "__reduce__"] },
    Protocol { name: "pickle.dump", every: &["__getstate__"], first: &["__reduce_ex__", "__reduce__"] },
    Protocol { name: "contextlib.closing", every: &["close"], first: &[] },
    Protocol { name: "contextlib.ExitStack().enter_context", every: &["__enter__", "__exit__"], first: &[] },
    Protocol { name: "contextlib.ExitStack().push", every: &["__exit__"], first: &[] },
    Protocol {
        name: "contextlib.AsyncExitStack().enter_async_context",
        every: &["__aenter__", "__aexit__"],
        first: &[],
    },
    Protocol {
        name: "contextlib.AsyncExitStack().enter_context",
        every: &["__enter__", "__exit__"],
        first: &[],
    },
];

/// Builtins that go through everything an argument gives.
const CONSUMERS: &[&str] = &[
    "builtins.sum",
    "builtins.min",
    "builtins.max",
    "builtins.any",
    "builtins.all",
    "builtins.enumerate",
    "builtins.zip",
    "builtins.map",
    "builtins.filter",
    "builtins.dict",
    "itertools.chain",
    "itertools.islice",
    "itertools.cycle",
    "functools.reduce",
    "collections.Counter",
];

/// Expressions that one callee is followed back through.
const MOST_STEPS: usize = 32;

/// Members that change what reading an attribute does.
const GETATTR: u8 = 1;
const GETATTRIBUTE: u8 = 2;
const DESCRIPTOR: u8 = 4;

impl<'a> Solver<'a> {
    /// What a well-known operation calls on its arguments.
    pub(super) fn protocols(&mut self, unit: UnitId, id: ExprId, path: &str, args: &[Arg]) {
        if !self.follows_protocols(unit) {
            return;
        }
        if let Some(at) = PROTOCOLS.iter().position(|p| p.name == path) {
            for arg in args {
                let from = self.expr_node(unit, arg.value);
                self.subscribe(from, User::Protocol(unit, id, at as u8));
            }
        }
        if CONSUMERS.contains(&path) {
            for arg in args {
                let from = self.expr_node(unit, arg.value);
                self.subscribe(from, User::IterateFor(unit, arg.value));
            }
        }
    }

    fn follows_protocols(&self, unit: UnitId) -> bool {
        self.on_demand() && self.units[unit as usize].language == Language::Python
    }

    /// An f-string asks each of its parts for its text.
    pub(super) fn template_parts(&mut self, unit: UnitId, id: ExprId, parts: &[ExprId]) {
        if !self.follows_protocols(unit) {
            return;
        }
        for part in parts {
            if !matches!(self.program(unit).exprs[*part as usize].expr, Expr::Str(_)) {
                let from = self.expr_node(unit, *part);
                self.subscribe(from, User::Protocol(unit, id, 1));
            }
        }
    }

    /// The conditions in a function's code ask for the truth of what they test.
    pub(super) fn conditions(&mut self, unit: UnitId, function: FuncId) {
        if !self.has_truth || !self.follows_protocols(unit) {
            return;
        }
        let program = self.program(unit);
        if let std::collections::hash_map::Entry::Vacant(unit_conditions) = self.conditions.entry(unit) {
            let mut known: rustc_hash::FxHashMap<FuncId, Vec<ExprId>> = rustc_hash::FxHashMap::default();
            for guard in &program.guards {
                if let GuardKind::Branch(at, true) | GuardKind::AfterLeaving(at, _) = guard.kind {
                    known.entry(program.exprs[at as usize].function).or_default().push(at);
                }
            }
            unit_conditions.insert(known);
        }
        let mut waiting =
            self.conditions.get(&unit).and_then(|known| known.get(&function)).cloned().unwrap_or_default();
        while let Some(at) = waiting.pop() {
            match &program.exprs[at as usize].expr {
                Expr::Not(inner) => waiting.push(*inner),
                Expr::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
                    waiting.extend([*left, *right]);
                }
                Expr::Cell(_) | Expr::Attr { .. } | Expr::Call(_) | Expr::Index { .. } => {
                    let from = self.expr_node(unit, at);
                    self.subscribe(from, User::Protocol(unit, at, 0));
                }
                _ => {}
            }
        }
    }

    /// A value arrives at an operation that calls members of it.
    pub(super) fn protocol(&mut self, unit: UnitId, id: ExprId, which: u8, value: ValueId) {
        let Value::Instance(u, c) = self.interner.get(value) else { return };
        let Some(protocol) = PROTOCOLS.get(which as usize) else { return };
        let first = protocol.first.iter().find(|name| self.defines(u, c, name));
        for name in protocol.every.iter().chain(first) {
            let slot = self.slot(value, name);
            self.subscribe(slot, User::CallMember(unit, id));
        }
    }

    /// Whether a class of the tree, or a base of it, defines a member.
    pub(super) fn defines(&mut self, unit: UnitId, class: ClassId, name: &str) -> bool {
        let order = self.resolution_order(unit, class);
        order.iter().any(|base| match base {
            Base::Class(u, c) => {
                self.program(*u).classes[*c as usize].members.iter().any(|(member, _)| member == name)
            }
            Base::External(_) => false,
        })
    }

    fn special(&mut self, unit: UnitId, class: ClassId) -> u8 {
        if let Some(known) = self.specials.get(&(unit, class)) {
            return *known;
        }
        let mut mask = 0;
        for (name, bit) in
            [("__getattr__", GETATTR), ("__getattribute__", GETATTRIBUTE), ("__get__", DESCRIPTOR)]
        {
            if self.defines(unit, class, name) {
                mask |= bit;
            }
        }
        self.specials.insert((unit, class), mask);
        mask
    }

    /// Reading an attribute that a class does not have asks its `__getattr__`.
    pub(super) fn missing_attribute(&mut self, unit: UnitId, id: ExprId, value: ValueId, name: &str) {
        let Value::Instance(u, c) = self.interner.get(value) else { return };
        if !self.follows_protocols(unit) || self.units[u as usize].language != Language::Python {
            return;
        }
        let mask = self.special(u, c);
        if mask & GETATTRIBUTE != 0 {
            let slot = self.slot(value, "__getattribute__");
            self.subscribe(slot, User::CallInto(unit, id));
        }
        if mask & GETATTR != 0 && !name.starts_with("__") && !self.defines(u, c, name) {
            let order = self.resolution_order(u, c);
            let stored = order.iter().any(|base| match base {
                Base::Class(u, _) => !self.stores_of(*u, name).is_empty(),
                Base::External(_) => false,
            });
            if !stored {
                let slot = self.slot(value, "__getattr__");
                self.subscribe(slot, User::CallInto(unit, id));
            }
        }
    }

    /// A descriptor is asked for the value.
    pub(super) fn descriptor(&mut self, unit: UnitId, id: ExprId, value: ValueId) {
        if let Value::Instance(u, c) = self.interner.get(value)
            && self.follows_protocols(unit)
            && self.units[u as usize].language == Language::Python
            && self.special(u, c) & DESCRIPTOR != 0
        {
            let slot = self.slot(value, "__get__");
            self.subscribe(slot, User::CallInto(unit, id));
        }
    }

    /// Making an instance asks the class of the class; the instance will go again.
    pub(super) fn made(&mut self, unit: UnitId, id: ExprId, u: UnitId, c: ClassId, args: &[Arg]) {
        if self.units[u as usize].language != Language::Python {
            return;
        }
        let instance = self.interner.value(Value::Instance(u, c));
        if self.on_demand() {
            if self.defines(u, c, "__del__") {
                let slot = self.slot(instance, "__del__");
                self.subscribe(slot, User::CallMember(unit, id));
            }
            if let Some(meta) = self.meta_of(u, c) {
                let slot = self.slot(meta, "__call__");
                self.subscribe(slot, User::CallMember(unit, id));
            }
        }
        if !self.defines(u, c, "__init__") && !args.is_empty() {
            self.fields(unit, instance, (u, c), args);
        }
    }

    /// A class without a constructor of its own takes its annotated names in order (dataclasses,
    /// named tuples, models).
    fn fields(&mut self, unit: UnitId, instance: ValueId, class: (UnitId, ClassId), args: &[Arg]) {
        let order = self.resolution_order(class.0, class.1);
        let mut names: Vec<&'a str> = Vec::new();
        for base in order.iter().rev() {
            if let Base::Class(u, c) = base {
                for name in &self.program(*u).classes[*c as usize].fields {
                    if !names.contains(&name.as_str()) {
                        names.push(name);
                    }
                }
            }
        }
        let mut position = 0;
        for arg in args {
            if arg.spread != crate::base::ir::Spread::No {
                return;
            }
            let name = match &arg.name {
                Some(name) => names.contains(&name.as_str()).then_some(name.as_str()),
                None => names.get(position).copied(),
            };
            position += usize::from(arg.name.is_none());
            let Some(name) = name else { continue };
            let from = self.expr_node(unit, arg.value);
            let slot = self.slot(instance, &format!(".{name}"));
            self.subscribe(from, User::Argument(unit, slot));
        }
    }

    /// The class of a class, as a value whose members are bound.
    pub(super) fn meta_of(&mut self, unit: UnitId, class: ClassId) -> Option<ValueId> {
        let order = self.resolution_order(unit, class);
        let (u, meta) = order.iter().find_map(|base| match base {
            Base::Class(u, c) => Some((*u, self.program(*u).classes[*c as usize].meta?)),
            Base::External(_) => None,
        })?;
        match self.static_value(u, meta, 0)? {
            Value::Class(mu, mc) => Some(self.interner.value(Value::Instance(mu, mc))),
            _ => None,
        }
    }

    /// Defining a class runs its bases' `__init_subclass__` and its metaclass.
    pub(super) fn class_defined(&mut self, unit: UnitId, id: ExprId, class: ClassId) {
        if !self.follows_protocols(unit) {
            return;
        }
        let body = &self.program(unit).classes[class as usize];
        if body.bases.is_empty() && body.meta.is_none() {
            return;
        }
        let order = self.resolution_order(unit, class);
        let found = order.iter().skip(1).find_map(|base| match base {
            Base::Class(u, c) => {
                let members = &self.program(*u).classes[*c as usize].members;
                members.iter().find(|(name, _)| name == "__init_subclass__").map(|(_, value)| (*u, *value))
            }
            Base::External(_) => None,
        });
        if let Some((u, value)) = found {
            let from = self.expr_node(u, value);
            self.subscribe(from, User::CallMember(unit, id));
        }
        if let Some(meta) = self.meta_of(unit, class) {
            for name in ["__new__", "__init__", "__prepare__"] {
                let slot = self.slot(meta, name);
                self.subscribe(slot, User::CallMember(unit, id));
            }
        }
    }

    /// The parents' view of whatever the method's receiver is.
    pub(super) fn super_of(&mut self, unit: UnitId, id: ExprId, class: ClassId) {
        let program = self.program(unit);
        let mut function = program.exprs[id as usize].function;
        for _ in 0..64 {
            let body = &program.functions[function as usize];
            if body.class == Some(class) || body.parent.is_none() {
                break;
            }
            function = body.parent.unwrap_or(0);
        }
        let body = &program.functions[function as usize];
        match body.params.first().filter(|_| body.class == Some(class) && body.kind != FunctionKind::Static) {
            Some(receiver) if self.units[unit as usize].language == Language::Python => {
                let from = self.cell_node(unit, receiver.cell);
                self.subscribe(from, User::SuperOf(unit, id));
            }
            _ => {
                let instance = self.interner.value(Value::Instance(unit, class));
                let node = self.expr_node(unit, id);
                self.insert_value(node, Value::Super(unit, class, instance));
            }
        }
    }

    /// A receiver arrives at a method that asks for its parents.
    pub(super) fn super_arrives(&mut self, unit: UnitId, id: ExprId, receiver: ValueId) {
        let Expr::Super(class) = self.program(unit).exprs[id as usize].expr else { return };
        if let Value::Instance(..) | Value::Class(..) = self.interner.get(receiver) {
            let node = self.expr_node(unit, id);
            self.insert_value(node, Value::Super(unit, class, receiver));
        }
    }

    /// `property(read)`: a member that runs when it is read.
    pub(super) fn getter(&mut self, value: ValueId, node: NodeId) {
        match self.interner.get(value) {
            Value::Func(u, f) => self.insert_value(node, Value::Getter(u, f)),
            _ => self.insert(node, value),
        }
    }

    /// A lookup by a name that is not one constant: every member that its fixed ends allow.
    pub(super) fn free_members(&mut self, unit: UnitId, id: ExprId, object: ValueId, name: ExprId) {
        if !self.follows_protocols(unit) {
            return;
        }
        let texts = Folder::new(self).texts(unit, name);
        for text in texts.iter().filter(|t| t.as_literal().is_none()) {
            let (start, end) = text.ends();
            let (start, end) = (start.to_owned(), end.to_owned());
            // A wholly free name may be any member, but only a call makes a method of it.
            if start.is_empty() && end.is_empty() && !self.is_called(unit, id) {
                continue;
            }
            let fits = |member: &str| {
                member.len() >= start.len() + end.len()
                    && member.starts_with(&start)
                    && member.ends_with(&end)
                    && !member.starts_with("__")
            };
            let members: Vec<String> = match self.interner.get(object) {
                Value::Instance(u, c) | Value::Class(u, c) => {
                    let order = self.resolution_order(u, c);
                    order
                        .iter()
                        .flat_map(|base| match base {
                            Base::Class(u, c) => self.program(*u).classes[*c as usize].members.as_slice(),
                            Base::External(_) => &[],
                        })
                        .map(|(member, _)| member.clone())
                        .filter(|member| fits(member))
                        .collect()
                }
                // A module's own functions; what it imports is rarely meant.
                Value::Module(u) => {
                    let program = self.program(u);
                    program
                        .functions
                        .iter()
                        .filter(|f| f.parent == Some(0) && f.class.is_none() && fits(&f.name))
                        .map(|f| f.name.clone())
                        .filter(|name| !name.is_empty())
                        .collect()
                }
                _ => Vec::new(),
            };
            for member in members {
                self.attribute(unit, id, object, &member);
            }
        }
    }

    /// Whether the function calls what an expression gives, at once or by a name.
    fn is_called(&self, unit: UnitId, id: ExprId) -> bool {
        let program = self.program(unit);
        let function = program.exprs[id as usize].function;
        program.functions[function as usize].exprs.clone().any(|at| {
            let Expr::Call(call) = &program.exprs[at as usize].expr else { return false };
            call.callee == id
                || matches!(program.exprs[call.callee as usize].expr,
                    Expr::Cell(cell) if program.cells[cell as usize].values.contains(&id))
        })
    }

    /// How sure it is that a call means what its callee stands for: a container's element under a
    /// free key, and a member under a free name, are possible; so are what such an element holds
    /// and its methods.
    pub(super) fn callee_confidence(&mut self, unit: UnitId, id: ExprId) -> Confidence {
        let program = self.program(unit);
        let Expr::Call(call) = &program.exprs[id as usize].expr else { return Confidence::Certain };
        let mut waiting = vec![call.callee];
        let mut seen: Vec<ExprId> = Vec::new();
        let mut free = false;
        while let Some(at) = waiting.pop() {
            if seen.contains(&at) {
                continue;
            }
            if seen.len() >= MOST_STEPS {
                return Confidence::Certain;
            }
            seen.push(at);
            match &program.exprs[at as usize].expr {
                Expr::Cell(cell) => {
                    let cell = &program.cells[*cell as usize];
                    let joined = cell.from.iter().flat_map(|from| &program.cells[*from as usize].values);
                    waiting.extend(cell.values.iter().chain(joined));
                    if cell.values.is_empty() && cell.from.is_empty() {
                        return Confidence::Certain;
                    }
                }
                Expr::Null | Expr::Instance(_) => {}
                Expr::Attr { base, .. } | Expr::Item(base, _) | Expr::Same(base) => waiting.push(*base),
                Expr::Index { base, key } => {
                    if !self.holds_container(unit, *base) || self.key_of(unit, *key).is_some() {
                        return Confidence::Certain;
                    }
                    free = true;
                }
                Expr::Call(inner) => {
                    let key = match &program.exprs[inner.callee as usize].expr {
                        Expr::Attr { base, name }
                            if matches!(name.as_str(), "get" | "pop" | "setdefault")
                                && self.holds_container(unit, *base) =>
                        {
                            inner.args.first()
                        }
                        Expr::External(path) if path == "builtins.getattr" => inner.args.get(1),
                        _ => return Confidence::Certain,
                    };
                    match key {
                        Some(key) if self.key_of(unit, key.value).is_none() => free = true,
                        _ => return Confidence::Certain,
                    }
                }
                _ => return Confidence::Certain,
            }
        }
        if free { Confidence::Possible } else { Confidence::Certain }
    }

    fn holds_container(&self, unit: UnitId, expr: ExprId) -> bool {
        let held = self.expr_node(unit, expr) as usize;
        self.values[held].iter().any(|v| matches!(self.interner.get(*v), Value::Container(_)))
    }
}
