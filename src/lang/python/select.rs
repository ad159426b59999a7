//! Chooses the statements of a file that can matter: those with a telling word, and those that
//! bind a name which they use. What is left out is known by name, so that it still shadows.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cut::{Cut, Kind, Statement};
use super::hints::{Hints, Hit, Weight};
use super::slice::{Names, Seeds, Slice, names_around};

/// A definition larger than this is not read only because its name is mentioned.
const LARGEST_MENTIONED: usize = 16 << 10;
/// Mentions of a function that are looked at for what it is given.
const MOST_CALLERS: usize = 32;
/// A definition this small is read whenever its name is used.
const SMALL: usize = 512;

/// What is to be parsed of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Byte ranges in order; whole lines.
    pub ranges: Vec<Range<usize>>,
    /// Names that top-level statements outside the ranges bind, in order.
    pub skipped: Vec<Range<usize>>,
}

/// A statement that is chosen or not as a whole.
struct Leaf<'c> {
    statement: &'c Statement,
    /// The class that it is a member of: index among the classes, and the class.
    class: Option<usize>,
    chosen: bool,
    runs: bool,
    /// What makes it count, as offsets into its text.
    seeds: Seeds,
    /// All of it counts.
    whole: bool,
    /// Its values decide what the site is (a pid): those that its callers give count too.
    decides: bool,
}

impl Leaf<'_> {
    fn choose_whole(&mut self) {
        self.chosen = true;
        self.whole = true;
    }
}

/// Chooses what to parse; `None` if nothing can matter. `extra` are names that were found to
/// matter in this file (aliases, wrappers).
pub fn select(
    text: &str,
    cut: &Cut,
    hints: &Hints,
    hits: &[Hit],
    extra: &FxHashSet<String>,
) -> Option<Selection> {
    let statements = &cut.statements;
    let mut chooser = Chooser::new(text, statements);
    let hits = code_hits(text, cut, hits);
    chooser.by_words(hints, &hits, extra);
    if !chooser.leaves.iter().any(|l| l.chosen) {
        return None;
    }
    chooser.by_names(hints);
    Some(chooser.selection(statements))
}

/// The hits that stand in code, and in strings those that name something: a name in quotes, a part of
/// a command, code in braces. All of them where the file runs texts as code.
fn code_hits(text: &str, cut: &Cut, hits: &[Hit]) -> Vec<Hit> {
    let runs_texts = ["exec(", "eval(", "exec ", "compile("]
        .iter()
        .any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some());
    let counts = |hit: &&Hit| {
        let Some(quiet) = cut.quiet_at(hit.offset) else { return true };
        let string = &text[quiet.clone()];
        let in_comment = string.starts_with('#');
        let in_quotes = text[..hit.offset].ends_with(['"', '\'']);
        let formatted = string.contains('{') && text[..quiet.start].ends_with(['f', 'F', 'r', 'R', 't']);
        !in_comment && (runs_texts || hit.weight == Weight::Company || in_quotes || formatted)
    };
    hits.iter().filter(counts).copied().collect()
}

/// The identifiers of a text, strings and comments included: more is safe.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
        while at < bytes.len() && !is_name(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && is_name(bytes[at]) {
            at += 1;
        }
        (start < at).then(|| &text[start..at])
    })
}

struct Chooser<'c> {
    text: &'c str,
    leaves: Vec<Leaf<'c>>,
    classes: Vec<&'c Statement>,
}

