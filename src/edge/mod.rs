//! Floor 4: where the world is touched: the store, the process table, git's files, the
//! clock and the environment.
//!
//! Nothing here decides anything. What it finds goes to the passes as plain values,
//! and what it cannot find out is said, never guessed.

// The edge is one of the places that may read files, the environment and the clock.
#![allow(clippy::disallowed_methods)]

pub mod authority;
pub mod chance;
pub mod clock;
pub mod coordinator;
pub mod fleet;
pub mod key_file;
pub mod process;
pub mod revision;
pub mod store;
