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
const ENDING: &[&str] = &[
    "kill",
    "killpg",
    "pkill",
    "killall",
    "terminate",
    "taskkill",
    "raise_signal",
    "SIGKILL",
    "SIGTERM",
    "posix_kill",
];
/// Words by which a program runs a command that stands in its text, or does not.
const RUNNING: &[&str] = &[
    "system",
    "popen",
    "Popen",
    "subprocess",
    "spawn",
    "spawnSync",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "exec",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execFile",
    "execFileSync",
    "execSync",
    "eval",
    "qx",
    "ctypes",
    "__import__",
    "getattr",
    "compile",
    "child_process",
    "shell_exec",
    "passthru",
    "proc_open",
    "pcntl_exec",
    "IPC",
    "readpipe",
    "syscall",
    "execute",
    "run_path",
    "run_module",
    "pty",
    "check_output",
    "check_call",
    "call",
    "getoutput",
    "getstatusoutput",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "run",
];
/// Words by which text becomes code, or a name is made at run time.
const EVALUATING: &[&str] = &[
    "exec",
    "eval",
    "compile",
    "__import__",
    "import_module",
    "ctypes",
    "cffi",
    "Function",
    "vm",
    "runpy",
    "run_path",
    "run_module",
    "__builtins__",
    "__dict__",
    "__class__",
    "__subclasses__",
    "marshal",
    "pickle",
    "codecs",
    "syscall",
    "dlopen",
    "binding",
    "instance_eval",
    "class_eval",
    "create_function",
    "assert",
    "loadstring",
    "load",
    "dofile",
    "WebAssembly",
    "Reflect",
];
/// The same words, where a plain value is what everyone asks for with them.
const LOOKING_UP: &[&str] = &[
    "getattr",
    "globals",
    "locals",
    "vars",
    "send",
    "public_send",
    "call_user_func",
    "globalThis",
    "global",
];
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
    "gets",
];
/// Words by which a file or the environment is read, or a text is put together.
const READING: &[&str] = &[
    "open",
    "read",
    "environ",
    "getenv",
    "env",
    "readFileSync",
    "chr",
    "join",
    "fromCharCode",
    "reverse",
    "pack",
    "decode",
    "format",
    "replace",
    "lower",
    "upper",
    "process",
    "concat",
];

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
                if runs_the_unknown(&program.interpreter, code) || sites.is_empty() && self.hides(code) {
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

    /// Whether a program that may run commands speaks of ending a daemon, or of a command that ends others.
    fn hides(&self, code: &str) -> bool {
        let tokens = words(&outside_literals(code));
        let runs = tokens.iter().any(|t| RUNNING.contains(&t.as_str()) || EVALUATING.contains(&t.as_str()));
        let joined: String = code.chars().filter(|c| !matches!(c, '\'' | '"' | '+' | ' ')).collect();
        runs && [code, &joined]
            .iter()
            .any(|text| self.mentioned(text).is_some() && self.catalogue.speaks_of_ending(text))
    }

    /// A program without a scanner: its string literals are taken for commands, numbers after
    /// `kill` for pids; anything else that may end a process is open.
    fn text(&self, program: &Inline, code: &str) -> Vec<Judged> {
        // `s/kill/stop/`: a pattern, no call.
        let outside = outside_literals(code).replace("/kill", "/").replace("kill/", "/");
        let tokens = words(&outside);
        let has = |list: &[&str]| tokens.iter().any(|t| list.contains(&t.as_str()));
        let pipes = matches!(program.interpreter.as_str(), "perl" | "ruby")
            && has(&["open", "pipe"])
            && literals(code).iter().any(|l| l.contains('|') || l.starts_with('-'));
        let ends = has(ENDING);
        let runs = has(RUNNING) || pipes || code.contains('`') || code.contains("%x");
        let mut judged = Vec::new();
        if runs_the_unknown(&program.interpreter, code) || self.hides(code) {
            judged.push(open(program, Reason::InlineProgram));
        }
        if !ends && !runs {
            return judged;
        }
        if runs {
            for literal in literals(code) {
                let literal = literal.trim_end_matches('|').to_owned();
                judged.extend(self.run(program, &Invocation::Shell(Text::literal(literal))));
            }
            if pipes || has(OUTSIDE) || has(READING) {
                judged.push(open(program, Reason::InlineProgram));
            }
        }
        if tokens.iter().any(|t| t == "kill") && judged.is_empty() {
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

/// Whether a program runs commands or code that do not stand in it as a whole.
fn runs_the_unknown(interpreter: &str, code: &str) -> bool {
    let outside = outside_literals(code).replace("re.compile", " ");
    let tokens = words(&outside);
    let has = |list: &[&str]| tokens.iter().any(|t| list.contains(&t.as_str()));
    // `JSON.load`, `json.load`, `assert x`: reading and checking, in the languages that mean it so.
    let evaluates = tokens.iter().any(|t| {
        EVALUATING.contains(&t.as_str())
            && match t.as_str() {
                "load" => matches!(interpreter, "lua" | "ruby"),
                "assert" => interpreter == "php",
                // A regular expression's method there.
                "exec" => !matches!(interpreter, "node" | "nodejs" | "deno" | "bun"),
                "vm" | "Function" | "binding" => matches!(interpreter, "node" | "nodejs" | "deno" | "bun"),
                _ => true,
            }
    });
    let looks_up = has(LOOKING_UP)
        && ["os", "signal", "subprocess", "psutil", "Process", "process"]
            .iter()
            .any(|m| tokens.iter().any(|t| t == m));
    // `process['ki' + 'll']`, `require('child_' + x)`: a name that is made at run time.
    let computed =
        outside.contains("process[") || outside.contains("global[") || outside.contains("globalThis[");
    // A module by which text becomes code.
    let hosts =
        literals(code).iter().any(|l| matches!(l.as_str(), "vm" | "node:vm" | "module" | "node:module"));
    let requires = hosts || call_is_open(code, "require") || call_is_open(code, "import");
    let calls = RUNNING.iter().any(|word| match *word {
        "subprocess" => false,
        // Common names of anything's methods.
        "run" | "call" | "execute" => has(&["subprocess", "ctypes", "os"]) && call_is_open(code, word),
        word => call_is_open(code, word),
    });
    evaluates || looks_up || computed || requires || calls || ((has(RUNNING) || has(ENDING)) && has(OUTSIDE))
}

/// Words that may stand among the arguments of a call that runs a command, without saying which.
const ARGUMENT_WORDS: &[&str] = &[
    "True",
    "False",
    "None",
    "true",
    "false",
    "null",
    "shell",
    "text",
    "check",
    "capture_output",
    "encoding",
    "cwd",
    "stdout",
    "stderr",
    "stdin",
    "timeout",
    "universal_newlines",
    "subprocess",
    "PIPE",
    "DEVNULL",
    "STDOUT",
    "stdio",
];

/// Whether a call of that name gets more than literal texts.
fn call_is_open(code: &str, name: &str) -> bool {
    let mut from = 0;
    while let Some(at) = code.get(from..).and_then(|rest| rest.find(name)).map(|at| from + at) {
        from = at + name.len();
        let before = code.get(..at).and_then(|c| c.chars().next_back());
        let whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let Some(arguments) = code.get(from..).and_then(|rest| rest.strip_prefix('(')) else { continue };
        if whole && !is_literal(arguments) {
            return true;
        }
    }
    false
}

/// Whether the arguments of a call, from its opening on, are literal texts, lists of them and plain options.
fn is_literal(arguments: &str) -> bool {
    let mut depth = 0usize;
    let mut outside = String::new();
    let mut chars = arguments.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        match c {
            '(' | '[' | '{' => {
                // A call, or a part of what stands before.
                if last.is_alphanumeric() || matches!(last, '\'' | '"' | '`' | ']' | ')') {
                    return false;
                }
                depth += 1;
            }
            ')' | ']' | '}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => break,
            },
            '\'' | '"' | '`' => {
                if last.is_alphabetic() && last != 'r' && last != 'b' && last != 'u' {
                    return false;
                }
                let mut escaped = false;
                for next in chars.by_ref() {
                    match next {
                        _ if escaped => escaped = false,
                        '\\' => escaped = true,
                        next if next == c => break,
                        _ => {}
                    }
                }
            }
            '+' | '%' | '.' | '$' | '*' | '@' if !(c == '.' && outside.ends_with("subprocess")) => {
                return false;
            }
            _ => outside.push(c),
        }
        if !c.is_whitespace() {
            last = c;
        }
    }
    words(&outside).iter().all(|word| {
        ARGUMENT_WORDS.contains(&word.as_str())
            || word.chars().all(|c| c.is_ascii_digit())
            || matches!(word.as_str(), "r" | "b" | "u")
    })
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
