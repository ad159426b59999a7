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
            TargetKind::Pid => pattern::pid(self.daemons, aim),
            TargetKind::All if found.action.effect == Effect::Kill => (Reason::BroadPattern, None),
            TargetKind::All | TargetKind::Port => (Reason::NotComparable, None),
            TargetKind::Own => (Reason::OwnGroup, None),
            TargetKind::Variable => (Reason::FreeTarget, None),
            TargetKind::Unit if found.action.primitive == "kubectl drain" => (Reason::NotComparable, None),
            TargetKind::Unit => pattern::unit(self.daemons, aim),
            TargetKind::Name if found.action.primitive.starts_with("tmux") => {
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
