//! What the fleet pass says of a fleet, cause by cause, and that nothing but the
//! snapshot itself decides.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use jiff::Timestamp;
use proptest::prelude::*;
use restartlint::pass::fleet::{
    Binding, BlockedReason as Cause, Evidence, FleetReport, MemberState, Registry, RosterMember, RuntimeRow,
    Scan, ServerProcess, classify,
};

const ROLES: [&str; 5] = ["author", "reviewer", "merger", "controller", "reconciler"];
const HEAD: &str = "1111111111111111111111111111111111111111";
const OTHER_HEAD: &str = "2222222222222222222222222222222222222222";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn row(role: &str, pid: i64) -> RuntimeRow {
    RuntimeRow {
        runtime_id: format!("rt-{role}-{pid}"),
        namespace: format!("gitea-{role}"),
        profile: Some(format!("prgs-{role}")),
        role: some(role),
        remote: some("prgs"),
        org: some("example"),
        repo: some("tools"),
        repository_root: some("/srv/tools"),
        pid: Some(pid),
        process_started_at: some("2026-07-28T01:00:00Z"),
        cohort_id: some("ppid:40990"),
        cohort_source: some("environment"),
        client_provenance: some("client_managed"),
        boot_id: some("boot-1"),
        startup_head: some(HEAD),
        transport: some("stdio"),
        status: "running".into(),
        registered_at: some("2026-07-28T02:00:00Z"),
        last_heartbeat_at: some("2026-07-28T02:59:00Z"),
        stopped_at: None,
        attested: Some(true),
    }
}

fn process(pid: i64, started_at: &str) -> ServerProcess {
    ServerProcess { pid, started_at: started_at.parse().ok() }
}

/// Everything that a classification takes.
#[derive(Debug, Clone)]
struct Fleet {
    registry: Registry,
    scan: Scan,
    roster: Vec<RosterMember>,
    binding: Binding,
}

/// Five members, five processes, one cohort, one revision.
fn healthy() -> Fleet {
    let pids = 42_000..;
    let rows: Vec<_> = ROLES.iter().zip(pids).map(|(role, pid)| row(role, pid)).collect();
    Fleet {
        scan: Scan {
            evidence: Evidence::Observed,
            processes: rows.iter().map(|row| process(row.pid.unwrap(), "2026-07-28T01:00:00Z")).collect(),
            fault: None,
        },
        registry: Registry { rows, ..Registry::default() },
        roster: ROLES
            .iter()
            .map(|role| RosterMember {
                namespace: format!("gitea-{role}"),
                profile: format!("prgs-{role}"),
                role: (*role).to_owned(),
            })
            .collect(),
        binding: Binding { remote: some("prgs"), org: some("example"), repo: some("tools") },
    }
}

impl Fleet {
    fn report(&self) -> FleetReport {
        let now = at("2026-07-28T03:00:00Z");
        classify(&self.registry, &self.scan, &self.roster, &self.binding, now)
    }

    /// The row of a role, to be changed.
    fn row(&mut self, role: &str) -> &mut RuntimeRow {
        self.registry.rows.iter_mut().find(|row| row.role.as_deref() == Some(role)).unwrap()
    }

    fn process(&mut self, pid: i64) -> &mut ServerProcess {
        self.scan.processes.iter_mut().find(|process| process.pid == pid).unwrap()
    }

    fn add(&mut self, row: RuntimeRow) {
        self.scan.processes.push(process(row.pid.unwrap(), "2026-07-28T01:00:00Z"));
        self.registry.rows.push(row);
    }

    fn end_process(&mut self, pid: i64) {
        self.scan.processes.retain(|process| process.pid != pid);
    }
}

fn with(change: impl FnOnce(&mut Fleet)) -> FleetReport {
    let mut fleet = healthy();
    change(&mut fleet);
    fleet.report()
}

#[test]
fn five_that_agree_satisfy_the_gate() {
    let report = healthy().report();
    assert!(report.mutation_gate_satisfied && report.inventory_complete);
    assert_eq!(report.single_cohort, Some(true));
    assert_eq!(report.running_member_count, 5);
    assert_eq!(report.blocked_reason, None);
    assert!(report.members.iter().all(|m| m.state == MemberState::Running && m.attested == Some(true)));
}

