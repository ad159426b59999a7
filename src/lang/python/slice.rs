//! The names that matter inside one definition: those of the lines that tell, of the conditions
//! around them, and of the lines that bind what these use. It decides what else of a file is parsed.

use std::cell::{Cell, OnceCell};

use rustc_hash::{FxHashMap, FxHashSet};

use super::cut::{Line, continues, first_word, logical_lines, string_end};
use super::leaves::{assignment, assigns, identifiers, offset_in};
use super::scope::Locals;
use super::stores::{is_name, stored};

/// Methods that change what they are called on.
pub(super) const FILLS: [&str; 7] =
    [".append(", ".add(", ".insert(", ".extend(", ".update(", ".setdefault(", ".format("];

/// What makes a definition count, as offsets into its text.
#[derive(Debug, Clone, Default, Hash)]
pub(super) struct Seeds {
    /// Places whose whole lines matter.
    pub(super) lines: Vec<usize>,
    /// Names that matter whatever they are called with.
    pub(super) names: Vec<usize>,
}

/// Names that something depends on.
#[derive(Debug, Default)]
pub(super) struct Names<'t> {
    /// Those that the telling lines use, with what binds these.
    pub(super) used: FxHashSet<&'t str>,
    /// Those that only the conditions around them use.
    pub(super) conditions: FxHashSet<&'t str>,
    /// A parameter of the definition is among those that the telling lines use.
    pub(super) by_parameter: bool,
    /// A telling name is a member of what a parameter is given.
    pub(super) member_of_parameter: bool,
}

impl<'t> Names<'t> {
    /// All of some names, a parameter among them.
    pub(super) fn all(names: &FxHashSet<&'t str>) -> Names<'t> {
        Names { used: names.clone(), by_parameter: true, ..Names::default() }
    }
}

/// A definition's text, by lines.
pub(super) struct Slice<'t> {
    text: &'t str,
    lines: Vec<Line>,
    blocks: Vec<Block>,
    /// What binds or changes a name.
    binders: FxHashMap<&'t str, Binders<'t>>,
    /// What each line gives to what it binds, which may be many names.
    gives: Vec<OnceCell<Given<'t>>>,
    /// Parameters of the functions inside.
    inside: OnceCell<FxHashSet<&'t str>>,
    own_members: OnceCell<FxHashSet<&'t str>>,
    locals: OnceCell<Locals<'t>>,
}

/// What a line gives to the names that it binds.
struct Given<'t> {
    /// A value that says nothing more.
    is_fixed: bool,
    /// The names that the value is made of.
    names: Vec<&'t str>,
}

/// What binds or changes a name.
#[derive(Default)]
struct Binders<'t> {
    /// The lines, in order.
    lines: Vec<usize>,
    /// The names whose values they give it, each once.
    given: OnceCell<Vec<&'t str>>,
}

impl<'t> Slice<'t> {
    /// Cuts a definition into lines; `None` where it does not hold together.
    pub(super) fn of(text: &'t str) -> Option<Slice<'t>> {
        let lines = logical_lines(text.as_bytes(), &mut Vec::new())?;
        let mut binders: FxHashMap<&'t str, Binders<'t>> = FxHashMap::default();
        for (at, line) in lines.iter().enumerate() {
            bound_by(&text[line.content..line.end], |name| {
                let lines = &mut binders.entry(name).or_default().lines;
                if lines.last() != Some(&at) {
                    lines.push(at);
                }
            });
        }
        let blocks = Block::of_lines(text, &lines);
        Some(Slice {
            text,
            blocks,
            gives: lines.iter().map(|_| OnceCell::new()).collect(),
            lines,
            binders,
            inside: OnceCell::new(),
            own_members: OnceCell::new(),
            locals: OnceCell::new(),
        })
    }

    /// The logical line that holds a place.
    pub(super) fn line_at(&self, offset: usize) -> &'t str {
        let at = self.lines.partition_point(|l| l.end <= offset);
        self.lines.get(at).map_or("", |line| &self.text[line.content..line.end])
    }

    /// Whether what stands at a place is the default of a parameter.
    pub(super) fn is_default(&self, place: usize) -> bool {
        self.locals().ends_before(place) == Some(false)
            && self.text[..place].trim_end_matches(|c: char| is_name(c) || c == '.').trim_end().ends_with('=')
    }

