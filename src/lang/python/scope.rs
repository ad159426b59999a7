//! Whether a name that stands somewhere in a text can mean what others know by it: a function's own
//! parameters and variables are its own, and so are words of a text that is only shown. The text alone is
//! looked at: what is told apart is certain, the rest counts.

use rustc_hash::FxHashSet;

use super::cut::{Line, Quiet, first_word, string_end};
use super::leaves::{IN_NAMES, Leaves, assignment, identifiers};

/// What makes names of the words of a text.
const MAKERS: [&str; 3] = ["namedtuple", "Enum", "make_dataclass"];
/// What runs a text as code.
const RUNS_TEXTS: [&str; 4] = ["exec(", "eval(", "exec ", "compile("];

impl Leaves<'_> {
    /// Whether a name at a place is one that other code can mean: a member, a name in quotes, or one
    /// that the file binds outside of its functions.
    pub(super) fn refers(&self, place: usize, name: &str) -> bool {
        if self.is_member(place) {
            return true;
        }
        if let Some(quiet) = self.cut.quiet_at(place) {
            return self.can_name(quiet, place);
        }
        (self.has_star() || self.bound().own.contains(name)) && !self.is_local(place, name)
    }

    /// Whether what stands at a place is a member of something.
    fn is_member(&self, place: usize) -> bool {
        self.text[..place].trim_end_matches([' ', '\t', '\\', '\n', '\r']).ends_with('.')
    }

    /// Whether the file runs texts as code.
    pub(super) fn runs_texts(&self) -> bool {
        *self.runs_texts.get_or_init(|| {
            RUNS_TEXTS.iter().any(|word| {
                memchr::memmem::find_iter(self.text.as_bytes(), word.as_bytes())
                    .any(|at| self.cut.quiet_at(at).is_none())
            })
        })
    }

    /// Whether a word of a string can be looked up as a name, or is code.
    fn can_name(&self, quiet: &Quiet, place: usize) -> bool {
        let text = self.text;
        if self.runs_texts() {
            return true;
        }
        let string = text[quiet.range.clone()].trim_matches(['"', '\'']);
        let is_formatted = text[..quiet.range.start].ends_with(['f', 'F', 'r', 'R', 't', 'T']);
        let before = &text[quiet.range.start..place];
        if is_formatted && before.rfind('{') > before.rfind('}') {
            return true;
        }
        let is_path = |byte: u8| IN_NAMES[usize::from(byte)] || matches!(byte, b'.' | b':');
        let is_list = |byte: u8| is_path(byte) || matches!(byte, b' ' | b',' | b'|' | b'\n');
        string.bytes().all(is_path)
            || string.bytes().all(is_list)
                && (text[quiet.range.end..].starts_with(".split")
                    || MAKERS.iter().any(|maker| text.contains(maker)))
    }

    /// Whether a bare name at a place is one of the function's own: its parameter, or a variable that it binds.
    pub(super) fn is_local(&self, place: usize, name: &str) -> bool {
        let Some(at) = self.at(place).filter(|at| self.all[*at].is_function()) else { return false };
        let start = self.all[at].statement.span.start;
        self.lines(at).is_some_and(|lines| lines.locals().has(place - start, name)) && !self.is_member(place)
    }
}

/// The names that a function binds for itself, as far as its text tells.
#[derive(Default)]
pub(super) struct Locals<'t> {
    /// Where its parameters are named.
    parameters: FxHashSet<usize>,
    /// Where these end.
    body: usize,
    names: FxHashSet<&'t str>,
}