/// Each cause alone: the change, the whole list of causes, and whether the inventory is complete.
#[test]
fn each_cause_has_its_code() {
    type Change = fn(&mut Fleet);
    let cases: [(&str, Change, &[Cause], bool); 29] = [
        (
            "no row and no process of one",
            |f| {
                f.registry.rows.retain(|row| row.role.as_deref() != Some("merger"));
                f.end_process(42_002);
            },
            &[Cause::MemberMissing],
            true,
        ),
        (
            "one is stopped",
            |f| {
                f.row("author").status = "stopped".into();
                f.end_process(42_000);
            },
            &[Cause::MemberMissing],
            true,
        ),
        (
            "one says that it stopped, and runs",
            |f| f.row("author").status = "stopped".into(),
            &[Cause::UnregisteredProcess, Cause::MemberMissing],
            false,
        ),
        (
            "a status that nobody knows",
            |f| f.row("author").status = "starting".into(),
            &[Cause::UnregisteredProcess, Cause::MemberMissing],
            false,
        ),
        ("a second one of a kind", |f| f.add(row("author", 42_010)), &[Cause::MemberDuplicate], true),
        (
            "a stopped row beside the running one",
            |f| {
                f.registry.rows.push(RuntimeRow {
                    status: "stopped".into(),
                    cohort_id: some("ppid:1"),
                    startup_head: some(OTHER_HEAD),
                    ..row("author", 41_000)
                })
            },
            &[],
            true,
        ),
        (
            "somebody who is not on the roster",
            |f| f.add(row("auditor", 42_020)),
            &[Cause::MemberUnexpected],
            true,
        ),
        (
            "bound to another remote",
            |f| f.row("author").remote = some("other"),
            &[Cause::MemberMissing, Cause::MemberUnexpected],
            true,
        ),
        (
            "bound to another organisation",
            |f| f.row("author").org = some("other"),
            &[Cause::MemberMissing, Cause::MemberUnexpected],
            true,
        ),
        (
            "bound to another repository",
            |f| f.row("author").repo = some("other"),
            &[Cause::MemberMissing, Cause::MemberUnexpected],
            true,
        ),
        (
            "bound to nothing",
            |f| f.row("author").remote = None,
            &[Cause::MemberMissing, Cause::MemberUnexpected],
            true,
        ),
        (
            "another profile",
            |f| f.row("author").profile = some("prgs-merger"),
            &[Cause::MemberMissing, Cause::MemberUnexpected],
            true,
        ),
        (
            "a namespace named after the profile",
            |f| f.row("controller").namespace = "prgs-controller".into(),
            &[Cause::MemberMissing, Cause::MemberUnexpected],
            true,
        ),
        (
            "a process that is gone",
            |f| f.end_process(42_001),
            &[Cause::MemberMissing, Cause::MemberStale],
            true,
        ),
        (
            "a process that started later",
            |f| f.process(42_001).started_at = Some(at("2026-07-28T02:00:02Z")),
            &[Cause::UnregisteredProcess, Cause::MemberMissing, Cause::MemberStale],
            false,
        ),
        (
            "a process that started a second later",
            |f| f.process(42_001).started_at = Some(at("2026-07-28T02:00:01Z")),
            &[],
            true,
        ),
        (
            "a row out of the future",
            |f| f.row("author").registered_at = some("2026-07-28T04:00:00Z"),
            &[Cause::UnregisteredProcess, Cause::MemberMissing, Cause::MemberStale],
            false,
        ),
        (
            "two rows of one process",
            |f| {
                f.row("merger").pid = Some(42_000);
                f.end_process(42_002);
            },
            &[Cause::MemberMissing, Cause::MemberStale],
            true,
        ),
        (
            "a server without a row",
            |f| f.scan.processes.push(process(42_099, "2026-07-28T01:00:00Z")),
            &[Cause::UnregisteredProcess],
            false,
        ),
        ("a blank cohort", |f| f.row("merger").cohort_id = some(" "), &[Cause::CohortUnknown], false),
        ("two cohorts", |f| f.row("merger").cohort_id = some("ppid:50000"), &[Cause::CohortSplit], true),
        (
            "two cohorts and an unknown one",
            |f| {
                f.row("author").cohort_id = None;
                f.row("merger").cohort_id = some("ppid:50000");
            },
            &[Cause::CohortUnknown, Cause::CohortSplit],
            false,
        ),
        ("an unknown revision", |f| f.row("merger").startup_head = None, &[Cause::RevisionUnknown], false),
        (
            "another revision",
            |f| f.row("merger").startup_head = some(OTHER_HEAD),
            &[Cause::RevisionMismatch],
            true,
        ),
        (
            "an open marker",
            |f| f.registry.open_markers = vec!["m-1".into()],
            &[Cause::ContaminatedRuntime],
            true,
        ),
        ("no roster", |f| f.roster.clear(), &[Cause::RosterEmpty, Cause::MemberUnexpected], true),
        (
            "a registry that cannot be read",
            |f| f.registry = Registry::unreadable("disk I/O error"),
            &[Cause::RegistryUnreadable],
            false,
        ),
        (
            "a listing that is not available",
            |f| f.scan.fault = some("permission denied"),
            &[Cause::ProcessListingUnavailable],
            false,
        ),
        (
            "neither",
            |f| {
                f.registry = Registry::unreadable("disk I/O error");
                f.scan.fault = some("no /proc");
            },
            &[Cause::RegistryUnreadable, Cause::ProcessListingUnavailable],
            false,
        ),
    ];
    for (name, change, causes, complete) in cases {
        let report = with(change);
        assert_eq!(report.blocked_reasons, causes, "{name}");
        assert_eq!(report.blocked_reason, causes.first().copied(), "{name}");
        assert_eq!(report.mutation_gate_satisfied, causes.is_empty(), "{name}");
        assert_eq!(report.inventory_complete, complete, "{name}");
        assert_eq!(report.reasons.len(), causes.len(), "{name}");
        assert!(report.blocked_reasons.is_sorted(), "{name}");
    }
}

