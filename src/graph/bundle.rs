//! What is handed over inside something else: in a list, by an instance, by a class. Whoever is handed
//! the whole may call what it holds, so what a value holds is found once for the value, not once for
//! each place that hands it over. Only the daemon's reach asks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::solve::{Edge, Solver, User};
use super::value::{UnitId, Value, ValueId};
use crate::base::ir::{ExprId, FuncId};
use crate::base::site::Confidence;

/// How a member of a value is called by who was handed the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Whatever it is.
    AsIs(Confidence),
    /// Only where it is a function.
    AsMethod,
}

/// A value that is handed over at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gift {
    /// The unit and function that hand it over.
    pub from: (UnitId, FuncId),
    /// The place in the unit: byte offsets.
    pub place: (u32, u32),
    /// The value.
    pub value: ValueId,
}

/// What one value holds.
#[derive(Debug)]
pub struct Held {
    /// Where it was first handed over.
    first: (UnitId, ExprId),
    /// Functions that its taker may call.
    pub functions: Vec<(UnitId, FuncId)>,
    /// Values that hold more.
    pub values: Vec<ValueId>,
}

/// Everything that was handed over inside something else.
#[derive(Debug, Default)]
pub struct Bundles {
    /// The places.
    pub gifts: FxHashSet<Gift>,
    /// What the values hold.
    pub held: FxHashMap<ValueId, Held>,
}

impl Solver<'_> {
    /// A value that holds callables is handed over at an expression.
    pub(super) fn give(&mut self, unit: UnitId, at: ExprId, value: ValueId) {
        let node = &self.program(unit).exprs[at as usize];
        let (from, place) = ((unit, node.function), (node.span.start, node.span.end));
        self.bundles.gifts.insert(Gift { from, place, value });
        self.open_bundle(value, (unit, at));
    }

    fn open_bundle(&mut self, value: ValueId, first: (UnitId, ExprId)) {
        if self.bundles.held.contains_key(&value) {
            return;
        }
        self.bundles.held.insert(value, Held { first, functions: Vec::new(), values: Vec::new() });
        for (node, taken) in self.callable_members(value, Confidence::Possible) {
            self.subscribe(node, User::Held(value, taken == Taken::AsMethod));
        }
    }

    /// A value arrives at something that `owner` holds.
    pub(super) fn held(&mut self, owner: ValueId, as_method: bool, value: ValueId) {
        let kind = self.interner.get(value);
        let Some(held) = self.bundles.held.get_mut(&owner) else { return };
        let first = held.first;
        match kind {
            Value::Func(u, f) | Value::Bound(u, f, _) => {
                held.functions.push((u, f));
                self.entered(first.0, first.1, (u, f));
                self.activate(u, f);
                match kind {
                    Value::Bound(_, _, receiver) => self.receives(u, f, receiver),
                    _ => self.seed_receiver(u, f),
                }
            }
            Value::Container(_) | Value::Class(..) | Value::Instance(..) | Value::Partial(..)
                if !as_method =>
            {
                held.values.push(value);
                self.open_bundle(value, first);
            }
            _ => {}
        }
    }
}

impl Bundles {
    /// The calls that a gift comes to, of the values that are not among those `opened` before.
    pub(super) fn calls(&self, gift: &Gift, opened: &mut FxHashSet<ValueId>) -> Vec<Edge> {
        let (from, place) = (gift.from, gift.place);
        let mut calls = Vec::new();
        let mut waiting = vec![gift.value];
        while let Some(value) = waiting.pop() {
            if let Some(held) = self.held.get(&value)
                && opened.insert(value)
            {
                waiting.extend(&held.values);
                let confidence = Confidence::Possible;
                calls.extend(held.functions.iter().map(|to| Edge { from, to: *to, place, confidence }));
            }
        }
        calls
    }
}
