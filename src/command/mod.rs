//! What a command line does: the shell grammar over a partly known string or
//! argument list, and the command catalogue (`rules/shell.toml`) over its words.
//!
//! Every language's runner calls, scripts, host files, documents and the guard go
//! through [`actions`]. Pure: a value in, values out.

pub mod action;
mod aim;
pub mod analysis;
pub mod arguments;
mod classify;
mod constant;
mod continued;
mod engine;
mod fold;
mod follow;
pub mod grammar;
mod inline;
mod loose;
mod lower;
mod lower_word;
mod own;
mod peel;
pub mod quote;
mod recover;
mod respelled;
pub mod script;
mod script_file;
mod shells;
mod task;
mod variables;
pub mod word;

#[cfg(test)]
mod tests;

pub use action::{Action, CommandContext, Invocation, Runs};
pub use analysis::{Aim, Analysis, Found, Inline, Loose, Undecided, UndecidedReason, actions, analyse};
