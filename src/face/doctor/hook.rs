//! The hook: do a host's settings call the guard, before a shell command runs, in a way
//! that can block it?

use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;

use super::{Part, State};
use crate::base::terminal::one_line;
use crate::data::suggest;
use crate::face::project::Project;
use crate::face::{Failure, spelled};

const NAME: &str = "hook";
/// Settings of hosts that may call the hook, relative to the project's root.
const SETTINGS: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
/// The event that comes before a tool is used.
const EVENT: &str = "PreToolUse";
/// The tool of such a host that runs shell commands.
const SHELL: &str = "Bash";
/// Shells that take a script as one word.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "ash"];
/// This program.
const OWN: &str = "restartlint";
/// How many shells, each a script in the other's words, are looked through for this program.
const NESTED: u8 = 4;
/// The variable in which such a host gives the project's root to a hook.
const ROOT: [&str; 2] = ["${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR"];

/// What is wrong with a call of the guard.
struct Fault {
    state: State,
    what: String,
    step: &'static str,
}

pub(super) fn part(project: &Project) -> Part {
    let mut faults: Vec<(&str, Fault)> = Vec::new();
    let mut works = None;
    for file in SETTINGS {
        let text = match std::fs::read_to_string(project.file(file)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Part::broken(NAME, Failure::new(format!("{file} cannot be read: {error}"))),
        };
        let settings = match serde_json::from_str::<Value>(&text) {
            Ok(settings) => settings,
            Err(error) => return Part::broken(NAME, Failure::new(format!("{file} is no JSON: {error}"))),
        };
        if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
            return Part::of(
                NAME,
                State::Inactive,
                format!("{file} sets `disableAllHooks`: the host calls no hook"),
                Some("Take `disableAllHooks` out."),
            );
        }
        // A host that asks with an unknown command gets no verdict, whatever other hooks it has.
        if let Some((command, why)) = misspelled(&settings) {
            let shown = one_line(command);
            let detail = format!("{file} calls `{shown}`, which judges nothing: {why}");
            return Part::of(NAME, State::Broken, detail, Some(SHAPE));
        }
        if let Some((command, program)) = misnamed(&settings, &project.root) {
            let (shown, program) = (one_line(command), one_line(&program));
            let detail = format!(
                "{file} calls `{shown}`, and there is no program `{program}`, so it judges nothing: did you mean `{OWN}`?"
            );
            return Part::of(NAME, State::Broken, detail, Some(SHAPE));
        }
        let calls = calls(&settings);
        if calls.is_empty() && mentions(&settings) {
            faults.push((file, fault("names it where a host does not look for hooks", SHAPE)));
        }
        for call in calls {
            match faulty(&call).or_else(|| unstartable(&call, &project.root)) {
                Some(fault) => faults.push((file, fault)),
                None => works = works.or(Some(file)),
            }
        }
    }
    if let Some(file) = works {
        let detail = format!("{file} calls `restartlint guard hook` before a shell command runs");
        return Part::of(NAME, State::Works, detail, None);
    }
    match faults.into_iter().next() {
        Some((file, Fault { state, what, step })) => {
            Part::of(NAME, state, format!("{file} {what}"), Some(step))
        }
        None => Part::of(
            NAME,
            State::Inactive,
            "no settings of this project call `restartlint guard hook` by name; a person's own settings are not looked at",
            Some(
                "Call it as the agent's hook before a tool is used; `restartlint guard hook --help` shows how.",
            ),
        ),
    }
}

const SHAPE: &str = "Write it as {\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \
     \"restartlint guard hook\"}]}]}}.";

fn fault(what: impl Into<String>, step: &'static str) -> Fault {
    Fault { state: State::Inactive, what: what.into(), step }
}

/// A hook that runs the guard.
struct Call<'s> {
    event: &'s str,
    matcher: Option<&'s Value>,
    hook: &'s Value,
    command: &'s str,
}

