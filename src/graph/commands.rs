//! Operations that run a command: what the command is.

use super::build::{Builders, Built};
use super::fold::{Folder, join_words};
use super::handlers::Handlers;
use super::link::{Files, parent};
use super::passed::has_parameter;
use super::sites::Given;
use super::solve::Solver;
use super::value::UnitId;
use crate::base::effect::Effect;
use crate::base::facts::Language;
use crate::base::ir::{Arg, Expr, ExprId, Spread};
use crate::base::site::{Confidence, Target, Via};
use crate::base::text::{Origin, Text};
use crate::command::{Action, CommandContext, Invocation, actions};
use crate::data::commands::CommandCatalogue;
use crate::data::primitives::{ArgRef, RunnerEntry, RunnerForm};

/// Reads the commands of one unit's runner calls.
pub(super) struct Runner<'f, 'a> {
    pub(super) solver: &'f Solver<'a>,
    pub(super) unit: UnitId,
    pub(super) commands: &'f CommandCatalogue,
    /// The unit's commands that are built step by step.
    pub(super) builders: &'f Builders,
    /// The unit's functions whose callers lie outside the tree.
    pub(super) handlers: &'f Handlers,
}

/// What a runner call does.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Actions, with how the command is written, and the call that starts it where that is another
    /// than the one that names it.
    pub(super) actions: Vec<(Action, Via, Option<ExprId>)>,
    /// The interpreter is started with arguments that nothing is known of.
    pub(super) free_respawn: bool,
}

impl<'f, 'a> Runner<'f, 'a> {
    /// The actions of a runner call. Where the command depends on a parameter of the enclosing
    /// function, its callers decide, if there can be any: see [`passed`](super::passed).
    pub(super) fn actions(&self, entry: &RunnerEntry, given: Given<'_>, id: ExprId) -> Outcome {
        if entry.form == RunnerForm::Builder {
            return self.built(entry, given, id);
        }
        let context = own_context(self.solver, self.unit);
        let mut outcome = Outcome::default();
        for invocation in self.invocations(entry, given, id) {
            let via = match invocation {
                Invocation::Shell(_) => Via::ShellString,
                Invocation::Argv(_) => Via::ArgvList,
            };
            if let Invocation::Argv(words) = &invocation
                && words.first().and_then(Text::origin) == Some(Origin::Interpreter)
                && words.get(1).is_some_and(|w| {
                    w.is_rest() && matches!(w.origin(), Some(Origin::Unknown | Origin::Parameter(_)))
                })
            {
                outcome.free_respawn = true;
            }
            let depends = self.depends(&invocation, id);
            let earlier = outcome.actions.len();
            for action in actions(&invocation, self.commands, &context) {
                if depends && action.confidence != Confidence::Certain {
                    continue;
                }
                // What one call may run instead is no second site: the one whose target is known stands.
                let instead =
                    outcome.actions.iter_mut().take(earlier).find(|(a, ..)| a.effect == action.effect);
                if let Some((other, other_via, _)) = instead {
                    if !aims(other.target.as_ref()) && aims(action.target.as_ref()) {
                        (*other, *other_via) = (action, via);
                    }
                    continue;
                }
                if !outcome.actions.iter().any(|(a, ..)| same_action(a, &action)) {
                    outcome.actions.push((action, via, None));
                }
            }
        }
        outcome
    }

    /// Whether the callers of the enclosing function decide what is run.
    fn depends(&self, invocation: &Invocation, id: ExprId) -> bool {
        has_parameter(invocation) && !self.is_called_from_outside(id)
    }

    /// Whether an expression stands in a function that is called from outside the tree.
    fn is_called_from_outside(&self, id: ExprId) -> bool {
        let function = self.solver.program(self.unit).exprs[id as usize].function;
        self.handlers.holds(self.solver, self.unit, function)
    }

