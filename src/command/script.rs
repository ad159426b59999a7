//! A shell text as a flat list of simple commands: what the grammar leaves once
//! lists, pipelines, loops and functions are taken apart. Values only.

use std::ops::Range;

use crate::base::span::Span;

use super::word::Word;

/// What a command reads on standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Input {
    /// Whatever the caller's standard input is.
    #[default]
    Inherited,
    /// The output of commands of the same script.
    Pipe(Range<u32>),
    /// A here-document or a here-string.
    Text(Word),
    /// A file, or an open one that only a number names.
    File(Option<Word>),
}

/// Whether and where a statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flow {
    /// Runs only if some condition holds.
    pub conditional: bool,
    /// Runs only if some condition holds, even where the enclosing function runs.
    pub branch: bool,
    /// Runs in a shell of its own: its assignments are lost, its `exec` replaces that shell alone.
    pub subshell: bool,
    /// Index of the enclosing function.
    pub function: Option<u32>,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Simple {
    /// Its words, the command's name first; never empty.
    pub words: Vec<Word>,
    /// The command with its assignments and redirections that stand before its end.
    pub span: Span,
    /// Whether and where it runs.
    pub flow: Flow,
    /// Its standard input.
    pub input: Input,
    /// Ended by `&`.
    pub background: bool,
    /// Variables that hold for this command alone.
    pub sets: Vec<(String, Word)>,
    /// Files that its output is written to.
    pub writes: Vec<Word>,
    /// Some word has braces or a wildcard outside quotes: the shell makes other words of it.
    pub expands: bool,
}

/// What a variable is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// One string.
    Scalar(Word),
    /// The elements of an array, in order.
    Array(Vec<Word>),
    /// Any one of these (a loop's words).
    AnyOf(Vec<Word>),
    /// Something that the text does not say.
    Unknown,
}

/// An assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// What it is given.
    pub value: Value,
    /// Adds to the earlier value.
    pub append: bool,
    /// Whether and where it runs.
    pub flow: Flow,
    /// Offset of the assignment.
    pub at: u32,
}

/// A function definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The whole definition.
    pub span: Span,
}

/// A parsed text.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Its number among the scripts that one analysis parses.
    pub scene: u32,
    /// Simple commands in the order of the text.
    pub commands: Vec<Simple>,
    /// Assignments in the order of the text; those that stand before a command hold for it alone and are not here.
    pub assignments: Vec<Assignment>,
    /// Function definitions.
    pub functions: Vec<Function>,
    /// Arithmetic commands `((…))`: what stands in them can be meant as a subshell in a subshell.
    pub doubled: Vec<Span>,
    /// Places that are not valid in the grammar.
    pub errors: Vec<Span>,
    /// Nested too deep, or too costly to parse: something was not read.
    pub gave_up: bool,
    /// Some command is put in the background.
    pub background: bool,
    /// Offsets from which on a variable may hold something that no assignment of the text says.
    pub openers: Vec<u32>,
    /// Quoted texts with a substitution in them, where arithmetic may run it.
    pub hidden: Vec<Span>,
}

impl Script {
    /// The commands of a range; empty if the range lies outside.
    pub fn slice(&self, range: &Range<u32>) -> &[Simple] {
        self.commands.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}
