//! The solver: which values reach which expression, over all units at once.
//!
//! Every expression, cell, function result and object slot is a node with a set of values.
//! Values flow along edges and through the expressions that use a node, until nothing is
//! new. Functions count only once they are active: all of them where sites are looked
//! for, only what the daemon can call where reach is computed.

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::link::Files;
pub use super::unit::Unit;
pub(super) use super::user::User;
use super::value::{Interner, Symbol, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{CellId, ClassId, ExprId, FuncId, FunctionKind, Program, Spread};
use crate::base::scratch::Scratch;
use crate::base::site::Confidence;
use crate::data::primitives::Catalogue;

/// A node of the value graph.
pub type NodeId = u32;

/// The exported name of the one value that a CommonJS module is.
pub(super) const WHOLE_MODULE: &str = "module.exports";

/// Steps of one run; a program that takes more is reported, not followed to its end.
const MOST_TASKS: usize = 20_000_000;

/// More values than this at one node are not told apart any further.
const MOST_VALUES: usize = 64;

/// The path of everything outside the tree that no catalogue leads on from.
pub const ELSEWHERE: &str = "?";

/// Work that waits. Everything goes through the queue: the solver's stack does not grow with the program.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// A value is new at a node: all its users are told.
    Arrive(NodeId, ValueId),
    /// A user is new at a node that had the value already.
    Deliver(User, ValueId),
}

/// A call edge: from a function, at a place, to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The calling unit and function.
    pub from: (UnitId, FuncId),
    /// The called unit and function.
    pub to: (UnitId, FuncId),
    /// The place in the calling unit: byte offsets.
    pub place: (u32, u32),
    /// How sure.
    pub confidence: Confidence,
}

/// See the module's documentation.
pub struct Solver<'a> {
    pub(super) units: Vec<Unit<'a>>,
    unit_by_path: FxHashMap<&'a str, UnitId>,
    files: &'a Files,
    catalogues: Vec<&'a Catalogue>,
    pub(super) keys: FxHashMap<(UnitId, ExprId), Option<std::rc::Rc<str>>>,
    /// Values and strings.
    pub interner: Interner,
    pub(super) values: Scratch<SmallVec<[ValueId; 4]>>,
    users: Scratch<SmallVec<[User; 1]>>,
    many_users: FxHashSet<(NodeId, User)>,
    queue: VecDeque<Task>,
    slots: FxHashMap<(ValueId, Symbol), NodeId>,
    /// For containers that take in others: the others, and the elements asked for so far.
    pub(super) included: FxHashMap<ValueId, Vec<ValueId>>,
    pub(super) elements_asked: FxHashMap<ValueId, Vec<Symbol>>,
    /// Calls that made something whose maker matters: unit, call, function.
    pub makers: Vec<(UnitId, ExprId, FuncId)>,
    pub(super) maker_ids: FxHashMap<(UnitId, ExprId), u32>,
    /// Call edges found so far.
    pub edges: FxHashSet<Edge>,
    /// What was handed over inside something else.
    pub(super) bundles: super::bundle::Bundles,
    /// Follow only what is active.
    on_demand: bool,
    pub(super) bound_calls: FxHashSet<(UnitId, ExprId, ValueId)>,
    pub(super) hierarchy: super::inherit::Hierarchy,
    pub(super) overflow: super::overflow::Overflow,
    pub(super) iterated: FxHashSet<(UnitId, ExprId, ValueId)>,
    pub(super) handed: FxHashSet<(UnitId, ExprId)>,
    /// Files that are not among the units, but are given something that the units' code may call.
    pub(super) wanted: std::collections::BTreeSet<Symbol>,
    pub(super) made: super::absent::Made,
    /// Some class tells its own truth: conditions count.
    pub(super) has_truth: bool,
    pub(super) conditions: FxHashMap<UnitId, FxHashMap<FuncId, Vec<ExprId>>>,
    pub(super) specials: FxHashMap<(UnitId, ClassId), u8>,
    /// Parameters that decorators get definitions through, and the definitions.
    pub(super) decorators: super::wrapped::Decorators,
    pub(super) declared: super::declared::Declared,
    /// Rust's types whose implementations of outside traits are followed.
    pub(super) implementing: FxHashSet<(UnitId, ClassId)>,
    pub(super) unresolved: Vec<(UnitId, ExprId)>,
    pub(super) scanned_for_unknown: usize,
    active_order: Vec<(UnitId, FuncId)>,
    pub(super) fills: OnceCell<super::fills::Fills>,
}

