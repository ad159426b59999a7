//! The restart coordinator, from the outside: its cases, its invariants, its documents
//! and its command line.

// Tests look at the world from outside.
#![allow(clippy::disallowed_methods)]

mod browser;
mod cases;
mod cli;
mod documents;
mod gate;
mod generated;
mod lease;
mod matrix;
mod properties;
mod states;
