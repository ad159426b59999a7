//! Tasks of a project that a command line runs: `make restart`, `npm run build`.
//!
//! A task whose definition was given is a script. Of another one only the name is known: one
//! that speaks of ending something is undecided, any other is taken for what it says.

use super::action::Runs;
use super::analysis::UndecidedReason;
use super::arguments::{self, Reading};
use super::engine::{Engine, Nested, Run};
use super::script_file::join;
use super::word::Word;

impl Engine<'_> {
    /// Follows the tasks that a program runs; false if it is none that runs tasks.
    pub(super) fn tasks(&mut self, run: &Run, name: &str) -> bool {
        let catalogue = self.catalogue;
        let Some(rule) = catalogue.task(name) else { return false };
        let rest = run.words.get(1..).unwrap_or(&[]);
        let takes: Vec<String> = rule
            .value_options
            .iter()
            .chain(&rule.file_options)
            .chain(&rule.folder_options)
            .cloned()
            .collect();
        let given = arguments::read(rest, &Reading { value_options: &takes, ..Reading::default() });
        if given.has(&rule.file_options) || self.makes(&rule.files) {
            self.undecided(UndecidedReason::UnreadableInput, run.span);
            return true;
        }
        let mut words: Vec<&Word> = given.operands.iter().collect();
        if !rule.verbs.is_empty() {
            let first = words.first().and_then(|w| w.text()).unwrap_or_default();
            if rule.verbs.contains(&first) {
                words.remove(0);
                words.truncate(1);
            } else if rule.tasks.contains(&first) || rule.bare && catalogue.speaks_of_ending(&first) {
                words.truncate(1);
            } else {
                return false;
            }
        }
        let moved = given.values(&rule.folder_options).next().map(|(_, w)| w.text());
        let folder = match (&self.folder, moved) {
            (Some(folder), None) => Some(folder.clone()),
            (Some(folder), Some(Some(to))) if !to.starts_with(['/', '~']) => Some(join(folder, &to)),
            _ => None,
        };
        let plain: Vec<&Word> = words.into_iter().filter(|w| !w.leading().contains('=')).collect();
        if plain.is_empty() {
            self.task(run, name, folder.as_deref(), String::new());
        }
        for word in plain {
            match word.text() {
                Some(task) => self.task(run, name, folder.as_deref(), task),
                None => self.undecided(UndecidedReason::FreeText, run.span),
            }
        }
        true
    }

    fn task(&mut self, run: &Run, runner: &str, folder: Option<&str>, task: String) {
        let by = format!("{runner} {task}");
        if run.nested_in.contains(&by) {
            return;
        }
        let speaks = self.catalogue.speaks_of_ending(&task);
        if let Some(folder) = folder.filter(|_| run.remote.is_none()) {
            let runs = Runs::Task { runner: runner.to_owned(), folder: folder.to_owned(), name: task };
            if let Some(text) = self.context.scripts.get(&runs).cloned() {
                let script = Word::literal(text, run.span);
                self.nest(run, &Nested { words: &[script], by: &by, child: true, own_places: false });
                return;
            }
            self.analysis.wanted.push(runs);
        }
        if speaks {
            self.undecided(UndecidedReason::Task, run.span);
        }
    }
}
