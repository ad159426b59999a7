//! Floor 3: a decided report as bytes, one file a format. No format decides anything:
//! findings, counts and exit status are the same in each.

pub mod json;
pub mod sites;