/// The hooks of all events.
fn hooks(settings: &Value) -> Vec<Call<'_>> {
    let mut found = Vec::new();
    for (event, entries) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for entry in entries.as_array().into_iter().flatten() {
            for hook in entry.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                if let Some(command) = hook.get("command").and_then(Value::as_str) {
                    found.push(Call { event, matcher: entry.get("matcher"), hook, command });
                }
            }
        }
    }
    found
}

/// The hooks that run the guard, those of the right event first.
fn calls(settings: &Value) -> Vec<Call<'_>> {
    let mut found: Vec<Call<'_>> =
        hooks(settings).into_iter().filter(|call| runs_guard(call.command)).collect();
    found.sort_by_key(|call| call.event != EVENT);
    found
}

/// The first hook that calls this program by a command or an option that it does not have, and why it is refused.
fn misspelled(settings: &Value) -> Option<(&str, String)> {
    hooks(settings).into_iter().find_map(|call| Some((call.command, refused(call.command)?)))
}

/// Why this program refuses the words that a shell command gives it; `None` if it takes them, or if they cannot
/// be told.
fn refused(command: &str) -> Option<String> {
    let words = words(command, NESTED)?;
    let own = words.iter().position(|word| is_own(word))?;
    if named_only(command) {
        return None;
    }
    let given: Vec<&str> = words.iter().skip(own + 1).map(String::as_str).collect();
    spelled::refused(&given)
}

/// The words of a shell command up to the end of the part that calls this program; those of a script that is
/// given to a shell as one word too.
fn words(command: &str, nested: u8) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut own = false;
    for word in shlex::split(command)? {
        if !own && nested > 0 && word.contains(char::is_whitespace) && names_own(&word) {
            return self::words(&word, nested - 1);
        }
        own |= is_own(&word);
        match word.find(['|', '&', ';', '<', '>', '$', '`']) {
            Some(end) if own && !is_own(&word) => {
                let rest = word.get(..end).unwrap_or("");
                // The number before `>` names a stream.
                if !rest.is_empty() && !rest.chars().all(|c| c.is_ascii_digit()) {
                    words.push(rest.to_owned());
                }
                break;
            }
            _ => words.push(word),
        }
    }
    Some(words)
}

/// The script that a shell is given as one word (`sh -c SCRIPT`) and that names this program, if one is.
fn inner(command: &str) -> Option<String> {
    let words = shlex::split(command)?;
    for (at, _) in words.iter().enumerate().filter(|(_, word)| SHELLS.contains(&program_name(word))) {
        let mut rest = words.get(at + 1..).unwrap_or(&[]).iter();
        while let Some(option) = rest.next().filter(|word| word.starts_with(['-', '+'])) {
            if option == "-o" || option == "+o" {
                rest.next();
            } else if !option.starts_with("--") && option.contains('c') {
                let script = rest.find(|word| !word.starts_with('-'));
                if let Some(script) = script.filter(|script| names_own(script)) {
                    return Some(script.clone());
                }
                break;
            }
        }
    }
    None
}

/// What the innermost of several shells is given to run that calls the guard; the command itself where none is.
fn innermost(command: &str) -> String {
    let mut script = command.to_owned();
    for _ in 0..NESTED {
        match inner(&script).filter(|inner| runs_guard(inner)) {
            Some(inner) => script = inner,
            None => break,
        }
    }
    script
}

/// The name of a program, without its folder and the suffix of Windows.
fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Whether a word is this program, by whatever path.
fn is_own(word: &str) -> bool {
    program_name(word) == OWN
}

/// Whether a word is nearly this program's name.
fn is_nearly_own(word: &str) -> bool {
    suggest::nearest(program_name(word), [OWN]).is_some()
}

/// Whether a script holds this program's name, or nearly.
fn names_own(script: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "'\"`;|&()".contains(c);
    script.split(ends).any(|word| is_own(word) || is_nearly_own(word))
}

