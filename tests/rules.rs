//! The rule catalogue and the rule table name the same rules, in both directions.

use restartlint::check;
use restartlint::data::checks;

#[test]
fn every_rule_of_the_catalogue_has_a_function_and_every_function_a_rule() {
    let mut given: Vec<&str> = check::TABLE.iter().flat_map(|(codes, _)| codes.iter().copied()).collect();
    given.sort();
    assert_eq!(given, checks::codes().collect::<Vec<_>>());
}

#[test]
fn names_read_well_after_allow() {
    for rule in checks::all() {
        let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(rule.name.chars().all(kebab), "{}", rule.name);
        assert!(!rule.name.starts_with("no-") && !rule.name.starts_with("missing-"), "{}", rule.name);
        assert!(!rule.summary.ends_with('.') && !rule.summary.is_empty(), "{}", rule.code);
    }
}
