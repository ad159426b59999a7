//! Drain proofs: what says that the work in scope has been drained, and the gate that
//! reads it before an apply.
//!
//! Pure: keys, proofs and the answer of the store come in as values.

pub mod gate;
pub mod key;
pub mod proof;
pub mod verify;

pub use gate::{Decision, GateCode, Offer, Replay, gate};
pub use key::Key;
pub use proof::{IssueFault, Lifetime, Proof, issue};
pub use verify::{Verification, verify};
