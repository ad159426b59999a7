//! The clock. Passes take the instant as a value.

use jiff::Timestamp;

/// The present instant, cut to whole seconds: finer than that no report tells.
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}
