//! From solved calls to sites: each call and each callable that is handed over, held
//! against the catalogues.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::Contexts;
use super::fold::Folder;
use super::solve::{Base, Solver};
use super::value::{UnitId, Value};
use crate::base::facts::{Language, Lookup, Tells};
use crate::base::ir::{Arg, Call, CallKind, ClassId, Expr, ExprId, FuncId, Spread};
use crate::base::site::{Site, Via};
use crate::base::span::Span;
use crate::base::text::{Origin, Text};
use crate::data::primitives::ArgRef;

use super::commands::Runner;
use super::handlers::Handlers;
pub use super::handlers::Registered;
use super::passed::{Caller, Wrapper};
use crate::data::commands::CommandCatalogue;

/// The exception that ends the program: raised, not called.
pub(super) const EXIT_EXCEPTION: &str = "builtins.SystemExit";
/// Partial applications that one call goes through.
const MOST_PARTIALS: usize = 8;

/// What one unit's calls come to.
#[derive(Debug, Default)]
pub struct Found {
    /// Sites, sorted by place.
    pub sites: Vec<Site>,
    /// Lookups that cannot be decided.
    pub lookups: Vec<Lookup>,
    /// Names of other files whose truth would decide whether something is a site, each once.
    pub tested: BTreeSet<String>,
    /// Functions of other files that this one registers: they are called from outside.
    pub registered: Registered,
}

/// Arguments as a callable gets them: those of the call itself, or those that were handed over with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'c> {
    pub(super) unit: UnitId,
    /// Arguments that were bound before, then those of the call.
    pub(super) lead: &'c [Arg],
    pub(super) args: &'c [Arg],
    /// The expression that a method is called on.
    pub(super) receiver: Option<ExprId>,
}

impl<'c> Given<'c> {
    /// The argument that a reference means.
    pub(super) fn get(&self, at: &ArgRef) -> Option<ExprId> {
        if at.receiver {
            return self.receiver;
        }
        let all = || self.lead.iter().chain(self.args.iter());
        if let Some(keyword) = &at.keyword
            && let Some(arg) = all().find(|a| a.name.as_deref() == Some(keyword))
        {
            return Some(arg.value);
        }
        let position = at.arg?;
        let arg = all().filter(|a| a.name.is_none()).nth(position)?;
        // What a spread argument holds at a position is not known.
        let spread_before =
            all().filter(|a| a.name.is_none()).take(position + 1).any(|a| a.spread != Spread::No);
        (!spread_before).then_some(arg.value)
    }

    /// The argument of that keyword.
    pub(super) fn named(&self, keyword: &str) -> Option<ExprId> {
        self.lead.iter().chain(self.args).find(|a| a.name.as_deref() == Some(keyword)).map(|a| a.value)
    }

    /// Whether an unknown spread could give any argument.
    pub(super) fn may_give_anything(&self) -> bool {
        self.lead.iter().chain(self.args.iter()).any(|a| a.spread == Spread::Mapping)
    }
}

/// Finds the sites of one unit of a solved program.
pub fn find(solver: &Solver<'_>, unit: UnitId, commands: &CommandCatalogue) -> Found {
    find_registered(solver, unit, commands, Registered::new())
}

/// The sites of a unit of which other files register functions.
pub fn find_registered(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
    registered: Registered,
) -> Found {
    let wrappers = super::passed::wrappers(solver, unit, commands);
    find_from(solver, unit, commands, wrappers, Handlers::with(registered))
}

/// The sites of a unit, and its names that matter to others.
pub fn find_with_names(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
) -> (Found, std::collections::BTreeMap<String, Tells>) {
    let wrappers = super::passed::wrappers(solver, unit, commands);
    let names = super::names::names_that_matter(solver, unit, commands, &wrappers);
    (find_from(solver, unit, commands, wrappers, Handlers::default()), names)
}

