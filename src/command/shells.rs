//! Commands that run a script: where it stands (an option, a file, standard input), and how it
//! is followed. The forms themselves are the catalogue's.

use crate::base::text::Origin;
use crate::data::commands::PrefixRule;

use super::analysis::UndecidedReason;
use super::arguments::Arguments;
use super::engine::{Engine, Nested, Run};
use super::peel::Peeled;
use super::script::Input;
use super::word::{Part, Word};

impl Engine<'_> {
    /// `sh -c SCRIPT`, `sh FILE`, or a script on standard input.
    pub(super) fn shell(
        &mut self,
        run: &mut Run,
        by: &str,
        rule: &PrefixRule,
        given: &Arguments,
        words: Vec<Word>,
    ) -> Peeled {
        if given.has(&rule.string_options) {
            // A script that begins with a dash looks like an option.
            let rest = run.words.get(1..).unwrap_or(&[]);
            let after = rest.iter().position(|w| w.leading().starts_with('-') && w.leading().ends_with('c'));
            let dashed = after.and_then(|at| rest.get(at + 1)).filter(|w| {
                let text = w.leading();
                text.starts_with('-')
                    && (w.is_free() || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
            });
            if let Some(script) = dashed.cloned().as_ref().or(words.first()) {
                if Engine::is_unknown(script) || matches!(script.only(), Some(Part::Output { .. })) {
                    self.undecided(UndecidedReason::FreeText, run.span);
                } else {
                    self.risky(run, std::slice::from_ref(script));
                    let by = format!("{by} -c");
                    self.nest(
                        run,
                        &Nested {
                            words: std::slice::from_ref(script),
                            by: &by,
                            child: true,
                            own_places: false,
                        },
                    );
                }
            }
            return Peeled::Done;
        }
        match words.first() {
            None => self.standard_input(run, by),
            Some(_) if given.has_one("-s") => self.standard_input(run, by),
            Some(word) if word.text().is_some_and(|t| is_standard_input(&t)) => self.standard_input(run, by),
            Some(word) => {
                if let Some(Part::File { scene, commands }) = word.only() {
                    // `bash <(…)`: the file is what those commands print.
                    match self.constant(*scene, commands, 0) {
                        Some(text) => {
                            let script = Word::literal(text, run.span);
                            self.nest(run, &Nested { words: &[script], by, child: true, own_places: false });
                        }
                        None => self.undecided(UndecidedReason::UnreadableInput, run.span),
                    }
                } else if self.strict {
                    let word = word.clone();
                    self.script_file(run, by, &word, true);
                }
                Peeled::Done
            }
        }
    }

    /// `. FILE`: commands for this very shell.
    pub(super) fn source(&mut self, run: &mut Run, by: &str, words: Vec<Word>) -> Peeled {
        let Some(word) = words.first() else { return Peeled::Done };
        if let Some(Part::File { scene, commands }) = word.only() {
            match self.constant(*scene, commands, 0) {
                Some(text) => {
                    let script = Word::literal(text, run.span);
                    self.nest(run, &Nested { words: &[script], by, child: false, own_places: false });
                }
                None => self.undecided(UndecidedReason::UnreadableInput, run.span),
            }
        } else if word.text().is_some_and(|t| is_standard_input(&t)) {
            return self.standard_input(run, by);
        } else if self.strict {
            self.script_file(run, by, word, false);
        }
        Peeled::Done
    }

    /// `at now`, `batch`, `crontab -`: standard input, or a file, is run later.
    pub(super) fn script_input(
        &mut self,
        run: &mut Run,
        by: &str,
        given: &Arguments,
        words: &[Word],
    ) -> Peeled {
        let file = given.options.iter().find(|o| o.name == "-f").and_then(|o| o.value.clone());
        let table = by == "crontab";
        match file.or_else(|| words.first().filter(|w| table && w.text().as_deref() != Some("-")).cloned()) {
            Some(file) if !table => self.script_file(run, by, &file, true),
            Some(_) => self.undecided(UndecidedReason::UnreadableInput, run.span),
            None if table && words.is_empty() => {}
            None => match run.input.clone() {
                Some((scene, input @ (Input::Pipe(_) | Input::Text(_)))) => {
                    match self.input_text(scene, &input, 0) {
                        Some(text) if table => {
                            for line in text.lines() {
                                let command = line.splitn(6, char::is_whitespace).nth(5).unwrap_or(line);
                                let script = Word::literal(command, run.span);
                                let words = &[script];
                                self.nest(run, &Nested { words, by, child: true, own_places: false });
                            }
                        }
                        _ => return self.standard_input(run, by),
                    }
                }
                _ => return self.standard_input(run, by),
            },
        }
        Peeled::Done
    }

    /// `parallel COMMAND ::: ARGUMENT…`; without a command each argument, or each line, is one.
    pub(super) fn parallel(&mut self, run: &mut Run, by: &str, mut words: Vec<Word>) -> Peeled {
        let at = words.iter().position(|w| w.leading().starts_with(":::")).unwrap_or(words.len());
        let given: Vec<Word> = words.split_off(at).into_iter().skip(1).collect();
        if words.is_empty() && given.is_empty() {
            return self.standard_input(run, by);
        }
        let mut scripts = Vec::new();
        if words.is_empty() {
            scripts.extend(given.into_iter().map(|word| vec![word]));
        } else if given.is_empty() {
            let mut script = words;
            script.push(Word::of(Part::Free(Origin::Unknown), run.span));
            scripts.push(script);
        } else {
            scripts.extend(given.into_iter().map(|word| {
                let mut script = words.clone();
                script.push(word);
                script
            }));
        }
        for words in scripts {
            self.nest(run, &Nested { words: &words, by, child: true, own_places: false });
        }
        Peeled::Done
    }

    /// A shell that reads its script from standard input.
    pub(super) fn standard_input(&mut self, run: &mut Run, by: &str) -> Peeled {
        match run.input.clone() {
            None | Some((_, Input::Inherited)) if self.redirected => {
                self.undecided(UndecidedReason::UnreadableInput, run.span);
            }
            None | Some((_, Input::Inherited)) => {}
            // `<&3`: an open file, of which the text says nothing more.
            Some((_, Input::File(Some(word)))) if word.text().is_some_and(|t| t.parse::<u32>().is_err()) => {
                self.script_file(run, by, &word, true);
            }
            Some((_, Input::File(_))) => self.undecided(UndecidedReason::UnreadableInput, run.span),
            Some((scene, Input::Text(word))) => {
                let settled = self.settled(scene, &word);
                self.nest(run, &Nested { words: &settled, by, child: true, own_places: true });
            }
            Some((scene, input @ Input::Pipe(_))) => match self.input_text(scene, &input, 0) {
                Some(text) => {
                    let script = Word::literal(text, run.span);
                    self.nest(run, &Nested { words: &[script], by, child: true, own_places: false });
                }
                None => self.undecided(UndecidedReason::UnreadableInput, run.span),
            },
        }
        Peeled::Done
    }

    /// A word with its variables folded, where each has one value.
    fn settled(&self, scene: u32, word: &Word) -> Vec<Word> {
        let Some(scene) = self.scene(scene) else { return vec![word.clone()] };
        let mut alternatives = scene.environment.expand(word, None);
        match alternatives.pop() {
            Some(words) if alternatives.is_empty() => words,
            _ => vec![word.clone()],
        }
    }
}

/// The names under which a program's standard input can be opened, and other open files with it.
fn is_standard_input(text: &str) -> bool {
    text == "-" || text.starts_with("/dev/stdin") || text.starts_with("/dev/fd/") || text.contains("/fd/")
}
