//! Functions of the tree that only pass a command on: what a call of one runs, with the arguments in
//! the place of the parameters that reach the runner.

use rustc_hash::FxHashMap;

use super::build::Builders;
use super::commands::{Runner, one_text, own_context, same_action};
use super::fold::Folder;
use super::handlers::Handlers;
use super::relayed::Relay;
use super::sites::Given;
use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::ir::{Arg, Expr, ExprId, FuncId, Param, Spread};
use crate::base::site::Confidence;
use crate::base::text::{Origin, Piece, Text};
use crate::command::{Action, Invocation, actions};
use crate::data::commands::CommandCatalogue;

/// Commands of one function that are kept.
const MOST_COMMANDS: usize = 8;
/// Files whose functions are looked at for what one file's calls run.
const MOST_UNITS: usize = 16;

/// A function that runs a command which depends on its parameters.
#[derive(Debug, Clone)]
pub(super) struct Wrapper {
    runner: String,
    command: Passed,
    params: Vec<Parameter>,
    /// It is a constructor that keeps the command, which a method runs.
    is_kept: bool,
}

/// What such a function runs.
#[derive(Debug, Clone)]
enum Passed {
    /// A command in which its parameters stand.
    Invocation(Invocation),
    /// Whatever it is given (`def sh(*args, **options): return run(*args, **options)`).
    Everything(Relay),
}

/// A parameter of such a function.
#[derive(Debug, Clone)]
struct Parameter {
    name: String,
    spread: Spread,
    /// What it holds where nothing is given, if it need not be given.
    default: Option<Text>,
}

impl Wrapper {
    /// The name of the operation that runs the command.
    pub(super) fn runner(&self) -> &str {
        &self.runner
    }

    /// Whether it only keeps the command: in its own file that is seen where the command runs.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Whether it names a command itself, and is given the rest: then it matters to whoever calls it, not
    /// only to those who name one.
    pub(super) fn brings_a_command(&self, commands: &CommandCatalogue) -> bool {
        let texts = match &self.command {
            Passed::Invocation(Invocation::Shell(text)) => std::slice::from_ref(text),
            Passed::Invocation(Invocation::Argv(words)) => words.as_slice(),
            Passed::Everything(_) => return false,
        };
        let literals = texts.iter().flat_map(Text::pieces).filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            _ => None,
        });
        let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
        literals.flat_map(str::split_whitespace).any(|word| commands.commands(&name(word)).next().is_some())
    }

    /// The commands that a call of the function may run.
    fn invocations(
        &self,
        solver: &Solver<'_>,
        folder: &Folder<'_, '_>,
        caller: Caller<'_>,
        commands: &CommandCatalogue,
    ) -> Vec<Invocation> {
        let Caller { unit, args, skip, .. } = caller;
        match &self.command {
            Passed::Invocation(invocation) => {
                Substitution { folder, unit, args, skip, params: &self.params }.invocations(invocation)
            }
            Passed::Everything(relay) => relay.invocations(solver, caller, commands),
        }
    }

    /// What a call of the function does.
    pub(super) fn actions(
        &self,
        solver: &Solver<'_>,
        caller: Caller<'_>,
        commands: &CommandCatalogue,
    ) -> Vec<Action> {
        let context = own_context(solver, caller.unit);
        let mut found: Vec<Action> = Vec::new();
        let folder = match caller.from_outside {
            true => Folder::from_outside(solver),
            false => Folder::new(solver),
        };
        for invocation in self.invocations(solver, &folder, caller, commands) {
            // The own arguments handed on whole say nothing that the helper's own call does not.
            let bare = matches!(&invocation, Invocation::Argv(words)
                if matches!(words.as_slice(), [only] if only.is_rest()));
            if bare || !literal_enough(&invocation) {
                continue;
            }
            // What one call may run instead is no second site.
            let earlier = found.len();
            for action in actions(&invocation, commands, &context) {
                let is_instead = found.iter().take(earlier).any(|a| a.effect == action.effect);
                if !is_instead && !found.iter().any(|a| same_action(a, &action)) {
                    found.push(action);
                }
            }
        }
        found
    }
}

