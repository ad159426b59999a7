//! Functions that hand on all that they are given to what runs a command, whatever it is: `def sh(*args,
//! **options): return subprocess.run(*args, **options)`. A call of one is a call of the runner.

use super::build::Builders;
use super::commands::Runner;
use super::fold::Folder;
use super::handlers::Handlers;
use super::passed::Caller;
use super::sites::Given;
use super::solve::Solver;
use super::value::{Symbol, UnitId};
use crate::base::ir::{Arg, Expr, FuncId, Spread};
use crate::command::Invocation;
use crate::data::commands::CommandCatalogue;
use crate::data::primitives::RunnerForm;

/// How a function hands on what it is given.
#[derive(Debug, Clone)]
pub(super) struct Relay {
    runner: Symbol,
    /// The parameter that collects what is handed on.
    from: usize,
    /// It asks for a shell itself.
    in_shell: bool,
}

impl Relay {
    /// How a call of a runner hands on the parameters of the function around it, if it hands on all of them.
    pub(super) fn of(
        solver: &Solver<'_>,
        unit: UnitId,
        function: FuncId,
        args: &[Arg],
        runner: Symbol,
    ) -> Option<Relay> {
        let program = solver.program(unit);
        let entry = solver.catalogue(unit).runner(solver.interner.text(runner))?;
        // What takes its words one by one is read with those that its own call adds.
        if matches!(entry.form, RunnerForm::Words | RunnerForm::Builder) || entry.command.arg != Some(0) {
            return None;
        }
        let first = args.iter().find(|arg| arg.name.is_none())?;
        let Expr::Cell(cell) = program.exprs[first.value as usize].expr else { return None };
        let (of, from, spread) = solver.parameter(unit, cell)?;
        if first.spread != Spread::Sequence || spread != Spread::Sequence || of != function {
            return None;
        }
        let shell = entry.shell.as_ref().and_then(|at| at.keyword.as_deref());
        let in_shell = args.iter().any(|arg| {
            arg.name.is_some()
                && arg.name.as_deref() == shell
                && Folder::new(solver).truth(unit, arg.value) == Some(true)
        });
        Some(Relay { runner, from: usize::from(from), in_shell })
    }

    /// The commands that a call of the function may run.
    pub(super) fn invocations(
        &self,
        solver: &Solver<'_>,
        caller: Caller<'_>,
        commands: &CommandCatalogue,
    ) -> Vec<Invocation> {
        let catalogue = solver.catalogue(caller.unit);
        let Some(entry) = catalogue.runner(solver.interner.text(self.runner)) else { return Vec::new() };
        let Some(taken) = self.from.checked_sub(caller.skip) else { return Vec::new() };
        let mut before = taken;
        let args: Vec<Arg> = caller
            .args
            .iter()
            .filter(|arg| {
                let is_taken = arg.name.is_none() && before > 0;
                before -= usize::from(is_taken);
                !is_taken
            })
            .cloned()
            .collect();
        let (builders, handlers) = (Builders::default(), Handlers::default());
        let runner = Runner { solver, unit: caller.unit, commands, builders: &builders, handlers: &handlers };
        let given = Given { unit: caller.unit, lead: &[], args: &args, receiver: None };
        let invocations = runner.invocations(entry, given, caller.id);
        // A text that is run without a shell is a program's name; with one it is a command line.
        let as_read = |invocation: Invocation| match invocation {
            Invocation::Argv(words) if self.in_shell => match words.into_iter().next() {
                Some(line) => Invocation::Shell(line),
                None => Invocation::Argv(Vec::new()),
            },
            other => other,
        };
        invocations.into_iter().map(as_read).collect()
    }
}
