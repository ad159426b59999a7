//! An agent's pre-tool-use event: which commands it is about to run. Pure.
//!
//! An event that cannot be read blocks. A key that occurs twice cannot be read: two
//! readers would see two commands. A command may stand under several keys, also deeper in
//! the input; each is judged, and one that is no text blocks.

use serde_json::{Map, Value};

use crate::base::json;

/// What an event asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Commands; one of them at least.
    Commands(Vec<String>),
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
    /// A shell tool without a command.
    #[error("the tool `{0}` runs a shell command, and its input holds none that is text")]
    Missing(String),
    /// A command that is no text.
    #[error("the tool `{tool}` is given a command under `{key}` that is no text")]
    NoText {
        /// The tool.
        tool: String,
        /// Where its command stands.
        key: String,
    },
}

/// Keys under which a tool's input holds a command.
const COMMANDS: [&str; 8] =
    ["command", "cmd", "commands", "script", "shell_command", "bash_command", "command_line", "commandline"];
/// Keys that mean a command where the tool runs one by its name.
const CODE: [&str; 5] = ["code", "input", "args", "arguments", "argv"];
/// How many values of an input are looked through.
const MOST_VALUES: usize = 10_000;

/// An event that is a JSON object without a key that occurs twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Event(Map<String, Value>);

impl Event {
    /// Reads an event.
    ///
    /// # Errors
    /// If it is no such object.
    pub fn read(text: &str) -> Result<Event, Unreadable> {
        match json::read_value(text).map_err(|fault| Unreadable::Json(fault.to_string()))? {
            Value::Object(event) => Ok(Event(event)),
            _ => Err(Unreadable::Json("it is no JSON object".to_owned())),
        }
    }

    /// The folder that the tool runs in, as the event names it.
    pub fn folder(&self) -> Option<&str> {
        self.0.get("cwd").and_then(Value::as_str).filter(|folder| !folder.is_empty())
    }

    /// What it asks for. `shell_tools` are the names of tools that run a shell command, compared
    /// without regard to case; any other tool that brings a command runs it too.
    ///
    /// # Errors
    /// If it names no tool, holds a command that is no text, or is one of a shell tool without a
    /// command.
    pub fn asked(&self, shell_tools: &[String]) -> Result<Asked, Unreadable> {
        asked(&self.0, shell_tools)
    }
}

fn asked(event: &Map<String, Value>, shell_tools: &[String]) -> Result<Asked, Unreadable> {
    let tool = event.get("tool_name").and_then(Value::as_str).ok_or(Unreadable::Tool)?.to_owned();
    let shell = is_shell(&tool, shell_tools);
    let mut commands = Vec::new();
    let mut pending: Vec<&Value> = event.get("tool_input").into_iter().collect();
    let mut seen = 0usize;
    while let Some(value) = pending.pop() {
        seen += 1;
        if seen > MOST_VALUES {
            return Err(Unreadable::Json("its input holds too many values".to_owned()));
        }
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    let known = |keys: &[&str]| keys.iter().any(|k| k.eq_ignore_ascii_case(key));
                    match member {
                        Value::String(text) if known(&COMMANDS) || (shell && known(&CODE)) => {
                            commands.push(text.clone());
                        }
                        // A program, of whatever language: the guard reads it as Python, else by its words.
                        Value::String(text) if known(&["code"]) => {
                            commands.push(format!("python3 -c {}", quoted(text)));
                        }
                        // What an agent is asked for in words is no command; what holds others may be.
                        Value::String(_) | Value::Null => {}
                        Value::Array(words) if known(&COMMANDS) || (shell && known(&CODE)) => {
                            if words.iter().any(Value::is_object) && !known(&["command", "cmd"]) {
                                pending.push(member);
                                continue;
                            }
                            commands.extend(list(words).ok_or_else(|| no_text(&tool, key))?);
                        }
                        _ if known(&COMMANDS) => return Err(no_text(&tool, key)),
                        member => pending.push(member),
                    }
                }
            }
            Value::Array(items) => pending.extend(items),
            Value::String(text) if shell && seen == 1 => commands.push(text.clone()),
            _ => {}
        }
    }
    commands.sort();
    commands.dedup();
    match (commands.is_empty(), shell) {
        (false, _) => Ok(Asked::Commands(commands)),
        (true, true) => Err(Unreadable::Missing(tool)),
        (true, false) => Ok(Asked::NoCommand),
    }
}

/// Whether a tool runs shell commands by its name: `Bash`, or `mcp__shell__run_command` of a server.
fn is_shell(tool: &str, shell_tools: &[String]) -> bool {
    let last = tool.rsplit("__").next().unwrap_or(tool);
    let last = last.rsplit(['.', '/', ':']).next().unwrap_or(last);
    shell_tools.iter().any(|known| known.eq_ignore_ascii_case(tool) || known.eq_ignore_ascii_case(last))
}

