//! The shape of a primitive catalogue's TOML: entries as they are written, before they are
//! indexed for look-ups.

use serde::Deserialize;

use crate::base::effect::Effect;

/// Which argument of a call is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArgRef {
    /// Its position, from 0; absent if it can only be given by keyword.
    pub arg: Option<usize>,
    /// Its keyword.
    pub keyword: Option<String>,
    /// The object that the method is called on, instead of an argument.
    #[serde(default)]
    pub receiver: bool,
    /// A member of an options object that stands at `arg` (JavaScript).
    pub member: Option<String>,
}

/// What an argument must be for the call to be a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Given, and not known to be false.
    Truthy,
    /// A file that a client or server watches: see [`Catalogue::is_trigger`].
    Trigger,
    /// The program's own executable, script or arguments.
    OwnProgram,
    /// Any value, but given.
    Given,
}

/// An argument test.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgTest {
    /// See [`ArgRef::arg`].
    pub arg: Option<usize>,
    /// See [`ArgRef::keyword`].
    pub keyword: Option<String>,
    /// See [`ArgRef::receiver`].
    #[serde(default)]
    pub receiver: bool,
    /// See [`ArgRef::member`].
    pub member: Option<String>,
    /// What it must be.
    pub is: Condition,
}

impl ArgTest {
    /// Which argument is tested.
    pub fn at(&self) -> ArgRef {
        ArgRef {
            arg: self.arg,
            keyword: self.keyword.clone(),
            receiver: self.receiver,
            member: self.member.clone(),
        }
    }
}

/// One `[[primitive]]` table: names that share an effect and its tests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PrimitiveEntry {
    /// Access paths.
    pub names: Vec<String>,
    /// The effect of a call.
    pub effect: Effect,
    /// The name that is reported; by default the access path without `()` and `[]`.
    pub canonical: Option<String>,
    /// What is reported before the path's last component, instead of what stands before it.
    pub prefix: Option<String>,
    /// Where the pid stands: this process's own makes it `terminate`, an own child no site.
    pub pid: Option<ArgRef>,
    /// The pid is a process group's.
    #[serde(default)]
    pub group: bool,
    /// Where the signal stands: 0 is a probe and no site.
    pub signal: Option<ArgRef>,
    /// A signal argument that is absent is a probe (nix's `kill(pid, None)`).
    #[serde(default)]
    pub null_signal_is_probe: bool,
    /// At least one of these must hold, if there are any.
    #[serde(default)]
    pub when: Vec<ArgTest>,
    /// An argument that, when known to be false, makes the call no site.
    pub unless_false: Option<ArgRef>,
    /// Assigning to or deleting the path is the site, not calling it.
    #[serde(default)]
    pub statement: bool,
}

/// How a runner takes its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunnerForm {
    /// A string that a shell parses.
    Shell,
    /// A list is an argument list; a string is a shell's if `shell` holds, else a program name.
    Auto,
    /// An argument list.
    Argv,
    /// Each argument from `command` on is a word.
    Words,
    /// A program at `command`, and an argument list at `list`.
    Program,
    /// A program at `command`, and an argument list at `list` whose first word is the program's name again.
    ProgramArgv0,
    /// A program at `command`; `args` methods of the result add words; `run` methods start it.
    Builder,
    /// A template string whose free parts are quoted words.
    Template,
    /// A command line that is split at white space.
    Split,
    /// A string is a shell's command line, a list an argument list.
    StringOrList,
}

/// One `[[runner]]` table: operations that run a command.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerEntry {
    /// Access paths.
    pub names: Vec<String>,
    /// How the command is given.
    pub form: RunnerForm,
    /// Where it stands.
    #[serde(default)]
    pub command: ArgRef,
    /// Where the argument list stands, for the program forms.
    pub list: Option<ArgRef>,
    /// The argument that asks for a shell.
    pub shell: Option<ArgRef>,
    /// A program that stands before the command (`fork` runs the runtime).
    pub before: Option<String>,
    /// For builders: methods that add one word each.
    #[serde(default)]
    pub word_methods: Vec<String>,
    /// For builders: methods that add a list of words.
    #[serde(default)]
    pub list_methods: Vec<String>,
    /// For builders: methods that start the program.
    #[serde(default)]
    pub run_methods: Vec<String>,
    /// For builders: methods that replace this process by the program.
    #[serde(default)]
    pub replace_methods: Vec<String>,
}

/// One `[[value]]` table: what an access path stands for where commands are folded.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueEntry {
    pub(super) names: Vec<String>,
    pub(super) is: ValueKind,
}

