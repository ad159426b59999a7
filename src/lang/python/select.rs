//! Chooses the statements of a file that can matter: those with a telling word, and those that
//! bind a name which they use. What is left out is known by name, so that it still shadows.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cut::{Kind, Statement};
use super::hints::{Hints, Hit, Weight};

/// A definition larger than this is not read only because its name is mentioned.
const LARGEST_MENTIONED: usize = 16 << 10;
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
}

/// Chooses what to parse; `None` if nothing can matter. `extra` are names that were found to
/// matter in this file (aliases, wrappers).
pub fn select(
    text: &str,
    statements: &[Statement],
    hints: &Hints,
    hits: &[Hit],
    extra: &FxHashSet<String>,
) -> Option<Selection> {
    let mut chooser = Chooser::new(text, statements);
    chooser.by_words(hints, hits, extra);
    if !chooser.leaves.iter().any(|l| l.chosen) {
        return None;
    }
    chooser.by_names(hints);
    Some(chooser.selection(statements))
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
                chooser.leaves.push(Leaf { statement, class: None, chosen: false, runs: false });
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

    fn by_words(&mut self, hints: &Hints, hits: &[Hit], extra: &FxHashSet<String>) {
        let mut lookups = Vec::new();
        let mut company = Vec::new();
        let mut runs_commands = false;
        for Hit { offset, weight } in hits.iter().copied() {
            let Some(at) = self.leaf_at(offset) else {
                // In a class's header: its first member stands for it.
                if weight == Weight::Strong || weight == Weight::Runner {
                    runs_commands |= weight == Weight::Runner;
                    let next = self.leaves.partition_point(|l| l.statement.span.end <= offset);
                    if let Some(leaf) = self.leaves.get_mut(next) {
                        leaf.chosen = true;
                    }
                }
                continue;
            };
            match weight {
                Weight::Strong => self.leaves[at].chosen = true,
                Weight::Runner => {
                    runs_commands = true;
                    self.leaves[at].chosen = true;
                    self.leaves[at].runs = true;
                }
                Weight::Lookup => lookups.push(at),
                Weight::Company => company.push(at),
            }
        }
        lookups.dedup();
        if !lookups.is_empty() {
            // `m = os`: a lookup on `m` is a lookup on the module.
            for leaf in self.leaves.iter_mut().filter(|l| l.statement.kind == Kind::Simple) {
                let value =
                    self.text[leaf.statement.span.clone()].rsplit_once('=').map_or("", |(_, value)| value);
                leaf.chosen |= hints.is_module(value.trim());
            }
        }
        for at in lookups {
            let text = self.slice(at);
            if identifiers(text).any(|name| hints.is_module(name)) {
                self.leaves[at].chosen = true;
            }
        }
        if runs_commands {
            company.dedup();
            for at in company {
                self.leaves[at].chosen = true;
            }
        }
        let mut filled = self.filled_names();
        filled.extend(extra.iter().map(String::as_str));
        if !filled.is_empty() {
            for at in 0..self.leaves.len() {
                if !self.leaves[at].chosen && identifiers(self.slice(at)).any(|name| filled.contains(name)) {
                    self.leaves[at].chosen = true;
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

    /// Adds what binds the names that chosen statements use.
    fn by_names(&mut self, hints: &Hints) {
        for leaf in &mut self.leaves {
            // Imports are short, a star import may bind any name, and where the first foreign one stands
            // decides what runs before it.
            leaf.chosen |= leaf.statement.kind == Kind::Import && leaf.class.is_none();
        }
        let mut binders: FxHashMap<&'c str, Vec<usize>> = FxHashMap::default();
        let mut attributes: FxHashMap<(usize, &'c str), Vec<usize>> = FxHashMap::default();
        for (at, leaf) in self.leaves.iter().enumerate() {
            match leaf.class {
                None => {
                    for name in bound_names(self.text, leaf.statement) {
                        binders.entry(name).or_default().push(at);
                    }
                }
                Some(class) => {
                    for name in attribute_names(self.text, leaf.statement) {
                        attributes.entry((class, name)).or_default().push(at);
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
        let class_names: FxHashMap<&str, usize> =
            self.classes.iter().enumerate().map(|(at, c)| (&self.text[c.name.clone()], at)).collect();
        let mut queue: Vec<usize> = (0..self.leaves.len()).filter(|at| self.leaves[*at].chosen).collect();
        let mut headers = FxHashSet::default();
        while let Some(at) = queue.pop() {
            let (class, runs) = (self.leaves[at].class, self.leaves[at].runs);
            let mut texts = vec![self.slice(at)];
            if let Some(class) = class
                && headers.insert(class)
            {
                texts.push(&self.text[self.classes[class].head.clone()]);
            }
            let mut wanted = Vec::new();
            for name in texts.into_iter().flat_map(identifiers) {
                for other in binders.get(name).into_iter().flatten() {
                    let statement = self.leaves[*other].statement;
                    let is_definition = matches!(statement.kind, Kind::Function | Kind::Class);
                    let small = statement.span.len() <= LARGEST_MENTIONED;
                    let tiny = statement.span.len() <= SMALL;
                    if !is_definition || tiny || (small && (runs || hints.is_known(name))) {
                        wanted.push((*other, runs && is_definition));
                    }
                }
                if let Some(class) = class {
                    wanted.extend(attributes.get(&(class, name)).into_iter().flatten().map(|o| (*o, false)));
                    // Attributes that a base class of the file binds.
                    for (base, base_at) in &class_names {
                        if *base_at != class && self.text[self.classes[class].head.clone()].contains(base) {
                            wanted.extend(
                                attributes.get(&(*base_at, name)).into_iter().flatten().map(|o| (*o, false)),
                            );
                        }
                    }
                }
            }
            for (other, runs) in wanted {
                let leaf = &mut self.leaves[other];
                if !leaf.chosen {
                    leaf.chosen = true;
                    leaf.runs = runs;
                    queue.push(other);
                }
            }
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

/// The attributes that a member of a class binds: its own name, or `self.name = …`.
fn attribute_names<'t>(text: &'t str, statement: &Statement) -> Vec<&'t str> {
    let slice = &text[statement.span.clone()];
    match statement.kind {
        Kind::Function | Kind::Class => {
            let mut names = Vec::new();
            for line in slice.lines() {
                if line.contains("self.") || line.contains("cls.") {
                    names.extend(assigned(line.trim_start(), true));
                }
            }
            names
        }
        _ => assigned(slice, false),
    }
}

/// The identifiers before the first `=` that assigns; of attributes the last component.
fn assigned(line: &str, attributes_only: bool) -> Vec<&str> {
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
        let text =
            "import os\nPATH = 'x'\nBIG = [1]\ndef f():\n    os.execv(PATH, [])\ndef g():\n    return BIG\n";
        assert_eq!(chosen(text).unwrap(), "import os\nPATH = 'x'\ndef f():\n    os.execv(PATH, [])\n");
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
        let text = "import subprocess\nclass A:\n    def __init__(self):\n        self.cmd = tool()\n    def other(self):\n        # PAD\n        return 1\n    def f(self):\n        subprocess.run(self.cmd)\n";
        let text = &text.replace("PAD", &"long ".repeat(SMALL));
        let got = chosen(text).unwrap();
        assert!(got.contains("self.cmd = tool()") && !got.contains("def other"), "{got}");
    }
}
