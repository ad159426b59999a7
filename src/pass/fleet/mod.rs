//! Which server processes really run, and are they the ones that are expected?

pub mod row;

pub use row::RuntimeRow;
