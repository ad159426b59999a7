//! Programs of other languages inside a command line (`python -c`, `perl -e`).
//!
//! Where a language's scanner has spoken, its sites are judged; else the text is, as far as
//! its constants go: what may end a process and is not decided counts as such.

use crate::base::effect::Effect;
use crate::base::site::{Target, TargetKind};
use crate::base::text::{Origin, Piece, Text};
use crate::command::{self, Aim, CommandContext, Inline, Invocation};

use super::Guard;
use super::decide::Judged;
use super::report::Reason;

/// A site that a language's scanner found in an inline program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineSite {
    /// What it does.
    pub effect: Effect,
    /// Canonical name of the primitive.
    pub primitive: String,
    /// What it is aimed at.
    pub target: Option<Target>,
    /// For a command that the program runs: its words.
    pub command: Vec<String>,
}

/// Words by which a program may end another process, in any of the languages.
const ENDING: &[&str] =
    &["kill", "killpg", "pkill", "killall", "terminate", "taskkill", "raise_signal", "SIGKILL", "SIGTERM"];
/// Words by which a program runs a command or code that is not in its text.
const RUNNING: &[&str] = &[
    "system",
    "popen",
    "Popen",
    "subprocess",
    "spawn",
    "spawnSync",
    "exec",
    "execSync",
    "eval",
    "qx",
    "ctypes",
    "__import__",
    "getattr",
    "compile",
    "child_process",
];
/// Words by which text becomes code.
const EVALUATING: &[&str] =
    &["exec", "eval", "compile", "__import__", "getattr", "ctypes", "execSync", "Function"];
/// Words by which a value comes from outside the text.
const OUTSIDE: &[&str] = &[
    "argv",
    "input",
    "stdin",
    "b64decode",
    "fromhex",
    "urlopen",
    "ARGV",
    "ENV",
    "STDIN",
    "atob",
    "unhexlify",
    "decode64",
];
/// Words by which a file or the environment is read.
const READING: &[&str] =
    &["open", "read", "environ", "getenv", "env", "readFileSync", "chr", "join", "fromCharCode"];

impl Guard<'_> {
    /// Judges an inline program.
    pub(super) fn program(&self, program: &Inline, sites: Option<&[InlineSite]>) -> Vec<Judged> {
        let Some(code) = &program.code else {
            return vec![open(program, Reason::UnreadableInput)];
        };
        let mut judged = Vec::new();
        match sites {
            Some(sites) => {
                for site in sites {
                    judged.extend(self.site(program, site));
                }
                if sites.is_empty() && runs_the_unknown(code) {
                    judged.push(open(program, Reason::InlineProgram));
                }
            }
            None => judged = self.text(program, code),
        }
        judged
    }

    fn site(&self, program: &Inline, site: &InlineSite) -> Vec<Judged> {
        match site.effect {
            Effect::Kill | Effect::Supervise => {}
            Effect::Terminate if site.target.is_some() => return vec![open(program, Reason::OwnGroup)],
            _ => return Vec::new(),
        }
        if !site.command.is_empty() {
            let words: Vec<Text> = site.command.iter().map(|w| partly(w)).collect();
            return self.run(program, &Invocation::Argv(words));
        }
        let aim = site.target.clone().map(|target| Aim {
            known: !matches!(target.kind, TargetKind::Variable),
            target,
            by: "kill".to_owned(),
            options: Vec::new(),
        });
        let mut found = found(program, site.effect, &site.primitive);
        found.aims.extend(aim);
        self.found(&found).into_iter().collect()
    }

    fn run(&self, program: &Inline, invocation: &Invocation) -> Vec<Judged> {
        let analysis = command::analyse(invocation, self.catalogue, &CommandContext::default(), true);
        let mut judged = Vec::new();
        for mut inner in analysis.found {
            inner.action.span = program.span;
            let mut nested_in = program.nested_in.clone();
            nested_in.push(program.interpreter.clone());
            nested_in.append(&mut inner.action.nested_in);
            inner.action.nested_in = nested_in;
            inner.remote = inner.remote.or_else(|| program.remote.clone());
            judged.extend(self.found(&inner));
        }
        if !analysis.undecided.is_empty() || !analysis.inline.is_empty() {
            judged.push(open(program, Reason::InlineProgram));
        }
        judged
    }

    /// A program without a scanner: its string literals are taken for commands, numbers after
    /// `kill` for pids; anything else that may end a process is open.
    fn text(&self, program: &Inline, code: &str) -> Vec<Judged> {
        // `s/kill/stop/`: a pattern, no call.
        let outside = outside_literals(code).replace("/kill", "/").replace("kill/", "/");
        let tokens = words(&outside);
        let ends = tokens.iter().any(|t| ENDING.contains(&t.as_str()));
        let runs = tokens.iter().any(|t| RUNNING.contains(&t.as_str())) || code.contains('`');
        if !ends && !runs {
            return Vec::new();
        }
        let mut judged = Vec::new();
        if runs {
            for literal in literals(code) {
                judged.extend(self.run(program, &Invocation::Shell(Text::literal(literal))));
            }
            if tokens.iter().any(|t| OUTSIDE.contains(&t.as_str()) || READING.contains(&t.as_str())) {
                judged.push(open(program, Reason::InlineProgram));
            }
        }
        let own_kill = tokens.iter().any(|t| t == "kill");
        if own_kill && judged.is_empty() {
            let pids = numbers_after(code, "kill");
            if pids.is_empty() {
                judged.push(open(program, Reason::InlineProgram));
            }
            for pid in pids {
                let mut found = found(program, Effect::Kill, "kill");
                found.aims.push(Aim {
                    target: Target { kind: TargetKind::Pid, text: pid },
                    known: true,
                    by: "kill".to_owned(),
                    options: Vec::new(),
                });
                judged.extend(self.found(&found));
            }
        } else if ends && judged.is_empty() {
            judged.push(open(program, Reason::InlineProgram));
        }
        judged
    }
}

