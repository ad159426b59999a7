//! Callables that are handed over: to threads, timers, handlers, frameworks, or to code that
//! nobody can see. Whoever takes one may call it.

use super::bundle::Taken;
use super::solve::{Base, NodeId, Solver, User};
use super::value::{Symbol, UnitId, Value, ValueId};
use crate::base::facts::Language;
use crate::base::ir::{Arg, CallKind, ClassId, Expr, ExprId, FOREIGN, Spread};
use crate::base::site::Confidence;

impl<'a> Solver<'a> {
    /// Arguments of a call to something outside the tree.
    pub(super) fn hand_over_arguments(&mut self, unit: UnitId, path: &str, args: &[Arg]) {
        let catalogue = self.catalogue(unit);
        if catalogue.is_observer(path) {
            return;
        }
        let confidence = if catalogue.is_taker(path) { Confidence::Certain } else { Confidence::Possible };
        for (at, arg) in args.iter().enumerate() {
            let from = self.expr_node(unit, arg.value);
            self.subscribe(from, User::HandOver(unit, arg.value, confidence));
            if confidence == Confidence::Certain {
                self.taken_arguments(unit, args, at);
            } else if let Some(context) = catalogue.context_of(path) {
                // A framework that is known to call with an object of its own (a task's context).
                if let Some(context) = self.interner.external(&context, 0) {
                    let node = self.fresh();
                    self.insert(node, context);
                    self.subscribe(from, User::FirstParam(node));
                }
            }
        }
    }

    /// `Timer(5, f, (x,))`, `call_soon(f, x)`, `Thread(target=f, args=(x,))`: the further arguments are f's.
    fn taken_arguments(&mut self, unit: UnitId, args: &[Arg], at: usize) {
        let callable = self.expr_node(unit, args[at].value);
        let mut position = 0u32;
        for (other, arg) in args.iter().enumerate() {
            let is_list = matches!(self.program(unit).exprs[arg.value as usize].expr, Expr::Seq(_));
            if arg.name.as_deref() == Some("args") || (is_list && other > at) {
                if let Expr::Seq(items) = &self.program(unit).exprs[arg.value as usize].expr {
                    for (index, (item, spread)) in items.iter().enumerate() {
                        if *spread == Spread::No {
                            let from = self.expr_node(unit, *item);
                            self.subscribe(callable, User::Param(index as u32, from));
                        }
                    }
                }
            } else if other > at && arg.name.is_none() && arg.spread == Spread::No {
                let from = self.expr_node(unit, arg.value);
                self.subscribe(callable, User::Param(position, from));
                position += 1;
            }
        }
    }

    /// A primitive that is handed over is a site where it is handed over: it does not flow on.
    pub(super) fn argument(&mut self, unit: UnitId, from: NodeId, cell: u32) {
        let to = self.cell_node(unit, cell);
        self.subscribe(from, User::Argument(unit, to));
    }

    /// A node of what is handed over from another one and flows on.
    pub(super) fn handed(&mut self, unit: UnitId, from: NodeId) -> NodeId {
        let node = self.fresh();
        self.subscribe(from, User::Argument(unit, node));
        node
    }

    pub(super) fn argument_value(&mut self, unit: UnitId, value: ValueId, to: NodeId) {
        match self.interner.get(value) {
            Value::External { path, .. } if self.is_primitive(unit, path) => {}
            // What it applies decides.
            Value::Partial(..) => self.applied(to, value, value),
            _ => self.insert(to, value),
        }
    }

    /// A partial application was handed over: it flows on where what it applies would.
    pub(super) fn applied(&mut self, to: NodeId, partial: ValueId, value: ValueId) {
        match self.interner.get(value) {
            Value::Partial(of, _) => match self.partial(value) {
                Some((of, call)) if self.makes_getter(of, call.callee) => self.insert(to, partial),
                Some((_, call)) => {
                    if let Some(first) = call.args.first() {
                        let first = self.expr_node(of, first.value);
                        self.subscribe(first, User::Applied(to, partial));
                    }
                }
                None => {}
            },
            Value::External { path, .. } => {
                let Value::Partial(of, _) = self.interner.get(partial) else { return };
                if !self.is_primitive(of, path) {
                    self.insert(to, partial);
                }
            }
            _ => self.insert(to, partial),
        }
    }

