//! From solved calls to sites: each call and each callable that is handed over, held
//! against the catalogues.

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::Contexts;
use super::fold::Folder;
use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::effect::Effect;
use crate::base::facts::{Language, Lookup};
use crate::base::ir::{Arg, Call, CallKind, Expr, ExprId, FuncId, Spread};
use crate::base::site::{Site, Target, TargetKind, Via};
use crate::base::span::Span;
use crate::base::text::{Origin, Text};
use crate::data::primitives::{ArgRef, ArgTest, Condition, PrimitiveEntry};

use super::commands::{Runner, Wrapper};
use crate::data::commands::CommandCatalogue;

/// What one unit's calls come to.
#[derive(Debug, Default)]
pub struct Found {
    /// Sites, sorted by place.
    pub sites: Vec<Site>,
    /// Lookups that cannot be decided.
    pub lookups: Vec<Lookup>,
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

    /// Whether an unknown spread could give any argument.
    fn may_give_anything(&self) -> bool {
        self.lead.iter().chain(self.args.iter()).any(|a| a.spread == Spread::Mapping)
    }
}

/// Finds the sites of one unit of a solved program.
pub fn find(solver: &Solver<'_>, unit: UnitId, commands: &CommandCatalogue) -> Found {
    find_from(solver, unit, commands, super::commands::wrappers(solver, unit, commands))
}

/// The sites of a unit, and its names that matter to others.
pub fn find_with_names(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
) -> (Found, std::collections::BTreeSet<String>) {
    let wrappers = super::commands::wrappers(solver, unit, commands);
    let names = names_that_matter(solver, unit, commands, &wrappers);
    (find_from(solver, unit, commands, wrappers), names)
}