#[test]
fn rows_and_processes_that_cannot_be_placed_spoil_their_source() {
    for change in [
        (|f: &mut Fleet| f.row("author").pid = None) as fn(&mut Fleet),
        |f| f.row("author").registered_at = None,
        |f| f.row("author").registered_at = some("yesterday"),
    ] {
        let report = with(change);
        assert!(report.blocked_reasons.contains(&Cause::RegistryUnreadable), "{:?}", report.blocked_reasons);
        assert!(report.missing.is_empty() && report.stale.is_empty());
        assert!(report.members.iter().any(|member| member.state == MemberState::Unknown));
    }
    let report = with(|f| f.process(42_003).started_at = None);
    assert_eq!(report.blocked_reasons, [Cause::ProcessListingUnavailable]);
    assert_eq!(report.running_member_count, 0);
}

#[test]
fn the_edges_of_what_is_allowed() {
    let minute_ahead = with(|f| f.row("author").registered_at = some("2026-07-28T03:01:00Z"));
    assert!(minute_ahead.mutation_gate_satisfied, "a clock may be a minute ahead");
    let more = with(|f| f.row("author").registered_at = some("2026-07-28T03:01:01Z"));
    assert!(more.blocked_reasons.contains(&Cause::MemberStale));

    let twice = with(|f| f.scan.processes.insert(0, process(42_001, "2026-07-28T02:30:00Z")));
    assert!(twice.blocked_reasons.contains(&Cause::MemberStale), "of two start times the later counts");
    let twice = with(|f| f.scan.processes.push(process(42_001, "2026-07-28T02:30:00Z")));
    assert!(twice.blocked_reasons.contains(&Cause::MemberStale));

    let nobody = with(|f| f.row("author").pid = Some(0));
    assert!(nobody.blocked_reasons.contains(&Cause::RegistryUnreadable));
}

#[test]
fn a_cohort_is_one_only_if_every_member_recorded_the_same() {
    assert_eq!(with(|f| f.row("merger").cohort_id = some("ppid:1")).single_cohort, Some(false));
    assert_eq!(with(|f| f.row("merger").cohort_id = None).single_cohort, None);
    assert_eq!(with(|f| f.row("merger").cohort_id = some(" ppid:40990 ")).single_cohort, Some(true));
}

