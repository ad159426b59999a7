//! Methods of containers: what they store, what they give back, whom they call.

use super::solve::{NodeId, Solver, User};
use super::value::{Object, UnitId, Value, ValueId};
use crate::base::ir::{Arg, ExprId};
use crate::base::site::Confidence;

impl<'a> Solver<'a> {
    pub(super) fn container_call(
        &mut self,
        unit: UnitId,
        id: ExprId,
        object: Object,
        name: &str,
        args: &[Arg],
    ) {
        let value = self.interner.value(Value::Container(object));
        let node = self.expr_node(unit, id);
        let arg = |at: usize| args.get(at).map(|a| a.value);
        match name {
            "set" => {
                // A map's entry: the value is the last argument.
                if let [key, held] = args {
                    let from = self.expr_node(unit, held.value);
                    match self.key_of(unit, key.value) {
                        Some(key) => self.fill(value, &format!("[{key}]"), from),
                        None => self.fill(value, "[*]", from),
                    }
                }
            }
            "append" | "add" | "appendleft" | "put" | "put_nowait" | "push" | "unshift" | "insert" => {
                for arg in args {
                    let from = self.expr_node(unit, arg.value);
                    self.fill(value, "[*]", from);
                }
            }
            "extend" | "update" | "concat" => {
                for arg in args {
                    let from = self.expr_node(unit, arg.value);
                    match &arg.name {
                        Some(key) => self.fill(value, &format!("[{key}]"), from),
                        None => {
                            for slot in ["[*]", "[]"] {
                                let slot = self.slot(value, slot);
                                self.subscribe(from, User::Elements(slot));
                            }
                        }
                    }
                }
                if name == "concat" {
                    self.insert(node, value);
                }
            }
            "get" | "pop" | "popleft" | "setdefault" | "__getitem__" | "shift" | "at" | "find"
            | "get_nowait" => {
                match arg(0).and_then(|key| self.key_of(unit, key)) {
                    Some(key) if !key.starts_with('-') && name != "find" => {
                        for slot in [format!("[{key}]"), "[*]".to_owned()] {
                            let slot = self.slot(value, &slot);
                            self.copy(slot, node);
                        }
                    }
                    _ => {
                        let slot = self.slot(value, "[]");
                        self.copy(slot, node);
                    }
                }
                if let Some(default) = arg(1) {
                    let from = self.expr_node(unit, default);
                    self.copy(from, node);
                    if name == "setdefault" {
                        self.fill(value, "[*]", from);
                    }
                }
                if name == "find" {
                    self.callbacks(unit, args, Some(value));
                }
            }
            "copy" | "values" | "filter" | "slice" | "reverse" | "sort" => {
                let copy = self.interner.value(Value::Container(Object::Literal(unit, id)));
                self.insert(node, copy);
                let all = self.slot(value, "[]");
                self.fill(copy, "[*]", all);
                self.callbacks(unit, args, Some(value));
            }
            "items" | "entries" => {
                let list = self.interner.value(Value::Container(Object::Literal(unit, id)));
                let pair = self.interner.value(Value::Container(Object::Pair(unit, id)));
                self.insert(node, list);
                let all = self.slot(value, "[]");
                self.fill(pair, "[1]", all);
                for slot in ["[*]", "[]"] {
                    let slot = self.slot(list, slot);
                    self.insert(slot, pair);
                }
            }
            "forEach" | "map" | "some" | "every" | "reduce" | "flatMap" => {
                self.callbacks(unit, args, Some(value))
            }
            _ => {}
        }
    }

    /// Functions among the arguments are called with the elements of a container.
    pub(super) fn callbacks(&mut self, unit: UnitId, args: &[Arg], container: Option<ValueId>) {
        for arg in args {
            let from = self.expr_node(unit, arg.value);
            self.subscribe(from, User::HandOver(unit, arg.value, Confidence::Certain));
            if let Some(container) = container {
                let elements = self.slot(container, "[]");
                self.subscribe(from, User::FirstParam(elements));
            }
        }
    }

    /// A node's values flow into the first parameter of a callable.
    pub(super) fn first_param(&mut self, elements: NodeId, value: ValueId) {
        let (u, f) = match self.interner.get(value) {
            Value::Func(u, f) => (u, f),
            _ => return,
        };
        if let Some(param) = self.program(u).functions[f as usize].params.first() {
            let cell = param.cell;
            self.argument(u, elements, cell);
        }
    }

    /// A list of pairs (or longer tuples) whose positions hold the elements of the sources.
    pub(super) fn pairs(&mut self, unit: UnitId, id: ExprId, sources: &[(usize, ExprId)]) {
        let list = self.interner.value(Value::Container(Object::Literal(unit, id)));
        let pair = self.interner.value(Value::Container(Object::Pair(unit, id)));
        let node = self.expr_node(unit, id);
        self.insert(node, list);
        for slot in ["[*]", "[]"] {
            let slot = self.slot(list, slot);
            self.insert(slot, pair);
        }
        for (position, source) in sources {
            let source = self.expr_node(unit, *source);
            let elements = self.allocate_elements(source);
            self.fill(pair, &format!("[{position}]"), elements);
        }
    }
}