fn find_from(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
    wrappers: FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
) -> Found {
    let mut finder = Finder {
        solver,
        unit,
        commands,
        contexts: Contexts::new(solver, unit),
        wrappers,
        builders: std::rc::Rc::new(super::build::Builders::new(solver, unit)),
        found: Found::default(),
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

struct Finder<'f, 'a> {
    solver: &'f Solver<'a>,
    unit: UnitId,
    commands: &'f CommandCatalogue,
    contexts: Contexts,
    wrappers: FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
    builders: std::rc::Rc<super::build::Builders>,
    found: Found,
    seen: FxHashSet<(u32, u32)>,
}

impl<'f, 'a> Finder<'f, 'a> {
    fn path(&self, value: Value) -> Option<&'f str> {
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
                Value::Func(u, f) | Value::Bound(u, f, _) => {
                    for wrapper in self.wrappers.get(&(u, f)).cloned().unwrap_or_default() {
                        let skip = match callee {
                            Value::Bound(..) => self.solver.receiver_params(u, f),
                            _ => 0,
                        };
                        for action in wrapper.actions(self.solver, self.unit, &call.args, skip, self.commands)
                        {
                            self.command_site(id, span, action, wrapper.runner(), Via::Wrapper);
                        }
                    }
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

    /// A call through a partial application: the arguments of both.
    fn partial(&mut self, of: UnitId, partial: ExprId, id: ExprId, call: &Call, span: Span) {
        let Expr::Call(inner) = &self.solver.program(of).exprs[partial as usize].expr else { return };
        let Some((first, lead)) = inner.args.split_first() else { return };
        if of != self.unit {
            return;
        }
        let values: Vec<Value> = self.solver.values_of(of, first.value).collect();
        for value in values {
            if let Some(path) = self.path(value) {
                let given = Given { unit: of, lead, args: &call.args, receiver: None };
                self.operation(path, given, id, span, Via::Partial);
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
            let builders = std::rc::Rc::clone(&self.builders);
            let runner =
                Runner { solver: self.solver, unit: self.unit, commands: self.commands, builders: &builders };
            let outcome = runner.actions(entry, given, id);
            let name = path.replace("()", "").replace("[]", "");
            for (action, command_via, place) in outcome.actions {
                let via = if via == Via::Callback { via } else { command_via };
                let at = place.unwrap_or(id);
                let span = place.map_or(span, |p| self.solver.program(self.unit).exprs[p as usize].span);
                self.command_site(at, span, action, &name, via);
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
                        | "builtins.dict"
                        | "builtins.setattr"
                        | "builtins.list"
                        | "builtins.tuple"
                )
        };
        let only_looks = callees.iter().any(|c| match c {
            Value::External { path, .. } => keeps(self.solver.interner.text(*path)),
            Value::ContainerMethod(..) => true,
            _ => false,
        });
        if only_looks {
            return;
        }
        for (at, arg) in call.args.iter().enumerate() {
            let values: Vec<Value> = self.solver.values_of(self.unit, arg.value).collect();
            for value in values {
                match value {
                    Value::External { .. } => {
                        let Some(path) = self.path(value) else { continue };
                        if !catalogue.matters(path) {
                            continue;
                        }
                        let (lead, unit) = (self.further_arguments(call, at), self.unit);
                        let given = Given { unit, lead: &lead, args: &[], receiver: None };
                        let span = self.solver.program(self.unit).exprs[arg.value as usize].span;
                        self.reference(path, given, arg.value, span);
                    }
                    Value::Partial(of, partial) if of == self.unit => {
                        let Expr::Call(inner) = &self.solver.program(of).exprs[partial as usize].expr else {
                            continue;
                        };
                        let Some((first, lead)) = inner.args.split_first() else { continue };
                        let is_literal = arg.value == partial;
                        let place = if is_literal { first.value } else { arg.value };
                        let span = self.solver.program(of).exprs[place as usize].span;
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
    fn reference(&mut self, path: &str, given: Given<'_>, at: ExprId, span: Span) {
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

    /// The effect of calling a primitive with these arguments, or `None` if it is no site.
    fn primitive(&self, entry: &PrimitiveEntry, given: Given<'_>) -> Option<(Effect, Option<Target>)> {
        let folder = Folder::new(self.solver);
        if let Some(at) = &entry.unless_false
            && let Some(arg) = given.get(at)
            && folder.truth(given.unit, arg) == Some(false)
        {
            return None;
        }
        if !entry.when.is_empty() && !entry.when.iter().any(|test| self.holds(test, given)) {
            return None;
        }
        let mut stop = false;
        if let Some(at) = &entry.signal {
            match given.get(at) {
                Some(signal) if entry.null_signal_is_probe && self.is_null(given.unit, signal) => {
                    return None;
                }
                Some(signal) => {
                    let texts = folder.texts(given.unit, signal);
                    let is_zero = texts.iter().all(|t| t.as_literal() == Some("0"))
                        || self.is_zero_signal(given.unit, signal);
                    if is_zero {
                        return None;
                    }
                    stop = self.is_stop_signal(given.unit, signal);
                }
                None if entry.null_signal_is_probe => return None,
                None => {}
            }
        }
        let mut effect = entry.effect;
        let mut target = None;
        if let Some(at) = &entry.pid {
            if at.receiver
                && let Some(receiver) = given.receiver
                && let Expr::Attr { name, .. } =
                    &self.solver.program(given.unit).exprs[receiver as usize].expr
                && self.solver.catalogue(given.unit).is_handle_member(name)
            {
                return None;
            }
            let text = match given.get(at) {
                Some(pid) if at.receiver => self.receiver_pid(given.unit, pid),
                Some(pid) => one(folder.texts(given.unit, pid)),
                None => Text::free(Origin::Unknown),
            };
            match (text.as_literal(), text.origin()) {
                (_, Some(Origin::ChildPid)) => return None,
                (_, Some(Origin::OwnPid | Origin::OwnGroup)) | (Some("0"), _) => effect = Effect::Terminate,
                _ => {}
            }
            target = Some(if effect == Effect::Terminate {
                Target { kind: TargetKind::Own, text: "itself".to_owned() }
            } else {
                let kind = if text.as_literal().is_some() { TargetKind::Pid } else { TargetKind::Variable };
                Target { kind, text: text.display() }
            });
        }
        if stop && effect == Effect::Terminate {
            return None;
        }
        Some((effect, target))
    }

    /// Whether an expression is no value, as written or by its only binding.
    fn is_null(&self, unit: UnitId, expr: ExprId) -> bool {
        let program = self.solver.program(unit);
        let is_type = |value: &ExprId| matches!(program.exprs[*value as usize].expr, Expr::Instance(_));
        let mut at = expr;
        for _ in 0..8 {
            let values = match &program.exprs[at as usize].expr {
                Expr::Null => return true,
                Expr::Same(inner) => std::slice::from_ref(inner),
                Expr::Union(options) => options,
                Expr::Cell(cell) if program.cells[*cell as usize].from.is_empty() => {
                    &program.cells[*cell as usize].values
                }
                _ => return false,
            };
            // A declared type beside the value says nothing.
            let mut values = values.iter().filter(|v| !is_type(v));
            match (values.next(), values.next()) {
                (Some(only), None) => at = *only,
                _ => return false,
            }
        }
        false
    }

    fn signal_name(&self, unit: UnitId, signal: ExprId) -> Option<&'f str> {
        self.solver
            .values_of(unit, signal)
            .find_map(|v| self.path(v))
            .map(|p| p.rsplit(['.', ':']).next().unwrap_or(p))
    }

    fn is_stop_signal(&self, unit: UnitId, signal: ExprId) -> bool {
        matches!(self.signal_name(unit, signal), Some("SIGSTOP" | "SIGTSTP" | "SIGCONT"))
            || matches!(&self.solver.program(unit).exprs[signal as usize].expr, Expr::Str(s) if matches!(s.as_str(), "SIGSTOP" | "SIGTSTP" | "SIGCONT"))
    }

    /// `syscall.Signal(0)` and its like: a conversion of the literal 0.
    fn is_zero_signal(&self, unit: UnitId, signal: ExprId) -> bool {
        let Expr::Call(call) = &self.solver.program(unit).exprs[signal as usize].expr else { return false };
        let [only] = call.args.as_slice() else { return false };
        Folder::new(self.solver).texts(unit, only.value).iter().all(|t| t.as_literal() == Some("0"))
    }

    /// The pid of the object that a method is called on, from the call that made the object.
    fn receiver_pid(&self, unit: UnitId, receiver: ExprId) -> Text {
        let mut at = receiver;
        for _ in 0..16 {
            match &self.solver.program(unit).exprs[at as usize].expr {
                Expr::Cell(cell) => {
                    let cell = &self.solver.program(unit).cells[*cell as usize];
                    match (cell.values.as_slice(), cell.from.as_slice()) {
                        ([only], []) => at = *only,
                        _ => return Text::free(Origin::Unknown),
                    }
                }
                Expr::Same(inner) | Expr::Enter(inner) | Expr::Item(inner, 0) => at = *inner,
                Expr::Call(call) => {
                    let makes_process = self
                        .solver
                        .values_of(unit, call.callee)
                        .any(|v| self.path(v).is_some_and(|p| !p.contains("()") && !p.contains("[]")));
                    if !makes_process {
                        return Text::free(Origin::Unknown);
                    }
                    return match call.args.first() {
                        None => Text::free(Origin::OwnPid),
                        Some(arg) => one(Folder::new(self.solver).texts(unit, arg.value)),
                    };
                }
                _ => return Text::free(Origin::Unknown),
            }
        }
        Text::free(Origin::Unknown)
    }

    /// Whether an argument test holds. Unknown means that it may.
    fn holds(&self, test: &ArgTest, given: Given<'_>) -> bool {
        let at = test.at();
        let folder = Folder::new(self.solver);
        let Some(mut arg) = given.get(&at) else {
            return test.is == Condition::Truthy
                && at.keyword.is_some()
                && given.may_give_anything()
                && self.spread_gives(&at, given);
        };
        if let Some(member) = &at.member {
            match self.solver.member_of(given.unit, arg, member) {
                Some(value) => arg = value,
                None => return false,
            }
        }
        match test.is {
            Condition::Given => true,
            Condition::Truthy => folder.truth(given.unit, arg) != Some(false),
            Condition::Trigger => {
                let catalogue = self.solver.catalogue(self.unit);
                folder.texts(given.unit, arg).iter().any(|t| {
                    // Free parts before the file's name do not hide it.
                    let shown = t.display();
                    catalogue.is_trigger(&shown)
                })
            }
            Condition::OwnProgram => {
                let own = [Origin::OwnProgram, Origin::OwnScript, Origin::OwnArgv];
                folder.texts(given.unit, arg).iter().any(|t| t.origin().is_some_and(|o| own.contains(&o)))
            }
        }
    }

    /// `f(**options)`: whether the spread mapping is a literal of this file that gives the keyword.
    fn spread_gives(&self, at: &ArgRef, given: Given<'_>) -> bool {
        let Some(keyword) = &at.keyword else { return false };
        given.args.iter().filter(|a| a.spread == Spread::Mapping).any(|a| {
            self.solver.values_of(given.unit, a.value).any(|v| match v {
                Value::Container(super::value::Object::Literal(of, literal)) => {
                    let program = self.solver.program(of);
                    match &program.exprs[literal as usize].expr {
                        Expr::Map(entries) => entries.iter().any(|(key, value)| {
                            key.is_some_and(|k| self.solver.constant_key(of, k).as_deref() == Some(keyword))
                                && Folder::new(self.solver).truth(of, *value) != Some(false)
                        }),
                        Expr::Call(call) => call.args.iter().any(|arg| {
                            arg.name.as_deref() == Some(keyword)
                                && Folder::new(self.solver).truth(of, arg.value) != Some(false)
                        }),
                        _ => false,
                    }
                }
                _ => false,
            })
        })
    }

    /// `module[name]()` with a name that does not fold, on a module that has primitives.
    fn computed(&mut self, id: ExprId, module: &str, span: Span) {
        if self.solver.catalogue(self.unit).has_primitives(module) {
            let lookup = self.contexts.lookup(self.solver, id, span, module);
            self.found.lookups.push(lookup);
        }
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
            Expr::Import(import) => Some(import),
            _ => None,
        })
    }
}

/// Where a pid can be several things, it is its own or a child's only if nothing else is possible.
fn one(texts: Vec<Text>) -> Text {
    match texts.as_slice() {
        [only] => only.clone(),
        many => {
            let own = |t: &Text| t.origin() == Some(Origin::ChildPid);
            if many.iter().all(own) { Text::free(Origin::ChildPid) } else { Text::free(Origin::Unknown) }
        }
    }
}

/// The names of a unit under which something that matters can be had: a primitive or a runner
/// under a name of its own, an object that has some, a function that gives one back or runs what
/// it is given, a command as a constant, a class that keeps one.
fn names_that_matter(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
    wrappers: &FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
) -> std::collections::BTreeSet<String> {
    let program = solver.program(unit);
    let catalogue = solver.catalogue(unit);
    let gives = |function: FuncId| {
        solver.values[solver.result_node(unit, function) as usize].iter().any(|v| {
            match solver.interner.get(*v) {
                Value::External { path, .. } => {
                    let path = solver.interner.text(path);
                    catalogue.matters(path) || catalogue.leads(path)
                }
                Value::Partial(..) => true,
                _ => false,
            }
        })
    };
    let matters = |node: u32, name: &str| {
        solver.values[node as usize].iter().any(|v| match solver.interner.get(*v) {
            Value::External { path, .. } => {
                let path = solver.interner.text(path);
                let last = path.rsplit('.').next().unwrap_or(path);
                // `import subprocess as sp`, `m = os`: the module under another name.
                let renamed_module =
                    last != name && (catalogue.has_primitives(path) || catalogue.has_runners(path));
                catalogue.matters(path) || catalogue.leads(path) || renamed_module
            }
            Value::Partial(..) => true,
            Value::Func(u, f) | Value::Bound(u, f, _) => {
                wrappers.contains_key(&(u, f)) || (u == unit && gives(f))
            }
            _ => false,
        })
    };
    let mut names = std::collections::BTreeSet::new();
    let mut add = |name: &str, node: u32| {
        if !name.is_empty() && !names.contains(name) && matters(node, name) {
            names.insert(name.to_owned());
        }
    };
    for (at, cell) in program.cells.iter().enumerate() {
        add(&cell.name, solver.cell_node(unit, at as u32));
    }
    for store in &program.stores {
        if let crate::base::ir::Slot::Attr(name) = &store.slot {
            add(name, solver.expr_node(unit, store.value));
        }
    }
    for (name, value) in program.classes.iter().flat_map(|c| &c.members) {
        add(name, solver.expr_node(unit, *value));
    }
    for (name, cell) in &program.exports {
        if names_a_command(solver, unit, *cell, commands) {
            names.insert(name.clone());
        }
    }
    let kept: Vec<Value> = program
        .stores
        .iter()
        .filter(|s| matches!(&s.slot, crate::base::ir::Slot::Attr(name) if names.contains(name)))
        .flat_map(|s| solver.values_of(unit, s.base))
        .collect();
    for (at, class) in program.classes.iter().enumerate() {
        let keeps = class.members.iter().any(|(name, _)| names.contains(name))
            || kept.iter().any(
                |v| matches!(v, Value::Instance(u, c) | Value::Class(u, c) if *u == unit && *c == at as u32),
            );
        if keeps {
            names.insert(class.name.clone());
        }
    }
    names
}

/// Whether a module constant is a command's name, or a command line.
fn names_a_command(solver: &Solver<'_>, unit: UnitId, cell: u32, commands: &CommandCatalogue) -> bool {
    let program = solver.program(unit);
    let mut cells = vec![cell];
    let mut read = 0;
    while let Some(at) = cells.get(read).copied() {
        read += 1;
        let cell = &program.cells[at as usize];
        for value in &cell.values {
            let first = match &program.exprs[*value as usize].expr {
                Expr::Str(text) => Some(text.as_str()),
                Expr::Seq(items) => {
                    items.first().and_then(|(item, _)| match &program.exprs[*item as usize].expr {
                        Expr::Str(text) => Some(text.as_str()),
                        _ => None,
                    })
                }
                _ => None,
            };
            if let Some(first) = first
                && let Some(word) = first.split_whitespace().next()
                && commands.commands(word.rsplit('/').next().unwrap_or(word)).next().is_some()
            {
                return true;
            }
        }
        for from in &cell.from {
            if cells.len() < 32 && !cells.contains(from) {
                cells.push(*from);
            }
        }
    }
    false
}
