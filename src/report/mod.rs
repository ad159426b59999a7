//! Floor 2: the one place where a finding is kept or hidden. Rules propose findings;
//! severities, annotations and the baseline decide; every output format prints the result.

pub mod annotations;
pub mod baseline;
pub mod decide;
pub mod fingerprint;
#[cfg(test)]
pub mod sample;
pub mod summary;

pub use summary::{Report, ReportedFinding, Summary};
