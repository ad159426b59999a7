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
    Commands {
        /// What a shell is given.
        commands: Vec<String>,
        /// Programs of a language that is not told; where they are none of Python's a shell may be given them.
        programs: Vec<String>,
        /// Folders that the tool's input names to run them in.
        folders: Vec<String>,
    },
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
const CODE: [&str; 9] = ["code", "input", "args", "arguments", "argv", "text", "keys", "chars", "source"];
/// Keys that name a program, where its words stand beside it.
const PROGRAMS: [&str; 7] = ["command", "cmd", "program", "executable", "exe", "binary", "file"];
/// Keys of a program's words.
const WORDS: [&str; 6] = ["args", "arguments", "argv", "params", "parameters", "arg"];
/// Keys of what a program reads.
const INPUTS: [&str; 3] = ["stdin", "input", "standard_input"];
/// Keys of the variables that are set for a program.
const VARIABLES: [&str; 3] = ["env", "environment", "environment_variables"];
/// Keys of the folder that a tool runs in.
const FOLDERS: [&str; 8] = [
    "cwd",
    "workdir",
    "working_directory",
    "working_dir",
    "workingdirectory",
    "directory",
    "dir",
    "dir_path",
];
/// Keys of a program's language.
const LANGUAGES: [&str; 5] = ["language", "lang", "interpreter", "runtime", "kernel"];
/// Languages whose programs are commands.
const SHELLS: [&str; 8] = ["bash", "sh", "shell", "zsh", "dash", "ksh", "console", "terminal"];
/// How many values of an input are looked through.
const MOST_VALUES: usize = 10_000;
/// How many folders an input may name.
const MOST_FOLDERS: usize = 16;

/// An event that is a JSON object without a key that occurs twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Event(Map<String, Value>);

