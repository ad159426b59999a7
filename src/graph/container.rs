//! Containers: elements by constant key, by position, or any; iteration, slices, operators.

use super::solve::{NodeId, Solver, User};
use super::value::{Object, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{BinaryOp, Expr, ExprId, Spread};

/// More containers than this are not taken into one.
const MOST_INCLUDED: usize = 32;

impl<'a> Solver<'a> {
    /// A list, tuple, set, dictionary or object literal.
    pub(super) fn literal(&mut self, unit: UnitId, id: ExprId) {
        let program = self.program(unit);
        let object = self.interner.value(Value::Container(Object::Literal(unit, id)));
        self.insert(self.expr_node(unit, id), object);
        match &program.exprs[id as usize].expr {
            Expr::Seq(items) => {
                for (position, (item, spread)) in items.iter().enumerate() {
                    if self.is_plain(unit, *item) {
                        continue;
                    }
                    let from = self.expr_node(unit, *item);
                    if *spread == Spread::No {
                        self.fill(object, &format!("[{position}]"), from);
                    } else {
                        for name in ["[*]", "[]"] {
                            let slot = self.slot(object, name);
                            self.subscribe(from, User::Elements(slot));
                        }
                    }
                }
            }
            Expr::Map(entries) => {
                for (key, value) in entries {
                    if self.is_plain(unit, *value) {
                        continue;
                    }
                    let from = self.expr_node(unit, *value);
                    self.own_function(unit, *value, object);
                    match key {
                        Some(key) => match self.key_of(unit, *key) {
                            Some(key) => self.fill(object, &format!("[{key}]"), from),
                            None => self.fill(object, "[*]", from),
                        },
                        None => self.subscribe(from, User::Include(object)),
                    }
                }
            }
            _ => {}
        }
    }

    /// A function that is written where an object takes it sees the object as `this`.
    pub(super) fn own_function(&mut self, unit: UnitId, value: ExprId, object: ValueId) {
        if let Value::Container(_) = self.interner.get(object)
            && let Expr::Func(function) = self.program(unit).exprs[value as usize].expr
            && let Some(this) = self.program(unit).functions[function as usize].this
        {
            self.insert(self.cell_node(unit, this), object);
        }
    }

    /// Literals never hold a callable: data tables cost nothing.
    fn is_plain(&self, unit: UnitId, expr: ExprId) -> bool {
        matches!(
            self.program(unit).exprs[expr as usize].expr,
            Expr::Str(_) | Expr::Int(_) | Expr::Bool(_) | Expr::Null | Expr::Template(_) | Expr::Unknown
        )
    }

    /// Fills one slot, and with it the slot of all elements.
    pub(super) fn fill(&mut self, object: ValueId, name: &str, from: NodeId) {
        for name in [name, "[]"] {
            let slot = self.slot(object, name);
            self.copy(from, slot);
        }
    }

    /// `value[key]` flows into the expression.
    pub(super) fn index(&mut self, unit: UnitId, id: ExprId, value: ValueId, key: ExprId) {
        let node = self.expr_node(unit, id);
        let constant = self.key_of(unit, key);
        // A member by a constant name is a member; on outside things the bracket form stays known too.
        if self.units[unit as usize].language == Language::Javascript
            && let Some(name) = &constant
            && !matches!(self.interner.get(value), Value::Container(_))
        {
            self.attribute(unit, id, value, name);
        }
        match self.interner.get(value) {
            Value::Container(_) => match constant {
                Some(key) if !key.starts_with('-') => {
                    for name in [format!("[{key}]"), "[*]".to_owned()] {
                        let slot = self.slot(value, &name);
                        self.copy(slot, node);
                    }
                }
                _ => {
                    let slot = self.slot(value, "[]");
                    self.copy(slot, node);
                }
            },
            Value::External { path, made } => {
                let path = self.interner.text(path).to_owned();
                let is_text =
                    matches!(self.program(unit).exprs[key as usize].expr, Expr::Int(_) | Expr::Neg(_));
                match constant.filter(|_| !is_text) {
                    Some(key) if path == "builtins.globals()" || path == "builtins.locals()" => {
                        let module = self.interner.value(Value::Module(unit));
                        let slot = self.slot(module, &key);
                        self.copy(slot, node);
                    }
                    Some(key) if path == "sys.modules" => self.module_by_name(unit, id, &key),
                    Some(key) => {
                        let found = match path.strip_suffix(".__dict__") {
                            Some(owner) => format!("{owner}.{key}"),
                            None if path == "builtins" => format!("{path}.{key}"),
                            None => format!("{path}[{key}]"),
                        };
                        let found = self.catalogue(unit).canonical_path(&found).into_owned();
                        self.insert_external(node, &found, made);
                    }
                    None => {
                        let found = format!("{path}[]");
                        self.insert_external(node, &found, made);
                    }
                }
            }
            Value::Instance(..) => {
                let slot = self.slot(value, "__getitem__");
                self.subscribe(slot, User::CallInto(unit, id));
            }
            // `Generic[T]`, `list[int]`: the class itself.
            Value::Class(..) => self.insert(node, value),
            _ => {}
        }
    }

    /// One element of an iterable.
    pub(super) fn element_of(&mut self, unit: UnitId, id: ExprId, value: ValueId, node: NodeId) {
        if let Value::Instance(..) = self.interner.get(value) {
            for name in ["__iter__", "__aiter__"] {
                let slot = self.slot(value, name);
                self.subscribe(slot, User::CallMember(unit, id));
                self.subscribe(slot, User::IteratorOf(unit, id));
            }
            return;
        }
        self.elements(value, node);
    }

    /// What iterating over a callable's result gives flows into the expression.
    pub(super) fn iterator_of(&mut self, unit: UnitId, id: ExprId, callable: ValueId) {
        let results = self.fresh();
        self.result_into(callable, results);
        self.subscribe(results, User::NextOf(unit, id));
        let node = self.expr_node(unit, id);
        self.subscribe(results, User::Elements(node));
    }

    /// An instance is iterated over at the expression.
    pub(super) fn iterate_for(&mut self, unit: UnitId, id: ExprId, value: ValueId) {
        if let Value::Instance(..) = self.interner.get(value)
            && self.iterated.insert((unit, id, value))
        {
            let node = self.expr_node(unit, id);
            self.element_of(unit, id, value, node);
        }
    }

    /// What `iter()` makes of a value is the expression's.
    pub(super) fn iterator_from(&mut self, unit: UnitId, id: ExprId, value: ValueId) {
        let node = self.expr_node(unit, id);
        if let Value::Instance(..) = self.interner.get(value) {
            for name in ["__iter__", "__aiter__"] {
                let slot = self.slot(value, name);
                self.subscribe(slot, User::Result(node));
            }
        } else {
            self.insert(node, value);
        }
    }

    /// What an iterator gives next flows into the expression.
    pub(super) fn next_of(&mut self, unit: UnitId, id: ExprId, value: ValueId) {
        if let Value::Instance(..) = self.interner.get(value) {
            for name in ["__next__", "__anext__"] {
                let slot = self.slot(value, name);
                self.subscribe(slot, User::CallInto(unit, id));
            }
        }
    }

    /// The elements of a value flow into a node.
    pub(super) fn elements(&mut self, value: ValueId, node: NodeId) {
        match self.interner.get(value) {
            Value::Container(_) => {
                let slot = self.slot(value, "[]");
                self.copy(slot, node);
            }
            Value::Generator(unit, function) => {
                let yields = self.yield_node(unit, function);
                self.copy(yields, node);
            }
            Value::External { path, made } => {
                let path = format!("{}[]", self.interner.text(path));
                self.insert_external(node, &path, made);
            }
            _ => {}
        }
    }

    /// The values of a mapping that is spread flow into a node.
    pub(super) fn entries(&mut self, value: ValueId, node: NodeId) {
        if let Value::Container(_) = self.interner.get(value) {
            let slot = self.slot(value, "[]");
            self.copy(slot, node);
        }
    }

    /// A container takes in the entries of another: each stays under its key.
    pub(super) fn include(&mut self, object: ValueId, other: ValueId) {
        let is_container = matches!(self.interner.get(other), Value::Container(_));
        if !is_container || object == other || self.takes_in(other, object) {
            return;
        }
        let list = self.included.entry(object).or_default();
        if list.contains(&other) || list.len() >= MOST_INCLUDED {
            return;
        }
        list.push(other);
        for name in ["[*]", "[]"] {
            let to = self.slot(object, name);
            let from = self.slot(other, name);
            self.copy(from, to);
        }
        for symbol in self.elements_asked.get(&object).cloned().unwrap_or_default() {
            let name = self.interner.text(symbol).to_owned();
            let (to, from) = (self.slot(object, &name), self.slot(other, &name));
            self.copy(from, to);
        }
    }

    /// Whether a container takes in another, directly or through others: a circle would never end.
    fn takes_in(&self, object: ValueId, other: ValueId) -> bool {
        let mut stack = vec![object];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(at) = stack.pop() {
            if at == other {
                return true;
            }
            if seen.insert(at) {
                stack.extend(self.included.get(&at).into_iter().flatten().copied());
            }
        }
        false
    }

    /// The element at a fixed position.
    pub(super) fn item_of(&mut self, value: ValueId, position: u32, node: NodeId) {
        match self.interner.get(value) {
            Value::Container(_) => {
                for name in [format!("[{position}]"), "[*]".to_owned()] {
                    let slot = self.slot(value, &name);
                    self.copy(slot, node);
                }
            }
            _ => self.elements(value, node),
        }
    }

    /// A slice: a container of its own with the elements from `start` on.
    pub(super) fn slice_of(&mut self, unit: UnitId, id: ExprId, value: ValueId, start: Option<u32>) {
        let node = self.expr_node(unit, id);
        if start == Some(0) {
            self.insert(node, value);
            return;
        }
        if let Value::Container(_) = self.interner.get(value) {
            let slice = self.interner.value(Value::Container(Object::Literal(unit, id)));
            self.insert(node, slice);
            let all = self.slot(value, "[]");
            self.fill(slice, "[*]", all);
        }
    }

    /// What entering a context manager yields.
    pub(super) fn enter(&mut self, value: ValueId, node: NodeId) {
        match self.interner.get(value) {
            Value::Instance(..) => {
                for name in ["__enter__", "__aenter__"] {
                    let slot = self.slot(value, name);
                    self.subscribe(slot, User::Result(node));
                }
            }
            Value::Generator(unit, function) => {
                let yields = self.yield_node(unit, function);
                self.copy(yields, node);
            }
            _ => self.insert(node, value),
        }
    }

    /// An operand arrives at a binary operator.
    pub(super) fn operator(&mut self, unit: UnitId, id: ExprId, op: BinaryOp, value: ValueId) {
        let node = self.expr_node(unit, id);
        let method = match op {
            BinaryOp::And | BinaryOp::Or => {
                self.insert(node, value);
                return;
            }
            BinaryOp::Add => "__add__",
            BinaryOp::Slash => "__truediv__",
            BinaryOp::Union => "__or__",
            BinaryOp::Percent => "__mod__",
            BinaryOp::Equal | BinaryOp::NotEqual => "__eq__",
            BinaryOp::Greater => "__gt__",
            BinaryOp::Less => "__lt__",
            BinaryOp::In | BinaryOp::NotIn | BinaryOp::Other => return,
        };
        match self.interner.get(value) {
            Value::Instance(..) => {
                // The operator belongs to the left operand.
                let Expr::Binary { left, .. } = self.program(unit).exprs[id as usize].expr else { return };
                if op == BinaryOp::Percent && self.program(unit).exprs[left as usize].is_text() {
                    self.protocol(unit, id, 1, value);
                }
                if self.values[self.expr_node(unit, left) as usize].contains(&value) {
                    let slot = self.slot(value, method);
                    self.subscribe(slot, User::CallInto(unit, id));
                }
            }
            Value::Container(_) if matches!(op, BinaryOp::Add | BinaryOp::Union) => self.insert(node, value),
            // `Path("a") / "b"` is a path still.
            Value::External { .. } if op == BinaryOp::Slash => self.insert(node, value),
            _ => {}
        }
    }
}