    /// The members under which the definition keeps the parameter whose default stands at a place.
    pub(super) fn kept_of_default(&self, place: usize) -> Vec<&'t str> {
        let Some(parameter) = self.locals().parameter_before(self.text, place) else { return Vec::new() };
        let lines =
            self.lines.iter().skip(self.header().0 + 1).map(|line| &self.text[line.content..line.end]);
        let keeps = |line: &&str| {
            let value = line.split_once('=').map_or("", |(_, value)| value);
            identifiers(value).any(|name| name == parameter)
        };
        let members =
            |line: &'t str| stored(line).into_iter().filter(move |name| line.contains(&format!(".{name}")));
        lines.filter(keeps).flat_map(members).collect()
    }

    /// Whether there are definitions inside.
    pub(super) fn defines_inside(&self) -> bool {
        let word = |line: &Line| first_word(&self.text[line.content..line.end]);
        let heads = self.lines.iter().filter(|line| matches!(word(line), "def" | "class" | "async"));
        heads.count() > 1 || self.text.contains("lambda")
    }

    /// Whether what stands at a place is on the line of another, or on one that binds a name of these.
    pub(super) fn feeds(&self, place: usize, other: usize, names: &Names<'t>) -> bool {
        let line = |place: usize| self.lines.partition_point(|line| line.end <= place);
        let at = line(place);
        // A default is what a parameter may stand for.
        if names.by_parameter && at <= self.header().0 {
            return true;
        }
        let binds = |name: &&str| {
            self.binders.get(*name).is_some_and(|binders| binders.lines.binary_search(&at).is_ok())
        };
        at == line(other) || names.used.iter().any(binds)
    }

    /// Whether a function inside the definition takes one of the names.
    pub(super) fn is_given_inside(&self, names: &FxHashSet<&'t str>) -> bool {
        let inside = self.inside.get_or_init(|| {
            let text = |line: &Line| &self.text[line.content..line.end];
            let heads =
                self.lines.iter().map(text).filter(|line| matches!(first_word(line), "def" | "async"));
            let lambdas = self
                .text
                .match_indices("lambda")
                .flat_map(|(at, _)| identifiers(self.text[at..].split(':').next().unwrap_or("")).skip(1));
            heads.skip(1).flat_map(|line| identifiers(line).skip(2)).chain(lambdas).collect()
        });
        inside.iter().any(|name| names.contains(name))
    }

    /// The members of its own object that the definition mentions.
    pub(super) fn own_members(&self) -> &FxHashSet<&'t str> {
        self.own_members.get_or_init(|| {
            let mut own = FxHashSet::default();
            for prefix in ["self.", "cls."] {
                for (at, _) in self.text.match_indices(prefix) {
                    own.extend(identifiers(&self.text[at + prefix.len()..]).next());
                }
            }
            own.extend(self.looked_up());
            own
        })
    }

    /// The names that the definition binds for itself.
    pub(super) fn locals(&self) -> &Locals<'t> {
        self.locals.get_or_init(|| Locals::of(self.text, &self.lines, self.header().0))
    }

    /// The names in quotes, where the definition looks one up in its own object (`getattr(self, "command")`).
    pub(super) fn looked_up(&self) -> impl Iterator<Item = &'t str> {
        let looks_up = self.text.contains("getattr(self,") || self.text.contains("getattr(cls,");
        let text = if looks_up { self.text } else { "" };
        text.split(['"', '\'']).skip(1).filter(|name| {
            !name.is_empty() && name.chars().all(is_name) && !name.starts_with(|c: char| c.is_ascii_digit())
        })
    }

    /// The names on which the seeds depend.
    pub(super) fn around(&self, seeds: &Seeds) -> Names<'t> {
        let taken = &mut vec![false; self.lines.len()];
        let mut names = Names::default();
        let mut queue = Vec::new();
        let mut heads = Vec::new();
        self.blocks.iter().for_each(|block| block.gone_up.set(false));
        for seed in &seeds.names {
            let at = self.lines.partition_point(|l| l.end <= *seed);
            self.heads_above(at, &mut heads);
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let start = receiver_start(self.text, *seed);
            let end = self.text[*seed..].find(|c| !is_name(c)).map_or(self.text.len(), |len| seed + len);
            for name in identifiers(self.text.get(start..end).unwrap_or("")) {
                self.ask(name, &mut names.used, &mut queue, &mut heads);
            }
        }
        let (header, parameters) = self.header();
        let parameters: Vec<&str> = parameters.collect();
        let is_given = |used: &FxHashSet<&str>| parameters.iter().any(|name| used.contains(name));
        self.close(taken, &mut names.used, std::mem::take(&mut queue), &mut heads);
        names.member_of_parameter = is_given(&names.used);
        for seed in &seeds.lines {
            let at = self.lines.partition_point(|l| l.end <= *seed);
            queue.push(at);
            self.heads_above(at, &mut heads);
        }
        self.close(taken, &mut names.used, queue, &mut heads);
        names.by_parameter = is_given(&names.used);
        // Decorators and the header of the definition itself.
        self.close(taken, &mut names.used, (0..=header).collect(), &mut heads);
        heads.extend(self.holding_against(&names.used));
        names.conditions = names.used.clone();
        let mut more = Vec::new();
        self.close(taken, &mut names.conditions, heads, &mut more);
        self.close(taken, &mut names.conditions, more, &mut Vec::new());
        names
    }

    /// The names of the definition that some names stand for, directly or by what is bound to them.
    /// What is bound to a value that `is_fixed` says nothing more; it is the same question each time.
    pub(super) fn behind(
        &self,
        names: impl Iterator<Item = &'t str>,
        is_fixed: &dyn Fn(&str) -> bool,
    ) -> Names<'t> {
        let mut found = Names::default();
        let mut queue: Vec<&'t str> = names.collect();
        while let Some(name) = queue.pop() {
            if !found.used.insert(name) || matches!(name, "self" | "cls") {
                continue;
            }
            if let Some(binders) = self.binders.get(name) {
                queue.extend(binders.given.get_or_init(|| self.given(&binders.lines, is_fixed)));
            }
        }
        found.by_parameter = self.header().1.any(|name| found.used.contains(name));
        if found.by_parameter {
            found.used.extend(self.defaults());
        }
        found
    }

    /// The lines that hold one of some names against others, wherever they stand: what runs after
    /// `if verb not in ALLOWED: raise` has one of these.
    fn holding_against(&self, names: &FxHashSet<&'t str>) -> Vec<usize> {
        let holds = |line: &Line| {
            let text = &self.text[line.content..line.end];
            matches!(first_word(text), "if" | "elif")
                && text.split_once(" in ").is_some_and(|(left, _)| {
                    let left = left.strip_suffix(" not").unwrap_or(left);
                    identifiers(left).last().is_some_and(|name| names.contains(name))
                })
        };
        (0..self.lines.len()).filter(|at| holds(&self.lines[*at])).collect()
    }

    /// Whether a line gives a name another value, and does not add to the one that it has.
    fn sets_anew(&self, at: usize) -> bool {
        let line = &self.text[self.lines[at].content..self.lines[at].end];
        assignment(line).is_some_and(|at| !line[..at].ends_with(['+', '|', '*']) && !line[..at].contains('('))
    }

    /// The names in the defaults of its parameters.
    fn defaults(&self) -> impl Iterator<Item = &'t str> {
        let line = self.lines.get(self.header().0).map_or("", |line| &self.text[line.start..line.end]);
        line.split('=').skip(1).filter_map(|rest| rest.split(',').next()).flat_map(given_names)
    }

    /// What a line assigns; else all of it.
    fn value(&self, at: usize) -> &'t str {
        let line = &self.text[self.lines[at].content..self.lines[at].end];
        line.split_once('=').filter(|_| assigns(line)).map_or(line, |(_, value)| value)
    }

    /// The names whose values lines give to the name that they bind.
    fn given(&self, lines: &[usize], is_fixed: &dyn Fn(&str) -> bool) -> Vec<&'t str> {
        let given = |at: &usize| {
            self.gives[*at].get_or_init(|| {
                let value = self.value(*at);
                let names: FxHashSet<&'t str> = given_names(value).collect();
                Given { is_fixed: is_fixed(value.trim()), names: names.into_iter().collect() }
            })
        };
        // Where the program is written out, what is added to it is none.
        let written_out = lines.iter().any(|at| given(at).is_fixed);
        let counts = |at: &&usize| !written_out || (self.sets_anew(**at) && !given(at).is_fixed);
        let mut names: Vec<&'t str> =
            lines.iter().filter(counts).flat_map(|at| given(at).names.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The line that the definition opens with, below its decorators, and the names in it but `self`.
    fn header(&self) -> (usize, impl Iterator<Item = &'t str>) {
        let is_decorator = |line: &&Line| self.text[line.content..].starts_with('@');
        let header = self.lines.iter().take_while(is_decorator).count();
        let line = self.lines.get(header).map_or("", |line| &self.text[line.start..line.end]);
        (header, identifiers(line).skip(2).filter(|name| !matches!(*name, "self" | "cls")))
    }

    /// Takes lines, and all that bind what they use. The heads above come into `heads`.
    fn close(
        &self,
        taken: &mut [bool],
        names: &mut FxHashSet<&'t str>,
        mut queue: Vec<usize>,
        heads: &mut Vec<usize>,
    ) {
        while let Some(at) = queue.pop() {
            if taken.get(at).is_none_or(|taken| *taken) {
                continue;
            }
            taken[at] = true;
            let line = self.lines[at];
            for name in identifiers(&self.text[line.start..line.end]) {
                self.ask(name, names, &mut queue, heads);
            }
        }
    }

    fn ask(
        &self,
        name: &'t str,
        names: &mut FxHashSet<&'t str>,
        queue: &mut Vec<usize>,
        heads: &mut Vec<usize>,
    ) {
        if names.insert(name) && !matches!(name, "self" | "cls") {
            for binder in self.binders.get(name).into_iter().flat_map(|binders| &binders.lines) {
                queue.push(*binder);
                self.heads_above(*binder, heads);
            }
        }
    }

    /// The heads of the blocks that a line lies in, as far as they have not been given.
    fn heads_above(&self, at: usize, queue: &mut Vec<usize>) {
        let mut head = self.blocks.get(at).and_then(|block| block.head);
        while let Some(above) = head.filter(|above| !self.blocks[*above].gone_up.replace(true)) {
            queue.push(above);
            head = self.blocks[above].above;
        }
    }
}

