//! Floor 3: the passes beside the linter. Each is a pure function of values: a
//! snapshot, a request, an authority and an instant in, a report out.

pub mod authority;
pub mod classes;
pub mod drain;
pub mod fingerprint;
pub mod fleet;
pub mod guard;
pub mod impact;
pub mod instant;
pub mod lease;
pub mod marker;
pub mod parity;
