//! Holding a proof against the present state, outside an apply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gate::{GateCode, Offer, Present, gate};
use crate::pass::impact::evaluate::{Question, counted};

/// The answer of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Whether the proof would pass the drain gate now.
    pub allow: bool,
    /// `ok` or the first denial.
    pub code: GateCode,
    /// The code in one sentence.
    pub reason: String,
}

/// Verifies a proof for the request's class and target; uses nothing up.
pub fn verify(question: Question<'_>, offer: Offer<'_>) -> Verification {
    let (count, target) = counted(question);
    let class = question.request.restart_class.as_str();
    let fingerprint = count.fingerprint(class, target);
    let present = Present { class, target, fingerprint: &fingerprint, now: question.now };
    let decision = gate(offer, present);
    Verification { allow: decision.allows(), code: decision.code, reason: decision.code.meaning().to_owned() }
}
