//! A file as the statements that are chosen or not as a whole, and which names each of them binds.
//! It knows the text alone: what binds too much costs time, what binds too little would lose a site.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::binders::Statements;
use super::cut::{Cut, Kind, Statement, first_word};
use super::slice::{FILLS, Slice};
use super::stores::filled;

/// Classes whose fields are read with those of one.
const MOST_FAMILY: usize = 16;

/// A statement that is chosen or not as a whole: one of the top level, or a member of a class.
pub(super) struct Leaf<'c> {
    pub(super) statement: &'c Statement,
    /// The class that it is a member of, as an index among the classes.
    pub(super) class: Option<usize>,
    lines: OnceCell<Option<Slice<'c>>>,
    gives_back: OnceCell<bool>,
    names: OnceCell<FxHashSet<&'c str>>,
    members: OnceCell<FxHashSet<&'c str>>,
    defined: OnceCell<Vec<&'c str>>,
    bound: OnceCell<Vec<&'c str>>,
    /// Its logical lines as simple statements, by where they stand, as far as they were asked for.
    pub(super) statements: RefCell<FxHashMap<usize, Rc<Statements<'c>>>>,
}

impl<'c> Leaf<'c> {
    fn new(statement: &'c Statement, class: Option<usize>) -> Leaf<'c> {
        Leaf {
            statement,
            class,
            lines: OnceCell::new(),
            gives_back: OnceCell::new(),
            names: OnceCell::new(),
            members: OnceCell::new(),
            defined: OnceCell::new(),
            bound: OnceCell::new(),
            statements: RefCell::default(),
        }
    }

    /// Where it stands.
    pub(super) fn span(&self) -> Range<usize> {
        self.statement.span.clone()
    }

    /// Whether its `text` speaks of giving something back.
    pub(super) fn gives_back(&self, text: &str) -> bool {
        let speaks = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        *self.gives_back.get_or_init(|| speaks("return") || speaks("yield"))
    }

    /// Whether it defines a function.
    pub(super) fn is_function(&self) -> bool {
        self.statement.kind == Kind::Function
    }
}

/// Where a name of a class is bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding {
    /// The leaf that binds it.
    pub(super) leaf: usize,
    /// The place of the store in the leaf; none where the leaf as a whole is what binds it.
    pub(super) place: Option<usize>,
}

/// All leaves of a text, in order.
pub(super) struct Leaves<'c> {
    pub(super) text: &'c str,
    pub(super) cut: &'c Cut,
    pub(super) all: Vec<Leaf<'c>>,
    pub(super) classes: Vec<&'c Statement>,
    /// A star import may bind any name.
    has_star: bool,
    bound: OnceCell<Bound<'c>>,
    mentions: OnceCell<Mentions<'c>>,
    pub(super) runs_texts: OnceCell<bool>,
    /// What declares the fields of each class.
    fields: Vec<OnceCell<Vec<usize>>>,
}

/// Where each name of a text stands: one list of places, cut by name.
struct Mentions<'c> {
    names: FxHashMap<&'c str, u32>,
    /// Where the places of a name begin; one more than there are names.
    starts: Vec<u32>,
    places: Vec<usize>,
}

