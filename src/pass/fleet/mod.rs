//! Which server processes really run, and are they the ones that are expected?
//!
//! Two sources must agree: the registry that each server writes about itself, and an
//! observation of the processes. Pure: the store and the process table are the edge's.

mod classify;
mod found;
mod members;
mod observe;
mod report;
pub mod row;
mod server;
mod standing;

pub use classify::classify;
pub use observe::{Evidence, Observed, ProcessTable, RecordedProcesses, Registry, Scan, ServerProcess};
pub use report::{BlockedReason, Entry, FleetReport, MemberReport, MemberState};
pub use row::RuntimeRow;
pub use server::{server_name, server_names};

pub use crate::data::fleet::{Binding, RosterMember};
