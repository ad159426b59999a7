//! Floor 4: where the world is touched: the store, the process table, git's files.
//!
//! Nothing here decides anything. What it finds goes to the passes as plain values,
//! and what it cannot find out is said, never guessed.

// The edge is one of the places that may read files, the environment and the clock.
#![allow(clippy::disallowed_methods)]

pub mod process;
pub mod store;
