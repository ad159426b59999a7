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
}