/// A call of such a function.
#[derive(Clone, Copy)]
pub(super) struct Caller<'c> {
    pub(super) unit: UnitId,
    /// The call.
    pub(super) id: ExprId,
    pub(super) args: &'c [Arg],
    /// Parameters that the receiver takes.
    pub(super) skip: usize,
    /// It stands in a function that is called from outside the tree.
    pub(super) from_outside: bool,
}

/// Arguments in the place of parameters.
struct Substitution<'s, 'f, 'a> {
    folder: &'s Folder<'f, 'a>,
    unit: UnitId,
    args: &'s [Arg],
    skip: usize,
    params: &'s [Parameter],
}

impl Substitution<'_, '_, '_> {
    fn invocations(&self, invocation: &Invocation) -> Vec<Invocation> {
        match invocation {
            Invocation::Shell(text) => match text.origin() {
                Some(Origin::Parameter(param)) => match self.arg(param) {
                    Some(arg) => {
                        let lists = self.folder.lists(self.unit, arg);
                        // A parameter that is handed on may be a list or a text.
                        let is_open = lists.iter().all(|l| matches!(l.as_slice(), [only] if only.is_rest()));
                        let texts = if is_open { self.folder.texts(self.unit, arg) } else { Vec::new() };
                        let lists = lists.into_iter().map(Invocation::Argv);
                        texts.into_iter().map(Invocation::Shell).chain(lists).collect()
                    }
                    None => self.default(param).cloned().map(Invocation::Shell).into_iter().collect(),
                },
                _ => self.texts(text).into_iter().map(Invocation::Shell).collect(),
            },
            Invocation::Argv(words) => {
                let mut lists: Vec<Vec<Text>> = vec![Vec::new()];
                for word in words {
                    let options: Vec<Vec<Text>> = match word.pieces() {
                        [Piece::Rest(Origin::Parameter(param))] => match self.rest(*param) {
                            Some(list) => vec![list],
                            None => vec![vec![Text::rest(Origin::Unknown)]],
                        },
                        _ if lists.len() > 1 => vec![vec![one_text(self.texts(word))]],
                        _ => self.texts(word).into_iter().map(|text| vec![text]).collect(),
                    };
                    lists = lists
                        .iter()
                        .flat_map(|list| {
                            options.iter().map(|more| [list.as_slice(), more.as_slice()].concat())
                        })
                        .collect();
                }
                lists.into_iter().map(Invocation::Argv).collect()
            }
        }
    }

    fn arg(&self, param: u16) -> Option<ExprId> {
        let Parameter { name, spread, .. } = self.params.get(param as usize)?;
        if *spread != Spread::No {
            return None;
        }
        if let Some(arg) = self.args.iter().find(|a| a.name.as_deref() == Some(name)) {
            return Some(arg.value);
        }
        let position = (param as usize).checked_sub(self.skip)?;
        let plain = self.args.iter().filter(|a| a.name.is_none());
        let before: Vec<&Arg> = plain.take(position + 1).collect();
        if before.len() <= position || before.iter().any(|a| a.spread != Spread::No) {
            return None;
        }
        before.last().map(|a| a.value)
    }

    /// What a parameter holds that is not given, where no argument may give it unseen.
    fn default(&self, param: u16) -> Option<&Text> {
        let is_plain = self.args.iter().all(|arg| arg.spread == Spread::No);
        self.params.get(param as usize).filter(|_| is_plain)?.default.as_ref()
    }

    fn rest(&self, param: u16) -> Option<Vec<Text>> {
        if self.params.get(param as usize)?.spread == Spread::No {
            return self.folder.lists(self.unit, self.arg(param)?).into_iter().next();
        }
        let position = (param as usize).checked_sub(self.skip)?;
        let mut words = Vec::new();
        for arg in self.args.iter().filter(|a| a.name.is_none()).skip(position) {
            match arg.spread {
                Spread::No => words.push(one_text(self.folder.texts(self.unit, arg.value))),
                _ => match self.folder.lists(self.unit, arg.value).into_iter().next() {
                    Some(list) => words.extend(list),
                    None => words.push(Text::rest(Origin::Unknown)),
                },
            }
        }
        Some(words)
    }

    /// What a text is with the arguments in it: several where one argument, and only one, may be several.
    fn texts(&self, text: &Text) -> Vec<Text> {
        let mut texts = vec![Text::default()];
        for piece in text.pieces() {
            let options = match piece {
                Piece::Free(Origin::Parameter(param)) => match (self.arg(*param), self.default(*param)) {
                    (Some(arg), _) => self.folder.texts(self.unit, arg),
                    (None, Some(text)) => vec![text.clone()],
                    (None, None) => vec![Text::free(Origin::Unknown)],
                },
                other => {
                    texts.iter_mut().for_each(|text| text.push(other.clone()));
                    continue;
                }
            };
            let options = if texts.len() > 1 { vec![one_text(options)] } else { options };
            texts = texts
                .iter()
                .flat_map(|text| {
                    options.iter().map(|option| {
                        let mut both = text.clone();
                        both.extend(option);
                        both
                    })
                })
                .collect();
        }
        texts
    }
}