/// Where a line stands among the blocks: found once for all, since there may be very many lines.
struct Block {
    /// The line's head.
    head: Option<usize>,
    /// What counts as the next head where the line is one itself: an `else` belongs to the `if` at its own depth.
    above: Option<usize>,
    /// All heads from the line on have been given.
    gone_up: Cell<bool>,
}

impl Block {
    fn of_lines(text: &str, lines: &[Line]) -> Vec<Block> {
        let mut open: Vec<usize> = Vec::new();
        let mut blocks = Vec::with_capacity(lines.len());
        for (at, line) in lines.iter().enumerate() {
            open.truncate(open.partition_point(|above| lines[*above].indent <= line.indent));
            let beside = open.last().copied();
            open.truncate(open.partition_point(|above| lines[*above].indent < line.indent));
            let head = open.last().copied();
            let above = if continues(&text[line.content..line.end]) { beside } else { head };
            blocks.push(Block { head, above, gone_up: Cell::new(false) });
            open.push(at);
        }
        blocks
    }
}

/// Bytes of what a member is taken of, as far as they are looked at.
const LONGEST_RECEIVER: usize = 400;

/// Where the value begins of which the name at a place is a member: names, calls and elements before it
/// (`table["os"]._exit`, `module()._exit`).
fn receiver_start(text: &str, place: usize) -> usize {
    let bytes = text.as_bytes();
    let least = place.saturating_sub(LONGEST_RECEIVER);
    let (mut at, mut depth) = (place, 0usize);
    while at > least {
        let byte = bytes[at - 1];
        match byte {
            b')' | b']' => depth += 1,
            b'(' | b'[' if depth == 0 => break,
            b'(' | b'[' => depth -= 1,
            _ if depth > 0
                || byte == b'.'
                || byte == b'_'
                || byte.is_ascii_alphanumeric()
                || byte >= 0x80 => {}
            _ => break,
        }
        at -= 1;
    }
    (at..=place).find(|at| text.is_char_boundary(*at)).unwrap_or(place)
}

