//! The `[fleet]` table: which servers are expected, what they must be bound to, and how
//! long a silent row stays in the registry. Collects its faults with their places.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::table::View;

/// Days that a silent row stays in the registry, unless configured.
pub const RETENTION_DAYS: u32 = 7;
/// The longest retention that can be configured: a hundred years.
const MOST_DAYS: i64 = 36_500;

const KEYS: [&str; 3] = ["binding", "member", "retention-days"];
const BINDING: [&str; 3] = ["remote", "org", "repo"];
const MEMBER: [&str; 3] = ["namespace", "profile", "role"];

/// `[fleet]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetConfig {
    /// What every member must be bound to.
    pub binding: Binding,
    /// The roster; no namespace occurs twice.
    pub members: Vec<RosterMember>,
    /// How long a silent row stays, in days.
    pub retention_days: u32,
}

impl Default for FleetConfig {
    fn default() -> FleetConfig {
        FleetConfig { binding: Binding::default(), members: Vec::new(), retention_days: RETENTION_DAYS }
    }
}

/// What a member must be bound to; what is not configured is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// The remote.
    pub remote: Option<String>,
    /// The organisation.
    pub org: Option<String>,
    /// The repository.
    pub repo: Option<String>,
}

/// One server that is expected to run, exactly once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RosterMember {
    /// The name that its row carries; never inferred from the profile.
    pub namespace: String,
    /// The profile that it must run under.
    pub profile: String,
    /// The role that it must serve.
    pub role: String,
}

impl FleetConfig {
    /// Reads the table out of the configuration's top level; without one the defaults hold.
    pub fn read(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> FleetConfig {
        let mut config = FleetConfig::default();
        let Some(table) = view.table("fleet", "[fleet]", faults) else { return config };
        table.refuse_unknown(&KEYS, faults);
        if let Some(binding) = table.table("binding", "`binding` of [fleet]", faults) {
            binding.refuse_unknown(&BINDING, faults);
            config.binding = Binding {
                remote: filled(&binding, "remote", faults),
                org: filled(&binding, "org", faults),
                repo: filled(&binding, "repo", faults),
            };
        }
        let mut seen = BTreeSet::new();
        for member in table.tables("member", "[[fleet.member]]", faults) {
            member.refuse_unknown(&MEMBER, faults);
            let mut required = |key: &str| {
                if member.get(key).is_none() {
                    let message = format!("this [[fleet.member]] lacks `{key}`");
                    let label = "needs `namespace`, `profile` and `role`";
                    faults.push(Fault::new(member.span.clone(), message, label));
                }
                filled(&member, key, faults)
            };
            let found = (required("namespace"), required("profile"), required("role"));
            let (Some(namespace), Some(profile), Some(role)) = found else { continue };
            if seen.insert(namespace.clone()) {
                config.members.push(RosterMember { namespace, profile, role });
            } else {
                let message = format!("the namespace `{namespace}` is on the roster twice");
                faults.push(Fault::new(member.key_span("namespace"), message, "again here"));
            }
        }
        if let Some(days) = table.integer("retention-days", faults) {
            match u32::try_from(days.value) {
                Ok(found) if (1..=MOST_DAYS).contains(&days.value) => config.retention_days = found,
                _ => {
                    let message = format!("`retention-days` must be between 1 and {MOST_DAYS}");
                    faults.push(Fault::new(days.span, message, "here"));
                }
            }
        }
        config
    }
}

/// A text that is not blank.
fn filled(view: &View<'_, '_>, key: &str, faults: &mut Vec<Fault>) -> Option<String> {
    let text = view.text(key, faults)?;
    if text.value.trim().is_empty() {
        faults.push(Fault::new(text.span, format!("`{key}` is blank"), "here"));
        return None;
    }
    Some(text.value)
}

#[cfg(test)]
mod tests {
    use super::super::config::{Config, Host};
    use super::*;

    const EXAMPLE: &str = "[fleet]\nbinding = { remote = \"prgs\", org = \"example\", repo = \"tools\" }\n\
        [[fleet.member]]\nnamespace = \"gitea-author\"\nprofile = \"prgs-author\"\nrole = \"author\"\n";

    fn read(text: &str) -> Result<FleetConfig, Vec<String>> {
        match Config::read("restartlint.toml", text, Host::Own) {
            Ok(config) => Ok(config.unwrap_or_default().fleet),
            Err(faults) => Err(faults.faults.into_iter().map(|fault| fault.message).collect()),
        }
    }

    #[test]
    fn a_roster_and_a_binding_are_read() {
        let config = read(EXAMPLE).unwrap();
        assert_eq!(config.retention_days, 7);
        assert_eq!(config.binding.org.as_deref(), Some("example"));
        let member = RosterMember {
            namespace: "gitea-author".into(),
            profile: "prgs-author".into(),
            role: "author".into(),
        };
        assert_eq!(config.members, [member]);
        assert_eq!(read("").unwrap(), FleetConfig::default());
    }

    #[test]
    fn every_fault_is_told() {
        let twice = format!(
            "{EXAMPLE}[[fleet.member]]\nnamespace = \"gitea-author\"\nprofile = \"p\"\nrole = \" \"\n\
             [[fleet.member]]\nnamespce = \"x\"\n"
        );
        let faults = read(&twice).unwrap_err().join("\n");
        for told in ["`role` is blank", "unknown key `namespce`", "lacks `namespace`", "lacks `profile`"] {
            assert!(faults.contains(told), "{faults}");
        }
        let again = format!("{EXAMPLE}{}", EXAMPLE.split_once('\n').unwrap().1.split_once('\n').unwrap().1);
        assert!(read(&again).unwrap_err().join("\n").contains("on the roster twice"));
        for days in ["0", "-1", "99999", "\"7\""] {
            assert!(read(&format!("[fleet]\nretention-days = {days}\n")).is_err(), "{days}");
        }
        assert!(read("[fleet]\nbinding = { remote = 3, branch = \"x\" }\n").is_err());
    }
}
