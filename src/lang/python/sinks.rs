//! Where commands can meet what runs them, told from the text alone. A call that runs a command
//! makes a site only if a command's name can get there: from its own statement, from a name that it
//! uses, or from a caller, through any number of functions that hand on what they are given.
//! What meets nothing in its own file is kept by name, for the files that import it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::cut::{Kind, first_word};
use super::given::{Given, Hands};
use super::handed::{beside, called_with, handed, program_is_fixed};
use super::leaves::{Leaves, assigned, identifiers, is_assigned, offset_in};
use super::slice::{Names, Slice, given_names, objects_in};
use super::stores::{is_import, is_name, is_target, line_of, looped_over, segment_of, stored};
use crate::data::commands::CommandCatalogue;

/// What stands at a flow's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// A name of the catalogue, whose arguments are known.
    Runner,
    /// A name that runs what it is given.
    Named,
    /// A store of what is run elsewhere.
    Stored,
}

/// A place where a command is run, or handed to what runs it.
pub(super) struct Flow {
    pub(super) leaf: usize,
    /// From the start of the text.
    pub(super) offset: usize,
    pub(super) at: At,
    /// How many functions stand between this place and what runs.
    pub(super) depth: usize,
    /// It stands beside what runs: other files are told of the names for it.
    pub(super) is_plain: bool,
    /// The flow that this one feeds.
    pub(super) into: Option<usize>,
    /// A command can get here.
    pub(super) met: bool,
}

/// Places to choose, with the leaves that they lie in, and what the file has for others.
#[derive(Debug, Clone, Default)]
pub(super) struct Meeting {
    pub(super) places: Vec<(usize, usize)>,
    pub(super) hands: Hands,
}

/// No names of anything.
const KEYWORDS: [&str; 14] = [
    "self", "cls", "None", "True", "False", "import", "from", "as", "def", "class", "return", "if", "for",
    "in",
];

/// Functions that hand a command on to each other, at most.
const MOST_DEPTH: usize = 3;
/// Most flows that are followed in one file; beyond it each counts as met.
const MOST_FLOWS: usize = 4096;

/// Follows what runs commands (`runners`) back to those that are named (`commands`).
pub(super) fn meet<'a, 'c>(
    leaves: &'a Leaves<'c>,
    runners: &[usize],
    commands: &'a [usize],
    given: &Given,
    catalogue: &'a CommandCatalogue,
) -> Meeting {
    let mut search = Search::new(leaves, commands, catalogue);
    search.can_meet = !commands.is_empty() || !given.commands.is_empty();
    for place in runners {
        search.flow(*place, None, At::Runner);
    }
    for name in &given.runs {
        search.mentioned(name, None);
    }
    // Nothing is run here that a command could get to, and none of its names is asked for.
    if search.flows.is_empty() && given.asked.is_empty() {
        return Meeting::default();
    }
    search.commanded(given);
    search.follow();
    search.meeting(given)
}

pub(super) struct Search<'a, 'c> {
    pub(super) leaves: &'a Leaves<'c>,
    catalogue: &'a CommandCatalogue,
    /// Where commands are named, in order.
    pub(super) commands: &'a [usize],
    /// The leaves that name a command.
    pub(super) named: Vec<bool>,
    /// Names that may stand for a command.
    pub(super) commanding: FxHashSet<&'c str>,
    pub(super) flows: Vec<Flow>,
    /// Those of them that some flow is met by.
    pub(super) feeding: FxHashSet<&'c str>,
    seen: FxHashSet<usize>,
    /// Leaves all of whose names were looked at, with the flow that did.
    whole: FxHashMap<usize, usize>,
    /// The names that run what they are given, with the flows that they stand for.
    pub(super) relays: BTreeMap<&'c str, Vec<usize>>,
    /// A command is named somewhere.
    can_meet: bool,
    /// Functions that name a command, and are handed what runs one.
    pub(super) takers: BTreeSet<usize>,
    /// What unmet flows depend on.
    pub(super) asks: FxHashSet<&'c str>,
    /// For each class, the names under which others may have it or an object of it.
    pub(super) owners: Vec<OnceCell<Vec<&'c str>>>,
}

