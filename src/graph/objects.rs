//! What JavaScript's own operations on objects and collections give back. A table of plain
//! cases: the solver asks it for every call of something outside the tree.

use super::solve::{Solver, User};
use super::value::{Object, UnitId, Value, ValueId};
use crate::base::ir::{Arg, ExprId};

impl<'a> Solver<'a> {
    /// Follows a call of one of the language's own operations; `false` if it is none of them.
    pub(super) fn object_call(&mut self, unit: UnitId, id: ExprId, path: &str, args: &[Arg]) -> bool {
        let node = self.expr_node(unit, id);
        let Some(first) = args.first().map(|a| self.expr_node(unit, a.value)) else {
            if matches!(path, "globalThis.Map" | "globalThis.Set" | "globalThis.Array") {
                self.new_container(unit, id);
                return true;
            }
            return false;
        };
        match path {
            // A `require` of another name: `createRequire(…)`.
            "require" => {
                let Some(name) = args.first().and_then(|a| self.key_of(unit, a.value)) else { return false };
                self.module_by_name(unit, id, &name);
            }
            "globalThis.Object.assign" => {
                self.copy(first, node);
                let made = self.new_container(unit, id);
                for arg in args {
                    let from = self.expr_node(unit, arg.value);
                    self.subscribe(from, User::Include(made));
                }
                // What the target holds already sees the sources too.
                for target in self.values[first as usize].clone() {
                    if let Value::Container(_) = self.interner.get(target) {
                        for arg in args.iter().skip(1) {
                            let from = self.expr_node(unit, arg.value);
                            self.subscribe(from, User::Include(target));
                        }
                    }
                }
            }
            "globalThis.Object.values"
            | "globalThis.Array.from"
            | "globalThis.Set"
            | "globalThis.Promise.all"
            | "globalThis.Promise.allSettled"
            | "globalThis.Promise.race"
            | "globalThis.Array.of" => {
                let made = self.new_container(unit, id);
                for name in ["[*]", "[]"] {
                    let slot = self.slot(made, name);
                    self.subscribe(first, User::Elements(slot));
                }
                if path == "globalThis.Array.from" {
                    self.hand_over_arguments(unit, path, args);
                }
            }
            "globalThis.Object.entries" => {
                let made = self.new_container(unit, id);
                let pair = self.interner.value(Value::Container(Object::Pair(unit, id)));
                let elements = self.fresh();
                self.subscribe(first, User::Elements(elements));
                self.fill(pair, "[1]", elements);
                for name in ["[*]", "[]"] {
                    let slot = self.slot(made, name);
                    self.insert(slot, pair);
                }
            }
            // `new Map([[key, value]])`, `Object.fromEntries(list)`: the second of each pair.
            "globalThis.Map" | "globalThis.Object.fromEntries" => {
                let made = self.new_container(unit, id);
                let pairs = self.fresh();
                self.subscribe(first, User::Elements(pairs));
                for name in ["[*]", "[]"] {
                    let slot = self.slot(made, name);
                    self.subscribe(pairs, User::Elements(slot));
                }
            }
            _ => return false,
        }
        true
    }

    fn new_container(&mut self, unit: UnitId, id: ExprId) -> ValueId {
        let made = self.interner.value(Value::Container(Object::Literal(unit, id)));
        let node = self.expr_node(unit, id);
        self.insert(node, made);
        made
    }
}
