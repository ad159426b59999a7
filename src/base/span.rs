//! Places in a text: byte spans, and the lines and columns that people read.

use serde::{Deserialize, Serialize};

/// A half-open range of byte offsets into a decoded source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`, both byte offsets.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The same span as a range that indexes a `str`.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether `offset` lies inside.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// A line and a column, both counted from 1; the column counts Unicode scalar
/// values, so a tab is one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in Unicode scalar values, from 1.
    pub column: u32,
}

/// Where each line of a text starts. Lines end at `\n`, `\r\n` or a lone `\r`.
#[derive(Debug, Clone, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `text`. One pass over its bytes.
    pub fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            // The `\n` of a `\r\n` ends the line, not its `\r`.
            if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
        }
        LineIndex { starts }
    }

    /// The line (from 1) that holds the byte at `offset`.
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|&s| s <= offset)).unwrap_or(u32::MAX)
    }

    /// The place of `offset` in `text`, which must be the text that was indexed.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.line(offset).max(1);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(text.len());
        let column = text.get(start..end).map_or(0, |s| s.chars().count());
        Position { line, column: u32::try_from(column + 1).unwrap_or(u32::MAX) }
    }

    /// The bytes of a line (from 1), its end included.
    pub fn line_span(&self, text: &str, line: u32) -> Span {
        let at = line.max(1) as usize - 1;
        let start = self.starts.get(at).copied().unwrap_or(0) as usize;
        let end = self.starts.get(at + 1).map_or(text.len(), |&e| e as usize);
        Span::new(start, end)
    }

    /// How many lines there are; a trailing line end starts one more.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Never true: an empty text has one empty line.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_scalar_values_and_crlf_is_one_line_end() {
        let text = "a\r\né🧪x\ny\rz";
        let index = LineIndex::new(text);
        let at = |needle: &str| index.position(text, text.find(needle).unwrap() as u32);
        assert_eq!(at("x"), Position { line: 2, column: 3 });
        assert_eq!(at("y"), Position { line: 3, column: 1 });
        assert_eq!(at("z"), Position { line: 4, column: 1 });
        assert_eq!(&text[index.line_span(text, 2).range()], "é🧪x\n");
    }
}
