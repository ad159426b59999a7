//! Whether a name or a pattern hits a daemon, matched the way the command matches it.

use regex::{Regex, RegexBuilder};

use crate::base::site::TargetKind;
use crate::command::Aim;
use crate::data::commands::version_stem;
use crate::data::programs::started_as;

use super::daemons::{Daemons, base, kernel_name, stem};
use super::report::Reason;

/// Shells and folders that programs are commonly started from, for patterns of command lines.
const FOLDERS: &[&str] =
    &["", "/usr/bin/", "/usr/local/bin/", "/bin/", "./", "/srv/app/", "/srv/app/.venv/bin/", "venv/bin/"];
/// A process that is no daemon: a pattern that hits it too hits anything.
const DECOY: &str = "/opt/zq/zqzq --zq";

/// A name or a pattern that an action is aimed at.
pub(super) fn hit(daemons: &Daemons, aim: &Aim) -> (Reason, Option<String>) {
    let text = aim.target.text.as_str();
    if !aim.known {
        // The literal part may name a daemon whatever the rest is.
        let named = daemons.names.iter().find(|n| text.contains(stem(n)) && stem(n).len() > 2);
        return match named {
            Some(name) => (Reason::NamesDaemon, Some(name.clone())),
            None => (Reason::FreeTarget, None),
        };
    }
    let has = |options: &[&str]| aim.options.iter().any(|o| options.contains(&o.as_str()));
    match aim.by.as_str() {
        "pkill" | "pgrep" => {
            if has(&["-v", "--inverse", "-vf"]) {
                return (Reason::BroadPattern, None);
            }
            let lines = has(&["-f", "--full"]);
            expression(daemons, text, lines, has(&["-x", "--exact"]), has(&["-i", "--ignore-case"]))
        }
        "grep" => {
            let extended = has(&["-E", "-P", "--extended-regexp", "--perl-regexp"]);
            let fixed = has(&["-F", "--fixed-strings"]);
            let text = if fixed {
                regex::escape(text)
            } else if extended {
                text.to_owned()
            } else {
                basic(text)
            };
            expression(daemons, &text, true, false, has(&["-i", "--ignore-case"]))
        }
        "killall" if has(&["-r", "--regexp"]) => {
            expression(daemons, text, false, false, has(&["-I", "--ignore-case"]))
        }
        _ => whole_name(daemons, text, has(&["-I", "--ignore-case"])),
    }
}

/// A basic regular expression in the extended spelling.
fn basic(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('|' | '(' | ')' | '+' | '?' | '{' | '}')) => out.push(next),
                Some(next) => {
                    out.push('\\');
                    out.push(next);
                }
                None => out.push_str("\\\\"),
            },
            '|' | '(' | ')' | '+' | '?' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

fn compile(text: &str, whole: bool, fold: bool) -> Option<Regex> {
    let text = if whole { format!("^(?:{text})$") } else { text.to_owned() };
    RegexBuilder::new(&text).case_insensitive(fold).size_limit(1 << 20).build().ok()
}

/// A regular expression, over names or over whole command lines.
fn expression(
    daemons: &Daemons,
    text: &str,
    lines: bool,
    whole: bool,
    fold: bool,
) -> (Reason, Option<String>) {
    let Some(regex) = compile(text, whole, fold) else { return (Reason::UnreadablePattern, None) };
    let everything = regex.is_match(if lines { DECOY } else { "zqzq" });
    for name in &daemons.names {
        if matches_name(&regex, name, lines) || (lines && mentions(text, name, fold)) {
            let reason = if everything { Reason::BroadPattern } else { Reason::NamesDaemon };
            return (reason, Some(name.clone()));
        }
    }
    if let Some(module) = daemons.modules.iter().find(|module| lines && starts(&regex, module, daemons)) {
        let reason = if everything { Reason::BroadPattern } else { Reason::NamesDaemon };
        return (reason, Some(module.clone()));
    }
    for process in daemons.processes.values().filter(|p| p.daemon) {
        if regex.is_match(if lines { &process.line } else { &process.name }) {
            return (Reason::NamesDaemon, Some(process.name.clone()));
        }
    }
    for name in &daemons.names {
        for interpreter in daemons.interpreters(name) {
            let hit = if lines {
                FOLDERS.iter().any(|folder| {
                    let program = format!("{folder}{interpreter}");
                    [
                        format!("{program} {name}"),
                        format!("{program} /srv/app/{name}"),
                        format!("{program} -m {}", stem(name)),
                    ]
                    .iter()
                    .any(|line| regex.is_match(line))
                })
            } else {
                versions(interpreter).iter().any(|v| regex.is_match(kernel_name(v)))
            };
            if hit {
                return (Reason::BroadPattern, Some(name.clone()));
            }
        }
    }
    if everything { (Reason::BroadPattern, None) } else { (Reason::Elsewhere, None) }
}