impl<'c> Chooser<'c> {
    fn new(text: &'c str, statements: &'c [Statement]) -> Chooser<'c> {
        let mut chooser = Chooser { text, leaves: Vec::new(), classes: Vec::new() };
        for statement in statements {
            if statement.members.is_empty() {
                chooser.leaves.push(Leaf {
                    statement,
                    class: None,
                    chosen: false,
                    runs: false,
                    seeds: Seeds::default(),
                    whole: false,
                    decides: false,
                });
                continue;
            }
            let class = chooser.classes.len();
            chooser.classes.push(statement);
            for member in &statement.members {
                chooser.leaves.push(Leaf {
                    statement: member,
                    class: Some(class),
                    chosen: false,
                    runs: false,
                    seeds: Seeds::default(),
                    whole: false,
                    decides: false,
                });
            }
        }
        chooser
    }

    fn leaf_at(&self, offset: usize) -> Option<usize> {
        let at = self.leaves.partition_point(|l| l.statement.span.end <= offset);
        let leaf = self.leaves.get(at)?;
        (leaf.statement.span.start <= offset).then_some(at)
    }

    /// Chooses a leaf for what stands at an offset.
    fn choose(&mut self, at: usize, offset: usize) {
        let leaf = &mut self.leaves[at];
        leaf.chosen = true;
        leaf.seeds.lines.push(offset - leaf.statement.span.start);
    }

    fn by_words(&mut self, hints: &Hints, hits: &[Hit], extra: &FxHashSet<String>) {
        let mut lookups = Vec::new();
        let mut arguments = Vec::new();
        for Hit { offset, weight } in hits.iter().copied() {
            let Some(at) = self.leaf_at(offset) else {
                // In a class's header: its first member stands for it.
                if matches!(weight, Weight::Strong | Weight::Plain | Weight::Runner) {
                    let next = self.leaves.partition_point(|l| l.statement.span.end <= offset);
                    if let Some(leaf) = self.leaves.get_mut(next) {
                        leaf.choose_whole();
                    }
                }
                continue;
            };
            match weight {
                Weight::Strong => {
                    self.choose(at, offset);
                    self.leaves[at].decides = true;
                }
                Weight::Plain => {
                    let leaf = &mut self.leaves[at];
                    leaf.chosen = true;
                    leaf.seeds.names.push(offset - leaf.statement.span.start);
                }
                Weight::Runner => {
                    self.choose(at, offset);
                    self.leaves[at].runs = true;
                }
                Weight::Lookup => lookups.push((at, offset)),
                Weight::Argument => arguments.push((at, offset)),
                // Commands are read where what runs them asks for them, or hands them to what does.
                Weight::Company => {}
            }
        }
        if !lookups.is_empty() {
            // `m = os`: a lookup on `m` is a lookup on the module.
            for leaf in self.leaves.iter_mut().filter(|l| l.statement.kind == Kind::Simple) {
                let value =
                    self.text[leaf.statement.span.clone()].rsplit_once('=').map_or("", |(_, value)| value);
                if hints.is_module(value.trim()) {
                    leaf.choose_whole();
                }
            }
        }
        for (at, offset) in lookups {
            let seeds =
                Seeds { lines: vec![offset - self.leaves[at].statement.span.start], names: Vec::new() };
            let rest = &self.text[offset..];
            let on_itself = ["getattr(self,", "getattr(cls,"].iter().any(|start| rest.starts_with(start));
            // `sys` itself stands in `sys.modules`.
            let modules = rest.starts_with("sys.modules");
            let counts = |name: &&str| hints.is_module(name) && !(modules && *name == "sys");
            let may = || identifiers(self.slice(at)).any(|name| counts(&name));
            if !on_itself && may() && names_around(self.slice(at), &seeds).used.iter().any(counts) {
                self.choose(at, offset);
            }
        }
        for (at, offset) in arguments {
            let kept = self.leaves[at].statement.kind == Kind::Simple;
            if kept || identifiers(self.slice(at)).any(|name| hints.takes_arguments(name)) {
                self.choose(at, offset);
            }
        }
        let mut named = self.filled_names();
        named.extend(extra.iter().map(String::as_str));
        if !named.is_empty() {
            for at in 0..self.leaves.len() {
                let start = self.leaves[at].statement.span.start;
                let slice = self.slice(at);
                for name in identifiers(slice).filter(|name| named.contains(name)) {
                    self.choose(at, start + offset_in(slice, name));
                }
            }
        }
    }

    /// Names that a telling statement of the top level fills: `l.append(os._exit)`, `setattr(A, …)`,
    /// `d["x"] = os._exit`, `api.swap = os.execv`.
    fn filled_names(&self) -> FxHashSet<&'c str> {
        let mut names = FxHashSet::default();
        for (at, leaf) in self.leaves.iter().enumerate() {
            if !leaf.chosen || leaf.class.is_some() || leaf.statement.kind != Kind::Simple {
                continue;
            }
            let slice = self.slice(at);
            let stores = assigned(slice, true);
            let fills = ["append(", "add(", "insert(", "extend(", "update(", "setdefault(", "setattr("];
            if !stores.is_empty() || slice.contains("] =") || slice.contains("]=") {
                names.extend(identifiers(slice).next());
                names.extend(stores);
            } else if fills.iter().any(|fill| slice.contains(fill)) {
                names.extend(identifiers(slice).filter(|n| *n != "setattr").take(1));
            }
        }
        names.retain(|name| !matches!(*name, "os" | "sys" | "signal" | "subprocess"));
        names
    }

    fn slice(&self, at: usize) -> &'c str {
        &self.text[self.leaves[at].statement.span.clone()]
    }

    /// For each class, the others of the file that its header names.
    fn bases(&self) -> Vec<Vec<usize>> {
        let by_name: FxHashMap<&str, usize> =
            self.classes.iter().enumerate().map(|(at, c)| (&self.text[c.name.clone()], at)).collect();
        let named = |(at, class): (usize, &&Statement)| {
            let head = identifiers(&self.text[class.head.clone()]);
            head.filter_map(|name| by_name.get(name).copied()).filter(|base| *base != at).collect()
        };
        self.classes.iter().enumerate().map(named).collect()
    }

    /// Adds what binds the names that chosen statements use.
    fn by_names(&mut self, hints: &Hints) {
        for leaf in &mut self.leaves {
            // Imports are short, a star import may bind any name, and where the first foreign one stands
            // decides what runs before it.
            if leaf.statement.kind == Kind::Import && leaf.class.is_none() {
                leaf.choose_whole();
            }
        }
        let mut binders: FxHashMap<&'c str, Vec<usize>> = FxHashMap::default();
        let mut attributes: FxHashMap<(usize, &'c str), Vec<Binding>> = FxHashMap::default();
        for (at, leaf) in self.leaves.iter().enumerate() {
            match leaf.class {
                None => {
                    for name in bound_names(self.text, leaf.statement) {
                        binders.entry(name).or_default().push(at);
                    }
                }
                Some(class) => {
                    for (name, place) in attribute_names(self.text, leaf.statement) {
                        attributes.entry((class, name)).or_default().push(Binding { leaf: at, place });
                    }
                }
            }
        }
        for (at, leaf) in self.leaves.iter().enumerate() {
            if let Some(class) = leaf.class.map(|class| self.classes[class]).filter(|c| c.span.len() <= SMALL)
            {
                binders.entry(&self.text[class.name.clone()]).or_default().push(at);
            }
        }
        let bases = self.bases();
        let mut queue: Vec<usize> = (0..self.leaves.len()).filter(|at| self.leaves[*at].chosen).collect();
        let mut headers = FxHashSet::default();
        let mut slices = FxHashMap::default();
        let mut asked: FxHashSet<(usize, &'c str)> = FxHashSet::default();
        while let Some(at) = queue.pop() {
            let (class, runs) = (self.leaves[at].class, self.leaves[at].runs);
            let Names { used: mut names, conditions, by_parameter } = self.wanted_by(at, &mut slices);
            let decides = self.leaves[at].decides;
            if decides && by_parameter {
                queue.extend(self.choose_callers(at));
            }
            if let Some(class) = class
                && headers.insert(class)
            {
                names.extend(identifiers(&self.text[self.classes[class].head.clone()]));
            }
            let mut wanted = Vec::new();
            for name in names.into_iter().filter(|name| asked.insert((at, name))) {
                for other in binders.get(name).into_iter().flatten() {
                    let statement = self.leaves[*other].statement;
                    let is_definition = matches!(statement.kind, Kind::Function | Kind::Class);
                    let small = statement.span.len() <= LARGEST_MENTIONED;
                    let tiny = statement.span.len() <= SMALL;
                    if !is_definition || tiny || (small && (runs || hints.is_known(name))) {
                        wanted.push((Binding { leaf: *other, place: None }, runs && is_definition));
                    }
                }
                if let Some(class) = class {
                    let of = |class: usize| attributes.get(&(class, name)).into_iter().flatten();
                    wanted.extend(of(class).map(|binding| (*binding, false)));
                    // Attributes that a base class of the file binds.
                    for base in bases[class].iter().copied() {
                        wanted.extend(of(base).map(|binding| (*binding, false)));
                    }
                }
            }
            // Conditions are held against what names stand for, not against what functions give.
            for name in conditions.into_iter().filter(|name| asked.insert((at, name))) {
                let of_class = class.and_then(|class| attributes.get(&(class, name))).into_iter().flatten();
                let of_file = binders.get(name).into_iter().flatten();
                let bindings =
                    of_file.map(|leaf| Binding { leaf: *leaf, place: None }).chain(of_class.copied());
                let is_plain = |b: &Binding| self.leaves[b.leaf].statement.kind != Kind::Function;
                wanted.extend(bindings.filter(is_plain).map(|binding| (binding, false)));
            }
            for (Binding { leaf: other, place }, runs) in wanted {
                let is_function = self.leaves[other].statement.kind == Kind::Function;
                let seeds = match place {
                    _ if !is_function => None,
                    Some(place) => Some(vec![place]),
                    None => Some(given_back(self.slice(other))),
                };
                // What gives nothing back and stores nothing there stands for nothing.
                if seeds.as_ref().is_some_and(Vec::is_empty) {
                    continue;
                }
                let leaf = &mut self.leaves[other];
                let before = (leaf.chosen, leaf.runs, leaf.whole, leaf.decides, leaf.seeds.lines.len());
                leaf.chosen = true;
                leaf.runs |= runs;
                leaf.decides |= decides;
                match seeds {
                    Some(seeds) => {
                        let lines = &mut leaf.seeds.lines;
                        let new: Vec<usize> = seeds.into_iter().filter(|s| !lines.contains(s)).collect();
                        lines.extend(new);
                    }
                    None => leaf.whole = true,
                }
                if before != (leaf.chosen, leaf.runs, leaf.whole, leaf.decides, leaf.seeds.lines.len()) {
                    queue.push(other);
                }
            }
        }
    }

    /// Chooses the places that mention a function, or make an object of its class: what they give its
    /// parameters decides what its sites are. Gives those that are new.
    fn choose_callers(&mut self, at: usize) -> Vec<usize> {
        let leaf = &self.leaves[at];
        if leaf.statement.kind != Kind::Function {
            return Vec::new();
        }
        let mut name = &self.text[leaf.statement.name.clone()];
        if let Some(class) = leaf.class.filter(|_| matches!(name, "__init__" | "__new__" | "__call__")) {
            name = &self.text[self.classes[class].name.clone()];
        }
        if name.is_empty() {
            return Vec::new();
        }
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let places: Vec<usize> = memchr::memmem::find_iter(self.text.as_bytes(), name.as_bytes())
            .filter(|place| {
                !self.text[..*place].ends_with(is_name)
                    && !self.text[place + name.len()..].starts_with(is_name)
            })
            .take(MOST_CALLERS)
            .collect();
        let mut new = Vec::new();
        for place in places {
            let Some(caller) = self.leaf_at(place).filter(|caller| *caller != at) else { continue };
            let line = place - self.leaves[caller].statement.span.start;
            let leaf = &mut self.leaves[caller];
            if !leaf.chosen || !leaf.decides || !leaf.seeds.lines.contains(&line) {
                leaf.chosen = true;
                leaf.decides = true;
                leaf.seeds.lines.push(line);
                new.push(caller);
            }
        }
        new
    }

    /// The names that a chosen leaf depends on.
    fn wanted_by(&self, at: usize, slices: &mut FxHashMap<usize, Option<Slice<'c>>>) -> Names<'c> {
        let leaf = &self.leaves[at];
        let slice = self.slice(at);
        if leaf.whole || leaf.statement.kind != Kind::Function {
            return Names::all(slice);
        }
        match slices.entry(at).or_insert_with(|| Slice::of(slice)) {
            Some(slice) => slice.around(&leaf.seeds),
            None => Names::all(slice),
        }
    }

    fn selection(&self, statements: &[Statement]) -> Selection {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut push = |range: Range<usize>| match ranges.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => ranges.push(range),
        };
        let mut skipped = Vec::new();
        let mut at = 0;
        for statement in statements {
            let count = statement.members.len().max(1);
            let leaves = &self.leaves[at..at + count];
            at += count;
            if !leaves.iter().any(|l| l.chosen) {
                match statement.kind {
                    Kind::Function | Kind::Class => skipped.push(statement.name.clone()),
                    _ => {}
                }
                continue;
            }
            if !statement.members.is_empty() {
                push(statement.head.clone());
            }
            for leaf in leaves.iter().filter(|l| l.chosen) {
                push(leaf.statement.span.clone());
            }
        }
        Selection { ranges, skipped }
    }
}

/// The offset of a part in the text that it is a part of.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The names that a top-level statement binds; more is safe.
fn bound_names<'t>(text: &'t str, statement: &Statement) -> Vec<&'t str> {
    let slice = &text[statement.span.clone()];
    match statement.kind {
        Kind::Function | Kind::Class => vec![&text[statement.name.clone()]],
        Kind::Import => {
            identifiers(slice).filter(|name| !matches!(*name, "import" | "from" | "as")).collect()
        }
        Kind::Simple => assigned(slice, false),
        Kind::Compound => {
            let mut names = Vec::new();
            for line in slice.lines() {
                let trimmed = line.trim_start();
                let word = identifiers(trimmed).next().unwrap_or("");
                match word {
                    "import" | "from" | "for" | "with" | "except" => names.extend(identifiers(trimmed)),
                    "def" | "class" | "async" => names.extend(identifiers(trimmed).skip(1).take(2)),
                    _ => names.extend(assigned(trimmed, false)),
                }
            }
            names
        }
    }
}