/// A class in a method resolution order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// A class of the tree.
    Class(UnitId, ClassId),
    /// A class outside the tree, by access path.
    External(Symbol),
}

/// Nodes whose memory a worker keeps for its next solver, at most.
const MOST_KEPT: usize = 1 << 13;

thread_local! {
    // Most solvers look at one file.
    static VALUES: Cell<Vec<SmallVec<[ValueId; 4]>>> = const { Cell::new(Vec::new()) };
    static USERS: Cell<Vec<SmallVec<[User; 1]>>> = const { Cell::new(Vec::new()) };
}

impl<'a> Solver<'a> {
    /// A solver over a tree's files. `on_demand`: functions wait for [`Solver::activate`].
    pub fn new(files: &'a Files, on_demand: bool) -> Solver<'a> {
        Solver {
            units: Vec::new(),
            unit_by_path: FxHashMap::default(),
            files,
            catalogues: Vec::new(),
            keys: FxHashMap::default(),
            interner: Interner::default(),
            values: Scratch::new(&VALUES, MOST_KEPT),
            users: Scratch::new(&USERS, MOST_KEPT),
            many_users: FxHashSet::default(),
            queue: VecDeque::new(),
            slots: FxHashMap::default(),
            included: FxHashMap::default(),
            elements_asked: FxHashMap::default(),
            makers: Vec::new(),
            maker_ids: FxHashMap::default(),
            edges: FxHashSet::default(),
            bundles: super::bundle::Bundles::default(),
            on_demand,
            bound_calls: FxHashSet::default(),
            hierarchy: super::inherit::Hierarchy::default(),
            overflow: super::overflow::Overflow::default(),
            iterated: FxHashSet::default(),
            handed: FxHashSet::default(),
            wanted: std::collections::BTreeSet::new(),
            made: super::absent::Made::default(),
            has_truth: false,
            conditions: FxHashMap::default(),
            specials: FxHashMap::default(),
            decorators: super::wrapped::Decorators::default(),
            declared: super::declared::Declared::default(),
            implementing: FxHashSet::default(),
            unresolved: Vec::new(),
            scanned_for_unknown: 0,
            active_order: Vec::new(),
            fills: OnceCell::new(),
        }
    }

    /// Makes room for the programs that are to be added, and no more: lists that grow by doubling would
    /// take twice as much.
    pub fn make_room<'p>(&mut self, programs: impl Iterator<Item = &'p Program>) {
        // Slots come to the nodes of the programs themselves.
        let nodes = programs.map(|p| p.exprs.len() * 3 / 2 + p.cells.len() + 2 * p.functions.len()).sum();
        self.values.reserve_exact(nodes);
        self.users.reserve_exact(nodes);
    }

    /// Adds a file's program and gives its unit.
    pub fn add(
        &mut self,
        path: &'a str,
        language: Language,
        program: &'a Program,
        catalogue: &'a Catalogue,
    ) -> UnitId {
        let id = self.units.len() as UnitId;
        self.has_truth |= language == Language::Python
            && program
                .functions
                .iter()
                .any(|f| f.class.is_some() && matches!(f.name.as_str(), "__bool__" | "__len__"));
        let unit = Unit::new(path, language, program, catalogue, self.values.len() as NodeId);
        self.allocate(unit.end as usize - self.values.len());
        self.units.push(unit);
        self.unit_by_path.insert(path, id);
        if !self.catalogues.iter().any(|c| std::ptr::eq(*c, catalogue)) {
            self.catalogues.push(catalogue);
        }
        id
    }

