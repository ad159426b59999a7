//! The daemon's reach: a breadth-first walk of the call graph from the daemon modules, with
//! the shortest chain to every function that their code can call.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::bundle::Gift;
use super::solve::{Edge, Solver};
use super::value::{UnitId, ValueId};
use crate::base::ir::{FuncId, FunctionKind};
use crate::base::site::Confidence;

/// A step of a chain, in terms of the solver's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitStep {
    /// The unit and function in which the step stands.
    pub from: (UnitId, FuncId),
    /// Its place there, in bytes.
    pub place: (u32, u32),
}

/// How a function is reached: the last step, and how sure the whole way is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arrival {
    step: Option<UnitStep>,
    confidence: Confidence,
}

/// The functions that the daemon can call.
#[derive(Debug, Default)]
pub struct Reach {
    arrivals: BTreeMap<(UnitId, FuncId), Arrival>,
    daemons: FxHashSet<UnitId>,
}

/// Makes the daemon modules' code count and follows it until nothing is new. `unique` tells which
/// of the names are a method of no class outside the units. Ends early, with `false`, where the first
/// things that are followed want a file that `can_come` among the units: with it all is followed anew.
pub fn solve(
    solver: &mut Solver<'_>,
    daemons: &[UnitId],
    unique: impl Fn(&[String]) -> FxHashSet<String>,
    can_come: impl Fn(&str) -> bool,
) -> bool {
    for unit in daemons {
        for function in 0..solver.units()[*unit as usize].program.functions.len() as FuncId {
            solver.activate(*unit, function);
            solver.seed_receiver(*unit, function);
        }
        solver.hand_over_tables(*unit);
    }
    solver.run();
    if solver.wanted_files().iter().any(|path| can_come(path)) {
        return false;
    }
    // Each round can make new code count; a round without news ends it.
    loop {
        solver.run();
        if solver.release_wrapped()
            || solver.unknown_callees()
            || solver.implemented_traits()
            || solver.declared_classes()
            || solver.overflowed()
        {
            continue;
        }
        if !solver.unique_methods(&unique) {
            return true;
        }
    }
}

/// Walks the call graph.
pub fn walk(solver: &Solver<'_>, daemons: &[UnitId]) -> Reach {
    let mut calls: FxHashMap<(UnitId, FuncId), Vec<Edge>> = FxHashMap::default();
    for edge in &solver.edges {
        calls.entry(edge.from).or_default().push(*edge);
    }
    let mut gifts: FxHashMap<(UnitId, FuncId), Vec<Gift>> = FxHashMap::default();
    for gift in &solver.bundles.gifts {
        gifts.entry(gift.from).or_default().push(*gift);
    }
    // Of chains of one length the first by path and place stands, compared step by step: what
    // is found earlier in a level has the smaller chain.
    let path = |unit: UnitId| solver.units()[unit as usize].path;
    let order = |a: &Edge, b: &Edge| {
        (path(a.from.0), a.place, path(a.to.0), a.to.1, Reverse(a.confidence)).cmp(&(
            path(b.from.0),
            b.place,
            path(b.to.0),
            b.to.1,
            Reverse(b.confidence),
        ))
    };
    // Whoever was handed a value first has called all that it holds: nobody later adds to that.
    let mut opened: FxHashSet<ValueId> = FxHashSet::default();
    let mut calls_of = |functions: &[(UnitId, FuncId)]| {
        let of = |function: &(UnitId, FuncId)| calls.get(function).into_iter().flatten().copied();
        let mut edges: Vec<Edge> = functions.iter().flat_map(of).collect();
        let mut given: Vec<&Gift> = functions.iter().filter_map(|f| gifts.get(f)).flatten().collect();
        given.sort_by_key(|gift| (path(gift.from.0), gift.place));
        for gift in given {
            edges.extend(solver.bundles.calls(gift, &mut opened));
        }
        edges.sort_by(order);
        edges
    };
    let mut reach = Reach { arrivals: BTreeMap::new(), daemons: daemons.iter().copied().collect() };
    let mut frontier: VecDeque<(UnitId, FuncId)> = VecDeque::new();
    let mut first: Vec<(UnitId, FuncId)> = Vec::new();
    for unit in daemons.iter().copied() {
        for function in 0..solver.units()[unit as usize].program.functions.len() as FuncId {
            reach.arrivals.insert((unit, function), Arrival { step: None, confidence: Confidence::Certain });
            first.push((unit, function));
        }
    }
    let arrive = |reach: &mut Reach, frontier: &mut VecDeque<(UnitId, FuncId)>, edge: &Edge| {
        let kind = solver.units()[edge.to.0 as usize].program.functions[edge.to.1 as usize].kind;
        if kind == FunctionKind::MainGuard || reach.arrivals.contains_key(&edge.to) {
            return;
        }
        let before = reach.arrivals.get(&edge.from).map_or(Confidence::Certain, |a| a.confidence);
        let step = Some(UnitStep { from: edge.from, place: edge.place });
        reach.arrivals.insert(edge.to, Arrival { step, confidence: before.min(edge.confidence) });
        frontier.push_back(edge.to);
    };
    // A chain begins where it leaves a daemon module, whichever function that is in.
    for edge in calls_of(&first) {
        arrive(&mut reach, &mut frontier, &edge);
    }
    while let Some(function) = frontier.pop_front() {
        for edge in calls_of(&[function]) {
            arrive(&mut reach, &mut frontier, &edge);
        }
    }
    reach
}

impl Reach {
    /// Every reached function, in order.
    pub fn functions(&self) -> impl Iterator<Item = (UnitId, FuncId)> + '_ {
        self.arrivals.keys().copied()
    }

    /// The chain to a function: the steps from the one that leaves a daemon module on; and how sure it is.
    pub fn chain(&self, function: (UnitId, FuncId)) -> Option<(Vec<UnitStep>, Confidence)> {
        let arrival = self.arrivals.get(&function)?;
        let mut steps = Vec::new();
        let mut at = *arrival;
        while let Some(step) = at.step {
            steps.push(step);
            if self.daemons.contains(&step.from.0) {
                break;
            }
            at = *self.arrivals.get(&step.from)?;
        }
        steps.reverse();
        Some((steps, arrival.confidence))
    }
}
