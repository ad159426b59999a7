//! The rule catalogue: codes, names, default severities and summaries, read from
//! `rules/checks.toml`. What a rule does stands in `check`; this knows none of it.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::base::finding::Severity;

/// One rule of the catalogue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its code, such as `RL101`.
    pub code: String,
    /// Its kebab-case name.
    pub name: String,
    /// Severity unless the configuration says otherwise.
    pub severity: Severity,
    /// When it fires, one line.
    pub summary: String,
    /// Cannot be silenced by an inline annotation.
    #[serde(default)]
    pub fixed: bool,
    /// Speaks of the daemon's reach, which only a run over the whole project knows.
    #[serde(default)]
    pub reach: bool,
}

#[derive(Deserialize)]
struct File {
    rule: Vec<Rule>,
}

/// The embedded catalogue's text.
const TEXT: &str = include_str!("../../rules/checks.toml");

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    // The text is part of the program; a test holds that it parses.
    let mut rules = toml::from_str::<File>(TEXT).map(|file| file.rule).unwrap_or_default();
    rules.sort_by(|a, b| a.code.cmp(&b.code));
    rules
});

/// All rules by code.
pub fn all() -> &'static [Rule] {
    &RULES
}

/// The rule with that code or name.
pub fn find(code_or_name: &str) -> Option<&'static Rule> {
    all().iter().find(|r| r.code.eq_ignore_ascii_case(code_or_name) || r.name == code_or_name)
}

/// All codes, for suggestions.
pub fn codes() -> impl Iterator<Item = &'static str> {
    all().iter().map(|r| r.code.as_str())
}

/// All names and codes, for suggestions.
pub fn words() -> impl Iterator<Item = &'static str> {
    all().iter().flat_map(|r| [r.code.as_str(), r.name.as_str()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_parses_and_codes_and_names_are_unique() {
        toml::from_str::<File>(TEXT).unwrap();
        let mut words: Vec<&str> = words().collect();
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), count);
        assert!(all().len() > 20);
    }

    #[test]
    fn only_daemon_rules_and_unreadable_sources_are_fixed() {
        let fixed: Vec<&str> = all().iter().filter(|r| r.fixed).map(|r| r.code.as_str()).collect();
        assert_eq!(fixed, ["RL101", "RL102", "RL103", "RL104", "RL105", "RL106", "RL107", "RL401"]);
    }
}
