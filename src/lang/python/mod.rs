//! Python: sources, scripts and notebooks' code cells, read with ruff's parser, and where that finds a fault with
//! tree-sitter-python, and lowered to the program facts. What a primitive is stands in `rules/python.toml`.

mod annotation;
mod around;
mod asks;
mod ast;
mod binders;
mod bindings;
mod builtins;
mod cell;
pub mod cut;
mod definition;
mod expression;
mod facts;
mod finder;
pub mod given;
mod grammar;
mod handed;
pub mod hints;
pub mod imports;
mod kept;
mod leaves;
mod literal;
mod lookups;
mod lower;
mod met;
mod notebook;
mod pattern;
mod quoted;
mod scope;
pub mod select;
mod sinks;
mod slice;
mod statement;
mod stores;
mod tree;

pub use facts::{facts, selected};
pub use leaves::identifiers;
pub use notebook::commands as notebook_commands;