fn find_from(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
    wrappers: FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
    handlers: Handlers,
) -> Found {
    let mut finder = Finder {
        solver,
        unit,
        commands,
        contexts: Contexts::new(solver, unit),
        wrappers,
        builders: std::rc::Rc::new(super::build::Builders::new(solver, unit)),
        handlers: std::rc::Rc::new(handlers),
        found: Found::default(),
        tested: RefCell::default(),
        seen: FxHashSet::default(),
    };
    let program = solver.program(unit);
    for id in 0..program.exprs.len() as ExprId {
        if let Expr::Call(call) = &program.exprs[id as usize].expr
            && solver.is_active(unit, program.exprs[id as usize].function)
        {
            finder.call(id, call);
        }
    }
    let mut found = finder.found;
    found.tested = finder.tested.into_inner();
    found.registered = super::handlers::registered_elsewhere(solver, unit);
    found.sites.sort_by(|a, b| {
        (a.span.start, a.span.end, a.effect, &a.primitive).cmp(&(
            b.span.start,
            b.span.end,
            b.effect,
            &b.primitive,
        ))
    });
    found.lookups.sort_by_key(|l| (l.span, l.module.clone()));
    found.lookups.dedup();
    found
}

pub(super) struct Finder<'f, 'a> {
    pub(super) solver: &'f Solver<'a>,
    pub(super) unit: UnitId,
    pub(super) commands: &'f CommandCatalogue,
    pub(super) contexts: Contexts,
    pub(super) wrappers: FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
    pub(super) builders: std::rc::Rc<super::build::Builders>,
    handlers: std::rc::Rc<Handlers>,
    /// See [`Found::tested`].
    pub(super) tested: RefCell<BTreeSet<String>>,
    pub(super) found: Found,
    pub(super) seen: FxHashSet<(u32, u32)>,
}

