//! Functions of the tree that only pass a command on: what a call of one runs, with the arguments in
//! the place of the parameters that reach the runner.

use rustc_hash::FxHashMap;

use super::build::Builders;
use super::commands::{Runner, one_text, own_context, same_action};
use super::fold::Folder;
use super::handlers::Handlers;
use super::sites::Given;
use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::ir::{Arg, Expr, ExprId, FuncId, Param, Spread};
use crate::base::site::Confidence;
use crate::base::text::{Origin, Piece, Text};
use crate::command::{Action, Invocation, actions};
use crate::data::commands::CommandCatalogue;

/// Files whose functions are looked at for what one file's calls run.
const MOST_UNITS: usize = 16;

/// A function that runs a command which depends on its parameters.
#[derive(Debug, Clone)]
pub(super) struct Wrapper {
    runner: String,
    invocation: Invocation,
    params: Vec<Parameter>,
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

    /// Whether it names a command itself, and is given the rest: then it matters to whoever calls it, not
    /// only to those who name one.
    pub(super) fn brings_a_command(&self, commands: &CommandCatalogue) -> bool {
        let texts = match &self.invocation {
            Invocation::Shell(text) => std::slice::from_ref(text),
            Invocation::Argv(words) => words.as_slice(),
        };
        let literals = texts.iter().flat_map(Text::pieces).filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            _ => None,
        });
        let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
        literals.flat_map(str::split_whitespace).any(|word| commands.commands(&name(word)).next().is_some())
    }

    /// What a call of the function with these arguments does. `skip`: parameters that the receiver takes.
    pub(super) fn actions(
        &self,
        solver: &Solver<'_>,
        unit: UnitId,
        args: &[Arg],
        skip: usize,
        commands: &CommandCatalogue,
    ) -> Vec<Action> {
        let folder = Folder::new(solver);
        let context = own_context(solver, unit);
        let substitute = Substitution { folder: &folder, unit, args, skip, params: &self.params };
        let mut found: Vec<Action> = Vec::new();
        for invocation in substitute.invocations(&self.invocation) {
            // The own arguments handed on whole say nothing that the helper's own call does not.
            let bare = matches!(&invocation, Invocation::Argv(words)
                if matches!(words.as_slice(), [only] if only.is_rest()));
            if bare || !literal_enough(&invocation) {
                continue;
            }
            for action in actions(&invocation, commands, &context) {
                if !found.iter().any(|a| same_action(a, &action)) {
                    found.push(action);
                }
            }
        }
        found
    }
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
                _ => vec![Invocation::Shell(self.text(text))],
            },
            Invocation::Argv(words) => {
                let mut out = Vec::new();
                for word in words {
                    match word.pieces() {
                        [Piece::Rest(Origin::Parameter(param))] => match self.rest(*param) {
                            Some(list) => out.extend(list),
                            None => out.push(Text::rest(Origin::Unknown)),
                        },
                        _ => out.push(self.text(word)),
                    }
                }
                vec![Invocation::Argv(out)]
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

    fn text(&self, text: &Text) -> Text {
        let mut out = Text::default();
        for piece in text.pieces() {
            match piece {
                Piece::Free(Origin::Parameter(param)) => match self.arg(*param) {
                    Some(arg) => out.extend(&one_text(self.folder.texts(self.unit, arg))),
                    None => match self.default(*param) {
                        Some(text) => out.extend(text),
                        None => out.push(Piece::Free(Origin::Unknown)),
                    },
                },
                other => out.push(other.clone()),
            }
        }
        out
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
                if let Value::Func(u, _) | Value::Bound(u, _, _) = value
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
        let Some(params) = params_around(solver, unit, node.function) else { continue };
        for value in solver.values_of(unit, call.callee) {
            let Value::External { path, .. } = value else { continue };
            let Some(entry) = solver.catalogue(unit).runner(solver.interner.text(path)) else { continue };
            let given = Given { unit, lead: &[], args: &call.args, receiver: None };
            for invocation in runner.invocations(entry, given, id as ExprId) {
                let decided = actions(&invocation, commands, &context)
                    .iter()
                    .any(|a| a.confidence == Confidence::Certain);
                if has_parameter(&invocation) && !decided {
                    let list = found.entry((unit, node.function)).or_default();
                    if list.len() < 8 {
                        let runner = solver.interner.text(path).replace("()", "").replace("[]", "");
                        list.push(Wrapper { runner, invocation, params: params.clone() });
                    }
                }
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
    for node in &program.exprs {
        let Expr::Call(call) = &node.expr else { continue };
        if found.contains_key(&(unit, node.function)) {
            continue;
        }
        let Some(params) = params_around(solver, unit, node.function) else { continue };
        for value in solver.values_of(unit, call.callee) {
            let (target, skip) = match value {
                Value::Func(u, f) => ((u, f), 0),
                Value::Bound(u, f, _) => ((u, f), solver.receiver_params(u, f)),
                _ => continue,
            };
            for wrapper in found.get(&target).into_iter().flatten() {
                let substitute =
                    Substitution { folder: &folder, unit, args: &call.args, skip, params: &wrapper.params };
                for invocation in substitute.invocations(&wrapper.invocation) {
                    // What is decided here is a site here, whatever the callers add.
                    let decided = || {
                        actions(&invocation, commands, &context)
                            .iter()
                            .any(|a| a.confidence == Confidence::Certain)
                    };
                    if has_parameter(&invocation) && !decided() {
                        let runner = wrapper.runner.clone();
                        let outer = Wrapper { runner, invocation, params: params.clone() };
                        new.push(((unit, node.function), outer));
                    }
                }
            }
        }
    }
    let changed = !new.is_empty();
    for (function, wrapper) in new {
        let list = found.entry(function).or_default();
        if list.len() < 8 {
            list.push(wrapper);
        }
    }
    changed
}

/// The parameters of a function that has any.
fn params_around(solver: &Solver<'_>, unit: UnitId, function: FuncId) -> Option<Vec<Parameter>> {
    let program = solver.program(unit);
    let params = &program.functions[function as usize].params;
    let default = |param: &Param| match program.cells[param.cell as usize].values.as_slice() {
        // What is written out: this is asked of every function that calls anything.
        [only] => match &program.exprs[*only as usize].expr {
            Expr::Str(text) => Some(Text::literal(text.as_str())),
            _ => None,
        },
        _ => None,
    };
    let all = params.iter().map(|param| Parameter {
        name: param.name.clone(),
        spread: param.spread,
        default: default(param),
    });
    (!params.is_empty()).then(|| all.collect())
}