/// Where a name of a class is bound.
#[derive(Debug, Clone, Copy)]
struct Binding {
    /// The leaf that binds it.
    leaf: usize,
    /// The place of the store in the leaf; none where the leaf as a whole is what binds it.
    place: Option<usize>,
}

/// The attributes that a member of a class binds, by its own name or as `self.name = …`, with the
/// places of the stores.
fn attribute_names<'t>(text: &'t str, statement: &Statement) -> Vec<(&'t str, Option<usize>)> {
    let slice = &text[statement.span.clone()];
    match statement.kind {
        Kind::Function | Kind::Class => {
            let mut names = vec![(&text[statement.name.clone()], None)];
            for line in slice
                .lines()
                .filter(|line| line.contains('=') && (line.contains("self.") || line.contains("cls.")))
            {
                let place = Some(offset_in(slice, line.trim_start()));
                names.extend(assigned(line.trim_start(), true).into_iter().map(|name| (name, place)));
            }
            names
        }
        _ => assigned(slice, false).into_iter().map(|name| (name, None)).collect(),
    }
}

/// The places of a definition where it gives something back.
fn given_back(slice: &str) -> Vec<usize> {
    let gives = |line: &&str| line.starts_with("return") || line.contains("yield");
    slice.lines().map(str::trim_start).filter(gives).map(|line| offset_in(slice, line)).collect()
}

