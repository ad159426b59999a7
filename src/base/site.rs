//! One place where a restart primitive is called or handed over.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::span::Span;

/// The symbol of what lies in no function: a module's top level, and all of a file that has none.
pub const TOP_LEVEL: &str = "<module>";

/// How a site names its primitive.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// By its full name.
    Direct,
    /// Through an import alias of its module.
    Alias,
    /// Imported by name.
    FromImport,
    /// Through a variable, an attribute or a container.
    LocalAlias,
    /// Through a lookup by name (`getattr`, `vars`, a computed member).
    Getattr,
    /// Handed over to be called later.
    Callback,
    /// Through a partial application or a bound copy.
    Partial,
    /// As a command in a string that a shell runs.
    ShellString,
    /// As a command in an argument list.
    ArgvList,
    /// Through another file of the tree that exports it.
    ReExport,
    /// Through a function of the tree that runs the command it is given.
    Wrapper,
    /// A command in a script or a host file.
    Command,
}

/// How sure a step or a site is. Ordered: the later, the surer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A container with a free key, or a callable handed to an unknown function.
    Possible,
    /// Some step by a name that is unique in the tree.
    Likely,
    /// Every step resolved by binding.
    Certain,
}

/// What the target of a kill or a supervise action is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A process name, compared whole.
    Name,
    /// A regular expression over names or command lines.
    Pattern,
    /// A process id (or group, where negative).
    Pid,
    /// A unit, service, container or workload of a supervisor.
    Unit,
    /// A port.
    Port,
    /// A variable or a substitution that does not fold.
    Variable,
    /// Everything the command can reach.
    All,
    /// This very process or its group.
    Own,
}

/// What an action is aimed at, as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Which kind of thing is named.
    pub kind: TargetKind,
    /// The name, pattern, pid or unit; free parts are shown as `…`.
    pub text: String,
}

/// One site. Offsets are into the decoded text of its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The call expression, the reference that is handed over, or the command.
    pub span: Span,
    /// Canonical name of the primitive, such as `os.execv` or `systemctl restart`.
    pub primitive: String,
    /// What it does.
    pub effect: Effect,
    /// How it is written.
    pub via: Via,
    /// Enclosing `Class.method`, `function` or `<module>`.
    pub symbol: String,
    /// Index of the enclosing function in the file's [`Program`](super::ir::Program); 0 is module level.
    pub function: u32,
    /// Runs when the module is imported.
    pub import_time: bool,
    /// Lies in the child branch of a fork, or in a parent that ends right after forking.
    pub fork_child: bool,
    /// A script's hand-over to another program.
    pub launcher: bool,
    /// Ends the process because the client is gone or the host said stop.
    pub client_gone: bool,
    /// An ordinary exit at the program's entry point.
    pub entrypoint: bool,
    /// Lies in code that only tests run (`#[cfg(test)]`, documentation examples).
    pub test_only: bool,
    /// What a kill or supervise action is aimed at.
    pub target: Option<Target>,
    /// For commands: the words after the shell grammar, `…` for free parts.
    pub command: Vec<String>,
    /// For commands: what runs it on the same line, outermost first (`sudo`, `sh -c`, `npx`).
    pub nested_in: Vec<String>,
    /// How sure the site itself is.
    pub confidence: Confidence,
    /// Canonical names that an enclosing or earlier-exit condition tests.
    pub guards: Vec<String>,
    /// Runs at import time (called from module level counts) before the first import that is not standard library.
    pub before_imports: bool,
}

impl Site {
    /// A plain site: certain, direct, at module level; the caller sets what differs.
    pub fn new(span: Span, primitive: impl Into<String>, effect: Effect) -> Site {
        Site {
            span,
            primitive: primitive.into(),
            effect,
            via: Via::Direct,
            symbol: TOP_LEVEL.to_owned(),
            function: 0,
            import_time: false,
            fork_child: false,
            launcher: false,
            client_gone: false,
            entrypoint: false,
            test_only: false,
            target: None,
            command: Vec::new(),
            nested_in: Vec::new(),
            confidence: Confidence::Certain,
            guards: Vec::new(),
            before_imports: false,
        }
    }
}