    fn allocate(&mut self, count: usize) -> NodeId {
        let first = self.values.len();
        self.values.resize_with(first + count, SmallVec::new);
        self.users.resize_with(first + count, SmallVec::new);
        first as NodeId
    }

    /// A node of its own.
    pub(super) fn fresh(&mut self) -> NodeId {
        self.allocate(1)
    }

    /// Whether functions wait to be activated.
    pub(super) fn on_demand(&self) -> bool {
        self.on_demand
    }

    /// The units, in the order they were added.
    pub fn units(&self) -> &[Unit<'a>] {
        &self.units
    }

    /// The unit of a file, if it was added.
    pub fn unit_of(&self, path: &str) -> Option<UnitId> {
        self.unit_by_path.get(path).copied()
    }

    /// The node of an expression.
    pub fn expr_node(&self, unit: UnitId, expr: ExprId) -> NodeId {
        self.units[unit as usize].exprs[expr as usize]
    }

    pub(super) fn cell_node(&self, unit: UnitId, cell: CellId) -> NodeId {
        self.units[unit as usize].cells + cell
    }

    pub(super) fn result_node(&self, unit: UnitId, function: FuncId) -> NodeId {
        self.units[unit as usize].results + function
    }

    pub(super) fn yield_node(&self, unit: UnitId, function: FuncId) -> NodeId {
        self.units[unit as usize].yields + function
    }