/// Members of texts, lists, tables and enumerations that give back what they are taken of, or a part of it.
const PASSING: [&str; 16] = [
    "split", "strip", "lstrip", "rstrip", "format", "join", "encode", "decode", "copy", "replace", "lower",
    "casefold", "get", "items", "values", "value",
];

/// The names whose values an expression is made of: not the objects whose members it takes.
pub(super) fn given_names(text: &str) -> impl Iterator<Item = &str> {
    names_in(text, |member| PASSING.contains(&member))
}

/// The objects whose members an expression takes.
pub(super) fn objects_in(text: &str) -> impl Iterator<Item = &str> {
    let names: FxHashSet<*const u8> = given_names(text).map(str::as_ptr).collect();
    names_in(text, |_| true).filter(move |name| !names.contains(&name.as_ptr()))
}

/// The names in the code of an expression, of those before a dot where the member `passes`.
fn names_in(text: &str, passes: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
    let mut quiet: Vec<std::ops::Range<usize>> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\'', bytes.get(at..).unwrap_or(&[])) {
        let start = at + found;
        at = string_end(bytes, start).unwrap_or(bytes.len());
        // What stands in the braces of a formatted text is code.
        if !text[..start].ends_with(['f', 'F', 't', 'T']) && !text[..start].ends_with("fr") {
            quiet.push(start..at);
        }
    }
    let is_quiet = move |start: usize| {
        let at = quiet.partition_point(|string| string.end <= start);
        quiet.get(at).is_some_and(|string| string.start <= start)
    };
    identifiers(text).filter(move |name| {
        let start = offset_in(text, name);
        let rest = &text[start + name.len()..];
        !name.starts_with(|c: char| c.is_ascii_digit())
            && !is_quiet(start)
            && rest.strip_prefix('.').is_none_or(|member| passes(first_word(member)))
    })
}

