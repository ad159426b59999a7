//! Methods that run on objects of classes below their own: what such a class binds anew is what the method
//! finds (`class Relay(Service): COMMAND = …`).

use std::collections::BTreeMap;

use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::facts::Language;
use crate::base::ir::{ClassId, FunctionKind};

/// Classes below one that its methods are told of.
const MOST_HEIRS: usize = 24;
/// A class and those above it that are looked at.
const MOST_ABOVE: usize = 32;

impl Solver<'_> {
    /// Gives the methods of Python's classes the objects of the classes below, once the classes are known.
    pub fn seed_heirs(&mut self) {
        let mut heirs: BTreeMap<(UnitId, ClassId), Vec<(UnitId, ClassId)>> = BTreeMap::new();
        for unit in 0..self.units.len() as UnitId {
            if self.units[unit as usize].language != Language::Python {
                continue;
            }
            for class in 0..self.program(unit).classes.len() as ClassId {
                for above in self.classes_above(unit, class).into_iter().skip(1) {
                    let below = heirs.entry(above).or_default();
                    if below.len() < MOST_HEIRS {
                        below.push((unit, class));
                    }
                }
            }
        }
        for ((unit, class), below) in heirs {
            let program = self.program(unit);
            for function in program.functions.iter().filter(|function| function.class == Some(class)) {
                let is_of_class = function.kind == FunctionKind::ClassMethod;
                if !is_of_class && !matches!(function.kind, FunctionKind::Method | FunctionKind::Property) {
                    continue;
                }
                let Some(first) = function.params.first() else { continue };
                for (of, heir) in &below {
                    // Its own method of that name runs instead.
                    let members = &self.program(*of).classes[*heir as usize].members;
                    if members.iter().all(|(name, _)| *name != function.name) {
                        let heir = match is_of_class {
                            true => Value::Class(*of, *heir),
                            false => Value::Instance(*of, *heir),
                        };
                        self.insert_value(self.cell_node(unit, first.cell), heir);
                    }
                }
            }
        }
    }

    /// A class and those above it, the nearest first.
    pub(super) fn classes_above(&self, unit: UnitId, class: ClassId) -> Vec<(UnitId, ClassId)> {
        let mut classes = vec![(unit, class)];
        let mut read = 0;
        while let Some((unit, class)) = classes.get(read).copied() {
            read += 1;
            for base in &self.program(unit).classes[class as usize].bases {
                for value in self.values_of(unit, *base) {
                    if let Value::Class(unit, class) = value
                        && classes.len() < MOST_ABOVE
                        && !classes.contains(&(unit, class))
                    {
                        classes.push((unit, class));
                    }
                }
            }
        }
        classes
    }
}