#[test]
fn an_empty_machine_misses_everybody() {
    let report = with(|f| {
        f.registry.rows.clear();
        f.scan.processes.clear();
    });
    assert_eq!(report.missing.len(), 5);
    assert_eq!(report.single_cohort, None, "nobody runs, so there is no cohort");
    assert!(!report.mutation_gate_satisfied);
}

#[test]
fn every_cause_at_once_is_told_in_order() {
    let report = with(|f| {
        f.row("controller").cohort_id = some("ppid:50000");
        f.row("reconciler").startup_head = some(OTHER_HEAD);
        f.add(row("author", 42_010));
        f.add(row("auditor", 42_020));
        f.scan.processes.push(process(42_099, "2026-07-28T01:00:00Z"));
        f.end_process(42_002);
        f.registry.open_markers = vec!["m-2".into(), "m-1".into()];
    });
    assert_eq!(
        report.blocked_reasons,
        [
            Cause::UnregisteredProcess,
            Cause::CohortSplit,
            Cause::RevisionMismatch,
            Cause::MemberMissing,
            Cause::MemberDuplicate,
            Cause::MemberUnexpected,
            Cause::MemberStale,
            Cause::ContaminatedRuntime,
        ]
    );
    assert_eq!(report.open_markers, ["m-1", "m-2"]);
    assert_eq!(report.duplicate.len(), 2, "each of the two is listed");
    assert_eq!(report.running_member_count, 4);
}

#[test]
fn recorded_evidence_attests_nothing() {
    let report = with(|f| f.scan.evidence = Evidence::Recorded);
    assert!(report.members.iter().all(|member| member.attested.is_none()));
    let mut rows = healthy().registry.rows;
    rows.truncate(1);
    assert!(Registry::recorded(rows).rows.iter().all(|row| row.attested.is_none()));
}

/// What can go wrong with a fleet; each is harmless to the order of the others.
#[derive(Debug, Clone)]
enum Trouble {
    Stop(usize),
    End(usize),
    Recycle(usize),
    Twin(usize, i64),
    Stranger(i64),
    Unregistered(i64),
    Rebind(usize),
    Cohort(usize, Option<u8>),
    Head(usize, Option<u8>),
    Unplaced(usize),
    Marker,
    RegistryFault,
    ListingFault,
    NoRoster,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let role = 0..ROLES.len();
    let pid = 43_000..43_008_i64;
    prop_oneof![
        role.clone().prop_map(Trouble::Stop),
        role.clone().prop_map(Trouble::End),
        role.clone().prop_map(Trouble::Recycle),
        (role.clone(), pid).prop_map(|(role, pid)| Trouble::Twin(role, pid)),
        (44_000..44_004_i64).prop_map(Trouble::Stranger),
        (45_000..45_004_i64).prop_map(Trouble::Unregistered),
        role.clone().prop_map(Trouble::Rebind),
        (role.clone(), prop::option::of(0..3_u8)).prop_map(|(role, value)| Trouble::Cohort(role, value)),
        (role.clone(), prop::option::of(0..3_u8)).prop_map(|(role, value)| Trouble::Head(role, value)),
        role.prop_map(Trouble::Unplaced),
        Just(Trouble::Marker),
        Just(Trouble::RegistryFault),
        Just(Trouble::ListingFault),
        Just(Trouble::NoRoster),
    ]
}