/// A caller that only passes its own parameter on decides nothing.
fn literal_enough(invocation: &Invocation) -> bool {
    match invocation {
        Invocation::Shell(text) => !matches!(text.pieces(), [Piece::Free(_)] | [Piece::Rest(_)]),
        Invocation::Argv(words) => words.first().is_some_and(|w| {
            w.pieces().iter().any(|p| matches!(p, Piece::Literal(_)))
                || matches!(w.origin(), Some(Origin::Interpreter | Origin::OwnProgram | Origin::OwnArgv))
        }),
    }
}

pub(super) fn has_parameter(invocation: &Invocation) -> bool {
    let texts: &[Text] = match invocation {
        Invocation::Shell(text) => std::slice::from_ref(text),
        Invocation::Argv(words) => words,
    };
    texts
        .iter()
        .flat_map(Text::pieces)
        .any(|p| matches!(p, Piece::Free(Origin::Parameter(_)) | Piece::Rest(Origin::Parameter(_))))
}

/// The functions of a solved program whose runner calls depend on their parameters, directly or by
/// passing the parameter on to another such function.
pub(super) fn wrappers(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
) -> FxHashMap<(UnitId, FuncId), Vec<Wrapper>> {
    let mut found: FxHashMap<(UnitId, FuncId), Vec<Wrapper>> = FxHashMap::default();
    let mut units = vec![unit];
    // Functions of other units that this one calls, and of those that these call.
    let mut read = 0;
    while let Some(unit) = units.get(read).copied() {
        read += 1;
        for node in &solver.program(unit).exprs {
            let Expr::Call(call) = &node.expr else { continue };
            for value in solver.values_of(unit, call.callee) {
                if let Value::Func(u, _) | Value::Bound(u, _, _) | Value::Class(u, _) = value
                    && units.len() < MOST_UNITS
                    && !units.contains(&u)
                {
                    units.push(u);
                }
            }
        }
    }
    // What hands on is known once that is known which it hands on to.
    for unit in units.into_iter().rev() {
        direct(solver, unit, commands, &mut found);
        // A wrapper around a wrapper, three deep: nobody writes more.
        for _ in 0..3 {
            if !nested(solver, unit, commands, &mut found) {
                break;
            }
        }
    }
    found
}

fn direct(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
    found: &mut FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
) {
    let program = solver.program(unit);
    let builders = Builders::new(solver, unit);
    let handlers = Handlers::default();
    let runner = Runner { solver, unit, commands, builders: &builders, handlers: &handlers };
    let context = own_context(solver, unit);
    for (id, node) in program.exprs.iter().enumerate() {
        let Expr::Call(call) = &node.expr else { continue };
        for value in solver.values_of(unit, call.callee) {
            let Value::External { path, .. } = value else { continue };
            let Some(entry) = solver.catalogue(unit).runner(solver.interner.text(path)) else { continue };
            let Some(taker) = Taker::of(solver, unit, node.function, &call.args) else { continue };
            let given = Given { unit, lead: &[], args: &call.args, receiver: None };
            for invocation in runner.invocations(entry, given, id as ExprId) {
                let decided = actions(&invocation, commands, &context)
                    .iter()
                    .any(|a| a.confidence == Confidence::Certain);
                if has_parameter(&invocation) && !decided {
                    let list = found.entry((unit, taker.function)).or_default();
                    if list.len() < MOST_COMMANDS {
                        let runner = solver.interner.text(path).replace("()", "").replace("[]", "");
                        list.push(taker.wrapper(runner, Passed::Invocation(invocation)));
                    }
                }
            }
            if let Some(relay) = Relay::of(solver, unit, node.function, &call.args, path) {
                let runner = solver.interner.text(path).replace("()", "").replace("[]", "");
                let wrapper = taker.wrapper(runner, Passed::Everything(relay));
                found.entry((unit, node.function)).or_default().push(wrapper);
            }
        }
    }
}

