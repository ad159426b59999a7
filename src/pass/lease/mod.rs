//! Leases in comments: who has claimed work on a pull request.
//!
//! Markers are read from comment bodies, in order; the newest claim that is neither
//! over nor ended is the lease. What cannot be read is reported, and denies.

pub mod active;
pub mod assess;
pub mod marker;

pub use active::{
    ActiveLease, Lease, LeaseKind, MalformedMarker, find_active_conflict_fix_lease, find_active_lease,
};
pub use assess::{Assessment, HeadPair, LeaseReason, Mutation, assess};
pub use marker::Comment;
