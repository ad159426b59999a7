//! The documentation page of each rule, embedded: printed by `explain`, carried by SARIF.
//! A test holds that the table, the catalogue and `docs/rules/` name the same rules.

/// Code and page of every rule.
const PAGES: &[(&str, &str)] = &[
    ("RL101", include_str!("../../docs/rules/RL101-daemon-self-replacement.md")),
    ("RL102", include_str!("../../docs/rules/RL102-daemon-self-termination.md")),
    ("RL103", include_str!("../../docs/rules/RL103-daemon-kill.md")),
    ("RL104", include_str!("../../docs/rules/RL104-daemon-respawn.md")),
    ("RL105", include_str!("../../docs/rules/RL105-daemon-hot-reload.md")),
    ("RL106", include_str!("../../docs/rules/RL106-daemon-reload-trigger.md")),
    ("RL107", include_str!("../../docs/rules/RL107-daemon-supervisor-restart.md")),
    ("RL108", include_str!("../../docs/rules/RL108-daemon-exit.md")),
    ("RL201", include_str!("../../docs/rules/RL201-removed-path-returned.md")),
    ("RL301", include_str!("../../docs/rules/RL301-unregistered-restart-path.md")),
    ("RL302", include_str!("../../docs/rules/RL302-unknown-path-id.md")),
    ("RL303", include_str!("../../docs/rules/RL303-forbidden-path.md")),
    ("RL304", include_str!("../../docs/rules/RL304-unguarded-bootstrap.md")),
    ("RL305", include_str!("../../docs/rules/RL305-stale-location.md")),
    ("RL306", include_str!("../../docs/rules/RL306-daemon-sanctioned.md")),
    ("RL307", include_str!("../../docs/rules/RL307-inventory-doc-drift.md")),
    ("RL308", include_str!("../../docs/rules/RL308-unclassified-path.md")),
    ("RL309", include_str!("../../docs/rules/RL309-unbounded-restart-policy.md")),
    ("RL401", include_str!("../../docs/rules/RL401-unreadable-source.md")),
    ("RL402", include_str!("../../docs/rules/RL402-conflict-marker.md")),
    ("RL403", include_str!("../../docs/rules/RL403-unused-annotation.md")),
    ("RL404", include_str!("../../docs/rules/RL404-annotation-without-reason.md")),
    ("RL405", include_str!("../../docs/rules/RL405-undecidable-primitive.md")),
];

/// The page of the rule with that code.
pub fn of(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(c, _)| *c == code).map(|(_, page)| *page)
}

/// All codes that have a page.
pub fn codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}