impl<'c> Mentions<'c> {
    /// Of names with their places, in order.
    fn of(found: impl Iterator<Item = (&'c str, usize)>) -> Mentions<'c> {
        let mut names: FxHashMap<&str, u32> = FxHashMap::default();
        let mut starts: Vec<u32> = vec![0];
        let found: Vec<(u32, usize)> = found
            .map(|(name, place)| {
                let new = starts.len() as u32 - 1;
                let id = *names.entry(name).or_insert(new);
                if id == new {
                    starts.push(0);
                }
                starts[id as usize + 1] += 1;
                (id, place)
            })
            .collect();
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0; found.len()];
        for (id, place) in found {
            let at = &mut next[id as usize];
            places[*at as usize] = place;
            *at += 1;
        }
        Mentions { names, starts, places }
    }

    fn get(&self, name: &str) -> &[usize] {
        let Some(id) = self.names.get(name).map(|id| *id as usize) else { return &[] };
        &self.places[self.starts[id] as usize..self.starts[id + 1] as usize]
    }
}

/// What binds which name.
pub(super) struct Bound<'c> {
    /// The leaves that bind a name of the top level.
    pub(super) names: FxHashMap<&'c str, Vec<usize>>,
    /// What binds an attribute of a class.
    pub(super) attributes: FxHashMap<(usize, &'c str), Vec<Binding>>,
    /// The classes of a name, as indices among the classes.
    pub(super) classes: FxHashMap<&'c str, Vec<usize>>,
    /// Where functions bind a name of something imported (`settings.ARGS = …`), or of the top level.
    pub(super) foreign: FxHashMap<&'c str, Vec<Binding>>,
    /// The classes that bind an attribute by a name.
    pub(super) owners: FxHashMap<&'c str, Vec<usize>>,
    /// For each class, the others of the file that its header names, and those whose headers name it.
    pub(super) kin: Vec<Vec<usize>>,
    /// All names that are bound outside of functions, attributes among them.
    pub(super) own: FxHashSet<&'c str>,
    /// Names that some import brings, wherever it stands.
    pub(super) imported: FxHashSet<&'c str>,
}

impl<'c> Leaves<'c> {
    pub(super) fn new(text: &'c str, cut: &'c Cut) -> Leaves<'c> {
        let mut leaves = Leaves {
            text,
            cut,
            all: Vec::new(),
            classes: Vec::new(),
            has_star: cut
                .statements
                .iter()
                .any(|s| s.kind == Kind::Import && text[s.span.clone()].contains('*')),
            bound: OnceCell::new(),
            mentions: OnceCell::new(),
            runs_texts: OnceCell::new(),
            fields: Vec::new(),
        };
        for statement in &cut.statements {
            if statement.members.is_empty() {
                leaves.all.push(Leaf::new(statement, None));
                continue;
            }
            let class = Some(leaves.classes.len());
            leaves.classes.push(statement);
            leaves.all.extend(statement.members.iter().map(|statement| Leaf::new(statement, class)));
        }
        leaves.fields.resize_with(leaves.classes.len(), OnceCell::new);
        leaves
    }

    /// The leaf that holds a place; none between leaves, as in a class's header.
    pub(super) fn at(&self, offset: usize) -> Option<usize> {
        let at = self.after(offset);
        let leaf = self.all.get(at)?;
        (leaf.statement.span.start <= offset).then_some(at)
    }

    /// The first leaf that ends after a place.
    pub(super) fn after(&self, offset: usize) -> usize {
        self.all.partition_point(|l| l.statement.span.end <= offset)
    }