    /// A command that is built: a new copy of this program where it is named, any other command
    /// where it is run.
    fn built(&self, entry: &RunnerEntry, given: Given<'_>, id: ExprId) -> Outcome {
        let context = own_context(self.solver, self.unit);
        let mut outcome = Outcome::default();
        for built in self.builders.of(id) {
            let calls = |methods: &[String]| -> Vec<ExprId> {
                built.steps.iter().filter(|s| methods.contains(&s.name)).map(|s| s.call).collect()
            };
            let (runs, replaces) = (calls(&entry.run_methods), calls(&entry.replace_methods));
            for invocation in self.built_invocations(entry, given, &built) {
                let depends = self.depends(&invocation, id);
                for mut action in actions(&invocation, self.commands, &context) {
                    if depends && action.confidence != Confidence::Certain {
                        continue;
                    }
                    // The replacement is the site.
                    if runs.is_empty() && !replaces.is_empty() {
                        continue;
                    }
                    let places: Vec<Option<ExprId>> = match action.effect {
                        Effect::Respawn if !replaces.is_empty() => continue,
                        Effect::Respawn => vec![None],
                        _ if runs.is_empty() => {
                            action.confidence = action.confidence.min(Confidence::Likely);
                            vec![None]
                        }
                        _ => runs.iter().copied().map(Some).collect(),
                    };
                    for place in places {
                        let known = |(a, _, p): &(Action, Via, Option<ExprId>)| {
                            same_action(a, &action) && *p == place
                        };
                        if !outcome.actions.iter().any(known) {
                            outcome.actions.push((action.clone(), Via::ArgvList, place));
                        }
                    }
                }
            }
        }
        outcome
    }

    fn built_invocations(&self, entry: &RunnerEntry, given: Given<'_>, built: &Built) -> Vec<Invocation> {
        let folder = Folder::new(self.solver);
        let mut rest = Vec::new();
        for step in &built.steps {
            let Expr::Call(call) = &self.solver.program(self.unit).exprs[step.call as usize].expr else {
                continue;
            };
            let Some(arg) = call.args.first() else { continue };
            if entry.word_methods.contains(&step.name) {
                rest.push(one_text(folder.texts(self.unit, arg.value)));
            } else if entry.list_methods.contains(&step.name) {
                match folder.lists(self.unit, arg.value).into_iter().next() {
                    Some(list) => rest.extend(list),
                    None => rest.push(Text::rest(Origin::Unknown)),
                }
            }
        }
        let programs = given.get(&entry.command).map_or_else(Vec::new, |c| folder.texts(given.unit, c));
        programs
            .into_iter()
            .map(|program| Invocation::Argv(std::iter::once(program).chain(rest.iter().cloned()).collect()))
            .collect()
    }

    /// The commands that a runner call may run.
    pub(super) fn invocations(&self, entry: &RunnerEntry, given: Given<'_>, id: ExprId) -> Vec<Invocation> {
        let invocations = self.folded(&Folder::new(self.solver), entry, given, id);
        // What is a function's from outside is asked only where that decides.
        if invocations.iter().any(has_parameter) && self.is_called_from_outside(id) {
            return self.folded(&Folder::from_outside(self.solver), entry, given, id);
        }
        invocations
    }

