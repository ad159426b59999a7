//! Before a restart: what it would break, who may ask for it, and what is authorised.
//!
//! `(snapshot, request, authority, now) → report`, a pure function. The snapshot is read
//! from a file or from the store by the edge; no step here looks at the machine.

pub mod approval;
pub mod completeness;
pub mod count;
pub mod evaluate;
pub mod liveness;
pub mod matrix;
pub mod reason;
pub mod record;
pub mod report;
pub mod request;
pub mod scope;
pub mod snapshot;
pub mod verdict;
pub mod words;

pub use evaluate::{Application, Question, Settings, evaluate};
pub use report::Report;
pub use request::Request;
pub use snapshot::Snapshot;
