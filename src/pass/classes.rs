//! The restart classes as data: who may ask for what, on whose approval, and what is
//! counted. The table stands in `rules/restart-classes.toml`.
//!
//! Reads the built-in text only. A table with a fault is never used in part: it is
//! empty then, and every class is unknown.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::impact::report::{AUDIT_FIELDS, BlastRadius};

/// The names of the nine classes, from the least privilege to the most.
pub const CLASS_NAMES: [&str; 9] = [
    "client_reconnect",
    "profile_switch",
    "config_reload",
    "session_restart",
    "role_restart",
    "connector_restart",
    "rolling_restart",
    "full_mcp_restart",
    "host_restart",
];

/// A role of a session. Anything else is unknown and may nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A worker that writes changes.
    Author,
    /// A worker that reviews them.
    Reviewer,
    /// A worker that merges them.
    Merger,
    /// A worker that reconciles state.
    Reconciler,
    /// Directs the workers.
    Controller,
    /// A person in charge of the host.
    Operator,
}

impl Role {
    /// All roles, the workers first.
    pub const ALL: [Role; 6] =
        [Role::Author, Role::Reviewer, Role::Merger, Role::Reconciler, Role::Controller, Role::Operator];

    /// The role of that exact name.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Role::Author => "author",
            Role::Reviewer => "reviewer",
            Role::Merger => "merger",
            Role::Reconciler => "reconciler",
            Role::Controller => "controller",
            Role::Operator => "operator",
        }
    }
}

/// Whose approval a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalLevel {
    /// Nobody's.
    None,
    /// A controller's or an operator's.
    Controller,
    /// An operator's.
    Operator,
}

impl ApprovalLevel {
    /// Whether an approver of that role suffices.
    pub fn satisfied_by(self, role: Role) -> bool {
        match self {
            ApprovalLevel::None => true,
            ApprovalLevel::Controller => matches!(role, Role::Controller | Role::Operator),
            ApprovalLevel::Operator => role == Role::Operator,
        }
    }

    /// The name as reports show it.
    pub fn name(self) -> &'static str {
        match self {
            ApprovalLevel::None => "none",
            ApprovalLevel::Controller => "controller",
            ApprovalLevel::Operator => "operator",
        }
    }
}

/// What kind of target a request of the class must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// None at all.
    None,
    /// `target_session_id`.
    Session,
    /// `target_role`.
    Role,
    /// `target_connector`.
    Connector,
}

/// Which sessions and leases a class counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    /// The requester's own session.
    Requester,
    /// The target session.
    Session,
    /// The sessions of the target role.
    Role,
    /// The sessions behind the target connector.
    Connector,
    /// Every session.
    All,
}

/// One restart class.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestartClass {
    /// One of [`CLASS_NAMES`].
    pub name: String,
    /// What happens, in one sentence.
    pub summary: String,
    /// `restart:NAME`.
    pub permission: String,
    /// The roles that may ask.
    pub roles: BTreeSet<Role>,
    /// Of those, the ones that may ask for another's session.
    #[serde(default)]
    pub others: BTreeSet<Role>,
    /// What the request must name.
    pub target: TargetKind,
    /// Whose approval is needed.
    pub approval: ApprovalLevel,
    /// Whose approval is needed where the target is the requester's own session.
    pub approval_for_itself: Option<ApprovalLevel>,
    /// What is counted.
    pub scope: ScopeKind,
    /// Whether a process ends.
    pub ends_process: bool,
    /// Whether the sessions are taken one after the other.
    #[serde(default)]
    pub one_at_a_time: bool,
    /// The blast radius of an ordinary case, for the page.
    pub expected_blast_radius: BlastRadius,
    /// What must be drained, in one sentence.
    pub drain_scope: String,
    /// What follows afterwards.
    pub recovery: String,
    /// The members of the audit record that matter most for this class.
    pub audit_fields: Vec<String>,
}

impl RestartClass {
    /// Whose approval a request needs; `for_itself` if its target is the requester's own session.
    pub fn approval_needed(&self, for_itself: bool) -> ApprovalLevel {
        match self.approval_for_itself {
            Some(level) if for_itself => level,
            _ => self.approval,
        }
    }
}

/// The table of classes, in the order of [`CLASS_NAMES`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassTable {
    #[serde(rename = "class")]
    classes: Vec<RestartClass>,
}

impl ClassTable {
    /// Reads and validates a table; all faults at once, each a sentence.
    pub fn from_toml(text: &str) -> Result<ClassTable, Vec<String>> {
        let table: ClassTable = toml::from_str(text).map_err(|error| vec![error.to_string()])?;
        let faults = faults(&table.classes);
        if faults.is_empty() { Ok(table) } else { Err(faults) }
    }

    /// The class of that exact name.
    pub fn get(&self, name: &str) -> Option<&RestartClass> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// The classes in order.
    pub fn iter(&self) -> impl Iterator<Item = &RestartClass> {
        self.classes.iter()
    }
}

/// The built-in table.
///
/// ```
/// let classes = restartlint::pass::classes::builtin();
/// assert!(!classes.get("client_reconnect").unwrap().ends_process);
/// assert!(classes.get("CLIENT_RECONNECT").is_none());
/// ```
pub fn builtin() -> &'static ClassTable {
    static TABLE: LazyLock<ClassTable> = LazyLock::new(|| {
        ClassTable::from_toml(include_str!("../../rules/restart-classes.toml")).unwrap_or_default()
    });
    &TABLE
}