/// What a known value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// The interpreter that runs this program.
    Interpreter,
    /// The file of this program.
    OwnScript,
    /// This program's arguments with its own name.
    OwnArgv,
    /// The runtime, then this program's arguments with its own name (`process.argv`).
    RuntimeArgv,
    /// Words that do not matter, such as options of the runtime.
    NoWords,
    /// This program's executable.
    OwnProgram,
    /// The dotted name of the module that this file is.
    OwnModule,
    /// The dotted name of the package that this file lies in.
    OwnPackage,
    /// This process's pid.
    OwnPid,
    /// This process's group.
    OwnGroup,
    /// A child's handle.
    Child,
    /// A child's pid.
    ChildPid,
    /// The pid that a child's handle gives: the child's, where the handle's maker is known.
    HandlePid,
    /// The first argument, unchanged as far as commands go.
    FirstArgument,
    /// The directory of the first argument: no longer this program.
    Directory,
    /// The arguments joined as a path.
    JoinedPath,
    /// The first argument split at white space.
    Split,
    /// The words of the first argument as one string, joined by the second argument or a blank.
    JoinedWords,
    /// The first argument with its `%` verbs replaced by the further arguments.
    Formatted,
    /// The group of the process that the first argument names.
    GroupOf,
}

/// One `[[taker]]` table: operations that call what they are given.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TakerEntry {
    pub(super) names: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RenameEntry {
    pub(super) from: Vec<String>,
    pub(super) to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawCatalogue {
    #[serde(default)]
    pub(super) primitive: Vec<PrimitiveEntry>,
    #[serde(default)]
    pub(super) runner: Vec<RunnerEntry>,
    #[serde(default)]
    pub(super) value: Vec<ValueEntry>,
    #[serde(default)]
    pub(super) taker: Vec<TakerEntry>,
    #[serde(default)]
    pub(super) rename: Vec<RenameEntry>,
    /// Names of methods that are given functions which others outside call.
    #[serde(default)]
    pub(super) registrars: Vec<String>,
    /// Names of functions and methods that call their first argument with each element of the second.
    #[serde(default)]
    pub(super) each_takers: Vec<String>,
    /// Functions that look at a callable and do not call it.
    #[serde(default)]
    pub(super) observers: Vec<String>,
    /// Functions and decorators that give back their first argument as it is.
    #[serde(default)]
    pub(super) wrappers: Vec<String>,
    /// Partial application: the first argument with the further ones.
    #[serde(default)]
    pub(super) partials: Vec<String>,
    /// Base classes whose methods no framework calls on its own.
    #[serde(default)]
    pub(super) plain_bases: Vec<String>,
    #[serde(default)]
    pub(super) everywhere: Vec<String>,
    /// Last components that other things have as well.
    #[serde(default)]
    pub(super) common: Vec<String>,
    /// Ways to build or run a stdio server, with the reason that is shown.
    #[serde(default)]
    pub(super) server: Vec<ServerEntry>,
    /// File names that a host or server watches.
    #[serde(default)]
    pub(super) trigger_files: Vec<String>,
    /// Words that decide, without parsing, whether a file can hold a site.
    #[serde(default)]
    pub(super) hints: Vec<String>,
    /// Top-level modules of the standard library.
    #[serde(default)]
    pub(super) standard_library: Vec<String>,
    /// Access paths that read what the client sends; what follows their end is the client's leaving.
    #[serde(default)]
    pub(super) input: Vec<String>,
    /// Operations that register a handler for an event that is their first argument.
    #[serde(default)]
    pub(super) stop_registrars: Vec<String>,
    /// Operations that register a handler for the host's stop, without naming an event.
    #[serde(default)]
    pub(super) stop_takers: Vec<String>,
    /// Events by which the host says stop, or the client leaves.
    #[serde(default)]
    pub(super) stop_events: Vec<String>,
    /// Members that hold a handler of the client's leaving.
    #[serde(default)]
    pub(super) stop_members: Vec<String>,
    /// Members that hold a child's handle, whoever put it there.
    #[serde(default)]
    pub(super) handle_members: Vec<String>,
}

/// One `[[server]]` table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerEntry {
    /// Modules or access paths whose import and call make a file a daemon module.
    pub names: Vec<String>,
    /// What is built, as shown to the user.
    pub reason: String,
    /// Names of the library's classes that a bundle carries in its own text.
    #[serde(default)]
    pub bundled: Vec<String>,
}
