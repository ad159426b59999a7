//! The guard's answer: the verdict, each action with its reason, and the next safe step.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::effect::Effect;
use crate::base::site::TargetKind;
use crate::base::span::Span;

use super::daemons::Daemons;
use super::decide::Judged;

/// What a command does to the daemon. Ordered: the later, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No kill or supervise action, or each provably aimed elsewhere.
    Clean,
    /// Something cannot be decided.
    Undetermined,
    /// An action hits a daemon, or is broad enough to.
    Contaminating,
}

/// Why an action is judged as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Aimed at something that is no daemon.
    Elsewhere,
    /// Names a daemon.
    NamesDaemon,
    /// Broad enough to hit a daemon.
    BroadPattern,
    /// A daemon's process id.
    DaemonPid,
    /// The target is a variable or a substitution that is not known.
    FreeTarget,
    /// A process id, and nothing shows whose.
    PidWithoutEvidence,
    /// A port, a pid file, a session, a project, a node or a host: no name to compare.
    NotComparable,
    /// It names no target.
    NoTarget,
    /// The caller's own process group, with whatever was started in it.
    OwnGroup,
    /// The pattern cannot be read.
    UnreadablePattern,
    /// It would be no clean command here, and it runs on another host.
    RemoteHost,
    /// No daemon is known by name, so that nothing is provably elsewhere.
    NoDaemonKnown,
    /// The command's name is not known.
    FreeCommand,
    /// What a supervisor is asked to do is not known.
    FreeVerb,
    /// A script is made of text that is not known.
    FreeText,
    /// A shell or an interpreter reads a program that cannot be read.
    UnreadableInput,
    /// An inline program of another language may end a process.
    InlineProgram,
    /// The text does not parse, and names a command that ends processes.
    Syntax,
    /// The text nests too deep, or is too long.
    TooLarge,
    /// The shell makes other words of what is written, by braces or wildcards.
    Expansion,
    /// A quoted text holds a substitution that arithmetic runs.
    HiddenCode,
    /// A unit or container whose name is no daemon's and that is not known to hold none.
    UnknownUnit,
    /// A program that no rule knows, given words that end a daemon.
    UnknownProgram,
    /// A task whose name speaks of ending something, and whose definition cannot be read.
    UnreadTask,
    /// It writes to a file by which the kernel acts on processes.
    KernelFile,
}

impl Reason {
    /// The verdict that the reason leads to.
    pub fn verdict(self) -> Verdict {
        match self {
            Reason::Elsewhere => Verdict::Clean,
            Reason::NamesDaemon | Reason::BroadPattern | Reason::DaemonPid => Verdict::Contaminating,
            _ => Verdict::Undetermined,
        }
    }
}

/// One action of the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GuardAction {
    /// What it does; what could not be decided counts as a kill.
    pub effect: Effect,
    /// The command's canonical name.
    pub primitive: String,
    /// What it is aimed at, as written.
    pub target: Option<String>,
    /// What kind of thing that is.
    pub target_kind: Option<TargetKind>,
    /// Why it is judged as it is.
    pub reason_code: Reason,
    /// Its place in the command, in bytes.
    pub span: Place,
    /// Commands that it is nested in, outermost first.
    pub nested_in: Vec<String>,
}

/// Byte offsets into the command, the end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl From<Span> for Place {
    fn from(span: Span) -> Place {
        Place { start: span.start, end: span.end }
    }
}

/// The guard's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GuardReport {
    /// The command as given.
    pub command: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether it counts as contamination: anything but a clean verdict.
    pub contaminated: bool,
    /// Every action, clean ones too.
    pub actions: Vec<GuardAction>,
    /// The forbidden path of the inventory that it matches.
    pub path_id: Option<String>,
    /// One plain sentence.
    pub reason: String,
    /// What to do instead.
    pub next_step: String,
}

/// Puts the answer together: the worst action decides.
pub(super) fn build(command: &str, mut judged: Vec<Judged>, daemons: &Daemons) -> GuardReport {
    judged.sort_by(|a, b| {
        (a.span, a.reason, &a.primitive, &a.target).cmp(&(b.span, b.reason, &b.primitive, &b.target))
    });
    judged.dedup_by(|a, b| {
        a.span == b.span && a.reason == b.reason && a.primitive == b.primitive && a.target == b.target
    });
    let verdict = judged.iter().map(|j| j.reason.verdict()).max().unwrap_or(Verdict::Clean);
    let worst = judged.iter().find(|j| j.reason.verdict() == verdict);
    let path_id = judged
        .iter()
        .filter(|j| j.reason.verdict() != Verdict::Clean)
        .max_by_key(|j| j.reason.verdict())
        .and_then(|_| forbidden(&judged, daemons));
    let (reason, next_step) = match worst {
        Some(worst) => (sentence(worst), next_step(worst, verdict)),
        None => {
            ("The command ends, signals and restarts no process.".to_owned(), "None is needed.".to_owned())
        }
    };
    GuardReport {
        command: command.to_owned(),
        verdict,
        contaminated: verdict != Verdict::Clean,
        actions: judged
            .into_iter()
            .map(|j| GuardAction {
                effect: j.effect,
                primitive: j.primitive,
                target: j.target,
                target_kind: j.target_kind,
                reason_code: j.reason,
                span: j.span.into(),
                nested_in: j.nested_in,
            })
            .collect(),
        path_id,
        reason,
        next_step,
    }
}

