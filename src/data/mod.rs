//! Floor 2: data that people write. TOML in, values or faults with their places out.
//!
//! Nothing here reads a file; nothing here knows a rule's or a language's code.

pub mod checks;
pub mod commands;
pub mod config;
pub mod config_entries;
pub mod coordinator;
pub mod effects;
pub mod fault;
pub mod fleet;
pub mod glossary;
pub mod guard;
pub mod inventory;
pub mod pages;
pub mod primitive_entries;
pub mod primitive_names;
pub mod primitives;
pub mod programs;
pub mod suggest;
pub mod table;
