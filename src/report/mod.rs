//! Floor 2: the one place where a finding is kept or hidden. Rules propose findings;
//! severities, annotations and the baseline decide; every output format prints the result.

pub mod summary;

pub use summary::{Report, ReportedFinding, Summary};
