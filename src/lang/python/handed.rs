//! What a call is handed that may be a command, cut out of the text: the arguments that a command can
//! come in, without those that have another name, and nothing where the program is written out.

use std::ops::Range;

use crate::data::commands::CommandCatalogue;

/// Keywords under which commands are handed over.
const COMMAND_KEYWORDS: [&str; 8] =
    ["args", "command", "cmd", "program", "argv", "file", "executable", "commands"];

/// The parts of a call that may hold a command; `after` is one past the called name, and `runner` says
/// that the call is of the catalogue, whose arguments are known. `None` where nothing is called there.
pub(super) fn handed(
    text: &str,
    after: usize,
    runner: bool,
    commands: &CommandCatalogue,
) -> Option<Vec<Range<usize>>> {
    // `__salt__["cmd.run"](…)`.
    let open = text[after..].find(|c: char| !matches!(c, '"' | '\'' | ']' | ' '))? + after;
    if text.as_bytes()[open] != b'(' {
        return None;
    }
    let mut kept: Vec<Range<usize>> = Vec::new();
    for argument in arguments(text, open + 1) {
        let trimmed = text[argument.clone()].trim();
        let keyword = trimmed
            .split_once('=')
            .filter(|(name, rest)| !rest.starts_with('=') && is_name(name.trim_end()))
            .map(|(name, _)| name.trim_end());
        match keyword {
            Some(name) if runner && !COMMAND_KEYWORDS.contains(&name) => {}
            None if runner && kept.is_empty() && program_is_fixed(trimmed, commands) => {
                return Some(Vec::new());
            }
            _ => kept.push(argument),
        }
    }
    Some(kept)
}

/// The name of what is called with what stands at a place.
pub(super) fn called_with(line: &str, place: usize) -> Option<&str> {
    let inside = beside(line, place);
    let before = line[..inside.as_ptr() as usize - line.as_ptr() as usize].strip_suffix('(')?;
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    Some(&before[start..]).filter(|name| !name.is_empty())
}

/// What stands beside a place in the innermost brackets around it, or on its line.
pub(super) fn beside(line: &str, place: usize) -> &str {
    let bytes = line.as_bytes();
    let mut depth = 0usize;
    let open = (0..place.min(bytes.len())).rev().find(|at| match bytes[*at] {
        b')' | b']' | b'}' => {
            depth += 1;
            false
        }
        b'(' | b'[' | b'{' => {
            depth = depth.wrapping_sub(1);
            depth == usize::MAX
        }
        _ => false,
    });
    let Some(open) = open else { return line };
    let end = arguments(line, open + 1).last().map_or(open + 1, |last| last.end);
    &line[open + 1..end]
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The arguments of a call that opens before `at`, strings and brackets followed.
fn arguments(text: &str, mut at: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut found, mut start, mut depth) = (Vec::new(), at, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => break,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            b'#' => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                continue;
            }
            b'"' | b'\'' => {
                at = super::cut::string_end(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    let at = at.min(bytes.len());
    if start < at {
        found.push(start..at);
    }
    found
}

/// Whether the program is written out, and is one that runs no other: `["git", …]`, `"git status"`.
pub(super) fn program_is_fixed(argument: &str, commands: &CommandCatalogue) -> bool {
    let list = argument.strip_prefix(['[', '(']);
    let first = list.unwrap_or(argument).trim_start();
    let Some(quoted) = first.strip_prefix(['"', '\'']) else { return false };
    let quote = &first[..1];
    if quoted.starts_with(quote) {
        return false;
    }
    let Some(end) = quoted.find(quote) else { return false };
    let (word, rest) = (&quoted[..end], quoted[end + 1..].trim_start());
    let alone = match list {
        Some(_) => rest.starts_with([',', ']', ')']) && !word.contains(' '),
        None => rest.is_empty(),
    };
    let word = word.split_whitespace().next().unwrap_or("");
    let name = word.rsplit('/').next().unwrap_or(word);
    let says_nothing = commands.commands(name).next().is_none()
        && commands.prefixes(name).next().is_none()
        && commands.selector(name).is_none()
        && commands.task(name).is_none()
        && !commands.is_interpreter(name);
    alone && !name.is_empty() && (says_nothing || list.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, runner: bool) -> Option<Vec<&str>> {
        let after = text.find('(').unwrap();
        let parts = handed(text, after, runner, CommandCatalogue::shared())?;
        Some(parts.into_iter().map(|part| text[part].trim()).collect())
    }

    #[test]
    fn a_command_comes_in_some_arguments_only() {
        assert_eq!(parts("run(cmd, cwd=path, args=more)", true).unwrap(), ["cmd", "args=more"]);
        assert_eq!(parts("run(cmd, cwd=path)", false).unwrap(), ["cmd", "cwd=path"]);
        assert_eq!(parts("run(['a', x(1, 2)], y)", false).unwrap(), ["['a', x(1, 2)]", "y"]);
    }

    #[test]
    fn a_program_that_is_written_out_leaves_nothing_to_ask() {
        assert!(parts("run(['ls', path])", true).unwrap().is_empty());
        assert!(parts("run('git status')", true).unwrap().is_empty());
        assert_eq!(parts("run(['sudo', tool])", true).unwrap(), ["['sudo', tool]"]);
        assert_eq!(parts("run('git ' + rest)", true).unwrap(), ["'git ' + rest"]);
        assert_eq!(parts("run(f'{tool} -f')", true).unwrap(), ["f'{tool} -f'"]);
    }
}