impl<'t> Locals<'t> {
    /// Of a definition's lines, `header` the one that opens it.
    pub(super) fn of(text: &'t str, lines: &[Line], header: usize) -> Locals<'t> {
        let Some(head) = lines.get(header) else { return Locals::default() };
        let Some((parameters, body)) = parameters(&text[..head.end], head.content) else {
            return Locals::default();
        };
        let mut names: FxHashSet<&str> =
            parameters.iter().filter_map(|at| identifiers(&text[*at..]).next()).collect();
        let mut foreign: FxHashSet<&str> = FxHashSet::default();
        // The definition inside of which a line stands.
        let mut inside: Option<usize> = None;
        for line in &lines[header + 1..] {
            let content = text[line.content..line.end].trim_end();
            let word = first_word(content);
            if matches!(word, "import" | "from" | "global" | "nonlocal") {
                foreign.extend(identifiers(content));
            }
            if inside.is_some_and(|indent| line.indent > indent) {
                continue;
            }
            inside = None;
            let rest = &content[word.len()..];
            match word {
                "def" | "class" | "async" => {
                    foreign.extend(identifiers(rest).take(2));
                    inside = Some(line.indent);
                }
                "for" => names.extend(plain(rest.split_once(" in ").map_or("", |(targets, _)| targets))),
                "with" | "except" => {
                    let target = rest.rsplit_once(" as ").map_or("", |(_, target)| target);
                    names.extend(plain(target.trim_end_matches(':')));
                }
                _ => {
                    let target = assignment(content).map_or("", |at| &content[..at]);
                    names.extend(plain(target.split(':').next().unwrap_or(target)));
                }
            }
        }
        names.retain(|name| !foreign.contains(name));
        Locals { parameters, body, names }
    }

    /// Whether the parameters end before a place; nothing where they were not made out.
    pub(super) fn ends_before(&self, place: usize) -> Option<bool> {
        (self.body > 0).then_some(self.body <= place)
    }

    /// The last parameter that is named before a place.
    pub(super) fn parameter_before(&self, text: &'t str, place: usize) -> Option<&'t str> {
        let at = self.parameters.iter().filter(|at| **at < place).max()?;
        identifiers(&text[*at..]).next()
    }

    /// Whether a name at a place of the definition is its own.
    fn has(&self, place: usize, name: &str) -> bool {
        self.names.contains(name) && (place >= self.body || self.parameters.contains(&place))
    }
}

/// Names alone, between commas.
fn plain(targets: &str) -> impl Iterator<Item = &str> {
    let parts = targets.split(',').map(|part| part.trim().trim_start_matches('*'));
    parts.filter(|part| !part.is_empty() && part.bytes().all(|byte| IN_NAMES[usize::from(byte)]))
}

/// Where the parameters of a function are named whose header begins at a place, and where they end.
fn parameters(text: &str, header: usize) -> Option<(FxHashSet<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut at = header + memchr::memchr(b'(', &bytes[header..])?;
    // Parameters of a type may be in brackets themselves.
    if memchr::memchr(b'[', &bytes[header..at]).is_some() {
        return None;
    }
    let mut found = FxHashSet::default();
    let (mut depth, mut is_next) = (0usize, false);
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                is_next = depth == 1;
            }
            b')' | b']' | b'}' if depth == 1 => return Some((found, at + 1)),
            b')' | b']' | b'}' => depth -= 1,
            b',' => is_next = depth == 1,
            b'"' | b'\'' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'#' => at += memchr::memchr(b'\n', &bytes[at..])?,
            byte if IN_NAMES[usize::from(byte)] => {
                if std::mem::take(&mut is_next) {
                    found.insert(at);
                }
                at += bytes[at..].iter().take_while(|byte| IN_NAMES[usize::from(**byte)]).count();
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::cut::cut;
    use super::*;

    /// The lines of a text in which a name refers to what others know by it, from 1.
    fn lines(text: &str, name: &str) -> Vec<usize> {
        let cut = cut(text).unwrap();
        let leaves = Leaves::new(text, &cut);
        let referring = leaves.mentions(name).iter().filter(|place| leaves.refers(**place, name));
        referring.map(|place| text[..*place].matches('\n').count() + 1).collect()
    }

    #[test]
    fn a_function_s_own_variables_are_not_the_module_s() {
        let text = "def stop():\n    pass\ndef f(stop):\n    stop()\ndef g():\n    for stop in x:\n        stop()\ndef h():\n    stop()\ndef i(\n    a=stop,\n    stop=1,\n):\n    self.stop(stop)\n";
        assert_eq!(lines(text, "stop"), [1, 9, 11, 14]);
    }

    #[test]
    fn what_an_import_a_global_or_an_inner_definition_binds_may_be_meant() {
        for line in ["global stop", "from lib import stop", "def stop(): pass"] {
            let text = format!("def stop():\n    pass\ndef f():\n    {line}\n    stop = a\n    stop()\n");
            assert!(lines(&text, "stop").contains(&6), "{line}");
        }
        // What a function inside binds is its own.
        let text = "def stop():\n    pass\ndef f():\n    def g(stop):\n        stop = 1\n    stop()\n";
        assert!(lines(text, "stop").contains(&6));
    }

    #[test]
    fn words_of_a_text_that_is_shown_are_no_names() {
        let text = "def stop():\n    pass\nlog(\"stop it\")\nf(\"stop\", \"lib:stop\")\nlog(f\"{stop()} stop\")\n\"stop go\".split()\n";
        assert_eq!(lines(text, "stop"), [1, 4, 4, 5, 6]);
        assert!(lines(&format!("{text}exec(a)\n"), "stop").contains(&3));
    }
}
