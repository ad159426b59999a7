//! What an analysis of a command line yields: the actions, and what stayed undecided.

use crate::base::effect::Effect;
use crate::base::site::Target;
use crate::base::span::Span;
use crate::data::commands::CommandCatalogue;

use super::action::{Action, CommandContext, Invocation, Runs};
use super::engine::Engine;

/// One thing that an action is aimed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aim {
    /// What is named, as written.
    pub target: Target,
    /// Every part of it is known.
    pub known: bool,
    /// The command whose matching rules hold: `pkill`, `pgrep`, `killall`, `grep`, `kill` …
    pub by: String,
    /// The options that the target is matched under (`-f`, `-x`, `-i`, `/IM` …).
    pub options: Vec<String>,
}

/// An action with all that decides whether it hits a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The action.
    pub action: Action,
    /// All that it is aimed at; empty if it names nothing.
    pub aims: Vec<Aim>,
    /// It acts on all that it can reach (a host, a whole project).
    pub whole: bool,
    /// The host that it runs on, if it is not this one.
    pub remote: Option<String>,
}

/// Why something of a command line cannot be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UndecidedReason {
    /// The command's name is not known.
    FreeCommand,
    /// What a supervisor is asked to do is not known.
    FreeVerb,
    /// A script is made of text that is not known.
    FreeText,
    /// A shell reads its script from somewhere that cannot be read.
    UnreadableInput,
    /// The text does not parse.
    Syntax,
    /// The text nests too deep, or is too long.
    TooLarge,
    /// The shell makes other words of what is written, by braces or wildcards.
    Expansion,
    /// A quoted text holds a substitution that arithmetic runs.
    HiddenCode,
    /// A later name may mean another command.
    Renamed,
    /// A task whose definition cannot be read, with a name that speaks of ending something.
    Task,
    /// It writes to a file by which the kernel acts on processes.
    KernelFile,
}

/// Something that cannot be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// Why.
    pub reason: UndecidedReason,
    /// Where, in the given string.
    pub span: Span,
}

/// A program of another language that stands in the command line (`python -c`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inline {
    /// The interpreter's name, without version: `python`, `node`, `perl`.
    pub interpreter: String,
    /// The program's text; `None` if it is not known in full.
    pub code: Option<String>,
    /// The command's place.
    pub span: Span,
    /// Commands that it is nested in, outermost first.
    pub nested_in: Vec<String>,
    /// The host that it runs on, if it is not this one.
    pub remote: Option<String>,
}

/// A program that no rule knows, which may run what its arguments say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// Its name.
    pub program: String,
    /// The name, the arguments, variables set for it and what it reads, as far as they are known.
    pub texts: Vec<String>,
    /// The command's place.
    pub span: Span,
    /// Commands that it is nested in, outermost first.
    pub nested_in: Vec<String>,
    /// The host that it runs on, if it is not this one.
    pub remote: Option<String>,
}

/// All that one command line says.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    /// Actions, in the order of the text.
    pub found: Vec<Found>,
    /// What stayed open. Only filled in strict mode.
    pub undecided: Vec<Undecided>,
    /// Programs of other languages.
    pub inline: Vec<Inline>,
    /// Programs that no rule knows. Only filled in strict mode.
    pub loose: Vec<Loose>,
    /// Files and tasks that it runs and that were not given. Only filled in strict mode.
    pub wanted: Vec<Runs>,
    /// Places of the given text that are not valid in the grammar.
    pub faults: Vec<Span>,
    /// Something of the given text was not read: it nests too deep, or costs too much.
    pub gave_up: bool,
    /// Functions that the given text defines, by name.
    pub functions: Vec<(String, Span)>,
}

/// What a command does to processes, as a linter sees it: every action, sorted by place.
pub fn actions(
    invocation: &Invocation,
    catalogue: &CommandCatalogue,
    context: &CommandContext,
) -> Vec<Action> {
    analyse(invocation, catalogue, context, false).found.into_iter().map(|f| f.action).collect()
}

/// What a command does to processes, with its aims. In strict mode, which the guard uses,
/// a variable that may hold something else than the text assigns keeps an unknown value, and
/// all that cannot be decided is listed.
pub fn analyse(
    invocation: &Invocation,
    catalogue: &CommandCatalogue,
    context: &CommandContext,
    strict: bool,
) -> Analysis {
    let mut analysis = Engine::run(invocation, catalogue, context, strict);
    analysis.found.sort_by_key(|f| (f.action.span, f.action.effect));
    analysis
}

/// Whether an effect is one that the guard judges.
pub fn ends_others(effect: Effect) -> bool {
    matches!(effect, Effect::Kill | Effect::Supervise)
}