fn no_text(tool: &str, key: &str) -> Unreadable {
    Unreadable::NoText { tool: tool.to_owned(), key: key.to_owned() }
}

/// A list: the command that a shell reads the same words from, and each text in it that may be one itself.
fn list(words: &[Value]) -> Option<Vec<String>> {
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [] => None,
        [one] => Some(vec![(*one).to_owned()]),
        words => {
            let line = words.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" ");
            let scripts = words.iter().filter(|w| w.contains(char::is_whitespace)).map(|w| (*w).to_owned());
            Some(std::iter::once(line).chain(scripts).collect())
        }
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<Asked, Unreadable> {
        Event::read(text)?.asked(&["bash".to_owned(), "run_command".to_owned()])
    }

    fn commands(text: &str) -> Vec<String> {
        match asked(text) {
            Ok(Asked::Commands(commands)) => commands,
            other => panic!("{other:?} of {text}"),
        }
    }

    #[test]
    fn commands_are_found_and_other_tools_pass() {
        let event = r#"{"tool_name":"Bash","tool_input":{"command":"ls","description":"pkill x"}}"#;
        assert_eq!(commands(event), ["ls"]);
        assert_eq!(asked(r#"{"tool_name":"Read","tool_input":{"path":"x"}}"#), Ok(Asked::NoCommand));
        assert_eq!(asked(r#"{"tool_name":"Read"}"#), Ok(Asked::NoCommand));
        assert_eq!(asked(r#"{"tool_name":"Task","tool_input":{"prompt":"pkill x"}}"#), Ok(Asked::NoCommand));
        let edit = r#"{"tool_name":"Edit","tool_input":{"new_string":"pkill x","edits":[]}}"#;
        assert_eq!(asked(edit), Ok(Asked::NoCommand));
    }

    #[test]
    fn a_command_is_seen_under_any_of_its_keys() {
        for input in [
            r#"{"cmd":"pkill x"}"#,
            r#"{"script":"pkill x"}"#,
            r#"{"Command":"pkill x"}"#,
            r#"{"options":{"command":"pkill x"}}"#,
            r#"{"steps":[{"name":"a"},{"cmd":"pkill x"}]}"#,
        ] {
            let event = format!(r#"{{"tool_name":"Anything","tool_input":{input}}}"#);
            assert_eq!(commands(&event), ["pkill x"], "{input}");
        }
        for input in [r#"{"code":"pkill x"}"#, r#"{"input":"pkill x"}"#, r#""pkill x""#] {
            let event = format!(r#"{{"tool_name":"mcp__box__run_command","tool_input":{input}}}"#);
            assert_eq!(commands(&event), ["pkill x"], "{input}");
        }
        let both = r#"{"tool_name":"Bash","tool_input":{"command":"ls","cmd":"pkill x"}}"#;
        assert_eq!(commands(both), ["ls", "pkill x"]);
        let words = r#"{"tool_name":"Bash","tool_input":{"command":["pkill","-f","it's"]}}"#;
        assert_eq!(commands(words), [r"'pkill' '-f' 'it'\''s'"]);
        let code = r#"{"tool_name":"Interpreter","tool_input":{"code":"x()"}}"#;
        assert_eq!(commands(code), ["python3 -c 'x()'"]);
        let several = r#"{"tool_name":"Run","tool_input":{"commands":["ls","pkill x"]}}"#;
        assert!(commands(several).contains(&"pkill x".to_owned()));
    }

    #[test]
    fn the_folder_is_the_one_that_the_event_names() {
        let folder = |text| Event::read(text).unwrap().folder().map(str::to_owned);
        assert_eq!(folder(r#"{"tool_name":"Bash","cwd":"/srv/a"}"#).as_deref(), Some("/srv/a"));
        for text in ["{}", r#"{"cwd":""}"#, r#"{"cwd":7}"#, r#"{"tool_input":{"cwd":"/srv/b"}}"#] {
            assert_eq!(folder(text), None, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_blocks() {
        for event in [
            "",
            "[]",
            r#"{"tool_name":"Bash","#,
            r#"{"tool_input":{"command":"ls"}}"#,
            r#"{"tool_name":"Bash","tool_input":{}}"#,
            r#"{"tool_name":"Bash","tool_input":{"command":[1]}}"#,
            r#"{"tool_name":"Bash","tool_input":{"command":[]}}"#,
            r#"{"tool_name":"Task","tool_input":{"command":7}}"#,
            r#"{"tool_name":"Task","tool_input":{"command":{"a":"pkill x"}}}"#,
            r#"{"tool_name":"Bash","tool_input":{"command":"pkill x","command":"ls"}}"#,
            r#"{"tool_name":"Bash","tool_name":"Read","tool_input":{"command":"ls"}}"#,
        ] {
            assert!(asked(event).is_err(), "{event}");
        }
    }
}