impl<'f, 'a> Finder<'f, 'a> {
    pub(super) fn path(&self, value: Value) -> Option<&'f str> {
        match value {
            Value::External { path, .. } => Some(self.solver.interner.text(path)),
            _ => None,
        }
    }

    fn call(&mut self, id: ExprId, call: &Call) {
        let receiver = match &self.solver.program(self.unit).exprs[call.callee as usize].expr {
            Expr::Attr { base, .. } => Some(*base),
            _ => None,
        };
        let callees: Vec<Value> = self.solver.values_of(self.unit, call.callee).collect();
        let expanded = self.expanded(call);
        let call = expanded.as_ref().unwrap_or(call);
        let span = self.solver.program(self.unit).exprs[id as usize].span;
        for callee in &callees {
            match *callee {
                Value::External { .. } => {
                    let Some(path) = self.path(*callee) else { continue };
                    let given = Given { unit: self.unit, lead: &[], args: &call.args, receiver };
                    let via = self.via(call.callee);
                    self.operation(path, given, id, span, via);
                    if path == "builtins.getattr" {
                        self.lookup(id, call);
                    }
                    if let Some(module) = path.strip_suffix("[]") {
                        self.computed(id, module, span);
                    }
                }
                Value::Partial(of, partial) => self.partial(of, partial, id, call, span),
                Value::Func(u, f) => self.wrapped((u, f), 0, id, call),
                Value::Bound(u, f, _) => {
                    self.wrapped((u, f), self.solver.receiver_params(u, f), id, call);
                }
                // A class of the tree's own does what its base does: an exception that ends the program.
                Value::Class(u, c) => {
                    if let Some((u, f)) =
                        self.solver.constructor_above(u, c).filter(|(of, _)| *of != self.unit)
                    {
                        self.wrapped((u, f), self.solver.receiver_params(u, f), id, call);
                    }
                    let Some(path) = self.primitive_base(u, c) else { continue };
                    let given = Given { unit: self.unit, lead: &[], args: &call.args, receiver };
                    self.operation(path, given, id, span, Via::Direct);
                }
                _ => {}
            }
        }
        // A struct literal keeps its fields; it calls nothing.
        let keeps =
            call.kind == CallKind::New && self.solver.units()[self.unit as usize].language == Language::Go;
        if call.kind != CallKind::Decorator && !keeps {
            self.handed_over(call, &callees);
        }
    }

    /// A call of a function that runs what it is given, or keeps it for a method to run.
    fn wrapped(&mut self, (u, f): (UnitId, FuncId), skip: usize, id: ExprId, call: &Call) {
        let node = &self.solver.program(self.unit).exprs[id as usize];
        for wrapper in self.wrappers.get(&(u, f)).cloned().unwrap_or_default() {
            if wrapper.is_kept() && u == self.unit {
                continue;
            }
            let from_outside = self.handlers.holds(self.solver, self.unit, node.function);
            let caller = Caller { unit: self.unit, id, args: &call.args, skip, from_outside };
            for action in wrapper.actions(self.solver, caller, self.commands) {
                self.command_site(id, node.span, action, wrapper.runner(), Via::Wrapper);
            }
        }
    }

    /// The primitive that a class of the tree is a kind of: making one is what making its base is,
    /// unless its own code stands before that.
    fn primitive_base(&self, unit: UnitId, class: ClassId) -> Option<&'f str> {
        let order = self.solver.hierarchy.orders.get(&(unit, class))?;
        let mut initializes = false;
        for base in order.iter() {
            match base {
                Base::External(path) => {
                    let path = self.solver.interner.text(*path);
                    let is_made = !initializes && self.solver.catalogue(unit).primitive(path).is_some();
                    if path == EXIT_EXCEPTION || is_made {
                        return Some(path);
                    }
                }
                Base::Class(u, c) => {
                    let members = &self.solver.program(*u).classes[*c as usize].members;
                    initializes |= members.iter().any(|(name, _)| name == "__init__");
                }
            }
        }
        None
    }

    /// A call through a partial application, or several in one another: the arguments of all.
    fn partial(&mut self, of: UnitId, partial: ExprId, id: ExprId, call: &Call, span: Span) {
        let mut waiting = vec![(partial, Vec::new())];
        let mut steps = 0;
        while let Some((partial, later)) = waiting.pop() {
            let Expr::Call(inner) = &self.solver.program(of).exprs[partial as usize].expr else { return };
            let Some((first, lead)) = inner.args.split_first() else { return };
            steps += 1;
            if steps > MOST_PARTIALS {
                return;
            }
            // What a call of another file adds cannot be held against what stands there.
            let args: &[Arg] = if of == self.unit { &call.args } else { &[] };
            let lead: Vec<Arg> = lead.iter().cloned().chain(later).collect();
            let values: Vec<Value> = self.solver.values_of(of, first.value).collect();
            for value in values {
                match value {
                    Value::Partial(u, nested) if u == of => waiting.push((nested, lead.clone())),
                    _ => {
                        if let Some(path) = self.path(value) {
                            let given = Given { unit: of, lead: &lead, args, receiver: None };
                            self.operation(path, given, id, span, Via::Partial);
                        }
                    }
                }
            }
        }
    }

    /// A call of something outside the tree.
    fn operation(&mut self, path: &str, given: Given<'_>, id: ExprId, span: Span, via: Via) {
        let catalogue = self.solver.catalogue(self.unit);
        if let Some(entry) = catalogue.primitive(path)
            && let Some((effect, target)) = self.primitive(entry, given)
        {
            let site = self.contexts.site(self.solver, id, span, entry.reported(path), effect, via, target);
            self.push(site);
            // `os.execv(sys.executable, …)` is one replacement, no respawn beside it.
            return;
        }
        if let Some(entry) = catalogue.runner(path) {
            let (builders, handlers) = (self.builders.clone(), self.handlers.clone());
            let runner = Runner {
                solver: self.solver,
                unit: self.unit,
                commands: self.commands,
                builders: &builders,
                handlers: &handlers,
            };
            let outcome = runner.actions(entry, given, id);
            let name = path.replace("()", "").replace("[]", "");
            for (action, command_via, place) in outcome.actions {
                let via = if via == Via::Callback { via } else { command_via };
                let at = place.unwrap_or(id);
                let span = place.map_or(span, |p| self.solver.program(self.unit).exprs[p as usize].span);
                // A command that is built in branches runs once: the one whose target is known stands.
                let same = |s: &&mut Site| place.is_some() && s.span == span && s.effect == action.effect;
                match self.found.sites.iter_mut().rev().take(64).find(same) {
                    Some(site) if !super::commands::aims(site.target.as_ref()) => {
                        if super::commands::aims(action.target.as_ref()) {
                            site.primitive = action.primitive;
                            site.target = action.target;
                            site.command = action.words;
                        }
                    }
                    Some(_) => {}
                    None => self.command_site(at, span, action, &name, via),
                }
            }
            if outcome.free_respawn {
                self.found.lookups.push(self.contexts.lookup(self.solver, id, span, &name));
            }
        }
    }

    fn command_site(
        &mut self,
        id: ExprId,
        span: Span,
        action: crate::command::Action,
        runner: &str,
        via: Via,
    ) {
        let primitive =
            if action.primitive.is_empty() { runner.to_owned() } else { action.primitive.clone() };
        let mut site =
            self.contexts.site(self.solver, id, span, primitive, action.effect, via, action.target);
        site.command = action.words;
        site.confidence = action.confidence;
        self.push(site);
    }

    /// One call gives one site an effect and primitive.
    fn push(&mut self, site: Site) {
        let same = |s: &Site| {
            s.span == site.span
                && s.effect == site.effect
                && s.primitive == site.primitive
                && s.command == site.command
        };
        if self.seen.insert((site.span.start, site.span.end)) {
            self.found.sites.push(site);
            return;
        }
        // The same call once more: through another binding of its callee, or a second command of one string.
        let is_command = !site.command.is_empty();
        let known = self.found.sites.iter().rev().take(64).any(|s| {
            same(s)
                || (s.span == site.span
                    && (!is_command
                        || s.command.is_empty()
                        || s.effect == site.effect && s.primitive == site.primitive))
        });
        if !known {
            self.found.sites.push(site);
        }
    }

    /// Primitives and runners among the arguments of a call.
    fn handed_over(&mut self, call: &Call, callees: &[Value]) {
        let catalogue = self.solver.catalogue(self.unit);
        let keeps = |path: &str| {
            catalogue.is_observer(path)
                || catalogue.is_wrapper(path)
                || catalogue.is_partial(path)
                || matches!(
                    path,
                    "types.SimpleNamespace"
                        | "argparse.Namespace"
                        | "builtins.dict"
                        | "builtins.setattr"
                        | "builtins.list"
                        | "builtins.tuple"
                )
        };
        let by_elements = self.each_is_given(call, callees);
        let only_looks = callees.iter().any(|c| match c {
            Value::External { path, .. } => keeps(self.solver.interner.text(*path)),
            Value::ContainerMethod(..) => true,
            _ => false,
        });
        if only_looks {
            return;
        }
        for (at, arg) in call.args.iter().enumerate().skip(usize::from(by_elements)) {
            let values: Vec<Value> = self.solver.values_of(self.unit, arg.value).collect();
            for value in values {
                match value {
                    Value::External { .. } => {
                        let Some(path) = self.path(value) else { continue };
                        // An exception's class is data until somebody raises it.
                        if !catalogue.matters(path) || path == EXIT_EXCEPTION {
                            continue;
                        }
                        let (lead, unit) = (self.further_arguments(call, at), self.unit);
                        let given = Given { unit, lead: &lead, args: &[], receiver: None };
                        let span = self.solver.program(self.unit).exprs[arg.value as usize].span;
                        self.reference(path, given, arg.value, span);
                    }
                    Value::Partial(of, partial) => {
                        let Expr::Call(inner) = &self.solver.program(of).exprs[partial as usize].expr else {
                            continue;
                        };
                        let Some((first, lead)) = inner.args.split_first() else { continue };
                        let is_literal = of == self.unit && arg.value == partial;
                        let place = if is_literal { first.value } else { arg.value };
                        let span = self.solver.program(self.unit).exprs[place as usize].span;
                        let inner_values: Vec<Value> = self.solver.values_of(of, first.value).collect();
                        for value in inner_values {
                            if let Some(path) = self.path(value) {
                                let given = Given { unit: of, lead, args: &[], receiver: None };
                                self.reference(path, given, place, span);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// A reference that somebody else will call.
    pub(super) fn reference(&mut self, path: &str, given: Given<'_>, at: ExprId, span: Span) {
        let catalogue = self.solver.catalogue(self.unit);
        if catalogue.primitive(path).is_some_and(|e| !e.when.is_empty() && given.lead.is_empty()) {
            return;
        }
        self.operation(path, given, at, span, Via::Callback);
    }

    /// What a callable that is handed over will be called with: the arguments after it, or a list of them.
    fn further_arguments(&self, call: &Call, at: usize) -> Vec<Arg> {
        let program = self.solver.program(self.unit);
        let mut further = Vec::new();
        for (other, arg) in call.args.iter().enumerate() {
            if other == at {
                continue;
            }
            let list = match &program.exprs[arg.value as usize].expr {
                Expr::Seq(items) => Some(items),
                _ => None,
            };
            match (arg.name.as_deref(), list) {
                (Some("args") | None, Some(items)) if arg.name.is_some() || other > at => {
                    // `Timer(3, f, (x, y))`: the tuple's elements are f's arguments. A list that is the only
                    // further argument of a call that spreads could be one argument itself: both are read.
                    further.extend(items.iter().map(|(item, spread)| Arg {
                        value: *item,
                        name: None,
                        spread: *spread,
                    }));
                }
                (None, _) if other > at => further.push(arg.clone()),
                (Some("kwargs"), _) => {}
                (Some(_), _) if other > at && call.args[at].name.is_none() => further.push(arg.clone()),
                _ => {}
            }
        }
        further
    }

    /// `getattr(module, name)` with a name that does not fold, on a module that has primitives.
    fn lookup(&mut self, id: ExprId, call: &Call) {
        let (Some(object), Some(name)) = (call.args.first(), call.args.get(1)) else { return };
        let catalogue = self.solver.catalogue(self.unit);
        let texts = Folder::new(self.solver).texts(self.unit, name.value);
        if texts.iter().all(|t| t.as_literal().is_some()) {
            return;
        }
        let modules: Vec<String> = self
            .solver
            .values_of(self.unit, object.value)
            .filter_map(|v| self.path(v))
            .filter(|p| catalogue.has_primitives(p))
            // What is fixed of the name can rule out every primitive (`"SIG" + name`).
            .filter(|p| {
                texts.iter().filter(|t| t.as_literal().is_none()).any(|t| {
                    let (start, end) = t.ends();
                    (start.is_empty() && end.is_empty()) || catalogue.can_name_primitive(p, start, end)
                })
            })
            .map(str::to_owned)
            .collect();
        let span = self.solver.program(self.unit).exprs[id as usize].span;
        for module in modules {
            self.found.lookups.push(self.contexts.lookup(self.solver, id, span, &module));
        }
    }

    /// How a callee is written.
    fn via(&self, callee: ExprId) -> Via {
        let program = self.solver.program(self.unit);
        match &program.exprs[callee as usize].expr {
            Expr::External(_) => Via::Direct,
            Expr::Import(_) if self.solver.units()[self.unit as usize].language == Language::Rust => {
                Via::Direct
            }
            Expr::Import(_) => Via::FromImport,
            Expr::Attr { base, name } => match &program.exprs[*base as usize].expr {
                Expr::External(_) | Expr::Import(_) => Via::Direct,
                Expr::Cell(cell) => {
                    let cell = &program.cells[*cell as usize];
                    let _ = name;
                    match self.import_of(cell) {
                        Some(import) if import.name.is_none() => {
                            if import.module == cell.name {
                                Via::Direct
                            } else {
                                Via::Alias
                            }
                        }
                        Some(_) => Via::Direct,
                        None => Via::Direct,
                    }
                }
                Expr::Call(_) | Expr::Attr { .. } => Via::Direct,
                _ => Via::LocalAlias,
            },
            Expr::Cell(cell) => match self.import_of(&program.cells[*cell as usize]) {
                Some(import) => {
                    let state = &self.solver.units()[self.unit as usize];
                    match self.solver.files().resolve(state.language, state.path, import) {
                        super::link::Target::External(_) => Via::FromImport,
                        _ => Via::ReExport,
                    }
                }
                None => Via::LocalAlias,
            },
            Expr::Call(_) | Expr::Index { .. } => Via::Getattr,
            _ => Via::LocalAlias,
        }
    }

    fn import_of<'p>(&self, cell: &'p crate::base::ir::Cell) -> Option<&'p crate::base::ir::Import>
    where
        'a: 'p,
    {
        let program = self.solver.program(self.unit);
        let mut values = cell.values.clone();
        let mut stack = cell.from.clone();
        for _ in 0..8 {
            let Some(next) = stack.pop() else { break };
            let next = &program.cells[next as usize];
            values.extend(next.values.iter().copied());
            stack.extend(next.from.iter().copied());
        }
        values.iter().find_map(|v| match &program.exprs[*v as usize].expr {
            Expr::Import(import) => Some(&**import),
            _ => None,
        })
    }
}

/// Where a pid can be several things, it is its own or a child's only if nothing else is possible.
pub(super) fn one(texts: Vec<Text>) -> Text {
    match texts.as_slice() {
        [only] => only.clone(),
        many => {
            let own = |t: &Text| t.origin() == Some(Origin::ChildPid);
            if many.iter().all(own) { Text::free(Origin::ChildPid) } else { Text::free(Origin::Unknown) }
        }
    }
}