/// Whether an expression matches a command line that starts a daemon module, and not the interpreter in it alone.
fn starts(regex: &Regex, module: &str, daemons: &Daemons) -> bool {
    let forms = started_as(module);
    daemons.interpreters(module).into_iter().any(|interpreter| {
        !regex.is_match(interpreter)
            && forms.iter().any(|form| regex.is_match(&format!("{interpreter} {form}")))
    })
}

/// Whether an expression matches the daemon's own name.
fn matches_name(regex: &Regex, name: &str, lines: bool) -> bool {
    if !lines {
        return regex.is_match(kernel_name(base(name)));
    }
    FOLDERS.iter().any(|folder| regex.is_match(&format!("{folder}{}", base(name)))) || regex.is_match(name)
}

/// Whether a pattern of a command line speaks of the daemon although it asks for more of
/// the line than is known here: `mcp_server.py --port 8000`, `mcp_server.*author`.
fn mentions(text: &str, name: &str, fold: bool) -> bool {
    let plain = text.replace("\\.", ".");
    let (text, name) =
        if fold { (plain.to_lowercase(), name.to_lowercase()) } else { (plain, name.to_owned()) };
    // What stands in another name (`webserver.py`) asks for that one.
    let begins = |at: &usize| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    if base(&name).len() > 2 && text.match_indices(base(&name)).any(|(at, _)| begins(&at)) {
        return true;
    }
    let stem = stem(&name);
    if stem.len() < 3 {
        return false;
    }
    text.match_indices(stem).filter(|(at, _)| begins(at)).any(|(at, _)| {
        let rest = text.get(at..).unwrap_or("");
        let end = rest
            .find(' ')
            .into_iter()
            .chain(rest.find(".*"))
            .chain(rest.find(".+"))
            .min()
            .unwrap_or(rest.len());
        let part = rest.get(..end).unwrap_or(rest);
        // A group's end that the part cuts off is no expression; then it is taken to speak of the daemon.
        compile(part, false, fold).is_none_or(|r| r.is_match(base(&name)))
    })
}

/// An interpreter with the versions that it commonly carries.
fn versions(interpreter: &str) -> Vec<String> {
    let mut found = vec![interpreter.to_owned()];
    if interpreter == "python3" {
        found.extend((8..=15).map(|minor| format!("python3.{minor}")));
    }
    found
}

/// A whole name, as `killall`, `pidof`, `taskkill` and their like compare it.
fn whole_name(daemons: &Daemons, text: &str, fold: bool) -> (Reason, Option<String>) {
    for part in text.split(',') {
        let part = part.trim();
        // `:8080` is a port to some of these commands, a number a pid.
        if part.starts_with(':') || (part.chars().all(|c| c.is_ascii_digit()) && !part.is_empty()) {
            return (Reason::NotComparable, None);
        }
        let plain = without_exe(base(part));
        if part.contains(['[', ']', '{', '}', '`']) {
            // Not what any program is called: the shell, or the command, makes another name of it.
            return (Reason::NotComparable, None);
        }
        let same = |known: &str| match part.contains(['*', '?']) {
            true => wildcard(&plain, known),
            false => plain == known || fold && plain.eq_ignore_ascii_case(known),
        };
        for name in &daemons.names {
            let own = base(name);
            if same(own)
                || same(kernel_name(own))
                || same(&without_exe(own))
                || plain == stem(own) && part.to_lowercase().ends_with(".exe")
            {
                return (Reason::NamesDaemon, Some(name.clone()));
            }
        }
        for name in &daemons.names {
            let hit = daemons
                .interpreters(name)
                .iter()
                .any(|i| same(i) || version_stem(&plain) == *i || unversioned(&plain) == *i);
            if hit {
                return (Reason::BroadPattern, Some(name.clone()));
            }
        }
    }
    (Reason::Elsewhere, None)
}

fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn without_exe(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.strip_suffix(".exe") {
        Some(stem) => name.get(..stem.len()).unwrap_or(name).to_owned(),
        None => name.to_owned(),
    }
}

/// `*` and `?` over a whole name.
fn wildcard(pattern: &str, name: &str) -> bool {
    let text: String = pattern
        .chars()
        .map(|c| match c {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            c => regex::escape(&c.to_string()),
        })
        .collect();
    compile(&text, true, true).is_none_or(|r| r.is_match(name))
}

/// A unit, container or workload: named after a daemon, or the other way round.
pub(super) fn unit(daemons: &Daemons, aim: &Aim) -> (Reason, Option<String>) {
    let text = aim.target.text.as_str();
    let last = base(text.trim_end_matches('/'));
    let plain = [".service", ".socket", ".timer", ".target", ".plist", ".scope", ".slice"]
        .iter()
        .find_map(|end| last.strip_suffix(end))
        .unwrap_or(last)
        .to_lowercase();
    if aim.known && (plain.is_empty() || matches!(plain.as_str(), "all" | "*" | "--all" | "-a")) {
        return (Reason::NotComparable, None);
    }
    let whole = text.to_lowercase();
    for name in &daemons.names {
        let own = stem(name).to_lowercase();
        let folded = |t: &str| t.replace('_', "-");
        let within = folded(&whole).contains(&folded(&own)) && own.len() > 2;
        let part = plain.len() > 2 && folded(&own).contains(&folded(plain.trim_matches(['*', '@'])));
        let full = folded(&whole).contains(&folded(&base(name).to_lowercase()));
        if within || part || full || (plain.contains(['*', '?', '[']) && wildcard(&plain, &own)) {
            return (Reason::NamesDaemon, Some(name.clone()));
        }
    }
    if !aim.known || plain.contains(['*', '?', '[']) {
        return (if aim.known { Reason::NotComparable } else { Reason::FreeTarget }, None);
    }
    // A container's id, or a manager's number, names no program.
    let id = plain.chars().all(|c| c.is_ascii_hexdigit())
        && (plain.len() >= 12 || plain.chars().all(|c| c.is_ascii_digit()));
    if id { (Reason::NotComparable, None) } else { (Reason::Elsewhere, None) }
}

/// A process id.
pub(super) fn pid(daemons: &Daemons, aim: &Aim) -> (Reason, Option<String>) {
    let Ok(number) = aim.target.text.parse::<i64>() else { return (Reason::FreeTarget, None) };
    let positive = number.checked_abs().unwrap_or(0);
    if let Some(runtime) = daemons.registered.get(&positive) {
        return (Reason::DaemonPid, Some(runtime.clone()));
    }
    let Some(process) = daemons.processes.get(&positive) else { return (Reason::PidWithoutEvidence, None) };
    if process.daemon {
        return (Reason::DaemonPid, Some(process.name.clone()));
    }
    // A group holds more than its leader; a host that ends takes its servers along; an
    // unreadable command line proves nothing.
    let proven = number > 0 && !process.ancestor && !process.line.is_empty() && daemons.is_known();
    (if proven { Reason::Elsewhere } else { Reason::PidWithoutEvidence }, None)
}

/// The kinds of targets that names are compared for.
pub(super) fn compared(kind: TargetKind) -> bool {
    matches!(kind, TargetKind::Name | TargetKind::Pattern)
}
