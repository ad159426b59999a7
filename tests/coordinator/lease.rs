//! The cases of `fixtures/coordinator/lease.json`: comments, the lease they leave, what is
//! malformed, and whether a reviewer is blocked.

use restartlint::pass::lease::{
    Comment, HeadPair, LeaseKind, LeaseReason, Mutation, assess, find_active_lease,
};
use serde_json::Value;

const CASES: &str = include_str!("../../fixtures/coordinator/lease.json");
const NOW: &str = "2026-07-23T06:30:00Z";
const HEAD: &str = "89abcdef0123456789abcdef0123456789abcdef";

fn comments(case: &Value) -> Vec<Comment> {
    let bodies = case["comments"].as_array().unwrap();
    bodies.iter().map(|body| Comment { body: body.as_str().unwrap().to_owned() }).collect()
}

#[test]
fn every_case_holds() {
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    assert!(cases.len() > 50, "cases were lost");
    let now = NOW.parse().unwrap();
    for case in &cases {
        let name = &case["name"];
        let kind = match case["kind"].as_str() {
            Some("reviewer") => LeaseKind::Reviewer,
            _ => LeaseKind::ConflictFix,
        };
        let comments = comments(case);
        let found = find_active_lease(&comments, kind, 818, now);
        let lease = serde_json::to_value(&found.lease).unwrap();
        assert_eq!(lease.is_null(), case["lease"].is_null(), "{name}: {lease}");
        for (key, want) in case["lease"].as_object().into_iter().flatten() {
            assert_eq!(&lease[key], want, "{name}: {key}");
        }
        let malformed: Vec<usize> = found.malformed.iter().map(|marker| marker.index).collect();
        assert_eq!(serde_json::to_value(malformed).unwrap(), case["malformed"], "{name}");
        assert!(found.malformed.iter().all(|marker| marker.reason.starts_with("The marker ")), "{name}");

        for mutation in Mutation::ALL {
            let gate = assess(&comments, 818, mutation, HeadPair { reviewed: HEAD, live: HEAD }, now);
            assert_eq!(gate.mutation_allowed, case["blocked"] == false, "{name}");
            assert_eq!(gate.blocking_lease.is_some(), case["blocked"] == true, "{name}");
            assert_eq!(gate.mutation_allowed, gate.reason_codes.is_empty() && gate.reasons.is_empty());
        }
    }
}

#[test]
fn without_a_claim_the_reviewed_head_must_be_the_live_one() {
    let now = NOW.parse().unwrap();
    let other = HEAD.replace('8', "9");
    for (reviewed, live, allowed) in [
        (HEAD, HEAD, true),
        (HEAD, other.as_str(), false),
        (&HEAD[..7], HEAD, false),
        (&HEAD[..7], &HEAD[..7], false),
        ("", "", false),
        (&HEAD.to_uppercase(), HEAD, false),
        ("main", "main", false),
        (&"x".repeat(40), &"x".repeat(40), false),
        (&"ab".repeat(32), &"ab".repeat(32), true),
    ] {
        let gate = assess(&[], 818, Mutation::Approve, HeadPair { reviewed, live }, now);
        assert_eq!(gate.mutation_allowed, allowed, "{reviewed} {live}");
        let codes: &[LeaseReason] = if allowed { &[] } else { &[LeaseReason::StaleHead] };
        assert_eq!(gate.reason_codes, codes);
    }
}

#[test]
fn comments_are_an_array_of_bodies() {
    for text in ["{}", "[1]", "[null]", "[{}]", r#"[{"body":1}]"#, r#"[{"body":"a","body":"b"}]"#, "[", ""] {
        assert!(Comment::list_from_json(text).is_err(), "{text}");
    }
    let forge = r#"[{"id":1,"user":{"login":"x"},"body":"b","created_at":"2026-07-23T06:00:00Z"}]"#;
    assert_eq!(Comment::list_from_json(forge).unwrap()[0].body, "b");
}
