//! Chooses the statements of a file that can matter: those with a telling word, and those that
//! bind a name which they use. What is left out is known by name, so that it still shadows.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::asks::commands_named;
use super::cut::{Cut, Kind};
use super::given::{Given, Hands};
use super::hints::{Hints, Hit, Weight};
use super::leaves::{Binding, Leaves, assigned, given_back, identifiers, is_assigned, parameters_called};
use super::lookups::{self, Lookups};
use super::sinks::{Meeting, meet};
use super::slice::{FILLS, Names, Seeds};
use crate::data::commands::CommandCatalogue;

/// A definition larger than this is not read only because its name is mentioned.
const LARGEST_MENTIONED: usize = 16 << 10;
/// Mentions of a function that are looked at for what it is given.
const MOST_CALLERS: usize = 32;
/// A definition this small is read whenever its name is used.
const SMALL: usize = 512;

/// What is to be parsed of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Byte ranges in order; whole lines.
    pub ranges: Vec<Range<usize>>,
    /// Names that top-level statements outside the ranges bind, in order.
    pub skipped: Vec<Range<usize>>,
}

/// What is to be parsed of a file, and what it follows from.
#[derive(Debug)]
pub enum Choice {
    /// Nothing can matter.
    Nothing,
    /// It begins with what another one began with: the pieces are the same.
    Same,
    /// These pieces.
    Of {
        /// The pieces.
        selection: Selection,
        /// A fingerprint of what tells them: the rest follows from the text.
        begun: u64,
    },
}

/// What is chosen of a leaf.
#[derive(Debug, Clone, Default, Hash)]
struct Chosen {
    chosen: bool,
    runs: bool,
    /// What makes it count, as offsets into its text.
    seeds: Seeds,
    /// All of it counts.
    whole: bool,
    /// Its values decide what the site is (a pid): those that its callers give count too.
    decides: bool,
    /// Whether a value of it holds decides whether there is a site: whoever may change one counts too.
    tested: bool,
}

impl Chosen {
    fn choose_whole(&mut self) {
        self.chosen = true;
        self.whole = true;
    }

    /// Grows with each choice.
    fn weight(&self) -> (bool, bool, bool, bool, bool, usize) {
        (self.chosen, self.runs, self.whole, self.decides, self.tested, self.seeds.lines.len())
    }
}

/// A file of which pieces are chosen, as often as more is known of its names.
pub struct Pieces<'c> {
    leaves: Leaves<'c>,
    hints: &'c Hints,
    hits: Vec<Hit>,
    catalogue: &'c CommandCatalogue,
    /// What was met last, and for which names.
    met: RefCell<Option<Met>>,
}

/// Where commands and what runs them met in a file, for the next time that it is read.
#[derive(Debug, Clone)]
pub struct Met {
    /// A fingerprint of the names that others told.
    of: u64,
    meeting: Arc<Meeting>,
}

impl Met {
    /// What the file has for others, if these names were told.
    pub fn hands(&self, given: &Given) -> Option<&Hands> {
        (self.of == Met::fingerprint(given)).then_some(&self.meeting.hands)
    }

    /// The names that merely matter have no part in it.
    fn fingerprint(given: &Given) -> u64 {
        FxBuildHasher.hash_one((&given.runs, &given.commands, &given.asked))
    }
}