    /// The text of a leaf.
    pub(super) fn text_of(&self, at: usize) -> &'c str {
        &self.text[self.all[at].span()]
    }

    /// Every name in a leaf.
    pub(super) fn names_of(&self, at: usize) -> &FxHashSet<&'c str> {
        self.all[at].names.get_or_init(|| identifiers(self.text_of(at)).collect())
    }

    /// The names that a leaf of the top level binds; more is safe.
    pub(super) fn bound_in(&self, at: usize) -> &[&'c str] {
        self.all[at].bound.get_or_init(|| bound_names(self.text, self.all[at].statement))
    }

    /// The functions and classes that a leaf defines at the beginning of a line.
    pub(super) fn defined_in(&self, at: usize) -> &[&'c str] {
        self.all[at].defined.get_or_init(|| {
            let defined = |line: &'c str| {
                let line = line.trim_start();
                let line = line.strip_prefix("async ").unwrap_or(line);
                let rest = line.strip_prefix("def ").or_else(|| line.strip_prefix("class "))?;
                identifiers(rest).next()
            };
            self.text_of(at).lines().filter_map(defined).collect()
        })
    }

    /// Whether a name stands in a leaf as a member of something, or in quotes as one that is looked up.
    pub(super) fn has_member(&self, at: usize, name: &str) -> bool {
        let members = self.all[at].members.get_or_init(|| {
            let text = self.text_of(at);
            let is_member = |name: &&str| {
                let before = text[..offset_in(text, name)].trim_end_matches([' ', '\t', '\\', '\n', '\r']);
                before.ends_with(['.', '"', '\''])
            };
            identifiers(text).filter(is_member).collect()
        });
        members.contains(name)
    }

    /// The lines of a definition; `None` where they do not hold together.
    pub(super) fn lines(&self, at: usize) -> Option<&Slice<'c>> {
        self.all[at].lines.get_or_init(|| Slice::of(self.text_of(at))).as_ref()
    }

    /// What binds which name.
    pub(super) fn bound(&self) -> &Bound<'c> {
        self.bound.get_or_init(|| {
            let mut bound = Bound {
                names: FxHashMap::default(),
                attributes: FxHashMap::default(),
                classes: FxHashMap::default(),
                foreign: FxHashMap::default(),
                owners: FxHashMap::default(),
                kin: self.kin(),
                own: FxHashSet::default(),
                imported: imported_names(self.text).collect(),
            };
            for (at, class) in self.classes.iter().enumerate() {
                bound.classes.entry(&self.text[class.name.clone()]).or_default().push(at);
            }
            for (at, leaf) in self.all.iter().enumerate() {
                match leaf.class {
                    None => {
                        for name in self.bound_in(at) {
                            bound.names.entry(name).or_default().push(at);
                        }
                    }
                    Some(class) => {
                        for (name, place) in attribute_names(self.text, leaf.statement) {
                            bound
                                .attributes
                                .entry((class, name))
                                .or_default()
                                .push(Binding { leaf: at, place });
                        }
                    }
                }
            }
            self.bind_foreign(&mut bound);
            bound.own.extend(bound.names.keys().chain(bound.classes.keys()));
            for (class, name) in bound.attributes.keys() {
                bound.owners.entry(name).or_default().push(*class);
            }
            bound.own.extend(bound.owners.keys());
            // A function's own import binds another file's name as well.
            bound.own.extend(&bound.imported);
            bound
        })
    }

    fn bind_foreign(&self, bound: &mut Bound<'c>) {
        let imports =
            |leaves: &Vec<usize>| leaves.iter().any(|at| self.all[*at].statement.kind == Kind::Import);
        let imported: FxHashSet<&str> =
            bound.names.iter().filter(|(_, leaves)| imports(leaves)).map(|(name, _)| *name).collect();
        for (at, leaf) in self.all.iter().enumerate().filter(|(_, leaf)| leaf.is_function()) {
            let slice = &self.text[leaf.span()];
            let mut globals: FxHashSet<&str> = FxHashSet::default();
            for line in slice.lines().map(str::trim_start) {
                let word = first_word(line);
                let rest = &line[word.len()..];
                let binding = Binding { leaf: at, place: Some(offset_in(slice, line)) };
                if word == "global" {
                    globals.extend(identifiers(rest));
                    // Nothing else need bind it.
                    bound.own.extend(identifiers(rest));
                } else if let Some(member) = rest.strip_prefix('.') {
                    let name = first_word(member);
                    let after = &member[name.len()..];
                    let is_store = assignment(after).is_some_and(|to| after[..to].trim().is_empty());
                    if is_store && imported.contains(word) {
                        bound.foreign.entry(name).or_default().push(binding);
                    }
                    if bound.names.contains_key(word) && FILLS.iter().any(|fill| rest.starts_with(fill)) {
                        bound.foreign.entry(word).or_default().push(binding);
                    }
                } else if (globals.contains(word) || rest.starts_with('[') && bound.names.contains_key(word))
                    && assigns(line)
                {
                    bound.foreign.entry(word).or_default().push(binding);
                }
            }
        }
    }

    /// The name under which an import brings another name: `C` of `from k import CMD as C`.
    pub(super) fn alias(&self, place: usize, name: &str) -> Option<&'c str> {
        let rest = self.text[place + name.len()..].trim_start_matches([' ', '\t']);
        let alias = first_word(rest.strip_prefix("as ")?.trim_start());
        (!alias.is_empty()).then_some(alias)
    }

    /// Whether a star import may bring any name.
    pub(super) fn has_star(&self) -> bool {
        self.has_star
    }

    /// The members of a class.
    pub(super) fn members(&self, class: usize) -> impl Iterator<Item = usize> {
        let first = self.all.partition_point(|l| l.statement.span.end <= self.classes[class].head.end);
        (first..self.all.len()).take_while(move |at| self.all[*at].class == Some(class))
    }

    /// What declares the fields of a class and of those around it: a constructor made of them takes them in order.
    /// With it a member of each, so that it is read at all.
    pub(super) fn fields(&self, class: usize) -> Vec<usize> {
        let kin = &self.bound().kin;
        let mut family = vec![class];
        let mut read = 0;
        while let Some(at) = family.get(read).copied().filter(|_| read < MOST_FAMILY) {
            read += 1;
            let more: Vec<usize> = kin[at].iter().copied().filter(|of| !family.contains(of)).collect();
            family.extend(more);
        }
        let mut fields: Vec<usize> =
            family.iter().flat_map(|class| self.own_fields(*class)).copied().collect();
        if !fields.is_empty() {
            fields.extend(family.iter().filter_map(|class| self.members(*class).next()));
        }
        fields
    }

    /// What declares the fields of a class itself.
    fn own_fields(&self, class: usize) -> &[usize] {
        self.fields[class].get_or_init(|| self.members(class).filter(|at| self.is_field(*at)).collect())
    }

    /// Whether a leaf declares a field: `name: type`.
    pub(super) fn is_field(&self, at: usize) -> bool {
        let text = self.text_of(at).trim_start();
        let name = first_word(text);
        self.all[at].statement.kind == Kind::Simple
            && !name.is_empty()
            && text[name.len()..].trim_start().starts_with(':')
    }

    /// Whether a class is an enumeration, as far as its header tells.
    pub(super) fn is_enumeration(&self, class: usize) -> bool {
        self.text[self.classes[class].head.clone()].contains("Enum")
    }

    /// A name as it stands in the text, if it does.
    pub(super) fn mentioned(&self, name: &str) -> Option<&'c str> {
        let place = *self.mentions(name).first()?;
        self.text.get(place..place + name.len())
    }

    /// Where a name stands in code or in a string that is no documentation.
    pub(super) fn mentions(&self, name: &str) -> &[usize] {
        let index = self.mentions.get_or_init(|| {
            let mut quiet = self.cut.quiet.iter().filter(|q| q.is_prose).peekable();
            let found = identifiers(self.text).filter_map(move |name| {
                let at = offset_in(self.text, name);
                while quiet.next_if(|q| q.range.end <= at).is_some() {}
                let is_code = quiet.peek().is_none_or(|q| q.range.start > at);
                (is_code && !name.as_bytes()[0].is_ascii_digit()).then_some((name, at))
            });
            Mentions::of(found)
        });
        index.get(name)
    }

    fn kin(&self) -> Vec<Vec<usize>> {
        let by_name: FxHashMap<&str, usize> =
            self.classes.iter().enumerate().map(|(at, c)| (&self.text[c.name.clone()], at)).collect();
        let mut kin: Vec<Vec<usize>> = vec![Vec::new(); self.classes.len()];
        for (at, class) in self.classes.iter().enumerate() {
            let head = identifiers(&self.text[class.head.clone()]);
            for base in head.filter_map(|name| by_name.get(name).copied()).filter(|base| *base != at) {
                kin[at].push(base);
                kin[base].push(at);
            }
        }
        kin
    }
}