impl Event {
    /// Reads an event.
    ///
    /// # Errors
    /// If it is no such object.
    pub fn read(text: &str) -> Result<Event, Unreadable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
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
    let mut found = Found::default();
    let mut pending: Vec<Value> = Vec::new();
    match event.get("tool_input") {
        Some(Value::String(text)) => match packed(text) {
            Some(value) => pending.push(value),
            None if shell => found.commands.push(text.clone()),
            None => {}
        },
        Some(value) => pending.push(value.clone()),
        None => {}
    }
    let mut seen = 0usize;
    while let Some(value) = pending.pop() {
        seen += 1;
        if seen > MOST_VALUES {
            return Err(Unreadable::Json("its input holds too many values".to_owned()));
        }
        match value {
            Value::Object(members) => {
                found.composed(&members);
                for (key, member) in members {
                    found.member(&tool, shell, &key, member, &mut pending)?;
                }
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    for list in [&mut found.commands, &mut found.programs, &mut found.folders] {
        list.sort();
        list.dedup();
    }
    let Found { commands, programs, folders } = found;
    if folders.len() > MOST_FOLDERS {
        return Err(Unreadable::Json("its input names too many folders".to_owned()));
    }
    match (commands.is_empty() && programs.is_empty(), shell) {
        (false, _) => Ok(Asked::Commands { commands, programs, folders }),
        (true, true) => Err(Unreadable::Missing(tool)),
        (true, false) => Ok(Asked::NoCommand),
    }
}

fn known(key: &str, keys: &[&str]) -> bool {
    keys.iter().any(|k| k.eq_ignore_ascii_case(key))
}

/// An object or a list that stands in a text, as some hosts send a tool's arguments.
fn packed(text: &str) -> Option<Value> {
    let opens = text.trim_start().starts_with(['{', '[']);
    json::read_value(text).ok().filter(|value| opens && (value.is_object() || value.is_array()))
}

/// What was found in a tool's input.
#[derive(Default)]
struct Found {
    commands: Vec<String>,
    programs: Vec<String>,
    folders: Vec<String>,
}

impl Found {
    /// One member of an object.
    fn member(
        &mut self,
        tool: &str,
        shell: bool,
        key: &str,
        member: Value,
        pending: &mut Vec<Value>,
    ) -> Result<(), Unreadable> {
        let command = known(key, &COMMANDS) || (shell && known(key, &CODE));
        match member {
            Value::String(text) if known(key, &FOLDERS) => self.folders.push(text),
            Value::String(text) => {
                if let Some(value) = packed(&text).filter(|_| known(key, &CODE)) {
                    pending.push(value);
                } else if command {
                    self.commands.push(text);
                } else if known(key, &["code"]) {
                    self.programs.push(text);
                }
                // What an agent is asked for in words is no command; what holds others may be.
            }
            Value::Null => {}
            Value::Array(words) if command => {
                if words.iter().any(Value::is_object) && !known(key, &["command", "cmd"]) {
                    pending.push(Value::Array(words));
                    return Ok(());
                }
                self.commands.extend(list(&words).ok_or_else(|| no_text(tool, key))?);
            }
            _ if known(key, &COMMANDS) => return Err(no_text(tool, key)),
            member => pending.push(member),
        }
        Ok(())
    }

    /// A command that is parted over the members of an object: a program and its words, what it reads, the
    /// variables that are set for it; and a program of a shell's language.
    fn composed(&mut self, members: &Map<String, Value>) {
        let texts = |keys: &'static [&'static str]| {
            members.iter().filter(move |(key, _)| known(key, keys)).filter_map(|(_, v)| v.as_str())
        };
        if texts(&LANGUAGES).chain(texts(&["shell"])).any(|language| known(language, &SHELLS)) {
            self.commands.extend(texts(&["code", "source"]).map(str::to_owned));
        }
        let words: Vec<String> = members
            .iter()
            .filter(|(key, _)| known(key, &WORDS))
            .filter_map(|(_, value)| match value {
                Value::String(text) if packed(text).is_none() => Some(text.clone()),
                Value::Array(words) => words
                    .iter()
                    .map(Value::as_str)
                    .collect::<Option<Vec<_>>>()
                    .filter(|w| !w.is_empty())
                    .map(spelled),
                _ => None,
            })
            .collect();
        let variables: String = members
            .iter()
            .filter(|(key, _)| known(key, &VARIABLES))
            .filter_map(|(_, value)| value.as_object())
            .flatten()
            .filter_map(|(name, value)| Some((name, value.as_str()?)))
            .filter(|(name, _)| is_name(name))
            .map(|(name, value)| format!("export {name}={}; ", quoted(value)))
            .collect();
        for program in texts(&PROGRAMS) {
            let mut lines: Vec<String> = words.iter().map(|words| format!("{program} {words}")).collect();
            let whole = lines.first().map_or(program, String::as_str).to_owned();
            lines.extend(texts(&INPUTS).map(|input| format!("printf %s {} | {whole}", quoted(input))));
            if !variables.is_empty() {
                lines.push(format!("{variables}{whole}"));
            }
            self.commands.extend(lines);
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn spelled(words: Vec<&str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
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
            let line = spelled(words.to_vec());
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
            Ok(Asked::Commands { commands, .. }) => commands,
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
        let programs = vec!["x()".to_owned()];
        assert_eq!(asked(code), Ok(Asked::Commands { commands: vec![], programs, folders: vec![] }));
        let several = r#"{"tool_name":"Run","tool_input":{"commands":["ls","pkill x"]}}"#;
        assert!(commands(several).contains(&"pkill x".to_owned()));
    }

    #[test]
    fn a_command_that_is_parted_is_put_together() {
        for (input, want) in [
            (r#"{"command":"env","args":["pkill","it's"]}"#, r"env 'pkill' 'it'\''s'"),
            (r#"{"program":"env","arguments":"pkill x"}"#, "env pkill x"),
            (r#"{"file":"bash","argv":["-c","pkill x"]}"#, "bash '-c' 'pkill x'"),
            (r#"{"command":"bash","stdin":"pkill x"}"#, "printf %s 'pkill x' | bash"),
            (r#"{"command":"bash -i","env":{"A":"pkill x","b-c":"y"}}"#, "export A='pkill x'; bash -i"),
            (r#"{"language":"Bash","code":"pkill x"}"#, "pkill x"),
            (r#""{\"command\":\"pkill x\"}""#, "pkill x"),
            (r#"{"arguments":"{\"command\":\"pkill x\"}"}"#, "pkill x"),
        ] {
            let event = format!(r#"{{"tool_name":"Anything","tool_input":{input}}}"#);
            assert!(commands(&event).contains(&want.to_owned()), "{input}: {:?}", commands(&event));
        }
        let file = r#"{"tool_name":"Read","tool_input":{"file":"a.txt","text":"pkill x"}}"#;
        assert_eq!(asked(file), Ok(Asked::NoCommand));
        let moved = r#"{"tool_name":"Bash","tool_input":{"command":"./a","workdir":"../b"}}"#;
        assert!(matches!(asked(moved), Ok(Asked::Commands { folders, .. }) if folders == ["../b"]));
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
