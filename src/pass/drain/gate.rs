//! The drain gate: the checks of a proof, in order; the first that fails denies.
//!
//! Knows one class, target and state, and never whether the class is authorised.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::key::Key;
use super::proof::{MAX_LIFETIME_S, Proof};
use crate::pass::instant::{exceeds, is_over, parse_instant};

/// How the gate decided. Stable names; the denials stand in the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateCode {
    /// The proof holds.
    Ok,
    /// No proof was read: break-glass, with authority.
    BreakGlass,
    /// There is no proof.
    ProofMissing,
    /// It is not JSON or not of a proof's shape.
    ProofMalformed,
    /// There is no key to check it with.
    KeyUnavailable,
    /// Its MAC does not fit.
    ProofTampered,
    /// It was issued in the future.
    ProofNotYetValid,
    /// It is over.
    ProofExpired,
    /// It was made to hold longer than a proof may.
    ProofLifetimeExceeded,
    /// It was made for another class.
    ProofWrongClass,
    /// It was made for another target.
    ProofWrongTarget,
    /// It says itself that work was outstanding.
    ProofUnclean,
    /// The state has changed since.
    ProofStale,
    /// It was used before.
    ProofReplayed,
}

impl GateCode {
    /// All codes: the two that allow, then the denials in the order of the checks.
    pub const ALL: [GateCode; 14] = [
        GateCode::Ok,
        GateCode::BreakGlass,
        GateCode::ProofMissing,
        GateCode::ProofMalformed,
        GateCode::KeyUnavailable,
        GateCode::ProofTampered,
        GateCode::ProofNotYetValid,
        GateCode::ProofExpired,
        GateCode::ProofLifetimeExceeded,
        GateCode::ProofWrongClass,
        GateCode::ProofWrongTarget,
        GateCode::ProofUnclean,
        GateCode::ProofStale,
        GateCode::ProofReplayed,
    ];

    /// Whether the gate lets it through.
    pub fn allows(self) -> bool {
        matches!(self, GateCode::Ok | GateCode::BreakGlass)
    }

    /// The code as it stands in reports.
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    /// What it means, in one sentence.
    pub fn meaning(self) -> &'static str {
        self.texts().1
    }

    /// What to do next, in one sentence.
    pub fn next_step(self) -> &'static str {
        self.texts().2
    }

    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            GateCode::Ok => (
                "ok",
                "The proof is authentic, valid and fits the present state.",
                "Restart within the proof's lifetime.",
            ),
            GateCode::BreakGlass => (
                "break_glass",
                "Break-glass was asked for with authority; no proof was read.",
                "Restart, and write down why the work was not drained.",
            ),
            GateCode::ProofMissing => (
                "proof_missing",
                "There is no drain proof.",
                "Drain the work, run `drain issue` and give the proof with `--drain-proof`.",
            ),
            GateCode::ProofMalformed => (
                "proof_malformed",
                "The proof is not JSON or not of a proof's shape.",
                "Run `drain issue` again and give its output unchanged.",
            ),
            GateCode::KeyUnavailable => (
                "key_unavailable",
                "The key cannot be read, is too short, or others than its owner can read it.",
                "Give `--drain-key` a regular file of at least 32 bytes and mode 600.",
            ),
            GateCode::ProofTampered => (
                "proof_tampered",
                "The proof's MAC is not the key's over its content.",
                "Find out who changed the proof or the key; then run `drain issue` again.",
            ),
            GateCode::ProofNotYetValid => (
                "proof_not_yet_valid",
                "The proof was issued in the future.",
                "Set the clocks right; then run `drain issue` again.",
            ),
            GateCode::ProofExpired => ("proof_expired", "The proof is over.", "Run `drain issue` again."),
            GateCode::ProofLifetimeExceeded => (
                "proof_lifetime_exceeded",
                "The proof was made to hold longer than a proof may.",
                "Run `drain issue` with a `--ttl` of at most 900 seconds.",
            ),
            GateCode::ProofWrongClass => (
                "proof_wrong_class",
                "The proof was made for another restart class.",
                "Run `drain issue` for the class that is to be applied.",
            ),
            GateCode::ProofWrongTarget => (
                "proof_wrong_target",
                "The proof was made for another target.",
                "Run `drain issue` for the target that is to be applied.",
            ),
            GateCode::ProofUnclean => (
                "proof_unclean",
                "The proof says that work was outstanding.",
                "Drain what its `outstanding` lists; then run `drain issue` again.",
            ),
            GateCode::ProofStale => (
                "proof_stale",
                "Sessions, leases or the lock have changed since the proof was made.",
                "Look at the present impact, drain again and run `drain issue` again.",
            ),
            GateCode::ProofReplayed => (
                "proof_replayed",
                "The proof has been used by an earlier apply.",
                "Run `drain issue` again; a proof serves once.",
            ),
        }
    }
}

