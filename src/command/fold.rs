//! Variables: what a script's own assignments say about its words.
//!
//! A variable may hold any value that some assignment of the text gives it; every
//! alternative is looked at, so that none hides another. In strict mode (the guard)
//! a variable that may also hold something else keeps an unknown alternative; in a
//! linter's view of a script it does not. Knows no catalogue.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::base::span::Span;
use crate::base::text::Origin;

use super::script::{Assignment, Input, Script, Simple, Value};
use super::variables::declares;
use super::word::{Anchored, Part, Word};

/// How many alternatives one word may have; the rest is unknown.
const MAX_ALTERNATIVES: usize = 12;
/// How many variables may stand in a variable's value, one in the other.
const MAX_DEPTH: u32 = 4;
/// How many words one word may become.
const MAX_WORDS: usize = 64;

/// Variables that the system sets, and whose values hold no commands.
const HARMLESS: &[&str] = &[
    "HOME",
    "PWD",
    "OLDPWD",
    "USER",
    "LOGNAME",
    "HOSTNAME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "TERM",
    "SHELL",
    "PATH",
    "UID",
    "EUID",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "?",
    "#",
];

/// One alternative of a word: the words that it becomes.
pub type Words = Vec<Word>;

#[derive(Debug, Clone, Default)]
struct Binding {
    /// Alternatives, each a list of words.
    values: Vec<Words>,
    array: bool,
    /// It may hold something that the text does not say.
    unknown: bool,
    /// Offset of the first assignment that always runs before what follows it.
    certain_from: Option<u32>,
}

/// What the names of a script stand for.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    bindings: FxHashMap<String, Binding>,
    /// Per function: the argument lists of its calls in the text.
    calls: FxHashMap<u32, Vec<Words>>,
    /// Per function: where it shifts its arguments, and by how many where that always happens.
    shifts: FxHashMap<u32, Vec<(u32, Option<usize>)>>,
    strict: bool,
    /// Offsets from which on a variable may hold something that no assignment of the text says.
    openers: Vec<u32>,
    /// Some command of the text runs with another separator of fields.
    separator: bool,
    /// `$$` is this program (a script's own shell), not a child shell.
    own_shell: bool,
    /// The environment around this one, and whether a child shell lies between.
    outer: Option<(Rc<Environment>, bool)>,
}

impl Environment {
    /// An environment in which nothing is assigned yet.
    pub fn new(strict: bool, own_shell: bool) -> Environment {
        Environment { strict, own_shell, ..Environment::default() }
    }

    /// The environment of a script that runs inside another one. A child shell sees only
    /// what is exported, so that in strict mode nothing of the outer text is certain there.
    pub fn inside(outer: Rc<Environment>, child: bool) -> Environment {
        Environment {
            bindings: FxHashMap::default(),
            calls: FxHashMap::default(),
            shifts: FxHashMap::default(),
            openers: Vec::new(),
            separator: outer.separator,
            strict: outer.strict,
            own_shell: outer.own_shell && !child,
            outer: Some((outer, child)),
        }
    }

    /// The bindings of a name, from the inside out, each with whether it holds for certain at `at`.
    fn lookup(&self, name: &str, at: u32) -> Vec<(&Binding, bool)> {
        let mut found = Vec::new();
        let mut environment = self;
        let mut hidden = false;
        let mut inside = false;
        loop {
            if let Some(binding) = environment.bindings.get(name) {
                let certain = binding.certain_from.is_some_and(|from| inside || from <= at);
                found.push((binding, certain && !hidden));
            }
            let Some((outer, child)) = &environment.outer else { return found };
            hidden |= child;
            inside = true;
            environment = outer;
        }
    }

    /// Takes in the assignments and the function calls of a script.
    pub fn learn(&mut self, script: &Script) {
        for assignment in &script.assignments {
            self.separator |= assignment.name == "IFS";
            self.assign(assignment);
        }
        self.openers.extend(&script.openers);
        let functions: FxHashMap<&str, u32> =
            script.functions.iter().zip(0..).map(|(f, i)| (f.name.as_str(), i)).collect();
        for command in &script.commands {
            self.learn_command(script, &functions, command);
        }
    }