fn nested(
    solver: &Solver<'_>,
    unit: UnitId,
    commands: &CommandCatalogue,
    found: &mut FxHashMap<(UnitId, FuncId), Vec<Wrapper>>,
) -> bool {
    let context = own_context(solver, unit);
    let program = solver.program(unit);
    let folder = Folder::new(solver);
    let mut new: Vec<((UnitId, FuncId), Wrapper)> = Vec::new();
    for (id, node) in program.exprs.iter().enumerate() {
        let Expr::Call(call) = &node.expr else { continue };
        if found.contains_key(&(unit, node.function)) {
            continue;
        }
        for value in solver.values_of(unit, call.callee) {
            let (target, skip) = match value {
                Value::Func(u, f) => ((u, f), 0),
                Value::Bound(u, f, _) => ((u, f), solver.receiver_params(u, f)),
                _ => continue,
            };
            let Some(wrappers) = found.get(&target) else { continue };
            let Some(taker) = Taker::of(solver, unit, node.function, &call.args) else { continue };
            if found.contains_key(&(unit, taker.function)) {
                continue;
            }
            for wrapper in wrappers {
                let caller = Caller { unit, id: id as ExprId, args: &call.args, skip, from_outside: false };
                for invocation in wrapper.invocations(solver, &folder, caller, commands) {
                    // What is decided here is a site here, whatever the callers add.
                    let decided = || {
                        actions(&invocation, commands, &context)
                            .iter()
                            .any(|a| a.confidence == Confidence::Certain)
                    };
                    if has_parameter(&invocation) && !decided() {
                        let mut outer = taker.wrapper(wrapper.runner.clone(), Passed::Invocation(invocation));
                        outer.is_kept |= wrapper.is_kept;
                        new.push(((unit, taker.function), outer));
                    }
                }
            }
        }
    }
    let changed = !new.is_empty();
    for (function, wrapper) in new {
        let list = found.entry(function).or_default();
        if list.len() < MOST_COMMANDS {
            list.push(wrapper);
        }
    }
    changed
}

/// The function whose parameters a command depends on: the one that runs it, or the constructor of its object.
struct Taker {
    function: FuncId,
    params: Vec<Parameter>,
    is_kept: bool,
}

impl Taker {
    fn of(solver: &Solver<'_>, unit: UnitId, function: FuncId, args: &[Arg]) -> Option<Taker> {
        let maker = solver.maker_behind(unit, function, args);
        let function = maker.unwrap_or(function);
        Some(Taker { function, params: params_around(solver, unit, function)?, is_kept: maker.is_some() })
    }

    fn wrapper(&self, runner: String, command: Passed) -> Wrapper {
        Wrapper { runner, command, params: self.params.clone(), is_kept: self.is_kept }
    }
}

/// The parameters of a function that has any.
fn params_around(solver: &Solver<'_>, unit: UnitId, function: FuncId) -> Option<Vec<Parameter>> {
    let program = solver.program(unit);
    let params = &program.functions[function as usize].params;
    let default = |param: &Param| {
        // What an annotation says is no value.
        let values = program.cells[param.cell as usize].values.iter();
        let mut values = values.map(|value| &program.exprs[*value as usize].expr);
        let is_value = |value: &&Expr| !matches!(value, Expr::Instance(_));
        // What is written out: this is asked of every function that calls anything.
        match (values.find(is_value), values.find(is_value)) {
            (Some(Expr::Str(text)), None) => Some(Text::literal(text.as_str())),
            _ => None,
        }
    };
    let all = params.iter().map(|param| Parameter {
        name: param.name.clone(),
        spread: param.spread,
        default: default(param),
    });
    (!params.is_empty()).then(|| all.collect())
}
