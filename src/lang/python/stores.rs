//! What a single line of Python stores, and under which names: the text alone is looked at.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::cut::{first_word, string_end};
use super::leaves::{assigns, identifiers, offset_in, targets};
use super::slice::FILLS;

/// Names that stand for names that stand for names, in one statement.
const MOST_BINDINGS: usize = 6;

/// The line of a text that a place lies in.
pub(super) fn line_of(text: &str, place: usize) -> &str {
    let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
    text[start..].lines().next().unwrap_or("").trim_start()
}

/// The part of a text between semicolons that a place lies in.
pub(super) fn segment_of(text: &str, place: usize) -> &str {
    let start = text[..place].rfind(';').map_or(0, |at| at + 1);
    text[start..].split(';').next().unwrap_or("").trim_start()
}

/// The simple statements of a logical line, by where they begin: after a semicolon, or after the colon of a
/// head. Each goes on to the next semicolon.
pub(super) fn simple_parts(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    let mut parts: Vec<Range<usize>> = std::iter::once(0..bytes.len()).collect();
    let mut open = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' | b'\'' => {
                at = string_end(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            b';' if depth == 0 => {
                parts[open..].iter_mut().for_each(|part| part.end = at);
                open = parts.len();
                parts.push(at + 1..bytes.len());
            }
            // The colon of a head, not that of an annotation.
            b':' if depth == 0 && opens_block(&line[parts[parts.len() - 1].start..at]) => {
                parts.push(at + 1..bytes.len());
            }
            _ => {}
        }
        at += 1;
    }
    parts
}

/// Whether a text before a colon is the head of a block.
fn opens_block(head: &str) -> bool {
    let words = [
        "if", "elif", "else", "for", "while", "try", "except", "finally", "with", "case", "class", "def",
        "async",
    ];
    words.contains(&first_word(head.trim_start()))
}

/// Whether a statement is an import.
pub(super) fn is_import(statement: &str) -> bool {
    matches!(first_word(statement), "import" | "from")
}

/// Bytes of a statement that is looked through for names that it binds in passing (`:=`).
const LONGEST_PASSING: usize = 2048;

/// The names that a line stores under: of `a.b` the last, of `a.b[c]` the container where it is an
/// object's own.
pub(super) fn stored(line: &str) -> Vec<&str> {
    if !assigns(line) {
        return Vec::new();
    }
    let last = |target: &'_ str| -> Option<std::ops::Range<usize>> {
        let target = target.trim().trim_start_matches(['(', '[']).trim_end_matches(')');
        let target = target.strip_suffix(']').filter(|inner| !inner.contains('[')).unwrap_or(target);
        let (base, subscript) = target.split_once('[').map_or((target, false), |(base, _)| (base, true));
        let name = identifiers(base).last()?;
        let own = base == name || base.starts_with("self.") || base.starts_with("cls.");
        let start = offset_in(line, name);
        (base.chars().all(|c| is_name(c) || c == '.') && (own || !subscript))
            .then(|| start..start + name.len())
    };
    // A statement is asked about as often as a name stands in it: one as long as a table is not looked through.
    let looked_at = if line.len() > LONGEST_PASSING { "" } else { line };
    let in_passing = looked_at.match_indices(":=").filter_map(|(at, _)| identifiers(&line[..at]).last());
    let targets = targets(line).map(|target| {
        let target = target.split(": ").next().unwrap_or("");
        // `commands += [more]`.
        target.strip_suffix(['+', '|']).unwrap_or(target)
    });
    let names = targets.flat_map(|target| target.split(',').filter_map(last)).map(|range| &line[range]);
    names.chain(in_passing).chain(named_in_quotes(line)).collect()
}

/// The names in quotes of a line that stores by such a name: `globals()["stop"] = …`, `setattr(o, "stop", …)`.
pub(super) fn named_in_quotes(line: &str) -> impl Iterator<Item = &str> {
    let by_name = line.starts_with("globals()[") || line.contains("setattr(");
    let quoted = if by_name { line } else { "" };
    quoted.split(['"', '\'']).skip(1).step_by(2).filter(|name| identifiers(name).eq([*name]))
}

/// What a line adds something to.
pub(super) fn filled(line: &str) -> Option<&str> {
    let is_fill = |at: &usize| FILLS.iter().any(|fill| line[*at..].starts_with(fill));
    let end = memchr::memchr_iter(b'.', line.as_bytes()).find(is_fill)?;
    identifiers(&line[..end]).last()
}

/// `name:`, `self.name:`, an annotation's beginning.
pub(super) fn is_target(line: &str) -> bool {
    line.strip_suffix(':')
        .is_some_and(|target| !target.is_empty() && target.chars().all(|c| is_name(c) || c == '.'))
}

pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Names, and those behind them: what the loops and comprehensions of a statement go over whose targets
/// they are, and what is assigned to them in it.
pub(super) fn looped_over<'t>(text: &'t str, mut names: FxHashSet<&'t str>) -> FxHashSet<&'t str> {
    let loops = memchr::memmem::find_iter(text.as_bytes(), b"for ").filter_map(|at| {
        let (targets, rest) = text[at + 4..].split_once(" in ")?;
        // More than what it goes over is safe.
        Some((targets, rest.split(":\n").next().unwrap_or("")))
    });
    let assignments = text.lines().filter_map(|line| line.split_once('='));
    let bindings: Vec<(&str, &str)> = loops.chain(assignments).collect();
    for _ in 0..MOST_BINDINGS {
        let known = names.len();
        for (targets, value) in &bindings {
            if identifiers(targets).any(|name| names.contains(name)) {
                names.extend(identifiers(value));
            }
        }
        if names.len() == known {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_by_its_last_name() {
        assert_eq!(stored("self.run = subprocess.run"), ["run"]);
        assert_eq!(stored("RUN, self.other = a, b"), ["RUN", "other"]);
        assert_eq!(stored("TABLE['x'] = run"), ["TABLE"]);
        assert_eq!(stored("COMMANDS += [run]"), ["COMMANDS"]);
        assert_eq!(stored("(a, b), [c, d] = both()"), ["a", "b", "c", "d"]);
        assert_eq!(stored("self.table[key] = run"), ["table"]);
        // Another object's table is as good as nobody's.
        assert!(stored("hass.data[key] = run").is_empty());
        assert!(stored("if a == b:").is_empty());
        assert_eq!(stored("if (command := [STOP]):"), ["command"]);
    }

    #[test]
    fn a_simple_statement_stands_between_semicolons_and_after_a_head() {
        let part = |line: &str, of: &str| {
            let (parts, place) = (simple_parts(line), line.find(of).unwrap());
            let part = parts.iter().rfind(|part| part.start <= place).unwrap().clone();
            line[part].trim_start().to_owned()
        };
        assert_eq!(part("x = 1; C = 'pkill; x'; y = 2", "pkill"), "C = 'pkill; x'");
        assert_eq!(part("if a == 'b:c': C = 'pkill'", "pkill"), "C = 'pkill'");
        assert_eq!(part("if a: b = 1; C = 'pkill'", "b"), "b = 1");
        assert_eq!(part("C: str = 'pkill'", "pkill"), "C: str = 'pkill'");
        assert_eq!(part("D = {'a': x, 'b': 'pkill'}", "pkill"), "D = {'a': x, 'b': 'pkill'}");
    }

    #[test]
    fn what_is_added_to_is_the_receiver() {
        assert_eq!(filled("self.commands.append(x)"), Some("commands"));
        assert_eq!(filled("print(x)"), None);
    }
}
