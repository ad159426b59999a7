//! The catalogue's rules over a command's words.

use crate::base::effect::Effect;
use crate::base::site::{Confidence, Target, TargetKind};
use crate::base::text::Origin;
use crate::data::commands::CommandRule;

use super::aim::Hits;
use super::analysis::{Aim, UndecidedReason, ends_others};
use super::arguments::{self, Arguments, Reading, Signal};
use super::engine::{Engine, Run};
use super::word::{Part, Word};

/// A rule that holds for a command.
struct Match {
    primitive: String,
    /// Operands that are neither the command's second word nor its verb.
    targets: Vec<Word>,
    possible: bool,
}

enum Outcome {
    Match(Match),
    /// What the command is asked to do is not known.
    Free,
    No,
}

impl Engine<'_> {
    /// Holds a command against every rule of its name; the first that matches is the action. True if one
    /// that ends others does, or if it only asks.
    pub(super) fn classify(&mut self, run: &mut Run, name: &str) -> bool {
        let catalogue = self.catalogue;
        let mut free = false;
        for rule in catalogue.commands(name).filter(|rule| self.strict || !rule.guard_only) {
            let rest = run.words.get(1..).unwrap_or(&[]);
            let given = arguments::read(rest, &reading(rule));
            match holds(rule, name, &given) {
                Outcome::Match(found) => {
                    self.act(run, rule, &given, found);
                    return ends_others(rule.effect);
                }
                Outcome::Free => free |= ends_others(rule.effect),
                Outcome::No => {}
            }
        }
        if free {
            self.undecided(UndecidedReason::FreeVerb, run.span);
        }
        if self.strict && run.expands && catalogue.ends_others(name) {
            let rest = run.words.get(1..).unwrap_or(&[]);
            let verb = rest.first().is_some_and(|w| w.display().contains(['*', '?', '[']));
            if verb || rest.iter().any(|w| w.display().contains('{')) {
                self.undecided(UndecidedReason::Expansion, run.span);
            }
        }
        // A rule without verbs that does not hold here was given an option by which it does nothing.
        let whole = catalogue
            .commands(name)
            .any(|r| ends_others(r.effect) && r.verbs.is_empty() && r.with.is_empty());
        whole && !free
    }

    fn act(&mut self, run: &mut Run, rule: &CommandRule, given: &Arguments, found: Match) {
        let confidence = run.confidence;
        if found.possible {
            run.confidence = Confidence::Possible;
        }
        if !ends_others(rule.effect) {
            self.push(run, rule.effect, found.primitive, false, Vec::new(), false);
        } else {
            match self.aims(run, rule, given, &found.targets) {
                Hits::OwnChildren => {}
                Hits::Own(aims) => self.push(run, Effect::Terminate, found.primitive, false, aims, false),
                Hits::Others(mut aims) => {
                    if self.strict {
                        self.open_words(run, &mut aims);
                    }
                    let whole = rule.target == Some(TargetKind::All)
                        || (rule.whole_without_target && aims.is_empty());
                    self.push(run, rule.effect, found.primitive, false, aims, whole);
                }
            }
        }
        run.confidence = confidence;
    }
}

impl Engine<'_> {
    /// Words of which the shell makes others, and options that are not known, may name anything.
    fn open_words(&mut self, run: &Run, aims: &mut Vec<Aim>) {
        if run.expands {
            self.undecided(UndecidedReason::Expansion, run.span);
        }
        let option = run.words.iter().skip(1).find(|w| {
            w.leading().starts_with('-')
                && w.parts
                    .iter()
                    .any(|p| matches!(p.part, Part::Free(Origin::Unknown | Origin::Parameter(_))))
        });
        if let Some(word) = option {
            let target = Target { kind: TargetKind::Variable, text: word.display() };
            aims.push(Aim { target, known: false, by: String::new(), options: Vec::new() });
        }
    }
}

