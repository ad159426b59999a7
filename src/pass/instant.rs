//! Instants as the passes read and write them: RFC 3339 with an offset.
//!
//! A text that does not parse is never the present, never the past: the caller gets
//! nothing and has to say so.

use jiff::Timestamp;

/// The instant that the text names; `None` if it names none or has no offset.
///
/// ```
/// use restartlint::pass::instant::parse_instant;
/// assert_eq!(parse_instant("2026-07-23T08:29:00+02:00"), parse_instant("2026-07-23T06:29:00Z"));
/// assert_eq!(parse_instant("an hour ago"), None);
/// assert_eq!(parse_instant("2026-07-23T06:29:00"), None);
/// ```
pub fn parse_instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// The seconds from `earlier` to `later`, fractions cut off; negative if it is the other way round.
pub fn seconds_between(earlier: Timestamp, later: Timestamp) -> i64 {
    later.duration_since(earlier).as_secs()
}

/// Whether more than `seconds` lie between the instants; a fraction over counts.
pub fn exceeds(earlier: Timestamp, later: Timestamp, seconds: i64) -> bool {
    later.duration_since(earlier) > jiff::SignedDuration::from_secs(seconds)
}

/// Whether what has this expiry is over: at the very instant it is.
pub fn is_over(expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at <= now
}
