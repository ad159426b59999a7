//! What a classification has found, and the causes that follow from it, in order.

use std::collections::{BTreeMap, BTreeSet};

use super::report::{BlockedReason, Entry};
use super::row::RuntimeRow;
use crate::data::fleet::RosterMember;

/// A row whose process runs, and the roster entry that it fills.
pub(super) struct Running<'r> {
    pub(super) row: &'r RuntimeRow,
    pub(super) member: &'r RosterMember,
}

/// What the running members say of one thing.
pub(super) struct Values<'r> {
    /// The values that are recorded.
    pub(super) known: BTreeSet<&'r str>,
    /// The rows that record none.
    pub(super) unknown: Vec<&'r str>,
}

impl<'r> Values<'r> {
    /// Collects a value of each running member; a blank one is none.
    pub(super) fn of(running: &[Running<'r>], value: fn(&RuntimeRow) -> Option<&str>) -> Values<'r> {
        let mut found = Values { known: BTreeSet::new(), unknown: Vec::new() };
        for Running { row, .. } in running {
            match filled(value(row)) {
                Some(value) => {
                    found.known.insert(value);
                }
                None => found.unknown.push(&row.runtime_id),
            }
        }
        found
    }
}

/// A value that says something.
pub(super) fn filled(value: Option<&str>) -> Option<&str> {
    value.map(str::trim).filter(|value| !value.is_empty())
}

/// Everything that was found.
pub(super) struct Found<'r> {
    pub(super) roster_is_empty: bool,
    pub(super) registry_fault: Option<String>,
    pub(super) scan_fault: Option<String>,
    pub(super) cohorts: Values<'r>,
    pub(super) revisions: Values<'r>,
    pub(super) missing: Vec<Entry>,
    pub(super) duplicate: Vec<Entry>,
    pub(super) unexpected: Vec<Entry>,
    pub(super) stale: Vec<Entry>,
    pub(super) unregistered: Vec<Entry>,
    pub(super) open_markers: BTreeSet<&'r str>,
}

impl Found<'_> {
    /// Every cause of a closed gate with its sentence, in the order of the codes.
    pub(super) fn causes(&self) -> Vec<(BlockedReason, String)> {
        use BlockedReason as R;
        let several = |values: &Values<'_>| (values.known.len() > 1).then_some(values.known.len());
        let ids = |ids: &[&str]| (!ids.is_empty()).then(|| ids.join(", "));
        let causes: [(R, Option<String>); 13] = [
            (
                R::RosterEmpty,
                self.roster_is_empty.then(|| "The configuration lists no fleet member.".to_owned()),
            ),
            (
                R::RegistryUnreadable,
                self.registry_fault
                    .as_ref()
                    .map(|fault| format!("The registry cannot be relied on: {fault}.")),
            ),
            (
                R::ProcessListingUnavailable,
                self.scan_fault
                    .as_ref()
                    .map(|fault| format!("The process listing cannot be relied on: {fault}.")),
            ),
            (
                R::UnregisteredProcess,
                names(&self.unregistered).map(|who| format!("Servers run that no row speaks for: {who}.")),
            ),
            (
                R::CohortUnknown,
                ids(&self.cohorts.unknown).map(|who| format!("No cohort is recorded for {who}.")),
            ),
            (
                R::CohortSplit,
                several(&self.cohorts).map(|many| format!("The running members belong to {many} cohorts.")),
            ),
            (
                R::RevisionUnknown,
                ids(&self.revisions.unknown).map(|who| format!("No revision is recorded for {who}.")),
            ),
            (
                R::RevisionMismatch,
                several(&self.revisions)
                    .map(|many| format!("The running members started from {many} revisions.")),
            ),
            (R::MemberMissing, names(&self.missing).map(|who| format!("Not running: {who}."))),
            (R::MemberDuplicate, names(&self.duplicate).map(|who| format!("Running more than once: {who}."))),
            (
                R::MemberUnexpected,
                names(&self.unexpected).map(|who| format!("Running, but not as the roster says: {who}.")),
            ),
            (
                R::MemberStale,
                names(&self.stale).map(|who| format!("Rows say running, and their processes do not: {who}.")),
            ),
            (
                R::ContaminatedRuntime,
                (!self.open_markers.is_empty())
                    .then(|| format!("{} contamination marker(s) are open.", self.open_markers.len())),
            ),
        ];
        causes.into_iter().filter_map(|(code, reason)| Some((code, reason?))).collect()
    }

    /// Whether the running members form one recorded cohort; `None` if one is unknown or nobody runs.
    pub(super) fn single_cohort(&self) -> Option<bool> {
        let told = self.cohorts.unknown.is_empty() && !self.cohorts.known.is_empty();
        told.then_some(self.cohorts.known.len() == 1)
    }
}

/// The running members of each namespace that has several.
pub(super) fn duplicates(running: &[Running<'_>]) -> Vec<Entry> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for Running { row, .. } in running {
        *counts.entry(&row.namespace).or_default() += 1;
    }
    let count = |row: &RuntimeRow| counts.get(row.namespace.as_str()).copied().unwrap_or_default();
    running
        .iter()
        .filter(|running| count(running.row) > 1)
        .map(|Running { row, .. }| {
            Entry::of(row, format!("one of {} running members of `{}`", count(row), row.namespace))
        })
        .collect()
}

fn names(entries: &[Entry]) -> Option<String> {
    let names: Vec<String> = entries.iter().map(called).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn called(entry: &Entry) -> String {
    let of = entry.namespace.as_ref().or(entry.runtime_id.as_ref());
    match (of, entry.pid) {
        (Some(name), Some(pid)) => format!("{name} (pid {pid})"),
        (Some(name), None) => name.clone(),
        (None, Some(pid)) => format!("pid {pid}"),
        (None, None) => "unknown".to_owned(),
    }
}
