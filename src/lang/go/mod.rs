//! Go: read with tree-sitter-go and lowered to the program facts. The files of a folder are
//! one package: a name that a file does not declare is imported from `.`. What a primitive
//! is stands in `rules/go.toml`; nothing here knows one by name.

mod bindings;
mod call;
mod declaration;
mod expression;
mod facts;
mod literal;
mod lower;
mod statement;

pub use facts::facts;
pub use lower::{Lowered, lower};