/// Bytes that stand in identifiers; every byte of a letter beyond ASCII counts.
pub(super) const IN_NAMES: [bool; 256] = name_bytes(true);

/// Which bytes stand in names.
pub(super) const fn name_bytes(beyond_ascii: bool) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || letter == b'_' || beyond_ascii && letter >= 0x80;
        byte += 1;
    }
    table
}

/// The identifiers of a text, strings and comments included: more is safe.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let start = bytes.iter().position(|b| IN_NAMES[usize::from(*b)])?;
        let len = bytes[start..].iter().position(|b| !IN_NAMES[usize::from(*b)]);
        let end = len.map_or(bytes.len(), |len| start + len);
        let name = &rest[start..end];
        rest = &rest[end..];
        Some(name)
    })
}

/// The words of every import, wherever it stands.
fn imported_names(text: &str) -> impl Iterator<Item = &str> {
    let starts = memchr::memmem::find_iter(text.as_bytes(), b"import ");
    starts.flat_map(|at| {
        let rest = &text[at + 7..];
        let end = match rest.trim_start().starts_with('(') {
            true => rest.find(')'),
            false => rest.find('\n'),
        };
        identifiers(rest.get(..end.unwrap_or(rest.len())).unwrap_or(""))
    })
}

/// The offset of a part in the text that it is a part of.
pub(super) fn offset_in(text: &str, part: &str) -> usize {
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
        Kind::Simple => {
            slice.split(';').flat_map(|part| assigned(part, false).into_iter().chain(filled(part))).collect()
        }
        Kind::Compound => {
            let mut names = Vec::new();
            for line in slice.lines() {
                let trimmed = line.trim_start();
                let word = identifiers(trimmed).next().unwrap_or("");
                match word {
                    "import" | "from" | "for" | "with" | "except" => names.extend(identifiers(trimmed)),
                    "def" | "class" | "async" => names.extend(identifiers(trimmed).skip(1).take(2)),
                    _ => names.extend(assigned(trimmed, false).into_iter().chain(filled(trimmed))),
                }
            }
            names
        }
    }
}

