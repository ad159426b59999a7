//! Every roster entry with its state and what that rests on.

use std::collections::{BTreeMap, BTreeSet};

use super::found::Running;
use super::observe::Evidence;
use super::report::{Entry, MemberReport, MemberState};
use super::standing::Observation;
use crate::data::fleet::RosterMember;

/// What is known of the rows, to tell the members' states.
pub(super) struct Known<'a, 'r> {
    pub(super) running: &'a [Running<'r>],
    pub(super) stale: &'a [Entry],
    pub(super) unexpected: &'a [Entry],
    pub(super) evidence: &'a Observation<'r>,
    /// Whether both sources can be relied on.
    pub(super) readable: bool,
    /// Who looked.
    pub(super) looked: Evidence,
}

/// Reports on each entry of the roster, in its order.
pub(super) fn members(roster: &BTreeSet<&RosterMember>, known: &Known<'_, '_>) -> Vec<MemberReport> {
    let mut running: BTreeMap<&RosterMember, Vec<&Running<'_>>> = BTreeMap::new();
    for found in known.running {
        running.entry(found.member).or_default().push(found);
    }
    let (stale, unexpected) = (by_namespace(known.stale), by_namespace(known.unexpected));
    let none = Vec::new();
    roster
        .iter()
        .map(|member| {
            let mine = running.get(member).unwrap_or(&none);
            let namespace = member.namespace.as_str();
            let (state, reason, told) = match (mine.len(), stale.get(namespace), unexpected.get(namespace)) {
                (1, ..) => (MemberState::Running, "its row and its process agree".to_owned(), None),
                (0, ..) if !known.readable => {
                    (MemberState::Unknown, "a source cannot be read".to_owned(), None)
                }
                (0, Some(stale), _) => (MemberState::Stale, stale.reason.clone(), Some(*stale)),
                (0, None, Some(other)) => {
                    (MemberState::Missing, format!("its namespace runs, but {}", other.reason), None)
                }
                (0, None, None) => (MemberState::Missing, "no row and process of it run".to_owned(), None),
                (several, ..) => (MemberState::Duplicate, format!("{several} members of it run"), None),
            };
            let row = mine.first().map(|running| running.row);
            let pid = row.and_then(|row| row.pid);
            let attested = row.and_then(|row| row.attested);
            MemberReport {
                namespace: member.namespace.clone(),
                profile: member.profile.clone(),
                role: member.role.clone(),
                state,
                reason,
                runtime_id: row
                    .map(|row| row.runtime_id.clone())
                    .or_else(|| told.and_then(|told| told.runtime_id.clone())),
                pid: pid.or_else(|| told.and_then(|told| told.pid)),
                process_started_at: pid.and_then(|pid| known.evidence.start_of(pid)).map(|at| at.to_string()),
                registered_at: row.and_then(|row| row.registered_at.clone()),
                last_heartbeat_at: row.and_then(|row| row.last_heartbeat_at.clone()),
                cohort_id: row.and_then(|row| row.cohort_id.clone()),
                startup_head: row.and_then(|row| row.startup_head.clone()),
                attested: attested.filter(|_| known.looked == Evidence::Observed),
            }
        })
        .collect()
}

/// The entries of the roster that nobody fills.
pub(super) fn missing(members: &[MemberReport]) -> Vec<Entry> {
    members
        .iter()
        .filter(|member| matches!(member.state, MemberState::Missing | MemberState::Stale))
        .map(|member| Entry {
            namespace: Some(member.namespace.clone()),
            runtime_id: member.runtime_id.clone(),
            pid: member.pid,
            reason: member.reason.clone(),
        })
        .collect()
}

/// The first entry of each namespace.
fn by_namespace(entries: &[Entry]) -> BTreeMap<&str, &Entry> {
    let mut first = BTreeMap::new();
    for entry in entries {
        if let Some(namespace) = &entry.namespace {
            first.entry(namespace.as_str()).or_insert(entry);
        }
    }
    first
}
