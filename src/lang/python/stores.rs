//! What a single line of Python stores, and under which names: the text alone is looked at.

use super::cut::first_word;
use super::leaves::{assigns, identifiers, offset_in};
use super::slice::FILLS;

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

/// Whether a statement is an import.
pub(super) fn is_import(statement: &str) -> bool {
    matches!(first_word(statement), "import" | "from")
}

/// The names that a line stores under: of `a.b` the last, of `a.b[c]` the container where it is an
/// object's own.
pub(super) fn stored(line: &str) -> Vec<&str> {
    if !assigns(line) {
        return Vec::new();
    }
    let target = line.split('=').next().unwrap_or("").split(": ").next().unwrap_or("");
    let last = |target: &'_ str| -> Option<std::ops::Range<usize>> {
        let target = target.trim();
        let (base, subscript) = target.split_once('[').map_or((target, false), |(base, _)| (base, true));
        let name = identifiers(base).last()?;
        let own = base == name || base.starts_with("self.") || base.starts_with("cls.");
        let start = offset_in(line, name);
        (base.chars().all(|c| is_name(c) || c == '.') && (own || !subscript))
            .then(|| start..start + name.len())
    };
    target.split(',').filter_map(last).map(|range| &line[range]).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_by_its_last_name() {
        assert_eq!(stored("self.run = subprocess.run"), ["run"]);
        assert_eq!(stored("RUN, self.other = a, b"), ["RUN", "other"]);
        assert_eq!(stored("TABLE['x'] = run"), ["TABLE"]);
        assert_eq!(stored("self.table[key] = run"), ["table"]);
        // Another object's table is as good as nobody's.
        assert!(stored("hass.data[key] = run").is_empty());
        assert!(stored("if a == b:").is_empty());
    }

    #[test]
    fn what_is_added_to_is_the_receiver() {
        assert_eq!(filled("self.commands.append(x)"), Some("commands"));
        assert_eq!(filled("print(x)"), None);
    }
}
