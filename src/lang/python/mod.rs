//! Python: sources, scripts and notebooks' code cells, read with tree-sitter-python and
//! lowered to the program facts. What a primitive is stands in `rules/python.toml`; nothing
//! here knows one by name.

mod bindings;
mod definition;
mod expression;
mod facts;
mod literal;
mod lower;
mod notebook;
mod pattern;
mod statement;

pub use facts::{facts, parse};
pub use lower::{Lowered, lower};