/// What is wrong with the rows.
fn faults(classes: &[RestartClass]) -> Vec<String> {
    let mut faults = Vec::new();
    let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    if names != CLASS_NAMES {
        faults.push(format!("the classes must be {} in this order", CLASS_NAMES.join(", ")));
    }
    for class in classes {
        let mut fault = |text: &str| faults.push(format!("class {}: {text}", class.name));
        if class.permission != format!("restart:{}", class.name) {
            fault("the permission must be restart:NAME");
        }
        if class.roles.is_empty() {
            fault("no role may ask");
        }
        if !class.others.is_subset(&class.roles) {
            fault("a role of `others` may not ask at all");
        }
        if class.scope != ScopeKind::Session
            && (!class.others.is_empty() || class.approval_for_itself.is_some())
        {
            fault("`others` and `approval_for_itself` belong to the scope of a session");
        }
        let expected = match class.target {
            TargetKind::None => class.scope,
            TargetKind::Session => ScopeKind::Session,
            TargetKind::Role => ScopeKind::Role,
            TargetKind::Connector => ScopeKind::Connector,
        };
        let needs_target = matches!(class.scope, ScopeKind::Session | ScopeKind::Role | ScopeKind::Connector);
        if class.scope != expected || needs_target == (class.target == TargetKind::None) {
            fault("the scope does not follow from the target");
        }
        if class.ends_process == (class.scope == ScopeKind::Requester) {
            fault("what ends no process is scoped to the requester, and only that");
        }
        for text in [&class.summary, &class.drain_scope, &class.recovery] {
            if text.trim().is_empty() {
                fault("a text is empty");
            }
        }
        for field in &class.audit_fields {
            if !AUDIT_FIELDS.contains(&field.as_str()) {
                fault(&format!("the audit record has no member {field}"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../rules/restart-classes.toml");

    #[test]
    fn the_built_in_table_is_valid_and_complete() {
        assert_eq!(ClassTable::from_toml(TEXT).map(|table| table.classes.len()), Ok(9));
        assert_eq!(builtin().iter().map(|class| class.name.as_str()).collect::<Vec<_>>(), CLASS_NAMES);
    }

    #[test]
    fn each_fault_is_named_with_its_class() {
        for (from, to, what) in [
            ("name = \"host_restart\"", "name = \"turbo_restart\"", "in this order"),
            ("\"restart:role_restart\"", "\"restart:role\"", "class role_restart: the permission"),
            (
                "others = [\"controller\", \"operator\"]",
                "others = [\"author\"]\nroles = [\"operator\"]",
                "duplicate key",
            ),
            ("scope = \"connector\"", "scope = \"role\"", "class connector_restart: the scope"),
            ("target = \"role\"\n", "target = \"none\"\n", "class role_restart: the scope"),
            (
                "one_at_a_time = true",
                "one_at_a_time = true\nothers = [\"operator\"]",
                "class rolling_restart: `others`",
            ),
            ("one_at_a_time = true", "approval_for_itself = \"none\"", "class rolling_restart: `others`"),
            ("ends_process = false", "ends_process = true", "what ends no process"),
            (
                "scope = \"all\"\nends_process = true",
                "scope = \"all\"\nends_process = false",
                "what ends no process",
            ),
            ("roles = [\"operator\"]", "roles = []", "class host_restart: no role"),
            (
                "others = [\"controller\", \"operator\"]",
                "others = [\"merger\", \"operator\", \"root\"]",
                "unknown variant",
            ),
            (
                "audit_fields = [\"requester\", \"decision\", \"time\"]",
                "audit_fields = [\"key\"]",
                "no member key",
            ),
            ("recovery = \"The host", "recovery = \"\"\nsurprise = \"", "unknown field"),
            (
                "drain_scope = \"The leases of the role's sessions.\"",
                "drain_scope = \" \"",
                "a text is empty",
            ),
        ] {
            let changed = TEXT.replacen(from, to, 1);
            assert_ne!(changed, TEXT, "{from} does not occur");
            let faults = ClassTable::from_toml(&changed).expect_err(to).join("\n");
            assert!(faults.contains(what), "{to}: {faults}");
        }
        let without = TEXT.replace("roles = [\"author\", \"reviewer\", \"merger\", \"reconciler\", \"controller\", \"operator\"]\nothers", "roles = [\"operator\"]\nothers");
        assert!(ClassTable::from_toml(&without).unwrap_err()[0].contains("may not ask at all"));
    }

    #[test]
    fn approvers_suffice_upwards_only() {
        use ApprovalLevel::{Controller, None, Operator};
        for role in Role::ALL {
            assert!(None.satisfied_by(role));
            assert_eq!(Controller.satisfied_by(role), role >= Role::Controller, "{role:?}");
            assert_eq!(Operator.satisfied_by(role), role == Role::Operator, "{role:?}");
            assert_eq!(Role::named(role.name()), Some(role));
        }
        assert_eq!(Role::named("Operator"), Option::None);
    }
}