/// The attributes that a member of a class binds, by its own name or as `self.name = …`, with the
/// places of the stores.
pub(super) fn attribute_names<'t>(text: &'t str, statement: &Statement) -> Vec<(&'t str, Option<usize>)> {
    let slice = &text[statement.span.clone()];
    match statement.kind {
        Kind::Function | Kind::Class => {
            let mut names = vec![(&text[statement.name.clone()], None)];
            for line in slice.lines().filter(|line| line.contains("self.") || line.contains("cls.")) {
                let place = Some(offset_in(slice, line.trim_start()));
                // What is put into a list that the object keeps is what the list is.
                names.extend(filled(line).map(|name| (name, place)));
                if !line.contains('=') {
                    continue;
                }
                // `run(self.command, check=True)` names an argument, and stores nothing.
                let is_store = |part: &&str| {
                    let target = &part[..assignment(part).unwrap_or(0)];
                    target.matches('(').count() == target.matches(')').count()
                };
                let parts = line.trim_start().split(';').filter(is_store);
                let targets = parts.flat_map(|part| assigned(part, true));
                names.extend(targets.map(|name| (name, place)));
            }
            names
        }
        _ => slice.split(';').flat_map(|part| assigned(part, false)).map(|name| (name, None)).collect(),
    }
}

/// The places of a definition where it gives something back.
pub(super) fn given_back(slice: &str) -> Vec<usize> {
    let gives =
        |line: &&str| line.starts_with("return") || line.contains("yield") || line.contains(": return");
    slice.lines().map(str::trim_start).filter(gives).map(|line| offset_in(slice, line)).collect()
}