/// The identifiers before the first `=` that assigns; of attributes the last component.
pub(super) fn assigned(line: &str, attributes_only: bool) -> Vec<&str> {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'=', &bytes[from..]) {
        let at = from + found;
        let before = at.checked_sub(1).map(|b| bytes[b]);
        let compares = bytes.get(at + 1) == Some(&b'=') || matches!(before, Some(b'=' | b'!' | b'<' | b'>'));
        if !compares {
            let target = &line[..at];
            return match attributes_only {
                true if target.contains('.') => identifiers(target).collect(),
                true => Vec::new(),
                false => identifiers(target).collect(),
            };
        }
        from = at + 1;
        if bytes.get(from) == Some(&b'=') {
            from += 1;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::cut::cut;
    use super::*;
    use crate::base::facts::Language;
    use crate::data::primitives::Catalogue;

    fn chosen(text: &str) -> Option<String> {
        let catalogue = Catalogue::embedded(Language::Python).unwrap();
        let hints = Hints::new(&catalogue, &["pkill", "systemctl"], &[]).unwrap();
        let selection = select(text, &cut(text).unwrap(), &hints, &hints.hits(text), &FxHashSet::default())?;
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
    fn a_class_keeps_its_header_and_what_binds_the_attributes_that_are_used() {
        let text = "import subprocess\nclass A:\n    def __init__(self):\n        self.cmd = 'pkill'\n    def other(self):\n        # PAD\n        return 1\n    def f(self):\n        subprocess.run(self.cmd)\n";
        let text = &text.replace("PAD", &"long ".repeat(SMALL));
        let got = chosen(text).unwrap();
        assert!(got.contains("self.cmd = 'pkill'") && !got.contains("def other"), "{got}");
    }
}
