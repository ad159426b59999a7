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
mod engine;
mod fold;
mod follow;
pub mod grammar;
mod lower;
mod lower_word;
mod own;
mod peel;
pub mod quote;
mod recover;
pub mod script;
pub mod word;

#[cfg(test)]
mod tests;

pub use action::{Action, CommandContext, Invocation};
pub use analysis::{Aim, Analysis, Found, Inline, Undecided, UndecidedReason, actions, analyse};