impl<'a, 'c> Search<'a, 'c> {
    pub(super) fn new(
        leaves: &'a Leaves<'c>,
        commands: &'a [usize],
        catalogue: &'a CommandCatalogue,
    ) -> Search<'a, 'c> {
        Search {
            leaves,
            catalogue,
            commands,
            named: vec![false; leaves.all.len()],
            commanding: FxHashSet::default(),
            flows: Vec::new(),
            feeding: FxHashSet::default(),
            seen: FxHashSet::default(),
            whole: FxHashMap::default(),
            relays: BTreeMap::new(),
            can_meet: false,
            takers: BTreeSet::new(),
            asks: FxHashSet::default(),
            owners: leaves.classes.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// Adds a place; one in a class's header stands for the whole class.
    fn flow(&mut self, offset: usize, into: Option<usize>, at: At) {
        if !self.seen.insert(offset) {
            return;
        }
        let leaf = match self.leaves.at(offset) {
            Some(leaf) => leaf,
            None => self.leaves.after(offset),
        };
        if leaf < self.leaves.all.len() {
            let depth = match (at, into) {
                (At::Runner, _) => 0,
                (At::Named, None) => 1,
                (At::Named, Some(into)) => {
                    let into = &self.flows[into];
                    // Another name for the same is no step.
                    let is_alias = self.leaves.all[into.leaf].statement.kind == Kind::Import;
                    into.depth + usize::from(!is_alias)
                }
                (At::Stored, into) => into.map_or(0, |into| self.flows[into].depth),
            };
            self.flows.push(Flow { leaf, offset, at, depth, is_plain: depth == 0, into, met: false });
        }
    }

    /// Adds every place that mentions a name, but where it is defined.
    fn mentioned(&mut self, name: &str, into: Option<usize>) {
        for at in 0..self.leaves.mentions(name).len() {
            let place = self.leaves.mentions(name)[at];
            if self.leaves.refers(place, name) && !self.only_names(place, name) {
                self.flow(place, into, At::Named);
            }
        }
    }

    /// Whether a name is only defined there, or stands for a type.
    fn only_names(&self, place: usize, name: &str) -> bool {
        let text = self.leaves.text;
        let before = text[..place].trim_end_matches([' ', '\t']);
        let after = text[place + name.len()..].trim_start_matches(is_name);
        let is_called = after.starts_with(['(', '.']);
        let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]).trim_start();
        let in_header = line.starts_with("def ") || line.starts_with("async def ");
        before.ends_with("def")
            || before.ends_with("class")
            || before.ends_with("except")
            || before.ends_with("->")
            || (!is_called && (in_header || before.ends_with('|')) && !before.ends_with('='))
            || (!is_called && before.ends_with(':') && is_target(line))
            // `f(stop=…)`: an argument's name.
            || (is_assigned(after) && before.trim_end().ends_with(['(', ',']))
    }

