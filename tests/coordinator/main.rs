//! The restart coordinator, from the outside: its cases, its invariants, its documents
//! and its command line.

mod cases;
mod cli;
mod documents;
mod gate;
mod generated;
mod lease;
mod matrix;
mod properties;
mod states;
