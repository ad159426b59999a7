//! Declared types: a value that only an annotation tells of may be of any class below the one that
//! it names, or of any that has what a protocol asks for. Only the daemon's reach asks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::solve::{Base, NodeId, Solver};
use super::value::{UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{ClassId, Expr};
use crate::base::site::Confidence;

/// Classes that one declared type stands for.
const MOST_CLASSES: usize = 64;

/// Bases that make a class a protocol.
const PROTOCOLS: &[&str] = &["typing.Protocol", "typing_extensions.Protocol"];

type Class = (UnitId, ClassId);

/// What is known of declared types so far.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Expressions whose value a declaration tells of, with the class that it names.
    waiting: Vec<(NodeId, Class)>,
    /// Classes that the followed code defines, in order.
    defined: Vec<Class>,
    /// How many active functions were looked through for definitions.
    scanned: usize,
    /// Classes that the followed code makes instances of.
    made: FxHashSet<Class>,
    /// Classes that a value may be of by its declaration alone.
    assumed: FxHashSet<Class>,
    told: FxHashSet<(NodeId, Class)>,
}

impl<'a> Solver<'a> {
    /// A declaration says that an expression is an instance of a class.
    pub(super) fn declare(&mut self, node: NodeId, unit: UnitId, class: ClassId) {
        if self.on_demand() && self.units[unit as usize].language == Language::Python {
            self.declared.waiting.push((node, (unit, class)));
        }
    }

    /// An instance of a class is made.
    pub(super) fn note_made(&mut self, unit: UnitId, class: ClassId) {
        self.declared.made.insert((unit, class));
    }

    /// How sure it is that a receiver is what it is taken for.
    pub(super) fn receiver_confidence(&self, receiver: Option<ValueId>) -> Confidence {
        match receiver.map(|receiver| self.interner.get(receiver)) {
            Some(Value::Instance(u, c))
                if self.declared.assumed.contains(&(u, c)) && !self.declared.made.contains(&(u, c)) =>
            {
                Confidence::Likely
            }
            _ => Confidence::Certain,
        }
    }

    /// Gives declared values the classes that they may be of: those that are made, or where none is
    /// seen to be made, all that are defined. A class that is made itself stands for itself. Gives
    /// whether anything was new.
    pub fn declared_classes(&mut self) -> bool {
        if self.declared.waiting.is_empty() {
            return false;
        }
        self.find_classes();
        let mut below: FxHashMap<Class, Vec<Class>> = FxHashMap::default();
        for (unit, class) in self.declared.defined.clone() {
            for base in self.resolution_order(unit, class).iter().skip(1) {
                if let Base::Class(u, c) = base {
                    below.entry((*u, *c)).or_default().push((unit, class));
                }
            }
        }
        let mut changed = false;
        for (node, class) in self.declared.waiting.clone() {
            if self.declared.made.contains(&class) {
                continue;
            }
            let mut classes = below.get(&class).cloned().unwrap_or_default();
            if self.is_protocol(class) {
                classes.extend(self.fitting(class));
            }
            let made: Vec<Class> =
                classes.iter().copied().filter(|c| self.declared.made.contains(c)).collect();
            let all = if made.is_empty() { classes } else { made };
            for (u, c) in all.into_iter().take(MOST_CLASSES) {
                if self.declared.told.insert((node, (u, c))) {
                    changed = true;
                    self.declared.assumed.insert((u, c));
                    self.insert_value(node, Value::Instance(u, c));
                }
            }
        }
        changed
    }

    /// Looks for definitions in what has become active.
    fn find_classes(&mut self) {
        while let Some((unit, function)) = self.active().get(self.declared.scanned).copied() {
            self.declared.scanned += 1;
            if self.units[unit as usize].language != Language::Python {
                continue;
            }
            let program = self.program(unit);
            for expr in program.functions[function as usize].exprs.clone() {
                if let Expr::Class(class) = program.exprs[expr as usize].expr {
                    self.declared.defined.push((unit, class));
                }
            }
        }
    }

    fn is_protocol(&mut self, (unit, class): Class) -> bool {
        let order = self.resolution_order(unit, class);
        order.iter().skip(1).any(|base| match base {
            Base::External(path) => PROTOCOLS.contains(&self.interner.text(*path)),
            Base::Class(..) => false,
        })
    }

    /// Classes that have every method of a protocol.
    fn fitting(&mut self, protocol: Class) -> Vec<Class> {
        let asked: Vec<String> = self.program(protocol.0).classes[protocol.1 as usize]
            .members
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| !name.starts_with("__"))
            .collect();
        if asked.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (u, c) in self.declared.defined.clone() {
            if (u, c) != protocol
                && !self.is_protocol((u, c))
                && asked.iter().all(|name| self.defines(u, c, name))
            {
                found.push((u, c));
            }
        }
        found
    }
}
