//! One action, judged: each of its aims, and the worst of them.

use crate::base::effect::Effect;
use crate::base::site::TargetKind;
use crate::base::span::Span;
use crate::command::{Aim, Found, Undecided, UndecidedReason};

use super::Guard;
use super::pattern;
use super::report::{Reason, Verdict};

/// A judged action, or something that stayed open.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) effect: Effect,
    pub(super) primitive: String,
    pub(super) target: Option<String>,
    pub(super) target_kind: Option<TargetKind>,
    pub(super) reason: Reason,
    pub(super) span: Span,
    pub(super) nested_in: Vec<String>,
    /// The command's words.
    pub(super) words: Vec<String>,
    /// The daemon that it hits.
    pub(super) daemon: Option<String>,
    /// The host that it runs on.
    pub(super) remote: Option<String>,
}

impl Judged {
    /// Something of the command that cannot be decided.
    pub(super) fn open(command: &str, undecided: &Undecided) -> Judged {
        let at = command.get(undecided.span.range()).unwrap_or("");
        let first: String = at.split_whitespace().next().unwrap_or("").chars().take(40).collect();
        let reason = match undecided.reason {
            UndecidedReason::FreeCommand => Reason::FreeCommand,
            UndecidedReason::FreeVerb => Reason::FreeVerb,
            UndecidedReason::FreeText => Reason::FreeText,
            UndecidedReason::UnreadableInput => Reason::UnreadableInput,
            UndecidedReason::Syntax => Reason::Syntax,
            UndecidedReason::TooLarge => Reason::TooLarge,
            UndecidedReason::Expansion => Reason::Expansion,
            UndecidedReason::HiddenCode => Reason::HiddenCode,
            UndecidedReason::Renamed => Reason::FreeCommand,
            UndecidedReason::Task => Reason::UnreadTask,
            UndecidedReason::KernelFile => Reason::KernelFile,
        };
        Judged {
            effect: Effect::Kill,
            primitive: first,
            target: None,
            target_kind: None,
            reason,
            span: undecided.span,
            nested_in: Vec::new(),
            words: Vec::new(),
            daemon: None,
            remote: None,
        }
    }
}

impl Guard<'_> {
    /// Judges an action; `None` for one that ends nobody else.
    pub(super) fn found(&self, found: &Found) -> Option<Judged> {
        let action = &found.action;
        let (reason, aim, daemon) = match action.effect {
            Effect::Kill | Effect::Supervise => self.worst(found),
            // `kill $$` ends the shell that runs the command; its group holds whatever else was started there.
            Effect::Terminate => {
                let group = found.aims.iter().find(|a| a.target.text.starts_with('-'))?;
                (Reason::OwnGroup, Some(group), None)
            }
            _ => return None,
        };
        let reason = match &found.remote {
            Some(_) if reason.verdict() != Verdict::Clean => Reason::RemoteHost,
            _ => reason,
        };
        Some(Judged {
            effect: action.effect,
            primitive: action.primitive.clone(),
            target: aim.map(|a| a.target.text.clone()),
            target_kind: aim.map(|a| a.target.kind),
            reason,
            span: action.span,
            nested_in: action.nested_in.clone(),
            words: action.words.clone(),
            daemon,
            remote: found.remote.clone(),
        })
    }

    /// Whether a unit or a container is one of those that are known to hold no agent's daemon.
    fn is_known_unit(&self, text: &str) -> bool {
        let name = text.rsplit('/').next().unwrap_or(text).to_lowercase();
        let name = name.strip_suffix(".service").or(name.strip_suffix(".socket")).unwrap_or(&name);
        let name = name.split('@').next().unwrap_or(name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '_'));
        self.catalogue.names.known_units.iter().any(|known| known == name || known == stem)
    }

    fn worst<'f>(&self, found: &'f Found) -> (Reason, Option<&'f Aim>, Option<String>) {
        let mut worst: Option<(Reason, &Aim, Option<String>)> = None;
        for aim in &found.aims {
            let (reason, daemon) = self.aim(found, aim);
            if worst.as_ref().is_none_or(|(known, _, _)| reason.verdict() > known.verdict()) {
                worst = Some((reason, aim, daemon));
            }
        }
        match worst {
            Some((reason, aim, daemon)) => {
                let reason = if found.whole && reason.verdict() == Verdict::Clean {
                    Reason::NotComparable
                } else {
                    reason
                };
                (reason, Some(aim), daemon)
            }
            None if found.whole => (Reason::NotComparable, None, None),
            None => (Reason::NoTarget, None, None),
        }
    }

    fn aim(&self, found: &Found, aim: &Aim) -> (Reason, Option<String>) {
        let kind = aim.target.kind;
        let decided = match kind {
            // A number means nothing where other processes are seen.
            TargetKind::Pid if found.remote.is_some() => (Reason::PidWithoutEvidence, None),
            TargetKind::Pid => pattern::pid(self.daemons, aim),
            TargetKind::All if found.action.effect == Effect::Kill => (Reason::BroadPattern, None),
            TargetKind::All | TargetKind::Port => (Reason::NotComparable, None),
            TargetKind::Own => (Reason::OwnGroup, None),
            TargetKind::Variable => (Reason::FreeTarget, None),
            TargetKind::Unit if found.action.primitive == "kubectl drain" => (Reason::NotComparable, None),
            TargetKind::Unit => match pattern::unit(self.daemons, aim) {
                // A unit of another name may hold a daemon all the same.
                (Reason::Elsewhere, _) if !self.is_known_unit(&aim.target.text) => {
                    (Reason::UnknownUnit, None)
                }
                decided => decided,
            },
            TargetKind::Name
                if matches!(found.action.primitive.split(' ').next(), Some("tmux" | "screen")) =>
            {
                // A session holds what was started in it, whatever it is called.
                match pattern::unit(self.daemons, aim) {
                    (Reason::Elsewhere, _) => (Reason::NotComparable, None),
                    decided => decided,
                }
            }
            _ if pattern::compared(kind) => pattern::hit(self.daemons, aim),
            _ => (Reason::FreeTarget, None),
        };
        // Where no daemon is known by name, nothing is provably elsewhere.
        match decided {
            (Reason::Elsewhere, _) if !self.daemons.is_known() => (Reason::NoDaemonKnown, None),
            decided => decided,
        }
    }
}
