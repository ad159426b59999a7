//! The request: what is asked for, by whom. It can express intent, never authority.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::base::json::{self, JsonFault};
use crate::pass::classes::TargetKind;

/// A restart that somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of a restart class.
    pub restart_class: String,
    /// Who asks.
    #[serde(deserialize_with = "json::object")]
    pub requester: Requester,
    /// The session to restart, for a class that needs one.
    #[serde(default)]
    pub target_session_id: Option<String>,
    /// The role to restart, for a class that needs one.
    #[serde(default)]
    pub target_role: Option<String>,
    /// The connector to restart, for a class that needs one.
    #[serde(default)]
    pub target_connector: Option<String>,
    /// Asks that live work be overridden; does nothing without an operator's authority.
    #[serde(default)]
    pub request_override: bool,
    /// Asks that the drain gate be passed without a proof; does nothing without authority.
    #[serde(default)]
    pub request_break_glass: bool,
}

/// Who asks for a restart.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requester {
    /// The requester's session.
    #[serde(deserialize_with = "not_blank")]
    pub session_id: String,
    /// The role that the requester claims.
    pub role: String,
}

impl Request {
    /// Reads a request; refuses a wrong type, an unknown or missing member, a repeated key.
    ///
    /// ```
    /// use restartlint::pass::impact::Request;
    /// let text = r#"{"restart_class":"client_reconnect","requester":{"session_id":"s-a","role":"author"}}"#;
    /// assert!(!Request::from_json(text).unwrap().request_override);
    /// ```
    pub fn from_json(text: &str) -> Result<Request, JsonFault> {
        json::read_object(text)
    }

    /// The target of that kind, blank ones left out.
    pub fn target(&self, kind: TargetKind) -> Option<&str> {
        self.raw_target(kind).filter(|target| !target.trim().is_empty())
    }

    /// Whether a target of that kind stands in the request, blank or not.
    pub fn names(&self, kind: TargetKind) -> bool {
        self.raw_target(kind).is_some()
    }

    fn raw_target(&self, kind: TargetKind) -> Option<&str> {
        match kind {
            TargetKind::None => None,
            TargetKind::Session => self.target_session_id.as_deref(),
            TargetKind::Role => self.target_role.as_deref(),
            TargetKind::Connector => self.target_connector.as_deref(),
        }
    }
}

/// A blank id would match every other blank one.
fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() { Err(serde::de::Error::custom("`session_id` is empty")) } else { Ok(text) }
}