/// The first hook that calls a program whose name is nearly this one's and which is not there, with that name. Only
/// one of this program's own commands behind it tells a misspelt name from another program's.
fn misnamed<'s>(settings: &'s Value, root: &Path) -> Option<(&'s str, String)> {
    let commands = spelled::commands();
    let own = |word: &String| {
        let known = commands.iter().map(String::as_str);
        commands.contains(word) || suggest::nearest(word, known).is_some()
    };
    hooks(settings).into_iter().find_map(|call| {
        let words = words(call.command, NESTED)?;
        let at = words.iter().position(|word| is_nearly_own(word))?;
        let next = words.iter().skip(at + 1).find(|word| !word.starts_with('-'))?;
        let program = words.get(at)?;
        (own(next) && is_there(program, root) == Some(false)).then(|| (call.command, program.clone()))
    })
}

fn runs_guard(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    command.contains("restartlint") && words.join(" ").contains("guard hook")
}

/// Whether the guard is named anywhere.
fn mentions(settings: &Value) -> bool {
    let mut left = vec![settings];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) if runs_guard(text) => return true,
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            _ => {}
        }
    }
    false
}

/// What keeps a call from blocking a shell command, by the settings alone.
fn faulty(call: &Call<'_>) -> Option<Fault> {
    if call.event != EVENT {
        let what = format!("calls it at `{}`, not before a tool is used: it blocks nothing", call.event);
        return Some(fault(what, "Move it to `PreToolUse`."));
    }
    if !matches(call.matcher) {
        let shown = call.matcher.map(Value::to_string).unwrap_or_default();
        let what =
            format!("calls it with the matcher {shown} alone: the hook is inactive for shell commands");
        return Some(fault(
            what,
            "Write \"matcher\": \"Bash\", the name of the tool that runs shell commands, or put it to the others as in \
             \"Bash|Edit|Write\"; capitals count.",
        ));
    }
    if call.hook.get("type").and_then(Value::as_str) != Some("command") {
        return Some(fault("calls it without \"type\": \"command\": the host does not run it", SHAPE));
    }
    if call.hook.get("async") == Some(&Value::Bool(true)) {
        let what = "calls it in the background (\"async\": true): the command runs before it is judged";
        return Some(fault(what, "Take \"async\" out."));
    }
    if let Some(script) = inner(call.command).filter(|script| is_own(script.trim())) {
        let what = format!(
            "gives the shell `{}` alone to run, without `guard hook`: the words behind it are the script's arguments",
            one_line(&script)
        );
        return Some(Fault {
            state: State::Broken,
            what,
            step: "Put the whole command in quotes behind `-c`.",
        });
    }
    if named_only(call.command) {
        let what = "names it where no command runs it: it blocks nothing".to_owned();
        return Some(Fault { state: State::Broken, what, step: SHAPE });
    }
    hidden(call.command).then(|| Fault {
        state: State::Broken,
        what: "runs something after it, whose exit status takes the place of the guard's: it blocks nothing"
            .to_owned(),
        step: "Let `guard hook` be the last command, without `||`, `;`, `|` or `&` after it.",
    })
}

/// Whether the host calls a hook of this matcher before a shell command.
fn matches(matcher: Option<&Value>) -> bool {
    let matcher = match matcher {
        None | Some(Value::Null) => return true,
        Some(Value::String(matcher)) => matcher.trim(),
        Some(_) => return false,
    };
    matcher.is_empty()
        || matcher == "*"
        || Regex::new(&format!("^(?:{matcher})$")).is_ok_and(|pattern| pattern.is_match(SHELL))
}

/// Whether the guard's name is only printed, looked up or a comment, or its status is turned round.
fn named_only(command: &str) -> bool {
    const ONLY_NAME: [&str; 9] = ["echo", "printf", ":", "true", "which", "type", "cat", "grep", "!"];
    let command = innermost(command);
    let before = command.rsplit_once(OWN).map_or("", |(before, _)| before);
    let start = before.rfind(['|', ';', '&', '\n']).map_or(0, |at| at + 1);
    let first = before.get(start..).unwrap_or("").split_whitespace().next().unwrap_or("");
    first.starts_with('#') || ONLY_NAME.contains(&first)
}

