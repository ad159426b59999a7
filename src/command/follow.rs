//! One command on its way: prefixes off, then the catalogue, then what an `exec` hands over.

use crate::base::effect::Effect;
use crate::base::text::Origin;
use crate::data::commands::version_stem;

use super::action::Action;
use super::analysis::{Found, UndecidedReason};
use super::engine::{Engine, Nested, Run};
use super::own;
use super::peel::Peeled;
use super::word::{Part, Word};

/// How many words of one command are looked at.
const MAX_WORDS: usize = 4096;
/// How many prefixes may stand in a row.
const MAX_PREFIXES: usize = 64;

impl Engine<'_> {
    /// Follows a command's words to what they do.
    pub(super) fn follow(&mut self, mut run: Run) {
        if run.words.len() > MAX_WORDS {
            self.undecided(UndecidedReason::TooLarge, run.span);
            run.words.truncate(MAX_WORDS);
        }
        let start = self.analysis.found.len();
        let mut hops = 0;
        while self.hop(&mut run) {
            hops += 1;
            if hops >= MAX_PREFIXES {
                self.undecided(UndecidedReason::TooLarge, run.span);
                break;
            }
        }
        if run.exec && self.analysis.found.len() == start && !run.words.is_empty() {
            let launcher = !own::starts_own_script(&run.words, self);
            self.push(&run, Effect::Replace, "exec".to_owned(), launcher, Vec::new(), false);
        }
    }

    /// One step: true if a prefix came off and there is more to look at.
    fn hop(&mut self, run: &mut Run) -> bool {
        let Some(first) = run.words.first().cloned() else { return false };
        if !self.context.is_script && own::is_respawn(&run.words, self) {
            self.push(run, Effect::Respawn, String::new(), false, Vec::new(), false);
            return false;
        }
        let Some(name) = program_name(&first) else {
            let harmless =
                matches!(first.origin(), Some(Origin::Interpreter | Origin::OwnScript | Origin::OwnProgram));
            if !harmless {
                self.undecided(UndecidedReason::FreeCommand, run.span);
            }
            return false;
        };
        if !run.prefixed && self.expand_definition(run, &name) {
            return false;
        }
        let stem = version_stem(&name).to_owned();
        if self.strict && is_pattern(&first) {
            self.undecided(UndecidedReason::FreeCommand, run.span);
            return false;
        }
        self.evaluated(run, &name);
        if self.strict {
            self.set_by_builtin(run, &name);
        }
        let held = self.inline(run, &stem);
        // A linter takes a program of another folder than the system's for one of its own.
        let acted = (self.strict || in_command_folder(&first)) && self.classify(run, &name);
        let catalogue = self.catalogue;
        for rule in catalogue.prefixes(&name).chain(catalogue.prefixes(&stem).filter(|_| stem != name)) {
            if rule.guard_only && !self.strict {
                continue;
            }
            match self.peel(run, &name, rule) {
                Peeled::Words(words) => {
                    run.words = words;
                    return true;
                }
                Peeled::Done => return false,
                Peeled::No => {}
            }
        }
        if self.strict && !acted && !held {
            let interpreter = self.catalogue.is_interpreter(&name).then_some(stem.as_str());
            self.program_file(run, interpreter);
            if !self.tasks(run, &name)
                || self
                    .catalogue
                    .speaks_of_ending(&run.words.iter().map(Word::display).collect::<Vec<_>>().join(" "))
            {
                self.unmodelled(run, &name);
            }
        }
        false
    }

    /// A function of the text shadows a command (its body is looked at where it stands);
    /// an alias stands for its value.
    fn expand_definition(&mut self, run: &Run, name: &str) -> bool {
        let Some(scene) = self.scene(run.scene).cloned() else { return false };
        let plain = run.words.first().and_then(Word::text).as_deref() == Some(name);
        if !plain {
            return false;
        }
        if scene.functions.contains(name) {
            return true;
        }
        let by = format!("alias {name}");
        if run.nested_in.contains(&by) {
            return false;
        }
        let Some(value) = scene.aliases.get(name).cloned() else { return false };
        let mut words = vec![value];
        words.extend(run.words.iter().skip(1).cloned());
        self.nest(run, &Nested { words: &words, by: &by, child: false, own_places: false });
        true
    }

    /// Notes an action.
    pub(super) fn push(
        &mut self,
        run: &Run,
        effect: Effect,
        primitive: String,
        launcher: bool,
        aims: Vec<super::analysis::Aim>,
        whole: bool,
    ) {
        let action = Action {
            effect,
            primitive,
            target: aims.first().map(|a| a.target.clone()),
            words: run.words.iter().map(Word::display).collect(),
            span: run.span,
            nested_in: run.nested_in.clone(),
            confidence: run.confidence,
            launcher,
            function: run.function.clone(),
        };
        self.analysis.found.push(Found { action, aims, whole, remote: run.remote.clone() });
    }
}

/// Whether the shell takes a program word for a pattern of file names, or makes several words of it.
fn is_pattern(word: &Word) -> bool {
    let text = word.text().unwrap_or_default();
    let reserved = matches!(text.as_str(), "[" | "[[" | "{" | "}" | "{}" | "!" | "?" | "*");
    !reserved && text.contains(['*', '?', '[', '{', '`'])
}

/// The name of a program word: the last path component, without `.exe` and its like.
pub(super) fn program_name(word: &Word) -> Option<String> {
    let text = match word.text() {
        Some(text) => text,
        // `$prefix/bin/pkill`: the folder is not known, the program is.
        None => match word.parts.last().map(|p| &p.part) {
            Some(Part::Literal(tail)) if tail.contains('/') => tail.clone(),
            _ => return None,
        },
    };
    let name = text.rsplit(['/', '\\']).next().unwrap_or(&text);
    let lower = name.to_ascii_lowercase();
    let cut = [".exe", ".cmd", ".bat", ".com"].iter().find(|s| lower.ends_with(*s)).map_or(0, |s| s.len());
    let name = name.get(..name.len() - cut).unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Whether a program word has no folder, or one that holds commands (`bin`, `sbin`, `.bin`), or one
/// that is not known.
fn in_command_folder(word: &Word) -> bool {
    let text = word.display().replace('\\', "/");
    let Some((folder, _)) = text.rsplit_once('/') else { return true };
    let last = folder.rsplit('/').next().unwrap_or(folder);
    last.ends_with("bin") || last.contains('…') || last.eq_ignore_ascii_case("system32") || last.contains('$')
}