impl<'c> Pieces<'c> {
    /// A text, cut into statements, with the words that were found in it.
    pub fn new(
        text: &'c str,
        cut: &'c Cut,
        hints: &'c Hints,
        hits: &[Hit],
        catalogue: &'c CommandCatalogue,
    ) -> Pieces<'c> {
        let leaves = Leaves::new(text, cut);
        let hits = code_hits(&leaves, hits);
        Pieces { leaves, hints, hits, catalogue, met: RefCell::default() }
    }

    /// With what was met in the text before.
    #[must_use]
    pub fn remembering(self, met: Option<Met>) -> Pieces<'c> {
        self.met.replace(met);
        self
    }

    /// The text's statements.
    pub fn cut(&self) -> &'c Cut {
        self.leaves.cut
    }

    /// What was met last.
    pub fn met(&self) -> Option<Met> {
        self.met.borrow().clone()
    }

    /// Chooses what to parse, and tells what the file has for others. `before` is what an earlier choice
    /// began with.
    pub fn choose(&self, given: &Given, before: Option<u64>) -> (Choice, Hands) {
        let meeting = self.meeting(given);
        let hands = meeting.hands.clone();
        let mut chooser = Chooser {
            pieces: self,
            text: self.leaves.text,
            leaves: &self.leaves,
            chosen: vec![Chosen::default(); self.leaves.all.len()],
        };
        chooser.by_words(&meeting.places, given);
        if given.hands_on {
            chooser.by_imports();
        }
        if !chooser.chosen.iter().any(|l| l.chosen) {
            return (Choice::Nothing, hands);
        }
        let begun = FxBuildHasher.hash_one(&chooser.chosen);
        if before == Some(begun) {
            return (Choice::Same, hands);
        }
        chooser.by_names();
        (Choice::Of { selection: chooser.selection(), begun }, hands)
    }

    /// What the file has for others.
    pub fn hands(&self, given: &Given) -> Hands {
        self.meeting(given).hands.clone()
    }

    /// Where commands and what runs them meet.
    fn meeting(&self, given: &Given) -> Arc<Meeting> {
        let mut last = self.met.borrow_mut();
        let of = Met::fingerprint(given);
        if let Some(met) = last.as_ref().filter(|met| met.of == of) {
            return Arc::clone(&met.meeting);
        }
        let places = |weight| self.hits.iter().filter(move |h| h.weight == weight).map(|h| h.offset);
        let runners: Vec<usize> = places(Weight::Runner).collect();
        let mut commands: Vec<usize> = places(Weight::Company).collect();
        commands.sort_unstable();
        let meeting = Arc::new(meet(&self.leaves, &runners, &commands, given, self.catalogue));
        *last = Some(Met { of, meeting: Arc::clone(&meeting) });
        meeting
    }

    /// The names that may stand for a command, for the files that run one.
    pub fn commands(&self, given: &Given) -> BTreeSet<String> {
        let mut commands: Vec<usize> =
            self.hits.iter().filter(|h| h.weight == Weight::Company).map(|h| h.offset).collect();
        commands.sort_unstable();
        commands_named(&self.leaves, &commands, given, self.catalogue)
    }
}

/// The hits that stand in code, and in strings those that name something: a name in quotes, a part of
/// a command, code in braces. All of them where the file runs texts as code.
fn code_hits(leaves: &Leaves<'_>, hits: &[Hit]) -> Vec<Hit> {
    let text = leaves.text;
    let counts = |hit: &&Hit| {
        let Some(quiet) = leaves.cut.quiet_at(hit.offset) else { return true };
        let string = &text[quiet.range.clone()];
        let in_quotes = text[..hit.offset].ends_with(['"', '\'']);
        let formatted =
            text[..quiet.range.start].ends_with(['f', 'F', 'r', 'R', 't']) && string.contains('{');
        !quiet.is_prose && (hit.weight == Weight::Company || in_quotes || formatted || leaves.runs_texts())
    };
    hits.iter().filter(counts).copied().collect()
}

struct Chooser<'a, 'c> {
    pieces: &'a Pieces<'c>,
    text: &'c str,
    leaves: &'a Leaves<'c>,
    chosen: Vec<Chosen>,
}

