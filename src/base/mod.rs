//! Floor 1: the values that everything else speaks in.
//!
//! Nothing here reads a file, the clock or the environment, and nothing here
//! imports another module of this crate.

pub mod effect;
pub mod facts;
pub mod finding;
pub mod ir;
pub mod json;
pub mod scratch;
pub mod site;
pub mod source;
pub mod sources;
pub mod span;
pub mod terminal;
pub mod text;