/// Whether a shell takes another exit status than the guard's.
fn hidden(command: &str) -> bool {
    let Some((_, rest)) = command.rsplit_once("hook") else { return false };
    // `2>&1` and `&&` leave the status as it is when it is not 0.
    let rest = rest.replace(">&", "").replace("&&", "");
    rest.trim().contains(['|', ';', '&', '\n'])
}

/// Why the program of a call cannot be started here. A program that cannot be told is not tried.
fn unstartable(call: &Call<'_>, root: &Path) -> Option<Fault> {
    let words = words(call.command, NESTED)?;
    let program = words.iter().find(|word| is_own(word))?;
    if is_there(program, root)? {
        return None;
    }
    let program = placed(program, root);
    let what = || {
        let shown = one_line(&program);
        match program.contains(['/', '\\']) {
            true => {
                format!("calls `{shown}`, and there is no such program: the host goes on without the guard")
            }
            false => format!("calls `{shown}`, which is not on the PATH: the host goes on without the guard"),
        }
    };
    Some(Fault {
        state: State::Broken,
        what: what(),
        step: "Install restartlint where the host finds it, or write its full path in the hook's command.",
    })
}

/// Whether a program can be started from the project's root; `None` where it cannot be told.
fn is_there(program: &str, root: &Path) -> Option<bool> {
    let program = placed(program, root);
    if program.contains('$') {
        return None;
    }
    if program.contains(['/', '\\']) {
        return Some(runs(&root.join(&program)));
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    Some(std::env::split_paths(&paths).any(|folder| runs(&folder.join(&program))))
}

/// A program's path with what a host's variables and `~` stand for.
fn placed(program: &str, root: &Path) -> String {
    let mut program = program.to_owned();
    for variable in ROOT {
        program = program.replace(variable, &root.to_string_lossy());
    }
    if let (Some(rest), Some(home)) = (program.strip_prefix("~/"), std::env::home_dir()) {
        program = home.join(rest).to_string_lossy().into_owned();
    }
    program
}

/// Whether a file is a program.
fn runs(file: &Path) -> bool {
    let with_suffix = PathBuf::from(format!("{}{}", file.display(), std::env::consts::EXE_SUFFIX));
    [file, with_suffix.as_path()].iter().any(|file| file.metadata().is_ok_and(|found| executable(&found)))
}

#[cfg(unix)]
fn executable(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(found: &std::fs::Metadata) -> bool {
    found.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_matcher_matches_the_shell_tool_as_the_host_would() {
        for matcher in ["", "*", "Bash", "Bash|Edit", "Edit|Bash", ".*", "B.*", " Bash "] {
            assert!(matches(Some(&json!(matcher))), "{matcher}");
        }
        for matcher in ["Edit", "bash", "BashOutput", "Bas", "Edit|Write", "mcp__.*", "("] {
            assert!(!matches(Some(&json!(matcher))), "{matcher}");
        }
        assert!(matches(None));
        assert!(!matches(Some(&json!(["Bash"]))));
    }

    #[test]
    fn a_name_alone_runs_nothing() {
        for command in [
            "bash -c 'echo restartlint guard hook'",
            "echo restartlint guard hook",
            "# restartlint guard hook",
            "ls; ! restartlint guard hook",
        ] {
            assert!(named_only(command), "{command}");
        }
        for command in [
            "restartlint guard hook",
            "bash -c 'echo restartlint'; restartlint guard hook",
            "A=1 uv run restartlint guard hook",
            "sh -c 'restartlint guard hook'",
        ] {
            assert!(!named_only(command), "{command}");
        }
    }

    #[test]
    fn a_status_is_hidden_by_what_comes_after() {
        for command in [
            "restartlint guard hook || true",
            "restartlint guard hook; exit 0",
            "restartlint guard hook | tee x",
            "restartlint guard hook &",
        ] {
            assert!(hidden(command), "{command}");
        }
        for command in [
            "restartlint guard hook",
            "cd x; restartlint guard hook 2>&1",
            "restartlint guard hook && echo ok",
        ] {
            assert!(!hidden(command), "{command}");
        }
    }
}