    /// The values of an expression, in order of arrival.
    pub fn values_of(&self, unit: UnitId, expr: ExprId) -> impl Iterator<Item = Value> + '_ {
        self.values[self.expr_node(unit, expr) as usize].iter().map(|&v| self.interner.get(v))
    }

    pub(super) fn program(&self, unit: UnitId) -> &'a Program {
        self.units[unit as usize].program
    }

    /// The function and position of which a cell is the parameter.
    pub(super) fn parameter(&self, unit: UnitId, cell: CellId) -> Option<(FuncId, u16, Spread)> {
        self.units[unit as usize].parameters.get(&cell).copied()
    }

    /// Stores into attributes of that name, in order.
    pub(super) fn stores_of(&self, unit: UnitId, name: &str) -> Vec<u32> {
        self.units[unit as usize].attribute_stores.get(name).cloned().unwrap_or_default()
    }

    pub(super) fn catalogue(&self, unit: UnitId) -> &'a Catalogue {
        self.units[unit as usize].catalogue
    }

    pub(super) fn files(&self) -> &'a Files {
        self.files
    }

    /// Makes a function's code count.
    pub fn activate(&mut self, unit: UnitId, function: FuncId) {
        let state = &mut self.units[unit as usize];
        let Some(active) = state.active.get_mut(function as usize) else { return };
        if std::mem::replace(active, true) {
            return;
        }
        self.active_order.push((unit, function));
        let program = state.program;
        let body = &program.functions[function as usize];
        for expr in body.exprs.clone() {
            self.install(unit, expr);
        }
        for &value in &body.returns {
            let from = self.expr_node(unit, value);
            self.copy(from, self.result_node(unit, function));
        }
        for &value in &body.yields {
            let from = self.expr_node(unit, value);
            self.copy(from, self.yield_node(unit, function));
        }
        // It becomes active once, and nobody else asks for its own.
        for at in self.units[unit as usize].stores.remove(&function).unwrap_or_default() {
            let base = self.expr_node(unit, program.stores[at as usize].base);
            self.subscribe(base, User::Store(unit, at));
        }
        if let Some(this) = body.this
            && let Some(class) = body.class
        {
            let receiver = match body.kind {
                FunctionKind::ClassMethod => Value::Class(unit, class),
                _ => Value::Instance(unit, class),
            };
            self.insert_value(self.cell_node(unit, this), receiver);
        }
        self.seed_keywords(unit, function);
        // In the daemon's reach a method gets the receivers that it is called on.
        if !self.on_demand || self.units[unit as usize].language != Language::Python {
            self.seed_receiver(unit, function);
        }
        self.conditions(unit, function);
        for at in self.units[unit as usize].imports.remove(&function).unwrap_or_default() {
            self.import_edge(unit, at);
        }
    }

    /// Whether a function's code counts.
    pub fn is_active(&self, unit: UnitId, function: FuncId) -> bool {
        self.units[unit as usize].active.get(function as usize).copied().unwrap_or(false)
    }

    /// The active functions, in the order in which they became so.
    pub fn active(&self) -> &[(UnitId, FuncId)] {
        &self.active_order
    }

    /// Activates every function of every unit.
    pub fn activate_all(&mut self) {
        for unit in 0..self.units.len() as UnitId {
            for function in 0..self.program(unit).functions.len() as FuncId {
                self.activate(unit, function);
            }
        }
    }

    /// Installs the cells of a unit: what they hold flows to where they are read.
    pub fn connect(&mut self, unit: UnitId) {
        let program = self.program(unit);
        for (at, cell) in program.cells.iter().enumerate() {
            let to = self.cell_node(unit, at as CellId);
            for &value in &cell.values {
                self.copy(self.expr_node(unit, value), to);
            }
            for &from in &cell.from {
                self.copy(self.cell_node(unit, from), to);
            }
        }
    }

    /// Runs until nothing is new.
    pub fn run(&mut self) {
        self.follow();
        // What was asked for meanwhile was not all there is.
        self.fills.take();
    }

    fn follow(&mut self) {
        for _ in 0..MOST_TASKS {
            let Some(task) = self.queue.pop_front() else { return };
            match task {
                Task::Deliver(user, value) => self.deliver(user, value),
                Task::Arrive(node, value) => {
                    // Users that come in meanwhile are told by their own tasks.
                    for at in 0..self.users[node as usize].len() {
                        let user = self.users[node as usize][at];
                        self.deliver(user, value);
                    }
                }
            }
        }
    }

    /// Whether the last run ended before everything was followed.
    pub fn gave_up(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(super) fn insert(&mut self, node: NodeId, value: ValueId) {
        let set = &mut self.values[node as usize];
        if set.len() >= MOST_VALUES {
            self.overflow.note(self.on_demand, self.interner.get(value));
            return;
        }
        // So few numbers are compared faster than one is hashed.
        if set.contains(&value) {
            return;
        }
        set.push(value);
        self.queue.push_back(Task::Arrive(node, value));
    }

    pub(super) fn insert_value(&mut self, node: NodeId, value: Value) {
        let id = self.interner.value(value);
        self.insert(node, id);
    }

    pub(super) fn insert_external(&mut self, node: NodeId, path: &str, made: u32) {
        let path = if self.is_on_the_way(path) { path } else { ELSEWHERE };
        if let Some(id) = self.interner.external(path, made) {
            self.insert(node, id);
        }
    }

    /// Whether an access path can still lead to anything that a catalogue names. Plain dotted names
    /// always count, since conditions are held against them; what calls and elements give counts
    /// only on the way to a catalogued name. All else is one value, or loops would have no end.
    fn is_on_the_way(&self, path: &str) -> bool {
        !path.contains(['(', '['])
            || matches!(path, "builtins.globals()" | "builtins.locals()")
            || self.catalogues.iter().any(|c| c.is_prefix(path))
    }

    pub(super) fn copy(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.subscribe(from, User::Copy(to));
        }
    }

    pub(super) fn subscribe(&mut self, node: NodeId, user: User) {
        let users = &mut self.users[node as usize];
        if users.len() < 16 {
            if users.contains(&user) {
                return;
            }
        } else {
            if users.len() == 16 {
                self.many_users.extend(users.iter().map(|u| (node, *u)));
            }
            if !self.many_users.insert((node, user)) {
                return;
            }
        }
        users.push(user);
        for at in 0..self.values[node as usize].len() {
            let value = self.values[node as usize][at];
            self.queue.push_back(Task::Deliver(user, value));
        }
    }

    fn deliver(&mut self, user: User, value: ValueId) {
        match user {
            User::Copy(to) => self.insert(to, value),
            User::Step(unit, expr) => self.step(unit, expr, value),
            User::Bind(receiver, to) => self.bind_member(receiver, value, to),
            User::Elements(to) => self.elements(value, to),
            User::Entries(to) => self.entries(value, to),
            User::Include(object) => self.include(object, value),
            User::Store(unit, at) => self.store(unit, at, value),
            User::Read(unit, expr) => self.read(unit, expr, value),
            User::CallMember(unit, expr) => self.call_member(unit, expr, value, None),
            User::CallInto(unit, expr) => {
                let node = self.expr_node(unit, expr);
                self.call_member(unit, expr, value, Some(node));
            }
            User::Result(node) => self.result_into(value, node),
            User::IteratorOf(unit, expr) => self.iterator_of(unit, expr, value),
            User::IterateFor(unit, expr) => self.iterate_for(unit, expr, value),
            User::IteratorFrom(unit, expr) => self.iterator_from(unit, expr, value),
            User::Carry(path) => self.carry(path, value),
            User::NextOf(unit, expr) => self.next_of(unit, expr, value),
            User::Argument(unit, node) => self.argument_value(unit, value, node),
            User::Applied(to, partial) => self.applied(to, partial, value),
            User::FirstParam(elements) => self.first_param(elements, value),
            User::Param(position, node) => self.param(position, node, value),
            User::Member(name, node) => self.member_into(value, name, node),
            User::Protocol(unit, expr, which) => self.protocol(unit, expr, which, value),
            User::SuperOf(unit, expr) => self.super_arrives(unit, expr, value),
            User::Getter(node) => self.getter(value, node),
            User::Named(unit, expr, getter) => self.named(unit, expr, getter, value),
            User::Dynamic(unit, expr) => self.dynamic(unit, expr, value),
            User::PathMember(unit, name, node) => self.path_member(unit, name, value, node),
            User::CallPartial(unit, expr, partial) => self.call_partial(unit, expr, partial, value),
            User::HandOver(unit, expr, confidence) => self.hand_over(unit, expr, confidence, value),
            User::HandOverMethod(unit, expr) => {
                if let Value::Bound(..) | Value::Func(..) = self.interner.get(value) {
                    self.hand_over(unit, expr, Confidence::Possible, value);
                }
            }
            User::Held(owner, as_method) => self.held(owner, as_method, value),
        }
    }

    /// What a slot of an object holds, if anything ever asked for it or filled it.
    pub(super) fn slot_values(&self, object: ValueId, name: &str) -> &[ValueId] {
        let node = self.interner.known_symbol(name).and_then(|symbol| self.slots.get(&(object, symbol)));
        node.map_or(&[], |node| self.values[*node as usize].as_slice())
    }

    /// The node of a slot of an object: an attribute by name, an element as `[key]`, all elements as `[]`.
    pub(super) fn slot(&mut self, object: ValueId, name: &str) -> NodeId {
        let symbol = self.interner.symbol(name);
        if let Some(&node) = self.slots.get(&(object, symbol)) {
            return node;
        }
        let node = self.allocate(1);
        self.slots.insert((object, symbol), node);
        if name.starts_with('[') {
            self.elements_asked.entry(object).or_default().push(symbol);
            for other in self.included.get(&object).cloned().unwrap_or_default() {
                let from = self.slot(other, name);
                self.copy(from, node);
            }
        }
        self.open_slot(object, name, node);
        node
    }

    /// A call edge at an expression's place.
    pub(super) fn edge(&mut self, unit: UnitId, at: ExprId, to: (UnitId, FuncId), confidence: Confidence) {
        let node = &self.program(unit).exprs[at as usize];
        let from = (unit, node.function);
        self.edges.insert(Edge { from, to, place: (node.span.start, node.span.end), confidence });
        if self.on_demand {
            self.entered(unit, at, to);
            self.activate(to.0, to.1);
        }
    }

    /// The exported cell of a unit's name.
    pub(super) fn export(&self, unit: UnitId, name: &str) -> Option<CellId> {
        self.units[unit as usize].exports.get(name).copied()
    }
}