impl<'c> Chooser<'_, 'c> {
    /// Chooses a leaf for what stands at an offset.
    fn choose(&mut self, at: usize, offset: usize) {
        let start = self.leaves.all[at].statement.span.start;
        let leaf = &mut self.chosen[at];
        leaf.chosen = true;
        // In a class's header: its first member stands for it.
        match offset.checked_sub(start) {
            Some(line) if !leaf.seeds.lines.contains(&line) => leaf.seeds.lines.push(line),
            Some(_) => {}
            None => leaf.whole = true,
        }
    }

    /// What an import brings is handed on by the import alone.
    fn by_imports(&mut self) {
        for (leaf, chosen) in self.leaves.all.iter().zip(&mut self.chosen) {
            if leaf.statement.kind == Kind::Import && leaf.class.is_none() {
                chosen.choose_whole();
            }
        }
    }

    fn by_words(&mut self, run: &[(usize, usize)], given: &Given) {
        for (at, offset) in run.iter().copied() {
            self.choose(at, offset);
            self.chosen[at].runs = true;
        }
        let mut lookups = Vec::new();
        let mut arguments = Vec::new();
        for Hit { offset, weight } in self.pieces.hits.iter().copied() {
            let Some(at) = self.leaves.at(offset) else {
                if matches!(weight, Weight::Strong | Weight::Plain)
                    && let Some(leaf) = self.chosen.get_mut(self.leaves.after(offset))
                {
                    leaf.choose_whole();
                }
                continue;
            };
            match weight {
                Weight::Strong => {
                    self.choose(at, offset);
                    self.chosen[at].decides = true;
                }
                Weight::Plain => {
                    let start = self.leaves.all[at].statement.span.start;
                    self.chosen[at].chosen = true;
                    self.chosen[at].seeds.names.push(offset - start);
                }
                Weight::Lookup => lookups.push((at, offset)),
                Weight::Argument => arguments.push((at, offset)),
                // Commands and what runs them are held against each other beforehand.
                Weight::Runner | Weight::Company => {}
            }
        }
        let Lookups { wholes, places } = lookups::counting(self.leaves, self.pieces.hints, &lookups);
        wholes.into_iter().for_each(|at| self.chosen[at].choose_whole());
        places.into_iter().for_each(|(at, offset)| self.choose(at, offset));
        for (at, offset) in arguments {
            let kept = self.leaves.all[at].statement.kind == Kind::Simple;
            let may = |name: &str| self.pieces.hints.takes_arguments(name);
            if kept || identifiers(self.leaves.text_of(at)).any(may) {
                self.choose(at, offset);
                self.chosen[at].tested = true;
            }
        }
        let mut named = self.filled_names();
        named.extend(given.values.iter().chain(&given.tested).cloned());
        let mut waiting: Vec<String> = named.iter().cloned().collect();
        let mut bound: FxHashSet<usize> = FxHashSet::default();
        while let Some(name) = waiting.pop() {
            for place in self.leaves.mentions(&name).to_vec() {
                if let Some(at) = self.leaves.at(place).filter(|_| self.leaves.refers(place, &name)) {
                    self.choose(at, place);
                    // `from lib import stop as s`, `self.end = lib.stop`: its uses are those of `s` and `end`.
                    // One statement binds the same names whichever of them stands there.
                    if self.leaves.is_one_statement(at) && !bound.insert(at) {
                        continue;
                    }
                    for other in self.leaves.aliases_at(at, place) {
                        if named.insert(other.to_owned()) {
                            waiting.push(other.to_owned());
                        }
                    }
                }
            }
        }
    }

    /// Names that a telling statement of the top level fills: `l.append(os._exit)`, `setattr(A, …)`,
    /// `d["x"] = os._exit`, `api.swap = os.execv`.
    fn filled_names(&self) -> FxHashSet<String> {
        let mut names = FxHashSet::default();
        for (at, leaf) in self.leaves.all.iter().enumerate() {
            if !self.chosen[at].chosen || leaf.class.is_some() || leaf.statement.kind != Kind::Simple {
                continue;
            }
            let slice = self.leaves.text_of(at);
            let stores = assigned(slice, true);
            if !stores.is_empty() || slice.contains("] =") || slice.contains("]=") {
                names.extend(identifiers(slice).next());
                names.extend(stores);
            } else if slice.contains("setattr(") || FILLS.iter().any(|fill| slice.contains(fill)) {
                names.extend(identifiers(slice).filter(|n| *n != "setattr").take(1));
            }
        }
        names.retain(|name| !self.pieces.hints.is_module(name));
        names.into_iter().map(str::to_owned).collect()
    }

    /// Adds what binds the names that chosen statements use.
    fn by_names(&mut self) {
        let (leaves, hints) = (self.leaves, self.pieces.hints);
        // Imports are short, a star import may bind any name, and where the first foreign one stands decides
        // what runs before it.
        self.by_imports();
        let bound = leaves.bound();
        let mut queue: Vec<usize> = (0..self.chosen.len()).filter(|at| self.chosen[*at].chosen).collect();
        let mut headers = FxHashSet::default();
        let mut families: FxHashSet<usize> = FxHashSet::default();
        // What a name stands for is the same question for all that ask it alike.
        let mut asked = FxHashSet::default();
        let mut asked_of_conditions = FxHashSet::default();
        while let Some(at) = queue.pop() {
            let (class, runs) = (leaves.all[at].class, self.chosen[at].runs);
            let Names { used: mut names, conditions, by_parameter, member_of_parameter } = self.wanted_by(at);
            let (decides, tested) = (self.chosen[at].decides, self.chosen[at].tested);
            if tested {
                queue.extend(self.choose_stores(at, &names));
            }
            // What is given to a parameter may be the module whose member this is.
            if decides && by_parameter || member_of_parameter {
                queue.extend(self.choose_callers(at));
            }
            if let Some(class) = class
                && headers.insert(class)
            {
                names.extend(identifiers(&self.text[leaves.classes[class].head.clone()]));
                // A class below has its members, and may be had by its own name alone.
                for first in bound.kin[class].iter().filter_map(|kin| leaves.members(*kin).next()) {
                    if leaves.all[first].span().len() <= SMALL && !self.chosen[first].chosen {
                        self.chosen[first].choose_whole();
                        queue.push(first);
                    }
                }
            }
            let mut wanted = Vec::new();
            // What is read of a class by its name (`Commands.STOP`).
            let classes = names.iter().flat_map(|name| bound.classes.get(name).into_iter().flatten());
            let large = classes.filter(|class| leaves.classes[**class].span.len() > SMALL);
            let large = large.copied().collect::<Vec<usize>>();
            // What objects are made with is told by the order of their fields.
            let families = large.iter().copied().chain(class).filter(|class| families.insert(*class));
            for leaf in families.flat_map(|class| leaves.fields(class)) {
                wanted.push((Binding { leaf, place: None }, false));
            }
            // Any member of an enumeration has the `value` that is read.
            let any_member = |class: usize| names.contains("value") && leaves.is_enumeration(class);
            for class in large.iter().copied().chain(class).filter(|class| any_member(*class)) {
                let plain = leaves.members(class).filter(|leaf| !leaves.all[*leaf].is_function());
                wanted.extend(plain.map(|leaf| (Binding { leaf, place: None }, false)));
            }
            for class in large {
                let of = names.iter().flat_map(|name| bound.attributes.get(&(class, *name)));
                let plain = of.flatten().filter(|b| b.place.is_none() && !leaves.all[b.leaf].is_function());
                wanted.extend(plain.map(|binding| (*binding, false)));
            }
            for name in names {
                let member_of = class.filter(|_| leaves.has_member(at, name));
                if !asked.insert((name, member_of, runs, decides, tested)) {
                    continue;
                }
                for other in bound.names.get(name).into_iter().flatten() {
                    let statement = leaves.all[*other].statement;
                    let is_definition = matches!(statement.kind, Kind::Function | Kind::Class);
                    let small = statement.span.len() <= LARGEST_MENTIONED;
                    let tiny = statement.span.len() <= SMALL;
                    let gives =
                        || runs || hints.is_known(name) || hints.makes_a_child(leaves.text_of(*other));
                    if !is_definition || tiny || (small && gives()) {
                        wanted.push((Binding { leaf: *other, place: None }, runs && is_definition));
                    }
                }
                let stored = bound.foreign.get(name).into_iter().flatten();
                wanted.extend(stored.map(|binding| (*binding, false)));
                // A small class is read as a whole.
                for class in bound.classes.get(name).into_iter().flatten() {
                    if leaves.classes[*class].span.len() <= SMALL {
                        for leaf in leaves.members(*class) {
                            wanted.push((Binding { leaf, place: None }, false));
                            // What its objects keep may be the child that is ended.
                            if decides && !self.chosen[leaf].whole {
                                self.chosen[leaf].choose_whole();
                                queue.push(leaf);
                            }
                        }
                    }
                }
                if let Some(class) = member_of {
                    let of = |class: usize| bound.attributes.get(&(class, name)).into_iter().flatten();
                    wanted.extend(of(class).map(|binding| (*binding, false)));
                    // Attributes that a class above or below binds in the file.
                    for base in bound.kin[class].iter().copied() {
                        wanted.extend(of(base).map(|binding| (*binding, false)));
                    }
                }
            }
            // Conditions are held against what names stand for, not against what functions give.
            let is_new = |name: &&'c str| asked_of_conditions.insert((*name, class, decides, tested));
            for name in conditions.into_iter().filter(is_new) {
                let of_class =
                    class.and_then(|class| bound.attributes.get(&(class, name))).into_iter().flatten();
                let of_file = bound.names.get(name).into_iter().flatten();
                let bindings =
                    of_file.map(|leaf| Binding { leaf: *leaf, place: None }).chain(of_class.copied());
                let is_plain = |b: &Binding| !leaves.all[b.leaf].is_function();
                wanted.extend(bindings.filter(is_plain).map(|binding| (binding, false)));
            }
            for (Binding { leaf: other, place }, runs) in wanted {
                let seeds = match place {
                    _ if !leaves.all[other].is_function() => None,
                    Some(place) => Some(vec![place]),
                    None => {
                        let text = leaves.text_of(other);
                        let mut seeds = given_back(text);
                        // What runs commands may be handed to it.
                        if runs {
                            seeds.extend(parameters_called(text));
                        }
                        Some(seeds)
                    }
                };
                // What gives nothing back and stores nothing there stands for nothing.
                if seeds.as_ref().is_some_and(Vec::is_empty) {
                    continue;
                }
                let leaf = &mut self.chosen[other];
                let before = leaf.weight();
                leaf.chosen = true;
                leaf.runs |= runs;
                leaf.decides |= decides;
                leaf.tested |= tested;
                match seeds {
                    Some(seeds) => {
                        let lines = &mut leaf.seeds.lines;
                        let new: Vec<usize> = seeds.into_iter().filter(|s| !lines.contains(s)).collect();
                        lines.extend(new);
                    }
                    None => leaf.whole = true,
                }
                if before != leaf.weight() {
                    queue.push(other);
                }
            }
        }
    }

    /// Chooses the places that mention a function, or make an object of its class: what they give its
    /// parameters decides what its sites are. Gives those that are new.
    fn choose_callers(&mut self, at: usize) -> Vec<usize> {
        let leaf = &self.leaves.all[at];
        if !leaf.is_function() {
            return Vec::new();
        }
        let mut name = &self.text[leaf.statement.name.clone()];
        if let Some(class) = leaf.class.filter(|_| matches!(name, "__init__" | "__new__" | "__call__")) {
            name = &self.text[self.leaves.classes[class].name.clone()];
        }
        let mut new = Vec::new();
        for place in self.leaves.mentions(name).iter().take(MOST_CALLERS) {
            let Some(caller) = self.leaves.at(*place).filter(|caller| *caller != at) else { continue };
            let before = self.chosen[caller].weight();
            self.choose(caller, *place);
            self.chosen[caller].decides = true;
            if self.chosen[caller].weight() != before {
                new.push(caller);
            }
        }
        new
    }

    /// Chooses the places that store a member by one of the names that a leaf reads, of whatever object, and
    /// those that store members by names that are not written out. Gives those that are new.
    fn choose_stores(&mut self, at: usize, names: &FxHashSet<&'c str>) -> Vec<usize> {
        let leaves = self.leaves;
        let mut places: Vec<usize> = Vec::new();
        let mut any = false;
        for name in names.iter().filter(|name| leaves.has_member(at, name)) {
            any = true;
            let is_store = |place: &&usize| {
                leaves.text[..**place].ends_with('.') && is_assigned(&leaves.text[**place + name.len()..])
            };
            places.extend(leaves.mentions(name).iter().filter(is_store));
        }
        if any {
            places.extend(["setattr", "__dict__"].iter().flat_map(|name| leaves.mentions(name)));
        }
        places.sort_unstable();
        let mut new = Vec::new();
        for place in places {
            let Some(other) = leaves.at(place) else { continue };
            let before = self.chosen[other].weight();
            self.choose(other, place);
            if self.chosen[other].weight() != before {
                new.push(other);
            }
        }
        new
    }

    /// The names that a chosen leaf depends on.
    fn wanted_by(&self, at: usize) -> Names<'c> {
        let leaf = &self.chosen[at];
        if leaf.whole || !self.leaves.all[at].is_function() {
            return Names::all(self.leaves.names_of(at));
        }
        let all = || Names::all(self.leaves.names_of(at));
        self.leaves.lines(at).map_or_else(all, |lines| lines.around(&leaf.seeds))
    }

    fn selection(&self) -> Selection {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut push = |range: Range<usize>| match ranges.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => ranges.push(range),
        };
        let mut skipped = Vec::new();
        let mut at = 0;
        for statement in &self.leaves.cut.statements {
            let count = statement.members.len().max(1);
            let leaves = at..at + count;
            at += count;
            if !self.chosen[leaves.clone()].iter().any(|l| l.chosen) {
                match statement.kind {
                    Kind::Function | Kind::Class => skipped.push(statement.name.clone()),
                    _ => {}
                }
                continue;
            }
            if !statement.members.is_empty() {
                push(statement.head.clone());
            }
            for leaf in leaves.filter(|at| self.chosen[*at].chosen) {
                push(self.leaves.all[leaf].span());
            }
        }
        Selection { ranges, skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cut::cut;
    use super::*;
    use crate::base::facts::Language;
    use crate::data::primitives::Catalogue;

    fn chosen(text: &str) -> Option<String> {
        let catalogue = Catalogue::embedded(Language::Python).unwrap();
        let hints = Hints::new(&catalogue, &["pkill", "systemctl"], &[]);
        let cut = cut(text).unwrap();
        let pieces = Pieces::new(text, &cut, &hints, &hints.hits(text), CommandCatalogue::shared());
        let Choice::Of { selection, .. } = pieces.choose(&Given::default(), None).0 else { return None };
        Some(selection.ranges.into_iter().map(|r| text[r].to_owned()).collect())
    }

    #[test]
    fn only_what_can_matter_and_what_it_uses_is_chosen() {
        let text = "import os\nPID = 1\nBIG = [1]\ndef f():\n    os.kill(PID, 9)\ndef g():\n    return BIG\n";
        assert_eq!(chosen(text).unwrap(), "import os\nPID = 1\ndef f():\n    os.kill(PID, 9)\n");
        // What it is called with does not change what it is.
        let text = "import os\nPATH = 'x'\ndef f():\n    os.execv(PATH, [])\n";
        assert_eq!(chosen(text).unwrap(), "import os\ndef f():\n    os.execv(PATH, [])\n");
        assert_eq!(chosen("import os\nprint(os.sep)\n"), None);
    }

    #[test]
    fn commands_count_where_the_file_runs_commands() {
        assert_eq!(chosen("X = 'pkill'\n"), None);
        let text = "import subprocess\nX = 'pkill'\ndef f():\n    subprocess.run([X])\n";
        assert_eq!(chosen(text).unwrap(), text);
    }

    #[test]
    fn a_command_counts_on_a_line_that_leads_to_what_runs() {
        let text = "import subprocess\ndef f(log, names):\n    cmd = names[0]\n    log('use pkill')\n    subprocess.run([cmd])\n";
        assert_eq!(chosen(text), None);
        for line in ["cmd = ['pkill']", "cmd.append('pkill')", "for cmd in ['pkill', 'ls']:\n        pass"] {
            let text = text.replace("log('use pkill')", line);
            assert_eq!(chosen(&text).as_ref(), Some(&text));
        }
        let inside =
            text.replace("cmd = names[0]", "def cmd():\n        return 'pkill'").replace("[cmd]", "cmd()");
        assert_eq!(chosen(&inside).as_ref(), Some(&inside));
    }

    #[test]
    fn a_class_keeps_its_header_and_what_binds_the_attributes_that_are_used() {
        let text = "import subprocess\nclass A:\n    def __init__(self):\n        self.cmd = 'pkill'\n    def other(self):\n        # PAD\n        return 1\n    def f(self):\n        subprocess.run(self.cmd)\n";
        let text = &text.replace("PAD", &"long ".repeat(SMALL));
        let got = chosen(text).unwrap();
        assert!(got.contains("self.cmd = 'pkill'") && !got.contains("def other"), "{got}");
    }
}
