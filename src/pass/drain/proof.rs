//! The proof: its shape, its making and its MAC.
//!
//! `clean` and `outstanding` come from the count alone; there is no way to pass them in.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::key::Key;
use crate::base::json;
use crate::pass::fingerprint::canonical;
use crate::pass::impact::count::Count;
use crate::pass::instant::parse_instant;

/// The longest lifetime of a proof, in seconds.
pub const MAX_LIFETIME_S: i64 = 15 * 60;
/// The lifetime of a proof unless another is asked for, in seconds.
pub const DEFAULT_LIFETIME_S: i64 = 5 * 60;

/// How long a proof holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime(SignedDuration);

impl Lifetime {
    /// A lifetime of 1 to [`MAX_LIFETIME_S`] seconds.
    ///
    /// ```
    /// use restartlint::pass::drain::Lifetime;
    /// assert!(Lifetime::from_secs(900).is_some());
    /// assert!(Lifetime::from_secs(901).is_none());
    /// assert!(Lifetime::from_secs(0).is_none());
    /// ```
    pub fn from_secs(seconds: i64) -> Option<Lifetime> {
        (1..=MAX_LIFETIME_S).contains(&seconds).then(|| Lifetime(SignedDuration::from_secs(seconds)))
    }
}

impl Default for Lifetime {
    fn default() -> Lifetime {
        Lifetime(SignedDuration::from_secs(DEFAULT_LIFETIME_S))
    }
}

/// Says that the work in scope has been drained, for one class, target and state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The shape's version: 1.
    pub schema: u32,
    /// Its id; used up by an authorised apply.
    pub proof_id: String,
    /// The class it was made for.
    pub restart_class: String,
    /// The target it was made for; null for a class without one.
    #[serde(deserialize_with = "nullable")]
    #[schemars(schema_with = "nullable_text")]
    pub target: Option<String>,
    /// The fingerprint of the state it was made from.
    pub fingerprint: String,
    /// When it was made (RFC 3339).
    pub issued_at: String,
    /// When it is over (RFC 3339).
    pub expires_at: String,
    /// Whether nothing was outstanding.
    pub clean: bool,
    /// What was: `lease:ID`, `terminal_lock:ID`, `inventory:TEXT`.
    pub outstanding: Vec<String>,
    /// Who made it.
    pub issuer: String,
    /// HMAC-SHA-256 over the canonical JSON of all the rest.
    pub mac: String,
}

/// The proof without its MAC: what the MAC covers. Destructuring in [`Proof::signed`] keeps it complete.
#[derive(Serialize)]
struct Signed<'a> {
    schema: u32,
    proof_id: &'a str,
    restart_class: &'a str,
    target: Option<&'a str>,
    fingerprint: &'a str,
    issued_at: &'a str,
    expires_at: &'a str,
    clean: bool,
    outstanding: &'a [String],
    issuer: &'a str,
}

impl Proof {
    /// Reads a proof; `None` if it is not JSON or not of this shape in every member, instants included.
    pub fn from_json(bytes: &[u8]) -> Option<Proof> {
        let text = std::str::from_utf8(bytes).ok()?;
        let proof: Proof = json::read_object(text).ok()?;
        let dated = parse_instant(&proof.issued_at).is_some() && parse_instant(&proof.expires_at).is_some();
        (proof.schema == 1 && dated && !proof.proof_id.is_empty()).then_some(proof)
    }

    /// Whether the MAC is the key's over all the rest.
    pub fn is_authentic(&self, key: &Key) -> bool {
        self.signed().is_some_and(|message| key.verifies(&message, &self.mac))
    }

    fn signed(&self) -> Option<Vec<u8>> {
        let Proof {
            schema,
            proof_id,
            restart_class,
            target,
            fingerprint,
            issued_at,
            expires_at,
            clean,
            outstanding,
            issuer,
            mac: _,
        } = self;
        canonical(&Signed {
            schema: *schema,
            proof_id,
            restart_class,
            target: target.as_deref(),
            fingerprint,
            issued_at,
            expires_at,
            clean: *clean,
            outstanding,
            issuer,
        })
    }
}

/// What a proof is made for and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The class.
    pub class: &'a str,
    /// The target, if any.
    pub target: Option<&'a str>,
    /// An id that was never used: 128 random bits or more.
    pub proof_id: &'a str,
    /// Who makes it.
    pub issuer: &'a str,
    /// The present.
    pub now: Timestamp,
    /// How long it holds.
    pub lifetime: Lifetime,
}

/// Why no proof can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IssueFault {
    /// The present is too near the end of the calendar.
    #[error("the proof's expiry lies beyond the calendar")]
    OutOfCalendar,
    /// The MAC could not be computed.
    #[error("the proof cannot be signed")]
    Unsigned,
}

/// Makes the proof of a counted state, clean or not, and signs it.
pub fn issue(count: &Count, terms: Terms<'_>, key: &Key) -> Result<Proof, IssueFault> {
    let expires_at = terms.now.checked_add(terms.lifetime.0).map_err(|_| IssueFault::OutOfCalendar)?;
    let outstanding = count.outstanding();
    let mut proof = Proof {
        schema: 1,
        proof_id: terms.proof_id.to_owned(),
        restart_class: terms.class.to_owned(),
        target: terms.target.map(str::to_owned),
        fingerprint: count.fingerprint(terms.class, terms.target),
        issued_at: terms.now.to_string(),
        expires_at: expires_at.to_string(),
        clean: outstanding.is_empty(),
        outstanding,
        issuer: terms.issuer.to_owned(),
        mac: String::new(),
    };
    proof.mac = proof.signed().and_then(|message| key.mac(&message)).ok_or(IssueFault::Unsigned)?;
    Ok(proof)
}

/// A member that may be null but not missing.
fn nullable<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)
}

/// The same for the schema: text or null, and always there.
fn nullable_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["string", "null"] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_one_second_to_fifteen_minutes() {
        for (seconds, holds) in [(i64::MIN, false), (0, false), (1, true), (900, true), (901, false)] {
            let lifetime = Lifetime::from_secs(seconds);
            assert_eq!(lifetime.map(|l| l.0.as_secs()), holds.then_some(seconds));
        }
        assert_eq!(Lifetime::default().0.as_secs(), 300);
    }

    #[test]
    fn each_instant_of_a_proof_must_be_one() {
        let proof = |issued: &str, expires: &str| {
            let text = format!(
                r#"{{"schema":1,"proof_id":"p","restart_class":"c","target":null,"fingerprint":"f","issued_at":"{issued}",
                "expires_at":"{expires}","clean":true,"outstanding":[],"issuer":"i","mac":""}}"#
            );
            Proof::from_json(text.as_bytes())
        };
        let instant = "2026-07-23T06:30:00Z";
        assert!(proof(instant, instant).is_some());
        assert!(proof(instant, "later").is_none());
        assert!(proof("now", instant).is_none());
    }
}