/// Whether a proof's id was used before, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replay {
    /// There is no store to ask.
    #[default]
    Unchecked,
    /// The store does not know the id.
    Fresh,
    /// The store knows it: used.
    Used,
}

/// What is offered to the gate.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The proof's bytes, if there are any.
    pub proof: Option<&'a [u8]>,
    /// The key, if one could be had.
    pub key: Option<&'a Key>,
    /// What the store says.
    pub replay: Replay,
}

/// What the proof has to fit.
#[derive(Debug, Clone, Copy)]
pub struct Present<'a> {
    /// The class of the request.
    pub class: &'a str,
    /// Its target.
    pub target: Option<&'a str>,
    /// The fingerprint of the state.
    pub fingerprint: &'a str,
    /// The present.
    pub now: Timestamp,
}

/// The gate's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// How it decided.
    pub code: GateCode,
}

impl Decision {
    /// Whether it lets through.
    pub fn allows(self) -> bool {
        self.code.allows()
    }
}

/// Runs the checks in order.
///
/// ```
/// use restartlint::pass::drain::{GateCode, Offer, Replay, gate, gate::Present};
/// let offer = Offer { proof: None, key: None, replay: Replay::Unchecked };
/// let now = "2026-07-23T06:30:00Z".parse().unwrap();
/// let present = Present { class: "host_restart", target: None, fingerprint: "sha256:", now };
/// assert_eq!(gate(offer, present).code, GateCode::ProofMissing);
/// ```
pub fn gate(offer: Offer<'_>, present: Present<'_>) -> Decision {
    Decision { code: first_denial(offer, present).err().unwrap_or(GateCode::Ok) }
}

/// `Ok` if every check passes, else the first denial.
fn first_denial(offer: Offer<'_>, present: Present<'_>) -> Result<(), GateCode> {
    let check = |holds: bool, denial: GateCode| if holds { Ok(()) } else { Err(denial) };
    let proof =
        Proof::from_json(offer.proof.ok_or(GateCode::ProofMissing)?).ok_or(GateCode::ProofMalformed)?;
    let issued = parse_instant(&proof.issued_at).ok_or(GateCode::ProofMalformed)?;
    let expires = parse_instant(&proof.expires_at).ok_or(GateCode::ProofMalformed)?;
    let key = offer.key.ok_or(GateCode::KeyUnavailable)?;
    check(proof.is_authentic(key), GateCode::ProofTampered)?;
    check(issued <= present.now, GateCode::ProofNotYetValid)?;
    check(!is_over(expires, present.now), GateCode::ProofExpired)?;
    check(!exceeds(issued, expires, MAX_LIFETIME_S), GateCode::ProofLifetimeExceeded)?;
    check(proof.restart_class == present.class, GateCode::ProofWrongClass)?;
    check(proof.target.as_deref() == present.target, GateCode::ProofWrongTarget)?;
    check(proof.clean && proof.outstanding.is_empty(), GateCode::ProofUnclean)?;
    check(proof.fingerprint == present.fingerprint, GateCode::ProofStale)?;
    check(offer.replay != Replay::Used, GateCode::ProofReplayed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_name_and_its_texts() {
        assert!(GateCode::ALL.is_sorted());
        for code in GateCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert!(code.meaning().ends_with('.') && code.next_step().ends_with('.'));
            assert_eq!(code.allows(), matches!(code.name(), "ok" | "break_glass"));
        }
    }
}
