//! The decoded texts of a run by relative path, so that spans become lines and columns
//! without reading a file twice. Holds values only; who fills it has read the files.

use std::collections::BTreeMap;

use super::facts::RelPath;
use super::finding::Place;
use super::source::Source;
use super::span::{Position, Span};

/// Texts by relative path.
#[derive(Debug, Default)]
pub struct Sources {
    texts: BTreeMap<RelPath, Source>,
}

impl Sources {
    /// Adds or replaces a text.
    pub fn insert(&mut self, path: impl Into<RelPath>, source: Source) {
        self.texts.insert(path.into(), source);
    }

    /// The text of a file, if the run kept it.
    pub fn get(&self, path: &str) -> Option<&Source> {
        self.texts.get(path)
    }

    /// Keeps only the texts of which `keep` holds.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.texts.retain(|path, _| keep(path));
    }

    /// A span as a place. Of a text that the run did not keep: the file's first character.
    pub fn place(&self, path: &str, span: Span) -> Place {
        let (start, end) = match self.get(path) {
            Some(source) => (source.position(span.start), source.position(span.end.max(span.start))),
            None => (Position { line: 1, column: 1 }, Position { line: 1, column: 1 }),
        };
        Place { path: path.to_owned(), start, end }
    }

    /// The byte offset of a position in a file; the end of its line where the line is shorter.
    pub fn offset(&self, path: &str, position: Position) -> Option<usize> {
        let source = self.get(path)?;
        let line = source.lines().line_span(&source.text, position.line);
        let text = source.slice(line);
        let body = text.trim_end_matches(['\n', '\r']);
        let column = position.column.max(1) as usize - 1;
        let within = body.char_indices().nth(column).map_or(body.len(), |(at, _)| at);
        Some(line.start as usize + within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_leads_back_to_its_span() {
        let text = "a\r\néß(x)\ny";
        let mut sources = Sources::default();
        sources.insert("a.py", Source::new(text));
        let span = Span::new(text.find('(').unwrap(), text.find(')').unwrap() + 1);
        let place = sources.place("a.py", span);
        assert_eq!((place.start.line, place.start.column), (2, 3));
        assert_eq!(sources.offset("a.py", place.start), Some(span.start as usize));
        assert_eq!(sources.offset("a.py", place.end), Some(span.end as usize));
        assert_eq!(sources.offset("a.py", Position { line: 1, column: 99 }), Some(1));
        assert_eq!(sources.offset("b.py", place.end), None);
    }
}
