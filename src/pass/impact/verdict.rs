//! The verdict over a counted state, and how much a restart would hit.

use super::count::Count;
use super::report::{BlastRadius, Verdict};

/// What the state allows. An override lifts live work, never an incomplete inventory or a lock.
pub fn verdict(count: &Count, override_requested: bool, override_authorized: bool) -> Verdict {
    if !count.complete() || count.terminal_lock.is_some() {
        Verdict::Unsafe
    } else if !count.live_work() {
        Verdict::Safe
    } else if override_requested && override_authorized {
        Verdict::Override
    } else {
        Verdict::Unsafe
    }
}

/// Whether an authorised override would lift the state: there is live work, and nothing else.
pub fn override_would_allow(count: &Count) -> bool {
    verdict(count, true, true) == Verdict::Override
}

/// How much it would hit: 0, 1–2, 3–5 or more sessions and work items, and at least what
/// a critical section, a lock or an incomplete inventory makes of it.
pub fn blast_radius(count: &Count) -> BlastRadius {
    if !count.complete() || count.terminal_lock.is_some() {
        return BlastRadius::High;
    }
    let by_number = match count.counts.other_live_sessions + count.counts.work_items {
        0 => BlastRadius::None,
        1..=2 => BlastRadius::Low,
        3..=5 => BlastRadius::Medium,
        _ => BlastRadius::High,
    };
    let least = if count.counts.critical_sections > 0 { BlastRadius::Medium } else { BlastRadius::None };
    by_number.max(least)
}

#[cfg(test)]
mod tests {
    use super::super::report::Counts;
    use super::super::snapshot::TerminalLock;
    use super::*;

    fn state(sessions: usize, leases: usize, critical: usize) -> Count {
        let counts = Counts {
            live_sessions: sessions,
            other_live_sessions: sessions,
            active_leases: leases,
            work_items: leases,
            critical_sections: critical,
        };
        Count { counts, ..Count::default() }
    }

    #[test]
    fn an_override_lifts_live_work_only() {
        for (requested, authorized) in [(false, false), (true, false), (false, true), (true, true)] {
            let lifted = if requested && authorized { Verdict::Override } else { Verdict::Unsafe };
            assert_eq!(verdict(&state(0, 0, 0), requested, authorized), Verdict::Safe);
            assert_eq!(verdict(&state(1, 0, 0), requested, authorized), lifted);
            assert_eq!(verdict(&state(0, 1, 0), requested, authorized), lifted);
            let unknown = Count { errors: vec!["x".into()], ..state(1, 1, 0) };
            assert_eq!(verdict(&unknown, requested, authorized), Verdict::Unsafe);
            let locked = Count { terminal_lock: Some(TerminalLock::default()), ..state(0, 0, 0) };
            assert_eq!(verdict(&locked, requested, authorized), Verdict::Unsafe);
        }
    }

    #[test]
    fn only_live_work_can_be_overridden() {
        assert!(override_would_allow(&state(1, 0, 0)));
        assert!(!override_would_allow(&state(0, 0, 0)));
        assert!(!override_would_allow(&Count { errors: vec!["x".into()], ..state(1, 0, 0) }));
    }

    #[test]
    fn the_radius_grows_with_sessions_and_work() {
        use BlastRadius::{High, Low, Medium, None};
        for (sessions, leases, critical, radius) in [
            (0, 0, 0, None),
            (1, 0, 0, Low),
            (1, 1, 0, Low),
            (0, 1, 1, Medium),
            (2, 1, 0, Medium),
            (5, 0, 0, Medium),
            (3, 3, 1, High),
            (6, 0, 0, High),
        ] {
            assert_eq!(
                blast_radius(&state(sessions, leases, critical)),
                radius,
                "{sessions} {leases} {critical}"
            );
        }
        assert_eq!(blast_radius(&Count { errors: vec!["x".into()], ..state(0, 0, 0) }), High);
        assert_eq!(
            blast_radius(&Count { terminal_lock: Some(TerminalLock::default()), ..state(0, 0, 0) }),
            High
        );
    }
}
