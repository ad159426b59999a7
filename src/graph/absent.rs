//! What lies in files that were left out, since nothing in them can restart anything by itself: a
//! helper that calls what it is given, a base class whose methods call each other. The solver
//! notes which of them are given something, so that they can be read after all.

use super::solve::{Solver, User};
use super::value::{Symbol, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{Arg, ClassId, Expr, ExprId};

/// The classes that were made, some of which may have a base in such a file.
#[derive(Debug, Default)]
pub(super) struct Made {
    classes: Vec<(UnitId, ClassId)>,
    /// How many of the active functions were looked through for them.
    looked_through: usize,
}

impl<'a> Solver<'a> {
    /// An import brings something of a file that is not among the units. Of a package's own file, its
    /// modules may be.
    pub(super) fn absent(&mut self, unit: UnitId, path: &str, node: u32) {
        if self.units[unit as usize].language == Language::Python
            && (self.on_demand() || path.ends_with("__init__.py"))
        {
            let path = self.interner.symbol(path);
            self.insert_value(node, Value::Absent(path));
        }
    }

    /// A member of something of such a file: of a package, a module that is among the units.
    pub(super) fn member_of_absent(&mut self, path: Symbol, name: &str, node: u32) {
        let own = self.interner.text(path);
        let submodule =
            own.ends_with("__init__.py").then(|| self.files().python_submodule(own, name)).flatten();
        match submodule {
            Some(file) => match self.unit_of(&file) {
                Some(unit) => self.insert_value(node, Value::Module(unit)),
                None => {
                    let file = self.interner.symbol(&file);
                    self.insert_value(node, Value::Absent(file));
                }
            },
            None => self.insert_value(node, Value::Absent(path)),
        }
    }

    /// Whether a value is of a file that is not among the units.
    pub(super) fn is_absent(&self, value: ValueId) -> bool {
        matches!(self.interner.get(value), Value::Absent(_))
    }

    /// Something of such a file is called.
    pub(super) fn call_absent(&mut self, unit: UnitId, id: ExprId, path: Symbol, args: &[Arg]) {
        let node = self.expr_node(unit, id);
        self.insert_value(node, Value::Absent(path));
        for arg in args {
            let from = self.expr_node(unit, arg.value);
            self.subscribe(from, User::Carry(path));
        }
    }

    /// A value is given to such a file.
    pub(super) fn carry(&mut self, path: Symbol, value: ValueId) {
        match self.interner.get(value) {
            Value::Func(..)
            | Value::Bound(..)
            | Value::Class(..)
            | Value::Instance(..)
            | Value::Module(_)
            | Value::Partial(..) => {
                self.wanted.insert(path);
            }
            Value::Container(_) => {
                let held = self.slot(value, "[]");
                self.subscribe(held, User::Carry(path));
            }
            _ => {}
        }
    }

    /// The files that are wanted, in order of their paths: those that were given something, and those
    /// that hold a base of a class that was made.
    pub fn wanted_files(&mut self) -> Vec<String> {
        for at in self.made.looked_through..self.active().len() {
            let (unit, function) = self.active()[at];
            if self.units[unit as usize].language != Language::Python {
                continue;
            }
            let program = self.program(unit);
            for expr in program.functions[function as usize].exprs.clone() {
                if let Expr::Class(class) = program.exprs[expr as usize].expr {
                    self.made.classes.push((unit, class));
                }
            }
        }
        self.made.looked_through = self.active().len();
        for (unit, class) in self.made.classes.clone() {
            for base in self.program(unit).classes[class as usize].bases.clone() {
                let from = self.expr_node(unit, base) as usize;
                for value in self.values[from].clone() {
                    if let Value::Absent(path) = self.interner.get(value) {
                        self.wanted.insert(path);
                    }
                }
            }
        }
        let mut files: Vec<String> =
            self.wanted.iter().map(|path| self.interner.text(*path).to_owned()).collect();
        files.sort();
        files
    }
}