    /// Marks the leaves that name a command, and closes the names that may stand for one.
    /// Gives those that stand for one directly.
    pub(super) fn commanded(&mut self, given: &Given) -> Vec<&'c str> {
        let mut queue: Vec<&'c str> =
            given.commands.iter().filter_map(|name| self.leaves.mentioned(name)).collect();
        let mut last = None;
        for place in self.commands {
            let Some(leaf) = self.leaves.at(*place) else { continue };
            self.named[leaf] = true;
            // What stands in one string is bound together.
            let string = self.leaves.cut.quiet_at(*place).map(|quiet| quiet.range.start);
            if string.is_some() && std::mem::replace(&mut last, string) == string {
                continue;
            }
            queue.extend(self.leaves.bound_at(leaf, *place));
        }
        let direct = queue.clone();
        while let Some(name) = queue.pop() {
            if KEYWORDS.contains(&name) || !self.commanding.insert(name) {
                continue;
            }
            for place in self.leaves.mentions(name).to_vec() {
                if let Some(leaf) = self.leaves.at(place).filter(|_| !self.leaves.is_local(place, name)) {
                    queue.extend(self.leaves.bound_at(leaf, place));
                }
            }
        }
        direct
    }

    fn follow(&mut self) {
        let mut at = 0;
        while at < self.flows.len() {
            if at > MOST_FLOWS {
                self.flows.iter_mut().for_each(|flow| flow.met = true);
                return;
            }
            self.step(at);
            at += 1;
        }
    }

    /// What one flow depends on.
    fn step(&mut self, at: usize) {
        let leaves = self.leaves;
        let Flow { leaf, offset, .. } = self.flows[at];
        let statement = leaves.all[leaf].statement;
        let text = leaves.text_of(leaf);
        if statement.span.start > offset {
            // In a class's header: what its members bind.
            let class = leaves.all[leaf].class;
            let met = (leaf..leaves.all.len())
                .take_while(|at| leaves.all[*at].class == class)
                .any(|at| self.named[at]);
            self.flows[at].met = met;
            if let Some(class) = class {
                self.relay(&leaves.text[leaves.classes[class].name.clone()], at);
            }
            return;
        }
        match statement.kind {
            // `import os; os.system(…)` is more than an import.
            Kind::Import if is_import(segment_of(text, offset - statement.span.start)) => {
                // `from subprocess import run as r`.
                // The module's own name is none that is imported.
                let place = offset - statement.span.start;
                if text.starts_with("from") && !text[..place].contains("import") {
                    return;
                }
                let mut words = identifiers(&text[place..]).skip(1);
                if words.next() == Some("as")
                    && let Some(alias) = words.next()
                {
                    self.relay(alias, at);
                    self.mentioned(alias, Some(at));
                } else if let Some(word) = identifiers(&leaves.text[offset..]).next() {
                    self.relays.entry(word).or_default().push(at);
                }
            }
            Kind::Function => self.step_in_function(at),
            _ => self.step_outside(at),
        }
    }

    /// The names in the arguments of what is called at a flow; `None` where nothing is called.
    fn handed(&self, flow: &Flow) -> Option<Vec<&'c str>> {
        let text = self.leaves.text;
        let word = identifiers(&text[flow.offset..]).next().map_or(0, str::len);
        let after = text[flow.offset..].find(|c: char| !is_name(c) && c != '.').map_or(word, |n| n.max(word));
        let parts = handed(text, flow.offset + after, flow.at == At::Runner, self.catalogue)?;
        let quiet = |at: usize| {
            let quiet = self.leaves.cut.quiet_at(at)?;
            let formatted = text[..quiet.range.start].ends_with(['f', 'F', 'r', 'R', 't']);
            (quiet.is_prose || !formatted).then_some(())
        };
        // An object may keep a command that it was made with, or that stands where it comes from.
        let keeps = |name: &&'c str| self.commanding.contains(name) || self.comes_from_commands(flow, name);
        let names = parts
            .into_iter()
            .flat_map(|part| given_names(&text[part.clone()]).chain(objects_in(&text[part]).filter(keeps)));
        Some(names.filter(|name| quiet(offset_in(text, name)).is_none()).collect())
    }

    /// Of a module's own code, or of a class's.
    fn step_outside(&mut self, at: usize) {
        let leaves = self.leaves;
        let Flow { leaf, offset, .. } = self.flows[at];
        let statement = leaves.all[leaf].statement;
        let text = leaves.text_of(leaf);
        let handed = self.handed(&self.flows[at]);
        // Functions in it may take the command as a parameter.
        let defines = text.contains("lambda") || text.contains("def ");
        let used = match &handed {
            Some(names) if !defines => Cow::Owned(looped_over(text, names.iter().copied().collect())),
            _ => Cow::Borrowed(leaves.names_of(leaf)),
        };
        // What is true of all its names is true once.
        let is_whole = matches!(used, Cow::Borrowed(_));
        let same = self.whole.get(&leaf).copied().filter(|_| is_whole);
        let met = match same {
            Some(same) => self.flows[same].met,
            None => self.feed(&used) || self.named[leaf],
        };
        let met = met | (handed.is_none() && self.is_taken(text, offset - statement.span.start));
        if is_whole {
            self.whole.entry(leaf).or_insert(at);
        }
        self.flows[at].met = met;
        if handed.is_none() || defines {
            let mut names = stored(line_of(text, offset - statement.span.start));
            names.extend(leaves.defined_in(leaf));
            for name in names {
                self.relay(name, at);
            }
        }
        let is_asked = same.is_some_and(|same| self.flows[same].is_plain || !self.flows[at].is_plain);
        if !met && !is_asked {
            self.ask(at, &used);
        }
    }

    fn step_in_function(&mut self, at: usize) {
        let leaves = self.leaves;
        let flow = &self.flows[at];
        let (leaf, place) = (flow.leaf, flow.offset - leaves.all[flow.leaf].statement.span.start);
        let (statement, class) = (leaves.all[leaf].statement, leaves.all[leaf].class);
        let text = leaves.text_of(leaf);
        let is_store = flow.at == At::Stored;
        let handed = if is_store { None } else { self.handed(flow) };
        if handed.as_ref().is_some_and(Vec::is_empty) {
            self.flows[at].met = self.named[leaf];
            return;
        }
        let line = leaves.lines(leaf).map_or("", |lines| lines.line_at(place));
        let is_fixed = |value: &str| program_is_fixed(value, self.catalogue);
        let is_value = handed.is_none() && !is_store;
        // The default of a parameter is what the parameter stands for.
        let is_default = || leaves.lines(leaf).is_some_and(|lines| lines.is_default(place));
        let is_alias = is_value && (assigned(line, false).len() == 1 || is_default());
        let behind = match (leaves.lines(leaf), &handed) {
            (Some(lines), Some(handed)) => Some(lines.behind(handed.iter().copied(), &is_fixed)),
            // What is run under a name of the function's own is run anywhere in it.
            (Some(lines), None) if !is_alias => {
                let value = if is_store {
                    line.split_once('=').map_or(line, |(_, value)| value)
                } else {
                    beside(line, place.saturating_sub(offset_in(text, line)))
                };
                Some(lines.behind(given_names(value), &is_fixed))
            }
            _ => None,
        };
        // A function inside hands on what it is given.
        let is_given_inside =
            |names: &Names<'c>| leaves.lines(leaf).is_none_or(|lines| lines.is_given_inside(&names.used));
        let some = behind.filter(|names| !is_given_inside(names));
        let everything = some.is_none();
        if everything {
            // What is true of all its names is true once.
            if let Some(same) = self.whole.get(&leaf) {
                self.flows[at].met = self.flows[*same].met;
                for flows in self.relays.values_mut().filter(|flows| flows.contains(same)) {
                    flows.push(at);
                }
                return;
            }
            self.whole.insert(leaf, at);
            self.flows[at].is_plain &= !is_alias;
        }
        let names = some.unwrap_or_else(|| Names::all(leaves.names_of(leaf)));
        let is_named =
            self.named[leaf] && (everything || is_store || self.is_named_behind(leaf, place, &names));
        let in_line = place.saturating_sub(offset_in(text, line));
        let taker = is_value && self.is_taken(line, in_line);
        self.flows[at].met = self.feed(&names.used) || is_named || taker;
        // What stores or gives back what runs commands is one more name for it.
        if is_value && is_default() {
            let kept = leaves.lines(leaf).map_or_else(Vec::new, |lines| lines.kept_of_default(place));
            kept.into_iter().for_each(|name| self.relay(name, at));
        }
        if is_value {
            for name in stored(line).into_iter().filter(|name| line.contains(&format!(".{name}"))) {
                self.relay(name, at);
            }
        }
        let gives = is_value && (matches!(first_word(line), "return" | "yield") || line.contains("yield "));
        let own = &leaves.text[statement.name.clone()];
        let hands_on = names.by_parameter || gives;
        if hands_on {
            self.relay(own, at);
        }
        if let Some(class) = class {
            let class_name = &leaves.text[leaves.classes[class].name.clone()];
            if hands_on && own.starts_with("__") {
                self.relay(class_name, at);
            }
            // What the object keeps was given to it where it is stored; a class of another file may bind
            // what this one only reads.
            let bound = leaves.bound();
            let (mut inherits, mut is_field) = (false, false);
            let own_members = leaves.lines(leaf).map(Slice::own_members);
            let looked_up = leaves.lines(leaf).into_iter().flat_map(Slice::looked_up);
            let asked: FxHashSet<&'c str> = names.used.iter().copied().chain(looked_up).collect();
            for name in &asked {
                if !own_members.is_none_or(|own| own.contains(name)) {
                    continue;
                }
                let classes = std::iter::once(class).chain(bound.kin[class].iter().copied());
                let mut found = false;
                for binding in
                    classes.flat_map(|class| bound.attributes.get(&(class, *name)).into_iter().flatten())
                {
                    found = true;
                    if let Some(stored) = binding.place {
                        self.flow(leaves.all[binding.leaf].span().start + stored, Some(at), At::Stored);
                    }
                    is_field |= leaves.is_field(binding.leaf);
                }
                inherits |= !found;
                self.flows[at].met |= self.commanding.contains(name)
                    || *name == "value" && !found && self.is_enumeration_of_commands(class);
            }
            if (inherits || is_field) && self.can_meet {
                self.relay(class_name, at);
            }
            if is_field && self.can_meet {
                // What makes an object of a class below gives the field as well.
                for kin in bound.kin[class].iter().copied() {
                    self.relay(&leaves.text[leaves.classes[kin].name.clone()], at);
                }
            }
        }
        if !self.flows[at].met && handed.is_some() && !everything {
            self.ask(at, &names.used);
        }
    }

    /// Whether what runs commands is handed to a function that names one itself (`through(os.system)`): such a
    /// function is looked at.
    fn is_taken(&mut self, line: &'c str, place: usize) -> bool {
        let Some(name) = called_with(line, place) else { return false };
        let (leaves, bound) = (self.leaves, self.leaves.bound());
        let of_classes = bound.owners.get(name).into_iter().flatten();
        let methods =
            of_classes.flat_map(|class| bound.attributes.get(&(*class, name)).into_iter().flatten());
        let functions = bound.names.get(name).into_iter().flatten().copied();
        let takers = functions.chain(methods.map(|binding| binding.leaf));
        let named: Vec<usize> =
            takers.filter(|leaf| leaves.all[*leaf].is_function() && self.named[*leaf]).collect();
        self.takers.extend(&named);
        !named.is_empty() || self.commanding.contains(name)
    }

    /// Where commands are named in a leaf.
    pub(super) fn commands_in(&self, leaf: usize) -> impl Iterator<Item = usize> {
        let span = self.leaves.all[leaf].span();
        let first = self.commands.partition_point(|command| *command < span.start);
        self.commands[first..].iter().copied().take_while(move |command| *command < span.end)
    }

    /// What a flow depends on may be another file's: all of it where it stands beside what runs, constants
    /// that are imported where it is handed to what runs them.
    fn ask(&mut self, at: usize, names: &FxHashSet<&'c str>) {
        if self.flows[at].is_plain {
            self.asks.extend(names);
        } else {
            let is_constant = |name: &str| name.starts_with(char::is_uppercase);
            let imported = names.iter().filter(|name| is_constant(name) && self.is_imported(name));
            self.asks.extend(imported.copied().collect::<Vec<_>>());
        }
    }

    /// Whether one of some names may stand for a command: all that do feed a flow.
    fn feed(&mut self, names: &FxHashSet<&'c str>) -> bool {
        let mut fed = false;
        for name in names.iter().filter(|name| self.commanding.contains(*name)) {
            self.feeding.insert(name);
            fed = true;
        }
        fed
    }

    /// Whether a class is an enumeration of which a member is a command.
    fn is_enumeration_of_commands(&self, class: usize) -> bool {
        self.leaves.is_enumeration(class) && self.leaves.members(class).any(|leaf| self.named[leaf])
    }

    /// Whether a command is named on the line of a flow, or on one that binds what it is given.
    pub(super) fn is_named_behind(&self, leaf: usize, place: usize, names: &Names<'c>) -> bool {
        let Some(lines) = self.leaves.lines(leaf).filter(|lines| !lines.defines_inside()) else {
            return true;
        };
        let start = self.leaves.all[leaf].span().start;
        self.commands_in(leaf).any(|command| lines.feeds(command - start, place, names))
    }

    /// A name stands for a flow: what mentions it feeds it.
    fn relay(&mut self, name: &'c str, at: usize) {
        if name.is_empty() || KEYWORDS.contains(&name) || self.flows[at].depth >= MOST_DEPTH {
            return;
        }
        let known = self.relays.entry(name).or_default();
        if known.contains(&at) {
            return;
        }
        known.push(at);
        // One feeder feeds all that a name stands for. Without a command in the file, functions that hand on
        // to what runs are still told to others.
        let is_told = |search: &Self| {
            let bound = search.leaves.bound();
            search.flows[at].depth == 0 && (bound.names.contains_key(name) || bound.owners.contains_key(name))
        };
        if known.len() == 1 && (self.can_meet || is_told(self)) {
            self.mentioned(name, Some(at));
        }
    }
}