fn found(program: &Inline, effect: Effect, primitive: &str) -> command::Found {
    let mut nested_in = program.nested_in.clone();
    nested_in.push(program.interpreter.clone());
    command::Found {
        action: command::Action {
            effect,
            primitive: primitive.to_owned(),
            target: None,
            words: Vec::new(),
            span: program.span,
            nested_in,
            confidence: crate::base::site::Confidence::Certain,
            launcher: false,
            function: None,
        },
        aims: Vec::new(),
        whole: false,
        remote: program.remote.clone(),
    }
}

fn open(program: &Inline, reason: Reason) -> Judged {
    Judged {
        effect: Effect::Kill,
        primitive: program.interpreter.clone(),
        target: None,
        target_kind: None,
        reason,
        span: program.span,
        nested_in: program.nested_in.clone(),
        words: Vec::new(),
        daemon: None,
        remote: program.remote.clone(),
    }
}

/// A displayed word, in which `…` stands for what is not known.
fn partly(word: &str) -> Text {
    let mut text = Text::default();
    for (i, part) in word.split('…').enumerate() {
        if i > 0 {
            text.push(Piece::Free(Origin::Unknown));
        }
        text.push(Piece::Literal(part.to_owned()));
    }
    text
}

fn words(code: &str) -> Vec<String> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a program runs commands or code that do not stand in it.
fn runs_the_unknown(code: &str) -> bool {
    let tokens = words(&outside_literals(code));
    let has = |list: &[&str]| tokens.iter().any(|t| list.contains(&t.as_str()));
    let evaluates = has(EVALUATING) && (has(OUTSIDE) || has(READING));
    evaluates || ((has(RUNNING) || has(ENDING)) && has(OUTSIDE))
}

/// String literals of any of the usual quotes.
fn literals(code: &str) -> Vec<String> {
    split(code).1
}

/// The program with its string literals left out.
fn outside_literals(code: &str) -> String {
    split(code).0
}

fn split(code: &str) -> (String, Vec<String>) {
    let (mut outside, mut found) = (String::new(), Vec::new());
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        if !matches!(c, '\'' | '"' | '`') {
            outside.push(c);
            continue;
        }
        let mut text = String::new();
        while let Some(next) = chars.next() {
            match next {
                '\\' => text.extend(chars.next()),
                next if next == c => break,
                next => text.push(next),
            }
        }
        outside.push(' ');
        found.push(text);
    }
    (outside, found)
}

/// The numbers in the argument list after a word; the first of several is a signal in Perl
/// and Ruby, and a pid in JavaScript: each is judged.
fn numbers_after(code: &str, word: &str) -> Vec<String> {
    let Some((_, rest)) = code.split_once(word) else { return Vec::new() };
    let end = rest.find([';', '}', '\n']).unwrap_or(rest.len());
    let list = rest.get(..end).unwrap_or(rest);
    let parts: Vec<&str> = list
        .split([',', '(', ')', ' '])
        .map(|p| p.trim_matches(['"', '\'', ' ']))
        .filter(|p| !p.is_empty())
        .collect();
    let known = |p: &&str| {
        p.parse::<i64>().is_ok()
            || p.chars().all(|c| c.is_ascii_uppercase() || c == '-' || c.is_ascii_digit())
    };
    if parts.iter().all(known) {
        parts
            .iter()
            .filter(|p| p.parse::<i64>().is_ok_and(|n| n.abs() > 64))
            .map(|p| (*p).to_owned())
            .collect()
    } else {
        Vec::new()
    }
}
