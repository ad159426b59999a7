//! An agent's pre-tool-use event: which command it is about to run. Pure.
//!
//! An event that cannot be read blocks. A key that occurs twice cannot be read: two
//! readers would see two commands.

use serde_json::Value;

use crate::base::json;

/// What an event asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A shell command.
    Command(String),
    /// A tool that runs no command.
    NoCommand,
}

/// Why an event blocks before any command is judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is no JSON object, or a key occurs twice.
    #[error("the event cannot be read: {0}")]
    Json(String),
    /// It names no tool.
    #[error("the event names no tool (`tool_name`)")]
    Tool,
    /// A shell tool without a command, or with one that is no text.
    #[error("the tool `{0}` runs a shell command, and `tool_input.command` is no text")]
    Command(String),
}

/// Reads an event. `shell_tools` are the names of tools that run a shell command, compared
/// without regard to case; any other tool that brings a `command` runs it too.
///
/// # Errors
/// If the event cannot be read, names no tool, or is one of a shell tool without a command.
pub fn read(text: &str, shell_tools: &[String]) -> Result<Asked, Unreadable> {
    let event = json::read_value(text).map_err(|fault| Unreadable::Json(fault.to_string()))?;
    let Value::Object(event) = event else {
        return Err(Unreadable::Json("it is no JSON object".to_owned()));
    };
    let tool = event.get("tool_name").and_then(Value::as_str).ok_or(Unreadable::Tool)?.to_owned();
    let shell = shell_tools.iter().any(|known| known.eq_ignore_ascii_case(&tool));
    let command = event.get("tool_input").and_then(|input| input.get("command"));
    match (command, shell) {
        (Some(Value::String(command)), _) => Ok(Asked::Command(command.clone())),
        (_, true) => Err(Unreadable::Command(tool)),
        (_, false) => Ok(Asked::NoCommand),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<Asked, Unreadable> {
        read(text, &["bash".to_owned()])
    }

    #[test]
    fn commands_are_found_and_other_tools_pass() {
        let event = r#"{"tool_name":"Bash","tool_input":{"command":"ls","description":"pkill x"}}"#;
        assert_eq!(asked(event), Ok(Asked::Command("ls".to_owned())));
        assert_eq!(asked(r#"{"tool_name":"Read","tool_input":{"path":"x"}}"#), Ok(Asked::NoCommand));
        assert_eq!(asked(r#"{"tool_name":"Read"}"#), Ok(Asked::NoCommand));
    }

    #[test]
    fn what_cannot_be_read_blocks() {
        for event in [
            "",
            "[]",
            r#"{"tool_name":"Bash","#,
            r#"{"tool_input":{"command":"ls"}}"#,
            r#"{"tool_name":"Bash","tool_input":{}}"#,
            r#"{"tool_name":"Bash","tool_input":{"command":["ls"]}}"#,
            r#"{"tool_name":"Bash","tool_input":{"command":"pkill x","command":"ls"}}"#,
            r#"{"tool_name":"Bash","tool_name":"Read","tool_input":{"command":"ls"}}"#,
        ] {
            assert!(asked(event).is_err(), "{event}");
        }
    }
}
