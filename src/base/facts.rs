//! What one file says, and what the whole tree says: the values between passes.
//!
//! A [`FileFacts`] depends on the bytes of its file, the catalogues and the watched
//! names alone, so it is computed in parallel and can be cached. A [`Tree`] is all
//! of them together with what linking found.

use serde::{Deserialize, Serialize};

use super::ir::Program;
use super::site::{Confidence, Site};
use super::span::Span;

/// A path relative to the project root, with `/`.
pub type RelPath = String;

/// What a file is read as.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python sources and notebooks' code cells.
    Python,
    /// Rust sources.
    Rust,
    /// Shell scripts.
    Shell,
    /// JavaScript and TypeScript sources.
    Javascript,
    /// Go sources.
    Go,
    /// Windows scripts, read line by line.
    Windows,
    /// Commands embedded in another format (Makefile, unit, compose, workflow …).
    Embedded,
    /// Markdown and reStructuredText.
    Document,
}

impl Language {
    /// All languages, in a fixed order.
    pub const ALL: [Language; 8] = [
        Language::Python,
        Language::Rust,
        Language::Shell,
        Language::Javascript,
        Language::Go,
        Language::Windows,
        Language::Embedded,
        Language::Document,
    ];

    /// The name used on the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Rust => "rust",
            Language::Shell => "shell",
            Language::Javascript => "javascript",
            Language::Go => "go",
            Language::Windows => "windows",
            Language::Embedded => "embedded",
            Language::Document => "document",
        }
    }
}

/// Something about a file that keeps it from being read in full, or a fault in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What kind of fault.
    pub kind: ProblemKind,
    /// Where, as far as there is a place.
    pub span: Span,
    /// One plain sentence.
    pub message: String,
}

/// The kinds of [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ProblemKind {
    /// The file could not be read.
    Unreadable,
    /// Over the size limit.
    TooLarge,
    /// Parsing took too long, or the reader failed on it.
    GaveUp,
    /// A syntax error.
    Syntax,
    /// Not valid in its encoding.
    Encoding,
    /// An unresolved merge conflict.
    Conflict,
    /// A restart policy without a limit (RL309); the message names the remedy.
    UnboundedRestart,
}

/// A comment that begins with `restartlint:`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotationComment {
    /// The whole comment.
    pub span: Span,
    /// What stands after `restartlint:`, comment closers trimmed.
    pub text: String,
    /// Whether nothing but the comment stands on its line.
    pub alone: bool,
    /// Where what it is for begins, if that is neither its own line nor the one below.
    pub below: Option<u32>,
}

/// What a watched name is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WatchKind {
    /// Defined, imported, assigned, set by name or referenced: RL201's cases.
    Symbol,
    /// A constant given to a configured assertion function: RL302's case.
    AssertedId,
}

/// A use of a name that the inventory or the configuration asks to be watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedUse {
    /// What kind of use.
    pub kind: WatchKind,
    /// The watched symbol, or the asserted path id.
    pub name: String,
    /// Where.
    pub span: Span,
    /// The enclosing symbol.
    pub symbol: String,
}

/// A lookup by a name that does not fold, on a module that has primitives (RL405).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// The lookup expression.
    pub span: Span,
    /// The module that is looked into, such as `os`.
    pub module: String,
    /// Enclosing symbol.
    pub symbol: String,
    /// Enclosing function in the file's program.
    pub function: u32,
}

/// Why a name of a file matters to the files that import it; the first says most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tells {
    /// A primitive, something that has or gives one, or a runner under a name of its own.
    Value,
    /// It runs the command that it is given: it matters where a command is named.
    Runs,
    /// It is a command: it matters where commands are run.
    Command,
}

/// All that one file says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileFacts {
    /// The file.
    pub path: RelPath,
    /// What it was read as.
    pub language: Language,
    /// Its sites, sorted by place. For languages with a [`Program`] they are filled in by linking.
    pub sites: Vec<Site>,
    /// Sites that stand beside the program, sorted by place: the shell lines of a notebook.
    pub commands: Vec<Site>,
    /// Definitions, calls and bindings, for languages that reach follows.
    pub program: Option<Program>,
    /// Uses of watched names.
    pub watched: Vec<WatchedUse>,
    /// Inline annotations.
    pub annotations: Vec<AnnotationComment>,
    /// Faults of the file.
    pub problems: Vec<Problem>,
    /// Lookups that cannot be decided.
    pub lookups: Vec<Lookup>,
    /// Why this file is a daemon module, if it builds or runs a stdio server.
    pub server: Option<String>,
    /// Names of this file under which other files can get something that matters, with the reason, sorted.
    pub telling: Vec<(String, Tells)>,
    /// All names of this file that give something that matters, the telling ones among them, sorted.
    pub gives: Vec<String>,
    /// Names of other files whose truth would decide whether something here is a site, sorted.
    pub tested: Vec<String>,
}

impl FileFacts {
    /// Facts of a file about which nothing is known yet.
    pub fn new(path: impl Into<RelPath>, language: Language) -> FileFacts {
        FileFacts {
            path: path.into(),
            language,
            sites: Vec::new(),
            commands: Vec::new(),
            program: None,
            watched: Vec::new(),
            annotations: Vec::new(),
            problems: Vec::new(),
            lookups: Vec::new(),
            server: None,
            telling: Vec::new(),
            gives: Vec::new(),
            tested: Vec::new(),
        }
    }

    /// Whether there is anything in it that a rule or a format could show, the program aside.
    pub fn speaks(&self) -> bool {
        !self.sites.is_empty()
            || !self.watched.is_empty()
            || !self.annotations.is_empty()
            || !self.problems.is_empty()
            || !self.lookups.is_empty()
            || self.server.is_some()
    }

    /// Takes the sites that solving the program found; those beside it stay.
    pub fn settle(&mut self, found: Vec<Site>) {
        self.sites = found;
        if !self.commands.is_empty() {
            self.sites.extend(self.commands.iter().cloned());
            self.sites.sort_by_key(|s| s.span);
        }
    }
}

/// One step of a chain from a daemon module to a site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Step {
    /// Index of the file in [`Tree::files`].
    pub file: usize,
    /// The call, reference, decorator or import.
    pub span: Span,
    /// The symbol that the step stands in.
    pub symbol: String,
}

/// How the daemon reaches a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The steps, the first in a daemon module; empty inside a daemon module. The site itself is not among them.
    pub steps: Vec<Step>,
    /// The least sure step's confidence.
    pub confidence: Confidence,
}

/// A file that runs inside the long-lived process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonModule {
    /// The file; for a declared one that is missing, the declared name.
    pub path: RelPath,
    /// Index in [`Tree::files`], if the file was read.
    pub file: Option<usize>,
    /// Declared in the configuration, or detected.
    pub declared: bool,
    /// Why it is one.
    pub reason: String,
}

/// The whole tree after linking.
#[derive(Debug, Default)]
pub struct Tree {
    /// Facts of every file that was read, sorted by path.
    pub files: Vec<FileFacts>,
    /// Daemon modules, sorted by path.
    pub daemons: Vec<DaemonModule>,
    /// For `(file, function)` in the daemon's reach: the shortest chain to it.
    pub reach: std::collections::BTreeMap<(usize, u32), Chain>,
    /// Every file of the tree that discovery listed, read or not, sorted.
    pub listed: Vec<RelPath>,
    /// How many of them were opened and searched.
    pub scanned: usize,
}