/// The places of a definition where it calls one of its parameters.
pub(super) fn parameters_called(slice: &str) -> Vec<usize> {
    let Some(header) = slice.find("def ").map(|at| &slice[at..]) else { return Vec::new() };
    let Some(end) = header.find(":\n").or_else(|| header.find(':')) else { return Vec::new() };
    let parameters: Vec<&str> = identifiers(&header[..end]).skip(2).collect();
    let body = &header[end..];
    let is_call = |name: &&str| {
        let (before, after) = (&body[..offset_in(body, name)], &body[offset_in(body, name) + name.len()..]);
        after.starts_with('(') && !before.ends_with('.') && parameters.contains(name)
    };
    identifiers(body).filter(is_call).map(|name| offset_in(slice, name)).collect()
}

/// Whether what follows a name assigns to it.
pub(super) fn is_assigned(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    assignment(after).is_some_and(|at| after[..at].chars().all(|c| matches!(c, '+' | '|' | '*')))
}

/// The identifiers that a line assigns to, those of `a = b = value` too.
pub(super) fn assigned(line: &str, attributes_only: bool) -> Vec<&str> {
    let counts = |target: &&str| !attributes_only || target.contains('.');
    targets(line).filter(counts).flat_map(identifiers).collect()
}

/// What stands before each `=` of a line that assigns: behind the first one, only what can be nothing else.
pub(super) fn targets(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let at = assignment(rest)?;
        let target = &rest[..at];
        if rest.len() < line.len() && !target.bytes().all(in_target) {
            return None;
        }
        rest = &rest[at + 1..];
        Some(target)
    })
}

/// Whether a byte stands in a target without a call: names, members, elements.
fn in_target(byte: u8) -> bool {
    IN_NAMES[usize::from(byte)]
        || matches!(byte, b'.' | b'[' | b']' | b',' | b'*' | b' ' | b'\t' | b'"' | b'\'')
}

/// Whether something is named before the first `=` that assigns.
pub(super) fn assigns(line: &str) -> bool {
    assignment(line).is_some_and(|at| identifiers(&line[..at]).next().is_some())
}

/// The place of the first `=` of a line that assigns.
pub(super) fn assignment(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'=', &bytes[from..]) {
        let at = from + found;
        let before = at.checked_sub(1).map(|b| bytes[b]);
        let compares = bytes.get(at + 1) == Some(&b'=') || matches!(before, Some(b'=' | b'!' | b'<' | b'>'));
        if !compares {
            return Some(at);
        }
        from = at + 1;
        if bytes.get(from) == Some(&b'=') {
            from += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::cut::cut;
    use super::*;

    #[test]
    fn a_name_is_mentioned_where_it_stands_in_code() {
        let text = "a = b\n# a\n\"\"\"a\"\"\"\nc(a, 'a')\n";
        let cut = cut(text).unwrap();
        let leaves = Leaves::new(text, &cut);
        assert_eq!(leaves.mentions("a"), [0, text.find("a, ").unwrap(), text.rfind("a'").unwrap()]);
        assert_eq!(leaves.mentions("b"), [4]);
        assert!(leaves.mentions("d").is_empty());
    }

    #[test]
    fn a_name_of_something_imported_is_bound_where_a_function_stores_it() {
        let text = "import settings\ndef f(self, other):\n    settings.ARGS = 1\n    other.ARGS = 2\n    settings.go(x=1)\n";
        let cut = cut(text).unwrap();
        let leaves = Leaves::new(text, &cut);
        let bound = leaves.bound();
        assert_eq!(bound.foreign.keys().copied().collect::<Vec<_>>(), ["ARGS"]);
        let places: Vec<_> =
            bound.foreign["ARGS"].iter().map(|binding| (binding.leaf, binding.place)).collect();
        let place = text.find("settings.ARGS").unwrap() - text.find("def").unwrap();
        assert_eq!(places, [(1, Some(place))]);
    }
}
