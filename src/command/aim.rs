//! What an action is aimed at: operands, option values, and what substitutions and
//! pipes select.

use std::ops::Range;

use crate::base::site::{Target, TargetKind};
use crate::base::text::Origin;
use crate::data::commands::{CommandRule, OptionStyle};

use super::analysis::Aim;
use super::arguments::{self, Arguments, Reading};
use super::engine::{Engine, Run};
use super::follow::program_name;
use super::script::{Input, Simple};
use super::word::{Part, Word};

/// Whom an action hits.
pub(super) enum Hits {
    /// Only children that the same text started.
    OwnChildren,
    /// This very process or its group.
    Own(Vec<Aim>),
    /// Somebody else, or it is not known whom.
    Others(Vec<Aim>),
}

impl Engine<'_> {
    /// The aims of a matched command.
    pub(super) fn aims(&self, run: &Run, rule: &CommandRule, given: &Arguments, targets: &[Word]) -> Hits {
        let by = run.words.first().and_then(program_name).unwrap_or_default().to_ascii_lowercase();
        let options: Vec<String> = given.options.iter().map(|o| o.name.clone()).collect();
        let kind = rule.target.unwrap_or(TargetKind::Name);
        let named: Vec<(Word, TargetKind)> = match kind {
            TargetKind::All => Vec::new(),
            TargetKind::Variable => vec![(Word::of(Part::Free(Origin::Unknown), run.span), kind)],
            _ => {
                let values = given
                    .values(&rule.target_options)
                    .map(|(option, word)| (word.clone(), option_kind(&by, option, kind)));
                let selects = |k: TargetKind| k != TargetKind::Variable;
                // Where options name the targets, as on Windows, a bare word is none.
                let bare = rule.style != OptionStyle::Slash || rule.target_options.is_empty();
                let operands: Vec<_> = targets.iter().filter(|_| bare).map(|w| (w.clone(), kind)).collect();
                // A filter by user, parent or terminal narrows a pattern; alone it is all that there is.
                let narrowed = !operands.is_empty();
                operands.into_iter().chain(values.filter(|(_, k)| selects(*k) || !narrowed)).collect()
            }
        };
        let mut aims = Vec::new();
        let (mut children, mut own) = (0usize, 0usize);
        for (word, kind) in &named {
            match self.whose(run, word, *kind) {
                Whose::Child => children += 1,
                Whose::Own => {
                    own += 1;
                    aims.push(aim(TargetKind::Own, word.display(), true, &by, &options));
                }
                Whose::Other => self.aim_at(word, *kind, &by, &options, &mut aims),
            }
        }
        if children > 0 && children == named.len() {
            return Hits::OwnChildren;
        }
        if own > 0 && own + children == named.len() {
            return Hits::Own(aims);
        }
        if named.is_empty()
            && kind == TargetKind::Pid
            && by == "stop-process"
            && let Some((scene, Input::Pipe(range))) = &run.input
        {
            return Hits::Others(self.selected(*scene, range));
        }
        if named.is_empty() && kind == TargetKind::All {
            aims.push(aim(TargetKind::All, String::new(), true, &by, &options));
        }
        Hits::Others(aims)
    }

    /// Whether the text, or a script around it, puts a command in the background.
    fn background(&self) -> bool {
        self.scenes.iter().any(|s| s.script.background)
    }

    fn whose(&self, run: &Run, word: &Word, kind: TargetKind) -> Whose {
        if kind != TargetKind::Pid && kind != TargetKind::Variable {
            return Whose::Other;
        }
        let parts: Vec<&Part> = word
            .parts
            .iter()
            .map(|p| &p.part)
            .filter(|p| !matches!(p, Part::Literal(t) if t.is_empty()))
            .collect();
        match parts.as_slice() {
            [Part::Literal(text), ..] if text.starts_with('%') && kind == TargetKind::Pid => {
                // A job of this very text; in the guard an earlier command may have started it.
                let background = self.background();
                if background || !self.strict { Whose::Child } else { Whose::Other }
            }
            [Part::Free(origin) | Part::Rest(origin)] => self.origin_whose(*origin, kind),
            [Part::Literal(minus), Part::Free(origin)] if minus == "-" => match origin {
                Origin::OwnPid => Whose::Own,
                origin => self.origin_whose(*origin, kind),
            },
            [Part::Output { scene, commands, .. }] => {
                let own = self.scene(*scene).is_some_and(|s| {
                    let commands = s.script.slice(commands);
                    let jobs = |c: &Simple| c.words.first().and_then(Word::text).as_deref() == Some("jobs");
                    // A trap runs in the shell that it stands in, whose jobs are its own.
                    let trapped = run.nested_in.iter().any(|by| by == "trap");
                    (self.background() || trapped || !self.strict)
                        && commands.first().is_some_and(jobs)
                        && commands.iter().skip(1).all(|c| matches!(c.input, Input::Pipe(_)))
                });
                if own { Whose::Child } else { Whose::Other }
            }
            _ => Whose::Other,
        }
    }

    fn origin_whose(&self, origin: Origin, kind: TargetKind) -> Whose {
        match origin {
            Origin::ChildPid => {
                let background = self.background();
                if background || !self.strict { Whose::Child } else { Whose::Other }
            }
            // `pkill -P $$`: the children of this shell.
            Origin::OwnPid if kind == TargetKind::Variable && !self.strict => Whose::Child,
            Origin::OwnPid | Origin::OwnGroup if kind == TargetKind::Pid => Whose::Own,
            _ => Whose::Other,
        }
    }

    fn aim_at(&self, word: &Word, kind: TargetKind, by: &str, options: &[String], out: &mut Vec<Aim>) {
        let text = word.display();
        match kind {
            TargetKind::Pid => {
                if let Some(literal) = word.text() {
                    let kind = match literal.as_str() {
                        "-1" => TargetKind::All,
                        "0" | "-0" => TargetKind::Own,
                        _ if literal.parse::<i64>().is_ok() => TargetKind::Pid,
                        _ if literal.starts_with(['%', '-', '$']) => TargetKind::Variable,
                        _ => TargetKind::Name,
                    };
                    out.push(aim(kind, literal, kind != TargetKind::Variable, by, options));
                    return;
                }
                let mut any = false;
                for piece in &word.parts {
                    if let Part::Output { scene, commands, .. } = &piece.part {
                        any = true;
                        out.extend(self.selected(*scene, commands));
                    }
                }
                if !any {
                    out.push(aim(TargetKind::Variable, text, false, by, options));
                }
            }
            TargetKind::Variable => out.push(aim(TargetKind::Variable, text, false, by, options)),
            _ if word.only().is_some() => {
                if let Some(Part::Output { scene, commands, .. }) = word.only()
                    && by == "xargs"
                {
                    out.extend(self.selected(*scene, commands));
                    return;
                }
                out.push(aim(TargetKind::Variable, text, false, by, options));
            }
            _ => out.push(aim(kind, text, !word.is_free(), by, options)),
        }
    }

    /// The processes whose ids the commands of a range print.
    pub(super) fn selected(&self, scene: u32, range: &Range<u32>) -> Vec<Aim> {
        let mut aims = Vec::new();
        let mut lines = Vec::new();
        let mut pending = vec![range.clone()];
        let mut seen = 0usize;
        let mut file = None;
        while let Some(range) = pending.pop() {
            let Some(found) = self.scene(scene) else { break };
            for command in found.script.slice(&range) {
                seen += 1;
                if seen > 256 {
                    break;
                }
                self.selector(scene, command, &mut aims, &mut lines, &mut file);
                if let Input::Pipe(earlier) = &command.input
                    && earlier.start < range.start
                {
                    pending.push(earlier.clone());
                }
            }
        }
        if aims.is_empty() {
            // `ps … | grep NAME | awk …`: the lines that are kept name the processes.
            aims = lines;
        }
        if aims.is_empty() {
            if let Some(text) = self.constant(scene, range, 0) {
                for pid in text.split_whitespace() {
                    let known = pid.parse::<i64>().is_ok();
                    let kind = if known { TargetKind::Pid } else { TargetKind::Variable };
                    aims.push(aim(kind, pid.to_owned(), known, "kill", &[]));
                }
            }
            if aims.is_empty() {
                aims.push(aim(
                    TargetKind::Variable,
                    file.unwrap_or_else(|| "…".to_owned()),
                    false,
                    "kill",
                    &[],
                ));
            }
        }
        aims
    }

    fn selector(
        &self,
        scene: u32,
        command: &Simple,
        aims: &mut Vec<Aim>,
        lines: &mut Vec<Aim>,
        file: &mut Option<String>,
    ) {
        let Some(environment) = self.scene(scene).map(|s| &s.environment) else { return };
        let mut words: Vec<Word> = Vec::new();
        for word in &command.words {
            let alternatives = environment.expand(word, command.flow.function);
            for alternative in alternatives {
                words.extend(alternative);
            }
        }
        // A selector behind `sudo` and its like.
        let at =
            words.iter().position(|w| program_name(w).is_some_and(|n| self.catalogue.selector(&n).is_some()));
        let Some(at) = at.filter(|&at| {
            at == 0
                || words
                    .first()
                    .and_then(program_name)
                    .is_some_and(|n| self.catalogue.prefixes(&n).next().is_some())
        }) else {
            return;
        };
        let words = words.get(at..).unwrap_or(&[]);
        let Some(name) = words.first().and_then(program_name) else { return };
        let Some(rule) = self.catalogue.selector(&name) else { return };
        let rest = words.get(1..).unwrap_or(&[]);
        let reading = Reading { style: rule.style, value_options: &rule.value_options, ..Reading::default() };
        let given = arguments::read(rest, &reading);
        let options: Vec<String> = given.options.iter().map(|o| o.name.clone()).collect();
        if rule.lines {
            if given.has_one("-v")
                || given.has_one("--invert-match")
                || !matches!(command.input, Input::Pipe(_))
            {
                return;
            }
            let patterns = given.values(&rule.target_options).map(|(_, w)| w).chain(given.operands.first());
            for word in patterns {
                let text = word.display();
                let pattern = if name.ends_with("awk") {
                    let Some(inner) = text.split('/').nth(1).filter(|_| text.matches('/').count() >= 2)
                    else {
                        continue;
                    };
                    inner.to_owned()
                } else {
                    text
                };
                lines.push(aim(TargetKind::Pattern, pattern, !word.is_free(), "grep", &options));
            }
            return;
        }
        match rule.target {
            TargetKind::Port => aims.push(aim(TargetKind::Port, display(rest), false, &name, &options)),
            TargetKind::Variable => *file = Some(display(rest)).filter(|t| !t.is_empty()).or(file.take()),
            TargetKind::Own => {
                aims.push(aim(TargetKind::Variable, "jobs".to_owned(), false, &name, &options))
            }
            kind => {
                let values =
                    given.values(&rule.target_options).map(|(o, w)| (w, option_kind(&name, o, kind)));
                let operands = given.operands.iter().map(|w| (w, kind));
                let before = aims.len();
                for (word, kind) in operands.chain(values) {
                    let kind = if word.only().is_some() { TargetKind::Variable } else { kind };
                    if kind == TargetKind::Variable && aims.len() > before {
                        continue;
                    }
                    let known = kind != TargetKind::Variable && !word.is_free();
                    aims.push(aim(kind, word.display(), known, &name, &options));
                }
                if aims.len() == before {
                    aims.push(aim(TargetKind::Variable, display(rest), false, &name, &options));
                }
            }
        }
    }
}

enum Whose {
    Child,
    Own,
    Other,
}

fn display(words: &[Word]) -> String {
    words.iter().map(Word::display).collect::<Vec<_>>().join(" ")
}

fn aim(kind: TargetKind, text: String, known: bool, by: &str, options: &[String]) -> Aim {
    Aim { target: Target { kind, text }, known, by: by.to_owned(), options: options.to_vec() }
}

/// What the value of a target option names.
fn option_kind(by: &str, option: &str, kind: TargetKind) -> TargetKind {
    match (by, option) {
        ("start-stop-daemon", "-p" | "--pidfile" | "-u" | "--user") => TargetKind::Variable,
        ("kill-port", _) => TargetKind::Port,
        (_, "/IM" | "-Name" | "-n" | "--name" | "-x" | "--exec" | "-DisplayName") => TargetKind::Name,
        ("skill", "-c" | "--command") => TargetKind::Name,
        ("tmux", "-t") | ("screen", "-S") => TargetKind::Name,
        ("gdb" | "lldb", _) => TargetKind::Pid,
        ("grep" | "egrep" | "rg" | "awk", _) => kind,
        (_, "/PID" | "-Id" | "--pid") => TargetKind::Pid,
        _ => TargetKind::Variable,
    }
}