    fn is_primitive(&self, unit: UnitId, path: Symbol) -> bool {
        self.catalogue(unit).primitive(self.interner.text(path)).is_some()
    }

    /// A node's values flow into a parameter of a callable, counted after the receiver.
    pub(super) fn param(&mut self, position: u32, from: u32, value: ValueId) {
        let (u, f, skip) = match self.interner.get(value) {
            Value::Func(u, f) => (u, f, 0),
            Value::Bound(u, f, _) => (u, f, self.receiver_params(u, f)),
            _ => return,
        };
        let params = &self.program(u).functions[f as usize].params;
        if let Some(param) = params.get(position as usize + skip) {
            let cell = self.cell_node(u, param.cell);
            self.subscribe(from, User::Argument(u, cell));
        }
    }

    /// How many parameters a method's receiver takes: none where it is `this`.
    pub(super) fn receiver_params(&self, unit: UnitId, function: u32) -> usize {
        usize::from(self.program(unit).functions[function as usize].this.is_none())
    }

    /// A value was handed over at an expression.
    pub(super) fn hand_over(&mut self, unit: UnitId, at: ExprId, confidence: Confidence, value: ValueId) {
        match self.interner.get(value) {
            Value::Func(u, f) => {
                self.edge(unit, at, (u, f), confidence);
                self.seed_receiver(u, f);
            }
            Value::Bound(u, f, receiver) => {
                self.edge(unit, at, (u, f), confidence);
                self.receives(u, f, receiver);
            }
            Value::Class(..) | Value::Partial(..) if confidence == Confidence::Certain => {
                self.hand_over_members(unit, at, confidence, value);
            }
            Value::Container(_) | Value::Class(..) | Value::Instance(..) | Value::Partial(..) => {
                if self.on_demand() {
                    self.give(unit, at, value);
                } else {
                    self.hand_over_members(unit, at, confidence, value);
                }
            }
            _ => {}
        }
    }

    fn hand_over_members(&mut self, unit: UnitId, at: ExprId, confidence: Confidence, value: ValueId) {
        for (node, taken) in self.callable_members(value, confidence) {
            let user = match taken {
                Taken::AsIs(confidence) => User::HandOver(unit, at, confidence),
                Taken::AsMethod => User::HandOverMethod(unit, at),
            };
            self.subscribe(node, user);
        }
    }

    /// A method gets the receiver that it is bound to.
    pub(super) fn receives(&mut self, unit: UnitId, function: u32, receiver: ValueId) {
        let body = &self.program(unit).functions[function as usize];
        if let Some(this) = body.this {
            self.insert(self.cell_node(unit, this), receiver);
        } else if let Some(first) = body.params.first()
            && Solver::takes_receiver(body.kind)
        {
            self.insert(self.cell_node(unit, first.cell), receiver);
        }
    }

