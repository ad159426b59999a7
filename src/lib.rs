//! restartlint finds every place where a long-lived stdio daemon can restart, kill,
//! reload or replace itself, or be killed from outside, and holds each against a
//! registered inventory. Beside the linter it has read-only passes: a guard for shell
//! commands, a restart coordinator and a fleet check.
//!
//! # Layers
//!
//! Imports point down only; `tests/layers.rs` holds the code against this table.
//!
//! | floor | module | may import |
//! |---|---|---|
//! | 1 | `base` | nothing of this crate |
//! | 2 | `data` | `base` |
//! | 2 | `report` | `base` |
//! | 2 | `command` | `base`, `data` |
//! | 2 | `graph` | `base`, `data`, `command` |
//! | 3 | `lang` | `base`, `data`, `command` |
//! | 3 | `check` | `base`, `data`, `graph`, `report` |
//! | 3 | `render` | `base`, `data`, `report` |
//! | 3 | `pass` | `base`, `data`, `command` |
//! | 4 | `edge` | `base`, `pass` |
//! | 4 | `discover` | `base` |
//! | 4 | `scan` | `base`, `data`, `command`, `graph`, `lang`, `discover` |
//! | 5 | `face` | everything |

pub mod base;
pub mod check;
pub mod command;
pub mod data;
pub mod discover;
pub mod edge;
pub mod face;
pub mod graph;
pub mod lang;
pub mod pass;
pub mod render;
pub mod report;
pub mod scan;
