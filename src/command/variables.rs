//! Variables whose values are run: `PAGER='pkill relay' git log` names a program in no command.
//!
//! A variable may be set before a command, by a prefix's own words (`env PAGER=…`), or by
//! a builtin, with whatever stands before that. Knows no verdict.

use super::analysis::UndecidedReason;
use super::engine::{Engine, Nested, Run};
use super::peel::{alias_parts, alias_value};
use super::script::Input;
use super::word::Word;

/// The builtins whose words are assignments.
pub(super) fn declares(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
}

impl Engine<'_> {
    /// A variable's value that a program runs, or that holds code for arithmetic to run.
    pub(super) fn variable(&mut self, run: &Run, name: &str, value: &Word) {
        let names = &self.catalogue.names;
        if names.code_variables.iter().any(|n| n == name) {
            let nested =
                Nested { words: std::slice::from_ref(value), by: name, child: true, own_places: false };
            self.nest(run, &nested);
        } else if names.file_variables.iter().any(|n| n == name) {
            self.undecided(UndecidedReason::UnreadableInput, run.span);
        } else if value.display().contains(['$', '`']) && self.catalogue.named_in(&value.display()) {
            self.undecided(UndecidedReason::HiddenCode, run.span);
        }
    }

    /// A word `NAME=VALUE` that sets a variable.
    pub(super) fn set_by_word(&mut self, run: &Run, word: &Word) {
        if let (Some((name, _)), Some(value)) = (alias_parts(word), alias_value(word)) {
            self.variable(run, name.trim_end_matches('+'), &value);
        }
    }

    /// The variables that a builtin sets.
    pub(super) fn set_by_builtin(&mut self, run: &Run, name: &str) {
        let words = run.words.get(1..).unwrap_or(&[]);
        match name {
            name if declares(name) => words.iter().for_each(|word| self.set_by_word(run, word)),
            "printf" => {
                let option = words.first().and_then(Word::text).unwrap_or_default();
                let Some(joined) = option.strip_prefix("-v") else { return };
                let apart = joined.is_empty();
                let variable =
                    if apart { words.get(1).and_then(Word::text) } else { Some(joined.to_owned()) };
                for value in words.get(if apart { 2 } else { 1 }..).unwrap_or(&[]) {
                    self.variable(run, variable.as_deref().unwrap_or_default(), value);
                }
            }
            "read" => self.read_in(run, words),
            _ => {}
        }
    }

    fn read_in(&mut self, run: &Run, words: &[Word]) {
        for name in words.iter().filter_map(Word::text) {
            if let Some((_, Input::Text(value))) = &run.input {
                self.variable(run, &name, value);
            } else if self.catalogue.names.code_variables.contains(&name) {
                self.undecided(UndecidedReason::UnreadableInput, run.span);
            }
        }
    }
}