/// The forbidden path that the worst actions match: by its commands, or by the process that is hit.
fn forbidden(judged: &[Judged], daemons: &Daemons) -> Option<String> {
    let mut bad: Vec<&Judged> = judged.iter().filter(|j| j.reason.verdict() != Verdict::Clean).collect();
    bad.sort_by_key(|j| std::cmp::Reverse(j.reason.verdict()));
    bad.iter().find_map(|j| {
        let hits = j.reason.verdict() == Verdict::Contaminating;
        daemons.forbidden.iter().find_map(|path| {
            let by_command = path
                .commands
                .iter()
                .any(|c| c.matches(&j.words, &j.primitive).is_some_and(|bare| !bare || hits));
            let by_process = hits && j.daemon.as_ref().is_some_and(|d| path.processes.contains(d));
            (by_command || by_process).then(|| path.id.clone())
        })
    })
}

fn sentence(judged: &Judged) -> String {
    let what = if judged.primitive.is_empty() {
        "the command".to_owned()
    } else {
        format!("`{}`", judged.primitive)
    };
    let target =
        judged.target.as_deref().filter(|t| !t.is_empty()).map(|t| format!(" `{t}`")).unwrap_or_default();
    let aim = if target.is_empty() { " everything here" } else { target.as_str() };
    let unknown = if target.is_empty() { "its target" } else { target.trim_start() };
    let daemon = judged.daemon.as_deref().map(|d| format!("`{d}`")).unwrap_or_else(|| "a daemon".to_owned());
    match judged.reason {
        Reason::Elsewhere => format!("{what} is aimed at{aim}, which is no daemon."),
        Reason::NamesDaemon => format!("{what} is aimed at{aim}, which names the daemon {daemon}."),
        Reason::BroadPattern => format!("{what} is aimed at{aim}, which is broad enough to hit {daemon}."),
        Reason::DaemonPid => format!("{what} is aimed at the process{target}, which is the daemon {daemon}."),
        Reason::FreeTarget => {
            format!("What {what} is aimed at cannot be told from the command: {unknown} is not known.")
        }
        Reason::PidWithoutEvidence => {
            format!("{what} is aimed at the process{target}, and nothing shows that it is no daemon.")
        }
        Reason::NotComparable => {
            format!("{what} is aimed at{aim}, which has no name to compare with a daemon's.")
        }
        Reason::NoTarget => format!("{what} names no target that could be compared with a daemon's."),
        Reason::OwnGroup => {
            format!("{what} ends the caller's own process group, with every server that was started in it.")
        }
        Reason::UnreadablePattern => format!("The pattern{target} of {what} cannot be read."),
        Reason::RemoteHost => {
            let host = judged.remote.as_deref().unwrap_or("another host");
            format!("{what} runs on `{host}`, and nothing shows what runs there.")
        }
        Reason::NoDaemonKnown => format!("No daemon is configured, so that{target} cannot be told from one."),
        Reason::FreeCommand => "A command's name is not known before it runs.".to_owned(),
        Reason::FreeVerb => format!("What {what} is asked to do is not known before it runs."),
        Reason::FreeText => "A script is made of text that is not known before it runs.".to_owned(),
        Reason::UnreadableInput => format!("{what} runs a program that cannot be read here."),
        Reason::InlineProgram => format!("An inline program of {what} may end a process."),
        Reason::Syntax => {
            "The command does not parse, and it names a command that ends processes.".to_owned()
        }
        Reason::Expansion => {
            format!("The shell makes other words of those of {what}, by braces or wildcards.")
        }
        Reason::HiddenCode => format!("{what} holds a quoted command that its arithmetic may run."),
        Reason::UnknownUnit => {
            format!("{what} is aimed at{target}, and nothing shows that it holds no daemon.")
        }
        Reason::UnknownProgram => format!("{what} is not known, and its arguments may end {daemon}."),
        Reason::UnreadTask => {
            format!("{what} runs a task whose name speaks of ending something, and it cannot be read here.")
        }
        Reason::KernelFile => format!("{what} writes to a file by which the kernel acts on processes."),
        Reason::TooLarge => "The command is too long, or nests too deep, to be judged.".to_owned(),
    }
}

fn next_step(judged: &Judged, verdict: Verdict) -> String {
    match (verdict, judged.reason) {
        (Verdict::Clean, _) => "None is needed.".to_owned(),
        (Verdict::Contaminating, _) => {
            "Reconnect from the host, which restarts its own server; to end something else, name exactly that.".to_owned()
        }
        (_, Reason::PidWithoutEvidence | Reason::FreeTarget) => {
            "End what you started yourself by its recorded pid in the same command (`cmd & kill $!`), or show that the \
             process is no server (`restartlint fleet assess`)."
                .to_owned()
        }
        (_, Reason::NoDaemonKnown) => {
            "Name the daemons under `[guard] processes` in restartlint.toml, then ask again.".to_owned()
        }
        (_, Reason::RemoteHost) => "Ask whoever operates that host.".to_owned(),
        (_, Reason::NotComparable | Reason::OwnGroup | Reason::NoTarget | Reason::UnknownUnit) => {
            "Name exactly the process or the unit that is meant, or ask an operator.".to_owned()
        }
        _ => "Write the command out plainly, with every name and target in it, then ask again.".to_owned(),
    }
}