fn afflict(fleet: &mut Fleet, trouble: &Trouble) {
    let role = |at: usize| ROLES.get(at).copied().unwrap();
    let pid = |at: usize| 42_000 + i64::try_from(at).unwrap();
    match *trouble {
        Trouble::Stop(at) => {
            fleet.row(role(at)).status = "stopped".into();
            fleet.end_process(pid(at));
        }
        Trouble::End(at) => fleet.end_process(pid(at)),
        Trouble::Recycle(at) => {
            fleet.end_process(pid(at));
            fleet.scan.processes.push(process(pid(at), "2026-07-28T02:30:00Z"));
        }
        Trouble::Twin(at, pid) => fleet.add(row(role(at), pid)),
        Trouble::Stranger(pid) => fleet.add(row("auditor", pid)),
        Trouble::Unregistered(pid) => fleet.scan.processes.push(process(pid, "2026-07-28T01:00:00Z")),
        Trouble::Rebind(at) => fleet.row(role(at)).repo = some("elsewhere"),
        Trouble::Cohort(at, value) => {
            fleet.row(role(at)).cohort_id = value.map(|value| format!("ppid:{value}"));
        }
        Trouble::Head(at, value) => {
            fleet.row(role(at)).startup_head = value.map(|value| value.to_string().repeat(40));
        }
        Trouble::Unplaced(at) => fleet.row(role(at)).registered_at = None,
        Trouble::Marker => fleet.registry.open_markers.push("m-1".into()),
        Trouble::RegistryFault => fleet.registry.fault = some("disk I/O error"),
        Trouble::ListingFault => fleet.scan.fault = some("permission denied"),
        Trouble::NoRoster => fleet.roster.clear(),
    }
}

/// Troubles that close the gate whatever else is true: nothing can make up for them.
fn closes_for_good(trouble: &Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Stranger(_)
            | Trouble::Unregistered(_)
            | Trouble::Marker
            | Trouble::RegistryFault
            | Trouble::ListingFault
            | Trouble::NoRoster
    )
}

proptest! {
    #[test]
    fn the_order_of_the_inputs_decides_nothing(
        troubles in prop::collection::vec(trouble(), 0..6),
        rows in any::<u64>(), processes in any::<u64>(), roster in any::<u64>(),
    ) {
        let mut fleet = healthy();
        troubles.iter().for_each(|trouble| afflict(&mut fleet, trouble));
        let mut mixed = fleet.clone();
        shuffle(&mut mixed.registry.rows, rows);
        shuffle(&mut mixed.scan.processes, processes);
        shuffle(&mut mixed.roster, roster);
        prop_assert_eq!(fleet.report(), mixed.report());
    }

    /// One thing more that is wrong never opens the gate, and never makes the inventory complete.
    #[test]
    fn a_further_cause_opens_no_gate(
        troubles in prop::collection::vec(trouble(), 0..6),
        further in trouble().prop_filter("one that nothing makes up for", closes_for_good),
    ) {
        let mut fleet = healthy();
        troubles.iter().for_each(|trouble| afflict(&mut fleet, trouble));
        let before = fleet.report();
        afflict(&mut fleet, &further);
        let after = fleet.report();
        prop_assert!(!after.mutation_gate_satisfied);
        // Without a roster nobody is a member whose cohort could be unknown.
        if matches!(further, Trouble::RegistryFault | Trouble::ListingFault | Trouble::Marker) {
            prop_assert!(before.inventory_complete || !after.inventory_complete);
        }
    }

    /// The report hangs together: the gate is open if no cause is named, and each list has its cause.
    #[test]
    fn the_gate_and_its_causes_agree(troubles in prop::collection::vec(trouble(), 0..8)) {
        let mut fleet = healthy();
        troubles.iter().for_each(|trouble| afflict(&mut fleet, trouble));
        let report = fleet.report();
        prop_assert_eq!(report.mutation_gate_satisfied, report.blocked_reasons.is_empty());
        prop_assert_eq!(report.blocked_reason, report.blocked_reasons.first().copied());
        let incomplete = report.blocked_reasons.iter().any(|cause| cause.leaves_inventory_incomplete());
        prop_assert_eq!(report.inventory_complete, !incomplete);
        for (list, cause) in [
            (&report.missing, Cause::MemberMissing),
            (&report.duplicate, Cause::MemberDuplicate),
            (&report.unexpected, Cause::MemberUnexpected),
            (&report.stale, Cause::MemberStale),
            (&report.unregistered, Cause::UnregisteredProcess),
            (&report.revision_mismatch, Cause::RevisionMismatch),
        ] {
            prop_assert_eq!(!list.is_empty(), report.blocked_reasons.contains(&cause));
        }
        if report.mutation_gate_satisfied {
            prop_assert_eq!(report.running_member_count, fleet.roster.len());
            prop_assert_eq!(report.single_cohort, Some(true));
        }
    }
}

/// A permutation that the seed decides.
fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for end in (1..items.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(seed >> 33).unwrap() % (end + 1);
        items.swap(end, at);
    }
}