    fn folded(
        &self,
        folder: &Folder<'_, '_>,
        entry: &RunnerEntry,
        given: Given<'_>,
        id: ExprId,
    ) -> Vec<Invocation> {
        let command = self.argument(given, &entry.command);
        let list = entry
            .list
            .as_ref()
            .and_then(|at| self.argument(given, at))
            // Options or a callback in the place of a list that was left out.
            .filter(|list| !self.solver.is_options(given.unit, *list));
        let as_shell = |texts: Vec<Text>| texts.into_iter().map(Invocation::Shell).collect::<Vec<_>>();
        let as_argv = |lists: Vec<Vec<Text>>| lists.into_iter().map(Invocation::Argv).collect::<Vec<_>>();
        match entry.form {
            RunnerForm::Shell | RunnerForm::Template => {
                command.map_or_else(Vec::new, |c| as_shell(folder.texts(given.unit, c)))
            }
            RunnerForm::Auto => {
                let Some(command) = command else { return Vec::new() };
                let lists = folder.lists(given.unit, command);
                let shell = entry
                    .shell
                    .as_ref()
                    .and_then(|at| given.get(at))
                    .and_then(|s| folder.truth(given.unit, s));
                let asks_shell = entry.shell.as_ref().is_some_and(|at| given.get(at).is_some());
                if !lists.is_empty() && shell != Some(true) {
                    // The program that really runs may be named beside its words.
                    let program = given.named("executable").map(|p| folder.texts(given.unit, p));
                    let mut lists = lists;
                    if let Some([program]) = program.as_deref() {
                        for first in lists.iter_mut().filter_map(|words| words.first_mut()) {
                            *first = program.clone();
                        }
                    }
                    return as_argv(lists);
                }
                let texts = folder.texts(given.unit, command);
                match (asks_shell, shell) {
                    (true, Some(true) | None) => {
                        let mut all = as_shell(texts);
                        // With a shell, a list's first word is the command line.
                        all.extend(
                            lists.into_iter().filter_map(|l| l.into_iter().next()).map(Invocation::Shell),
                        );
                        all
                    }
                    _ => texts.into_iter().map(|t| Invocation::Argv(vec![whole_command(t)])).collect(),
                }
            }
            RunnerForm::StringOrList => {
                let Some(command) = command else { return Vec::new() };
                let lists = folder.lists(given.unit, command);
                if lists.is_empty() { as_shell(folder.texts(given.unit, command)) } else { as_argv(lists) }
            }
            RunnerForm::Argv => command
                .or_else(|| given.get(&entry.command))
                .map_or_else(Vec::new, |c| as_argv(folder.lists(given.unit, c))),
            RunnerForm::Split => command.map_or_else(Vec::new, |c| as_shell(folder.texts(given.unit, c))),
            RunnerForm::Words => {
                let from = entry.command.arg.unwrap_or(0);
                as_argv(self.words(folder, given, from))
            }
            RunnerForm::Program | RunnerForm::ProgramArgv0 => {
                let Some(command) = command else { return Vec::new() };
                let skip = usize::from(entry.form == RunnerForm::ProgramArgv0);
                let rest = list.map_or_else(Vec::new, |l| folder.lists(given.unit, l));
                let programs = folder.texts(given.unit, command);
                // Unknown means that a shell may read the program where no list says otherwise.
                let asked = entry.shell.as_ref().and_then(|at| self.shell_option(given, at, list.is_none()));
                let truth = asked.and_then(|s| folder.truth(given.unit, s));
                let shell = asked.is_some() && (truth == Some(true) || truth.is_none() && list.is_none());
                let mut all = Vec::new();
                for program in programs {
                    if shell {
                        let mut line = vec![program];
                        line.extend(rest.first().into_iter().flatten().cloned());
                        all.push(Invocation::Shell(join_words(&line, " ")));
                        continue;
                    }
                    let rests = if rest.is_empty() {
                        vec![if list.is_some() { vec![Text::rest(Origin::Unknown)] } else { Vec::new() }]
                    } else {
                        rest.clone()
                    };
                    for rest in rests {
                        let mut words = vec![program.clone()];
                        words.extend(rest.into_iter().skip(skip));
                        if let Some(before) = &entry.before {
                            words.insert(0, Text::literal(before.clone()));
                        }
                        all.push(Invocation::Argv(words));
                    }
                }
                all
            }
            RunnerForm::Builder => self
                .builders
                .of(id)
                .iter()
                .flat_map(|built| self.built_invocations(entry, given, built))
                .collect(),
        }
    }

    /// The list of which one argument is the first element, and the next, spread, the rest.
    fn taken_apart(&self, unit: UnitId, first: &Arg, rest: &Arg) -> Option<ExprId> {
        let exprs = &self.solver.program(unit).exprs;
        let variable = |id: ExprId| match exprs.get(id as usize)?.expr {
            Expr::Cell(cell) => Some(cell),
            _ => None,
        };
        let list = match exprs.get(first.value as usize)?.expr {
            Expr::Item(list, 0) => list,
            Expr::Index { base, key } if matches!(exprs.get(key as usize)?.expr, Expr::Int(0)) => base,
            _ => return None,
        };
        match exprs.get(rest.value as usize)?.expr {
            Expr::Slice(of, Some(1)) if rest.spread != Spread::No && variable(of)? == variable(list)? => {
                Some(list)
            }
            _ => None,
        }
    }

    /// The argument that a reference means; a member of it where the reference names one.
    fn argument(&self, given: Given<'_>, at: &ArgRef) -> Option<ExprId> {
        let argument = given.get(at)?;
        match &at.member {
            Some(member) => self.solver.member_of(given.unit, argument, member),
            None => Some(argument),
        }
    }

    /// The option that asks for a shell; one argument earlier where the list was left out.
    fn shell_option(&self, given: Given<'_>, at: &ArgRef, no_list: bool) -> Option<ExprId> {
        self.argument(given, at).or_else(|| {
            let earlier = at.arg.filter(|_| no_list && at.member.is_some())?.checked_sub(1)?;
            self.argument(given, &ArgRef { arg: Some(earlier), ..at.clone() })
        })
    }

