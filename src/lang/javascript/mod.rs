//! JavaScript and TypeScript: read with tree-sitter-javascript and tree-sitter-typescript and
//! lowered to the program facts. ES modules and CommonJS alike. What a primitive is stands in
//! `rules/javascript.toml`; nothing here knows one by name.

mod bindings;
mod call;
mod class;
mod expression;
mod facts;
mod function;
mod literal;
mod lower;
mod module;
mod pattern;
mod respelled;
mod statement;

pub use facts::facts;
pub use lower::{Lowered, lower};
