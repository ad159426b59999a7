//! Abstract values: what an expression may stand for, as far as calls are concerned.

use rustc_hash::FxHashMap;

use crate::base::ir::{ClassId, ExprId, FuncId};

/// Index of a unit (a file's program) in the solver.
pub type UnitId = u32;
/// An interned [`Value`].
pub type ValueId = u32;
/// An interned string.
pub type Symbol = u32;

/// Longest access path that is followed, in bytes: `x = x.next()` must end.
const LONGEST_PATH: usize = 160;

/// A container, by the expression or the parameter that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// A literal, a slice or a call that makes a container.
    Literal(UnitId, ExprId),
    /// The pairs that a call makes (`items()`, `zip`).
    Pair(UnitId, ExprId),
    /// The sequence that collects a function's further arguments (parameter by position).
    Rest(UnitId, FuncId, u32),
    /// The mapping that collects a function's further keyword arguments.
    Keywords(UnitId, FuncId, u32),
}

/// What an expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A thing outside the tree, by access path. `made` tells apart what different calls made,
    /// where that matters: an index into the solver's list of makers plus one, or 0.
    External {
        /// The access path.
        path: Symbol,
        /// Which call made the thing at the root of the path.
        made: u32,
    },
    /// A function of the tree.
    Func(UnitId, FuncId),
    /// A method with its receiver.
    Bound(UnitId, FuncId, ValueId),
    /// A property with the object that it is read from.
    Property(UnitId, FuncId, ValueId),
    /// A class of the tree.
    Class(UnitId, ClassId),
    /// An instance of a class of the tree.
    Instance(UnitId, ClassId),
    /// A module of the tree.
    Module(UnitId),
    /// A container.
    Container(Object),
    /// A method of a container (`append`, `get` …).
    ContainerMethod(Object, Symbol),
    /// A partial application, by its call.
    Partial(UnitId, ExprId),
    /// What calling a generator function gives.
    Generator(UnitId, FuncId),
    /// Something of a file of the tree that is not among the units, by the file's path.
    Absent(Symbol),
    /// A function that runs when a class's member is read (`property(f)`).
    Getter(UnitId, FuncId),
    /// The parent classes' view of an instance.
    Super(UnitId, ClassId, ValueId),
}

/// Interns values and strings; ids are given in order of first use.
#[derive(Debug, Default)]
pub struct Interner {
    values: Vec<Value>,
    value_ids: FxHashMap<Value, ValueId>,
    symbols: Vec<Box<str>>,
    symbol_ids: FxHashMap<Box<str>, Symbol>,
}

impl Interner {
    /// The id of a value.
    pub fn value(&mut self, value: Value) -> ValueId {
        if let Some(&id) = self.value_ids.get(&value) {
            return id;
        }
        let id = self.values.len() as ValueId;
        self.values.push(value);
        self.value_ids.insert(value, id);
        id
    }

    /// The value of an id.
    pub fn get(&self, id: ValueId) -> Value {
        self.values[id as usize]
    }

    /// The id of a string.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        if let Some(&id) = self.symbol_ids.get(text) {
            return id;
        }
        let id = self.symbols.len() as Symbol;
        self.symbols.push(text.into());
        self.symbol_ids.insert(text.into(), id);
        id
    }

    /// The id of a string, if it has one.
    pub fn known_symbol(&self, text: &str) -> Option<Symbol> {
        self.symbol_ids.get(text).copied()
    }

    /// The string of an id.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol as usize]
    }

    /// The external value at a path, made by nothing in particular; `None` if the path grew too long.
    pub fn external(&mut self, path: &str, made: u32) -> Option<ValueId> {
        if path.len() > LONGEST_PATH {
            return None;
        }
        let path = self.symbol(path);
        Some(self.value(Value::External { path, made }))
    }
}
