//! What a file asks of the files that it imports, the names that may stand for a command there, and what
//! it answers.

use std::collections::BTreeSet;

use super::cut::Kind;
use super::given::Given;
use super::leaves::{Leaves, given_back, identifiers, offset_in};
use super::sinks::{At, Flow, Search};
use super::stores::is_name;
use crate::data::commands::CommandCatalogue;

/// Names that are asked of other files for one file, at most.
const MOST_ASKED: usize = 256;
/// Names of things that have a method, as far as other files are told.
const MOST_OWNERS: usize = 16;

impl<'c> Search<'_, 'c> {
    /// Adds what the asked names of this file stand for, and the names under which imports bring them.
    pub(super) fn close_asks(&mut self) {
        let (leaves, bound) = (self.leaves, self.leaves.bound());
        let mut queue: Vec<&'c str> = self.asks.iter().copied().collect();
        for _ in 0..MOST_ASKED {
            let Some(name) = queue.pop() else { return };
            let mut more: Vec<&'c str> = Vec::new();
            if bound.imported.contains(name) {
                // `from k import CMD as C`: the file that is asked knows it as `CMD`.
                for place in leaves.mentions(name) {
                    let before = leaves.text[..*place].trim_end();
                    let original = before.strip_suffix(" as").map(str::trim_end).unwrap_or("");
                    let start = original.rfind(|c: char| !is_name(c)).map_or(0, |at| at + 1);
                    more.extend(leaves.text.get(start..original.len()).filter(|name| !name.is_empty()));
                }
            }
            for leaf in bound.names.get(name).into_iter().flatten() {
                let text = leaves.text_of(*leaf);
                match leaves.all[*leaf].statement.kind {
                    Kind::Simple => {
                        more.extend(
                            text.split_once('=').into_iter().flat_map(|(_, value)| identifiers(value)),
                        );
                    }
                    // What it gives back comes from its own imports, too.
                    Kind::Function => {
                        let given = given_back(text).into_iter();
                        let lines = given.filter_map(|at| Some(leaves.lines(*leaf)?.line_at(at)));
                        more.extend(lines.flat_map(identifiers).filter(|name| bound.imported.contains(name)));
                    }
                    _ => {}
                }
            }
            let of_class = bound.owners.get(name).into_iter().flatten();
            let bindings =
                of_class.flat_map(|class| bound.attributes.get(&(*class, name)).into_iter().flatten());
            for binding in bindings {
                let text = leaves.text_of(binding.leaf);
                let line = match binding.place {
                    Some(place) => leaves.lines(binding.leaf).map_or("", |lines| lines.line_at(place)),
                    None if leaves.all[binding.leaf].is_function() => "",
                    None => text,
                };
                more.extend(line.split_once('=').into_iter().flat_map(|(_, value)| identifiers(value)));
            }
            queue.extend(more.into_iter().filter(|name| self.asks.insert(name)));
        }
    }

    /// The names under which other files can have a relay: its own, or beside those of its class and
    /// of what has an object of it (`Runner.run`).
    pub(super) fn exported(&self, name: &str) -> Vec<String> {
        let leaves = self.leaves;
        let bound = leaves.bound();
        // A function or a class that hands on to one of the file's own counts; what hands on to another file's does not.
        let is_own = bound.names.contains_key(name) || bound.classes.contains_key(name);
        let counts = |flow: &Flow| flow.is_plain || is_own && flow.depth == 1 && flow.into.is_some();
        if !self.relays[name].iter().any(|at| counts(&self.flows[*at])) {
            return Vec::new();
        }
        if is_own {
            return vec![name.to_owned()];
        }
        let classes = bound.owners.get(name).into_iter().flatten();
        let owners: BTreeSet<&str> =
            classes.flat_map(|class| self.owners_of(*class).iter().copied()).collect();
        owners.into_iter().take(MOST_OWNERS).map(|owner| format!("{owner}.{name}")).collect()
    }

    /// A class, and what may have an object of it: the names that are bound where it is mentioned.
    fn owners_of(&self, class: usize) -> &[&'c str] {
        let leaves = self.leaves;
        self.owners[class].get_or_init(|| {
            let name = &leaves.text[leaves.classes[class].name.clone()];
            let of_file = |leaf: &usize| leaves.all[*leaf].class.is_none();
            let mentioning = leaves.mentions(name).iter().filter_map(|place| leaves.at(*place));
            let mentioning: BTreeSet<usize> = mentioning.filter(of_file).collect();
            let bound = mentioning.into_iter().flat_map(|leaf| leaves.bound_in(leaf)).copied();
            let owners: BTreeSet<&str> = bound.chain([name]).collect();
            owners.into_iter().take(MOST_OWNERS).collect()
        })
    }

    /// Whether a command stands on the very line of what runs it: callers add the rest of it.
    pub(super) fn brings_a_command(&self, at: usize) -> bool {
        let Flow { leaf, offset, is_plain, at, .. } = self.flows[at];
        if !is_plain || at != At::Runner {
            return false;
        }
        let start = self.leaves.all[leaf].statement.span.start;
        let line = match self.leaves.lines(leaf).filter(|_| offset >= start) {
            Some(lines) => lines.line_at(offset - start),
            None => return false,
        };
        let from = offset_in(self.leaves.text, line);
        let next = self.commands.partition_point(|place| *place < from);
        self.commands.get(next).is_some_and(|place| *place < from + line.len())
    }

    /// Whether an import brings a name, or what it is a member of.
    pub(super) fn is_imported(&self, name: &str) -> bool {
        let (leaves, bound) = (self.leaves, self.leaves.bound());
        let of_imported = |place: &usize| {
            let object = leaves.text[..*place].strip_suffix('.').unwrap_or("");
            let start = object.rfind(|c: char| !is_name(c)).map_or(0, |at| at + 1);
            bound.imported.contains(&object[start..])
        };
        leaves.has_star() || bound.imported.contains(name) || leaves.mentions(name).iter().any(of_imported)
    }

    /// Whether a name may be another file's: it is imported, or a member of something, also of an object's
    /// own where no class of the file binds it.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        let leaves = self.leaves;
        let is_inherited = !leaves.bound().owners.contains_key(name);
        leaves.has_star()
            || leaves.bound().imported.contains(name)
            || leaves.mentions(name).iter().any(|place| {
                let before = &leaves.text[..*place];
                before.ends_with('.')
                    && (is_inherited || !before.ends_with("self.") && !before.ends_with("cls."))
            })
    }
}

/// The names of a file that may stand for a command, for the files that run commands.
pub(super) fn commands_named(
    leaves: &Leaves<'_>,
    commands: &[usize],
    given: &Given,
    catalogue: &CommandCatalogue,
) -> BTreeSet<String> {
    let mut search = Search::new(leaves, commands, catalogue);
    let mut names = search.commanded(given);
    let bound = leaves.bound();
    names.retain(|name| {
        bound.names.contains_key(*name)
            || bound.owners.contains_key(*name)
            || bound.foreign.contains_key(*name)
    });
    names.into_iter().map(str::to_owned).collect()
}
