//! Rust: sources read with syn and lowered to the program facts. Paths are followed through
//! `use`, renames, groups, globs and inline modules; what lies in another file is an import
//! that the linker resolves. What a primitive is stands in `rules/rust.toml`; nothing here
//! knows one by name.

mod call;
mod comment;
mod depth;
mod expression;
mod facts;
mod fallback;
mod flow;
mod implementation;
mod import;
mod item;
mod lower;
mod macros;
mod path;
mod pattern;
mod scope;
mod server;
mod signature;

pub use facts::facts;
