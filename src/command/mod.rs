//! What a command line does: the shell grammar over a partly known string or
//! argument list, and the command catalogue (`rules/shell.toml`) over its words.
//!
//! Every language's runner calls, scripts, host files, documents and the guard go
//! through [`actions`]. Pure: a value in, values out.

pub mod action;

pub use action::{Action, CommandContext, Invocation};