    /// What of a value somebody may call who was handed it.
    pub(super) fn callable_members(
        &mut self,
        value: ValueId,
        confidence: Confidence,
    ) -> Vec<(NodeId, Taken)> {
        let possible = Taken::AsIs(Confidence::Possible);
        match self.interner.get(value) {
            Value::Class(u, c) => {
                let instance = self.interner.value(Value::Instance(u, c));
                let mut members = vec![(self.slot(instance, "__init__"), Taken::AsIs(confidence))];
                members.extend(self.framework_members(u, c).into_iter().map(|n| (n, Taken::AsMethod)));
                members
            }
            Value::Instance(u, c) => {
                let mut members = vec![(self.slot(value, "__call__"), possible)];
                members.extend(self.framework_members(u, c).into_iter().map(|n| (n, Taken::AsMethod)));
                members
            }
            Value::Container(_) => vec![(self.slot(value, "[]"), possible)],
            Value::Partial(of, call) => match &self.program(of).exprs[call as usize].expr {
                Expr::Call(call) => call
                    .args
                    .first()
                    .map(|first| (self.expr_node(of, first.value), Taken::AsIs(confidence)))
                    .into_iter()
                    .collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// An instance of a class with a base outside the tree was made: the base's own code may call any
    /// of its methods.
    pub(super) fn framework_methods(&mut self, unit: UnitId, at: ExprId, u: UnitId, c: ClassId) {
        for member in self.framework_members(u, c) {
            self.subscribe(member, User::HandOverMethod(unit, at));
        }
    }

    /// The members of a class that its bases from outside the tree may call.
    fn framework_members(&mut self, u: UnitId, c: ClassId) -> Vec<NodeId> {
        if !self.on_demand() {
            return Vec::new();
        }
        if self.units[u as usize].language == Language::Rust {
            return self.foreign_members(u, c);
        }
        let order = self.resolution_order(u, c);
        let catalogue = self.catalogue(u);
        let outside = order.iter().any(|base| match base {
            Base::External(path) => !catalogue.is_plain_base(self.interner.text(*path)),
            Base::Class(..) => false,
        });
        if !outside {
            return Vec::new();
        }
        let instance = self.interner.value(Value::Instance(u, c));
        let mut members = Vec::new();
        for base in order.iter().copied() {
            let Base::Class(bu, bc) = base else { continue };
            for (name, _) in &self.program(bu).classes[bc as usize].members {
                members.push(self.slot(instance, name));
            }
        }
        members
    }

    /// Tables of functions in a daemon module make what they hold reachable, whoever looks it up;
    /// and so do its decorated definitions with what their decorators give back.
    pub fn hand_over_tables(&mut self, unit: UnitId) {
        let program = self.program(unit);
        for (id, node) in program.exprs.iter().enumerate() {
            if matches!(node.expr, Expr::Map(_) | Expr::Seq(_)) {
                let node = self.expr_node(unit, id as ExprId);
                self.subscribe(node, User::HandOver(unit, id as ExprId, Confidence::Possible));
            }
            // What a decorator puts in the place of a definition runs whenever that is called.
            if matches!(&node.expr, Expr::Call(call) if call.kind == CallKind::Decorator) {
                let node = self.expr_node(unit, id as ExprId);
                self.subscribe(node, User::HandOver(unit, id as ExprId, Confidence::Certain));
            }
        }
    }

    /// What a class implements of traits from outside: their own code may call it.
    fn foreign_members(&mut self, u: UnitId, c: ClassId) -> Vec<NodeId> {
        let instance = self.interner.value(Value::Instance(u, c));
        let members = &self.program(u).classes[c as usize].members;
        let foreign = members.iter().filter(|(name, _)| name.starts_with(FOREIGN));
        foreign.map(|(name, _)| self.slot(instance, name)).collect()
    }

    /// Rust's types that the followed code names or holds: the language calls what they implement of
    /// its traits (`Drop`, `Display`, `From`, `Iterator`) where nobody writes the call. Gives whether
    /// anything was new.
    pub fn implemented_traits(&mut self) -> bool {
        if !self.units.iter().any(|u| u.language == Language::Rust) {
            return false;
        }
        let mut found: Vec<(UnitId, ExprId, UnitId, ClassId)> = Vec::new();
        for (unit, function) in self.active() {
            // A module's own items declare types and bring them in: that makes none.
            if self.units[*unit as usize].language != Language::Rust || *function == 0 {
                continue;
            }
            for expr in self.program(*unit).functions[*function as usize].exprs.clone() {
                for value in self.values_of(*unit, expr) {
                    if let Value::Class(u, c) | Value::Instance(u, c) = value
                        && !self.implementing.contains(&(u, c))
                        && !found.iter().any(|(_, _, fu, fc)| (*fu, *fc) == (u, c))
                    {
                        found.push((*unit, expr, u, c));
                    }
                }
            }
        }
        let mut changed = false;
        for (unit, expr, u, c) in found {
            self.implementing.insert((u, c));
            if self.program(u).classes[c as usize].members.iter().any(|(name, _)| name.starts_with(FOREIGN)) {
                changed = true;
                for member in self.foreign_members(u, c) {
                    self.subscribe(member, User::HandOverMethod(unit, expr));
                }
            }
        }
        changed
    }

    /// What no call could be followed to: the arguments are handed to somebody unknown. Gives
    /// whether anything was new.
    pub fn unknown_callees(&mut self) -> bool {
        let mut changed = false;
        let mut at = self.scanned_for_unknown;
        let mut waiting = std::mem::take(&mut self.unresolved);
        while let Some((unit, function)) = self.active().get(at).copied() {
            at += 1;
            for expr in self.program(unit).functions[function as usize].exprs.clone() {
                if matches!(self.program(unit).exprs[expr as usize].expr, Expr::Call(_)) {
                    waiting.push((unit, expr));
                }
            }
        }
        self.scanned_for_unknown = at;
        for (unit, expr) in waiting {
            let Expr::Call(call) = &self.program(unit).exprs[expr as usize].expr else { continue };
            let callee = self.expr_node(unit, call.callee);
            let is_rust = self.units[unit as usize].language == Language::Rust;
            // What a trait from outside gives is outside, too.
            let outside = |v: &ValueId| matches!(self.interner.get(*v), Value::External { .. });
            let nobody = |v: &ValueId| self.is_absent(*v) || (is_rust && outside(v));
            if !self.values[callee as usize].iter().all(nobody) {
                continue;
            }
            self.unresolved.push((unit, expr));
            if is_rust
                && let Expr::Attr { base, .. } = self.program(unit).exprs[call.callee as usize].expr
                && self.handed.insert((unit, base))
            {
                // A method of a trait from outside: its code may call what the receiver implements.
                changed = true;
                let from = self.expr_node(unit, base);
                self.subscribe(from, User::HandOver(unit, base, Confidence::Possible));
            }
            for arg in &call.args {
                let from = self.expr_node(unit, arg.value);
                if self.handed.insert((unit, arg.value)) {
                    changed = true;
                    self.subscribe(from, User::HandOver(unit, arg.value, Confidence::Possible));
                }
            }
        }
        changed
    }

    /// Calls of a method on a receiver that nothing is known of: where the name is a method of one class
    /// only, that one. `unique` tells which names the rest of the tree does not have. Gives whether anything was new.
    pub fn unique_methods(&mut self, unique: &impl Fn(&[String]) -> rustc_hash::FxHashSet<String>) -> bool {
        let mut methods: rustc_hash::FxHashMap<&str, Option<(UnitId, u32)>> =
            rustc_hash::FxHashMap::default();
        for (u, unit) in self.units.iter().enumerate() {
            for (f, function) in unit.program.functions.iter().enumerate() {
                if function.class.is_some() && !function.name.is_empty() {
                    methods
                        .entry(function.name.as_str())
                        .and_modify(|known| *known = None)
                        .or_insert(Some((u as UnitId, f as u32)));
                }
            }
        }
        let mut found = Vec::new();
        for (unit, expr) in &self.unresolved {
            let Expr::Call(call) = &self.program(*unit).exprs[*expr as usize].expr else { continue };
            let Expr::Attr { base, name } = &self.program(*unit).exprs[call.callee as usize].expr else {
                continue;
            };
            let known = &self.values[self.expr_node(*unit, *base) as usize];
            if known.iter().any(|v| !self.is_absent(*v)) || name.starts_with("__") {
                continue;
            }
            if let Some(Some(target)) = methods.get(name.as_str())
                && !self.is_active(target.0, target.1)
            {
                found.push((*unit, *expr, *target, name.clone()));
            }
        }
        if found.is_empty() {
            return false;
        }
        let mut names: Vec<String> = found.iter().map(|(_, _, _, name)| name.clone()).collect();
        names.sort();
        names.dedup();
        let alone = unique(&names);
        let mut changed = false;
        for (unit, expr, target, name) in found {
            if alone.contains(&name) {
                self.edge(unit, expr, target, Confidence::Likely);
                self.seed_receiver(target.0, target.1);
                changed = true;
            }
        }
        changed
    }
}