/// Calls `bind` with the names that a line binds or changes; more is safe.
fn bound_by<'t>(line: &'t str, mut bind: impl FnMut(&'t str)) {
    match first_word(line) {
        "for" | "with" | "except" | "import" | "from" | "global" | "nonlocal" | "async" => {
            identifiers(line).for_each(bind);
        }
        "def" | "class" => identifiers(line).skip(1).take(1).for_each(bind),
        _ => {
            if let Some(at) = assignment(line) {
                identifiers(&line[..at]).for_each(&mut bind);
            }
            if let Some(at) = memchr::memmem::find(line.as_bytes(), b":=") {
                identifiers(&line[..at]).last().into_iter().for_each(&mut bind);
            }
            if memchr::memchr_iter(b'.', line.as_bytes())
                .any(|at| FILLS.iter().any(|f| line[at..].starts_with(f)))
            {
                identifiers(line).next().into_iter().for_each(&mut bind);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, seed: &str) -> Vec<String> {
        let seeds = Seeds { lines: vec![text.find(seed).unwrap()], names: Vec::new() };
        let mut names: Vec<String> =
            Slice::of(text).unwrap().around(&seeds).conditions.into_iter().map(str::to_owned).collect();
        names.sort();
        names
    }

    #[test]
    fn a_member_is_taken_of_all_that_stands_before_its_dot() {
        for (text, receiver) in [
            ("x = os._exit(1)", "os."),
            ("f(table[\"o\"]._exit)", "table[\"o\"]."),
            ("if a and module(b, c)._exit(1):", "module(b, c)."),
            ("_exit(1)", ""),
            ("é.m()[0]._exit", "é.m()[0]."),
        ] {
            let place = text.find("_exit").unwrap();
            assert_eq!(&text[receiver_start(text, place)..place], receiver, "{text}");
        }
    }

    #[test]
    fn what_a_line_uses_and_what_binds_it_is_asked_for_and_nothing_else() {
        let text = "def f(a):\n    pid = table[a]\n    other = long(story)\n    if ready:\n        pass\n    else:\n        os.kill(pid, 9)\n    return other\n";
        assert_eq!(
            names(text, "os.kill"),
            ["9", "a", "def", "else", "f", "if", "kill", "os", "pid", "ready", "table"]
        );
    }

    #[test]
    fn a_list_is_what_was_added_to_it() {
        let text = "def f():\n    cmd = []\n    cmd.append(TOOL)\n    log(OTHER)\n    run(cmd)\n";
        let names = names(text, "run(");
        assert!(names.contains(&"TOOL".to_owned()) && !names.contains(&"OTHER".to_owned()), "{names:?}");
    }

    #[test]
    fn every_branch_before_a_line_is_among_its_conditions_and_a_branch_beside_it_is_not() {
        let text = "def f(a):\n    if one:\n        pass\n    elif two:\n        if inner:\n            pass\n    elif three:\n        while turn:\n            os.abort()\n    elif four:\n        pass\n";
        let names = names(text, "os.abort");
        for name in ["one", "two", "three", "turn"] {
            assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
        }
        for name in ["inner", "four"] {
            assert!(!names.contains(&name.to_owned()), "{name}: {names:?}");
        }
    }
}