fn reading(rule: &CommandRule) -> Reading<'_> {
    Reading {
        style: rule.style,
        value_options: &rule.value_options,
        options_end: rule.options_first.then_some(1 + usize::from(!rule.verbs.is_empty())),
        dash_signals: rule.dash_signals,
        signal_options: &rule.signal_options,
    }
}

fn holds(rule: &CommandRule, name: &str, given: &Arguments) -> Outcome {
    if given.has(&rule.without) || given.signal == Signal::Probe {
        return Outcome::No;
    }
    if !rule.with.is_empty() && !given.has(&rule.with) {
        return Outcome::No;
    }
    if !rule.with_values.is_empty() && !has_value(rule, given) {
        return Outcome::No;
    }
    if !rule.with_text.is_empty() {
        let text = given.operands.iter().map(Word::display).collect::<Vec<_>>().join(" ");
        if !rule.with_text.iter().any(|t| text.contains(t.as_str())) {
            return Outcome::No;
        }
    }
    // The name that matches, and where the operands after its second word begin.
    let mut free = false;
    for known in &rule.names {
        let (first, second) = match known.split_once(' ') {
            Some((first, second)) => (first, Some(second)),
            None => (known.as_str(), None),
        };
        if !first.eq_ignore_ascii_case(name) {
            continue;
        }
        let start = usize::from(second.is_some());
        if let Some(second) = second {
            match given.operands.first().map(Word::text) {
                Some(Some(text)) if text == second => {}
                Some(None) => {
                    free = true;
                    continue;
                }
                _ => continue,
            }
        }
        match verb(rule, known, &given.operands, start) {
            Outcome::No => {}
            Outcome::Free => free = true,
            found => return found,
        }
    }
    if free { Outcome::Free } else { Outcome::No }
}

fn has_value(rule: &CommandRule, given: &Arguments) -> bool {
    given.options.iter().any(|o| {
        let Some(value) = &o.value else { return false };
        let text = value.display();
        rule.with_values.get(&o.name).is_some_and(|want| match want.strip_suffix('*') {
            Some(prefix) => text.trim_start().starts_with(prefix),
            None => text == *want,
        })
    })
}

fn verb(rule: &CommandRule, known: &str, operands: &[Word], start: usize) -> Outcome {
    let name = rule.reported(known);
    if rule.verbs.is_empty() {
        let targets = operands.get(start..).unwrap_or(&[]).to_vec();
        return Outcome::Match(Match { primitive: name.to_owned(), targets, possible: false });
    }
    let at = start + rule.verb_at;
    let Some(first) = operands.get(at) else { return Outcome::No };
    let rest_of = |taken: usize| {
        let kept = operands.iter().enumerate().filter(|(i, _)| *i >= start && !(at..at + taken).contains(i));
        kept.map(|(_, w)| w.clone()).collect::<Vec<_>>()
    };
    let mut free = first.text().is_none();
    for verb in &rule.verbs {
        let words: Vec<&str> = verb.split(' ').collect();
        let given = operands.get(at..at + words.len()).unwrap_or(&[]);
        if given.len() < words.len() {
            continue;
        }
        let mut all = true;
        for (word, want) in given.iter().zip(&words) {
            match word.text() {
                Some(text) if text == *want => {}
                Some(_) => {
                    all = false;
                    break;
                }
                None => {
                    free = true;
                    all = false;
                    break;
                }
            }
        }
        if all {
            let primitive = format!("{name} {verb}");
            return Outcome::Match(Match { primitive, targets: rest_of(words.len()), possible: false });
        }
    }
    match (free, rule.free_verb) {
        (true, true) => {
            let taken = if first.text().is_none() { 1 } else { 2 };
            Outcome::Match(Match { primitive: name.to_owned(), targets: rest_of(taken), possible: true })
        }
        (true, false) => Outcome::Free,
        _ => Outcome::No,
    }
}