    /// The words that the arguments are. Where one argument can be several things, each is one command;
    /// arguments with as many choices go together (`exec(c[0], c[1:])`).
    fn words(&self, folder: &Folder<'_, '_>, given: Given<'_>, from: usize) -> Vec<Vec<Text>> {
        let mut columns: Vec<Vec<Vec<Text>>> = Vec::new();
        let args: Vec<&Arg> =
            given.lead.iter().chain(given.args).filter(|a| a.name.is_none()).skip(from).collect();
        let mut whole = None;
        for (at, arg) in args.iter().enumerate() {
            if whole == Some(at) {
                continue;
            }
            // A list that is given as its first word and the rest of it.
            if let Some(list) = args.get(at + 1).and_then(|rest| self.taken_apart(given.unit, arg, rest)) {
                let lists = folder.lists(given.unit, list);
                if !lists.is_empty() {
                    columns.push(lists);
                    whole = Some(at + 1);
                    continue;
                }
            }
            let lists = folder.lists(given.unit, arg.value);
            let is_list =
                matches!(self.solver.program(given.unit).exprs[arg.value as usize].expr, Expr::Seq(_));
            columns.push(match arg.spread {
                Spread::No if is_list && !lists.is_empty() => lists,
                Spread::No => folder.texts(given.unit, arg.value).into_iter().map(|t| vec![t]).collect(),
                _ if lists.is_empty() => vec![vec![Text::rest(Origin::Unknown)]],
                _ => lists,
            });
        }
        let most = columns.iter().map(Vec::len).max().unwrap_or(1);
        let row = |at: usize| {
            columns
                .iter()
                .flat_map(|choices| match choices.as_slice() {
                    [only] => only.clone(),
                    many if many.len() == most => many.get(at).cloned().unwrap_or_default(),
                    many if many.iter().all(|m| matches!(m.as_slice(), [word] if !word.is_rest())) => {
                        vec![Text::free(Origin::Unknown)]
                    }
                    _ => vec![Text::rest(Origin::Unknown)],
                })
                .collect()
        };
        (0..most).map(row).collect()
    }
}

/// A string without a shell is a program's name.
fn whole_command(text: Text) -> Text {
    text
}

pub(super) fn one_text(mut texts: Vec<Text>) -> Text {
    if texts.len() == 1 { texts.remove(0) } else { Text::free(Origin::Unknown) }
}

/// Whether a part of a target is written out.
pub(super) fn aims(target: Option<&Target>) -> bool {
    target.is_some_and(|t| t.text.chars().any(|c| c != '…'))
}

pub(super) fn same_action(a: &Action, b: &Action) -> bool {
    a.effect == b.effect && a.primitive == b.primitive && a.span == b.span
}

/// What the classifier must know of a unit as a caller.
pub(super) fn own_context(solver: &Solver<'_>, unit: UnitId) -> CommandContext {
    let state = &solver.units()[unit as usize];
    let name = state.path.rsplit('/').next().unwrap_or(state.path);
    let mut context = CommandContext { own_script: Some(name.to_owned()), ..CommandContext::default() };
    if state.language == Language::Python {
        context.own_packages = own_packages(solver.files(), state.path);
        context.own_module = context.own_packages.pop();
    }
    context
}

/// The dotted names of the packages that a Python file lies in, and last that of its own module.
fn own_packages(files: &Files, path: &str) -> Vec<String> {
    let packages = files.python_packages(path);
    let outermost = packages.first().map_or(path, String::as_str);
    // Folders without a file of their own are packages too, of which it is not known where they begin.
    let root = match outermost.strip_suffix("/__init__.py") {
        Some(folder) => parent(folder),
        None if path.starts_with("src/") => "src",
        None => "",
    };
    let dotted = |path: &str| {
        let module = path.strip_suffix(".py").unwrap_or(path);
        let own = ["/__main__", "/__init__"].iter().find_map(|own| module.strip_suffix(own));
        let module = own.unwrap_or(module);
        module.strip_prefix(root).unwrap_or(module).trim_start_matches('/').replace('/', ".")
    };
    packages.iter().map(String::as_str).chain([path]).map(dotted).collect()
}