    fn learn_command(&mut self, script: &Script, functions: &FxHashMap<&str, u32>, command: &Simple) {
        let Some(name) = command.words.first().and_then(Word::text) else { return };
        let at = command.span.start;
        let words = || command.words.iter().skip(1).filter_map(Word::text);
        let opens = match name.as_str() {
            "eval" | "source" | "." | "let" | "getopts" => true,
            "command" | "builtin" => {
                words().any(|w| matches!(w.as_str(), "read" | "eval" | "source" | "." | "printf" | "mapfile"))
            }
            "printf" => words().any(|w| w.starts_with("-v")),
            "wait" => words().any(|w| w.starts_with("-p")),
            // A variable that is read, but not under a plain name.
            "read" | "mapfile" | "readarray" => command.words.iter().any(Word::is_free),
            _ => false,
        };
        // The grammar has these for declarations, unless something stands before them: then anything may change.
        let behind = matches!(name.as_str(), "command" | "builtin") && words().any(|w| declares(&w));
        if declares(&name) || behind {
            self.openers.push(u32::MAX);
        }
        if opens {
            // Inside a function it runs whenever that is called.
            self.openers.push(if command.flow.function.is_some() { u32::MAX } else { at });
        }
        match name.as_str() {
            "read" | "mapfile" | "readarray" => {
                let source = match &command.input {
                    Input::Pipe(range) => Value::Scalar(Word::of(
                        Part::Output { scene: script.scene, commands: range.clone(), quoted: true },
                        command.span,
                    )),
                    Input::Text(word) => Value::Scalar(word.clone()),
                    _ => Value::Unknown,
                };
                for word in command.words.iter().skip(1) {
                    let Some(name) = word.text() else { continue };
                    if name.starts_with('-') || name.is_empty() {
                        continue;
                    }
                    self.assign(&Assignment {
                        name,
                        value: source.clone(),
                        append: false,
                        flow: command.flow,
                        at,
                    });
                }
            }
            "printf" if command.words.get(1).and_then(Word::text).as_deref() == Some("-v") => {
                if let Some(name) = command.words.get(2).and_then(Word::text) {
                    self.assign(&Assignment {
                        name,
                        value: Value::Unknown,
                        append: false,
                        flow: command.flow,
                        at,
                    });
                }
            }
            "shift" => {
                if let Some(function) = command.flow.function {
                    let always = !command.flow.branch && !command.flow.subshell;
                    let by = match command.words.get(1) {
                        None => Some(1),
                        Some(count) => count.text().and_then(|count| count.parse().ok()),
                    };
                    self.shifts.entry(function).or_default().push((at, by.filter(|_| always)));
                }
            }
            _ => {}
        }
        if let Some(&function) = functions.get(name.as_str()) {
            let calls = self.calls.entry(function).or_default();
            if calls.len() < MAX_ALTERNATIVES {
                calls.push(command.words.iter().skip(1).cloned().collect());
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let binding = self.bindings.entry(assignment.name.clone()).or_default();
        let flow = assignment.flow;
        if !flow.conditional && !flow.subshell && flow.function.is_none() && !assignment.append {
            let first = binding.certain_from.get_or_insert(assignment.at);
            *first = (*first).min(assignment.at);
        }
        let mut add = |words: Words| {
            if binding.values.len() >= MAX_ALTERNATIVES {
                binding.unknown = true;
            } else if !binding.values.contains(&words) {
                binding.values.push(words);
            }
        };
        match &assignment.value {
            Value::Scalar(word) => {
                let appended = assignment.append && !word.is_empty();
                add(vec![word.clone()]);
                if appended {
                    // What it is appended to is one of the earlier values: the joined text is not folded.
                    binding.unknown = true;
                }
            }
            Value::Array(words) => {
                binding.array = true;
                if binding.values.len() >= MAX_ALTERNATIVES {
                    binding.unknown = true;
                } else {
                    binding.values.push(words.clone());
                }
            }
            Value::AnyOf(words) => {
                // A loop's variable holds one of its words wherever the body reads it.
                binding.certain_from.get_or_insert(assignment.at);
                for word in words {
                    if binding.values.len() >= MAX_ALTERNATIVES {
                        binding.unknown = true;
                        break;
                    }
                    binding.values.push(vec![word.clone()]);
                }
            }
            Value::Unknown => {
                binding.unknown = true;
                binding.certain_from.get_or_insert(assignment.at);
            }
        }
    }

    /// The alternatives of a word at offset `at` in function `function`.
    pub fn expand(&self, word: &Word, function: Option<u32>) -> Vec<Words> {
        if word.parts.iter().all(|p| !matches!(p.part, Part::Variable { .. })) {
            return vec![vec![word.clone()]];
        }
        self.expand_at(word, function, word.span.start, 0)
    }

    fn expand_at(&self, word: &Word, function: Option<u32>, at: u32, depth: u32) -> Vec<Words> {
        let mut alternatives: Vec<Words> = vec![vec![Word { parts: Vec::new(), span: word.span }]];
        // An unquoted variable that is empty leaves no word at all.
        let mut can_vanish = true;
        for piece in &word.parts {
            let Part::Variable { name, quoted, all, default } = &piece.part else {
                can_vanish = false;
                for words in &mut alternatives {
                    if let Some(last) = words.last_mut() {
                        last.parts.push(piece.clone());
                    }
                }
                continue;
            };
            if default.is_none() && HARMLESS.contains(&name.as_str()) && self.lookup(name, at).is_empty() {
                // Its value is not known, but no text of a script hides in it: it stays apart.
                can_vanish = false;
                for words in &mut alternatives {
                    if let Some(last) = words.last_mut() {
                        last.parts.push(piece.clone());
                    }
                }
                continue;
            }
            can_vanish &= !quoted || *all;
            let values = self.values(name, *all, default.as_deref(), function, at, depth, piece.at);
            let mut next = Vec::new();
            for words in &alternatives {
                for value in &values {
                    if next.len() >= MAX_ALTERNATIVES {
                        break;
                    }
                    next.push(join(words, value, *quoted, piece.at));
                }
            }
            alternatives = next;
        }
        if can_vanish {
            for words in &mut alternatives {
                words.retain(|w| !w.parts.is_empty());
            }
        }
        alternatives
    }

    #[allow(clippy::too_many_arguments)]
    fn values(
        &self,
        name: &str,
        all: bool,
        default: Option<&Word>,
        function: Option<u32>,
        at: u32,
        depth: u32,
        place: u32,
    ) -> Vec<Words> {
        let span = Span { start: place, end: place };
        let unknown = || vec![Word::of(Part::Free(Origin::Unknown), span)];
        if depth >= MAX_DEPTH {
            return vec![unknown()];
        }
        let mut out: Vec<Words> = Vec::new();
        if let Some(default) = default {
            out.extend(self.expand_at(default, function, at, depth + 1));
        }
        match self.special(name, function, span) {
            Some(Special::One(words)) => {
                out.push(words);
                return out;
            }
            Some(Special::Calls(lists)) => {
                for list in lists {
                    out.extend(self.expand_list(&list, None, at, depth + 1));
                }
                return if out.is_empty() { vec![unknown()] } else { out };
            }
            None => {}
        }
        let bindings = self.lookup(name, at);
        let mut certain = false;
        let stale = self.strict && self.is_stale(name);
        let mut open = bindings.iter().all(|(b, _)| b.values.is_empty());
        for (binding, holds) in &bindings {
            certain |= holds;
            open |= self.strict && binding.unknown || stale;
            for value in &binding.values {
                let one = if binding.array && !all {
                    value.get(..1.min(value.len()))
                } else {
                    Some(value.as_slice())
                };
                out.extend(self.expand_list(one.unwrap_or(&[]), function, at, depth + 1));
                if out.len() >= MAX_ALTERNATIVES {
                    out.truncate(MAX_ALTERNATIVES);
                    break;
                }
            }
        }
        // An empty initial value (`pid=`) says nothing where the text gives another.
        if !self.strict && out.iter().any(|w| w.iter().any(|w| !w.is_empty())) {
            out.retain(|w| w.iter().any(|w| !w.is_empty()));
        }
        if open || (self.strict && !certain) {
            out.push(unknown());
        }
        out
    }

    /// Whether something may have changed a variable after its assignments: a nested text, a sourced file,
    /// a name that stands for another.
    fn is_stale(&self, name: &str) -> bool {
        let mut environment = self;
        // What a nested script opens changes the variables of the text around it too.
        let mut opened = false;
        loop {
            if let Some(binding) = environment.bindings.get(name) {
                let from = binding.certain_from.unwrap_or(0);
                return opened || environment.openers.iter().any(|at| *at > from);
            }
            let Some((outer, _)) = &environment.outer else { return false };
            opened |= !environment.openers.is_empty();
            environment = outer;
        }
    }

    /// Whether the text sets the separator of fields, so that an unquoted variable splits elsewhere than at blanks.
    pub fn splits_elsewhere(&self) -> bool {
        self.separator
    }

    fn expand_list(&self, list: &[Word], function: Option<u32>, at: u32, depth: u32) -> Vec<Words> {
        let mut out: Vec<Words> = vec![Vec::new()];
        for word in list.iter().take(MAX_WORDS) {
            let alternatives = self.expand_at(word, function, at, depth);
            let mut next = Vec::new();
            for words in &out {
                for alternative in &alternatives {
                    if next.len() >= MAX_ALTERNATIVES {
                        break;
                    }
                    let mut words = words.clone();
                    words.extend(alternative.iter().cloned());
                    next.push(words);
                }
            }
            out = next;
        }
        out
    }

    fn special(&self, name: &str, function: Option<u32>, span: Span) -> Option<Special> {
        let one = |part: Part| Some(Special::One(vec![Word::of(part, span)]));
        match name {
            "!" => one(Part::Free(Origin::ChildPid)),
            "COPROC_PID" => one(Part::Free(Origin::ChildPid)),
            "$" | "BASHPID" => {
                one(Part::Free(if self.own_shell { Origin::OwnPid } else { Origin::ChildPid }))
            }
            "0" | "BASH_SOURCE" if self.own_shell => one(Part::Free(Origin::OwnScript)),
            "@" | "*" => match function.and_then(|f| Some((f, self.calls.get(&f)?))) {
                Some((function, calls)) => {
                    let (shifted, _) = self.shifted(function, span.start);
                    let left = |words: &Words| words.get(shifted..).unwrap_or(&[]).to_vec();
                    Some(Special::Calls(calls.iter().map(left).collect()))
                }
                None if self.own_shell && function.is_none() => one(Part::Rest(Origin::OwnArgs)),
                None => one(Part::Rest(Origin::Unknown)),
            },
            _ if name.chars().all(|c| c.is_ascii_digit()) && !name.is_empty() => {
                let n = name.parse::<usize>().unwrap_or(usize::MAX).checked_sub(1)?;
                let function = function?;
                let calls = self.calls.get(&function)?;
                let (shifted, further) = self.shifted(function, span.start);
                let mut lists = Vec::new();
                for words in calls {
                    let given = words.get(n.saturating_add(shifted)..).unwrap_or(&[]);
                    lists.push(given.first().cloned().into_iter().collect());
                    if further {
                        lists.extend(given.iter().skip(1).map(|word| vec![word.clone()]));
                    }
                }
                Some(Special::Calls(lists))
            }
            _ => None,
        }
    }

    /// By how many a function has shifted its arguments for certain where it reads them, and whether
    /// it may have shifted them further.
    fn shifted(&self, function: u32, at: u32) -> (usize, bool) {
        let shifts = self.shifts.get(&function).map_or(&[][..], Vec::as_slice);
        let certain = shifts.iter().filter(|(place, _)| *place < at).filter_map(|(_, by)| *by);
        (certain.fold(0, usize::saturating_add), shifts.iter().any(|(_, by)| by.is_none()))
    }
}

enum Special {
    One(Words),
    Calls(Vec<Words>),
}

/// Appends a value to the last word; its own word breaks make further words.
fn join(words: &[Word], value: &[Word], quoted: bool, at: u32) -> Words {
    let mut out: Words = words.to_vec();
    for (i, part) in value.iter().enumerate() {
        if i > 0 {
            out.push(Word { parts: Vec::new(), span: part.span });
        }
        for piece in &part.parts {
            match &piece.part {
                Part::Literal(text) if !quoted => split_into(&mut out, text, piece.at, at),
                _ => {
                    if let Some(last) = out.last_mut() {
                        last.parts.push(piece.clone());
                    }
                }
            }
        }
        if part.parts.is_empty()
            && quoted
            && let Some(last) = out.last_mut()
        {
            last.parts.push(Anchored { part: Part::Literal(String::new()), at });
        }
    }
    out
}

fn split_into(out: &mut Words, text: &str, piece_at: u32, at: u32) {
    for (i, field) in text.split([' ', '\t', '\n']).enumerate() {
        if i > 0 {
            if out.len() >= MAX_WORDS {
                return;
            }
            // Blanks in a row, and at either end, make no empty words.
            if out.last().is_some_and(|w| !w.parts.is_empty()) {
                out.push(Word { parts: Vec::new(), span: Span { start: at, end: at } });
            }
        }
        if !field.is_empty()
            && let Some(last) = out.last_mut()
        {
            last.parts.push(Anchored { part: Part::Literal(field.to_owned()), at: piece_at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::grammar::parse;
    use crate::command::word::Composed;

    fn last(text: &str, strict: bool) -> Vec<String> {
        let script = parse(&Composed::plain(text), 0);
        let mut environment = Environment::new(strict, true);
        environment.learn(&script);
        let command = script.commands.last().unwrap();
        let mut alternatives: Vec<Words> = vec![Vec::new()];
        for word in &command.words {
            let mut next = Vec::new();
            for words in &alternatives {
                for more in environment.expand(word, command.flow.function) {
                    next.push(words.iter().cloned().chain(more).collect());
                }
            }
            alternatives = next;
        }
        alternatives.iter().map(|w| w.iter().map(Word::display).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn values_fold_and_split() {
        assert_eq!(last("K=pkill; $K -f x", true), ["pkill -f x"]);
        assert_eq!(last("K='pkill -f'; $K \"$N\"", true), ["pkill -f …"]);
        assert_eq!(last("K='pkill -f'; \"$K\" x", false), ["pkill -f x"]);
        assert_eq!(
            last("for v in stop start; do systemctl $v x; done", true),
            ["systemctl stop x", "systemctl start x"]
        );
        assert_eq!(last("a=(pkill -f); \"${a[@]}\" x", true), ["pkill -f x"]);
        assert_eq!(last("pk${x}ill y", false), ["pk…ill y"]);
        assert_eq!(last("f() { pkill $1; }; f mcp", false), ["f mcp"]);
    }

    #[test]
    fn what_may_be_something_else_stays_open_in_strict_mode() {
        assert_eq!(last("a && N=x; pkill $N", true), ["pkill x", "pkill …"]);
        assert_eq!(last("a && N=x; pkill $N", false), ["pkill x"]);
        assert_eq!(last("(N=x); pkill $N", true), ["pkill x", "pkill …"]);
        assert_eq!(last("N=x pkill $N", true), ["pkill …"]);
        assert_eq!(last("pkill ${N:-x}", true), ["pkill x", "pkill …"]);
    }
}
