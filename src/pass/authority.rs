//! Authority: what the environment of the process grants, as a plain value.
//!
//! The edge reads the variables once and hands the value over. No argument, request,
//! snapshot or configuration can grant any of it. The values themselves are never kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The variable that grants an operator's override, and approves an operator's own request.
pub const OVERRIDE_VARIABLE: &str = "GITEA_OPERATOR_RESTART_OVERRIDE_AUTHORIZATION";
/// The variable that grants break-glass: passing the drain gate without a proof.
pub const BREAK_GLASS_VARIABLE: &str = "GITEA_BREAKGLASS_RESTART_AUTHORIZATION";
/// The variable that grants maintenance: clearing a contamination marker.
pub const MAINTENANCE_VARIABLE: &str = "GITEA_OPERATOR_DAEMON_MAINTENANCE_AUTHORIZATION";

/// Whose environment granted the authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthoritySource {
    /// The answering process is a long-running server: its caller could not set it.
    ServerEnvironment,
    /// The answering process was started by the caller, who could set its environment.
    #[default]
    CallerEnvironment,
}

impl AuthoritySource {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            AuthoritySource::ServerEnvironment => "server_environment",
            AuthoritySource::CallerEnvironment => "caller_environment",
        }
    }
}

/// What the process may do on an operator's behalf. The default grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Authority {
    /// An override may lift live work.
    pub override_restart: bool,
    /// Break-glass may pass the drain gate.
    pub break_glass: bool,
    /// A contamination marker may be cleared.
    pub maintenance: bool,
    /// Whose environment it was.
    pub source: AuthoritySource,
}

/// Whether a variable's value grants: trimmed and lower-cased it is not empty, `0`, `false` or `no`.
///
/// ```
/// use restartlint::pass::authority::grants;
/// assert!(grants("approved"));
/// assert!(!grants(" False "));
/// ```
pub fn grants(value: &str) -> bool {
    !matches!(value.trim().to_lowercase().as_str(), "" | "0" | "false" | "no")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_negative_values_grant_nothing() {
        for value in ["", "  ", "0", " 0\n", "false", "False", "FALSE", "no", "No", "\tNO "] {
            assert!(!grants(value), "{value:?}");
        }
        for value in ["1", "yes", "approved", "true", "00", "nope", "x"] {
            assert!(grants(value), "{value:?}");
        }
        assert_eq!(Authority::default().source, AuthoritySource::CallerEnvironment);
        assert!(!Authority::default().override_restart);
    }
}
